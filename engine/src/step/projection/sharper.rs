//! Islands of a linearisation that are solved on, since what `e_scaled` calls solved leaves them too deep in each other.
//!
//! That figure is relative to all of the problem: of light bodies beside heavy ones it tells nothing. Such islands are solved once more by themselves,
//! sharper each time, until no overlap is left deeper than the tolerance. The smallest displacement in the mass metric moves a light body a long way
//! before a heavy one moves at all; a plane that touches a body tells nothing so far away. So they go towards that as far as planes hold.

use super::contacts::{Limits, tolerance};
use super::linearised::{Around, LEFT, Now, fill};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::interactions::detected::Detected;
use crate::step::sub_problem::{SubProblem, fit};
use moreau_solvers::{Contact, FactoredProblem, Goal, Nsgs, ProblemError, WorldTwist};

/// Masses of an island that differ so many times make it one of light bodies beside heavy ones: as for the second figure [docs/theory.md §7].
const UNEQUAL: f64 = 100.0;

/// The goal of each solve over that of the last one.
const SHARPER: f64 = 0.1;

/// Buffers of such islands.
#[derive(Debug, Default)]
pub(super) struct Sharper {
    islands: Islands,
    contacts: Vec<Detected>,
    problem: SubProblem,
    lambda: Vec<f64>,
}

/// Bodies that contacts and joints connect, by row of the problem.
#[derive(Debug, Default)]
struct Islands {
    parent: Vec<u32>,
    /// By the row that names them.
    each: Vec<Island>,
}

#[derive(Clone, Copy, Debug)]
struct Island {
    /// Least and largest inverse mass, 1/kg.
    inverse_mass: [f64; 2],
    /// The deepest overlap, m.
    deepest: f64,
    /// Some overlap is left that is too deep.
    is_left: bool,
    /// Part of the way to the sharper solution that it goes.
    part: f64,
    /// It is none to be solved on: some body is stuck, or joints hold bodies of it. These are closed afterwards, which moves bodies again: a ball in a net came
    /// to lie deeper in it (12.9 mm, not 10).
    is_held: bool,
}

impl Sharper {
    /// Solves those islands of `whole` on, from `goal`, within a budget of block products. `whole` is solved to that goal.
    pub(super) fn solve_on(
        &mut self,
        whole: &mut SubProblem,
        (around, now): (Around, Now),
        (mut goal, products): (Goal, &mut usize),
        solver: &mut Nsgs,
    ) -> Result<(), ProblemError> {
        self.take(whole, around, now);
        let mut sweeps = *products / self.contacts.len().max(1);
        if self.contacts.is_empty() || sweeps == 0 {
            return Ok(());
        }
        let limits = around.2;
        fit(&mut self.lambda, 3 * self.contacts.len());
        self.lambda.clear();
        self.lambda.resize(3 * self.contacts.len(), 0.0);
        while sweeps > 0 {
            goal.scaled *= SHARPER;
            solver.settings.max_sweeps = sweeps;
            let (problem, displacement) = self.problem.split();
            let made = solver.solve_factored(&problem, &mut self.lambda, displacement, &goal)?;
            sweeps = sweeps.saturating_sub(made.iterations.max(1));
            let rows = problem.contacts.iter().zip(&self.contacts);
            let mut left = rows
                .map(|(row, found)| leaves_overlap(row, displacement, tolerance(limits, found)));
            if !left.any(|is_left| is_left) {
                break;
            }
        }
        *products = sweeps * self.contacts.len();
        self.give(whole, now.bodies);
        Ok(())
    }

    /// The problem of the islands that are to be solved on.
    fn take(&mut self, whole: &SubProblem, around: Around, now: Now) {
        let (near, contacts, limits, _) = around;
        self.contacts.clear();
        if !whole.are_unequal(UNEQUAL) {
            return;
        }
        self.islands
            .find(whole, (&contacts.near, limits), now.stuck);
        if !self.islands.each.iter().any(Island::goes_on) {
            return;
        }
        let (rows, islands) = (whole.rows(), &self.islands);
        let goes_on = |slot: &Slot| near.moves(*slot) && islands.of(rows.of(*slot)).goes_on();
        let of_them = |contact: &&Detected| contact.bodies.iter().any(goes_on);
        self.contacts.extend(contacts.near.iter().filter(of_them));
        let slots = near.moving().iter().copied().filter(goes_on);
        self.problem.fit(near.moving().len(), self.contacts.len());
        fill(&mut self.problem, slots, &self.contacts, (around, now));
    }

    /// Goes from the displacements of `whole` towards these, in each island as far as planes hold: over a way `s` the gap of a curved surface is off by
    /// `s²/2r`, which may be no more than what overlaps; and no farther than a body's radius.
    fn give(&mut self, whole: &mut SubProblem, bodies: &Bodies) {
        let (slots, displacement) = self.problem.solution();
        let islands = &mut self.islands;
        for (slot, by) in slots.iter().zip(displacement) {
            let row = whole.rows().of(*slot);
            let body = &bodies.constants[*slot];
            let is_ball = body.ball_radius().is_some();
            let lever = if is_ball { 0.0 } else { body.radius };
            let way = |by: &WorldTwist| by.linear.length() + by.angular.length() * lever;
            let (before, after) = (way(&whole.end[row as usize]), way(by));
            let island = islands.of_mut(row);
            let square = body.radius * body.radius.min(2.0 * island.deepest);
            let most = square.sqrt();
            // The way is a convex function of the part.
            if after > most {
                let part = (most - before).max(0.0) / (after - before);
                island.part = island.part.min(if after > before { part } else { 0.0 });
            }
        }
        for (slot, by) in slots.iter().zip(displacement) {
            let row = whole.rows().of(*slot);
            let part = islands.of(row).part;
            let end = &mut whole.end[row as usize];
            end.linear = end.linear.lerp(by.linear, part);
            end.angular = end.angular.lerp(by.angular, part);
        }
    }
}

impl Island {
    const NONE: Self = Self {
        inverse_mass: [f64::INFINITY, 0.0],
        deepest: 0.0,
        is_left: false,
        part: 1.0,
        is_held: false,
    };

    fn goes_on(&self) -> bool {
        let [least, most] = self.inverse_mass;
        self.is_left && !self.is_held && most > UNEQUAL * least
    }
}

impl Islands {
    /// Those of a problem that is solved, with what its contacts leave.
    fn find(
        &mut self,
        whole: &SubProblem,
        (found, limits): (&[Detected], &[Limits]),
        stuck: &[bool],
    ) {
        let (problem, slots) = (whole.problem(), whole.solution().0);
        let moves = |row: &u32| (*row as usize) < slots.len();
        self.connect(&problem, slots.len());
        self.each.clear();
        self.each.resize(slots.len(), Island::NONE);
        for (row, slot) in (0..).zip(slots) {
            let mass = problem.inverse_mass[row as usize].linear;
            let island = self.of_mut(row);
            let [least, most] = &mut island.inverse_mass;
            if mass > 0.0 {
                (*least, *most) = (least.min(mass), most.max(mass));
            }
            island.is_held |= stuck.get(slot.index()).is_some_and(|stuck| *stuck);
        }
        for row in problem.interactions.iter().flat_map(|joint| joint.bodies) {
            if moves(&row) {
                self.of_mut(row).is_held = true;
            }
        }
        for (contact, found) in problem.contacts.iter().zip(found) {
            let is_left = leaves_overlap(contact, &whole.end, tolerance(limits, found));
            if let Some(row) = contact.bodies.into_iter().find(moves) {
                let island = self.of_mut(row);
                island.is_left |= is_left;
                island.deepest = island.deepest.max(-found.gap);
            }
        }
    }

    /// Union by the smallest row, over the first `count`: the others are held.
    fn connect(&mut self, problem: &FactoredProblem, count: usize) {
        self.parent.clear();
        self.parent.extend(0..count as u32);
        let contacts = problem.contacts.iter().map(|contact| contact.bodies);
        let joints = problem.interactions.iter().map(|joint| joint.bodies);
        for [a, b] in contacts.chain(joints) {
            if (a.max(b) as usize) < count {
                let (a, b) = (self.root(a), self.root(b));
                self.parent[a.max(b) as usize] = a.min(b);
            }
        }
        // Parents are smaller: those of them are roots already.
        for row in 0..count {
            self.parent[row] = self.parent[self.parent[row] as usize];
        }
    }

    /// Halves paths.
    fn root(&mut self, mut row: u32) -> u32 {
        while self.parent[row as usize] != row {
            let up = self.parent[self.parent[row as usize] as usize];
            self.parent[row as usize] = up;
            row = up;
        }
        row
    }

    fn of(&self, row: u32) -> &Island {
        &self.each[self.parent[row as usize] as usize]
    }

    fn of_mut(&mut self, row: u32) -> &mut Island {
        &mut self.each[self.parent[row as usize] as usize]
    }
}

/// With these displacements the contact is deeper than the tolerance, m.
fn leaves_overlap(row: &Contact, displacement: &[WorldTwist], tolerance: f64) -> bool {
    let [a, b] = row.bodies.map(|body| &displacement[body as usize]);
    row.offset.x + row.local_velocity(a, b).x < (LEFT - 1.0) * tolerance
}
