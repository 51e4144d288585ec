//! The controller that keeps ANYmal standing: a torque `τ = k (q* − q) − c q̇` on every hinge, from the state before a step, held over the step.

use bevy_ecs::entity::Entity;
use moreau::{
    Joint, JointForce, JointForces, JointFrames, JointKind, Pose, SceneRun, Simulation, Twist,
};
use std::f64::consts::PI;

/// The hinges of a scene, each with the angle that it is held at.
#[derive(Clone, Debug)]
pub struct Hold {
    hinges: Vec<Hinge>,
    stiffness: f64,
    damping: f64,
}

/// A hinge of two bodies whose first force is a given torque.
#[derive(Clone, Copy, Debug)]
struct Hinge {
    joint: Entity,
    bodies: [Entity; 2],
    /// Frames of the joint in the frames of its bodies.
    frames: [Pose; 2],
    /// `q*`, rad.
    goal: f64,
}

impl Hold {
    /// Holds the hinges that have a given torque at the angles at which they are, with the gains `k` (N m/rad) and `c` (N m s/rad).
    #[must_use]
    pub fn new(run: &mut SceneRun, [stiffness, damping]: [f64; 2]) -> Self {
        let world = run.simulation.world_mut();
        let mut query = world.query::<(Entity, &Joint, &JointForces)>();
        let given = query.iter(world).filter_map(|(joint, of, forces)| {
            let [Some(a), Some(b)] = of.bodies else {
                return None;
            };
            let JointFrames::Own(frames) = of.frames else {
                return None;
            };
            let driven = matches!(forces.0.first(), Some(JointForce::Applied { .. }));
            (driven && of.kind == JointKind::Revolute).then_some(Hinge {
                joint,
                bodies: [a, b],
                frames,
                goal: 0.0,
            })
        });
        let mut hinges: Vec<_> = given.collect();
        for hinge in &mut hinges {
            if let Some([angle, _]) = hinge.state(&run.simulation) {
                hinge.goal = angle;
            }
        }
        Self {
            hinges,
            stiffness,
            damping,
        }
    }

    /// Number of hinges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hinges.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hinges.is_empty()
    }

    /// Gives all torques of the next step.
    pub fn act(&self, simulation: &mut Simulation) {
        for hinge in &self.hinges {
            let Some([angle, rate]) = hinge.state(simulation) else {
                continue;
            };
            let torque = self.stiffness * (hinge.goal - angle) - self.damping * rate;
            let forces = simulation.world_mut().get_mut::<JointForces>(hinge.joint);
            if let Some(JointForce::Applied { effort, .. }) =
                forces.map(|forces| &mut forces.into_inner().0[0])
            {
                *effort = torque;
            }
        }
    }
}

impl Hinge {
    /// Angle (rad) and rate (rad/s).
    fn state(&self, simulation: &Simulation) -> Option<[f64; 2]> {
        let [a, b] = self.bodies;
        let pose = [simulation.pose(a)?, simulation.pose(b)?];
        let twist = [simulation.twist(a)?, simulation.twist(b)?];
        Some(turned(self.frames, pose, twist))
    }
}

/// How far frame B is turned in frame A about their common z axis, and how fast. Both axes are one in space, so that the rate is the difference of the
/// components of both angular velocities along it, each in its own body.
fn turned(frames: [Pose; 2], poses: [Pose; 2], twists: [Twist; 2]) -> [f64; 2] {
    let [a, b] = [0, 1].map(|side| poses[side].orientation * frames[side].orientation);
    let turn = a.conjugate() * b;
    let angle = 2.0 * libm::atan2(turn.z, turn.w);
    let [slow, fast] = [0, 1].map(|side| {
        let axis = frames[side].orientation * glam::DVec3::Z;
        axis.dot(twists[side].angular)
    });
    // To the nearest turn.
    let angle = angle - 2.0 * PI * (angle / (2.0 * PI)).round();
    [angle, fast - slow]
}
