//! Contacts only where bodies meet [docs/theory.md §5].
//!
//! Detection gives a pair one plane at `t_k` and extends it to infinity. A body that moves by a good part of its size within the
//! step may run up against that plane beside the other body, or past it. So the solved motion is looked at, in rounds:
//!
//! ```text
//! solve      with the contacts found; large islands that are not new by no more than 200 sweeps, which the last solve makes good
//! look       a pair whose contacts push for the first time, on its way without them: do the two meet?
//!            no        its contacts go
//!            on another plane    the contacts at that time take their place:  g̃ = g(t_c) − t_c u_N(v)
//!            after something else, and not on the way along that    its contacts go (`later`)
//!            pairs let go before, once no more go, those of bodies that turn far, and those of bodies that were struck beyond
//!            their reach, on their way as solved:
//!            they meet           the contacts at that time come in
//! repeat     until nothing changes
//! ```
//!
//! "Without them" is the solved motion less what those contacts give, which is right where nothing else pushes. What a body leans on would
//! hold it, and what else pushes it may do so because of them: such a body is followed as it began too, and meets only if it does both ways.
//!
//! Bodies that already pushed each other in the last step meet. Where no pair changes the first solve stands, with its bits.

mod calm;
mod changed;
mod held;
mod later;
mod pushes;
mod struck;
mod turning;

use super::exchange::Exchange;
use super::impacts::Impacts;
use super::near;
use super::solved::Solved;
use crate::bodies::slot::Slot;
use crate::detection::Detection;
use crate::detection::path::{self, Encounter, Path};
use crate::error::StepError;
use crate::interactions::detected::rows_around;
use crate::interactions::graph::Graph;
use crate::interactions::record::ContactRecord;
use calm::{Calm, CalmPairs};
use changed::ChangedPairs;
use glam::DVec3;
use held::Held;
pub(crate) use held::Stay;
use later::Later;
use moreau_geometry::ContactPoint;
use moreau_solvers::WorldTwist;
use pushes::Push;
use std::ops::Range;

/// Rounds after which no contact goes any more.
const ROUNDS: usize = 12;
/// Rounds after these in which contacts come: what is still met is stopped, if need be too early, rather than let pass. What sinks into each other
/// after the last stays where it meets, and goes on in the next step.
const LAST: usize = 4;

/// Overlap at the end of a slow way, as a part of what a plane foretells, up to which the plane is not that of the pair: a ball that rolls
/// towards a flush edge.
const SEAM: f64 = 0.1;
/// Foretold overlaps that are looked at for that, as a part of the overlap at which bodies meet: the error of a seam is less.
const FINE: f64 = 1e-3;

/// Impulse of the last step, as a part of the present one, below which a contact pushes for the first time.
const NEW: f64 = 1e-3;

#[inline]
pub(crate) fn is_new(impulse: f64, carried: f64) -> bool {
    impulse > 0.0 && carried <= NEW * impulse
}

/// What a row pushed with in the last step may be of a flush part next to its own.
fn is_of_another_part(row: usize, solved: &Solved) -> bool {
    let pair = solved.record.found[row].bodies;
    solved.has_parts(pair) && {
        let ways = pair.map(|slot| solved.motion.begin[slot]);
        foretells_overlap(solved.gap_after(row, &ways), pair, solved)
    }
}

/// Contacts from a body whose contacts are exchanged to the farthest that moves otherwise in the next look.
const CHANGED_LINKS: u8 = near::LINKS + 1;

/// What the rounds of a step keep.
#[derive(Debug, Default)]
pub(crate) struct Meetings {
    /// Rounds of this step that changed contacts.
    pub(crate) rounds: usize,
    /// Rounds that the budget of the step does not have.
    rounds_left_out: usize,
    /// The first solve was looked at.
    looked: bool,
    /// Some body turns so far that its contacts may not be all that it meets.
    turns: bool,
    /// Contacts at a later time than that of detection.
    pub(crate) late_contacts: usize,
    /// Contacts that came after [`ROUNDS`] rounds.
    pub(crate) last_resorts: usize,
    /// By slot: the motion of the body changes with this look, its contacts or others so many links away being exchanged; zero if it does not.
    awaits: Vec<u8>,
    /// Normal impulses of the last step, by row, N·s.
    carried: Vec<f64>,
    /// Rows whose plane was found to be right.
    judged: Vec<bool>,
    /// Rows that push for the first time as the look begins, and were not judged yet, ascending.
    fresh: Vec<usize>,
    /// Pairs whose contacts were exchanged.
    changed: ChangedPairs,
    /// Pairs that were followed, with what came of it.
    calm: CalmPairs,
    /// Pairs of bodies neither of which is a ball that were followed since they were asked for.
    followed: usize,
    pushes: Vec<Push>,
    /// By slot: the angular velocity of the way of a body that tumbles, rad/s.
    turns_by: Vec<Option<DVec3>>,
    points: Vec<ContactPoint>,
    /// Rows of a pair that are looked at.
    new: Vec<usize>,
    /// What is met after something else.
    later: Later,
    /// Bodies that were struck beyond their reach, ascending.
    struck: Vec<Slot>,
    /// All that were in this step: detection now allows for what they reach.
    reached: Vec<Slot>,
    /// Pairs that the last look saw meet after the last round, whose contacts do not come any more, with a plane of each.
    unmet: Vec<([Slot; 2], DVec3)>,
    /// Bodies that stay where they meet.
    held: Held,
}

impl Meetings {
    /// A step begins, from the impulses of the last one.
    pub(crate) fn begin(&mut self, record: &ContactRecord) {
        self.rounds = 0;
        self.rounds_left_out = 0;
        self.looked = false;
        self.followed = 0;
        self.late_contacts = 0;
        self.last_resorts = 0;
        self.changed.clear();
        self.later.begin();
        self.calm.clear();
        self.unmet.clear();
        self.reached.clear();
        self.turns_by.clear();
        self.carried.clear();
        self.carried.extend(record.impulse.iter().map(|r| r.x));
        self.judged.clear();
        self.judged.resize(self.carried.len(), false);
    }

    /// Looks at the motion as solved. True if contacts are to be exchanged.
    ///
    /// # Errors
    /// [`StepError::Crowd`].
    pub(crate) fn look(
        &mut self,
        (solved, impacts): (&Solved, &Impacts),
        (detection, graph): (&mut Detection, &mut Graph),
        exchange: &mut Exchange,
    ) -> Result<bool, StepError> {
        let first = !std::mem::replace(&mut self.looked, true);
        self.turns = solved.turns_something(detection) || !detection.swings.is_empty();
        let round = self.rounds + self.rounds_left_out;
        self.awaits.clear();
        self.find_fresh(solved);
        if first
            && !self.turns
            && self.fresh.is_empty()
            && !self.find_struck((solved, impacts), detection)
        {
            return Ok(false);
        }
        exchange.clear(solved.record.found.len());
        self.unmet.clear();
        self.count_pushes(solved);
        // With planes still in an island that go, its motion is not the one to look at.
        let look = (solved, impacts);
        let mut changes = self.let_go(look, exchange);
        if !self.changed.is_empty() {
            self.await_changes(solved, exchange, graph);
            changes |= self.call_back(look, exchange);
        }
        if self.turns {
            self.await_changes(solved, exchange, graph);
            changes |= self.find_turned(look, detection, exchange);
        }
        self.await_changes(solved, exchange, graph);
        if self.find_struck((solved, impacts), detection) {
            changes |= self.meet_struck((solved, impacts), detection, exchange)?;
        }
        self.calm.end_look();
        if changes && round >= ROUNDS {
            self.last_resorts += exchange.late.len();
            if round >= ROUNDS + LAST || exchange.late.is_empty() {
                let met = exchange.late.iter().map(|late| &late.contact);
                self.unmet
                    .extend(met.map(|contact| (contact.bodies, contact.normal)));
                return Ok(false);
            }
            exchange.stay.fill(true);
        }
        self.rounds += usize::from(changes);
        Ok(changes)
    }

    /// Pairs of bodies neither of which is a ball that were followed since this was asked for.
    pub(crate) fn take_followed(&mut self) -> usize {
        std::mem::take(&mut self.followed)
    }

    /// No more contacts are exchanged in this step.
    pub(crate) fn end_rounds(&mut self) {
        self.rounds_left_out = (ROUNDS + LAST).saturating_sub(self.rounds);
    }

    /// Bodies that stay where they meet, ascending.
    pub(crate) fn held(&self) -> &[Stay] {
        self.held.ways()
    }

    /// Marks the bodies whose motion changes with what this look exchanges, as far as it is solved again before the next one: they are looked
    /// at once it is. After the last rounds nothing is exchanged, and nothing waits.
    fn await_changes(&mut self, solved: &Solved, exchange: &Exchange, graph: &mut Graph) {
        let awaits = &mut self.awaits;
        awaits.clear();
        awaits.resize(solved.bodies.len(), 0);
        let round = self.rounds + self.rounds_left_out;
        let found = solved.record.found.iter().zip(&exchange.stay);
        let gone = found.filter(|(_, stay)| !**stay && round < ROUNDS);
        let late = exchange.late.iter().map(|late| late.contact.bodies);
        let late = late.filter(|_| round < ROUNDS + LAST);
        let mut pairs = gone.map(|(place, _)| place.bodies).chain(late).peekable();
        if pairs.peek().is_none() {
            return;
        }
        graph.tie(&solved.record.found, solved.bodies);
        for slot in pairs.flatten().filter(|slot| graph.has(*slot)) {
            awaits[slot] = 1;
        }
        for link in 1..=CHANGED_LINKS {
            graph.each_way(|from, to| {
                if awaits[from] == link && awaits[to] == 0 {
                    awaits[to] = link + 1;
                }
            });
        }
        // Machines are solved as a whole.
        let bodies = solved.bodies;
        let mut joined = bodies.tied.iter().chain(&bodies.hung).flatten();
        if joined.any(|slot| awaits.get(slot.index()).is_some_and(|link| *link > 0)) {
            let reached: Vec<Slot> = bodies
                .awake_dynamic()
                .filter(|slot| awaits[*slot] > 0)
                .collect();
            for slot in reached {
                awaits[graph.island(slot)] = 1;
            }
            for slot in bodies.awake_dynamic() {
                awaits[slot] = awaits[slot].max(awaits[graph.island(slot)]);
            }
        }
    }

    /// The pair is to be looked at again, see [`Self::await_changes`].
    fn awaits(&self, pair: [Slot; 2]) -> bool {
        pair.into_iter().any(|slot| self.awaits[slot] > 0)
    }

    /// Pairs whose contacts were exchanged in this step, in the order in which that happened.
    pub(crate) fn changed(&self) -> &[[Slot; 2]] {
        self.changed.list()
    }

    /// Impulse of the last step in a row, N·s.
    pub(crate) fn carried(&self, row: usize) -> f64 {
        self.carried[row]
    }

    /// Rows were exchanged.
    pub(crate) fn carry(&mut self, exchange: &Exchange) {
        exchange.carry(&mut self.carried, 0.0);
        exchange.carry(&mut self.judged, true);
    }

    /// The row pushes for the first time, and was not judged yet.
    fn is_first(&self, row: usize, solved: &Solved) -> bool {
        let (impulse, carried) = (solved.record.impulse[row].x, self.carried[row]);
        impulse > 0.0
            && !self.judged[row]
            && (is_new(impulse, carried) || is_of_another_part(row, solved))
    }

    /// Lists the rows of [`Self::is_first`].
    fn find_fresh(&mut self, solved: &Solved) {
        let some_have_parts = solved.bodies.some_have_parts;
        let known = self.carried.iter().zip(&self.judged);
        let rows = solved.record.impulse.iter().zip(known).enumerate();
        let first = rows.filter(|(row, (r, (carried, judged)))| {
            r.x > 0.0
                && !**judged
                && (is_new(r.x, **carried) || some_have_parts && is_of_another_part(*row, solved))
        });
        self.fresh.clear();
        self.fresh.extend(first.map(|(row, _)| row));
    }

    /// Pairs that push each other for the first time: those that do not meet are let go, those that meet on another plane
    /// exchange it.
    fn let_go(&mut self, (solved, impacts): (&Solved, &Impacts), exchange: &mut Exchange) -> bool {
        let found = &solved.record.found;
        let fresh = std::mem::take(&mut self.fresh);
        let mut changes = false;
        self.later.begin_look();
        for rows in fresh.chunk_by(|a, b| found[*a].bodies == found[*b].bodies) {
            let pair = found[rows[0]].bodies;
            let open = !impacts.awaits(pair) && !solved.is_unbounded(pair);
            if open && self.judge(pair, rows_around(found, rows[0]), solved, exchange) {
                self.changed.push(pair);
                changes = true;
            }
        }
        self.fresh = fresh;
        changes |= self.let_later_go(solved, exchange);
        self.late_contacts += exchange.late.len();
        changes
    }

    /// Looks at a pair with its rows in `I₀`. True if contacts of it are exchanged.
    fn judge(
        &mut self,
        pair: [Slot; 2],
        rows: Range<usize>,
        solved: &Solved,
        exchange: &mut Exchange,
    ) -> bool {
        let mut new = std::mem::take(&mut self.new);
        self.list_new(rows.clone(), solved, &mut new);
        let doubt = new.iter().any(|row| solved.is_in_doubt(*row));
        // Least gap on the way, m.
        let mut end = f64::NEG_INFINITY;
        let ways = if doubt {
            new.retain(|row| solved.is_ahead(*row));
            pair.map(|slot| self.way_before(slot, solved))
        } else {
            // The plane is as good as that of the pair: what is left in doubt is which of two it is, for a body that comes up
            // against it.
            let ways = pair.map(|slot| solved.motion.begin[slot]);
            end = self.retain_doubtful(&mut new, pair, &ways, solved);
            ways
        };
        let is_ahead = |row: usize| doubt && solved.is_ahead(row);
        let mut changes = !new.is_empty();
        if changes {
            let path = solved.path(pair, ways);
            let h = solved.settings.time_step;
            self.followed += usize::from(solved.is_of_others(pair));
            let encounter = self.follow(&path, &new, doubt, solved);
            if let Encounter::Meets { normal, .. } = encounter {
                changes = !solved.is_plane(&new, normal);
            }
            self.note_met(&path, encounter, changes, solved);
            match encounter {
                Encounter::Meets { time, normal } if changes => {
                    let mut others = rows.clone().filter(|row| !is_ahead(*row));
                    if !others.any(|row| solved.is_plane(&[row], normal)) {
                        let late = &mut exchange.late;
                        path.contacts_at((time, true), h, &mut self.points, late);
                    }
                }
                Encounter::Meets { .. } | Encounter::Apart => {}
                Encounter::Unclear => {
                    // Bodies that roll on each other: how deep they get tells, where looks do not miss what they pass.
                    let seen = !doubt && path.is_seen(h);
                    new.retain(|row| {
                        let off = seen && self.is_off(*row, end, &ways, solved);
                        self.judged[*row] |= !off;
                        off
                    });
                    changes = !new.is_empty();
                }
            }
            // All that is ahead goes, and all of a plane, also where it does not push.
            for row in rows.filter(|_| changes) {
                let of_plane = |other: &usize| solved.are_one_plane([*other, row]);
                let goes = is_ahead(row) || new.iter().any(of_plane);
                let stays = solved.is_given(row) || solved.earlier(row).says_something();
                exchange.stay[row] &= !goes || stays;
            }
        }
        if !changes {
            // Judged once: it pushes in what follows.
            for row in &new {
                self.judged[*row] = true;
            }
        }
        self.new = new;
        changes
    }

    /// Follows a pair on its way without its new contacts.
    fn follow(&mut self, path: &Path, new: &[usize], doubt: bool, solved: &Solved) -> Encounter {
        let h = solved.settings.time_step;
        if !doubt {
            return path.encounter(h, &mut self.points);
        }
        // What a body leans on holds it when these contacts go, by how much is not known yet. What it meets going on as it began stays,
        // all else goes, and is called back if it meets on its way as solved.
        let begin = solved.path(path.pair, path.pair.map(|slot| solved.motion.begin[slot]));
        let leans = self.leans(path.pair);
        let way = if leans { &begin } else { path };
        if path.is_of_surface() && way.length(h) <= path::thickness(path.bodies) {
            // To follow a body to a surface takes long.
            let (gap, normal) = way.deepest_at(h, &mut self.points);
            if gap < -path::tolerance(path.bodies) && solved.is_plane(new, normal) {
                return Encounter::Unclear;
            }
        }
        let mut encounter = path.encounter(h, &mut self.points);
        if encounter == Encounter::Unclear && path.is_seen(h) && path.is_clear(h, &mut self.points)
        {
            encounter = Encounter::Apart;
        }
        // What pushes a body besides may do so since these contacts do: without them it goes on as it began.
        let alone = !leans && !self.are_pushed_besides(path.pair);
        if alone || encounter == Encounter::Apart {
            return encounter;
        }
        match begin.encounter(h, &mut self.points) {
            Encounter::Meets { normal, .. } if !solved.is_plane(new, normal) => Encounter::Apart,
            Encounter::Apart => Encounter::Apart,
            Encounter::Unclear if begin.is_clear(h, &mut self.points) => Encounter::Apart,
            _ => encounter,
        }
    }

    /// Keeps the rows of a slow pair that may be off its plane: that foretell an overlap which it does not have, or one that another plane
    /// may come before. Returns the least gap (m) that the pair gets to.
    fn retain_doubtful(
        &mut self,
        new: &mut Vec<usize>,
        pair: [Slot; 2],
        ways: &[WorldTwist; 2],
        solved: &Solved,
    ) -> f64 {
        let tolerance = path::tolerance(pair.map(|slot| &solved.bodies.constants[slot]));
        let foretold = |row: usize| solved.gap_after(row, ways);
        let fine = |row: &usize| {
            !foretells_overlap(foretold(*row), pair, solved)
                && !self.falls_short(*row, ways, solved)
        };
        // In a heap of balls planes are as good as what comes next, and looks at all that roll over each other cost a fifth of the step.
        let heaped = solved.is_of_balls(pair) && self.leans(pair);
        if heaped || new.iter().all(fine) {
            for row in new.drain(..) {
                self.judged[row] = true;
            }
            return f64::NEG_INFINITY;
        }
        let path = solved.path(pair, *ways);
        let (end, normal) = path.deepest(solved.settings.time_step, &mut self.points);
        // To follow a body to a surface takes long.
        let is_sure = path.is_of_surface() && end < -tolerance && solved.is_plane(new, normal);
        new.retain(|row| {
            let met = foretold(*row) < -tolerance && !is_sure;
            let doubtful = met || self.is_off(*row, end, ways, solved);
            self.judged[*row] |= !doubtful;
            doubtful
        });
        end
    }

    /// On slow ways, on which the pair gets to the gap `end` (m), the plane of a new contact is not that of the pair, or the pair does not get there.
    fn is_off(&self, row: usize, end: f64, ways: &[WorldTwist; 2], solved: &Solved) -> bool {
        let pair = solved.record.found[row].bodies;
        let apart = || end > -path::tolerance(pair.map(|slot| &solved.bodies.constants[slot]));
        is_off_plane(row, end, ways, solved) || self.falls_short(row, ways, solved) && apart()
    }

    /// An impact is foretold with the weight of the bodies. What leans on something does not fall, and may not get there.
    fn falls_short(&self, row: usize, ways: &[WorldTwist; 2], solved: &Solved) -> bool {
        let pair = solved.record.found[row].bodies;
        solved.impacts[row] && self.leans(pair) && solved.gap_after(row, ways) > 0.0
    }

    /// Lists the rows of a pair that push for the first time, on a plane on which nothing pushed before.
    fn list_new(&self, rows: Range<usize>, solved: &Solved, new: &mut Vec<usize>) {
        let impulse = &solved.record.impulse;
        let is_first = |row: usize| self.is_first(row, solved);
        // That the pair gets to a plane on which it does not meet yet tells nothing of it.
        let is_met = |row: usize| {
            let begin = |slot: Slot| solved.motion.begin[slot];
            let place = &solved.record.found[row];
            !is_new(impulse[row].x, self.carried[row])
                || foretells_overlap(
                    solved.gap_after(row, &place.bodies.map(begin)),
                    place.bodies,
                    solved,
                )
        };
        let is_known = |row: usize| {
            rows.clone().any(|other| {
                let pushed = impulse[other].x > 0.0 && !is_first(other);
                pushed && solved.are_one_plane([other, row]) && is_met(other)
            })
        };
        new.clear();
        new.extend(
            rows.clone()
                .filter(|row| is_first(*row) && !solved.is_given(*row) && !is_known(*row)),
        );
    }

    /// Pairs that were changed, on their way as it is now solved: those that meet all the same get the contacts at that time
    /// too: of two convex bodies every plane at which they meet is one.
    fn call_back(
        &mut self,
        (solved, impacts): (&Solved, &Impacts),
        exchange: &mut Exchange,
    ) -> bool {
        let mut changes = false;
        let changed = std::mem::take(&mut self.changed);
        for pair in changed.list() {
            let waits = impacts.awaits(*pair) && !solved.may_meet_more(*pair);
            if waits || impacts.is_alone(*pair) || self.awaits(*pair) {
                continue;
            }
            let look = (solved, impacts);
            // What has contacts is held by them, but for what is wrong with their planes, and for parts around it that have none.
            let strict = solved.rows_of(*pair).is_empty()
                || solved.may_surround(*pair)
                || self.later.waits(pair);
            let Some((path, time)) = self.meeting(*pair, (strict, None), look) else {
                continue;
            };
            changes |= self.meet_at((&path, time), look, exchange);
        }
        self.changed = changed;
        changes
    }

    /// The contacts of the time (s) at which a pair meets come in, but for those on planes that are imposed or wait. True if there are some.
    fn meet_at(
        &mut self,
        (path, time): (&Path, f64),
        (solved, impacts): (&Solved, &Impacts),
        exchange: &mut Exchange,
    ) -> bool {
        let (h, before) = (solved.settings.time_step, exchange.late.len());
        // Where the planes that are met are known, others may be ahead.
        for met in [true, false] {
            let late = &mut exchange.late;
            path.contacts_at((time, met), h, &mut self.points, late);
            let mut row = 0;
            late.retain(|met| {
                row += 1;
                let is_known = || {
                    solved.is_left_open(path.pair, &path.twists, &met.contact)
                        || solved.is_imposed(met)
                        || impacts.awaits_plane(&met.contact, solved)
                };
                row <= before || !is_known()
            });
            if late.len() > before {
                break;
            }
        }
        let come = exchange.late.len() - before;
        self.late_contacts += come;
        come > 0
    }

    /// When a pair meets on its way as solved, s after `t_k`. Unless this is `strict`, bodies that do not sink into each other do not.
    /// `plane`: a normal that may hold them apart.
    fn meeting<'a>(
        &mut self,
        pair: [Slot; 2],
        (strict, plane): (bool, Option<DVec3>),
        (solved, impacts): (&'a Solved, &Impacts),
    ) -> Option<(Path<'a>, f64)> {
        let h = solved.settings.time_step;
        let ways = pair.map(|slot| self.way(slot, (solved, impacts)));
        let known = self.calm.get(pair);
        // On the same ways they meet as they did.
        if let Some(met) = known.filter(|calm| calm.strict == strict && calm.ways == ways)
            && let Some(time) = met.met
        {
            let path = solved.path(pair, ways);
            path.plane.set(met.plane);
            return Some((path, time));
        }
        let is_calm =
            |calm: &&Calm| (calm.strict || !strict) && calm.covers(&ways, (solved.bodies, h));
        if known.filter(is_calm).is_some() {
            return None;
        }
        let path = solved.path(pair, ways);
        self.followed += usize::from(solved.is_of_others(pair));
        if let Some(plane) = known.and_then(|calm| calm.plane).or(plane) {
            path.plane.set(Some(plane));
        }
        let room = path.room(h, strict);
        if room.is_none()
            && (strict || path.sinks(h, &mut self.points))
            && let Some(time) = path.meeting(h, &mut self.points)
        {
            self.calm.push(Calm {
                pair,
                ways,
                room: 0.0,
                strict,
                plane: path.plane.get(),
                met: Some(time),
            });
            return Some((path, time));
        }
        // What told may have found a better plane.
        let room = room.or_else(|| path.room(h, strict));
        self.calm.push(Calm {
            pair,
            ways,
            room: room.unwrap_or_else(|| path.spare.get()),
            strict,
            plane: path.plane.get(),
            met: None,
        });
        None
    }
}

/// On slow ways the plane of a new contact may not be that of the pair: it foretells an overlap that it does not have. On its way the pair
/// gets to the gap `end` (m).
fn is_off_plane(row: usize, end: f64, ways: &[WorldTwist; 2], solved: &Solved) -> bool {
    let pair = solved.record.found[row].bodies;
    let foretold = solved.gap_after(row, ways);
    let gap = end.min(solved.record.found[row].gap);
    foretells_overlap(foretold, pair, solved) && gap > SEAM * foretold
}

/// The gap (m) that a plane foretells for a pair is an overlap.
fn foretells_overlap(gap: f64, pair: [Slot; 2], solved: &Solved) -> bool {
    gap < -FINE * path::tolerance(pair.map(|slot| &solved.bodies.constants[slot]))
}
