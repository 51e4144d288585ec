//! Choices that hold for all systems of a simulation.

use crate::error::{FieldError, expect_range};

/// Settings of a [`SystemsSimulation`](crate::SystemsSimulation).
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `h > 0`, s.
    pub h: f64,
    /// When Newton's loop ends.
    pub newton: Newton,
    /// Residual by the natural map (`e_scaled`, dimensionless) to which the problem of a step is solved. Default 1e-13: small problems are solved by
    /// pivoting or in closed form, which end far below it.
    pub tolerance: f64,
    /// Positions of contacts after the step. Default: left alone.
    pub projection: Projection,
}

impl Settings {
    /// The defaults with the step `h`, s.
    #[must_use]
    pub fn new(h: f64) -> Self {
        Self {
            h,
            newton: Newton::default(),
            tolerance: 1e-13,
            projection: Projection::None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), FieldError> {
        let positive = |field, value: f64| {
            let holds = value.is_finite() && value > 0.0;
            expect_range(field, value, holds, "finite and > 0")
        };
        let not_negative = |field, value: f64| {
            let holds = value.is_finite() && value >= 0.0;
            expect_range(field, value, holds, "finite and ≥ 0")
        };
        positive("h", self.h)?;
        positive("tolerance", self.tolerance)?;
        not_negative("newton.relative", self.newton.relative)?;
        not_negative("newton.absolute", self.newton.absolute)?;
        let most = self.newton.max_iterations;
        expect_range("newton.max_iterations", most as f64, most > 0, "≥ 1")?;
        match self.projection {
            Projection::None => Ok(()),
            Projection::Direct { tolerance, .. } | Projection::Combined { tolerance, .. } => {
                positive("projection.tolerance", tolerance)
            }
        }
    }
}

/// When Newton's loop ends: where the residual of the dynamics of every system, and of nonlinear ones each of its rows, is within one of the bounds. Systems and relations that are linear
/// need one iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton {
    /// Bound relative to the terms that the residual is the sum of. Default 1e-12, some hundred roundings.
    pub relative: f64,
    /// Bound in the unit of the residual (N·s, kg·m, or that of `M x`). Default 0.
    pub absolute: f64,
    /// Iterations at most. Default 50.
    pub max_iterations: usize,
}

impl Default for Newton {
    fn default() -> Self {
        Self {
            relative: 1e-12,
            absolute: 0.0,
            max_iterations: 50,
        }
    }
}

/// Correction of positions after a step, of systems under Moreau–Jean [docs/theory.md §11]. It never touches velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Projection {
    /// Gaps drift.
    #[default]
    None,
    /// Contacts that were active and overlap are pushed apart: `0 ≤ y ⊥ Λ ≥ 0`, `q + Hᵀ Λ`.
    Direct {
        /// Overlap that is left, m.
        tolerance: f64,
        /// Corrections a step at most.
        max_iterations: usize,
        /// In which metric `q` is moved.
        metric: Metric,
    },
    /// Contacts that are active are brought to `y = 0`; where others then have `y ≤ 0` they become active and the step is solved again, until none is left
    /// [Acary 2013].
    Combined {
        /// Gap or overlap that is left, m.
        tolerance: f64,
        /// Corrections a step at most.
        max_iterations: usize,
        /// In which metric `q` is moved.
        metric: Metric,
    },
}

/// Metric of a correction of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Kinetic: `M(q)⁻¹ Hᵀ Λ`, free of the choice of coordinates.
    #[default]
    Mass,
    /// That of the coordinates as they are, the quaternion of a body among them: `(TᵀT)⁻¹ Hᵀ Λ` with `q̇ = T v`, `Hᵀ Λ` for `q̇ = v`.
    Coordinates,
}
