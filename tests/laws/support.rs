//! Names and small helpers that most laws need.

pub(crate) use bevy_ecs::entity::Entity;
pub(crate) use moreau::RotationUpdate;
pub(crate) use moreau::prelude::*;
pub(crate) use moreau::scene::Lcg;
pub(crate) use moreau_tests::*;

/// Of so many cases none is wrong; says which are.
#[track_caller]
pub(crate) fn none_of(count: usize, wrong: &[String]) {
    let (number, list) = (wrong.len(), wrong.join("\n"));
    assert!(wrong.is_empty(), "{number} of {count}:\n{list}");
}

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

/// Dynamic bodies of a simulation with their positions.
pub(crate) fn positions(simulation: &mut Simulation) -> Vec<(Entity, DVec3)> {
    simulation
        .world_mut()
        .query::<(Entity, &RigidBody, &Pose)>()
        .iter(simulation.world())
        .filter(|(_, kind, _)| **kind == RigidBody::Dynamic)
        .map(|(entity, _, pose)| (entity, pose.position))
        .collect()
}

/// Largest displacement (m) since `start`.
pub(crate) fn displacement(simulation: &Simulation, start: &[(Entity, DVec3)]) -> f64 {
    start
        .iter()
        .map(|(body, position)| (simulation.pose(*body).unwrap().position - position).length())
        .fold(0.0, f64::max)
}

/// A motor that holds a rate (m/s or rad/s) up to its effort (N or N·m).
pub(crate) fn motor(axis: JointAxis, velocity: f64, effort: f64) -> JointForces {
    JointForces(vec![JointForce::Motor {
        axis,
        position: 0.0,
        velocity,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort,
    }])
}

/// Uniform from `low` to 1.
pub(crate) fn part(lcg: &mut Lcg, low: f64) -> f64 {
    low + (1.0 - low) * lcg.uniform()
}

/// A unit vector, uniform over all.
pub(crate) fn unit(lcg: &mut Lcg) -> DVec3 {
    loop {
        let v = lcg.symmetric_vector();
        if (0.01..1.0).contains(&v.length_squared()) {
            return v.normalize();
        }
    }
}

/// A convex shape of any kind, or a compound of two, of about this size (m).
pub(crate) fn any_shape(lcg: &mut Lcg, size: f64) -> Shape {
    let [x, y, z] = [(); 3].map(|()| size * part(lcg, 0.1));
    let half_extents = DVec3::new(x, y, z);
    let cylinder = |half_height, radius| Shape::Cylinder {
        half_height,
        radius,
    };
    match lcg.uniform() {
        ..0.15 => Shape::Cuboid { half_extents },
        ..0.3 => cylinder(x, y),
        ..0.45 => Shape::Cone {
            half_height: x,
            radius: y,
        },
        ..0.6 => Shape::Capsule {
            half_height: x,
            radius: y,
        },
        ..0.8 => Shape::ConvexHull {
            points: (0..16).map(|_| unit(lcg) * size).collect(),
        },
        _ => {
            let bar = Shape::Cuboid {
                half_extents: half_extents * 0.6,
            };
            let parts = [cylinder(0.3 * x, y), bar].map(|shape| {
                let place = unit(lcg) * 0.3 * size;
                (moreau::geometry::Frame::new(place, lcg.rotation()), shape)
            });
            Shape::Compound {
                parts: parts.to_vec(),
            }
        }
    }
}
