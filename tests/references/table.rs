//! Reading of the tables: a line `rows cols`, then one row per output time.

use std::path::Path;

/// The rows of a table, or nothing if the folder of references is absent.
pub(crate) fn read(name: &str) -> Option<Vec<Vec<f64>>> {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/references/siconos"
    ));
    if !folder.is_dir() {
        println!("skipped: {} is absent", folder.display());
        return None;
    }
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut lines = text.lines();
    let size: Vec<usize> = lines
        .next()
        .unwrap()
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    let rows: Vec<Vec<f64>> = lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            line.split_whitespace()
                .map(|x| x.parse().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(rows.len(), size[0], "{name}");
    assert!(rows.iter().all(|row| row.len() == size[1]), "{name}");
    Some(rows)
}
