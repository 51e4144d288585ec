//! Lemke's method on files of linear complementarity problems, warm: the least of many solves, with the judging that is a part of each, and the judge alone.
//!
//! `cargo run --release -p moreau-solvers --example lemke -- FOLDER/*.lcp`, beside `benches/compare/siconos/systems.py FOLDER`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use moreau_solvers::complementarity::{LcpFile, Lemke};
use moreau_solvers::{Goal, natural_map};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// The least time of many calls, µs.
fn least(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    1e6 * best
}

fn main() {
    for name in std::env::args().skip(1) {
        let problem = LcpFile::read(Path::new(&name)).unwrap().problem;
        let (mut solver, mut z) = (Lemke::default(), vec![0.0; problem.len()]);
        let mut report = None;
        let solve = least(|| {
            z.fill(0.0);
            let goal = Goal::scaled(1e-12);
            report = Some(solver.solve_box(&problem, &mut z, &goal).unwrap());
        });
        let judge = least(|| {
            black_box(natural_map::boxes(&problem, black_box(&z)));
        });
        let report = report.unwrap();
        println!(
            "n = {:3}: {solve:8.2} µs in all, judged {} times in {judge:.2} µs each; {} pivots, {:?}, residual {:.0e}",
            problem.len(),
            report.certificates,
            report.iterations,
            report.status,
            report.residual.scaled
        );
    }
}
