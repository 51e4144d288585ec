//! Shapes as they are stored: compounds are flat, so that no bytes nest without end.

use super::error::SnapshotError;
use glam::{DQuat, DVec3};
use moreau_geometry::{Frame, Shape};
use serde::{Deserialize, Serialize};

/// A shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum StoredShape {
    One(Plain),
    Compound(Vec<(DVec3, DQuat, Plain)>),
}

/// A shape without parts: see [`Shape`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Plain {
    Sphere(f64),
    Cuboid(DVec3),
    /// Half-height and radius, as of the next two.
    Capsule([f64; 2]),
    Cylinder([f64; 2]),
    Cone([f64; 2]),
    ConvexHull(Vec<DVec3>),
    HalfSpace(DVec3),
    TriangleMesh(Vec<DVec3>, Vec<[u32; 3]>),
    /// Extents in x and y, columns, heights.
    HeightField([f64; 2], u64, Vec<f64>),
}

impl TryFrom<&Shape> for StoredShape {
    type Error = SnapshotError;

    fn try_from(shape: &Shape) -> Result<Self, SnapshotError> {
        let Shape::Compound { parts } = shape else {
            return Ok(Self::One(Plain::try_from(shape)?));
        };
        let parts = parts.iter().map(|(pose, shape)| {
            let part = Plain::try_from(shape)?;
            Ok((pose.position, pose.orientation, part))
        });
        Ok(Self::Compound(parts.collect::<Result<_, SnapshotError>>()?))
    }
}

impl TryFrom<&Shape> for Plain {
    type Error = SnapshotError;

    fn try_from(shape: &Shape) -> Result<Self, SnapshotError> {
        Ok(match shape {
            Shape::Sphere { radius } => Self::Sphere(*radius),
            Shape::Cuboid { half_extents } => Self::Cuboid(*half_extents),
            Shape::Capsule {
                half_height,
                radius,
            } => Self::Capsule([*half_height, *radius]),
            Shape::Cylinder {
                half_height,
                radius,
            } => Self::Cylinder([*half_height, *radius]),
            Shape::Cone {
                half_height,
                radius,
            } => Self::Cone([*half_height, *radius]),
            Shape::ConvexHull { points } => Self::ConvexHull(points.clone()),
            Shape::HalfSpace { normal } => Self::HalfSpace(*normal),
            Shape::TriangleMesh {
                vertices,
                triangles,
            } => Self::TriangleMesh(vertices.clone(), triangles.clone()),
            Shape::HeightField {
                x_size,
                y_size,
                columns,
                heights,
            } => Self::HeightField([*x_size, *y_size], *columns as u64, heights.clone()),
            Shape::Compound { .. } => {
                return Err(SnapshotError::malformed(
                    "shapes",
                    "a compound in a compound",
                ));
            }
        })
    }
}

impl From<StoredShape> for Shape {
    fn from(stored: StoredShape) -> Self {
        match stored {
            StoredShape::One(plain) => plain.into(),
            StoredShape::Compound(parts) => {
                let parts = parts.into_iter();
                let parts = parts
                    .map(|(position, turn, part)| (Frame::new(position, turn), part.into()))
                    .collect();
                Self::Compound { parts }
            }
        }
    }
}

impl From<Plain> for Shape {
    fn from(plain: Plain) -> Self {
        match plain {
            Plain::Sphere(radius) => Self::Sphere { radius },
            Plain::Cuboid(half_extents) => Self::Cuboid { half_extents },
            Plain::Capsule([half_height, radius]) => Self::Capsule {
                half_height,
                radius,
            },
            Plain::Cylinder([half_height, radius]) => Self::Cylinder {
                half_height,
                radius,
            },
            Plain::Cone([half_height, radius]) => Self::Cone {
                half_height,
                radius,
            },
            Plain::ConvexHull(points) => Self::ConvexHull { points },
            Plain::HalfSpace(normal) => Self::HalfSpace { normal },
            Plain::TriangleMesh(vertices, triangles) => Self::TriangleMesh {
                vertices,
                triangles,
            },
            Plain::HeightField([x_size, y_size], columns, heights) => Self::HeightField {
                x_size,
                y_size,
                columns: usize::try_from(columns).unwrap_or(usize::MAX),
                heights,
            },
        }
    }
}
