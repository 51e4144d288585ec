//! `moreau bench machines`.

use super::machine::Machine;
use crate::cli::MachineOptions;
use crate::failure::Failure;
use crate::run::read;
use crate::statistics::{median, worst};
use crate::units::{count, residual};
use moreau::{Scene, SleepSettings, StepReport};
use moreau_demos::scenes::awake;
use moreau_demos::table::{Column, Table, three_digits};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The machines and what they are called.
const MACHINES: [(&str, &str); 9] = [
    ("humanoid", "humanoid"),
    ("quadruped, standing", "quadruped:gait=0"),
    ("quadruped, trotting", "quadruped"),
    ("gripper", "gripper"),
    ("100 quadrupeds", "quadruped:n=100,gait=0"),
    ("ANYmal, standing", "anymal"),
    ("225 ANYmals", "anymal:n=15"),
    ("net of 30 × 30", "net:n=30"),
    ("arm in a pile of 1,000", "arm-in-pile:n=1000"),
];
/// Steps before the first one that counts: contacts and multipliers begin from nothing.
const BEFORE: u64 = 10;
/// Steps in a row on one number of threads. The first of them is not timed, since it starts them.
const TURN: u64 = 8;

/// What one run gave on one number of threads.
struct Row {
    name: String,
    tolerance: f64,
    threads: usize,
    bodies: usize,
    reports: Vec<StepReport>,
}

/// Runs the machines and prints one table.
pub(super) fn machines(options: &MachineOptions) -> Result<(), Failure> {
    let machine = Machine::this(options.threads);
    let scenes = scenes(options)?;
    let page = |text: &str| read(io::stdout().lock().write_all(text.as_bytes()));
    if !page(&format!("{machine}\n{ABOUT}\n"))? {
        return Ok(());
    }
    let mut table = Table::new(columns());
    for (name, scene) in &scenes {
        for &tolerance in &options.tol {
            // Progress that cannot be shown is no reason to stop.
            let _ = writeln!(io::stderr(), "{name} to {tolerance:e}");
            for row in run(name, scene, tolerance, &machine.threads, options)? {
                table.push(cells(&row));
            }
        }
    }
    let text = if options.markdown {
        table.markdown()
    } else {
        table.text()
    };
    page(&format!("\n{text}"))?;
    Ok(())
}

const ABOUT: &str = "
Whole steps in µs, without sleep, the numbers of threads in turns within one run; worst and mean of all steps that were timed on this number.
Contacts, sweeps and factorisations: medians. Beside the times what they bought, the worst of all steps: residual of contacts, joints open
(m or rad) and opening (m/s or rad/s), efforts beyond their bounds (N·s), what the ledger misses (J), overlap (mm).
Runs end when their time is over; what they did not reach is missing.";

/// The scenes asked for, or all.
fn scenes(options: &MachineOptions) -> Result<Vec<(String, Scene)>, Failure> {
    let given = options.scenes.iter().map(|of| (of.as_str(), of.as_str()));
    let all: Vec<_> = if options.scenes.is_empty() {
        MACHINES.to_vec()
    } else {
        given.collect()
    };
    all.into_iter()
        .map(|(name, spec)| Ok((name.to_owned(), awake(moreau_demos::built_in(spec)?))))
        .collect()
}

/// One run on all numbers of threads: it has the same bits on each.
fn run(
    name: &str,
    scene: &Scene,
    tolerance: f64,
    threads: &[usize],
    options: &MachineOptions,
) -> Result<Vec<Row>, Failure> {
    let mut scene = scene.clone();
    scene.settings.tolerance = Some(tolerance);
    scene.settings.sleeping = SleepSettings::OFF;
    let mut run = scene.start()?;
    let row = |threads: &usize| Row {
        name: name.to_owned(),
        tolerance,
        threads: *threads,
        bodies: 0,
        reports: Vec::new(),
    };
    let mut rows: Vec<Row> = threads.iter().map(row).collect();
    let limit = Duration::try_from_secs_f64(options.max_seconds).unwrap_or(Duration::MAX);
    let started = Instant::now();
    // Every number of threads gets its steps.
    let wanted = BEFORE + options.steps.saturating_mul(threads.len() as u64);
    for step in 0..wanted {
        let since = step.saturating_sub(BEFORE);
        let turn = (since / TURN) as usize % rows.len();
        let mut settings = run.simulation.settings();
        let changed = settings.threads != threads[turn];
        settings.threads = threads[turn];
        let refused = run.simulation.set_settings(settings);
        refused.map_err(moreau::SceneError::from)?;
        let report = run.step()?;
        if step >= BEFORE && !changed {
            rows[turn].bodies = report.bodies;
            rows[turn].reports.push(report);
        }
        if started.elapsed() > limit {
            break;
        }
    }
    rows.retain(|row| !row.reports.is_empty());
    Ok(rows)
}

fn columns() -> Vec<Column> {
    let mut columns = vec![Column::left("machine")];
    let figures = [
        "tolerance",
        "threads",
        "steps",
        "bodies",
        "joints",
        "contacts",
        "sweeps",
        "factorisations",
        "mean µs",
        "worst µs",
        "solve µs",
        "not converged",
        "worst e",
        "open",
        "opening",
        "efforts",
        "gap J",
        "deepest mm",
    ];
    columns.extend(figures.map(Column::right));
    columns
}

fn cells(row: &Row) -> Vec<String> {
    let all = |figure: &dyn Fn(&StepReport) -> f64| -> Vec<f64> {
        row.reports.iter().map(figure).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let whole = |figure: &dyn Fn(&StepReport) -> f64| count(median(&all(figure)).round() as u64);
    let most = |figure: &dyn Fn(&StepReport) -> f64| residual(worst(&all(figure)));
    let total = all(&|report| 1e3 * report.timing.ms_total);
    let unconverged = row.reports.iter().filter(|r| !r.converged).count();
    vec![
        row.name.clone(),
        format!("{:e}", row.tolerance),
        row.threads.to_string(),
        row.reports.len().to_string(),
        count(row.bodies as u64),
        whole(&|report| report.joints as f64),
        whole(&|report| report.contacts as f64),
        whole(&|report| report.sweeps as f64),
        whole(&|report| report.factorizations as f64),
        three_digits(mean(&total)),
        three_digits(worst(&total)),
        three_digits(mean(&all(&|report| 1e3 * report.timing.ms_solve))),
        unconverged.to_string(),
        most(&|report| report.e_scaled),
        most(&|report| report.joint_error),
        most(&|report| report.joint_velocity),
        most(&|report| report.box_violation),
        most(&|report| report.energy.energy_gap.abs()),
        three_digits(worst(&all(&|report| 1e3 * report.max_penetration))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_every_column() {
        let row = Row {
            name: "gripper".to_owned(),
            tolerance: 1e-4,
            threads: 1,
            bodies: 4,
            reports: vec![StepReport::default(); 3],
        };
        assert_eq!(cells(&row).len(), columns().len());
    }

    #[test]
    fn all_machines_are_scenes_of_the_catalog() {
        for (name, spec) in MACHINES {
            let scene = moreau_demos::built_in(spec).unwrap();
            assert!(!scene.joints.is_empty(), "{name}");
        }
    }
}
