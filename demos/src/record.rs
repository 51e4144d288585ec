//! What is kept of every step for the summary.

use crate::statistics::median;
use moreau::{EnergyLedger, StepReport};

/// A value and the step that it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct At {
    pub(crate) step: u64,
    pub(crate) value: f64,
}

impl At {
    /// Takes over `value` if it is larger; NaN is larger than every number.
    fn raise(&mut self, step: u64, value: f64) {
        if value > self.value || (value.is_nan() && !self.value.is_nan()) || self.step == 0 {
            *self = Self { step, value };
        }
    }
}

/// Steps that do not reach what is required of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Missed {
    pub(crate) count: u64,
    pub(crate) first: At,
}

impl Missed {
    fn add(&mut self, step: u64, value: f64) {
        if self.count == 0 {
            self.first = At { step, value };
        }
        self.count += 1;
    }
}

/// What is required of every step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Required {
    /// `e_scaled`.
    pub(crate) residual: Option<f64>,
    /// m/s.
    pub(crate) velocity: Option<f64>,
    /// `e_scaled` to which steps are solved.
    pub(crate) tolerance: f64,
}

/// The record of a run.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) steps: u64,
    pub(crate) last: StepReport,
    pub(crate) contacts_most: usize,
    pub(crate) residual_worst: At,
    pub(crate) penetration_worst: At,
    pub(crate) sweeps_most: usize,
    /// Steps that needed Newton, and their factorisations.
    pub(crate) newton_steps: u64,
    pub(crate) factorizations: u64,
    /// Energies at the end and the work of all steps.
    pub(crate) ledger: EnergyLedger,
    /// Steps that the solver reported as not converged.
    pub(crate) not_converged: u64,
    /// Steps without a solution.
    pub(crate) without_solution: Missed,
    /// These, and steps that miss something else than `e_scaled`.
    pub(crate) unsolved: Missed,
    /// Steps above the required residual.
    pub(crate) missed: Missed,
    /// Steps above the required velocity.
    pub(crate) missed_velocity: Missed,
    pub(crate) velocity_worst: At,
    required: Required,
    milliseconds: Vec<f64>,
    residuals: Vec<f64>,
    sweeps: Vec<f64>,
}

impl Record {
    pub(crate) fn new(required: Required) -> Self {
        Self {
            required,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, report: &StepReport) {
        let step = report.step;
        self.steps += 1;
        self.last = *report;
        self.contacts_most = self.contacts_most.max(report.contacts);
        self.sweeps_most = self.sweeps_most.max(report.sweeps);
        self.newton_steps += u64::from(report.factorizations > 0);
        self.factorizations += report.factorizations as u64;
        self.residual_worst.raise(step, report.e_scaled);
        self.penetration_worst.raise(step, report.max_penetration);
        self.ledger.accumulate(&report.energy);
        self.not_converged += u64::from(!report.converged);
        self.velocity_worst.raise(step, report.velocity);
        let Required {
            residual,
            velocity,
            tolerance,
        } = self.required;
        if report.status.is_without_solution() {
            self.without_solution.add(step, report.worst_velocity);
        }
        // Whatever it misses is not e_scaled.
        let unseen = !report.converged && report.e_scaled <= tolerance;
        if report.status.is_without_solution() || unseen {
            self.unsolved.add(step, report.worst_velocity);
        }
        // Efforts of motors beyond their bounds are in no e_scaled.
        let [scaled, violation] = [report.e_scaled, report.box_violation];
        if residual.is_some_and(|e| !(scaled <= e && violation <= e)) {
            self.missed.add(step, scaled.max(violation));
        }
        if !velocity.is_none_or(|v| report.velocity <= v) {
            self.missed_velocity.add(step, report.velocity);
        }
        self.milliseconds.push(report.timing.ms_total);
        self.residuals.push(report.e_scaled);
        self.sweeps.push(report.sweeps as f64);
    }

    pub(crate) fn median_milliseconds(&self) -> f64 {
        median(&self.milliseconds)
    }

    pub(crate) fn worst_milliseconds(&self) -> f64 {
        self.milliseconds.iter().copied().fold(0.0, f64::max)
    }

    pub(crate) fn median_residual(&self) -> f64 {
        median(&self.residuals)
    }

    pub(crate) fn median_sweeps(&self) -> f64 {
        median(&self.sweeps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_most(residual: f64) -> Required {
        Required {
            residual: Some(residual),
            velocity: None,
            tolerance: residual,
        }
    }

    fn report(step: u64, e_scaled: f64) -> StepReport {
        StepReport {
            step,
            e_scaled,
            converged: e_scaled <= 1e-4,
            ..StepReport::default()
        }
    }

    #[test]
    fn the_worst_and_the_first_miss_are_kept() {
        let mut record = Record::new(at_most(1e-4));
        for (step, e) in [(1, 1e-5), (2, 2e-4), (3, 3e-3), (4, 1e-4)] {
            record.add(&report(step, e));
        }
        assert_eq!(
            record.residual_worst,
            At {
                step: 3,
                value: 3e-3
            }
        );
        assert_eq!(record.missed.count, 2);
        assert_eq!(
            record.missed.first,
            At {
                step: 2,
                value: 2e-4
            }
        );
        assert_eq!(record.not_converged, 2);
        assert!((record.median_residual() - 1.5e-4).abs() < 1e-18);
    }

    #[test]
    fn a_residual_that_is_no_number_misses_every_bound() {
        let mut record = Record::new(at_most(1e-4));
        record.add(&report(1, 1e-5));
        record.add(&report(2, f64::NAN));
        record.add(&report(3, 1e-5));
        assert_eq!(record.missed.count, 1);
        assert_eq!(record.residual_worst.step, 2);
    }
}
