//! All solvers over stored problems, one thread: time, iterations and residual of each, and what
//! they make of all together. The problems are those of real steps, or with `MOREAU_PROBLEMS` the
//! files `*.hdf5` of that folder.

#![expect(clippy::unwrap_used, reason = "a bench that cannot run may panic")]

use moreau_benches::step_problems;
use moreau_demos::comparison::{Comparison, Plan};
use moreau_demos::problem_file::hdf5_files;
use moreau_demos::{ProblemFile, ResidualKind, solver_choice};
use std::time::Duration;

/// A problem that takes longer counts as not solved.
const TIME_LIMIT: Duration = Duration::from_secs(5);

fn main() {
    let mut problems = match std::env::var_os("MOREAU_PROBLEMS") {
        Some(folder) => {
            let files = hdf5_files(&[folder.into()]).unwrap();
            files
                .iter()
                .map(|f| ProblemFile::read(f).unwrap())
                .collect()
        }
        None => step_problems().unwrap(),
    };
    // As Criterion does: without `--bench` it is a test that it runs.
    if !std::env::args().any(|argument| argument == "--bench") {
        problems.truncate(1);
    }
    for tolerance in [1e-4, 1e-8] {
        let mut comparison = Comparison::new(Plan {
            solvers: solver_choice::list().iter().collect(),
            tolerance,
            residual: ResidualKind::Scaled,
            time_limit: Some(TIME_LIMIT),
        });
        for problem in &problems {
            let row = comparison.plan.measure(problem);
            eprintln!("{}: {} contacts, to {tolerance:e}", row.name, row.contacts);
            for (solver, measurement) in comparison.plan.solvers.iter().zip(&row.measurements) {
                let report = measurement.report();
                eprintln!(
                    "  {:<22} {:>12.3} ms {:>8} iterations {:>5} factorisations  e_scaled {:.1e}  {}",
                    solver.name,
                    measurement.seconds * 1e3,
                    report.iterations,
                    report.factorizations,
                    report.residual.scaled,
                    measurement.status()
                );
            }
            comparison.rows.push(row);
        }
        eprintln!("\n{}", comparison.summary());
    }
}
