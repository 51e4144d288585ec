//! The form that pivoting takes, and the way back.

use super::classes::{self, CLASSES};
use crate::complementarity::free_rows::Standard;
use crate::random::Random;

/// Of every `x` the free rows have no velocity and the others their `y`, with the sign of their bound.
#[test]
fn the_way_back_keeps_velocities_and_free_rows() {
    let mut eliminated = 0;
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let (n, class) = (1 + random.below(6), CLASSES[random.below(CLASSES.len())]);
        let problem = classes::boxes(class, n, true, &mut random);
        let mut standard = Standard::default();
        standard.set(&problem);
        let free = (0..n).filter(|row| problem.is_free(*row)).count();
        if standard.n + free != n || free == 0 {
            // Nothing is free, or the free rows were split.
            continue;
        }
        eliminated += 1;
        let x: Vec<f64> = (0..standard.n).map(|_| random.uniform(0.0, 1.0)).collect();
        let (mut z, mut w) = (Vec::new(), Vec::new());
        standard.point(&x, &mut z);
        problem.image(&z, &mut w);
        let size = z.iter().chain(&w).fold(1.0, |m: f64, v| m.max(v.abs()));
        let mut next = 0;
        for (row, w) in w.iter().enumerate() {
            if problem.is_free(row) {
                assert!(w.abs() < 1e-11 * size, "{seed} {row} {w} {problem:?}");
                continue;
            }
            let entries = &standard.matrix[next * standard.n..(next + 1) * standard.n];
            let sum: f64 = entries.iter().zip(&x).map(|(m, x)| m * x).sum();
            let y = sum + standard.offset[next];
            // Scaled by a power of two, and turned at an upper bound.
            let power = libm::log2((y / w).abs());
            let tiny = w.abs() < 1e-9 * size;
            assert!(
                tiny || (power - power.round()).abs() < 1e-6,
                "{seed} {row} {y} {w}"
            );
            next += 1;
        }
    }
    assert!(eliminated > 50, "{eliminated}");
}
