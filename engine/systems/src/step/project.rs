//! Correction of positions after the velocities, of systems under Moreau–Jean [docs/theory.md §11; Acary 2013].
//!
//! ```text
//! repeat:  0 ≤ y(q) + H G Hᵀ Λ ⊥ Λ ≥ 0,   q ← q ⊕ G Hᵀ Λ       G = M(q)⁻¹ or (TᵀT)⁻¹ with q̇ = T v, rows of the normals alone
//! ```
//!
//! *Direct*: of the contacts that were active, or are closed by the rule of hysteresis, those that overlap. *Combined*: all active ones are brought to
//! `y = 0` from either side; contacts with `y ≤ 0` that are not active come in, and the step is solved again from where it is, with the `ẏ` of there in the
//! law of impact. Equalities of positions that are imposed on velocities take part in both as `y = 0`.

use super::Plant;
use super::assemble::{solve, stored};
use super::block::Block;
use super::link::{Level, Link};
use super::point::jacobian;
use crate::algebra::{Factor, Matrix, add, dot};
use crate::error::SystemsError;
use crate::integrator::Activation;
use crate::law::NonsmoothLaw;
use crate::relation::Seen;
use crate::settings::{Metric, Projection, Settings};
use crate::solver_choice::AnySolver;
use crate::system::Model;
use crate::system::state::State;
use moreau_solvers::Law;
use std::sync::Arc;

/// How one pass of corrections works.
struct Pass {
    tolerance: f64,
    max_iterations: usize,
    metric: Metric,
    /// Contacts are brought to `y = 0` from either side.
    both_sides: bool,
}

/// One row of a correction.
struct Row {
    link: usize,
    row: usize,
    y: f64,
    /// Brought to zero, not only out of the overlap.
    is_equal: bool,
    /// Its row of `H`, a part a system; empty where there is none.
    normal: Vec<Vec<f64>>,
    /// The same of `G Hᵀ`.
    answer: Vec<Vec<f64>>,
}

impl Row {
    fn is_off(&self, tolerance: f64) -> bool {
        if self.is_equal {
            self.y.abs() >= tolerance
        } else {
            self.y < -tolerance
        }
    }

    fn law(&self) -> Law {
        if self.is_equal {
            Law::equality(1)
        } else {
            Law::Complementarity
        }
    }
}

impl Plant {
    /// Moves the positions; true if contacts came in, so that the step is to be solved again.
    pub(super) fn project(
        &mut self,
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<bool, SystemsError> {
        self.close();
        let both_sides = matches!(settings.projection, Projection::Combined { .. });
        let (Projection::Direct {
            tolerance,
            max_iterations,
            metric,
        }
        | Projection::Combined {
            tolerance,
            max_iterations,
            metric,
        }) = settings.projection
        else {
            return Ok(false);
        };
        let pass = Pass {
            tolerance,
            max_iterations,
            metric,
            both_sides,
        };
        self.correct(&pass, settings, solver)?;
        Ok(both_sides && self.admit())
    }

    /// The rule of hysteresis at the end of the step.
    fn close(&mut self) {
        let (at, blocks) = (self.at, &self.blocks);
        for link in self.links.iter_mut().filter(|link| link.is_contact()) {
            link.closed = match link.activation {
                None => false,
                Some(Activation::Forecast { .. } | Activation::Approaching { .. }) => link.active,
                Some(rule @ Activation::Hysteresis { .. }) => {
                    link.note_end(blocks, at);
                    let (y, rate) = (link.end_output[0], link.end_rate[0]);
                    rule.is_active(at.h, [y, rate], 0.0, link.active)
                }
            };
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
            let rows = self.rows_to_correct(pass)?;
            if !rows.iter().any(|row| row.is_off(pass.tolerance)) {
                return Ok(());
            }
            self.report.projections += 1;
            let n = rows.len();
            let mut w = Matrix::zeros(n, n);
            for i in 0..n {
                for k in 0..n {
                    let pairs = rows[i].normal.iter().zip(&rows[k].answer);
                    w[(i, k)] = pairs.map(|(normal, answer)| dot(normal, answer)).sum();
                }
            }
            let laws: Vec<Law> = rows.iter().map(Row::law).collect();
            let y: Vec<f64> = rows.iter().map(|row| row.y).collect();
            let problem = stored(&laws, &w, &y)?;
            let (lambda, report) = solve(&problem, vec![0.0; n], settings.tolerance, solver)?;
            self.report.converged &= report.converged();
            for (row, lambda) in rows.iter().zip(&lambda) {
                self.links[row.link].correction[row.row] += lambda;
                for (block, change) in self.blocks.iter_mut().zip(&row.answer) {
                    if let State::Lagrangian { q, .. } = &mut block.state {
                        if block.system.is_flat() || change.is_empty() {
                            add(q, *lambda, change);
                        } else if let Model::Lagrangian(model) = block.system.model() {
                            let by: Vec<f64> = change.iter().map(|d| lambda * d).collect();
                            model.displace(q, &by);
                        }
                    }
                    block.moved();
                }
            }
        }
        let rows = self.rows_to_correct(pass)?;
        self.report.converged &= !rows.iter().any(|row| row.is_off(pass.tolerance));
        Ok(())
    }

    /// The rows that a pass looks at: normals of contacts, all rows of equalities.
    fn rows_to_correct(&mut self, pass: &Pass) -> Result<Vec<Row>, SystemsError> {
        let mut rows = Vec::new();
        let mut masses: Vec<Option<Arc<Factor>>> = vec![None; self.blocks.len()];
        for (index, link) in self.links.iter().enumerate() {
            let in_play = if pass.both_sides {
                link.active
            } else {
                link.closed
            };
            let is_equality = matches!(link.law, NonsmoothLaw::Equality { .. });
            if link.half.is_some() {
                continue;
            }
            let count = match link.level {
                Level::Velocity if is_equality => link.rows(),
                Level::Velocity if link.is_contact() && in_play => 1,
                _ => continue,
            };
            let Seen::Lagrangian(relation) = link.relation.seen() else {
                continue;
            };
            let (y, h) = {
                let end = link.end_point(&self.blocks, self.at);
                (link.gap(&end), jacobian(relation, &end))
            };
            for (row, y) in y.into_iter().enumerate().take(count) {
                let mut normal = vec![Vec::new(); self.blocks.len()];
                for (h, j) in h.iter().zip(&link.blocks) {
                    normal[*j] = h.row(row).to_vec();
                }
                let mut answer = normal.clone();
                for j in &link.blocks {
                    match (pass.metric, self.blocks[*j].system.model()) {
                        (Metric::Mass, _) => {
                            self.blocks[*j].divide_by_mass(&mut masses[*j], &mut answer[*j])?;
                        }
                        (Metric::Coordinates, Model::Lagrangian(model)) => {
                            model.divide_by_metric(&mut answer[*j]);
                        }
                        (Metric::Coordinates, Model::FirstOrder(_)) => {}
                    }
                }
                rows.push(Row {
                    link: index,
                    row,
                    y,
                    is_equal: is_equality || pass.both_sides,
                    normal,
                    answer,
                });
            }
        }
        Ok(rows)
    }

    /// Contacts with `y ≤ 0` that are not active come in; true if there are any.
    fn admit(&mut self) -> bool {
        let (at, blocks) = (self.at, &self.blocks);
        let mut came_in = false;
        for link in self
            .links
            .iter_mut()
            .filter(|link| link.is_contact() && !link.active)
        {
            if link.gap(&link.end_point(blocks, at))[0] <= 0.0 {
                link.active = true;
                came_in = true;
            }
        }
        came_in
    }
}

impl Block {
    /// `x ← M(q)⁻¹ x`; the mass is factored when it is first needed.
    fn divide_by_mass(
        &mut self,
        factor: &mut Option<Arc<Factor>>,
        x: &mut [f64],
    ) -> Result<(), SystemsError> {
        let factor = match factor {
            Some(factor) => factor,
            None => {
                self.keep_factor_of_mass();
                factor.insert(self.factor_of_mass(self.state.q())?)
            }
        };
        factor.solve(x);
        Ok(())
    }
}

impl Link {
    /// An impact law on velocities, under Moreau–Jean.
    fn is_contact(&self) -> bool {
        self.level == Level::Velocity && self.law.is_impact() && self.half.is_none()
    }
}
