//! Distances and overlaps of two shapes.

use super::{Random, ball_of_triangles, compound, solids, tolerance};
use crate::query::{distance, overlaps};
use crate::{Frame, Shape};
use glam::DVec3;

/// Apart, the planes across the normal hold both, and the points are in both: no other answer is right. In overlap no sampled direction needs less.
#[test]
fn distances_of_solids_are_optimal() {
    let mut random = Random::new(1);
    let mut counts = [0; 2];
    for size in [1e-2, 1.0, 1e2] {
        let all = solids(size);
        for (i, a) in all.iter().enumerate() {
            for b in &all[i..] {
                for _ in 0..12 {
                    let (pose_a, pose_b) = (random.pose(size), random.pose(1.4 * size));
                    let found = distance(a, &pose_a, b, &pose_b).unwrap();
                    let n = found.normal;
                    let near = tolerance(a, b) * size;
                    assert!((n.length() - 1.0).abs() < 1e-12);
                    let across = (found.on_b + n * found.distance - found.on_a).length();
                    assert!(
                        across < near,
                        "{across:e} {:?} {:?}",
                        a.shape().kind(),
                        b.shape().kind()
                    );
                    let separation = |l: DVec3| {
                        -a.support(&pose_a, -l).unwrap() - b.support(&pose_b, l).unwrap()
                    };
                    let held = separation(n);
                    assert!(
                        (held - found.distance).abs() < near,
                        "{held} {found:?} {:?} {:?}",
                        a.shape().kind(),
                        b.shape().kind()
                    );
                    for _ in 0..30 {
                        let other = separation(random.direction());
                        assert!(
                            other <= found.distance + near,
                            "{other} {found:?} {:?} {:?}",
                            a.shape(),
                            b.shape()
                        );
                    }
                    let back = distance(b, &pose_b, a, &pose_a).unwrap();
                    assert!((back.distance - found.distance).abs() < near);
                    if found.distance.abs() > near {
                        let met = overlaps(a, &pose_a, b, &pose_b);
                        assert_eq!(
                            met,
                            found.distance < 0.0,
                            "{found:?} {:?} {:?}",
                            a.shape(),
                            b.shape()
                        );
                        counts[usize::from(met)] += 1;
                    }
                }
            }
        }
    }
    assert!(counts[0] > 200 && counts[1] > 200, "{counts:?}");
}

#[test]
fn planes_surfaces_and_compounds_are_as_near_as_their_parts() {
    let mut random = Random::new(2);
    let plane = Shape::HalfSpace {
        normal: DVec3::new(0.6, 0.0, 0.8),
    }
    .build()
    .unwrap();
    let mesh = ball_of_triangles(1.0, 8, 10).build().unwrap();
    let crate::geometry::Body::Surface(sheet) = mesh.body() else {
        panic!()
    };
    let whole = compound(1.0).build().unwrap();
    let Shape::Compound { parts } = whole.shape() else {
        panic!()
    };
    for solid in solids(0.4) {
        for _ in 0..20 {
            let (pose, place) = (random.pose(1.5), random.pose(0.5));
            let found = distance(&solid, &pose, &plane, &place).unwrap();
            let normal = place.rotate(DVec3::new(0.6, 0.0, 0.8));
            let height = -solid.support(&pose, -normal).unwrap() - normal.dot(place.position);
            assert!(
                (found.distance - height).abs() < 1e-12 && (found.normal - normal).length() < 1e-12
            );
            assert_eq!(overlaps(&plane, &place, &solid, &pose), height <= 0.0);

            let found = distance(&mesh, &place, &solid, &pose).unwrap();
            let corners = (0..160).map(|t| sheet.corners_of(t).map(|x| place.transform_point(x)));
            let mut least = f64::INFINITY;
            for [a, b, c] in corners {
                // A triangle with a little thickness is a hull.
                let lift = (b - a).cross(c - a).normalize() * 2e-3;
                let points = vec![a, b, c, a - lift, b - lift, c - lift];
                let thick = Shape::ConvexHull { points }.build().unwrap();
                let own = distance(&thick, &Frame::IDENTITY, &solid, &pose)
                    .unwrap()
                    .distance;
                least = least.min(own);
            }
            // Apart it is by no more than the thickness nearer, and cut if the triangles are.
            if least > 1e-3 {
                assert!(
                    (found.distance - least).abs() < 3e-3,
                    "{} {least}",
                    found.distance
                );
                assert!(!overlaps(&mesh, &place, &solid, &pose));
            }
            if found.distance.abs() > 1e-8 {
                assert_eq!(overlaps(&solid, &pose, &mesh, &place), found.distance < 0.0);
            }

            let found = distance(&whole, &place, &solid, &pose).unwrap();
            let own = parts.iter().map(|(at, part)| {
                let part = part.build().unwrap();
                distance(&part, &place.compose(at), &solid, &pose)
                    .unwrap()
                    .distance
            });
            let least = own.fold(f64::INFINITY, f64::min);
            assert!((found.distance - least).abs() < 1e-8);
        }
    }
    assert!(distance(&plane, &Frame::IDENTITY, &mesh, &Frame::IDENTITY).is_none());
}
