//! **Law.** A sphere thrown without spin slides until `t = 2 v₀/(7 μ g)` and then rolls at `5/7 v₀`.
//! On an incline with `μ > 2/7 tan a` it rolls from the start with the acceleration `5/7 g sin a`.
//!
//! Angular momentum about the contact line is kept exactly by the scheme, so the final speed does not
//! depend on `h`: 1e-9 is the solver's 1e-11 over the steps of sliding. The transition falls into the step that
//! contains its time. Rolling velocities are exact too: every step adds `5/7 g h sin a`.

use crate::support::*;

const RADIUS: f64 = 0.2;

fn sphere_on(normal: DVec3, mu: f64, speed: DVec3) -> (Simulation, Entity) {
    let material = Material::with_friction(mu);
    let mut simulation = Simulation::new(reference()).unwrap();
    simulation
        .spawn((RigidBody::Static, Collider::half_space(normal), material))
        .unwrap();
    let sphere = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(RADIUS),
            material,
            Pose::from_position(normal * RADIUS),
            Twist {
                linear: speed,
                angular: DVec3::ZERO,
            },
        ))
        .unwrap();
    (simulation, sphere)
}

#[test]
fn a_sliding_sphere_ends_rolling_at_five_sevenths() {
    for (mu, v0, direction) in [(0.3, 2.0, DVec3::X), (0.1, 1.0, DVec3::new(0.6, -0.8, 0.0))] {
        let (mut simulation, sphere) = sphere_on(DVec3::Z, mu, direction * v0);
        let rolls_at = 2.0 * v0 / (7.0 * mu * G);
        let h = simulation.settings().time_step;
        let mut rolled = None;
        while simulation.time() < 2.0 * rolls_at {
            simulation.step().unwrap();
            let slip = simulation.contacts()[0].local_velocity;
            let slip = libm::hypot(slip.y, slip.z);
            if slip <= 1e-9 && rolled.is_none() {
                rolled = Some(simulation.time());
            }
            let t = simulation.time();
            let speed = simulation.twist(sphere).unwrap().linear.dot(direction);
            let expected = if t < rolls_at {
                v0 - mu * G * t
            } else {
                v0 * 5.0 / 7.0
            };
            if t < rolls_at || t > rolls_at + h {
                assert!((speed - expected).abs() <= 1e-9 * v0, "{speed} at {t} s");
            }
        }
        let rolled = rolled.unwrap();
        assert!(
            rolled >= rolls_at - 1e-12 && rolled <= rolls_at + h + 1e-12,
            "rolls at {rolled} instead of {rolls_at}"
        );
        let twist = simulation.twist(sphere).unwrap();
        let omega = simulation.pose(sphere).unwrap().orientation * twist.angular;
        let expected = DVec3::Z.cross(direction) * (v0 * 5.0 / 7.0 / RADIUS);
        assert!((omega - expected).length() <= 1e-8 * expected.length());
    }
}

#[test]
fn a_sphere_rolls_down_an_incline_at_five_sevenths() {
    for slope in [0.2_f64, 0.5, 1.0] {
        let angle = libm::atan(slope);
        let tilt = turn(DVec3::Z, 0.7) * turn(DVec3::Y, angle);
        let (mut simulation, sphere) = sphere_on(tilt * DVec3::Z, 0.3, DVec3::ZERO);
        for _ in 0..200 {
            simulation.step().unwrap();
        }
        let (sin, _) = libm::sincos(angle);
        let expected = tilt * DVec3::X * (5.0 / 7.0 * G * sin * simulation.time());
        let velocity = simulation.twist(sphere).unwrap().linear;
        let error = (velocity - expected).length() / expected.length();
        assert!(error <= 1e-9, "slope {slope}: relative error {error:e}");
    }
}

#[test]
fn a_sphere_slips_down_an_incline_that_is_too_steep() {
    // μ < 2/7 tan a: the centre accelerates at g (sin a − μ cos a), the spin at 5 μ g cos a/(2 r).
    let (mu, angle) = (0.2, libm::atan(1.0));
    let tilt = turn(DVec3::Y, angle);
    let (mut simulation, sphere) = sphere_on(tilt * DVec3::Z, mu, DVec3::ZERO);
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    let (sin, cos) = libm::sincos(angle);
    let t = simulation.time();
    let twist = simulation.twist(sphere).unwrap();
    let expected = tilt * DVec3::X * (G * (sin - mu * cos) * t);
    assert!((twist.linear - expected).length() <= 1e-9 * expected.length());
    let rate = 2.5 * mu * G * cos / RADIUS * t;
    assert!((twist.angular.length() - rate).abs() <= 1e-9 * rate);
}

/// Forces along the normals pass through the centres of balls, and a ball at a kilometre is one at home: the arms of
/// its contacts do not have the rounding of its place. What is left is the rounding of `ρ × P`, a few ε of `ρ P`.
#[test]
fn frictionless_balls_never_turn_wherever_they_are() {
    let place = DVec3::new(1000.0, -300.0, 700.0);
    let smooth = Material::with_friction(0.0);
    let inertia = 0.4 * RADIUS * RADIUS;
    let mut simulation = Simulation::new(reference()).unwrap();
    let floor = Pose::from_position(place - DVec3::Z * 0.1);
    simulation
        .spawn((
            RigidBody::Static,
            Collider::cuboid(3.0, 3.0, 0.1),
            smooth,
            floor,
        ))
        .unwrap();
    let mut random = Lcg::new(3);
    let balls: Vec<Entity> = (1..=12)
        .map(|level| {
            let aside = DVec3::new(random.symmetric(), random.symmetric(), 0.0) * 0.1;
            let height = DVec3::Z * (2.1 * RADIUS * f64::from(level));
            let ball = (
                RigidBody::Dynamic,
                Collider::sphere(RADIUS),
                Mass::given(1.0, DVec3::splat(inertia)),
                smooth,
                Pose::from_position(place + aside + height),
            );
            simulation.spawn(ball).unwrap()
        })
        .collect();
    let mut pressed = vec![0.0; balls.len()];
    for _ in 0..100 {
        simulation.step().unwrap();
        for contact in simulation.contacts() {
            for (ball, pressed) in balls.iter().zip(&mut pressed) {
                if contact.entities.contains(ball) {
                    *pressed += contact.impulse.x;
                }
            }
        }
    }
    let mut all = 0.0;
    for (ball, pressed) in balls.iter().zip(pressed) {
        let spin = simulation.twist(*ball).unwrap().angular.length();
        let bound = 4.0 * f64::EPSILON * RADIUS * pressed / inertia;
        println!("{spin:e} rad/s of {bound:e}");
        assert!(spin <= bound);
        all += pressed;
    }
    assert!(all > 0.0);
}
