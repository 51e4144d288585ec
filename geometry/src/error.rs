//! Errors of this crate: wrong input, named by field, value and bound.

use thiserror::Error;

/// Why a shape or a set of mass properties was refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// A number must be finite and greater than zero.
    #[error("{field} = {value} must be finite and > 0")]
    NotPositive {
        /// Name of the field.
        field: &'static str,
        /// The value given.
        value: f64,
    },
    /// A number or vector component must be finite.
    #[error("{field} = {value} must be finite")]
    NotFinite {
        /// Name of the field.
        field: &'static str,
        /// The value given.
        value: f64,
    },
    /// A direction must have length 1 (to 1e-6; it is normalised on building).
    #[error("{field} has length {length}, must be 1")]
    NotUnit {
        /// Name of the field.
        field: &'static str,
        /// The length given.
        length: f64,
    },
    /// A list is too short.
    #[error("{field} has {count} entries, at least {least} are needed")]
    TooFew {
        /// Name of the list.
        field: &'static str,
        /// Entries given.
        count: usize,
        /// Entries needed.
        least: usize,
    },
    /// A list is too long.
    #[error("{field} has {count} entries, at most {most} are allowed")]
    TooMany {
        /// Name of the list.
        field: &'static str,
        /// Entries given.
        count: usize,
        /// Entries allowed.
        most: usize,
    },
    /// A list has the wrong length.
    #[error("{field} has {count} entries, must be a multiple of {step}")]
    Ragged {
        /// Name of the list.
        field: &'static str,
        /// Entries given.
        count: usize,
        /// The row length.
        step: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {index}, but there are only {count}")]
    IndexOutOfRange {
        /// Number of the triangle.
        triangle: usize,
        /// The index given.
        index: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A triangle has no area, or all triangles of a mesh collapse when vertices that are near each other become one.
    #[error("triangle {triangle} has area {area}, must be > 0")]
    DegenerateTriangle {
        /// Number of the triangle.
        triangle: usize,
        /// Its area (m²).
        area: f64,
    },
    /// The points of a convex hull lie in a plane, or nearly so: to 1e-4 of their diameter.
    #[error("hull points have thickness {thickness}, must exceed {bound}")]
    Flat {
        /// Least extent found (m).
        thickness: f64,
        /// Least extent allowed (m).
        bound: f64,
    },
    /// The convex hull could not be built.
    #[error("the convex hull of {count} points could not be built: {reason}")]
    Hull {
        /// Number of points.
        count: usize,
        /// What went wrong.
        reason: String,
    },
    /// A part of a compound is itself composite or a surface.
    #[error("part {part} of a compound is a {kind}; only convex solids are allowed")]
    NestedPart {
        /// Number of the part.
        part: usize,
        /// Its kind.
        kind: &'static str,
    },
    /// Something that is given for each part of a compound is not.
    #[error("{given} given for the {parts} parts of a shape")]
    PartCount {
        /// How many were given.
        given: usize,
        /// Parts of the shape, 0 if it is no compound.
        parts: usize,
    },
    /// A surface has no mass.
    #[error("a {kind} is a surface and has no mass")]
    NoVolume {
        /// The kind of shape.
        kind: &'static str,
    },
    /// Principal moments that no mass distribution has.
    #[error("principal inertia {largest} exceeds the sum {sum} of the other two")]
    TriangleInequality {
        /// The largest principal moment (kg m²).
        largest: f64,
        /// The sum of the other two (kg m²).
        sum: f64,
    },
    /// An inertia tensor must be symmetric.
    #[error("inertia tensor is not symmetric: difference {difference}, bound {bound}")]
    NotSymmetric {
        /// Largest difference across the diagonal (kg m²).
        difference: f64,
        /// Largest difference allowed (kg m²).
        bound: f64,
    },
}

pub(crate) fn positive(field: &'static str, value: f64) -> Result<f64, GeometryError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(GeometryError::NotPositive { field, value })
    }
}

pub(crate) fn finite(field: &'static str, vector: glam::DVec3) -> Result<(), GeometryError> {
    match vector.to_array().into_iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(value) => Err(GeometryError::NotFinite { field, value }),
    }
}

pub(crate) fn unit(field: &'static str, length: f64) -> Result<(), GeometryError> {
    if (length - 1.0).abs() <= 1e-6 {
        Ok(())
    } else {
        Err(GeometryError::NotUnit { field, length })
    }
}
