//! Joints and motors of machines.

use glam::{DQuat, DVec3};
use moreau::geometry::{Frame, Shape};
use moreau::scene::{BodySpec, SceneJoint};
use moreau::{CollisionGroups, JointAxis, JointForce, JointKind};

/// Groups of what collides with nothing.
pub(super) const APART: CollisionGroups = CollisionGroups {
    memberships: 0,
    mask: 0,
};

/// A joint of two named bodies, or of the world and one.
pub(super) fn joint(
    a: Option<&str>,
    b: &str,
    kind: JointKind,
    (point, axis): (DVec3, DVec3),
) -> SceneJoint {
    SceneJoint {
        a: a.map(str::to_owned),
        b: b.to_owned(),
        kind,
        point,
        axis,
        ..SceneJoint::default()
    }
}

/// Two bodies whose centres are tied to each other; of the world, a point.
pub(super) fn tie(a: Option<&str>, b: &str, kind: JointKind, from: DVec3) -> SceneJoint {
    SceneJoint {
        frames: Some([from, DVec3::ZERO].map(|at| Frame::from_position(at).into())),
        ..joint(a, b, kind, (DVec3::ZERO, DVec3::Z))
    }
}

/// A motor that goes to a place and holds it.
pub(super) fn servo(
    axis: JointAxis,
    position: f64,
    [stiffness, damping, effort]: [f64; 3],
) -> JointForce {
    JointForce::Motor {
        axis,
        position,
        velocity: 0.0,
        stiffness,
        damping,
        effort,
    }
}

/// A motor that turns at a velocity as far as its effort reaches.
pub(super) fn drive(axis: JointAxis, velocity: f64, effort: f64) -> JointForce {
    JointForce::Motor {
        axis,
        position: 0.0,
        velocity,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort,
    }
}

/// Bounds of a coordinate.
pub(super) fn limit(axis: JointAxis, low: f64, high: f64) -> JointForce {
    JointForce::Limit {
        axis,
        low,
        high,
        restitution: 0.0,
    }
}

/// Damping of a coordinate.
pub(super) fn damper(axis: JointAxis, damping: f64) -> JointForce {
    JointForce::Spring {
        axis,
        stiffness: 0.0,
        damping,
        rest: 0.0,
    }
}

/// A capsule from one point to another, whose ends are round: no longer than that.
pub(super) fn capsule(from: DVec3, to: DVec3, radius: f64) -> BodySpec {
    let way = to - from;
    BodySpec {
        orientation: DQuat::from_rotation_arc(DVec3::Z, way.normalize_or_zero()),
        ..BodySpec::dynamic(
            Shape::Capsule {
                half_height: 0.5 * way.length() - radius,
                radius,
            },
            (from + to) * 0.5,
        )
    }
}
