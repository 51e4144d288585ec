//! One scene under one integrator with one step.

use super::method::Method;
use super::{Chosen, Spawned};
use moreau_systems::{EventSettings, SystemsError};
use std::time::{Duration, Instant};

/// Times at which a run is looked at, evenly over the duration. Every step divides the time between two of them.
pub const SAMPLES: usize = 50;

/// Steps of event-driven integration at most, between two of them.
const MOST_STEPS: usize = 100_000;

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Length of a step; of event-driven integration the largest, s.
    pub h: f64,
    /// Steps that were made.
    pub steps: usize,
    /// Steps, or event-driven advances, that did not reach their tolerance.
    pub unsolved: usize,
    /// The compared coordinates at the sample times.
    pub samples: Vec<Vec<f64>>,
    /// Largest residual of a step by the natural map; event-driven integration does not say one.
    pub residual: Option<f64>,
    /// Largest overlap of contacts, m; none without contacts.
    pub overlap: Option<f64>,
    /// Time that it took.
    pub time: Duration,
}

impl Trial {
    /// Runs a scene with so many steps from one sample to the next.
    ///
    /// # Errors
    /// [`SystemsError`] if the integrator cannot run the scene.
    pub fn run(
        chosen: &Chosen,
        method: &Method,
        steps_per_sample: usize,
    ) -> Result<Self, SystemsError> {
        let per_sample = steps_per_sample.max(1);
        let h = chosen.scene.duration / (SAMPLES * per_sample) as f64;
        let spawned = chosen.spawn(method, h)?;
        if method.scheme.is_some() {
            stepped(spawned, h, per_sample)
        } else {
            let settings = EventSettings {
                largest_step: h,
                max_steps: MOST_STEPS,
                ..EventSettings::default()
            };
            by_events(spawned, chosen.scene.duration, &settings)
        }
    }

    /// The event-driven run that others are measured against.
    ///
    /// # Errors
    /// [`SystemsError`] if it cannot run the scene.
    pub fn reference_by_events(chosen: &Chosen) -> Result<Self, SystemsError> {
        let largest_step = chosen.scene.duration / (4 * SAMPLES) as f64;
        let settings = EventSettings {
            relative: 1e-12,
            absolute: 1e-14,
            largest_step,
            max_steps: MOST_STEPS,
            ..EventSettings::default()
        };
        let spawned = chosen.spawn(&Method::default(), largest_step)?;
        by_events(spawned, chosen.scene.duration, &settings)
    }

    /// Steps a second.
    #[must_use]
    pub fn steps_per_second(&self) -> f64 {
        self.steps as f64 / self.time.as_secs_f64()
    }

    /// Mean over the samples of the largest difference of a coordinate.
    #[must_use]
    pub fn error(&self, reference: &[Vec<f64>]) -> f64 {
        let pairs = self.samples.iter().zip(reference);
        let largest = |(own, exact): (&Vec<f64>, &Vec<f64>)| {
            let differences = own.iter().zip(exact).map(|(a, b)| (a - b).abs());
            differences.fold(0.0, f64::max)
        };
        pairs.map(largest).sum::<f64>() / self.samples.len().max(1) as f64
    }
}

/// Time of a sample, s.
#[must_use]
pub fn sample_time(duration: f64, index: usize) -> f64 {
    duration * (index + 1) as f64 / SAMPLES as f64
}

fn stepped(mut spawned: Spawned, h: f64, per_sample: usize) -> Result<Trial, SystemsError> {
    let (mut residual, mut overlap) = (0.0_f64, 0.0_f64);
    let mut trial = Trial {
        h,
        ..Trial::default()
    };
    let start = Instant::now();
    for _ in 0..SAMPLES {
        for _ in 0..per_sample {
            let report = spawned.simulation.step()?;
            trial.unsolved += usize::from(!report.converged);
            residual = residual.max(report.residual.scaled);
            overlap = overlap.max(report.overlap);
        }
        trial.samples.push(spawned.look());
    }
    trial.time = start.elapsed();
    trial.steps = SAMPLES * per_sample;
    trial.residual = Some(residual);
    trial.overlap = (!spawned.contacts.is_empty()).then_some(overlap);
    Ok(trial)
}

fn by_events(
    mut spawned: Spawned,
    duration: f64,
    settings: &EventSettings,
) -> Result<Trial, SystemsError> {
    let mut overlap = 0.0_f64;
    let mut trial = Trial {
        h: settings.largest_step,
        ..Trial::default()
    };
    let start = Instant::now();
    for index in 0..SAMPLES {
        let end = sample_time(duration, index);
        let report = spawned.simulation.advance_by_events(end, settings)?;
        trial.steps += report.steps;
        trial.unsolved += usize::from(!report.converged);
        overlap = overlap.max(spawned.overlap());
        trial.samples.push(spawned.look());
    }
    trial.time = start.elapsed();
    trial.overlap = (!spawned.contacts.is_empty()).then_some(overlap);
    Ok(trial)
}

impl Spawned {
    /// The compared coordinates.
    fn look(&self) -> Vec<f64> {
        let state = self.simulation.state(self.system);
        let mut all = state.map_or_else(Vec::new, |state| state.stacked());
        all.truncate(self.compared);
        all
    }

    /// Largest overlap now, m.
    fn overlap(&self) -> f64 {
        let outcomes = self
            .contacts
            .iter()
            .filter_map(|c| self.simulation.outcome(*c));
        let overlaps = outcomes.filter_map(|outcome| outcome.output.first().map(|y| -y));
        overlaps.fold(0.0, f64::max)
    }
}
