use super::*;
use crate::Solver as _;
use crate::random::Random;
use crate::{Nsgs, NsgsSettings, natural_map};

fn block(random: &mut Random) -> DMat2 {
    let [a, b, c, d] = [(); 4].map(|()| random.uniform(-1.0, 1.0));
    DMat2::from_cols_array(&[a, b, c, d])
}

/// `n` contacts in a ring, diagonally dominant, the blocks unsymmetric.
fn ring(seed: u64, n: usize) -> PlanarProblem {
    let mut random = Random::new(seed);
    let mut row = |i: usize| {
        let mut diagonal = block(&mut random) * 0.5;
        diagonal.x_axis.x = random.uniform(4.0, 6.0);
        diagonal.y_axis.y = random.uniform(4.0, 6.0);
        let next = (i + 1) % n;
        let mut row = vec![(i as u32, diagonal), (next as u32, block(&mut random))];
        row.sort_by_key(|(column, _)| *column);
        row
    };
    PlanarProblem {
        rows: (0..n).map(&mut row).collect(),
        free_velocity: (0..n)
            .map(|i| DVec2::new(-1.0, 0.4 * i as f64 - 1.0))
            .collect(),
        friction: (0..n).map(|i| 0.1 * i as f64).collect(),
    }
}

/// Two masses of two degrees of freedom each, unsymmetrically coupled, three contacts.
fn global() -> PlanarGlobalProblem {
    let mass = (0..4)
        .map(|i| (i, i, 2.0 + i as f64))
        .chain([(0, 2, 0.25), (3, 1, -0.5)]);
    let kinematic = (0..6).flat_map(|j| [(j % 4, j, 1.0), ((j + 1) % 4, j, 0.1 * j as f64)]);
    PlanarGlobalProblem {
        mass: SparseMatrix::from_triplets(4, 4, mass).unwrap(),
        kinematic: SparseMatrix::from_triplets(4, 6, kinematic).unwrap(),
        force: vec![-1.0, 0.5, -2.0, 0.1],
        offset: vec![DVec2::new(-0.3, 0.2); 3],
        friction: vec![0.0, 0.3, 0.8],
    }
}

/// Planar projection onto `{ |T| ≤ μ N }`, from the definition.
fn project(mu: f64, z: DVec2) -> DVec2 {
    if z.y.abs() <= mu * z.x {
        z
    } else if mu * z.y.abs() <= -z.x {
        DVec2::ZERO
    } else {
        let edge = DVec2::new(1.0, mu.copysign(z.y));
        edge * (z.dot(edge) / edge.length_squared())
    }
}

/// `(e_scaled, e_fclib)` of the planar problem in two dimensions, from the definition.
fn residual(problem: &PlanarProblem, r: &[DVec2]) -> (f64, f64) {
    let (mut natural, mut scaled, mut impulse, mut free, mut free_scaled) =
        (0.0, 0.0, 0.0, 0.0, 0.0);
    for (i, row) in problem.rows.iter().enumerate() {
        let q = problem.free_velocity[i];
        let u = row
            .iter()
            .fold(q, |u, (j, block)| u + *block * r[*j as usize]);
        let own = row.iter().find(|(j, _)| *j as usize == i).unwrap().1;
        let lambda = 0.5 * (own.x_axis.x + own.y_axis.y);
        let mu = problem.friction[i];
        let shifted = DVec2::new(u.x + mu * u.y.abs(), u.y);
        natural += (r[i] - project(mu, r[i] - shifted)).length_squared();
        scaled += lambda * (r[i] - project(mu, r[i] - shifted / lambda)).length_squared();
        impulse += lambda * r[i].length_squared();
        free += q.length_squared();
        free_scaled += q.length_squared() / lambda;
    }
    (
        (scaled / f64::max(impulse, free_scaled)).sqrt(),
        (natural / free).sqrt(),
    )
}

/// Both figures to the rounding of sums over 7 contacts.
#[test]
fn the_residuals_are_those_of_the_planar_problem() {
    for seed in 0..50 {
        let planar = ring(seed, 7);
        let mut random = Random::new(seed + 1000);
        let r: Vec<_> = (0..7).map(|_| random.vector().truncate()).collect();
        let (scaled, fclib) = residual(&planar, &r);
        let embedded: Vec<_> = r.iter().map(|r| r.extend(0.0)).collect();
        let found = natural_map::stored(&planar.embed(), &embedded);
        assert!((found.scaled - scaled).abs() <= 1e-14 * scaled, "{seed}");
        assert!((found.fclib - fclib).abs() <= 1e-14 * fclib, "{seed}");
    }
}

#[test]
fn a_solution_of_the_embedded_problem_is_planar_and_solves_the_planar_one() {
    for seed in 0..10 {
        let planar = ring(seed, 7);
        let settings = NsgsSettings {
            ..NsgsSettings::default()
        };
        let mut r = vec![DVec3::ZERO; 7];
        let report = Nsgs::new(settings)
            .solve(&planar.embed(), &mut r, &crate::Goal::scaled(1e-12))
            .unwrap();
        assert!(report.converged());
        assert!(r.iter().all(|r| r.z == 0.0));
        let flat: Vec<_> = r.iter().map(|r| r.truncate()).collect();
        assert!(residual(&planar, &flat).0 <= 2e-12);
    }
}

#[test]
fn the_plane_comes_out_with_the_same_bits() {
    let planar = ring(3, 9);
    assert_eq!(PlanarProblem::of(&planar.embed()), Ok(planar));
    let global = global();
    assert_eq!(
        PlanarGlobalProblem::of(&global.embed().unwrap()),
        Ok(global)
    );
}

/// `1/(1/w)` and its way through the factorisation: a few roundings of `w`.
#[test]
fn the_global_embedding_condenses_to_the_stored_embedding() {
    let embedded = global().embed().unwrap();
    assert_eq!(embedded.degrees_of_freedom(), 4 + 3);
    let stored = embedded.condense().unwrap();
    let plane = PlanarProblem::of(&stored).unwrap().embed();
    assert_eq!(plane.free_velocity, stored.free_velocity);
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let difference = (stored.delassus.block(i, j) - plane.delassus.block(i, j)).to_cols_array();
        let bound = 4.0 * f64::EPSILON * stored.delassus.block(i, i).z_axis.z;
        assert!(difference.iter().all(|e| e.abs() <= bound), "{i} {j}");
    }
}

#[test]
fn a_contact_that_nothing_moves_keeps_a_zero_column() {
    let mut planar = global();
    let kept = triplets(&planar.kinematic).filter(|(_, column, _)| column / 2 != 1);
    planar.kinematic = SparseMatrix::from_triplets(4, 6, kept.collect::<Vec<_>>()).unwrap();
    let embedded = planar.embed().unwrap();
    assert_eq!(embedded.kinematic.column(5).count(), 0);
    assert_eq!(
        embedded.condense().unwrap().delassus.block(1, 1),
        DMat3::ZERO
    );
    assert_eq!(PlanarGlobalProblem::of(&embedded), Ok(planar));
}

#[test]
fn what_leaves_the_plane_is_named() {
    let embedded = ring(1, 4).embed();
    let mut moved = embedded.clone();
    moved.free_velocity[2].z = 1e-30;
    let error = PlanarProblem::of(&moved).unwrap_err();
    assert_eq!((error.what, error.contact), ("q has a second tangent", 2));
    let mut jointed = embedded.clone();
    jointed.joints.push(1);
    assert!(PlanarProblem::of(&jointed).is_err());
    let coupled = FrictionProblem {
        delassus: Delassus::from_rows(vec![vec![(0, DMat3::from_cols_array(&[1.0; 9]))]]),
        ..FrictionProblem::default()
    };
    assert_eq!(PlanarProblem::of(&coupled).unwrap_err().contact, 0);
    let mut global = global().embed().unwrap();
    global.force[6] = 1.0;
    assert_eq!(PlanarGlobalProblem::of(&global).unwrap_err().contact, 2);
    global.force.truncate(2);
    assert!(PlanarGlobalProblem::of(&global).is_err());
}
