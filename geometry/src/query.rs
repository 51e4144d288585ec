//! Questions about shapes at given poses: rays, casts of shapes, points, distances, overlaps.
//!
//! | question | function | answer |
//! |---|---|---|
//! | where does a ray first meet a shape | [`cast_ray`] | [`RayHit`] |
//! | all places where it does | [`ray_hits`] | [`RayHit`]s in order |
//! | when does a shape that moves along a line first touch another | [`cast_shape`] | [`ShapeHit`] |
//! | which point of a shape is nearest to a point | [`closest_point`] | [`PointHit`], signed |
//! | is a point within a shape | [`contains`] | yes or no |
//! | how far apart are two shapes | [`distance`] | [`Nearest`], signed |
//! | do two shapes share a point | [`overlaps`] | yes or no |
//! | which flat faces does a solid have | [`convex_part`] | [`ConvexPart`]: its [`Face`]s |
//!
//! Lengths in m, inertial frame. Shapes are closed: their surface belongs to them. Half-spaces are solid below their plane; meshes and
//! height fields are thin sheets, which are met from both sides and contain no point. The answers are pure functions of the arguments.
//!
//! Rays are met in closed form, with a relative error of the distance of some 1e-15, but for rays that graze a curved side: there the square
//! root of it. Triangles that share an edge let no ray through between them. Poses must be finite, their quaternions of unit length: this is
//! the caller's duty, as in [`contacts`](crate::contacts); with others nothing is met.
//!
//! [`Tree`] finds the shapes of a crowd that a ray, a moving box or a box may meet.
//!
//! ```
//! use glam::DVec3;
//! use moreau_geometry::query::{Ray, cast_ray};
//! use moreau_geometry::{Frame, Shape};
//!
//! let ball = Shape::Sphere { radius: 0.5 }.build()?;
//! let ray = Ray::new(DVec3::new(-3.0, 0.0, 0.0), DVec3::X)?;
//! let hit = cast_ray(&ball, &Frame::IDENTITY, &ray);
//! assert!(hit.is_some_and(|hit| hit.distance == 2.5 && hit.normal == DVec3::NEG_X));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axes;
mod cast_shape;
mod chord;
mod convex_pair;
mod error;
mod faces;
mod flight;
mod pair;
mod point;
mod ray;
mod shape_ray;
mod sheet;
mod tree;
mod tree_build;
mod tree_walk;

pub use cast_shape::{ShapeHit, Sweep, cast_shape};
pub use error::QueryError;
pub use faces::{ConvexPart, Face, convex_part, is_near, parts_near};
pub use pair::{Nearest, distance, overlaps};
pub use point::{PointHit, closest_point, contains};
pub use ray::{Inside, Ray, RayHit};
pub use shape_ray::{cast_ray, ray_hits};
pub use tree::Tree;

pub(crate) use sheet::{Sheared, SheetTree};

#[cfg(test)]
mod tests;
