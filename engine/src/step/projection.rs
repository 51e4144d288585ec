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
//! until no overlap is deeper than the tolerance, or the budget of passes is spent; what is left then is for the next step. `ε` is half of
//! the tolerance, so that contacts stay closed.
//!
//! It corrects what this step did: gaps follow from the contacts at hand and from how their bodies moved ([`carried`]). The narrow
//! phase runs again only for pairs where that is not good enough and that are close.
//!
//! Only bodies near such an overlap move, all others are held; where that leaves too deep an overlap, the
//! islands of what is left move as a whole.
//!
//! Each is a frictionless contact problem for a pseudo-displacement (unit m instead of m/s), so
//! the step's own solver serves. Rotations are corrected along the group. Twists are never
//! touched: no kinetic energy is injected.

mod carried;
mod contacts;
mod linearised;
mod neighbourhood;
mod overlap;
mod sharper;

use crate::bodies::Bodies;
use crate::bodies::slot::{Slot, Slots};
use crate::detection::{Detection, Pair};
use crate::error::StepError;
use crate::interactions::detected::{Centres, Detected};
use crate::interactions::edit::Edits;
use crate::interactions::graph::Graph;
use crate::joints::Joints;
use crate::math::chunks;
use crate::motion::Motion;
use crate::settings::{Accuracy, Settings};
pub(crate) use carried::Displacement;
pub(crate) use contacts::Limits;
use contacts::{Allowed, Contacts, Found, Step, deepest_of, have_parts};
use glam::DVec3;
use linearised::Linearised;
use moreau_solvers::{Momentum, Nsgs, NsgsSettings, WorldTwist};
use neighbourhood::{Neighbourhood, Range};
use overlap::{Way, may_overlap};

/// Contacts from a deep overlap to the farthest bodies that its first correction moves.
const LINKS: u8 = 4;

/// Gaps up to which contacts are looked for, as a multiple of the tolerance: most corrections come to no others.
const WITHIN: f64 = 10.0;

/// Block products of a step for islands that are solved on: a hundred sweeps of two hundred contacts, some milliseconds.
const PRODUCTS: usize = 20_000;

/// Buffers of the projection.
#[derive(Debug, Default)]
pub(crate) struct Projector {
    /// Displacements by the update.
    moved: Vec<Displacement>,
    kicks: Vec<Kick>,
    /// How far they got at most.
    ways: Vec<Way>,
    /// By slot, for the tolerance `widest` of the settings.
    limits: Vec<Limits>,
    widest: f64,
    /// Of the bodies, when the entries of those at rest were written.
    epoch: u64,
    /// Whether each candidate, or each pair, may now be in a deep overlap.
    suspect: Vec<bool>,
    /// Pairs that may, in their order: with a contact in `I₀`, and all of them.
    seen: Vec<Pair>,
    suspects: Vec<Pair>,
    /// Pairs that contacts were taken out of, ascending.
    taken: Vec<Pair>,
    contacts: Contacts,
    /// Bodies that a correction moved farther than `I₀` allows for, and their mean velocities so far.
    beyond: Vec<(Slot, WorldTwist)>,
    near: Neighbourhood,
    problem: Linearised,
    /// By slot: the body is on a joint.
    jointed: Vec<bool>,
    /// Contacts of such bodies once the joints are closed.
    of_machines: Vec<Detected>,
    /// Linearisations done in this step.
    pub(crate) iterations: usize,
    /// The deepest overlap that it left where it may not be, m, and its bodies.
    pub(crate) left: Option<(f64, [Slot; 2])>,
}

/// `I₀`, and pairs that were taken out of it.
type Candidates<'a> = (Found<'a>, [&'a [[Slot; 2]]; 2]);

/// How far the impulses of the step took a body beyond its free motion.
#[derive(Clone, Copy, Debug, Default)]
struct Kick {
    /// Of its centre, m.
    by: DVec3,
    /// What is left of its margin once its points have turned, m; may be negative.
    slack: f64,
}

impl Kick {
    /// Of a body that was `moved` in the step.
    fn of(
        slot: Slot,
        moved: &Displacement,
        (bodies, motion): (&Bodies, &Motion),
        settings: &Settings,
    ) -> Self {
        let (h, free, body) = (
            settings.time_step,
            &motion.free[slot],
            &bodies.constants[slot],
        );
        let is_ball = motion.centres().balls[slot] > 0.0;
        let swing = if is_ball || !body.radius.is_finite() {
            0.0
        } else {
            (moved.angular - free.angular * h).length() * body.radius
        };
        Self {
            by: moved.linear - free.linear * h,
            slack: settings.margin * body.size - swing,
        }
    }

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

/// Kicks may have brought a pair together outside `I₀`.
fn may_meet_unseen(pair: Pair, kicks: &[Kick], limits: &[Limits]) -> bool {
    let [a, b] = pair.map(Slot);
    let tolerance = limits[a].tolerance.min(limits[b].tolerance);
    kicks[a].may_meet(&kicks[b], tolerance)
}

impl Projector {
    /// Bodies on joints were moved once more, to close these: the deepest overlap of theirs counts as well.
    pub(crate) fn see_machines(
        &mut self,
        bodies: &Bodies,
        (detection, edits): (&mut Detection, &Edits),
        settings: &Settings,
    ) {
        let widest = settings.projection.tolerance;
        if settings.projection.max_iterations == 0 {
            return;
        }
        let jointed = bodies.tied.iter().chain(&bodies.hung).flatten().copied();
        self.jointed.clear();
        self.jointed.resize(bodies.len(), false);
        for slot in jointed.filter(|slot| *slot != Slot::NONE) {
            self.jointed[slot] = bodies.is_awake_dynamic(slot);
        }
        let pairs = detection.pairs().iter().map(|pair| pair.map(Slot));
        let pairs = pairs.filter(|pair| {
            pair.iter().any(|slot| self.jointed[*slot])
                && bodies.may_push(*pair)
                && !bodies.are_apart(pair)
                && !edits.lets_pass(pair)
        });
        self.seen.clear();
        self.seen.extend(pairs.map(|pair| pair.map(|slot| slot.0)));
        detection.measure((&self.seen, 0.0), bodies, &mut self.of_machines);
        let overlaps = self.of_machines.iter().filter(|contact| {
            let [a, b] = contact.bodies.map(|slot| Limits::of(bodies, slot, widest));
            contact.gap < -a.tolerance.min(b.tolerance)
        });
        let overlaps = overlaps.map(|contact| (-contact.gap, contact.bodies));
        self.left = deepest_of(self.left.into_iter().chain(overlaps));
    }

    /// Moves the poses of `bodies` out of overlaps deeper than the tolerance. `found` is of the poses of
    /// `t_k`, and `edits` were made to them; `solver` is the step's own, and bodies that are `stuck` are
    /// moved without being turned: nothing takes all their overlaps away, and what takes away a part would turn what is squeezed.
    pub(crate) fn project(
        &mut self,
        bodies: &mut Bodies,
        motion: &Motion,
        (detection, (found, unmet), edits): (&mut Detection, Candidates, &Edits),
        (graph, joints): (&mut Graph, &Joints),
        settings: &Settings,
        (solver, stuck): (&mut Nsgs, &[bool]),
    ) -> Result<(), StepError> {
        self.iterations = 0;
        self.left = None;
        let mut rule = settings.projection;
        if settings.accuracy == Accuracy::Interactive {
            rule.max_iterations = rule.max_iterations.min(2);
            rule.sweeps = rule.sweeps.min(settings.nsgs().max_sweeps);
        }
        if rule.max_iterations == 0 {
            return Ok(());
        }
        let (candidates, centres) = (found.0, motion.centres());
        let kicked = self.measure(bodies, motion, settings);
        self.predict(candidates, centres);
        self.suspect_unmet(unmet);
        self.suspect_swings(&detection.swings);
        if kicked {
            self.suspect_unseen(detection.pairs());
            self.suspect_beyond(bodies, motion, detection, settings)?;
        }
        self.let_pass(edits);
        if self.suspects.is_empty() {
            return Ok(());
        }
        let Self {
            contacts,
            near,
            problem,
            moved,
            kicks,
            limits,
            suspects,
            taken,
            iterations,
            left,
            beyond,
            ..
        } = self;
        let step = Step::new(found, centres, limits, (moved, kicks));
        let within = WITHIN * settings.projection.tolerance;
        contacts.of_suspects(&step, (suspects, taken), within, (bodies, detection));
        let allowed = Allowed::new(limits, bodies, settings);
        let bounced = contacts.deepest(|contact| !allowed.is_passed(contact), limits);
        *left = bounced;
        if contacts.deep(allowed).next().is_none() {
            return Ok(());
        }
        solver.settings = NsgsSettings {
            min_sweeps: 1,
            max_sweeps: rule.sweeps,
            momentum: Momentum::NESTEROV,
            ..settings.nsgs()
        };
        graph.tie(candidates, bodies);
        let mut range = Range::Links(LINKS);
        let bounded = settings.accuracy == Accuracy::Interactive;
        let mut products = if bounded { 0 } else { PRODUCTS };
        loop {
            let allowed = Allowed::new(limits, bodies, settings);
            near.gather(range, contacts.deep(allowed), bodies, graph);
            let step = Step::new(found, centres, limits, (moved, kicks));
            contacts.around(near, &step, within, (&*bodies, &mut *detection), edits);
            let around = (&*near, &*contacts, &limits[..], joints);
            let step = (motion, settings);
            problem.correct(around, bodies, step, (solver, stuck), &mut products)?;
            let mut unlisted = Vec::new();
            // Once more if something was stopped: it went less far.
            loop {
                beyond.clear();
                for slot in problem.solution().0.iter().copied() {
                    let by = Displacement::between(&bodies.before.pose[slot], &bodies.pose[slot]);
                    moved[slot] = by;
                    kicks[slot] = Kick::of(slot, &by, (bodies, motion), settings);
                    if kicks[slot].is_large(limits[slot].tolerance) {
                        beyond.push((slot, by.mean(settings.time_step)));
                    }
                }
                if beyond.is_empty() || !unlisted.is_empty() {
                    break;
                }
                let pairs = detection.pairs_of_struck(beyond, bodies, motion, settings)?;
                let may_meet = |pair: &[Slot; 2]| {
                    let listed = candidates
                        .binary_search_by_key(pair, |own| own.bodies)
                        .is_ok()
                        && !have_parts(limits, *pair);
                    let passes = !bodies.may_push(*pair) || edits.lets_pass(pair);
                    !listed && !passes && may_meet_unseen(pair.map(|slot| slot.0), kicks, limits)
                };
                unlisted.extend(pairs.into_iter().filter(may_meet));
                if !problem.stop(&unlisted, bodies) {
                    break;
                }
            }
            let (slots, by) = problem.solution();
            let here = (&*bodies, &mut *detection);
            contacts.follow((slots, by, &unlisted), limits, within, here);
            *iterations += 1;
            let allowed = Allowed::new(limits, bodies, settings);
            if *iterations == rule.max_iterations || contacts.deep(allowed).next().is_none() {
                let deepest = contacts.deepest(|_| true, limits);
                *left = deepest_of([deepest, bounced].into_iter().flatten());
                return Ok(());
            }
            range = Range::Islands;
        }
    }

    /// Lists the pairs of `candidates` that may now overlap by more than the tolerance.
    fn predict(&mut self, candidates: &[Detected], centres: Centres) {
        let (moved, limits, ways) = (&self.moved, &self.limits, &self.ways);
        let suspicious = |candidate: &Detected| {
            let tolerance = contacts::tolerance(limits, candidate);
            let [a, b] = candidate.bodies.map(|slot| &ways[slot]);
            let room = candidate.gap + tolerance;
            let went = || candidate.bodies.map(|slot| moved[slot].linear);
            !a.is_short(b, room)
                && !a.is_short_apart(b, went(), room)
                && may_overlap(candidate, centres, moved, limits)
        };
        chunks::mark(candidates, &suspicious, &mut self.suspect);
        let marked = candidates.iter().zip(&self.suspect);
        let pairs = marked.filter(|(_, suspect)| **suspect);
        self.suspects.clear();
        self.suspects
            .extend(pairs.map(|(candidate, _)| candidate.bodies.map(|slot| slot.0)));
        self.suspects.dedup();
    }

    /// Adds pairs whose contacts were found and taken out.
    fn suspect_unmet(&mut self, unmet: [&[[Slot; 2]]; 2]) {
        let pairs = unmet.into_iter().flatten();
        self.taken.clear();
        self.taken.extend(pairs.map(|pair| pair.map(|slot| slot.0)));
        self.taken.sort();
        if !self.taken.is_empty() {
            self.suspects.extend(&self.taken);
            self.suspects.sort();
            self.suspects.dedup();
        }
    }

    /// Adds pairs without a contact that may have met as they turned.
    fn suspect_swings(&mut self, swings: &[Detected]) {
        if !swings.is_empty() {
            let pairs = swings.iter();
            self.suspects
                .extend(pairs.map(|nearest| nearest.bodies.map(|slot| slot.0)));
            self.suspects.sort();
            self.suspects.dedup();
        }
    }

    /// Adds those of the step's `pairs` that kicks may have brought together outside `I₀`. Beyond the extents of
    /// the step no pair is used: whether the broad phase holds it depends on history.
    fn suspect_unseen(&mut self, pairs: &[Pair]) {
        let (kicks, limits) = (&self.kicks, &self.limits);
        let may_meet = |pair: &Pair| may_meet_unseen(*pair, kicks, limits);
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

    /// Adds those of bodies that got farther than the extents of the step allow for: what stays where it meets may have pushed them there.
    fn suspect_beyond(
        &mut self,
        bodies: &Bodies,
        motion: &Motion,
        detection: &mut Detection,
        settings: &Settings,
    ) -> Result<(), StepError> {
        let h = settings.time_step;
        let (moved, kicks, limits) = (&self.moved, &self.kicks, &self.limits);
        let kicked = bodies.moving.iter().copied();
        let kicked = kicked.filter(|slot| kicks[*slot].is_large(limits[*slot].tolerance));
        let gone = kicked.map(|slot| (slot, moved[slot].mean(h)));
        self.beyond.clear();
        self.beyond
            .extend(gone.filter(|(slot, way)| detection.goes_far(*slot, way, h)[0]));
        if self.beyond.is_empty() {
            return Ok(());
        }
        let pairs = detection.pairs_of_struck(&self.beyond, bodies, motion, settings)?;
        let pairs = pairs.into_iter().filter(|pair| bodies.may_push(*pair));
        let pairs = pairs.map(|pair| pair.map(|slot| slot.0));
        self.suspects
            .extend(pairs.filter(|pair| may_meet_unseen(*pair, kicks, limits)));
        self.suspects.sort();
        self.suspects.dedup();
        Ok(())
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
        let widest = settings.projection.tolerance;
        let balls = motion.centres().balls;
        if self.epoch != bodies.epoch || self.widest.to_bits() != widest.to_bits() {
            self.epoch = bodies.epoch;
            self.widest = widest;
            self.limits.clear();
            let limits = bodies.slots().map(|slot| Limits::of(bodies, slot, widest));
            self.limits.extend(limits);
            self.moved.clear();
            self.moved.resize(bodies.len(), Displacement::NONE);
            self.kicks.clear();
            self.kicks.resize(bodies.len(), Kick::default());
            let ways = bodies
                .slots()
                .map(|slot| Way::of(bodies, slot, balls, &Displacement::NONE));
            self.ways.clear();
            self.ways.extend(ways);
        }
        let limits = &self.limits;
        let columns = (&mut self.moved[..], &mut self.kicks[..], &mut self.ways[..]);
        let moving = Slots::of(&bodies.moving, columns);
        let work = |part: Slots<'_, (&mut [Displacement], &mut [Kick], &mut [Way])>| {
            let rows = part.each();
            let (moved, kicks, ways) = part.columns;
            let mut kicked = false;
            for (slot, row) in rows {
                moved[row] = Displacement::between(&bodies.before.pose[slot], &bodies.pose[slot]);
                kicks[row] = Kick::of(slot, &moved[row], (bodies, motion), settings);
                ways[row] = Way::of(bodies, slot, balls, &moved[row]);
                kicked |= kicks[row].is_large(limits[slot].tolerance);
            }
            kicked
        };
        chunks::fold(moving, &work, &|a, b| a || b)
    }
}
