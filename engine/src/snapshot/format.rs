//! The bytes of a snapshot.
//!
//! ```text
//! magic     8   89 'M' 'O' 'R' 'E' 'A' 'U' 0a
//! format    4   what follows is laid out by it
//! writer   16   version of the crate, ASCII, zeros at the end
//! length    8   of the body
//! checksum  4   CRC-32 (IEEE) of all of the above and of the body
//! body          sections, one after the other, in the postcard wire format
//! ```
//!
//! Numbers are little-endian. The first byte is no text, and the last of the magic is a line feed: a file that went through a transfer of text is seen at once.

use super::error::SnapshotError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The format that is written and read. It grows with every change of what a section holds.
pub(crate) const FORMAT: u32 = 3;

pub(crate) const MAGIC: [u8; 8] = *b"\x89MOREAU\n";

const WRITER: usize = 16;
const LENGTH: usize = MAGIC.len() + 4 + WRITER;
const CHECKSUM: usize = LENGTH + 8;
const HEADER: usize = CHECKSUM + 4;

/// Writes sections, then the header in front of them.
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn new() -> Self {
        let mut bytes = Vec::with_capacity(1 << 12);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        let mut writer = [0; WRITER];
        let version = env!("CARGO_PKG_VERSION").bytes();
        for (to, from) in writer.iter_mut().zip(version) {
            *to = from;
        }
        bytes.extend(writer);
        bytes.resize(HEADER, 0);
        Self { bytes }
    }

    pub(super) fn section<T: Serialize + ?Sized>(
        &mut self,
        section: &'static str,
        value: &T,
    ) -> Result<(), SnapshotError> {
        let bytes = std::mem::take(&mut self.bytes);
        self.bytes = postcard::to_extend(value, bytes)
            .map_err(|error| SnapshotError::malformed(section, error.to_string()))?;
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        let length = (bytes.len() - HEADER) as u64;
        bytes[LENGTH..CHECKSUM].copy_from_slice(&length.to_le_bytes());
        let sum = checksum(&bytes);
        bytes[CHECKSUM..HEADER].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}

/// Of all but itself.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..CHECKSUM]);
    hasher.update(&bytes[HEADER..]);
    hasher.finalize()
}

/// Reads sections in the order in which they were written.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Checks the header and all bytes.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, SnapshotError> {
        let begin = &bytes[..bytes.len().min(MAGIC.len())];
        if begin != &MAGIC[..begin.len()] || begin.is_empty() {
            return Err(SnapshotError::NotASnapshot {
                found: begin.to_vec(),
                expected: MAGIC,
            });
        }
        let found = bytes.len() as u64;
        let truncated = |expected| SnapshotError::Truncated { found, expected };
        let header = bytes.get(..HEADER);
        let header = header.ok_or(truncated(HEADER as u64))?;
        let (format, rest) = header[MAGIC.len()..].split_at(4);
        let format = u32::from_le_bytes(filled(format));
        if format != FORMAT {
            let name = rest[..WRITER].iter().take_while(|byte| **byte != 0);
            let printable = |byte: &u8| char::from(*byte).escape_default().to_string();
            let (known, writer) = (FORMAT, name.map(printable).collect());
            return Err(if format < FORMAT {
                SnapshotError::Older {
                    found: format,
                    known,
                    writer,
                }
            } else {
                SnapshotError::Newer {
                    found: format,
                    known,
                    writer,
                }
            });
        }
        let length = u64::from_le_bytes(filled(&header[LENGTH..CHECKSUM]));
        let expected = length.saturating_add(HEADER as u64);
        if found < expected {
            return Err(truncated(expected));
        }
        if found > expected {
            return Err(SnapshotError::TooLong { found, expected });
        }
        let written = u32::from_le_bytes(filled(&header[CHECKSUM..]));
        let sum = checksum(bytes);
        if sum != written {
            return Err(SnapshotError::Damaged {
                found: sum,
                expected: written,
            });
        }
        Ok(Self {
            rest: &bytes[HEADER..],
        })
    }

    pub(super) fn section<T: DeserializeOwned>(
        &mut self,
        section: &'static str,
    ) -> Result<T, SnapshotError> {
        let (value, rest) = postcard::take_from_bytes(self.rest)
            .map_err(|error| SnapshotError::malformed(section, error.to_string()))?;
        self.rest = rest;
        Ok(value)
    }

    /// Nothing is left.
    pub(super) fn end(self) -> Result<(), SnapshotError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let reason = format!("{} bytes after the last section", self.rest.len());
        Err(SnapshotError::malformed("end", reason))
    }
}

/// As many bytes as there is room for.
fn filled<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut filled = [0; N];
    for (to, from) in filled.iter_mut().zip(bytes) {
        *to = *from;
    }
    filled
}
