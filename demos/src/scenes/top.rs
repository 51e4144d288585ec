//! A spinning top.

use super::{common, named, with_friction};
use glam::{DQuat, DVec3};
use moreau::Twist;
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Scene};
use std::f64::consts::PI;

/// Radius of the cone, m.
const RADIUS: f64 = 0.1;
/// Half the height of the cone, m.
const HALF_HEIGHT: f64 = 0.06;

/// A cone, called `top`, on its tip at the origin: its axis leans by `tilt` (rad) and it spins
/// about it by `spin` (rad/s). Gravity makes it precess at about m g l/(I₃ spin).
#[must_use]
pub fn top(spin: f64, tilt: f64, friction: f64) -> Scene {
    // The centre of mass is at 3/4 of the height from the tip.
    let distance = 0.75 * 2.0 * HALF_HEIGHT;
    let (sin, cos) = libm::sincos(tilt);
    // The tip is at the positive end of the cone's axis: turn it down.
    let (half_sin, half_cos) = libm::sincos(0.5 * (PI - tilt));
    let cone = Shape::Cone {
        half_height: HALF_HEIGHT,
        radius: RADIUS,
    };
    let body = BodySpec {
        orientation: DQuat::from_xyzw(half_sin, 0.0, 0.0, half_cos),
        twist: Twist {
            linear: DVec3::ZERO,
            angular: DVec3::new(0.0, 0.0, -spin),
        },
        ..BodySpec::dynamic(cone, DVec3::new(0.0, distance * sin, distance * cos))
    };
    // The centre starts at rest with the tip: the nutation that follows is part of the scene.
    let ground = Shape::HalfSpace { normal: DVec3::Z };
    let mut scene = with_friction(friction, 5.0);
    // The error of the tilt is of first order in h: 1/200 s would let the top fall in half a second.
    scene.settings.time_step = 1e-4;
    scene.bodies = vec![
        common(BodySpec::fixed(ground, DVec3::ZERO)),
        named("top", common(body)),
    ];
    scene
}
