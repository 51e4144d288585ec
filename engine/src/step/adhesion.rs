//! Adhesion: a force that holds two bodies together as long as they touch [docs/theory.md §4].
//!
//! The law of a contact that holds up to the impulse `a = hF` is Coulomb's on a shifted set, `C = K_μ − (a, 0, 0)`. With `r' = r + (a, 0, 0)` it is Coulomb's
//! law for `r'`:
//!
//! ```text
//! u = W r + q = W r' + q',    q' = q − W (a, 0, 0):      v_free' = v_free − M⁻¹ Gᵀ (a, 0, 0)
//! 0 ≤ u_N + s ⊥ r'_N ≥ 0,    ‖r'_T‖ ≤ μ r'_N
//! ```
//!
//! So adhesion is a pair of forces on the two bodies along the normal, which the free motion of the solve has, and contacts that push with `r'`. A contact that
//! is pulled (`r_N < 0`) and closed has `r'_N > 0` like any other: it holds, it sticks, and its bodies rest. Records hold `r'`; what is told to
//! users, the ledger and the balance of momentum have `r`.
//!
//! Bodies touch where their gap is within the tolerance of events, 1e-4 of the half-thickness of the thinner one, and what curved ways part in a step:
//!
//! ```text
//! g_N ≤ ε + 2h² ( |ω_A|² R_A + |ω_B|² R_B + |u_T|²/(R_A + R_B) )
//! ```
//!
//! a function of the state alone. Without the second part, four times what a step parts, two balls that turn about each other would leave along their tangents:
//! that what holds them has to be `m ω² R` is known to first order in `h`. Adhesion acts over
//! that way, and takes the energy `F` times it to be overcome. Of the points at which two bodies touch each takes an equal share of the force that its
//! materials say. A force has no impulse at an instant: it acts in the first stage of a step, and impacts that follow know nothing of it.

use super::assembly::{ContactProblem, Parts};
use crate::bodies::constants::BodyConstants;
use crate::detection::path;
use crate::interactions::detected::Detected;
use crate::interactions::record::ContactRecord;
use crate::motion::Motion;
use crate::motion::scheme::Scheme;
use glam::DVec3;
use moreau_solvers::WorldTwist;

/// The share of every row in the adhesion of its bodies, N·s; none if nothing is held.
pub(super) fn find<S: Scheme>(
    record: &mut ContactRecord,
    chosen: Option<&[u32]>,
    parts: &Parts<S>,
) {
    let mut adhesion = std::mem::take(&mut record.adhesion);
    adhesion.clear();
    let is_first = parts.impacts.begin_of_stage().is_none();
    if is_first && (parts.bodies.some_cohere || parts.edits.some_cohere()) {
        share(record, chosen, parts, &mut adhesion);
    }
    record.adhesion = adhesion;
}

#[inline(never)]
fn share<S: Scheme>(
    record: &ContactRecord,
    chosen: Option<&[u32]>,
    parts: &Parts<S>,
    adhesion: &mut Vec<f64>,
) {
    let places = record.places();
    let mut begin = 0;
    while let Some(first) = places.get(begin) {
        let pair = first.bodies;
        let of_pair = places[begin..].iter().take_while(|at| at.bodies == pair);
        let reach = reach(first, parts);
        let touches = |gap: f64| gap <= reach;
        let (count, touching) = of_pair.fold((0, 0), |(count, touching), at| {
            (count + 1, touching + usize::from(touches(at.gap)))
        });
        for (row, place) in (begin..).zip(&places[begin..begin + count]) {
            let force = if touches(place.gap) {
                let index = chosen.map_or(row, |chosen| chosen[row] as usize);
                parts.material(place, index).cohesion
            } else {
                0.0
            };
            adhesion.push(parts.settings.time_step * force / touching.max(1) as f64);
        }
        begin += count;
    }
    if adhesion.iter().all(|a| *a <= 0.0) {
        adhesion.clear();
    }
}

/// The gap up to which a pair touches, m.
fn reach<S: Scheme>(first: &Detected, parts: &Parts<S>) -> f64 {
    let pair = first.bodies;
    let [a, b] = pair.map(|slot| &parts.bodies.constants[slot]);
    let twists = pair.map(|slot| &parts.motion.begin[slot]);
    let arms = first.arms_to_point(parts.motion.centres());
    let [u_a, u_b] = [0, 1].map(|side| twists[side].at(arms[side]));
    let along = (u_a - u_b).reject_from_normalized(first.normal);
    let turning = |body: &BodyConstants, twist: &WorldTwist| {
        let square = twist.angular.length_squared();
        // What has no bounds does not turn.
        if square > 0.0 {
            square * body.radius
        } else {
            0.0
        }
    };
    let bends = turning(a, twists[0])
        + turning(b, twists[1])
        + along.length_squared() / (a.radius + b.radius);
    let h = parts.settings.time_step;
    path::tolerance([a, b]) + 2.0 * h * h * bends
}

impl ContactProblem {
    /// Works out the free twists with the adhesion of a record.
    pub(super) fn pull(&mut self, record: &ContactRecord, motion: &Motion, free: &[WorldTwist]) {
        self.pulled.clear();
        if record.adhesion.is_empty() {
            return;
        }
        self.pulled.extend_from_slice(free);
        for (contact, a) in self.contacts.iter().zip(&record.adhesion) {
            if *a <= 0.0 {
                continue;
            }
            let towards = contact.frame.x_axis * *a;
            for (side, p) in [(0, -towards), (1, towards)] {
                let slot = contact.bodies[side] as usize;
                let mass = &motion.inverse_mass[slot];
                if !mass.is_fixed() {
                    self.pulled[slot].linear += p * mass.linear;
                    self.pulled[slot].angular += mass.angular * contact.arms[side].cross(p);
                }
            }
        }
    }

    /// The solve has another problem than the contacts alone under the free motion of the step.
    pub(super) fn is_changed(&self) -> bool {
        !self.pulled.is_empty() || self.has_other_laws()
    }

    /// The free twists of a solve: those of the stage, with adhesion.
    pub(super) fn free<'a>(&'a self, of_stage: &'a [WorldTwist]) -> &'a [WorldTwist] {
        if self.pulled.is_empty() {
            of_stage
        } else {
            &self.pulled
        }
    }
}

impl ContactRecord {
    /// `a` of a row, N·s.
    #[inline]
    pub(crate) fn adhesion(&self, row: usize) -> f64 {
        self.adhesion.get(row).copied().unwrap_or_default()
    }

    /// `r` of a row, contact frame, N·s.
    #[inline]
    pub(crate) fn true_impulse(&self, row: usize) -> DVec3 {
        self.impulse[row] - DVec3::X * self.adhesion(row)
    }
}
