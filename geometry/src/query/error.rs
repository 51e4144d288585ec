//! What is wrong with a question.

use glam::DVec3;
use thiserror::Error;

/// A question with a number that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A number is outside its range.
    #[error("{field} is {value}, expected {bound}")]
    Field {
        /// What it is.
        field: &'static str,
        /// The value given.
        value: f64,
        /// What it must satisfy.
        bound: &'static str,
    },
}

/// The vector is finite.
pub(super) fn finite(field: &'static str, vector: DVec3) -> Result<DVec3, QueryError> {
    match vector.to_array().into_iter().find(|x| !x.is_finite()) {
        None => Ok(vector),
        Some(value) => Err(QueryError::Field {
            field,
            value,
            bound: "finite",
        }),
    }
}

/// The unit vector along one that is finite and not zero.
pub(super) fn unit(field: &'static str, vector: DVec3) -> Result<DVec3, QueryError> {
    let vector = finite(field, vector)?;
    // Scaled first: squares of lengths may leave the range of numbers.
    let largest = vector.abs().max_element();
    if largest > 0.0 {
        // A subnormal number has no reciprocal.
        let scaled = if largest < 1e-300 {
            vector * 1e300 / (largest * 1e300)
        } else {
            vector / largest
        };
        Ok(scaled.normalize())
    } else {
        Err(QueryError::Field {
            field,
            value: 0.0,
            bound: "of a length > 0",
        })
    }
}

/// A distance, perhaps without end.
pub(super) fn reach(field: &'static str, value: f64) -> Result<f64, QueryError> {
    if value >= 0.0 {
        Ok(value)
    } else {
        Err(QueryError::Field {
            field,
            value,
            bound: "≥ 0, or infinite",
        })
    }
}
