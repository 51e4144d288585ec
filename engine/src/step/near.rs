//! The neighbourhood of some bodies as a problem of its own: where contacts were exchanged, little else changes.
//!
//! Contacts within some links of the bodies get new impulses; all others keep theirs. Bodies at the border move under both:
//!
//! ```text
//! v_j = v_free,j + M_j⁻¹ Σ_α G_αjᵀ r_α               all contacts of the body are near
//! v_j = v_j + M_j⁻¹ Σ_α G_αjᵀ (r_α − r_α,before)     some are not: what those do to it stays as it is
//! ```
//!
//! This is a step of block Gauss–Seidel on the whole problem: the neighbourhood has a solution where the whole has one, and what is
//! left to do afterwards is what the border hands on. Only bodies at the border that a joint or a force holds keep their velocities. With all bodies around that kept them, as if they were infinitely
//! heavy, it often had none, and the whole was worse after it than before.

use super::assembly::ContactProblem;
use super::rounds::LEAST_SWEEPS;
use super::solve::Moving;
use super::sub_problem::SubProblem;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::error::StepError;
use crate::interactions::record::ContactRecord;
use crate::joints::Push;
use crate::settings::Settings;
use glam::DVec3;
use moreau_solvers::{
    Contact, Goal, InverseMass, Nsgs, NsgsSettings, SolverReport, WorldTwist, rows_of_mut,
};

/// Contacts from a body that was struck to the farthest whose contacts are all near.
pub(super) const LINKS: u8 = 3;
/// Most sweeps over a neighbourhood: the whole is solved after it.
pub(super) const NEARBY_SWEEPS: usize = 50;
/// Contacts solved in it that cost next to nothing: a few contacts are swept until they are solved, since the rounds look at their
/// motion.
const NEARBY_WORK: usize = 5_000;

/// The neighbourhood of some bodies.
#[derive(Debug, Default)]
pub(super) struct Near {
    /// By slot: all contacts of the body are near.
    inside: Vec<bool>,
    /// Bodies inside, and those that they touch, ascending.
    slots: Vec<Slot>,
    /// Their twists before the impulses of `rows`.
    before: Vec<WorldTwist>,
    /// By place in `slots`: impulses move the body.
    moves: Vec<bool>,
    /// Contacts of those inside, ascending.
    rows: Vec<u32>,
    impulse: Vec<DVec3>,
    problem: SubProblem,
}

impl Near {
    /// Becomes the neighbourhood of the bodies `from`. False if one of those inside is `held` by something else than contacts.
    pub(super) fn take(
        &mut self,
        from: &[Slot],
        (problem, record): (&ContactProblem, &ContactRecord),
        moving: &Moving,
        held: impl Fn(Slot) -> bool,
    ) -> bool {
        self.find(from, problem, moving.bodies);
        let inside = |slot: &&Slot| self.inside[**slot];
        if self.slots.iter().filter(inside).any(|slot| held(*slot)) {
            return false;
        }
        self.begin(problem, record, moving, held);
        let (slots, before, moves) = (&self.slots, &self.before, &self.moves);
        let (bodies, motion) = (moving.bodies, moving.motion);
        let copy = |slot: Slot| {
            let place = slots.partition_point(|other| *other < slot);
            let mass = if moves[place] {
                motion.inverse_mass[slot]
            } else {
                InverseMass::FIXED
            };
            (mass, before[place], motion.position[slot])
        };
        let listed = slots.iter().copied();
        self.problem
            .take_bodies(listed, (bodies.len(), false), copy);
        self.problem.take_contacts(&self.rows, |row, rows| {
            let contact = &problem.contacts[*row as usize];
            Contact {
                bodies: contact.bodies.map(|slot| rows.of(Slot(slot))),
                ..*contact
            }
        });
        self.problem.take_interactions([].iter());
        let impulses = self.rows.iter().map(|row| record.impulse[*row as usize]);
        self.impulse.clear();
        self.impulse.extend(impulses);
        true
    }

    /// Lists bodies and contacts.
    fn find(&mut self, from: &[Slot], problem: &ContactProblem, bodies: &Bodies) {
        let Self {
            inside,
            slots,
            rows,
            ..
        } = self;
        inside.clear();
        inside.resize(bodies.len(), false);
        let dynamic = |slot: &Slot| bodies.is_awake_dynamic(*slot);
        slots.clear();
        slots.extend(from.iter().copied().filter(dynamic));
        for slot in &*slots {
            inside[*slot] = true;
        }
        for _ in 0..LINKS {
            let reached = slots.len();
            for contact in &problem.contacts {
                let [a, b] = contact.bodies.map(Slot);
                if inside[a] != inside[b] {
                    let others = [a, b].into_iter();
                    slots.extend(others.filter(|slot| !inside[*slot] && dynamic(slot)));
                }
            }
            for slot in &slots[reached..] {
                inside[*slot] = true;
            }
        }
        rows.clear();
        for (row, contact) in (0..).zip(&problem.contacts) {
            let pair = contact.bodies.map(Slot);
            if pair.into_iter().any(|slot| inside[slot]) {
                rows.push(row);
                slots.extend(pair);
            }
        }
        slots.sort_unstable();
        slots.dedup();
    }

    /// Twists before the impulses near, and which bodies these move: a body at the border that is `held` keeps its velocity.
    fn begin(
        &mut self,
        problem: &ContactProblem,
        record: &ContactRecord,
        moving: &Moving,
        held: impl Fn(Slot) -> bool,
    ) {
        let Self {
            inside,
            slots,
            before,
            moves,
            rows,
            ..
        } = self;
        let Moving {
            bodies,
            motion,
            free,
        } = *moving;
        moves.clear();
        moves.extend(
            slots
                .iter()
                .map(|slot| bodies.is_awake_dynamic(*slot) && !held(*slot)),
        );
        before.clear();
        before.extend(slots.iter().map(|slot| {
            if inside[*slot] || !bodies.is_awake_dynamic(*slot) {
                free[*slot]
            } else {
                record.end[*slot]
            }
        }));
        for row in &*rows {
            let contact = &problem.contacts[*row as usize];
            let r = contact.frame * record.impulse[*row as usize];
            for (side, linear) in [r, -r].into_iter().enumerate() {
                let slot = Slot(contact.bodies[side]);
                let place = slots.partition_point(|other| *other < slot);
                if inside[slot] || !moves[place] {
                    continue;
                }
                let angular = contact.arms[side].cross(linear);
                let change = Push { linear, angular }.change(&motion.inverse_mass[slot]);
                before[place].linear -= change.linear;
                before[place].angular -= change.angular;
            }
        }
    }

    /// Sweeps over it, from the impulses at hand, of which `left` block products are paid for. With the block products that it took.
    pub(super) fn solve(
        &mut self,
        sweeps: &mut Nsgs,
        left: usize,
        settings: &Settings,
    ) -> Result<(SolverReport, usize), StepError> {
        let rows = self.rows.len().max(1);
        let most = NEARBY_SWEEPS.max(NEARBY_WORK / rows);
        sweeps.settings = NsgsSettings {
            min_sweeps: 1,
            max_sweeps: most.min((left / rows).max(LEAST_SWEEPS)),
            ..settings.nsgs()
        };
        let goal = Goal::scaled(settings.tolerance());
        let (factored, twists) = self.problem.split();
        let impulse = rows_of_mut(&mut self.impulse);
        let report = sweeps.solve_factored(&factored, impulse, twists, &goal)?;
        Ok((report, report.iterations * rows))
    }

    /// Writes impulses and twists into the record.
    pub(super) fn give(&self, record: &mut ContactRecord) {
        for (row, r) in self.rows.iter().zip(&self.impulse) {
            record.impulse[*row as usize] = *r;
        }
        let (slots, end) = self.problem.solution();
        for ((slot, twist), moves) in slots.iter().zip(end).zip(&self.moves) {
            if *moves {
                record.end[*slot] = *twist;
            }
        }
    }
}
