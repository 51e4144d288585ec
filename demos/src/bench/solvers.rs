//! `moreau bench solvers`.

use crate::cli::SolverBenchOptions;
use crate::failure::Failure;
use crate::run::read;
use crate::solve::{limit, report_bad};
use crate::step_writer::make_folder;
use moreau_demos::comparison::{CSV_HEAD, Comparison, Plan};
use moreau_demos::problem_file::{ProblemFile, hdf5_files};
use moreau_demos::solver_choice;
use std::io::{self, Write};
use std::path::Path;

/// Runs the solvers over all files; prints the summary and writes the tables.
pub(crate) fn solvers(options: &SolverBenchOptions) -> Result<(), Failure> {
    let files = hdf5_files(&options.files)?;
    if let Some(folder) = &options.out {
        make_folder(folder)?;
    }
    let mut comparisons: Vec<_> = plans(options).into_iter().map(Comparison::new).collect();
    let mut unusable = 0;
    for (index, path) in files.iter().enumerate() {
        let problem = match ProblemFile::read(path) {
            Ok(problem) => problem,
            Err(error) => {
                unusable += 1;
                report_bad(&error);
                continue;
            }
        };
        // Progress that cannot be shown is no reason to stop.
        let _ = writeln!(
            io::stderr(),
            "{:>4} of {}  {}",
            index + 1,
            files.len(),
            problem.name
        );
        for comparison in &mut comparisons {
            let row = comparison.plan.measure(&problem);
            comparison.rows.push(row);
        }
    }
    if let Some(folder) = &options.out {
        write_files(folder, &comparisons)?;
    }
    let summaries: Vec<_> = comparisons.iter().map(Comparison::summary).collect();
    let mut out = io::stdout().lock();
    read(out.write_all(summaries.join("\n").as_bytes()))?;
    match unusable {
        0 => Ok(()),
        _ => Err(Failure::Unusable {
            unusable,
            files: files.len(),
        }),
    }
}

/// One for each tolerance.
fn plans(options: &SolverBenchOptions) -> Vec<Plan> {
    let plan = |tolerance: &f64| Plan {
        solvers: if options.solvers.is_empty() {
            solver_choice::list().iter().collect()
        } else {
            options.solvers.clone()
        },
        tolerance: *tolerance,
        residual: options.residual,
        time_limit: limit(options.max_seconds),
    };
    options.tol.iter().map(plan).collect()
}

fn write_files(folder: &Path, comparisons: &[Comparison]) -> Result<(), Failure> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|source| Failure::OutputFile { path, source })
    };
    let (mut tables, mut csv) = (Vec::new(), CSV_HEAD.to_owned());
    for comparison in comparisons {
        let name = format!("profile-{:e}.svg", comparison.plan.tolerance);
        write(&name, &comparison.profile().svg())?;
        tables.push(format!("{}\n{}", comparison.summary(), comparison.table()));
        csv += &comparison.csv();
    }
    write("table.md", &tables.join("\n"))?;
    write("table.csv", &csv)
}
