//! The one-step problem: `u = W r + d + G v_free`, `K* ∋ û ⊥ r ∈ K`.

use super::assembly::ContactProblem;
use super::near::{NEARBY_SWEEPS, Near};
use super::sub_problem::{Rows, SubProblem};
use super::threads::Threads;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::error::StepError;
use crate::forces::ForceRows;
use crate::interactions::record::ContactRecord;
use crate::joints::JointRows;
use crate::motion::Motion;
use crate::settings::{DelassusForm, Settings};
use glam::DVec3;
use moreau_solvers::{
    Auto, Contact, FactoredProblem, Goal, Interaction, Nsgs, Solver as _, SolverReport, WorldTwist,
    rows_of, rows_of_mut,
};

/// The bodies of a stage of the step.
#[derive(Clone, Copy)]
pub(crate) struct Moving<'a> {
    pub(crate) bodies: &'a Bodies,
    pub(crate) motion: &'a Motion,
    /// Their twists before its impulses.
    pub(crate) free: &'a [WorldTwist],
}

/// The contact solver and what it said of this step.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    pub(crate) auto: Auto,
    pub(crate) report: SolverReport,
    /// Looks of this step at pairs of bodies neither of which is a ball; not counted by detection where sweeps have no budget of block products.
    pub(crate) looks: usize,
    /// Block products of this step in neighbourhoods; not limited where sweeps have no budget of them.
    pub(crate) nearby: usize,
    /// The next solve goes on from what the last one of this step left.
    pub(crate) goes_on: bool,
    /// Sweeps after which the next solve ends to be looked at.
    pub(crate) look_after: Option<usize>,
    few: SubProblem,
    /// Slots of its bodies.
    slots: Vec<Slot>,
    /// By slot: the body moves, and its island has no solution in this step. Empty if none has.
    stuck: Vec<bool>,
    near: Near,
    /// Impulses of contacts, then of joints, of forces, and of contacts of other laws, where there are some of these.
    rows: Vec<f64>,
    /// Contacts of other laws.
    others: Vec<Interaction>,
}

impl Solver {
    /// Finds the impulses of `record` from those that it holds, and `v_{k+1} = v_free + M⁻¹Gᵀr`.
    pub(crate) fn solve(
        &mut self,
        problem: &ContactProblem,
        (record, joints, forces): (&mut ContactRecord, &mut JointRows, &mut ForceRows),
        moving: &Moving,
        settings: &Settings,
        threads: &Threads,
    ) -> Result<(), StepError> {
        // Most bodies are at rest, static or asleep: a copy without them is worth it.
        let Moving {
            bodies,
            motion,
            free,
        } = *moving;
        let between = joints.interactions.len() + forces.interactions.len();
        let has_others = problem.has_other_laws();
        let has_joints = between > 0 || has_others;
        let is_few = has_joints || 4 * bodies.moving.len() < bodies.len();
        if is_few {
            self.take_few((problem, joints, forces), moving);
            let pull = &mut self.few.pull;
            problem.pull_of_rows(&record.adhesion, between, pull);
        }
        let Self {
            auto,
            report,
            looks,
            look_after,
            few,
            rows,
            ..
        } = self;
        auto.settings = settings.auto_for(problem.contacts.len(), *looks);
        if self.goes_on {
            auto.go_on();
        } else {
            auto.start_anew();
        }
        auto.look_after(*look_after);
        let (factored, end) = if is_few {
            few.split()
        } else {
            let of_contacts = problem.factored(motion, free);
            let pull = &record.adhesion[..];
            (
                FactoredProblem {
                    pull,
                    ..of_contacts
                },
                &mut record.end,
            )
        };
        rows.clear();
        if has_others {
            let plain = problem.plain.iter();
            let plain = plain.flat_map(|row| record.impulse[*row as usize].to_array());
            rows.extend(plain);
        } else if has_joints {
            rows.extend_from_slice(rows_of(&record.impulse));
        }
        let of_contacts = rows.len();
        let impulse = if has_joints {
            rows.extend_from_slice(&joints.impulse);
            rows.extend_from_slice(&forces.impulse);
            let known = (&record.impulse[..], &record.couples[..]);
            rows.extend(problem.other_rows(known).flat_map(|r| r.to_array()));
            &mut rows[..]
        } else {
            rows_of_mut(&mut record.impulse)
        };
        let goal = Goal::scaled(settings.tolerance());
        let velocity = settings.velocity_goal();
        let shared = factored.contacts.len() >= auto.settings.first.parallel_from;
        *report = threads.run(shared, || match settings.advanced.delassus {
            DelassusForm::MatrixFree => auto.solve_step(&factored, impulse, end, &goal, &velocity),
            DelassusForm::Stored => {
                let report = auto.solve(&factored.assemble(), impulse, &goal);
                factored.spread_links(impulse);
                factored.twist_under(impulse, end);
                report
            }
        })?;
        if has_joints {
            let (contacts, others) = rows.split_at(of_contacts);
            let (of_joints, others) = others.split_at(joints.impulse.len());
            let (of_forces, others) = others.split_at(forces.impulse.len());
            joints.impulse.copy_from_slice(of_joints);
            forces.impulse.copy_from_slice(of_forces);
            if has_others {
                for (row, r) in problem.plain.iter().zip(contacts.chunks_exact(3)) {
                    record.impulse[*row as usize] = DVec3::from_slice(r);
                }
                problem.take_other_rows(others, record);
                let row = |index: u32| problem.row_of(index, between);
                report.worst_contact = report.worst_contact.map(row);
                report.conflict = report.conflict.map(row);
            } else {
                rows_of_mut(&mut record.impulse).copy_from_slice(contacts);
            }
        }
        self.stuck.clear();
        let without = auto.without_solution();
        if !without.is_empty() && settings.advanced.delassus == DelassusForm::MatrixFree {
            self.stuck.resize(bodies.len(), false);
            for row in without {
                let slot = if is_few {
                    few.solution().0.get(*row as usize).copied()
                } else {
                    Some(Slot(*row))
                };
                // None is what is held.
                let Some(slot) = slot else { continue };
                self.stuck[slot] |= bodies.is_awake_dynamic(slot);
            }
        }
        if is_few {
            // Entries of other bodies are not used.
            record.end.resize(bodies.len(), WorldTwist::default());
            let (slots, end) = few.solution();
            for (slot, twist) in slots.iter().zip(end) {
                record.end[*slot] = *twist;
            }
        }
        Ok(())
    }

    /// Finds the impulses near some bodies, ascending, and leaves all others as they are. False, and nothing is done, if a joint or a
    /// force holds one of those near, or if a step of few sweeps does not come to an end there.
    pub(crate) fn solve_near(
        &mut self,
        from: &[Slot],
        problem: &ContactProblem,
        (record, joints, forces): (&mut ContactRecord, &JointRows, &ForceRows),
        moving: &Moving,
        settings: &Settings,
    ) -> Result<bool, StepError> {
        let held =
            |slot: Slot| joints.hold(slot) || forces.hold(slot) || problem.other_laws_hold(slot);
        if !self.near.take(from, (problem, record), moving, held) {
            return Ok(false);
        }
        let contacts = problem.contacts.len();
        let budget = settings.auto_for(contacts, self.looks).max_sweeps;
        let few = budget < NEARBY_SWEEPS;
        let left = if settings.has_budget_of_products() {
            (budget * contacts).saturating_sub(self.nearby)
        } else {
            usize::MAX
        };
        let (report, products) = self.near.solve(self.auto.sweeps(), left, settings)?;
        self.nearby += products;
        let done = !few || report.converged();
        if done {
            self.near.give(record);
        }
        Ok(done)
    }

    /// Sweeps for other problems, and the bodies that the last solve could not keep apart, by slot; none if there are no entries.
    pub(crate) fn sweeps_and_stuck(&mut self) -> (&mut Nsgs, &[bool]) {
        (self.auto.sweeps(), &self.stuck)
    }

    /// Sweeps and factorisations of the last solve.
    pub(crate) fn effort(&self) -> [usize; 2] {
        [self.report.iterations, self.report.factorizations]
    }

    /// Counts those of an earlier solve of the step as well.
    pub(crate) fn add_effort(&mut self, [sweeps, factorizations]: [usize; 2]) {
        self.report.iterations += sweeps;
        self.report.factorizations += factorizations;
    }

    /// Copies the problem over the bodies that move or have a contact.
    fn take_few(
        &mut self,
        (problem, joints, forces): (&ContactProblem, &JointRows, &ForceRows),
        moving: &Moving,
    ) {
        let Moving {
            bodies,
            motion,
            free,
        } = *moving;
        let of_contacts = problem.contacts.iter().flat_map(|contact| contact.bodies);
        let of_joints = joints.interactions.iter().flat_map(|joint| joint.bodies);
        let of_joints = of_joints.filter(|slot| Slot(*slot) != Slot::NONE);
        let fixed = of_contacts.chain(of_joints).map(Slot);
        let fixed = fixed.filter(|slot| !bodies.moves(*slot));
        self.slots.clear();
        self.slots.extend(fixed);
        self.slots.extend_from_slice(&bodies.moving);
        self.slots.sort_unstable();
        self.slots.dedup();
        let slots = self.slots.iter().copied();
        let others = problem.other_interactions();
        self.others.clear();
        self.others.extend(others);
        let between = joints.interactions.iter().chain(&forces.interactions);
        let interactions = || between.clone().chain(&self.others);
        let holds = interactions().next().is_some();
        self.few.take_bodies(slots, (bodies.len(), holds), |slot| {
            let position = motion.position[slot];
            (motion.inverse_mass[slot], free[slot], position)
        });
        let make = |contact: &Contact, rows: Rows| Contact {
            bodies: contact.bodies.map(|slot| rows.of(Slot(slot))),
            ..*contact
        };
        if problem.has_other_laws() {
            self.few.take_contacts(&problem.plain, |row, rows| {
                make(&problem.contacts[*row as usize], rows)
            });
        } else {
            self.few.take_contacts(&problem.contacts, make);
        }
        self.few.take_interactions(interactions());
    }
}
