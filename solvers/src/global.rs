//! The friction-contact problem in global form: generalised velocities and impulses together
//! [Acary-Bremond-Huber18, §2.2; docs/theory.md §6].
//!
//! ```text
//! M v = H r + f,   u = Hᵀ v + w,   the law of each interaction
//! W = Hᵀ M⁻¹ H,    q = w + Hᵀ M⁻¹ f                        its stored form
//! ```
//!
//! `H` has one column a row of the interactions, so it is the transpose of the engine's `G`. `M` need
//! not be symmetric.

use crate::algebra::sparse_lu::SparseLu;
use crate::law::list::Laws;
use crate::problem::expect_length;
use crate::{Delassus, Law, ProblemError, SparseMatrix, StoredProblem, law};
use glam::DMat3;

/// A problem in global form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GlobalProblem {
    /// `M`, `n × n`, invertible, kg.
    pub mass: SparseMatrix,
    /// `H`, `n × m`: a column for each row of the interactions, those of one interaction after those of the one before.
    pub kinematic: SparseMatrix,
    /// `f`, N·s, `n` entries.
    pub force: Vec<f64>,
    /// `w`, m/s, `m` entries.
    pub offset: Vec<f64>,
    /// One an interaction; together they have `m` rows.
    pub laws: Vec<Law>,
}

impl GlobalProblem {
    /// Number of interactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.laws.len()
    }

    /// True without interactions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.laws.is_empty()
    }

    /// Number of rows: entries of an impulse.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.laws
            .iter()
            .map(Law::rows)
            .fold(0, usize::saturating_add)
    }

    /// Number of generalised velocities.
    #[must_use]
    pub fn degrees_of_freedom(&self) -> usize {
        self.force.len()
    }

    /// Checks shapes, finiteness and `μ ≥ 0`.
    ///
    /// # Errors
    /// [`ProblemError`] names the first array, index and value at fault.
    pub fn validate(&self) -> Result<(), ProblemError> {
        let n = self.degrees_of_freedom();
        expect_length("rows of M", self.mass.rows(), n)?;
        expect_length("columns of M", self.mass.columns(), n)?;
        expect_length("rows of H", self.kinematic.rows(), n)?;
        expect_length("columns of H", self.kinematic.columns(), self.rows())?;
        expect_length("w", self.offset.len(), self.rows())?;
        for (interaction, law) in self.laws.iter().enumerate() {
            law::list::check(interaction, law)?;
        }
        check_finite("M", self.mass.values())?;
        check_finite("H", self.kinematic.values())?;
        check_finite("f", &self.force)?;
        check_finite("w", &self.offset)
    }

    /// The velocities `v = M⁻¹ (H r + f)` under `impulse`.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or `M` is singular.
    pub fn velocity_under(&self, impulse: &[f64]) -> Result<Vec<f64>, ProblemError> {
        self.validate()?;
        expect_length("impulse", impulse.len(), self.rows())?;
        let mut v = self.force.clone();
        self.kinematic.add_times(impulse, &mut v);
        self.factorize_mass()?.solve(&mut v);
        Ok(v)
    }

    /// The stored form. Costs one factorisation of `M` and `m` solves.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or `M` is singular.
    pub fn condense(&self) -> Result<StoredProblem, ProblemError> {
        self.validate()?;
        let mut lu = self.factorize_mass()?;
        let (n, m) = (self.degrees_of_freedom(), self.rows());
        let mut laws = Laws::default();
        self.laws.iter().for_each(|law| laws.push(*law));
        // Triple of each row, and the rows of each triple.
        let mut triple_of = Vec::with_capacity(m);
        let mut rows_of = vec![0..0; laws.triples()];
        for (range, law) in laws.iter() {
            let begin = triple_of.len();
            for (k, triple) in range.enumerate() {
                let end = (begin + 3 * k + 3).min(begin + law.rows());
                rows_of[triple] = begin + 3 * k..end;
                triple_of.extend(rows_of[triple].clone().map(|_| triple));
            }
        }
        // Triples that touch each degree of freedom.
        let mut touching = vec![Vec::new(); n];
        for (column, triple) in triple_of.iter().enumerate() {
            for (row, _) in self.kinematic.column(column) {
                let list: &mut Vec<usize> = &mut touching[row];
                if list.last() != Some(triple) {
                    list.push(*triple);
                }
            }
        }
        let mut rows: Vec<Vec<(u32, DMat3)>> = vec![Vec::new(); laws.triples()];
        let mut seen = vec![usize::MAX; laws.triples()];
        let mut x = [(); 3].map(|()| vec![0.0; n]);
        for triple in 0..laws.triples() {
            for x in &mut x {
                x.fill(0.0);
            }
            for (x, column) in x.iter_mut().zip(rows_of[triple].clone()) {
                for (row, value) in self.kinematic.column(column) {
                    x[row] = value;
                }
                lu.solve(x);
            }
            let moved = (0..n).filter(|row| x.iter().any(|x| x[*row] != 0.0));
            for other in moved.flat_map(|row| touching[row].iter().copied()) {
                if std::mem::replace(&mut seen[other], triple) == triple {
                    continue;
                }
                let mut block = DMat3::ZERO;
                for (j, x) in x.iter().enumerate() {
                    for (i, row) in rows_of[other].clone().enumerate() {
                        block.col_mut(j)[i] = self.kinematic.column_dot(row, x);
                    }
                }
                rows[other].push((triple as u32, block));
            }
        }
        let mut v = self.force.clone();
        lu.solve(&mut v);
        let q: Vec<f64> = (0..m)
            .map(|row| self.offset[row] + self.kinematic.column_dot(row, &v))
            .collect();
        let mut free_velocity = Vec::new();
        laws.pack(&q, &mut free_velocity);
        let mut delassus = Delassus::from_rows(rows);
        for (range, law) in laws.iter() {
            delassus.fill_spare_rows(range, law.rows());
        }
        Ok(StoredProblem {
            laws,
            delassus,
            free_velocity,
            weak_scales: Vec::new(),
        })
    }

    fn factorize_mass(&self) -> Result<SparseLu, ProblemError> {
        let mut lu = SparseLu::default();
        let mass = &self.mass;
        lu.factorize(mass.column_start(), mass.row_index(), mass.values())
            .map_err(|_| ProblemError::Singular { what: "M" })?;
        Ok(lu)
    }
}

fn check_finite(what: &'static str, values: &[f64]) -> Result<(), ProblemError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(ProblemError::NotFinite {
            what,
            index,
            value: values[index],
        }),
    }
}
