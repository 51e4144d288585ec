//! Linear problems of equalities and contacts over any number of coordinates, stated to the solver of joints.
//!
//! ```text
//! v = v_free + M⁻¹ Gᵀ z,   w = G v + d        equality: w = 0;   contact: its law
//! ```
//!
//! Coordinates come in sixes, `M` is diagonal in these but for the last three of each. A row over more than two sixes is made of linked interactions, and
//! so equalities may be; a contact has one six.

use glam::{DMat3, DVec3};
use moreau_solvers::{
    Auto, FactoredProblem, Goal, Interaction, InverseMass, Law, SolverReport, WorldTwist,
};

pub(crate) type Six = [f64; 6];

/// Unit masses.
pub(crate) const UNIT: InverseMass = InverseMass {
    linear: 1.0,
    angular: DMat3::IDENTITY,
};

/// A problem in the making.
pub(crate) struct Mixed {
    masses: Vec<InverseMass>,
    free: Vec<WorldTwist>,
    rows: Vec<Interaction>,
    /// Whether an interaction has multipliers of its own.
    leads: Vec<bool>,
}

/// What came out: coordinates, multipliers in the order of rows, and what the solver says.
pub(crate) struct Answer {
    pub(crate) velocity: Vec<Six>,
    pub(crate) multipliers: Vec<f64>,
    pub(crate) report: SolverReport,
}

impl Mixed {
    /// Without rows.
    pub(crate) fn new(bodies: impl IntoIterator<Item = (InverseMass, Six)>) -> Self {
        let twist = |six: &Six| WorldTwist {
            linear: DVec3::from_slice(&six[..3]),
            angular: DVec3::from_slice(&six[3..]),
        };
        // The first one is the ground.
        let mut masses = vec![InverseMass::FIXED];
        let mut free = vec![WorldTwist::default()];
        for (mass, six) in bodies {
            masses.push(mass);
            free.push(twist(&six));
        }
        Self {
            masses,
            free,
            rows: Vec::new(),
            leads: Vec::new(),
        }
    }

    /// `Σ row·v + d = 0`.
    pub(crate) fn equality(&mut self, row: &[(usize, Six)], d: f64) {
        for (part, pair) in row.chunks(2).enumerate() {
            let other = pair.get(1).map_or(0, |(body, _)| body + 1);
            let mut own = Interaction::new([pair[0].0 as u32 + 1, other as u32], Law::equality(1));
            for (side, (_, six)) in pair.iter().enumerate() {
                own.rows[0][6 * side..6 * side + 6].copy_from_slice(six);
            }
            own.linked = part > 0;
            own.offset[0] = if part == 0 { d } else { 0.0 };
            self.leads.push(part == 0);
            self.rows.push(own);
        }
    }

    /// A contact of any law on one body: its rows and their offsets.
    pub(crate) fn contact(&mut self, body: usize, law: Law, rows: &[Six], d: &[f64]) {
        let mut own = Interaction::new([body as u32 + 1, 0], law);
        for (k, six) in rows.iter().enumerate() {
            own.rows[k][..6].copy_from_slice(six);
        }
        own.offset[..d.len()].copy_from_slice(d);
        self.leads.push(true);
        self.rows.push(own);
    }

    pub(crate) fn solve(&self, auto: &mut Auto, goal: f64) -> Answer {
        let problem = FactoredProblem {
            inverse_mass: &self.masses,
            free_twist: &self.free,
            contacts: &[],
            interactions: &self.rows,
            positions: &[],
            pull: &[],
        };
        let mut impulse = vec![0.0; problem.rows()];
        let mut twist = Vec::new();
        let report = auto
            .solve_factored(&problem, &mut impulse, &mut twist, &Goal::scaled(goal))
            .unwrap();
        let mut begin = 0;
        let mut multipliers = Vec::new();
        for (row, leads) in self.rows.iter().zip(&self.leads) {
            let own = begin..begin + row.law.rows();
            begin = own.end;
            if *leads {
                multipliers.extend_from_slice(&impulse[own]);
            }
        }
        let six = |t: &WorldTwist| {
            let (v, w) = (t.linear, t.angular);
            [v.x, v.y, v.z, w.x, w.y, w.z]
        };
        Answer {
            velocity: twist[1..].iter().map(six).collect(),
            multipliers,
            report,
        }
    }
}
