//! **Law.** Normals of a body of revolution meet its axis: without friction nothing changes its spin about it, whatever it meets and however far it moves in
//! a step.

use crate::support::*;

/// Largest change (rad/s) of the rate about the axis of a body that is thrown onto a smooth floor, over throws without such a rate.
fn spun_up(collider: &Collider, h: f64, e: f64, rate: f64, own: f64, time: f64) -> f64 {
    let mut worst = 0.0_f64;
    for seed in 0..6 {
        let mut random = Lcg::new(seed);
        let mut simulation = Simulation::new(Settings {
            time_step: h,
            threads: 1,
            ..Settings::default()
        })
        .unwrap();
        let smooth = Material {
            restitution: e,
            ..Material::with_friction(0.0)
        };
        ground(&mut simulation, smooth);
        let orientation = random.rotation();
        let across = (random.symmetric_vector() * rate).with_z(own);
        let body = simulation
            .spawn((
                RigidBody::Dynamic,
                collider.clone(),
                smooth,
                Pose::at(0.0, 0.0, 0.35).with_orientation(orientation),
                Twist::from_body_frame(DVec3::ZERO, across, orientation),
            ))
            .unwrap();
        while simulation.time() < time {
            assert!(simulation.step().unwrap().converged);
            let change = simulation.twist(body).unwrap().angular.z - own;
            worst = worst.max(change.abs());
        }
    }
    worst
}

/// What becomes of the rates (rad/s) of 60 rad/s thrown across the axis, where that is more than rounding.
fn wrong_rates(bodies: &[(&str, Collider)], steps: &[(f64, f64)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, collider) in bodies {
        for (h, e) in steps {
            for own in [0.0, 20.0] {
                let spin = spun_up(collider, *h, *e, 60.0, own, 2.0);
                if spin > 1e-6 {
                    wrong.push(format!(
                        "{name}, h {h:.4}, e {e}, {own} rad/s: by {spin:.2e} rad/s"
                    ));
                }
            }
        }
    }
    wrong
}

const COARSE: [(f64, f64); 3] = [(1.0 / 60.0, 1.0), (1.0 / 200.0, 1.0), (1.0 / 200.0, 0.0)];

fn rims() -> [(&'static str, Collider); 3] {
    [
        ("drum", Collider::cylinder(0.1, 0.1)),
        ("coin", Collider::cylinder(0.01, 0.1)),
        ("cone", Collider::cone(0.1, 0.08)),
    ]
}

#[test]
fn a_body_thrown_onto_a_smooth_floor_does_not_spin_about_its_axis() {
    let slender = [
        ("capsule", Collider::capsule(0.2, 0.01)),
        ("rod", Collider::cylinder(0.2, 0.01)),
    ];
    let mut wrong = wrong_rates(&slender, &COARSE);
    wrong.extend(wrong_rates(&slender, &[(1e-3, 1.0)]));
    wrong.extend(wrong_rates(&rims(), &[(1e-3, 1.0)]));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[ignore = "a known fault: points of a rim that all but lies flat have a moment about the axis"]
fn nor_does_a_rim_that_all_but_lies_flat() {
    let wrong = wrong_rates(&rims(), &COARSE);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two balls that move as one, and parts on one axis: every normal meets it. Up to 30 impacts and 2,000 steps of rounding.
#[test]
fn a_compound_on_one_axis_keeps_its_spin() {
    let ball = Shape::Sphere { radius: 0.06 };
    let rod = Shape::Capsule {
        half_height: 0.1,
        radius: 0.02,
    };
    let at = |z, shape: &Shape| (Pose::at(0.0, 0.0, z), shape.clone());
    let dumbbell = vec![at(0.1, &ball), at(-0.1, &ball)];
    let bar = vec![at(0.1, &ball), at(0.0, &rod), at(-0.1, &ball)];
    for parts in [dumbbell, bar] {
        let body = Collider::compound(parts);
        for h in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
            let lost = spun_up(&body, h, 0.0, 20.0, 40.0, 2.0);
            assert!(lost < 1e-10, "h {h}: loses {lost} of 40 rad/s");
        }
    }
}
