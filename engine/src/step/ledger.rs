//! Where the energy of a step went.
//!
//! With the solved velocity `v_s = v_free + M⁻¹GᵀP`, `v̄ = (v_k + v_s)/2` and `ū` the contact velocity it gives, the step satisfies
//!
//! ```text
//! ΔK  = h m g·v̄  +  h f·v̄ + h m_ext·Ω̄  +  Σ P·ū  +  (K(Ω_{k+1}) − K(Ω_s))
//! ΔE_p = −m g·Δx
//! ```
//!
//! exactly: `M (v_s − v_k) = h F + GᵀP`, and the last term is what the free rotation changes, which keeps the angular momentum.
//! `Σ P·ū` is split into its normal part (impacts, and adhesion that is overcome) and its tangential part (friction); a driven boundary adds its own work to the external one.
//! `Δx ≠ h v̄` where θ ≠ ½ and where projection moved a body: that difference is the drift's work.
//! What the five terms leave of `ΔK + ΔE_p` is rounding. Bodies that fall asleep at the end of the step lose
//! what kinetic energy they have left; asleep they keep their potential energy.

use super::momentum::left_by_forces;
use crate::bodies::Bodies;
use crate::bodies::constants::BodyConstants;
use crate::bodies::slot::{Slot, Slots};
use crate::components::{RigidBody, Twist};
use crate::interactions::record::ContactRecord;
use crate::joints::{JointPush, Push};
use crate::math::chunks;
use crate::motion::Motion;
use crate::results::energy::EnergyLedger;
use crate::settings::Settings;
use glam::DVec3;
use moreau_solvers::{Contact, WorldTwist};

/// The bookkeeping of a step.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// `v̄` of each body, inertial frame; zero at rest.
    mean: Vec<WorldTwist>,
    /// Of the bodies, when the entries of those at rest were written.
    epoch: u64,
    /// Potential energy of the bodies that sleep, J.
    asleep: f64,
}

/// A part of the sums of a step.
#[derive(Clone, Copy, Default)]
struct Sums {
    ledger: EnergyLedger,
    /// `ΔK + ΔE_p`.
    change: f64,
    /// Driven boundaries are among the bodies.
    driven: bool,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        let (a, b) = (&self.ledger, &other.ledger);
        let ledger = EnergyLedger {
            kinetic: a.kinetic + b.kinetic,
            potential: a.potential + b.potential,
            work_external: a.work_external + b.work_external,
            work_friction: a.work_friction + b.work_friction,
            work_impact: a.work_impact + b.work_impact,
            work_joints: 0.0,
            work_drives: 0.0,
            work_drift: a.work_drift + b.work_drift,
            work_gyroscopic: a.work_gyroscopic + b.work_gyroscopic,
            work_sleep: 0.0,
            energy_gap: 0.0,
        };
        Self {
            ledger,
            change: self.change + other.change,
            driven: self.driven || other.driven,
        }
    }
}

impl Ledger {
    /// The ledger of a step that led to the state in `bodies`. Writes the impulses of `record` in the inertial frame
    /// too, and what forces leave of the change of each momentum into `defect`.
    pub(crate) fn balance(
        &mut self,
        (bodies, motion): (&Bodies, &Motion),
        (contacts, (joints, rotors)): (&[Contact], (&[JointPush], [f64; 2])),
        record: &mut ContactRecord,
        defect: &mut Vec<DVec3>,
        settings: &Settings,
    ) -> EnergyLedger {
        let ContactRecord {
            impulse,
            adhesion,
            couples,
            carried,
            carried_couples,
            end,
            ..
        } = record;
        if self.epoch != bodies.epoch {
            self.epoch = bodies.epoch;
            self.mean.clear();
            self.mean.resize(bodies.len(), WorldTwist::default());
            let asleep = bodies.slots().filter(|slot| bodies.is_asleep(*slot));
            self.asleep = asleep.map(|slot| potential(bodies, slot, settings)).sum();
        }
        defect.resize(bodies.len(), DVec3::ZERO);
        let work = |part: Slots<'_, (&mut [WorldTwist], &mut [DVec3])>| {
            let rows = part.each();
            let (mean, defect) = part.columns;
            let mut sums = Sums::default();
            for (slot, row) in rows {
                mean[row] = mean_twist(motion, &end[slot], slot);
                defect[row] = left_by_forces(slot, bodies, settings);
                match bodies.constants[slot].kind {
                    RigidBody::Dynamic => {
                        add_body(&mut sums, (slot, &end[slot]), bodies, motion, settings);
                    }
                    RigidBody::Kinematic => sums.driven = true,
                    RigidBody::Static => {}
                }
            }
            sums
        };
        let moving = Slots::of(&bodies.moving, (&mut self.mean[..], &mut defect[..]));
        let of_bodies = chunks::fold(moving, &work, &Sums::plus);
        let mean = &self.mean;
        let driven = of_bodies.driven.then_some(&bodies.constants[..]);
        let work = |(contacts, impulse, carried): (&[Contact], &[DVec3], &mut [DVec3])| {
            let mut sums = Sums::default();
            for ((contact, r), p) in contacts.iter().zip(impulse).zip(carried) {
                let impulse = contact.frame * *r;
                *p = impulse;
                if *r != DVec3::ZERO {
                    add_contact(&mut sums.ledger, contact, [*r, impulse], mean, driven);
                }
            }
            sums
        };
        carried.resize(impulse.len(), DVec3::ZERO);
        let rows = (contacts, &impulse[..], &mut carried[..]);
        let all = of_bodies.plus(chunks::fold(rows, &work, &Sums::plus));
        let mut ledger = all.ledger;
        // `r = r' − (a, 0, 0)`
        for ((contact, a), carried) in contacts.iter().zip(&*adhesion).zip(carried) {
            let r = DVec3::X * -*a;
            let p = contact.frame * r;
            *carried += p;
            add_contact(&mut ledger, contact, [r, p], mean, driven);
        }
        ledger.potential += self.asleep;
        carried_couples.clear();
        for (contact, couple) in contacts.iter().zip(&*couples) {
            let couple = contact.frame * *couple;
            carried_couples.push(couple);
            add_couple(&mut ledger, contact, couple, mean, driven);
        }
        for push in joints {
            let work = |of: &Push| {
                let mean = &self.mean[push.slot];
                of.linear.dot(mean.linear) + of.angular.dot(mean.angular)
            };
            ledger.work_joints += work(&push.locked);
            ledger.work_drives += work(&push.driven);
            ledger.work_external += work(&push.dragged);
            defect[push.slot] -= push.locked.linear + push.driven.linear + push.dragged.linear;
        }
        // What accelerates rotors is theirs: they have the energy that their joints take from the bodies.
        ledger.kinetic += rotors[1];
        ledger.work_joints += rotors[1] - rotors[0];
        let change = all.change + rotors[1] - rotors[0];
        let accounted = ledger.work_external
            + ledger.work_friction
            + ledger.work_impact
            + ledger.work_joints
            + ledger.work_drives
            + ledger.work_drift
            + ledger.work_gyroscopic;
        ledger.energy_gap = change - accounted;
        ledger
    }
}

impl Ledger {
    /// Forces also did this, of which the ledger knows what is not angular.
    pub(crate) fn add_late(
        &self,
        late: impl Iterator<Item = (Slot, Push)>,
        energy: &mut EnergyLedger,
    ) {
        for (slot, push) in late {
            let work = push.angular.dot(self.mean[slot].angular);
            energy.work_external += work;
            energy.energy_gap -= work;
        }
    }
}

/// `v̄` of a moving body.
fn mean_twist(motion: &Motion, end: &WorldTwist, slot: Slot) -> WorldTwist {
    let begin = &motion.begin[slot];
    WorldTwist {
        linear: (begin.linear + end.linear) * 0.5,
        angular: (begin.angular + end.angular) * 0.5,
    }
}

/// Potential energy of a body in gravity, J.
fn potential(bodies: &Bodies, slot: Slot, settings: &Settings) -> f64 {
    let body = &bodies.constants[slot];
    let gravity = settings.gravity * body.response.gravity.0;
    -(body.inertia.mass * gravity.dot(bodies.pose[slot].position))
}

/// Energies of a dynamic body, and the work of what acts on it beside contacts.
#[inline]
fn add_body(
    sums: &mut Sums,
    (slot, end): (Slot, &WorldTwist),
    bodies: &Bodies,
    motion: &Motion,
    settings: &Settings,
) {
    let body = &bodies.constants[slot];
    let (h, gravity) = (
        settings.time_step,
        settings.gravity * body.response.gravity.0,
    );
    let inertia = &body.inertia;
    let (wrench, drift) = (bodies.acting(slot), &motion.drift[slot]);
    let (old, new) = (&bodies.before.twist[slot], &bodies.twist[slot]);
    let linear = |twist: &Twist| 0.5 * inertia.mass * twist.linear.length_squared();
    let old_spin = inertia.rotational_energy(old.angular);
    let kinetic = linear(new) + inertia.rotational_energy(new.angular);
    let displacement = bodies.pose[slot].position - bodies.before.pose[slot].position;
    let fall = -inertia.mass * gravity.dot(displacement);
    let mean = (old.linear + new.linear) * 0.5;
    let ledger = &mut sums.ledger;
    ledger.kinetic += kinetic;
    ledger.potential += potential(bodies, slot, settings);
    ledger.work_external += h * wrench.force.dot(mean);
    let solved = bodies.before.pose[slot].orientation.conjugate() * end.angular;
    if drift.kick != DVec3::ZERO {
        ledger.work_external += inertia.times(drift.kick).dot((old.angular + solved) * 0.5);
    }
    if body.response.has_drag() {
        let drag = body.response.drag;
        let spin = inertia.times(solved).dot((old.angular + solved) * 0.5);
        ledger.work_external -=
            h * (drag.linear * inertia.mass * new.linear.dot(mean) + drag.angular * spin);
    }
    ledger.work_drift += fall + inertia.mass * h * gravity.dot(mean);
    ledger.work_gyroscopic +=
        inertia.rotational_energy(new.angular) - inertia.rotational_energy(solved);
    sums.change += kinetic - (linear(old) + old_spin) + fall;
}

/// The same of the couple of a contact, inertial frame: friction.
fn add_couple(
    ledger: &mut EnergyLedger,
    contact: &Contact,
    couple: DVec3,
    mean: &[WorldTwist],
    driven: Option<&[BodyConstants]>,
) {
    let [a, b] = contact.bodies.map(|slot| slot as usize);
    let [of_a, of_b] = [a, b].map(|slot| couple.dot(mean[slot].angular));
    ledger.work_friction += of_a - of_b;
    let Some(constants) = driven else {
        return;
    };
    if constants[a].kind == RigidBody::Kinematic {
        ledger.work_external -= of_a;
    }
    if constants[b].kind == RigidBody::Kinematic {
        ledger.work_external += of_b;
    }
}

/// `P·ū` of a contact by parts, `P` in its frame and in the inertial one. Where bodies are `driven`
/// (then given by their constants), also their work.
#[inline(always)]
fn add_contact(
    ledger: &mut EnergyLedger,
    contact: &Contact,
    [r, p]: [DVec3; 2],
    mean: &[WorldTwist],
    driven: Option<&[BodyConstants]>,
) {
    let [a, b] = contact.bodies.map(|slot| slot as usize);
    let u_a = mean[a].at(contact.arms[0]);
    let u_b = mean[b].at(contact.arms[1]);
    let (frame, u) = (&contact.frame, u_a - u_b);
    ledger.work_impact += r.x * frame.x_axis.dot(u);
    ledger.work_friction += r.y * frame.y_axis.dot(u) + r.z * frame.z_axis.dot(u);
    let Some(constants) = driven else {
        return;
    };
    if constants[a].kind == RigidBody::Kinematic {
        ledger.work_external -= p.dot(u_a);
    }
    if constants[b].kind == RigidBody::Kinematic {
        ledger.work_external += p.dot(u_b);
    }
}
