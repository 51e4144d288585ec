//! Files made by hand: storages that the writer does not use, and malformed files.

use super::*;
use crate::law::{Cohesion, EllipticCoulomb};
use glam::{DMat3, DVec3};
use hdf5_pure::{FileBuilder, GroupBuilder};

/// Arrays of one matrix, as a file holds them.
#[derive(Clone)]
struct Raw {
    shape: [i32; 2],
    nz: i32,
    nzmax: i32,
    p: Vec<i32>,
    i: Vec<i32>,
    x: Vec<f64>,
}

impl Raw {
    fn add_to(&self, group: &mut GroupBuilder, name: &str) {
        let mut matrix = group.create_group(name);
        let [m, n] = self.shape;
        for (name, value) in [("m", m), ("n", n), ("nz", self.nz), ("nzmax", self.nzmax)] {
            matrix.create_dataset(name).with_i32_data(&[value]);
        }
        matrix.create_dataset("p").with_i32_data(&self.p);
        matrix.create_dataset("i").with_i32_data(&self.i);
        matrix.create_dataset("x").with_f64_data(&self.x);
        group.add_group(matrix.finish());
    }
}

/// Two contacts; entries (0,0) 1, (1,1) 2, (2,2) 3, (0,4) 4, (3,1) an explicit 0, (5,5) 5.
fn raw_w(nz: i32) -> Raw {
    let rows = vec![0, 0, 1, 2, 3, 5];
    let columns = vec![0, 4, 1, 2, 1, 5];
    let x = vec![1.0, 4.0, 2.0, 3.0, 0.0, 5.0];
    let (p, i, x) = match nz {
        -2 => (vec![0, 2, 3, 4, 5, 5, 6], columns, x),
        -1 => {
            let x = vec![1.0, 2.0, 0.0, 3.0, 4.0, 5.0];
            (vec![0, 1, 3, 4, 4, 5, 6], vec![0, 1, 3, 2, 0, 5], x)
        }
        _ => (columns, rows, x),
    };
    let nzmax = 9;
    Raw {
        shape: [6, 6],
        nz,
        nzmax,
        p,
        i,
        x,
    }
}

fn raw_local(w: &Raw, change: impl Fn(&mut GroupBuilder, &mut GroupBuilder)) -> Vec<u8> {
    let mut builder = FileBuilder::new();
    let mut group = builder.create_group("fclib_local");
    group.create_dataset("spacedim").with_i32_data(&[3]);
    w.add_to(&mut group, "W");
    let mut vectors = group.create_group("vectors");
    change(&mut group, &mut vectors);
    group.add_group(vectors.finish());
    builder.add_group(group.finish());
    builder.finish().unwrap()
}

fn sound(_: &mut GroupBuilder, vectors: &mut GroupBuilder) {
    vectors.create_dataset("q").with_f64_data(&[-1.0; 6]);
    vectors.create_dataset("mu").with_f64_data(&[0.1, 0.2]);
}

fn error_of(w: &Raw, change: impl Fn(&mut GroupBuilder, &mut GroupBuilder)) -> FclibError {
    FclibFile::from_bytes(&raw_local(w, change)).unwrap_err()
}

#[test]
fn all_three_storages_give_the_same_blocks() {
    for nz in [-2, -1, 6] {
        let file = FclibFile::from_bytes(&raw_local(&raw_w(nz), sound)).unwrap();
        let FclibProblem::Local(problem) = file.problem else {
            panic!("nz {nz}: not a local problem");
        };
        let w = problem.delassus();
        assert_eq!(w.block_count(), 3, "the explicit zero makes no block");
        assert_eq!(
            w.block(0, 0),
            DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.0))
        );
        assert_eq!(
            w.block(0, 1),
            DMat3::from_cols(DVec3::ZERO, DVec3::X * 4.0, DVec3::ZERO)
        );
        assert_eq!(
            w.block(1, 1),
            DMat3::from_diagonal(DVec3::new(0.0, 0.0, 5.0))
        );
        assert_eq!(file.info, Info::default());
    }
}

#[test]
fn triplets_of_either_order_are_told_by_the_shape() {
    let m = Raw {
        shape: [1, 1],
        nz: 1,
        nzmax: 1,
        p: vec![0],
        i: vec![0],
        x: vec![2.0],
    };
    let mut h = Raw {
        shape: [1, 3],
        nz: 1,
        nzmax: 1,
        p: vec![2],
        i: vec![0],
        x: vec![1.5],
    };
    let read = |h: &Raw| {
        let mut builder = FileBuilder::new();
        let mut group = builder.create_group("fclib_global");
        group.create_dataset("spacedim").with_i32_data(&[3]);
        m.add_to(&mut group, "M");
        h.add_to(&mut group, "H");
        let mut vectors = group.create_group("vectors");
        vectors.create_dataset("f").with_f64_data(&[1.0]);
        vectors.create_dataset("w").with_f64_data(&[0.0; 3]);
        vectors.create_dataset("mu").with_f64_data(&[0.5]);
        group.add_group(vectors.finish());
        builder.add_group(group.finish());
        FclibFile::from_bytes(&builder.finish().unwrap())
    };
    let usual = read(&h).unwrap();
    std::mem::swap(&mut h.p, &mut h.i);
    assert_eq!(read(&h).unwrap(), usual);
    h.p[0] = 3;
    let error = read(&h).unwrap_err();
    assert!(error.to_string().contains("/fclib_global/H/"), "{error}");
}

#[test]
fn what_is_wrong_with_a_matrix_is_named() {
    let check = |w: Raw, expected: &str| {
        let error = error_of(&w, sound).to_string();
        assert!(error.contains(expected), "{error}");
    };
    let base = raw_w(-2);
    check(
        Raw {
            nz: -3,
            ..base.clone()
        },
        "/fclib_local/W/nz: found -3",
    );
    check(
        Raw {
            shape: [6, 3],
            ..base.clone()
        },
        "/fclib_local/W/n: found 3, expected 6",
    );
    check(
        Raw {
            shape: [-6, 6],
            ..base.clone()
        },
        "/fclib_local/W/m: found -6",
    );
    check(
        Raw {
            nzmax: 5,
            ..base.clone()
        },
        "/fclib_local/W/nzmax: found 5, expected 6",
    );
    check(
        Raw {
            nzmax: -1,
            ..base.clone()
        },
        "/fclib_local/W/nzmax: found -1",
    );
    check(
        Raw {
            p: vec![0; 6],
            ..base.clone()
        },
        "/fclib_local/W/p: found 6, expected 7",
    );
    let starts = |p| Raw { p, ..raw_w(-2) };
    check(
        starts(vec![1, 2, 3, 4, 5, 5, 6]),
        "/fclib_local/W/p[0]: found 1, expected 0..=0",
    );
    check(
        starts(vec![0, 3, 2, 4, 5, 5, 6]),
        "/fclib_local/W/p[2]: found 2, expected 3..=6",
    );
    check(
        starts(vec![0, 2, 3, 4, 5, 5, 7]),
        "/fclib_local/W/p[6]: found 7, expected 5..=6",
    );
    let indices = |i| Raw { i, ..raw_w(-2) };
    check(
        indices(vec![0, 6, 1, 2, 1, 5]),
        "/fclib_local/W/i[1]: found 6, expected 0..=5",
    );
    check(
        indices(vec![0, -1, 1, 2, 1, 5]),
        "/fclib_local/W/i[1]: found -1",
    );
    check(
        indices(vec![0, 4, 1, 2, 1]),
        "/fclib_local/W/i: found 5, expected 6",
    );
    check(
        Raw {
            nz: i32::MAX,
            ..raw_w(6)
        },
        "/fclib_local/W/p: found 6, expected 2147483647",
    );
    let mut infinite = raw_w(-1);
    infinite.x[3] = f64::INFINITY;
    check(infinite, "/fclib_local/W/x[3] is not finite: inf");
}

#[test]
fn what_is_wrong_with_vectors_is_named() {
    let w = raw_w(-2);
    let vectors = |q: &[f64], mu: &[f64]| {
        error_of(&w, |_, vectors| {
            vectors.create_dataset("q").with_f64_data(q);
            vectors.create_dataset("mu").with_f64_data(mu);
        })
    };
    let error = vectors(&[1.0; 5], &[0.1; 2]);
    assert!(
        matches!(&error, FclibError::Length { dataset, found: 5, expected: 6 }
        if dataset == "/fclib_local/vectors/q"),
        "{error}"
    );
    let error = vectors(&[1.0, f64::NAN, 0.0, 0.0, 0.0, 0.0], &[0.1; 2]);
    assert!(
        matches!(error, FclibError::NotFinite { position: 1, .. }),
        "{error}"
    );
    let error = vectors(&[1.0; 6], &[0.1, -0.1]);
    assert!(
        matches!(error, FclibError::Friction { contact: 1, .. }),
        "{error}"
    );
    let error = error_of(&w, |_, vectors| {
        vectors.create_dataset("mu").with_f64_data(&[0.1; 2]);
    });
    assert!(
        matches!(&error, FclibError::Missing { dataset } if dataset.ends_with("/q")),
        "{error}"
    );
    let error = error_of(&w, |_, vectors| {
        vectors.create_dataset("q").with_i32_data(&[1; 6]);
        vectors.create_dataset("mu").with_f64_data(&[0.1; 2]);
    });
    assert!(
        matches!(&error, FclibError::Type { dataset, .. } if dataset.ends_with("/q")),
        "{error}"
    );
    let error = error_of(&w, |_, vectors| {
        vectors
            .create_dataset("mu")
            .with_f64_data(&[0.1; 2])
            .with_chunks(&[1]);
        vectors.create_dataset("q").with_f64_data(&[1.0; 6]);
    });
    assert!(error.to_string().contains("contiguous"), "{error}");
}

#[test]
fn equality_constraints_are_refused_by_name() {
    let w = raw_w(-2);
    let error = error_of(&w, |group, vectors| {
        sound(group, vectors);
        raw_w(-2).add_to(group, "V");
    });
    assert!(matches!(&error, FclibError::Equality { dataset } if dataset == "/fclib_local/V"));
    let error = error_of(&w, |group, vectors| {
        sound(group, vectors);
        vectors.create_dataset("s").with_f64_data(&[0.0]);
    });
    assert!(
        error.to_string().contains("/fclib_local/vectors/s"),
        "{error}"
    );
    let error = error_of(&w, |group, vectors| {
        sound(group, vectors);
        raw_w(-2).add_to(group, "R");
    });
    assert!(matches!(&error, FclibError::Equality { dataset } if dataset == "/fclib_local/R"));
}

/// Nothing of a problem is dropped: what a file cannot hold is an error that names the first such interaction.
#[test]
fn laws_that_the_format_cannot_hold_are_refused_by_name() {
    let spinning = Law::Rolling(RollingCoulomb {
        friction: 0.5,
        rolling: 0.1,
        spinning: Some(0.1),
    });
    let elliptic = Law::EllipticCoulomb(EllipticCoulomb {
        friction: [0.5, 0.2],
    });
    let cohesion = Law::Cohesion(Cohesion {
        friction: 0.5,
        pull_off: 1.0,
    });
    let (plane, space) = (Law::planar(0.5), Law::coulomb(0.5));
    let cases: [(&[Law], usize, &str); 10] = [
        (&[Law::equality(3)], 0, "an equality"),
        (&[space, Law::equality(1), spinning], 1, "an equality"),
        (&[Law::interval(-1.0, 1.0)], 0, "an interval"),
        (
            &[plane, plane, Law::Complementarity],
            2,
            "a complementarity",
        ),
        (&[space, elliptic], 1, "elliptic"),
        (&[cohesion], 0, "cohesion"),
        (&[rolling(0.5, 0.1), spinning], 1, "spinning"),
        (&[plane, space], 1, "in space"),
        (&[space, space, plane], 2, "in the plane"),
        (&[space, rolling(0.5, 0.1)], 1, "rolling"),
    ];
    for (laws, at, name) in cases {
        let n = laws.iter().map(Law::rows).sum();
        let one = || SparseMatrix::from_triplets(n, n, (0..n).map(|i| (i, i, 1.0))).unwrap();
        let local = StoredProblem::new(laws, &one(), &vec![1.0; n]).unwrap();
        let global = GlobalProblem {
            mass: one(),
            kinematic: one(),
            force: vec![0.0; n],
            offset: vec![0.0; n],
            laws: laws.to_vec(),
        };
        for problem in [FclibProblem::Local(local), FclibProblem::Global(global)] {
            let error = FclibFile::new(problem).to_bytes().unwrap_err();
            assert!(
                matches!(&error, FclibError::Law { interaction, found, .. }
                    if *interaction == at && found.contains(name)),
                "{error}"
            );
        }
    }
}

/// One contact of five rows, `q`, `mu` and `mu_r` as given.
fn raw_contact(kind: &str, spacedim: i32, q: &[f64], mu: &[f64], mu_r: Option<&[f64]>) -> Vec<u8> {
    let mut builder = FileBuilder::new();
    let mut group = builder.create_group(kind);
    group.create_dataset("spacedim").with_i32_data(&[spacedim]);
    let w = Raw {
        shape: [5, 5],
        nz: 5,
        nzmax: 5,
        p: vec![0, 1, 2, 3, 4],
        i: vec![0, 1, 2, 3, 4],
        x: vec![1.0, 2.0, 3.0, 4.0, 5.0],
    };
    w.add_to(&mut group, "W");
    let mut vectors = group.create_group("vectors");
    vectors.create_dataset("q").with_f64_data(q);
    vectors.create_dataset("mu").with_f64_data(mu);
    if let Some(mu_r) = mu_r {
        vectors.create_dataset("mu_r").with_f64_data(mu_r);
    }
    group.add_group(vectors.finish());
    builder.add_group(group.finish());
    builder.finish().unwrap()
}

#[test]
fn rolling_problems_are_read_and_their_faults_named() {
    let q = [-1.0, 0.1, 0.2, 0.3, 0.4];
    let raw_rolling = |spacedim, q: &[f64], mu: &[f64], mu_r: Option<&[f64]>| {
        raw_contact("fclib_local_rolling", spacedim, q, mu, mu_r)
    };
    let file = FclibFile::from_bytes(&raw_rolling(5, &q, &[0.5], Some(&[0.1]))).unwrap();
    let FclibProblem::Local(problem) = &file.problem else {
        panic!("not a local problem");
    };
    assert_eq!(problem.laws(), [rolling(0.5, 0.1)]);
    assert_eq!(problem.free_velocity(), q);
    let u = problem.velocity_under(&[1.0; 5]);
    for (k, (u, q)) in u.iter().zip(q).enumerate() {
        assert!((u - q - (k + 1) as f64).abs() < 1e-15);
    }
    let faults: [(Vec<u8>, &str); 6] = [
        (
            raw_rolling(3, &q, &[0.5], Some(&[0.1])),
            "spacedim: found 3, expected 5",
        ),
        (
            raw_rolling(5, &q[..4], &[0.5], Some(&[0.1])),
            "vectors/q: found 4, expected 5",
        ),
        (
            raw_rolling(5, &q, &[0.5], Some(&[0.1, 0.2])),
            "vectors/mu_r: found 2, expected 1",
        ),
        (
            raw_rolling(5, &q, &[0.5], Some(&[-0.1])),
            "vectors/mu_r[0]: found -0.1",
        ),
        (
            raw_rolling(5, &q, &[-0.5], Some(&[0.1])),
            "vectors/mu[0]: found -0.5",
        ),
        (raw_rolling(5, &q, &[0.5], None), "vectors/mu_r is missing"),
    ];
    for (bytes, expected) in faults {
        let error = FclibFile::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("/fclib_local_rolling/"), "{error}");
    }
    let bytes = raw_contact("fclib_local", 5, &q, &[0.5], None);
    let error = FclibFile::from_bytes(&bytes).unwrap_err().to_string();
    assert!(
        error.contains("/fclib_local/spacedim: found 5, expected 2 or 3"),
        "{error}"
    );
}

#[test]
fn other_kinds_are_refused_by_name() {
    let kinds = |names: &[&str]| {
        let mut builder = FileBuilder::new();
        for name in names {
            let group = builder.create_group(name);
            builder.add_group(group.finish());
        }
        let error = FclibFile::from_bytes(&builder.finish().unwrap()).unwrap_err();
        assert!(matches!(error, FclibError::Kind { .. }));
        error.to_string()
    };
    assert!(
        kinds(&["fclib_global_rolling", "fclib_local"])
            .contains("found /fclib_local and /fclib_global_rolling")
    );
    assert!(kinds(&["fclib_local", "fclib_global"]).contains("/fclib_local and /fclib_global"));
    assert!(kinds(&["guesses"]).contains("no problem"));
    assert!(matches!(
        FclibFile::from_bytes(b"text"),
        Err(FclibError::Hdf5 { .. })
    ));
    assert!(FclibFile::from_bytes(&[]).is_err());
}

#[test]
fn invalid_content_is_not_written() {
    let refused = |change: &dyn Fn(&mut FclibFile)| {
        let mut file = local();
        change(&mut file);
        file.to_bytes().unwrap_err().to_string()
    };
    assert!(refused(&|file| file.info.title.push('\0')).contains("/info/title"));
    assert!(refused(&|file| file.guesses[1].r.truncate(3)).contains("/guesses/2/r: found 3"));
    assert!(refused(&|file| file.guesses[0].u[4] = f64::NAN).contains("/guesses/1/u[4]"));
    let mut file = global();
    file.solution = Some(FclibVectors {
        v: Some(vec![0.0]),
        ..file.guesses[0].clone()
    });
    assert!(
        file.to_bytes()
            .unwrap_err()
            .to_string()
            .contains("/solution/v: found 1, expected 3")
    );
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let mut file = local();
    file.info.title = "~title~".to_owned();
    let mut bytes = file.to_bytes().unwrap();
    let at = bytes
        .windows(7)
        .position(|window| window == b"~title~")
        .unwrap();
    bytes[at] = 0xff;
    bytes[at + 6] = 0;
    assert_eq!(
        FclibFile::from_bytes(&bytes).unwrap().info.title,
        "\u{fffd}title"
    );
}

#[test]
fn every_truncated_file_is_an_error() {
    for file in all() {
        let bytes = file.to_bytes().unwrap();
        for length in (0..bytes.len()).step_by(7) {
            assert!(FclibFile::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
    }
}

/// A flipped bit gives an error or another sound problem, which can be written.
#[test]
fn flipped_bits_never_panic() {
    let mut random = Random::new(11);
    for file in all() {
        let bytes = file.to_bytes().unwrap();
        for _ in 0..4000 {
            let mut bytes = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            if let Ok(read) = FclibFile::from_bytes(&bytes) {
                assert!(read.to_bytes().is_ok());
            }
        }
    }
}
