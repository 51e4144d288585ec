//! Validated shapes, ready for queries.

use crate::convex_hull::convex_hull;
use crate::error::{finite, positive, unit};
use crate::frustum::Frustum;
use crate::inertia::Moments;
use crate::polytope::Polyhedron;
use crate::surface::{Field, Mesh, Surface};
use crate::{Aabb, Frame, GeometryError, MassProperties, Shape, Winding};
use glam::{DMat3, DVec3};
use std::sync::Arc;

/// A validated shape. Immutable; clones share their data.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::Shape;
///
/// let brick = Shape::Cuboid { half_extents: DVec3::new(0.1, 0.05, 0.03) }.build()?;
/// let properties = brick.mass_properties(2000.0)?;
/// assert!((properties.mass - 2.4).abs() < 1e-12);
/// assert!(brick.is_solid() && (brick.size() - 0.03).abs() < 1e-15);
/// assert!(Shape::Sphere { radius: -1.0 }.build().is_err());
/// # Ok::<(), moreau_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Geometry {
    inner: Arc<Inner>,
}

impl PartialEq for Geometry {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) || self.shape() == other.shape()
    }
}

#[derive(Debug)]
struct Inner {
    shape: Shape,
    body: Body,
    bounding_radius: f64,
    size: f64,
}

/// What the queries work on.
#[derive(Debug)]
pub(crate) enum Body {
    Convex(Convex),
    /// Unit outward normal of the plane through the local origin.
    HalfSpace(DVec3),
    Compound(Vec<Part>),
    Surface(Surface),
}

/// A convex solid.
#[derive(Clone, Debug)]
pub(crate) enum Convex {
    Sphere { radius: f64 },
    Capsule { half_height: f64, radius: f64 },
    Frustum(Frustum),
    Polyhedron(Polyhedron),
}

/// A convex solid placed in the frame of a compound.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) pose: Frame,
    pub(crate) convex: Convex,
    pub(crate) bounds: Aabb,
}

impl Geometry {
    pub(crate) fn new(shape: Shape) -> Result<Self, GeometryError> {
        let body = Body::new(&shape)?;
        Ok(Self {
            inner: Arc::new(Inner {
                bounding_radius: body.bounding_radius(),
                size: body.size(),
                shape,
                body,
            }),
        })
    }

    /// The description this was built from.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.inner.shape
    }

    pub(crate) fn body(&self) -> &Body {
        &self.inner.body
    }

    /// Mass properties of the solid filled with `density` (kg/m³, > 0), in the local frame.
    ///
    /// # Errors
    /// A density that is not positive, or a surface.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, GeometryError> {
        self.filled(density, |_| 1.0)
    }

    /// The same of a compound with a density for each of its parts, in their order.
    ///
    /// # Errors
    /// As [`Self::mass_properties`], or another number of densities than of parts.
    pub fn mass_properties_by_part(
        &self,
        densities: &[f64],
    ) -> Result<MassProperties, GeometryError> {
        let parts = self.part_count();
        let [first, ..] = densities else {
            return Err(GeometryError::PartCount { given: 0, parts });
        };
        if densities.len() != parts {
            return Err(GeometryError::PartCount {
                given: densities.len(),
                parts,
            });
        }
        for density in densities {
            positive("density", *density)?;
        }
        self.filled(*first, |part| densities[part] / first)
    }

    /// Filled with `density` times the factor of each part.
    fn filled(
        &self,
        density: f64,
        factor: impl Fn(usize) -> f64 + Clone,
    ) -> Result<MassProperties, GeometryError> {
        positive("density", density)?;
        let moments = match &self.inner.body {
            Body::Convex(convex) => convex.moments(),
            Body::Compound(parts) => Moments::sum(parts.iter().enumerate().map(|(index, part)| {
                let moments = part.convex.moments().placed(&part.pose);
                moments.times(factor(index))
            })),
            Body::HalfSpace(_) | Body::Surface(_) => {
                return Err(GeometryError::NoVolume {
                    kind: self.inner.shape.kind(),
                });
            }
        };
        MassProperties::from_inertia_tensor(
            density * moments.volume,
            moments.centroid,
            moments.inertia() * density,
        )
    }

    /// Box around the shape at `pose`, in the inertial frame. Tight for solids; infinite for a
    /// half-space, except across a plane that is normal to an axis.
    #[must_use]
    pub fn aabb(&self, pose: &Frame) -> Aabb {
        match &self.inner.body {
            Body::Convex(convex) => convex.aabb(pose),
            Body::HalfSpace(normal) => half_space_aabb(pose.rotate(*normal), pose.position),
            Body::Compound(parts) => parts
                .iter()
                .map(|part| part.convex.aabb(&pose.compose(&part.pose)))
                .reduce(|a, b| a.union(&b))
                .unwrap_or(Aabb::new(pose.position, pose.position)),
            Body::Surface(surface) => turned(&surface.bounds(), pose),
        }
    }

    /// Largest distance of a point of the shape from the local origin (m); for compounds and
    /// surfaces an upper bound; `∞` for a half-space.
    #[must_use]
    pub fn bounding_radius(&self) -> f64 {
        self.inner.bounding_radius
    }

    /// Characteristic half thickness (m): how far the shape may move in one step before it could
    /// pass through another. The least over the parts of a compound; `∞` for surfaces.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.inner.size
    }

    /// Radius (m) if this is a ball about the local origin.
    #[must_use]
    pub fn ball_radius(&self) -> Option<f64> {
        match self.inner.body {
            Body::Convex(Convex::Sphere { radius }) => Some(radius),
            _ => None,
        }
    }

    /// Unit vector along the axis through `center` (m) about which the surface is one of revolution. None for other shapes, and for a ball about `center`.
    #[must_use]
    pub fn axis_through(&self, center: DVec3) -> Option<DVec3> {
        crate::symmetry::axis_through(center, self.shape())
    }

    /// Outward normal if this is a half-space.
    pub(crate) fn plane_normal(&self) -> Option<DVec3> {
        match self.inner.body {
            Body::HalfSpace(normal) => Some(normal),
            _ => None,
        }
    }

    /// Largest `direction · x` over the solid at `pose` (m, for a direction of unit length in the inertial frame); none for half-spaces and
    /// surfaces.
    #[must_use]
    pub fn support(&self, pose: &Frame, direction: DVec3) -> Option<f64> {
        match &self.inner.body {
            Body::Convex(convex) => Some(convex.support(pose, direction)),
            Body::Compound(parts) => {
                let (along, local) = (direction.dot(pose.position), pose.inverse_rotate(direction));
                let parts = parts.iter();
                let most = parts.map(|part| part.convex.support(&part.pose, local));
                most.reduce(f64::max).map(|most| along + most)
            }
            Body::HalfSpace(_) | Body::Surface(_) => None,
        }
    }

    /// How the triangles of a mesh are wound; nothing is wrong with any other shape.
    #[must_use]
    pub fn winding(&self) -> Winding {
        match &self.inner.body {
            Body::Surface(surface) => surface.winding(),
            _ => Winding::default(),
        }
    }

    /// The shape is a convex polytope, or all its parts are.
    #[must_use]
    pub fn is_of_polytopes(&self) -> bool {
        let is_polytope = |convex: &Convex| matches!(convex, Convex::Polyhedron(_));
        match &self.inner.body {
            Body::Convex(convex) => is_polytope(convex),
            Body::Compound(parts) => parts.iter().all(|part| is_polytope(&part.convex)),
            Body::HalfSpace(_) | Body::Surface(_) => false,
        }
    }

    /// Number of parts of a compound; 0 for all other shapes.
    #[must_use]
    pub fn part_count(&self) -> usize {
        match &self.inner.body {
            Body::Compound(parts) => parts.len(),
            _ => 0,
        }
    }

    /// The edges of a box or a convex hull, each once, in the local frame, m; none of other shapes. For drawing.
    ///
    /// ```
    /// use glam::DVec3;
    /// use moreau_geometry::Shape;
    ///
    /// let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    /// let wedge = Shape::ConvexHull { points: corners }.build()?;
    /// assert_eq!(wedge.hull_edges().count(), 6);
    /// # Ok::<(), moreau_geometry::GeometryError>(())
    /// ```
    pub fn hull_edges(&self) -> impl Iterator<Item = [DVec3; 2]> {
        let hull = match &self.inner.body {
            Body::Convex(Convex::Polyhedron(hull)) => Some(hull),
            _ => None,
        };
        let ends =
            |hull: &'_ Polyhedron, edge: [u32; 2]| edge.map(|end| hull.vertices[end as usize]);
        let edges = hull
            .into_iter()
            .flat_map(|hull| hull.edges.iter().map(move |edge| (hull, *edge)));
        edges.map(move |(hull, edge)| ends(hull, edge))
    }

    /// True if the shape is put together from parts.
    #[must_use]
    pub fn is_compound(&self) -> bool {
        matches!(self.inner.body, Body::Compound(_))
    }

    /// True if the shape has a volume; half-spaces, meshes and height fields are surfaces, meant
    /// for static or kinematic bodies.
    #[must_use]
    pub fn is_solid(&self) -> bool {
        matches!(self.inner.body, Body::Convex(_) | Body::Compound(_))
    }
}

impl Body {
    fn new(shape: &Shape) -> Result<Self, GeometryError> {
        Ok(match shape {
            Shape::HalfSpace { normal } => {
                finite("normal", *normal)?;
                unit("normal", normal.length())?;
                Self::HalfSpace(normal.normalize())
            }
            Shape::TriangleMesh {
                vertices,
                triangles,
            } => Self::Surface(Surface::Mesh(Box::new(Mesh::new(vertices, triangles)?))),
            Shape::HeightField {
                x_size,
                y_size,
                columns,
                heights,
            } => Self::Surface(Surface::Field(Field::new(
                *x_size, *y_size, *columns, heights,
            )?)),
            Shape::Compound { parts } => Self::Compound(compound(parts)?),
            convex => Self::Convex(
                Convex::new(convex)?.ok_or(GeometryError::NoVolume { kind: shape.kind() })?,
            ),
        })
    }

    fn bounding_radius(&self) -> f64 {
        match self {
            Self::Convex(convex) => convex.bounding_radius(),
            Self::HalfSpace(_) => f64::INFINITY,
            Self::Compound(parts) => parts.iter().fold(0.0, |radius, part| {
                radius.max(part.pose.position.length() + part.convex.bounding_radius())
            }),
            Self::Surface(surface) => {
                let bounds = surface.bounds();
                bounds.min.abs().max(bounds.max.abs()).length()
            }
        }
    }

    fn size(&self) -> f64 {
        match self {
            Self::Convex(convex) => convex.size(),
            Self::HalfSpace(_) | Self::Surface(_) => f64::INFINITY,
            Self::Compound(parts) => parts
                .iter()
                .fold(f64::INFINITY, |size, part| size.min(part.convex.size())),
        }
    }
}

fn compound(parts: &[(Frame, Shape)]) -> Result<Vec<Part>, GeometryError> {
    if parts.is_empty() {
        return Err(GeometryError::TooFew {
            field: "parts",
            count: 0,
            least: 1,
        });
    }
    parts
        .iter()
        .enumerate()
        .map(|(index, (pose, shape))| {
            finite("parts.position", pose.position)?;
            unit("parts.orientation", pose.orientation.length())?;
            let convex = Convex::new(shape)?.ok_or(GeometryError::NestedPart {
                part: index,
                kind: shape.kind(),
            })?;
            let pose = if pose.orientation == glam::DQuat::IDENTITY {
                *pose
            } else {
                Frame::new(pose.position, pose.orientation.normalize())
            };
            Ok(Part {
                bounds: convex.aabb(&pose),
                pose,
                convex,
            })
        })
        .collect()
}

impl Convex {
    /// The convex solid of a description, `None` if it describes something else.
    fn new(shape: &Shape) -> Result<Option<Self>, GeometryError> {
        Ok(Some(match shape {
            Shape::Sphere { radius } => Self::Sphere {
                radius: positive("radius", *radius)?,
            },
            Shape::Cuboid { half_extents } => {
                for extent in half_extents.to_array() {
                    positive("half_extents", extent)?;
                }
                Self::Polyhedron(Polyhedron::cuboid(*half_extents))
            }
            Shape::Capsule {
                half_height,
                radius,
            } => Self::Capsule {
                half_height: positive("half_height", *half_height)?,
                radius: positive("radius", *radius)?,
            },
            Shape::Cylinder {
                half_height,
                radius,
            } => Self::Frustum(Frustum::new(
                positive("half_height", *half_height)?,
                positive("radius", *radius)?,
                *radius,
            )),
            Shape::Cone {
                half_height,
                radius,
            } => Self::Frustum(Frustum::new(
                positive("half_height", *half_height)?,
                positive("radius", *radius)?,
                0.0,
            )),
            Shape::ConvexHull { points } => Self::Polyhedron(convex_hull(points)?),
            Shape::HalfSpace { .. }
            | Shape::TriangleMesh { .. }
            | Shape::HeightField { .. }
            | Shape::Compound { .. } => return Ok(None),
        }))
    }

    fn moments(&self) -> Moments {
        match self {
            Self::Sphere { radius } => Moments::sphere(*radius),
            Self::Capsule {
                half_height,
                radius,
            } => Moments::capsule(*half_height, *radius),
            Self::Frustum(frustum) => Moments::frustum(frustum),
            Self::Polyhedron(polyhedron) => match polyhedron.half_extents {
                Some(half_extents) => Moments::cuboid(half_extents),
                None => Moments::polyhedron(polyhedron),
            },
        }
    }

    pub(crate) fn support(&self, pose: &Frame, direction: DVec3) -> f64 {
        let along = direction.dot(pose.position);
        along
            + match self {
                Self::Sphere { radius } => radius * direction.length(),
                Self::Capsule {
                    half_height,
                    radius,
                } => {
                    let along = pose.inverse_rotate(direction).z.abs();
                    half_height * along + radius * direction.length()
                }
                Self::Frustum(frustum) => frustum.support(pose.inverse_rotate(direction)),
                Self::Polyhedron(polyhedron) => {
                    let local = pose.inverse_rotate(direction);
                    match polyhedron.half_extents {
                        Some(half) => half.dot(local.abs()),
                        None => local.dot(polyhedron.view().farthest(local)),
                    }
                }
            }
    }

    pub(crate) fn aabb(&self, pose: &Frame) -> Aabb {
        let center = pose.position;
        match self {
            Self::Sphere { radius } => Aabb::from_center(center, DVec3::splat(*radius)),
            Self::Capsule {
                half_height,
                radius,
            } => {
                let axis = pose.rotate(DVec3::Z * *half_height);
                Aabb::from_center(center, axis.abs() + *radius)
            }
            Self::Frustum(frustum) => frustum.aabb(&pose.rotation_matrix(), center),
            Self::Polyhedron(polyhedron) => match polyhedron.half_extents {
                Some(half) => Aabb::from_center(center, absolute(&pose.rotation_matrix()) * half),
                None => {
                    let rotation = pose.rotation_matrix();
                    Aabb::from_points(polyhedron.vertices.iter().map(|v| center + rotation * *v))
                }
            },
        }
    }

    pub(crate) fn bounding_radius(&self) -> f64 {
        match self {
            Self::Sphere { radius } => *radius,
            Self::Capsule {
                half_height,
                radius,
            } => half_height + radius,
            Self::Frustum(frustum) => frustum.bounding_radius(),
            Self::Polyhedron(polyhedron) => polyhedron.bounding_radius,
        }
    }

    pub(crate) fn size(&self) -> f64 {
        match self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => *radius,
            Self::Frustum(frustum) => frustum.half_height.min(frustum.bottom),
            Self::Polyhedron(polyhedron) => match polyhedron.half_extents {
                Some(half_extents) => half_extents.min_element(),
                None => polyhedron.half_thickness,
            },
        }
    }
}

fn absolute(matrix: &DMat3) -> DMat3 {
    DMat3::from_cols(
        matrix.x_axis.abs(),
        matrix.y_axis.abs(),
        matrix.z_axis.abs(),
    )
}

/// Box around a box turned and moved.
fn turned(bounds: &Aabb, pose: &Frame) -> Aabb {
    let half = 0.5 * (bounds.max - bounds.min);
    Aabb::from_center(
        pose.transform_point(0.5 * (bounds.min + bounds.max)),
        absolute(&pose.rotation_matrix()) * half,
    )
}

/// `{x : n·(x − p) ≤ 0}` is bounded only on one side of one axis, and only if `n` is that axis.
fn half_space_aabb(normal: DVec3, position: DVec3) -> Aabb {
    let mut bounds = Aabb::EVERYTHING;
    for axis in 0..3 {
        let unit = DVec3::AXES[axis];
        if normal == unit {
            bounds.max[axis] = position[axis];
        } else if normal == -unit {
            bounds.min[axis] = position[axis];
        }
    }
    bounds
}

#[cfg(test)]
mod tests;
