//! Reading scenes (feature `toml`) and meshes (feature `obj`) from files.

#[cfg(feature = "toml")]
use super::Scene;
use super::{MeshFile, SceneError};
use moreau_geometry::Shape;
use std::path::Path;

#[cfg(feature = "toml")]
impl Scene {
    /// Reads a scene from TOML text (feature `toml`). `file` is used in messages and as the place of its meshes.
    ///
    /// # Errors
    /// [`SceneError::Toml`] with line and column.
    pub fn from_toml(text: &str, file: impl AsRef<Path>) -> Result<Self, SceneError> {
        let file = file.as_ref();
        let mut scene: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start).min(text.len());
            let before = &text[..start];
            SceneError::Toml {
                file: file.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
                message: error.message().to_owned(),
            }
        })?;
        scene.folder = file.parent().map(Path::to_owned).unwrap_or_default();
        Ok(scene)
    }

    /// Reads a scene file (feature `toml`).
    ///
    /// # Errors
    /// [`SceneError::Io`] or [`SceneError::Toml`].
    pub fn load(file: impl AsRef<Path>) -> Result<Self, SceneError> {
        let file = file.as_ref();
        let text = std::fs::read_to_string(file).map_err(|source| SceneError::Io {
            file: file.to_owned(),
            source,
        })?;
        Self::from_toml(&text, file)
    }
}

/// Reads all triangles of a Wavefront OBJ file.
pub(super) fn read_mesh(mesh: &MeshFile, folder: &Path, place: &str) -> Result<Shape, SceneError> {
    let file = folder.join(&mesh.path);
    let failed = |message: String| SceneError::Mesh {
        place: place.to_owned(),
        file: file.clone(),
        message,
    };
    if !(mesh.scale > 0.0 && mesh.scale.is_finite()) {
        return Err(failed(format!("scale is {}, expected > 0", mesh.scale)));
    }
    triangles(&file, mesh.scale).map_err(failed)
}

/// All triangles of a file, every coordinate times `scale`; otherwise what is wrong.
#[cfg(feature = "obj")]
fn triangles(file: &Path, scale: f64) -> Result<Shape, String> {
    let options = tobj::LoadOptions {
        triangulate: true,
        single_index: true,
        ..Default::default()
    };
    let (models, _) = tobj::load_obj(file, &options).map_err(|error| error.to_string())?;
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for model in models {
        let base = vertices.len() as u32;
        let positions = model.mesh.positions.chunks_exact(3);
        vertices.extend(positions.map(|p| glam::DVec3::new(p[0], p[1], p[2]) * scale));
        let faces = model.mesh.indices.chunks_exact(3);
        triangles.extend(faces.map(|t| [t[0] + base, t[1] + base, t[2] + base]));
    }
    Ok(Shape::TriangleMesh {
        vertices,
        triangles,
    })
}

#[cfg(not(feature = "obj"))]
fn triangles(_: &Path, _: f64) -> Result<Shape, String> {
    Err("meshes are read with the feature `obj` of the crate `moreau` only".to_owned())
}
