//! Frames of entities in the world, in doubles, from the `Transform`s above them as they are now: `GlobalTransform` is that of the last frame.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_transform::components::Transform;
use moreau::glam::{DAffine3, DQuat, DVec3};
use moreau::{Pose, RigidBody};

/// What the places of the children of an entity are given in.
///
/// Scale acts on places, as it does in Bevy; orientations are the products of the rotations alone, which they are in Bevy too
/// where no scale shears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    place: DAffine3,
    turn: DQuat,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            place: DAffine3::IDENTITY,
            turn: DQuat::IDENTITY,
        }
    }
}

impl Frame {
    /// The frame of an entity with this transform that stands in `self`.
    pub(crate) fn child(&self, transform: &Transform) -> Self {
        let rotation = unit(transform.rotation.as_dquat());
        let (scale, place) = (transform.scale.as_dvec3(), transform.translation.as_dvec3());
        Self {
            place: self.place * DAffine3::from_scale_rotation_translation(scale, rotation, place),
            turn: self.turn * rotation,
        }
    }

    /// The frame of the children of a body, in that of its shape: of its transform the scale alone.
    pub(crate) fn of_body(transform: Option<&Transform>) -> Self {
        let scale = transform.map(|transform| Transform::from_scale(transform.scale));
        scale.map_or_else(Self::default, |scale| Self::default().child(&scale))
    }

    /// From here to the frame above; without its scale. m, unit quaternion.
    pub(crate) fn as_pose(&self) -> Pose {
        Pose::from_position(self.place.translation).with_orientation(unit(self.turn))
    }

    /// What stands here at this place with this rotation, in the frame above.
    pub(crate) fn out(&self, local: Pose) -> Pose {
        if *self == Self::default() {
            return local;
        }
        Pose {
            position: self.place.transform_point3(local.position),
            orientation: unit(self.turn * local.orientation),
        }
    }

    /// The reverse of [`Self::out`]; not finite if a scale is zero.
    pub(crate) fn into(self, outer: Pose) -> Pose {
        if self == Self::default() {
            return outer;
        }
        Pose {
            position: self.place.inverse().transform_point3(outer.position),
            orientation: unit(self.turn.conjugate() * outer.orientation),
        }
    }
}

/// Of length one in doubles; zero and what is not finite stay as they are, to be refused.
pub(crate) fn unit(rotation: DQuat) -> DQuat {
    let length = rotation.length();
    if length.is_finite() && length > 0.0 {
        rotation / length
    } else {
        rotation
    }
}

/// The pose that a transform tells, in its own frame.
pub(crate) fn told(transform: &Transform) -> Pose {
    Pose {
        position: transform.translation.as_dvec3(),
        orientation: unit(transform.rotation.as_dquat()),
    }
}

/// What stands above something.
type Entry = (
    Option<&'static Transform>,
    Option<&'static ChildOf>,
    Has<RigidBody>,
    Has<Disabled>,
);

/// The entities above an entity, disabled ones too.
#[derive(SystemParam)]
pub(crate) struct Above<'w, 's> {
    entities: Query<'w, 's, Entry, Allow<Disabled>>,
}

/// A body above an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyAbove {
    pub(crate) body: Entity,
    /// It is out of the steps.
    pub(crate) disabled: bool,
}

/// The frame that an entity stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Standing {
    pub(crate) frame: Frame,
    /// One of the entities above is a body: the frame goes with it.
    pub(crate) on_body: bool,
}

impl Above<'_, '_> {
    /// The frame that the children of `parent` stand in.
    pub(crate) fn frame_of(&self, parent: Option<&ChildOf>) -> Standing {
        let mut chain: Vec<&Transform> = Vec::new();
        let mut standing = Standing::default();
        let mut next = parent.map(ChildOf::parent);
        while let Some(entity) = next {
            let Ok((transform, above, body, _)) = self.entities.get(entity) else {
                break;
            };
            chain.extend(transform);
            standing.on_body |= body;
            next = above.map(ChildOf::parent);
        }
        for transform in chain.into_iter().rev() {
            standing.frame = standing.frame.child(transform);
        }
        standing
    }

    /// The nearest body above an entity.
    pub(crate) fn body_of(&self, entity: Entity) -> Option<BodyAbove> {
        let mut next = self.parent(entity);
        while let Some(body) = next {
            let above = body;
            if let Ok((.., true, disabled)) = self.entities.get(body) {
                return Some(BodyAbove { body, disabled });
            }
            next = self.parent(above);
        }
        None
    }

    fn parent(&self, entity: Entity) -> Option<Entity> {
        let (_, above, ..) = self.entities.get(entity).ok()?;
        above.map(ChildOf::parent)
    }
}

/// `a` to `b`, exact at both ends. `share` in [0, 1].
pub(crate) fn between(a: &Pose, b: &Pose, share: f64) -> Pose {
    if a == b || share >= 1.0 {
        return *b;
    }
    if share <= 0.0 {
        return *a;
    }
    Pose {
        position: a.position * (1.0 - share) + b.position * share,
        orientation: unit(a.orientation.slerp(b.orientation, share)),
    }
}

/// The pose of a body whose centre of mass goes from `old` to `new` (m, frame of the shape) while its shape stays where it is.
pub(crate) fn recentred(pose: Pose, old: DVec3, new: DVec3) -> Pose {
    pose.of_shape(old).of_center_of_mass(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poses() -> [Pose; 2] {
        let turn = DQuat::from_rotation_x(1.0);
        let far = Pose::at(1.0 / 3.0, 1e8, -2.0).with_orientation(turn);
        [Pose::at(0.1, 0.2, 0.3), far]
    }

    #[test]
    fn interpolation_is_exact_at_both_ends_and_between_within() {
        let [a, b] = poses();
        assert_eq!(between(&a, &b, 0.0), a);
        assert_eq!(between(&a, &b, 1.0), b);
        let half = between(&a, &b, 0.5);
        assert!((half.position - (a.position + b.position) / 2.0).length() < 1e-7);
        let turned = half.orientation.angle_between(a.orientation);
        assert!((turned - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_pose_goes_into_a_scaled_frame_and_out_again() {
        let above = Transform::from_xyz(1.0, 2.0, 3.0).with_scale([2.0, 3.0, 0.5].into());
        let frame = Frame::default().child(&above).child(&above);
        for pose in poses() {
            let back = frame.out(frame.into(pose));
            assert!((back.position - pose.position).length() <= 1e-7);
            assert!(back.orientation.angle_between(pose.orientation) < 1e-7);
        }
        assert_eq!(Frame::default().out(poses()[1]), poses()[1]);
    }
}
