//! One-step integrators: the component that says how a system moves through a step, and a file for each scheme.
//!
//! All schemes have one shape. A scheme has an unknown `z` a system, solved for by Newton's method, index `τ`:
//!
//! ```text
//! 𝓡_free(z) = what the equations of motion miss without multipliers
//! z_free = z^τ − M̂⁻¹ 𝓡_free(z^τ),      z^{τ+1} = z_free + M̂⁻¹ Σ B λ
//! ```
//!
//! | scheme | `z` | multipliers |
//! |---|---|---|
//! | [`MoreauJean`] | `v_{k+1}` | impulses |
//! | [`SchatzmanPaoli`] | `q_{k+1}` | position impulses, kg·m |
//! | [`EulerMoreau`] | `x_{k+1}` | values at `t_{k+1}` or `t_{k+γ}` |
//! | [`D1Minus`] | `v_{k+1}` | impulses; forces of closed contacts before |
//! | [`ZeroOrderHold`] | `x_{k+1}` | values at `t_{k+1}`, held over the step |

pub mod d1_minus;
pub mod euler_moreau;
pub mod moreau_jean;
pub mod schatzman_paoli;
pub mod zero_order_hold;

pub use d1_minus::{D1Minus, Resting};
pub use euler_moreau::EulerMoreau;
pub use moreau_jean::{Activation, MassAt, MoreauJean, RowsAt};
pub use schatzman_paoli::SchatzmanPaoli;
pub use zero_order_hold::ZeroOrderHold;

use crate::error::FieldError;
use crate::system::{Model, System};
use bevy_ecs::prelude::*;

/// How a system moves through a step.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub enum Integrator {
    /// Of Lagrangian systems, velocity level.
    MoreauJean(MoreauJean),
    /// Of Lagrangian systems, position level.
    SchatzmanPaoli(SchatzmanPaoli),
    /// Of first-order systems.
    EulerMoreau(EulerMoreau),
    /// Of linear first-order systems with constant coefficients, exact between samples.
    ZeroOrderHold(ZeroOrderHold),
    /// Of Lagrangian systems, forces of closed contacts on accelerations and impacts on velocities.
    D1Minus(D1Minus),
}

impl Integrator {
    /// Moreau–Jean with `θ`, the sources' activation and rows at the current iterate.
    #[must_use]
    pub fn moreau_jean(theta: f64) -> Self {
        Self::MoreauJean(MoreauJean {
            theta,
            ..MoreauJean::default()
        })
    }

    /// Euler–Moreau with `θ` and fully implicit multipliers.
    #[must_use]
    pub fn euler_moreau(theta: f64) -> Self {
        Self::EulerMoreau(EulerMoreau {
            theta,
            ..EulerMoreau::default()
        })
    }

    /// Schatzman–Paoli.
    #[must_use]
    pub fn schatzman_paoli() -> Self {
        Self::SchatzmanPaoli(SchatzmanPaoli)
    }

    /// Zero-order hold.
    #[must_use]
    pub fn zero_order_hold() -> Self {
        Self::ZeroOrderHold(ZeroOrderHold)
    }

    /// D1-minus with contacts that rest closed.
    #[must_use]
    pub fn d1_minus() -> Self {
        Self::D1Minus(D1Minus::default())
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::MoreauJean(_) => "MoreauJean",
            Self::SchatzmanPaoli(_) => "SchatzmanPaoli",
            Self::EulerMoreau(_) => "EulerMoreau",
            Self::ZeroOrderHold(_) => "ZeroOrderHold",
            Self::D1Minus(_) => "D1Minus",
        }
    }

    /// Its parameters, and whether it can integrate this system.
    pub(crate) fn check(&self, system: &System) -> Result<(), FieldError> {
        match (self, system.model()) {
            (Self::MoreauJean(scheme), Model::Lagrangian(_)) => scheme.check(),
            (Self::SchatzmanPaoli(_), Model::Lagrangian(_)) if system.is_flat() => Ok(()),
            (Self::D1Minus(scheme), Model::Lagrangian(_)) if system.is_flat() => scheme.check(),
            (Self::SchatzmanPaoli(_) | Self::D1Minus(_), Model::Lagrangian(_)) => {
                Err(FieldError::Kind {
                    field: "integrator",
                    found: self.name(),
                    expected: "MoreauJean for a rigid body",
                })
            }
            (Self::EulerMoreau(scheme), Model::FirstOrder(_)) => scheme.check(),
            (Self::ZeroOrderHold(_), Model::FirstOrder(_)) => ZeroOrderHold::check(system),
            (_, Model::Lagrangian(_)) => Err(FieldError::Kind {
                field: "integrator",
                found: self.name(),
                expected: "MoreauJean, SchatzmanPaoli or D1Minus for a Lagrangian system",
            }),
            (_, Model::FirstOrder(_)) => Err(FieldError::Kind {
                field: "integrator",
                found: self.name(),
                expected: "EulerMoreau or ZeroOrderHold for a first-order system",
            }),
        }
    }
}
