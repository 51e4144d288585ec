//! No ghost edges: bodies anywhere on flat ground feel the ground's normal only.

use super::*;

/// A flat square of side 4 m in two triangles, and one in many.
fn flats() -> Vec<Geometry> {
    let corner = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    vec![
        build(Shape::TriangleMesh {
            vertices: vec![
                corner(-2.0, -2.0),
                corner(2.0, -2.0),
                corner(2.0, 2.0),
                corner(-2.0, 2.0),
            ],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
        }),
        flat_field(),
    ]
}

#[test]
fn bodies_on_flat_ground_feel_only_its_normal() {
    let mut bodies = convex_shapes();
    bodies.push(cuboid(0.1, 0.1, 0.1));
    for (i, body) in bodies.iter().enumerate() {
        for flat in &flats() {
            check(
                100,
                &(vector(1.0), orientation(), -1e-3..1e-3_f64),
                |(p, q, gap)| {
                    // Lowered until its lowest point has the gap.
                    let plane = build(Shape::HalfSpace { normal: DVec3::Z });
                    let turned = Frame::new(DVec3::new(p.x, p.y, 0.0), q);
                    let depth = -turned_low(body, &turned, &plane);
                    let pose = Frame::new(DVec3::new(p.x, p.y, depth + gap), q);
                    let all = found(body, &pose, flat, &Frame::IDENTITY, 2e-3);
                    prop_assert!(!all.is_empty(), "{i}");
                    for contact in &all {
                        prop_assert!(
                            (contact.normal - DVec3::Z).length() < 1e-9,
                            "{i} {contact:?}"
                        );
                        prop_assert!(contact.gap > gap - 1e-9, "{i} {contact:?}");
                    }
                    let least = all.iter().fold(1.0_f64, |g, c| g.min(c.gap));
                    prop_assert!((least - gap).abs() < 1e-9, "{i} {least} {gap}");
                    Ok(())
                },
            );
        }
    }
}

/// Height of the lowest point of a body.
fn turned_low(body: &Geometry, pose: &Frame, plane: &Geometry) -> f64 {
    found(body, pose, plane, &Frame::IDENTITY, 10.0)
        .iter()
        .fold(f64::INFINITY, |low, c| low.min(c.gap))
}

#[test]
fn upright_bodies_keep_their_support_across_edges() {
    let bodies = [
        (cuboid(0.3, 0.3, 0.3), 0.3),
        (
            build(Shape::Cylinder {
                half_height: 0.3,
                radius: 0.3,
            }),
            0.3,
        ),
    ];
    for (body, height) in &bodies {
        for flat in &flats() {
            for k in 0..50 {
                let pose = at(-1.0 + 0.04 * f64::from(k), 0.013 * f64::from(k), *height);
                let all = found(body, &pose, flat, &Frame::IDENTITY, 1e-3);
                for contact in &all {
                    assert!((contact.normal - DVec3::Z).length() < 1e-15);
                    assert!(contact.gap.abs() < 1e-15);
                }
                // They span the base: four corners, or four of the rim roughly 90° apart.
                let radius = all
                    .iter()
                    .map(|c| (c.point - pose.position).truncate().length())
                    .fold(0.0, f64::max);
                assert!(radius > 0.3 - 1e-12, "{radius}");
                for side in [DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y] {
                    let reach = all.iter().map(|c| side.dot(c.point - pose.position));
                    assert!(reach.fold(0.0, f64::max) > 0.14, "{all:?}");
                }
            }
        }
    }
}

#[test]
fn spheres_over_a_ridge_lean_within_its_normals() {
    let mesh = terrain();
    let sphere = build(Shape::Sphere { radius: 0.2 });
    // Over the apex the sphere touches the apex itself, in one merged contact.
    let all = found(&sphere, &at(0.1, 0.05, 0.5), &mesh, &Frame::IDENTITY, 1e-3);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!((all[0].normal - DVec3::Z).length() < 1e-12 && all[0].gap.abs() < 1e-12);
    // Below the ground: one-sided, nothing.
    let all = found(&sphere, &at(0.1, 0.05, -0.5), &mesh, &Frame::IDENTITY, 1e-3);
    assert!(all.is_empty());
}

/// What lies on its side touches ground that is rough by far less than its size all along, whichever corners of the ground are highest.
#[test]
fn both_ends_of_a_cylinder_on_its_side_touch_ground_that_is_all_but_flat() {
    let body = build(Shape::Cylinder {
        half_height: 0.1,
        radius: 0.1,
    });
    let aside = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    for noise in [0.0, 1e-9, 1e-8, 1e-7] {
        let height = |k: usize| noise * ((k * 7919 + k / 101 * 104_729) % 1009) as f64 / 1008.0;
        let ground = build(Shape::HeightField {
            x_size: 2.0,
            y_size: 0.6,
            columns: 101,
            heights: (0..31 * 101).map(height).collect(),
        });
        for k in 0..400 {
            // Some places are over the lines of the grid.
            let x = 0.0025 * f64::from(k) - 0.5 + if k % 3 == 0 { 0.000_377 } else { 0.0 };
            let place = DVec3::new(x, 0.003, 0.1 - 1e-6);
            let pose = Frame::new(place, DQuat::from_rotation_y(10.0 * x) * aside);
            let all = found(&body, &pose, &ground, &Frame::IDENTITY, 1e-4);
            for end in [-0.097, 0.103] {
                let near = |c: &ContactPoint| (c.point.y - end).abs() < 1e-6;
                assert!(all.iter().any(near), "{noise} {k} {end}: {all:?}");
            }
        }
    }
}

/// What stands flush with the top of a box, partly over its edge, is held from below and not from the side, which it has come over by more than it is deep.
#[test]
fn what_stands_over_the_edge_of_a_box_is_held_from_below() {
    let point = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
    let hull = |points: Vec<DVec3>| build(Shape::ConvexHull { points });
    let square = [(0.2, 0.2), (-0.2, 0.2), (0.2, -0.2), (-0.2, -0.2)];
    let mut pyramid = square.map(|(x, y)| point(x, y, 0.0)).to_vec();
    pyramid.push(point(0.0, 0.0, 0.3));
    let triangle = [(0.2, 0.0), (-0.1, 0.17), (-0.1, -0.17)];
    let mut tetrahedron = triangle.map(|(x, y)| point(x, y, 0.0)).to_vec();
    tetrahedron.push(point(0.0, 0.0, 0.3));
    let disc = |k: u32| DQuat::from_rotation_z(f64::from(k) * 0.35) * (DVec3::X * 0.2);
    let mut lid: Vec<DVec3> = (0..18).map(disc).collect();
    lid.push(point(0.0, 0.0, 0.3));
    let cone = Shape::Cone {
        half_height: 0.15,
        radius: 0.2,
    };
    let cylinder = Shape::Cylinder {
        half_height: 0.15,
        radius: 0.2,
    };
    let bodies = [
        hull(pyramid),
        hull(tetrahedron),
        hull(lid),
        build(cone),
        build(cylinder),
    ];
    let boxes = [
        cuboid(1.0, 1.0, 0.2),
        hull(
            (0..8)
                .map(|k| {
                    point(
                        if k & 1 == 0 { -1.0 } else { 1.0 },
                        if k & 2 == 0 { -1.0 } else { 1.0 },
                        if k & 4 == 0 { -0.2 } else { 0.2 },
                    )
                })
                .chain([point(0.0, 0.0, -0.3)])
                .collect(),
        ),
    ];
    for (i, body) in bodies.iter().enumerate() {
        for (j, ground) in boxes.iter().enumerate() {
            check(
                2000,
                &(
                    (-0.95..0.95_f64, -0.5..0.5_f64),
                    1e-4..0.02_f64,
                    0.0..6.3_f64,
                    -13.0..-5.0_f64,
                ),
                |((y, lean), over, yaw, sunk)| {
                    let sunk = libm::pow(10.0, sunk);
                    // As rounding leaves it.
                    let tilt = DQuat::from_scaled_axis(DVec3::new(lean, y, 0.0) * sunk);
                    let level = Frame::new(DVec3::ZERO, tilt * DQuat::from_rotation_z(yaw));
                    let wall = build(Shape::HalfSpace { normal: DVec3::X });
                    let floor = build(Shape::HalfSpace { normal: DVec3::Z });
                    let [left, low] = [&wall, &floor].map(|plane| turned_low(body, &level, plane));
                    let place = DVec3::new(1.0 - over - left, y, 0.2 - low - sunk);
                    let pose = Frame::new(place, level.orientation);
                    let of = found(body, &pose, ground, &Frame::IDENTITY, 1e-3);
                    let other = found(ground, &Frame::IDENTITY, body, &pose, 1e-3);
                    let other = other.into_iter().map(|c| ContactPoint {
                        normal: -c.normal,
                        ..c
                    });
                    // Where it is beyond a corner of the box the two may be apart.
                    for contact in of.into_iter().chain(other).filter(|c| c.gap <= 0.0) {
                        prop_assert!(
                            contact.normal.z > 0.99,
                            "{i} {j} over {over} sunk {sunk} {contact:?}"
                        );
                        prop_assert!(contact.gap >= -2.0 * sunk - 1e-11, "{i} {j} {contact:?}");
                    }
                    Ok(())
                },
            );
        }
    }
}
