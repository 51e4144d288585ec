//! **Law.** On a plane inclined by `a` a block sticks if `tan a < μ` and slides with the acceleration
//! `g (sin a − μ cos a)` if `tan a > μ`, in whatever direction of the plane and however it is turned.
//! At each sliding contact friction is exactly opposite to the sliding velocity, whatever the inertia.
//!
//! Velocities of the scheme are exact here: every step adds `h g (sin a − μ cos a)`. Tolerances come
//! from the solver's 1e-11 of `g h`: the acceleration to 1e-8 relative (the smallest is 7e-4 g), the
//! slip of a sticking block to 1e-12 m a step, directions to 1e-6 rad at contacts that carry more than a
//! thousandth of the load.

use crate::support::*;

const MU: f64 = 0.5;

/// A plane whose fall line has azimuth `azimuth`, with a block turned by `yaw` in it, `tan a = slope`.
struct Incline {
    simulation: Simulation,
    block: Entity,
    /// Unit vector down the slope.
    down: DVec3,
    angle: f64,
}

fn incline(slope: f64, azimuth: f64, yaw: f64, mass: Option<Mass>) -> Incline {
    let angle = libm::atan(slope);
    let tilt = turn(DVec3::Z, azimuth) * turn(DVec3::Y, angle);
    let material = Material::with_friction(MU);
    let mut simulation = Simulation::new(reference()).unwrap();
    simulation
        .spawn((
            RigidBody::Static,
            Collider::half_space(tilt * DVec3::Z),
            material,
        ))
        .unwrap();
    let block = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            material,
            mass.unwrap_or_default(),
            Pose::from_position(tilt * DVec3::Z * 0.1).with_orientation(tilt * turn(DVec3::Z, yaw)),
        ))
        .unwrap();
    Incline {
        simulation,
        block,
        down: tilt * DVec3::X,
        angle,
    }
}

const AZIMUTHS: [f64; 4] = [0.0, 0.4, 2.1, 4.0];
const YAWS: [f64; 4] = [0.0, 0.3, std::f64::consts::FRAC_PI_4, 1.2];

#[test]
fn a_block_sticks_below_the_friction_angle() {
    for azimuth in AZIMUTHS {
        for yaw in YAWS {
            let mut scene = incline(0.999 * MU, azimuth, yaw, None);
            let mut before = scene.simulation.pose(scene.block).unwrap().position;
            for step in 0..200 {
                scene.simulation.step().unwrap();
                let position = scene.simulation.pose(scene.block).unwrap().position;
                let slip = (position - before).length();
                assert!(
                    slip < 1e-12,
                    "slips {slip:e} m in step {step} (azimuth {azimuth}, yaw {yaw})"
                );
                before = position;
            }
        }
    }
}

#[test]
fn a_block_slides_above_the_friction_angle() {
    for factor in [1.001, 1.5] {
        for azimuth in AZIMUTHS {
            for yaw in YAWS {
                let mut scene = incline(factor * MU, azimuth, yaw, None);
                let (sin, cos) = libm::sincos(scene.angle);
                let acceleration = G * (sin - MU * cos);
                for _ in 0..100 {
                    scene.simulation.step().unwrap();
                }
                let expected = scene.down * (acceleration * scene.simulation.time());
                let velocity = scene.simulation.twist(scene.block).unwrap().linear;
                let error = (velocity - expected).length() / expected.length();
                assert!(
                    error <= 1e-8,
                    "factor {factor} azimuth {azimuth} yaw {yaw}: relative error {error:e}"
                );
            }
        }
    }
}

#[test]
fn friction_is_opposite_to_sliding_at_each_contact() {
    // Thrown off-axis and twisting: the four corners slide in four directions.
    let masses = [
        None,
        Some(Mass::given(8.0, DVec3::new(0.02, 0.09, 0.1))),
        Some(
            Mass::given(8.0, DVec3::new(0.02, 0.09, 0.1))
                .with_principal_frame(turn(DVec3::new(0.48, 0.64, 0.6), 0.8)),
        ),
    ];
    let mut checked = 0;
    let mut worst: f64 = 0.0;
    for mass in masses {
        for (slope, spin) in [(0.0, 6.0), (0.3, -4.0), (0.6, 2.0)] {
            let mut scene = incline(slope, 0.4, 0.3, mass);
            let tilt = scene.simulation.pose(scene.block).unwrap().orientation;
            scene.simulation.set(
                scene.block,
                Twist {
                    linear: tilt * DVec3::new(0.8, 0.5, 0.0),
                    angular: DVec3::new(0.0, 0.0, spin),
                },
            );
            for _ in 0..40 {
                let report = scene.simulation.step().unwrap();
                assert!(report.converged, "e_scaled {:e}", report.e_scaled);
                let load: f64 = scene
                    .simulation
                    .contacts()
                    .iter()
                    .map(|c| c.impulse.x)
                    .sum();
                for contact in scene.simulation.contacts() {
                    let (u, r) = (contact.local_velocity, contact.impulse);
                    let speed = libm::hypot(u.y, u.z);
                    if r.x < 1e-3 * load || speed < 1e-3 {
                        continue;
                    }
                    let cross = (u.y * r.z - u.z * r.y) / (speed * libm::hypot(r.y, r.z));
                    let opposite = u.y * r.y + u.z * r.z < 0.0;
                    worst = worst.max(cross.abs());
                    assert!(
                        opposite && cross.abs() <= 1e-6,
                        "{cross:e} rad between friction and sliding"
                    );
                    // On the boundary of the cone, and the status says so.
                    assert!((libm::hypot(r.y, r.z) / (MU * r.x) - 1.0).abs() <= 1e-9);
                    assert_eq!(contact.status, ContactStatus::Slip);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 500, "only {checked} sliding contacts seen");
    println!("worst angle {worst:e} rad over {checked} contacts");
}

#[test]
fn a_sliding_block_does_not_dilate() {
    // The associated law would lift it at μ |u_T| = 2.4 m/s.
    let material = Material::with_friction(0.8);
    let mut simulation = Simulation::new(reference()).unwrap();
    simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z), material))
        .unwrap();
    let block = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.3, 0.3, 0.05),
            material,
            Pose::at(0.0, 0.0, 0.05),
            Twist {
                linear: DVec3::new(3.0, 1.0, 0.0),
                angular: DVec3::new(0.0, 0.0, 1.0),
            },
        ))
        .unwrap();
    while simulation.twist(block).unwrap().linear.length() > 1e-3 {
        simulation.step().unwrap();
        assert!(simulation.time() < 1.0);
        let closed = simulation.contacts().iter().filter(|c| c.impulse.x > 0.0);
        for contact in closed {
            // The solver's 1e-11 of the sliding speed.
            assert!(
                contact.local_velocity.x.abs() <= 1e-10,
                "u_N = {}",
                contact.local_velocity.x
            );
        }
        let lift = simulation.pose(block).unwrap().position.z - 0.05;
        assert!(lift.abs() <= 1e-10, "lifts by {lift}");
    }
}
