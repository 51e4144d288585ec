//! `moreau bench piles`.

use super::machine::Machine;
use super::timing_parts::timing_parts;
use crate::cli::PileOptions;
use crate::failure::Failure;
use crate::run::read;
use crate::statistics::{median, worst};
use crate::units::{count, residual};
use moreau::{StepReport, StepTiming};
use moreau_demos::scenes::pile::{Form, STEPS};
use moreau_demos::table::{Column, Table, three_digits};
use std::io::{self, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

/// From this step on overlaps count: bodies whose shapes overlap in the lattice have left it.
const LEFT: usize = 50;
/// The last steps of a run, in which a pile is taken to be at rest.
const REST: usize = 50;
/// Many bodies that are heavy: their longest step tells whether games can rely on the engine.
const HEAVY: &str = "pile:shape=hulls,n=2000,gravity=98.1";

/// One run.
struct Run {
    scene: String,
    tolerance: f64,
    /// Steps that were asked for.
    steps: u64,
    reports: Vec<StepReport>,
}

/// Runs the piles and prints one table.
pub(super) fn piles(options: &PileOptions) -> Result<(), Failure> {
    let machine = Machine::this(options.threads);
    let scenes = scenes(options);
    // What is wrong is said before anything is measured.
    for scene in &scenes {
        moreau_demos::built_in(scene)?;
    }
    let page = |text: &str| read(io::stdout().lock().write_all(text.as_bytes()));
    if !page(&format!("{machine}\n{}\n", about()))? {
        return Ok(());
    }
    let mut table = Table::new(columns());
    for scene in &scenes {
        for &tolerance in &options.tol {
            // Progress that cannot be shown is no reason to stop.
            let _ = writeln!(io::stderr(), "{scene} to {tolerance:e}");
            table.push(cells(&run(scene, tolerance, options)?));
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

/// The piles asked for, or all of them and a heavy one.
fn scenes(options: &PileOptions) -> Vec<String> {
    if !options.scenes.is_empty() {
        return options.scenes.clone();
    }
    let mut scenes: Vec<_> = Form::NAMES
        .iter()
        .map(|name| format!("pile:shape={name}"))
        .collect();
    scenes.push(HEAVY.to_owned());
    scenes
}

fn about() -> String {
    format!(
        "
Times in ms, means over all steps; rest: of the last {REST} steps, deepest: from step {LEFT} on, as detection finds it.
Runs end when their time is over; what they did not reach is missing."
    )
}

fn run(spec: &str, tolerance: f64, options: &PileOptions) -> Result<Run, Failure> {
    let mut scene = moreau_demos::built_in(spec)?;
    let settings = &mut scene.settings;
    settings.tolerance = Some(tolerance);
    settings.threads = options.threads;
    if let Some(overlap) = options.overlap {
        settings.projection.tolerance = overlap;
    }
    let mut run = scene.start()?;
    let steps = options.steps.unwrap_or(STEPS as u64);
    let limit = Duration::try_from_secs_f64(options.max_seconds).unwrap_or(Duration::MAX);
    let started = Instant::now();
    let mut reports = Vec::new();
    while (reports.len() as u64) < steps && started.elapsed() < limit {
        reports.push(run.step()?);
    }
    Ok(Run {
        scene: spec.to_owned(),
        tolerance,
        steps,
        reports,
    })
}

fn columns() -> Vec<Column> {
    let figures = ["tolerance", "steps", "contacts", "sweeps", "mean", "worst"];
    let mut columns = vec![Column::left("pile")];
    columns.extend(figures.map(Column::right));
    columns.push(Column::right("worst ÷ mean"));
    let parts = timing_parts(&StepTiming::default());
    columns.extend(parts.into_iter().map(|(name, _)| Column::right(name)));
    let quality = [
        "projections",
        "not converged",
        "worst e",
        "rest mm",
        "deepest mm",
    ];
    columns.extend(quality.map(Column::right));
    columns
}

fn cells(run: &Run) -> Vec<String> {
    let all = |figure: &dyn Fn(&StepReport) -> f64| -> Vec<f64> {
        run.reports.iter().map(figure).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let whole = |figure: &dyn Fn(&StepReport) -> f64| count(median(&all(figure)).round() as u64);
    let total = all(&|report| report.timing.ms_total);
    let mut cells = vec![
        run.scene.clone(),
        format!("{:e}", run.tolerance),
        run.reports.len().to_string(),
        whole(&|report| report.contacts as f64),
        whole(&|report| report.sweeps as f64),
        three_digits(mean(&total)),
        three_digits(worst(&total)),
        three_digits(worst(&total) / mean(&total)),
    ];
    for part in 0..timing_parts(&StepTiming::default()).len() {
        let of_step = |report: &StepReport| {
            let parts = timing_parts(&report.timing);
            parts.get(part).map_or(0.0, |(_, ms)| *ms)
        };
        cells.push(three_digits(mean(&all(&of_step))));
    }
    let projections: usize = run.reports.iter().map(|r| r.projections).sum();
    let unconverged = run.reports.iter().filter(|r| !r.converged).count();
    // A report tells of the overlap before its step.
    let overlap = all(&|report| 1e3 * report.max_penetration);
    let steps = run.steps as usize;
    let within = |range: Range<usize>| match overlap.get(range) {
        Some(overlaps) if !overlaps.is_empty() => three_digits(worst(overlaps)),
        _ => "—".to_owned(),
    };
    cells.extend([
        projections.to_string(),
        unconverged.to_string(),
        residual(worst(&all(&|report| report.e_scaled))),
        within(steps.saturating_sub(REST)..steps),
        within(LEFT..overlap.len()),
    ]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_every_column() {
        let run = Run {
            scene: "pile".to_owned(),
            tolerance: 1e-3,
            steps: 300,
            reports: vec![StepReport::default(); 3],
        };
        assert_eq!(cells(&run).len(), columns().len());
    }
}
