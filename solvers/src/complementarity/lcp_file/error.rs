//! What is wrong with a file.

use crate::ProblemError;

/// What is wrong with a file of a box problem.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LcpFileError {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file is not text in UTF-8.
    #[error("line {line}: not text in UTF-8")]
    NotText {
        /// Line, from 1.
        line: usize,
    },
    /// A word is not what it should be.
    #[error("line {line}: {what}: found {found:?}, expected {expected}")]
    Word {
        /// Line, from 1.
        line: usize,
        /// What the word is to be.
        what: &'static str,
        /// The word, shortened; empty at the end of the file.
        found: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// A part has fewer numbers than it should.
    #[error("line {line}: {what}: {found} numbers, expected {expected}")]
    Count {
        /// Line, from 1.
        line: usize,
        /// The part.
        what: &'static str,
        /// Numbers that there are, or that the bytes left have room for.
        found: usize,
        /// Numbers that `n` asks for.
        expected: usize,
    },
    /// A part comes twice.
    #[error("line {line}: {what} comes twice")]
    Repeated {
        /// Line, from 1.
        line: usize,
        /// The part.
        what: &'static str,
    },
    /// A part is missing.
    #[error("{what} is missing")]
    Missing {
        /// The part.
        what: &'static str,
    },
    /// The numbers are no box problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}
