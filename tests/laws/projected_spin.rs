//! **Law.** Taking overlaps away changes no momentum: a body on a smooth plane keeps the angular momentum about the vertical, whatever touches.
//!
//! Normals are vertical, so that no impulse has a moment about the vertical through the centre: `e_z · R 𝕀 Ω` is constant to rounding, for any step. A
//! projection turns the body; what it leaves unchanged must be the angular momentum in the inertial frame, not Ω in the frame of the body.

use crate::support::*;

/// Largest change of the vertical angular momentum, relative to the whole at the start, over throws of a body.
fn worst_change(collider: &Collider, settings: Settings, e: f64, rate: f64) -> f64 {
    let mut worst = 0.0_f64;
    for seed in 0..12 {
        let mut random = Lcg::new(seed);
        let mut simulation = Simulation::new(settings).unwrap();
        let smooth = Material {
            restitution: e,
            ..Material::with_friction(0.0)
        };
        ground(&mut simulation, smooth);
        let orientation = random.rotation();
        let body = simulation
            .spawn((
                RigidBody::Dynamic,
                collider.clone(),
                smooth,
                Pose::at(0.0, 0.0, 0.35).with_orientation(orientation),
                Twist::from_inertial_frame(
                    DVec3::ZERO,
                    random.symmetric_vector() * rate,
                    orientation,
                ),
            ))
            .unwrap();
        let start = spin(&simulation, body).unwrap();
        for _ in 0..(1.5 / settings.time_step) as usize {
            simulation.step().unwrap();
            let change = spin(&simulation, body).unwrap().z - start.z;
            worst = worst.max(change.abs() / start.length());
        }
    }
    worst
}

#[test]
#[ignore = "a known fault: what is tried in its place gains energy (docs/experiments.md)"]
fn a_projection_keeps_the_angular_momentum() {
    for (name, collider) in [
        ("cube", Collider::cuboid(0.1, 0.1, 0.1)),
        ("drum", Collider::cylinder(0.1, 0.1)),
        ("coin", Collider::cylinder(0.01, 0.1)),
    ] {
        for (h, e, rate) in [
            (1.0 / 60.0, 1.0, 3.0),
            (1.0 / 200.0, 0.0, 10.0),
            (1e-3, 0.0, 10.0),
        ] {
            let settings = Settings {
                time_step: h,
                ..reference()
            };
            let worst = worst_change(&collider, settings, e, rate);
            // Without projection it is 2e-14.
            assert!(worst < 1e-9, "{name}, h {h}, e {e}: {worst}");
        }
    }
}
