//! **Law.** The energy ledger closes: `ΔK + ΔE_p` is external work + friction + impacts + drift + gyroscopic
//! splitting, to rounding, whatever the scene.
//!
//! The identity is algebraic (see the ledger's derivation): it holds for any impulses, converged or not. What
//! is left is rounding: a few ε of the terms that are summed, so `1e-12` of the largest energy in the
//! scene a step leaves 10³ roundings.

use crate::support::*;

/// Shapes of every kind with wrenches, spins, restitution and driven boundaries.
fn messy(settings: Settings) -> Simulation {
    let mut simulation = Simulation::new(settings).unwrap();
    let material = Material {
        restitution: 0.4,
        ..Material::default()
    };
    ground(&mut simulation, material);
    simulation
        .spawn((
            RigidBody::Kinematic,
            Collider::cuboid(0.2, 1.0, 0.2),
            material,
            Pose::at(0.0, 0.0, 0.3),
            Twist {
                linear: DVec3::new(0.1, 0.0, 0.02),
                angular: DVec3::new(0.1, 0.2, 3.0),
            },
        ))
        .unwrap();
    let shapes = [
        Collider::sphere(0.15),
        Collider::cuboid(0.1, 0.15, 0.2),
        Collider::capsule(0.1, 0.1),
        Collider::cylinder(0.15, 0.1),
        Collider::cone(0.15, 0.12),
    ];
    let mut random = Lcg::new(11);
    for i in 0..20 {
        let place = DVec3::new(
            0.5 * f64::from(i % 4) - 0.75,
            0.5 * f64::from(i / 4 % 3) - 0.5,
            1.0 + 0.5 * f64::from(i / 12),
        );
        simulation
            .spawn((
                RigidBody::Dynamic,
                shapes[i as usize % 5].clone(),
                material,
                Pose::from_position(place).with_orientation(random.rotation()),
                Twist {
                    linear: random.symmetric_vector() * 2.0,
                    angular: random.symmetric_vector() * 10.0,
                },
                Wrench {
                    force: random.symmetric_vector() * 20.0,
                    moment: random.symmetric_vector(),
                    body_moment: random.symmetric_vector(),
                },
            ))
            .unwrap();
    }
    simulation
}

fn worst_gap(settings: Settings) -> f64 {
    let mut simulation = messy(settings);
    let (mut scale, mut worst, mut closed) = (0.0_f64, 0.0_f64, 0);
    let mut projected = 0;
    for _ in 0..300 {
        let report = simulation.step().unwrap();
        let e = report.energy;
        scale = scale.max(e.kinetic.abs() + e.potential.abs());
        worst = worst.max(e.energy_gap.abs());
        closed += report.closed_contacts;
        projected += report.projections;
    }
    assert!(closed > 1000, "only {closed} contacts");
    println!("gap {:e}, {projected} projections", worst / scale);
    worst / scale
}

#[test]
fn the_ledger_closes_to_rounding() {
    // The accuracy of the solver does not matter for the identity.
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    for rotation in [RotationUpdate::Exponential, RotationUpdate::Linear] {
        for theta in [Theta::Auto, Theta::Fixed(0.5), Theta::Fixed(1.0)] {
            for accuracy in [Accuracy::Interactive, Accuracy::Engineering] {
                let gap = worst_gap(Settings {
                    rotation,
                    theta,
                    accuracy,
                    ..settings
                });
                assert!(
                    gap <= 1e-12,
                    "{rotation:?} {theta:?} {accuracy:?}: relative gap {gap:e}"
                );
            }
        }
    }
}

#[test]
fn the_ledger_agrees_with_the_state() {
    // Independent sums of ½ v·Mv and −m g·x at the end of each step.
    let mut simulation = messy(Settings {
        threads: 1,
        ..Settings::default()
    });
    let bodies: Vec<Entity> = simulation
        .world_mut()
        .query::<(Entity, &RigidBody)>()
        .iter(simulation.world())
        .filter(|(_, kind)| **kind == RigidBody::Dynamic)
        .map(|(entity, _)| entity)
        .collect();
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        let kinetic: f64 = bodies
            .iter()
            .map(|b| kinetic_energy(&simulation, *b).unwrap())
            .sum();
        let potential: f64 = bodies
            .iter()
            .map(|b| {
                mass(&simulation, *b).unwrap().mass() * G * simulation.pose(*b).unwrap().position.z
            })
            .sum();
        let scale = kinetic + potential.abs();
        assert!((report.energy.kinetic - kinetic).abs() <= 1e-13 * scale);
        assert!((report.energy.potential - potential).abs() <= 1e-13 * scale);
    }
}

#[test]
fn work_of_a_constant_force_is_force_times_distance() {
    // A pushed sliding block: the force's work goes into friction and kinetic energy.
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    let block = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.3, 0.3, 0.05),
            Mass::given(2.0, DVec3::splat(0.1)),
            Pose::at(0.0, 0.0, 0.05),
            Wrench {
                force: DVec3::new(20.0, 0.0, 0.0),
                ..Wrench::default()
            },
        ))
        .unwrap();
    let mut total = EnergyLedger::default();
    for _ in 0..200 {
        total.accumulate(&simulation.step().unwrap().energy);
    }
    // v = a t, a = (F − μ m g)/m; over each step the mean velocity does the work.
    let t = simulation.time();
    let acceleration = (20.0 - 0.5 * 2.0 * G) / 2.0;
    let distance = 0.5 * acceleration * t * t;
    let v = simulation.twist(block).unwrap().linear.x;
    assert!((v - acceleration * t).abs() <= 1e-9 * v);
    assert!((total.work_external - 20.0 * distance).abs() <= 1e-9 * 20.0 * distance);
    let friction = -0.5 * 2.0 * G * distance;
    assert!((total.work_friction - friction).abs() <= 1e-9 * friction.abs());
    assert!((total.kinetic - v * v).abs() <= 1e-12 * v * v);
}
