//! Many worlds at once, as learning has them: 4,096 pendulums, and 256 quadrupeds that stand; each gets an action and gives an observation in every step.
//!
//! All cores are timed in turns with one thread, in one process, and their bits compared.
//!
//! ```sh
//! cargo bench -p moreau-benches --bench worlds
//! cargo bench -p moreau-benches --bench worlds -- 3      # three threads instead of all cores
//! ```

#![expect(clippy::print_stdout, reason = "a bench prints")]

use moreau::prelude::*;
use std::error::Error;
use std::time::Instant;

/// Steps between two looks at the clock.
const STEPS: usize = 20;
/// How often it is looked at on each number of threads.
const TURNS: usize = 9;

/// The body that is pushed and looked at; of the quadruped its trunk.
const FIRST: BodyId = BodyId(1);

fn pendulum() -> Result<Simulation, StepError> {
    let settings = Settings {
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    };
    let mut world = Simulation::new(settings)?;
    let pole = (
        RigidBody::Dynamic,
        Collider::cuboid(0.02, 0.02, 0.5),
        Pose::at(0.0, 0.0, -0.5),
        Twist {
            linear: DVec3::X,
            angular: DVec3::NEG_Y * 2.0,
        },
    );
    let pole = world.spawn((pole, FIRST))?;
    let hinge = Joint::to_world(pole, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    world.spawn_joint(hinge, ())?;
    Ok(world)
}

fn quadruped() -> Result<Simulation, Box<dyn Error>> {
    let mut run = moreau_demos::built_in("quadruped")?.start()?;
    for _ in 0..100 {
        run.step()?;
    }
    Ok(run.simulation)
}

fn push(world: &mut Simulation, action: &[f64]) {
    if let Some(body) = world.body(FIRST) {
        let force = DVec3::X * action[0];
        let wrench = Wrench {
            force,
            ..Wrench::default()
        };
        world.set(body, wrench);
    }
}

fn see(world: &mut Simulation, seen: &mut [f64]) {
    let body = world.body(FIRST);
    let place = body.and_then(|body| world.pose(body)).unwrap_or_default();
    seen.copy_from_slice(&place.position.to_array());
}

/// World steps a second, and all that was seen at the end.
fn time(worlds: &mut Worlds, seen: &mut [f64]) -> Result<f64, WorldsError> {
    let count = worlds.len();
    let actions: Vec<f64> = (0..count).map(|k| 1e-3 * (k % 100) as f64).collect();
    let start = Instant::now();
    for _ in 0..STEPS {
        worlds.advance(1, (&actions, push), (seen, see))?;
    }
    Ok((count * STEPS) as f64 / start.elapsed().as_secs_f64())
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn bench(what: &str, one: &Simulation, count: usize, threads: usize) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let mut alone = Worlds::of(one, count, 1)?;
    let made = start.elapsed().as_secs_f64();
    let mut shared = Worlds::of(one, count, threads)?;
    let (mut first, mut second) = (vec![0.0; 3 * count], vec![0.0; 3 * count]);
    let (mut slow, mut fast) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        slow.push(time(&mut alone, &mut first)?);
        fast.push(time(&mut shared, &mut second)?);
    }
    if first != second {
        return Err(format!("{what}: the bits differ").into());
    }
    let reports = alone.step();
    let worst = reports
        .iter()
        .flatten()
        .fold((0.0_f64, 0.0_f64), |worst, report| {
            (
                worst.0.max(report.e_scaled),
                worst.1.max(report.joint_error),
            )
        });
    let (slow, fast) = (median(slow), median(fast));
    println!(
        "{count} {what}: {slow:.0} steps of a world a second on one thread, {fast:.0} on {threads} ({:.2} times); made in {made:.2} s; \
         e_scaled at most {:.1e}, joints open by {:.1e}",
        fast / slow,
        worst.0,
        worst.1
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = std::env::args().find_map(|word| word.parse().ok());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = asked.unwrap_or(cores);
    bench("pendulums", &pendulum()?, 4096, threads)?;
    bench("quadrupeds", &quadruped()?, 256, threads)
}
