//! The same scenes in Moreau and in rapier, in one process: times, residuals, overlaps.
//!
//! See the README beside this crate for what is compared and how.
#![forbid(unsafe_code)]

mod clock;
mod contender;
mod moreau_scene;
mod overlap;
mod race;
mod rapier_scene;
mod residual;
mod table;

use clap::Parser;
use clock::Clock;
use contender::Outcome;
use race::Plan;
use std::io::Write;

/// All scenes, in the order of their cost.
const SCENES: [&str; 6] = [
    "box_pyramid:n=20",
    "box_pyramid:n=40",
    "wall_20x20",
    "sphere_pour:n=1000",
    "sphere_pour:n=8000",
    "sphere_pour:n=32000",
];
/// What `--quick` runs.
const QUICK_SCENES: [&str; 2] = ["box_pyramid:n=20", "sphere_pour:n=1000"];

/// Runs scenes in Moreau and in rapier and prints the figures side by side.
#[derive(Debug, Parser)]
struct Arguments {
    /// Built-in scenes of Moreau that consist of spheres and boxes, such as `sphere_pour:n=1000`;
    /// without any, all benchmark scenes.
    scenes: Vec<String>,
    /// Steps of every run.
    #[arg(long, default_value_t = 600)]
    steps: usize,
    /// Tolerances of Moreau's runs, separated by commas [default: 1e-2,1e-3,1e-4].
    #[arg(long, value_delimiter = ',')]
    tol: Vec<f64>,
    /// Threads of each engine; 0 is one a core.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// How steps are timed [default: cpu with one thread, wall with several].
    #[arg(long)]
    clock: Option<Clock>,
    /// Two small scenes and one tolerance, unless others are named.
    #[arg(long)]
    quick: bool,
    /// Print Markdown.
    #[arg(long)]
    markdown: bool,
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let or_default = |given: Vec<String>, default: &[&str]| {
        if given.is_empty() {
            default.iter().map(|&name| name.to_owned()).collect()
        } else {
            given
        }
    };
    let (scenes, tolerances): (&[&str], &[f64]) = if arguments.quick {
        (&QUICK_SCENES, &[1e-3])
    } else {
        (&SCENES, &[1e-2, 1e-3, 1e-4])
    };
    let plan = Plan {
        steps: arguments.steps,
        tolerances: if arguments.tol.is_empty() {
            tolerances.to_vec()
        } else {
            arguments.tol
        },
        threads: arguments.threads,
        clock: arguments.clock.unwrap_or(if arguments.threads == 1 {
            Clock::Cpu
        } else {
            Clock::Wall
        }),
    };
    let mut out = std::io::stdout().lock();
    for name in or_default(arguments.scenes, scenes) {
        let scene = moreau_demos::built_in(&name)?;
        let result = race::run(&scene, &plan)?;
        writeln!(out, "{}", table::render(&result, arguments.markdown))?;
        out.flush()?;
    }
    Ok(())
}
