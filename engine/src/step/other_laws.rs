//! Contacts of other laws than Coulomb's: resistance against rolling and spinning, friction that differs by direction [docs/theory.md §4].
//!
//! Everything that looks at contacts between the solves of a step has them as it has all others: a frame, arms, an offset, `r = (r_N, r_T)`. The solve alone has an
//! interaction of the contact's own law in its place, and what it finds beside `r` is the couple `m` on A, in the contact frame: about `n` against spinning,
//! about `t₁` and `t₂` against rolling.
//!
//! ```text
//! rows    N, T₁, T₂:  the contact's                                          u, m/s;  r, N·s
//!         R₁, R₂, S:  ℓ tᵢ·(ω_A − ω_B),  ℓ n·(ω_A − ω_B)                     ℓω, m/s; m/ℓ, N·s
//! C       ‖r_T‖ ≤ μ r_N,   ‖m_R/ℓ‖ ≤ (μ_R/ℓ) r_N,   |m_S/ℓ| ≤ (μ_S/ℓ) r_N
//! ```
//!
//! The length `ℓ = √(tr W_T/tr W_ω)` of the bodies makes all rows velocities of one size: residuals are then those of contacts, in any units. Friction by
//! direction has the rows of the contact with `t₁` along the grain.

use super::assembly::{ContactProblem, Parts};
use crate::bodies::slot::Slot;
use crate::interactions::law::InteractionLaw;
use crate::interactions::record::ContactRecord;
use crate::joints::Push;
use crate::motion::Motion;
use crate::motion::scheme::Scheme;
use glam::{DMat3, DVec3};
use moreau_solvers::law::{EllipticCoulomb, RollingCoulomb};
use moreau_solvers::{Contact, Interaction, InverseMass, Law};

/// A contact that the solve has as an interaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherLaw {
    /// Of the contact.
    pub(super) row: u32,
    law: Law,
    /// `ℓ`, m.
    length: f64,
    /// `[n t₁ t₂]` of the law, inertial frame.
    frame: DMat3,
}

impl OtherLaw {
    /// None if it is Coulomb's.
    fn of(row: u32, law: &InteractionLaw, contact: &Contact, motion: &Motion) -> Option<Self> {
        let resists = law.rolling_resistance > 0.0 || law.spinning_resistance > 0.0;
        if resists {
            let length = length(contact, motion);
            let law = Law::Rolling(RollingCoulomb {
                friction: law.friction,
                rolling: law.rolling_resistance / length,
                spinning: Some(law.spinning_resistance / length),
            });
            let frame = contact.frame;
            return Some(Self {
                row,
                law,
                length,
                frame,
            });
        }
        let grain = law.grain?;
        let n = contact.frame.x_axis;
        // A normal that came in later in the step may be along it.
        let in_plane = grain.along.reject_from_normalized(n).try_normalize();
        let (along, friction) = match in_plane {
            Some(along) => (along, [law.friction, grain.across]),
            None => (contact.frame.y_axis, [grain.across; 2]),
        };
        let frame = DMat3::from_cols(n, along, n.cross(along));
        let law = Law::EllipticCoulomb(EllipticCoulomb { friction });
        Some(Self {
            row,
            law,
            length: 1.0,
            frame,
        })
    }

    /// Its rows.
    pub(super) fn interaction(&self, contact: &Contact) -> Interaction {
        let mut of = Interaction::new(contact.bodies, self.law);
        let offset = self.frame.transpose() * (contact.frame * contact.offset);
        let axes = [self.frame.x_axis, self.frame.y_axis, self.frame.z_axis];
        for (k, axis) in axes.into_iter().enumerate() {
            let [a, b] = contact.arms.map(|arm| arm.cross(axis));
            of.rows[k] = row([axis, a, -axis, -b]);
            of.offset[k] = offset[k];
        }
        if self.law.rows() > 3 {
            let [n, t1, t2] = axes.map(|axis| axis * self.length);
            for (k, axis) in [t1, t2, n].into_iter().enumerate() {
                of.rows[3 + k] = row([DVec3::ZERO, axis, DVec3::ZERO, -axis]);
            }
        }
        of
    }

    /// The impulses of its rows, from `r` and the couple in the contact frame.
    fn rows(
        &self,
        contact: &Contact,
        r: DVec3,
        couple: DVec3,
    ) -> impl Iterator<Item = DVec3> + use<> {
        let r = self.frame.transpose() * (contact.frame * r);
        let couple = DVec3::new(couple.y, couple.z, couple.x) / self.length;
        let has_couple = self.law.rows() > 3;
        [Some(r), has_couple.then_some(couple)]
            .into_iter()
            .flatten()
    }

    /// `r`, and the couple in the contact frame.
    fn back(&self, contact: &Contact, rows: &[f64]) -> [DVec3; 2] {
        let r = self.frame * DVec3::from_slice(&rows[..3]);
        let couple = match rows.get(3..6) {
            Some(m) => DVec3::new(m[2], m[0], m[1]) * self.length,
            None => DVec3::ZERO,
        };
        [contact.frame.transpose() * r, couple]
    }

    /// What bounds `‖r_T‖/r_N` in the direction of friction.
    fn friction(&self, rows: &[f64]) -> Option<f64> {
        let Law::EllipticCoulomb(law) = self.law else {
            return None;
        };
        let [one, other] = law.friction;
        let size = libm::hypot(rows[1], rows[2]);
        let over = |x: f64, mu: f64| if mu > 0.0 { x / mu } else { 0.0 };
        let gauge = libm::hypot(over(rows[1], one), over(rows[2], other));
        Some(if gauge > 0.0 {
            size / gauge
        } else {
            one.max(other)
        })
    }
}

fn row(parts: [DVec3; 4]) -> [f64; 12] {
    let mut row = [0.0; 12];
    for (entries, part) in row.chunks_exact_mut(3).zip(parts) {
        entries.copy_from_slice(&part.to_array());
    }
    row
}

/// `ℓ` of a contact, m.
fn length(contact: &Contact, motion: &Motion) -> f64 {
    let (mut linear, mut angular) = (0.0, 0.0);
    for (slot, arm) in contact.bodies.into_iter().zip(contact.arms) {
        let mass: &InverseMass = &motion.inverse_mass[Slot(slot).index()];
        let turn = &mass.angular;
        let trace = turn.x_axis.x + turn.y_axis.y + turn.z_axis.z;
        angular += trace;
        // tr(−[ρ]× Ŵ [ρ]×) = Σ over the axes of (ρ × e)ᵀ Ŵ (ρ × e)
        linear += 3.0 * mass.linear;
        for axis in DVec3::AXES {
            let lever = arm.cross(axis);
            linear += lever.dot(*turn * lever);
        }
    }
    let length = (linear / angular).sqrt();
    if length.is_finite() && length > 0.0 {
        length
    } else {
        1.0
    }
}

impl ContactProblem {
    /// Lists the contacts of other laws, with the couples that they start from.
    pub(super) fn find_other_laws<S: Scheme>(
        &mut self,
        record: &mut ContactRecord,
        parts: &Parts<S>,
    ) {
        self.others.clear();
        self.plain.clear();
        record.couples.clear();
        if parts.bodies.some_have_other_laws || parts.edits.some_have_other_laws() {
            self.list_other_laws(record, parts);
        }
    }

    #[inline(never)]
    fn list_other_laws<S: Scheme>(&mut self, record: &mut ContactRecord, parts: &Parts<S>) {
        let chosen = self.chosen_rows(record);
        let places = record.chosen.as_deref().unwrap_or(&record.found);
        let mut couples = Vec::new();
        let (mut others, mut plain) = (Vec::new(), Vec::new());
        for (row, (place, contact)) in places.iter().zip(&self.contacts).enumerate() {
            let index = chosen.map_or(row, |chosen| chosen[row] as usize);
            let law = parts.material(place, index);
            match OtherLaw::of(row as u32, &law, contact, parts.motion) {
                Some(other) => {
                    if couples.is_empty() {
                        couples.resize(self.contacts.len(), DVec3::ZERO);
                    }
                    let last = parts.last.as_ref();
                    let couple = last.and_then(|last| last.couple(place));
                    let couple = couple.unwrap_or_default();
                    couples[row] = contact.frame.transpose() * couple;
                    others.push(other);
                }
                None => plain.push(row as u32),
            }
        }
        record.couples = couples;
        (self.others, self.plain) = (others, plain);
    }

    /// Some contact has another law than Coulomb's.
    pub(super) fn has_other_laws(&self) -> bool {
        !self.others.is_empty()
    }

    /// Those of other laws, as the solve has them.
    pub(super) fn other_interactions(&self) -> impl Iterator<Item = Interaction> + '_ {
        let others = self.others.iter();
        others.map(|other| other.interaction(&self.contacts[other.row as usize]))
    }

    /// Adhesion of the rows as the solve has them, `between` others after the contacts; none if there is none.
    pub(super) fn pull_of_rows(&self, adhesion: &[f64], between: usize, pull: &mut Vec<f64>) {
        pull.clear();
        if adhesion.is_empty() {
            return;
        }
        let of = |row: &u32| adhesion[*row as usize];
        if self.has_other_laws() {
            pull.extend(self.plain.iter().map(of));
        } else {
            pull.extend_from_slice(adhesion);
        }
        pull.resize(pull.len() + between, 0.0);
        pull.extend(self.others.iter().map(|other| of(&other.row)));
    }

    /// A contact of another law touches the body.
    pub(super) fn other_laws_hold(&self, slot: Slot) -> bool {
        let mut others = self.others.iter();
        others.any(|other| {
            let bodies = self.contacts[other.row as usize].bodies;
            bodies.contains(&slot.0)
        })
    }

    /// The impulses of the rows of other laws.
    pub(super) fn other_rows<'a>(
        &'a self,
        (impulse, couples): (&'a [DVec3], &'a [DVec3]),
    ) -> impl Iterator<Item = DVec3> + 'a {
        self.others.iter().flat_map(|other| {
            let row = other.row as usize;
            other.rows(&self.contacts[row], impulse[row], couples[row])
        })
    }

    /// Takes the impulses of these rows back.
    pub(super) fn take_other_rows(&self, mut rows: &[f64], record: &mut ContactRecord) {
        for other in &self.others {
            let row = other.row as usize;
            let (own, rest) = rows.split_at(other.law.rows());
            let [r, couple] = other.back(&self.contacts[row], own);
            (record.impulse[row], record.couples[row]) = (r, couple);
            if let Some(friction) = other.friction(own) {
                record.friction[row] = friction;
            }
            rows = rest;
        }
    }

    /// The row of an interaction of the solve, which has plain contacts, then so many of joints and forces, then those of other laws.
    pub(super) fn row_of(&self, interaction: u32, between: usize) -> u32 {
        let index = interaction as usize;
        if let Some(row) = self.plain.get(index) {
            return *row;
        }
        let other = index.checked_sub(self.plain.len() + between);
        let other = other.and_then(|other| self.others.get(other));
        other.map_or(u32::MAX, |other| other.row)
    }
}

impl ContactRecord {
    /// The couple of a row on A, inertial frame, N·m·s.
    #[inline]
    pub(crate) fn couple(&self, row: usize, frame: &DMat3) -> DVec3 {
        match self.couples.get(row) {
            Some(couple) => *frame * *couple,
            None => DVec3::ZERO,
        }
    }
}

/// What a couple does to the body on one side.
pub(super) fn turned(mut push: Push, couple: DVec3, side: usize) -> Push {
    push.angular += if side == 0 { couple } else { -couple };
    push
}
