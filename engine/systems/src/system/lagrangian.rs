//! Lagrangian systems: `M(q) v̇ = F(t, q, v) + p`, `q̇ = v` [docs/theory.md §12].

use super::signal::Signal;
use crate::algebra::Matrix;
use crate::error::{FieldError, expect_length, expect_shape};

/// A Lagrangian system of `n` coordinates. `F` holds all that is not inertia: applied, internal, Coriolis and centrifugal forces. The slopes of `F`
/// are those that Newton's method and the iteration matrix `M − hθ ∂F/∂v − h²θ² ∂F/∂q` use; leaving one out costs iterations, not accuracy.
///
/// [`LagrangianByDifferences`](super::finite_differences::LagrangianByDifferences) takes them by finite differences.
pub trait LagrangianModel: Send + Sync {
    /// `n ≥ 1`.
    fn size(&self) -> usize;

    /// Writes `M(q)`, `n × n`, regular. `mass` is zero before.
    fn mass(&self, q: &[f64], mass: &mut Matrix);

    /// Writes `F(t, q, v)`, `n` entries. `force` is zero before.
    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]);

    /// Entries of `q`: `n`, unless `q` has others than velocities have, as the quaternion of a [`NewtonEuler`](super::newton_euler::NewtonEuler) body.
    fn coordinates(&self) -> usize {
        self.size()
    }

    /// `q ← q ⊕ d` for a displacement `d` of `n` entries, a velocity times a time: the sum, unless `q` has others than velocities have. Slopes by `q` and rows
    /// of relations are then by `d`.
    fn displace(&self, q: &mut [f64], by: &[f64]) {
        crate::algebra::add(q, 1.0, by);
    }

    /// `d ← (TᵀT)⁻¹ d` for `n` entries, where `q̇ = T v`: the displacement of least change of `q` that a gradient by displacements asks for. Nothing, unless `q` has others
    /// than velocities have.
    fn divide_by_metric(&self, _d: &mut [f64]) {}

    /// What `q` must satisfy besides its length, such as a norm of 1.
    ///
    /// # Errors
    /// [`FieldError`] names what is wrong.
    fn check_coordinates(&self, _q: &[f64]) -> Result<(), FieldError> {
        Ok(())
    }

    /// Writes `∂F/∂q`, `n × n`; zero unless it is said otherwise.
    fn force_by_position(&self, _t: f64, _q: &[f64], _v: &[f64], _slope: &mut Matrix) {}

    /// Writes `∂F/∂v`, `n × n`; zero unless it is said otherwise.
    fn force_by_velocity(&self, _t: f64, _q: &[f64], _v: &[f64], _slope: &mut Matrix) {}
}

/// `M v̇ + C v + K q = F_ext(t) + p` with constant `M`, `C` and `K`.
///
/// ```
/// use moreau_systems::{LagrangianLinear, Matrix, System};
/// // 2 kg on a spring of 50 N/m, under its weight.
/// let system = System::from(LagrangianLinear {
///     stiffness: Some(Matrix::diagonal(&[50.0])),
///     force: vec![-2.0 * 9.81].into(),
///     ..LagrangianLinear::new(Matrix::diagonal(&[2.0]))
/// });
/// assert_eq!(system.size(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct LagrangianLinear {
    /// `M`, `n × n`, regular.
    pub mass: Matrix,
    /// `C`, `n × n`; `None` is zero.
    pub damping: Option<Matrix>,
    /// `K`, `n × n`; `None` is zero.
    pub stiffness: Option<Matrix>,
    /// `F_ext(t)`, `n` entries.
    pub force: Signal,
}

impl LagrangianLinear {
    /// A free system with this mass matrix.
    #[must_use]
    pub fn new(mass: Matrix) -> Self {
        Self {
            mass,
            damping: None,
            stiffness: None,
            force: Signal::Zero,
        }
    }

    /// `F_i` at constant `F_ext`: see [`System::small_lagrangian`](super::System::small_lagrangian).
    #[inline]
    pub(crate) fn force_of(&self, i: usize, q: &[f64], v: &[f64]) -> f64 {
        let mut force = self.force.constant(i);
        if let Some(damping) = &self.damping {
            force -= crate::algebra::dot(damping.row(i), v);
        }
        if let Some(stiffness) = &self.stiffness {
            force -= crate::algebra::dot(stiffness.row(i), q);
        }
        force
    }

    pub(super) fn check(&self) -> Result<(), FieldError> {
        let n = self.mass.rows();
        expect_shape("mass", &self.mass, [n, n])?;
        if let Some(damping) = &self.damping {
            expect_shape("damping", damping, [n, n])?;
        }
        if let Some(stiffness) = &self.stiffness {
            expect_shape("stiffness", stiffness, [n, n])?;
        }
        expect_length("force", self.force.len().unwrap_or(n), n)
    }
}

impl LagrangianModel for LagrangianLinear {
    fn size(&self) -> usize {
        self.mass.rows()
    }

    fn mass(&self, _q: &[f64], mass: &mut Matrix) {
        mass.add_scaled(1.0, &self.mass);
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        self.force.add_to(t, 1.0, force);
        if let Some(damping) = &self.damping {
            damping.add_times(-1.0, v, force);
        }
        if let Some(stiffness) = &self.stiffness {
            stiffness.add_times(-1.0, q, force);
        }
    }

    fn force_by_position(&self, _t: f64, _q: &[f64], _v: &[f64], slope: &mut Matrix) {
        if let Some(stiffness) = &self.stiffness {
            slope.add_scaled(-1.0, stiffness);
        }
    }

    fn force_by_velocity(&self, _t: f64, _q: &[f64], _v: &[f64], slope: &mut Matrix) {
        if let Some(damping) = &self.damping {
            slope.add_scaled(-1.0, damping);
        }
    }
}
