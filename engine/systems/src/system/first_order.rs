//! First-order systems: `M ẋ = f(t, x) + r` [docs/theory.md §12].

use super::signal::Signal;
use crate::algebra::Matrix;
use crate::error::{FieldError, expect_length, expect_shape};
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
pub enum Dynamics {
    /// The same at all times.
    Constant(Matrix),
    /// Fills an `n × n` matrix of zeros for the time given, s.
    Varying(Arc<MatrixOfTime>),
}

impl fmt::Debug for Dynamics {
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
#[derive(Clone, Debug)]
pub struct FirstOrderLinear {
    /// `n`.
    pub size: usize,
    /// `M`, `n × n`, regular; `None` is the unit matrix.
    pub mass: Option<Matrix>,
    /// `A`, `n × n`.
    pub matrix: Dynamics,
    /// `b(t)`, `n` entries.
    pub input: Signal,
}

impl FirstOrderLinear {
    /// `ẋ = A x + r` with constant `A`.
    #[must_use]
    pub fn new(matrix: Matrix) -> Self {
        Self {
            size: matrix.rows(),
            mass: None,
            matrix: Dynamics::Constant(matrix),
            input: Signal::Zero,
        }
    }

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

    /// `y ← y + A(t)`.
    pub(crate) fn add_matrix(&self, t: f64, sum: &mut Matrix) {
        match &self.matrix {
            Dynamics::Constant(matrix) => sum.add_scaled(1.0, matrix),
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
            expect_shape("mass", mass, [n, n])?;
        }
        if let Dynamics::Constant(matrix) = &self.matrix {
            expect_shape("matrix", matrix, [n, n])?;
        }
        expect_length("input", self.input.len().unwrap_or(n), n)
    }
}

impl FirstOrderModel for FirstOrderLinear {
    fn size(&self) -> usize {
        self.size
    }

    fn mass(&self, mass: &mut Matrix) {
        match &self.mass {
            Some(given) => mass.add_scaled(1.0, given),
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
