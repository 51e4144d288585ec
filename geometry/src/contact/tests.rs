//! Laws of the narrow phase, on every pair of shapes.

mod crowded;
mod depths;
mod fast_paths;
mod hulls;
mod invariance;
mod optimality;
mod parts;
mod resting;
mod sliding;
mod terrain;

use super::{ContactPoint, contacts, contacts_or_plane, separating_planes};
use crate::{Frame, Geometry, Shape};
use glam::{DQuat, DVec3};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Runs a property on `cases` inputs of a fixed seed.
fn check<S: Strategy>(
    cases: u32,
    strategy: &S,
    law: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng)
        .run(strategy, law)
        .unwrap();
}

fn build(shape: Shape) -> Geometry {
    shape.build().unwrap()
}

fn cuboid(x: f64, y: f64, z: f64) -> Geometry {
    build(Shape::Cuboid {
        half_extents: DVec3::new(x, y, z),
    })
}

fn found(a: &Geometry, pa: &Frame, b: &Geometry, pb: &Frame, margin: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    contacts(a, pa, b, pb, margin, &mut out);
    out
}

fn at(x: f64, y: f64, z: f64) -> Frame {
    Frame::from_position(DVec3::new(x, y, z))
}

/// Rotation by the half angle's tangent `t` about an axis: `q ∝ (axis t, 1)`.
fn turn(axis: DVec3, t: f64) -> DQuat {
    let v = axis.normalize() * t;
    DQuat::from_xyzw(v.x, v.y, v.z, 1.0).normalize()
}

/// One of every convex kind, of size about 1 m.
fn convex_shapes() -> Vec<Geometry> {
    let wedge = [
        (-0.5, -0.4, -0.3),
        (0.6, -0.4, -0.3),
        (0.1, 0.7, -0.3),
        (-0.4, -0.3, 0.5),
        (0.2, -0.2, 0.6),
        (0.0, 0.3, 0.45),
        (0.5, 0.4, 0.1),
    ];
    vec![
        build(Shape::Sphere { radius: 0.5 }),
        cuboid(0.5, 0.4, 0.3),
        build(Shape::Capsule {
            half_height: 0.4,
            radius: 0.25,
        }),
        build(Shape::Cylinder {
            half_height: 0.4,
            radius: 0.35,
        }),
        build(Shape::Cone {
            half_height: 0.5,
            radius: 0.4,
        }),
        build(Shape::ConvexHull {
            points: wedge.iter().map(|&(x, y, z)| DVec3::new(x, y, z)).collect(),
        }),
    ]
}

/// The convex shapes, a compound and the surfaces.
fn all_shapes() -> Vec<Geometry> {
    let mut shapes = convex_shapes();
    shapes.push(build(Shape::Compound {
        parts: vec![
            (
                at(0.3, 0.0, 0.0),
                Shape::Cuboid {
                    half_extents: DVec3::new(0.2, 0.4, 0.2),
                },
            ),
            (at(-0.2, 0.0, 0.1), Shape::Sphere { radius: 0.35 }),
            (
                Frame::new(DVec3::new(0.0, 0.2, -0.1), turn(DVec3::X, 0.6)),
                Shape::Capsule {
                    half_height: 0.3,
                    radius: 0.15,
                },
            ),
        ],
    }));
    shapes.push(build(Shape::HalfSpace { normal: DVec3::Z }));
    shapes.push(terrain());
    shapes.push(flat_field());
    shapes
}

/// A pyramid-like mesh, convex edges.
fn terrain() -> Geometry {
    build(Shape::TriangleMesh {
        vertices: vec![
            DVec3::new(-1.0, -1.0, -0.2),
            DVec3::new(1.0, -1.0, -0.2),
            DVec3::new(1.0, 1.0, -0.2),
            DVec3::new(-1.0, 1.0, -0.2),
            DVec3::new(0.1, 0.05, 0.3),
        ],
        triangles: vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
    })
}

fn flat_field() -> Geometry {
    build(Shape::HeightField {
        x_size: 4.0,
        y_size: 4.0,
        columns: 9,
        heights: vec![0.0; 81],
    })
}

fn vector(limit: f64) -> impl Strategy<Value = DVec3> {
    (-limit..limit, -limit..limit, -limit..limit).prop_map(|(x, y, z)| DVec3::new(x, y, z))
}

fn orientation() -> impl Strategy<Value = DQuat> {
    (vector(1.0), -1.0..1.0_f64)
        .prop_filter("not zero", |(v, w)| v.length_squared() + w * w > 0.01)
        .prop_map(|(v, w)| DQuat::from_xyzw(v.x, v.y, v.z, w).normalize())
}

fn pose(limit: f64) -> impl Strategy<Value = Frame> {
    (vector(limit), orientation()).prop_map(|(p, q)| Frame::new(p, q))
}
