//! Files are made in memory, by the writer or by hand.

use super::*;
use crate::law::RollingCoulomb;
use crate::random::{OwnedProblem, Random};
use crate::{Delassus, SparseMatrix};

mod by_hand;

fn guess(random: &mut Random, rows: usize, n: Option<usize>) -> FclibVectors {
    let mut vector = || (0..rows).map(|_| random.uniform(-1.0, 1.0)).collect();
    FclibVectors {
        u: vector(),
        r: vector(),
        v: n.map(|n| (0..n).map(|i| i as f64 * 0.1).collect()),
    }
}

fn with_everything(problem: FclibProblem) -> FclibFile {
    let mut random = Random::new(7);
    let (rows, n) = (problem.rows(), problem.degrees_of_freedom());
    FclibFile {
        info: Info {
            title: "Wall".to_owned(),
            description: "μ varies\nover two lines".to_owned(),
            math_info: String::new(),
        },
        guesses: (0..3).map(|_| guess(&mut random, rows, n)).collect(),
        solution: Some(guess(&mut random, rows, n)),
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
        offset: vec![-1.0, 0.5, 0.0, 1.0, 0.0, 0.0],
        laws: [0.3, 0.0].map(Law::coulomb).to_vec(),
    }))
}

fn planar_local() -> FclibFile {
    let block = [[2.0, 0.1], [0.3, 5.0]];
    let factor = [[1.0, 0.1], [-0.1, 1.0]];
    let entry = |i: usize, j: usize| (i, j, factor[i / 2][j / 2] * block[i % 2][j % 2]);
    let entries = (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
    let w = SparseMatrix::from_triplets(4, 4, entries.map(|(i, j)| entry(i, j))).unwrap();
    let laws = [0.5, 0.1].map(Law::planar);
    let problem = StoredProblem::new(&laws, &w, &[-1.0, 0.2, 0.1, 0.7]).unwrap();
    with_everything(FclibProblem::Local(problem))
}

fn planar_global() -> FclibFile {
    with_everything(FclibProblem::Global(GlobalProblem {
        mass: SparseMatrix::from_triplets(2, 2, [(0, 0, 3.0), (1, 1, 7.0)]).unwrap(),
        kinematic: SparseMatrix::from_triplets(2, 2, [(0, 1, 1.0), (1, 0, 1.0)]).unwrap(),
        force: vec![0.1, -9.0],
        offset: vec![0.0, 0.1],
        laws: vec![Law::planar(0.7)],
    }))
}

fn rolling(friction: f64, rolling: f64) -> Law {
    Law::Rolling(RollingCoulomb {
        friction,
        rolling,
        spinning: None,
    })
}

/// Three contacts, the last one not coupled to the others; entries that are zero, also negative ones.
fn rolling_local() -> FclibFile {
    let mut random = Random::new(3);
    let mut entries = Vec::new();
    for (i, j) in (0..15).flat_map(|i| (0..15).map(move |j| (i, j))) {
        let value = match (i, j) {
            _ if (i < 10) != (j < 10) => continue,
            (3, 8) => -0.0,
            (2, 4) => 0.0,
            _ => random.uniform(-1.0, 1.0),
        };
        entries.push((i, j, value));
    }
    let w = SparseMatrix::from_triplets(15, 15, entries).unwrap();
    let q: Vec<f64> = (0..15).map(|_| random.uniform(-1.0, 1.0)).collect();
    let laws = [rolling(0.3, 0.01), rolling(0.0, 0.5), rolling(0.7, 0.0)];
    let problem = StoredProblem::new(&laws, &w, &q).unwrap();
    with_everything(FclibProblem::Local(problem))
}

fn rolling_global() -> FclibFile {
    let mass = (0..6).map(|i| (i, i, 1.0 + i as f64));
    let kinematic = (0..10).map(|j| (j % 6, j, 0.1 * j as f64 - 0.4));
    with_everything(FclibProblem::Global(GlobalProblem {
        mass: SparseMatrix::from_triplets(6, 6, mass).unwrap(),
        kinematic: SparseMatrix::from_triplets(6, 10, kinematic).unwrap(),
        force: vec![0.1, -9.0, 0.0, -0.0, 1.0, 2.0],
        offset: (0..10).map(|k| -0.1 * k as f64).collect(),
        laws: vec![rolling(0.4, 0.02), rolling(0.8, 0.03)],
    }))
}

fn all() -> [FclibFile; 6] {
    [
        local(),
        global(),
        planar_local(),
        planar_global(),
        rolling_local(),
        rolling_global(),
    ]
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
        assert_round_trip(&FclibFile::new(file.problem));
    }
    let none = StoredProblem::of_contacts(Delassus::from_rows(Vec::new()), Vec::new(), Vec::new());
    assert_round_trip(&FclibFile::new(FclibProblem::Local(none)));
}

#[test]
fn the_laws_say_how_many_rows_a_contact_has() {
    let found = all().map(|file| (file.dimension(), file.contacts(), file.problem.rows()));
    let expected = [
        (3, 12, 36),
        (3, 2, 6),
        (2, 2, 4),
        (2, 1, 2),
        (5, 3, 15),
        (5, 2, 10),
    ];
    assert_eq!(found, expected);
}

#[test]
fn blocks_count_coupled_pairs_of_contacts() {
    assert_eq!(planar_local().blocks().unwrap(), 4);
    assert_eq!(rolling_local().blocks().unwrap(), 5);
    // Rows of both contacts act on the same degrees of freedom.
    assert_eq!(rolling_global().blocks().unwrap(), 4);
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
    assert_eq!(stored.laws(), [Law::planar(0.7)]);
    // The normal row moves the second mass, 7, the tangential one the first, 3.
    let q = stored.free_velocity();
    for (r, expected) in [
        ([1.0, 0.0], [1.0 / 7.0, 0.0]),
        ([0.0, 1.0], [0.0, 1.0 / 3.0]),
    ] {
        for ((u, q), w) in stored.velocity_under(&r).iter().zip(&q).zip(expected) {
            assert!((u - q - w).abs() < 1e-15, "{u} {q} {w}");
        }
    }
}
