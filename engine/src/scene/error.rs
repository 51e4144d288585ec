//! What can be wrong with a scene.

use crate::{BodyError, SnapshotError, StepError};
use std::path::PathBuf;

/// Why a scene cannot be read or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file cannot be read: it is missing, not a regular file, or larger than [`Scene::MOST_BYTES`](super::Scene::MOST_BYTES).
    #[error("{file}: {source}")]
    Io {
        /// File.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The text is not a scene: a syntax error, an unknown key, a wrong type.
    #[error("{file}:{line}:{column}: {message}")]
    Toml {
        /// File.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The scene has what TOML cannot hold.
    #[error("the scene cannot be written as TOML: {message}")]
    NotWritten {
        /// What is wrong.
        message: String,
    },
    /// A value outside its range.
    #[error("{place}: {field} is {value}, expected {bound}")]
    Field {
        /// Which entry of the scene.
        place: String,
        /// Field at fault.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it must satisfy.
        bound: &'static str,
    },
    /// A material that is not in the scene.
    #[error("{place}: material is {name}, expected a name in [materials]{}", did_you_mean(.nearest.as_deref()))]
    UnknownMaterial {
        /// Which entry of the scene.
        place: String,
        /// The name.
        name: String,
        /// The name that was meant, if one is near.
        nearest: Option<String>,
    },
    /// A joint of a body that is not in the scene.
    #[error("{place}: there is no body \"{name}\"{}", did_you_mean(.nearest.as_deref()))]
    UnknownBody {
        /// Which entry of the scene.
        place: String,
        /// The name.
        name: String,
        /// The name that was meant, if one is near.
        nearest: Option<String>,
    },
    /// A coupler of a joint that is not in the scene.
    #[error("{place}: there is no joint \"{name}\"{}", did_you_mean(.nearest.as_deref()))]
    UnknownJoint {
        /// Which entry of the scene.
        place: String,
        /// The name.
        name: String,
        /// The name that was meant, if one is near.
        nearest: Option<String>,
    },
    /// A mesh file is missing or malformed, not a regular file, or larger than
    /// [`MeshFile::MOST_BYTES`](super::MeshFile::MOST_BYTES).
    #[error("{place}: mesh {file}: {message}")]
    Mesh {
        /// Which entry of the scene.
        place: String,
        /// Mesh file.
        file: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A body that an emitter is to give was refused.
    #[error("{place}: {source}")]
    Body {
        /// Which entry of the scene.
        place: String,
        /// Why.
        source: BodyError,
    },
    /// A snapshot was not taken or not restored.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// A body or a setting was refused.
    #[error("{place}: {source}")]
    Refused {
        /// Which entry of the scene.
        place: String,
        /// Why.
        source: StepError,
    },
}

/// The end of a message about an unknown name.
fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}
