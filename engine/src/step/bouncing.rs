//! Bodies that bounce, and the overlaps that they are left in [docs/theory.md §11].
//!
//! A body that is struck turns through the whole step as it does after the impact, and other corners end in what it struck. A lift out of that gives the body the energy of the height,
//! and nothing takes it back where impacts take little. By itself the body gets out of the overlap in the next step, or strikes again.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::Twist;
use crate::interactions::detected::Detected;
use crate::interactions::law::coefficients;
use crate::settings::Settings;
use glam::DVec3;
use moreau_solvers::WorldTwist;

/// The least `e` of what bounces. With less, impacts pay for most lifts; bodies that are left in overlaps come to rest in them, and gain as much when they are lifted then
/// (docs/experiments.md).
const LEAST: f64 = 0.95;

/// A body that bounces by itself on something that no impulse moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bouncing {
    pub(crate) slot: Slot,
    /// The normal towards it.
    pub(crate) away: DVec3,
    /// Speed at which the part of it at the contact goes on: of its centre along the normal, and by the turn, in whatever direction that will be, m/s.
    speed: f64,
}

impl Bouncing {
    /// The body of a contact with this `e`, with the centre (m) and the velocity that it has.
    pub(crate) fn of(
        contact: &Detected,
        e: f64,
        (bodies, settings): (&Bodies, &Settings),
        state: impl FnOnce(Slot) -> (DVec3, WorldTwist),
    ) -> Option<Self> {
        if e < LEAST {
            return None;
        }
        let [a, b] = contact.bodies;
        let (slot, away) = match [a, b].map(|slot| bodies.is_awake_dynamic(slot)) {
            [true, false] => (a, contact.normal),
            [false, true] => (b, -contact.normal),
            _ => return None,
        };
        let (centre, twist) = state(slot);
        let arm = contact.point - centre;
        // Balls end in no overlap by their turn, and what is on a stiff spring is moved by that. A body whose centre has passed the surface may get out on the other side.
        if bodies.constants[slot].ball_radius().is_some()
            || bodies.forces_of(slot).is_some()
            || away.dot(arm) >= 0.0
        {
            return None;
        }
        let turn = twist.angular - bodies.spin(slot, twist.angular);
        let speed = away.dot(twist.linear).abs() + turn.cross(away).length() * arm.length();
        (speed > settings.bounce_threshold()).then_some(Self { slot, away, speed })
    }

    /// How far it goes on in another step, m.
    pub(crate) fn way(&self, settings: &Settings) -> f64 {
        settings.time_step * self.speed
    }
}

/// How much deeper than the tolerance a contact may stay after the step, m: where a body that bounces would get more energy by a lift than the step has taken from it, as deep as it goes on.
pub(crate) fn left_to_bounce(contact: &Detected, bodies: &Bodies, settings: &Settings) -> f64 {
    if !bodies.some_bounce {
        return 0.0;
    }
    let state = |slot: Slot| {
        let (pose, twist) = (&bodies.pose[slot], &bodies.twist[slot]);
        let (linear, angular) = twist.in_inertial_frame(pose.orientation);
        (pose.position, WorldTwist { linear, angular })
    };
    let e = coefficients(contact, bodies, settings).restitution;
    let Some(body) = Bouncing::of(contact, e, (bodies, settings), state) else {
        return 0.0;
    };
    let slot = body.slot;
    let constants = &bodies.constants[slot];
    let inertia = &constants.inertia;
    let weight = settings.gravity * (constants.response.gravity.0 * inertia.mass);
    let lift = -weight.dot(body.away);
    if lift <= 0.0 {
        return 0.0;
    }
    let kinetic = |twist: &Twist| {
        let linear = 0.5 * inertia.mass * twist.linear.length_squared();
        linear + inertia.rotational_energy(twist.angular)
    };
    let went = bodies.pose[slot].position - bodies.before.pose[slot].position;
    let taken =
        kinetic(&bodies.before.twist[slot]) - kinetic(&bodies.twist[slot]) + weight.dot(went);
    // Height that it may be lifted by, m.
    let paid = taken.max(0.0) / lift;
    if paid >= (-contact.gap).max(settings.projection.tolerance) {
        0.0
    } else {
        (body.way(settings) - paid).max(0.0)
    }
}
