//! The one-step problem: `u = W r + d + G v_free`, `K* ∋ û ⊥ r ∈ K`.

use super::assembly::ContactProblem;
use super::sub_problem::SubProblem;
use super::threads::Threads;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::error::StepError;
use crate::interactions::record::ContactRecord;
use crate::motion::Motion;
use crate::settings::{DelassusForm, Settings};
use moreau_solvers::{Auto, Contact, Goal, Solver as _, SolverReport, WorldTwist, rows_of_mut};

/// The contact solver and what it said of this step.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    pub(crate) auto: Auto,
    pub(crate) report: SolverReport,
    few: SubProblem,
    /// Slots of its bodies.
    slots: Vec<Slot>,
}

impl Solver {
    /// Finds the impulses of `record` from those that it holds, and `v_{k+1} = v_free + M⁻¹Gᵀr`.
    pub(crate) fn solve(
        &mut self,
        problem: &ContactProblem,
        record: &mut ContactRecord,
        (bodies, motion): (&Bodies, &Motion),
        settings: &Settings,
        threads: &Threads,
    ) -> Result<(), StepError> {
        // Most bodies are at rest, static or asleep: a copy without them is worth it.
        let is_few = 4 * bodies.moving.len() < bodies.len();
        if is_few {
            self.take_few(problem, bodies, motion);
        }
        let Self {
            auto, report, few, ..
        } = self;
        auto.settings = settings.auto();
        let (factored, end) = if is_few {
            few.split()
        } else {
            (problem.factored(motion), &mut record.end)
        };
        let impulse = rows_of_mut(&mut record.impulse);
        let goal = Goal::scaled(settings.tolerance());
        let velocity = settings.velocity_goal();
        let shared = factored.contacts.len() >= auto.settings.first.parallel_from;
        *report = threads.run(shared, || match settings.advanced.delassus {
            DelassusForm::MatrixFree => auto.solve_step(&factored, impulse, end, &goal, &velocity),
            DelassusForm::Stored => {
                let report = auto.solve(&factored.assemble(), impulse, &goal);
                factored.twist_under(impulse, end);
                report
            }
        })?;
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

    /// Copies the problem over the bodies that move or have a contact.
    fn take_few(&mut self, problem: &ContactProblem, bodies: &Bodies, motion: &Motion) {
        let of_contacts = problem.contacts.iter().flat_map(|contact| contact.bodies);
        let fixed = of_contacts.map(Slot).filter(|slot| !bodies.moves(*slot));
        self.slots.clear();
        self.slots.extend(fixed);
        self.slots.extend_from_slice(&bodies.moving);
        self.slots.sort_unstable();
        self.slots.dedup();
        let slots = self.slots.iter().copied();
        self.few.take_bodies(slots, (bodies.len(), false), |slot| {
            let free = motion.free[slot];
            (motion.inverse_mass[slot], free, motion.position[slot])
        });
        self.few
            .take_contacts(&problem.contacts, |contact, rows| Contact {
                bodies: contact.bodies.map(|slot| rows.of(Slot(slot))),
                ..*contact
            });
    }
}
