//! The joints of a link as joints of the engine: several that are one kind of joint together, or bodies between them.
//!
//! Two hinges that cross at a right angle are a universal joint; two slides and a hinge at right angles to each other move in a plane; two slides at a right
//! angle, or three of them, are one joint.

use crate::model::{Axis, Motion};
use glam::{DMat3, DQuat, DVec3};
use moreau::geometry::Frame;
use moreau::{JointAxis, JointForce, JointKind};

/// One joint of the engine.
pub(super) struct Piece {
    pub(super) name: String,
    pub(super) kind: JointKind,
    /// In the frame of the link, with all coordinates at zero.
    pub(super) frame: Frame,
    pub(super) forces: Vec<JointForce>,
    /// Its coordinates, one for each joint of the file that it is made of.
    pub(super) axes: Vec<JointAxis>,
}

/// Cosine of an angle that is right.
const RIGHT: f64 = 1e-9;

pub(super) fn pieces(axes: &[Axis]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = axes;
    while let Some(first) = rest.first() {
        let (piece, count) = match rest {
            [a, b, c, ..] if let Some(frame) = planar(a, b, c) => {
                let names = plane_axes(&frame, a);
                (joined(&[a, b, c], JointKind::Planar, frame, &names), 3)
            }
            [a, b, c, ..] if let Some(frame) = slides(&[a, b, c]) => {
                let names = [JointAxis::X, JointAxis::Y, JointAxis::Z];
                (joined(&[a, b, c], sliding(3), frame, &names), 3)
            }
            [a, b, ..] if let Some(frame) = slides(&[a, b]) => {
                let names = [JointAxis::X, JointAxis::Y];
                (joined(&[a, b], sliding(2), frame, &names), 2)
            }
            [a, b, ..] if let Some(frame) = universal(a, b) => {
                let names = [JointAxis::RotationX, JointAxis::RotationY];
                (joined(&[a, b], JointKind::Universal, frame, &names), 2)
            }
            _ => (alone(first), 1),
        };
        pieces.push(piece);
        rest = &rest[count..];
    }
    pieces
}

fn along(axis: &Axis) -> DVec3 {
    axis.frame.orientation * DVec3::Z
}

fn frame(x: DVec3, y: DVec3, origin: DVec3) -> Frame {
    let x = x.normalize();
    let z = x.cross(y).normalize();
    let axes = DMat3::from_cols(x, z.cross(x), z);
    Frame::new(origin, DQuat::from_mat3(&axes).normalize())
}

fn universal(a: &Axis, b: &Axis) -> Option<Frame> {
    let hinges = matches!((a.motion, b.motion), (Motion::Hinge(_), Motion::Hinge(_)));
    let crosses = a.frame.position == b.frame.position && along(a).dot(along(b)).abs() < RIGHT;
    (hinges && crosses).then(|| frame(along(a), along(b), a.frame.position))
}

/// Slides at right angles to each other, three of them right-handed: their frame.
fn slides(axes: &[&Axis]) -> Option<Frame> {
    let all = axes.iter().all(|of| matches!(of.motion, Motion::Slide(_)));
    let [x, y, ..] = axes else { return None };
    let found = frame(along(x), along(y), x.frame.position);
    let z = found.orientation * DVec3::Z;
    let right = along(x).dot(along(y)).abs() < RIGHT
        && axes[2..].iter().all(|of| (along(of) - z).length() < RIGHT);
    (all && right).then_some(found)
}

/// The first translations are free.
fn sliding(count: usize) -> JointKind {
    JointKind::Generic {
        translation: [0, 1, 2].map(|k| k >= count),
        rotation: [true; 3],
    }
}

fn planar(a: &Axis, b: &Axis, c: &Axis) -> Option<Frame> {
    let fits = matches!(
        (a.motion, b.motion, c.motion),
        (Motion::Slide(_), Motion::Slide(_), Motion::Hinge(_))
    );
    let [x, y, z] = [a, b, c].map(along);
    let right = [x.dot(y), y.dot(z), z.dot(x)]
        .into_iter()
        .all(|cos| cos.abs() < RIGHT);
    let (x, y) = if x.cross(y).dot(z) > 0.0 {
        (x, y)
    } else {
        (y, x)
    };
    (fits && right).then(|| frame(x, y, c.frame.position))
}

/// The names of the coordinates in the plane; the first slide may be along y.
fn plane_axes(frame: &Frame, first: &Axis) -> [JointAxis; 3] {
    let is_x = (frame.orientation * DVec3::X).dot(along(first)) > 0.5;
    let (a, b) = if is_x {
        (JointAxis::X, JointAxis::Y)
    } else {
        (JointAxis::Y, JointAxis::X)
    };
    [a, b, JointAxis::RotationZ]
}

fn joined(axes: &[&Axis], kind: JointKind, frame: Frame, names: &[JointAxis]) -> Piece {
    let forces = axes.iter().zip(names).flat_map(|(axis, name)| {
        let forces = axis.forces.iter();
        forces.map(|force| along_axis(*force, *name))
    });
    Piece {
        name: axes
            .iter()
            .map(|axis| axis.name.as_str())
            .collect::<Vec<_>>()
            .join(" "),
        kind,
        frame,
        forces: forces.collect(),
        axes: names.to_vec(),
    }
}

fn alone(axis: &Axis) -> Piece {
    Piece {
        name: axis.name.clone(),
        kind: match axis.motion {
            Motion::Hinge(_) => JointKind::Revolute,
            Motion::Slide(_) => JointKind::Prismatic,
            Motion::Ball(_) => JointKind::Ball,
            Motion::Planar => JointKind::Planar,
        },
        frame: axis.frame,
        forces: axis.forces.clone(),
        axes: vec![match axis.motion {
            Motion::Slide(_) => JointAxis::Z,
            _ => JointAxis::RotationZ,
        }],
    }
}

/// The same force along another axis.
fn along_axis(mut force: JointForce, along: JointAxis) -> JointForce {
    match &mut force {
        JointForce::Limit { axis, .. }
        | JointForce::Spring { axis, .. }
        | JointForce::Motor { axis, .. }
        | JointForce::Friction { axis, .. }
        | JointForce::Applied { axis, .. }
        | JointForce::Armature { axis, .. } => *axis = along,
        JointForce::BallFriction { .. } => {}
    }
    force
}
