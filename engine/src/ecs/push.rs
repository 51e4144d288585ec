//! Forces and impulses at a point of a body.

use super::check::check_entity;
use super::kick;
use crate::bodies::check::check_finite;
use crate::components::inertia::Inertia;
use crate::components::{BodyId, Mass, Pose, RigidBody, Twist, Wrench};
use crate::error::{BodyError, StepError};
use crate::joints::Push;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// Adds a force (N) at a point (m), both in the inertial frame, to the [`Wrench`] of a body, which acts until it is changed; the moment of the force stays that of
/// now. False without the body.
///
/// # Errors
/// [`StepError::Body`] if force, point or what they give is not finite; nothing then changes.
pub fn add_force_at(
    world: &mut World,
    body: Entity,
    force: DVec3,
    point: DVec3,
) -> Result<bool, StepError> {
    let parts = world.get::<Pose>(body).zip(world.get::<Wrench>(body));
    let Some((pose, wrench)) = parts else {
        return Ok(false);
    };
    let wrench = wrench.with_force_at(force, point - pose.position);
    let result = [
        ("wrench.force", wrench.force),
        ("wrench.moment", wrench.moment),
    ];
    check_vectors(world, body, [("force", force), ("point", point)])?;
    check_vectors(world, body, result)?;
    world.entity_mut(body).insert(wrench);
    Ok(true)
}

/// Changes the twist of a dynamic body at once by an impulse (N·s) at a point (m), both in the inertial frame. False without the body, or where no impulse
/// moves it. What is on joints shares it when the next step begins; a machine with rotors ([`Armature`](crate::JointForce::Armature)) does so at once.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use moreau::prelude::*;
/// let (mut world, mut schedule) = (World::new(), Schedule::default());
/// moreau::install(&mut world, &mut schedule, Settings::default())?;
/// let ball = (RigidBody::Dynamic, Collider::sphere(0.5), Mass::scaled_to(2.0));
/// let ball = world.spawn(ball).id();
/// moreau::apply_impulse(&mut world, ball, DVec3::X, DVec3::new(0.0, 0.5, 0.0))?;
/// let twist = world.get::<Twist>(ball).copied().unwrap_or_default();
/// assert_eq!(twist.linear, DVec3::new(0.5, 0.0, 0.0));
/// # Ok::<(), StepError>(())
/// ```
///
/// # Errors
/// [`StepError::Body`] if the body is one that no step would take, or impulse, point or what they give is not finite; nothing then changes.
pub fn apply_impulse(
    world: &mut World,
    body: Entity,
    impulse: DVec3,
    point: DVec3,
) -> Result<bool, StepError> {
    let entity = world.get_entity(body).ok();
    let parts = entity.and_then(|entity| {
        let parts = entity.get_components::<(&RigidBody, &Pose, &Twist, &Mass)>();
        parts.ok()
    });
    let Some((RigidBody::Dynamic, pose, twist, mass)) = parts else {
        return Ok(false);
    };
    let (pose, mut twist, mut mass) = (*pose, *twist, *mass);
    // No step has seen it yet.
    if mass.principal_inertia() == DVec3::ZERO {
        mass = check_entity(world, body).map_err(|source| of_body(world, body, source))?;
    }
    let inertia = Inertia::new(
        mass.mass(),
        mass.principal_inertia(),
        mass.principal_frame(),
    );
    let moment = (point - pose.position).cross(impulse);
    twist.linear += impulse * inertia.inverse_mass;
    twist.angular += inertia.inverse_times(pose.orientation.conjugate() * moment);
    let result = [
        ("twist.linear", twist.linear),
        ("twist.angular", twist.angular),
    ];
    check_vectors(world, body, [("impulse", impulse), ("point", point)])?;
    check_vectors(world, body, result)?;
    let push = Push {
        linear: impulse,
        angular: moment,
    };
    let shared = kick::shared(world, body, &push);
    for (entity, twist) in shared.unwrap_or_else(|| vec![(body, twist)]) {
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.insert(twist);
        }
    }
    Ok(true)
}

fn check_vectors<const N: usize>(
    world: &World,
    body: Entity,
    vectors: [(&'static str, DVec3); N],
) -> Result<(), StepError> {
    check_finite(vectors).map_err(|source| of_body(world, body, source))
}

fn of_body(world: &World, body: Entity, source: BodyError) -> StepError {
    StepError::Body {
        id: world.get::<BodyId>(body).copied().unwrap_or_default(),
        entity: body,
        source,
    }
}
