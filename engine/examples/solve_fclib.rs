//! Solves the friction-contact problem of an FCLIB file, and one of its own if none is named.
//!
//! `cargo run --release -p moreau --example solve_fclib -- problem.hdf5`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;
use moreau::solvers::fclib::{FclibFile, FclibProblem};
use moreau::solvers::{Auto, AutoSettings, Goal, Solver, natural_map};
use std::error::Error;

/// The problem of a step in which a stack is struck, as the bytes of a file.
fn own_file() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut simulation = Simulation::new(Settings::default())?;
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    let cube = Collider::cuboid(0.1, 0.1, 0.1);
    for k in 0..8_u32 {
        let at = Pose::at(0.0, 0.0, 0.1 + 0.2 * f64::from(k));
        simulation.spawn((RigidBody::Dynamic, cube.clone(), at))?;
    }
    let shot = (
        RigidBody::Dynamic,
        Collider::sphere(0.1),
        Pose::at(-0.21, 0.0, 0.9),
        Twist::linear(5.0, 0.0, 0.0),
    );
    simulation.spawn(shot)?;
    for _ in 0..2 {
        simulation.step()?;
    }
    let problem = simulation.problem().ok_or("no step was made")?;
    let file = FclibFile::new(FclibProblem::Local(problem.assemble()));
    Ok(file.to_bytes()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = match std::env::args().nth(1) {
        Some(path) => FclibFile::read(path)?,
        None => FclibFile::from_bytes(&own_file()?)?,
    };
    let problem = file.problem.stored()?;
    println!("{} contacts, {} rows", problem.len(), problem.rows());
    let mut impulse = vec![0.0; problem.rows()];
    let mut solver = Auto::new(AutoSettings::default());
    let report = solver.solve(&problem, &mut impulse, &Goal::scaled(1e-10))?;
    let judged = natural_map::stored(&problem, &impulse);
    let (status, e) = (report.status, judged.scaled);
    println!("{status:?}, judged by the definition of the laws: {e:.1e}");
    let most = impulse.iter().fold(0.0_f64, |most, r| most.max(r.abs()));
    println!("the largest impulse is {most:.3e} N·s");
    Ok(())
}
