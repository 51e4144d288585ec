//! **Law.** With [`Accuracy::Reference`] every step of a standing structure is solved to
//! e_scaled ≤ 1e-10, whatever its height and its mass ratio: islands that sweeps leave unsolved
//! are handed to Newton.
//!
//! The goal of the preset is 1e-11. The residual of a stack whose top weighs a thousand times the
//! rest is relative to that top's load; its rounding is some 1e-16 of it, far below.

use crate::support::*;
use moreau_demos::built_in;

fn steps_reach(spec: &str, steps: usize) {
    let mut scene = built_in(spec).unwrap();
    scene.settings.accuracy = Accuracy::Reference;
    scene.settings.tolerance = None;
    scene.settings.advanced = Default::default();
    let mut run = scene.start().unwrap();
    for step in 0..steps {
        let report = run.step().unwrap();
        assert!(
            report.e_scaled <= 1e-10,
            "{spec}: {:e} in step {step}, {} sweeps, {} factorisations",
            report.e_scaled,
            report.sweeps,
            report.factorizations
        );
    }
}

#[test]
fn stacks_walls_and_arches_are_solved_to_the_end() {
    for (spec, steps) in [("stack", 100), ("arch", 100), ("wall", 30)] {
        steps_reach(spec, steps);
    }
}

#[test]
fn towers_under_a_thousandfold_top_are_solved_to_the_end() {
    for (spec, steps) in [
        ("mass-ratio", 200),
        ("mass-ratio:n=10", 100),
        ("mass-ratio:n=40", 30),
    ] {
        steps_reach(spec, steps);
    }
}
