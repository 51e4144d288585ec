//! Momentum, restart and keep-best around a Gauss–Seidel sweep.
//!
//! With `x = sweep(y)` the sequence is [Mazhar15, §3; gradient restart after ODonoghue-Candes15]
//!
//! ```text
//! x_k = sweep(y_{k−1})
//! restart (t = 1) if  ⟨y_{k−1} − x_k, x_k − x_{k−1}⟩_λ > 0              past a minimum
//!                 or  ⟨y_{k−1} − x_{k−1}, x_k − x_{k−1}⟩_λ < 0          turned back
//!                 or  ‖x_k − y_{k−1}‖_λ > 10 × its smallest so far       growing: cap/2 as well
//! t' = (1 + √(1 + 4t²))/2,   β = min((t − 1)/t', cap),   y_k = x_k + β (x_k − x_{k−1})
//!     from t = 1 on to the place of the sequence where β is the cap
//! β beyond the cap while   ⟨x_k − y_{k−1}, x_k − x_{k−1}⟩_λ > 0.9 ‖x_k − y_{k−1}‖_λ ‖x_k − x_{k−1}‖_λ
//! ```
//!
//! Twists are affine in the impulses, so both are extrapolated with the same `β` and no product
//! with `W` is needed. With friction in a moving pile the uncapped scheme stalls: the bound
//! `μ r_N` makes the fixed-point map non-symmetric. A cap of 0.8 keeps a gain of two to five.
//! Structures at rest hardly slide and gain from more. While the correction of a sweep points along the step of the iterates,
//! momentum is too small: `β` follows the sequence beyond the cap, and returns to it when the directions part.
//! The same test shows slow modes, which the residual hardly sees. Structures
//! that are solved no further creep down, and what one step leaves over costs the next one more. As long as
//! sweeps keep their direction, twice the least number of them is made and more.
//! The cap alone does not prevent divergence: on bodies with hundreds of contacts in wedging directions plain
//! sweeps converge and capped ones grow or oscillate, which the gradient test never sees (it needs
//! `x_k` short of `y_{k−1}`); hence the two other tests. Healthy runs trigger neither.
//!
//! In a pile that slides, sweeps are no contraction: tangential impulses follow the normal ones by `μ r_N`, and change what
//! normal impulses must be. Whatever the momentum, the residual comes down to a level and fluctuates there, at 1e-4
//! or so in a pile of a hundred thousand spheres that collapses (higher with more momentum, and not zero without). Sweeps that make
//! a part of the normal correction only, `r_N = max(0, y_N − ω u_N/W_NN)` with `ω` = 0.4, have the same fixed points and no such
//! level. They are slower where all is well, so they begin after 150 sweeps, and not where most sweeps kept their direction: what is
//! left there is slow, and they would hide it from the residual. From there on they and sweeps without a cap take turns.
//!
//! The change of the last sweep, `√(Σλ‖Δr‖²/Σλ‖r‖²)`, is an estimate of `e_scaled` that costs
//! nothing; the residual itself is computed when the estimate says that the tolerance may be
//! reached, and in any case at a growing distance, and only it decides. The best iterate by the
//! true residual is kept and returned.

mod turns;

use crate::progress::Progress;
use crate::{NsgsSettings, Residual};
use glam::DVec3;
use turns::Turns;

/// How much of the last step is repeated. `cap = 0` is plain Gauss–Seidel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// Largest `β`, in `[0, 1]`: 0.8 for time steps with friction, 1 for single problems.
    pub cap: f64,
    /// Let `β` rise beyond the cap while sweeps go on in the same direction.
    pub rises: bool,
    /// Part of the correction of normal impulses that a sweep with momentum makes, in `(0, 1]`.
    pub normal: f64,
    /// Sweeps without success after which careful sweeps and sweeps without a cap take turns. `None`: never.
    pub turns_after: Option<usize>,
}

impl Momentum {
    /// Plain Gauss–Seidel.
    pub const NONE: Self = Self {
        cap: 0.0,
        rises: false,
        normal: 1.0,
        turns_after: None,
    };
    /// The default for time steps: a cap that gives way, then turns.
    pub const CAPPED: Self = Self {
        cap: 0.8,
        rises: true,
        normal: 1.0,
        turns_after: Some(150),
    };
    /// Nesterov's sequence without a cap: for frictionless or single problems.
    pub const NESTEROV: Self = Self {
        cap: 1.0,
        rises: false,
        normal: 1.0,
        turns_after: None,
    };

    /// The same with [careful](turns) sweeps: they correct normal impulses in part.
    pub(crate) fn careful(self) -> Self {
        let normal = turns::CAREFUL;
        Self { normal, ..self }
    }
}

impl Default for Momentum {
    fn default() -> Self {
        Self::CAPPED
    }
}

/// How a sweep goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stride {
    /// `β` of the point that it starts from.
    pub(crate) beta: f64,
    /// Part of the correction of normal impulses that it makes.
    pub(crate) normal: f64,
}

impl Stride {
    /// A sweep of plain Gauss–Seidel.
    pub(crate) const PLAIN: Self = Self {
        beta: 0.0,
        normal: 1.0,
    };
}

/// What one sweep tells about itself; `λ_α = trace(W_αα)/3`, `x_prev` the iterate before it,
/// `y` the point it started from and `x` its result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SweepSums {
    /// `Σ λ ⟨y − x, x − x_prev⟩`.
    pub(crate) uphill: f64,
    /// `Σ λ ⟨y − x_prev, x − x_prev⟩`.
    pub(crate) turn: f64,
    /// `Σ λ ‖x − y‖²`.
    pub(crate) change: f64,
    /// `Σ λ ‖x − x_prev‖²`.
    pub(crate) step: f64,
    /// `Σ λ ‖x‖²`.
    pub(crate) size: f64,
}

impl SweepSums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.uphill += other.uphill;
        self.turn += other.turn;
        self.change += other.change;
        self.step += other.step;
        self.size += other.size;
    }

    /// Adds one block: `x_prev`, the start `y` and the result `x`.
    #[inline(always)]
    pub(crate) fn add_change(&mut self, lambda: f64, [before, start, solved]: [DVec3; 3]) {
        let (change, step) = (solved - start, solved - before);
        self.turn += lambda * (start - before).dot(step);
        self.uphill -= lambda * change.dot(step);
        self.change += lambda * change.length_squared();
        self.step += lambda * step.length_squared();
        self.size += lambda * solved.length_squared();
    }

    fn relative_change(&self) -> f64 {
        if self.change == 0.0 {
            0.0
        } else {
            (self.change / self.size).sqrt()
        }
    }
}

/// An iterate that can be swept and judged.
pub(crate) trait Relaxation {
    /// Sweeps after which the next full residual is due, given those done: about as many as the
    /// certificates may cost.
    fn check_after(&self, sweeps: usize) -> usize;
    /// What a full residual costs, in sweeps: least distance between two of them.
    fn check_cost(&self) -> usize {
        1
    }
    /// Every interaction is solved exactly at its turn.
    fn is_exact(&self) -> bool {
        true
    }
    /// True without contacts: solved as it is.
    fn is_empty(&self) -> bool;
    /// `x ← sweep(x + β (x − x_prev))`.
    fn sweep(&mut self, stride: Stride) -> SweepSums;
    /// Residual of `x` from the definition.
    fn residual(&mut self) -> Residual;
    /// Residual of any impulse from the definition.
    fn residual_of(&mut self, impulse: &[DVec3]) -> Residual;
    /// The `x` that was judged last, in the problem's order and frames.
    fn impulse(&self) -> &[DVec3];
    /// Go on from `impulse`, at rest.
    fn restart(&mut self, impulse: &[DVec3]);
    /// Visit the contacts in the opposite order from now on, if the form of the sweep has one.
    fn reverse(&mut self) {}
}

/// In granular steps `e_scaled` is 0.45 to 0.58 of the relative change: the residual is computed once the change is below 1.9
/// times the goal.
const CHANGE_OVER_RESIDUAL: f64 = 1.9;
/// Part of the ratio last seen that the next certificate is based on: one too early costs a few
/// sweeps, one too late the sweeps made in between.
const CAUTION: f64 = 0.9;
/// Longest run of sweeps without a full residual.
pub(crate) const CHECK_EVERY: usize = 50;

/// Sweeps until the goal is reached, a limit strikes, the budget is spent or the sweeps stall.
pub(crate) fn run(
    relaxation: &mut impl Relaxation,
    settings: &NsgsSettings,
    progress: &mut Progress,
) {
    run_while(relaxation, settings, progress, |_, _| true);
}

/// What is seen of a run of sweeps after a certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outlook {
    /// Sweeps made.
    pub(crate) done: usize,
    /// Sweeps that the goal is away at the present rate.
    pub(crate) left: f64,
    /// Sweeps of another kind have their turns and may do better than the rate says.
    pub(crate) hopeful: bool,
}

/// [`run`], as long as `go_on` agrees: it is asked after each certificate, given what is seen of the sweeps and the best so far.
/// Returns the momentum of the last sweeps.
pub(crate) fn run_while(
    relaxation: &mut impl Relaxation,
    settings: &NsgsSettings,
    progress: &mut Progress,
    mut go_on: impl FnMut(Outlook, &Progress) -> bool,
) -> Momentum {
    let mut kind = settings.momentum;
    let unswept = settings.min_sweeps == 0 || settings.max_sweeps == 0 || relaxation.is_empty();
    let known = progress.report.certificates > 0;
    if unswept && !known && judge(relaxation, progress) <= 1.0 {
        return kind;
    }
    let first = progress.report.iterations;
    // Inexact local solves are iterations of their own, which a sudden momentum throws back.
    let mut momentum = Sequence::new(kind, relaxation.is_exact());
    let mut stall = Stall::new(settings.stall_window);
    let mut forecast = Forecast::default();
    let mut pace = Pace::new(relaxation);
    let mut turns = Turns::new(settings.momentum);
    for sweep in 1..=settings.max_sweeps {
        let sums = relaxation.sweep(momentum.stride());
        progress.report.iterations = first + sweep;
        progress.report.restarts += usize::from(momentum.advance(&sums));
        turns.saw(momentum.aligned);
        let excess = pace.excess(&sums, progress);
        let least = if momentum.aligned {
            with_reserve(settings.min_sweeps, excess)
        } else {
            settings.min_sweeps
        };
        let due = sweep >= least && pace.is_due(sweep, excess);
        if !due && sweep < settings.max_sweeps && !turns.is_over(sweep) {
            continue;
        }
        let residual = relaxation.residual();
        let excess = progress.judge(&residual, relaxation.impulse());
        pace.judged(relaxation, sweep, &sums, &residual);
        if progress.finished() || stall.is_over(sweep, excess) {
            break;
        }
        let outlook = Outlook {
            done: sweep,
            left: forecast.remaining(sweep, progress.excess()),
            hopeful: turns.are_hopeful(sweep),
        };
        if !go_on(outlook, progress) {
            break;
        }
        if let Some(next) = turns.next(sweep, progress.excess()) {
            relaxation.restart(progress.best());
            kind = next;
            momentum = Sequence::new(kind, relaxation.is_exact());
        }
    }
    kind
}

/// When the residual is computed next: when the change of a sweep says that the goal may be reached, and in any case at a
/// growing distance.
pub(crate) struct Pace {
    residual_over_change: f64,
    earliest: usize,
    latest: usize,
}

impl Pace {
    pub(crate) fn new(relaxation: &impl Relaxation) -> Self {
        Self {
            residual_over_change: 1.0 / CHANGE_OVER_RESIDUAL,
            earliest: 0,
            latest: relaxation.check_after(0),
        }
    }

    /// What the excess over the goal is likely to be after a sweep.
    pub(crate) fn excess(&self, sums: &SweepSums, progress: &Progress) -> f64 {
        estimated_excess(sums.relative_change() * self.residual_over_change, progress)
    }

    pub(crate) fn is_due(&self, sweep: usize, excess: f64) -> bool {
        sweep >= self.latest || excess <= 1.0 && sweep >= self.earliest
    }

    /// Takes note of the `residual` after a sweep. Its ratio to the change depends on the problem.
    pub(crate) fn judged(
        &mut self,
        relaxation: &impl Relaxation,
        sweep: usize,
        sums: &SweepSums,
        residual: &Residual,
    ) {
        let learned = CAUTION * residual.whole() / sums.relative_change();
        if learned.is_finite() {
            self.residual_over_change = learned.max(1.0 / CHANGE_OVER_RESIDUAL);
        }
        self.earliest = sweep + (sweep / 8).clamp(relaxation.check_cost(), 20);
        self.latest = sweep + relaxation.check_after(sweep);
    }
}

/// What the excess over the goal is likely to be, from the `estimate` of `e_scaled`. The ratio of
/// the two residuals is that of the last iterate that was judged.
fn estimated_excess(estimate: f64, progress: &Progress) -> f64 {
    let known = progress.report.residual;
    let ratio = if known.scaled > 0.0 && known.scaled.is_finite() {
        known.fclib / known.scaled
    } else {
        1.0
    };
    let goal = &progress.goal;
    (estimate / goal.scaled).max(estimate * ratio / goal.fclib)
}

/// How far away the goal is at the rate of the last half of the sweeps.
#[derive(Default)]
struct Forecast {
    /// Sweeps and best excess at the certificates so far, as far as there is room.
    seen: smallvec::SmallVec<[(usize, f64); 32]>,
}

impl Forecast {
    /// Sweeps left; infinite without a gain, none known before there is a rate.
    fn remaining(&mut self, sweep: usize, excess: f64) -> f64 {
        // A rate of a few sweeps says nothing.
        let half = self.seen.iter().rev().find(|(at, _)| 2 * at <= sweep);
        let remaining = half.filter(|_| sweep >= 32).map_or(0.0, |(at, before)| {
            let rate = libm::log(before / excess) / (sweep - at) as f64;
            if rate > 0.0 {
                libm::log(excess) / rate
            } else {
                f64::INFINITY
            }
        });
        if self.seen.len() < self.seen.inline_size() {
            self.seen.push((sweep, excess));
        }
        remaining
    }
}

/// Ends a run whose best residual did not halve within a window of sweeps.
struct Stall {
    window: usize,
    mark: f64,
    since: usize,
}

impl Stall {
    fn new(window: Option<usize>) -> Self {
        Self {
            window: window.unwrap_or(usize::MAX),
            mark: f64::INFINITY,
            since: 0,
        }
    }

    fn is_over(&mut self, sweep: usize, excess: f64) -> bool {
        if excess <= 0.5 * self.mark && excess.is_finite() {
            self.mark = excess;
            self.since = sweep;
        }
        sweep - self.since >= self.window
    }
}

/// Computes the residual of the current iterate and hands it to `progress`; its excess.
fn judge(relaxation: &mut impl Relaxation, progress: &mut Progress) -> f64 {
    let residual = relaxation.residual();
    progress.judge(&residual, relaxation.impulse())
}

/// Growth of `Σλ‖x − y‖²` beyond its smallest value that halves the cap.
const GROWTH: f64 = 100.0;

/// The least number of sweeps while sweeps keep the direction of the iterates: twice that of others, and two and a half
/// times near the goal, where a step that needs more than its reserve would leave the next one more to do.
fn with_reserve(least: usize, excess: f64) -> usize {
    if excess > NEAR {
        5 * least / 2
    } else if excess > NOTHING {
        2 * least
    } else {
        least
    }
}

/// Excess over the goal that is near it, …
const NEAR: f64 = 0.2;
/// … and one that is as good as nothing.
const NOTHING: f64 = 0.01;

/// Cosine of the angle between correction and step above which the momentum may rise.
const ALIGNED: f64 = 0.9;

/// Nesterov's sequence with a cap and restarts.
struct Sequence {
    momentum: Momentum,
    smallest_change: f64,
    /// Least place after the first one.
    start: f64,
    t: f64,
    beta: f64,
    /// The last sweep kept the direction of the iterates, and `β` may pass the cap.
    aligned: bool,
}

impl Sequence {
    /// At rest. `quick`: the cap is reached after two sweeps, if the momentum may pass it.
    fn new(momentum: Momentum, quick: bool) -> Self {
        Self {
            momentum,
            smallest_change: f64::INFINITY,
            start: if momentum.rises && quick {
                place_of(momentum.cap)
            } else {
                0.0
            },
            t: 1.0,
            beta: 0.0,
            aligned: false,
        }
    }

    /// Of the next sweep. Without momentum it makes whole corrections: a contact of its own is then solved at once.
    fn stride(&self) -> Stride {
        Stride {
            beta: self.beta,
            normal: if self.beta > 0.0 {
                self.momentum.normal
            } else {
                1.0
            },
        }
    }

    /// The next `β`; true if the momentum was restarted.
    fn advance(&mut self, sums: &SweepSums) -> bool {
        let grown = sums.change > GROWTH * self.smallest_change;
        if grown {
            self.momentum.cap *= 0.5;
            self.momentum.rises = false;
            self.start = 0.0;
            self.smallest_change = sums.change;
        }
        let restart = sums.uphill > 0.0 || sums.turn < 0.0 || grown;
        self.smallest_change = self.smallest_change.min(sums.change);
        if restart {
            self.t = 1.0;
        }
        let Momentum { cap, rises, .. } = self.momentum;
        let next = (0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt())).max(self.start);
        let beta = (self.t - 1.0) / next;
        let along = -sums.uphill > ALIGNED * (sums.change * sums.step).sqrt();
        self.aligned = along && rises;
        let free = beta <= cap || self.aligned;
        self.beta = if free { beta } else { cap };
        self.t = if free || !rises { next } else { place_of(cap) };
        restart
    }
}

/// The `t` of the sequence where `β` has reached a cap.
fn place_of(cap: f64) -> f64 {
    (1.0 + 0.5 * cap) / (1.0 - cap)
}

#[cfg(test)]
mod tests;
