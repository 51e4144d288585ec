//! Queries against brute force, closed forms and invariances.

mod casts;
mod extreme;
mod faces;
mod pairs;
mod points;
mod rays;
mod trees;

use crate::{Frame, Geometry, Shape};
use glam::{DQuat, DVec3};

/// Random numbers: a linear congruence.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// In [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005))
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub(super) fn vector(&mut self) -> DVec3 {
        DVec3::new(
            self.within(-1.0, 1.0),
            self.within(-1.0, 1.0),
            self.within(-1.0, 1.0),
        )
    }

    pub(super) fn direction(&mut self) -> DVec3 {
        loop {
            let v = self.vector();
            if v.length() > 0.01 && v.length() < 1.0 {
                return v.normalize();
            }
        }
    }

    pub(super) fn turn(&mut self) -> DQuat {
        let v = self.vector();
        DQuat::from_xyzw(v.x, v.y, v.z, self.within(-1.0, 1.0)).normalize()
    }

    pub(super) fn pose(&mut self, size: f64) -> Frame {
        Frame::new(self.vector() * size, self.turn())
    }
}

/// Convex solids of about this size (m).
pub(super) fn solids(size: f64) -> Vec<Geometry> {
    let mut random = Random::new(7);
    let points =
        |count: i32, random: &mut Random| (0..count).map(|_| random.direction() * size).collect();
    let shapes = [
        Shape::Sphere { radius: size },
        Shape::Cuboid {
            half_extents: DVec3::new(0.3, 0.7, 1.0) * size,
        },
        Shape::Capsule {
            half_height: size,
            radius: 0.4 * size,
        },
        Shape::Cylinder {
            half_height: 0.5 * size,
            radius: 0.8 * size,
        },
        Shape::Cylinder {
            half_height: 0.02 * size,
            radius: size,
        },
        Shape::Cone {
            half_height: 0.6 * size,
            radius: 0.7 * size,
        },
        Shape::Cone {
            half_height: size,
            radius: 0.1 * size,
        },
        Shape::ConvexHull {
            points: points(8, &mut random),
        },
        Shape::ConvexHull {
            points: points(60, &mut random),
        },
    ];
    shapes.iter().map(|shape| shape.build().unwrap()).collect()
}

/// A ball of triangles, closed, of about this size (m).
pub(super) fn ball_of_triangles(size: f64, rings: u32, columns: u32) -> Shape {
    let mut vertices = vec![DVec3::Z * size, DVec3::NEG_Z * size];
    let mut triangles = Vec::new();
    let at = |ring: u32, column: u32| 2 + ring * columns + column % columns;
    for ring in 0..rings {
        for column in 0..columns {
            let tilt = std::f64::consts::PI * f64::from(ring + 1) / f64::from(rings + 1);
            let around = 2.0 * std::f64::consts::PI * f64::from(column) / f64::from(columns);
            vertices.push(
                DVec3::new(
                    libm::sin(tilt) * libm::cos(around),
                    libm::sin(tilt) * libm::sin(around),
                    libm::cos(tilt),
                ) * size,
            );
        }
    }
    for column in 0..columns {
        triangles.push([0, at(0, column), at(0, column + 1)]);
        triangles.push([1, at(rings - 1, column + 1), at(rings - 1, column)]);
        for ring in 0..rings - 1 {
            let (a, b) = (at(ring, column), at(ring, column + 1));
            let (c, d) = (at(ring + 1, column), at(ring + 1, column + 1));
            triangles.push([a, c, b]);
            triangles.push([b, c, d]);
        }
    }
    Shape::TriangleMesh {
        vertices,
        triangles,
    }
}

/// Waves.
pub(super) fn field(size: f64) -> Shape {
    let heights = (0..30 * 40).map(|k| {
        let (x, y) = (f64::from(k % 30), f64::from(k / 30));
        0.1 * size * (libm::sin(0.7 * x) + libm::cos(0.5 * y))
    });
    Shape::HeightField {
        x_size: 3.0 * size,
        y_size: 4.0 * size,
        columns: 30,
        heights: heights.collect(),
    }
}

pub(super) fn compound(size: f64) -> Shape {
    let mut random = Random::new(3);
    let parts = solids(0.5 * size);
    let parts = parts
        .iter()
        .map(|part| (random.pose(size), part.shape().clone()));
    Shape::Compound {
        parts: parts.collect(),
    }
}

/// Of distances of two solids of about a metre: rims are found by iteration.
pub(super) fn tolerance(a: &Geometry, b: &Geometry) -> f64 {
    let has_rim =
        |solid: &Geometry| matches!(solid.shape(), Shape::Cylinder { .. } | Shape::Cone { .. });
    if has_rim(a) || has_rim(b) { 1e-6 } else { 1e-8 }
}
