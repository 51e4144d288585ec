//! Dense matrices of sizes known at run time, and their LU factors.

pub mod factor;
pub mod matrix;

pub use factor::Factor;
pub use matrix::Matrix;

/// A short vector: most systems have few coordinates, so that steps need no memory for them.
pub(crate) type Row = smallvec::SmallVec<[f64; 8]>;

/// So many zeros.
pub(crate) fn zeros(n: usize) -> Row {
    smallvec::smallvec![0.0; n]
}

/// `a·b`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `y ← y + factor x`.
pub(crate) fn add(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// `‖x‖`.
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Index and value of the first entry that is not finite.
pub(crate) fn first_not_finite(x: &[f64]) -> Option<(usize, f64)> {
    let index = x.iter().position(|x| !x.is_finite())?;
    Some((index, x[index]))
}
