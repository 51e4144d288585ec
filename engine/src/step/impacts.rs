//! Impacts of one step, one after another [docs/theory.md §5].
//!
//! A body that is struck within the step meets its neighbours with the velocity that it then has. Newton's law with the velocity
//! of the beginning does not know it: it would stop the body at its neighbour, without restitution. So the velocities of a step change
//! in stages:
//!
//! ```text
//! v₀ = v_k;     M (v_s − v_free,s) = Gᵀ r_s,      v_free,1 = v_free,    v_free,s = v_{s−1}
//! impacts of stage s      0 ≤ u_N(v_s) + e (u_N(v_{s−1}) + d) ⊥ r_{N,s} ≥ 0        all other contacts as ever, from v_{s−1}
//! r = Σ r_s,    v_{k+1} = v_S
//! ```
//!
//! `d` is what the forces of the step may have added to the approach: as if they acted after the impact, like in the first stage.
//!
//! After a solve:
//!
//! 1. a contact with restitution across a gap that pushes for the first time, though the bodies did not close it on their own,
//!    goes: it *waits*, and the stage is solved without it;
//! 2. of those that wait, and of those that struck before, the ones that the motion as solved closes make the next stage, of each body the
//!    earliest;
//! 3. those that it closes more slowly than the bounce threshold come back as they were.
//!
//! Each stage alone obeys the law of the step, so that frictionless contacts of one `e` gain no energy in any.

use super::alone::{Alone, Found};
use super::course::Course;
use super::exchange::Exchange;
use super::meeting::{Meetings, Stay, is_new};
use super::solved::Solved;
use super::strikes::{From, Strike, Strikes};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::detection::path;
use crate::interactions::detected::{Detected, Late};
use crate::interactions::graph::Graph;
use crate::interactions::record::{OwnArms, own_arms};
use crate::joints::Joints;
use crate::motion::scheme::{Approach, NormalLaw, Scheme};
use crate::settings::Settings;
use glam::DVec3;
use moreau_solvers::{InverseMass, WorldTwist};

/// Changes of a step after which what would strike is stopped instead: at most so many …
const CHANGES: usize = 128;
/// … and at least so many, …
const FEW_CHANGES: usize = 4;
/// … as long as they change problems of so many contacts in all.
const CONTACTS: usize = 20_000;
/// Changes below which they are but so few that their order is of no use.
const FEW: usize = 16;
/// Changes for each stage in which bodies are then stopped. After these contacts keep their bodies apart until the end of the step.
const STOPS: usize = FEW;
/// Solves after them in which that is asked for.
const LAST: usize = 2;
/// Velocity of two bodies that pushed each other in the last step without an impact, over the bounce threshold, up to which they are of a pile.
const PILED: f64 = 10.0;
/// Gap of bodies that do not touch, as a part of the half-thickness of the thinner one: rounding lies below it.
const GAP: f64 = 1e-9;

/// Part of an energy that is rounding, and what solves to a tolerance leave.
const ROUNDING: f64 = 1e-3;

/// Velocity at which a contact opens, as a part of that at which it is then closed, from which on its bodies do not rest on each other.
const OPENS: f64 = 1e-3;

/// What the stages of a step keep.
#[derive(Debug, Default)]
pub(crate) struct Impacts {
    /// Contacts that are not imposed before their bodies meet.
    waiting: Vec<Late>,
    /// `v_{s−1}` by slot, inertial frame; empty in the first stage.
    begin: Vec<WorldTwist>,
    /// By row: what the stage does with it. Empty without stages.
    rows: Vec<Row>,
    /// Stages after the first.
    pub(crate) stages: usize,
    /// Times that contacts were exchanged, …
    changes: usize,
    /// … and those at which bodies were stopped, since there were too many.
    stops: usize,
    /// By slot: the body rests on another one that moves, or it on this one. In a pile impacts have no order.
    piled: Vec<bool>,
    /// By slot: a contact pushes the body that is no impact.
    held: Vec<bool>,
    strikes: Strikes,
    /// Pairs that waited to the end, ascending.
    unmet: Vec<[Slot; 2]>,
    /// How the bodies got through the stages.
    course: Course,
    /// Mean velocities of those of several stages, and of pairs alone, by slot.
    mean: Vec<Option<WorldTwist>>,
    /// Bodies that stay where they meet, ascending.
    stay: Vec<Stay>,
    /// Pairs that meet nothing else.
    alone: Alone,
}

/// A row in this stage.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// It restitutes the velocity of the last stage.
    strikes: bool,
    /// It came back, slowly or in the last stage: it waits no more.
    settled: bool,
    /// It keeps its bodies apart, since no more stages are made.
    stops: bool,
}

/// What a look at the solved motion asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing: the step is solved.
    Nothing,
    /// Contacts are exchanged, and the stage is solved again.
    Again,
    /// The same, and those that come in stay.
    Settled,
    /// The stage is over once the whole is solved.
    Check,
    /// The stage is over, and its velocities are those that the next begins with.
    Stage,
}

impl Impacts {
    /// A step begins.
    pub(crate) fn begin(&mut self) {
        self.waiting.clear();
        self.begin.clear();
        self.rows.clear();
        self.stages = 0;
        self.changes = 0;
        self.stops = 0;
        self.unmet.clear();
        self.course.clear();
        self.mean.clear();
        self.stay.clear();
        self.alone.clear();
    }

    /// Pairs near each other whose contacts are not in the problem, ascending.
    pub(crate) fn unmet(&self) -> &[[Slot; 2]] {
        &self.unmet
    }

    /// Pairs that were alone and are no more get the law of all.
    pub(crate) fn part_pairs(
        &mut self,
        solved: &Solved,
        joints: &Joints,
        exchange: &mut Exchange,
    ) -> Found {
        if self.begin.is_empty() && self.waiting.is_empty() {
            self.alone.part(solved, joints, exchange)
        } else {
            // What follows has ways of its own.
            self.alone.clear();
            Found::Nothing
        }
    }

    /// Pairs that meet nothing else get the contacts of the time at which they meet.
    pub(crate) fn find_pairs_alone(
        &mut self,
        solved: &Solved,
        connected: (&Joints, &mut Graph),
        exchange: &mut Exchange,
    ) -> Found {
        if self.begin.is_empty() && self.waiting.is_empty() {
            self.alone.find(solved, connected, exchange)
        } else {
            Found::Nothing
        }
    }

    /// The gap (m) of a contact in the first stage; `u` is `u_N` before, m/s.
    #[inline(always)]
    pub(crate) fn gap_at_first(
        &self,
        contact: &Detected,
        u: impl FnOnce() -> f64,
        settings: &Settings,
    ) -> f64 {
        if self.alone.len() == 0 {
            return contact.gap;
        }
        self.alone.gap(contact, u(), settings)
    }

    /// The pair meets nothing else.
    pub(crate) fn is_alone(&self, pair: [Slot; 2]) -> bool {
        self.alone.contains(pair)
    }

    /// The body meets nothing but one other.
    pub(crate) fn meets_one(&self, slot: Slot) -> bool {
        self.alone.holds(slot)
    }

    /// The pair has contacts that wait for their impact.
    pub(crate) fn awaits(&self, pair: [Slot; 2]) -> bool {
        self.waiting.iter().any(|late| late.contact.bodies == pair)
    }

    /// Some contact of the pair waits for an impact to which the motion as solved leads.
    pub(crate) fn awaits_strike(&self, pair: [Slot; 2], solved: &Solved) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|late| {
            let of_pair = late.contact.bodies == pair;
            of_pair && self.closes(&late.contact, &late.own.arms, solved).is_some()
        })
    }

    /// Pairs that wait for an impact to which the motion of the last look leads: more were asked for than are made.
    pub(crate) fn missed(&self) -> impl Iterator<Item = [Slot; 2]> + '_ {
        let waits = |strike: &&Strike| matches!(strike.from, From::Waiting(_));
        let strikes = self.strikes.list.iter().filter(waits);
        let some = !self.waiting.is_empty();
        strikes.filter(move |_| some).map(|strike| strike.pair)
    }

    /// A contact on the plane of this one waits for its impact: no farther from it than the bodies are thick.
    pub(crate) fn awaits_plane(&self, contact: &Detected, solved: &Solved) -> bool {
        let bodies = contact.bodies;
        let thickness = path::thickness(bodies.map(|slot| &solved.bodies.constants[slot]));
        let waiting = self.waiting.iter().map(|late| &late.contact);
        let mut waiting = waiting.filter(|waiting| waiting.bodies == bodies);
        waiting.any(|waiting| {
            solved.is_one_plane([waiting, contact]) && (waiting.gap - contact.gap).abs() < thickness
        })
    }

    /// A body that slept has this free motion.
    pub(crate) fn wake(&mut self, slot: Slot, free: &WorldTwist) {
        if !self.begin.is_empty() {
            self.begin[slot] = *free;
        }
    }

    /// A force pushes a body in this stage, if it is not the first.
    pub(crate) fn push(&mut self, slot: Slot, change: &WorldTwist) {
        if !self.begin.is_empty() {
            self.begin[slot].linear += change.linear;
            self.begin[slot].angular += change.angular;
        }
    }

    /// `v_{s−1}`, the free motion of a stage after the first.
    pub(crate) fn begin_of_stage(&self) -> Option<&[WorldTwist]> {
        (!self.begin.is_empty()).then_some(&self.begin)
    }

    /// The mean velocity of a body through the stages of the step, if it has several.
    pub(crate) fn mean(&self, slot: Slot) -> Option<&WorldTwist> {
        self.mean.get(slot.index())?.as_ref()
    }

    /// Part of the step in which a body turns by itself: less than 1 if it stays where it meets another one.
    pub(crate) fn turns(&self, slot: Slot) -> f64 {
        let at = self.stay.binary_search_by_key(&slot, |stay| stay.slot);
        at.map_or(1.0, |at| self.stay[at].part)
    }

    /// Bodies that stay where they meet, ascending.
    pub(crate) fn hold(&mut self, held: &[Stay], bodies: usize) {
        self.stay.clear();
        self.stay.extend(held);
        for stay in held {
            self.mean.resize(bodies, None);
            self.mean[stay.slot.index()] = Some(stay.way);
        }
    }

    /// Follows the motion as solved, where impacts follow one another.
    pub(crate) fn trace(&mut self, solved: &Solved) {
        self.mean.clear();
        if !self.begin.is_empty() || !self.waiting.is_empty() {
            let begin = (!self.begin.is_empty()).then_some(&self.begin[..]);
            self.course.follow(solved, begin);
            self.course.means(solved, &self.waiting, &mut self.mean);
        }
        for (slot, mean) in self.alone.means(solved) {
            self.mean.resize(solved.bodies.len(), None);
            self.mean[slot] = Some(mean);
        }
    }

    /// `g_N` (m) of a contact as the stage sees it.
    pub(crate) fn gap(&self, contact: &Detected, arms: &[DVec3; 2]) -> f64 {
        self.course.gap_before(contact, arms)
    }

    /// Which bodies of a pair contacts pushed that were no impacts.
    fn held(&self, pair: [Slot; 2]) -> [bool; 2] {
        pair.map(|slot| self.held[slot])
    }

    /// The law of a contact in a stage after the first: its `u` at the beginning, and at what speed forces drove its bodies against each other, given which of them are
    /// held. In stages forces act before all impacts, in the energy of the step with its mean velocity: what is struck or struck back counts as if they acted after it.
    pub(crate) fn law<S: Scheme>(
        &self,
        (row, pair): (usize, [Slot; 2]),
        (gap, restitution, u): (f64, f64, f64),
        driven: impl FnOnce([bool; 2]) -> f64,
        scheme: &S,
        settings: &Settings,
    ) -> NormalLaw {
        let strikes = self.rows.get(row).is_some_and(|row| row.strikes);
        let held = self.held(pair);
        if strikes {
            let approach = || Approach {
                begin: u + driven(held),
                free: u,
            };
            return scheme.normal_law(gap.min(0.0), restitution, approach, settings);
        }
        if self.stops(row) {
            return scheme.normal_law(gap, 0.0, Approach::default, settings);
        }
        let opening = || {
            let free = u.max(0.0);
            // What holds a body has taken what forces gave it.
            let driven = if held == [false; 2] {
                driven(held).clamp(-free, free)
            } else {
                0.0
            };
            Approach {
                begin: free + driven,
                free,
            }
        };
        let law = scheme.normal_law(gap, restitution, opening, settings);
        NormalLaw {
            // What the last stage left of its residual is not mended in this one.
            shift: law.shift.max(-u),
            impact: false,
            ..law
        }
    }

    /// The row would strike, but no more stages are made: it keeps its bodies apart.
    pub(crate) fn stops(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|row| row.stops)
    }

    /// Rows were exchanged: those that came in for a stage strike, others have settled.
    pub(crate) fn follow(&mut self, exchange: &Exchange, next: Next) {
        let new = Row {
            strikes: next == Next::Stage && self.stops == 0,
            settled: next == Next::Settled,
            stops: self.stops > 0,
        };
        if self.rows.is_empty() {
            self.rows.resize(exchange.stay.len(), Row::default());
        }
        exchange.carry(&mut self.rows, new);
    }

    /// The step is solved: what waits goes, but for contacts that pushed or pulled in an earlier stage. True if there are some.
    pub(crate) fn end(&mut self, rows: usize, exchange: &mut Exchange) -> bool {
        self.unmet.clear();
        self.waiting.retain(|late| {
            let struck = late.earlier.says_something();
            if !struck {
                self.unmet.push(late.contact.bodies);
            }
            struck
        });
        self.unmet.sort_unstable();
        self.unmet.dedup();
        exchange.clear(rows);
        exchange.late.append(&mut self.waiting);
        !exchange.late.is_empty()
    }

    /// Looks at the motion as solved: the whole, or what is near the last change.
    pub(crate) fn look(
        &mut self,
        (solved, whole): (&Solved, bool),
        meetings: &mut Meetings,
        exchange: &mut Exchange,
    ) -> Next {
        if self.changes == 0 {
            if !restitutes(solved) {
                return Next::Nothing;
            }
            self.find_piled(solved, meetings);
        }
        exchange.clear(solved.record.found.len());
        let last = self.is_over(solved.record.found.len()) || self.gains(solved);
        if !last && self.let_wait(solved, meetings, exchange) {
            self.changes += 1;
            return Next::Again;
        }
        if self.waiting.is_empty() && self.begin.is_empty() {
            return Next::Nothing;
        }
        self.trace(solved);
        self.find_strikes(solved);
        if self.strikes.list.is_empty() {
            return Next::Nothing;
        }
        let some = self.strikes.list.iter().any(|strike| strike.fast);
        let (fast, stops) = (some && !last, some && last);
        let most_stops = most_stops(solved.record.found.len());
        let stage = fast || stops && self.stops < most_stops;
        if stage && !whole {
            return Next::Check;
        }
        let (mut struck, mut rows) = (Vec::new(), Vec::new());
        for strike in &self.strikes.list {
            if fast && !(strike.fast && self.strikes.is_earliest(strike, solved)) {
                continue;
            }
            match strike.from {
                From::Waiting(at) => struck.push(at),
                From::Row(row) => {
                    rows.push(row);
                    exchange.struck.push(strike.pair);
                }
            }
        }
        if stops && !stage && self.stops >= most_stops + LAST {
            return Next::Nothing;
        }
        if !stage {
            rows.retain(|row| stops && !self.stops(*row));
        }
        if !stage && struck.is_empty() && rows.is_empty() {
            return Next::Nothing;
        }
        self.changes += 1;
        self.stops += usize::from(stops);
        if stage {
            self.rows.clear();
        }
        self.rows.resize(solved.record.found.len(), Row::default());
        for row in rows {
            let row = &mut self.rows[row];
            (row.strikes, row.stops) = (fast, !fast);
        }
        struck.sort_unstable();
        for at in struck.iter().rev() {
            exchange.late.push(self.waiting.remove(*at));
        }
        if stage { Next::Stage } else { Next::Settled }
    }

    /// The impacts of the step gave the bodies more energy than all forces of the step can: with friction Newton's law may do so (Kane's example),
    /// and stage after stage would go on from there. What would strike next is stopped, which gains nothing.
    fn gains(&self, solved: &Solved) -> bool {
        if self.begin.is_empty() && self.waiting.is_empty() {
            return false;
        }
        let (mut now, mut most) = (0.0, 0.0);
        for slot in solved.bodies.awake_dynamic() {
            let mass = &solved.motion.inverse_mass[slot];
            let (begin, free) = (&solved.motion.begin[slot], &solved.motion.free[slot]);
            let kick = WorldTwist {
                linear: free.linear - begin.linear,
                angular: free.angular - begin.angular,
            };
            now += kinetic(mass, &solved.end(slot));
            most += (kinetic(mass, free).sqrt() + kinetic(mass, &kick).sqrt()).powi(2);
        }
        now > most * (1.0 + ROUNDING)
    }

    /// No more stages are made in a step of so many contacts.
    fn is_over(&self, contacts: usize) -> bool {
        self.changes >= most_changes(contacts)
    }

    /// Takes out what pushes for the first time though its bodies did not close its gap on their own. True if there is something.
    fn let_wait(&mut self, solved: &Solved, meetings: &Meetings, exchange: &mut Exchange) -> bool {
        let found = &solved.record.found;
        let mut some = false;
        for row in 0..found.len() {
            if !self.is_missed(row, solved, meetings) {
                continue;
            }
            some = true;
            self.wait(row, solved, exchange);
        }
        if !some && self.begin.is_empty() {
            some = self.let_later_wait(solved, exchange);
        }
        some
    }

    fn wait(&mut self, row: usize, solved: &Solved, exchange: &mut Exchange) {
        exchange.stay[row] = false;
        self.waiting.push(Late {
            contact: solved.record.found[row],
            own: own_arms(row, &solved.record.given)
                .unwrap_or_else(|| OwnArms::as_found(solved.contacts[row].arms)),
            law: solved.edits.law(row).copied(),
            earlier: solved.earlier(row),
        });
    }

    /// Of the impacts of the first stage those stay before which neither body meets anything else. True if others wait.
    fn let_later_wait(&mut self, solved: &Solved, exchange: &mut Exchange) -> bool {
        self.strikes.list.clear();
        let found = &solved.record.found;
        let h = solved.settings.time_step;
        let mut some = false;
        for (row, place) in found.iter().enumerate() {
            let begin = place.bodies.map(|slot| solved.motion.begin[slot]);
            let u = solved.normal_velocity(row, &begin);
            let settled = self.rows.get(row).is_some_and(|row| row.settled);
            // One that does not restitute stops a body as well.
            let closes = u < -solved.bounce_threshold(row) && place.gap + h * u <= 0.0;
            some |= solved.impacts[row] && closes && !settled;
            if closes {
                self.strikes.list.push(Strike {
                    pair: place.bodies,
                    time: place.gap.max(0.0) / -u,
                    fast: true,
                    from: From::Row(row),
                });
            }
        }
        if !some || self.strikes.list.len() < 2 {
            return false;
        }
        self.strikes.time(solved, &self.waiting);
        let mut some = false;
        for at in 0..self.strikes.list.len() {
            let strike = self.strikes.list[at];
            if let From::Row(row) = strike.from
                && solved.impacts[row]
                && !self.rows.get(row).is_some_and(|row| row.settled)
                && !self.strikes.is_earliest(&strike, solved)
            {
                some = true;
                self.wait(row, solved, exchange);
            }
        }
        some
    }

    /// The contact pushes, but as an impact that it does not know of.
    fn is_missed(&self, row: usize, solved: &Solved, meetings: &Meetings) -> bool {
        let impulse = solved.record.impulse[row].x;
        let own = self.rows.get(row).copied().unwrap_or_default();
        if impulse <= 0.0 || own.settled || solved.restitution(row) <= 0.0 {
            return false;
        }
        let (place, earlier) = (&solved.record.found[row], solved.earlier(row));
        let begin = place.bodies.map(|slot| solved.motion.begin[slot]);
        let begin = solved.normal_velocity(row, &begin);
        let strikes = solved.impacts[row] && (begin < 0.0 || !self.begin.is_empty());
        if strikes || place.bodies.into_iter().any(|slot| self.piled[slot]) {
            return false;
        }
        let ends = place.bodies.map(|slot| {
            let (end, change) = (solved.end(slot), solved.change(row, slot));
            WorldTwist {
                linear: end.linear - change.linear,
                angular: end.angular - change.angular,
            }
        });
        let arms = &solved.contacts[row].arms;
        let driven = solved
            .motion
            .driven(place.bodies, place.normal, arms, [true; 2]);
        let closing = -driven - solved.normal_velocity(row, &ends);
        let opens = begin > OPENS * closing;
        let bodies = place.bodies.map(|slot| &solved.bodies.constants[slot]);
        let stage = self.begin_of_stage().unwrap_or(&solved.motion.begin);
        let u = solved.normal_velocity(row, &place.bodies.map(|slot| stage[slot]));
        let gap = self.course.gap_at_last(place, arms, u);
        let touches = gap <= GAP * path::thickness(bodies);
        let old = !is_new(impulse + earlier.impulse.x, meetings.carried(row));
        let threshold = solved.bounce_threshold(row);
        // Bodies that came up against each other as the step began rest on nothing, also where earlier stages brought them there.
        let rests = (touches || old) && !opens && begin >= -threshold;
        closing > threshold && (!rests || earlier.impact)
    }

    /// Lists what the motion as solved closes.
    fn find_strikes(&mut self, solved: &Solved) {
        self.strikes.list.clear();
        self.find_held(solved);
        for (at, late) in self.waiting.iter().enumerate() {
            let from = From::Waiting(at);
            let strike = self.strike(&late.contact, &late.own.arms, from, solved);
            self.strikes.list.extend(strike);
        }
        // Those that opened may close again farther than their gap.
        for (row, place) in solved.record.found.iter().enumerate() {
            if solved.record.impulse[row].x <= 0.0 {
                let arms = &solved.contacts[row].arms;
                let again = self.strike(place, arms, From::Row(row), solved);
                self.strikes.list.extend(again.filter(|strike| strike.fast));
            }
        }
        self.strikes.time(solved, &self.waiting);
    }

    /// The impact of a contact, if the motion as solved closes it.
    fn strike(
        &self,
        contact: &Detected,
        arms: &[DVec3; 2],
        from: From,
        solved: &Solved,
    ) -> Option<Strike> {
        let (u, time) = self.closes(contact, arms, solved)?;
        let pair = contact.bodies;
        let held = pair.map(|slot| self.held[slot]);
        let driven = solved.motion.driven(pair, contact.normal, arms, held);
        let threshold = match from {
            From::Row(row) => solved.bounce_threshold(row),
            From::Waiting(at) => solved.threshold_of(contact, self.waiting[at].law.as_ref()),
        };
        Some(Strike {
            pair,
            time,
            fast: u + driven < -threshold,
            from,
        })
    }

    /// `u_N` (m/s), and the time at which the motion as solved closes a contact, if it does so within the step, s.
    fn closes(&self, contact: &Detected, arms: &[DVec3; 2], solved: &Solved) -> Option<(f64, f64)> {
        let ends = contact.bodies.map(|slot| solved.end(slot));
        let [a, b] = [0, 1].map(|side| ends[side].at(arms[side]));
        let u = contact.normal.dot(a - b);
        let gap = self.course.gap_after(contact, arms);
        (u < 0.0 && gap + solved.settings.time_step * u < 0.0).then(|| (u, gap.max(0.0) / -u))
    }

    /// Marks the bodies that rested on another one that moves, or it on them.
    fn find_piled(&mut self, solved: &Solved, meetings: &Meetings) {
        self.piled.clear();
        self.piled.resize(solved.bodies.len(), false);
        for (row, place) in solved.record.found.iter().enumerate() {
            let dynamic = |slot: Slot| solved.bodies.is_awake_dynamic(slot);
            let begin = place.bodies.map(|slot| solved.motion.begin[slot]);
            let u = solved.normal_velocity(row, &begin).abs();
            let rests = meetings.carried(row) > 0.0 && u <= PILED * solved.bounce_threshold(row);
            if rests && place.bodies.into_iter().all(dynamic) {
                for slot in place.bodies {
                    self.piled[slot] = true;
                }
            }
        }
    }

    /// Marks the bodies that contacts push which are no impacts.
    fn find_held(&mut self, solved: &Solved) {
        self.held.clear();
        self.held.resize(solved.bodies.len(), false);
        for (row, place) in solved.record.found.iter().enumerate() {
            let earlier = solved.earlier(row);
            let now = solved.record.impulse[row].x > 0.0 && !solved.impacts[row];
            if now || earlier.is_some() && !earlier.impact {
                for slot in place.bodies {
                    self.held[slot] = true;
                }
            }
        }
    }

    /// The next stage begins with the velocities as solved.
    pub(crate) fn end_stage(&mut self, bodies: &Bodies, ends: impl Iterator<Item = WorldTwist>) {
        self.stages += 1;
        self.course.end_stage(bodies);
        self.begin.clear();
        self.begin.extend(ends);
    }
}

/// The most changes of a step of so many contacts.
fn most_changes(contacts: usize) -> usize {
    if has_order(contacts) {
        (CONTACTS / contacts.max(1)).min(CHANGES)
    } else {
        FEW_CHANGES
    }
}

/// Stages of a step of so many contacts in which bodies are stopped: one at least. From the velocities at hand that gains no energy: all offsets
/// are ≥ 0 there, so that rest is among the velocities that the laws allow, and none of these is farther from it than what is solved. Beside
/// impacts it could: what opens has to be free to restitute as they do.
fn most_stops(contacts: usize) -> usize {
    (most_changes(contacts) / STOPS).max(1)
}

/// In a step of so many contacts impacts can be made one after another.
pub(super) fn has_order(contacts: usize) -> bool {
    CONTACTS / contacts.max(1) >= FEW
}

/// Kinetic energy of a body, J.
fn kinetic(mass: &InverseMass, twist: &WorldTwist) -> f64 {
    let spin = if mass.angular.determinant() > 0.0 {
        twist.angular.dot(mass.angular.inverse() * twist.angular)
    } else {
        0.0
    };
    0.5 * (twist.linear.length_squared() / mass.linear + spin)
}

/// Some contact that pushes has restitution.
fn restitutes(solved: &Solved) -> bool {
    if !solved.bodies.some_bounce && solved.edits.are_laws_of_materials() {
        return false;
    }
    let mut rows = solved.record.impulse.iter().enumerate();
    rows.any(|(row, r)| r.x > 0.0 && solved.restitution(row) > 0.0)
}
