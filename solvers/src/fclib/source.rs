//! Typed access to the datasets of a file, with every size checked before it is allocated.

use super::FclibError;
use super::error::{expect_finite, expect_length};
use hdf5_pure::{DType, Dataset, Error, File, FormatError, Layout};
use std::cell::Cell;

/// An open file.
///
/// Datasets of a sound file do not overlap, so that all reads together stay within its size. Data
/// that was never written takes no room in the file and reads as zeros; C programs leave a `v` or
/// a `/solution/r` so. Budgets for both bound what any file can make the reader allocate.
pub(super) struct Source {
    file: File,
    written: Cell<u64>,
    unwritten: Cell<u64>,
}

/// Budget for data never written, in sizes of the file. The largest seen is 0.2.
const UNWRITTEN: u64 = 16;

impl Source {
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self, FclibError> {
        let size = bytes.len() as u64;
        let file = File::from_bytes(bytes).map_err(|error| FclibError::hdf5("/", error))?;
        Ok(Self {
            file,
            written: Cell::new(size),
            unwritten: Cell::new(size.saturating_mul(UNWRITTEN)),
        })
    }

    /// True if there is an object, group or dataset, at `path`.
    pub(super) fn has(&self, path: &str) -> Result<bool, FclibError> {
        match self.file.group(path) {
            Ok(_) => Ok(true),
            Err(Error::Format(FormatError::PathNotFound(_))) => Ok(false),
            Err(Error::NotAGroup(_)) => Ok(true),
            Err(error) => Err(FclibError::hdf5(path, error)),
        }
    }

    /// All numbers of a dataset, finite.
    pub(super) fn reals(&self, path: &str) -> Result<Vec<f64>, FclibError> {
        let dataset = self.dataset(path)?;
        expect_type(&dataset, path, "float64", |found| {
            matches!(found, DType::F64 | DType::F32)
        })?;
        self.charge(&dataset, path)?;
        let values = dataset.read_f64().map_err(|e| FclibError::hdf5(path, e))?;
        expect_finite(path, &values)?;
        Ok(values)
    }

    /// As [`Self::reals`], of known length.
    pub(super) fn reals_of(&self, path: &str, length: usize) -> Result<Vec<f64>, FclibError> {
        let values = self.reals(path)?;
        expect_length(path, values.len(), length)?;
        Ok(values)
    }

    /// All numbers of a dataset.
    pub(super) fn integers(&self, path: &str) -> Result<Vec<i64>, FclibError> {
        let dataset = self.dataset(path)?;
        expect_type(&dataset, path, "int32", |found| {
            matches!(
                found,
                DType::I8
                    | DType::I16
                    | DType::I32
                    | DType::I64
                    | DType::U8
                    | DType::U16
                    | DType::U32
            )
        })?;
        self.charge(&dataset, path)?;
        dataset.read_i64().map_err(|e| FclibError::hdf5(path, e))
    }

    /// The only number of a dataset.
    pub(super) fn integer(&self, path: &str) -> Result<i64, FclibError> {
        let values = self.integers(path)?;
        expect_length(path, values.len(), 1)?;
        Ok(values[0])
    }

    /// A text up to its first zero byte, or an empty one if there is no dataset.
    pub(super) fn text(&self, path: &str) -> Result<String, FclibError> {
        if !self.has(path)? {
            return Ok(String::new());
        }
        let dataset = self.dataset(path)?;
        expect_type(&dataset, path, "a fixed-length string", |found| {
            *found == DType::String
        })?;
        self.charge(&dataset, path)?;
        let bytes = dataset.read_raw().map_err(|e| FclibError::hdf5(path, e))?;
        let end = bytes.iter().position(|byte| *byte == 0);
        Ok(String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned())
    }

    fn dataset(&self, path: &str) -> Result<Dataset, FclibError> {
        self.file.dataset(path).map_err(|error| match error {
            Error::Format(FormatError::PathNotFound(_)) => FclibError::Missing {
                dataset: path.to_owned(),
            },
            Error::NotADataset(_) => FclibError::Type {
                dataset: path.to_owned(),
                found: "a group".to_owned(),
                expected: "a dataset",
            },
            error => FclibError::hdf5(path, error),
        })
    }

    /// Refuses storage other than contiguous or compact, and data beyond its budget.
    fn charge(&self, dataset: &Dataset, path: &str) -> Result<(), FclibError> {
        let hdf5 = |error| FclibError::hdf5(path, error);
        let budget = match dataset.layout().map_err(hdf5)? {
            Layout::Contiguous { address: None, .. } => &self.unwritten,
            Layout::Contiguous { .. } | Layout::Compact { .. } => &self.written,
            _ => {
                return Err(FclibError::Type {
                    dataset: path.to_owned(),
                    found: "chunked or virtual storage".to_owned(),
                    expected: "contiguous storage",
                });
            }
        };
        let shape = dataset.shape().map_err(hdf5)?;
        let size = dataset.element_size().map_err(hdf5)?;
        let claimed = shape
            .iter()
            .fold(size, |size, extent| size.saturating_mul(*extent));
        let available = budget.get();
        let left = available.checked_sub(claimed).ok_or(FclibError::Size {
            dataset: path.to_owned(),
            claimed,
            available,
        })?;
        budget.set(left);
        Ok(())
    }
}

fn expect_type(
    dataset: &Dataset,
    path: &str,
    expected: &'static str,
    accept: impl Fn(&DType) -> bool,
) -> Result<(), FclibError> {
    let found = dataset.dtype().map_err(|e| FclibError::hdf5(path, e))?;
    if accept(&found) {
        Ok(())
    } else {
        Err(FclibError::Type {
            dataset: path.to_owned(),
            found: found.to_string(),
            expected,
        })
    }
}
