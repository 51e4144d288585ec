//! The component that gives a body its shape.

use super::notices::lost;
use super::{Mass, PartMaterials, Pose};
use crate::bodies::check::center_of_mass;
use crate::error::BodyError;
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_geometry::{Geometry, GeometryError, Shape};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// The shape of a body. Lengths in m; axes of symmetry are the local `z` axis.
///
/// The description is checked when the body is first seen, not here: a wrong one is a typed error
/// of [`crate::Simulation::spawn`] or of the next step. To change a shape, insert a new collider.
/// Clones share one description and its checked form.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        opaque,
        bevy_ecs::reflect::Component,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[component(immutable, summary_tick, on_remove = lost)]
#[serde(from = "Shape", into = "Shape")]
pub struct Collider {
    shared: Arc<Described>,
}

#[derive(Debug)]
struct Described {
    shape: Shape,
    /// The checked form, made when it is first asked for.
    geometry: OnceLock<Result<Geometry, GeometryError>>,
}

impl PartialEq for Collider {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) || self.shape() == other.shape()
    }
}

impl From<Shape> for Collider {
    fn from(shape: Shape) -> Self {
        Self::new(shape)
    }
}

impl From<Collider> for Shape {
    fn from(collider: Collider) -> Self {
        collider.shape().clone()
    }
}

impl Collider {
    /// A collider of any shape.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self {
            shared: Arc::new(Described {
                shape,
                geometry: OnceLock::new(),
            }),
        }
    }

    /// The checked form of the shape; built once, shared by clones.
    ///
    /// # Errors
    /// [`GeometryError`] names the field of the shape, its value and the bound.
    pub fn geometry(&self) -> Result<Geometry, GeometryError> {
        let Described { shape, geometry } = &*self.shared;
        geometry.get_or_init(|| shape.build()).clone()
    }

    /// Where the description is, which clones share.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shared.shape
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

    /// Several shapes that move as one, each with its pose in the frame of the whole.
    #[must_use]
    pub fn compound(parts: Vec<(Pose, Shape)>) -> Self {
        let parts = parts.into_iter();
        Self::new(Shape::Compound {
            parts: parts.map(|(pose, shape)| (pose.into(), shape)).collect(),
        })
    }

    /// Centre of mass in the shape's own frame, m; the origin for shapes that are not solid.
    ///
    /// # Errors
    /// [`GeometryError`] if the shape is wrong.
    pub fn center_of_mass(&self) -> Result<DVec3, GeometryError> {
        let geometry = self.geometry()?;
        if geometry.is_solid() {
            Ok(geometry.mass_properties(1.0)?.center_of_mass)
        } else {
            Ok(DVec3::ZERO)
        }
    }

    /// Centre of mass in the shape's own frame (m) of a body with this collider, mass and materials of parts: what stands between its
    /// [`Pose`] and the pose of the shape, see [`Pose::of_shape`].
    ///
    /// # Errors
    /// [`BodyError`] if the shape is wrong.
    pub fn center_of_body(
        &self,
        mass: &Mass,
        parts: Option<&PartMaterials>,
    ) -> Result<DVec3, BodyError> {
        center_of_mass(&self.geometry()?, mass, parts)
    }
}
