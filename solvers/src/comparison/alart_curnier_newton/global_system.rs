//! The global form: velocities and impulses together.
//!
//! The velocities are scaled by `√M_ii`, so that all entries of the matrix are without unit:
//!
//! ```text
//! v̂ = √diag(M) v,   M̂ = diag(M)^-½ M diag(M)^-½,   Ĥ = diag(M)^-½ H λ^-½
//! ```

use super::assembly::Assembly;
use super::{Derivatives, Failure, NewtonSystem, is_solved};
use crate::law::list::Laws;
use crate::newton::scaling::root_of;
use crate::{GlobalProblem, ProblemError, SparseMatrix, StoredProblem};
use glam::DVec3;

/// Buffers that outlive a solve.
#[derive(Debug, Default)]
pub(super) struct GlobalBuffers {
    matrix: Assembly,
    v: Vec<f64>,
    right: Vec<f64>,
    x: Vec<f64>,
    defect: Vec<f64>,
}

/// A global problem, scaled.
pub(super) struct GlobalSystem<'a> {
    mass: SparseMatrix,
    kinematic: SparseMatrix,
    force: Vec<f64>,
    offset: Vec<DVec3>,
    laws: Laws,
    root: Vec<f64>,
    space: &'a mut GlobalBuffers,
}

impl<'a> GlobalSystem<'a> {
    /// `velocity` belongs to the first impulse; `stored` is the stored form, for its `λ`.
    pub(super) fn new(
        problem: &GlobalProblem,
        stored: &StoredProblem,
        velocity: &[f64],
        space: &'a mut GlobalBuffers,
    ) -> Result<Self, ProblemError> {
        let lambda = (0..stored.len()).map(|block| stored.delassus.block(block, block));
        let root: Vec<f64> = lambda
            .map(|w| root_of((w.x_axis.x + w.y_axis.y + w.z_axis.z) / 3.0))
            .collect();
        let n = problem.degrees_of_freedom();
        let inertia: Vec<f64> = (0..n)
            .map(|dof| {
                let mut column = problem.mass.column(dof);
                let entry = column.find(|(row, _)| *row == dof);
                root_of(entry.map_or(0.0, |(_, value)| value))
            })
            .collect();
        let of_columns: Vec<f64> = root.iter().flat_map(|root| [*root; 3]).collect();
        let scaled = |matrix: &SparseMatrix, columns: &[f64]| {
            let entries = (0..matrix.columns()).flat_map(|column| {
                let scale = columns[column];
                let inertia = &inertia;
                let entry = move |(row, value)| (row, column, value / (inertia[row] * scale));
                matrix.column(column).map(entry)
            });
            SparseMatrix::from_triplets(matrix.rows(), matrix.columns(), entries)
        };
        let system = Self {
            mass: scaled(&problem.mass, &inertia)?,
            kinematic: scaled(&problem.kinematic, &of_columns)?,
            force: problem
                .force
                .iter()
                .zip(&inertia)
                .map(|(f, m)| f / m)
                .collect(),
            offset: problem
                .offset
                .as_chunks()
                .0
                .iter()
                .zip(&root)
                .map(|(w, root)| DVec3::from_array(*w) / *root)
                .collect(),
            laws: stored.laws.scaled(&root),
            root,
            space,
        };
        system.space.right.clear();
        system.space.v.clear();
        let scaled = velocity.iter().zip(&inertia).map(|(v, m)| v * m);
        system.space.v.extend(scaled);
        system.space.prepare(&system.mass, &system.kinematic);
        Ok(system)
    }

    fn assemble(&mut self, at: &Derivatives) {
        let matrix = &mut self.space.matrix;
        matrix.clear();
        for value in self.mass.values() {
            matrix.push(*value);
        }
        for contact in 0..self.root.len() {
            let derivative = at.scaled(contact);
            let rest = at.rest(contact);
            for axis in 0..3 {
                for (_, value) in self.kinematic.column(3 * contact + axis) {
                    matrix.push(-value);
                    for entry in (derivative.col(axis) * value).to_array() {
                        matrix.push(entry);
                    }
                }
                for entry in rest.col(axis).to_array() {
                    matrix.push(entry);
                }
            }
        }
    }

    /// `Ĥᵀ v` of one contact.
    fn local(&self, contact: usize, v: &[f64]) -> DVec3 {
        let dot = |axis: usize| self.kinematic.column_dot(3 * contact + axis, v);
        DVec3::new(dot(0), dot(1), dot(2))
    }
}

impl GlobalBuffers {
    /// The pattern, in the order of [`GlobalSystem::assemble`].
    fn prepare(&mut self, mass: &SparseMatrix, kinematic: &SparseMatrix) {
        let (n, rows) = (mass.columns(), kinematic.columns());
        let of_mass =
            (0..n).flat_map(|column| mass.column(column).map(move |(row, _)| (row, column)));
        let of_contacts = (0..rows).flat_map(|column| {
            let block = n + column / 3 * 3;
            let coupled = kinematic.column(column).flat_map(move |(dof, _)| {
                let back = (0..3).map(move |k| (block + k, dof));
                std::iter::once((dof, n + column)).chain(back)
            });
            coupled.chain((0..3).map(move |k| (block + k, n + column)))
        });
        self.matrix
            .set_pattern(n + rows, of_mass.chain(of_contacts));
    }

    /// `x ← x + A⁻¹ (right − A x)`; the norm of what is left.
    fn correct(&mut self) -> f64 {
        self.defect.clone_from(&self.right);
        self.matrix.subtract_times(&self.x, &mut self.defect);
        self.matrix.solve(&mut self.defect);
        for (x, defect) in self.x.iter_mut().zip(&self.defect) {
            *x += defect;
        }
        self.defect.clone_from(&self.right);
        self.matrix.subtract_times(&self.x, &mut self.defect);
        length(&self.defect)
    }
}

impl NewtonSystem for GlobalSystem<'_> {
    fn root(&self) -> &[f64] {
        &self.root
    }

    fn laws(&self) -> &Laws {
        &self.laws
    }

    fn velocity(&self, _: &[DVec3], u: &mut [DVec3]) {
        for (contact, (u, w)) in u.iter_mut().zip(&self.offset).enumerate() {
            *u = self.local(contact, &self.space.v) + *w;
        }
    }

    fn step(
        &mut self,
        at: &Derivatives,
        phi: &[DVec3],
        dr: &mut [DVec3],
        du: &mut [DVec3],
        factorizations: &mut usize,
    ) -> Result<(), Failure> {
        self.assemble(at);
        *factorizations += 1;
        let space = &mut *self.space;
        space.matrix.factorize().map_err(|_| Failure::Singular)?;
        let n = self.force.len();
        // The first line stays what `advance` left of it; the second is −Φ.
        space.right.resize(n, 0.0);
        space
            .right
            .extend(phi.iter().flat_map(|phi| (-*phi).to_array()));
        space.x.clear();
        space.x.resize(space.right.len(), 0.0);
        space.correct();
        let left = space.correct();
        let solved = is_solved(left, length(&space.right));
        space.right.truncate(n);
        if !solved {
            return Err(Failure::Singular);
        }
        for (contact, (dr, du)) in dr.iter_mut().zip(du).enumerate() {
            let x = &self.space.x;
            *dr = DVec3::from_slice(&x[n + 3 * contact..]);
            *du = self.local(contact, &x[..n]);
        }
        Ok(())
    }

    fn advance(&mut self, t: f64, r: &[DVec3]) {
        let space = &mut *self.space;
        for (v, dv) in space.v.iter_mut().zip(&space.x) {
            *v += dv * t;
        }
        // f + H r − M v
        space.right.clone_from(&self.force);
        for (contact, r) in r.iter().enumerate() {
            for axis in 0..3 {
                for (row, value) in self.kinematic.column(3 * contact + axis) {
                    space.right[row] += value * r[axis];
                }
            }
        }
        for (column, v) in space.v.iter().enumerate() {
            for (row, value) in self.mass.column(column) {
                space.right[row] -= value * v;
            }
        }
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
