//! The same scenes in Moreau and in rapier, in one process: times, residuals, overlaps.
//!
//! See the README beside this crate for what is compared and how.
#![forbid(unsafe_code)]

mod clock;
mod contender;
mod moreau_scene;
mod overlap;
mod piles;
mod race;
mod rapier_scene;
mod rays;
mod residual;
mod table;
mod translation;

use clap::Parser;
use clock::Clock;
use contender::Outcome;
use moreau_demos::scenes::pile::{Form, STEPS};
use piles::PilePlan;
use race::Plan;
use std::io::Write;
use std::time::Duration;

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
    /// Built-in scenes of Moreau without meshes, such as `sphere_pour:n=1000`; without any, all benchmark scenes.
    scenes: Vec<String>,
    /// Piles instead: of the scenes given, such as `pile:shape=hulls,seed=2`, otherwise of every kind.
    #[arg(long)]
    piles: bool,
    /// First hits of rays instead: nanoseconds a ray, beside parry and rapier.
    #[arg(long, conflicts_with = "piles")]
    rays: bool,
    /// Comma-separated values instead of a table.
    #[arg(long, requires = "rays")]
    csv: bool,
    /// Steps of every run [default: 600, of piles 300].
    #[arg(long)]
    steps: Option<usize>,
    /// Tolerances of Moreau's runs, separated by commas [default: 1e-2,1e-3,1e-4, of piles 1e-3,1e-4].
    #[arg(long, value_delimiter = ',')]
    tol: Vec<f64>,
    /// Overlap that Moreau leaves alone in piles, m [default: that of its settings].
    #[arg(long, requires = "piles")]
    overlap: Option<f64>,
    /// Time after which the runs of a pile end, s.
    #[arg(long, requires = "piles", default_value_t = 120.0)]
    max_seconds: f64,
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
    let clock = arguments.clock.unwrap_or(match arguments.threads {
        1 => Clock::Cpu,
        _ => Clock::Wall,
    });
    if arguments.rays {
        let table = rays::render(&rays::run()?, arguments.csv);
        Ok(writeln!(std::io::stdout().lock(), "{table}")?)
    } else if arguments.piles {
        piles(arguments, clock)
    } else {
        scenes(arguments, clock)
    }
}

/// Piles: one table, after the last of them.
fn piles(arguments: Arguments, clock: Clock) -> Outcome<()> {
    let all = Form::NAMES.map(|name| format!("pile:shape={name}"));
    let plan = PilePlan {
        steps: arguments.steps.unwrap_or(STEPS),
        tolerances: or_default(arguments.tol, &[1e-3, 1e-4]),
        overlap: arguments.overlap,
        threads: arguments.threads,
        clock,
        limit: Duration::try_from_secs_f64(arguments.max_seconds)?,
    };
    let mut results = Vec::new();
    for name in or_default(arguments.scenes, &all) {
        let scene = moreau_demos::built_in(&name)?;
        results.push(piles::run(&scene, &plan)?);
    }
    let table = table::render_piles(&results, arguments.markdown);
    Ok(writeln!(std::io::stdout().lock(), "{table}")?)
}

/// The other scenes: a table each.
fn scenes(arguments: Arguments, clock: Clock) -> Outcome<()> {
    let (scenes, tolerances): (&[&str], &[f64]) = if arguments.quick {
        (&QUICK_SCENES, &[1e-3])
    } else {
        (&SCENES, &[1e-2, 1e-3, 1e-4])
    };
    let plan = Plan {
        steps: arguments.steps.unwrap_or(600),
        tolerances: or_default(arguments.tol, tolerances),
        threads: arguments.threads,
        clock,
    };
    let scenes: Vec<_> = scenes.iter().map(|&name| name.to_owned()).collect();
    let mut out = std::io::stdout().lock();
    for name in or_default(arguments.scenes, &scenes) {
        let scene = moreau_demos::built_in(&name)?;
        let result = race::run(&scene, &plan)?;
        writeln!(out, "{}", table::render(&result, arguments.markdown))?;
        out.flush()?;
    }
    Ok(())
}

fn or_default<T: Clone>(given: Vec<T>, default: &[T]) -> Vec<T> {
    if given.is_empty() {
        default.to_vec()
    } else {
        given
    }
}
