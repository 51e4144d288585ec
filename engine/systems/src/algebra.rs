//! Matrices of sizes known at run time, dense and sparse, their LU factors and exponentials.

pub mod coefficient;
pub mod exponential;
pub mod factor;
pub mod matrix;
pub mod rows;
mod sparse_factor;

pub use coefficient::Coefficient;
pub use exponential::{exponential, held};
pub use factor::Factor;
pub use matrix::Matrix;
pub use rows::Rows;

/// A short vector: most systems have few coordinates, so that steps need no memory for them.
pub(crate) type Row = smallvec::SmallVec<[f64; 8]>;

/// So many zeros.
pub(crate) fn zeros(n: usize) -> Row {
    smallvec::smallvec![0.0; n]
}

/// `a·b`: of long vectors four partial sums.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < LONG {
        return in_order(a, b);
    }
    in_parts(a, b)
}

#[inline]
fn in_order(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum
}

fn in_parts(a: &[f64], b: &[f64]) -> f64 {
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a4.iter().zip(b4) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + in_order(a_rest, b_rest)
}

/// Entries from which on a sum is formed in parts.
pub(crate) const LONG: usize = 16;

/// Copies as many entries. A single one is most often all, and then not worth the call that copies many.
#[inline]
pub(crate) fn copy_all(to: &mut [f64], from: &[f64]) {
    match (&mut *to, from) {
        ([to], [from]) => *to = *from,
        _ => to.copy_from_slice(from),
    }
}

/// Takes the entries of a slice, in the memory that is there.
#[inline]
pub(crate) fn copy(row: &mut Row, from: &[f64]) {
    if row.len() == from.len() {
        copy_all(row, from);
    } else {
        row.clear();
        row.extend_from_slice(from);
    }
}

/// The same for a vector.
#[inline]
pub(crate) fn fill(vector: &mut Vec<f64>, with: &[f64]) {
    if vector.len() == with.len() {
        copy_all(vector, with);
    } else {
        vector.clear();
        vector.extend_from_slice(with);
    }
}

/// Sets all entries to zero.
#[inline]
pub(crate) fn zero(row: &mut [f64]) {
    match row {
        [only] => *only = 0.0,
        _ => row.fill(0.0),
    }
}

/// So many zeros, in the memory that is there.
#[inline]
pub(crate) fn clear(row: &mut Row, n: usize) {
    if row.len() == n {
        zero(row);
    } else {
        row.clear();
        row.resize(n, 0.0);
    }
}

/// `y ← y + factor x`.
#[inline]
pub(crate) fn add(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// `‖x‖`.
#[inline]
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Index and value of the first entry that is not finite.
pub(crate) fn first_not_finite(x: &[f64]) -> Option<(usize, f64)> {
    let index = x.iter().position(|x| !x.is_finite())?;
    Some((index, x[index]))
}
