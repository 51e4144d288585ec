//! Planar problems, and their exact embedding in three dimensions.
//!
//! A planar contact has a normal `N` and one tangent `T`. Embedded, its frame is `(N, T, 0)`: the
//! second tangent is coupled to nothing.
//!
//! ```text
//! W'_αβ = [ W_αβ  0 ]      W'_αα[2,2] = w_α = (W_αα[0,0] + W_αα[1,1]) / 2,    q'_α = (q_α, 0)
//!         [  0    0 ]
//! ```
//!
//! The embedded problem is the planar one, not an approximation of it:
//!
//! * *Law.* `K_μ` and `K*_μ` are symmetric in `t₂`, and their sections `t₂ = 0` are the planar
//!   cones. For `r' = (r, 0)` thus `u' = (u, 0)`, `û' = (û, 0)` and `P_K(z, 0) = (P_K z, 0)`: the
//!   natural map of the embedded problem is that of the planar one, and a zero.
//! * *No further solutions.* Where `w_α > 0`, every solution has `r'_2 = 0`: the row reads
//!   `u'_2 = w_α r'_2`, and in sticking `u'_2 = 0`, in sliding `r'_2 = −s u'_2` with `s ≥ 0`, in
//!   take-off `r' = 0`.
//! * *Residuals.* `‖F'‖ = ‖F‖`, `‖q'‖ = ‖q‖`, so `e_fclib` is the same figure. The scale of a
//!   contact is `λ' = trace(W'_αα)/3 = (3/2)(W_αα[0,0] + W_αα[1,1])/3 = trace(W_αα)/2 = λ`, the
//!   mean of the eigenvalues in both cases, so `e_scaled` is the same figure. This is why `w_α` is
//!   the mean of the other two diagonal entries.
//!
//! In global form ([`PlanarGlobalProblem`]) `W` is not there to be completed. Zero third columns of
//! `H` alone would condense to `w_α = 0`. Each contact therefore gets one degree of freedom more,
//! after the others: of mass `1/w_α`, coupled by a single entry 1 of `H` to the second tangent,
//! without force. Condensed, it contributes `w_α` to the diagonal (to two roundings) and nothing
//! elsewhere; its velocity is zero at every solution.
//!
//! Both embeddings keep every planar number as it is, so that taking the plane out again gives
//! back the same bits.

use crate::{Delassus, FrictionProblem, GlobalProblem, ProblemError, SparseMatrix};
use glam::{DMat2, DMat3, DVec2, DVec3};

/// A problem in three dimensions is not the embedding of a planar one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("contact {contact} is not planar: {what}")]
pub struct NotPlanar {
    /// What lies outside the plane.
    pub what: &'static str,
    /// Contact index.
    pub contact: usize,
}

/// A planar problem with stored blocks, `u = W r + q`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanarProblem {
    /// `W`, 1/kg: one row a contact, of `(column, block)`.
    pub rows: Vec<Vec<(u32, DMat2)>>,
    /// `q`, m/s, one vector `(N, T)` a contact.
    pub free_velocity: Vec<DVec2>,
    /// `μ ≥ 0`, one a contact.
    pub friction: Vec<f64>,
}

impl PlanarProblem {
    /// The same problem in three dimensions.
    ///
    /// A diagonal block that is absent stays absent.
    ///
    /// ```
    /// use glam::{DMat2, DVec2};
    /// use moreau_solvers::planar::PlanarProblem;
    /// let planar = PlanarProblem {
    ///     rows: vec![vec![(0, DMat2::from_cols_array(&[2.0, 0.5, 0.5, 4.0]))]],
    ///     free_velocity: vec![DVec2::new(-1.0, 0.3)],
    ///     friction: vec![0.5],
    /// };
    /// let embedded = planar.embed();
    /// assert_eq!(embedded.delassus.block(0, 0).z_axis.z, 3.0);
    /// assert_eq!(PlanarProblem::of(&embedded), Ok(planar));
    /// ```
    #[must_use]
    pub fn embed(&self) -> FrictionProblem {
        let row = |(row, blocks): (usize, &Vec<(u32, DMat2)>)| {
            let embed = |(column, block): &(u32, DMat2)| {
                let mut embedded = embed_block(block);
                if *column as usize == row {
                    embedded.z_axis.z = out_of_plane(&embedded);
                }
                (*column, embedded)
            };
            blocks.iter().map(embed).collect()
        };
        FrictionProblem {
            delassus: Delassus::from_rows(self.rows.iter().enumerate().map(row).collect()),
            free_velocity: self.free_velocity.iter().map(|q| q.extend(0.0)).collect(),
            friction: self.friction.clone(),
            joints: Vec::new(),
        }
    }

    /// The planar problem that `problem` embeds; `W_αα[2,2]` may be anything.
    ///
    /// # Errors
    /// [`NotPlanar`] if the second tangent of a contact is coupled, or `q` leaves the plane, or
    /// there are joints.
    pub fn of(problem: &FrictionProblem) -> Result<Self, NotPlanar> {
        let count = problem.contacts();
        let planar = |found: bool, what, contact| {
            if found {
                Ok(())
            } else {
                Err(NotPlanar { what, contact })
            }
        };
        planar(problem.joints.is_empty(), "a joint follows it", count)?;
        let mut rows = Vec::with_capacity(count);
        for row in 0..problem.delassus.rows() {
            let mut blocks = Vec::new();
            for (column, block) in problem.delassus.row(row) {
                let coupled = [
                    block.x_axis.z,
                    block.y_axis.z,
                    block.z_axis.x,
                    block.z_axis.y,
                ];
                let diagonal = column == row || block.z_axis.z == 0.0;
                let uncoupled = diagonal && coupled.iter().all(|entry| *entry == 0.0);
                planar(uncoupled, "W couples its second tangent", row)?;
                let [x, y] = [block.x_axis, block.y_axis].map(DVec3::truncate);
                blocks.push((column as u32, DMat2::from_cols(x, y)));
            }
            rows.push(blocks);
        }
        Ok(Self {
            rows,
            free_velocity: in_plane(&problem.free_velocity, "q has a second tangent")?,
            friction: problem.friction.clone(),
        })
    }
}

/// A planar problem in global form, `M v = H r + f`, `u = Hᵀ v + w`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanarGlobalProblem {
    /// `M`, `n × n`, invertible, kg.
    pub mass: SparseMatrix,
    /// `H`, `n × 2 n_c`: columns `2α, 2α+1` are the normal and the tangent of contact `α`.
    pub kinematic: SparseMatrix,
    /// `f`, N·s, `n` entries.
    pub force: Vec<f64>,
    /// `w`, m/s, one vector `(N, T)` a contact.
    pub offset: Vec<DVec2>,
    /// `μ ≥ 0`, one a contact.
    pub friction: Vec<f64>,
}

impl PlanarGlobalProblem {
    /// The same problem in three dimensions, with `n + n_c` degrees of freedom. Costs one
    /// condensation, to know `w_α`.
    ///
    /// A contact whose `w_α` is not positive keeps a zero third column of `H`.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or `M` is singular.
    pub fn embed(&self) -> Result<GlobalProblem, ProblemError> {
        let (n, contacts) = (self.force.len(), self.offset.len());
        let columns = contacts * 3;
        let stretched = |(row, column, value)| (row, column / 2 * 3 + column % 2, value);
        let kinematic = || triplets(&self.kinematic).map(stretched);
        let mut embedded = GlobalProblem {
            mass: self.mass.clone(),
            kinematic: SparseMatrix::from_triplets(self.kinematic.rows(), columns, kinematic())?,
            force: self.force.clone(),
            offset: self.offset.iter().map(|w| w.extend(0.0)).collect(),
            friction: self.friction.clone(),
        };
        if contacts == 0 {
            return Ok(embedded);
        }
        let flat = embedded.condense()?.delassus;
        let scale = |contact| out_of_plane(&flat.block(contact, contact));
        let scales: Vec<f64> = (0..contacts).map(scale).collect();
        let added = || (n..).zip(&scales);
        let mass = added().map(|(i, w)| (i, i, if *w > 0.0 { w.recip() } else { 1.0 }));
        let lever = added().enumerate().filter(|(_, (_, w))| **w > 0.0);
        let lever = lever.map(|(contact, (i, _))| (i, 3 * contact + 2, 1.0));
        let size = n + contacts;
        embedded.mass = SparseMatrix::from_triplets(size, size, triplets(&self.mass).chain(mass))?;
        embedded.kinematic = SparseMatrix::from_triplets(size, columns, kinematic().chain(lever))?;
        embedded.force.resize(size, 0.0);
        Ok(embedded)
    }

    /// The planar problem that [`Self::embed`] made `problem` of.
    ///
    /// # Errors
    /// [`NotPlanar`] if the last `n_c` degrees of freedom are not those of the second tangents
    /// alone, or `w` leaves the plane.
    pub fn of(problem: &GlobalProblem) -> Result<Self, NotPlanar> {
        let contacts = problem.len();
        let missing = NotPlanar {
            what: "its second tangent has no degree of freedom",
            contact: 0,
        };
        let n = problem
            .degrees_of_freedom()
            .checked_sub(contacts)
            .ok_or(missing)?;
        let mut mass = Vec::new();
        for (row, column, value) in triplets(&problem.mass) {
            match (row < n, column < n) {
                (true, true) => mass.push((row, column, value)),
                (false, false) if row == column => {}
                _ => {
                    return Err(not_planar(
                        "M couples its second tangent",
                        row.max(column) - n,
                    ));
                }
            }
        }
        let mut kinematic = Vec::new();
        for (row, column, value) in triplets(&problem.kinematic) {
            let (contact, axis) = (column / 3, column % 3);
            match (row < n, axis < 2) {
                (true, true) => kinematic.push((row, 2 * contact + axis, value)),
                (false, false) if row - n == contact => {}
                _ => return Err(not_planar("H couples its second tangent", contact)),
            }
        }
        if let Some(contact) = problem.force[n..].iter().position(|f| *f != 0.0) {
            return Err(not_planar("a force acts on its second tangent", contact));
        }
        let inconsistent = |_| not_planar("M or H has entries outside the problem", 0);
        Ok(Self {
            mass: SparseMatrix::from_triplets(n, n, mass).map_err(inconsistent)?,
            kinematic: SparseMatrix::from_triplets(n, 2 * contacts, kinematic)
                .map_err(inconsistent)?,
            force: problem.force[..n].to_vec(),
            offset: in_plane(&problem.offset, "w has a second tangent")?,
            friction: problem.friction.clone(),
        })
    }
}

/// Mean of the two diagonal entries in the plane: `w_α`.
fn out_of_plane(block: &DMat3) -> f64 {
    0.5 * (block.x_axis.x + block.y_axis.y)
}

fn embed_block(block: &DMat2) -> DMat3 {
    DMat3::from_cols(
        block.x_axis.extend(0.0),
        block.y_axis.extend(0.0),
        DVec3::ZERO,
    )
}

fn in_plane(vectors: &[DVec3], what: &'static str) -> Result<Vec<DVec2>, NotPlanar> {
    match vectors.iter().position(|vector| vector.z != 0.0) {
        None => Ok(vectors.iter().map(|vector| vector.truncate()).collect()),
        Some(contact) => Err(not_planar(what, contact)),
    }
}

fn not_planar(what: &'static str, contact: usize) -> NotPlanar {
    NotPlanar { what, contact }
}

/// `(row, column, value)` of the stored entries, column by column.
fn triplets(matrix: &SparseMatrix) -> impl Iterator<Item = (usize, usize, f64)> {
    let entries = |column| {
        let entry = move |(row, value)| (row, column, value);
        matrix.column(column).map(entry)
    };
    (0..matrix.columns()).flat_map(entries)
}

#[cfg(test)]
mod tests;
