//! **Law.** Rings that are linked stay so, however hard one is torn at: the linking number of their centre lines is kept.

use crate::support::*;
use std::f64::consts::{FRAC_PI_2, PI};

/// Half of the length and of the width of a ring, and the radius of its wire, m.
const LONG: f64 = 0.1;
const WIDE: f64 = 0.06;
const WIRE: f64 = 0.012;

/// In the plane across x, long along z.
fn ring(round: bool) -> Collider {
    let mut parts = Vec::new();
    for side in [-1.0, 1.0] {
        let (along, across) = (
            Pose::at(0.0, side * WIDE, 0.0),
            Pose::at(0.0, 0.0, side * LONG),
        );
        if round {
            let wire = |half_height| Shape::Capsule {
                half_height,
                radius: WIRE,
            };
            let turned = DQuat::from_rotation_x(FRAC_PI_2);
            parts.push((along, wire(LONG)));
            parts.push((across.with_orientation(turned), wire(WIDE)));
        } else {
            let wire = |y, z| Shape::Cuboid {
                half_extents: DVec3::new(WIRE, y, z),
            };
            parts.push((along, wire(WIRE, LONG + WIRE)));
            parts.push((across, wire(WIDE + WIRE, WIRE)));
        }
    }
    Collider::compound(parts)
}

/// By Gauss, of two quadrilaterals: the solid angles under which their sides see each other.
fn linking_number(poses: [Pose; 2]) -> f64 {
    let corners = poses.map(|pose| {
        let corner = |(y, z): (f64, f64)| pose.position + pose.orientation * DVec3::new(0.0, y, z);
        [(WIDE, LONG), (-WIDE, LONG), (-WIDE, -LONG), (WIDE, -LONG)].map(corner)
    });
    let side = |ring: usize, k: usize| [corners[ring][k], corners[ring][(k + 1) % 4]];
    let mut sum = 0.0;
    for ([p, q], [r, s]) in (0..16).map(|k| (side(0, k / 4), side(1, k % 4))) {
        let ways = [r - p, s - p, s - q, r - q];
        let normals = [0, 1, 2, 3].map(|k| ways[k].cross(ways[(k + 1) % 4]).normalize_or_zero());
        let angles = [0, 1, 2, 3].map(|k| normals[k].dot(normals[(k + 1) % 4]).clamp(-1.0, 1.0));
        let sign = (s - r).cross(q - p).dot(ways[0]).signum();
        sum += sign * angles.map(libm::asin).iter().sum::<f64>();
    }
    sum / (4.0 * PI)
}

/// A ring is torn at along a random direction and back, with this part of the radius of its wire a step; what it pulls bounces. True if they are linked after a second.
fn stay_linked(round: bool, e: f64, way: f64, random: &mut Lcg) -> bool {
    let h = 1.0 / 60.0;
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        gravity: DVec3::ZERO,
        threads: 1,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    })
    .unwrap();
    let mut number = |low: f64, high: f64| low + (high - low) * random.uniform();
    let material = Material {
        friction: if number(0.0, 1.0) < 0.5 { 0.0 } else { 0.5 },
        restitution: e,
        ..Material::default()
    };
    let hand = (RigidBody::Kinematic, ring(round), material, Pose::default());
    let hand = simulation.spawn(hand).unwrap();
    let below = 2.0 * (LONG - WIRE) - number(0.005, 0.05);
    let pose = Pose::at(number(-0.02, 0.02), number(-0.02, 0.02), -below);
    let pose = pose.with_orientation(DQuat::from_rotation_z(FRAC_PI_2 + number(-0.3, 0.3)));
    let other = (
        RigidBody::Dynamic,
        ring(round),
        Mass::scaled_to(1.0),
        material,
        pose,
    );
    let other = simulation.spawn(other).unwrap();
    let direction = DVec3::from_array([0, 1, 2].map(|_| number(-1.0, 1.0))).normalize();
    let linear = direction * (way * WIRE / h);
    let linked = |simulation: &Simulation| {
        let poses = [hand, other].map(|body| simulation.pose(body).unwrap());
        linking_number(poses).abs() > 0.5
    };
    assert!(linked(&simulation));
    for step in 0..60 {
        let twist = Twist {
            linear: if step < 30 { linear } else { -linear },
            angular: DVec3::ZERO,
        };
        simulation.set(hand, twist);
        simulation.step().unwrap();
        if !linked(&simulation) {
            return false;
        }
    }
    true
}

/// How many of 80 come apart, of what does.
fn come_apart(cases: &[(f64, f64)]) -> Vec<String> {
    let mut random = Lcg::new(11);
    let mut apart = Vec::new();
    for round in [true, false] {
        for (e, way) in cases {
            let count = (0..80).filter(|_| !stay_linked(round, *e, *way, &mut random));
            let count = count.count();
            if count > 0 {
                apart.push(format!(
                    "round {round} e {e} {way} radii a step: {count} of 80"
                ));
            }
        }
    }
    apart
}

#[test]
fn linked_rings_stay_linked() {
    let cases = [
        (0.0, 1.0),
        (0.0, 2.0),
        (0.0, 5.0),
        (0.5, 1.0),
        (0.5, 2.0),
        (1.0, 1.0),
    ];
    let apart = come_apart(&cases);
    assert!(apart.is_empty(), "{apart:#?}");
}

#[test]
#[ignore = "a known fault: with e = 1 from two radii a step on, and with 0.5 from five, rings come apart in steps that are followed along other ways than bodies turn"]
fn linked_rings_stay_linked_at_any_speed() {
    let apart = come_apart(&[
        (0.0, 10.0),
        (0.5, 10.0),
        (1.0, 2.0),
        (1.0, 5.0),
        (1.0, 10.0),
    ]);
    assert!(apart.is_empty(), "{apart:#?}");
}
