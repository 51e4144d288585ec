//! The problem of rows that are closed, for forces and for impulses: equalities first, then complementarity.

use super::Row;
use super::flow::{Flow, Rows};
use crate::algebra::{Matrix, add};
use crate::error::SystemsError;
use crate::solver_choice::AnySolver;
use crate::step::assemble::{solve, stored};
use moreau_solvers::{Law, SolverReport};

/// A tolerance and who is to reach it.
pub(crate) type Numerics<'a> = (f64, &'a mut AnySolver);

/// Forces in the rows of a list that solve `0 ≤ ÿ ⊥ λ ≥ 0`, `ÿ = 0` in equalities.
pub(crate) struct Forces {
    /// `H`, `M⁻¹Hᵀ` and `W` of the rows.
    pub(crate) rows: Rows,
    /// `M⁻¹F`.
    pub(crate) free: Vec<f64>,
    /// N.
    pub(crate) lambda: Vec<f64>,
    pub(crate) report: SolverReport,
}

impl Forces {
    /// `M⁻¹(F + Hᵀλ)`.
    pub(crate) fn accelerations(&self) -> Vec<f64> {
        let mut all = self.free.clone();
        for (answer, lambda) in self.rows.answers.iter().zip(&self.lambda) {
            add(&mut all, *lambda, answer);
        }
        all
    }
}

impl Flow<'_> {
    /// The forces in some rows, of which the first are so many equalities, at a time and a state.
    pub(crate) fn forces(
        &self,
        (list, equalities): (&[Row], usize),
        (t, s): (f64, &[f64]),
        numerics: Numerics,
    ) -> Result<Forces, SystemsError> {
        let masses = self.masses(s)?;
        let rows = self.rows(list, t, s, &masses)?;
        let free = self.free(t, s, &masses)?;
        let q = self.second_rates(list, &rows, &free, t, s)?;
        let (lambda, report) = solve_rows(equalities, &rows.w, &q, numerics)?;
        Ok(Forces {
            rows,
            free,
            lambda,
            report,
        })
    }
}

/// `0 ≤ W λ + q ⊥ λ ≥ 0` but for the first rows, so many equalities.
pub(crate) fn solve_rows(
    equalities: usize,
    w: &Matrix,
    q: &[f64],
    (tolerance, solver): Numerics,
) -> Result<(Vec<f64>, SolverReport), SystemsError> {
    let law = |row: usize| {
        if row < equalities {
            Law::equality(1)
        } else {
            Law::Complementarity
        }
    };
    let laws: Vec<Law> = (0..q.len()).map(law).collect();
    let problem = stored(&laws, w, q)?;
    solve(&problem, vec![0.0; q.len()], tolerance, solver)
}
