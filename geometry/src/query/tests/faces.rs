//! Faces of polyhedra.

use super::Random;
use crate::query::{convex_part, is_near, parts_near};
use crate::{Frame, Shape};
use glam::DVec3;

/// A cube has six faces, as far from its centre as its half extents, at any pose; a ball has none.
#[test]
fn a_cuboid_has_six_faces() {
    let half_extents = DVec3::new(1.0, 2.0, 3.0);
    let cuboid = Shape::Cuboid { half_extents }.build().unwrap();
    let mut random = Random::new(4);
    for _ in 0..20 {
        let pose = random.pose(10.0);
        let solid = convex_part(&cuboid, &pose, None).unwrap();
        let heights: Vec<f64> = solid
            .faces()
            .map(|face| {
                let own = pose.inverse_rotate(face.normal).abs();
                assert!((face.height(pose.position) + own.dot(half_extents)).abs() < 1e-12);
                face.height(solid.farthest(face.normal))
            })
            .collect();
        assert_eq!(heights.len(), 6);
        assert!(heights.iter().all(|height| height.abs() < 1e-12));
    }
    let ball = Shape::Sphere { radius: 1.0 }.build().unwrap();
    let ball = convex_part(&ball, &Frame::IDENTITY, None).unwrap();
    assert_eq!(ball.faces().count(), 0);
}

/// Points around a place on a face lie in the face, no farther from the place than was asked for.
#[test]
fn points_around_a_place_lie_in_the_face() {
    let mut random = Random::new(5);
    for _ in 0..50 {
        let points = (0..12).map(|_| random.vector()).collect();
        let hull = Shape::ConvexHull { points }.build().unwrap();
        let pose = random.pose(3.0);
        let solid = convex_part(&hull, &pose, None).unwrap();
        for face in solid.faces() {
            let inner: Vec<DVec3> = face.around(pose.position, f64::INFINITY).collect();
            let middle = inner.iter().sum::<DVec3>() / inner.len() as f64;
            for place in face.around(middle + face.normal, 0.01) {
                assert!(face.height(place).abs() < 1e-12);
                assert!(place.distance(middle) < 0.01 + 1e-12);
                let within = solid.faces().all(|other| other.height(place) < 1e-12);
                assert!(within);
            }
        }
    }
}

/// Which parts of a compound a point is near to, and which hold it. There is no part of a compound that has no number, nor of a half-space.
#[test]
fn a_point_is_near_to_these_parts() {
    let cube = Shape::Cuboid {
        half_extents: DVec3::ONE,
    };
    let at = |x: f64| (Frame::from_position(DVec3::X * x), cube.clone());
    let two = Shape::Compound {
        parts: vec![at(0.0), at(2.5)],
    };
    let two = two.build().unwrap();
    for (x, near, within) in [
        (0.0, vec![0], vec![0]),
        (1.0, vec![0], vec![0]),
        (1.05, vec![0], vec![]),
        (1.45, vec![1], vec![]),
        (1.3, vec![], vec![]),
    ] {
        let place = DVec3::X * x;
        let found: Vec<usize> = parts_near(&two, &Frame::IDENTITY, place, 0.1).collect();
        assert_eq!(found, near, "{x}");
        let part = |part: usize| convex_part(&two, &Frame::IDENTITY, Some(part)).unwrap();
        let held = (0..2).filter(|number| part(*number).holds(place));
        assert_eq!(held.collect::<Vec<_>>(), within, "{x}");
    }
    let one = cube.build().unwrap();
    let is_near_one = |x: f64| is_near(&one, &Frame::IDENTITY, DVec3::X * x, 0.1);
    assert!(is_near_one(1.05) && !is_near_one(1.2));
    let second = convex_part(&two, &Frame::IDENTITY, Some(1)).unwrap();
    let second: Vec<f64> = second
        .faces()
        .map(|face| face.height(DVec3::X * 2.5))
        .collect();
    assert_eq!(second, vec![-1.0; 6]);
    for part in [None, Some(2)] {
        assert!(convex_part(&two, &Frame::IDENTITY, part).is_none());
    }
    let ground = Shape::HalfSpace { normal: DVec3::Z }.build().unwrap();
    assert!(convex_part(&ground, &Frame::IDENTITY, None).is_none());
}
