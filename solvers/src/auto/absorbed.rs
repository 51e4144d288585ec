//! Soft rows that make a body heavier alike in all directions, such as a stiff spring to its centre: they are taken for mass.
//!
//! ```text
//! r_i = −(n_i·v + d_i)/R_i,   Σ n_i n_iᵀ/R_i = diag(σ 1, B)        M̂ = diag((m + σ) 1, 𝕀 + B),   v_free ← v_free − M̂⁻¹ Σ n_i (n_i·v_free + d_i)/R_i
//! ```
//!
//! The problem without these rows has the same contact impulses and velocities. It is the better one: with the rows the velocity `M̂⁻¹Gᵀr` is
//! a difference of velocities that are larger by `M̂/M`, and so is every bound that is made of the mass.

use crate::problem::{FactoredProblem, Interaction, InverseMass, WorldTwist};
use crate::{Law, SolverReport};
use glam::{DMat3, DVec3};

/// Part of the largest entry, for a mass of 1, below which one is rounding of the rows.
const NOTHING: f64 = 1e-13;

/// The problem with rows taken for mass, and what is needed to find their impulses again.
#[derive(Debug, Default)]
pub(super) struct Absorbed {
    inverse_mass: Vec<InverseMass>,
    free: Vec<WorldTwist>,
    kept: Vec<Interaction>,
    /// Adhesion of the contacts and of these.
    pull: Vec<f64>,
    /// Which interactions are taken for mass.
    taken: Vec<bool>,
    /// Which bodies are on joints: these and what is soft are factorised together, whatever their stiffness.
    jointed: Vec<bool>,
    impulse: Vec<f64>,
    /// How much heavier than 1 each body got, over its mass; empty if none did.
    pub(super) heavier: Vec<f64>,
}

/// `m`, `𝕀` and what rows add to them; `None` where that is not alike in all directions.
struct Heavier {
    inverse: InverseMass,
    /// The largest that is added, over the mass.
    part: f64,
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn largest(a: &DMat3) -> f64 {
    a.to_cols_array()
        .iter()
        .fold(0.0, |most, x| f64::max(most, x.abs()))
}

impl Heavier {
    fn of(other: &Interaction, side: usize, mass: &InverseMass) -> Option<Self> {
        let [mut linear, mut mixed, mut angular] = [DMat3::ZERO; 3];
        for row in 0..other.law.rows() {
            let stiff = 1.0 / other.compliance[row];
            if !stiff.is_finite() {
                return None;
            }
            let [n, turn] = other.lever(row, side);
            linear += outer(n, n) * stiff;
            mixed += outer(n, turn) * stiff;
            angular += outer(turn, turn) * stiff;
        }
        let trace = |a: &DMat3| a.x_axis.x + a.y_axis.y + a.z_axis.z;
        let (own, turns) = (mass.linear, trace(&mass.angular));
        let sigma = trace(&linear) / 3.0;
        let uneven = largest(&(linear - DMat3::from_diagonal(DVec3::splat(sigma)))) * own;
        let part = (sigma * own).max(largest(&angular) * turns);
        if uneven.max(largest(&mixed) * (own * turns).sqrt()) > NOTHING * part {
            return None;
        }
        let inertia = mass.angular.inverse() + angular;
        let inverse = InverseMass {
            linear: 1.0 / (1.0 / own + sigma),
            angular: if largest(&angular) > 0.0 {
                inertia.inverse()
            } else {
                mass.angular
            },
        };
        let finite = inverse.linear.is_finite() && inverse.angular.is_finite();
        (finite && part > 0.0).then_some(Self { inverse, part })
    }
}

/// The only side that impulses move, of soft equalities.
fn moved_side(problem: &FactoredProblem, index: usize) -> Option<usize> {
    let other = &problem.interactions[index];
    let next = problem.interactions.get(index + 1);
    let linked = other.linked || next.is_some_and(|next| next.linked);
    if linked || !matches!(other.law, Law::Equality(_)) || other.law.rows() == 0 {
        return None;
    }
    let fixed = other
        .bodies
        .map(|body| problem.inverse_mass[body as usize].is_fixed());
    match fixed {
        [false, true] => Some(0),
        [true, false] => Some(1),
        _ => None,
    }
}

impl Absorbed {
    /// Takes the rows of a valid problem; false if there are none to take.
    pub(super) fn load(&mut self, problem: &FactoredProblem, impulse: &[f64]) -> bool {
        self.heavier.clear();
        self.taken.clear();
        self.find_jointed(problem);
        for (index, other) in problem.interactions.iter().enumerate() {
            let found = moved_side(problem, index).and_then(|side| {
                let body = other.bodies[side] as usize;
                if self.jointed[body] {
                    return None;
                }
                // Each body has one mass to start from.
                let first = self.heavier.get(body).is_none_or(|part| *part == 0.0);
                let heavier = Heavier::of(other, side, &problem.inverse_mass[body]);
                Some((side, body, heavier.filter(|_| first)?))
            });
            self.taken.push(found.is_some());
            let Some((side, body, found)) = found else {
                continue;
            };
            if self.heavier.is_empty() {
                self.heavier.resize(problem.inverse_mass.len(), 0.0);
                self.inverse_mass.clear();
                self.inverse_mass.extend_from_slice(problem.inverse_mass);
                self.free.clear();
                self.free.extend_from_slice(problem.free_twist);
            }
            self.heavier[body] = found.part;
            self.inverse_mass[body] = found.inverse;
            let ends = other.bodies.map(|body| problem.free_twist[body as usize]);
            let change = other.twist_change(side, &answer(other, &ends), &found.inverse);
            self.free[body].linear += change.linear;
            self.free[body].angular += change.angular;
        }
        if self.heavier.is_empty() {
            return false;
        }
        self.kept.clear();
        self.pull.clear();
        let pull = problem.pull.iter().take(problem.contacts.len());
        self.pull.extend(pull);
        self.impulse.clear();
        let contacts = 3 * problem.contacts.len();
        self.impulse.extend_from_slice(&impulse[..contacts]);
        let mut begin = contacts;
        for (index, (other, taken)) in problem.interactions.iter().zip(&self.taken).enumerate() {
            let end = begin + other.law.rows();
            if !taken {
                self.kept.push(*other);
                let pull = problem.pull.get(problem.contacts.len() + index);
                self.pull.extend(pull);
                self.impulse.extend_from_slice(&impulse[begin..end]);
            }
            begin = end;
        }
        true
    }

    fn find_jointed(&mut self, problem: &FactoredProblem) {
        self.jointed.clear();
        self.jointed.resize(problem.inverse_mass.len(), false);
        for other in problem.interactions {
            let rigid = other.compliance[..other.law.rows()].contains(&0.0);
            if rigid && matches!(other.law, Law::Equality(_)) {
                for body in other.bodies {
                    self.jointed[body as usize] = true;
                }
            }
        }
    }

    /// The problem without these rows, and its impulse.
    pub(super) fn split<'a>(
        &'a mut self,
        problem: &FactoredProblem<'a>,
    ) -> (FactoredProblem<'a>, &'a mut [f64]) {
        let view = FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free,
            interactions: &self.kept,
            pull: &self.pull,
            ..*problem
        };
        (view, &mut self.impulse)
    }

    /// All impulses, with those of the rows that were taken at the twists as solved.
    pub(super) fn write(
        &self,
        problem: &FactoredProblem,
        impulse: &mut [f64],
        twist: &[WorldTwist],
    ) {
        let mut begin = 3 * problem.contacts.len();
        let (contacts, kept) = self.impulse.split_at(begin);
        impulse[..begin].copy_from_slice(contacts);
        let mut kept = kept.iter().copied();
        for (other, taken) in problem.interactions.iter().zip(&self.taken) {
            let rows = other.law.rows();
            let own = answer(other, &other.bodies.map(|body| twist[body as usize]));
            for (row, r) in impulse[begin..begin + rows].iter_mut().enumerate() {
                *r = if *taken {
                    own[row]
                } else {
                    kept.next().unwrap_or(0.0)
                };
            }
            begin += rows;
        }
    }

    /// A report names interactions as they are in the whole.
    pub(super) fn rename(&self, contacts: usize, report: &mut SolverReport) {
        let whole = |own: u32| {
            let own = own as usize;
            let kept = self.taken.iter().enumerate().filter(|(_, taken)| !**taken);
            let place = own
                .checked_sub(contacts)
                .and_then(|k| kept.map(|(index, _)| index).nth(k));
            place.map_or(own, |index| contacts + index) as u32
        };
        report.conflict = report.conflict.map(whole);
        report.worst_contact = report.worst_contact.map(whole);
    }
}

/// `−(n·v + d)/R` of each row.
fn answer(other: &Interaction, ends: &[WorldTwist; 2]) -> [f64; 6] {
    let u = other.velocity(ends);
    std::array::from_fn(|row| {
        if row < other.law.rows() {
            -u[row / 3][row % 3] / other.compliance[row]
        } else {
            0.0
        }
    })
}
