//! Joints: entities of their own that name two bodies.

use super::notices::Notices;
use super::{BodyId, Pose};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use serde::{Deserialize, Serialize};

/// A joint between two bodies, A and B.
///
/// It holds frame B of body B against frame A of body A: its coordinates are the place and the rotation of frame B in frame A, and its
/// reaction acts on B, and the opposite one on A. Joints are exact: after every step the velocities along their locked axes are zero to
/// rounding, and so are the distances.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let bob = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.1), Pose::at(1.0, 0.0, 0.0)))?;
/// // A pendulum: hinged to the world at the origin, 1 m from its centre, about the world's y axis.
/// let hinge = Joint::to_world(bob, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
/// let hinge = simulation.spawn_joint(hinge, ())?;
/// for _ in 0..100 {
///     simulation.step()?;
/// }
/// let length = simulation.pose(bob).map(|pose| pose.position.length());
/// assert!(length.is_some_and(|length| (length - 1.0).abs() < 1e-12));
/// # Ok::<(), StepError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_ecs::reflect::Component)
)]
#[require(JointId)]
#[component(on_remove = lose)]
pub struct Joint {
    /// A and B; the world where there is none.
    #[entities]
    pub bodies: [Option<Entity>; 2],
    /// Where it holds each of them.
    pub frames: JointFrames,
    /// What it leaves free.
    pub kind: JointKind,
}

/// Where a joint holds its bodies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum JointFrames {
    /// One frame in the inertial frame, of both bodies where they are when the joint is first seen. m, unit quaternion.
    World(Pose),
    /// Frame A in the frame of body A and frame B in that of body B, both from the centre of mass; of the world in the inertial
    /// frame. m, unit quaternions.
    Own([Pose; 2]),
}

impl Default for JointFrames {
    fn default() -> Self {
        Self::World(Pose::default())
    }
}

impl Joint {
    /// Between two bodies, at the origin of the inertial frame with its axes, until told otherwise.
    #[must_use]
    pub fn new(a: Entity, b: Entity, kind: JointKind) -> Self {
        Self {
            bodies: [Some(a), Some(b)],
            frames: JointFrames::default(),
            kind,
        }
    }

    /// Between the world, which is A, and a body.
    #[must_use]
    pub fn to_world(body: Entity, kind: JointKind) -> Self {
        Self {
            bodies: [None, Some(body)],
            ..Self::new(body, body, kind)
        }
    }

    /// With both frames at `point` (m), their z axes along `axis`, in the inertial frame, where the bodies are now.
    #[must_use]
    pub fn at(self, point: glam::DVec3, axis: glam::DVec3) -> Self {
        let turn = glam::DQuat::from_rotation_arc(glam::DVec3::Z, axis.normalize_or_zero());
        // Without a direction it is no rotation, and refused as such.
        let orientation = if axis.length_squared() > 0.0 {
            turn
        } else {
            glam::DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)
        };
        Self {
            frames: JointFrames::World(Pose::from_position(point).with_orientation(orientation)),
            ..self
        }
    }

    /// With these frames, from the centres of mass of A and B in the frames of the bodies.
    #[must_use]
    pub fn with_frames(self, frames: [Pose; 2]) -> Self {
        Self {
            frames: JointFrames::Own(frames),
            ..self
        }
    }
}

/// What a joint leaves free. Axes are those of frame A where they are not said to be B's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Nothing.
    #[default]
    Fixed,
    /// All rotations.
    Ball,
    /// The rotation about z.
    Revolute,
    /// The translation along z.
    Prismatic,
    /// The translation along and the rotation about z.
    Cylindrical,
    /// The translations across z and the rotation about it.
    Planar,
    /// The rotations about x of A and y of B, which stay perpendicular.
    Universal,
    /// The translation along z and the rotation about it, tied to each other: `lead` m a turn.
    Screw {
        /// Way along z of a turn about it, m.
        lead: f64,
    },
    /// All, but that the origins of the frames keep a distance.
    Distance {
        /// m, > 0.
        length: f64,
    },
    /// All, but that the origins of the frames are no farther apart than the rope is long.
    Rope {
        /// m, > 0.
        length: f64,
    },
    /// The axes that are not locked. With one rotation locked, say that about z, x of A and y of B stay perpendicular; x to y to z to x for the others.
    Generic {
        /// Translations along x, y, z that are locked.
        translation: [bool; 3],
        /// Rotations about x, y, z that are locked.
        rotation: [bool; 3],
    },
}

impl JointKind {
    /// Translations along x, y, z, and rotations about them, that it locks. The screw and the distance hold others besides.
    pub(crate) fn locks(&self) -> ([bool; 3], [bool; 3]) {
        match self {
            Self::Fixed => ([true; 3], [true; 3]),
            Self::Ball => ([true; 3], [false; 3]),
            Self::Revolute => ([true; 3], [true, true, false]),
            Self::Prismatic => ([true, true, false], [true; 3]),
            Self::Cylindrical | Self::Screw { .. } => ([true, true, false], [true, true, false]),
            Self::Planar => ([false, false, true], [true, true, false]),
            Self::Universal => ([true; 3], [false, false, true]),
            Self::Distance { .. } | Self::Rope { .. } => ([false; 3], [false; 3]),
            Self::Generic {
                translation,
                rotation,
            } => (*translation, *rotation),
        }
    }

    /// Whether the coordinates in the order of [`JointAxis`] are locked.
    pub(crate) fn locked(&self) -> [bool; 7] {
        let ([x, y, z], [a, b, c]) = self.locks();
        let all = [x, y, z] == [true; 3];
        [
            x,
            y,
            z,
            a,
            b,
            c,
            all || matches!(self, Self::Distance { .. }),
        ]
    }
}

/// An axis of a joint's coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_reflect::Serialize, bevy_reflect::Deserialize)
)]
#[serde(rename_all = "snake_case")]
pub enum JointAxis {
    /// Translation along x of A.
    X,
    /// Translation along y of A.
    Y,
    /// Translation along z of A.
    Z,
    /// Rotation about x: where another one is locked the angle about that of the two free axes, where none is the twist about x (see `docs/joints.md`).
    RotationX,
    /// Rotation about y.
    RotationY,
    /// Rotation about z; turns are counted.
    RotationZ,
    /// The distance of the origins of the frames.
    Distance,
}

impl JointAxis {
    /// The rotations.
    pub(crate) const ROTATIONS: [Self; 3] = [Self::RotationX, Self::RotationY, Self::RotationZ];

    /// Its place in the order of all.
    pub(crate) fn place(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
            Self::RotationX => 3,
            Self::RotationY => 4,
            Self::RotationZ => 5,
            Self::Distance => 6,
        }
    }

    /// It is an angle, rad.
    #[must_use]
    pub fn is_rotation(self) -> bool {
        matches!(self, Self::RotationX | Self::RotationY | Self::RotationZ)
    }
}

/// What acts along an axis of a joint that is free, or on all of its rotations together.
///
/// Places are in m or rad, velocities in m/s or rad/s, forces in N or N·m.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_reflect::Serialize, bevy_reflect::Deserialize)
)]
#[serde(rename_all = "snake_case")]
pub enum JointForce {
    /// The coordinate stays within bounds, one-sided impacts at either end.
    Limit {
        /// Which coordinate.
        axis: JointAxis,
        /// Lowest, may be −∞.
        low: f64,
        /// Highest, may be ∞.
        high: f64,
        /// `e` in [0, 1].
        restitution: f64,
    },
    /// `−k (x − rest) − c ẋ`.
    Spring {
        /// Which coordinate.
        axis: JointAxis,
        /// `k ≥ 0`, N/m or N·m/rad.
        stiffness: f64,
        /// `c ≥ 0`, N·s/m or N·m·s/rad.
        damping: f64,
        /// Where it pulls to.
        rest: f64,
    },
    /// `k_p (x* − x) + k_d (ẋ* − ẋ)`, no more than its effort; implicit, so that no gain is too high.
    Motor {
        /// Which coordinate.
        axis: JointAxis,
        /// `x*`, of no effect without stiffness.
        position: f64,
        /// `ẋ*`.
        velocity: f64,
        /// `k_p ≥ 0`.
        stiffness: f64,
        /// `k_d ≥ 0`; infinite for one that holds its velocity as far as its effort reaches.
        damping: f64,
        /// Bound of its force, ≥ 0, may be ∞.
        effort: f64,
    },
    /// Inertia of a rotor or a carriage that moves with the coordinate: kinetic energy `½ I q̇²`, and `−I q̈` on the joint. It has no weight and turns
    /// no body.
    Armature {
        /// Which coordinate.
        axis: JointAxis,
        /// `I ≥ 0`, kg·m² or kg; of a rotor behind a gear, with the square of its ratio.
        inertia: f64,
    },
    /// Coulomb friction of the joint: no more than this force, against the motion.
    Friction {
        /// Which coordinate.
        axis: JointAxis,
        /// ≥ 0.
        force: f64,
    },
    /// Coulomb friction of a joint that leaves all rotations free, a ball joint foremost: the norm of its torque is no more than this, against the
    /// relative angular velocity. It prefers no axis, which friction along three axes would.
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings { gravity: DVec3::ZERO, ..Settings::default() })?;
    /// let spin = Twist::from_inertial_frame(DVec3::ZERO, DVec3::new(1.0, 2.0, 2.0), DQuat::IDENTITY);
    /// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5), spin))?;
    /// let joint = Joint::to_world(ball, JointKind::Ball);
    /// simulation.spawn_joint(joint, JointForces(vec![JointForce::BallFriction { torque: 1e3 }]))?;
    /// simulation.step()?; // slower, about the same axis, which is none of the frame's
    /// let spin = simulation.twist(ball).map(|twist| twist.angular.normalize());
    /// assert!(spin.is_some_and(|spin| (spin - DVec3::new(1.0, 2.0, 2.0) / 3.0).length() < 1e-12));
    /// # Ok::<(), StepError>(())
    /// ```
    BallFriction {
        /// Bound of the norm, N·m, ≥ 0, may be ∞.
        torque: f64,
    },
    /// A force that is given, until it is changed: on B along the coordinate, and the opposite on A.
    Applied {
        /// Which coordinate.
        axis: JointAxis,
        /// Positive where it makes the coordinate grow.
        effort: f64,
    },
}

impl JointForce {
    /// It is a limit.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::Limit { .. })
    }

    /// The coordinate that it acts along; none of what acts on all rotations together.
    #[must_use]
    pub fn axis(&self) -> Option<JointAxis> {
        match *self {
            Self::BallFriction { .. } => None,
            Self::Limit { axis, .. }
            | Self::Spring { axis, .. }
            | Self::Motor { axis, .. }
            | Self::Armature { axis, .. }
            | Self::Friction { axis, .. }
            | Self::Applied { axis, .. } => Some(axis),
        }
    }
}

/// What acts along the free axes of a joint, in any number.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[serde(transparent)]
pub struct JointForces(pub Vec<JointForce>);

/// The two bodies of the joint do not collide with each other. A sibling of [`Joint`].
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_ecs::reflect::Component, bevy_reflect::prelude::Default)
)]
pub struct NoCollision;

/// The joint breaks where its reaction, the mean over a step, is beyond one of these: it is out of the steps from the next one on, and has
/// [`JointBroken`] beside it. A sibling of [`Joint`].
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
#[serde(default, deny_unknown_fields)]
pub struct BreakLimit {
    /// Of the norm of its force, N, ≥ 0; ∞ for none.
    pub force: f64,
    /// Of the norm of its torque about the origin of frame B, N·m, ≥ 0; ∞ for none.
    pub torque: f64,
}

impl Default for BreakLimit {
    fn default() -> Self {
        Self {
            force: f64::INFINITY,
            torque: f64::INFINITY,
        }
    }
}

/// The joint has broken, and is not there for the steps; without this it is whole again. A sibling of [`Joint`].
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_ecs::reflect::Component, bevy_reflect::prelude::Default)
)]
pub struct JointBroken;

/// The joint, or the coupler, is not there for the steps. A sibling of [`Joint`].
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_ecs::reflect::Component, bevy_reflect::prelude::Default)
)]
pub struct JointDisabled;

/// Stable identity of a joint: joints are ordered by it, as bodies by [`BodyId`]. One that is spawned without takes the next.
#[derive(
    Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
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
#[component(on_insert = give_id)]
pub struct JointId(pub u64);

impl JointId {
    /// Asks for the next free id.
    pub const UNASSIGNED: Self = Self(u64::MAX);
}

impl Default for JointId {
    fn default() -> Self {
        Self::UNASSIGNED
    }
}

impl std::fmt::Display for JointId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        BodyId(self.0).fmt(f)
    }
}

/// Its couplers go with it.
fn lose(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut notices) = world.get_resource_mut::<Notices>() {
        notices.joints_lost.push(context.entity);
    }
}

fn give_id(mut world: DeferredWorld, context: HookContext) {
    let Some(id) = world.get::<JointId>(context.entity).copied() else {
        return;
    };
    let taken = world
        .get_resource_mut::<Notices>()
        .and_then(|mut notices| notices.take_joint_id(id));
    if let (Some(taken), Some(mut component)) = (taken, world.get_mut::<JointId>(context.entity)) {
        *component = taken;
    }
}
