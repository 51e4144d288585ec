//! A two-link arm under a switching controller: the survey's table I, and a cycle of its task.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what is measured is printed"
)]

use moreau_demos::systems::manipulator::{Manipulator, Phase, STEPS, TABLE, tip};

/// The number of impacts falls with the step and grows with the restitution as in the survey's table I, within ±1 for `n ≤ 16`. Where in a step impacts fall,
/// which nobody can compare, decides about one or two of them; beyond 16 the tails differ by more. The survey prints no gains: see `control.rs`.
fn compare(steps: &[f64]) -> usize {
    let mut compared = 0;
    for (restitution, counts) in TABLE {
        for (h, survey) in STEPS.into_iter().zip(counts) {
            if survey > 16 || !steps.contains(&h) {
                continue;
            }
            let mut arm = Manipulator::new(h, restitution).unwrap();
            let own = arm.accumulate(9.9).unwrap().unwrap();
            assert_eq!(arm.unsolved, 0);
            println!("e = {restitution}, h = {h}: {own}, {survey} in the survey");
            assert!(own.abs_diff(survey) <= 1);
            compared += 1;
        }
    }
    compared
}

#[test]
fn impacts_accumulate_as_in_the_survey() {
    assert_eq!(compare(&STEPS[..3]), 8);
}

/// Eleven million steps.
#[test]
#[ignore = "a minute"]
fn impacts_accumulate_as_in_the_survey_with_its_smallest_step() {
    assert_eq!(compare(&STEPS[3..]), 2);
}

/// A cycle: half a circle, a finite accumulation of impacts, a way along the ground under a force that never lets go, and away from it again.
#[test]
fn the_tip_follows_the_task() {
    let h = 1e-3;
    let mut arm = Manipulator::new(h, 0.7).unwrap();
    let (mut held, mut worst, mut released) = (0, 0.0_f64, false);
    while arm.simulation.time() < 12.5 {
        arm.step().unwrap();
        let state = arm.simulation.state(arm.arm).unwrap();
        let [x, y] = tip(state.q());
        let t = arm.simulation.time();
        match arm.phase {
            // The ground carries the tip once the last small bounces are over, until it is released.
            Phase::Held { since, until, .. } if t > since + 0.1 && t < until - 0.1 => {
                let outcome = arm.simulation.outcome(arm.contact).unwrap();
                assert!(outcome.lambda[0] > 0.0, "the tip left the ground at {t} s");
                assert!(y.abs() < 1e-4, "{y}");
                held += 1;
            }
            Phase::Free if t > 10.0 => {
                released = true;
                let angle = std::f64::consts::TAU * t / 10.0;
                let (s, c) = libm::sincos(angle);
                if t > 11.0 {
                    worst = worst.max(libm::hypot(x - 0.65 - 0.1 * c, y - 0.1 * s));
                }
            }
            _ => {}
        }
    }
    assert_eq!(arm.unsolved, 0);
    assert!(held > 3000 && released, "{held} steps on the ground");
    // Errors of 3 cm at the start of the cycle die away with the rate γ₂ = 7/s and that of s.
    assert!(worst < 0.01, "{worst} m from the circle");
}
