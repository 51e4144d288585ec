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

use crate::algebra::{Matrix, norm};

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
    let direct = |row: usize| d.is_some_and(|d| d.row(row).iter().any(|entry| *entry != 0.0));
    let mut open: Vec<usize> = (0..c.rows()).filter(|row| !direct(*row)).collect();
    let mut largest = (open.len() < c.rows()).then_some(0);
    let size = |matrix: &Matrix| norm(matrix.entries());
    let mut product = c.clone();
    let mut bounds: Vec<f64> = (0..c.rows())
        .map(|row| norm(c.row(row)) * size(b))
        .collect();
    let rounding = a.rows() as f64 * f64::EPSILON;
    for degree in 1..=a.rows() {
        let answer = product.product(b);
        let still_open = |row: &usize| norm(answer.row(*row)) <= rounding * bounds[*row];
        let before = open.len();
        open.retain(still_open);
        if open.len() < before {
            largest = Some(degree);
        }
        if open.is_empty() {
            break;
        }
        product = product.product(a);
        bounds.iter_mut().for_each(|bound| *bound *= size(a));
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
