//! **Law.** A heap that a fast and heavy ball falls into stays in its room, and what overlaps after a step is said. What no contact pushes
//! but something comes too close to is moved out of its way: into nothing that does not move.

use crate::support::*;

const RADIUS: f64 = 0.06;
const STRIKER: f64 = 0.2;
/// Half the width of the room, and the height of what falls, m.
const HALF: f64 = 0.5;
const HEIGHT: f64 = 1.2;

/// The walls of the room, as normals inward and a point of each plane.
fn planes() -> [(DVec3, DVec3); 6] {
    let side = |normal: DVec3| (normal, normal * -HALF);
    [
        (DVec3::Z, DVec3::ZERO),
        (-DVec3::Z, DVec3::Z * (HEIGHT + 0.3)),
        side(DVec3::X),
        side(-DVec3::X),
        side(DVec3::Y),
        side(-DVec3::Y),
    ]
}

/// Balls in loose layers, and one of 20 t/m³ that falls on them at 300 m/s.
fn heap(seed: u64, plates: bool) -> (Simulation, Vec<(Entity, f64)>) {
    let mut random = Lcg::new(seed);
    let mut simulation = Simulation::new(Settings {
        time_step: 1e-3,
        threads: 1,
        ..Settings::default()
    })
    .unwrap();
    let material = |density: f64| Material {
        density,
        restitution: 0.5,
        ..Material::with_friction(0.5)
    };
    for (normal, at) in planes() {
        let (collider, place) = if plates {
            // 2 cm thick.
            let half = DVec3::splat(3.0) - normal.abs() * 2.99;
            (Collider::cuboid(half.x, half.y, half.z), at - normal * 0.01)
        } else {
            (Collider::half_space(normal), at)
        };
        let wall = (collider, material(1e3), Pose::from_position(place));
        simulation.spawn((RigidBody::Static, wall)).unwrap();
    }
    let pitch = 2.3 * RADIUS;
    let row = ((2.0 * HALF - 0.02) / pitch) as usize;
    let mut balls = Vec::new();
    for k in 0..300 {
        let place = [k % row, k / row % row, k / row / row].map(|n| n as f64 * pitch);
        let begin = DVec3::new(0.5 * pitch - HALF, 0.5 * pitch - HALF, 0.6 * pitch) + 0.01;
        let shift = random.symmetric_vector() * (0.05 * RADIUS);
        let at = Pose::from_position(begin + DVec3::from_array(place) + shift);
        let ball = (
            RigidBody::Dynamic,
            Collider::sphere(RADIUS),
            material(1e3),
            at,
        );
        balls.push((simulation.spawn(ball).unwrap(), RADIUS));
    }
    let striker = (
        RigidBody::Dynamic,
        Collider::sphere(STRIKER),
        material(2e4),
        Pose::from_position(DVec3::Z * HEIGHT),
        Twist::linear(0.0, 0.0, -300.0),
    );
    balls.push((simulation.spawn(striker).unwrap(), STRIKER));
    (simulation, balls)
}

/// Depth of a ball beyond a plane of the room, m.
fn beyond(center: DVec3, radius: f64, (normal, at): (DVec3, DVec3)) -> f64 {
    radius - normal.dot(center - at)
}

#[test]
fn no_ball_leaves_a_room_of_thin_plates() {
    let seeds = 1..=4;
    let mut wrong = Vec::new();
    for seed in seeds.clone() {
        let (mut simulation, balls) = heap(seed, true);
        for _ in 0..50 {
            simulation.step().unwrap();
        }
        let is_out = |(ball, radius): &&(Entity, f64)| {
            let center = simulation.pose(*ball).unwrap().position;
            let out = |plane| beyond(center, 0.0, plane) > *radius;
            planes().into_iter().any(out)
        };
        let out = balls.iter().filter(is_out).count();
        if out > 0 {
            wrong.push(format!("seed {seed}: {out} balls"));
        }
    }
    none_of(seeds.count(), &wrong);
}

/// Of balls and planes depths are exact: the report tells the deepest, or it is within the tolerance of the projection.
#[test]
fn overlaps_that_are_left_are_said() {
    let steps = 12;
    let mut wrong = Vec::new();
    for seed in 1..=3 {
        let (mut simulation, balls) = heap(seed, false);
        let tolerance = simulation.settings().projection.tolerance;
        for step in 1..=steps {
            let said = simulation.step().unwrap().overlap_left;
            let centers = balls.iter();
            let centers: Vec<_> = centers
                .map(|(ball, radius)| (simulation.pose(*ball).unwrap().position, *radius))
                .collect();
            let mut deepest: f64 = 0.0;
            for (k, (center, radius)) in centers.iter().enumerate() {
                for plane in planes() {
                    deepest = deepest.max(beyond(*center, *radius, plane));
                }
                for (other, own) in &centers[..k] {
                    deepest = deepest.max(radius + own - center.distance(*other));
                }
            }
            // What was carried along may be off by as much as is left alone.
            if deepest > said.max(2.0 * tolerance) * (1.0 + 1e-9) {
                wrong.push(format!(
                    "seed {seed}, step {step}: {deepest:.1e} m, said {said:.1e}"
                ));
            }
        }
    }
    none_of(3 * steps, &wrong);
}
