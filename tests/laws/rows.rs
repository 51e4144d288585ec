//! **Law.** A long row on the floor is pushed as one body, or not at all: what a solved step leaves at its contacts does not add up along it.
//!
//! A force `f` on the first of `N` equal bodies moves all by `v_{k+1} = v_k + h (f/(N m) − μ g)`, and none if it is less than their friction. As in
//! `tall`, what is left of the velocity of a body is a hundredth of `h g`, ten times that where the row slides.

use crate::support::*;

const HALF: f64 = 0.1;
const FRICTION: f64 = 0.3;
const RATE: f64 = 60.0;
const STEPS: usize = 60;

/// How far a body may be off after these steps, m.
fn most(slides: bool) -> f64 {
    let left = if slides { 0.1 } else { 0.01 };
    left / RATE * 9.81 * (STEPS as f64 / RATE)
}

fn row(count: usize, parts: bool) -> (Simulation, Vec<Entity>) {
    let mut simulation = Simulation::new(Settings {
        time_step: 1.0 / RATE,
        threads: 1,
        ..Settings::default()
    })
    .unwrap();
    let material = Material::with_friction(FRICTION);
    ground(&mut simulation, material);
    let cube = if parts {
        let half = DVec3::new(0.5 * HALF, HALF, HALF);
        let part = |x: f64| (Pose::at(x, 0.0, 0.0), Shape::Cuboid { half_extents: half });
        Collider::compound(vec![part(-0.5 * HALF), part(0.5 * HALF)])
    } else {
        Collider::cuboid(HALF, HALF, HALF)
    };
    let place = |at: usize| Pose::at(2.0 * HALF * at as f64, 0.0, HALF);
    let bodies = (0..count).map(|at| {
        let body = (RigidBody::Dynamic, cube.clone(), material, place(at));
        simulation.spawn(body).unwrap()
    });
    let bodies = bodies.collect();
    (simulation, bodies)
}

/// How far the farthest body is from where all are to be, m.
fn off(simulation: &Simulation, bodies: &[Entity], way: f64) -> f64 {
    let places = bodies.iter().enumerate().map(|(at, body)| {
        let start = DVec3::new(2.0 * HALF * at as f64 + way, 0.0, HALF);
        (simulation.pose(*body).unwrap().position - start).length()
    });
    places.fold(0.0, f64::max)
}

#[test]
fn a_row_is_pushed_as_one() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for parts in [false, true] {
        for (bodies_count, part) in [(120, 1.2), (200, 0.9), (200, 1.2), (300, 1.2)] {
            let (mut simulation, bodies) = row(bodies_count, parts);
            let weight = 8.0 * HALF.powi(3) * 1000.0 * bodies_count as f64 * 9.81;
            let force = part * FRICTION * weight;
            let mut unsolved = 0;
            for _ in 0..STEPS {
                let at = simulation.pose(bodies[0]).unwrap().position;
                let impulse = DVec3::X * (force / RATE);
                simulation.apply_impulse(bodies[0], impulse, at).unwrap();
                unsolved += usize::from(!simulation.step().unwrap().converged);
            }
            let pull = (part - 1.0).max(0.0) * FRICTION * 9.81;
            let steps = STEPS as f64;
            let way = 0.5 * pull * steps * (steps + 1.0) / (RATE * RATE);
            let off = off(&simulation, &bodies, way);
            count += 1;
            if off > most(part > 1.0) || unsolved > 0 {
                wrong.push(format!("{bodies_count} cubes, parts {parts}, {part} of their friction: {off:.1e} m off, {unsolved} steps not solved"));
            }
        }
    }
    none_of(count, &wrong);
}

/// A wall that moves pushes it.
#[test]
fn a_row_goes_with_what_pushes_it() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for speed in [0.1, 1.0] {
        let (mut simulation, bodies) = row(200, false);
        let wall = (
            RigidBody::Kinematic,
            Collider::cuboid(HALF, 5.0 * HALF, 5.0 * HALF),
            Material::with_friction(0.0),
            Pose::at(-2.0 * HALF, 0.0, 5.1 * HALF),
            Twist::linear(speed, 0.0, 0.0),
        );
        simulation.spawn(wall).unwrap();
        let mut unsolved = 0;
        for _ in 0..STEPS {
            unsolved += usize::from(!simulation.step().unwrap().converged);
        }
        let off = off(&simulation, &bodies, speed * STEPS as f64 / RATE);
        count += 1;
        if off > most(true) || unsolved > 0 {
            wrong.push(format!(
                "pushed at {speed} m/s: {off:.1e} m off, {unsolved} steps not solved"
            ));
        }
    }
    none_of(count, &wrong);
}
