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

use crate::Pose;
use crate::bodies::Bodies;
use crate::detection::{Candidate, Detection};
use crate::motion::Motion;
use crate::rotation::{self, contact_frame};
use crate::settings::Settings;
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_solvers::{
    Contact, FactoredProblem, Goal, Momentum, Nsgs, NsgsSettings, ProblemError, WorldTwist,
};

/// Buffers of the projection.
#[derive(Resource, Debug, Default)]
pub(crate) struct Projector {
    solver: Nsgs,
    /// Displacements by the update.
    moved: Vec<Displacement>,
    contacts: Vec<Contact>,
    lambda: Vec<DVec3>,
    rest: Vec<WorldTwist>,
    displacement: Vec<WorldTwist>,
    /// Linearisations done in this step.
    pub(crate) iterations: usize,
}

/// What the update did to a body: displacement of its centre, m, and rotation vector, rad.
#[derive(Clone, Copy, Debug)]
struct Displacement {
    linear: DVec3,
    angular: DVec3,
    angle: f64,
}

impl Displacement {
    fn between(old: &Pose, new: &Pose) -> Self {
        let turn = new.orientation * old.orientation.conjugate();
        let angular = DVec3::new(turn.x, turn.y, turn.z) * (2.0 * turn.w.signum());
        let linear = new.position - old.position;
        Self {
            linear,
            angular,
            angle: angular.length(),
        }
    }
}

/// Largest overlap that the motion of the step can have made of the gaps at its start, m.
///
/// To first order a gap is carried along by the displacements of the two contact points. Beyond
/// that a body that turned by `φ` leaves its tangent plane by at most `½ φ² ρ`, and a tangential
/// displacement `δ` meets a surface that turned by `φ`: `δ φ`.
fn predicted_penetration(candidates: &[Candidate], before: &[Pose], moved: &[Displacement]) -> f64 {
    candidates.iter().fold(0.0, |deepest: f64, candidate| {
        let of_body = |slot: u32| {
            let (old, moved) = (&before[slot as usize], &moved[slot as usize]);
            let arm = candidate.point - old.position;
            let point = moved.linear + moved.angular.cross(arm);
            (
                point,
                moved.angle,
                0.5 * moved.angle * moved.angle * arm.length(),
            )
        };
        let [a, b] = candidate.bodies.map(of_body);
        let relative = a.0 - b.0;
        let normal = candidate.normal.dot(relative);
        let tangential = (relative - candidate.normal * normal).length();
        let curvature = a.2 + b.2 + tangential * (a.1 + b.1);
        deepest.max(curvature - candidate.gap - normal)
    })
}

impl Projector {
    /// Moves the poses of `bodies` out of overlaps deeper than the tolerance. `before` holds the
    /// poses at which `detection` found its candidates.
    pub(crate) fn project(
        &mut self,
        bodies: &mut Bodies,
        before: &[Pose],
        motion: &Motion,
        detection: &mut Detection,
        settings: &Settings,
    ) -> Result<(), ProblemError> {
        self.iterations = 0;
        let rule = settings.projection;
        self.moved.clear();
        let poses = before.iter().zip(&bodies.pose);
        self.moved
            .extend(poses.map(|(old, new)| Displacement::between(old, new)));
        if predicted_penetration(&detection.candidates, before, &self.moved) <= rule.tolerance {
            return Ok(());
        }
        self.solver.settings = NsgsSettings {
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
                positions: &[],
            };
            self.solver.solve_factored(
                &problem,
                &mut self.lambda,
                &mut self.displacement,
                &Goal::scaled(1e-3),
            )?;
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
