//! The impacts of an event: Newton's law in all contacts that touch, or a wave through them.

use super::contacts::{Contacts, Status, gap};
use super::flow::{Rows, block_of};
use super::multiple_impact::{self, Curve};
use super::problems::solve_rows;
use super::{Event, EventKind, EventReport, Row};
use crate::algebra::{Factor, Matrix, add, dot};
use crate::error::SystemsError;
use crate::law::NonsmoothLaw;
use crate::solver_choice::AnySolver;
use std::sync::Arc;

/// The rows of equalities and of the contacts that touch, at an event.
struct Touching {
    list: Vec<Row>,
    rows: Rows,
    /// `ẏ⁻`.
    before: Vec<f64>,
    /// Rows of contacts that are struck: they approach faster than what is taken without restitution, and really.
    struck: Vec<bool>,
}

impl Contacts<'_> {
    /// `0 ≤ ẏ⁺ + e ẏ⁻ ⊥ p ≥ 0` in the contacts that touch, or a wave through them; `ẏ⁺ = 0` in equalities.
    pub(super) fn impact(
        &mut self,
        (t, s): (f64, &mut Vec<f64>),
        touching: &[usize],
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        let all = self.touching((t, s), touching)?;
        let impulses = match self.curves(&all) {
            Some(curves) => self.wave(&all, &curves, report, solver)?,
            None => self.at_once(&all, report, solver)?,
        };
        for (answer, impulse) in all.rows.answers.iter().zip(&impulses) {
            add(&mut s[self.flow.coordinates..], *impulse, answer);
        }
        for (k, (link, _)) in all.list.iter().enumerate().skip(self.equalities.len()) {
            if impulses[k] > 0.0 {
                let (rate, impulse) = (all.before[k], impulses[k]);
                report.events.push(Event {
                    time: t,
                    interaction: self.flow.plant.links[*link].entity,
                    kind: EventKind::Impact { rate, impulse },
                });
            }
        }
        Ok(())
    }

    fn touching(
        &self,
        (t, s): (f64, &[f64]),
        touching: &[usize],
    ) -> Result<Touching, SystemsError> {
        let mut list = self.equalities.clone();
        list.extend(
            touching
                .iter()
                .map(|contact| (self.contacts[*contact].0, 0)),
        );
        let masses = self.flow.masses(s)?;
        let rows = self.flow.rows(&list, t, s, &masses)?;
        let rate = |(link, row): &Row| -> Result<f64, SystemsError> {
            let rates = self.flow.rate(&self.flow.plant.links[*link], t, s);
            self.flow.expect_finite(*link, "output", &rates)?;
            Ok(rates[*row])
        };
        let before = list.iter().map(rate).collect::<Result<Vec<f64>, _>>()?;
        let mut all = Touching {
            struck: vec![false; list.len()],
            list,
            rows,
            before,
        };
        self.take_struck(&mut all, touching, &masses, (t, s))?;
        Ok(all)
    }

    /// An approach of rounding has no restitution: what was taken up over a height that positions do not tell from zero, eight roundings of the coordinates times `1/(1 − e²)`; or, of a contact that was
    /// leaving and never opened, over the gap that it had to sink before it counted as touching again.
    fn take_struck(
        &self,
        all: &mut Touching,
        touching: &[usize],
        masses: &[Arc<Factor>],
        (t, s): (f64, &[f64]),
    ) -> Result<(), SystemsError> {
        let free = self.flow.free(t, s, masses)?;
        let accelerations = self.flow.second_rates(&all.list, &all.rows, &free, t, s)?;
        for (place, contact) in touching.iter().enumerate() {
            let (link, status) = self.contacts[*contact];
            let k = self.equalities.len() + place;
            let joined = self.flow.plant.links[link].blocks.iter();
            let coordinates = joined.flat_map(|j| self.flow.q(s, *j));
            let size = coordinates.fold(0.0, |most: f64, q| most.max(q.abs()));
            let [e, _] = self.flow.plant.links[link].law.restitution();
            // What rounding gives at each impact is as much as `1 − e²` of the height takes.
            let gain = (1.0 / (1.0 - e * e)).min(1e4);
            let gain = if e < 1.0 { gain } else { 1.0 };
            let height = 8.0 * f64::EPSILON * size * gain;
            let rate = all.before[k];
            let taken_up = rate * rate <= -2.0 * accelerations[k] * height;
            let sunk = gap(&self.flow, link, t, s) < -0.5 * self.settings.gap;
            let is_rounding = taken_up || status == Status::Leaving && sunk;
            all.struck[k] = !is_rounding && -rate > self.settings.resting_rate;
        }
        Ok(())
    }

    /// Newton's law in all rows together.
    fn at_once(
        &self,
        all: &Touching,
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<Vec<f64>, SystemsError> {
        let mut q = all.before.clone();
        for (k, (link, _)) in all.list.iter().enumerate().skip(self.equalities.len()) {
            let [e, _] = self.flow.plant.links[*link].law.restitution();
            if all.struck[k] {
                q[k] *= 1.0 + e;
            } else if q[k] < -self.settings.rate && e > 0.0 {
                report.accumulations += 1;
            }
        }
        self.solve(&all.rows.w, q, report, solver)
    }

    /// The contacts' curves, if their impacts are waves and one is struck.
    fn curves(&self, all: &Touching) -> Option<Vec<Curve>> {
        if self.has_unfinished_wave || !all.struck.contains(&true) {
            return None;
        }
        let curve = |(link, _): &Row| match self.flow.plant.links[*link].law {
            NonsmoothLaw::MultipleImpact {
                restitution,
                stiffness,
                exponent,
            } => Some(Curve {
                stiffness,
                exponent,
                restitution,
            }),
            _ => None,
        };
        all.list[self.equalities.len()..]
            .iter()
            .map(curve)
            .collect()
    }

    /// A wave through the contacts, with the impulses of equalities eliminated: `P_e = −W_ee⁻¹(u_e + W_ec P_c)`.
    fn wave(
        &mut self,
        all: &Touching,
        curves: &[Curve],
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<Vec<f64>, SystemsError> {
        let (rows, before) = (&all.rows, &all.before);
        let (n, m) = (self.equalities.len(), curves.len());
        // W_ee⁻¹ [W_ec, u_e]: one row a contact, and that of the rates.
        let first: Vec<usize> = (0..n).collect();
        let equalities = Rows {
            h: Vec::new(),
            answers: Vec::new(),
            w: block_of(&rows.w, &first, &first),
        };
        let mut held = Vec::with_capacity(m + 1);
        for column in 0..=m {
            let entry = |e: usize| match column.checked_sub(m) {
                Some(_) => before[e],
                None => rows.w[(e, n + column)],
            };
            let mut right: Vec<f64> = (0..n).map(entry).collect();
            self.flow.solve(&all.list[..n], &equalities, &mut right)?;
            held.push(right);
        }
        let through = |i: usize, answer: &[f64]| dot(&rows.w.row(n + i)[..n], answer);
        let mut w = Matrix::zeros(m, m);
        let mut rates = before[n..].to_vec();
        for i in 0..m {
            for k in 0..m {
                w[(i, k)] = rows.w[(n + i, n + k)] - through(i, &held[k]);
            }
            rates[i] -= through(i, &held[m]);
        }
        let (mut own, ended) = multiple_impact::impulses(&w, &rates, curves);
        report.converged &= ended;
        if !ended {
            self.has_unfinished_wave = true;
            // What still approaches is stopped, so that the same wave does not begin again.
            let mut rest = rates.clone();
            for (i, rest) in rest.iter_mut().enumerate() {
                *rest += dot(w.row(i), &own);
            }
            let (stop, solved) = solve_rows(0, &w, &rest, (self.tolerance, solver))?;
            report.converged &= solved.converged();
            add(&mut own, 1.0, &stop);
        }
        let mut impulses: Vec<f64> = held[m].iter().map(|p| -p).collect();
        for (impulse, answer) in own.iter().zip(&held) {
            add(&mut impulses, -impulse, answer);
        }
        impulses.extend(own);
        Ok(impulses)
    }
}
