//! **Law.** Bodies may come and go between any two steps; what happens to others depends only on the contacts they
//! have. Warm starts belong to contacts, not to storage: bodies elsewhere keep theirs.
//!
//! A resting stack that is disturbed by nothing continues bit by bit when bodies out of its reach are spawned and
//! despawned, as bodies are ordered by id and the stack's contacts keep their impulses. A stack that starts
//! from its impulses is solved in the fewest sweeps; from zero it takes many more.

use crate::support::*;

fn stack(simulation: &mut Simulation) -> Vec<Entity> {
    simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z), BodyId(0)))
        .unwrap();
    (0..6)
        .map(|i| {
            simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::cuboid(0.5, 0.5, 0.5),
                    BodyId(10 + i),
                    Pose::at(0.0, 0.0, 0.5 + i as f64),
                ))
                .unwrap()
        })
        .collect()
}

#[test]
fn spawning_elsewhere_keeps_warm_starts() {
    let mut simulation = Simulation::new(reference()).unwrap();
    let mut control = Simulation::new(reference()).unwrap();
    let bodies = stack(&mut simulation);
    let control_bodies = stack(&mut control);
    let cold = simulation.step().unwrap().sweeps;
    control.step().unwrap();
    let mut guests: Vec<Entity> = Vec::new();
    for step in 0..60 {
        // Ids below, among and above those of the stack, in free flight far away.
        if step % 2 == 0 {
            for id in [1, 9, 30] {
                let far = Pose::at(50.0 + id as f64, 0.0, 10.0);
                let guest = (RigidBody::Dynamic, Collider::sphere(0.2), BodyId(id), far);
                guests.push(simulation.spawn(guest).unwrap());
            }
        } else {
            for guest in guests.drain(..) {
                assert!(simulation.despawn(guest));
            }
        }
        let report = simulation.step().unwrap();
        let alone = control.step().unwrap();
        assert_eq!(report.bodies, alone.bodies + guests.len());
        assert_eq!(report.sweeps, alone.sweeps, "step {step}");
        assert!(
            report.sweeps * 3 < cold,
            "{} of {cold} sweeps",
            report.sweeps
        );
        for (body, other) in bodies.iter().zip(&control_bodies) {
            assert_eq!(simulation.pose(*body), control.pose(*other), "step {step}");
            assert_eq!(simulation.twist(*body), control.twist(*other));
        }
    }
}

#[test]
fn removing_the_lowest_cube_lets_the_others_fall() {
    let mut simulation = Simulation::new(reference()).unwrap();
    let bodies = stack(&mut simulation);
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    simulation.despawn(bodies[0]);
    let start = simulation.time();
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        assert!(
            report.converged,
            "e_scaled {:e} after {} sweeps",
            report.e_scaled, report.sweeps
        );
        // Together, and freely: no contact among them carries anything.
        let fall = 0.5 * G * (simulation.time() - start).powi(2);
        for (i, body) in bodies.iter().enumerate().skip(1) {
            let z = simulation.pose(*body).unwrap().position.z;
            assert!(
                (z - (0.5 + i as f64 - fall)).abs() <= 1e-9,
                "cube {i} at {z} after a fall of {fall}"
            );
        }
    }
    assert!(!simulation.despawn(bodies[0]), "it is gone already");
}

#[test]
fn despawning_everything_leaves_a_world_that_steps() {
    let mut simulation = Simulation::new(reference()).unwrap();
    let bodies = stack(&mut simulation);
    simulation.step().unwrap();
    for body in bodies {
        simulation.despawn(body);
    }
    let report = simulation.step().unwrap();
    assert_eq!((report.bodies, report.contacts), (1, 0));
    let again = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(0.5),
            BodyId(10),
            Pose::at(0.0, 0.0, 0.5),
        ))
        .unwrap();
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    assert!((simulation.pose(again).unwrap().position.z - 0.5).abs() <= 1e-9);
}

#[test]
fn a_body_without_collider_flies() {
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    let point = simulation
        .spawn((
            RigidBody::Dynamic,
            Mass::given(1.0, DVec3::ONE),
            Pose::at(0.0, 0.0, 0.01),
        ))
        .unwrap();
    for _ in 0..20 {
        simulation.step().unwrap();
    }
    assert!(simulation.pose(point).unwrap().position.z < 0.0);
}
