//! **Law.** In free flight linear momentum `m v` and angular momentum `R 𝕀 Ω` (inertial frame) do
//! not change; kinetic energy stays within a band of width `O(h²)` that does not widen.
//!
//! The torque-free rotation is composed of rotations about the principal axes, each of which keeps
//! `R 𝕀 Ω` exactly, so momentum is kept for every `h`: the tolerance 1e-12 is rounding. The quaternion of
//! the principal axes is a unit only to ε/2, which turns into a bias of about ε a step; ten flips take 5000
//! steps. The splitting is symmetric, hence of
//! second order and conjugate to a flow that keeps a modified energy: halving `h` divides errors
//! by 4, here to 10 % for the next even term `O(h⁴)`.

use crate::support::*;

/// The body that tumbles about its middle axis: it flips again and again.
fn tumbler(settings: Settings) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(settings).unwrap();
    let body = simulation
        .spawn((
            RigidBody::Dynamic,
            Mass::given(2.0, DVec3::new(3.0, 2.0, 1.2))
                .with_principal_frame(turn(DVec3::new(0.6, 0.0, 0.8), 0.7)),
            Pose::at(1.0, 2.0, 3.0).with_orientation(turn(DVec3::new(0.0, 0.6, 0.8), 1.1)),
            Twist {
                linear: DVec3::new(0.3, -0.2, 0.1),
                angular: turn(DVec3::new(0.6, 0.0, 0.8), 0.7) * DVec3::new(0.4, 20.0, 0.4),
            },
        ))
        .unwrap();
    (simulation, body)
}

/// Angular velocity about the middle principal axis, rad/s.
fn middle_spin(simulation: &Simulation, body: Entity) -> f64 {
    let frame = mass(simulation, body).unwrap().principal_frame();
    (frame.conjugate() * simulation.twist(body).unwrap().angular).y
}

#[test]
fn momentum_is_conserved_in_free_flight() {
    let (mut simulation, body) = tumbler(Settings {
        time_step: 2e-3,
        ..weightless()
    });
    let (p0, l0) = (
        linear_momentum(&simulation, &[body]),
        spin(&simulation, body).unwrap(),
    );
    let mut flips = 0;
    let mut sign = middle_spin(&simulation, body).signum();
    let mut steps = 0;
    while flips < 10 {
        simulation.step().unwrap();
        steps += 1;
        assert!(steps < 20_000, "only {flips} flips in {steps} steps");
        let p = linear_momentum(&simulation, &[body]);
        let l = spin(&simulation, body).unwrap();
        assert!((p - p0).length() <= 1e-12 * p0.length());
        assert!(
            (l - l0).length() <= 1e-12 * l0.length(),
            "angular momentum off by {:e} after {steps} steps",
            (l - l0).length() / l0.length()
        );
        let now = middle_spin(&simulation, body);
        if now * sign < 0.0 && now.abs() > 1.0 {
            flips += 1;
            sign = now.signum();
        }
    }
}

/// Largest relative deviation of the kinetic energy over the first and over the second half of
/// 12 s of tumbling (more than ten flips).
fn energy_band(h: f64) -> [f64; 2] {
    let (mut simulation, body) = tumbler(Settings {
        time_step: h,
        ..weightless()
    });
    let e0 = kinetic_energy(&simulation, body).unwrap();
    let steps = (12.0 / h).round() as usize;
    let mut band: [f64; 2] = [0.0; 2];
    for step in 0..steps {
        simulation.step().unwrap();
        let e = kinetic_energy(&simulation, body).unwrap();
        let half = usize::from(2 * step >= steps);
        band[half] = band[half].max((e - e0).abs() / e0);
    }
    band
}

#[test]
fn energy_of_a_tumbling_body_stays_in_a_band_of_second_order() {
    let [coarse_first, coarse_second] = energy_band(2e-3);
    let [fine_first, fine_second] = energy_band(1e-3);
    // The modified energy does not drift: a later flip deviates as much as an earlier one, up to
    // where the grid of times samples the peak.
    assert!(coarse_second <= 1.02 * coarse_first && fine_second <= 1.02 * fine_first);
    let ratio = coarse_first / fine_first;
    assert!((ratio - 4.0).abs() < 0.4, "band shrinks by {ratio}");
}

#[test]
fn tumbling_is_of_second_order_in_the_time_step() {
    let end = |h: f64| {
        let (mut simulation, body) = tumbler(Settings {
            time_step: h,
            ..weightless()
        });
        for _ in 0..(0.5_f64 / h).round() as usize {
            simulation.step().unwrap();
        }
        (
            simulation.twist(body).unwrap().angular,
            simulation.pose(body).unwrap().orientation,
        )
    };
    // Richardson: three steps decide the order without a reference solution.
    let [a, b, c] = [2e-3, 1e-3, 5e-4].map(end);
    let ratio = (a.0 - b.0).length() / (b.0 - c.0).length();
    assert!((ratio - 4.0).abs() < 0.4, "angular velocity: {ratio}");
    let ratio = angle_between(a.1, b.1) / angle_between(b.1, c.1);
    assert!((ratio - 4.0).abs() < 0.4, "orientation: {ratio}");
}

#[test]
fn a_symmetric_top_precesses_at_its_rate() {
    // Inertia (A, A, C): the symmetry axis turns about L at the rate |L|/A.
    let end = |h: f64, steps: usize| {
        let mut simulation = Simulation::new(Settings {
            time_step: h,
            ..weightless()
        })
        .unwrap();
        let top = simulation
            .spawn((
                RigidBody::Dynamic,
                Mass::given(1.0, DVec3::new(0.2, 0.2, 0.3)),
                Twist {
                    linear: DVec3::ZERO,
                    angular: DVec3::new(1.0, 0.0, 4.0),
                },
            ))
            .unwrap();
        let l = spin(&simulation, top).unwrap();
        for _ in 0..steps {
            simulation.step().unwrap();
        }
        let axis = simulation.pose(top).unwrap().orientation * DVec3::Z;
        let t = h * steps as f64;
        let expected = turn(l.normalize(), l.length() / 0.2 * t) * DVec3::Z;
        (axis - expected).length()
    };
    // Regular precession is exact for any step; the bias of a unit quaternion is about ε a step.
    for (h, steps) in [(2e-3, 1000), (0.1, 20)] {
        let off = end(h, steps);
        assert!(off < 1e-12, "h {h}: axis off by {off:e}");
    }
}

#[test]
fn the_two_rotation_updates_converge_to_each_other() {
    // Both are of second order in free flight: the mean of the angular velocities at the two ends
    // drives the linear one, whose normalisation errs by (hΩ)³/12 a step.
    let difference = |h: f64| {
        let end = |rotation: RotationUpdate| {
            let (mut simulation, body) = tumbler(Settings {
                time_step: h,
                rotation,
                ..weightless()
            });
            for _ in 0..(0.5_f64 / h).round() as usize {
                simulation.step().unwrap();
            }
            simulation.pose(body).unwrap().orientation
        };
        angle_between(
            end(RotationUpdate::Exponential),
            end(RotationUpdate::Linear),
        )
    };
    let (coarse, fine) = (difference(5e-4), difference(2.5e-4));
    let ratio = coarse / fine;
    assert!((ratio - 4.0).abs() < 0.4, "{coarse:e} to {fine:e}: {ratio}");
}

#[test]
fn collisions_conserve_linear_momentum() {
    // Impulses act in pairs; tolerance: a few ε of the momentum exchanged, over 400 steps.
    let mut simulation = Simulation::new(weightless()).unwrap();
    let mut random = Lcg::new(3);
    let mut bodies = Vec::new();
    for _ in 0..12 {
        let direction = random.symmetric_vector();
        let position = direction.normalize() * (1.5 + 0.5 * random.uniform());
        bodies.push(
            simulation
                .spawn((
                    RigidBody::Dynamic,
                    if bodies.len() % 2 == 0 {
                        Collider::sphere(0.2)
                    } else {
                        Collider::cuboid(0.2, 0.15, 0.25)
                    },
                    Material {
                        restitution: 0.3,
                        ..Material::default()
                    },
                    Pose::from_position(position).with_orientation(random.rotation()),
                    Twist {
                        linear: -position * 2.0,
                        angular: random.symmetric_vector(),
                    },
                ))
                .unwrap(),
        );
    }
    let p0 = linear_momentum(&simulation, &bodies);
    let scale: f64 = bodies
        .iter()
        .map(|b| {
            simulation.twist(*b).unwrap().linear.length() * mass(&simulation, *b).unwrap().mass()
        })
        .sum();
    let mut contacts = 0;
    for _ in 0..400 {
        contacts += simulation.step().unwrap().closed_contacts;
        let p = linear_momentum(&simulation, &bodies);
        assert!(
            (p - p0).length() <= 1e-12 * scale,
            "momentum off by {}",
            p - p0
        );
    }
    assert!(contacts > 20, "the bodies met only {contacts} times");
}
