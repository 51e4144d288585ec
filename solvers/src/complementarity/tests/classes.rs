//! Random problems of the classes for which theory says something.

use crate::complementarity::BoxProblem;
use crate::random::Random;

/// What is known of a random matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Positive definite with a skew part, hence a P-matrix: exactly one solution for every `q`.
    P,
    /// Positive semi-definite of low rank, small integers: copositive-plus.
    SemiDefinite,
    /// The same with a skew part.
    Monotone,
    /// No negative entry and a positive diagonal: strictly copositive, a solution for every `q`.
    StrictlyCopositive,
    /// A symmetric positive semi-definite matrix plus one without negative entries: copositive.
    Copositive,
    /// Integers from −2 to 2: anything, and ties.
    Degenerate,
}

pub(super) const CLASSES: [Class; 6] = [
    Class::P,
    Class::SemiDefinite,
    Class::Monotone,
    Class::StrictlyCopositive,
    Class::Copositive,
    Class::Degenerate,
];

fn integer(random: &mut Random, low: i32, high: i32) -> f64 {
    f64::from(low) + random.below((high - low + 1) as usize) as f64
}

/// `A Aᵀ` of an `n × rank` matrix.
fn gram(n: usize, rank: usize, mut entry: impl FnMut() -> f64) -> Vec<f64> {
    let a: Vec<f64> = (0..n * rank).map(|_| entry()).collect();
    let row = |i: usize| &a[i * rank..(i + 1) * rank];
    let product = |i, j| row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum();
    (0..n * n).map(|k| product(k / n, k % n)).collect()
}

fn add_skew(n: usize, matrix: &mut [f64], mut entry: impl FnMut() -> f64) {
    for i in 0..n {
        for j in 0..i {
            let s = entry();
            matrix[i * n + j] += s;
            matrix[j * n + i] -= s;
        }
    }
}

/// `M` of a class.
pub(super) fn matrix(class: Class, n: usize, random: &mut Random) -> Vec<f64> {
    match class {
        Class::P => {
            let mut m = gram(n, n, || random.uniform(-1.0, 1.0));
            (0..n).for_each(|i| m[i * n + i] += 0.1);
            add_skew(n, &mut m, || random.uniform(-1.0, 1.0));
            m
        }
        Class::SemiDefinite | Class::Monotone => {
            let rank = random.below(n + 1);
            let mut m = gram(n, rank, || integer(random, -1, 1));
            if class == Class::Monotone {
                add_skew(n, &mut m, || integer(random, -1, 1));
            }
            m
        }
        Class::StrictlyCopositive => {
            let mut m: Vec<f64> = (0..n * n).map(|_| integer(random, 0, 2)).collect();
            (0..n).for_each(|i| m[i * n + i] = integer(random, 1, 2));
            m
        }
        Class::Copositive => {
            let mut m = gram(n, random.below(n + 1), || integer(random, -1, 1));
            m.iter_mut().for_each(|m| *m += integer(random, 0, 1));
            m
        }
        Class::Degenerate => (0..n * n).map(|_| integer(random, -2, 2)).collect(),
    }
}

/// A complementarity problem of a class. Integers wherever the class allows them.
pub(super) fn problem(class: Class, n: usize, random: &mut Random) -> BoxProblem {
    let m = matrix(class, n, random);
    let q = (0..n)
        .map(|_| match class {
            Class::P => random.uniform(-1.0, 1.0),
            _ => integer(random, -2, 1),
        })
        .collect();
    BoxProblem::complementarity(m, q).unwrap()
}

/// The same with boxes of all kinds: `[0, ∞)`, `(−∞, 0]`, bounded, single points, free rows if wanted.
pub(super) fn boxes(class: Class, n: usize, free: bool, random: &mut Random) -> BoxProblem {
    let m = matrix(class, n, random);
    let q = (0..n).map(|_| integer(random, -3, 3)).collect();
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let [lo, hi] = match random.below(if free { 6 } else { 5 }) {
            0 => [0.0, f64::INFINITY],
            1 => [f64::NEG_INFINITY, integer(random, -1, 1)],
            2 => [-1.0, 1.0],
            3 => [integer(random, -2, 0), integer(random, 0, 2)],
            4 => [integer(random, -1, 1), f64::INFINITY],
            _ => [f64::NEG_INFINITY, f64::INFINITY],
        };
        low.push(lo);
        high.push(hi);
    }
    BoxProblem::new(m, q, low, high).unwrap()
}

/// Relays: every box is `[−1, 1]`.
pub(super) fn relays(class: Class, n: usize, random: &mut Random) -> BoxProblem {
    let m = matrix(class, n, random);
    let q = (0..n).map(|_| integer(random, -3, 3)).collect();
    BoxProblem::new(m, q, vec![-1.0; n], vec![1.0; n]).unwrap()
}
