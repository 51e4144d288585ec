//! Files of snapshots: either the old one or the new one is there, whatever happens.

use super::Snapshot;
use super::error::SnapshotError;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The largest file that is read, bytes: a snapshot of 100 million contacts.
const MOST_BYTES: u64 = 1 << 34;

impl Snapshot {
    /// Writes it to a file: to another name in the same folder, then to the disk, then under its name. A power cut or a kill leaves the old file or the new one,
    /// never a part; a kill may leave `.NAME.partial` besides, which the next write takes over. Two processes that write one file at a time get an error, not a mixture.
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
    let mut opened = open_alone(&partial).map_err(failed("write a file beside it"))?;
    let written = write_through(&mut opened, bytes).map_err(failed("write a file beside it"));
    let renamed =
        written.and_then(|()| fs::rename(&partial, file).map_err(failed("put it in its place")));
    if renamed.is_err() {
        // The disk may be full: what is there is of no use.
        let _ = fs::remove_file(&partial);
        return renamed;
    }
    sync_folder(file).map_err(failed("write its folder to the disk"))
}

/// In the same folder, so that it can be renamed at once. Always the same: the next write takes over what a kill has left.
fn partial_name(file: &Path) -> Result<PathBuf, io::Error> {
    let Some(name) = file.file_name() else {
        let message = "it has no file name";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let mut partial = OsString::from(".");
    partial.push(name);
    partial.push(".partial");
    Ok(file.with_file_name(partial))
}

/// Opens a file that no one else writes: a lock, which ends with the process.
fn open_alone(file: &Path) -> Result<File, io::Error> {
    let opened = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(file)?;
    let busy = || {
        let message = "something else is writing it";
        io::Error::new(io::ErrorKind::ResourceBusy, message)
    };
    opened.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => busy(),
        TryLockError::Error(source) => source,
    })?;
    // Who had the lock before may have put it in its place since it was opened.
    if is_at(&opened, file)? {
        Ok(opened)
    } else {
        Err(busy())
    }
}

#[cfg(unix)]
fn is_at(opened: &File, file: &Path) -> Result<bool, io::Error> {
    use std::os::unix::fs::MetadataExt;
    let (own, found) = (opened.metadata()?, fs::metadata(file)?);
    Ok((own.dev(), own.ino()) == (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, file: &Path) -> Result<bool, io::Error> {
    Ok(file.exists())
}

fn write_through(opened: &mut File, bytes: &[u8]) -> Result<(), io::Error> {
    opened.set_len(0)?;
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
