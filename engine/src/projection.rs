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
use crate::chunks::{self, Slots};
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
    /// Of the bodies, when the displacements of those at rest were written.
    epoch: u64,
    contacts: Vec<Contact>,
    lambda: Vec<DVec3>,
    rest: Vec<WorldTwist>,
    displacement: Vec<WorldTwist>,
    /// Linearisations done in this step.
    pub(crate) iterations: usize,
}

/// What the update did to a body: displacement of its centre, m, and rotation vector, rad.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Displacement {
    linear: DVec3,
    angular: DVec3,
    angle: f64,
}

impl Displacement {
    const NONE: Self = Self {
        linear: DVec3::ZERO,
        angular: DVec3::ZERO,
        angle: 0.0,
    };

    fn between(old: &Pose, new: &Pose) -> Self {
        let turn = new.orientation * old.orientation.conjugate();
        let angular = DVec3::new(turn.x, turn.y, turn.z) * (2.0 * turn.w.signum());
        Self {
            linear: new.position - old.position,
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
///
/// Only overlaps deeper than `least` are looked at closely: the result is at least that. The sum of the
/// components bounds a length without a root, and at first the directions of all that moves are left out.
fn predicted_penetration(
    candidates: &[Candidate],
    centres: &[DVec3],
    moved: &[Displacement],
    least: f64,
) -> f64 {
    let one_norm = |v: DVec3| v.abs().element_sum();
    let work = |candidates: &[Candidate]| {
        candidates.iter().fold(least, |deepest: f64, candidate| {
            let [arm_a, arm_b] = candidate.arms(centres);
            let [a, b] = candidate.bodies.map(|slot| &moved[slot as usize]);
            let (length_a, length_b) = (one_norm(arm_a), one_norm(arm_b));
            let (swing_a, swing_b) = (a.angle * length_a, b.angle * length_b);
            let travel = one_norm(a.linear - b.linear) + swing_a + swing_b;
            let turns = a.angle * swing_a + b.angle * swing_b;
            if travel * (1.0 + a.angle + b.angle) + turns - candidate.gap <= deepest {
                return deepest;
            }
            let point_a = a.linear + a.angular.cross(arm_a);
            let point_b = b.linear + b.angular.cross(arm_b);
            let relative = point_a - point_b;
            let normal = candidate.normal.dot(relative);
            let depth = |arm_a: f64, arm_b: f64, tangential: f64| {
                let turns = 0.5 * (a.angle * a.angle * arm_a + b.angle * b.angle * arm_b);
                turns + tangential * (a.angle + b.angle) - candidate.gap - normal
            };
            if depth(length_a, length_b, one_norm(relative)) <= deepest {
                return deepest;
            }
            let tangential = (relative - candidate.normal * normal).length();
            deepest.max(depth(arm_a.length(), arm_b.length(), tangential))
        })
    };
    chunks::fold(candidates, &work, &f64::max)
}

impl Projector {
    /// The update may have made overlaps deeper than the tolerance. `before` holds the poses at which
    /// detection found `candidates`, `centres` their positions.
    pub(crate) fn expects_overlap(
        &mut self,
        bodies: &Bodies,
        (before, centres): (&[Pose], &[DVec3]),
        candidates: &[Candidate],
        settings: &Settings,
    ) -> bool {
        self.iterations = 0;
        self.measure(bodies, before);
        let tolerance = settings.projection.tolerance;
        predicted_penetration(candidates, centres, &self.moved, tolerance) > tolerance
    }

    /// Moves the poses of `bodies` out of overlaps deeper than the tolerance.
    pub(crate) fn project(
        &mut self,
        bodies: &mut Bodies,
        motion: &Motion,
        detection: &mut Detection,
        settings: &Settings,
    ) -> Result<(), ProblemError> {
        let rule = settings.projection;
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
            for slot in bodies.moving.iter().map(|slot| *slot as usize) {
                let (pose, moved) = (&mut bodies.pose[slot], &self.displacement[slot]);
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

    /// What the step has done to the poses so far.
    fn measure(&mut self, bodies: &Bodies, before: &[Pose]) {
        if self.epoch != bodies.epoch {
            self.epoch = bodies.epoch;
            self.moved.clear();
            self.moved.resize(bodies.len(), Displacement::NONE);
        }
        let moving = Slots::of(&bodies.moving, &mut self.moved[..]);
        chunks::for_each(moving, &|part: Slots<'_, &mut [Displacement]>| {
            let (rows, moved) = (part.each(), part.columns);
            for (slot, row) in rows {
                moved[row] = Displacement::between(&before[slot], &bodies.pose[slot]);
            }
        });
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
