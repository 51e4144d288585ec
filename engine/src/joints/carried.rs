//! What springs move, with all that joints carry along.
//!
//! ```text
//! w = g (M⁻¹ − M⁻¹Jᵀ A⁻¹ J M⁻¹) gᵀ         of a row g
//! ```
//!
//! A spring on a light body, a flange or a link between two hinges, is as slow as what is fixed to that: it is stiff for the step only if it is with `w`.

use super::articulation::Articulation;
use super::coordinates::Row;
use super::drift::{Course, Drift};
use super::system::{Push, dot};
use super::{Jointed, Joints, Lists, WORLD};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::JointForce;
use moreau_solvers::WorldTwist;

/// Rounds for what joints take of a push: one leaves a part where rows are nearly redundant.
const ROUNDS: usize = 3;

/// The spring is too fast for a step of `h` to follow it on what has this inverse inertia, 1/kg or 1/(kg·m²).
pub(super) fn is_stiff(force: &JointForce, light: f64, h: f64) -> bool {
    match *force {
        JointForce::Spring {
            stiffness, damping, ..
        } => (h * stiffness + damping) * h * light > 1.0,
        _ => false,
    }
}

fn is_spring(force: &JointForce) -> bool {
    matches!(force, JointForce::Spring { .. })
}

impl Drift {
    /// Finds `w` of the springs that would be stiff on their bodies alone.
    pub(crate) fn weigh(&mut self, joints: &mut Joints, bodies: &Bodies, h: f64) {
        let mut any = false;
        for joint in &mut joints.list {
            joint.carried.clear();
            any |= joint.forces.iter().any(is_spring);
        }
        if !any {
            return;
        }
        joints.articulate(bodies);
        let course = self.buffer();
        let mut found: Vec<(usize, usize, f64)> = Vec::new();
        for articulation in &joints.articulations {
            course.carry((articulation, joints.lists()), bodies, h, &mut found);
        }
        for (joint, force, light) in found {
            joints.list[joint].carried.push((force, light));
        }
    }
}

impl Course {
    fn carry(
        &mut self,
        of: (&Articulation, Lists),
        bodies: &Bodies,
        h: f64,
        found: &mut Vec<(usize, usize, f64)>,
    ) {
        let joints = of.0.joints.iter().map(|index| &of.1.joints[*index]);
        let mut forces = joints.flat_map(|joint| &joint.forces);
        if !forces.any(is_spring) {
            return;
        }
        let mut factored = false;
        self.take(&of.0.bodies, bodies);
        for index in &of.0.joints {
            let joint = &of.1.joints[*index];
            for (force, spring) in joint.forces.iter().enumerate() {
                if !is_spring(spring) {
                    continue;
                }
                let (_, row) = joint.coordinate(force, &joint.placed(bodies));
                self.push_along(of.0, joint, &row);
                let alone = self.rate(of.0, joint, &row);
                if !is_stiff(spring, alone, h) {
                    continue;
                }
                if !factored {
                    factored = true;
                    let pose_of = |slot: Slot| match slot {
                        Slot::NONE => WORLD,
                        slot => bodies.pose[slot],
                    };
                    self.system.place(of, &self.poses, pose_of);
                    self.system.place_rotors(of, &self.poses, pose_of);
                    self.system.factor(&self.masses);
                }
                let still = |_: Slot| WorldTwist::default();
                let begin = vec![WorldTwist::default(); self.twists.len()];
                self.system.start_rotors(&begin, still);
                for _ in 0..ROUNDS {
                    self.system.against_velocities(&self.twists, still);
                    self.system.apply(&mut self.twists, |_, _| {}, |_, _| {});
                }
                found.push((*index, force, self.rate(of.0, joint, &row)));
            }
        }
    }

    /// `M⁻¹gᵀ`.
    fn push_along(&mut self, articulation: &Articulation, joint: &Jointed, row: &Row) {
        self.twists.fill(WorldTwist::default());
        for (side, slot) in joint.bodies.into_iter().enumerate() {
            if let Some(place) = articulation.place(slot) {
                self.twists[place] = Push::along(row, side, 1.0).change(&self.masses[place]);
            }
        }
    }

    /// The velocity along a row, of what moves.
    fn rate(&self, articulation: &Articulation, joint: &Jointed, row: &Row) -> f64 {
        let sides = joint.bodies.into_iter().enumerate();
        let rates = sides.filter_map(|(side, slot)| {
            let place = articulation.place(slot)?;
            Some(dot(row, side, &self.twists[place]))
        });
        rates.sum()
    }
}
