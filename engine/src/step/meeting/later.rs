//! What a body meets after something else. Without what is new it goes on through the first that it meets: a box that drops on flush tiles falls into
//! the first, and then against the sides of the next ones, which it does not come to once the first holds it.
//!
//! So what is met on another plane than the first stays only if it is met all the same on the way along the planes before it. All else goes, and is
//! called back if the motion as solved meets it.

use super::Meetings;
use super::changed::ChangedPairs;
use crate::bodies::slot::Slot;
use crate::detection::path::{self, Encounter, Path};
use crate::step::exchange::Exchange;
use crate::step::solved::{FAST, SAME_PLANE, Solved};
use glam::DVec3;
use moreau_solvers::WorldTwist;

/// What a look finds of it.
#[derive(Debug, Default)]
pub(super) struct Later {
    met: Vec<Met>,
    /// Planes that bodies of these get to, by body, the first one first.
    crossings: Vec<Crossing>,
    /// Pairs some of whose contacts wait in this step.
    pairs: ChangedPairs,
}

/// A pair that meets on its way without what is new.
#[derive(Clone, Copy, Debug)]
struct Met {
    pair: [Slot; 2],
    /// After `t_k`, s.
    time: f64,
    /// From B to A.
    normal: DVec3,
    /// Its contacts go, and those of that time come in their place.
    moves: bool,
}

/// A plane that a body gets to on its way without what is new.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    slot: Slot,
    row: usize,
    /// Which of the bodies of the row it is.
    side: usize,
    /// After `t_k`, s.
    time: f64,
    /// Direction in which the plane would push the body.
    push: DVec3,
}

impl Later {
    /// A step begins.
    pub(super) fn begin(&mut self) {
        self.pairs.clear();
    }

    pub(super) fn begin_look(&mut self) {
        self.met.clear();
    }

    /// Contacts of the pair wait for what its bodies meet before.
    pub(super) fn waits(&self, pair: &[Slot; 2]) -> bool {
        self.pairs.contains(pair)
    }
}

impl Meetings {
    /// Notes what became of a pair on its way without its new contacts: whether they move to the plane on which it meets.
    pub(super) fn note_met(
        &mut self,
        path: &Path,
        encounter: Encounter,
        moves: bool,
        solved: &Solved,
    ) {
        let h = solved.settings.time_step;
        // The planes of a ball that moves by less are as good as what comes next.
        if !solved.is_of_others(path.pair) && path.length(h) <= FAST * path::thickness(path.bodies)
        {
            return;
        }
        let (time, normal, moves) = match encounter {
            Encounter::Apart => return,
            Encounter::Meets { time, normal } => (time, normal, moves),
            Encounter::Unclear => {
                // Bodies of parts that touch, and turn: one plane is that on which they are, others are ahead.
                if !(solved.has_parts(path.pair) && path.touches(&mut self.points)) {
                    return;
                }
                (0.0, path.deepest(h, &mut self.points).1, false)
            }
        };
        let pair = path.pair;
        self.later.met.push(Met {
            pair,
            time,
            normal,
            moves,
        });
    }

    /// Without what is new a body goes on through the first that it meets. What it meets after that, on another plane, it may not meet any more:
    /// contacts go that it does not come to with all others, and those of that time do not come. True if some go that stayed.
    pub(super) fn let_later_go(&mut self, solved: &Solved, exchange: &mut Exchange) -> bool {
        let mut changes = false;
        let met = std::mem::take(&mut self.later.met);
        let mut later = std::mem::take(&mut self.new);
        self.list_crossings(&met, solved);
        for of in &met {
            let follows = self.follows(of, solved);
            let is_first = !follows && !self.leans(of.pair);
            let several = solved.is_of_several(of.pair);
            // Planes on which the pair does not meet first; then, if others come before, the one on which it does.
            for own in [false, true] {
                // Parts that touch, and others of their plane a little farther off, go together.
                let touches = || {
                    let mut rows = solved.rows_of(of.pair);
                    let touches = |row| !solved.is_ahead(row) && solved.is_plane(&[row], of.normal);
                    solved.has_parts(of.pair) && rows.any(touches)
                };
                if own && (is_first || touches()) || !own && !several {
                    continue;
                }
                let is_later = |row: &usize| {
                    let is_own = of.moves || !several || solved.is_plane(&[*row], of.normal);
                    let stays = solved.is_given(*row) || solved.earlier(*row).says_something();
                    let open = exchange.stay[*row] != of.moves && solved.is_ahead(*row);
                    is_own == own && open && !stays
                };
                later.clear();
                later.extend(solved.rows_of(of.pair).filter(is_later));
                let pushes = |row: &usize| solved.record.impulse[*row].x > 0.0;
                if !later.iter().any(pushes) {
                    continue;
                }
                let is_own = |normal: DVec3| {
                    if of.moves {
                        normal.dot(of.normal) > SAME_PLANE
                    } else {
                        solved.is_plane(&later, normal)
                    }
                };
                let ways = if own && follows {
                    self.ways_along(of, solved)
                } else {
                    of.pair.map(|slot| self.way_without(slot, &later, solved))
                };
                if self.meets_on((of.pair, ways), is_own, solved) {
                    continue;
                }
                self.later.pairs.push(of.pair);
                if of.moves {
                    exchange.late.retain(|late| late.contact.bodies != of.pair);
                    continue;
                }
                for row in &later {
                    exchange.stay[*row] = false;
                }
                self.changed.push(of.pair);
                changes = true;
            }
        }
        self.later.met = met;
        self.new = later;
        changes
    }

    /// Lists the planes that bodies of `met` get to on their way without what is new.
    fn list_crossings(&mut self, met: &[Met], solved: &Solved) {
        self.later.crossings.clear();
        if met.is_empty() {
            return;
        }
        let mut bodies: Vec<Slot> = met.iter().flat_map(|met| met.pair).collect();
        bodies.retain(|slot| solved.bodies.is_awake_dynamic(*slot));
        bodies.sort_unstable();
        bodies.dedup();
        for (row, place) in solved.record.found.iter().enumerate() {
            let pair = place.bodies;
            let known = pair.map(|slot| bodies.binary_search(&slot).is_ok());
            if known == [false; 2] {
                continue;
            }
            let ways = pair.map(|slot| self.way_before(slot, solved));
            let closing = -solved.normal_velocity(row, &ways);
            let time = place.gap.max(0.0) / closing;
            if closing <= 0.0 || time >= solved.settings.time_step {
                continue;
            }
            for (side, push) in [place.normal, -place.normal].into_iter().enumerate() {
                if known[side] {
                    let slot = pair[side];
                    self.later.crossings.push(Crossing {
                        slot,
                        row,
                        side,
                        time,
                        push,
                    });
                }
            }
        }
        let order = |one: &Crossing, other: &Crossing| {
            let slots = one.slot.cmp(&other.slot);
            slots.then(one.time.total_cmp(&other.time))
        };
        self.later.crossings.sort_by(order);
    }

    /// Planes of others that a body of the pair gets to before it meets, the first one first.
    fn before(&self, of: &Met, side: usize, solved: &Solved) -> impl Iterator<Item = &Crossing> {
        let (slot, pair, time) = (of.pair[side], of.pair, of.time);
        let found = &solved.record.found;
        let begin = self.later.crossings.partition_point(|one| one.slot < slot);
        let own = self.later.crossings[begin..].iter();
        own.take_while(move |one| one.slot == slot && one.time < time)
            .filter(move |one| found[one.row].bodies != pair)
    }

    /// A body of the pair gets to another plane before it meets, with another body.
    fn follows(&self, of: &Met, solved: &Solved) -> bool {
        (0..2).any(|side| {
            let push = if side == 0 { of.normal } else { -of.normal };
            self.before(of, side, solved)
                .any(|one| one.push.dot(push) <= SAME_PLANE)
        })
    }

    /// The ways of a pair without what is new, along the planes that its bodies get to before they meet.
    fn ways_along(&self, of: &Met, solved: &Solved) -> [WorldTwist; 2] {
        let inverse_mass = |slot: Slot| {
            let moves = solved.bodies.is_awake_dynamic(slot);
            let mass = solved.bodies.constants[slot].inertia.inverse_mass;
            if moves { mass } else { 0.0 }
        };
        [0, 1].map(|side| {
            let mut way = self.way_before(of.pair[side], solved);
            for one in self.before(of, side, solved) {
                let other = solved.record.found[one.row].bodies[1 - one.side];
                let arms = &solved.contacts[one.row].arms;
                let against = self.way_before(other, solved).at(arms[1 - one.side]);
                let apart = one.push.dot(way.at(arms[one.side]) - against);
                let own = inverse_mass(one.slot);
                way.linear -= one.push * (apart.min(0.0) * own / (own + inverse_mass(other)));
            }
            way
        })
    }

    /// A pair meets on such a plane.
    fn meets_on(
        &mut self,
        (pair, ways): ([Slot; 2], [WorldTwist; 2]),
        is_plane: impl Fn(DVec3) -> bool,
        solved: &Solved,
    ) -> bool {
        self.followed += usize::from(solved.is_of_others(pair));
        let (path, h) = (solved.path(pair, ways), solved.settings.time_step);
        match path.encounter(h, &mut self.points) {
            Encounter::Apart => false,
            Encounter::Meets { normal, .. } => is_plane(normal),
            Encounter::Unclear => path.overlaps_on(is_plane, h, &mut self.points),
        }
    }
}
