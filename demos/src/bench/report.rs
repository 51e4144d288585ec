//! The tables of `moreau bench`, each printed as soon as it is complete.

use super::bandwidth;
use super::machine::Machine;
use super::plan::{self, Case, HURRIED, LEAD};
use super::steps::{StepRow, measure};
use super::sweeps::SweepRow;
use super::timing_parts::timing_parts;
use crate::cli::TimingOptions;
use crate::failure::Failure;
use crate::run::read;
use crate::statistics::{median, percentile_95, worst};
use crate::units::{count, residual};
use moreau::{StepReport, StepTiming};
use moreau_demos::table::{Column, Table, three_digits};
use std::io::{self, Write};
use std::time::Instant;

/// Measures and prints everything.
pub(super) fn report(options: &TimingOptions) -> Result<(), Failure> {
    let started = Instant::now();
    let machine = Machine::this(options.threads);
    let page = Page {
        markdown: options.markdown,
    };
    let (granular, structures) = (plan::granular(options), plan::structures(options));
    // What is wrong is said before anything is measured.
    for case in granular.iter().chain(&structures) {
        moreau_demos::built_in(&case.scene)?;
    }
    if !page.write(&machine.to_string())? {
        return Ok(());
    }
    say("memory bandwidth");
    let speeds = bandwidth::triad(&machine.threads)?;
    let mut swept = Vec::new();
    for (title, cases, structure) in [
        ("Granular", &granular, false),
        ("Structures", &structures, true),
    ] {
        let (rows, sweeps) = measure_all(cases, options, &machine)?;
        let hurried = cases.iter().any(|case| case.hurried);
        let limited = cases.iter().any(|case| case.limit.is_some());
        let about = about_steps(&machine, structure, [hurried, limited]);
        if !page.section(title, &about, &step_table(&rows, structure))? {
            return Ok(());
        }
        swept.extend(sweeps);
    }
    let unread = !page.section(
        "Sweeps",
        ABOUT_SWEEPS,
        &sweep_table(&swept, &machine, &speeds),
    )? || !page.section(
        "Memory bandwidth",
        &about_bandwidth(),
        &bandwidth_table(&machine, &speeds),
    )?;
    if !unread {
        say(&format!("took {:.0} s", started.elapsed().as_secs_f64()));
    }
    Ok(())
}

/// Every case to every tolerance; the first run of a case is the one whose problem is swept.
fn measure_all(
    cases: &[Case],
    options: &TimingOptions,
    machine: &Machine,
) -> Result<(Vec<StepRow>, Vec<SweepRow>), Failure> {
    let (mut rows, mut sweeps) = (Vec::new(), Vec::new());
    for case in cases {
        for (index, &tolerance) in options.tol.iter().enumerate() {
            let steps = count(case.steps());
            say(&format!("{} to {tolerance:e}: {steps} steps", case.scene));
            let swept = case.swept && index == 0;
            let measured = measure(case, tolerance, &machine.threads, swept)?;
            if let Some(step) = measured.stopped {
                say(&format!("  out of time after step {step}"));
            }
            rows.extend(measured.steps);
            sweeps.extend(measured.sweeps);
        }
    }
    Ok((rows, sweeps))
}

/// Progress, which is no reason to stop if it cannot be shown.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The form of what is printed.
struct Page {
    markdown: bool,
}

impl Page {
    /// A paragraph on stdout; false if stdout is closed.
    fn write(&self, text: &str) -> Result<bool, Failure> {
        let mut out = io::stdout().lock();
        read(writeln!(out, "{text}").and_then(|()| out.flush()))
    }

    /// A heading, what the figures are, and the table; false if stdout is closed.
    fn section(&self, title: &str, about: &str, table: &Table) -> Result<bool, Failure> {
        if self.markdown {
            let table = table.markdown();
            self.write(&format!("\n## {title}\n\n{about}\n\n{}", table.trim_end()))
        } else {
            let about = wrapped(&format!("{title}. {about}"));
            self.write(&format!("\n{about}\n\n{}", table.text().trim_end()))
        }
    }
}

/// The text in lines of at most 100 characters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if length > 0 && length + 1 + width > 100 {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += width;
    }
    lines
}

fn about_steps(machine: &Machine, structure: bool, [hurried, limited]: [bool; 2]) -> String {
    let mut text = "Medians over the steps given; 95 %: nearly all steps are faster; ns: solve time \
                    over contacts and sweeps; worst e, overlap: largest e_scaled and deepest overlap \
                    of these steps."
        .to_owned();
    if structure {
        text += " Sinking: of the top body, from the start to the last of them.";
    } else {
        text += " Overlaps of up to 0.4 mm are left alone.";
    }
    if machine.threads.len() > 1 {
        text += " One run serves all numbers of threads: they take turns of up to ten steps, the \
                 first of which is not timed.";
    }
    if limited {
        text += " Runs that take too long are cut short; what they did not reach is missing.";
    }
    if hurried {
        text += &format!(
            " To save time, steps are solved to {HURRIED:e} only until {LEAD} steps before those \
             that are timed, in short tables and from 100,000 spheres on."
        );
    }
    text
}

/// Whole steps.
fn step_table(rows: &[StepRow], structure: bool) -> Table {
    let parts = timing_parts(&StepTiming::default());
    let words = ["scene", "state", "steps"].map(Column::left);
    let mut numbers: Vec<_> = [
        "tolerance",
        "threads",
        "contacts",
        "sweeps",
        "step ms",
        "95 %",
    ]
    .map(str::to_owned)
    .into();
    numbers.extend(parts.into_iter().map(|(name, _)| name));
    numbers.extend(["ns", "worst e", "overlap mm"].map(str::to_owned));
    if structure {
        numbers.push("sinking mm".to_owned());
    }
    let columns = words
        .into_iter()
        .chain(numbers.into_iter().map(Column::right));
    let mut table = Table::new(columns.collect());
    for row in rows {
        table.push(step_cells(row, structure));
    }
    table
}

fn step_cells(row: &StepRow, structure: bool) -> Vec<String> {
    if row.reports.is_empty() {
        return cells_of_nothing(row, structure);
    }
    let all = |figure: &dyn Fn(&StepReport) -> f64| -> Vec<f64> {
        row.reports.iter().map(figure).collect()
    };
    let whole = |figure: &dyn Fn(&StepReport) -> f64| count(median(&all(figure)).round() as u64);
    let total = all(&|report| report.timing.ms_total);
    let mut cells = vec![
        row.scene.clone(),
        row.window.state.to_owned(),
        format!("{}–{}", row.window.first, row.window.last),
        format!("{:e}", row.tolerance),
        row.threads.to_string(),
        whole(&|report| report.contacts as f64),
        whole(&|report| report.sweeps as f64),
        three_digits(median(&total)),
        three_digits(percentile_95(&total)),
    ];
    for part in 0..timing_parts(&StepTiming::default()).len() {
        let of_step = |report: &StepReport| {
            let parts = timing_parts(&report.timing);
            parts.get(part).map_or(0.0, |(_, ms)| *ms)
        };
        cells.push(three_digits(median(&all(&of_step))));
    }
    let relaxed = row.reports.iter().filter(|r| r.contacts * r.sweeps > 0);
    let ns: Vec<_> = relaxed
        .map(|r| 1e6 * r.timing.ms_solve / (r.contacts * r.sweeps) as f64)
        .collect();
    cells.extend([
        three_digits(if ns.is_empty() { f64::NAN } else { median(&ns) }),
        residual(worst(&all(&|report| report.e_scaled))),
        three_digits(1e3 * worst(&all(&|report| report.max_penetration))),
    ]);
    if structure {
        cells.push(three_digits(1e3 * row.sinking));
    }
    cells
}

/// The cells of a row whose steps were not reached in time.
fn cells_of_nothing(row: &StepRow, structure: bool) -> Vec<String> {
    let mut cells = vec![
        row.scene.clone(),
        row.window.state.to_owned(),
        "none".to_owned(),
        format!("{:e}", row.tolerance),
        row.threads.to_string(),
    ];
    let figures = 7 + timing_parts(&StepTiming::default()).len() + usize::from(structure);
    cells.extend(vec!["—".to_owned(); figures]);
    cells
}

const ABOUT_SWEEPS: &str = "Time of one contact in one sweep: the difference of solves of 200 and \
                            of 100 sweeps with momentum, without packing and certificates, on the \
                            problem of one step, shared among the threads whatever its size. \
                            Memory: bytes that the triad below moves in that time; a sweep that \
                            moves fewer is not held up by it. e: e_scaled after 200 sweeps.";

/// Sweeps alone.
fn sweep_table(rows: &[SweepRow], machine: &Machine, speeds: &[f64]) -> Table {
    let numbers = ["step", "contacts", "threads", "ns", "memory B", "e"];
    let mut columns = vec![Column::left("scene")];
    columns.extend(numbers.map(Column::right));
    let mut table = Table::new(columns);
    for row in rows {
        let place = machine.threads.iter().position(|n| *n == row.threads);
        let speed = place.and_then(|place| speeds.get(place));
        let bytes = speed.map_or(f64::NAN, |speed| speed * 1e-9 * row.nanoseconds);
        table.push(vec![
            row.scene.clone(),
            row.step.to_string(),
            count(row.contacts as u64),
            row.threads.to_string(),
            three_digits(row.nanoseconds),
            three_digits(bytes),
            residual(row.residual),
        ]);
    }
    table
}

fn about_bandwidth() -> String {
    format!(
        "Triad a ← b + s c over {} MiB of numbers, bytes read and written.",
        bandwidth::BYTES >> 20
    )
}

fn bandwidth_table(machine: &Machine, speeds: &[f64]) -> Table {
    let mut table = Table::new(["threads", "GB/s"].map(Column::right).into());
    for (threads, speed) in machine.threads.iter().zip(speeds) {
        table.push(vec![threads.to_string(), three_digits(speed * 1e-9)]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::plan::Window;
    use super::*;

    #[test]
    fn wrapped_lines_keep_all_words() {
        for text in [ABOUT_SWEEPS, &about_bandwidth(), ""] {
            let lines = wrapped(text);
            assert!(lines.lines().all(|line| line.chars().count() <= 100));
            assert!(lines.split_whitespace().eq(text.split_whitespace()));
        }
    }

    fn row(reports: Vec<StepReport>) -> StepRow {
        StepRow {
            scene: "stack".to_owned(),
            window: Window {
                state: "standing",
                first: 1,
                last: 2,
            },
            tolerance: 1e-4,
            threads: 1,
            reports,
            sinking: -1e-9,
        }
    }

    #[test]
    fn a_residual_that_is_no_number_is_seen() {
        let unknown = StepReport {
            e_scaled: f64::NAN,
            ..StepReport::default()
        };
        let row = row(vec![unknown, StepReport::default()]);
        let table = step_table(&[row], true).markdown();
        assert!(table.contains("| NaN |"), "{table}");
        assert!(table.contains("| — |"), "no ns without sweeps: {table}");
        assert!(table.ends_with("| 0.000 |\n"), "{table}");
    }

    #[test]
    fn a_row_without_steps_has_no_figures() {
        for structure in [false, true] {
            let table = step_table(&[row(Vec::new())], structure).markdown();
            let cells = |line: &str| line.matches('|').count();
            let lines: Vec<_> = table.lines().collect();
            assert_eq!(cells(lines[2]), cells(lines[0]));
            assert!(lines[2].starts_with("| stack | standing | none | 1e-4 | 1 | — |"));
            assert!(lines[2].ends_with(" — |"), "{table}");
        }
    }
}
