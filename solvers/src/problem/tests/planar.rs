//! Problems in the plane: residuals by the definition in two dimensions, answers of the problem in space that has the
//! same plane in it, and the global form.

use crate::random::Random;
use crate::{
    Admm, AlartCurnierNewton, Auto, GlobalProblem, Goal, Law, Nsgs, ProximalNewton, Solver,
    SparseMatrix, StoredProblem, natural_map,
};
use glam::{DMat2, DVec2};

/// Blocks by row: `(column, block)`.
struct Planar {
    rows: Vec<Vec<(usize, DMat2)>>,
    q: Vec<DVec2>,
    friction: Vec<f64>,
}

fn block(random: &mut Random) -> DMat2 {
    let [a, b, c, d] = [(); 4].map(|()| random.uniform(-1.0, 1.0));
    DMat2::from_cols_array(&[a, b, c, d])
}

/// `n` contacts in a ring, diagonally dominant, the blocks unsymmetric.
fn ring(seed: u64, n: usize) -> Planar {
    let mut random = Random::new(seed);
    let mut row = |i: usize| {
        let mut diagonal = block(&mut random) * 0.5;
        diagonal.x_axis.x = random.uniform(4.0, 6.0);
        diagonal.y_axis.y = random.uniform(4.0, 6.0);
        vec![(i, diagonal), ((i + 1) % n, block(&mut random))]
    };
    Planar {
        rows: (0..n).map(&mut row).collect(),
        q: (0..n)
            .map(|i| DVec2::new(-1.0, 0.4 * i as f64 - 1.0))
            .collect(),
        friction: (0..n).map(|i| 0.1 * i as f64).collect(),
    }
}

impl Planar {
    /// `stride` rows a contact: 2 in the plane; 3 in space, where the third row has the mean of the other two on its
    /// diagonal and no coupling.
    fn with_rows(&self, stride: usize) -> StoredProblem {
        let n = self.q.len();
        let mut entries = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            for (j, block) in row {
                for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    entries.push((stride * i + a, stride * j + b, block.col(b)[a]));
                }
                if i == *j && stride == 3 {
                    let mean = 0.5 * (block.x_axis.x + block.y_axis.y);
                    entries.push((3 * i + 2, 3 * i + 2, mean));
                }
            }
        }
        let w = SparseMatrix::from_triplets(stride * n, stride * n, entries).unwrap();
        let law = |mu: &f64| match stride {
            2 => Law::planar(*mu),
            _ => Law::coulomb(*mu),
        };
        let laws: Vec<_> = self.friction.iter().map(law).collect();
        StoredProblem::new(&laws, &w, &with_stride(&self.q, stride)).unwrap()
    }
}

fn with_stride(vectors: &[DVec2], stride: usize) -> Vec<f64> {
    let rows = |v: &DVec2| [v.x, v.y, 0.0].into_iter().take(stride);
    vectors.iter().flat_map(rows).collect()
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

/// `(e_scaled, e_fclib)` in two dimensions, from the definition.
fn residual(problem: &Planar, r: &[DVec2]) -> (f64, f64) {
    let (mut natural, mut scaled, mut impulse, mut free, mut free_scaled) =
        (0.0, 0.0, 0.0, 0.0, 0.0);
    for (i, row) in problem.rows.iter().enumerate() {
        let q = problem.q[i];
        let u = row.iter().fold(q, |u, (j, block)| u + *block * r[*j]);
        let own = row.iter().find(|(j, _)| *j == i).unwrap().1;
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

/// Both figures to the rounding of sums over 7 contacts, those of the problem in space too.
#[test]
fn the_residuals_are_those_of_the_definition_in_two_dimensions() {
    for seed in 0..50 {
        let planar = ring(seed, 7);
        let mut random = Random::new(seed + 1000);
        let r: Vec<_> = (0..7).map(|_| random.vector().truncate()).collect();
        let (scaled, fclib) = residual(&planar, &r);
        for stride in [2, 3] {
            let found = natural_map::stored(&planar.with_rows(stride), &with_stride(&r, stride));
            assert!((found.scaled - scaled).abs() <= 1e-14 * scaled, "{seed}");
            assert!((found.fclib - fclib).abs() <= 1e-14 * fclib, "{seed}");
        }
    }
}

fn solvers() -> [Box<dyn Solver>; 5] {
    [
        Box::new(Nsgs::default()),
        Box::new(ProximalNewton::default()),
        Box::new(Admm::default()),
        Box::new(AlartCurnierNewton::default()),
        Box::new(Auto::default()),
    ]
}

/// The rings are diagonally dominant, so that the answer is unique: residuals of 1e-12 leave 1e-11 of it.
#[test]
fn every_method_solves_in_the_plane_and_gives_the_answer_in_space() {
    for seed in 0..10 {
        let planar = ring(seed, 7);
        let [plane, space] = [2, 3].map(|stride| planar.with_rows(stride));
        for (number, mut solver) in solvers().into_iter().enumerate() {
            let goal = Goal::scaled(1e-12);
            let mut r = vec![0.0; 14];
            let report = solver.solve(&plane, &mut r, &goal).unwrap();
            assert!(report.converged(), "{seed} {number}: {report:?}");
            let flat: Vec<_> = r.chunks(2).map(DVec2::from_slice).collect();
            assert!(residual(&planar, &flat).0 <= 2e-12);
            let mut three = vec![0.0; 21];
            let report = solver.solve(&space, &mut three, &goal).unwrap();
            assert!(report.converged(), "{seed} {number}: {report:?}");
            for (flat, three) in flat.iter().zip(three.chunks(3)) {
                assert!((*flat - DVec2::from_slice(three)).length() <= 1e-11);
                assert!(three[2] == 0.0, "{seed} {number}: {three:?}");
            }
        }
    }
}

/// Two masses of two degrees of freedom each, unsymmetrically coupled, three contacts.
fn global() -> GlobalProblem {
    let mass = (0..4)
        .map(|i| (i, i, 2.0 + i as f64))
        .chain([(0, 2, 0.25), (3, 1, -0.5)]);
    let kinematic = (0..6).flat_map(|j| [(j % 4, j, 1.0), ((j + 1) % 4, j, 0.1 * j as f64)]);
    GlobalProblem {
        mass: SparseMatrix::from_triplets(4, 4, mass).unwrap(),
        kinematic: SparseMatrix::from_triplets(4, 6, kinematic).unwrap(),
        force: vec![-1.0, 0.5, -2.0, 0.1],
        offset: vec![-0.3, 0.2, -0.3, 0.2, -0.3, 0.2],
        laws: [0.0, 0.3, 0.8].map(Law::planar).to_vec(),
    }
}

/// `u = W r + q = Hᵀ v + w` for any impulse, to some roundings; and `W` row by row by unit impulses.
#[test]
fn the_global_form_condenses_row_by_row() {
    let problem = global();
    let stored = problem.condense().unwrap();
    assert_eq!((stored.len(), stored.rows()), (3, 6));
    for row in 0..7 {
        let r: Vec<f64> = (0..6).map(|k| f64::from(u8::from(k == row))).collect();
        let v = problem.velocity_under(&r).unwrap();
        let velocity = |j| problem.offset[j] + problem.kinematic.column_dot(j, &v);
        for (j, u) in stored.velocity_under(&r).into_iter().enumerate() {
            assert!((u - velocity(j)).abs() <= 8.0 * f64::EPSILON, "{row} {j}");
        }
    }
}

/// A contact whose columns of `H` are zero has no block; what is known of it stays.
#[test]
fn a_contact_that_nothing_moves_keeps_its_law() {
    let mut problem = global();
    let kept: Vec<_> = (0..6)
        .filter(|column| column / 2 != 1)
        .flat_map(|j| problem.kinematic.column(j).map(move |(i, h)| (i, j, h)))
        .collect();
    problem.kinematic = SparseMatrix::from_triplets(4, 6, kept).unwrap();
    let stored = problem.condense().unwrap();
    let u = stored.velocity_under(&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(u[2..4], [-0.3, 0.2]);
    assert_eq!(stored.laws(), problem.laws);
    let report = Auto::default()
        .solve(&stored, &mut [0.0; 6], &Goal::scaled(1e-8))
        .unwrap();
    assert_eq!(report.status, crate::SolverStatus::Infeasible);
}
