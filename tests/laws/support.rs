//! Names and small helpers that most laws need.

pub(crate) use bevy_ecs::entity::Entity;
pub(crate) use moreau::RotationUpdate;
pub(crate) use moreau::prelude::*;
pub(crate) use moreau::scene::Lcg;
pub(crate) use moreau_tests::*;

/// Angle (rad) of the rotation that leads from `a` to `b`, accurate near zero.
pub(crate) fn angle_between(a: DQuat, b: DQuat) -> f64 {
    let q = a.conjugate() * b;
    2.0 * libm::atan2(DVec3::new(q.x, q.y, q.z).length(), q.w.abs())
}

/// A static half-space `z ≤ 0` of the given material.
pub(crate) fn ground(simulation: &mut Simulation, material: Material) -> Entity {
    simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z), material))
        .unwrap()
}

/// Six static half-spaces around the cube `±half` (m).
pub(crate) fn closed_box(simulation: &mut Simulation, half: f64, material: Material) {
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for side in [axis, -axis] {
            simulation
                .spawn((
                    RigidBody::Static,
                    Collider::half_space(-side),
                    material,
                    Pose::from_position(side * half),
                ))
                .unwrap();
        }
    }
}
