//! Phase 7: projection on the constraints [THEORY §11, Acary13].
//!
//! Velocity-level contact keeps gaps only to first order and to the solver's tolerance, and an
//! impact with θ = ½ ends in overlap. Where an overlap is deeper than the tolerance, poses are
//! moved by the smallest displacement in the mass metric,
//!
//! ```text
//! 0 ≤ g_N(q) + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0,      q ← q ⊕ Ŵ Cᵀ Λ,      renormalise, repeat
//! ```
//!
//! which is a frictionless contact problem for a pseudo-displacement (unit m instead of m/s), so
//! the step's own solver serves. Rotations are corrected along the group. Twists are never
//! touched: no kinetic energy is injected.

use crate::bodies::Bodies;
use crate::detection::{Candidate, Detection};
use crate::motion::Motion;
use crate::rotation::{self, contact_frame};
use crate::settings::Settings;
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_solvers::{
    Contact, FactoredProblem, Momentum, Nsgs, NsgsSettings, ProblemError, WorldTwist,
};

/// Buffers of the projection.
#[derive(Resource, Debug, Default)]
pub(crate) struct Projector {
    solver: Nsgs,
    contacts: Vec<Contact>,
    lambda: Vec<DVec3>,
    rest: Vec<WorldTwist>,
    displacement: Vec<WorldTwist>,
    /// Linearisations done in this step.
    pub(crate) iterations: usize,
}

/// Largest overlap that the motion of the step can have made of the gaps at its start, m: the gaps
/// are carried along by the displacements of the contact points.
fn predicted_penetration(candidates: &[Candidate], before: &[crate::Pose], bodies: &Bodies) -> f64 {
    candidates.iter().fold(0.0, |deepest: f64, candidate| {
        let [a, b] = candidate.bodies.map(|slot| slot as usize);
        let displacement = |slot: usize| {
            let (old, new) = (&before[slot], &bodies.pose[slot]);
            let turn = new.orientation * old.orientation.conjugate();
            let phi = DVec3::new(turn.x, turn.y, turn.z) * (2.0 * turn.w.signum());
            new.position - old.position + phi.cross(candidate.point - old.position)
        };
        let gap = candidate.gap + candidate.normal.dot(displacement(a) - displacement(b));
        deepest.max(-gap)
    })
}

impl Projector {
    /// Moves the poses of `bodies` out of overlaps deeper than the tolerance. `before` holds the
    /// poses at which `detection` found its candidates.
    pub(crate) fn project(
        &mut self,
        bodies: &mut Bodies,
        before: &[crate::Pose],
        motion: &Motion,
        detection: &mut Detection,
        settings: &Settings,
    ) -> Result<(), ProblemError> {
        self.iterations = 0;
        let rule = settings.projection;
        if predicted_penetration(&detection.candidates, before, bodies) <= rule.tolerance {
            return Ok(());
        }
        self.solver.settings = NsgsSettings {
            tolerance: 1e-3,
            min_sweeps: 1,
            max_sweeps: rule.sweeps,
            momentum: Momentum::NESTEROV,
            ..settings.nsgs()
        };
        while self.iterations < rule.max_iterations {
            detection.refresh(bodies);
            if detection.max_penetration() <= rule.tolerance {
                break;
            }
            self.linearise(&detection.candidates, bodies);
            let problem = FactoredProblem {
                inverse_mass: &motion.inverse_mass,
                free_twist: &self.rest,
                contacts: &self.contacts,
            };
            self.solver
                .solve_factored(&problem, &mut self.lambda, &mut self.displacement)?;
            for (pose, moved) in bodies.pose.iter_mut().zip(&self.displacement) {
                pose.position += moved.linear;
                if moved.angular != DVec3::ZERO {
                    pose.orientation =
                        rotation::normalised(rotation::exp(moved.angular) * pose.orientation);
                }
            }
            self.iterations += 1;
        }
        Ok(())
    }

    /// The gaps as a frictionless problem around the present poses.
    fn linearise(&mut self, candidates: &[Candidate], bodies: &Bodies) {
        self.contacts.clear();
        self.contacts.extend(candidates.iter().map(|candidate| {
            Contact {
                bodies: candidate.bodies,
                frame: contact_frame(candidate.normal),
                arms: candidate
                    .bodies
                    .map(|slot| candidate.point - bodies.pose[slot as usize].position),
                offset: DVec3::new(candidate.gap, 0.0, 0.0),
                friction: 0.0,
            }
        }));
        self.lambda.clear();
        self.lambda.resize(self.contacts.len(), DVec3::ZERO);
        self.rest.clear();
        self.rest.resize(bodies.len(), WorldTwist::default());
    }
}
