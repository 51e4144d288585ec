//! What is shown while a run goes on.

use crate::cli::Log;
use crate::units::{count, quantity, residual};
use indicatif::{ProgressBar, ProgressStyle};
use moreau::StepReport;
use std::io::Write;
use std::time::Duration;

/// A progress bar, or lines of text, on stderr.
pub(crate) enum Progress {
    Bar(ProgressBar),
    Lines { every: u64, steps: u64 },
}

const TEMPLATE: &str = "{bar:32.cyan/dim} {percent:>3} %  {eta:>4} left  {msg}";
const LINES: u64 = 50;

impl Progress {
    pub(crate) fn new(steps: u64, log: Log) -> Self {
        if log == Log::Text {
            let every = steps.div_ceil(LINES).max(1);
            return Self::Lines { every, steps };
        }
        // Hidden where stderr is not a terminal.
        let bar = ProgressBar::new(steps);
        let style = ProgressStyle::with_template(TEMPLATE);
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("━━─"),
        );
        bar.enable_steady_tick(Duration::from_millis(500));
        Self::Bar(bar)
    }

    pub(crate) fn step(&self, report: &StepReport) {
        match self {
            Self::Bar(bar) => {
                if !bar.is_hidden() {
                    bar.set_message(format!(
                        "{} contacts  residual {}",
                        count(report.contacts as u64),
                        residual(report.e_scaled)
                    ));
                }
                bar.inc(1);
            }
            Self::Lines { every, steps } => {
                if report.step.is_multiple_of(*every) || report.step == *steps || report.step == 1 {
                    // Progress that cannot be shown is no reason to stop.
                    let _ = writeln!(std::io::stderr(), "{}", text_line(report));
                }
            }
        }
    }

    pub(crate) fn finish(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn text_line(report: &StepReport) -> String {
    let mark = if report.converged {
        ""
    } else {
        "  not converged"
    };
    format!(
        "step {:>6}  t {:>7.3} s  {:>6} bodies  {:>7} contacts  {:>5} sweeps  residual {:>7}  \
         penetration {:>9}  kinetic {:>9}  {:>8.2} ms{mark}",
        report.step,
        report.t,
        report.bodies,
        report.contacts,
        report.sweeps,
        residual(report.e_scaled),
        quantity(report.max_penetration, "m"),
        quantity(report.energy.kinetic, "J"),
        report.timing.ms_total,
    )
}
