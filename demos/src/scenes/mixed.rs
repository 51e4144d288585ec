//! Every shape on bumpy ground.

use super::{common, cuboid, fixed_block, named, with_friction};
use glam::{DQuat, DVec3};
use moreau::geometry::{Frame, Shape};
use moreau::scene::{BodySpec, Lattice, Scene};
use std::f64::consts::PI;

/// Half the width of the ground between the walls, m.
const WIDTH: f64 = 1.2;
/// Samples of the ground along each side.
const SAMPLES: usize = 25;

/// `layers` layers of 4 × 3 bodies in random orientations, one shape a layer in turn, that rain on
/// a height field between four walls.
#[must_use]
pub fn mixed(layers: usize, friction: f64) -> Scene {
    let mut scene = with_friction(friction, 4.0);
    scene.bodies.push(named("ground", common(ground())));
    let (side, middle) = (WIDTH + 0.5, 1.5);
    for (half, x, y) in [
        ([0.5, WIDTH + 1.0, middle], -side, 0.0),
        ([0.5, WIDTH + 1.0, middle], side, 0.0),
        ([WIDTH, 0.5, middle], 0.0, -side),
        ([WIDTH, 0.5, middle], 0.0, side),
    ] {
        scene.bodies.push(fixed_block(half, [x, y, middle]));
    }
    let shapes = shapes();
    for layer in 0..layers {
        let shape = shapes[layer % shapes.len()].clone();
        scene.lattices.push(Lattice {
            count: [4, 3, 1],
            spacing: DVec3::new(0.55, 0.7, 0.0),
            origin: DVec3::new(0.0, 0.0, 0.8 + 0.4 * layer as f64),
            jitter: 0.02,
            random_orientation: true,
            body: common(BodySpec::dynamic(shape, DVec3::ZERO)),
        });
    }
    scene
}

/// Bumps 0.3 m high, two along each side.
fn ground() -> BodySpec {
    let size = 2.0 * (WIDTH + 0.2);
    let profile = |i: usize| {
        let phase = 4.0 * PI * i as f64 / (SAMPLES - 1) as f64;
        0.5 * (1.0 - libm::cos(phase))
    };
    let heights = (0..SAMPLES * SAMPLES)
        .map(|k| 0.3 * profile(k % SAMPLES) * profile(k / SAMPLES))
        .collect();
    let field = Shape::HeightField {
        x_size: size,
        y_size: size,
        columns: SAMPLES,
        heights,
    };
    BodySpec::fixed(field, DVec3::ZERO)
}

/// One of each solid shape, none larger than 0.2 m from its centre.
fn shapes() -> [Shape; 7] {
    let along_x = |x| Frame::new(DVec3::new(x, 0.0, 0.0), DQuat::IDENTITY);
    [
        Shape::Sphere { radius: 0.14 },
        cuboid(0.14, 0.1, 0.07),
        Shape::Capsule {
            half_height: 0.1,
            radius: 0.08,
        },
        Shape::Cylinder {
            half_height: 0.1,
            radius: 0.12,
        },
        Shape::Cone {
            half_height: 0.12,
            radius: 0.13,
        },
        Shape::ConvexHull {
            points: vec![
                DVec3::new(0.16, 0.0, -0.06),
                DVec3::new(-0.09, 0.13, -0.07),
                DVec3::new(-0.1, -0.12, -0.05),
                DVec3::new(0.02, 0.01, 0.15),
                DVec3::new(0.07, 0.1, 0.06),
            ],
        },
        // A dumb-bell.
        Shape::Compound {
            parts: vec![
                (along_x(-0.1), Shape::Sphere { radius: 0.07 }),
                (along_x(0.1), Shape::Sphere { radius: 0.07 }),
                (along_x(0.0), cuboid(0.1, 0.03, 0.03)),
            ],
        },
    ]
}
