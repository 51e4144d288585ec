//! **Law.** Contact knows no length but those of the bodies: small hulls are as far apart as large ones of the same shape.

use crate::support::*;
use moreau::geometry;

fn points(random: &mut Lcg) -> Vec<DVec3> {
    (0..12)
        .map(|_| random.symmetric_vector().normalize())
        .collect()
}

fn scaled(points: &[DVec3], size: f64) -> Vec<DVec3> {
    points.iter().map(|p| *p * size).collect()
}

fn most(points: &[DVec3], direction: DVec3) -> f64 {
    let along = points.iter().map(|p| direction.dot(*p));
    along.fold(f64::NEG_INFINITY, f64::max)
}

/// Two hulls held apart by a plane, with 2 % of their size between: one flies along the plane, past the other, and neither feels it.
#[test]
fn small_hulls_that_miss_do_not_act() {
    for size in [1e-5, 1e-4, 1e-3, 1e-1] {
        let mut random = Lcg::new(17);
        let mut acted = 0;
        for _ in 0..60 {
            let (a, b) = (points(&mut random), points(&mut random));
            let mut simulation = Simulation::new(Settings {
                time_step: 1e-3,
                threads: 1,
                gravity: DVec3::ZERO,
                ..Settings::default()
            })
            .unwrap();
            let offset = most(&a, DVec3::X) + most(&b, -DVec3::X) + 0.02;
            let hulls = [&a, &b].map(|p| Collider::convex_hull(scaled(p, size)));
            let centres = [&hulls[0], &hulls[1]].map(|hull| hull.center_of_mass().unwrap());
            let speed = 0.1 * size / 1e-3;
            let [a, b] = hulls;
            let still = simulation
                .spawn((RigidBody::Dynamic, a, Pose::from_position(centres[0])))
                .unwrap();
            let place = DVec3::new(offset, -1.5, 0.0) * size + centres[1];
            simulation
                .spawn((
                    RigidBody::Dynamic,
                    b,
                    Pose::from_position(place),
                    Twist::linear(0.0, speed, 0.0),
                ))
                .unwrap();
            for _ in 0..30 {
                simulation.step().unwrap();
            }
            let moved = simulation.pose(still).unwrap().position - centres[0];
            if moved.length() > 1e-6 * size {
                acted += 1;
            }
        }
        assert_eq!(acted, 0, "of 60, size {size} m");
    }
}

/// The smallest gap over the size, of the same two hulls at several sizes.
#[test]
fn gaps_scale_with_the_bodies() {
    let mut random = Lcg::new(9);
    for case in 0..400 {
        let (a, b) = (points(&mut random), points(&mut random));
        let turns = [random.rotation(), random.rotation()];
        let direction = random.symmetric_vector().normalize();
        let turned = |points: &[DVec3], turn: DQuat| -> Vec<DVec3> {
            points.iter().map(|p| turn * *p).collect()
        };
        let (turned_a, turned_b) = (turned(&a, turns[0]), turned(&b, turns[1]));
        // A plane across the direction holds them apart by 1 %.
        let offset = direction * (most(&turned_a, -direction) + most(&turned_b, direction) + 0.01);
        let gap = |size: f64| {
            let build = |points: &[DVec3]| {
                let points = scaled(points, size);
                Shape::ConvexHull { points }.build().unwrap()
            };
            let mut found = Vec::new();
            geometry::contacts(
                &build(&a),
                &geometry::Frame::new(offset * size, turns[0]),
                &build(&b),
                &geometry::Frame::new(DVec3::ZERO, turns[1]),
                0.1 * size,
                &mut found,
            );
            let gaps = found.iter().map(|contact| contact.gap / size);
            gaps.fold(f64::INFINITY, f64::min)
        };
        let known = gap(1.0);
        assert!(known >= 0.01 - 1e-9, "{case}: {known}");
        for size in [1e3, 1e-2, 1e-4, 1e-5] {
            let found = gap(size);
            assert!(
                (found - known).abs() < 1e-6 || found.is_infinite() && known > 0.099,
                "{case}, size {size}: {found} instead of {known}"
            );
        }
    }
}

/// A prism of four sides stands beside the lower face of one of five, across it. The edge of one touches an edge of the other at a right
/// angle, along y: no plane is farther out than that.
#[test]
fn edges_of_aligned_prisms_that_touch_do_not_overlap() {
    let prism = |sides: u32, radius: f64, half: f64| -> Vec<DVec3> {
        let corner = |k: u32| {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(k) / f64::from(sides));
            [-half, half].map(|z| DVec3::new(radius * cos, radius * sin, z))
        };
        (0..sides).flat_map(corner).collect()
    };
    let (a, b) = (prism(4, 0.1, 1.0), prism(5, 0.1, 0.1));
    let orientation = DQuat::from_xyzw(
        0.000_000_012_925_400_137_216_234,
        0.707_106_805_714_287_7,
        -0.000_000_033_611_216_482_598_714,
        -0.707_106_756_658_805_5,
    );
    let place = DVec3::new(
        0.000_152_452_893_181_664_88,
        0.195_105_656_588_656_25,
        0.327_035_585_907_757_6,
    );
    let turned: Vec<DVec3> = b.iter().map(|p| orientation * *p).collect();
    // A plane across y holds them apart, but for rounding.
    let apart = place.y - most(&a, -DVec3::Y) - most(&turned, DVec3::Y);
    assert!(apart.abs() < 1e-7, "{apart}");
    let mut found = Vec::new();
    geometry::contacts(
        &Shape::ConvexHull { points: a }.build().unwrap(),
        &geometry::Frame::new(place, DQuat::IDENTITY),
        &Shape::ConvexHull { points: b }.build().unwrap(),
        &geometry::Frame::new(DVec3::ZERO, orientation),
        0.02,
        &mut found,
    );
    for contact in &found {
        assert!(contact.gap > -1e-6, "{contact:?}");
    }
}
