//! What makes a file unreadable or a problem unwritable.

use crate::ProblemError;
use std::path::{Path, PathBuf};

/// An FCLIB file that cannot be read, or a content that cannot be written. Datasets are named by
/// their full path in the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FclibError {
    /// Anything below, with the file that it happened to.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: Box<Self>,
    },
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The bytes are not valid HDF5, or use a part of it that is not supported.
    #[error("{object}: {message}")]
    Hdf5 {
        /// Object that was being read or written; `/` for the file as a whole.
        object: String,
        /// What is wrong with it.
        message: String,
    },
    /// No problem in the file, several, or one of a kind that is not supported.
    #[error("found {found}, expected /fclib_local, /fclib_global or one of them with _rolling")]
    Kind {
        /// What was found.
        found: String,
    },
    /// The problem has an equality constraint; these are not supported.
    #[error("{dataset}: equality constraints are not supported")]
    Equality {
        /// Object that belongs to the constraint.
        dataset: String,
    },
    /// The problem to be written has an interaction that the format cannot hold, or contacts of several kinds.
    #[error("interaction {interaction} is {found}, expected {expected}")]
    Law {
        /// The interaction.
        interaction: usize,
        /// What it is.
        found: &'static str,
        /// What the format could hold there.
        expected: &'static str,
    },
    /// A dataset is not there.
    #[error("{dataset} is missing")]
    Missing {
        /// The dataset.
        dataset: String,
    },
    /// A dataset holds numbers or texts of another type, or is none.
    #[error("{dataset}: found {found}, expected {expected}")]
    Type {
        /// The dataset.
        dataset: String,
        /// Type found.
        found: String,
        /// Type expected.
        expected: &'static str,
    },
    /// A dataset has the wrong number of entries, or a matrix the wrong shape.
    #[error("{dataset}: found {found}, expected {expected}")]
    Length {
        /// The dataset.
        dataset: String,
        /// Number found.
        found: u64,
        /// Number that the rest of the problem implies.
        expected: u64,
    },
    /// A dataset claims more data than the file has.
    #[error("{dataset}: claims {claimed} bytes where at most {available} are possible")]
    Size {
        /// The dataset.
        dataset: String,
        /// Bytes claimed.
        claimed: u64,
        /// Bytes of the file without those already read, or the limit for data never written.
        available: u64,
    },
    /// An integer has a value without meaning.
    #[error("{dataset}: found {found}, expected {expected}")]
    Integer {
        /// The dataset.
        dataset: String,
        /// Value found.
        found: i64,
        /// Values expected.
        expected: &'static str,
    },
    /// An index or start of a sparse matrix is out of range.
    #[error("{dataset}[{position}]: found {found}, expected {least}..={most}")]
    Index {
        /// The dataset.
        dataset: String,
        /// Position in the dataset.
        position: usize,
        /// Value found.
        found: i64,
        /// Least value allowed.
        least: usize,
        /// Largest value allowed; none is allowed where it is below [`Self::Index::least`].
        most: i64,
    },
    /// A number is NaN or infinite.
    #[error("{dataset}[{position}] is not finite: {value}")]
    NotFinite {
        /// The dataset.
        dataset: String,
        /// Position in the dataset.
        position: usize,
        /// Offending value.
        value: f64,
    },
    /// A coefficient of friction or of rolling resistance is negative.
    #[error("{dataset}[{contact}]: found {value}, expected ≥ 0")]
    Friction {
        /// The dataset.
        dataset: String,
        /// Contact index.
        contact: usize,
        /// Offending value.
        value: f64,
    },
    /// A text to be written has a zero byte, which would end it.
    #[error("{dataset}: the text has a zero byte")]
    Text {
        /// The dataset.
        dataset: String,
    },
    /// The numbers do not make a problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

impl FclibError {
    pub(super) fn of_file(self, path: &Path) -> Self {
        Self::File {
            path: path.to_owned(),
            source: Box::new(self),
        }
    }

    pub(super) fn hdf5(object: &str, error: impl std::fmt::Display) -> Self {
        Self::Hdf5 {
            object: object.to_owned(),
            message: error.to_string(),
        }
    }
}

/// `found == expected`, for `dataset`.
pub(super) fn expect_length(
    dataset: &str,
    found: usize,
    expected: usize,
) -> Result<(), FclibError> {
    if found == expected {
        Ok(())
    } else {
        Err(FclibError::Length {
            dataset: dataset.to_owned(),
            found: found as u64,
            expected: expected as u64,
        })
    }
}

/// All of `values` are finite.
pub(super) fn expect_finite(dataset: &str, values: &[f64]) -> Result<(), FclibError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(position) => Err(FclibError::NotFinite {
            dataset: dataset.to_owned(),
            position,
            value: values[position],
        }),
    }
}
