//! Small mixed problems of joints and contacts, as matrices: `w = M z + q`, block by block an equality, a frictionless or a frictional contact.
//!
//! `shared/references/siconos/gmp/FORMAT.md` has the format and what is known of the answers. Each is solved in three ways, and what is left of it is
//! computed from the file: largest `|w|` of an equality, `λ‖F‖` of a contact, over the largest `|q|`. 1e-8 is asked for.
//!
//! * *As it is stored*, by sweeps and Newton on all rows. It stops at 1.7e-8 of GMP3 and 2e-5 of GMP6, whose joints have eigenvalues of 1e-12 of the
//!   largest: multipliers of 1e5, to which `e_scaled` is relative, which is met.
//! * *As bodies*: `M = G Gᵀ` by Cholesky's method, so that `G` are the rows of joints and contacts on unit masses, for the solver of joints. The digits
//!   that are missing in GMP3 and GMP5 have left `M` indefinite, by 1e-10 and 7e-9 of its largest eigenvalue: these are no problems of bodies.
//! * *Eliminated*: joints by the pseudo-inverse of their part with eigenvalues above 1e-12 of the largest, contacts by the solver. The rounding of
//!   the rotations leaves 8e-7 in GMP6.
//!
//! So every one is solved to 1e-8, GMP3 by elimination and GMP6 as bodies alone.

use crate::mixed::{Mixed, Six, UNIT};
use moreau_solvers::complementarity::BoxAuto;
use moreau_solvers::{Auto, Goal, Law, Solver, SparseMatrix, StoredProblem};
use std::ops::Range;
use std::path::Path;

struct Problem {
    n: usize,
    /// Row by row.
    m: Vec<f64>,
    q: Vec<f64>,
    laws: Vec<Law>,
}

/// The words of a file, one after the other.
struct Words<'a>(std::str::SplitWhitespace<'a>);

impl Words<'_> {
    fn next<T: std::str::FromStr<Err: std::fmt::Debug>>(&mut self) -> T {
        self.0.next().unwrap().parse().unwrap()
    }

    fn list(&mut self, count: usize) -> Vec<usize> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// Begins and ends of blocks from their cumulated sizes.
fn ranges(ends: &[usize]) -> Vec<Range<usize>> {
    let begins = std::iter::once(0).chain(ends.iter().copied());
    begins.zip(ends).map(|(begin, end)| begin..*end).collect()
}

fn read(name: &str) -> Option<Problem> {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/references/siconos/gmp"
    ));
    if !folder.is_dir() {
        println!("skipped: {} is absent", folder.display());
        return None;
    }
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut words = Words(text.split_whitespace());
    assert_eq!(words.next::<usize>(), 1, "{name}: not in sparse blocks");
    let [n, columns, _] = [(); 3].map(|()| words.next::<usize>());
    assert_eq!(n, columns, "{name}");
    let [down, across] = [(); 2].map(|()| words.next::<usize>());
    let (rows, columns) = (ranges(&words.list(down)), ranges(&words.list(across)));
    let [pointers, stored] = [(); 2].map(|()| words.next::<usize>());
    let (first, column_of) = (words.list(pointers), words.list(stored));
    let mut m = vec![0.0; n * n];
    for (row, range) in rows.iter().enumerate() {
        for block in first[row]..first[row + 1] {
            assert_eq!(words.next::<usize>(), block, "{name}");
            for j in columns[column_of[block]].clone() {
                for i in range.clone() {
                    m[n * i + j] = words.next();
                }
            }
        }
    }
    let q = (0..n).map(|_| words.next()).collect();
    let law = |range: &Range<usize>| match words.next::<usize>() {
        0 => Law::Complementarity,
        2 => Law::equality(range.len()),
        4 => Law::coulomb(words.next()),
        other => panic!("{name}: block of type {other}"),
    };
    let laws = rows.iter().map(law).collect();
    assert!(words.0.next().is_none(), "{name}: more than was read");
    Some(Problem { n, m, q, laws })
}

impl Problem {
    fn blocks(&self) -> Vec<(Range<usize>, Law)> {
        let mut end = 0;
        let block = |law: &Law| {
            let begin = end;
            end += law.rows();
            (begin..end, *law)
        };
        self.laws.iter().map(block).collect()
    }

    /// Rows of joints, or of contacts.
    fn part(&self, joints: bool) -> Vec<usize> {
        let blocks = self.blocks().into_iter();
        let of = blocks.filter(|(_, law)| matches!(law, Law::Equality(_)) == joints);
        of.flat_map(|(rows, _)| rows).collect()
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.m[self.n * i + j]
    }

    fn velocity(&self, z: &[f64]) -> Vec<f64> {
        let row = |i: usize| (0..self.n).map(|j| self.at(i, j) * z[j]).sum::<f64>();
        (0..self.n).map(|i| self.q[i] + row(i)).collect()
    }

    /// What `z` leaves of the laws, over the largest `|q|`.
    fn left(&self, z: &[f64]) -> f64 {
        let w = self.velocity(z);
        let mut worst: f64 = 0.0;
        for (rows, law) in self.blocks() {
            let (w, z) = (&w[rows.clone()], &z[rows.clone()]);
            let lambda = rows.clone().map(|i| self.at(i, i)).sum::<f64>() / rows.len() as f64;
            let own = match law.friction() {
                _ if matches!(law, Law::Equality(_)) => w.iter().fold(0.0, |a, w| w.abs().max(a)),
                None => w[0].min(lambda * z[0]).abs(),
                Some(mu) => {
                    let sliding = w[0] + mu * libm::hypot(w[1], w[2]);
                    let p = on_cone(
                        mu,
                        [
                            z[0] - sliding / lambda,
                            z[1] - w[1] / lambda,
                            z[2] - w[2] / lambda,
                        ],
                    );
                    let off = (0..3).map(|k| (z[k] - p[k]).powi(2)).sum::<f64>();
                    lambda * off.sqrt()
                }
            };
            worst = worst.max(own);
        }
        worst / self.q.iter().fold(0.0, |a, q| q.abs().max(a))
    }

    /// Of rows and columns of `M`, and of `q`.
    fn stored(laws: &[Law], m: &[f64], q: &[f64]) -> StoredProblem {
        let n = q.len();
        let entries = m.iter().enumerate().map(|(k, m)| (k / n, k % n, *m));
        let w = SparseMatrix::from_triplets(n, n, entries).unwrap();
        StoredProblem::new(laws, &w, q).unwrap()
    }

    fn solve_stored(&self) -> Vec<f64> {
        let mut z = vec![0.0; self.n];
        let stored = Self::stored(&self.laws, &self.m, &self.q);
        let report = Auto::default()
            .solve(&stored, &mut z, &Goal::both(1e-12))
            .unwrap();
        println!("  stored: {:?}, {:?}", report.status, report.residual);
        z
    }

    /// What half a unit in the last of seven digits of `M` is worth in `M z`, over the largest `|q|`.
    fn noise(&self, z: &[f64]) -> f64 {
        let row = |i: usize| (0..self.n).map(move |j| 5e-8 * (self.at(i, j) * z[j]).abs());
        let worst = (0..self.n).map(|i| row(i).sum()).fold(0.0, f64::max);
        worst / self.q.iter().fold(0.0, |a, q| q.abs().max(a))
    }

    fn has_boxes_alone(&self) -> bool {
        self.laws.iter().all(|law| law.friction().is_none())
    }

    fn solve_pivoted(&self) -> Vec<f64> {
        let mut z = vec![0.0; self.n];
        let stored = Self::stored(&self.laws, &self.m, &self.q);
        let mut solver = BoxAuto::default();
        let report = solver.solve(&stored, &mut z, &Goal::both(1e-12)).unwrap();
        println!(
            "  {:?}: {:?}, {:?}",
            solver.tried(),
            report.status,
            report.residual
        );
        z
    }

    fn solve_eliminated(&self) -> Vec<f64> {
        let (joints, contacts) = (self.part(true), self.part(false));
        let k = joints.len();
        let part = |i: usize| (0..k).map(move |j| (i, j));
        let j: Vec<f64> = (0..k)
            .flat_map(part)
            .map(|(i, j)| self.at(joints[i], joints[j]))
            .collect();
        let inverse = pseudo_inverse(k, j, 1e-12);
        // J⁺ (q + C z) for given columns of C and q.
        let times = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let row = |i: usize| (0..k).map(|j| inverse[k * i + j] * of(joints[j])).sum();
            (0..k).map(row).collect()
        };
        let by_q = times(&|row| self.q[row]);
        let by_contact: Vec<Vec<f64>> = contacts
            .iter()
            .map(|c| times(&|row| self.at(row, *c)))
            .collect();
        let less = |row: usize, by: &[f64]| -> f64 {
            (0..k).map(|j| self.at(row, joints[j]) * by[j]).sum()
        };
        let mut w = Vec::new();
        let mut q = Vec::new();
        for row in &contacts {
            q.push(self.q[*row] - less(*row, &by_q));
            for (column, by) in contacts.iter().zip(&by_contact) {
                w.push(self.at(*row, *column) - less(*row, by));
            }
        }
        let laws: Vec<Law> = self
            .laws
            .iter()
            .filter(|law| !matches!(law, Law::Equality(_)))
            .copied()
            .collect();
        let mut z = vec![0.0; self.n];
        let mut own = vec![0.0; q.len()];
        if !q.is_empty() {
            let condensed = Self::stored(&laws, &w, &q);
            let report = Auto::default()
                .solve(&condensed, &mut own, &Goal::both(1e-12))
                .unwrap();
            assert!(report.converged(), "{report:?}");
        }
        for (row, z_own) in contacts.iter().zip(&own) {
            z[*row] = *z_own;
        }
        for (i, row) in joints.iter().enumerate() {
            let pushed: f64 = by_contact.iter().zip(&own).map(|(by, z)| by[i] * z).sum();
            z[*row] = -by_q[i] - pushed;
        }
        z
    }

    /// Nothing if `M` has no root.
    fn solve_as_bodies(&self) -> Option<Vec<f64>> {
        let order = [self.part(false), self.part(true)].concat();
        let root = self.root(&order)?;
        let sixes = self.n.div_ceil(6);
        let mut problem = Mixed::new((0..sixes).map(|_| (UNIT, [0.0; 6])));
        let six = |row: usize, body: usize| -> Six {
            std::array::from_fn(|k| {
                if 6 * body + k < self.n {
                    root[self.n * row + 6 * body + k]
                } else {
                    0.0
                }
            })
        };
        for (rows, law) in self.blocks() {
            if matches!(law, Law::Equality(_)) {
                for row in rows {
                    let parts: Vec<_> = (0..sixes).map(|body| (body, six(row, body))).collect();
                    problem.equality(&parts, self.q[row]);
                }
            } else {
                let own: Vec<Six> = rows.clone().map(|row| six(row, 0)).collect();
                problem.contact(0, law, &own, &self.q[rows]);
            }
        }
        let answer = problem.solve(&mut Auto::default(), 1e-8);
        println!(
            "  as bodies: {:?}, {:?}",
            answer.report.status, answer.report.residual
        );
        Some(answer.multipliers)
    }

    /// `G` of `M = G Gᵀ`, triangular in the given order of rows: contacts, which come first, have the first columns only.
    fn root(&self, order: &[usize]) -> Option<Vec<f64>> {
        let n = self.n;
        let mut root = vec![0.0; n * n];
        for (c, i) in order.iter().enumerate() {
            for j in &order[c..] {
                let product: f64 = (0..c).map(|k| root[n * i + k] * root[n * j + k]).sum();
                root[n * j + c] = self.at(*i, *j) - product;
            }
            let pivot = root[n * i + c];
            if pivot <= 0.0 {
                return None;
            }
            order[c..]
                .iter()
                .for_each(|j| root[n * j + c] /= pivot.sqrt());
        }
        Some(root)
    }
}

/// The nearest point of `{ ‖r_T‖ ≤ μ r_N }`.
fn on_cone(mu: f64, x: [f64; 3]) -> [f64; 3] {
    let t = libm::hypot(x[1], x[2]);
    if t <= mu * x[0] {
        x
    } else if mu * t <= -x[0] {
        [0.0; 3]
    } else {
        let n = (x[0] + mu * t) / (1.0 + mu * mu);
        [n, mu * n * x[1] / t, mu * n * x[2] / t]
    }
}

/// Of a symmetric matrix, by Jacobi's rotations; eigenvalues below `cut` of the largest count as zero.
fn pseudo_inverse(n: usize, mut a: Vec<f64>, cut: f64) -> Vec<f64> {
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|k| v[n * k + k] = 1.0);
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                let apq = a[n * p + q];
                if apq == 0.0 {
                    continue;
                }
                let angle = 0.5 * libm::atan2(2.0 * apq, a[n * q + q] - a[n * p + p]);
                let (s, c) = libm::sincos(angle);
                let turn = |m: &mut Vec<f64>, [p, q]: [usize; 2]| {
                    let (x, y) = (m[p], m[q]);
                    (m[p], m[q]) = (c * x - s * y, s * x + c * y);
                };
                for k in 0..n {
                    turn(&mut a, [n * k + p, n * k + q]);
                    turn(&mut v, [n * k + p, n * k + q]);
                }
                for k in 0..n {
                    turn(&mut a, [n * p + k, n * q + k]);
                }
            }
        }
    }
    let most = (0..n).map(|k| a[n * k + k]).fold(0.0, f64::max);
    let inverse = |k: usize| {
        if a[n * k + k].abs() > cut * most {
            1.0 / a[n * k + k]
        } else {
            0.0
        }
    };
    let entry = |e: usize| {
        (0..n)
            .map(|k| v[n * (e / n) + k] * inverse(k) * v[n * (e % n) + k])
            .sum()
    };
    (0..n * n).map(entry).collect()
}

/// Rows whose multipliers are known, with their values and what these are good for.
fn known(k: usize) -> (Range<usize>, &'static [f64], f64) {
    match k {
        0 => (
            0..6,
            &[
                -1.80390474,
                -1.45376994,
                -2.6832e-7,
                11.1355982,
                -16.6078631,
                7.36368909,
            ],
            1e-7,
        ),
        1 => (
            0..9,
            &[
                -0.0258211482,
                0.0,
                0.0981003291,
                0.0258211648,
                0.0,
                -3.328e-7,
                0.0258211816,
                0.0,
                0.0980996924,
            ],
            1e-9,
        ),
        2 => (
            0..9,
            &[
                -0.0607111453,
                0.0,
                0.26546708,
                0.0246536046,
                0.0,
                -0.170938687,
                -0.0114030447,
                0.0,
                -0.0836526031,
            ],
            1e-9,
        ),
        3 => (35..36, &[0.001239665], 2e-8),
        4 => (0..3, &[6.98379416e-5, 6.98115665e-6, 1.91918421e-7], 1e-13),
        5 => (5..8, &[2.0246745e-4, 6.073361e-6, -8.97e-8], 1e-10),
        _ => (35..36, &[0.0100961], 5e-8),
    }
}

fn check(k: usize, way: &str, problem: &Problem, z: &[f64], most: f64) {
    let left = problem.left(z);
    let (rows, values, digits) = known(k);
    let off = z[rows]
        .iter()
        .zip(values)
        .map(|(z, known)| (z - known).abs())
        .fold(0.0, f64::max);
    println!("GMP{k} {way}: {left:.1e} left, {off:.1e} from the known answer");
    assert!(left <= most, "GMP{k} {way}: {left:e}");
    assert!(off <= digits, "GMP{k} {way}: {off:e} off");
}

#[test]
fn mixed_problems_are_solved_in_three_ways() {
    for k in 0..7 {
        let Some(problem) = read(&format!("GMP{k}.dat")) else {
            return;
        };
        let (stored, eliminated) = match k {
            3 => (3e-8, 1e-8),
            6 => (problem.noise(&problem.solve_stored()), 2e-6),
            _ => (1e-8, 1e-8),
        };
        check(k, "stored", &problem, &problem.solve_stored(), stored);
        if problem.has_boxes_alone() {
            check(k, "pivoted", &problem, &problem.solve_pivoted(), 1e-8);
        }
        let z = problem.solve_eliminated();
        check(k, "eliminated", &problem, &z, eliminated);
        match problem.solve_as_bodies() {
            Some(z) => check(k, "as bodies", &problem, &z, 1e-8),
            None => assert!([3, 5].contains(&k), "GMP{k} has no root"),
        }
    }
}
