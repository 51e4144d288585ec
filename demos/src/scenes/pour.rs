//! Spheres that fall into a box.

use super::{common, container, with_friction};
use glam::DVec3;
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Lattice, Scene};

fn lattice(count: [usize; 3], pitch: f64, origin: DVec3, jitter: f64, radius: f64) -> Lattice {
    Lattice {
        count,
        spacing: DVec3::splat(pitch),
        origin,
        jitter,
        random_orientation: false,
        body: common(BodySpec::dynamic(Shape::Sphere { radius }, DVec3::ZERO)),
    }
}

/// A column of `n` spheres above an open box twice as wide. It falls apart into a heap.
#[must_use]
pub fn pour(n: usize, radius: f64, friction: f64) -> Scene {
    let pitch = 2.1 * radius;
    let jitter = 0.04 * radius;
    // The column is three times as high as wide.
    let side = (libm::cbrt(n as f64 / 3.0).ceil() as usize).max(1);
    let layers = n / (side * side);
    let width = pitch * side as f64;
    let bottom = 5.0 * radius;
    let volume = n as f64 * pitch * pitch * pitch;
    let box_height = (1.5 * volume / (4.0 * width * width)).max(4.0 * radius);

    let mut scene = with_friction(friction, 3.0);
    scene.bodies = container(width, box_height);
    // Full layers, then what is left: full rows, then single spheres.
    let left = n - layers * side * side;
    let (rows, singles) = (left / side, left % side);
    let top = bottom + pitch * layers as f64;
    let beside = 0.5 * pitch * (rows as f64 + 1.0);
    for (count, origin) in [
        ([side, side, layers], DVec3::new(0.0, 0.0, bottom)),
        ([side, rows, 1], DVec3::new(0.0, 0.0, top)),
        ([singles, 1, 1], DVec3::new(0.0, beside, top)),
    ] {
        if count.iter().all(|&n| n > 0) {
            let part = lattice(count, pitch, origin, jitter, radius);
            scene.lattices.push(part);
        }
    }
    scene
}

/// The benchmark scene `sphere_pour_N`: `nx × ny × nz` spheres of radius 0.1 m in a container
/// that is hardly wider than their lattice.
///
/// The specification has N = 1,000, 8,000 and 32,000. 100,000 = 50 × 50 × 40 and
/// 1,000,000 = 100 × 100 × 100 follow the same formulas and are an extension of this project.
#[must_use]
pub fn sphere_pour([nx, ny, nz]: [usize; 3]) -> Scene {
    let (pitch, bottom) = (0.21, 0.5);
    let width = 0.5 * pitch * nx as f64 + 0.01;
    let height = bottom + pitch * nz as f64 + 1.0;
    let mut scene = with_friction(0.5, 3.0);
    scene.bodies = container(width, height);
    let origin = DVec3::new(0.0, 0.0, bottom);
    scene
        .lattices
        .push(lattice([nx, ny, nz], pitch, origin, 0.004, 0.1));
    scene
}
