//! The component that gives a body its shape.

use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_geometry::{Pose as ShapePose, Shape};
use serde::{Deserialize, Serialize};

/// The shape of a body. Lengths in m; axes of symmetry are the local `z` axis.
///
/// The description is checked when the body is first seen, not here: a wrong one is a typed error
/// of [`crate::Simulation::spawn`] or of the next step. To change a shape, insert a new collider.
#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(immutable)]
#[serde(transparent)]
pub struct Collider {
    shape: Shape,
}

impl Collider {
    /// A collider of any shape.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self { shape }
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A ball of the given radius.
    #[must_use]
    pub fn sphere(radius: f64) -> Self {
        Self::new(Shape::Sphere { radius })
    }

    /// A box with the given half-extents.
    #[must_use]
    pub fn cuboid(half_x: f64, half_y: f64, half_z: f64) -> Self {
        Self::new(Shape::Cuboid {
            half_extents: DVec3::new(half_x, half_y, half_z),
        })
    }

    /// A capsule along `z`: a segment of `±half_height` thickened by `radius`.
    #[must_use]
    pub fn capsule(half_height: f64, radius: f64) -> Self {
        Self::new(Shape::Capsule {
            half_height,
            radius,
        })
    }

    /// A cylinder along `z`, `±half_height` long.
    #[must_use]
    pub fn cylinder(half_height: f64, radius: f64) -> Self {
        Self::new(Shape::Cylinder {
            half_height,
            radius,
        })
    }

    /// A cone along `z` with its apex at `+half_height`.
    #[must_use]
    pub fn cone(half_height: f64, radius: f64) -> Self {
        Self::new(Shape::Cone {
            half_height,
            radius,
        })
    }

    /// The convex hull of the points.
    #[must_use]
    pub fn convex_hull(points: Vec<DVec3>) -> Self {
        Self::new(Shape::ConvexHull { points })
    }

    /// Everything below the plane through the local origin with this outward normal.
    /// For static and kinematic bodies.
    #[must_use]
    pub fn half_space(normal: DVec3) -> Self {
        Self::new(Shape::HalfSpace { normal })
    }

    /// A surface of triangles. For static and kinematic bodies.
    #[must_use]
    pub fn triangle_mesh(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Self {
        Self::new(Shape::TriangleMesh {
            vertices,
            triangles,
        })
    }

    /// Several shapes that move as one.
    #[must_use]
    pub fn compound(parts: Vec<(ShapePose, Shape)>) -> Self {
        Self::new(Shape::Compound { parts })
    }
}
