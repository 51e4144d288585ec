//! Reading scenes and meshes from files.

use super::{MeshFile, Scene, SceneError};
use glam::DVec3;
use moreau_geometry::Shape;
use std::path::Path;

impl Scene {
    /// Reads a scene from TOML text. `file` is used in messages and as the place of its meshes.
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

    /// Reads a scene file.
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
    let options = tobj::LoadOptions {
        triangulate: true,
        single_index: true,
        ..Default::default()
    };
    let (models, _) = tobj::load_obj(&file, &options).map_err(|error| failed(error.to_string()))?;
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for model in models {
        let base = vertices.len() as u32;
        let positions = model.mesh.positions.chunks_exact(3);
        vertices.extend(positions.map(|p| DVec3::new(p[0], p[1], p[2]) * mesh.scale));
        let faces = model.mesh.indices.chunks_exact(3);
        triangles.extend(faces.map(|t| [t[0] + base, t[1] + base, t[2] + base]));
    }
    Ok(Shape::TriangleMesh {
        vertices,
        triangles,
    })
}
