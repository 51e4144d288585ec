//! **Law.** What jaws on slides squeeze hangs still as long as friction can carry it.
//!
//! A slide keeps its jaw from turning, so that the shares of a contact's points are open as they are under a face of large inertia: all of the
//! load at one end of each line is a solution of the step, too, under which the object swings about these ends. The spread one is to be taken,
//! as in `grasp.rs`, with the tolerances of that page.

use crate::support::*;

const MU: f64 = 0.5;
const GRAVITY: f64 = 9.81;
const MASS: f64 = 10.0;
const RADIUS: f64 = 0.05;
const JAW: f64 = 0.02;

/// How far the object moves in 3 s, m, between two jaws that push along `x` with `margin` times the force that just carries it, and whether all
/// steps converged. Its weight acts at `angle` from `−z` to `y`.
fn moves(object: &Collider, jaw_mass: f64, angle: f64, margin: f64) -> (f64, bool) {
    let (sin, cos) = libm::sincos(angle);
    let settings = Settings {
        gravity: DVec3::new(0.0, sin, -cos) * GRAVITY,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let material = Material::with_friction(MU);
    let object = (
        RigidBody::Dynamic,
        object.clone(),
        Mass::scaled_to(MASS),
        material,
    );
    let object = simulation.spawn(object).unwrap();
    for side in [-1.0, 1.0] {
        let at = DVec3::X * (side * (RADIUS + JAW));
        let jaw = (
            RigidBody::Dynamic,
            Collider::cuboid(JAW, 0.05, 0.03),
            Mass::scaled_to(jaw_mass),
            material,
            Pose::from_position(at),
        );
        let jaw = simulation.spawn(jaw).unwrap();
        let slide = Joint::to_world(jaw, JointKind::Prismatic).at(at, DVec3::X * -side);
        let force = JointForce::Applied {
            axis: JointAxis::Z,
            effort: margin * MASS * GRAVITY / (2.0 * MU),
        };
        let forces = JointForces(vec![force]);
        simulation.spawn_joint(slide, forces).unwrap();
    }
    let (mut moved, mut converged): (f64, bool) = (0.0, true);
    for _ in 0..600 {
        converged &= simulation.step().unwrap().converged;
        let pose = simulation.pose(object).unwrap();
        let turned = angle_between(DQuat::IDENTITY, pose.orientation);
        moved = moved.max(pose.position.length() + RADIUS * turned);
    }
    (moved, converged)
}

/// By lines of two points, with its axis upright; the weight is across the axis, along it, and between.
#[test]
fn jaws_on_slides_hold_a_cylinder_by_its_lines() {
    let mut fell = Vec::new();
    let objects = [
        ("cylinder", Collider::cylinder(0.06, RADIUS)),
        ("short cylinder", Collider::cylinder(0.02, RADIUS)),
        ("capsule", Collider::capsule(0.04, RADIUS)),
        ("cube", Collider::cuboid(RADIUS, RADIUS, 0.06)),
    ];
    for (name, object) in &objects {
        for jaw_mass in [1e-2, 1.0] {
            for angle in [0.0, 0.5, 1.0, std::f64::consts::FRAC_PI_2] {
                for margin in [1.1, 10.0] {
                    let (moved, converged) = moves(object, jaw_mass, angle, margin);
                    println!(
                        "{name}, jaws of {jaw_mass} kg, {angle:.1} rad, {margin} times: {moved:.1e} m"
                    );
                    if moved > 1e-3 || !converged {
                        fell.push((*name, jaw_mass, angle, margin, moved));
                    }
                }
            }
        }
    }
    assert!(fell.is_empty(), "{fell:?}");
}
