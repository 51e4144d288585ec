//! **Law.** A cylinder on its side may turn about its axis at any rate: its surface stays where it is, and no other part of it comes to the floor.

use crate::support::*;

/// A cylinder whose axis is along y, `gap` above the floor.
fn wheel(
    settings: Settings,
    [half, radius]: [f64; 2],
    gap: f64,
    friction: f64,
    twist: [DVec3; 2],
) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(settings).unwrap();
    let material = Material::with_friction(friction);
    ground(&mut simulation, material);
    let orientation = turn(DVec3::X, std::f64::consts::FRAC_PI_2);
    let body = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cylinder(half, radius),
            material,
            Pose::at(0.0, 0.0, radius + gap).with_orientation(orientation),
            Twist::from_inertial_frame(twist[0], twist[1], orientation),
        ))
        .unwrap();
    (simulation, body)
}

fn with_step(h: f64) -> Settings {
    Settings {
        time_step: h,
        ..reference()
    }
}

/// Without friction all forces meet the axis: the spin stays, and what lies stays down.
#[test]
fn a_smooth_floor_does_not_slow_a_wheel() {
    for (half, radius) in [(0.1, 0.3), (0.1, 0.03), (0.01, 0.1)] {
        for h in [1.0 / 60.0, 1e-3] {
            for turned in [0.3, 0.9, 1.2, 1.67, 3.0] {
                for gap in [0.0, 0.02] {
                    let rate = turned / h;
                    let twist = [DVec3::ZERO, DVec3::Y * rate];
                    let (mut simulation, body) =
                        wheel(with_step(h), [half, radius], gap, 0.0, twist);
                    let mut highest = 0.0_f64;
                    for _ in 0..(0.3 / h) as usize {
                        simulation.step().unwrap();
                        highest = highest.max(simulation.pose(body).unwrap().position.z);
                    }
                    let left = simulation.twist(body).unwrap().angular.z.abs() / rate;
                    let note = format!("radius {radius}, h {h}, {turned} rad a step, gap {gap}");
                    assert!((left - 1.0).abs() < 1e-6, "{note}: {left} of the spin");
                    assert!(highest < radius + gap + 1e-4, "{note}: up to {highest} m");
                }
            }
        }
    }
}

/// A wheel of 30 cm at 30 m/s, at 60 Hz: it rolls on.
#[test]
fn a_wheel_rolls_on_at_speed() {
    for (radius, speed, h) in [
        (0.3, 30.0, 1.0 / 60.0),
        (0.03, 10.0, 1.0 / 200.0),
        (0.1, 10.0, 1.0 / 60.0),
    ] {
        let twist = [DVec3::X * speed, DVec3::Y * (speed / radius)];
        let (mut simulation, body) = wheel(with_step(h), [0.1, radius], 0.0, 0.5, twist);
        for _ in 0..(2.0 / h) as usize {
            simulation.step().unwrap();
        }
        let place = simulation.pose(body).unwrap().position;
        let left = simulation.twist(body).unwrap().linear.x / speed;
        assert!(
            (left - 1.0).abs() < 1e-6 && (place.z - radius).abs() < 1e-4,
            "radius {radius}, {speed} m/s, h {h}: {left} of the speed, at {place}"
        );
    }
}

/// A cylinder rolls down an incline with two thirds of `g sin α`, exactly: the force is constant.
#[test]
fn a_cylinder_rolls_down_at_two_thirds() {
    for (radius, h) in [(0.5, 1.0 / 60.0), (0.05, 1.0 / 200.0), (0.05, 1.0 / 60.0)] {
        let slope = 0.3;
        let mut settings = with_step(h);
        settings.gravity = DVec3::new(G * libm::sin(slope), 0.0, -G * libm::cos(slope));
        let (mut simulation, body) = wheel(
            settings,
            [0.1, radius],
            0.0,
            0.6,
            [DVec3::ZERO, DVec3::ZERO],
        );
        let steps = (2.0 / h) as usize;
        for _ in 0..steps {
            simulation.step().unwrap();
        }
        let known = 2.0 / 3.0 * settings.gravity.x * h * steps as f64;
        let speed = simulation.twist(body).unwrap().linear.x;
        assert!(
            (speed / known - 1.0).abs() < 1e-6,
            "radius {radius}, h {h}: {speed} instead of {known} m/s"
        );
    }
}
