//! Axes along which a body does not move, by a joint to the world.

use crate::shown::Shown;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use moreau::{Joint, JointFrames, JointKind, Pose, RigidBody};
use std::collections::BTreeMap;

/// Axes of the world along which a dynamic body does not move, and about which it does not turn.
///
/// A [`JointKind::Generic`] to the world holds them, to rounding, from the place where the body is when it gets the component; when it is put somewhere else,
/// from there. Other kinds of bodies are not held. Without the component, or despawned, the joint goes.
///
/// With one rotation locked, say that about z, the body keeps its x axis perpendicular to the world's y, as a universal joint does. With two, it turns about the third;
/// with three it keeps its orientation.
///
/// ```
/// use bevy_moreau::prelude::*;
/// // A game in the plane z = 0.
/// let flat = LockedAxes::PLANE_XY;
/// assert_eq!(flat, LockedAxes::new().translation_z().rotation_x().rotation_y());
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[component(on_remove = release)]
#[reflect(Component, Default)]
pub struct LockedAxes {
    /// Translations along x, y and z that are locked.
    pub translation: [bool; 3],
    /// Rotations about x, y and z that are locked.
    pub rotation: [bool; 3],
}

impl LockedAxes {
    /// The body stays in its plane z = const, and turns about z alone.
    pub const PLANE_XY: Self = Self {
        translation: [false, false, true],
        rotation: [true, true, false],
    };
    /// The body does not turn.
    pub const ROTATION: Self = Self {
        translation: [false; 3],
        rotation: [true; 3],
    };
    /// The body stays at its place, and turns.
    pub const TRANSLATION: Self = Self {
        translation: [true; 3],
        rotation: [false; 3],
    };

    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            translation: [false; 3],
            rotation: [false; 3],
        }
    }

    /// And the translation along x.
    #[must_use]
    pub const fn translation_x(mut self) -> Self {
        self.translation[0] = true;
        self
    }

    /// And the translation along y.
    #[must_use]
    pub const fn translation_y(mut self) -> Self {
        self.translation[1] = true;
        self
    }

    /// And the translation along z.
    #[must_use]
    pub const fn translation_z(mut self) -> Self {
        self.translation[2] = true;
        self
    }

    /// And the rotation about x.
    #[must_use]
    pub const fn rotation_x(mut self) -> Self {
        self.rotation[0] = true;
        self
    }

    /// And the rotation about y.
    #[must_use]
    pub const fn rotation_y(mut self) -> Self {
        self.rotation[1] = true;
        self
    }

    /// And the rotation about z.
    #[must_use]
    pub const fn rotation_z(mut self) -> Self {
        self.rotation[2] = true;
        self
    }
}

/// The joint that locks the axes of a body.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct LockJoint(Entity);

/// The joint goes with the locks.
fn release(mut world: DeferredWorld, context: HookContext) {
    let joint = world.get::<LockJoint>(context.entity).copied();
    if let Some(LockJoint(joint)) = joint {
        let mut commands = world.commands();
        if let Ok(mut joint) = commands.get_entity(joint) {
            joint.try_despawn();
        }
        if let Ok(mut body) = commands.get_entity(context.entity) {
            body.try_remove::<LockJoint>();
        }
    }
}

type Locked = (
    Entity,
    &'static RigidBody,
    &'static LockedAxes,
    &'static Pose,
    &'static mut Shown,
    Option<&'static LockJoint>,
);

/// Joints of locks have this name, by which they are known after a restore.
const NAME: &str = "locked axes";

/// Makes the joints of new and changed locks, and of bodies that were put somewhere else.
pub(crate) fn follow(
    mut bodies: Query<Locked>,
    joints: Query<(Entity, &Joint, Option<&Name>)>,
    mut commands: Commands,
) {
    let mut named: Option<BTreeMap<Entity, Entity>> = None;
    let mut order: Vec<_> = bodies.iter_mut().collect();
    order.sort_unstable_by_key(|(body, ..)| *body);
    for (body, kind, axes, pose, mut shown, known) in order {
        let put = shown.put;
        if put {
            shown.put = false;
        }
        let wanted = *kind == RigidBody::Dynamic && *axes != LockedAxes::new();
        if !wanted && known.is_none() {
            continue;
        }
        let known = known.map(|known| known.0);
        let there = known.filter(|joint| joints.contains(*joint)).or_else(|| {
            let named = named.get_or_insert_with(|| of_locks(&joints));
            named.get(&body).copied()
        });
        let locks = JointKind::Generic {
            translation: axes.translation,
            rotation: axes.rotation,
        };
        let holds = |joint: &Entity| {
            let joint = joints.get(*joint);
            wanted && !put && joint.is_ok_and(|(_, joint, _)| joint.kind == locks)
        };
        if let Some(joint) = there.filter(holds) {
            if known != Some(joint) {
                commands.entity(body).try_insert(LockJoint(joint));
            }
            continue;
        }
        if let Some(joint) = there {
            commands.entity(joint).try_despawn();
        }
        if !wanted {
            commands.entity(body).try_remove::<LockJoint>();
            continue;
        }
        let joint = Joint {
            frames: JointFrames::World(Pose::from_position(pose.position)),
            ..Joint::to_world(body, locks)
        };
        let joint = commands.spawn((joint, Name::new(NAME))).id();
        commands.entity(body).try_insert(LockJoint(joint));
    }
}

/// The joints of locks, by their bodies.
fn of_locks(joints: &Query<(Entity, &Joint, Option<&Name>)>) -> BTreeMap<Entity, Entity> {
    let named = joints.iter().filter(|(_, joint, name)| {
        let is_named = name.is_some_and(|name| name.as_str() == NAME);
        is_named && matches!(joint.bodies, [Some(_), None] | [None, Some(_)])
    });
    let of_bodies = named.flat_map(|(entity, joint, _)| {
        let bodies = joint.bodies.into_iter().flatten();
        bodies.map(move |body| (body, entity))
    });
    of_bodies.collect()
}
