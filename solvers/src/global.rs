//! The friction-contact problem in global form: generalised velocities and impulses together
//! [Acary-Bremond-Huber18, §2.2; THEORY §6].
//!
//! ```text
//! M v = H r + f,   u = Hᵀ v + w,   K*_α ∋ û_α ⊥ r_α ∈ K_α
//! W = Hᵀ M⁻¹ H,    q = w + Hᵀ M⁻¹ f                        its stored form
//! ```
//!
//! `H` has one column a row of the contacts, so it is the transpose of the engine's `G`. `M` need
//! not be symmetric.

use crate::algebra::sparse_lu::SparseLu;
use crate::problem::{check_friction, expect_length};
use crate::{Delassus, FrictionProblem, ProblemError, SparseMatrix};
use glam::{DMat3, DVec3};

/// A friction-contact problem in global form, in three dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GlobalProblem {
    /// `M`, `n × n`, invertible, kg.
    pub mass: SparseMatrix,
    /// `H`, `n × 3 n_c`: columns `3α, 3α+1, 3α+2` are the normal and the tangents of contact `α`.
    pub kinematic: SparseMatrix,
    /// `f`, N·s, `n` entries.
    pub force: Vec<f64>,
    /// `w`, m/s, one vector a contact.
    pub offset: Vec<DVec3>,
    /// `μ ≥ 0`, one a contact.
    pub friction: Vec<f64>,
}

impl GlobalProblem {
    /// Number of contacts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offset.len()
    }

    /// True without contacts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.offset.is_empty()
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
        expect_length("columns of H", self.kinematic.columns(), 3 * self.len())?;
        expect_length("friction", self.friction.len(), self.len())?;
        for (contact, mu) in self.friction.iter().enumerate() {
            check_friction(contact, *mu)?;
        }
        check_finite("M", self.mass.values())?;
        check_finite("H", self.kinematic.values())?;
        check_finite("f", &self.force)?;
        self.offset
            .iter()
            .try_for_each(|w| check_finite("w", &w.to_array()))
    }

    /// The velocities `v = M⁻¹ (H r + f)` under `impulse`.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or `M` is singular.
    pub fn velocity_under(&self, impulse: &[DVec3]) -> Result<Vec<f64>, ProblemError> {
        self.validate()?;
        expect_length("impulse", impulse.len(), self.len())?;
        let mut v = self.force.clone();
        let flat: Vec<f64> = impulse.iter().flat_map(DVec3::to_array).collect();
        self.kinematic.add_times(&flat, &mut v);
        self.factorize_mass()?.solve(&mut v);
        Ok(v)
    }

    /// The stored form. Costs one factorisation of `M` and `3 n_c` solves.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or `M` is singular.
    pub fn condense(&self) -> Result<FrictionProblem, ProblemError> {
        self.validate()?;
        let mut lu = self.factorize_mass()?;
        let (n, contacts) = (self.degrees_of_freedom(), self.len());
        // Contacts that touch each degree of freedom.
        let mut touching = vec![Vec::new(); n];
        for column in 0..3 * contacts {
            for (row, _) in self.kinematic.column(column) {
                let list: &mut Vec<usize> = &mut touching[row];
                if list.last() != Some(&(column / 3)) {
                    list.push(column / 3);
                }
            }
        }
        let mut rows: Vec<Vec<(u32, DMat3)>> = vec![Vec::new(); contacts];
        let (mut x, mut seen) = ([(); 3].map(|()| vec![0.0; n]), vec![usize::MAX; contacts]);
        for contact in 0..contacts {
            for (axis, x) in x.iter_mut().enumerate() {
                x.fill(0.0);
                for (row, value) in self.kinematic.column(3 * contact + axis) {
                    x[row] = value;
                }
                lu.solve(x);
            }
            let moved = (0..n).filter(|row| x.iter().any(|x| x[*row] != 0.0));
            for other in moved.flat_map(|row| touching[row].iter().copied()) {
                if std::mem::replace(&mut seen[other], contact) == contact {
                    continue;
                }
                let dot = |i: usize, j: usize| self.kinematic.column_dot(3 * other + i, &x[j]);
                let column = |j| DVec3::new(dot(0, j), dot(1, j), dot(2, j));
                let block = DMat3::from_cols(column(0), column(1), column(2));
                rows[other].push((contact as u32, block));
            }
        }
        let mut v = self.force.clone();
        lu.solve(&mut v);
        let q = |(contact, w): (usize, &DVec3)| {
            let dot = |i: usize| self.kinematic.column_dot(3 * contact + i, &v);
            *w + DVec3::new(dot(0), dot(1), dot(2))
        };
        Ok(FrictionProblem {
            delassus: Delassus::from_rows(rows),
            free_velocity: self.offset.iter().enumerate().map(q).collect(),
            friction: self.friction.clone(),
            joints: Vec::new(),
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
