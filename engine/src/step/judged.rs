//! The stage of a step that its figures are of.

use super::assembly::ContactProblem;
use crate::motion::Motion;
use glam::DVec3;
use moreau_solvers::{Contact, FactoredProblem, SolverReport, WorldTwist};

/// The stage with the largest residual of a step that has several, with its problem and solution.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) report: SolverReport,
    pub(crate) contacts: Vec<Contact>,
    free: Vec<WorldTwist>,
    /// N·s, contact frames.
    pub(crate) impulse: Vec<DVec3>,
}

impl Judged {
    /// A stage is over.
    pub(crate) fn new(
        report: SolverReport,
        problem: &ContactProblem,
        impulse: &[DVec3],
        free: &[WorldTwist],
    ) -> Self {
        Self {
            report,
            contacts: problem.contacts.clone(),
            free: free.to_vec(),
            impulse: impulse.to_vec(),
        }
    }

    /// The worse of two stages, with the effort and the largest figures of both.
    pub(crate) fn worse(self, next: Self) -> Self {
        let (before, now) = (&self.report, &next.report);
        let (iterations, factorizations) = (now.iterations, now.factorizations);
        let island_velocity = before.island_velocity.max(now.island_velocity);
        let is_next = if before.converged() == now.converged() {
            now.residual.scaled >= before.residual.scaled
        } else {
            before.converged()
        };
        let mut worse = if is_next { next } else { self };
        worse.report.iterations = iterations;
        worse.report.factorizations = factorizations;
        worse.report.island_velocity = island_velocity;
        worse
    }

    /// Its problem, over the bodies of the step.
    pub(crate) fn problem<'a>(&'a self, motion: &'a Motion) -> FactoredProblem<'a> {
        FactoredProblem {
            contacts: &self.contacts,
            free_twist: &self.free,
            inverse_mass: &motion.inverse_mass,
            interactions: &[],
            positions: &motion.position,
        }
    }
}
