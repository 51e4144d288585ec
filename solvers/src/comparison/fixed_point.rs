//! What the accelerations of the Gauss–Seidel map `g = GS(x)` share: sweeps, certificates, limits.
//!
//! ```text
//! g_k = GS(x_k),   d_k = g_k − x_k,   x_{k+1} = extrapolation of g_k from what is known of the d
//! ```
//!
//! `g_k` is judged, never `x_k`: it lies in the cones. When the residual is computed: [`Pace`]. A run that overflows, or whose residual grows far above its best, goes back to the
//! best iterate.

use crate::StoredProblem;
use crate::comparison::classical::options::{Schedule, SweepOptions};
use crate::comparison::classical::stored_sweep::ClassicalStoredSweep;
use crate::comparison::local::LocalSolver;
use crate::progress::Progress;
use crate::sweep::acceleration::{Pace, Relaxation, Stride};
use crate::sweep::explicit_sweep::ExplicitWorkspace;
use glam::DVec3;

/// Chooses the next iterate of a sequence of sweeps.
pub(crate) trait Extrapolation {
    /// Forgets the past. `blocks` vectors make an iterate.
    fn reset(&mut self, blocks: usize);
    /// Replaces `swept = GS(start)` by the next iterate; true if the past was dropped.
    fn extrapolate(&mut self, lambda: &[f64], start: &[DVec3], swept: &mut [DVec3]) -> bool;
}

/// Buffers of a run, reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct FixedPointWorkspace {
    sweep: ExplicitWorkspace,
    schedule: Schedule,
    start: Vec<DVec3>,
    next: Vec<DVec3>,
}

/// What a run may cost and how it solves one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_sweeps: usize,
    pub(crate) local: LocalSolver,
}

/// Excess over the best one at which a run goes back to the best iterate.
const GROWTH: f64 = 100.0;

/// Runs from `impulse` until the goal is reached, a limit strikes or the sweeps are spent.
pub(crate) fn run(
    problem: &StoredProblem,
    space: &mut FixedPointWorkspace,
    method: &mut impl Extrapolation,
    impulse: &[DVec3],
    limits: &Limits,
    progress: &mut Progress,
) {
    let options = SweepOptions {
        local: limits.local,
        ..SweepOptions::default()
    };
    let FixedPointWorkspace {
        sweep,
        schedule,
        start,
        next,
    } = space;
    let mut sweep = ClassicalStoredSweep::new(problem, sweep, schedule, impulse, &options);
    start.clear();
    start.extend_from_slice(impulse);
    next.clone_from(start);
    method.reset(impulse.len());
    progress.judge(&sweep.residual(), sweep.impulse());
    if progress.finished() {
        return;
    }
    let mut pace = Pace::new(&sweep);
    for done in 1..=limits.max_sweeps {
        let sums = sweep.sweep(Stride::PLAIN);
        progress.report.iterations = done;
        let mut lost = !sums.change.is_finite();
        let excess = pace.excess(&sums, progress);
        if pace.is_due(done, excess) || done == limits.max_sweeps {
            let residual = sweep.residual();
            let excess = progress.judge(&residual, sweep.impulse());
            if progress.finished() {
                return;
            }
            pace.judged(&sweep, done, &sums, &residual);
            lost |= excess > GROWTH * progress.excess();
        }
        if lost {
            progress.report.restarts += 1;
            next.copy_from_slice(progress.best());
            method.reset(next.len());
            sweep.restart(next);
        } else {
            next.copy_from_slice(sweep.impulse());
            let restarted = method.extrapolate(sweep.lambda(), start, next);
            progress.report.restarts += usize::from(restarted);
            sweep.move_to(next);
        }
        std::mem::swap(start, next);
    }
}

/// `⟨a, b⟩_λ = Σ λ_α a_α·b_α`, in index order.
pub(crate) fn weighted_dot(lambda: &[f64], a: &[DVec3], b: &[DVec3]) -> f64 {
    let terms = lambda.iter().zip(a).zip(b);
    terms.map(|((lambda, a), b)| lambda * a.dot(*b)).sum()
}

#[cfg(test)]
mod tests;
