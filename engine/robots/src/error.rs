//! What can be wrong with a robot file.

use std::fmt;
use std::path::PathBuf;

/// An element of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// File.
    pub file: PathBuf,
    /// Line where the element begins, from 1.
    pub line: usize,
    /// Its tag and its name, as in `joint "elbow"`.
    pub element: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            element,
        } = self;
        write!(f, "{}:{line}: {element}", file.display())
    }
}

/// Why a robot file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RobotError {
    /// The file cannot be read: it is missing, not a regular file, no UTF-8, or larger than [`MOST_BYTES`](crate::MOST_BYTES).
    #[error("{}: {message}", file.display())]
    Io {
        /// File.
        file: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The text is not XML.
    #[error("{}:{line}:{column}: {message}", file.display())]
    Xml {
        /// File.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// An attribute, or the text of an element, that is not what it must be.
    #[error("{place}: {attribute} is {value}, expected {bound}")]
    Value {
        /// Where.
        place: Place,
        /// Attribute at fault.
        attribute: Box<str>,
        /// Its value.
        value: String,
        /// What it must satisfy.
        bound: Box<str>,
    },
    /// Something that must be there is not.
    #[error("{place}: there is no {what}")]
    Missing {
        /// Where.
        place: Place,
        /// What is missing.
        what: String,
    },
    /// A name that nothing has.
    #[error("{place}: there is no {what} \"{name}\"{}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// Where.
        place: Place,
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// The name that was meant, if one is near.
        nearest: Option<String>,
    },
    /// The elements do not make a robot.
    #[error("{place}: {message}")]
    Structure {
        /// Where.
        place: Place,
        /// What is wrong.
        message: String,
    },
    /// A mesh file is missing or malformed.
    #[error("{place}: mesh {}: {message}", file.display())]
    Mesh {
        /// Where.
        place: Place,
        /// Mesh file.
        file: PathBuf,
        /// What is wrong.
        message: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}
