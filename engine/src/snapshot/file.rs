//! Files of snapshots: either the old one or the new one is there, whatever happens.

use super::Snapshot;
use super::error::SnapshotError;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The largest file that is read, bytes: a snapshot of 100 million contacts.
const MOST_BYTES: u64 = 1 << 34;

impl Snapshot {
    /// Writes it to a file: to another name in the same folder, then to the disk, then under its name. A power cut or a kill leaves the old file or the new one,
    /// never a part; at worst a file `.NAME.PID.partial` besides.
    ///
    /// # Errors
    /// [`SnapshotError::File`]; what was there before is then still there.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<(), SnapshotError> {
        let file = file.as_ref();
        let written = self.to_bytes().and_then(|bytes| replace(file, &bytes));
        written.map_err(|source| of_file(file, source))
    }

    /// Reads a file that [`Snapshot::write`] wrote.
    ///
    /// # Errors
    /// [`SnapshotError::File`] with the path and with what is wrong: it is missing, truncated, damaged, older or newer.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, SnapshotError> {
        let file = file.as_ref();
        let bytes = load(file).map_err(|source| SnapshotError::Io {
            action: "read it",
            source,
        });
        let read = bytes.and_then(|bytes| Self::from_bytes(&bytes));
        read.map_err(|source| of_file(file, source))
    }
}

fn of_file(file: &Path, source: SnapshotError) -> SnapshotError {
    SnapshotError::File {
        path: file.to_owned(),
        source: Box::new(source),
    }
}

/// A regular file, of a bounded size: devices and pipes may wait without end.
fn load(file: &Path) -> Result<Vec<u8>, io::Error> {
    let found = fs::metadata(file)?;
    if !found.is_file() {
        let message = "it is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    if found.len() > MOST_BYTES {
        let message = format!(
            "it has {} bytes, expected at most {MOST_BYTES}",
            found.len()
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn replace(file: &Path, bytes: &[u8]) -> Result<(), SnapshotError> {
    let failed = |action| move |source| SnapshotError::Io { action, source };
    let partial = partial_name(file).map_err(failed("name a file beside it"))?;
    let written = write_through(&partial, bytes).map_err(failed("write beside it"));
    let renamed =
        written.and_then(|()| fs::rename(&partial, file).map_err(failed("put it in its place")));
    if renamed.is_err() {
        // It may not be there.
        let _ = fs::remove_file(&partial);
        return renamed;
    }
    sync_folder(file).map_err(failed("write its folder to the disk"))
}

/// In the same folder, so that it can be renamed at once; of this process.
fn partial_name(file: &Path) -> Result<PathBuf, io::Error> {
    let Some(name) = file.file_name() else {
        let message = "it has no file name";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let mut partial = OsString::from(".");
    partial.push(name);
    partial.push(format!(".{}.partial", std::process::id()));
    Ok(file.with_file_name(partial))
}

fn write_through(file: &Path, bytes: &[u8]) -> Result<(), io::Error> {
    let mut open = OpenOptions::new();
    let mut opened = open.write(true).create(true).truncate(true).open(file)?;
    opened.write_all(bytes)?;
    opened.sync_all()
}

/// The new name is on the disk, where folders can be opened.
#[cfg(unix)]
fn sync_folder(file: &Path) -> Result<(), io::Error> {
    let folder = file.parent().filter(|path| !path.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> Result<(), io::Error> {
    Ok(())
}
