//! **Law.** What meets a floor that does not move, with e = 0, gains no energy: impulses do no positive work there, and taking an overlap away gives no energy
//! either. So a coin does not rise on its rim, and a smooth top does not nutate wider and wider than its energy lets it.
//!
//! Energy is kinetic and potential. Overlaps of up to the tolerance of the projection (1e-4 m) that are lifted again give `m g · 1e-4` each; a bound of a hundredth of
//! the energy left, or of that of a tenth of the height, is far above that.

use crate::support::*;

fn energy(simulation: &Simulation, body: Entity) -> f64 {
    let height = simulation.pose(body).unwrap().position.z;
    kinetic_energy(simulation, body).unwrap() + mass(simulation, body).unwrap().mass() * G * height
}

fn awake(h: f64) -> Settings {
    Settings {
        time_step: h,
        threads: 1,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..Settings::default()
    }
}

#[test]
fn a_coin_on_a_rough_floor_gains_no_energy() {
    let mut wrong = Vec::new();
    for h in [1.0 / 200.0, 1e-3] {
        for (seed, rate) in [(0, 5.0), (1, 20.0), (2, 50.0)] {
            let mut random = Lcg::new(seed);
            let mut simulation = Simulation::new(awake(h)).unwrap();
            let rough = Material::with_friction(0.5);
            ground(&mut simulation, rough);
            let orientation = random.rotation();
            let angular = random.symmetric_vector() * rate;
            let linear = random.symmetric_vector() * 0.3;
            let coin = simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::cylinder(0.01, 0.1),
                    rough,
                    Pose::at(0.0, 0.0, 0.25).with_orientation(orientation),
                    Twist::from_inertial_frame(linear, angular, orientation),
                ))
                .unwrap();
            let mut lowest = energy(&simulation, coin);
            let (start, mut gain) = (lowest, 0.0_f64);
            while simulation.time() < 10.0 {
                assert!(simulation.step().unwrap().converged);
                let now = energy(&simulation, coin);
                gain = gain.max(now / lowest - 1.0);
                lowest = lowest.min(now);
            }
            let left = energy(&simulation, coin) / start;
            if gain > 0.01 {
                wrong.push(format!(
                    "h {h:.4}, {rate} rad/s: gains {gain:.3} of its lowest energy, {left:.3} of the first left after 10 s"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_smooth_top_gains_no_energy() {
    let mut wrong = Vec::new();
    let (half, radius) = (0.05, 0.06);
    for (tilt, rate) in [(0.6, 120.0), (0.2, 60.0), (0.4, 300.0)] {
        for h in [1.0 / 60.0, 1.0 / 200.0, 1.0 / 400.0] {
            let mut simulation = Simulation::new(awake(h)).unwrap();
            let smooth = Material::with_friction(0.0);
            ground(&mut simulation, smooth);
            let orientation = turn(DVec3::Y, tilt) * turn(DVec3::X, std::f64::consts::PI);
            let axis = orientation * -DVec3::Z;
            let top = simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::cone(half, radius),
                    smooth,
                    // The centre of mass is 1.5 half-heights from the apex, which touches.
                    Pose::from_position(axis * 1.5 * half).with_orientation(orientation),
                    Twist::from_inertial_frame(DVec3::ZERO, axis * rate, orientation),
                ))
                .unwrap();
            let start = energy(&simulation, top);
            let mut highest = start;
            for _ in 0..10_000 {
                simulation.step().unwrap();
                highest = highest.max(energy(&simulation, top));
            }
            let weight = mass(&simulation, top).unwrap().mass() * G * 1.5 * half;
            let gain = (highest - start) / weight;
            if gain > 0.1 {
                wrong.push(format!(
                    "tilt {tilt}, {rate} rad/s, h {h:.4}: gains {gain:.3} m g l"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
