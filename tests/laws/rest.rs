//! **Law.** What can stand on exact friction stands: positions stay, and the contact impulses of a step
//! balance weight, `Σ P = −h Σ m g`.
//!
//! A structure whose static problem has a solution with `u = 0` is at rest for ever in the exact
//! scheme. The solver's residual of 1e-11 (of `g h`) is all that moves it: over 2000 steps of 1/200 s it may
//! drift by `1e-11 g h² · 2000² /2 ≈ 5e-9 m` times the condition of the structure; the
//! bound 1e-6 m for the stack leaves 200 for that. The balance follows from momentum: it errs by
//! `m Δv`, the same 1e-11 times the condition of the problem, hence 1e-8.

use crate::support::*;

fn cube_stack(count: usize) -> (Simulation, Vec<Entity>) {
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    let cubes = (0..count)
        .map(|i| {
            simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::cuboid(0.5, 0.5, 0.5),
                    Pose::at(0.0, 0.0, 0.5 + i as f64),
                ))
                .unwrap()
        })
        .collect();
    (simulation, cubes)
}

#[test]
fn a_stack_of_ten_cubes_stands() {
    let (mut simulation, cubes) = cube_stack(10);
    let start: Vec<Pose> = cubes.iter().map(|c| simulation.pose(*c).unwrap()).collect();
    let mut worst_sweeps = 0;
    for _ in 0..2000 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "e_scaled {:e}", report.e_scaled);
        worst_sweeps = worst_sweeps.max(report.sweeps);
    }
    let mut worst: f64 = 0.0;
    for (cube, start) in cubes.iter().zip(&start) {
        let pose = simulation.pose(*cube).unwrap();
        worst = worst.max((pose.position - start.position).length());
        worst = worst.max(angle_between(pose.orientation, start.orientation));
    }
    println!("drift {worst:e} m, at most {worst_sweeps} sweeps");
    assert!(worst < 1e-6, "drifts by {worst:e}");
}

/// Largest `‖Σ P + h m g‖ / (h m g)` of the dynamic bodies together, from the contacts with `fixed` bodies.
fn imbalance(simulation: &Simulation, fixed: &[Entity], bodies: &[Entity]) -> f64 {
    let weight: f64 = bodies
        .iter()
        .map(|b| mass(simulation, *b).unwrap().mass())
        .sum();
    let settings = simulation.settings();
    let needed = settings.gravity * (weight * settings.time_step);
    let given: DVec3 = fixed.iter().map(|b| impulse_on(simulation, *b)).sum();
    (given - needed).length() / needed.length()
}

#[test]
fn contact_impulses_balance_weight_at_rest() {
    // A stack, a ball in a V of two planes, and three balls that carry a fourth by friction.
    let (mut simulation, cubes) = cube_stack(5);
    let mut fixed: Vec<Entity> = simulation
        .world_mut()
        .query::<(Entity, &RigidBody)>()
        .iter(simulation.world())
        .filter(|(_, kind)| **kind == RigidBody::Static)
        .map(|(entity, _)| entity)
        .collect();
    let mut bodies = cubes;
    let (r, x) = (0.3, 5.0);
    let spread = 2.0 * r / 3.0_f64.sqrt();
    let height = r * (1.0 + (8.0_f64 / 3.0).sqrt());
    for i in 0..3 {
        let at = turn(DVec3::Z, f64::from(i) * std::f64::consts::TAU / 3.0) * DVec3::X * spread;
        let pose = Pose::from_position(at + DVec3::new(x, 0.0, r));
        let ball = (RigidBody::Dynamic, Collider::sphere(r), pose);
        bodies.push(simulation.spawn(ball).unwrap());
    }
    let top = (
        RigidBody::Dynamic,
        Collider::sphere(r),
        Pose::at(x, 0.0, height),
    );
    bodies.push(simulation.spawn(top).unwrap());
    for side in [-1.0, 1.0] {
        let normal = DVec3::new(0.0, 0.6 * side, 0.8);
        let plank = (
            RigidBody::Static,
            Collider::cuboid(0.5, 0.5, 0.05),
            Pose::from_position(DVec3::new(-5.0, 0.0, 2.0) - normal * 0.05)
                .with_orientation(DQuat::from_rotation_arc(DVec3::Z, normal)),
        );
        fixed.push(simulation.spawn(plank).unwrap());
    }
    // Tangent to both planes through (−5, 0, 2): its centre is r/0.8 above the edge.
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.2),
        Pose::at(-5.0, 0.0, 2.0 + 0.2 / 0.8),
    );
    bodies.push(simulation.spawn(ball).unwrap());
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    let mut worst: f64 = 0.0;
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        assert!(report.converged);
        worst = worst.max(imbalance(&simulation, &fixed, &bodies));
    }
    let speed = bodies
        .iter()
        .map(|b| simulation.twist(*b).unwrap().linear.length())
        .fold(0.0, f64::max);
    assert!(speed < 1e-8, "still moves at {speed:e}");
    assert!(worst <= 1e-8, "imbalance {worst:e}");
}

#[test]
fn two_pads_carry_a_capsule_by_friction() {
    // Pads pressed with F and held against gravity and half the capsule's weight: 2 μ F = 1.25 m g.
    let mut simulation = Simulation::new(reference()).unwrap();
    let material = Material::with_friction(0.5);
    let capsule = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::capsule(0.1, 0.05),
            Mass::given(1.0, DVec3::new(0.004, 0.004, 0.001)),
            material,
        ))
        .unwrap();
    let press = 1.25 * G / (2.0 * 0.5);
    for side in [-1.0, 1.0] {
        simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::cuboid(0.02, 0.1, 0.1),
                Mass::given(0.5, DVec3::splat(0.01)),
                material,
                Pose::at(side * 0.07, 0.0, 0.0),
                Wrench {
                    force: DVec3::new(-side * press, 0.0, 0.5 * G + 0.5 * G),
                    ..Wrench::default()
                },
            ))
            .unwrap();
    }
    let mut worst: f64 = 0.0;
    for _ in 0..600 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "e_scaled {:e}", report.e_scaled);
        let closed = simulation.contacts().iter().filter(|c| c.impulse.x > 0.0);
        for contact in closed {
            let u = contact.local_velocity;
            worst = worst.max(libm::hypot(u.y, u.z));
        }
    }
    let fall = simulation.pose(capsule).unwrap().position.length();
    println!("slip {worst:e} m/s, capsule moved by {fall:e} m");
    assert!(worst < 1e-9, "slips at {worst:e} m/s");
    assert!(fall < 1e-8, "moved by {fall:e} m");
}
