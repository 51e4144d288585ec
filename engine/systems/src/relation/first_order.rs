//! Relations of first-order systems: `y = h(t, x, λ)`, `r = g(t, x, λ)` [docs/theory.md §12].
//!
//! *Type 1* has `h(t, x)` and `g(t, λ)`; *type 2* has `h(t, x, λ)` and `g(t, λ)`; *nonlinear* has both in full. The slopes that a type does not
//! have are zero, which is what the trait supplies.

use super::check_parts;
use crate::algebra::{Coefficient, Matrix, Rows};
use crate::error::{FieldError, expect_finite, expect_length, expect_shape};
use crate::system::signal::Signal;

/// A first-order relation of `m` rows. `x` has the state of each system: `(q, v)` of a Lagrangian one.
pub trait FirstOrderRelation: Send + Sync {
    /// `m ≥ 1`.
    fn rows(&self) -> usize;

    /// Writes `h(t, x, λ)`, `m` entries; zero before.
    fn output(&self, t: f64, x: &[&[f64]], lambda: &[f64], y: &mut [f64]);

    /// Writes `g(t, x, λ)`, `n` entries for each system; zero before. For a Lagrangian system they are its generalised forces.
    fn input(&self, t: f64, x: &[&[f64]], lambda: &[f64], r: &mut [Vec<f64>]);

    /// Writes `C = ∂h/∂x`, `m` rows, a matrix for each system; zero before.
    fn output_by_state(&self, t: f64, x: &[&[f64]], lambda: &[f64], c: &mut [Matrix]);

    /// Writes `D = ∂h/∂λ`, `m × m`; zero for type 1.
    fn output_by_multiplier(&self, _t: f64, _x: &[&[f64]], _lambda: &[f64], _d: &mut Matrix) {}

    /// Writes `B = ∂g/∂λ`, `m` columns, a matrix for each system; zero before.
    fn input_by_multiplier(&self, t: f64, x: &[&[f64]], lambda: &[f64], b: &mut [Matrix]);

    /// Writes `K = ∂g/∂x`, of each system what it does to itself; zero for types 1 and 2. Newton's method does without what a system does to the other.
    fn input_by_state(&self, _t: f64, _x: &[&[f64]], _lambda: &[f64], _k: &mut [Matrix]) {}
}

/// `y = C x + D λ + F z + e(t)`, `r = B λ`.
///
/// ```
/// use moreau_systems::{FirstOrderLinearRelation, Matrix};
/// // A diode in series with a resistor of 1 kΩ across a capacitor of 1 µF.
/// let relation = FirstOrderLinearRelation {
///     d: Some(Matrix::from_rows([[1e3]])),
///     ..FirstOrderLinearRelation::new([Matrix::from_rows([[-1.0, 0.0]])], [Matrix::from_rows([[-1e6], [0.0]])])
/// };
/// ```
///
/// With [`SparseMatrix`](crate::SparseMatrix) in place of [`Matrix`] `C` and `B` are sparse, as is right for large systems. Where some are dense and others sparse, `C` are
/// [`Rows`] and `B` [`Coefficient`].
#[derive(Clone, Debug)]
pub struct FirstOrderLinearRelation<C = Matrix, B = C> {
    /// `C`, `m` rows, a matrix for each system.
    pub c: Vec<C>,
    /// `B`, `m` columns, a matrix for each system.
    pub b: Vec<B>,
    /// `D`, `m × m`; `None` is zero.
    pub d: Option<Matrix>,
    /// `F` and `z`: parameters that may be changed between steps, by a new component.
    pub f: Option<(Matrix, Vec<f64>)>,
    /// `e(t)`, `m` entries.
    pub e: Signal,
}

impl<C, B> FirstOrderLinearRelation<C, B> {
    /// `y = C x`, `r = B λ`, with matrices for each system.
    #[must_use]
    pub fn new(c: impl Into<Vec<C>>, b: impl Into<Vec<B>>) -> Self {
        Self {
            c: c.into(),
            b: b.into(),
            d: None,
            f: None,
            e: Signal::Zero,
        }
    }

    /// The same, whatever its matrices are.
    pub(super) fn any(self) -> FirstOrderLinearRelation<Rows, Coefficient>
    where
        C: Into<Rows>,
        B: Into<Coefficient>,
    {
        FirstOrderLinearRelation {
            c: self.c.into_iter().map(Into::into).collect(),
            b: self.b.into_iter().map(Into::into).collect(),
            d: self.d,
            f: self.f,
            e: self.e,
        }
    }
}

impl FirstOrderLinearRelation<Rows, Coefficient> {
    /// `m`.
    fn size(&self) -> usize {
        self.c.first().map_or(0, Rows::rows)
    }

    /// True if a matrix is sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        let is_sparse = |b: &Coefficient| b.dense().is_none();
        self.c.iter().any(Rows::is_sparse) || self.b.iter().any(is_sparse)
    }

    pub(super) fn check(&self, columns: &[usize], inputs: &[usize]) -> Result<(), FieldError> {
        let m = self.size();
        let shapes = columns.iter().map(|n| [m, *n]);
        check_parts("c", &self.c, shapes, Rows::check)?;
        let shapes = inputs.iter().map(|n| [*n, m]);
        check_parts("b", &self.b, shapes, Coefficient::check)?;
        if let Some(d) = &self.d {
            expect_shape("d", d, [m, m])?;
        }
        if let Some((f, z)) = &self.f {
            expect_shape("f", f, [m, z.len()])?;
            expect_finite("z", z)?;
        }
        expect_length("e", self.e.len().unwrap_or(m), m)
    }
}

impl FirstOrderRelation for FirstOrderLinearRelation<Rows, Coefficient> {
    fn rows(&self) -> usize {
        self.size()
    }

    fn output(&self, t: f64, x: &[&[f64]], lambda: &[f64], y: &mut [f64]) {
        for (c, x) in self.c.iter().zip(x) {
            c.add_times(1.0, x, y);
        }
        if let Some(d) = &self.d {
            d.add_times(1.0, lambda, y);
        }
        if let Some((f, z)) = &self.f {
            f.add_times(1.0, z, y);
        }
        self.e.add_to(t, 1.0, y);
    }

    fn input(&self, _t: f64, _x: &[&[f64]], lambda: &[f64], r: &mut [Vec<f64>]) {
        for (b, r) in self.b.iter().zip(r) {
            b.add_times(1.0, lambda, r);
        }
    }

    fn output_by_state(&self, _t: f64, _x: &[&[f64]], _lambda: &[f64], c: &mut [Matrix]) {
        for (sum, c) in c.iter_mut().zip(&self.c) {
            c.add_to(sum);
        }
    }

    fn output_by_multiplier(&self, _t: f64, _x: &[&[f64]], _lambda: &[f64], d: &mut Matrix) {
        if let Some(given) = &self.d {
            d.add_scaled(1.0, given);
        }
    }

    fn input_by_multiplier(&self, _t: f64, _x: &[&[f64]], _lambda: &[f64], b: &mut [Matrix]) {
        for (sum, b) in b.iter_mut().zip(&self.b) {
            b.add_to(1.0, sum);
        }
    }
}
