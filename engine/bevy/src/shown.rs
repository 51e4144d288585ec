//! What the plugin remembers of a body.

use crate::frame::Frame;
use bevy_ecs::prelude::*;
use moreau::Pose;
use moreau::glam::{DVec3, Quat, Vec3};

/// What was last seen of a body, and last shown of it.
#[derive(Component, Clone, Debug, Default)]
pub(crate) struct Shown {
    /// The rest is known.
    pub(crate) known: bool,
    /// Centre of mass in the frame of the shape, m.
    pub(crate) center: DVec3,
    /// Materials of parts had to do with it.
    pub(crate) by_parts: bool,
    /// Pose of the centre of mass, as the last step or the user left it.
    pub(crate) pose: Pose,
    /// Poses of the frame of the shape after the last two steps; both are the new one after a teleport.
    pub(crate) before: Pose,
    pub(crate) after: Pose,
    /// The parts of `Transform` that are the plugin's, as they were last written or read.
    pub(crate) transform: (Vec3, Quat),
    /// What it stands in, if that is no body.
    pub(crate) standing: Frame,
    /// `Transform` is the user's until the next step takes the target that it told.
    pub(crate) held: bool,
    /// It was put somewhere, or has got another centre of mass, since locks looked.
    pub(crate) put: bool,
}

/// A body whose `Transform` shows the pose after the last step, without interpolation.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, bevy_reflect::Reflect)]
#[reflect(Component)]
pub struct NoInterpolation;

/// Whether `Transform`s are interpolated between the last two steps. On by default; see [`crate::MoreauPlugin::interpolation`].
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, bevy_reflect::Reflect)]
#[reflect(Resource)]
pub struct Interpolation(pub bool);

impl Shown {
    /// Puts the body where it is now, without a way there.
    pub(crate) fn put(&mut self, pose: Pose) {
        self.pose = pose;
        self.after = pose.of_shape(self.center);
        self.before = self.after;
        self.put = true;
    }

    /// There is nothing to take over from a step that ends with this pose.
    pub(crate) fn rests_at(&self, pose: &Pose) -> bool {
        self.pose == *pose && self.before == self.after && !self.held
    }

    /// Takes over the pose that a step ended with.
    pub(crate) fn step(&mut self, pose: Pose) {
        let shape = pose.of_shape(self.center);
        // What is moved by its `Transform` is where that says, without delay.
        self.before = if self.held { shape } else { self.after };
        self.after = shape;
        self.pose = pose;
        self.held = false;
    }
}
