//! Features name the parts that meet.

use super::*;

fn ball(radius: f64) -> Shape {
    Shape::Sphere { radius }
}

fn rod(half: f64) -> Shape {
    Shape::Cuboid {
        half_extents: DVec3::new(half, 0.1, 0.1),
    }
}

/// Three parts in a row along x, 1 m apart.
fn row(shapes: [Shape; 3]) -> Geometry {
    let placed = shapes.into_iter().enumerate();
    build(Shape::Compound {
        parts: placed
            .map(|(index, shape)| (at(index as f64 - 1.0, 0.0, 0.0), shape))
            .collect(),
    })
}

#[test]
fn features_name_the_parts_of_compounds() {
    let three = row([ball(0.2), rod(0.2), ball(0.2)]);
    let floor = build(Shape::HalfSpace { normal: DVec3::Z });
    let mesh = build(Shape::TriangleMesh {
        vertices: [(-3.0, -3.0), (3.0, -3.0), (0.0, 4.0)]
            .map(|(x, y)| DVec3::new(x, y, 0.0))
            .to_vec(),
        triangles: vec![[0, 1, 2]],
    });
    let slab = cuboid(3.0, 3.0, 0.5);
    // Whatever it lies on, the parts are where the points are.
    for (other, height) in [(&floor, 0.0), (&mesh, 0.0), (&slab, -0.5)] {
        let (up, down) = (at(0.0, 0.0, 0.2), at(0.0, 0.0, height));
        let points = found(&three, &up, other, &down, 0.15);
        assert!(points.len() >= 6, "{points:?}");
        for (point, turned) in points.iter().zip(found(other, &down, &three, &up, 0.15)) {
            let place = (point.point.x + 1.0).round() as usize;
            assert_eq!(ContactPoint::parts(point.feature), [Some(place), None]);
            let place = (turned.point.x + 1.0).round() as usize;
            assert_eq!(ContactPoint::parts(turned.feature), [None, Some(place)]);
        }
    }
}

#[test]
fn features_of_two_compounds_name_a_part_of_each() {
    let (low, high) = (
        row([ball(0.2), rod(0.2), ball(0.2)]),
        row([rod(0.2), ball(0.1), ball(0.2)]),
    );
    let across = Frame::new(DVec3::new(0.0, 1.0, 0.35), turn(DVec3::Z, 1.0));
    // The first part of the upper one, turned by a right angle, lies over the middle of the lower one.
    let points = found(&low, &at(0.0, 0.0, 0.0), &high, &across, 0.2);
    assert!(!points.is_empty());
    for point in points {
        assert_eq!(ContactPoint::parts(point.feature), [Some(1), Some(0)]);
    }
}

#[test]
fn points_of_one_pair_have_different_features() {
    let three = row([rod(0.4), rod(0.4), rod(0.4)]);
    for other in [
        three.clone(),
        cuboid(3.0, 3.0, 0.1),
        build(Shape::HalfSpace { normal: DVec3::Z }),
    ] {
        let top = if other.is_solid() { 0.2 } else { 0.1 };
        let points = found(
            &three,
            &at(0.1, 0.02, top),
            &other,
            &at(0.0, 0.0, 0.0),
            0.05,
        );
        let mut features: Vec<u64> = points.iter().map(|point| point.feature).collect();
        features.sort_unstable();
        features.dedup();
        assert_eq!(features.len(), points.len());
        assert!(points.len() >= 12, "{}", points.len());
    }
}
