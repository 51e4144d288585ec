//! First-order systems: `M ẋ = f(t, x) + r` [docs/theory.md §12].

use super::signal::Signal;
use crate::algebra::{Coefficient, Matrix};
use crate::error::{FieldError, expect_length};
use std::fmt;
use std::sync::Arc;

/// A first-order system of `n` states.
///
/// [`FirstOrderByDifferences`](super::finite_differences::FirstOrderByDifferences) takes the slope of `f` by finite differences.
pub trait FirstOrderModel: Send + Sync {
    /// `n ≥ 1`.
    fn size(&self) -> usize;

    /// Writes `M`, `n × n`, regular and constant; the unit matrix unless it is said otherwise. `mass` is zero before.
    fn mass(&self, mass: &mut Matrix) {
        for i in 0..mass.rows() {
            mass[(i, i)] = 1.0;
        }
    }

    /// Writes `f(t, x)`, `n` entries. `rate` is zero before.
    fn rate(&self, t: f64, x: &[f64], rate: &mut [f64]);

    /// Writes `∂f/∂x`, `n × n`; zero unless it is said otherwise: then the scheme's Newton method is a fixed-point iteration.
    fn rate_by_state(&self, _t: f64, _x: &[f64], _slope: &mut Matrix) {}
}

/// Fills a matrix of zeros for the time given, s.
pub type MatrixOfTime = dyn Fn(f64, &mut Matrix) + Send + Sync;

/// `A(t)`.
#[derive(Clone)]
pub enum Dynamics<M = Matrix> {
    /// The same at all times.
    Constant(M),
    /// Fills an `n × n` matrix of zeros for the time given, s.
    Varying(Arc<MatrixOfTime>),
}

impl<M: fmt::Debug> fmt::Debug for Dynamics<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(matrix) => f.debug_tuple("Constant").field(matrix).finish(),
            Self::Varying(_) => f.write_str("Varying"),
        }
    }
}

/// `M ẋ = A(t) x + b(t) + r`.
///
/// ```
/// use moreau_systems::{FirstOrderLinear, Matrix, System};
/// // A coil of 10 mH and a capacitor of 1 µF.
/// let system = System::from(FirstOrderLinear::new(Matrix::from_rows([[0.0, -1e6], [1e2, 0.0]])));
/// assert_eq!(system.size(), 2);
/// ```
///
/// With [`SparseMatrix`](crate::SparseMatrix) in place of [`Matrix`] a system may be large: a step costs what its matrices have entries. Where one is dense and the other
/// sparse, both are [`Coefficient`]. `A(t)` that varies is dense.
#[derive(Clone, Debug)]
pub struct FirstOrderLinear<M = Matrix> {
    /// `n`.
    pub size: usize,
    /// `M`, `n × n`, regular; `None` is the unit matrix.
    pub mass: Option<M>,
    /// `A`, `n × n`.
    pub matrix: Dynamics<M>,
    /// `b(t)`, `n` entries.
    pub input: Signal,
}

impl FirstOrderLinear {
    /// `ẋ = A(t) x + r` with `n` states: the function receives the time (s) and zeros to fill in.
    #[must_use]
    pub fn varying(size: usize, matrix: impl Fn(f64, &mut Matrix) + Send + Sync + 'static) -> Self {
        Self {
            size,
            mass: None,
            matrix: Dynamics::Varying(Arc::new(matrix)),
            input: Signal::Zero,
        }
    }
}

impl<M> FirstOrderLinear<M> {
    /// `ẋ = A x + r` with constant `A`.
    #[must_use]
    pub fn new(matrix: M) -> Self
    where
        M: Into<Coefficient> + Clone,
    {
        Self {
            size: matrix.clone().into().rows(),
            mass: None,
            matrix: Dynamics::Constant(matrix),
            input: Signal::Zero,
        }
    }

    /// The same, whatever its matrices are.
    pub(super) fn any(self) -> FirstOrderLinear<Coefficient>
    where
        M: Into<Coefficient>,
    {
        FirstOrderLinear {
            size: self.size,
            mass: self.mass.map(Into::into),
            matrix: match self.matrix {
                Dynamics::Constant(matrix) => Dynamics::Constant(matrix.into()),
                Dynamics::Varying(fill) => Dynamics::Varying(fill),
            },
            input: self.input,
        }
    }
}

impl FirstOrderLinear<Coefficient> {
    /// True if it is constant and one of its matrices is sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        let Dynamics::Constant(matrix) = &self.matrix else {
            return false;
        };
        let all = [Some(matrix), self.mass.as_ref()];
        all.into_iter()
            .flatten()
            .any(|matrix| matrix.dense().is_none())
    }

    /// `A` and `b` if they are constant and all matrices dense.
    #[inline]
    pub(super) fn constant_dense(&self) -> Option<(&Matrix, &Signal)> {
        match (&self.matrix, &self.mass) {
            (
                Dynamics::Constant(Coefficient::Dense(matrix)),
                None | Some(Coefficient::Dense(_)),
            ) if self.input.is_constant() => Some((matrix, &self.input)),
            _ => None,
        }
    }

    /// `y ← y + A(t)`.
    fn add_matrix(&self, t: f64, sum: &mut Matrix) {
        match &self.matrix {
            Dynamics::Constant(matrix) => matrix.add_to(1.0, sum),
            Dynamics::Varying(fill) => {
                let mut matrix = Matrix::zeros(self.size, self.size);
                fill(t, &mut matrix);
                sum.add_scaled(1.0, &matrix);
            }
        }
    }

    pub(super) fn check(&self) -> Result<(), FieldError> {
        let n = self.size;
        if let Some(mass) = &self.mass {
            mass.check("mass", [n, n])?;
        }
        if let Dynamics::Constant(matrix) = &self.matrix {
            matrix.check("matrix", [n, n])?;
        }
        expect_length("input", self.input.len().unwrap_or(n), n)
    }
}

impl FirstOrderModel for FirstOrderLinear<Coefficient> {
    fn size(&self) -> usize {
        self.size
    }

    fn mass(&self, mass: &mut Matrix) {
        match &self.mass {
            Some(given) => given.add_to(1.0, mass),
            None => mass.add_scaled(1.0, &Matrix::identity(self.size)),
        }
    }

    fn rate(&self, t: f64, x: &[f64], rate: &mut [f64]) {
        match &self.matrix {
            Dynamics::Constant(matrix) => matrix.add_times(1.0, x, rate),
            Dynamics::Varying(_) => {
                let mut matrix = Matrix::zeros(self.size, self.size);
                self.add_matrix(t, &mut matrix);
                matrix.add_times(1.0, x, rate);
            }
        }
        self.input.add_to(t, 1.0, rate);
    }

    fn rate_by_state(&self, t: f64, _x: &[f64], slope: &mut Matrix) {
        self.add_matrix(t, slope);
    }
}
