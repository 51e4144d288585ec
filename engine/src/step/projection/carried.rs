//! Contacts of bodies that have moved, without the narrow phase.
//!
//! The points of a contact go with their bodies, and the plane turns with the face that it belongs to. Of two
//! bodies with faces it is not known which has that face: the plane takes the mean of both turns. With a relative displacement `t` along the
//! plane and turns `φ` the gap is then right to `½ t (φ_A + φ_B)`, and to `t²/2ρ` where a surface has a radius of curvature `ρ`.

use crate::components::Pose;
use crate::interactions::detected::Detected;
use crate::math::rotation;
use glam::{DQuat, DVec3};
use moreau_solvers::WorldTwist;

/// What happened to a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Displacement {
    /// Of its centre, m.
    pub(super) linear: DVec3,
    /// Axis of its turn, times twice the sine of half its angle: the rotation vector, rad, to second order.
    pub(super) angular: DVec3,
    /// Length of the vector above.
    pub(super) angle: f64,
}

impl Displacement {
    pub(super) const NONE: Self = Self {
        linear: DVec3::ZERO,
        angular: DVec3::ZERO,
        angle: 0.0,
    };

    fn new(linear: DVec3, turn: DQuat) -> Self {
        let angular = DVec3::new(turn.x, turn.y, turn.z) * (2.0 * turn.w.signum());
        Self {
            linear,
            angular,
            angle: angular.length(),
        }
    }

    pub(super) fn between(old: &Pose, new: &Pose) -> Self {
        let turn = new.orientation * old.orientation.conjugate();
        Self::new(new.position - old.position, turn)
    }

    /// By a displacement, m, and a rotation vector, rad.
    pub(super) fn by(twist: &WorldTwist) -> Self {
        Self::new(twist.linear, rotation::exp(twist.angular))
    }

    /// The velocity that leads there in a time, s.
    pub(super) fn mean(&self, time: f64) -> WorldTwist {
        WorldTwist {
            linear: self.linear / time,
            angular: self.angular / time,
        }
    }

    /// The same of a ball: its surface does not turn.
    pub(super) fn without_turn(self) -> Self {
        Self {
            linear: self.linear,
            ..Self::NONE
        }
    }

    /// By how much the turn changes a vector.
    fn turn(&self, vector: DVec3) -> DVec3 {
        let turned = self.angular.cross(vector);
        // The cosine of half the angle.
        let half = (1.0 - 0.25 * self.angle * self.angle).max(0.0).sqrt();
        turned * half + self.angular.cross(turned) * 0.5
    }

    /// A unit vector that turns with the body.
    pub(super) fn turned(&self, unit_vector: DVec3) -> DVec3 {
        unit(unit_vector + self.turn(unit_vector), unit_vector)
    }

    /// Displacement of a point that has this arm, m.
    fn at(&self, arm: DVec3) -> DVec3 {
        self.linear + self.turn(arm)
    }
}

/// A contact where its bodies are now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) contact: Detected,
    /// How far its gap may be off, m.
    pub(super) error: f64,
}

/// The contact `found`, with these `arms`, after its bodies were `moved`. `balls`: their radii, m, 0 for all other bodies. `curvature`: the
/// least radius of curvature of the two, m; `planes`: bodies that are a plane.
pub(super) fn carried(
    found: &Detected,
    arms: [DVec3; 2],
    balls: [f64; 2],
    moved: [Displacement; 2],
    (curvature, planes): (f64, [bool; 2]),
) -> Carried {
    // The surface of a ball does not turn.
    let of = |body: usize| {
        if balls[body] > 0.0 {
            moved[body].without_turn()
        } else {
            moved[body]
        }
    };
    let (a, b) = (of(0), of(1));
    if balls[0] > 0.0 && balls[1] > 0.0 {
        let radii = balls[0] + balls[1];
        let offset = found.normal * (radii + found.gap) + a.linear - b.linear;
        let distance = offset.length();
        let normal = unit(offset, found.normal);
        let gap = distance - radii;
        let centre = found.point + found.normal * (balls[0] + 0.5 * found.gap) + a.linear;
        let contact = Detected {
            point: centre - normal * (balls[0] + 0.5 * gap),
            normal,
            gap,
            ..*found
        };
        return Carried {
            contact,
            error: 0.0,
        };
    }
    let (by_a, by_b) = (a.turn(found.normal), b.turn(found.normal));
    let turn = match [balls[0] > 0.0 || planes[1], balls[1] > 0.0 || planes[0]] {
        [true, false] => by_b,
        [false, true] => by_a,
        _ => 0.5 * (by_a + by_b),
    };
    let normal = if turn == DVec3::ZERO {
        found.normal
    } else {
        unit(found.normal + turn, found.normal)
    };
    let half = found.normal * (0.5 * found.gap);
    // The surfaces; that of a ball is where its normal is.
    let leaned = normal - found.normal;
    let by_a = a.at(arms[0] + half) - leaned * balls[0];
    let by_b = b.at(arms[1] - half) + leaned * balls[1];
    let apart = 2.0 * half + by_a - by_b;
    let gap = normal.dot(apart);
    let along = (apart - normal * gap).length();
    let contact = Detected {
        point: found.point + 0.5 * (by_a + by_b),
        normal,
        gap,
        ..*found
    };
    Carried {
        contact,
        error: 0.5 * along * (a.angle + b.angle + along / curvature),
    }
}

/// The direction of `vector`, or `other` if it has none. A quotient, not a product with the inverse: along an axis it is exact, and what moves
/// in a line stays in it.
fn unit(vector: DVec3, other: DVec3) -> DVec3 {
    let length = vector.length();
    if length > 0.0 { vector / length } else { other }
}
