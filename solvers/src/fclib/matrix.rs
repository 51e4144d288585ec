//! Sparse matrices of a file, in their three storages.

use super::FclibError;
use super::error::expect_length;
use super::source::Source;
use crate::SparseMatrix;

/// Reads the matrix of the group at `path`. Entries of equal position are added.
pub(super) fn read(
    source: &Source,
    path: &str,
    [rows, columns]: [usize; 2],
) -> Result<SparseMatrix, FclibError> {
    let member = |name: &str| format!("{path}/{name}");
    for (name, expected) in [("m", rows), ("n", columns)] {
        let found = source.integer(&member(name))?;
        expect_length(&member(name), count(&member(name), found)?, expected)?;
    }
    let nz = source.integer(&member("nz"))?;
    let most = count(&member("nzmax"), source.integer(&member("nzmax"))?)?;
    let [p, i] = ["p", "i"].map(|name| source.integers(&member(name)));
    let (p, i, x) = (p?, i?, source.reals(&member("x"))?);
    let arrays = Arrays { path, p, i, x };
    let (entries, used) = match nz {
        -2 => (arrays.compressed(rows, columns)?, arrays.end()),
        -1 => {
            let transposed = arrays.compressed(columns, rows)?;
            let entries = transposed
                .into_iter()
                .map(|(row, column, x)| (column, row, x));
            (entries.collect(), arrays.end())
        }
        0.. => {
            let used = count(&member("nz"), nz)?;
            (arrays.triplets(used, rows, columns)?, used)
        }
        found => {
            return Err(FclibError::Integer {
                dataset: member("nz"),
                found,
                expected: "-2 (compressed rows), -1 (compressed columns) or a count of triplets",
            });
        }
    };
    if most < used {
        expect_length(&member("nzmax"), most, used)?;
    }
    Ok(SparseMatrix::from_triplets(rows, columns, entries)?)
}

fn count(dataset: &str, found: i64) -> Result<usize, FclibError> {
    usize::try_from(found).map_err(|_| FclibError::Integer {
        dataset: dataset.to_owned(),
        found,
        expected: "a count",
    })
}

struct Arrays<'a> {
    path: &'a str,
    p: Vec<i64>,
    i: Vec<i64>,
    x: Vec<f64>,
}

type Entries = Vec<(usize, usize, f64)>;

impl Arrays<'_> {
    /// Entries of compressed arrays.
    fn end(&self) -> usize {
        self.p.last().map_or(0, |end| *end as usize)
    }

    /// Entries `(line, index, value)` of `lines` compressed lines with indices below `bound`.
    fn compressed(&self, lines: usize, bound: usize) -> Result<Entries, FclibError> {
        expect_length(&self.member("p"), self.p.len(), lines + 1)?;
        let mut begin = 0;
        for (position, start) in self.p.iter().enumerate() {
            // The first start is zero, and no start lies behind the data.
            let most = if position == 0 { 0 } else { self.x.len() };
            begin = self.in_range("p", position, *start, begin..=most)?;
        }
        self.expect_entries("i", self.i.len(), self.x.len())?;
        let mut entries = Vec::with_capacity(begin);
        let mut line = 0;
        for (position, (index, value)) in self.i.iter().zip(&self.x).enumerate().take(begin) {
            while self.p[line + 1] as usize <= position {
                line += 1;
            }
            entries.push((line, self.index("i", position, *index, bound)?, *value));
        }
        Ok(entries)
    }

    /// The first `used` triplets: `p` columns, `i` rows, or the other way round where only that
    /// is in range and the shape tells.
    fn triplets(&self, used: usize, rows: usize, columns: usize) -> Result<Entries, FclibError> {
        for (name, found) in [
            ("p", self.p.len()),
            ("i", self.i.len()),
            ("x", self.x.len()),
        ] {
            self.expect_entries(name, found, used)?;
        }
        let within = |indices: &[i64], bound: usize| {
            let inside = |index: &i64| usize::try_from(*index).is_ok_and(|index| index < bound);
            indices[..used].iter().all(inside)
        };
        let usual = within(&self.i, rows) && within(&self.p, columns);
        let swapped = !usual && within(&self.p, rows) && within(&self.i, columns);
        let (row_name, column_name) = if swapped { ("p", "i") } else { ("i", "p") };
        let (row, column) = if swapped {
            (&self.p, &self.i)
        } else {
            (&self.i, &self.p)
        };
        let entry = |k: usize| {
            let row = self.index(row_name, k, row[k], rows)?;
            let column = self.index(column_name, k, column[k], columns)?;
            Ok((row, column, self.x[k]))
        };
        (0..used).map(entry).collect()
    }

    fn expect_entries(&self, name: &str, found: usize, least: usize) -> Result<(), FclibError> {
        if found >= least {
            Ok(())
        } else {
            expect_length(&self.member(name), found, least)
        }
    }

    fn index(&self, name: &str, at: usize, found: i64, bound: usize) -> Result<usize, FclibError> {
        match usize::try_from(found) {
            Ok(index) if index < bound => Ok(index),
            _ => Err(FclibError::Index {
                dataset: self.member(name),
                position: at,
                found,
                least: 0,
                most: bound as i64 - 1,
            }),
        }
    }

    fn in_range(
        &self,
        name: &str,
        position: usize,
        found: i64,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, FclibError> {
        match usize::try_from(found) {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => Err(FclibError::Index {
                dataset: self.member(name),
                position,
                found,
                least: *range.start(),
                most: *range.end() as i64,
            }),
        }
    }

    fn member(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }
}
