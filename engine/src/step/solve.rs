//! The one-step problem: `u = W r + d + G v_free`, `K* ∋ û ⊥ r ∈ K`.

use super::assembly::ContactProblem;
use super::sub_problem::SubProblem;
use super::threads::Threads;
use crate::bodies::Bodies;
use crate::error::StepError;
use crate::interactions::record::ContactRecord;
use crate::motion::Motion;
use crate::settings::{DelassusForm, Settings};
use moreau_solvers::{Auto, Goal, Solver as _, SolverReport, rows_of_mut};

/// The contact solver and what it said of this step.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    pub(crate) auto: Auto,
    pub(crate) report: SolverReport,
    few: SubProblem,
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
        let Self { auto, report, few } = self;
        auto.settings = settings.auto();
        let is_few = SubProblem::is_worth_it(bodies);
        let (factored, end) = if is_few {
            few.take(problem, bodies, motion);
            few.split()
        } else {
            (problem.factored(motion), &mut record.end)
        };
        let impulse = rows_of_mut(&mut record.impulse);
        let goal = Goal::scaled(settings.tolerance());
        let shared = factored.contacts.len() >= auto.settings.first.parallel_from;
        *report = threads.run(shared, || match settings.delassus {
            DelassusForm::MatrixFree => auto.solve_factored(&factored, impulse, end, &goal),
            DelassusForm::Stored => {
                let report = auto.solve(&factored.assemble(), impulse, &goal);
                factored.twist_under(impulse, end);
                report
            }
        })?;
        if is_few {
            few.give_back(&mut record.end, bodies);
        }
        Ok(())
    }
}
