//! Correction of positions after the velocities, of systems under Moreau–Jean [docs/theory.md §11; Acary 2013].
//!
//! ```text
//! repeat:  0 ≤ y(q) + H G Hᵀ Λ ⊥ Λ ≥ 0,   q ← q + G Hᵀ Λ       G = M(q)⁻¹ or I, rows of the normals alone
//! ```
//!
//! *Direct*: of the contacts that were active, or are closed by the rule of hysteresis, those that overlap. *Combined*: all active ones are brought to
//! `y = 0` from either side; contacts with `y ≤ 0` that are not active come in, and the step is solved again from where it is, with the `ẏ` of there in the
//! law of impact. Equalities of positions that are imposed on velocities take part in both as `y = 0`.

use super::Plant;
use super::assemble::{solve, stored};
use super::link::{Level, Link, jacobian};
use crate::algebra::{Factor, Matrix, add, dot};
use crate::error::SystemsError;
use crate::integrator::Integrator;
use crate::law::NonsmoothLaw;
use crate::relation::Seen;
use crate::settings::{Metric, Projection, Settings};
use crate::solver_choice::AnySolver;
use moreau_solvers::Law;

/// How one pass of corrections works.
struct Pass {
    tolerance: f64,
    max_iterations: usize,
    metric: Metric,
    /// Contacts are brought to `y = 0` from either side.
    both_sides: bool,
}

impl Plant {
    /// Moves the positions; true if contacts came in, so that the step is to be solved again.
    pub(super) fn project(
        &mut self,
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<bool, SystemsError> {
        self.close();
        match settings.projection {
            Projection::None => Ok(false),
            Projection::Direct {
                tolerance,
                max_iterations,
                metric,
            } => {
                let pass = Pass {
                    tolerance,
                    max_iterations,
                    metric,
                    both_sides: false,
                };
                self.correct(&pass, settings, solver)?;
                Ok(false)
            }
            Projection::Combined {
                tolerance,
                max_iterations,
                metric,
            } => {
                let pass = Pass {
                    tolerance,
                    max_iterations,
                    metric,
                    both_sides: true,
                };
                self.correct(&pass, settings, solver)?;
                Ok(self.admit())
            }
        }
    }

    /// The rule of hysteresis at the end of the step.
    fn close(&mut self) {
        let (at, blocks) = (self.at, &self.blocks);
        for link in self.links.iter_mut().filter(|link| link.is_contact()) {
            let end = link.end_point(blocks, at);
            let y = link.gap(&end)[0];
            let rate = link.rate(&end, link.blocks.iter().map(|j| blocks[*j].state.v()))[0];
            let rule = link.blocks.iter().find_map(|j| match blocks[*j].integrator {
                Integrator::MoreauJean(scheme) => Some(scheme.activation),
                _ => None,
            });
            link.closed = rule.is_some_and(|rule| match rule {
                crate::Activation::Forecast { .. } => link.active,
                crate::Activation::Hysteresis { .. } => {
                    rule.is_active(at.h, y, rate, link.before.closed)
                }
            });
        }
    }

    /// Corrections until every gap is within the tolerance.
    fn correct(
        &mut self,
        pass: &Pass,
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        for _ in 0..pass.max_iterations {
            let (moved, y) = self.gaps_to_correct(pass.both_sides);
            let is_off = |(y, equal): &(f64, bool)| {
                if *equal {
                    y.abs() >= pass.tolerance
                } else {
                    *y < -pass.tolerance
                }
            };
            if !y.iter().any(is_off) {
                return Ok(());
            }
            self.report.projections += 1;
            let (rows, responses) = self.normals(&moved, pass.metric)?;
            let n = y.len();
            let mut w = Matrix::zeros(n, n);
            for i in 0..n {
                for k in 0..n {
                    let pairs = rows[i].iter().zip(&responses[k]);
                    w[(i, k)] = pairs.map(|(row, response)| dot(row, response)).sum();
                }
            }
            let laws: Vec<Law> = y
                .iter()
                .map(|(_, equal)| if *equal { Law::equality(1) } else { Law::Complementarity })
                .collect();
            let y: Vec<f64> = y.iter().map(|(y, _)| *y).collect();
            let problem = stored(&laws, &w, &y)?;
            let (lambda, report) = solve(&problem, vec![0.0; n], settings.tolerance, solver)?;
            self.report.converged &= report.converged();
            for ((response, lambda), (link, row)) in responses.iter().zip(&lambda).zip(&moved) {
                self.links[*link].correction[*row] += lambda;
                for (block, change) in self.blocks.iter_mut().zip(response) {
                    if let crate::State::Lagrangian { q, .. } = &mut block.state {
                        add(q, *lambda, change);
                    }
                }
            }
        }
        let (_, y) = self.gaps_to_correct(pass.both_sides);
        let is_left = |(y, equal): &(f64, bool)| if *equal { y.abs() } else { -y } > pass.tolerance;
        self.report.converged &= !y.iter().any(is_left);
        Ok(())
    }

    /// Interactions and rows that are corrected, with their `y` and whether it must be zero.
    fn gaps_to_correct(&self, both_sides: bool) -> (Vec<(usize, usize)>, Vec<(f64, bool)>) {
        let (mut rows, mut gaps) = (Vec::new(), Vec::new());
        for (index, link) in self.links.iter().enumerate() {
            let in_play = if both_sides { link.active } else { link.closed };
            if link.is_contact() && in_play {
                rows.push((index, 0));
                gaps.push((link.gap(&link.end_point(&self.blocks, self.at))[0], both_sides));
            } else if link.level == Level::Velocity && matches!(link.law, NonsmoothLaw::Equality { .. }) {
                let y = link.gap(&link.end_point(&self.blocks, self.at));
                rows.extend((0..y.len()).map(|row| (index, row)));
                gaps.extend(y.into_iter().map(|y| (y, true)));
            }
        }
        (rows, gaps)
    }

    /// Rows of `H` and `G Hᵀ`, for every system one part; empty where there is none.
    #[expect(clippy::type_complexity, reason = "rows of rows")]
    fn normals(
        &self,
        moved: &[(usize, usize)],
        metric: Metric,
    ) -> Result<(Vec<Vec<Vec<f64>>>, Vec<Vec<Vec<f64>>>), SystemsError> {
        let mut factors: Vec<Option<Factor>> = Vec::new();
        factors.resize_with(self.blocks.len(), || None);
        let (mut rows, mut responses) = (Vec::new(), Vec::new());
        for (index, row) in moved {
            let link = &self.links[*index];
            let mut parts = vec![Vec::new(); self.blocks.len()];
            let mut answers = parts.clone();
            if let Seen::Lagrangian(relation) = link.relation.seen() {
                let h = jacobian(relation, &link.end_point(&self.blocks, self.at));
                for (h, j) in h.iter().zip(&link.blocks) {
                    let block = &self.blocks[*j];
                    parts[*j] = h.row(*row).to_vec();
                    answers[*j] = h.row(*row).to_vec();
                    if metric == Metric::Mass {
                        if factors[*j].is_none() {
                            factors[*j] = Factor::new(&block.mass(block.state.q()));
                        }
                        match &factors[*j] {
                            Some(factor) => factor.solve(&mut answers[*j]),
                            None => {
                                let field = "mass";
                                let source = crate::FieldError::Singular { field };
                                return Err(block.named()(source));
                            }
                        }
                    }
                }
            }
            rows.push(parts);
            responses.push(answers);
        }
        Ok((rows, responses))
    }

    /// Contacts with `y ≤ 0` that are not active come in; true if there are any.
    fn admit(&mut self) -> bool {
        let (at, blocks) = (self.at, &self.blocks);
        let mut came_in = false;
        for link in self.links.iter_mut().filter(|link| link.is_contact() && !link.active) {
            if link.gap(&link.end_point(blocks, at))[0] <= 0.0 {
                link.active = true;
                came_in = true;
            }
        }
        if came_in {
            for link in self.links.iter_mut().filter(|link| link.is_contact()) {
                let end = link.end_point(blocks, at);
                link.reference = link.rate(&end, link.blocks.iter().map(|j| blocks[*j].state.v()));
            }
        }
        came_in
    }

    /// Largest overlap at contacts.
    pub(super) fn overlap(&self) -> f64 {
        let contacts = self.links.iter().filter(|link| link.law.is_impact());
        let overlap = |link: &Link| -link.gap(&link.end_point(&self.blocks, self.at))[0];
        contacts.map(overlap).fold(0.0, f64::max)
    }
}

impl Link {
    /// An impact law on velocities.
    fn is_contact(&self) -> bool {
        self.level == Level::Velocity && self.law.is_impact()
    }
}
