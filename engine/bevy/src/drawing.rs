//! What there is to see, as lines, for whatever draws them: shapes, contacts, forces, joints, sleep.

use crate::frame::between;
use crate::shown::{NoInterpolation, Shown};
use crate::wire::{Segment, wire};
use crate::write::Share;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use moreau::glam::{DVec3, Vec3};
use moreau::{
    Collider, Contacts, Joint, JointId, Pose, RigidBody, Sensor, Settings, Sleeping, StepState,
};

/// Linear red, green, blue and opacity.
pub type Rgba = [f32; 4];

/// What is drawn, and how. With the feature `gizmos` it is the group of gizmos that the plugin draws in.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[cfg_attr(feature = "gizmos", derive(bevy_gizmos::config::GizmoConfigGroup))]
#[reflect(Default)]
pub struct Drawing {
    /// Wire frames of shapes, in the colour of their bodies. Default true.
    pub shapes: bool,
    /// Contacts of the last step, where they were at its beginning: a line along the normal, from B to A. Default true.
    pub contacts: bool,
    /// Forces of contacts on A, the mean over the step. Default true.
    pub forces: bool,
    /// The axes of the frames of joints, and lines from the bodies to them. Default true.
    pub joints: bool,
    /// Length of normals and of axes of joints, m. Default 0.2.
    pub size: f32,
    /// Length of a force of one newton, m. Default 1e-3.
    pub force_scale: f32,
    /// Of dynamic bodies that are awake.
    pub dynamic: Rgba,
    /// Of bodies that sleep.
    pub sleeping: Rgba,
    /// Of kinematic bodies.
    pub kinematic: Rgba,
    /// Of static bodies.
    pub fixed: Rgba,
    /// Of sensors.
    pub sensor: Rgba,
    /// Of normals.
    pub normal: Rgba,
    /// Of forces.
    pub force: Rgba,
    /// Of lines from bodies to their joints. Axes are red, green and blue.
    pub joint: Rgba,
}

impl Default for Drawing {
    fn default() -> Self {
        Self {
            shapes: true,
            contacts: true,
            forces: true,
            joints: true,
            size: 0.2,
            force_scale: 1e-3,
            dynamic: [0.9, 0.4, 0.1, 1.0],
            sleeping: [0.2, 0.2, 0.35, 1.0],
            kinematic: [0.1, 0.5, 0.9, 1.0],
            fixed: [0.25, 0.25, 0.25, 1.0],
            sensor: [0.6, 0.9, 0.1, 0.5],
            normal: [0.9, 0.9, 0.1, 1.0],
            force: [0.9, 0.05, 0.05, 1.0],
            joint: [0.7, 0.2, 0.8, 1.0],
        }
    }
}

/// A line to be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Where it begins, in the world, m.
    pub start: Vec3,
    /// Where it ends.
    pub end: Vec3,
    /// Its colour.
    pub color: Rgba,
}

/// The lines of the collider of a body, in the frame of its shape.
#[derive(Component, Clone, Debug)]
pub(crate) struct Wire(Vec<Segment>);

/// Bodies with another collider than before.
type Reshaped = (With<RigidBody>, Changed<Collider>);

/// Makes the lines of colliders that are new.
pub(crate) fn follow_colliders(
    changed: Query<(Entity, &Collider), Reshaped>,
    bare: Query<Entity, (With<Wire>, Without<Collider>)>,
    mut commands: Commands,
) {
    for (body, collider) in &changed {
        commands
            .entity(body)
            .try_insert(Wire(wire(collider.shape())));
    }
    for body in &bare {
        commands.entity(body).try_remove::<Wire>();
    }
}

type Seen = (
    Entity,
    &'static RigidBody,
    &'static Shown,
    Option<&'static Wire>,
    Has<Sleeping>,
    Has<Sensor>,
    Has<NoInterpolation>,
);

/// The world as lines, a parameter of systems. Bodies are where their `Transform`s are in this frame. The wire frames are made by a system that
/// [`crate::DrawingPlugin`] adds.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_moreau::{Drawing, Picture};
/// fn count(picture: Picture) -> usize {
///     let mut lines = 0;
///     picture.draw(&Drawing::default(), |_| lines += 1);
///     lines
/// }
/// ```
#[derive(SystemParam)]
pub struct Picture<'w, 's> {
    bodies: Query<'w, 's, Seen>,
    joints: Query<'w, 's, (&'static Joint, &'static JointId)>,
    share: Res<'w, Share>,
    state: Option<Res<'w, StepState>>,
    contacts: Option<Res<'w, Contacts>>,
    settings: Option<Res<'w, Settings>>,
}

impl Picture<'_, '_> {
    /// Gives every line to `line`, in no order that matters.
    pub fn draw(&self, drawing: &Drawing, mut line: impl FnMut(Line)) {
        let out = &mut |[start, end]: Segment, color: Rgba| {
            let (start, end) = (start.as_vec3(), end.as_vec3());
            if start.is_finite() && end.is_finite() {
                line(Line { start, end, color });
            }
        };
        if drawing.shapes {
            self.shapes(drawing, out);
        }
        if drawing.contacts || drawing.forces {
            self.contacts(drawing, out);
        }
        if drawing.joints {
            self.joints(drawing, out);
        }
    }

    /// The pose of the frame of the shape of a body, as it is shown.
    fn shown(&self, shown: &Shown, exact: bool) -> Pose {
        let share = if exact { 1.0 } else { self.share.0 };
        between(&shown.before, &shown.after, share)
    }

    fn shapes(&self, drawing: &Drawing, out: &mut impl FnMut(Segment, Rgba)) {
        for (_, kind, shown, wire, asleep, sensor, exact) in &self.bodies {
            let Some(Wire(lines)) = wire else { continue };
            let color = match kind {
                _ if sensor => drawing.sensor,
                RigidBody::Dynamic if asleep => drawing.sleeping,
                RigidBody::Dynamic => drawing.dynamic,
                RigidBody::Kinematic => drawing.kinematic,
                RigidBody::Static => drawing.fixed,
            };
            let pose = self.shown(shown, exact);
            for ends in lines {
                out(ends.map(|end| to_world(&pose, end)), color);
            }
        }
    }

    fn contacts(&self, drawing: &Drawing, out: &mut impl FnMut(Segment, Rgba)) {
        let (Some(contacts), Some(settings)) = (&self.contacts, &self.settings) else {
            return;
        };
        for contact in &contacts.0 {
            let (point, normal) = (contact.point, contact.frame.x_axis);
            if drawing.contacts {
                let tip = point + normal * f64::from(drawing.size);
                out([point, tip], drawing.normal);
            }
            if drawing.forces {
                let force = contact.frame * contact.impulse / settings.time_step;
                let tip = point + force * f64::from(drawing.force_scale);
                out([point, tip], drawing.force);
            }
        }
    }

    fn joints(&self, drawing: &Drawing, out: &mut impl FnMut(Segment, Rgba)) {
        const AXES: [(DVec3, Rgba); 3] = [
            (DVec3::X, [1.0, 0.0, 0.0, 1.0]),
            (DVec3::Y, [0.0, 1.0, 0.0, 1.0]),
            (DVec3::Z, [0.0, 0.0, 1.0, 1.0]),
        ];
        let Some(state) = &self.state else { return };
        for (joint, id) in &self.joints {
            let Some(frames) = state.joint_frames(*id) else {
                continue;
            };
            for (body, frame) in joint.bodies.into_iter().zip(frames) {
                let body = body.map(|body| self.center(body));
                let Some(body) = body.unwrap_or_else(|| Some(Pose::default())) else {
                    continue;
                };
                let origin = to_world(&body, frame.position);
                let turn = body.orientation * frame.orientation;
                for (axis, color) in AXES {
                    let tip = origin + turn * axis * f64::from(drawing.size);
                    out([origin, tip], color);
                }
                if body != Pose::default() {
                    out([body.position, origin], drawing.joint);
                }
            }
        }
    }

    /// The pose of the centre of mass of a body, as it is shown.
    fn center(&self, body: Entity) -> Option<Pose> {
        let (_, _, shown, .., exact) = self.bodies.get(body).ok()?;
        Some(self.shown(shown, exact).of_center_of_mass(shown.center))
    }
}

fn to_world(pose: &Pose, point: DVec3) -> DVec3 {
    pose.position + pose.orientation * point
}
