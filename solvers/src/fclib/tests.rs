//! Files are made in memory, by the writer or by hand.

use super::*;
use crate::planar::{PlanarGlobalProblem, PlanarProblem};
use crate::random::{OwnedProblem, Random};
use crate::{Delassus, SparseMatrix};
use glam::{DMat2, DMat3, DVec2};

mod by_hand;

fn guess(random: &mut Random, contacts: usize, n: Option<usize>) -> FclibVectors {
    let mut vectors = || (0..contacts).map(|_| random.vector()).collect();
    FclibVectors {
        u: vectors(),
        r: vectors(),
        v: n.map(|n| (0..n).map(|i| i as f64 * 0.1).collect()),
    }
}

fn with_everything(problem: FclibProblem) -> FclibFile {
    let mut random = Random::new(7);
    let (contacts, n) = (problem.contacts(), problem.degrees_of_freedom());
    FclibFile {
        info: Info {
            title: "Wall".to_owned(),
            description: "μ varies\nover two lines".to_owned(),
            math_info: String::new(),
        },
        guesses: (0..3).map(|_| guess(&mut random, contacts, n)).collect(),
        solution: Some(guess(&mut random, contacts, n)),
        ..FclibFile::new(problem)
    }
}

fn local() -> FclibFile {
    with_everything(FclibProblem::Local(
        OwnedProblem::random(1, 6, 12).view().assemble(),
    ))
}

fn global() -> FclibFile {
    let mass = [
        (0, 0, 2.0),
        (1, 1, 3.0),
        (0, 1, 0.0),
        (1, 0, 0.5),
        (2, 2, 4.0),
    ];
    let kinematic = [
        (0, 0, 1.0),
        (1, 1, -0.0),
        (2, 5, 0.5),
        (1, 4, 1e-300),
        (0, 3, -1.0),
    ];
    with_everything(FclibProblem::Global(GlobalProblem {
        mass: SparseMatrix::from_triplets(3, 3, mass).unwrap(),
        kinematic: SparseMatrix::from_triplets(3, 6, kinematic).unwrap(),
        force: vec![1.0, -2.0, 0.25],
        offset: vec![DVec3::new(-1.0, 0.5, 0.0), DVec3::X],
        friction: vec![0.3, 0.0],
    }))
}

fn flattened(mut file: FclibFile) -> FclibFile {
    file.dimension = 2;
    let (contacts, n) = (file.contacts(), file.problem.degrees_of_freedom());
    for vectors in file.guesses.iter_mut().chain(&mut file.solution) {
        vectors
            .u
            .iter_mut()
            .chain(&mut vectors.r)
            .for_each(|x| x.z = 0.0);
        if let (Some(v), Some(n)) = (&mut vectors.v, n) {
            v[n - contacts..].fill(0.0);
        }
    }
    file
}

fn planar_local() -> FclibFile {
    let block = DMat2::from_cols_array(&[2.0, 0.3, 0.1, 5.0]);
    let planar = PlanarProblem {
        rows: vec![
            vec![(0, block), (1, block * 0.1)],
            vec![(0, -block * 0.1), (1, block)],
        ],
        free_velocity: vec![DVec2::new(-1.0, 0.2), DVec2::new(0.1, 0.7)],
        friction: vec![0.5, 0.1],
    };
    flattened(with_everything(FclibProblem::Local(planar.embed())))
}

fn planar_global() -> FclibFile {
    let planar = PlanarGlobalProblem {
        mass: SparseMatrix::from_triplets(2, 2, [(0, 0, 3.0), (1, 1, 7.0)]).unwrap(),
        kinematic: SparseMatrix::from_triplets(2, 2, [(0, 1, 1.0), (1, 0, 1.0)]).unwrap(),
        force: vec![0.1, -9.0],
        offset: vec![DVec2::new(0.0, 0.1)],
        friction: vec![0.7],
    };
    flattened(with_everything(FclibProblem::Global(
        planar.embed().unwrap(),
    )))
}

fn all() -> [FclibFile; 4] {
    [local(), global(), planar_local(), planar_global()]
}

/// Equal values, and equal bits where `==` does not tell (negative zeros), by a second writing.
fn assert_round_trip(file: &FclibFile) {
    let bytes = file.to_bytes().unwrap();
    let again = FclibFile::from_bytes(&bytes).unwrap();
    assert_eq!(again, *file);
    assert_eq!(again.to_bytes().unwrap(), bytes);
}

#[test]
fn what_is_written_is_read_again() {
    all().iter().for_each(assert_round_trip);
    for file in all() {
        let bare = FclibFile {
            dimension: file.dimension,
            ..FclibFile::new(file.problem)
        };
        assert_round_trip(&bare);
    }
    assert_round_trip(&FclibFile::new(FclibProblem::Local(StoredProblem {
        delassus: Delassus::from_rows(Vec::new()),
        ..StoredProblem::default()
    })));
}

#[test]
fn a_file_on_disk_is_the_bytes_and_errors_name_it() {
    let path = std::env::temp_dir().join(format!("moreau-fclib-{}.hdf5", std::process::id()));
    let file = local();
    file.write(&path).unwrap();
    assert_eq!(FclibFile::read(&path).unwrap(), file);
    std::fs::remove_file(&path).unwrap();
    let error = FclibFile::read(&path).unwrap_err();
    assert!(error.to_string().contains("moreau-fclib-"), "{error}");
    assert!(
        matches!(error, FclibError::File { source, .. } if matches!(*source, FclibError::Io(_)))
    );
}

#[test]
fn the_stored_form_of_a_global_problem_is_its_condensation() {
    let file = planar_global();
    let stored = file.problem.stored().unwrap();
    assert_eq!(file.blocks().unwrap(), 1);
    let diagonal = stored.delassus.block(0, 0);
    let mean = 0.5 * (1.0 / 3.0 + 1.0 / 7.0);
    assert!((diagonal.z_axis.z - mean).abs() < 1e-15);
    assert_eq!(diagonal.z_axis.truncate(), DVec2::ZERO);
}
