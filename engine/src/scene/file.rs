//! Reading scenes (feature `toml`) and meshes (feature `obj`) from files.

#[cfg(feature = "toml")]
use super::Scene;
use super::{MeshFile, SceneError};
use moreau_geometry::Shape;
#[cfg(any(feature = "toml", feature = "obj"))]
use std::fs::{File, metadata};
#[cfg(feature = "obj")]
use std::io::BufReader;
#[cfg(any(feature = "toml", feature = "obj"))]
use std::io::{Error, ErrorKind, Read, Take};
use std::path::Path;
#[cfg(feature = "toml")]
use {
    serde::Deserialize,
    toml::de::{DeTable, DeValue},
};

#[cfg(feature = "toml")]
impl Scene {
    /// Reads a scene from TOML text (feature `toml`). `file` is used in messages and as the place of its meshes.
    ///
    /// # Errors
    /// [`SceneError::Toml`] with line and column.
    pub fn from_toml(text: &str, file: impl AsRef<Path>) -> Result<Self, SceneError> {
        let file = file.as_ref();
        let failed = |start: usize, message: String| {
            let before = text.get(..start.min(text.len())).unwrap_or_default();
            SceneError::Toml {
                file: file.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
                message,
            }
        };
        let refused = |error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            failed(start, with_suggestion(error.message()))
        };
        let written = DeTable::parse(text).map_err(refused)?;
        let mut scene =
            Self::deserialize(toml::Deserializer::from(written.clone())).map_err(refused)?;
        if let Some(place) = left_unread(&written.into_inner(), &scene) {
            return Err(failed(place.start, place.message()));
        }
        scene.folder = file.parent().map(Path::to_owned).unwrap_or_default();
        Ok(scene)
    }

    /// The scene as TOML text (feature `toml`), which read again gives the same scene to the last bit. Meshes stay files, relative to
    /// [`Scene::folder`].
    ///
    /// ```
    /// use moreau::{Scene, scene::BodySpec, geometry::Shape, glam::DVec3};
    /// let ball = BodySpec::dynamic(Shape::Sphere { radius: 0.1 }, DVec3::new(0.1 + 0.2, 0.0, 1.0));
    /// let scene = Scene { bodies: vec![ball], ..Scene::default() };
    /// assert_eq!(Scene::from_toml(&scene.to_toml()?, "again.toml")?, scene);
    /// # Ok::<(), moreau::SceneError>(())
    /// ```
    ///
    /// # Errors
    /// [`SceneError::NotWritten`]: paths must be Unicode.
    pub fn to_toml(&self) -> Result<String, SceneError> {
        toml::to_string(self).map_err(|error| SceneError::NotWritten {
            message: error.to_string(),
        })
    }

    /// Reads a scene file (feature `toml`).
    ///
    /// # Errors
    /// [`SceneError::Io`] or [`SceneError::Toml`].
    pub fn load(file: impl AsRef<Path>) -> Result<Self, SceneError> {
        let file = file.as_ref();
        let mut text = String::new();
        open(file, Self::MOST_BYTES)
            .and_then(|mut reader| reader.read_to_string(&mut text))
            .map_err(|source| SceneError::Io {
                file: file.to_owned(),
                source,
            })?;
        Self::from_toml(&text, file)
    }
}

/// An array of a file of which the end was not read.
#[cfg(feature = "toml")]
struct Unread {
    /// Where it starts in the text, bytes.
    start: usize,
    entries: usize,
    most: usize,
}

#[cfg(feature = "toml")]
impl Unread {
    fn message(&self) -> String {
        format!("array of {} entries, expected {}", self.entries, self.most)
    }
}

/// The first array that is longer than what was made of it: vectors are read up to the entries that they have.
#[cfg(feature = "toml")]
fn left_unread(written: &DeTable, scene: &Scene) -> Option<Unread> {
    let read = toml::Table::try_from(scene).ok()?;
    longer_in_table(written, &read)
}

#[cfg(feature = "toml")]
fn longer_in_table(written: &DeTable, read: &toml::Table) -> Option<Unread> {
    written
        .iter()
        .find_map(|(key, value)| longer(value, read.get(key.get_ref().as_ref())?))
}

#[cfg(feature = "toml")]
fn longer(written: &toml::Spanned<DeValue>, read: &toml::Value) -> Option<Unread> {
    match (written.get_ref(), read) {
        (DeValue::Array(array), toml::Value::Array(kept)) if array.len() > kept.len() => {
            Some(Unread {
                start: written.span().start,
                entries: array.len(),
                most: kept.len(),
            })
        }
        (DeValue::Array(array), toml::Value::Array(kept)) => {
            array.iter().zip(kept).find_map(|(a, b)| longer(a, b))
        }
        (DeValue::Table(table), toml::Value::Table(kept)) => longer_in_table(table, kept),
        _ => None,
    }
}

/// The message, and the name that was probably meant where one is unknown. Serde writes the unknown name and the known ones between
/// back quotes; of shapes the parser lists both with commas.
#[cfg(feature = "toml")]
fn with_suggestion(message: &str) -> String {
    let quoted = message.starts_with("unknown field") || message.starts_with("unknown variant");
    let listed = message
        .strip_prefix("unexpected keys in table: ")
        .and_then(|rest| rest.split_once(", available keys: "));
    let nearest = if let Some((unknown, known)) = listed {
        let unknown = unknown.split(", ").next().unwrap_or_default();
        super::nearest_name(unknown, known.split(", "))
    } else {
        let mut names = message.split('`').skip(1).step_by(2);
        let unknown = names.next().filter(|_| quoted);
        unknown.and_then(|name| super::nearest_name(name, names))
    };
    match nearest {
        Some(name) => format!("{message}; did you mean `{name}`?"),
        None => message.to_owned(),
    }
}

/// A regular file, of which no more than `most` bytes are read, and nothing if it is empty. Devices and pipes are not opened: that alone may wait
/// without end.
#[cfg(any(feature = "toml", feature = "obj"))]
fn open(file: &Path, most: u64) -> Result<Take<File>, Error> {
    let found = metadata(file)?;
    if !found.is_file() {
        let what = if found.is_dir() {
            "a directory"
        } else {
            "a device or a pipe"
        };
        let message = format!("it is {what}, expected a regular file");
        return Err(Error::new(ErrorKind::InvalidInput, message));
    }
    let size = found.len();
    if size > most {
        let message = format!("it has {size} bytes, expected at most {most}");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(File::open(file)?.take(size))
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
    let opened = open(file, MeshFile::MOST_BYTES).map_err(|error| error.to_string())?;
    // Materials are not looked at: no other file is opened.
    let no_materials = |_: &Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut BufReader::new(opened), &options, no_materials)
        .map_err(|error| error.to_string())?;
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
