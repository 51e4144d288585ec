//! A masonry arch: wedges, no mortar.

use super::{common, cuboid, named, with_friction};
use glam::DVec3;
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Scene};
use std::f64::consts::PI;

/// Mean radius of the ring, m.
pub const RADIUS: f64 = 1.0;
/// Half the width of the arch, m.
pub const HALF_WIDTH: f64 = 0.25;

/// A semicircular arch of `n` voussoirs `voussoir_0`, `voussoir_1`, … from right to left, on two
/// static abutments with their tops at z = 0, half a metre above the ground. `thickness` is that
/// of the ring over its mean radius. The joints are radial and neighbours share them exactly.
///
/// Such an arch stands if it is thick enough (0.1075 of the mean radius, Milankovitch's limit for
/// radial joints) and rough enough.
#[must_use]
pub fn arch(n: usize, thickness: f64, friction: f64) -> Scene {
    let inner = RADIUS * (1.0 - 0.5 * thickness);
    let outer = RADIUS * (1.0 + 0.5 * thickness);
    let mut scene = with_friction(friction, 10.0);
    let ground = Shape::HalfSpace { normal: DVec3::Z };
    let below = DVec3::new(0.0, 0.0, -0.5);
    scene.bodies.push(common(BodySpec::fixed(ground, below)));
    for (side, name) in [(1.0, "abutment_right"), (-1.0, "abutment_left")] {
        let shape = cuboid(0.5 * (outer - inner) + 0.1, HALF_WIDTH + 0.1, 0.25);
        let position = DVec3::new(side * RADIUS, 0.0, -0.25);
        let abutment = common(BodySpec::fixed(shape, position));
        scene.bodies.push(named(name, abutment));
    }
    let angle = PI / n as f64;
    for i in 0..n {
        let joints = [i as f64, (i + 1) as f64].map(|k| k * angle);
        let wedge = common(voussoir(inner, outer, joints));
        scene.bodies.push(named(format!("voussoir_{i}"), wedge));
    }
    scene
}

/// The block between the joints at two angles (rad) from the x axis.
fn voussoir(inner: f64, outer: f64, joints: [f64; 2]) -> BodySpec {
    let corners = joints.map(|angle| {
        let (sin, cos) = libm::sincos(angle);
        [inner, outer].map(|radius| DVec3::new(radius * cos, 0.0, radius * sin))
    });
    // Centroid of an isosceles trapezium with parallel sides a, b at the distances p, q.
    let (half, middle) = (0.5 * (joints[1] - joints[0]), 0.5 * (joints[0] + joints[1]));
    let (half_sin, half_cos) = libm::sincos(half);
    let (a, b) = (inner * half_sin, outer * half_sin);
    let (p, q) = (inner * half_cos, outer * half_cos);
    let distance = p + (q - p) * (a + 2.0 * b) / (3.0 * (a + b));
    let (sin, cos) = libm::sincos(middle);
    let center = DVec3::new(distance * cos, 0.0, distance * sin);

    let width = DVec3::new(0.0, HALF_WIDTH, 0.0);
    let points = corners
        .into_iter()
        .flatten()
        .flat_map(|corner| [corner - width, corner + width])
        .map(|corner| corner - center)
        .collect();
    BodySpec::dynamic(Shape::ConvexHull { points }, center)
}
