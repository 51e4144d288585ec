//! Relative degree: after how many derivatives an output answers to its multiplier [docs/theory.md §12].
//!
//! ```text
//! ẋ = A x + B λ,  y = C x + D λ:    the first non-zero one of  D, C B, C A B, C A² B, …
//! ```
//!
//! Of several outputs each has its own, and the largest one counts.
//!
//! Degree 0 is an algebraic law, 1 a law with jumps in `λ`, 2 one with jumps in `x`: impacts. A time-stepping scheme that takes `λ` implicitly as a
//! function works up to degree 1; one that takes it as a measure, with a law for impacts, up to 2.

use crate::algebra::{Matrix, Rows, dot, norm};
use std::borrow::Cow;

/// The relative degree of `(A, B, C, D)`, with `A` already multiplied by `M⁻¹` and so `B`: the largest of its rows, each by itself, of those that answer to `λ` at all;
/// `usize::MAX` if `λ` never reaches `y`. `D = None` is zero. A product counts as zero where it is not above rounding, `n ε` times the product of the norms.
///
/// By Cayley and Hamilton nothing new comes after `C Aⁿ⁻¹ B`.
///
/// ```
/// use moreau_systems::{Matrix, relative_degree};
/// let a = Matrix::from_rows([[0.0, 1.0], [0.0, 0.0]]); // a mass: position and velocity
/// let force = Matrix::from_rows([[0.0], [1.0]]);
/// assert_eq!(relative_degree(&a, &force, &Matrix::from_rows([[1.0, 0.0]]), None), 2); // its position
/// assert_eq!(relative_degree(&a, &force, &Matrix::from_rows([[0.0, 1.0]]), None), 1); // its velocity
/// ```
#[must_use]
pub fn relative_degree(a: &Matrix, b: &Matrix, c: &Matrix, d: Option<&Matrix>) -> usize {
    let mut part = Part {
        state: b.transposed(),
        output: Cow::Owned(Rows::from(c.clone())),
        rate: Box::new(|x| a.times(x)),
        size: Some(norm(a.entries())),
    };
    degree_of(std::slice::from_mut(&mut part), d)
}

/// `x ↦ A x`.
type Product<'a> = dyn Fn(&[f64]) -> Vec<f64> + 'a;

/// A system as its degree asks for it: `A` by its products alone, so that it may be large.
pub(crate) struct Part<'a> {
    /// `(Aᵏ B)ᵀ`, first `Bᵀ`: a row for each multiplier.
    pub(crate) state: Matrix,
    /// `C`.
    pub(crate) output: Cow<'a, Rows>,
    /// `A x`.
    pub(crate) rate: Box<Product<'a>>,
    /// `‖A‖`, if it is known.
    pub(crate) size: Option<f64>,
}

impl Part<'_> {
    /// `‖A‖²`: the mean of `‖A z‖²` over vectors `z` of ±1, which is that of all of them; of few states over the unit vectors, which is the sum itself.
    fn square(&self) -> f64 {
        if let Some(size) = self.size {
            return size * size;
        }
        let n = self.state.columns();
        let mut z = crate::algebra::zeros(n);
        let mut sum = 0.0;
        if n <= PROBES {
            for k in 0..n {
                z.fill(0.0);
                z[k] = 1.0;
                let answer = (self.rate)(&z);
                sum += dot(&answer, &answer);
            }
            return sum;
        }
        // Signs by a generator of the kind of Marsaglia's, always the same ones.
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..PROBES {
            for z in &mut z {
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                *z = if bits >> 63 == 0 { 1.0 } else { -1.0 };
            }
            let answer = (self.rate)(&z);
            sum += dot(&answer, &answer);
        }
        sum / PROBES as f64
    }
}

/// Vectors that a norm is estimated from.
const PROBES: usize = 8;

/// The degree of systems whose outputs add up, and `D`.
pub(crate) fn degree_of(parts: &mut [Part], d: Option<&Matrix>) -> usize {
    let n: usize = parts.iter().map(|part| part.state.columns()).sum();
    let Some(first) = parts.first() else {
        return usize::MAX;
    };
    let [m, outputs] = [first.state.rows(), first.output.rows()];
    let square = |matrix: &Matrix| dot(matrix.entries(), matrix.entries());
    let of_input: f64 = parts.iter().map(|part| square(&part.state)).sum();
    // Rows that no λ has reached yet, and the products of the norms of each.
    let direct = |row: usize| d.is_some_and(|d| d.row(row).iter().any(|entry| *entry != 0.0));
    let mut open: Vec<usize> = (0..outputs).filter(|row| !direct(*row)).collect();
    let mut largest = (open.len() < outputs).then_some(0);
    let mut squares = vec![0.0; outputs];
    for part in parts.iter() {
        part.output
            .for_each(|row, _, value| squares[row] += value * value);
    }
    let (mut bound, mut growth) = (of_input.sqrt(), None);
    for degree in 1..=n {
        let before = open.len();
        open.retain(|row| {
            let entry = |column| -> f64 {
                let products = parts
                    .iter()
                    .map(|part| part.output.row_dot(*row, part.state.row(column)));
                products.sum()
            };
            let reached: f64 = (0..m).map(entry).map(|entry| entry * entry).sum();
            reached.sqrt() <= n as f64 * f64::EPSILON * squares[*row].sqrt() * bound
        });
        if open.len() < before {
            largest = Some(degree);
        }
        if open.is_empty() {
            break;
        }
        let growth =
            *growth.get_or_insert_with(|| parts.iter().map(Part::square).sum::<f64>().sqrt());
        bound *= growth;
        // Beyond the largest number nothing can be told from rounding any more; below the smallest there is nothing.
        if !bound.is_finite() || bound == 0.0 {
            break;
        }
        for part in parts.iter_mut() {
            for column in 0..m {
                let next = (part.rate)(part.state.row(column));
                part.state.row_mut(column).copy_from_slice(&next);
            }
        }
    }
    largest.unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The position of a mass beside its velocity, and beside an output that `λ` reaches at once.
    #[test]
    fn the_largest_degree_of_the_rows_counts() {
        let a = Matrix::from_rows([[0.0, 1.0], [0.0, 0.0]]);
        let b = Matrix::from_rows([[0.0, 0.0], [1.0, 1.0]]);
        let c = Matrix::from_rows([[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(relative_degree(&a, &b, &c, None), 2);
        let d = Matrix::from_rows([[0.0, 0.0], [1.0, 0.0]]);
        assert_eq!(relative_degree(&a, &b, &c, Some(&d)), 2);
        let d = Matrix::from_rows([[0.0, 1.0], [0.0, 0.0]]);
        assert_eq!(relative_degree(&a, &b, &c, Some(&d)), 1);
        // A row that no λ reaches says nothing.
        let c = Matrix::from_rows([[0.0, 0.0], [0.0, 1.0]]);
        assert_eq!(relative_degree(&a, &b, &c, None), 1);
    }

    /// A chain of integrators has the degree of its length, whatever its units.
    #[test]
    fn a_chain_of_integrators() {
        for n in 1..6 {
            let mut a = Matrix::zeros(n, n);
            for i in 0..n - 1 {
                a[(i, i + 1)] = 1e6;
            }
            let (mut b, mut c) = (Matrix::zeros(n, 1), Matrix::zeros(1, n));
            (b[(n - 1, 0)], c[(0, 0)]) = (1e-6, 3.0);
            assert_eq!(relative_degree(&a, &b, &c, None), n);
            let d = Matrix::identity(1);
            assert_eq!(relative_degree(&a, &b, &c, Some(&d)), 0);
            assert_eq!(
                relative_degree(&a, &Matrix::zeros(n, 1), &c, None),
                usize::MAX
            );
        }
    }
}
