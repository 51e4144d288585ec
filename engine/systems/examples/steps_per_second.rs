//! Steps per second of small systems and of large ones with dense and with sparse matrices, one thread; and of chains under the solvers that are named: `-- auto lemke`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a measurement; its scenes are those of a test too"
)]

mod scenes;

use moreau_systems::SystemsSimulation;
use scenes::{arm, ball, bar, chain, diode_bridge, follower, ladder, plate, row, sliding_point};
use std::time::Instant;

/// Time of this process on a processor, s, or of the clock where that is not known.
fn seconds(begin: Instant) -> f64 {
    // The kernel brings its account up to date when the thread offers to stop.
    std::thread::yield_now();
    let known = std::fs::read_to_string("/proc/self/schedstat").ok();
    let known = known.and_then(|text| text.split(' ').next()?.parse().ok());
    known.map_or(begin.elapsed().as_secs_f64(), |nanoseconds: f64| {
        nanoseconds * 1e-9
    })
}

/// The best of five parts of the run, with the components read and written in every step, and once in every part.
fn report(name: &str, scene: impl Fn() -> SystemsSimulation, steps: usize) {
    let begin = Instant::now();
    let part = steps / 5;
    let (mut worst, mut converged) = (0.0_f64, true);
    let rates = [1, part].map(|at_once| {
        let (mut simulation, mut rate) = (scene(), 0.0_f64);
        for _ in 0..5 {
            let start = seconds(begin);
            for _ in 0..part / at_once {
                let report = simulation.steps(at_once as u64).unwrap();
                converged &= report.converged;
                worst = worst.max(report.residual.scaled);
            }
            rate = rate.max(part as f64 / (seconds(begin) - start));
        }
        rate
    });
    let [single, many] = rates;
    let all = if converged { "all" } else { "NOT all" };
    println!(
        "{name:24} {single:10.0} steps/s, {many:10.0} at once, {all} converged, residual ≤ {worst:.0e}"
    );
}

type Scene = fn() -> SystemsSimulation;

/// The scenes with names that hold the last argument after `--only`, or all.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = arguments.iter().position(|word| word == "--only");
    let (solvers, only) = arguments.split_at(only.unwrap_or(arguments.len()));
    let is_asked = |name: &str| only.last().is_none_or(|only| name.contains(&only[..]));
    // As many steps as in `systems.py`: what happens in a run depends on how long it is.
    let scenes: [(&str, Scene, usize); 7] = [
        ("bouncing ball", ball, 200_000),
        ("diode bridge", diode_bridge, 50_000),
        ("cam follower", follower, 100_000),
        ("two-link arm", arm, 20_000),
        ("sliding point", sliding_point, 100_000),
        ("row of 100", || row(100), 1000),
        ("row of 1000", || row(1000), 200),
    ];
    for (name, scene, steps) in scenes.into_iter().filter(|(name, ..)| is_asked(name)) {
        report(name, scene, steps);
    }
    // Dense matrices of ten thousand states would fill gigabytes.
    let large = [
        (100, false),
        (1000, false),
        (100, true),
        (1000, true),
        (10_000, true),
    ];
    for (n, is_sparse) in large {
        let form = if is_sparse { "sparse" } else { "dense" };
        for (name, scene) in [("ladder", ladder as fn(_, _) -> _), ("bar", bar)] {
            let title = format!("{name} of {n}, {form}");
            if is_asked(&title) {
                report(&title, || scene(n, is_sparse), 500);
            }
        }
        let title = format!("plate of {n}, {form}");
        if is_asked(&title) {
            report(&title, || plate(n.isqrt(), is_sparse), 500);
        }
    }
    for name in solvers {
        for (masses, steps) in [(100, 1000), (1000, 200)] {
            let title = format!("{name}, chain of {masses}");
            if is_asked(&title) {
                let scene = || {
                    let mut simulation = chain(masses);
                    assert!(simulation.set_solver_named(name), "no solver {name}");
                    simulation
                };
                report(&title, scene, steps);
            }
        }
    }
}
