//! What can be wrong with a scene.

use crate::StepError;
use std::path::PathBuf;

/// Why a scene cannot be read or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file cannot be read.
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
    /// A mesh file is missing or malformed.
    #[error("{place}: mesh {file}: {message}")]
    Mesh {
        /// Which entry of the scene.
        place: String,
        /// Mesh file.
        file: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A body or a setting was refused.
    #[error("{place}: {source}")]
    Refused {
        /// Which entry of the scene.
        place: String,
        /// Why.
        source: StepError,
    },
}
