//! Scales `λ` of rows whose diagonal entry says nothing.
//!
//! `λ_α = trace(W_αα)/m` compares a velocity with an impulse. For symmetric and positive semi-definite `W` that is sound, since
//! `|W_ij| ≤ √(W_ii W_jj)`: no entry is larger than the diagonal allows. Rows of linear complementarity problems need not be like
//! that: `W` may be unsymmetric, and the diagonal zero, negative, or the rounding of zero. With `a_αβ` the largest entry of `W_αβ` and
//! `W_βα`, a row is **weak** if
//!
//! ```text
//! trace(W_αα)/m ≤ √ε max_β a_αβ
//! ```
//!
//! In a positive semi-definite `W` that takes a row `β` with `W_ββ ≥ W_αα/ε`: what is left of `W_αα` beside it is rounding. Rows that are
//! not weak keep `λ = trace/m`, so a problem without weak rows is judged as before, bit by bit. The weak ones are scaled such that their
//! largest entry is what the scales allow, `max_β a_αβ/√(λ_α λ_β) = 1` (equilibration in the maximum norm), by the iteration
//!
//! ```text
//! λ_α ← √λ_α max_β a_αβ/√λ_β          λ_β of the others fixed; eight times
//! first λ_α = max a_αβ²/λ_β over the β that are not weak, or max_β a_αβ if it is coupled to none of them
//! ```
//!
//! which halves the logarithm of what is missing each time [Ruiz01]. The scale of a row that is coupled to nothing does not matter for being
//! zero or not: it is the mean of the others, or 1.

/// Rounds of the equilibration: what is left is the 256th root of the first error.
const ROUNDS: usize = 8;

/// Part of the largest entry of a row at which its diagonal is weak: `√ε`.
pub(crate) const WEAK: f64 = 1.490_116_119_384_765_6e-8;

/// A matrix as the scales see it.
pub(crate) trait Entries {
    /// Calls `visit(α, β, |entry|)` for every entry, in a fixed order.
    fn visit(&self, visit: impl FnMut(usize, usize, f64));
}

/// The scale of every interaction, given `λ = trace/m` of each and which of them may be weak. None if none is weak, or if
/// something is not finite.
pub(crate) fn scales(
    diagonal: &[f64],
    may_be_weak: impl Fn(usize) -> bool,
    entries: &impl Entries,
) -> Option<Vec<f64>> {
    let n = diagonal.len();
    let mut largest = vec![0.0_f64; n];
    let mut finite = true;
    entries.visit(|i, j, value| {
        finite &= value.is_finite();
        largest[i] = largest[i].max(value);
        largest[j] = largest[j].max(value);
    });
    let weak: Vec<bool> = (0..n)
        .map(|i| may_be_weak(i) && diagonal[i] <= WEAK * largest[i])
        .collect();
    if !finite || !weak.contains(&true) {
        return None;
    }
    let mut first = vec![0.0_f64; n];
    entries.visit(|i, j, value| {
        for (own, other) in [(i, j), (j, i)] {
            if !weak[other] {
                first[own] = first[own].max(value * value / diagonal[other]);
            }
        }
    });
    let mut lambda: Vec<f64> = (0..n)
        .map(|i| match (weak[i], first[i] > 0.0) {
            (false, _) => diagonal[i],
            (true, true) => first[i],
            (true, false) => largest[i],
        })
        .collect();
    let positive = || lambda.iter().filter(|lambda| **lambda > 0.0);
    let mean = positive().sum::<f64>() / positive().count() as f64;
    let mean = if mean > 0.0 && mean.is_finite() {
        mean
    } else {
        1.0
    };
    for (lambda, weak) in lambda.iter_mut().zip(&weak) {
        if *weak && *lambda <= 0.0 {
            *lambda = mean;
        }
    }
    let mut most = vec![0.0_f64; n];
    for _ in 0..ROUNDS {
        most.fill(0.0);
        entries.visit(|i, j, value| {
            most[i] = most[i].max(value / lambda[j].sqrt());
            most[j] = most[j].max(value / lambda[i].sqrt());
        });
        for i in 0..n {
            let next = lambda[i].sqrt() * most[i];
            if weak[i] && next > 0.0 && next.is_finite() {
                lambda[i] = next;
            }
        }
    }
    Some(lambda)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Dense<'a>(usize, &'a [f64]);

    impl Entries for Dense<'_> {
        fn visit(&self, mut visit: impl FnMut(usize, usize, f64)) {
            for (k, value) in self.1.iter().enumerate() {
                visit(k / self.0, k % self.0, value.abs());
            }
        }
    }

    fn of(n: usize, m: &[f64]) -> Option<Vec<f64>> {
        let diagonal: Vec<f64> = (0..n).map(|i| m[i * n + i]).collect();
        scales(&diagonal, |_| true, &Dense(n, m))
    }

    #[test]
    fn a_positive_diagonal_needs_no_other_scale() {
        assert_eq!(of(2, &[2.0, 1.0, 1.0, 3.0]), None);
        assert_eq!(of(2, &[1e-6, 1.0, 1.0, 1e6]), None);
    }

    #[test]
    fn a_row_of_zero_diagonal_is_scaled_by_what_it_is_coupled_to() {
        // A constraint with the row (0, 10): λ of it is 10²/4.
        let lambda = of(2, &[4.0, -10.0, 10.0, 0.0]).unwrap();
        assert!((lambda[0] - 4.0).abs() <= 0.0);
        assert!((lambda[1] - 25.0).abs() < 0.1, "{lambda:?}");
    }

    /// Row and column of a variable multiplied by `d`: its scale by `d²`. That needs one row with a diagonal; without any there are no units to
    /// compare with.
    #[test]
    fn units_of_one_variable_change_its_scale_alone() {
        let m = [0.0, 3.0, 0.5, -2.0, 0.0, 1.0, 0.1, 0.4, 2.0];
        let mut scaled = m;
        for k in 0..3 {
            scaled[k] *= 100.0;
            scaled[3 * k] *= 100.0;
        }
        let (a, b) = (of(3, &m).unwrap(), of(3, &scaled).unwrap());
        assert!((b[0] / a[0] / 1e4 - 1.0).abs() < 1e-12, "{a:?} {b:?}");
        assert!((b[1] / a[1] - 1.0).abs() < 1e-12, "{a:?} {b:?}");
    }

    #[test]
    fn a_row_of_zeros_has_the_mean_scale() {
        assert_eq!(of(2, &[4.0, 0.0, 0.0, 0.0]), Some(vec![4.0, 4.0]));
        assert_eq!(of(1, &[0.0]), Some(vec![1.0]));
    }
}
