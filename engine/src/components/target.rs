//! Where a kinematic body is to be.

use super::Pose;
use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// The pose that a kinematic body has at the end of the next step.
///
/// Its twist in that step follows: the chord from pose to pose over `h`, and the rotation vector of the shortest turn over
/// `h`; a half turn goes about either end of its axis. It replaces the [`Twist`](crate::Twist) of the body, and is what friction and
/// restitution see; what the body carries goes with it. The step uses the target up: the component goes, the pose is that of the
/// target to the last bit, and the twist is zero, so without a new target the body stands. A step that fails leaves the target.
///
/// Position of the centre of mass, m, and orientation, inertial frame, as in [`Pose`]. On a body that is not kinematic it is an
/// error of the next step.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let lift = simulation.spawn((RigidBody::Kinematic, Collider::cuboid(1.0, 1.0, 0.1)))?;
/// simulation.set(lift, KinematicTarget(Pose::at(0.0, 0.0, 0.01)));
/// simulation.step()?;
/// assert_eq!(simulation.pose(lift), Some(Pose::at(0.0, 0.0, 0.01)));
/// assert_eq!(simulation.twist(lift), Some(Twist::default()));
/// # Ok::<(), StepError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_ecs::reflect::Component,
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
// It comes and goes every step: bodies stay in their tables.
#[component(storage = "SparseSet")]
pub struct KinematicTarget(pub Pose);
