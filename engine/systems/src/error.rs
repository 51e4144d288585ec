//! What can go wrong, with the entity, the field, the value and the bound.

use crate::algebra::{Matrix, first_not_finite};
use bevy_ecs::entity::Entity;
use moreau_solvers::ProblemError;

/// A step that did not take place: the world is as it was before it. That a solve or Newton's method did not reach its tolerance is no error but
/// said in the [`StepReport`](crate::StepReport).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SystemsError {
    /// A system that cannot be integrated.
    #[error("system {entity}: {source}")]
    System {
        /// The system.
        entity: Entity,
        /// What is wrong with it.
        source: FieldError,
    },
    /// An interaction that cannot be imposed.
    #[error("interaction {entity}: {source}")]
    Interaction {
        /// The interaction.
        entity: Entity,
        /// What is wrong with it.
        source: FieldError,
    },
    /// A sensor that cannot read.
    #[error("sensor {entity}: {source}")]
    Sensor {
        /// The sensor.
        entity: Entity,
        /// What is wrong with it.
        source: FieldError,
    },
    /// An actuator that cannot act.
    #[error("actuator {entity}: {source}")]
    Actuator {
        /// The actuator.
        entity: Entity,
        /// What is wrong with it.
        source: FieldError,
    },
    /// A setting out of its range.
    #[error("settings: {0}")]
    Settings(FieldError),
    /// The problem of the step: a parameter of a law out of its range, most often. `interaction` and `index` count the active laws.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// A matrix of the wrong shape.
    #[error("{field} has {} rows and {} columns, expected {} and {}", found[0], found[1], expected[0], expected[1])]
    Shape {
        /// Field at fault.
        field: &'static str,
        /// Rows and columns that it has.
        found: [usize; 2],
        /// Rows and columns that it must have.
        expected: [usize; 2],
    },
    /// A vector or list of the wrong length.
    #[error("{field} has {found} entries, expected {expected}")]
    Length {
        /// Field at fault.
        field: &'static str,
        /// Entries that it has.
        found: usize,
        /// Entries that it must have.
        expected: usize,
    },
    /// Nothing where something must be.
    #[error("{field} is empty")]
    Empty {
        /// Field at fault.
        field: &'static str,
    },
    /// A component that the entity does not have.
    #[error("{field} is missing")]
    Missing {
        /// The component.
        field: &'static str,
    },
    /// A number that is infinite or none.
    #[error("{field} is {value} at entry {index}, expected a finite number")]
    NotFinite {
        /// Field at fault.
        field: &'static str,
        /// Entry, of a matrix row by row.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A matrix without inverse.
    #[error("{field} is singular")]
    Singular {
        /// The matrix.
        field: &'static str,
    },
    /// A number out of its range.
    #[error("{field} is {value}, expected {bound}")]
    Range {
        /// Field at fault.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        bound: &'static str,
    },
    /// Two fields that do not go together.
    #[error("{field} is {found}, expected {expected}")]
    Kind {
        /// Field at fault.
        field: &'static str,
        /// What it is.
        found: &'static str,
        /// What goes with the rest.
        expected: &'static str,
    },
    /// An output that answers to its multiplier only after more derivatives than the integrator and the law can do with.
    #[error("the relative degree is {found}, expected at most {most}: {reason}")]
    RelativeDegree {
        /// The degree; `usize::MAX` if the multiplier never reaches the output.
        found: usize,
        /// The largest that works.
        most: usize,
        /// Why.
        reason: &'static str,
    },
    /// The systems of an interaction have integrators that do not go together.
    #[error("its systems have integrators of different kinds or parameters, {} and {}", integrators[0], integrators[1])]
    DifferentIntegrators {
        /// Their names.
        integrators: [&'static str; 2],
    },
    /// The systems of an interaction make different numbers of [`Substeps`](crate::Substeps).
    #[error("its systems make {} and {} substeps, expected the same number", steps[0], steps[1])]
    DifferentSubsteps {
        /// Their numbers.
        steps: [u32; 2],
    },
}

pub(crate) fn expect_shape(
    field: &'static str,
    matrix: &Matrix,
    expected: [usize; 2],
) -> Result<(), FieldError> {
    let found = matrix.shape();
    if found != expected {
        return Err(FieldError::Shape {
            field,
            found,
            expected,
        });
    }
    expect_finite(field, matrix.entries())
}

pub(crate) fn expect_length(
    field: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), FieldError> {
    if found == expected {
        Ok(())
    } else {
        Err(FieldError::Length {
            field,
            found,
            expected,
        })
    }
}

pub(crate) fn expect_finite(field: &'static str, values: &[f64]) -> Result<(), FieldError> {
    match first_not_finite(values) {
        None => Ok(()),
        Some((index, value)) => Err(FieldError::NotFinite {
            field,
            index,
            value,
        }),
    }
}

/// `value` must satisfy a bound.
pub(crate) fn expect_range(
    field: &'static str,
    value: f64,
    holds: bool,
    bound: &'static str,
) -> Result<(), FieldError> {
    if holds {
        Ok(())
    } else {
        Err(FieldError::Range {
            field,
            value,
            bound,
        })
    }
}
