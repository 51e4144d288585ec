//! Geometry of the Moreau engine: shapes, mass properties, broad phase and narrow phase.
//!
//! * [`Shape`] is a plain description; [`Shape::build`] validates it into a [`Geometry`].
//! * [`BroadPhase`] lists the pairs of bodies that may meet.
//! * [`contacts`] lists the contact points of one pair, with signed gaps and unit normals that
//!   point **from body B to body A**.
//!
//! All lengths are in metres, masses in kilograms. The crate knows neither time nor dynamics, and
//! every contact is a pure function of the arguments: no cache, no history, no random numbers.
//!
//! ```
//! use glam::DVec3;
//! use moreau_geometry::{Frame, Shape, contacts};
//!
//! let ball = Shape::Sphere { radius: 0.5 }.build()?;
//! let floor = Shape::HalfSpace { normal: DVec3::Z }.build()?;
//! let above = Frame::from_position(DVec3::new(0.0, 0.0, 0.51));
//! let mut found = Vec::new();
//! contacts(&ball, &above, &floor, &Frame::default(), 0.1, &mut found);
//! assert_eq!(found.len(), 1);
//! assert!((found[0].gap - 0.01).abs() < 1e-15);
//! assert_eq!(found[0].normal, DVec3::Z);
//! # Ok::<(), moreau_geometry::GeometryError>(())
//! ```
#![forbid(unsafe_code)]

mod aabb;
mod blocks;
mod broad_phase;
mod contact;
mod convex_hull;
mod error;
mod frame;
mod frustum;
mod geometry;
mod inertia;
mod mass_properties;
pub mod orientation;
mod polytope;
mod projection;
pub mod query;
mod shape;
mod surface;
mod symmetry;
mod winding;

pub use aabb::Aabb;
pub use broad_phase::{BroadPhase, Crowd, Extent};
pub use contact::{
    Ball, ContactPoint, ball_contact, contacts, contacts_or_plane, separating_planes,
};
pub use error::GeometryError;
pub use frame::Frame;
pub use geometry::Geometry;
pub use mass_properties::MassProperties;
pub use shape::Shape;
pub use winding::Winding;
