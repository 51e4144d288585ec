//! What can be wrong with a snapshot.

use crate::components::BodyId;
use crate::error::StepError;
use std::io;
use std::path::PathBuf;

/// Why a snapshot cannot be taken, written, read or restored. The world is then as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Something about a file.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<Self>,
    },
    /// The file cannot be read or written.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was to be done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The world is within a step: a snapshot is of a world between two.
    #[error("a step has begun and has not ended: a world is saved and restored between steps")]
    WithinStep,
    /// It does not begin as snapshots do.
    #[error("not a snapshot: it begins with {found:02x?}, expected {expected:02x?}")]
    NotASnapshot {
        /// Its first bytes, eight at most.
        found: Vec<u8>,
        /// Those of a snapshot.
        expected: [u8; 8],
    },
    /// The end is missing.
    #[error("truncated: {found} bytes, expected {expected}")]
    Truncated {
        /// Bytes that there are.
        found: u64,
        /// Bytes that there must be, or more.
        expected: u64,
    },
    /// Something comes after the end.
    #[error("too long: {found} bytes, expected {expected}")]
    TooLong {
        /// Bytes that there are.
        found: u64,
        /// Bytes that there must be.
        expected: u64,
    },
    /// It was written in an older format.
    #[error(
        "format {found}, written by moreau {writer}, is older than the one that is read: {known}"
    )]
    Older {
        /// Format of the snapshot.
        found: u32,
        /// Format that is read.
        known: u32,
        /// Version of the crate that wrote it.
        writer: String,
    },
    /// It was written in a newer format.
    #[error(
        "format {found}, written by moreau {writer}, is newer than the one that is read: {known}"
    )]
    Newer {
        /// Format of the snapshot.
        found: u32,
        /// Format that is read.
        known: u32,
        /// Version of the crate that wrote it.
        writer: String,
    },
    /// Some of its bytes are not those that were written.
    #[error("damaged: checksum {found:08x}, expected {expected:08x}")]
    Damaged {
        /// Checksum of the bytes that there are.
        found: u32,
        /// The one that was written.
        expected: u32,
    },
    /// The bytes are those that were written, but mean nothing.
    #[error("{section}: {reason}")]
    Malformed {
        /// Which part.
        section: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A number outside its range.
    #[error("{section}: {field} is {value}, expected {bound}")]
    Value {
        /// Which part.
        section: &'static str,
        /// Field at fault.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        bound: &'static str,
    },
    /// A body, a joint or a setting that no step would take.
    #[error(transparent)]
    Refused(#[from] StepError),
    /// A force law of the user's own is not in files, and the body in the world that it is restored to has none in its place.
    #[error(
        "body {id}: its force {index} is a law of its own, which files do not hold, and there is no such body with {count} forces to keep it from"
    )]
    Force {
        /// The body.
        id: BodyId,
        /// Place of the law in its [`BodyForces`](crate::BodyForces).
        index: usize,
        /// How many forces it has.
        count: usize,
    },
    /// A rollback does not go back as far.
    #[error("{back} steps back, expected at most {kept}")]
    TooFarBack {
        /// How many steps it was asked for.
        back: usize,
        /// How many it holds.
        kept: usize,
    },
    /// It is of a scene with other emitters.
    #[error("it is of another scene: {name:?}")]
    OtherScene {
        /// The name of that scene.
        name: String,
    },
    /// There is no scene in it to go on with.
    #[error("a snapshot of a simulation alone, without the scene and its emitters")]
    NoScene,
}

impl SnapshotError {
    pub(crate) fn malformed(section: &'static str, reason: impl Into<String>) -> Self {
        Self::Malformed {
            section,
            reason: reason.into(),
        }
    }
}
