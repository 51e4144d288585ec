//! **Law.** A box that is thrown into a corner is stopped by each of its walls, whether these are bodies of their own or parts of one, and whichever it
//! meets first: without restitution it keeps what it has along the walls that it meets, and passes none.
//!
//! Box and walls are parallel, and nothing turns. Solved steps leave 1e-3 of the speed; the projection leaves a thousandth of the half-thickness.

use crate::meeting::{fixed, flying};
use crate::support::*;

/// The walls across the first so many axes: their inner faces are at zero, and the corner is on the positive side.
fn walls(count: usize, size: f64) -> Vec<(Pose, DVec3)> {
    let across = |axis: usize| {
        let normal = DVec3::AXES[axis];
        let half = DVec3::splat(400.0 * size) - normal * (398.0 * size);
        (Pose::from_position(normal * (-2.0 * size)), half)
    };
    (0..count).map(across).collect()
}

/// A box that is put together from eight.
fn eighths(half: DVec3) -> Collider {
    let part = |i: u32| {
        let side = |bit: u32| if i & bit == 0 { -0.5 } else { 0.5 };
        let at = half * DVec3::new(side(1), side(2), side(4));
        (
            Pose::from_position(at),
            Shape::Cuboid {
                half_extents: 0.5 * half,
            },
        )
    };
    Collider::compound((0..8).map(part).collect())
}

#[test]
fn a_box_thrown_into_a_corner_is_stopped_by_each_wall() {
    let mut random = Lcg::new(31);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for case in 0..1500 {
        let mut number = |low: f64, high: f64| low + (high - low) * random.uniform();
        let size = 0.01 * libm::pow(100.0, number(0.0, 1.0));
        let h = [1.0 / 240.0, 1.0 / 60.0, 1.0 / 20.0][number(0.0, 3.0) as usize];
        let of_walls = number(1.0, 4.0) as usize;
        let is_one = number(0.0, 1.0) < 0.5;
        let half = DVec3::from_array([0, 1, 2].map(|_| size * number(0.5, 1.0)));
        // Up to thirty sizes a step, towards all walls, which it meets within two steps.
        let v = DVec3::from_array([0, 1, 2].map(|_| -size / h * number(0.2, 30.0)));
        let at =
            DVec3::from_array([0, 1, 2].map(|axis| half[axis] - v[axis] * h * number(0.0, 2.0)));
        let walls = walls(of_walls, size);
        let mut bodies = if is_one {
            let part = |(pose, half_extents): &(Pose, DVec3)| {
                (
                    *pose,
                    Shape::Cuboid {
                        half_extents: *half_extents,
                    },
                )
            };
            let corner = Collider::compound(walls.iter().map(part).collect());
            let centre = corner.center_of_mass().unwrap();
            vec![fixed(0, corner, centre)]
        } else {
            let wall = |(id, (pose, half)): (usize, &(Pose, DVec3))| {
                fixed(
                    id as u64,
                    Collider::cuboid(half.x, half.y, half.z),
                    pose.position,
                )
            };
            walls.iter().enumerate().map(wall).collect()
        };
        let body = if number(0.0, 1.0) < 0.5 {
            Collider::cuboid(half.x, half.y, half.z)
        } else {
            eighths(half)
        };
        bodies.push(flying(10, body, at, v));
        for body in &mut bodies {
            body.material = Material::frictionless(0.0);
        }
        let settings = Settings {
            time_step: h,
            gravity: DVec3::ZERO,
            ..Settings::default()
        };
        let mut state = StepState::default();
        state.set_bodies(&bodies).unwrap();
        for _ in 0..8 {
            state.step(&settings).unwrap();
        }
        let end = state.twist(BodyId(10)).unwrap().linear;
        let place = state.pose(BodyId(10)).unwrap().position;
        count += 1;
        let off = (0..3).any(|axis| {
            let stopped = axis < of_walls;
            let want = if stopped { 0.0 } else { v[axis] };
            let passes = stopped && place[axis] < 0.99 * half[axis];
            (end[axis] - want).abs() > 1e-3 * v.length() || passes
        });
        if off {
            wrong.push(format!("case {case}: {of_walls} walls, one body {is_one}, size {size:.1e} h {h:.4}: v {v} ends with {end} at {place}"));
        }
    }
    none_of(count, &wrong);
}
