//! A linear Lagrangian system with interactions, in the form that an integrator takes.
//!
//! ```text
//! M v̇ + K q = F + Hᵀ λ,   y = H q + b            with x = (q, v):
//! ẋ = [0 I; −M⁻¹K 0] x + (0, M⁻¹F) + B λ,         B = (0, M⁻¹Hᵀ)
//! ```

use super::Spawned;
use super::method::Method;
use moreau_systems::{
    FirstOrderLinear, FirstOrderLinearRelation, Joins, LagrangianLinear, LagrangianLinearRelation,
    Matrix, NonsmoothLaw, State, SystemsError, SystemsSimulation,
};

/// One row `y = H q + b` under a law.
pub struct Row {
    /// `H`.
    pub row: Vec<f64>,
    /// `b`.
    pub offset: f64,
    /// The law in the Lagrangian form.
    pub law: NonsmoothLaw,
}

/// A system of masses on a line.
pub struct Masses {
    /// Diagonal of `M`, kg.
    pub mass: Vec<f64>,
    /// `K`, N/m.
    pub stiffness: Matrix,
    /// `F`, N.
    pub force: Vec<f64>,
    /// `q` at the start, m.
    pub q: Vec<f64>,
    /// `v` at the start, m/s.
    pub v: Vec<f64>,
    /// The interactions.
    pub rows: Vec<Row>,
}

impl Masses {
    /// Spawns the form that the method takes.
    ///
    /// # Errors
    /// [`SystemsError`] if the method cannot integrate it.
    pub fn spawn(self, method: &Method, h: f64) -> Result<Spawned, SystemsError> {
        // Event-driven integration has contacts in the one form and relays in the other.
        let has_relays = self.rows.iter().any(|row| !row.law.is_impact());
        if method.is_first_order() || (method.scheme.is_none() && has_relays) {
            self.spawn_first_order(method, h)
        } else {
            self.spawn_lagrangian(method, h)
        }
    }

    fn spawn_lagrangian(self, method: &Method, h: f64) -> Result<Spawned, SystemsError> {
        let mut simulation = SystemsSimulation::new(method.settings(h))?;
        let compared = self.mass.len();
        let system = LagrangianLinear {
            stiffness: Some(self.stiffness),
            force: self.force.into(),
            ..LagrangianLinear::new(Matrix::diagonal(&self.mass))
        };
        let state = State::lagrangian(self.q, self.v);
        let system = simulation.spawn_system(system, state, method.integrator())?;
        let mut contacts = Vec::new();
        for row in self.rows {
            let is_contact = row.law.is_impact();
            let relation = LagrangianLinearRelation {
                offset: vec![row.offset],
                ..LagrangianLinearRelation::new([one_row(&row.row)])
            };
            let interaction =
                simulation.spawn_interaction(Joins::one(system), relation, row.law)?;
            if is_contact {
                contacts.push(interaction);
            }
        }
        Ok(Spawned {
            simulation,
            system,
            compared,
            contacts,
        })
    }

    fn spawn_first_order(self, method: &Method, h: f64) -> Result<Spawned, SystemsError> {
        let mut simulation = SystemsSimulation::new(method.settings(h))?;
        let n = self.mass.len();
        let mut matrix = Matrix::zeros(2 * n, 2 * n);
        let mut input = vec![0.0; 2 * n];
        for i in 0..n {
            matrix[(i, n + i)] = 1.0;
            input[n + i] = self.force[i] / self.mass[i];
            for j in 0..n {
                matrix[(n + i, j)] = -self.stiffness[(i, j)] / self.mass[i];
            }
        }
        let system = FirstOrderLinear {
            input: input.into(),
            ..FirstOrderLinear::new(matrix)
        };
        let state = State::first_order([self.q, self.v].concat());
        let system = simulation.spawn_system(system, state, method.integrator_of_first_order())?;
        for row in self.rows {
            // A contact is a complementarity of its gap; a relay is one of the velocity, as it is in the Lagrangian form.
            let (place, law) = if row.law.is_impact() {
                (0, NonsmoothLaw::Complementarity { rows: 1 })
            } else {
                (n, row.law)
            };
            let (mut c, mut b) = (Matrix::zeros(1, 2 * n), Matrix::zeros(2 * n, 1));
            for (j, entry) in row.row.iter().enumerate() {
                c[(0, place + j)] = *entry;
                b[(n + j, 0)] = entry / self.mass[j];
            }
            let relation = FirstOrderLinearRelation {
                e: vec![row.offset].into(),
                ..FirstOrderLinearRelation::new([c], [b])
            };
            simulation.spawn_interaction(Joins::one(system), relation, law)?;
        }
        Ok(Spawned {
            simulation,
            system,
            compared: n,
            contacts: Vec::new(),
        })
    }
}

fn one_row(entries: &[f64]) -> Matrix {
    let mut matrix = Matrix::zeros(1, entries.len());
    matrix.row_mut(0).copy_from_slice(entries);
    matrix
}
