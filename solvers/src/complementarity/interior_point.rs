//! Path following in the interior, predictor and corrector, for monotone problems [Mehrotra92, Wright97].
//!
//! Bounds get multipliers `l, u > 0` with `w = l − u`, and the path of the `z` strictly inside with
//!
//! ```text
//! M z + q = l − u,   (z_i − low_i) l_i = μ,   (high_i − z_i) u_i = μ
//! ```
//!
//! is followed to `μ = 0`. Newton's step on the path, with `s = z − low`, `t = high − z`:
//!
//! ```text
//! (M + diag(l/s + u/t)) dz = −(M z + q − l + u) + (σμ − s l − c_l)/s − (σμ − t u − c_u)/t
//! dl = (σμ − s l − c_l − l dz)/s,     du = (σμ − t u − c_u + u dz)/t
//! ```
//!
//! first with `σ = 0`, `c = 0` (predictor); its `μ` at the longest step gives `σ = (μ_pred/μ)³`, its products of second order `c` (corrector). Steps are
//! 0.995 of the way to the boundary at most. Free rows have no barrier. The iterates need not satisfy `w = M z + q` before the end.
//!
//! **Converges** for monotone problems (`M` positive semi-definite, unsymmetric or not) with a strictly feasible point, in some ten to thirty steps; in
//! practice without one too. **When to use it:** degenerate monotone problems, where pivots are many. **When not:** other matrices, on
//! which it may end as `Stopped`. **Cost:** `n³/3` a step. After the last step the basis that it points to is solved anew.

use super::BoxProblem;
use super::basis::{Basis, State};
use super::dense_lu::DenseLu;
use super::method::{Memory, Method, Trial, solver_of_boxes};

/// Settings of [`InteriorPoint`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InteriorPointSettings {
    /// Budget of steps. Default 200.
    pub max_steps: usize,
}

impl Default for InteriorPointSettings {
    fn default() -> Self {
        Self { max_steps: 200 }
    }
}

/// The method and its buffers.
#[derive(Debug, Default)]
pub struct InteriorPoint {
    /// Settings of the next solve.
    pub settings: InteriorPointSettings,
    pub(super) memory: Memory,
    basis: Basis,
    lu: DenseLu,
}

impl InteriorPoint {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: InteriorPointSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

/// How near to the boundary a step may come.
const BOUNDARY: f64 = 0.995;
/// Steps shorter than this lead nowhere.
const SHORTEST: f64 = 1e-10;
/// Added to the scaled diagonal where the matrix is singular without: free rows without a diagonal.
const REGULAR: f64 = 1e-9;

solver_of_boxes!(InteriorPoint);

impl Method for InteriorPoint {
    const NAME: &'static str = "path following";

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        let mut path = Path::new(problem);
        for _ in 0..self.settings.max_steps {
            trial.report.iterations += 1;
            trial.report.factorizations += 1;
            let length = path.step(&mut self.lu);
            let z = path.point();
            trial.judge(&z);
            let on_path = length.is_some_and(|length| length > SHORTEST);
            if !trial.converged() && self.basis.point(problem, &path.states(), &mut path.solved) {
                for (row, z) in path.solved.iter_mut().enumerate() {
                    *z = problem.clamp(row, *z);
                }
                trial.judge(&path.solved);
            }
            if trial.finished() || !on_path {
                break;
            }
        }
        trial.end_at(&path.point());
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}

/// Distance to a bound and its multiplier: `None` without bound.
#[derive(Clone, Copy, Debug)]
struct Pair {
    gap: f64,
    force: f64,
    /// The step: of the multiplier, and the product of second order.
    step: f64,
    second: f64,
}

/// A point near the path, in the scaled variables.
struct Path<'a> {
    problem: &'a BoxProblem,
    root: Vec<f64>,
    z: Vec<f64>,
    below: Vec<Option<Pair>>,
    above: Vec<Option<Pair>>,
    dz: Vec<f64>,
    right: Vec<f64>,
    solved: Vec<f64>,
}

impl<'a> Path<'a> {
    /// One unit of the problem from the bounds, or in the middle of a box.
    fn new(problem: &'a BoxProblem) -> Self {
        let root: Vec<f64> = problem.scales().iter().map(|scale| scale.sqrt()).collect();
        let largest = problem.q().iter().zip(&root);
        let size = largest.fold(0.0, |m: f64, (q, root)| m.max(q.abs() / root));
        let size = if size > 0.0 { size } else { 1.0 };
        let n = problem.len();
        let (mut z, mut below, mut above) = (vec![0.0; n], Vec::new(), Vec::new());
        for (row, z) in z.iter_mut().enumerate() {
            let low = problem.low()[row] * root[row];
            let high = problem.high()[row] * root[row];
            *z = match (low.is_finite(), high.is_finite()) {
                (true, true) => low + (0.5 * (high - low)).min(size),
                (true, false) => low + size,
                (false, true) => high - size,
                (false, false) => 0.0,
            };
            // A box that is a point has no interior: a tiny one stands for it.
            let least = 1e-8 * size;
            let pair = |gap: f64| Pair {
                gap: gap.max(least),
                force: size,
                step: 0.0,
                second: 0.0,
            };
            below.push(low.is_finite().then(|| pair(*z - low)));
            above.push(high.is_finite().then(|| pair(high - *z)));
        }
        Self {
            problem,
            root,
            z,
            below,
            above,
            dz: vec![0.0; n],
            right: vec![0.0; n],
            solved: Vec::new(),
        }
    }

    /// `z` in its box, in the units of the problem.
    fn point(&self) -> Vec<f64> {
        let parts = self.z.iter().zip(&self.root).enumerate();
        parts
            .map(|(row, (z, root))| self.problem.clamp(row, z / root))
            .collect()
    }

    /// The basis that the point tends to.
    fn states(&self) -> Vec<State> {
        let at = |pair: &Option<Pair>| pair.is_some_and(|pair| pair.gap < pair.force);
        let pairs = self.below.iter().zip(&self.above);
        pairs
            .map(|(below, above)| match (at(below), at(above)) {
                (true, false) => State::Low,
                (false, true) => State::High,
                (true, true) => State::Low,
                (false, false) => State::Between,
            })
            .collect()
    }

    fn pairs(&self) -> impl Iterator<Item = (&Pair, f64)> {
        let below = self.below.iter().zip(&self.dz);
        let above = self.above.iter().zip(&self.dz);
        let below = below.filter_map(|(pair, dz)| pair.as_ref().map(|pair| (pair, *dz)));
        below.chain(above.filter_map(|(pair, dz)| pair.as_ref().map(|pair| (pair, -*dz))))
    }

    /// `μ` after a step of this length.
    fn mean(&self, length: f64) -> f64 {
        let products = self
            .pairs()
            .map(|(pair, gap)| (pair.gap + length * gap) * (pair.force + length * pair.step));
        let count = self.pairs().count().max(1);
        products.sum::<f64>() / count as f64
    }

    /// The longest step that keeps gaps and multipliers from being negative, at most 1.
    fn longest(&self) -> f64 {
        let until = |value: f64, rate: f64| if rate < 0.0 { -value / rate } else { 1.0 };
        self.pairs().fold(1.0, |length: f64, (pair, gap)| {
            length
                .min(until(pair.gap, gap))
                .min(until(pair.force, pair.step))
        })
    }

    /// One step; its length, none if the matrix is singular.
    fn step(&mut self, lu: &mut DenseLu) -> Option<f64> {
        let n = self.z.len();
        let barrier = |pair: &Option<Pair>| pair.map_or(0.0, |pair| pair.force / pair.gap);
        let factorised = [0.0, REGULAR].into_iter().any(|regular| {
            lu.factorize(n, |i, j| {
                let m = self.problem.row(i)[j] / (self.root[i] * self.root[j]);
                if i == j {
                    m + barrier(&self.below[i]) + barrier(&self.above[i]) + regular
                } else {
                    m
                }
            })
        });
        if !factorised {
            return None;
        }
        let (mu, none) = (self.mean(0.0), self.pairs().next().is_none());
        for pair in self.below.iter_mut().chain(&mut self.above).flatten() {
            pair.second = 0.0;
        }
        self.solve(lu, 0.0);
        if !none {
            let predicted = self.mean(self.longest());
            let part = predicted / mu;
            let dz = self.dz.iter();
            for ((below, above), dz) in self.below.iter_mut().zip(&mut self.above).zip(dz) {
                for (pair, gap) in [(below, *dz), (above, -*dz)] {
                    if let Some(pair) = pair {
                        pair.second = gap * pair.step;
                    }
                }
            }
            self.solve(lu, mu * part * part * part);
        }
        let longest = self.longest();
        let length = if none {
            1.0
        } else {
            (BOUNDARY * longest).min(1.0)
        };
        for (row, dz) in self.dz.iter().enumerate() {
            self.z[row] += length * dz;
            for (pair, gap) in [(&mut self.below[row], *dz), (&mut self.above[row], -*dz)] {
                if let Some(pair) = pair {
                    pair.gap += length * gap;
                    pair.force += length * pair.step;
                }
            }
        }
        Some(length)
    }

    /// Newton's step to `σμ = target`.
    fn solve(&mut self, lu: &mut DenseLu, target: f64) {
        let z: Vec<f64> = self
            .z
            .iter()
            .zip(&self.root)
            .map(|(z, root)| z / root)
            .collect();
        let mut w = Vec::new();
        self.problem.image(&z, &mut w);
        let wanted = |pair: &Option<Pair>| {
            pair.map_or(0.0, |pair| {
                (target - pair.gap * pair.force - pair.second) / pair.gap
            })
        };
        for (row, w) in w.iter().enumerate() {
            let force = |pair: &Option<Pair>| pair.map_or(0.0, |pair| pair.force);
            let (below, above) = (&self.below[row], &self.above[row]);
            let missing = w / self.root[row] - force(below) + force(above);
            self.right[row] = -missing + wanted(below) - wanted(above);
        }
        self.dz.copy_from_slice(&self.right);
        lu.solve(&mut self.dz);
        for (row, dz) in self.dz.iter().enumerate() {
            for (pair, gap) in [(&mut self.below[row], *dz), (&mut self.above[row], -*dz)] {
                let wanted = wanted(pair);
                if let Some(pair) = pair {
                    pair.step = wanted - pair.force / pair.gap * gap;
                }
            }
        }
    }
}
