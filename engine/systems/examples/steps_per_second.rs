//! Steps per second of small systems, one thread; and of chains under the solvers that are named: `-- auto lemke`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use moreau_systems::*;
use std::time::Instant;

/// Time of this process on a processor, s, or of the clock where that is not known.
fn seconds(begin: Instant) -> f64 {
    let known = std::fs::read_to_string("/proc/self/schedstat").ok();
    let known = known.and_then(|text| text.split(' ').next()?.parse().ok());
    known.map_or(begin.elapsed().as_secs_f64(), |nanoseconds: f64| {
        nanoseconds * 1e-9
    })
}

/// The best of five parts of the run.
fn report(name: &str, mut simulation: SystemsSimulation, steps: usize) {
    let begin = Instant::now();
    let mut converged = 0;
    let mut worst = 0.0_f64;
    let mut rate = 0.0_f64;
    let part = steps / 5;
    for _ in 0..5 {
        let start = seconds(begin);
        for _ in 0..part {
            let report = simulation.step().unwrap();
            converged += usize::from(report.converged);
            worst = worst.max(report.residual.scaled);
        }
        rate = rate.max(part as f64 / (seconds(begin) - start));
    }
    println!(
        "{name:20} {rate:10.0} steps/s, {converged} of {steps} converged, residual ≤ {worst:.0e}"
    );
}

fn ball() -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(5e-3)).unwrap();
    let system = LagrangianLinear {
        force: vec![-9.81].into(),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    let state = State::lagrangian([1.0], [0.0]);
    let ball = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.9 };
    simulation
        .spawn_interaction(Joins::one(ball), gap, law)
        .unwrap();
    simulation
}

fn diode_bridge() -> SystemsSimulation {
    let (l, c, r) = (1e-2, 1e-6, 1e3);
    let mut simulation = SystemsSimulation::new(Settings::new(1e-6)).unwrap();
    let system = FirstOrderLinear::new(Matrix::from_rows([[0.0, -1.0 / c], [1.0 / l, 0.0]]));
    let state = State::first_order([10.0, 0.0]);
    let circuit = simulation
        .spawn_system(system, state, Integrator::euler_moreau(0.5))
        .unwrap();
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::from_rows([
            [1.0 / r, 1.0 / r, -1.0, 0.0],
            [1.0 / r, 1.0 / r, 0.0, -1.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
        ])),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([
                [0.0, 0.0],
                [0.0, 0.0],
                [-1.0, 0.0],
                [1.0, 0.0],
            ])],
            [Matrix::from_rows([[0.0, 0.0, -1.0 / c, 1.0 / c], [0.0; 4]])],
        )
    };
    let law = NonsmoothLaw::Complementarity { rows: 4 };
    simulation
        .spawn_interaction(Joins::one(circuit), relation, law)
        .unwrap();
    simulation
}

/// Masses of 1 kg in a row, each a system, with one-sided springs between them and one-sided walls; the first is thrown at the others.
fn chain(masses: usize) -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let integrator = Integrator::moreau_jean(1.0);
    let systems: Vec<_> = (0..masses)
        .map(|k| {
            let v = if k == 0 { 1.0 } else { 0.0 };
            let state = State::lagrangian([k as f64 * 0.01], [v]);
            let system = LagrangianLinear::new(Matrix::identity(1));
            simulation.spawn_system(system, state, integrator).unwrap()
        })
        .collect();
    for pair in systems.windows(2) {
        let relation = LagrangianLinearRelation {
            offset: vec![-0.01],
            compliance: Some(Matrix::diagonal(&[1e-4])),
            jacobian: vec![Matrix::diagonal(&[-1.0]), Matrix::identity(1)],
        };
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        simulation
            .spawn_interaction(Joins::two(pair[0], pair[1]), relation, law)
            .unwrap();
    }
    simulation
}

/// Masses of 1 kg in a row, 1 mm apart, the first thrown at the others, e = 0.5.
fn row(masses: usize) -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let systems: Vec<_> = (0..masses)
        .map(|k| {
            let v = if k == 0 { 1.0 } else { 0.0 };
            let state = State::lagrangian([k as f64 * 0.011], [v]);
            let system = LagrangianLinear::new(Matrix::identity(1));
            simulation
                .spawn_system(system, state, Integrator::moreau_jean(0.5))
                .unwrap()
        })
        .collect();
    for pair in systems.windows(2) {
        let relation = LagrangianLinearRelation {
            offset: vec![-0.01],
            ..LagrangianLinearRelation::new([Matrix::diagonal(&[-1.0]), Matrix::identity(1)])
        };
        let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
        simulation
            .spawn_interaction(Joins::two(pair[0], pair[1]), relation, law)
            .unwrap();
    }
    simulation
}

/// The scenes with names that hold the last argument after `--only`, or all.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = arguments.iter().position(|word| word == "--only");
    let (solvers, only) = arguments.split_at(only.unwrap_or(arguments.len()));
    let is_asked = |name: &str| only.last().is_none_or(|only| name.contains(&only[..]));
    let scenes: [(&str, fn() -> SystemsSimulation, usize); 4] = [
        ("bouncing ball", ball, 1_000_000),
        ("diode bridge", diode_bridge, 500_000),
        ("row of 100", || row(100), 5000),
        ("row of 1000", || row(1000), 500),
    ];
    for (name, scene, steps) in scenes.into_iter().filter(|(name, ..)| is_asked(name)) {
        report(name, scene(), steps);
    }
    for name in solvers {
        for (masses, steps) in [(100, 5000), (1000, 500)] {
            let title = format!("{name}, chain of {masses}");
            if is_asked(&title) {
                let mut simulation = chain(masses);
                assert!(simulation.set_solver_named(name), "no solver {name}");
                report(&title, simulation, steps);
            }
        }
    }
}
