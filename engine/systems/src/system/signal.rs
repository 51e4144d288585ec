//! Vectors that are known functions of time.

use std::fmt;
use std::sync::Arc;

/// Fills a vector of zeros for the time given, s.
pub type VectorOfTime = dyn Fn(f64, &mut [f64]) + Send + Sync;

/// A vector as a function of time: `F_ext(t)`, `b(t)`, `e(t)`.
#[derive(Clone, Default)]
pub enum Signal {
    /// Zero at all times, of any size.
    #[default]
    Zero,
    /// The same at all times.
    Constant(Vec<f64>),
    /// Fills a vector of zeros for the time given, s.
    Varying(Arc<VectorOfTime>),
}

impl Signal {
    /// A function of time: it receives the time (s) and zeros to fill in.
    #[must_use]
    pub fn varying(signal: impl Fn(f64, &mut [f64]) + Send + Sync + 'static) -> Self {
        Self::Varying(Arc::new(signal))
    }

    /// `y ← y + factor · signal(t)`.
    pub(crate) fn add_to(&self, t: f64, factor: f64, y: &mut [f64]) {
        match self {
            Self::Zero => {}
            Self::Constant(value) => crate::algebra::add(y, factor, value),
            Self::Varying(signal) => {
                let mut value = crate::algebra::zeros(y.len());
                signal(t, &mut value);
                crate::algebra::add(y, factor, &value);
            }
        }
    }

    /// An entry, where it does not vary; zero where it does.
    #[inline]
    pub(crate) fn constant(&self, i: usize) -> f64 {
        match self {
            Self::Constant(value) => value[i],
            Self::Zero | Self::Varying(_) => 0.0,
        }
    }

    pub(crate) fn is_constant(&self) -> bool {
        !matches!(self, Self::Varying(_))
    }

    /// Its length, where it has one of its own.
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Self::Constant(value) => Some(value.len()),
            Self::Zero | Self::Varying(_) => None,
        }
    }
}

impl From<Vec<f64>> for Signal {
    fn from(value: Vec<f64>) -> Self {
        Self::Constant(value)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("Zero"),
            Self::Constant(value) => f.debug_tuple("Constant").field(value).finish(),
            Self::Varying(_) => f.write_str("Varying"),
        }
    }
}
