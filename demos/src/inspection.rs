//! A step contact by contact: what each of them leaves of its law, and what another solver makes of the same problem.
//!
//! ```
//! use moreau_demos::inspection::Inspection;
//! let mut run = moreau_demos::built_in("stack:n=3")?.start()?;
//! for _ in 0..4 {
//!     run.step()?;
//! }
//! let seen = Inspection::of(&run.simulation).ok_or("no step was made")?;
//! // The worst of them is that of the report.
//! let report = run.simulation.state().map(|state| state.report().worst_velocity);
//! let worst = seen.worst().next().and_then(|contact| contact.natural);
//! assert!(report.zip(worst).is_some_and(|(a, b)| (a - b.left).abs() <= 1e-12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::solver_choice::SolverChoice;
use glam::{DMat3, DVec3};
use moreau::{ContactView, Simulation};
use moreau_solvers::{Goal, ProblemError, SolverReport, StoredProblem, cone, natural_map, rows_of};

/// Difference of two residuals of one problem that is rounding: a part of them, and what is added to it.
const ROUNDING: [f64; 2] = [1e-6, 1e-12];

/// The contacts of a step, and their problem.
pub struct Inspection {
    /// In the order of the step.
    pub contacts: Vec<Inspected>,
    /// With stored blocks, contacts alone: what joints do is not in it.
    pub problem: StoredProblem,
    /// The impulses of the step, contact frames, N·s.
    impulse: Vec<f64>,
    /// The problem is all that the step solved: judged by itself it has the residual of the report. Joints, forces of users and impacts
    /// that followed one another are not in it.
    pub whole: bool,
}

/// One contact. Vectors are in its frame, `N, T₁, T₂`.
#[derive(Clone, Copy, Debug)]
pub struct Inspected {
    /// Place in the step.
    pub index: usize,
    /// Bodies, point, gap, impulse, solved velocity.
    pub view: ContactView,
    /// `W_αα`, 1/kg.
    pub block: DMat3,
    /// How many contacts it is coupled with.
    pub coupled: usize,
    /// `q`, m/s: the velocity without impulses, the shift of the law included.
    pub free: DVec3,
    /// `u`, m/s, the shift included; that at the end of the step where the problem is not [whole](Inspection::whole).
    pub velocity: DVec3,
    /// What the contact leaves of its law, if the problem is whole.
    pub natural: Option<Natural>,
}

/// What a contact leaves of its law.
#[derive(Clone, Copy, Debug)]
pub struct Natural {
    /// `F = r − P_K(r − û/λ)`, N·s: zero where the law holds.
    pub map: DVec3,
    /// `λ‖F‖`, m/s.
    pub left: f64,
}

impl Natural {
    fn of(friction: f64, block: &DMat3, r: DVec3, velocity: DVec3) -> Self {
        let lambda = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
        let aim = cone::shifted_velocity(friction, velocity) / lambda;
        let map = r - cone::project(friction, r - aim);
        Self {
            map,
            left: lambda * map.length(),
        }
    }
}

/// What another solver made of the problem, from zero impulse.
#[derive(Clone, Copy, Debug)]
pub struct Other {
    /// What it says, judged as all solvers are.
    pub report: SolverReport,
    /// Largest difference of a velocity at a contact to the step's, m/s.
    pub velocity: f64,
    /// Largest difference of an impulse to the step's, N·s. Where bodies are held more often than they need be impulses are not unique.
    pub impulse: f64,
}

impl Inspection {
    /// Of the last step; `None` before the first, and after one that failed.
    #[must_use]
    pub fn of(simulation: &Simulation) -> Option<Self> {
        let (factored, state) = (simulation.problem()?, simulation.state()?);
        let impulses = simulation.impulses();
        let problem = factored.assemble();
        let e = natural_map::stored(&problem, rows_of(impulses)).scaled;
        let expected = state.report().e_scaled;
        let whole = (e - expected).abs() <= ROUNDING[0] * expected + ROUNDING[1];
        let (free, solved) = (
            problem.free_velocity(),
            problem.velocity_under(rows_of(impulses)),
        );
        let views = simulation.contacts().iter().zip(factored.contacts);
        let velocities = free.chunks_exact(3).zip(solved.chunks_exact(3));
        let rows = views.zip(impulses).zip(velocities).enumerate();
        let contacts = rows.map(|(index, (((view, contact), r), (free, solved)))| {
            let block = *problem.delassus().diagonal(index);
            let velocity = if whole {
                DVec3::from_slice(solved)
            } else {
                view.local_velocity + contact.offset
            };
            Inspected {
                index,
                view: *view,
                block,
                coupled: problem.delassus().row(index).count() - 1,
                free: DVec3::from_slice(free),
                velocity,
                natural: whole.then(|| Natural::of(contact.friction, &block, *r, velocity)),
            }
        });
        Some(Self {
            contacts: contacts.collect(),
            whole,
            impulse: rows_of(impulses).to_vec(),
            problem,
        })
    }

    /// The contacts, those first that leave most of their law, or, where that is not known, that push hardest.
    pub fn worst(&self) -> impl Iterator<Item = &Inspected> {
        let key = |of: &Inspected| {
            let left = of.natural.map(|natural| natural.left);
            left.unwrap_or(of.view.impulse.length())
        };
        let mut order: Vec<_> = self.contacts.iter().collect();
        order.sort_by(|a, b| key(b).total_cmp(&key(a)).then(a.index.cmp(&b.index)));
        order.into_iter()
    }

    /// Solves the problem again to `tolerance` (`e_scaled`).
    ///
    /// # Errors
    /// [`ProblemError`] if the solver refuses it.
    pub fn solve(&self, choice: &SolverChoice, tolerance: f64) -> Result<Other, ProblemError> {
        let mut impulse = vec![0.0; self.problem.rows()];
        let goal = Goal::scaled(tolerance);
        let mut report = choice
            .make()
            .solve(&self.problem, None, &mut impulse, &goal)?;
        report.residual = natural_map::stored(&self.problem, &impulse);
        let own = self.problem.velocity_under(&self.impulse);
        let difference = |a: &[f64], b: &[f64]| {
            let each = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            each.fold(0.0, f64::max)
        };
        Ok(Other {
            report,
            velocity: difference(&self.problem.velocity_under(&impulse), &own),
            impulse: difference(&impulse, &self.impulse),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver_choice;

    /// The worst of the contacts is the worst of the report.
    #[test]
    fn contacts_leave_what_the_step_says() {
        for scene in ["pyramid:n=4", "incline:f=1.5", "arch", "wall"] {
            let mut run = crate::built_in(scene).unwrap().start().unwrap();
            for _ in 0..20 {
                let report = run.step().unwrap();
                let seen = Inspection::of(&run.simulation).unwrap();
                assert_eq!(seen.contacts.len(), report.contacts);
                if report.contacts == 0 {
                    continue;
                }
                assert!(seen.whole, "{scene}: {report:?}");
                let worst = seen.worst().next().and_then(|of| of.natural).unwrap().left;
                let expected = report.worst_velocity;
                assert!(
                    (worst - expected).abs() <= 1e-6 * worst + 1e-12,
                    "{scene}: {worst} {report:?}"
                );
            }
        }
    }

    /// With joints the contacts alone are not what the step solved.
    #[test]
    fn a_step_with_joints_is_not_whole() {
        let mut run = crate::built_in("quadruped").unwrap().start().unwrap();
        let report = (0..20).map(|_| run.step().unwrap()).last().unwrap();
        assert!(report.closed_contacts > 0);
        let seen = Inspection::of(&run.simulation).unwrap();
        assert!(!seen.whole && seen.contacts.iter().all(|of| of.natural.is_none()));
    }

    #[test]
    fn another_solver_finds_the_velocities_of_the_step() {
        let mut scene = crate::built_in("pyramid:n=4").unwrap();
        scene.settings.tolerance = Some(1e-10);
        let mut run = scene.start().unwrap();
        for _ in 0..10 {
            run.step().unwrap();
        }
        let seen = Inspection::of(&run.simulation).unwrap();
        let other = seen
            .solve(solver_choice::find("proximal-newton").unwrap(), 1e-10)
            .unwrap();
        assert!(other.report.residual.scaled <= 1e-10);
        // Of some 0.05 m/s that gravity gives in a step.
        assert!(other.velocity < 1e-8, "{other:?}");
    }
}
