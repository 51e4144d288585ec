//! The field's problems with rolling resistance, and ours, on every solver that knows the law.
//!
//! The files stand in `shared/rolling` beside the checkout; without them this test says so and passes.

use crate::solvers;
use moreau_demos::ProblemFile;
use moreau_solvers::{Goal, ProblemError, natural_map};
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/rolling"));
    let Ok(entries) = std::fs::read_dir(folder) else {
        println!("no folder {}: nothing is checked", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "hdf5"));
    paths.sort();
    paths
}

#[test]
fn auto_solves_the_files_with_rolling_resistance() {
    for path in files() {
        let file = ProblemFile::read(&path).unwrap();
        let (_, mut auto) = solvers::all().pop().unwrap();
        let mut r = file.cold_start();
        let report = auto.solve(&file.stored, &mut r, &Goal::both(1e-8)).unwrap();
        println!("{}: {report:?}", file.name);
        assert_eq!(report.residual, natural_map::stored(&file.stored, &r));
        assert!(report.converged(), "{}: {report:?}", file.name);
    }
}

/// The answer of one contact that holds in all rows is known; the solvers that know the law find it.
#[test]
fn the_sphere_on_a_plane_holds() {
    let sphere = |path: &PathBuf| path.ends_with("RFC3D_sphere_1.hdf5");
    let Some(path) = files().into_iter().find(sphere) else {
        return;
    };
    let file = ProblemFile::read(&path).unwrap();
    for (name, mut solver) in solvers::all() {
        let mut r = file.cold_start();
        let report = match solver.solve(&file.stored, &mut r, &Goal::both(1e-10)) {
            Ok(report) => report,
            Err(ProblemError::Unsupported { .. }) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        assert!(report.converged(), "{name}: {report:?}");
        for (found, expected) in r.iter().zip([8.92357, -0.09, 0.0, 0.0, 0.991]) {
            assert!((found - expected).abs() <= 5e-6, "{name}: {r:?}");
        }
    }
}
