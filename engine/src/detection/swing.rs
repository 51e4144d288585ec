//! Pairs without a contact in `I₀` that turning may bring together.
//!
//! A contact is kept by the velocity of its own point. Where bodies turn, that point may draw away while another part of them, which none of the
//! points of the pair stands for, closes the gap. Two convex bodies that a plane with the unit normal `n` holds apart by `g` do not meet in a step if
//!
//! ```text
//! g > h c + ½ h² (ω_A² R_A + ω_B² R_B),     c = −n·(v_A − v_B) + |n×ω_A| R_A + |n×ω_B| R_B
//! ```
//!
//! and any two do not with `c = |v_A − v_B| + |ω_A| R_A + |ω_B| R_B`. A surface of revolution that turns about its axis stays where it is.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::motion::Motion;
use glam::DVec3;
use moreau_geometry::ContactPoint;
use moreau_solvers::WorldTwist;

/// Turning may bring a pair within `margin` (m) in the step, of which `nearest` is the nearest point.
pub(super) fn may_meet(
    pair: [Slot; 2],
    nearest: &ContactPoint,
    margin: f64,
    bodies: &Bodies,
    (motion, h): (&Motion, f64),
) -> bool {
    let convex = pair.iter().all(|slot| is_convex(bodies, *slot));
    [&motion.begin, &motion.free].into_iter().any(|twists| {
        let [a, b] = pair.map(|slot| Turn::of(slot, &twists[slot], bodies));
        let relative = twists[pair[0]].linear - twists[pair[1]].linear;
        let closing = if convex {
            let n = nearest.normal;
            a.along(n) + b.along(n) - n.dot(relative)
        } else {
            relative.length() + a.speed() + b.speed()
        };
        let bend = 0.5 * h * (a.bend() + b.bend());
        a.speed() + b.speed() > 0.0 && nearest.gap <= margin + h * (closing + bend)
    })
}

/// A plane is as good as a convex body: its normal is that of every contact.
fn is_convex(bodies: &Bodies, slot: Slot) -> bool {
    let body = &bodies.constants[slot];
    let geometry = body.geometry.as_ref();
    geometry.is_some_and(|own| !own.is_compound() && (own.is_solid() || body.radius.is_infinite()))
}

/// How the surface of a body turns.
struct Turn {
    /// rad/s.
    angular: DVec3,
    /// Of all that turns with it, rad/s.
    whole: f64,
    /// m.
    radius: f64,
}

impl Turn {
    fn of(slot: Slot, twist: &WorldTwist, bodies: &Bodies) -> Self {
        let body = &bodies.constants[slot];
        let angular = if body.ball_radius().is_some() || !body.radius.is_finite() {
            DVec3::ZERO
        } else {
            twist.angular - bodies.spin(slot, twist.angular)
        };
        let radius = if angular == DVec3::ZERO {
            0.0
        } else {
            body.radius
        };
        Self {
            angular,
            whole: twist.angular.length(),
            radius,
        }
    }

    fn speed(&self) -> f64 {
        self.angular.length() * self.radius
    }

    fn along(&self, normal: DVec3) -> f64 {
        normal.cross(self.angular).length() * self.radius
    }

    /// m/s².
    fn bend(&self) -> f64 {
        self.speed() * self.whole
    }
}
