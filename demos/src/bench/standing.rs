//! `moreau bench simbench --tasks anymal-stand`: how many steps of a robot that stands are made in a second.

use crate::failure::Failure;
use crate::units::{count, residual};
use moreau_demos::scenes::anymal::{self, Drive};
use moreau_demos::simbench::{ENGINES, Measured, ROBOTS, Setup, Task, robot_steps};
use moreau_demos::table::{Column, Table, three_digits};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Robot-steps of a run at least, and of a quick one.
const ROBOT_STEPS: [usize; 2] = [100_000, 4_000];
/// Steps of a run at most, those of the task, and at least: what falls onto its feet is slower.
const STEPS: [usize; 2] = [50_000, 500];

/// A run of `n × n` robots.
pub(super) struct Row {
    n: usize,
    setup: Setup,
    measured: Measured,
}

/// Runs all numbers of robots, by torques and by motors.
pub(super) fn run(quick: bool) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for n in ROBOTS {
        for setup in Task::Stand.setups() {
            let drive = match setup {
                Setup::Motors => Drive::Motors,
                _ => Drive::Given,
            };
            let mut scene = anymal::standing(n, drive, anymal::HEIGHT);
            let [most, least] = STEPS;
            let wanted = ROBOT_STEPS[usize::from(quick)] / (n * n);
            let steps = if quick {
                wanted.max(20)
            } else {
                wanted.clamp(least, most)
            };
            scene.duration = steps as f64 * scene.settings.time_step;
            // Progress that cannot be shown is no reason to stop.
            let _ = writeln!(io::stderr(), "{} robots, {}", n * n, setup.name());
            rows.push(Row {
                n,
                setup: *setup,
                measured: Task::Stand.measure(&scene)?,
            });
        }
    }
    Ok(rows)
}

impl Row {
    fn robot_steps(&self) -> f64 {
        let steps = self.measured.steps as f64 * (self.n * self.n) as f64;
        steps / self.measured.time.as_secs_f64()
    }
}

/// A row a run; of each engine what it reached with as many robots.
pub(super) fn table(rows: &[Row]) -> Table {
    let own = [
        "robots",
        "torques by",
        "steps",
        "Moreau",
        "contacts a robot",
        "worst e",
        "open",
        "not converged",
    ];
    let heads = own.into_iter().chain(ENGINES).map(Column::right);
    let mut table = Table::new(heads.collect());
    for row in rows {
        let Measured {
            steps,
            unsolved,
            worst,
            contacts,
            open,
            ..
        } = row.measured;
        let robots = row.n * row.n;
        let by = match row.setup {
            Setup::Motors => "motors",
            _ => "controller",
        };
        let mut cells = vec![
            count(robots as u64),
            by.to_owned(),
            count(steps),
            thousands(row.robot_steps()),
            three_digits(contacts / robots as f64),
            residual(worst),
            residual(open),
            unsolved.to_string(),
        ];
        cells
            .extend(ENGINES.map(|engine| {
                robot_steps(engine, row.n).map_or_else(|| "–".to_owned(), thousands)
            }));
        table.push(cells);
    }
    table
}

fn thousands(figure: f64) -> String {
    format!("{} k", three_digits(1e-3 * figure))
}

/// Lines of the file.
pub(super) fn lines(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let Row { n, setup, measured } = row;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{}:n={n},5e-3,{},{:.3e},,{},{:.4e},{},{:.1e},{:.2e}",
            Task::Stand.name(),
            setup.name(),
            measured.error,
            measured.steps,
            measured.time.as_secs_f64(),
            measured.unsolved,
            measured.worst,
            measured.overlap,
        );
    }
    text
}
