//! Lemke's method with lexicographic pivoting, on boxes [Lemke65, Cottle-Pang-Stone92 ch. 4].
//!
//! **Problem.** The standard form of a box problem: `y = M x + q`, `0 ≤ x ≤ U`, `y_i ≥ 0` at `x_i = 0`, `y_i ≤ 0` at `x_i = U_i`, `y_i = 0`
//! between. Scaling, elimination of free rows and shifts that lead there: `free_rows.rs`.
//!
//! **Algorithm.** A covering variable `t ≥ 0` is added, `y = M x + q + t e`. For large `t` the point `x = 0` has `y ≥ 0`; the method follows
//! the path of solutions from there until `t = 0`. On the path all but one pair obey their law, and what moves is the variable whose
//! partner just came to a bound:
//!
//! ```text
//! y_i came to zero           x_i enters, away from the bound at which it is
//! x_i came to a bound        y_i enters, ≥ 0 at the lower bound and ≤ 0 at the upper one
//! t came to zero             solved
//! nothing stops it           the path is a ray
//! ```
//!
//! An entering `x_i` may reach its own other bound first: then nothing is pivoted, and `y_i` enters. Upper bounds cost no rows. Each pivot is
//! a rank-one update of the inverse of a matrix with as many rows as `x` are basic: see `path.rs`.
//!
//! **Ties** are broken lexicographically: `q` is thought of as `q + (ε, ε², …)`, under which no two rows ever tie. The coefficients of the
//! powers of `ε` in a row are those of `∂(row)/∂q`, which are in the columns of the `y_i` outside the basis (with the opposite sign), or
//! unit vectors; they are worked out where rows tie. No basis comes twice, so the method ends.
//!
//! **What the end says.** If all boxes are bounded the path cannot be a ray: far out `x − P(x)` outgrows `M P(x)`, which is bounded, so there is one
//! ray only, the first. For a copositive-plus `M` (positive semi-definite ones are) of a complementarity problem a ray proves that there is
//! no solution: its direction `d ≥ 0` has `Md ≥ 0`, `dᵀMd = 0`, so `Mᵀd = −Md ≤ 0`, and `qᵀd < 0`
//! [Cottle-Pang-Stone92, ch. 4]. The direction is checked as a certificate after Farkas; only then is the status `Infeasible`. In all other
//! cases it is `Ray`: nothing is known.
//!
//! The final basis is solved anew with an LU factorisation, so that the answer does not carry the rounding of the pivots.
//!
//! **When to use it:** dense problems up to some hundreds of rows, of any kind of matrix. **When not:** thousands of rows. **Cost:** up to `3 n²` a
//! pivot, mostly a quarter of `n²`, and mostly `n/2` to `2n` pivots; `2ⁿ` on examples made for it [Murty88, ch. 6].

mod inverse;
mod path;

use super::BoxProblem;
use super::basis::{Basis, State};
use super::free_rows::Standard;
use super::method::{Memory, Method, Trial, solver_of_boxes};
use path::{End, Path};

/// Settings of [`Lemke`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LemkeSettings {
    /// Budget of pivots. Default 100 000.
    pub max_pivots: usize,
}

impl Default for LemkeSettings {
    fn default() -> Self {
        Self {
            max_pivots: 100_000,
        }
    }
}

/// The method and its buffers, which are reused from solve to solve.
///
/// ```
/// use moreau_solvers::complementarity::{BoxProblem, Lemke};
/// use moreau_solvers::Goal;
/// let problem = BoxProblem::complementarity(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0])?;
/// let mut z = [0.0; 2];
/// let report = Lemke::default().solve_box(&problem, &mut z, &Goal::scaled(1e-12))?;
/// assert!(report.converged());
/// assert!((z[0] - 4.0 / 3.0).abs() < 1e-12 && (z[1] - 7.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct Lemke {
    /// Settings of the next solve.
    pub settings: LemkeSettings,
    pub(super) memory: Memory,
    standard: Standard,
    path: Path,
    states: Vec<State>,
    z: Vec<f64>,
    basis: Basis,
}

impl Lemke {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: LemkeSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

solver_of_boxes!(Lemke);

impl Method for Lemke {
    const NAME: &'static str = "Lemke's method";

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        let standard = &mut self.standard;
        standard.set(problem);
        let path = &mut self.path;
        path.set(standard);
        let end = path.follow(self.settings.max_pivots, || trial.finished());
        trial.report.iterations += path.pivots();
        let (states, mut z) = (&mut self.states, std::mem::take(&mut self.z));
        standard.states(|i| path.state(i), states);
        let at_bounds = |(row, state): (usize, &State)| match state {
            State::Low => problem.low()[row].is_finite(),
            State::High => problem.high()[row].is_finite(),
            State::Between => true,
        };
        debug_assert!(states.iter().enumerate().all(at_bounds));
        let solved = matches!(end, End::Solved);
        if solved {
            trial.report.factorizations += 1;
            if self.basis.point(problem, states, &mut z) {
                for (row, z) in z.iter_mut().enumerate() {
                    *z = problem.clamp(row, *z);
                }
                trial.judge(&z);
            }
        }
        if !trial.converged() {
            standard.point(path.values(), &mut z);
            for (row, z) in z.iter_mut().enumerate() {
                *z = problem.clamp(row, *z);
            }
            trial.judge(&z);
        }
        if matches!(end, End::Ray) && !trial.converged() {
            let direction = standard.direction(&path.ray());
            trial.end_on_ray(direction);
        }
        self.z = z;
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}
