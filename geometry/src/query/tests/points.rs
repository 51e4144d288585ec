//! Points against one shape.

use super::{Random, ball_of_triangles, compound, field, solids};
use crate::geometry::Body;
use crate::query::{closest_point, contains};
use crate::{Frame, Geometry, Shape};
use glam::DVec3;

fn nearest(shape: &Geometry, pose: &Frame, point: DVec3) -> crate::query::PointHit {
    closest_point(shape, pose, point, f64::INFINITY)
        .unwrap()
        .unwrap()
}

/// For a convex solid the plane across the normal through the nearest point holds all of it, and the distance within is the least to such a plane.
#[test]
fn the_nearest_point_of_a_solid_is_optimal() {
    let mut random = Random::new(1);
    for size in [1e-3, 1.0, 1e3] {
        for solid in solids(size) {
            for _ in 0..1000 {
                let pose = random.pose(5.0 * size);
                let point = pose.position + random.vector() * 1.5 * size;
                let found = nearest(&solid, &pose, point);
                let near = 1e-12 * size;
                let back = found.point + found.normal * found.distance;
                assert!((back - point).length() < 10.0 * near);
                assert_eq!(
                    contains(&solid, &pose, point).unwrap(),
                    found.distance <= 0.0
                );
                if found.distance > 0.0 {
                    let support = solid.support(&pose, found.normal).unwrap();
                    assert!((support - found.normal.dot(found.point)).abs() < 10.0 * near);
                } else {
                    for _ in 0..20 {
                        let direction = random.direction();
                        let depth = solid.support(&pose, direction).unwrap() - direction.dot(point);
                        assert!(depth > -found.distance - near);
                    }
                }
            }
        }
    }
}

#[test]
fn surfaces_and_compounds_are_as_near_as_their_nearest_part() {
    let mut random = Random::new(2);
    for shape in [ball_of_triangles(1.0, 12, 20), field(1.0)] {
        let surface = shape.build().unwrap();
        let Body::Surface(sheet) = surface.body() else {
            panic!()
        };
        let count = match &shape {
            Shape::TriangleMesh { triangles, .. } => triangles.len() as u32,
            _ => 2 * 29 * 39,
        };
        for _ in 0..300 {
            let pose = random.pose(2.0);
            let point = pose.position + random.vector() * 3.0;
            let found = nearest(&surface, &pose, point);
            let local = pose.inverse_transform_point(point);
            let distances = (0..count).map(|t| {
                // By its corners in barycentric coordinates: a sample, and never less.
                let [a, b, c] = sheet.corners_of(t);
                let foot = super::super::point::on_triangle(local, &[a, b, c]);
                let samples = (0..6).flat_map(|i| {
                    (0..6 - i).map(move |j| (f64::from(i) / 5.0, f64::from(j) / 5.0))
                });
                let sampled = samples.map(|(u, v)| (a + (b - a) * u + (c - a) * v).distance(local));
                let distance = foot.distance(local);
                assert!(sampled.fold(f64::INFINITY, f64::min) >= distance * (1.0 - 1e-12));
                distance
            });
            let least = distances.fold(f64::INFINITY, f64::min);
            assert!((found.distance - least).abs() < 1e-12);
            let back = found.point + found.normal * found.distance;
            assert!((back - point).length() < 1e-11);
            assert!(!contains(&surface, &pose, point).unwrap());
            let short = closest_point(&surface, &pose, point, 0.5 * found.distance).unwrap();
            assert!(short.is_none());
        }
    }
    let shape = compound(1.0);
    let Shape::Compound { parts } = &shape else {
        panic!()
    };
    let whole = shape.build().unwrap();
    for _ in 0..300 {
        let pose = random.pose(2.0);
        let point = pose.position + random.vector() * 2.0;
        let found = nearest(&whole, &pose, point);
        let own = parts.iter().map(|(place, part)| {
            nearest(&part.build().unwrap(), &pose.compose(place), point).distance
        });
        let least = own.fold(f64::INFINITY, f64::min);
        assert!((found.distance - least).abs() < 1e-12);
    }
}
