//! Against a dense reference with a definition of its own, and laws that hold for all joints.

mod certificate;
mod dense;
mod invariance;
mod laws;
mod links;
mod machines;
mod timing;

use crate::{Auto, Goal, SolverReport, WorldTwist};
use machines::Machine;

/// Solves from the warm start.
fn solve(
    auto: &mut Auto,
    machine: &Machine,
    impulse: &mut [f64],
    tolerance: f64,
) -> (SolverReport, Vec<WorldTwist>) {
    let mut twist = Vec::new();
    let goal = Goal::scaled(tolerance);
    let report = auto.solve_factored(&machine.view(), impulse, &mut twist, &goal);
    (report.unwrap(), twist)
}

/// Solves from nothing with a fresh solver.
fn solved(machine: &Machine, tolerance: f64) -> (SolverReport, Vec<f64>, Vec<WorldTwist>) {
    let mut impulse = vec![0.0; machine.view().rows()];
    let (report, twist) = solve(&mut Auto::default(), machine, &mut impulse, tolerance);
    (report, impulse, twist)
}
