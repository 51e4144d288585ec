//! Where the energy of a step went.
//!
//! With `v̄ = (v_begin + v_{k+1})/2` and `ū` the contact velocity it gives, the step satisfies
//!
//! ```text
//! ΔK  = h m g·v̄  +  h f·v̄ + h m_ext·Ω̄  +  Σ P·ū  +  (K(Ω_begin) − K(Ω_k))
//! ΔE_p = −m g·Δx
//! ```
//!
//! exactly: `M (v_{k+1} − v_begin) = h F + GᵀP` with `Ω_begin = Ω_free − 𝕀⁻¹ h m_ext`, the angular
//! velocity after the torque-free rotation. `Σ P·ū` is split into its normal part (impacts) and its
//! tangential part (friction); a driven boundary adds its own work to the external one.
//! `Δx ≠ h v̄` where θ ≠ ½ and where projection moved a body: that difference is the drift's work.
//! What the five terms leave of `ΔK + ΔE_p` is rounding.

use crate::assembly::ContactProblem;
use crate::bodies::Bodies;
use crate::motion::Motion;
use crate::settings::Settings;
use crate::{Pose, RigidBody, Twist};
use glam::DVec3;
use moreau_solvers::WorldTwist;
use serde::{Deserialize, Serialize};

/// Energies at the end of a step and the work done during it, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyLedger {
    /// Kinetic energy of the dynamic bodies at `t_{k+1}`.
    pub kinetic: f64,
    /// Potential energy in gravity at `t_{k+1}`, zero at the origin.
    pub potential: f64,
    /// Work of external wrenches and of driven boundaries.
    pub work_external: f64,
    /// Work of tangential contact impulses, ≤ 0 against fixed ground.
    pub work_friction: f64,
    /// Work of normal contact impulses.
    pub work_impact: f64,
    /// Potential energy gained because a position moved otherwise than with the mean velocity:
    /// θ ≠ ½, and projection.
    pub work_drift: f64,
    /// Error of the torque-free rotation's splitting, O(h²) and bounded over time.
    pub work_gyroscopic: f64,
    /// What is left over: rounding.
    pub energy_gap: f64,
}

impl EnergyLedger {
    /// Kinetic plus potential energy, J.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Adds the work of `step` and takes over its energies.
    pub fn accumulate(&mut self, step: &Self) {
        *self = Self {
            kinetic: step.kinetic,
            potential: step.potential,
            work_external: self.work_external + step.work_external,
            work_friction: self.work_friction + step.work_friction,
            work_impact: self.work_impact + step.work_impact,
            work_drift: self.work_drift + step.work_drift,
            work_gyroscopic: self.work_gyroscopic + step.work_gyroscopic,
            energy_gap: self.energy_gap + step.energy_gap,
        };
    }
}

/// State of the bodies at `t_k`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateBefore<'a> {
    pub(crate) pose: &'a [Pose],
    pub(crate) twist: &'a [Twist],
}

/// The ledger of a step that led from `before` to the state in `bodies`.
pub(crate) fn ledger(
    before: StateBefore,
    bodies: &Bodies,
    motion: &Motion,
    problem: &ContactProblem,
    settings: &Settings,
) -> EnergyLedger {
    let (h, gravity) = (settings.time_step, settings.gravity);
    let mut ledger = EnergyLedger::default();
    let mut change = 0.0;
    for (slot, body) in bodies.constants.iter().enumerate() {
        if !body.is_dynamic() {
            continue;
        }
        let (inertia, wrench, drift) = (&body.inertia, &bodies.wrench[slot], &motion.drift[slot]);
        let (old, new) = (&before.twist[slot], &bodies.twist[slot]);
        let old_spin = inertia.rotational_energy(old.angular);
        let kinetic = |twist: &Twist| {
            0.5 * inertia.mass * twist.linear.length_squared()
                + inertia.rotational_energy(twist.angular)
        };
        let displacement = bodies.pose[slot].position - before.pose[slot].position;
        let fall = -inertia.mass * gravity.dot(displacement);
        let mean = (old.linear + new.linear) * 0.5;
        let begin = drift.twist.angular - drift.kick;
        let moment = inertia.frame * (inertia.moments * (inertia.frame.conjugate() * drift.kick));
        ledger.kinetic += kinetic(new);
        ledger.potential -= inertia.mass * gravity.dot(bodies.pose[slot].position);
        ledger.work_external +=
            h * wrench.force.dot(mean) + moment.dot((begin + new.angular) * 0.5);
        ledger.work_drift += fall + inertia.mass * h * gravity.dot(mean);
        ledger.work_gyroscopic += inertia.rotational_energy(begin) - old_spin;
        change += kinetic(new) - kinetic(old) + fall;
    }
    add_contact_work(&mut ledger, bodies, motion, problem);
    let accounted = ledger.work_external
        + ledger.work_friction
        + ledger.work_impact
        + ledger.work_drift
        + ledger.work_gyroscopic;
    ledger.energy_gap = change - accounted;
    ledger
}

/// `Σ P·ū` by parts, and the work of driven boundaries.
fn add_contact_work(
    ledger: &mut EnergyLedger,
    bodies: &Bodies,
    motion: &Motion,
    problem: &ContactProblem,
) {
    let mean = |slot: usize| {
        let (end, drift) = (&motion.end[slot], &motion.drift[slot]);
        // Body-frame kicks act at the drifted orientation, like the impulses.
        let kick = drift.orientation * drift.kick;
        WorldTwist {
            linear: (motion.begin[slot].linear + end.linear) * 0.5,
            angular: (motion.free[slot].angular - kick + end.angular) * 0.5,
        }
    };
    for (contact, r) in problem.contacts.iter().zip(&problem.impulse) {
        if *r == DVec3::ZERO {
            continue;
        }
        let [a, b] = contact.bodies.map(|slot| slot as usize);
        let (mean_a, mean_b) = (mean(a), mean(b));
        let u = contact.local_velocity(&mean_a, &mean_b);
        ledger.work_impact += r.x * u.x;
        ledger.work_friction += r.y * u.y + r.z * u.z;
        let p = contact.frame * *r;
        for (slot, twist, arm, sign) in [
            (a, mean_a, contact.arms[0], -1.0),
            (b, mean_b, contact.arms[1], 1.0),
        ] {
            if bodies.constants[slot].kind == RigidBody::Kinematic {
                ledger.work_external += sign * p.dot(twist.at(arm));
            }
        }
    }
}
