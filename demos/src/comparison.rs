//! Several solvers over many stored problems: times, iterations and residuals side by side.

use crate::performance_profile::PerformanceProfile;
use crate::problem_file::ProblemFile;
use crate::residual_kind::ResidualKind;
use crate::solver_choice::SolverChoice;
use crate::table::{Column, Table, three_digits};
use moreau_solvers::{Goal, ProblemError, SolverReport, SolverStatus};
use std::fmt::Write;
use std::iter;
use std::time::Duration;

/// What is run on each problem.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The solvers.
    pub solvers: Vec<&'static SolverChoice>,
    /// Residual to reach.
    pub tolerance: f64,
    /// Which residual.
    pub residual: ResidualKind,
    /// Time after which a solve counts as not solved.
    pub time_limit: Option<Duration>,
}

/// Solves are repeated until they took this long together, s, …
const REPEAT_SECONDS: f64 = 0.05;
/// … at most this often. The shortest time counts.
const REPEATS: usize = 5;

/// One solver on one problem.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Shortest wall time of a solve, s.
    pub seconds: f64,
    /// What the solver said.
    pub outcome: Result<SolverReport, ProblemError>,
}

impl Measurement {
    /// The time, if the goal was reached.
    #[must_use]
    pub fn solved(&self) -> Option<f64> {
        match &self.outcome {
            Ok(report) if report.converged() => Some(self.seconds),
            _ => None,
        }
    }

    /// One word for how it ended.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match &self.outcome {
            Ok(report) => status_name(report.status),
            Err(_) => "refused",
        }
    }

    /// The report; all NaN and zero where the solver refused the problem.
    #[must_use]
    pub fn report(&self) -> SolverReport {
        self.outcome.clone().unwrap_or_else(|_| {
            let mut report = SolverReport::default();
            report.residual.scaled = f64::NAN;
            report.residual.fclib = f64::NAN;
            report
        })
    }
}

/// One word for how a solve ended.
#[must_use]
pub fn status_name(status: SolverStatus) -> &'static str {
    match status {
        SolverStatus::Converged => "converged",
        SolverStatus::Stopped => "stopped",
        SolverStatus::TimedOut => "timed_out",
        SolverStatus::Cancelled => "cancelled",
        SolverStatus::Infeasible => "infeasible",
        SolverStatus::Unbounded => "unbounded",
        SolverStatus::Ray => "ray",
        SolverStatus::NoSolution => "no_solution",
        _ => "not_converged",
    }
}

/// One problem and what all solvers made of it, in the order of [`Plan::solvers`].
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the file.
    pub name: String,
    /// Number of contacts.
    pub contacts: usize,
    /// Number of blocks of `W`.
    pub blocks: usize,
    /// One a solver.
    pub measurements: Vec<Measurement>,
}

impl Plan {
    /// Runs all solvers on one problem, from zero impulse, on the calling thread. Condensing a
    /// problem in global form is not part of the times.
    #[must_use]
    pub fn measure(&self, problem: &ProblemFile) -> Row {
        let goal = Goal {
            time_limit: self.time_limit,
            ..self.residual.goal(self.tolerance)
        };
        let one = |choice: &&'static SolverChoice| {
            let mut solver = choice.make();
            let (mut least, mut total) = (f64::INFINITY, 0.0);
            let mut last = Err(ProblemError::Singular { what: "W" });
            for _ in 0..REPEATS {
                last = problem.solve(&mut solver, problem.cold_start(), &goal);
                let Ok(solved) = &last else { break };
                least = least.min(solved.seconds);
                total += solved.seconds;
                if total >= REPEAT_SECONDS {
                    break;
                }
            }
            Measurement {
                seconds: least,
                outcome: last.map(|solved| solved.report),
            }
        };
        Row {
            name: problem.name.clone(),
            contacts: problem.contacts(),
            blocks: problem.blocks(),
            measurements: self.solvers.iter().map(one).collect(),
        }
    }
}

/// The results of one plan.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was run.
    pub plan: Plan,
    /// One a problem.
    pub rows: Vec<Row>,
}

/// Head of [`Comparison::csv`].
pub const CSV_HEAD: &str = "tolerance,file,contacts,blocks,solver,status,seconds,e_scaled,e_fclib,\
                            iterations,factorizations\n";

impl Comparison {
    /// Nothing measured yet.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            rows: Vec::new(),
        }
    }

    /// Times of the solves that reached the goal: one row a problem, one entry a solver.
    #[must_use]
    pub fn times(&self) -> Vec<Vec<Option<f64>>> {
        let of = |row: &Row| row.measurements.iter().map(Measurement::solved).collect();
        self.rows.iter().map(of).collect()
    }

    /// The performance profile.
    #[must_use]
    pub fn profile(&self) -> PerformanceProfile {
        let names: Vec<_> = self.plan.solvers.iter().map(|s| s.name).collect();
        let title = format!("Solved to {}", self.goal());
        PerformanceProfile::new(&title, &names, &self.times())
    }

    /// `e_scaled ≤ 1e-4 within 1 s`.
    fn goal(&self) -> String {
        let mut text = format!("{} ≤ {:e}", self.plan.residual, self.plan.tolerance);
        if let Some(limit) = self.plan.time_limit {
            text += &format!(" within {} s", limit.as_secs_f64());
        }
        text
    }

    /// What each solver did over all problems, as a Markdown table: how many it solved, how many
    /// within a factor of the fastest (1.1 is the noise of the clock), and how long it took. The
    /// median counts an unsolved problem as infinitely slow.
    #[must_use]
    pub fn summary(&self) -> String {
        let profile = self.profile();
        let heads = [
            "solved",
            "within 1.1×",
            "2×",
            "10×",
            "median",
            "slowest solved",
        ];
        let mut table = Table::new(
            iter::once(Column::left("solver"))
                .chain(heads.map(Column::right))
                .collect(),
        );
        let times = self.times();
        for (index, curve) in profile.curves.iter().enumerate() {
            let percent = |tau| format!("{:.0} %", 100.0 * profile.fraction(curve, tau));
            let mut of: Vec<_> = times
                .iter()
                .map(|row| row[index].unwrap_or(f64::INFINITY))
                .collect();
            of.sort_by(f64::total_cmp);
            let solved = of.iter().filter(|time| time.is_finite()).count();
            let median = of.get(of.len() / 2).copied();
            let slowest = solved.checked_sub(1).map(|last| of[last]);
            table.push(vec![
                curve.name.clone(),
                solved.to_string(),
                percent(1.1),
                percent(2.0),
                percent(10.0),
                cell(median.filter(|time| time.is_finite())),
                cell(slowest),
            ]);
        }
        let problems = self.rows.len();
        format!(
            "{problems} problems, {}\n\n{}",
            self.goal(),
            table.markdown()
        )
    }

    /// Every problem with the times of all solvers, as a Markdown table. Where the goal was not
    /// reached the excess stands instead: how many times too large the best residual is.
    #[must_use]
    pub fn table(&self) -> String {
        let goal = self.plan.residual.goal(self.plan.tolerance);
        let solvers = self.plan.solvers.iter().map(|solver| solver.name);
        let numbers = ["contacts", "blocks"].into_iter().chain(solvers);
        let columns = iter::once(Column::left("file")).chain(numbers.map(Column::right));
        let mut table = Table::new(columns.collect());
        for row in &self.rows {
            let mut cells = vec![
                row.name.clone(),
                row.contacts.to_string(),
                row.blocks.to_string(),
            ];
            cells.extend(row.measurements.iter().map(|measurement| {
                match (measurement.solved(), &measurement.outcome) {
                    (Some(time), _) => cell(Some(time)),
                    (None, Ok(report)) => format!("*× {:.1e}*", goal.excess(&report.residual)),
                    (None, Err(_)) => "*refused*".to_owned(),
                }
            }));
            table.push(cells);
        }
        table.markdown()
    }

    /// One line a problem and solver, below [`CSV_HEAD`].
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let name = if row.name.contains([',', '"', '\n']) {
                format!("\"{}\"", row.name.replace('"', "\"\""))
            } else {
                row.name.clone()
            };
            for (solver, measurement) in self.plan.solvers.iter().zip(&row.measurements) {
                let report = measurement.report();
                // Writing to a string does not fail.
                let _ = writeln!(
                    text,
                    "{:e},{name},{},{},{},{},{:.4e},{:.4e},{:.4e},{},{}",
                    self.plan.tolerance,
                    row.contacts,
                    row.blocks,
                    solver.name,
                    measurement.status(),
                    measurement.seconds,
                    report.residual.scaled,
                    report.residual.fclib,
                    report.iterations,
                    report.factorizations,
                );
            }
        }
        text
    }
}

/// A time with three digits and its unit.
fn cell(seconds: Option<f64>) -> String {
    let Some(seconds) = seconds else {
        return "—".to_owned();
    };
    let (value, unit) = match seconds {
        s if s >= 0.9995 => (s, "s"),
        s if s >= 0.9995e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    format!("{} {unit}", three_digits(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{solver_choice, step_file};

    fn comparison() -> Comparison {
        let mut comparison = Comparison::new(Plan {
            solvers: solver_choice::list().iter().collect(),
            tolerance: 1e-6,
            residual: ResidualKind::Both,
            time_limit: Some(Duration::from_secs(20)),
        });
        for scene in ["stack:n=3", "incline:f=1.5"] {
            let mut run = crate::built_in(scene).unwrap().start().unwrap();
            let report = run.step().unwrap();
            let file = step_file(&run.simulation, scene, &report).unwrap();
            let problem = ProblemFile::new(format!("{scene},1"), file).unwrap();
            comparison.rows.push(comparison.plan.measure(&problem));
        }
        comparison
    }

    #[test]
    fn every_problem_and_solver_is_in_every_table() {
        let comparison = comparison();
        let solvers = solver_choice::list().len();
        let csv = comparison.csv();
        assert_eq!(csv.lines().count(), 2 * solvers);
        for line in csv.lines() {
            // The name has a comma: it is quoted.
            assert!(line.starts_with("1e-6,\""), "{line}");
            let columns = CSV_HEAD.split(',').count();
            assert_eq!(line.split(',').count(), columns + 1, "{line}");
        }
        assert!(csv.contains(",nsgs,converged,"), "{csv}");
        assert_eq!(comparison.table().lines().count(), 2 + 2);
        let summary = comparison.summary();
        assert_eq!(summary.lines().count(), 4 + solvers);
        assert!(summary.contains("2 problems, e_scaled and e_fclib ≤ 1e-6 within 20 s"));
        assert_eq!(comparison.profile().curves.len(), solvers);
    }

    #[test]
    fn a_solve_that_misses_the_goal_has_no_time() {
        let mut missed = comparison();
        for row in &mut missed.rows {
            for measurement in &mut row.measurements {
                measurement.outcome = Ok(SolverReport {
                    status: SolverStatus::TimedOut,
                    ..measurement.report()
                });
            }
        }
        assert!(missed.times().iter().flatten().all(Option::is_none));
        assert!(missed.table().contains("*× "));
        assert!(missed.summary().contains("| 0 | 0 % |"));
    }

    #[test]
    fn times_have_three_digits() {
        let cells = [1.0, 0.012_34, 1.5e-6, 0.999_9e-3, 123.4].map(|s| cell(Some(s)));
        assert_eq!(cells, ["1.00 s", "12.3 ms", "1.50 µs", "1.00 ms", "123 s"]);
        assert_eq!(cell(None), "—");
    }
}
