//! A cube on a slope.

use super::{common, cuboid, named, with_friction};
use glam::{DQuat, DVec3};
use moreau::Accuracy;
use moreau::scene::{BodySpec, Scene};

/// A cube of 0.5 m, called `cube`, at rest on a slope of the angle `atan(f μ)`, downhill along +x.
/// With μ = 0.5 the benchmark scene `incline_f`.
///
/// The exact motion is rest for f ≤ 1 and the acceleration g (sin α − μ cos α) above.
#[must_use]
pub fn incline(f: f64, friction: f64) -> Scene {
    let angle = libm::atan(f * friction);
    let (sin, cos) = libm::sincos(angle);
    let normal = DVec3::new(sin, 0.0, cos);
    let (half_sin, half_cos) = libm::sincos(0.5 * angle);
    let tilted = |body: BodySpec| BodySpec {
        orientation: DQuat::from_xyzw(0.0, half_sin, 0.0, half_cos),
        ..common(body)
    };
    let slope = BodySpec::fixed(cuboid(50.0, 5.0, 0.5), -0.5 * normal);
    let cube = BodySpec::dynamic(cuboid(0.25, 0.25, 0.25), 0.25 * normal);
    let mut scene = with_friction(friction, 2.0);
    // A law to be compared with its closed form, at the cost of one cube.
    scene.settings.accuracy = Accuracy::Reference;
    scene.bodies = vec![tilted(slope), named("cube", tilted(cube))];
    scene
}
