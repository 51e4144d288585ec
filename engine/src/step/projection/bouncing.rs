//! Lifts that would give energy to bodies that bounce.

use super::contacts::{Limits, Overlap, deepest_of, tolerance};
use super::linearised::LEFT;
use crate::bodies::Bodies;
use crate::components::Twist;
use crate::interactions::detected::Detected;
use crate::interactions::law::coefficients;
use crate::settings::Settings;

/// Leaves overlaps of `contacts`, at the present poses, to the next step where a body bounces with `e = 1` on something that no impulse moves, a lift out of it would give the
/// body more energy than the step has taken from it, and the body goes on: by its centre along the normal, and by its turn, farther in another step than it overlaps. It gets
/// out of the overlap, or strikes again. With `e < 1` impacts take what lifts give. The deepest of these overlaps.
///
/// They come from the turn: a body that is struck turns through the whole step as it does after the impact, and other corners end in what it struck. Two bodies that are
/// moved apart keep their centre of mass, and their energy in gravity. Round bodies are lifted: what overlaps beside their axis would turn them about it.
pub(super) fn let_bounce(
    contacts: &mut [Detected],
    limits: &[Limits],
    bodies: &Bodies,
    settings: &Settings,
) -> Option<Overlap> {
    let mut deepest = None;
    if !bodies.some_bounce {
        return deepest;
    }
    for contact in contacts {
        let (least, depth) = (-tolerance(limits, contact), -contact.gap);
        if contact.gap >= least
            || coefficients(contact, bodies, settings).restitution < 1.0
            || !is_lift(contact, depth, bodies, settings)
            || !moves_on(contact, depth, bodies, settings.time_step)
        {
            continue;
        }
        deepest = deepest_of(deepest.into_iter().chain([(depth, contact.bodies)]));
        // As deep as the projection leaves it.
        contact.gap = LEFT * least;
    }
    deepest
}

/// To take away the overlap, of this depth (m), a turning body is moved against gravity, by itself, and gains more energy than it lost in this step.
fn is_lift(contact: &Detected, depth: f64, bodies: &Bodies, settings: &Settings) -> bool {
    let [a, b] = contact.bodies;
    let (slot, away) = match [a, b].map(|slot| bodies.is_awake_dynamic(slot)) {
        [true, false] => (a, contact.normal),
        [false, true] => (b, -contact.normal),
        _ => return false,
    };
    let body = &bodies.constants[slot];
    if body.is_round() || body.ball_radius().is_some() || bodies.forces_of(slot).is_some() {
        return false;
    }
    let inertia = &body.inertia;
    let weight = settings.gravity * (body.response.gravity.0 * inertia.mass);
    let kinetic = |twist: &Twist| {
        let linear = 0.5 * inertia.mass * twist.linear.length_squared();
        linear + inertia.rotational_energy(twist.angular)
    };
    let went = bodies.pose[slot].position - bodies.before.pose[slot].position;
    let gained =
        kinetic(&bodies.twist[slot]) - kinetic(&bodies.before.twist[slot]) - weight.dot(went);
    let lift = -weight.dot(away) * depth;
    lift > 0.0 && gained + lift > 0.0
}

/// The bodies go farther than `depth` (m) in a time `h`, s, with their centres along the normal and by turning.
fn moves_on(contact: &Detected, depth: f64, bodies: &Bodies, h: f64) -> bool {
    let [a, b] = contact.bodies.map(|slot| {
        let (pose, twist) = (&bodies.pose[slot], &bodies.twist[slot]);
        let (linear, angular) = twist.in_inertial_frame(pose.orientation);
        let arm = contact.point - pose.position;
        (contact.normal.dot(linear), angular.length() * arm.length())
    });
    h * ((a.0 - b.0).abs() + a.1 + b.1) > depth
}
