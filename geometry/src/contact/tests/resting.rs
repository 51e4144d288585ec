//! Bodies at rest on each other: exact points, exact normals, exact gaps.

use super::*;

/// Contacts of an upper body: four, normals exactly up, gaps as given.
fn assert_four(contacts: &[ContactPoint], gap: f64) {
    assert_eq!(contacts.len(), 4, "{contacts:?}");
    for contact in contacts {
        assert!((contact.normal - DVec3::Z).length() < 1e-15, "{contact:?}");
        assert!((contact.gap - gap).abs() < 1e-15, "{contact:?}");
    }
    let mut features: Vec<u64> = contacts.iter().map(|c| c.feature).collect();
    features.sort_unstable();
    features.dedup();
    assert_eq!(features.len(), 4);
}

#[test]
fn stacked_cubes_meet_in_four_points() {
    let cube = cuboid(0.5, 0.5, 0.5);
    for gap in [0.0, 1e-3, -1e-3, 1e-10, -1e-10] {
        for (x, y) in [(0.0, 0.0), (0.5, 0.0), (0.5, -0.25), (1e-7, 1e-12)] {
            for t in [0.0, 1e-9, 1e-4, 0.3, 1.0] {
                let upper = Frame::new(DVec3::new(x, y, 1.0 + gap), turn(DVec3::Z, t));
                let all = found(&cube, &upper, &cube, &Frame::IDENTITY, 0.01);
                assert_four(&all, upper.position.z - 1.0);
                let swapped = found(&cube, &Frame::IDENTITY, &cube, &upper, 0.01);
                assert_eq!(swapped.len(), 4);
                assert!(
                    swapped
                        .iter()
                        .all(|c| (c.normal + DVec3::Z).length() < 1e-15)
                );
            }
        }
    }
}

/// Pressed into each other, by up to a tenth: that their edges cross a little deeper than the faces lie leaves one point of four, and what
/// is pressed straight turns.
#[test]
fn overlapping_faces_that_are_nearly_parallel_meet_in_four_points() {
    let boxed = cuboid(0.5, 0.4, 0.5);
    let points = crate::polytope::Polyhedron::cuboid(DVec3::new(0.5, 0.4, 0.5)).vertices;
    let hull = build(Shape::ConvexHull { points });
    let pose = (vector(1.0), vector(1.0), 1e-3..0.1, -9..-2_i32, 0..4_usize);
    check(4000, &pose, |(shift, axis, depth, exponent, kind)| {
        let position = DVec3::new(0.1 * shift.x, 0.1 * shift.y, 1.0 - depth);
        let across = DVec3::new(axis.x, axis.y, 0.0) + 1e-3 * DVec3::X;
        let lean = turn(across, 10.0_f64.powi(exponent)) * turn(DVec3::Z, 0.1 * axis.z);
        let tilt = (lean * DVec3::Z).truncate().length();
        let upper = Frame::new(position, lean);
        let (a, b) = ([&boxed, &hull][kind % 2], [&boxed, &hull][kind / 2]);
        let all = found(a, &upper, b, &Frame::IDENTITY, 0.01);
        prop_assert_eq!(all.len(), 4, "{:?}", all);
        for contact in &all {
            prop_assert!(contact.normal.z >= 1.0 - tilt * tilt, "{:?}", contact);
            // A corner is lower than the centre by the tilt times its distance.
            let change: f64 = contact.gap + depth;
            prop_assert!(change.abs() <= tilt, "{:?}", contact);
        }
        Ok(())
    });
}

#[test]
fn aligned_cubes_meet_at_their_corners() {
    let cube = cuboid(0.5, 0.5, 0.5);
    let all = found(&cube, &at(0.0, 0.0, 1.0), &cube, &Frame::IDENTITY, 0.01);
    for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
        let corner = DVec3::new(x, y, 0.5);
        assert!(all.iter().any(|c| (c.point - corner).length() < 1e-15));
    }
}

/// Flush bodies that creep apart: edges that nearly coincide have no definite crossing.
#[test]
fn contact_points_lie_on_both_bodies() {
    let boxed = cuboid(0.5, 0.4, 0.3);
    let points = crate::polytope::Polyhedron::cuboid(DVec3::new(0.5, 0.4, 0.3)).vertices;
    let hull = build(Shape::ConvexHull { points });
    let creep = (vector(1.0), vector(1.0), -13..-3_i32, 0..4_usize);
    check(4000, &creep, |(shift, axis, exponent, kind)| {
        let size = 2.9 * 10.0_f64.powi(exponent);
        let position = DVec3::new(0.0, 0.0, 0.6) + shift * size;
        let upper = Frame::new(position, turn(axis + DVec3::Z, 0.2 * size));
        let (a, b) = ([&boxed, &hull][kind % 2], [&boxed, &hull][kind / 2]);
        let all = found(a, &upper, b, &Frame::IDENTITY, 0.01);
        prop_assert!(!all.is_empty());
        for contact in &all {
            for pose in [&upper, &Frame::IDENTITY] {
                // In the middle between the surfaces, up to `size` from both.
                let outside =
                    pose.inverse_transform_point(contact.point).abs() - DVec3::new(0.5, 0.4, 0.3);
                prop_assert!(outside.max_element() <= 2.0 * size, "{size:e}: {contact:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn points_of_flush_faces_keep_their_numbers_while_bodies_creep_along() {
    let boxed = cuboid(0.5, 0.4, 0.3);
    for shift in [0.0, 0.5] {
        let numbers = |offset: DVec3, turned: DQuat| {
            let upper = Frame::new(DVec3::new(shift, 0.0, 0.6) + offset, turned);
            let all = found(&boxed, &upper, &boxed, &Frame::IDENTITY, 0.01);
            let mut numbers: Vec<u64> = all.iter().map(|c| c.feature).collect();
            numbers.sort_unstable();
            numbers
        };
        let flush = numbers(DVec3::ZERO, DQuat::IDENTITY);
        assert_eq!(flush.len(), 4);
        let creep = (vector(1e-6), -1e-6..1e-6_f64);
        check(1000, &creep, |(offset, t)| {
            prop_assert_eq!(&numbers(offset, turn(DVec3::Z, t)), &flush);
            Ok(())
        });
    }
}

#[test]
fn hulls_of_boxes_rest_like_boxes() {
    let Shape::Cuboid { half_extents } = *cuboid(0.5, 0.4, 0.3).shape() else {
        panic!()
    };
    let points = crate::polytope::Polyhedron::cuboid(half_extents).vertices;
    let hull = build(Shape::ConvexHull { points });
    let boxed = cuboid(0.5, 0.4, 0.3);
    for (a, b) in [(&hull, &hull), (&hull, &boxed), (&boxed, &hull)] {
        let upper = Frame::new(DVec3::new(0.1, 0.2, 0.6), turn(DVec3::Z, 0.2));
        assert_four(&found(a, &upper, b, &Frame::IDENTITY, 0.01), 0.0);
    }
}

#[test]
fn standing_cylinders_and_cones_have_four_points() {
    let cylinder = build(Shape::Cylinder {
        half_height: 0.5,
        radius: 0.3,
    });
    let cone = build(Shape::Cone {
        half_height: 0.5,
        radius: 0.3,
    });
    let floors = [
        (cuboid(1.0, 1.0, 0.5), 0.5),
        (cuboid(0.2, 0.2, 0.5), 0.5),
        (build(Shape::HalfSpace { normal: DVec3::Z }), 0.0),
        (cylinder.clone(), 0.5),
    ];
    for body in [&cylinder, &cone] {
        for (floor, top) in &floors {
            for gap in [0.0, 1e-3, -1e-3] {
                for t in [0.0, 0.5] {
                    let pose =
                        Frame::new(DVec3::new(0.1, 0.05, top + 0.5 + gap), turn(DVec3::Z, t));
                    let all = found(body, &pose, floor, &Frame::IDENTITY, 0.01);
                    assert_four(&all, pose.position.z - top - 0.5);
                }
            }
        }
    }
}

#[test]
fn a_lying_cylinder_and_a_lying_capsule_touch_along_a_line() {
    let quarter = turn(DVec3::Y, 1.0);
    let cylinder = build(Shape::Cylinder {
        half_height: 0.5,
        radius: 0.3,
    });
    let capsule = build(Shape::Capsule {
        half_height: 0.5,
        radius: 0.3,
    });
    let floors = [
        (cuboid(2.0, 2.0, 0.5), 0.5),
        (cuboid(0.3, 2.0, 0.5), 0.5),
        (build(Shape::HalfSpace { normal: DVec3::Z }), 0.0),
    ];
    for (floor, top) in &floors {
        let pose = Frame::new(DVec3::new(0.0, 0.0, top + 0.3), quarter);
        for (body, most) in [(&capsule, 2), (&cylinder, 4)] {
            let all = found(body, &pose, floor, &Frame::IDENTITY, 1e-3);
            assert!(all.len() >= 2 && all.len() <= most, "{all:?}");
            let reach = all.iter().map(|c| c.point.x.abs()).fold(1.0, f64::min);
            let least = if top > &0.4 { 0.29 } else { 0.49 };
            assert!(reach > least, "{all:?}");
            for contact in &all {
                assert!((contact.normal - DVec3::Z).length() < 1e-14);
                assert!(contact.gap.abs() < 1e-14);
            }
        }
    }
    // Side by side: two points, normal across.
    let a = Frame::IDENTITY;
    for body in [&capsule, &cylinder] {
        let all = found(body, &at(0.6, 0.0, 0.2), body, &a, 1e-3);
        assert_eq!(all.len(), 2, "{all:?}");
        for contact in &all {
            assert!((contact.normal - DVec3::X).length() < 1e-14 && contact.gap.abs() < 1e-14);
        }
        let heights: Vec<f64> = all.iter().map(|c| c.point.z).collect();
        assert!((heights[0] - heights[1]).abs() > 0.79);
    }
}

#[test]
fn a_capsule_between_pads_has_clean_opposite_normals() {
    let capsule = build(Shape::Capsule {
        half_height: 0.3,
        radius: 0.1,
    });
    let pad = cuboid(0.2, 0.5, 0.5);
    // Squeezed along its side by 1 µm, then at its ends.
    for (orientation, offset, count) in [
        (DQuat::IDENTITY, 0.3 - 1e-6, 2),
        (turn(DVec3::Y, 1.0), 0.6 - 1e-6, 1),
    ] {
        for sign in [-1.0, 1.0] {
            let pose = Frame::new(DVec3::ZERO, orientation);
            let all = found(&capsule, &pose, &pad, &at(sign * offset, 0.0, 0.0), 1e-4);
            assert_eq!(all.len(), count, "{all:?}");
            for contact in all {
                assert!((contact.normal + DVec3::X * sign).length() < 1e-14);
                assert!((contact.gap + 1e-6).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn an_edge_and_a_corner_on_a_face() {
    let cube = cuboid(0.5, 0.5, 0.5);
    let floor = cuboid(5.0, 5.0, 0.5);
    let diagonal = 0.5_f64.sqrt();
    let t = 2.0_f64.sqrt() - 1.0;
    let edge = Frame::new(DVec3::new(0.0, 0.0, 0.5 + diagonal), turn(DVec3::X, t));
    let all = found(&cube, &edge, &floor, &Frame::IDENTITY, 1e-3);
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(
        all.iter()
            .all(|c| c.gap.abs() < 1e-14 && c.normal.z > 1.0 - 1e-15)
    );
    // Edge on edge, crossed: one point at the crossing.
    let upper = Frame::new(DVec3::new(0.0, 0.0, 2.0 * diagonal), turn(DVec3::X, t));
    let lower = Frame::new(DVec3::ZERO, turn(DVec3::Y, t));
    for gap in [1e-4, -1e-4] {
        let moved = Frame::new(upper.position + DVec3::Z * gap, upper.orientation);
        let all = found(&cube, &moved, &cube, &lower, 1e-3);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(
            (all[0].gap - gap).abs() < 1e-14 && (all[0].normal - DVec3::Z).length() < 1e-14,
            "{all:?} {gap}"
        );
        assert!((all[0].point - DVec3::Z * (diagonal + 0.5 * gap)).length() < 1e-14);
    }
}

#[test]
fn sphere_distances_match_closed_forms() {
    let sphere = build(Shape::Sphere { radius: 0.5 });
    let one = |other: &Geometry, pose: Frame| {
        let all = found(&sphere, &pose, other, &Frame::IDENTITY, 0.1);
        assert_eq!(all.len(), 1, "{all:?}");
        all[0]
    };
    let contact = one(&sphere, at(0.6, 0.8, 0.0));
    assert!(contact.gap.abs() < 1e-15);
    assert!((contact.normal - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-15);
    assert_eq!(one(&sphere, Frame::IDENTITY).normal.abs(), DVec3::Z);
    let boxed = cuboid(1.0, 1.0, 1.0);
    let corner = DVec3::splat(1.0 + 0.5 / 3.0_f64.sqrt());
    let contact = one(&boxed, Frame::from_position(corner));
    assert!(contact.gap.abs() < 1e-15);
    assert!((contact.point - DVec3::ONE).length() < 1e-15);
    let contact = one(&boxed, at(0.2, 0.3, 0.9));
    assert!((contact.gap + 0.6).abs() < 1e-15 && contact.normal == DVec3::Z);
}

#[test]
fn no_contact_beyond_the_margin_or_for_nan() {
    let cube = cuboid(0.5, 0.5, 0.5);
    assert!(found(&cube, &at(0.0, 0.0, 1.02), &cube, &Frame::IDENTITY, 0.01).is_empty());
    assert!(
        found(
            &cube,
            &at(0.0, f64::NAN, 1.0),
            &cube,
            &Frame::IDENTITY,
            0.01
        )
        .is_empty()
    );
    let plane = build(Shape::HalfSpace { normal: DVec3::Z });
    assert!(found(&plane, &Frame::IDENTITY, &plane, &at(0.0, 0.0, -1.0), 1.0).is_empty());
}

#[test]
fn slightly_tilted_bodies_keep_four_points() {
    let cube = cuboid(0.5, 0.5, 0.5);
    let cylinder = build(Shape::Cylinder {
        half_height: 0.5,
        radius: 0.3,
    });
    let floors = [
        (cuboid(5.0, 5.0, 0.5), 0.5),
        (cube.clone(), 0.5),
        (cylinder.clone(), 0.5),
        (flat_field(), 0.0),
    ];
    for body in [&cube, &cylinder] {
        for (floor, top) in &floors {
            for t in [1e-15, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3] {
                let tilt = turn(DVec3::new(1.0, 0.3, 0.0), t);
                let pose = Frame::new(DVec3::new(0.2, 0.1, top + 0.5), tilt);
                let all = found(body, &pose, floor, &Frame::IDENTITY, 0.01);
                assert_eq!(all.len(), 4, "{t} {all:?}");
                for contact in &all {
                    assert!((contact.normal - DVec3::Z).length() < 2.1 * t);
                    assert!(contact.gap.abs() < 1.5 * t);
                }
            }
        }
    }
}

#[test]
fn hulls_with_very_many_edges_touch_near_their_poles() {
    let mut seed = 12_345_u64;
    let mut number = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let points = (0..150)
        .map(|_| DVec3::new(number(), number(), number()).normalize())
        .collect();
    let ball = build(Shape::ConvexHull { points });
    let direction = DVec3::new(0.3, 0.5, 0.8).normalize();
    for gap in [0.1, 0.0, -0.03] {
        let pose = Frame::new(direction * (1.97 + gap), turn(DVec3::X, 0.4));
        let all = found(&ball, &pose, &ball, &Frame::IDENTITY, 0.3);
        assert!(!all.is_empty() && all.len() <= 4);
        let least = all.iter().fold(1.0_f64, |g, c| g.min(c.gap));
        assert!((least - gap).abs() < 0.03);
        assert!(all.iter().all(|c| c.normal.dot(direction) > 0.95));
    }
}
