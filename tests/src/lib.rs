//! What the suites share: settings, and quantities of a simulation that laws speak of.

use bevy_ecs::entity::Entity;
use glam::{DQuat, DVec3};
use moreau::prelude::*;

/// Gravity of every scene that has it, m/s².
pub const G: f64 = 9.81;

/// [`Accuracy::Reference`] on one thread: what laws are compared with closed forms by.
#[must_use]
pub fn reference() -> Settings {
    Settings {
        accuracy: Accuracy::Reference,
        threads: 1,
        ..Settings::default()
    }
}

/// [`reference()`] without gravity.
#[must_use]
pub fn weightless() -> Settings {
    Settings {
        gravity: DVec3::ZERO,
        ..reference()
    }
}

/// A unit quaternion that turns by `angle` (rad) about `axis` (unit).
#[must_use]
pub fn turn(axis: DVec3, angle: f64) -> DQuat {
    moreau::rotation::exp(axis * angle)
}

/// Mass and inertia of a body, if it is there.
#[must_use]
pub fn mass(simulation: &Simulation, body: Entity) -> Option<Mass> {
    simulation.world().get::<Mass>(body).copied()
}

/// Linear momentum `Σ m v`, N·s, of the given dynamic bodies.
#[must_use]
pub fn linear_momentum(simulation: &Simulation, bodies: &[Entity]) -> DVec3 {
    bodies
        .iter()
        .filter_map(|body| Some(simulation.twist(*body)?.linear * mass(simulation, *body)?.mass()))
        .sum()
}

/// Spin `R 𝕀 Ω` of one body, inertial frame, kg·m²/s.
#[must_use]
pub fn spin(simulation: &Simulation, body: Entity) -> Option<DVec3> {
    let (pose, twist) = (simulation.pose(body)?, simulation.twist(body)?);
    let mass = mass(simulation, body)?;
    let frame = mass.principal_frame();
    let principal = frame.conjugate() * twist.angular;
    Some(pose.orientation * (frame * (mass.principal_inertia() * principal)))
}

/// Kinetic energy of one body, J.
#[must_use]
pub fn kinetic_energy(simulation: &Simulation, body: Entity) -> Option<f64> {
    let twist = simulation.twist(body)?;
    let mass = mass(simulation, body)?;
    let principal = mass.principal_frame().conjugate() * twist.angular;
    let rotation = principal.dot(mass.principal_inertia() * principal);
    Some(0.5 * (mass.mass() * twist.linear.length_squared() + rotation))
}

/// Sum of the impulses (N·s, inertial frame) that the contacts of the last step gave to `body`.
#[must_use]
pub fn impulse_on(simulation: &Simulation, body: Entity) -> DVec3 {
    simulation
        .contacts()
        .iter()
        .map(|contact| {
            let impulse = contact.frame * contact.impulse;
            if contact.entities[0] == body {
                impulse
            } else if contact.entities[1] == body {
                -impulse
            } else {
                DVec3::ZERO
            }
        })
        .sum()
}
