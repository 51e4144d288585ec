//! The exponential of a matrix, by scaling and squaring with Padé approximants [Higham05, algorithm 2.3].
//!
//! ```text
//! exp(X) = exp(X/2ˢ)^(2ˢ),      exp(Y) ≈ (V − U)⁻¹ (V + U),      U odd and V even in Y
//! ```
//!
//! The degree is 3, 5, 7, 9 or 13, the first whose bound `‖X‖₁ ≤ θ_m` holds; only beyond the last bound is `X` halved, `s` times. In exact arithmetic the result is then the exponential of a
//! matrix within a rounding of `X`. Squaring adds roundings: those of `exp(X)` are about `n ‖X‖₁ ε` of its norm where powers do not grow beyond it, as of rotations and decay.
//!
//! That `‖X‖` is made small first: rows and columns that are not coupled are taken apart, so that what is slow does not see what is fast beside it, and each part is balanced by powers of two,
//! `D⁻¹ X D`, so that units do not matter [Parlett-Reinsch69].

use super::{Factor, Matrix};

/// `θ_m` for `m` = 3, 5, 7, 9: norms up to which a degree has the accuracy of doubles [Higham05, table 2.3].
const BOUNDS: [f64; 4] = [
    1.495_585_217_958_292e-2,
    2.539_398_330_063_23e-1,
    9.504_178_996_162_932e-1,
    2.097_847_961_257_068,
];
/// `θ_13`.
const LAST_BOUND: f64 = 5.371_920_351_148_152;

/// Coefficients of the numerators, `b_k = (2m − k)! m! / ((2m)! (m − k)! k!)` times the number that makes the last one 1.
const DEGREE_3: [f64; 4] = [120.0, 60.0, 12.0, 1.0];
const DEGREE_5: [f64; 6] = [30_240.0, 15_120.0, 3_360.0, 420.0, 30.0, 1.0];
const DEGREE_7: [f64; 8] = [
    17_297_280.0,
    8_648_640.0,
    1_995_840.0,
    277_200.0,
    25_200.0,
    1_512.0,
    56.0,
    1.0,
];
const DEGREE_9: [f64; 10] = [
    17_643_225_600.0,
    8_821_612_800.0,
    2_075_673_600.0,
    302_702_400.0,
    30_270_240.0,
    2_162_160.0,
    110_880.0,
    3_960.0,
    90.0,
    1.0,
];
const DEGREE_13: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];

/// `exp(X)` of a square matrix; `None` if it is not square or not finite, or so large that the exponential is not finite.
///
/// ```
/// use moreau_systems::{Matrix, algebra::exponential};
/// let turned = exponential(&Matrix::from_rows([[0.0, -1.0], [1.0, 0.0]])).unwrap();
/// assert!((turned[(1, 0)] - 1.0_f64.sin()).abs() < 1e-15);
/// ```
#[must_use]
pub fn exponential(matrix: &Matrix) -> Option<Matrix> {
    if matrix.rows() != matrix.columns() || super::first_not_finite(matrix.entries()).is_some() {
        return None;
    }
    let n = matrix.rows();
    let mut exponential = Matrix::zeros(n, n);
    for part in parts(matrix) {
        let mut own = Matrix::zeros(part.len(), part.len());
        for (i, row) in part.iter().enumerate() {
            for (k, column) in part.iter().enumerate() {
                own[(i, k)] = matrix[(*row, *column)];
            }
        }
        let scales = balance(&mut own);
        let own = of_part(&own)?;
        for (i, row) in part.iter().enumerate() {
            for (k, column) in part.iter().enumerate() {
                exponential[(*row, *column)] = scales[i] * own[(i, k)] / scales[k];
            }
        }
    }
    let is_finite = super::first_not_finite(exponential.entries()).is_none();
    is_finite.then_some(exponential)
}

/// Indices that are coupled to each other, in groups, each in its order.
fn parts(matrix: &Matrix) -> Vec<Vec<usize>> {
    let n = matrix.rows();
    let coupled = |i: usize, k: usize| matrix[(i, k)] != 0.0 || matrix[(k, i)] != 0.0;
    let mut is_taken = vec![false; n];
    let mut parts = Vec::new();
    for first in 0..n {
        if std::mem::replace(&mut is_taken[first], true) {
            continue;
        }
        let mut part = vec![first];
        let mut next = 0;
        while let Some(i) = part.get(next).copied() {
            for (k, is_taken) in is_taken.iter_mut().enumerate() {
                if !*is_taken && coupled(i, k) {
                    *is_taken = true;
                    part.push(k);
                }
            }
            next += 1;
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// `X ← D⁻¹ X D` with powers of two `D`, which it returns: rows and columns become of one size. What is not coupled both ways stays.
fn balance(matrix: &mut Matrix) -> Vec<f64> {
    let n = matrix.rows();
    let mut scales = vec![1.0; n];
    // Each round brings most what is far off; a hundred are for a matrix that changes for ever by halves.
    for _ in 0..100 {
        let mut is_done = true;
        for i in 0..n {
            let others = || (0..n).filter(|k| *k != i);
            let column: f64 = others().map(|k| matrix[(k, i)].abs()).sum();
            let row: f64 = others().map(|k| matrix[(i, k)].abs()).sum();
            if column <= 0.0 || row <= 0.0 {
                continue;
            }
            // The power of two nearest to √(row/column).
            let (_, exponent) = libm::frexp(row / column);
            let factor = libm::ldexp(1.0, exponent / 2);
            if column * factor + row / factor < 0.95 * (column + row) {
                is_done = false;
                scales[i] *= factor;
                for k in 0..n {
                    matrix[(k, i)] *= factor;
                    matrix[(i, k)] /= factor;
                }
            }
        }
        if is_done {
            break;
        }
    }
    scales
}

/// `exp(X)` of one part.
fn of_part(matrix: &Matrix) -> Option<Matrix> {
    let size = norm(matrix);
    let degrees: [&[f64]; 4] = [&DEGREE_3, &DEGREE_5, &DEGREE_7, &DEGREE_9];
    let fitting = BOUNDS.iter().position(|bound| size <= *bound);
    if let Some(degree) = fitting {
        approximant(matrix, degrees[degree])
    } else {
        let (mut left, mut factor, mut halvings) = (size, 1.0, 0);
        while left > LAST_BOUND {
            (left, factor, halvings) = (0.5 * left, 0.5 * factor, halvings + 1);
        }
        let mut power = approximant(&matrix.scaled(factor), &DEGREE_13)?;
        for _ in 0..halvings {
            power = power.product(&power);
        }
        Some(power)
    }
}

/// What a constant input does in the time `h`, s, to `ẋ = A x + u`: `Φ = exp(A h)` and `Ψ = ∫₀ʰ exp(A τ) dτ`, so that `x(h) = Φ x(0) + Ψ u`; `None` as by [`exponential`].
///
/// They are parts of one exponential, that of `[A h, 1; 0, 0]`, so that `A` and `Ψ` may be singular.
#[must_use]
pub fn held(a: &Matrix, h: f64) -> Option<[Matrix; 2]> {
    let n = a.rows();
    if n != a.columns() {
        return None;
    }
    let mut joint = Matrix::zeros(2 * n, 2 * n);
    for row in 0..n {
        super::add(&mut joint.row_mut(row)[..n], h, a.row(row));
        joint[(row, n + row)] = 1.0;
    }
    let moved = exponential(&joint)?;
    let (mut phi, mut psi) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    for row in 0..n {
        phi.row_mut(row).copy_from_slice(&moved.row(row)[..n]);
        super::add(psi.row_mut(row), h, &moved.row(row)[n..]);
    }
    super::first_not_finite(psi.entries())
        .is_none()
        .then_some([phi, psi])
}

/// `‖X‖₁`: the largest sum of a column.
fn norm(matrix: &Matrix) -> f64 {
    let mut sums = vec![0.0; matrix.columns()];
    for row in 0..matrix.rows() {
        let entries = sums.iter_mut().zip(matrix.row(row));
        entries.for_each(|(sum, entry)| *sum += entry.abs());
    }
    sums.into_iter().fold(0.0, f64::max)
}

/// `(V − U)⁻¹ (V + U)` with `U = X Σ b_{2k+1} X^{2k}` and `V = Σ b_{2k} X^{2k}`.
fn approximant(x: &Matrix, b: &[f64]) -> Option<Matrix> {
    let n = x.rows();
    let square = x.product(x);
    let (mut odd, mut even) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    // Horner's rule for both at once. Powers kept apart need fewer products, but a system needs this once.
    for pair in b.chunks_exact(2).rev() {
        (even, odd) = (square.product(&even), square.product(&odd));
        for i in 0..n {
            even[(i, i)] += pair[0];
            odd[(i, i)] += pair[1];
        }
    }
    let odd = x.product(&odd);
    let mut numerator = even.clone();
    numerator.add_scaled(1.0, &odd);
    even.add_scaled(-1.0, &odd);
    Some(Factor::new(&even)?.solve_columns(&numerator).transposed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slow state beside one that is gone at once, and a fast oscillation in units that hide that it is a rotation: to 1e-9 of it, `ε ‖X‖` of what is left after balancing.
    #[test]
    fn fast_and_slow_states_and_odd_units() {
        let both = exponential(&Matrix::diagonal(&[-1.0, -1e15])).unwrap();
        assert!((both[(0, 0)] - libm::exp(-1.0)).abs() < 1e-15 && both[(1, 1)].abs() < 1e-300);
        let w = 1e6;
        let turned = exponential(&Matrix::from_rows([[0.0, 1.0], [-w * w, 0.0]])).unwrap();
        let (s, c) = libm::sincos(w);
        let exact = [[c, 1.0], [s / w, 1.0 / w], [-w * s, w], [c, 1.0]];
        for (own, [exact, unit]) in turned.entries().iter().zip(exact) {
            assert!((own - exact).abs() < 1e-9 * unit, "{own} {exact}");
        }
    }

    fn largest_difference(a: &Matrix, b: &Matrix) -> f64 {
        let pairs = a.entries().iter().zip(b.entries());
        pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
    }

    fn diagonal_times(x: &Matrix, factor: f64) -> Matrix {
        exponential(&x.scaled(factor)).unwrap()
    }

    /// `exp(φ J)` is the turn by `φ`: all degrees, and up to sixteen squarings, each of which doubles what was rounded: `4 φ ε`, and as much of the sine's own argument.
    #[test]
    fn rotations() {
        let j = Matrix::from_rows([[0.0, -1.0], [1.0, 0.0]]);
        for angle in [1e-9, 0.01, 0.2, 0.9, 2.0, 5.0, 10.0, 1e3, 1e5] {
            let (s, c) = libm::sincos(angle);
            let expected = Matrix::from_rows([[c, -s], [s, c]]);
            let found = largest_difference(&diagonal_times(&j, angle), &expected);
            assert!(
                found <= 4.0 * f64::EPSILON * (1.0 + angle),
                "{angle}: {found:e}"
            );
        }
    }

    /// A series that ends: entries `t^k/k!`, each to some roundings of itself, as there are no differences in it.
    #[test]
    fn a_nilpotent_matrix() {
        let mut shift = Matrix::zeros(4, 4);
        (0..3).for_each(|i| shift[(i, i + 1)] = 1.0);
        for t in [1e-3, 0.5, 3.0, 4096.0] {
            let found = diagonal_times(&shift, t);
            let terms = [1.0, t, t * t / 2.0, t * t * t / 6.0];
            for i in 0..4 {
                for j in 0..4 {
                    let expected = if j < i { 0.0 } else { terms[j - i] };
                    let missed = (found[(i, j)] - expected).abs();
                    assert!(missed <= 64.0 * f64::EPSILON * expected, "{t} {i} {j}");
                }
            }
        }
    }

    /// Rates of 1/s to 10⁹/s in one triangular matrix: the fast ones are over, the slow one is there to the roundings of thirty squarings of a number near 1.
    #[test]
    fn stiff_decay() {
        let a = Matrix::from_rows([[-1.0, 1.0, 0.0], [0.0, -1e4, 1.0], [0.0, 0.0, -1e9]]);
        let found = exponential(&a).unwrap();
        let slow = libm::exp(-1.0);
        assert!((found[(0, 0)] - slow).abs() <= 1e9 * f64::EPSILON * slow);
        // (e^{−1} − e^{−10⁴})/(10⁴ − 1).
        let beside = slow / (1e4 - 1.0);
        assert!((found[(0, 1)] - beside).abs() <= 1e9 * f64::EPSILON * beside);
        for (i, j) in [(1, 1), (2, 2), (1, 0), (2, 0), (2, 1)] {
            assert!(found[(i, j)].abs() < 1e-300, "{i} {j}");
        }
        let [phi, psi] = held(&Matrix::diagonal(&[-1e8]), 2.0).unwrap();
        assert!(phi[(0, 0)].abs() < 1e-300);
        assert!((psi[(0, 0)] - 1e-8).abs() <= 1e-8 * 1e9 * f64::EPSILON);
    }

    /// `exp(700)` is there, to its condition, 700 roundings of the argument, and what squaring adds; `exp(800)` is not.
    #[test]
    fn large_norms() {
        let found = exponential(&Matrix::diagonal(&[700.0, -700.0])).unwrap();
        let ratio = found[(0, 0)] / libm::exp(700.0);
        assert!((ratio - 1.0).abs() < 2.0 * 700.0 * f64::EPSILON, "{ratio}");
        assert!(exponential(&Matrix::diagonal(&[800.0])).is_none());
        assert!(exponential(&Matrix::diagonal(&[-1e300])).is_some());
        assert!(exponential(&Matrix::diagonal(&[f64::NAN])).is_none());
        assert!(exponential(&Matrix::zeros(2, 3)).is_none());
        assert!(exponential(&Matrix::zeros(0, 0)).is_some());
    }

    /// `Ψ` of an oscillator over its period is zero, to the roundings of its entries before they cancel; `Φ` is one. Of a double integrator it is `[h, h²/2; 0, h]`.
    #[test]
    fn what_an_input_does() {
        let omega = 7.0;
        let a = Matrix::from_rows([[0.0, 1.0], [-omega * omega, 0.0]]);
        let h = std::f64::consts::TAU / omega;
        let [phi, psi] = held(&a, h).unwrap();
        assert!(largest_difference(&phi, &Matrix::identity(2)) < 1e-13 * omega);
        assert!(largest_difference(&psi, &Matrix::zeros(2, 2)) < 1e-13);
        let integrator = Matrix::from_rows([[0.0, 1.0], [0.0, 0.0]]);
        for h in [1e-3, 100.0] {
            let [phi, psi] = held(&integrator, h).unwrap();
            let one = Matrix::from_rows([[1.0, h], [0.0, 1.0]]);
            let twice = Matrix::from_rows([[h, h * h / 2.0], [0.0, h]]);
            let bound = 16.0 * f64::EPSILON;
            assert!(largest_difference(&phi, &one) <= bound * h.max(1.0));
            assert!(largest_difference(&psi, &twice) <= bound * h * h.max(1.0));
        }
    }
}
