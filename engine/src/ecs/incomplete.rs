//! Bodies that lost a component, and colliders and targets without a body.

use crate::components::{
    BodyId, Collider, CollisionGroups, KinematicTarget, Mass, Material, PartOf, Pose, RigidBody,
    Twist, Wrench,
};
use crate::error::{BodyError, StepError};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;

/// Parts of bodies that are not whole ones.
#[derive(SystemParam)]
pub(super) struct Incomplete<'w, 's> {
    kinds: Query<'w, 's, (), With<RigidBody>>,
    parts: Query<'w, 's, (MaybeNamed, Parts), With<RigidBody>>,
    shapes: Query<'w, 's, MaybeNamed, Loose>,
    targets: Query<'w, 's, MaybeNamed, (With<KinematicTarget>, Without<RigidBody>)>,
}

type MaybeNamed = (Entity, Option<&'static BodyId>);

/// Colliders that are neither a body's own nor a part of one.
type Loose = (With<Collider>, Without<RigidBody>, Without<PartOf>);

/// The components that every body has, beside its kind.
type Parts = (
    Has<BodyId>,
    Has<Pose>,
    Has<Twist>,
    Has<Material>,
    Has<Mass>,
    Has<Wrench>,
    Has<CollisionGroups>,
);

impl Incomplete<'_, '_> {
    /// Every body has all of its components, and every collider and target a body. `bodies` are whole ones.
    pub(super) fn check(&self, bodies: usize) -> Result<(), StepError> {
        let missing = |(entity, id): (Entity, Option<&BodyId>), part| StepError::Body {
            id: id.copied().unwrap_or_default(),
            entity,
            source: BodyError::Missing { part },
        };
        let mut loose = self.shapes.iter().chain(&self.targets);
        if let Some(loose) = loose.next() {
            return Err(missing(loose, "RigidBody"));
        }
        if self.kinds.iter().len() == bodies {
            return Ok(());
        }
        for (body, parts) in &self.parts {
            let parts = [
                ("BodyId", parts.0),
                ("Pose", parts.1),
                ("Twist", parts.2),
                ("Material", parts.3),
                ("Mass", parts.4),
                ("Wrench", parts.5),
                ("CollisionGroups", parts.6),
            ];
            if let Some((part, _)) = parts.into_iter().find(|(_, present)| !present) {
                return Err(missing(body, part));
            }
        }
        Ok(())
    }
}
