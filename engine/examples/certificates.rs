//! What a step says of itself: its residual, where it is worst, and when there is no solution.
//!
//! `cargo run --release -p moreau --example certificates`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;
use moreau::solvers::natural_map;

fn say(what: &str, report: &StepReport) {
    let (status, e) = (report.status, report.e_scaled);
    print!("{what}: {status:?}, e_scaled {e:.1e}, ");
    println!("{:.1e} m/s at the worst contacts", report.velocity);
    if let Some(pair) = report.conflict {
        println!("  nothing keeps these two bodies apart: {pair:?}");
    }
}

fn main() -> Result<(), StepError> {
    let mut simulation = Simulation::new(Settings::default())?;
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    let ball = Collider::sphere(0.1);
    for k in 0..20_u32 {
        let at = Pose::at(0.01 * f64::from(k % 3), 0.0, 0.1 + 0.2 * f64::from(k));
        simulation.spawn((RigidBody::Dynamic, ball.clone(), at))?;
    }
    let mut worst = StepReport::default();
    for _ in 0..200 {
        let report = simulation.step()?;
        if report.e_scaled > worst.e_scaled {
            worst = report;
        }
    }
    say("the worst of 200 steps of a tower that falls", &worst);

    // The same figure by hand: the problem of the last step and its impulses, judged by the definition of the laws.
    if let Some(problem) = simulation.problem() {
        let impulses: Vec<f64> = simulation
            .impulses()
            .iter()
            .flat_map(|r| r.to_array())
            .collect();
        let residual = natural_map::factored(&problem, &impulses, &mut Vec::new());
        println!("judged again: {:.1e}", residual.scaled);
    }

    // Two walls close on a ball. Rigid bodies leave no way out, and the step says so.
    let mut press = Simulation::new(Settings::default())?;
    for side in [-1.0, 1.0] {
        let wall = (
            RigidBody::Kinematic,
            Collider::cuboid(0.05, 1.0, 1.0),
            Pose::at(0.16 * side, 0.0, 0.0),
            Twist::linear(-0.2 * side, 0.0, 0.0),
        );
        press.spawn(wall)?;
    }
    press.spawn((RigidBody::Dynamic, ball))?;
    for _ in 0..20 {
        let report = press.step()?;
        if report.status != StepStatus::Converged {
            say("two walls that close on a ball", &report);
            break;
        }
    }
    Ok(())
}
