//! First-order systems with relays, `−y ∈ N_[lo, hi](λ)`: right-hand sides that switch, and slide [Filippov 1988].
//!
//! ```text
//! M ẋ = f(t, x) + B λ,   y = C x + F z + e(t)
//! y > 0: λ = lo      y < 0: λ = hi      y = 0: λ between, such that ẏ = 0 (sliding)
//! ```
//!
//! Events are roots of `y` away from sliding, and of `λ` at its bounds in it. Where `y = 0` the mode is that of the solution of
//! `−ẏ ∈ N_[lo, hi](λ)`, with `ẏ = W λ + C M⁻¹ f + ė` and `W = C M⁻¹ B`: relative degree 1. Relations are linear, without `D`.

use super::dormand_prince::Step;
use super::roots::{by_time, closing, first_negative};
use super::{Event, EventKind, EventReport, EventSettings, Found, Hybrid, Row};
use crate::algebra::{Factor, Matrix, add, dot};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::law::NonsmoothLaw;
use crate::relation::{Relation, Seen};
use crate::solver_choice::AnySolver;
use crate::step::Plant;
use crate::step::assemble::{solve, stored};
use crate::step::link::Link;
use crate::system::{Model, state::State};
use moreau_solvers::Law;
use std::sync::Arc;

/// What a relay is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// `y > 0`.
    Low,
    /// `y < 0`.
    High,
    /// `y = 0`.
    Sliding,
}

/// One row of a relay.
struct Relay {
    row: Row,
    bounds: [f64; 2],
    mode: Mode,
    /// It has left `y = 0`.
    armed: bool,
    /// Its row of `C`, and `M⁻¹` times its column of `B`.
    output: Vec<f64>,
    answer: Vec<f64>,
}

/// The relays of a plant of first-order systems.
pub(super) struct Relays<'a> {
    plant: &'a Plant,
    masses: Vec<Arc<Factor>>,
    relays: Vec<Relay>,
    settings: EventSettings,
    tolerance: f64,
}

/// How the systems move at a point.
struct Motion {
    /// `ẋ`.
    slope: Vec<f64>,
    sliding: Vec<usize>,
    /// Of those that slide.
    lambda: Vec<f64>,
}

impl Motion {
    /// `λ` of a relay that slides, zero of others.
    fn lambda_of(&self, k: usize) -> f64 {
        let place = self.sliding.iter().position(|own| *own == k);
        place.map_or(0.0, |place| self.lambda[place])
    }
}

/// All `x`, in the order of the systems' ids.
pub(super) fn start(plant: &Plant) -> Vec<f64> {
    let states = plant.blocks.iter().flat_map(|block| block.start.x());
    states.copied().collect()
}

impl<'a> Relays<'a> {
    pub(super) fn new(
        plant: &'a Plant,
        settings: &EventSettings,
        tolerance: f64,
    ) -> Result<Self, SystemsError> {
        let mut masses = Vec::new();
        for block in &plant.blocks {
            if let State::Lagrangian { .. } = block.start {
                return Err(block.named()(FieldError::Kind {
                    field: "system",
                    found: "Lagrangian",
                    expected: "FirstOrder, as the first system, for event-driven integration",
                }));
            }
            masses.push(block.factor_of_mass(&[])?);
        }
        let mut own = Self {
            plant,
            masses,
            relays: Vec::new(),
            settings: settings.clone(),
            tolerance,
        };
        for (index, link) in plant.links.iter().enumerate() {
            own.add(index, link).map_err(link.named())?;
        }
        Ok(own)
    }

    /// Takes the rows of an interaction.
    fn add(&mut self, index: usize, link: &Link) -> Result<(), FieldError> {
        let kind = |found| FieldError::Kind {
            field: "interaction",
            found,
            expected: "a relay on a linear first-order relation without D for event-driven integration",
        };
        let NonsmoothLaw::Relay { lower, upper } = &link.law else {
            return Err(kind(link.law.name()));
        };
        let Relation::FirstOrderLinear(relation) = &link.relation else {
            return Err(kind("another relation"));
        };
        let has_d = |d: &Matrix| d.entries().iter().any(|d| *d != 0.0);
        if relation.d.as_ref().is_some_and(has_d) {
            return Err(kind("a relation with D"));
        }
        let n = self.plant.blocks.iter().map(|block| block.size()).sum();
        // At a bound that is infinite there is no motion to integrate.
        expect_finite("lower", lower)?;
        expect_finite("upper", upper)?;
        for (row, (low, high)) in lower.iter().zip(upper).enumerate() {
            let (mut output, mut answer) = (vec![0.0; n], vec![0.0; n]);
            for (side, j) in link.blocks.iter().enumerate() {
                let own = self.range(*j);
                relation.c[side].for_each(|place, column, value| {
                    if place == row {
                        output[own.start + column] = value;
                    }
                });
                relation.b[side].for_each(|place, column, value| {
                    if column == row {
                        answer[own.start + place] = value;
                    }
                });
                self.masses[*j].solve(&mut answer[own]);
            }
            self.relays.push(Relay {
                row: (index, row),
                bounds: [*low, *high],
                mode: Mode::Low,
                armed: false,
                output,
                answer,
            });
        }
        Ok(())
    }

    fn range(&self, j: usize) -> std::ops::Range<usize> {
        let sizes = self.plant.blocks.iter().map(|block| block.size());
        let begin = sizes.take(j).sum();
        begin..begin + self.plant.blocks[j].size()
    }

    /// `y` of a relay.
    fn y(&self, relay: &Relay, t: f64, s: &[f64]) -> f64 {
        let (index, row) = relay.row;
        let link = &self.plant.links[index];
        let x: Vec<&[f64]> = link.blocks.iter().map(|j| &s[self.range(*j)]).collect();
        let mut y = vec![0.0; link.rows()];
        if let Seen::FirstOrder(relation) = link.relation.seen() {
            relation.output(t, &x, &vec![0.0; link.rows()], &mut y);
        }
        y[row]
    }

    /// The same, a number.
    fn finite_y(&self, k: usize, t: f64, s: &[f64]) -> Result<f64, SystemsError> {
        let relay = &self.relays[k];
        let y = self.y(relay, t, s);
        expect_finite("output", &[y]).map_err(self.plant.links[relay.row.0].named())?;
        Ok(y)
    }

    /// `M⁻¹ f`.
    fn free(&self, t: f64, s: &[f64]) -> Result<Vec<f64>, SystemsError> {
        let mut free = vec![0.0; s.len()];
        for (j, block) in self.plant.blocks.iter().enumerate() {
            if let Model::FirstOrder(model) = block.system.model() {
                let rate = &mut free[self.range(j)];
                model.rate(t, &s[self.range(j)], rate);
                add(rate, 1.0, &block.held);
                expect_finite("rate", rate).map_err(block.named())?;
                self.masses[j].solve(rate);
            }
        }
        Ok(free)
    }

    /// `ẏ` of some relays under `ẋ = slope`; `ė` by differences.
    fn rates(
        &self,
        list: &[usize],
        slope: &[f64],
        t: f64,
        s: &[f64],
    ) -> Result<Vec<f64>, SystemsError> {
        let of = |k: &usize| {
            let y = |time: f64| self.finite_y(*k, time, s);
            let after = |after: f64| Ok::<_, SystemsError>(vec![y(t + after)?]);
            let noise = || Ok((y(t * (1.0 + 2.0 * f64::EPSILON))? - y(t)?).abs());
            let by_time = by_time(6e-6, after, noise)?;
            Ok(dot(&self.relays[*k].output, slope) + by_time[0])
        };
        list.iter().map(of).collect()
    }

    /// `W` of some relays.
    fn matrix(&self, list: &[usize]) -> Matrix {
        let mut w = Matrix::zeros(list.len(), list.len());
        for (i, own) in list.iter().enumerate() {
            for (k, other) in list.iter().enumerate() {
                w[(i, k)] = dot(&self.relays[*own].output, &self.relays[*other].answer);
            }
        }
        w
    }

    /// Relays that slide.
    fn sliding(&self) -> Vec<usize> {
        let slides = |k: &usize| self.relays[*k].mode == Mode::Sliding;
        (0..self.relays.len()).filter(slides).collect()
    }

    /// `x ← W⁻¹ x` of some relays.
    fn divide(&self, list: &[usize], x: &mut [f64]) -> Result<(), SystemsError> {
        match Factor::new(&self.matrix(list)) {
            Some(factor) => factor.solve(x),
            None => {
                let link = &self.plant.links[self.relays[list[0]].row.0];
                let field = "C M⁻¹ B of the sliding relays";
                return Err(link.named()(FieldError::Singular { field }));
            }
        }
        Ok(())
    }

    /// `ẋ` without those of `list`, whose `λ` is still open.
    fn slope_without(&self, list: &[usize], t: f64, s: &[f64]) -> Result<Vec<f64>, SystemsError> {
        let mut slope = self.free(t, s)?;
        for (k, relay) in self.relays.iter().enumerate() {
            let lambda = match relay.mode {
                _ if list.contains(&k) => continue,
                Mode::Low => relay.bounds[0],
                Mode::High => relay.bounds[1],
                Mode::Sliding => continue,
            };
            add(&mut slope, lambda, &relay.answer);
        }
        Ok(slope)
    }

    /// `ẋ`, and the relays that slide with their `λ`.
    fn motion(&self, t: f64, s: &[f64]) -> Result<Motion, SystemsError> {
        let sliding = self.sliding();
        let mut slope = self.slope_without(&sliding, t, s)?;
        let mut lambda = Vec::new();
        if !sliding.is_empty() {
            lambda = self.rates(&sliding, &slope, t, s)?;
            lambda.iter_mut().for_each(|lambda| *lambda = -*lambda);
            self.divide(&sliding, &mut lambda)?;
            for (k, lambda) in sliding.iter().zip(&lambda) {
                add(&mut slope, *lambda, &self.relays[*k].answer);
            }
        }
        Ok(Motion {
            slope,
            sliding,
            lambda,
        })
    }

    /// Where `λ` of a sliding relay first comes to a bound, and which of the sliding ones it is.
    fn release(&self, step: &Step) -> Result<Option<(f64, usize)>, SystemsError> {
        if self.sliding().is_empty() {
            return Ok(None);
        }
        first_negative(|part| {
            let motion = self.motion(step.t + part * step.h, &step.at(part))?;
            let margin = |(k, lambda): (&usize, &f64)| {
                let [low, high] = self.relays[*k].bounds;
                (lambda - low).min(high - lambda) + 1e-12
            };
            let sliding = motion.sliding.iter().zip(&motion.lambda);
            Ok(sliding.map(margin).collect())
        })
    }
}

impl Hybrid for Relays<'_> {
    fn slope(&self, t: f64, s: &[f64]) -> Result<Vec<f64>, SystemsError> {
        Ok(self.motion(t, s)?.slope)
    }

    fn first_event(&self, step: &Step) -> Result<Option<Found>, SystemsError> {
        let released = self.release(step)?;
        let mut first = released.map(|(part, place)| {
            let which = self.sliding()[place];
            Found { part, which }
        });
        for (which, relay) in self.relays.iter().enumerate() {
            self.finite_y(which, step.t + step.h, step.end())?;
            let sign = match relay.mode {
                Mode::Low => 1.0,
                Mode::High => -1.0,
                Mode::Sliding => continue,
            };
            let y = |part: f64| sign * self.y(relay, step.t + part * step.h, &step.at(part));
            let part = closing(y, if relay.armed { 0.0 } else { -self.settings.gap });
            if let Some(part) = part
                && first.is_none_or(|found| part < found.part)
            {
                first = Some(Found { part, which });
            }
        }
        Ok(first)
    }

    /// `y = 0` of the relays that slide.
    fn stabilise(&self, t: f64, s: &mut [f64]) -> Result<bool, SystemsError> {
        let sliding = self.sliding();
        if sliding.is_empty() {
            return Ok(true);
        }
        let missed = |k: &usize| Ok(-self.finite_y(*k, t, s)?);
        let missed = sliding.iter().map(missed);
        let mut change = missed.collect::<Result<Vec<f64>, SystemsError>>()?;
        self.divide(&sliding, &mut change)?;
        for (k, change) in sliding.iter().zip(&change) {
            add(s, *change, &self.relays[*k].answer);
        }
        Ok(true)
    }

    fn arm(&mut self, t: f64, s: &[f64]) {
        for k in 0..self.relays.len() {
            let is_clear = self.y(&self.relays[k], t, s).abs() > self.settings.gap;
            self.relays[k].armed |= is_clear;
        }
    }

    fn settle(
        &mut self,
        (t, s): (f64, &mut Vec<f64>),
        found: Option<Found>,
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        let mut zero = Vec::new();
        for k in 0..self.relays.len() {
            let y = self.finite_y(k, t, s)?;
            if y.abs() <= self.settings.gap || found.is_some_and(|found| found.which == k) {
                zero.push(k);
            } else if found.is_none() {
                let relay = &mut self.relays[k];
                relay.mode = if y > 0.0 { Mode::Low } else { Mode::High };
                relay.armed = true;
            }
        }
        if zero.is_empty() {
            return Ok(());
        }
        let slope = self.slope_without(&zero, t, s)?;
        // Those that slide and are not at an event are at zero, too: all sliding ones are among them.
        let q = self.rates(&zero, &slope, t, s)?;
        let bounds = |k: &usize| self.relays[*k].bounds;
        let laws: Vec<Law> = zero
            .iter()
            .map(|k| Law::interval(bounds(k)[0], bounds(k)[1]))
            .collect();
        let problem = stored(&laws, &self.matrix(&zero), &q)?;
        let guess = vec![0.0; zero.len()];
        let (lambda, solved) = solve(&problem, guess, self.tolerance, solver)?;
        report.converged &= solved.converged();
        for ((k, lambda), rate) in zero
            .iter()
            .zip(&lambda)
            .zip(problem.velocity_under(&lambda))
        {
            let relay = &mut self.relays[*k];
            let [low, high] = relay.bounds;
            let was = relay.mode;
            relay.mode = if *lambda <= low && rate > 0.0 {
                Mode::Low
            } else if *lambda >= high && rate < 0.0 {
                Mode::High
            } else {
                Mode::Sliding
            };
            relay.armed = false;
            let kind = match relay.mode {
                mode if mode == was && found.is_some() => continue,
                Mode::Sliding => EventKind::Sliding,
                Mode::Low | Mode::High => EventKind::Switched { lambda: *lambda },
            };
            let interaction = self.plant.links[relay.row.0].entity;
            let time = t;
            report.events.push(Event {
                time,
                interaction,
                kind,
            });
        }
        Ok(())
    }

    fn multipliers(&self, t: f64, s: &[f64]) -> Result<(Vec<Row>, Vec<f64>), SystemsError> {
        let motion = self.motion(t, s)?;
        let lambda = self.relays.iter().enumerate();
        let lambda = lambda.map(|(k, relay)| match relay.mode {
            Mode::Low => relay.bounds[0],
            Mode::High => relay.bounds[1],
            Mode::Sliding => motion.lambda_of(k),
        });
        let rows = self.relays.iter().map(|relay| relay.row).collect();
        Ok((rows, lambda.collect()))
    }
}
