//! Small dense algebra in six dimensions, linear part first.

use glam::{DMat3, DVec3};

/// Six numbers: a twist or a wrench.
pub(crate) type Six = [f64; 6];
/// Row by row.
pub(crate) type Matrix = [[f64; 6]; 6];

/// Of two halves.
pub(crate) fn six(linear: DVec3, angular: DVec3) -> Six {
    [
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
    ]
}

/// Its halves.
pub(crate) fn halves(x: &Six) -> [DVec3; 2] {
    [DVec3::from_slice(&x[..3]), DVec3::from_slice(&x[3..])]
}

/// The matrix of four blocks, the upper ones first.
pub(crate) fn blocks([[a, b], [c, d]]: [[DMat3; 2]; 2]) -> Matrix {
    let mut all = [[0.0; 6]; 6];
    for i in 0..3 {
        for j in 0..3 {
            all[i][j] = a.col(j)[i];
            all[i][j + 3] = b.col(j)[i];
            all[i + 3][j] = c.col(j)[i];
            all[i + 3][j + 3] = d.col(j)[i];
        }
    }
    all
}

pub(crate) fn dot(a: &Six, b: &Six) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `x + factor·y`.
pub(crate) fn plus(x: &Six, factor: f64, y: &Six) -> Six {
    std::array::from_fn(|i| x[i] + factor * y[i])
}

/// `A x`.
pub(crate) fn times(a: &Matrix, x: &Six) -> Six {
    std::array::from_fn(|i| dot(&a[i], x))
}

/// `A B`.
pub(crate) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| a[i][k] * b[k][j]).sum::<f64>()))
}

/// `½ (A + Aᵀ)`.
pub(crate) fn symmetric_part(a: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (a[i][j] + a[j][i])))
}

/// `A⁻¹ b`, by elimination with row pivots; `None` if a pivot is zero or not finite.
pub(crate) fn solve(mut a: Matrix, mut b: Six) -> Option<Six> {
    for k in 0..6 {
        let mut pivot = k;
        for i in k + 1..6 {
            if a[i][k].abs() > a[pivot][k].abs() {
                pivot = i;
            }
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        let upper = a[k];
        if upper[k] == 0.0 || !upper[k].is_finite() {
            return None;
        }
        for i in k + 1..6 {
            let factor = a[i][k] / upper[k];
            for (x, u) in a[i].iter_mut().zip(upper).skip(k) {
                *x -= factor * u;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..6).rev() {
        let known: f64 = (k + 1..6).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b.iter().all(|x| x.is_finite()).then_some(b)
}

/// Rounds of rotations at most: they converge quadratically, seven or so do.
const ROUNDS: usize = 30;

/// Eigenvalues and eigenvectors, row by row, of a symmetric matrix [Jacobi 1846, cyclic].
pub(crate) fn eigen(mut a: Matrix) -> (Six, Matrix) {
    let mut vectors = [[0.0; 6]; 6];
    for (i, row) in vectors.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for _ in 0..ROUNDS {
        let (mut off, mut all) = (0.0, 0.0);
        for (i, row) in a.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                all += x * x;
                off += if i == j { 0.0 } else { x * x };
            }
        }
        if off <= f64::EPSILON * f64::EPSILON * all || !all.is_finite() {
            break;
        }
        for p in 0..5 {
            for q in p + 1..6 {
                rotate(&mut a, &mut vectors, (p, q));
            }
        }
    }
    (std::array::from_fn(|i| a[i][i]), vectors)
}

/// The rotation in the plane of `p` and `q` that makes `a[p][q]` zero.
fn rotate(a: &mut Matrix, vectors: &mut Matrix, (p, q): (usize, usize)) {
    if a[p][q] == 0.0 {
        return;
    }
    let ratio = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
    let cos = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sin = tangent * cos;
    for row in a.iter_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = cos * x - sin * y;
        row[q] = sin * x + cos * y;
    }
    for rows in [a, vectors] {
        let (x, y) = (rows[p], rows[q]);
        rows[p] = plus(&x.map(|x| cos * x), -sin, &y);
        rows[q] = plus(&x.map(|x| sin * x), cos, &y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix without symmetry, with entries of many sizes.
    fn sample() -> Matrix {
        let entry = |i: usize, j: usize| {
            let k = (7 * i + 3 * j * j + i * j) % 11;
            (k as f64 - 5.0) * if i < 3 { 1e3 } else { 1.0 }
        };
        std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j) + f64::from(i == j) * 7e3))
    }

    #[test]
    fn a_solution_solves() {
        let b = [1.0, -2.0, 3.0, 0.5, 0.0, 4.0];
        let x = solve(sample(), b).unwrap();
        let left = plus(&times(&sample(), &x), -1.0, &b);
        assert!(dot(&left, &left).sqrt() < 1e-12, "{left:?}");
        assert_eq!(solve([[0.0; 6]; 6], b), None);
    }

    #[test]
    fn eigenvectors_are_orthonormal_and_make_the_matrix() {
        let a = symmetric_part(&sample());
        let (values, vectors) = eigen(a);
        for i in 0..6 {
            for j in 0..6 {
                let same = dot(&vectors[i], &vectors[j]);
                assert!((same - f64::from(i == j)).abs() < 1e-14);
                let made: f64 = (0..6)
                    .map(|k| values[k] * vectors[k][i] * vectors[k][j])
                    .sum();
                assert!((made - a[i][j]).abs() < 1e-14 * 1e4, "{made}");
            }
        }
    }
}
