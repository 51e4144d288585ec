//! `moreau solve`.

use crate::cli::SolveOptions;
use crate::failure::Failure;
use crate::json_lines;
use crate::run::read;
use crate::step_writer::make_folder;
use crate::units::{count, quantity, residual};
use moreau_demos::comparison::status_name;
use moreau_demos::problem_file::{ProblemFile, Solved, hdf5_files};
use moreau_demos::solver_choice::{self, SolverChoice};
use moreau_solvers::auto::{Method, Stage};
use moreau_solvers::fclib::FclibError;
use moreau_solvers::{ConeMap, Goal};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Solves all files and says which were solved.
pub(crate) fn solve(options: &SolveOptions) -> Result<(), Failure> {
    let files = hdf5_files(&options.files)?;
    let targets = targets(&files, options.write_solution.as_ref())?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build()?;
    let mut totals = Totals::default();
    let mut table = Table::new(&files);
    let mut out = io::stdout().lock();
    for (index, path) in files.iter().enumerate() {
        let solved = pool.install(|| solve_one(path, targets.get(index), options));
        let (problem, solved) = match solved {
            Ok(solved) => solved,
            Err(error) => {
                totals.unusable += 1;
                report_bad(&error);
                continue;
            }
        };
        totals.add(&problem, &solved);
        let written = if options.json {
            json_lines::line(&mut out, &object(path, &problem, &solved, options))
        } else {
            table.row(&mut out, &problem, &solved)
        };
        if !read(written)? {
            return Err(Failure::Unread {
                done: index + 1,
                files: files.len(),
            });
        }
    }
    if !options.json {
        read(totals.write(&mut out, options))?;
    }
    totals.verdict(files.len(), options)
}

/// Where the solutions go: checked before anything is solved.
fn targets(files: &[PathBuf], folder: Option<&PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = folder else {
        return Ok(Vec::new());
    };
    make_folder(folder)?;
    let inputs: Vec<_> = files.iter().filter_map(|f| f.canonicalize().ok()).collect();
    let mut targets: Vec<PathBuf> = Vec::new();
    for file in files {
        let path = folder.join(file.file_name().unwrap_or(file.as_os_str()));
        // What is not there yet is no input.
        let is_input = path.canonicalize().is_ok_and(|path| inputs.contains(&path));
        if is_input || targets.contains(&path) {
            return Err(Failure::Overwrite { path });
        }
        targets.push(path);
    }
    Ok(targets)
}

fn solve_one(
    path: &Path,
    target: Option<&PathBuf>,
    options: &SolveOptions,
) -> Result<(ProblemFile, Solved), FclibError> {
    let problem = ProblemFile::read(path)?;
    let goal = Goal {
        time_limit: options.max_seconds.and_then(limit),
        ..options.residual.goal(options.tol)
    };
    let warm = problem.warm_start().filter(|_| options.warm_start);
    let start = warm.unwrap_or_else(|| problem.cold_start());
    let of_file = |error: FclibError| FclibError::File {
        path: path.to_owned(),
        source: Box::new(error),
    };
    let solved = problem
        .solve(&mut choice(&problem, options).make(), start, &goal)
        .map_err(|error| of_file(error.into()))?;
    if let Some(target) = target {
        let written = problem.write_solution(&solved.impulse, target);
        written.map_err(of_file)?;
    }
    Ok((problem, solved))
}

/// The solver; `auto` for box problems is the one made for them.
fn choice(problem: &ProblemFile, options: &SolveOptions) -> &'static SolverChoice {
    match (problem.is_lcp, options.solver.name) {
        (true, "auto") => solver_choice::for_boxes(),
        _ => options.solver,
    }
}

/// A time limit; none if it is longer than any clock.
pub(crate) fn limit(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// The error of one file; the others are still taken.
pub(crate) fn report_bad(error: &FclibError) {
    // stderr is closed too: nothing more can be reported.
    let _ = writeln!(io::stderr(), "moreau: {error}");
}

#[derive(Serialize)]
struct Object<'a> {
    file: String,
    contacts: usize,
    blocks: usize,
    solver: &'a str,
    converged: bool,
    status: &'a str,
    e_scaled: f64,
    e_fclib: f64,
    seconds: f64,
    iterations: usize,
    factorizations: usize,
    path: Vec<StageObject>,
    // Beyond the fixed keys.
    seconds_condense: f64,
    cone_violation: f64,
    restarts: usize,
    warm_start: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    methods: &'a [&'static str],
}

#[derive(Serialize)]
struct StageObject {
    method: &'static str,
    sweeps: usize,
    factorizations: usize,
    e_scaled: f64,
    e_fclib: f64,
}

fn object<'a>(
    path: &Path,
    problem: &ProblemFile,
    solved: &'a Solved,
    options: &'a SolveOptions,
) -> Object<'a> {
    let report = &solved.report;
    Object {
        file: path.display().to_string(),
        contacts: problem.contacts(),
        blocks: problem.blocks(),
        solver: choice(problem, options).name,
        converged: report.converged(),
        status: status_name(report.status),
        e_scaled: report.residual.scaled,
        e_fclib: report.residual.fclib,
        seconds: solved.seconds,
        iterations: report.iterations,
        factorizations: report.factorizations,
        path: solved.path.iter().map(stage).collect(),
        seconds_condense: problem.seconds_condense,
        cone_violation: report.residual.cone_violation,
        restarts: report.restarts,
        warm_start: options.warm_start && !problem.guesses.is_empty(),
        methods: &solved.methods,
    }
}

fn stage(stage: &Stage) -> StageObject {
    StageObject {
        method: match stage.method {
            Method::Accelerated => "accelerated",
            Method::Plain => "plain",
            Method::Newton(ConeMap::AlartCurnier) => "newton-alart-curnier",
            Method::Newton(ConeMap::Cone) => "newton-cone",
            _ => "other",
        },
        sweeps: stage.sweeps,
        factorizations: stage.factorizations,
        e_scaled: stage.scaled,
        e_fclib: stage.fclib,
    }
}

/// The table for people; its head comes with the first row.
struct Table {
    width: usize,
    started: bool,
}

impl Table {
    fn new(files: &[PathBuf]) -> Self {
        Self {
            width: name_width(files),
            started: false,
        }
    }

    fn row(
        &mut self,
        out: &mut impl Write,
        problem: &ProblemFile,
        solved: &Solved,
    ) -> io::Result<()> {
        let width = self.width;
        if !std::mem::replace(&mut self.started, true) {
            writeln!(
                out,
                "  {:<width$}  contacts   blocks  e_scaled   e_fclib        time  iterations  \
                 factorised  status",
                "file"
            )?;
        }
        let report = &solved.report;
        writeln!(
            out,
            "  {:<width$}  {:>8}  {:>7}  {:>8}  {:>8}  {:>10}  {:>10}  {:>10}  {}",
            problem.name,
            count(problem.contacts() as u64),
            count(problem.blocks() as u64),
            residual(report.residual.scaled),
            residual(report.residual.fclib),
            quantity(solved.seconds, "s"),
            count(report.iterations as u64),
            count(report.factorizations as u64),
            status_name(report.status).replace('_', " ")
        )?;
        out.flush()
    }
}

/// Width of a column for the names of files.
pub(crate) fn name_width(files: &[PathBuf]) -> usize {
    let width = |path: &PathBuf| {
        path.file_name()
            .map_or(0, |n| n.to_string_lossy().chars().count())
    };
    files.iter().map(width).max().unwrap_or(0).max(4)
}

#[derive(Default)]
struct Totals {
    solved: usize,
    missed: usize,
    unusable: usize,
    seconds: f64,
    seconds_condense: f64,
    /// The slowest solve.
    slowest: (f64, String),
}

impl Totals {
    fn add(&mut self, problem: &ProblemFile, solved: &Solved) {
        if solved.report.converged() {
            self.solved += 1;
        } else {
            self.missed += 1;
        }
        self.seconds += solved.seconds;
        self.seconds_condense += problem.seconds_condense;
        if solved.seconds > self.slowest.0 {
            self.slowest = (solved.seconds, problem.name.clone());
        }
    }

    fn write(&self, out: &mut impl Write, options: &SolveOptions) -> io::Result<()> {
        let attempted = self.solved + self.missed;
        if attempted == 0 {
            return Ok(());
        }
        write!(
            out,
            "\n  {} of {} solved to {} ≤ {} by {}: {}",
            count(self.solved as u64),
            count(attempted as u64),
            options.residual,
            residual(options.tol),
            options.solver.name,
            quantity(self.seconds, "s"),
        )?;
        if attempted > 1 {
            let (seconds, name) = &self.slowest;
            write!(out, ", of which {name} took {}", quantity(*seconds, "s"))?;
        }
        if self.seconds_condense > 0.0 {
            write!(out, "; condensing {}", quantity(self.seconds_condense, "s"))?;
        }
        writeln!(out)
    }

    fn verdict(&self, files: usize, options: &SolveOptions) -> Result<(), Failure> {
        if self.unusable > 0 {
            Err(Failure::Unusable {
                unusable: self.unusable,
                files,
            })
        } else if self.missed > 0 {
            Err(Failure::Unsolved {
                missed: self.missed,
                files,
                residual: options.residual,
                tolerance: options.tol,
            })
        } else {
            Ok(())
        }
    }
}
