//! The stage of a step that its figures are of.

use super::assembly::ContactProblem;
use crate::interactions::record::ContactRecord;
use crate::motion::Motion;
use glam::DVec3;
use moreau_solvers::{Contact, FactoredProblem, Interaction, SolverReport, WorldTwist};

/// The stage with the largest residual of a step that has several, with its problem and solution.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) report: SolverReport,
    pub(crate) contacts: Vec<Contact>,
    /// If some contacts have other laws than Coulomb's, these, and all others.
    others: Vec<Interaction>,
    plain: Vec<Contact>,
    free: Vec<WorldTwist>,
    /// N·s, contact frames, and two for each of those with couples.
    pub(crate) impulse: Vec<DVec3>,
}

impl Judged {
    /// A stage is over.
    pub(crate) fn new(
        report: SolverReport,
        problem: &ContactProblem,
        record: &ContactRecord,
        free: &[WorldTwist],
    ) -> Self {
        let mut judged = Self {
            report,
            contacts: problem.contacts.clone(),
            others: problem.other_interactions().collect(),
            plain: Vec::new(),
            free: free.to_vec(),
            impulse: Vec::new(),
        };
        if judged.others.is_empty() {
            judged.impulse.clone_from(&record.impulse);
        } else {
            let rows = || problem.plain.iter().map(|row| *row as usize);
            judged.plain.extend(rows().map(|row| problem.contacts[row]));
            judged.impulse.extend(rows().map(|row| record.impulse[row]));
            judged
                .impulse
                .extend(problem.other_rows((&record.impulse, &record.couples)));
        }
        judged
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
            contacts: if self.others.is_empty() {
                &self.contacts
            } else {
                &self.plain
            },
            free_twist: &self.free,
            inverse_mass: &motion.inverse_mass,
            interactions: &self.others,
            positions: &motion.position,
            pull: &[],
        }
    }
}
