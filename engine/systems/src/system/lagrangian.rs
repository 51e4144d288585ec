//! Lagrangian systems: `M(q) v̇ = F(t, q, v) + p`, `q̇ = v` [docs/theory.md §12].

use super::signal::Signal;
use crate::algebra::{Coefficient, Matrix};
use crate::error::{FieldError, expect_length, expect_range};

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

    /// Writes `q̇ = T(q) v`: `v` itself, unless `q` has others than velocities have; then by differences along [`Self::displace`], unless it is said otherwise.
    fn coordinate_rates(&self, q: &[f64], v: &[f64], rates: &mut [f64]) {
        if q.len() == v.len() {
            return rates.copy_from_slice(v);
        }
        let largest = v.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
        let step = 6e-6 / largest;
        for sign in [-1.0, 1.0] {
            let mut moved = q.to_vec();
            let by: Vec<f64> = v.iter().map(|v| sign * step * v).collect();
            self.displace(&mut moved, &by);
            crate::algebra::add(rates, 0.5 * sign / step, &moved);
        }
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
///
/// With [`SparseMatrix`](crate::SparseMatrix) in place of [`Matrix`] a system may be large: a step costs what its matrices have entries. Where some are dense and others
/// sparse, all are [`Coefficient`].
#[derive(Clone, Debug)]
pub struct LagrangianLinear<M = Matrix> {
    /// `M`, `n × n`, regular, without negative entries on its diagonal.
    pub mass: M,
    /// `C`, `n × n`; `None` is zero.
    pub damping: Option<M>,
    /// `K`, `n × n`; `None` is zero.
    pub stiffness: Option<M>,
    /// `F_ext(t)`, `n` entries.
    pub force: Signal,
}

impl<M> LagrangianLinear<M> {
    /// A free system with this mass matrix.
    #[must_use]
    pub fn new(mass: M) -> Self {
        Self {
            mass,
            damping: None,
            stiffness: None,
            force: Signal::Zero,
        }
    }

    /// The same, whatever its matrices are.
    pub(super) fn any(self) -> LagrangianLinear<Coefficient>
    where
        M: Into<Coefficient>,
    {
        LagrangianLinear {
            mass: self.mass.into(),
            damping: self.damping.map(Into::into),
            stiffness: self.stiffness.map(Into::into),
            force: self.force,
        }
    }
}

/// A small system, all of it constant and dense: see [`System::small_lagrangian`](super::System::small_lagrangian).
#[derive(Clone, Copy)]
pub(crate) struct SmallLagrangian<'a> {
    pub(crate) mass: &'a Matrix,
    damping: Option<&'a Matrix>,
    stiffness: Option<&'a Matrix>,
    force: &'a Signal,
}

impl SmallLagrangian<'_> {
    /// `F_i` at constant `F_ext`.
    #[inline]
    pub(crate) fn force_of(&self, i: usize, q: &[f64], v: &[f64]) -> f64 {
        let mut force = self.force.constant(i);
        if let Some(damping) = self.damping {
            force -= crate::algebra::dot(damping.row(i), v);
        }
        if let Some(stiffness) = self.stiffness {
            force -= crate::algebra::dot(stiffness.row(i), q);
        }
        force
    }
}

/// A matrix that may be zero: nothing of all this if it is sparse.
fn dense(matrix: Option<&Coefficient>) -> Option<Option<&Matrix>> {
    match matrix {
        None => Some(None),
        Some(matrix) => matrix.dense().map(Some),
    }
}

impl LagrangianLinear<Coefficient> {
    /// True if one of its matrices is sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        let all = [
            Some(&self.mass),
            self.damping.as_ref(),
            self.stiffness.as_ref(),
        ];
        all.into_iter()
            .flatten()
            .any(|matrix| matrix.dense().is_none())
    }

    /// The system with dense matrices and constant forces.
    #[inline]
    pub(super) fn constant_dense(&self) -> Option<SmallLagrangian<'_>> {
        self.force.is_constant().then_some(())?;
        Some(SmallLagrangian {
            mass: self.mass.dense()?,
            damping: dense(self.damping.as_ref())?,
            stiffness: dense(self.stiffness.as_ref())?,
            force: &self.force,
        })
    }

    pub(super) fn check(&self) -> Result<(), FieldError> {
        let n = self.mass.rows();
        self.mass.check("mass", [n, n])?;
        let mut diagonal = vec![0.0; n];
        self.mass.for_each(|row, column, value| {
            if row == column {
                diagonal[row] += value;
            }
        });
        // Nothing is pushed backwards by a force; without inertia the mass is singular, or a step says so.
        if let Some(entry) = diagonal.iter().find(|entry| **entry < 0.0) {
            expect_range("mass (diagonal)", *entry, false, "≥ 0")?;
        }
        if let Some(damping) = &self.damping {
            damping.check("damping", [n, n])?;
        }
        if let Some(stiffness) = &self.stiffness {
            stiffness.check("stiffness", [n, n])?;
        }
        expect_length("force", self.force.len().unwrap_or(n), n)
    }
}

impl LagrangianModel for LagrangianLinear<Coefficient> {
    fn size(&self) -> usize {
        self.mass.rows()
    }

    fn mass(&self, _q: &[f64], mass: &mut Matrix) {
        self.mass.add_to(1.0, mass);
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
            stiffness.add_to(-1.0, slope);
        }
    }

    fn force_by_velocity(&self, _t: f64, _q: &[f64], _v: &[f64], slope: &mut Matrix) {
        if let Some(damping) = &self.damping {
            damping.add_to(-1.0, slope);
        }
    }
}
