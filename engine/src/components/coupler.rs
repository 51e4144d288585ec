//! Couplers: entities that relate the coordinates of joints.

use super::{JointAxis, JointId};
use bevy_ecs::entity::MapEntities;
use bevy_ecs::prelude::*;

/// Relates the coordinates of joints to each other: `Σ ratio·q = offset`, exactly, as joints are held.
///
/// Coordinates are in m and rad as those of [`JointForce`](crate::JointForce)s; angles count turns from when the coupler is first seen. Gears,
/// racks, belts, mimic joints and differentials are couplers. The loads that it puts on its joints are a part of their reactions.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let mut wheel = |x: f64| {
///     let body = (RigidBody::Dynamic, Collider::cylinder(0.1, 0.02), Pose::at(x, 0.0, 0.0));
///     let body = simulation.spawn(body)?;
///     let hinge = Joint::to_world(body, JointKind::Revolute).at(DVec3::X * x, DVec3::Z);
///     simulation.spawn_joint(hinge, ())
/// };
/// let (driver, driven) = (wheel(0.0)?, wheel(0.3)?);
/// // The second one turns back at half the speed.
/// let gear = simulation.spawn_coupler(Coupler::gear(driver, driven, -0.5))?;
/// simulation.step()?;
/// assert!(simulation.coupler_force(gear).is_some());
/// # Ok::<(), StepError>(())
/// ```
#[derive(Component, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_ecs::reflect::Component)
)]
#[require(JointId)]
pub struct Coupler {
    /// At least two, of different coordinates.
    #[entities]
    pub terms: Vec<CouplerTerm>,
    /// What the sum is, in the unit of `ratio` times coordinate.
    pub offset: f64,
}

/// One coordinate of a coupler.
#[derive(Clone, Copy, Debug, PartialEq, MapEntities)]
#[cfg_attr(feature = "reflect", derive(bevy_reflect::Reflect))]
pub struct CouplerTerm {
    /// The joint.
    #[entities]
    pub joint: Entity,
    /// Which of its coordinates; one that it leaves free.
    pub axis: JointAxis,
    /// Its factor, not zero.
    pub ratio: f64,
}

impl Coupler {
    /// `q_follower = ratio · q_leader + offset`: a mimic joint.
    #[must_use]
    pub fn mimic(
        follower: (Entity, JointAxis),
        leader: (Entity, JointAxis),
        ratio: f64,
        offset: f64,
    ) -> Self {
        let term = |(joint, axis), ratio| CouplerTerm { joint, axis, ratio };
        Self {
            terms: vec![term(follower, 1.0), term(leader, -ratio)],
            offset,
        }
    }

    /// Two hinges: the second turns `ratio` times as far as the first, the other way round if that is negative, as of wheels that mesh.
    #[must_use]
    pub fn gear(first: Entity, second: Entity, ratio: f64) -> Self {
        let turn = JointAxis::RotationZ;
        Self::mimic((second, turn), (first, turn), ratio, 0.0)
    }

    /// A hinge and a slider: the rack goes `radius` m for every rad that the pinion turns by.
    #[must_use]
    pub fn rack_and_pinion(pinion: Entity, rack: Entity, radius: f64) -> Self {
        let (turn, way) = (JointAxis::RotationZ, JointAxis::Z);
        Self::mimic((rack, way), (pinion, turn), radius, 0.0)
    }
}
