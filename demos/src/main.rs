//! The program `moreau`: runs a scene and says how well each step was solved; solves, verifies and
//! compares solvers on stored problems, and integrators on scenes of systems; times the benchmark scenes.
#![forbid(unsafe_code)]

mod bench;
mod cam_sections;
mod checkpoint;
mod cli;
mod compare_integrators;
mod convert;
mod failure;
mod impact_table;
mod inspect;
mod json_lines;
mod listing;
mod picture;
mod progress;
mod record;
mod run;
mod solve;
mod state_file;
mod statistics;
mod step_writer;
mod summary;
mod units;
mod verify;

use clap::Parser;
use cli::{Arguments, Command};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let ended = match Arguments::parse().command.unwrap_or_default() {
        Command::Run(options) => run::run(&options),
        Command::Inspect(options) => inspect::inspect(&options),
        Command::Convert(options) => convert::convert(&options),
        Command::Solve(options) => solve::solve(&options),
        Command::Verify(options) => verify::verify(&options),
        Command::Bench(options) => bench::bench(&options),
        Command::CompareIntegrators(options) => compare_integrators::run(&options),
        Command::CamSections(options) => cam_sections::run(&options),
        Command::ImpactTable(options) => impact_table::run(&options),
        Command::List => listing::write(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // stderr is closed too: nothing more can be reported.
            let _ = writeln!(std::io::stderr(), "moreau: {failure}");
            failure.exit_code()
        }
    }
}
