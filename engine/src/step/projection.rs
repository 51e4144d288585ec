//! Projection on the constraints [docs/theory.md §11, Acary13].
//!
//! Velocity-level contact keeps gaps only to first order and to the solver's tolerance, and an
//! impact with θ = ½ ends in overlap. Where an overlap is deeper than the tolerance, poses are
//! moved by the smallest displacement in the mass metric,
//!
//! ```text
//! 0 ≤ g_N(q) + ε + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0,      q ← q ⊕ Ŵ Cᵀ Λ,      renormalise, repeat
//! ```
//!
//! until no overlap is deeper than the tolerance; `ε` is half of it, so that contacts stay closed.
//!
//! Only bodies near such an overlap move, all others are held; where that leaves too deep an overlap, the
//! islands of what is left move as a whole.
//!
//! Each is a frictionless contact problem for a pseudo-displacement (unit m instead of m/s), so
//! the step's own solver serves. Rotations are corrected along the group. Twists are never
//! touched: no kinetic energy is injected.

mod linearised;
mod neighbourhood;

use crate::bodies::Bodies;
use crate::bodies::slot::{Slot, Slots};
use crate::components::Pose;
use crate::detection::{Detection, Pair};
use crate::interactions::detected::{Centres, Detected};
use crate::interactions::edit::Edits;
use crate::interactions::graph::Graph;
use crate::math::chunks;
use crate::motion::Motion;
use crate::settings::Settings;
use glam::DVec3;
use linearised::Linearised;
use moreau_solvers::{Momentum, Nsgs, NsgsSettings, ProblemError};
use neighbourhood::{Neighbourhood, Range};

/// Contacts from a deep overlap to the farthest bodies that its first correction moves.
const LINKS: u8 = 4;

/// Buffers of the projection.
#[derive(Debug, Default)]
pub(crate) struct Projector {
    /// Displacements by the update.
    moved: Vec<Displacement>,
    kicks: Vec<Kick>,
    /// Of the bodies, when the entries of those at rest were written.
    epoch: u64,
    /// Whether each candidate, or each pair, may now be in a deep overlap.
    suspect: Vec<bool>,
    /// Pairs that may, in their order: with a contact in `I₀`, and all of them.
    seen: Vec<Pair>,
    suspects: Vec<Pair>,
    near: Neighbourhood,
    problem: Linearised,
    /// Linearisations done in this step.
    pub(crate) iterations: usize,
}

/// `I₀`, and pairs that were taken out of it, ascending.
type Candidates<'a> = (&'a [Detected], &'a [[Slot; 2]]);

/// What the update did to a body: displacement of its centre, m, and rotation vector, rad.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Displacement {
    linear: DVec3,
    angular: DVec3,
    angle: f64,
}

/// How far the impulses of the step took a body beyond its free motion.
#[derive(Clone, Copy, Debug, Default)]
struct Kick {
    /// Of its centre, m.
    by: DVec3,
    /// What is left of its margin once its points have turned, m; may be negative.
    slack: f64,
}

impl Kick {
    /// True if a pair of bodies, each with this motion, could meet unseen.
    fn is_large(&self, tolerance: f64) -> bool {
        self.by.length_squared() > (self.slack + 0.5 * tolerance).max(0.0).powi(2)
    }

    /// Contacts outside `I₀` are farther apart than the two margins and the free motion: by how much more
    /// than the tolerance they may have closed is a matter of the kicks alone.
    fn may_meet(&self, other: &Self, tolerance: f64) -> bool {
        let room = (self.slack + other.slack + tolerance).max(0.0);
        (self.by - other.by).length_squared() > room * room
    }
}

impl Displacement {
    const NONE: Self = Self {
        linear: DVec3::ZERO,
        angular: DVec3::ZERO,
        angle: 0.0,
    };

    fn between(old: &Pose, new: &Pose) -> Self {
        let turn = new.orientation * old.orientation.conjugate();
        let angular = DVec3::new(turn.x, turn.y, turn.z) * (2.0 * turn.w.signum());
        Self {
            linear: new.position - old.position,
            angular,
            angle: angular.length(),
        }
    }
}

/// Largest overlap that the motion of the step can have made of the gap at its start, m.
///
/// To first order a gap is carried along by the displacements of the two contact points. Beyond
/// that a body that turned by `φ` leaves its tangent plane by at most `½ φ² ρ`, and a tangential
/// displacement `δ` meets a surface that turned by `φ`: `δ φ`.
fn may_overlap(
    candidate: &Detected,
    centres: Centres,
    moved: &[Displacement],
    tolerance: f64,
) -> bool {
    let one_norm = |v: DVec3| v.abs().element_sum();
    let [a, b] = candidate.bodies.map(|slot| &moved[slot]);
    let [arm_a, arm_b] = candidate.arms(centres);
    let point_a = a.linear + a.angular.cross(arm_a);
    let point_b = b.linear + b.angular.cross(arm_b);
    let relative = point_a - point_b;
    let normal = candidate.normal.dot(relative);
    let depth = |arm_a: f64, arm_b: f64, tangential: f64| {
        let turns = 0.5 * (a.angle * a.angle * arm_a + b.angle * b.angle * arm_b);
        turns + tangential * (a.angle + b.angle) - candidate.gap - normal
    };
    // The sum of the components bounds a length without a root.
    if depth(one_norm(arm_a), one_norm(arm_b), one_norm(relative)) <= tolerance {
        return false;
    }
    let tangential = (relative - candidate.normal * normal).length();
    depth(arm_a.length(), arm_b.length(), tangential) > tolerance
}

impl Projector {
    /// Moves the poses of `bodies` out of overlaps deeper than the tolerance. `detection` found `candidates` at the poses of
    /// `t_k`, and `edits` were made to them; `solver` is the step's own, and bodies that are `stuck` are
    /// moved without being turned: nothing takes all their overlaps away, and what takes away a part would turn what is squeezed.
    pub(crate) fn project(
        &mut self,
        bodies: &mut Bodies,
        motion: &Motion,
        (detection, (candidates, unmet), edits): (&mut Detection, Candidates, &Edits),
        graph: &mut Graph,
        settings: &Settings,
        (solver, stuck): (&mut Nsgs, &[bool]),
    ) -> Result<(), ProblemError> {
        self.iterations = 0;
        let rule = settings.projection;
        if rule.max_iterations == 0 {
            return Ok(());
        }
        let kicked = self.measure(bodies, motion, settings);
        self.predict(candidates, motion.centres(), rule.tolerance);
        self.suspect_unmet(unmet);
        if kicked {
            self.suspect_unseen(detection.pairs(), rule.tolerance);
        }
        self.let_pass(edits);
        if self.suspects.is_empty()
            || self.near.look_at(&self.suspects, bodies, detection) <= rule.tolerance
        {
            return Ok(());
        }
        solver.settings = NsgsSettings {
            min_sweeps: 1,
            max_sweeps: rule.sweeps,
            momentum: Momentum::NESTEROV,
            ..settings.nsgs()
        };
        let near = &mut self.near;
        graph.tie(candidates, bodies);
        let mut range = Range::Links(LINKS);
        loop {
            near.gather(range, rule.tolerance, bodies, (detection, edits), graph);
            self.problem
                .correct(near, rule.tolerance, bodies, motion, (solver, stuck))?;
            self.iterations += 1;
            if self.iterations == rule.max_iterations
                || near.measure(bodies, detection) <= rule.tolerance
            {
                return Ok(());
            }
            range = Range::Islands;
        }
    }

    /// Lists the pairs of `candidates` that may now overlap by more than the tolerance.
    fn predict(&mut self, candidates: &[Detected], centres: Centres, tolerance: f64) {
        let moved = &self.moved;
        let suspicious = |candidate: &Detected| may_overlap(candidate, centres, moved, tolerance);
        chunks::mark(candidates, &suspicious, &mut self.suspect);
        let marked = candidates.iter().zip(&self.suspect);
        let pairs = marked.filter(|(_, suspect)| **suspect);
        self.suspects.clear();
        self.suspects
            .extend(pairs.map(|(candidate, _)| candidate.bodies.map(|slot| slot.0)));
        self.suspects.dedup();
    }

    /// Adds pairs whose contacts were found and taken out.
    fn suspect_unmet(&mut self, unmet: &[[Slot; 2]]) {
        if !unmet.is_empty() {
            let pairs = unmet.iter().map(|pair| pair.map(|slot| slot.0));
            self.suspects.extend(pairs);
            self.suspects.sort_unstable();
            self.suspects.dedup();
        }
    }

    /// Adds those of the step's `pairs` that kicks may have brought together outside `I₀`. Beyond the extents of
    /// the step no pair is used: whether the broad phase holds it depends on history.
    fn suspect_unseen(&mut self, pairs: &[Pair], tolerance: f64) {
        let kicks = &self.kicks;
        let may_meet = |pair: &Pair| {
            let [a, b] = pair.map(|slot| &kicks[slot as usize]);
            a.may_meet(b, tolerance)
        };
        chunks::mark(pairs, &may_meet, &mut self.suspect);
        std::mem::swap(&mut self.seen, &mut self.suspects);
        self.suspects.clear();
        let mut seen = self.seen.iter().peekable();
        for (pair, _) in pairs
            .iter()
            .zip(&self.suspect)
            .filter(|(_, unseen)| **unseen)
        {
            while let Some(before) = seen.next_if(|seen| *seen <= pair) {
                self.suspects.push(*before);
            }
            if self.suspects.last() != Some(pair) {
                self.suspects.push(*pair);
            }
        }
        self.suspects.extend(seen);
    }

    /// Leaves the pairs alone whose interactions a user dropped.
    fn let_pass(&mut self, edits: &Edits) {
        if edits.drops() {
            self.suspects
                .retain(|pair| !edits.lets_pass(&pair.map(Slot)));
        }
    }

    /// What the step has done to the poses so far. True if some body was kicked beyond its margin.
    fn measure(&mut self, bodies: &Bodies, motion: &Motion, settings: &Settings) -> bool {
        if self.epoch != bodies.epoch {
            self.epoch = bodies.epoch;
            self.moved.clear();
            self.moved.resize(bodies.len(), Displacement::NONE);
            self.kicks.clear();
            self.kicks.resize(bodies.len(), Kick::default());
        }
        let (h, tolerance) = (settings.time_step, settings.projection.tolerance);
        let columns = (&mut self.moved[..], &mut self.kicks[..]);
        let moving = Slots::of(&bodies.moving, columns);
        let work = |part: Slots<'_, (&mut [Displacement], &mut [Kick])>| {
            let rows = part.each();
            let (moved, kicks) = part.columns;
            let mut kicked = false;
            for (slot, row) in rows {
                moved[row] = Displacement::between(&bodies.before.pose[slot], &bodies.pose[slot]);
                let (moved, free, body) =
                    (&moved[row], &motion.free[slot], &bodies.constants[slot]);
                let swing = if body.ball_radius().is_some() || !body.radius.is_finite() {
                    0.0
                } else {
                    (moved.angular - free.angular * h).length() * body.radius
                };
                kicks[row] = Kick {
                    by: moved.linear - free.linear * h,
                    slack: settings.margin * body.size - swing,
                };
                kicked |= kicks[row].is_large(tolerance);
            }
            kicked
        };
        chunks::fold(moving, &work, &|a, b| a || b)
    }
}
