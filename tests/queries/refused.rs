//! Questions that make no sense are refused, by name; others never end in a panic or a number that is not finite.

use crate::support::{Random, world};
use moreau::prelude::*;

#[test]
fn what_where_value_and_bound_are_named() {
    let mut simulation = world(3, Settings::default());
    let queries = simulation.queries().unwrap();
    let every = QueryFilter::new();
    let says = |error: &dyn std::fmt::Display, words: &str| {
        assert_eq!(error.to_string(), words);
    };
    let nan = DVec3::new(0.0, f64::NAN, 0.0);
    says(
        &Ray::new(nan, DVec3::X).unwrap_err(),
        "origin of the ray is NaN, expected finite",
    );
    says(
        &Ray::new(DVec3::ZERO, DVec3::ZERO).unwrap_err(),
        "direction of the ray is 0, expected of a length > 0",
    );
    let ray = Ray::new(DVec3::ZERO, DVec3::X).unwrap();
    for length in [-1.0, f64::NAN] {
        says(
            &ray.up_to(length).unwrap_err(),
            &format!("length of the ray is {length}, expected ≥ 0, or infinite"),
        );
    }
    let sweep = Sweep::new(DVec3::X).unwrap();
    let (ball, pose) = (Collider::sphere(-1.0), Pose::default());
    says(
        &queries
            .shape_cast(&ball, &pose, &sweep, &every)
            .unwrap_err(),
        "the shape asked about: radius = -1 must be finite and > 0",
    );
    let ball = Collider::sphere(1.0);
    let far = Pose::at(f64::INFINITY, 0.0, 0.0);
    says(
        &queries.overlap_shape(&ball, &far, &every).unwrap_err(),
        "position is inf, expected finite",
    );
    says(
        &queries
            .contacts_of(&ball, &pose, f64::INFINITY, &every)
            .unwrap_err(),
        "margin of the contacts is inf, expected finite",
    );
    assert!(queries.overlap_point(nan, &every).is_err());
    assert!(queries.closest_point(DVec3::ZERO, -1.0, &every).is_err());
    assert!(
        queries
            .closest_points(&[DVec3::ZERO, nan], 1.0, &every)
            .is_err()
    );
    let turned = Pose::default().with_orientation(DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0));
    says(
        &queries
            .shape_casts(&ball, &[(turned, sweep)], &every)
            .unwrap_err(),
        "orientation norm is 2, expected 1 ± 1e-6",
    );
}

/// A number of any size, now and then none.
fn wild(random: &mut Random) -> f64 {
    match random.below(40) {
        0 => 0.0,
        1 => f64::NAN,
        2 => f64::INFINITY,
        3 => f64::MAX,
        4 => f64::MIN_POSITIVE,
        5 => -0.0,
        6 => 5e-324,
        7..12 => (random.unit() - 0.5) * libm::exp10(600.0 * (random.unit() - 0.5)),
        _ => (random.unit() - 0.5) * 30.0,
    }
}

fn wild_vector(random: &mut Random) -> DVec3 {
    DVec3::new(wild(random), wild(random), wild(random))
}

#[test]
fn a_million_wild_questions_end_in_finite_numbers_or_errors() {
    let mut simulation = world(60, Settings::default());
    let mut random = Random::new(10);
    let every = QueryFilter::new();
    let colliders: Vec<Collider> = (0..12).map(|_| random.collider()).collect();
    let queries = simulation.queries().unwrap();
    let (mut refused, mut hits) = (0, 0);
    for k in 0..1_000_000 {
        let (a, b) = (wild_vector(&mut random), wild_vector(&mut random));
        if k % 20 != 0 {
            let Ok(ray) = Ray::new(a, b).and_then(|ray| ray.up_to(wild(&mut random).abs())) else {
                refused += 1;
                continue;
            };
            let inside = if k % 2 == 0 {
                Inside::Hits
            } else {
                Inside::Leaves
            };
            let hit = queries.ray(&ray.starting_inside(inside), &every);
            if let Some(Found { at, .. }) = hit {
                hits += 1;
                let finite =
                    at.distance.is_finite() && at.point.is_finite() && at.normal.is_finite();
                assert!(
                    finite && at.distance >= 0.0 && at.distance <= ray.reach(),
                    "{ray:?} {at:?}"
                );
                assert!((at.normal.length() - 1.0).abs() < 1e-9, "{ray:?} {at:?}");
                assert!(at.normal.dot(ray.direction()) <= 0.0);
            }
            continue;
        }
        let collider = &colliders[random.below(colliders.len())];
        let pose = random.pose(1.0);
        let pose = Pose {
            position: a,
            ..pose
        };
        match k / 20 % 5 {
            0 => match queries.closest_point(a, b.x.abs(), &every) {
                Ok(Some(found)) => {
                    let at = found.at;
                    assert!(
                        at.distance.is_finite() && at.point.is_finite() && at.normal.is_finite()
                    );
                    assert!((at.normal.length() - 1.0).abs() < 1e-9, "{a} {at:?}");
                }
                Ok(None) => {}
                Err(_) => refused += 1,
            },
            1 => refused += usize::from(queries.overlap_point(a, &every).is_err()),
            2 => refused += usize::from(queries.overlap_shape(collider, &pose, &every).is_err()),
            3 => match queries.contacts_of(collider, &pose, b.x, &every) {
                Ok(all) => {
                    let finite = |at: &Found<moreau::geometry::ContactPoint>| {
                        at.at.gap.is_finite() && at.at.point.is_finite() && at.at.normal.is_finite()
                    };
                    assert!(all.iter().all(finite));
                }
                Err(_) => refused += 1,
            },
            _ => {
                let Ok(sweep) = Sweep::new(b) else {
                    refused += 1;
                    continue;
                };
                match queries.shape_cast(collider, &pose, &sweep, &every) {
                    Ok(Some(Found { at, .. })) => {
                        let finite = at.distance.is_finite() && at.point.is_finite();
                        assert!(finite && at.on_moving.is_finite() && at.distance >= 0.0);
                        assert!((at.normal.length() - 1.0).abs() < 1e-9, "{pose:?} {at:?}");
                        hits += 1;
                    }
                    Ok(None) => {}
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(refused > 10_000 && hits > 10_000, "{refused} {hits}");
}
