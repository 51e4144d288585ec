//! The one-step friction-contact problem, in its two forms [THEORY §6].
//!
//! ```text
//! stored:    u = W r + q                                  FrictionProblem
//! factored:  v = v_free + Ŵ Gᵀ r,   u = G v + d            FactoredProblem   (W = G Ŵ Gᵀ, q = G v_free + d)
//! ```
//!
//! `d` carries what is known of each contact before the solve: the restitution or gap term on the
//! normal. Bodies of given motion have `Ŵ = 0`; their velocity enters through `G v_free`.

use crate::Delassus;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// What makes a problem unusable. Non-convergence is not among these: it is a status.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// Two arrays that describe the same contacts or bodies differ in length.
    #[error("{what}: length {found}, expected {expected}")]
    Length {
        /// Array at fault.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Length that the rest of the problem implies.
        expected: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} of contact or body {index} is not finite: {value}")]
    NotFinite {
        /// Quantity at fault.
        what: &'static str,
        /// Contact or body index.
        index: usize,
        /// Offending value.
        value: f64,
    },
    /// A friction coefficient is negative.
    #[error("friction of contact {contact} is {value}, expected ≥ 0")]
    Friction {
        /// Contact index.
        contact: usize,
        /// Offending value.
        value: f64,
    },
    /// A parameter of a law is out of its range.
    #[error("{what} of interaction {interaction} is {value}, expected {bound}")]
    Law {
        /// Interaction index.
        interaction: usize,
        /// Parameter at fault.
        what: &'static str,
        /// Offending value.
        value: f64,
        /// Its range.
        bound: &'static str,
    },
    /// A block row of `W` has a block in a column that is not there.
    #[error("row {row} has a block in column {column}, expected less than {count}")]
    Column {
        /// Block row.
        row: usize,
        /// Block column.
        column: usize,
        /// Number of contacts.
        count: usize,
    },
    /// An entry of a sparse matrix lies outside it.
    #[error("entry ({row}, {column}) lies outside a matrix of shape {shape:?}")]
    Entry {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Rows and columns of the matrix.
        shape: [usize; 2],
    },
    /// A matrix that has to be invertible is not.
    #[error("{what} is singular")]
    Singular {
        /// Matrix at fault.
        what: &'static str,
    },
    /// A contact names a body that is not there, or the same body twice.
    #[error(
        "contact {contact} joins bodies {bodies:?}, expected two different indices below {count}"
    )]
    Body {
        /// Contact index.
        contact: usize,
        /// The two indices.
        bodies: [u32; 2],
        /// Number of bodies.
        count: usize,
    },
}

/// Velocity of a body with both parts in the inertial frame: the form in which contacts see it.
///
/// The engine's state keeps the angular velocity in the body frame; it is rotated once per step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorldTwist {
    /// Velocity of the centre of mass, m/s.
    pub linear: DVec3,
    /// Angular velocity, rad/s.
    pub angular: DVec3,
}

impl WorldTwist {
    /// Velocity (m/s) of the body point at `arm` (m) from the centre of mass.
    #[inline]
    #[must_use]
    pub fn at(&self, arm: DVec3) -> DVec3 {
        self.linear + self.angular.cross(arm)
    }

    /// Both parts are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.linear.is_finite() && self.angular.is_finite()
    }
}

/// One body's block of `Ŵ = M̂⁻¹`, inertial frame. Zero for static and kinematic bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseMass {
    /// 1/m, 1/kg.
    pub linear: f64,
    /// Inverse of `R 𝕀 Rᵀ`, symmetric, 1/(kg·m²).
    pub angular: DMat3,
}

impl InverseMass {
    /// A body that impulses do not move.
    pub const FIXED: Self = Self {
        linear: 0.0,
        angular: DMat3::ZERO,
    };

    /// True if impulses do not move the body.
    #[inline]
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.linear == 0.0 && self.angular == DMat3::ZERO
    }
}

/// One contact of a factored problem: its block row of `G` and its law.
///
/// ```text
/// u = Cᵀ [ v_A + ω_A × ρ_A − v_B − ω_B × ρ_B ] + d,   C = [n t₁ t₂],  n from B to A
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Bodies A and B, indices into the problem's body arrays.
    pub bodies: [u32; 2],
    /// `C = [n t₁ t₂]`, orthonormal and right-handed, inertial frame.
    pub frame: DMat3,
    /// `ρ_A`, `ρ_B`: contact point from each centre of mass, inertial frame, m.
    pub arms: [DVec3; 2],
    /// `d`, m/s, contact frame: the term `s` of the normal law (restitution or gap).
    pub offset: DVec3,
    /// Coulomb coefficient `μ ≥ 0`; zero is the frictionless law.
    pub friction: f64,
}

impl Contact {
    /// Checks one contact of a problem of `count` bodies.
    pub(crate) fn check(&self, index: usize, count: usize) -> Result<(), ProblemError> {
        let [a, b] = self.bodies;
        if a == b || a as usize >= count || b as usize >= count {
            return Err(ProblemError::Body {
                contact: index,
                bodies: self.bodies,
                count,
            });
        }
        check_friction(index, self.friction)?;
        if self.is_plainly_finite() {
            return Ok(());
        }
        let not_finite = |what, value| ProblemError::NotFinite { what, index, value };
        if !self.offset.is_finite() {
            let value = first_non_finite(self.offset, DVec3::ZERO);
            return Err(not_finite("offset", value));
        }
        let arms = self.arms[0].is_finite() && self.arms[1].is_finite();
        if arms && self.frame.is_finite() {
            Ok(())
        } else {
            Err(not_finite("geometry", f64::NAN))
        }
    }

    /// All numbers are finite, seen from the sum of their magnitudes: false also where that
    /// overflows.
    fn is_plainly_finite(&self) -> bool {
        let frame = &self.frame;
        let columns = frame.x_axis.abs() + frame.y_axis.abs() + frame.z_axis.abs();
        let arms = self.arms[0].abs() + self.arms[1].abs();
        (columns + arms + self.offset.abs())
            .element_sum()
            .is_finite()
    }

    /// Relative velocity `G v` at the contact, contact frame, m/s (without the offset `d`).
    #[inline]
    #[must_use]
    pub fn local_velocity(&self, a: &WorldTwist, b: &WorldTwist) -> DVec3 {
        self.frame.transpose() * (a.at(self.arms[0]) - b.at(self.arms[1]))
    }

    /// Local Delassus block `W_αα`, 1/kg, from the bodies' inverse masses:
    /// `Σ_j I/m + Lᵀ 𝕀⁻¹ L` with `L = [ρ × n, ρ × t₁, ρ × t₂]`.
    #[must_use]
    pub fn local_block(&self, a: &InverseMass, b: &InverseMass) -> DMat3 {
        let mut block = DMat3::from_diagonal(DVec3::splat(a.linear + b.linear));
        for (mass, arm) in [(a, self.arms[0]), (b, self.arms[1])] {
            let DMat3 {
                x_axis,
                y_axis,
                z_axis,
            } = self.frame;
            let (l0, l1, l2) = (arm.cross(x_axis), arm.cross(y_axis), arm.cross(z_axis));
            let (t0, t1, t2) = (mass.angular * l0, mass.angular * l1, mass.angular * l2);
            let (w01, w02, w12) = (l0.dot(t1), l0.dot(t2), l1.dot(t2));
            block.x_axis += DVec3::new(l0.dot(t0), w01, w02);
            block.y_axis += DVec3::new(w01, l1.dot(t1), w12);
            block.z_axis += DVec3::new(w02, w12, l2.dot(t2));
        }
        block
    }

    /// `G_α^j Ŵ_j G_β^jᵀ` for the body `mass` seen as side `side` of `self` and `other_side` of `other`.
    #[must_use]
    pub fn coupling(
        &self,
        side: usize,
        other: &Self,
        other_side: usize,
        mass: &InverseMass,
    ) -> DMat3 {
        let sign = if side == other_side { 1.0 } else { -1.0 };
        let column = |axis: DVec3| {
            let angular = mass.angular * other.arms[other_side].cross(axis);
            self.frame.transpose() * (axis * mass.linear + angular.cross(self.arms[side]))
        };
        DMat3::from_cols(
            column(other.frame.x_axis),
            column(other.frame.y_axis),
            column(other.frame.z_axis),
        ) * sign
    }
}

/// A friction-contact problem in factored form: `W = G Ŵ Gᵀ` is never formed.
#[derive(Clone, Copy, Debug)]
pub struct FactoredProblem<'a> {
    /// `Ŵ`, one block a body.
    pub inverse_mass: &'a [InverseMass],
    /// `v_free`, one twist a body, inertial frame.
    pub free_twist: &'a [WorldTwist],
    /// `G`, `d` and `μ`, one entry a contact.
    pub contacts: &'a [Contact],
    /// Centres of mass, m, for the layout in memory alone: bodies that lie together are kept together.
    /// Or empty: bodies are then taken to lie in their order.
    pub positions: &'a [DVec3],
}

impl FactoredProblem<'_> {
    /// Checks lengths, indices, finiteness and `μ ≥ 0`.
    ///
    /// # Errors
    /// [`ProblemError`] names the first array, index and value at fault.
    pub fn validate(&self) -> Result<(), ProblemError> {
        self.validate_bodies()?;
        let count = self.inverse_mass.len();
        let check = |(index, contact): (usize, &Contact)| contact.check(index, count).err();
        let first = if is_shared(self.contacts.len()) {
            let contacts = self.contacts.par_iter().with_min_len(1024);
            contacts.enumerate().find_map_first(check)
        } else {
            self.contacts.iter().enumerate().find_map(check)
        };
        first.map_or(Ok(()), Err)
    }

    /// [`Self::validate`] but for the contacts.
    pub(crate) fn validate_bodies(&self) -> Result<(), ProblemError> {
        let count = self.inverse_mass.len();
        expect_length("free_twist", self.free_twist.len(), count)?;
        if !self.positions.is_empty() {
            expect_length("positions", self.positions.len(), count)?;
        }
        if let Some(index) = first_wrong(self.free_twist, WorldTwist::is_finite) {
            let twist = &self.free_twist[index];
            let value = first_non_finite(twist.linear, twist.angular);
            return Err(ProblemError::NotFinite {
                what: "free twist",
                index,
                value,
            });
        }
        let finite = |mass: &InverseMass| mass.linear.is_finite() && mass.angular.is_finite();
        let wrong = first_wrong(self.inverse_mass, finite);
        wrong.map_or(Ok(()), |index| {
            Err(ProblemError::NotFinite {
                what: "inverse mass",
                index,
                value: f64::NAN,
            })
        })
    }

    /// Twists `v = v_free + Ŵ Gᵀ r` of a valid problem under the impulses `r` (N·s, contact frames), into `twist`.
    ///
    /// Contacts are added in their order: the result is a pure function of the problem and `r`.
    pub fn twist_under(&self, impulse: &[DVec3], twist: &mut Vec<WorldTwist>) {
        twist.clear();
        twist.extend_from_slice(self.free_twist);
        for (contact, r) in self.contacts.iter().zip(impulse) {
            let p = contact.frame * *r;
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let body = contact.bodies[side] as usize;
                let mass = &self.inverse_mass[body];
                if !mass.is_fixed() {
                    twist[body].linear += p * (sign * mass.linear);
                    twist[body].angular += mass.angular * contact.arms[side].cross(p * sign);
                }
            }
        }
    }

    /// The stored form of a valid problem: assembles the block-sparse `W` and `q = G v_free + d`.
    #[must_use]
    pub fn assemble(&self) -> FrictionProblem {
        FrictionProblem {
            delassus: Delassus::assemble(self),
            free_velocity: self
                .contacts
                .iter()
                .map(|c| {
                    let [a, b] = c.bodies.map(|j| &self.free_twist[j as usize]);
                    c.local_velocity(a, b) + c.offset
                })
                .collect(),
            friction: self.contacts.iter().map(|c| c.friction).collect(),
            joints: Vec::new(),
        }
    }
}

/// A friction-contact problem with stored blocks: `u = W r + q`.
///
/// Rows come in blocks of three: first one block a contact, then the joints. A joint of `m` rows
/// takes `⌈m/3⌉` blocks; its law is `u = 0` with a free multiplier. The rows that fill up its last
/// block have no coupling, `q = 0` and a positive diagonal entry: their multiplier is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrictionProblem {
    /// `W`, 1/kg.
    pub delassus: Delassus,
    /// `q`, m/s, one vector a block.
    pub free_velocity: Vec<DVec3>,
    /// `μ ≥ 0`, one a contact: the first blocks.
    pub friction: Vec<f64>,
    /// Blocks of each joint, at least 1; they follow the contacts in this order.
    pub joints: Vec<usize>,
}

impl FrictionProblem {
    /// Number of blocks: contacts, and blocks of joints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.free_velocity.len()
    }

    /// Number of contacts.
    #[must_use]
    pub fn contacts(&self) -> usize {
        self.friction.len()
    }

    /// The blocks of each joint, as ranges.
    pub fn joint_blocks(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut begin = self.contacts();
        self.joints.iter().map(move |blocks| {
            let range = begin..begin + blocks;
            begin = range.end;
            range
        })
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.free_velocity.is_empty()
    }

    /// Checks lengths, finiteness and `μ ≥ 0`.
    ///
    /// # Errors
    /// [`ProblemError`] names the first array, index and value at fault.
    pub fn validate(&self) -> Result<(), ProblemError> {
        let blocks = self
            .joints
            .iter()
            .try_fold(self.contacts(), |sum, blocks| sum.checked_add(*blocks));
        expect_length(
            "friction and joints",
            blocks.unwrap_or(usize::MAX),
            self.len(),
        )?;
        expect_length("delassus", self.delassus.rows(), self.len())?;
        for (contact, mu) in self.friction.iter().enumerate() {
            check_friction(contact, *mu)?;
        }
        for (index, q) in self.free_velocity.iter().enumerate() {
            if !q.is_finite() {
                let value = first_non_finite(*q, DVec3::ZERO);
                return Err(ProblemError::NotFinite {
                    what: "free velocity",
                    index,
                    value,
                });
            }
            if let Some((column, _)) = self.delassus.row(index).find(|(c, _)| *c >= self.len()) {
                return Err(ProblemError::Column {
                    row: index,
                    column,
                    count: self.len(),
                });
            }
            if self
                .delassus
                .row(index)
                .any(|(_, block)| !block.is_finite())
            {
                return Err(ProblemError::NotFinite {
                    what: "delassus row",
                    index,
                    value: f64::NAN,
                });
            }
        }
        Ok(())
    }
}

/// Index of the first row that is not `right`; on the threads of the pool where there are many.
fn first_wrong<T: Sync>(rows: &[T], right: impl Fn(&T) -> bool + Sync) -> Option<usize> {
    if is_shared(rows.len()) {
        let rows = rows.par_iter().with_min_len(1024);
        rows.position_first(|row| !right(row))
    } else {
        rows.iter().position(|row| !right(row))
    }
}

/// So many contacts or bodies are worth the threads of the pool that the caller runs in, if there is one.
pub(crate) fn is_shared(rows: usize) -> bool {
    const WORTH_IT: usize = 3000;
    rows >= WORTH_IT && rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1
}

pub(crate) fn expect_length(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), ProblemError> {
    if found == expected {
        Ok(())
    } else {
        Err(ProblemError::Length {
            what,
            found,
            expected,
        })
    }
}

/// One finite impulse a block.
pub(crate) fn check_warm_start(impulse: &[DVec3], expected: usize) -> Result<(), ProblemError> {
    if impulse.len() != expected {
        return Err(ProblemError::Length {
            what: "impulse",
            found: impulse.len(),
            expected,
        });
    }
    match first_wrong(impulse, |r| r.is_finite()) {
        None => Ok(()),
        Some(index) => Err(ProblemError::NotFinite {
            what: "impulse",
            index,
            value: f64::NAN,
        }),
    }
}

pub(crate) fn check_friction(contact: usize, value: f64) -> Result<(), ProblemError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(ProblemError::Friction { contact, value })
    }
}

fn first_non_finite(a: DVec3, b: DVec3) -> f64 {
    let all = [a.x, a.y, a.z, b.x, b.y, b.z];
    all.into_iter().find(|x| !x.is_finite()).unwrap_or(0.0)
}
