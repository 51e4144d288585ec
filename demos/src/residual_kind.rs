//! Which residual counts.

use clap::ValueEnum;
use moreau_solvers::{Goal, Residual};
use std::fmt;

/// The residual that a goal is set in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ResidualKind {
    /// `e_scaled`, which does not depend on the units.
    Scaled,
    /// `e_fclib`, the field's published figure.
    Fclib,
    /// The larger of the two.
    #[default]
    Both,
}

impl ResidualKind {
    /// The goal of reaching `tolerance`, without limits.
    #[must_use]
    pub fn goal(self, tolerance: f64) -> Goal<'static> {
        match self {
            Self::Scaled => Goal::scaled(tolerance),
            Self::Fclib => Goal::fclib(tolerance),
            Self::Both => Goal::both(tolerance),
        }
    }

    /// True if `residual` is within `tolerance`; an undefined one is not.
    #[must_use]
    pub fn reached(self, residual: &Residual, tolerance: f64) -> bool {
        self.goal(tolerance).excess(residual) <= 1.0
    }
}

impl fmt::Display for ResidualKind {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::Scaled => "e_scaled",
            Self::Fclib => "e_fclib",
            Self::Both => "e_scaled and e_fclib",
        })
    }
}
