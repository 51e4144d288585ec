//! Rollback as in a game over a network: an input that arrives late is applied where it belongs, and the steps since are made again.
//!
//! `cargo run --release -p moreau --example rollback` also prints what the snapshots cost beside the steps.

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;
use std::time::{Duration, Instant};

/// Steps by which inputs may be late.
const LATE: usize = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = Simulation::new(Settings::default())?;
    let ground = Collider::half_space(DVec3::Z);
    simulation.spawn((RigidBody::Static, ground))?;
    let ball = Collider::sphere(0.1);
    let place = |i: u32| {
        let [x, y, z] = [i % 10, i / 10 % 10, i / 100].map(|k| 0.205 * f64::from(k));
        Pose::at(x + 1e-3 * f64::from(i % 7), y, z + 0.1)
    };
    let heap = (0..1000).map(|i| (RigidBody::Dynamic, ball.clone(), place(i)));
    let heap = simulation.spawn_batch(heap)?;
    let player = heap[999];

    let mut rollback = Rollback::new(LATE + 1);
    let (mut stepping, mut keeping) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..200 {
        let begin = Instant::now();
        simulation.step()?;
        stepping += begin.elapsed();
        let begin = Instant::now();
        rollback.push(&mut simulation)?;
        keeping += begin.elapsed();
    }

    // The player has jumped eight steps ago, it turns out.
    let without = simulation.state_hash();
    let begin = Instant::now();
    rollback.restore(&mut simulation, LATE)?;
    let back = begin.elapsed();
    simulation.set(player, Twist::linear(0.0, 0.0, 3.0));
    for _ in 0..LATE {
        simulation.step()?;
        rollback.push(&mut simulation)?;
    }
    assert_ne!(simulation.state_hash(), without);

    let last = rollback.back(0).ok_or("nothing was kept")?;
    let bytes = last.to_bytes()?.len();
    let contacts = simulation.contacts().len();
    println!(
        "{} bodies, {contacts} contacts: {bytes} bytes",
        heap.len() + 1
    );
    println!(
        "a step {:.3} ms, its snapshot {:.4} ms ({:.1} %), back {LATE} steps {:.2} ms",
        stepping.as_secs_f64() * 5.0,
        keeping.as_secs_f64() * 5.0,
        100.0 * keeping.as_secs_f64() / stepping.as_secs_f64(),
        back.as_secs_f64() * 1e3,
    );
    Ok(())
}
