//! One scene under every integrator with several steps: errors, orders, residuals and speed.

use super::method::Method;
use super::trial::{SAMPLES, Trial, sample_time};
use super::{Chosen, Reference};
use moreau_systems::SystemsError;

/// Errors below this are rounding or the tolerance of event-driven integration: they show no order.
const ROUNDING: f64 = 1e-9;
/// How much smaller than the smallest step that of [`Reference::Finest`] is.
const FINER: usize = 16;
/// Steps of a run at most.
const MOST_STEPS: f64 = 1e7;

/// A run and its error.
#[derive(Clone, Debug)]
pub struct Row {
    /// The run.
    pub trial: Trial,
    /// Its error, in the unit of the scene.
    pub error: f64,
    /// Order from the step before to this one; none for the first, and where errors are rounding.
    pub order: Option<f64>,
}

/// What an integrator did.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The integrator.
    pub method: Method,
    /// A row for each step, the largest first; or why it cannot run the scene.
    pub outcome: Result<Vec<Row>, SystemsError>,
}

impl Compared {
    /// Slope of `log error` over `log h` through all rows.
    #[must_use]
    pub fn order(&self) -> Option<f64> {
        let rows = self.outcome.as_ref().ok()?;
        let points: Vec<_> = rows
            .iter()
            .filter(|row| row.error > ROUNDING)
            .map(|row| (libm::log(row.trial.h), libm::log(row.error)))
            .collect();
        if points.len() < 2 {
            return None;
        }
        let n = points.len() as f64;
        let (x, y) = points
            .iter()
            .fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
        let (mut xy, mut xx) = (0.0, 0.0);
        for (px, py) in points {
            xy += (px - x) * (py - y);
            xx += (px - x) * (px - x);
        }
        Some(xy / xx)
    }
}

/// Steps between two samples for steps of about `h`, s; none if `h` is longer than that, or makes too many steps.
#[must_use]
pub fn steps_per_sample(chosen: &Chosen, h: f64) -> Option<usize> {
    let between = chosen.scene.duration / SAMPLES as f64;
    let is_possible = h <= between * (1.0 + 1e-9) && chosen.scene.duration / h <= MOST_STEPS;
    is_possible.then(|| ((between / h).round() as usize).max(1))
}

/// Runs a scene under one integrator. `counts` are the steps between two samples, the fewest first.
#[must_use]
pub fn compare(chosen: &Chosen, method: Method, counts: &[usize]) -> Compared {
    Compared {
        method,
        outcome: rows(chosen, &method, counts),
    }
}

fn rows(chosen: &Chosen, method: &Method, counts: &[usize]) -> Result<Vec<Row>, SystemsError> {
    // A scene that cannot be run is refused before its reference is made.
    let mut trials = Vec::with_capacity(counts.len());
    for count in counts {
        trials.push(Trial::run(chosen, method, *count)?);
    }
    let reference = reference(chosen, method, counts)?;
    let mut rows: Vec<Row> = Vec::with_capacity(trials.len());
    for trial in trials {
        let error = trial.error(&reference);
        let order = rows.last().and_then(|before| {
            let is_rounding = error <= ROUNDING || before.error <= ROUNDING;
            let slope = libm::log(before.error / error) / libm::log(before.trial.h / trial.h);
            (!is_rounding).then_some(slope)
        });
        rows.push(Row {
            trial,
            error,
            order,
        });
    }
    Ok(rows)
}

fn reference(
    chosen: &Chosen,
    method: &Method,
    counts: &[usize],
) -> Result<Vec<Vec<f64>>, SystemsError> {
    let scene = chosen.scene;
    Ok(match scene.reference {
        Reference::Exact(exact) => (0..SAMPLES)
            .map(|index| exact(&chosen.values, sample_time(scene.duration, index)))
            .collect(),
        Reference::Events => Trial::reference_by_events(chosen)?.samples,
        Reference::Finest => {
            let most = counts.iter().max().copied().unwrap_or(1);
            Trial::run(chosen, method, FINER * most)?.samples
        }
    })
}
