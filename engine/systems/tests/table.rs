//! Reading of the tables: a line `rows cols`, then one row per output time; and the largest difference of each column.

use std::path::Path;

/// The rows of a table, or nothing if the folder of references is absent.
pub(crate) fn read(name: &str) -> Option<Vec<Vec<f64>>> {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/references/siconos"
    ));
    if !folder.is_dir() {
        println!("skipped: {} is absent", folder.display());
        return None;
    }
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut lines = text.lines();
    let numbers = |line: &str| -> Vec<f64> {
        let cells = line.split_whitespace();
        cells.map(|cell| cell.parse().unwrap()).collect()
    };
    let size: Vec<usize> = numbers(lines.next().unwrap())
        .iter()
        .map(|n| *n as usize)
        .collect();
    let filled = lines.filter(|line| !line.trim().is_empty());
    let rows: Vec<Vec<f64>> = filled.map(numbers).collect();
    assert_eq!(rows.len(), size[0], "{name}");
    assert!(rows.iter().all(|row| row.len() == size[1]), "{name}");
    Some(rows)
}

/// The rows of a table with commas below a line of names, or nothing if the folder of references is absent.
pub(crate) fn read_commas(name: &str) -> Option<Vec<Vec<f64>>> {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/references/siconos/joints"
    ));
    if !folder.is_dir() {
        println!("skipped: {} is absent", folder.display());
        return None;
    }
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let rows = text.lines().skip(1).filter(|line| !line.is_empty());
    let numbers = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    Some(rows.map(numbers).collect())
}

/// The largest difference of each column.
#[derive(Default)]
pub(crate) struct Differences(pub(crate) Vec<f64>);

impl Differences {
    /// `own` beside the same columns of a row.
    pub(crate) fn add(&mut self, own: &[f64], given: &[f64]) {
        assert_eq!(own.len(), given.len());
        self.0.resize(own.len(), 0.0);
        for ((worst, own), given) in self.0.iter_mut().zip(own).zip(given) {
            let difference = (own - given).abs();
            // What is no number is as different as can be.
            *worst = worst.max(if difference.is_nan() {
                f64::INFINITY
            } else {
                difference
            });
        }
    }

    /// Prints the differences and fails if one is above its bound.
    pub(crate) fn within(&self, name: &str, bounds: &[f64]) {
        let shown: Vec<String> = self.0.iter().map(|worst| format!("{worst:.1e}")).collect();
        println!("{name}: {}", shown.join(" "));
        assert_eq!(self.0.len(), bounds.len(), "{name}");
        for (column, (worst, bound)) in self.0.iter().zip(bounds).enumerate() {
            assert!(
                worst <= bound,
                "{name}, column {column}: {worst:e} above {bound:e}"
            );
        }
    }
}
