//! **Law.** Rods that lie nearly side by side do not get into each other: while one end is near and at rest, the other may swing in within the same step.
//!
//! The distance of the axes of two capsules has a closed form. One is at rest along z, the other leans from it by a small angle and turns towards it
//! about its near end, by more than that angle in one step. Whatever the step does, no more than the tolerance of the projection may be left of the
//! overlap, or the report has to say so.

use crate::support::*;

const HALF: f64 = 0.3;
const RADIUS: f64 = 0.02;

/// Distance of the segments of half-length `HALF` about two poses, along their z axes: the least over points of the first, to 1e-7.
fn distance_of_axes(a: &Pose, b: &Pose) -> f64 {
    let (u, v) = (a.orientation * DVec3::Z, b.orientation * DVec3::Z);
    let to_b = |s: f64| {
        let point = a.position + u * s - b.position;
        (point - v * point.dot(v).clamp(-HALF, HALF)).length()
    };
    // Convex in s: thirds.
    let (mut low, mut high) = (-HALF, HALF);
    for _ in 0..80 {
        let third = (high - low) / 3.0;
        if to_b(low + third) < to_b(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    to_b(0.5 * (low + high))
}

/// A rod at rest and one that swings towards it.
fn rods(collider: &Collider, h: f64, lean: f64, turned: f64) -> (Simulation, [Entity; 2]) {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        threads: 1,
        gravity: DVec3::ZERO,
        ..Settings::default()
    })
    .unwrap();
    let still = simulation
        .spawn((RigidBody::Dynamic, collider.clone()))
        .unwrap();
    let orientation = turn(DVec3::X, -lean);
    let near = DVec3::new(0.0, 2.0 * RADIUS + 0.002, -HALF);
    let arm = orientation * (DVec3::Z * HALF);
    let rate = DVec3::X * (turned / h);
    let turning = simulation
        .spawn((
            RigidBody::Dynamic,
            collider.clone(),
            Pose::from_position(near + arm).with_orientation(orientation),
            Twist::from_inertial_frame(rate.cross(arm), rate, orientation),
        ))
        .unwrap();
    (simulation, [still, turning])
}

/// Depth of the overlap after one step, as far as the report does not say it.
fn unsaid_overlap(collider: &Collider, h: f64, lean: f64, turned: f64) -> f64 {
    let (mut simulation, rods) = rods(collider, h, lean, turned);
    let report = simulation.step().unwrap();
    let [a, b] = rods.map(|body| simulation.pose(body).unwrap());
    if !report.converged || report.overlap_left > 0.0 {
        return 0.0;
    }
    2.0 * RADIUS - distance_of_axes(&a, &b)
}

#[test]
fn rods_side_by_side_stay_apart() {
    let mut deepest = (0.0, String::new());
    for (name, collider) in [
        ("capsules", Collider::capsule(HALF, RADIUS)),
        // Their sides are as far apart as those of capsules; the ends of the axes are not reached here.
        ("cylinders", Collider::cylinder(HALF, RADIUS)),
    ] {
        for h in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
            for i in 1..=12 {
                for j in 1..=16 {
                    let lean = 0.01 * f64::from(i);
                    let turned = lean + 0.005 * f64::from(j);
                    let depth = unsaid_overlap(&collider, h, lean, turned);
                    if depth > deepest.0 {
                        let note = format!("{name}, h {h}, lean {lean}, turned {turned}");
                        deepest = (depth, note);
                    }
                }
            }
        }
    }
    // The tolerance of the projection is 1e-4 m.
    assert!(deepest.0 < 2e-4, "{} m deep: {}", deepest.0, deepest.1);
}

/// What swings in is met in the step in which it comes, not put back after it: the rod at rest is pushed.
#[test]
fn a_rod_that_swings_in_pushes_the_other() {
    for collider in [
        Collider::capsule(HALF, RADIUS),
        Collider::cylinder(HALF, RADIUS),
    ] {
        for h in [1.0 / 60.0, 1e-3] {
            for lean in [0.02, 0.05, 0.1] {
                for more in [0.03, 0.05] {
                    let turned = lean + more;
                    let (mut simulation, [still, turning]) = rods(&collider, h, lean, turned);
                    let mut free = simulation.pose(turning).unwrap();
                    free.position += h * simulation.twist(turning).unwrap().linear;
                    free.orientation = turn(DVec3::X, more);
                    let depth = 2.0 * RADIUS - distance_of_axes(&Pose::default(), &free);
                    simulation.step().unwrap();
                    let pushed = simulation.twist(still).unwrap().linear.y;
                    let note = format!("h {h}, lean {lean}, turned {turned}, {depth} m deep");
                    assert!(depth < 0.3 * RADIUS || pushed < 0.0, "{note}: {pushed} m/s");
                }
            }
        }
    }
}
