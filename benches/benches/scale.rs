//! A hundred thousand and a million spheres in contact: time to spawn, time of a step, memory.
//!
//! A cubic lattice of touching spheres on a plane, so that there are three contacts a sphere from the first
//! step on. Memory is the most that the process ever held, from `/proc/self/status` where there is one.
//!
//! ```sh
//! cargo bench -p moreau-benches --bench scale            # 97,336 spheres
//! cargo bench -p moreau-benches --bench scale -- 100     # 100 along an edge: a million
//! cargo bench -p moreau-benches --bench scale -- 70 --one-thread     # a million contacts
//! cargo bench -p moreau-benches --bench scale -- --shuffled          # ids in random order
//! cargo bench -p moreau-benches --bench scale -- --ordered           # the same spheres in spatial_order
//! ```

use moreau::prelude::*;
use std::time::Instant;

/// Spheres along an edge, if nothing else is asked for.
const EDGE: usize = 46;
const RADIUS: f64 = 0.1;

fn main() -> Result<(), StepError> {
    let edge = std::env::args().find_map(|word| word.parse().ok());
    let edge: usize = edge.unwrap_or(EDGE);
    let mut settings = Settings {
        tolerance: Some(1e-2),
        ..Settings::default()
    };
    settings.advanced.max_sweeps = Some(8);
    settings.sleeping = SleepSettings::OFF;
    let asked = |option: &str| std::env::args().any(|word| word == option);
    if asked("--one-thread") {
        settings.threads = 1;
    }
    let mut simulation = Simulation::new(settings)?;
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    let ball = Collider::sphere(RADIUS);
    let at = |k: usize| 2.0 * RADIUS * k as f64;
    let lattice = (0..edge.pow(3)).map(|index| {
        let (i, j, k) = (index % edge, index / edge % edge, index / edge / edge);
        DVec3::new(at(i), at(j), RADIUS + at(k))
    });
    let mut places: Vec<DVec3> = lattice.collect();
    if asked("--shuffled") || asked("--ordered") {
        shuffle(&mut places);
    }
    let start = Instant::now();
    let order = if asked("--ordered") {
        moreau::spatial_order(&places)
    } else {
        (0..places.len()).collect()
    };
    let bodies = order.iter().map(|k| {
        let pose = Pose::from_position(places[*k]);
        (RigidBody::Dynamic, ball.clone(), pose)
    });
    let spheres = simulation.spawn_batch(bodies.collect::<Vec<_>>())?.len();
    eprintln!(
        "{spheres} spheres spawned in {:.3} s",
        start.elapsed().as_secs_f64()
    );
    for _ in 0..3 {
        let start = Instant::now();
        let report = simulation.step()?;
        let StepReport {
            contacts,
            sweeps,
            e_scaled,
            timing,
            ..
        } = report;
        eprintln!(
            "step in {:.3} s: {contacts} contacts, {sweeps} sweeps to e_scaled {e_scaled:.1e}; ms: gather {:.0}, free {:.0}, \
             detect {:.0}, assemble {:.0}, solve {:.0}, update {:.0}, commit {:.0}",
            start.elapsed().as_secs_f64(),
            timing.ms_gather,
            timing.ms_free,
            timing.ms_detect,
            timing.ms_assemble,
            timing.ms_solve,
            timing.ms_update,
            timing.ms_commit,
        );
    }
    // What sixteen more sweeps cost, on the same threads and nearly the same problem.
    let mut solve = |sweeps| -> Result<(f64, usize), StepError> {
        let mut settings = simulation.settings();
        settings.advanced.min_sweeps = Some(sweeps);
        settings.advanced.max_sweeps = Some(sweeps);
        simulation.set_settings(settings)?;
        let report = simulation.step()?;
        Ok((report.timing.ms_solve, report.contacts))
    };
    let ((few, _), (many, contacts)) = (solve(8)?, solve(24)?);
    let each = (many - few) * 1e6 / (16 * contacts) as f64;
    eprintln!("{each:.1} ns a contact and sweep");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(line) = status.lines().find(|line| line.starts_with("VmHWM")) {
        eprintln!("{line}");
    }
    Ok(())
}

/// Exchanges every place with one before it [Fisher-Yates, numbers of a linear congruential generator].
fn shuffle(places: &mut [DVec3]) {
    let mut number: u64 = 1;
    for last in 1..places.len() {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        places.swap(last, (number >> 33) as usize % (last + 1));
    }
}
