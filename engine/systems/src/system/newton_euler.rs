//! Rigid bodies: Newton's and Euler's equations with a unit quaternion [docs/theory.md §2].
//!
//! ```text
//! q = (x_g, p),   v = (v_g, Ω),   q̇ = T(q) v:   ẋ_g = v_g,   ṗ = ½ p ∘ (0, Ω)
//! m v̇_g = f,      𝕀 Ω̇ = −Ω × 𝕀Ω + M
//! ```
//!
//! Positions, `v_g` and `f` are in the inertial frame, `Ω`, `𝕀` and `M` in the body frame; `p` is the unit quaternion `(w, x, y, z)` that turns the body frame
//! into the inertial one. A body is a Lagrangian system of six velocities whose seven coordinates are moved along the group:
//! `q ⊕ d = (x_g + d_x, p ∘ exp(d_φ))`. Rows of relations are by velocities, `G = ∂h/∂q T(q)`, six entries a body.

use super::finite_differences::slope_by_differences;
use super::lagrangian::LagrangianModel;
use super::rotation::{Quaternion, cross, exp, normalised, product};
use super::signal::Signal;
use crate::algebra::{Factor, Matrix, add};
use crate::error::{FieldError, expect_finite, expect_length, expect_range, expect_shape};
use std::fmt;
use std::sync::Arc;

/// Adds a wrench to zeros: force, inertial frame, N, and moment, body frame, N m, at time, `q` and `v`.
pub type WrenchOfState = dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync;

/// How the orientation follows the angular velocity over a step. Both end with `|p| = 1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turning {
    /// `p ∘ exp(h Ω_{k+θ})`.
    #[default]
    Exponential,
    /// `p + ½ h p ∘ (0, Ω_{k+θ})`, normalised.
    Linear,
}

/// A rigid body.
///
/// ```
/// use moreau_systems::*;
/// // A top in free flight: its angular momentum stays.
/// let body = NewtonEuler::new(2.0, Matrix::diagonal(&[5.0, 10.0, 1.0]));
/// let mut simulation = SystemsSimulation::new(Settings::new(1e-3))?;
/// let state = State::body([0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.1, 5.0, 0.1]);
/// let top = simulation.spawn_system(body, state, Integrator::moreau_jean(0.5))?;
/// assert!(simulation.step()?.converged);
/// assert_eq!(simulation.state(top).map(|state| state.q().len()), Some(7));
/// # Ok::<(), SystemsError>(())
/// ```
#[derive(Clone)]
pub struct NewtonEuler {
    /// `m > 0`, kg.
    pub mass: f64,
    /// `𝕀`, 3 × 3, body frame, symmetric and positive definite, kg m².
    pub inertia: Matrix,
    /// `f(t)`, inertial frame, N.
    pub force: Signal,
    /// `M(t)`, body frame, N m.
    pub moment: Signal,
    /// What else acts, as a function of the state; its slopes are finite differences.
    pub wrench: Option<Arc<WrenchOfState>>,
    /// Of the orientation.
    pub turning: Turning,
}

impl NewtonEuler {
    /// A free body.
    #[must_use]
    pub fn new(mass: f64, inertia: Matrix) -> Self {
        Self {
            mass,
            inertia,
            force: Signal::Zero,
            moment: Signal::Zero,
            wrench: None,
            turning: Turning::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), FieldError> {
        let mass = self.mass;
        let holds = mass.is_finite() && mass > 0.0;
        expect_range("mass", mass, holds, "finite and > 0")?;
        expect_shape("inertia", &self.inertia, [3, 3])?;
        for (row, column) in [(0, 1), (0, 2), (1, 2)] {
            let off = self.inertia[(row, column)] - self.inertia[(column, row)];
            let size = self.inertia[(row, row)].abs() + self.inertia[(column, column)].abs();
            expect_range("inertia", off, off.abs() <= 1e-12 * size, "symmetric")?;
        }
        let [a, b, c] = [0, 1, 2].map(|k| self.inertia[(k, k)]);
        let minor = a * b - self.inertia[(0, 1)] * self.inertia[(1, 0)];
        expect_range("inertia", a, a > 0.0 && c > 0.0, "positive definite")?;
        expect_range("inertia", minor, minor > 0.0, "positive definite")?;
        if Factor::new(&self.inertia).is_none() {
            return Err(FieldError::Singular { field: "inertia" });
        }
        let det = determinant(&self.inertia);
        expect_range("inertia", det, det > 0.0, "positive definite")?;
        expect_length("force", self.force.len().unwrap_or(3), 3)?;
        expect_length("moment", self.moment.len().unwrap_or(3), 3)
    }

    /// `𝕀 Ω`.
    fn momentum(&self, spin: &[f64]) -> [f64; 3] {
        let mut momentum = [0.0; 3];
        self.inertia.add_times(1.0, spin, &mut momentum);
        momentum
    }
}

fn determinant(a: &Matrix) -> f64 {
    let [x, y, z] = [0, 1, 2].map(|row| [a[(row, 0)], a[(row, 1)], a[(row, 2)]]);
    let normal = cross(y, z);
    x[0] * normal[0] + x[1] * normal[1] + x[2] * normal[2]
}

/// `(x, y, z)` of three entries.
pub(crate) fn three(x: &[f64]) -> [f64; 3] {
    [x[0], x[1], x[2]]
}

/// `p` of the seven coordinates of a body.
#[must_use]
pub fn orientation(q: &[f64]) -> Quaternion {
    [q[3], q[4], q[5], q[6]]
}

impl LagrangianModel for NewtonEuler {
    fn size(&self) -> usize {
        6
    }

    fn coordinates(&self) -> usize {
        7
    }

    fn displace(&self, q: &mut [f64], by: &[f64]) {
        add(&mut q[..3], 1.0, by);
        let (p, phi) = (orientation(q), three(&by[3..]));
        let turned = match self.turning {
            Turning::Exponential => product(p, exp(phi)),
            Turning::Linear => {
                let rate = product(p, [0.0, phi[0], phi[1], phi[2]]);
                [0, 1, 2, 3].map(|k| p[k] + 0.5 * rate[k])
            }
        };
        q[3..].copy_from_slice(&normalised(turned));
    }

    /// `ẋ = v`, `ṗ = ½ p ∘ (0, Ω)`.
    fn coordinate_rates(&self, q: &[f64], v: &[f64], rates: &mut [f64]) {
        rates[..3].copy_from_slice(&v[..3]);
        let rate = product(orientation(q), [0.0, v[3], v[4], v[5]]);
        for (own, rate) in rates[3..].iter_mut().zip(rate) {
            *own = 0.5 * rate;
        }
    }

    /// A turn by `φ` changes the unit quaternion by `½ p ∘ (0, φ)`, of norm `½‖φ‖`.
    fn divide_by_metric(&self, d: &mut [f64]) {
        d.iter_mut().skip(3).for_each(|d| *d *= 4.0);
    }

    fn check_coordinates(&self, q: &[f64]) -> Result<(), FieldError> {
        expect_finite("q", q)?;
        let norm = orientation(q).iter().map(|p| p * p).sum::<f64>().sqrt();
        let holds = (norm - 1.0).abs() <= 1e-6;
        expect_range("norm of the quaternion in q", norm, holds, "1 within 1e-6")
    }

    fn mass(&self, _q: &[f64], mass: &mut Matrix) {
        for k in 0..3 {
            mass[(k, k)] = self.mass;
            mass.row_mut(3 + k)[3..].copy_from_slice(self.inertia.row(k));
        }
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        if let Some(wrench) = &self.wrench {
            wrench(t, q, v, force);
        }
        let (force, moment) = force.split_at_mut(3);
        self.force.add_to(t, 1.0, force);
        self.moment.add_to(t, 1.0, moment);
        let spin = &v[3..];
        add(moment, -1.0, &cross(three(spin), self.momentum(spin)));
    }

    fn force_by_position(&self, t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        if let Some(wrench) = &self.wrench {
            slope_by_differences(&[0.0; 6], slope, |by, value| {
                let mut q = q.to_vec();
                self.displace(&mut q, by);
                wrench(t, &q, v, value);
            });
        }
    }

    /// `−∂(Ω × 𝕀Ω)/∂Ω = −([Ω]× 𝕀 − [𝕀Ω]×)`, and the slope of the wrench.
    fn force_by_velocity(&self, t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        if let Some(wrench) = &self.wrench {
            slope_by_differences(v, slope, |v, value| wrench(t, q, v, value));
        }
        let spin = three(&v[3..]);
        let momentum = self.momentum(&spin);
        for column in 0..3 {
            let mut unit = [0.0; 3];
            unit[column] = 1.0;
            let of_inertia = three(&self.inertia.column(column));
            let (first, second) = (cross(spin, of_inertia), cross(unit, momentum));
            for row in 0..3 {
                slope[(3 + row, 3 + column)] -= first[row] + second[row];
            }
        }
    }
}

impl fmt::Debug for NewtonEuler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewtonEuler")
            .field("mass", &self.mass)
            .field("inertia", &self.inertia)
            .field("force", &self.force)
            .field("moment", &self.moment)
            .field("turning", &self.turning)
            .finish_non_exhaustive()
    }
}
