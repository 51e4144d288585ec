//! Zero-order hold: linear systems with constant `A`, exact between samples [docs/theory.md §12].
//!
//! ```text
//! M ẋ = A x + b(t_k) + B u_k + r_{k+1}          all but x is held from t_k to t_{k+1}
//! x_{k+1} = Φ x_k + Ψ (b(t_k) + B u_k + r_{k+1}),      Φ = exp(M⁻¹A h),      Ψ = ∫₀ʰ exp(M⁻¹A τ) dτ M⁻¹
//!
//! 𝓡_free(x) = x − Φ x_k − Ψ (b(t_k) + B u_k),      M̂ = 1 − Ψ ∂g/∂x,      z = x_{k+1},      W = D + C M̂⁻¹ Ψ B,      law at t_{k+1}
//! ```
//!
//! `Ψ` may be singular: over a period of an oscillation a constant input does nothing. So `Ψ` multiplies what acts, and its inverse, which would be `M̂` in the form of the other schemes, is
//! never asked for.

use super::super::step::block::Block;
use super::super::step::scheme::{Instant, Scheme};
use crate::algebra::{Factor, Matrix, copy, copy_all, held};
use crate::error::FieldError;
use crate::system::Slope;
use crate::system::System;
use crate::system::first_order::Dynamics;
use crate::system::state::State;
use smallvec::SmallVec;

/// The scheme has no parameters.
///
/// ```
/// use moreau_systems::*;
/// // ẋ = −x + 2 from 0, in one step of 3 s.
/// let mut simulation = SystemsSimulation::new(Settings::new(3.0))?;
/// let system = FirstOrderLinear { input: vec![2.0].into(), ..FirstOrderLinear::new(Matrix::diagonal(&[-1.0])) };
/// let system = simulation.spawn_system(system, State::first_order([0.0]), Integrator::zero_order_hold())?;
/// simulation.step()?;
/// let x = simulation.state(system).map_or(0.0, |state| state.x()[0]);
/// assert!((x - 2.0 * (1.0 - (-3.0_f64).exp())).abs() < 1e-15);
/// # Ok::<(), SystemsError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroOrderHold;

/// `Φ` and `Ψ` of a system.
pub(crate) struct Hold {
    /// Bits of the `h` that they are for.
    made_for: u64,
    phi: Matrix,
    pub(crate) psi: Matrix,
}

impl ZeroOrderHold {
    /// Only linear systems with constant coefficients have a `Φ`.
    pub(super) fn check(system: &System) -> Result<(), FieldError> {
        let expected = "FirstOrderLinear with constant A for ZeroOrderHold";
        match system {
            System::FirstOrderLinear(model) => match model.matrix {
                Dynamics::Constant(_) => Ok(()),
                Dynamics::Varying(_) => Err(FieldError::Kind {
                    field: "matrix",
                    found: "Varying",
                    expected,
                }),
            },
            _ => Err(FieldError::Kind {
                field: "system",
                found: "FirstOrder",
                expected,
            }),
        }
    }
}

impl Hold {
    fn new(system: &System, h: f64) -> Result<Self, FieldError> {
        let System::FirstOrderLinear(model) = system else {
            return Err(FieldError::Missing {
                field: "FirstOrderLinear",
            });
        };
        let Dynamics::Constant(a) = &model.matrix else {
            return Err(FieldError::Missing { field: "matrix" });
        };
        let too_large = FieldError::Range {
            field: "exp(M⁻¹A h)",
            value: f64::INFINITY,
            bound: "finite",
        };
        // An exponential has no zeros to speak of.
        let mut dense = Matrix::zeros(model.size, model.size);
        a.add_to(1.0, &mut dense);
        let [phi, psi] = match &model.mass {
            None => held(&dense, h).ok_or(too_large)?,
            Some(mass) => {
                let factor = Factor::of(mass).ok_or(FieldError::Singular { field: "mass" })?;
                let of_a = factor.solve_columns(&dense).transposed();
                let [phi, psi] = held(&of_a, h).ok_or(too_large)?;
                let inverse = factor.solve_columns(&Matrix::identity(model.size));
                [phi, psi.product(&inverse.transposed())]
            }
        };
        crate::error::expect_finite("exp(M⁻¹A h) M⁻¹", psi.entries())?;
        Ok(Self {
            made_for: h.to_bits(),
            phi,
            psi,
        })
    }
}

impl Block {
    /// `Φ` and `Ψ` of its `h`, if its integrator has them.
    pub(crate) fn take_hold(&mut self, at: Instant) -> Result<(), FieldError> {
        let step = at.h.to_bits();
        if self.hold.as_ref().is_none_or(|hold| hold.made_for != step) {
            self.hold = Some(Box::new(Hold::new(&self.system, at.h)?));
        }
        Ok(())
    }
}

impl Scheme for ZeroOrderHold {
    fn first(&self, block: &mut Block) {
        copy(&mut block.z, block.start.x());
    }

    fn state(&self, block: &mut Block, _at: Instant) {
        if let State::FirstOrder { x } = &mut block.state {
            copy_all(x, &block.z);
        }
    }

    fn known(&self, block: &mut Block, at: Instant) {
        let Some(hold) = &block.hold else { return };
        hold.phi.add_times(1.0, block.start.x(), &mut block.known);
        if let System::FirstOrderLinear(model) = &block.system {
            crate::algebra::clear(&mut block.work, model.size);
            model.input.add_to(at.t, 1.0, &mut block.work);
            hold.psi.add_times(1.0, &block.work, &mut block.known);
        }
    }

    fn missed(&self, block: &mut Block, _at: Instant) {
        block.missed.add(1.0, block.state.x());
        block.missed.add(-1.0, &block.known);
    }

    fn take_mass(&self, block: &mut Block, _at: Instant) {
        block.take_unit_mass();
    }

    fn slopes(&self, _at: Instant) -> SmallVec<[(Slope, f64); 2]> {
        SmallVec::new()
    }

    fn slope(&self, _of: Slope, _block: &mut Block, _at: Instant, _matrix: &mut Matrix) {}

    fn position_slope(&self, _at: Instant) -> f64 {
        0.0
    }

    /// `Ψ` stands in its place: see [`Block::weigh`].
    fn force_weight(&self, _at: Instant) -> f64 {
        1.0
    }
}
