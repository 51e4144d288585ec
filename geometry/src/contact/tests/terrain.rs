//! Bodies at rest on bumpy ground: the gap of the contacts is that of the nearest triangle, and
//! no triangle adds a deeper contact along an axis that does not separate it.

use super::*;
use crate::contact::patch::Patch;
use crate::contact::separating_axis::{self, Placed, PolytopePair};
use crate::contact::surface_pair::with_triangle;
use crate::contact::{frustum_pair, with_polytope};
use crate::geometry::{Body, Convex};
use crate::surface::{Surface, SurfaceTriangle};

/// The surface of a height field.
fn surface(ground: &Geometry) -> &Surface {
    let Body::Surface(surface) = ground.body() else {
        panic!("surface expected")
    };
    surface
}

/// Side 2.8 m, two smooth bumps along each side.
fn bumps(height: f64) -> Geometry {
    let samples = 25;
    // cos(kπ/6) by recurrence of a rotation.
    let (c, s) = (0.75_f64.sqrt(), 0.5);
    let mut e = glam::DVec2::X;
    let profile: Vec<f64> = (0..samples)
        .map(|_| {
            let value = 0.5 * (1.0 - e.x);
            e = glam::DVec2::new(c * e.x - s * e.y, s * e.x + c * e.y);
            value
        })
        .collect();
    build(Shape::HeightField {
        x_size: 2.8,
        y_size: 2.8,
        columns: samples,
        heights: (0..samples * samples)
            .map(|k| height * profile[k % samples] * profile[k / samples])
            .collect(),
    })
}

/// Uneven heights without any symmetry.
fn rough(height: f64) -> Geometry {
    let mut seed = 7_u64;
    let mut number = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    build(Shape::HeightField {
        x_size: 2.8,
        y_size: 2.8,
        columns: 25,
        heights: (0..625).map(|_| height * number()).collect(),
    })
}

fn bodies() -> Vec<Geometry> {
    let hull = [
        (0.16, 0.0, -0.06),
        (-0.09, 0.13, -0.07),
        (-0.1, -0.12, -0.05),
        (0.02, 0.01, 0.15),
        (0.07, 0.1, 0.06),
    ];
    vec![
        build(Shape::Sphere { radius: 0.14 }),
        cuboid(0.14, 0.1, 0.07),
        build(Shape::Capsule {
            half_height: 0.1,
            radius: 0.08,
        }),
        build(Shape::Cylinder {
            half_height: 0.1,
            radius: 0.12,
        }),
        build(Shape::Cone {
            half_height: 0.12,
            radius: 0.13,
        }),
        build(Shape::ConvexHull {
            points: hull.iter().map(|&(x, y, z)| DVec3::new(x, y, z)).collect(),
        }),
    ]
}

/// Largest separation of two polytopes over all candidate axes.
pub(super) fn polytopes(a: &Placed<'_>, b: &Placed<'_>) -> f64 {
    let along = |l: DVec3| {
        let ((a_low, a_high), (b_low, b_high)) = (a.range(l), b.range(l));
        (b_low - a_high).max(a_low - b_high)
    };
    let mut best = f64::NEG_INFINITY;
    for body in [a, b] {
        for face in 0..body.shape.faces.len() {
            best = best.max(along(body.plane(face).0));
        }
    }
    for &u in a.shape.directions {
        for &v in b.shape.directions {
            let common = (a.rotation * u).cross(b.rotation * v);
            if common.length() > 1e-6 {
                best = best.max(along(common.normalize()));
            }
        }
    }
    best
}

/// Signed distance of a free triangle and a solid.
fn pair(triangle: &SurfaceTriangle, convex: &Convex, pose: &Frame) -> f64 {
    let vertices = triangle.vertices.map(|v| v - pose.position);
    let triangle = SurfaceTriangle {
        vertices,
        ..*triangle
    };
    let pose = Frame::new(DVec3::ZERO, pose.orientation);
    let mut patch = Patch::new();
    match convex {
        Convex::Sphere { radius } => {
            let mut low = f64::INFINITY;
            with_triangle(&triangle, |a| {
                low = crate::projection::onto_polytope(DVec3::ZERO, &a.shape)
                    .point
                    .length();
            });
            return low - radius;
        }
        Convex::Polyhedron(_) => {
            let mut best = f64::INFINITY;
            with_triangle(&triangle, |a| {
                with_polytope(convex, &pose, |b, _| best = polytopes(&a, &b));
            });
            return best;
        }
        Convex::Capsule { .. } => with_triangle(&triangle, |a| {
            with_polytope(convex, &pose, |b, radius| {
                let query = PolytopePair {
                    a,
                    b,
                    radius,
                    margin: 1.0,
                    scale: 0.1,
                    cone: None,
                };
                separating_axis::contact(&query, None, &mut patch);
            });
        }),
        Convex::Frustum(frustum) => {
            let mut local = triangle;
            local.vertices = vertices.map(|v| pose.inverse_transform_point(v));
            local.normal = pose.inverse_rotate(local.normal);
            with_triangle(&local, |other| {
                frustum_pair::polytope(frustum, other, 0.0, 1.0, &mut patch);
            });
        }
    }
    patch.iter().fold(f64::INFINITY, |g, c| g.min(c.gap))
}

/// Signed distance of the nearest triangle, and its number.
fn nearest(body: &Geometry, pose: &Frame, ground: &Geometry) -> (f64, u32) {
    let Body::Convex(convex) = body.body() else {
        panic!("convex expected")
    };
    let mut best = (f64::INFINITY, 0);
    let region = convex.aabb(pose).inflated(1e-3);
    surface(ground).visit(
        &region,
        |_| true,
        |id, triangle, _| {
            let gap = pair(triangle, convex, pose);
            if gap < best.0 {
                best = (gap, id);
            }
        },
    );
    best
}

/// Lowered until it just touches.
fn at_rest(body: &Geometry, x: f64, y: f64, q: DQuat, ground: &Geometry) -> Frame {
    let at = |z: f64| Frame::new(DVec3::new(x, y, z), q);
    let (mut low, mut high) = (-0.25, 1.0);
    // From above: the first contact, found by steps no larger than the distance.
    while high - low > 0.02 && nearest(body, &at(high - 0.01), ground).0 > 0.0 {
        high -= 0.01;
    }
    low = f64::max(low, high - 0.01);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if nearest(body, &at(middle), ground).0 > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    at(high)
}

fn nudged(pose: &Frame, size: f64, v: DVec3, w: DVec3) -> Frame {
    Frame::new(
        pose.position + v * size,
        (DQuat::from_xyzw(w.x * size, w.y * size, w.z * size, 1.0) * pose.orientation).normalize(),
    )
}

#[test]
fn bodies_at_rest_on_bumps_have_the_gap_of_the_nearest_triangle() {
    for (g, ground) in [bumps(0.3), rough(0.1), rough(0.02)].iter().enumerate() {
        for (i, body) in bodies().iter().enumerate() {
            let inputs = (vector(1.0), orientation(), vector(1.0), vector(1.0));
            check(150, &inputs, |(p, q, v, w)| {
                let rest = at_rest(body, p.x, p.y, q, ground);
                for size in [0.0, 1e-9, 1e-8, 1e-7, 1e-6] {
                    let pose = nudged(&rest, size, v, w);
                    let (gap, id) = nearest(body, &pose, ground);
                    let all = found(body, &pose, ground, &Frame::IDENTITY, 1e-3);
                    let least = all.iter().fold(f64::INFINITY, |g, c| g.min(c.gap));
                    // Two biases of 1e-8 of the size in favour of faces; in overlap the depth
                    // of the neighbour that carries the contact may differ a little.
                    let slack = 4e-9 + 0.5 * (-gap).max(0.0);
                    prop_assert!(
                        (least - gap).abs() <= slack,
                        "{g} {i} {size} {id} {gap} {all:?}"
                    );
                }
                Ok(())
            });
        }
    }
}

/// Poses of a resting cuboid that once gave contacts 1 to 5 cm deep.
#[test]
fn a_cuboid_wedged_between_bumps_has_no_phantom_depth() {
    let ground = bumps(0.3);
    let body = cuboid(0.14, 0.1, 0.07);
    for (p, q) in [
        (
            [
                -0.850_284_971_248_500_4,
                -0.919_644_428_027_462,
                0.318_849_291_876_852_57,
            ],
            [
                -0.667_246_866_842_665_3,
                0.461_008_017_626_156_8,
                0.496_041_696_067_352_1,
                -0.310_154_577_808_666_6,
            ],
        ),
        (
            [
                -0.857_280_252_708_112_3,
                -0.980_108_694_118_718,
                0.291_263_125_533_210_93,
            ],
            [
                -0.651_327_569_287_407_1,
                0.406_042_365_033_094_8,
                0.572_134_999_406_103_1,
                -0.289_073_585_353_6,
            ],
        ),
        (
            [
                -0.854_895_296_777_727_1,
                -1.027_135_339_762_688_6,
                0.267_395_517_169_842_67,
            ],
            [
                -0.654_353_579_298_873_5,
                0.417_765_176_529_556_6,
                0.545_357_779_720_320_2,
                -0.316_035_666_715_806_2,
            ],
        ),
    ] {
        let rest = Frame::new(DVec3::from_array(p), DQuat::from_array(q).normalize());
        check(1000, &(vector(1.0), vector(1.0)), |(v, w)| {
            for size in [1e-9, 1e-7] {
                let pose = nudged(&rest, size, v, w);
                let all = found(&body, &pose, &ground, &Frame::IDENTITY, 1e-3);
                prop_assert!(!all.is_empty());
                prop_assert!(all.iter().all(|c| c.gap > -1e-6), "{size} {all:?}");
            }
            Ok(())
        });
    }
}

/// The far side of a sharp ridge is overlapped by no more than the near side is.
#[test]
fn a_cuboid_against_a_sharp_ridge_does_not_feel_the_far_side() {
    // Slopes of 3 to 1: the normals are 143° apart.
    let ridge = build(Shape::TriangleMesh {
        vertices: vec![
            DVec3::new(0.0, -1.0, 0.0),
            DVec3::new(0.0, 1.0, 0.0),
            DVec3::new(1.0, -1.0, -3.0),
            DVec3::new(1.0, 1.0, -3.0),
            DVec3::new(-1.0, -1.0, -3.0),
            DVec3::new(-1.0, 1.0, -3.0),
        ],
        triangles: vec![[0, 2, 3], [0, 3, 1], [0, 5, 4], [0, 1, 5]],
    });
    let normal = DVec3::new(3.0, 0.0, 1.0).normalize();
    let turned = DQuat::from_rotation_arc(DVec3::X, normal);
    let down = DVec3::new(1.0, 0.0, -3.0).normalize();
    for (body, reach) in [
        (cuboid(0.1, 0.2, 0.3), 0.1),
        (
            build(Shape::Cylinder {
                half_height: 0.3,
                radius: 0.1,
            }),
            0.1,
        ),
    ] {
        for gap in [1e-8, 0.0, -1e-9, -1e-6] {
            for k in 0..20 {
                let place = down * (0.29 - 0.03 * f64::from(k));
                let pose = Frame::new(place + normal * (reach + gap), turned);
                for contact in found(&body, &pose, &ridge, &Frame::IDENTITY, 1e-3) {
                    assert!(contact.gap > gap - 1e-8, "{k} {gap} {contact:?}");
                    assert!(contact.normal.dot(normal) > 0.999, "{k} {gap} {contact:?}");
                }
            }
        }
    }
}

/// Heights at 200 × 200 points of a square of 4 m, times `height`.
fn fine(height: f64) -> Geometry {
    let value = |k: usize| ((k * 7919 + k / 200 * 104_729) % 1009) as f64 / 1009.0;
    build(Shape::HeightField {
        x_size: 4.0,
        y_size: 4.0,
        columns: 200,
        heights: (0..40_000).map(|k| height * value(k)).collect(),
    })
}

#[test]
fn a_large_box_on_fine_flat_ground_stands_on_its_corners() {
    let ground = fine(0.0);
    let slab = cuboid(0.9, 0.9, 0.1);
    for t in [0.0, 0.1, 0.3] {
        let pose = Frame::new(DVec3::new(0.013, -0.021, 0.1), turn(DVec3::Z, t));
        let all = found(&slab, &pose, &ground, &Frame::IDENTITY, 0.01);
        assert_eq!(all.len(), 4, "{t}");
        for corner in [(-0.9, -0.9), (0.9, -0.9), (-0.9, 0.9), (0.9, 0.9)] {
            let corner = pose.transform_point(DVec3::new(corner.0, corner.1, -0.1));
            let near = |c: &ContactPoint| (c.point - corner).length() < 1e-6;
            assert!(
                all.iter().any(near),
                "{t}: no contact at {corner} in {all:?}"
            );
        }
    }
}

#[test]
fn a_large_box_on_fine_rough_ground_has_few_contacts_and_the_deepest() {
    let ground = fine(0.01);
    let slab = cuboid(0.9, 0.9, 0.1);
    let pose = at(0.013, -0.021, 0.1095);
    let all = found(&slab, &pose, &ground, &Frame::IDENTITY, 0.01);
    assert!((100..=512).contains(&all.len()), "{} contacts", all.len());
    let least = all.iter().fold(f64::INFINITY, |g, c| g.min(c.gap));
    // The highest point under the box is 1008/1009 cm.
    assert!(
        (least - (0.0095 - 0.01 * 1008.0 / 1009.0)).abs() < 1e-9,
        "{least}"
    );
    // In every sixth of the box along both sides.
    for k in 0..6 {
        let strip = |x: f64| (x + 0.9) / 1.8 * 6.0;
        for axis in [0, 1] {
            let within = |c: &ContactPoint| {
                let x = strip((c.point - pose.position)[axis]);
                (f64::from(k)..f64::from(k + 1)).contains(&x)
            };
            assert!(all.iter().any(within), "none in strip {k} along {axis}");
        }
    }
}

/// A flat square of 1 m in `count` by `count` cells, turned.
fn flat_mesh(count: u32, turn: DQuat) -> Geometry {
    let at = |i: u32| f64::from(i) / f64::from(count) - 0.5;
    let side = count + 1;
    let corner = |k: u32| turn * DVec3::new(at(k % side), at(k / side), 0.0);
    let cells = (0..side * side).filter(|k| k % side < count && k / side < count);
    build(Shape::TriangleMesh {
        vertices: (0..side * side).map(corner).collect(),
        triangles: cells
            .flat_map(|k| [[k, k + 1, k + side + 1], [k, k + side + 1, k + side]])
            .collect(),
    })
}

/// Contacts by their place, for comparison.
fn by_place(mut contacts: Vec<ContactPoint>) -> Vec<ContactPoint> {
    let key = |c: &ContactPoint| [c.point.x, c.point.y].map(|x| (x * 1e6).round());
    contacts.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
    contacts
}

#[test]
fn contacts_within_a_plane_are_those_of_a_half_space_however_finely_it_is_cut() {
    let plane = build(Shape::HalfSpace { normal: DVec3::Z });
    for (i, body) in bodies().iter().enumerate() {
        for (count, turned) in [(33, 0.0), (100, 0.0), (57, 0.3)] {
            let slope = turn(DVec3::new(1.0, 2.0, 0.0), turned);
            let mesh = flat_mesh(count, slope);
            let inputs = (vector(0.2), orientation(), 0.0..1e-4_f64, 0.0..1.0_f64);
            check(60, &inputs, |(place, q, gap, tilt)| {
                // Some stand on what is flat of them, some on an edge, some on a corner.
                let q = [
                    DQuat::IDENTITY,
                    turn(DVec3::X, 1.0),
                    turn(DVec3::Y, 1e-3 * tilt),
                    q,
                ][(tilt * 4.0) as usize % 4];
                let raised = |z: f64| Frame::new(DVec3::new(place.x, place.y, z), q);
                let gaps =
                    |pose: &Frame, margin| found(body, pose, &plane, &Frame::IDENTITY, margin);
                let low = gaps(&raised(1.0), 10.0)
                    .iter()
                    .fold(9.0_f64, |g, c| g.min(c.gap));
                let pose = raised(1.0 - low + gap);
                let expected = by_place(gaps(&pose, 1e-3));
                let moved = Frame::new(slope * pose.position, slope * pose.orientation);
                let all = found(body, &moved, &mesh, &Frame::IDENTITY, 1e-3);
                let back = |c: &ContactPoint| ContactPoint {
                    point: slope.inverse() * c.point,
                    normal: slope.inverse() * c.normal,
                    ..*c
                };
                let all = by_place(all.iter().map(back).collect());
                prop_assert_eq!(all.len(), expected.len(), "{} {}", i, count);
                for (x, y) in all.iter().zip(&expected) {
                    let off = (x.point - y.point).length().max((x.gap - y.gap).abs());
                    prop_assert!(off < 1e-9, "{i} {count}: {x:?} {y:?}");
                    prop_assert!((x.normal - DVec3::Z).length() < 1e-9, "{i} {x:?}");
                }
                Ok(())
            });
        }
    }
}

/// Ridges, steps and borders bound the planes beside them: what lies across them is met there.
#[test]
fn what_lies_across_the_border_of_a_plane_has_the_gap_of_few_triangles() {
    // A roof with the ridge along y, its sides cut finely and coarsely.
    let roof = |count: u32| {
        let at = |i: u32| f64::from(i) / f64::from(count) - 0.5;
        let side = count + 1;
        let corner = |k: u32| {
            let x = at(k % side);
            DVec3::new(x, at(k / side), -0.4 * x.abs())
        };
        let cells = (0..side * side).filter(|k| k % side < count && k / side < count);
        build(Shape::TriangleMesh {
            vertices: (0..side * side).map(corner).collect(),
            triangles: cells
                .flat_map(|k| [[k, k + 1, k + side + 1], [k, k + side + 1, k + side]])
                .collect(),
        })
    };
    let (coarse, fine) = (roof(2), roof(64));
    for (i, body) in bodies().iter().enumerate() {
        check(
            200,
            &(vector(0.5), orientation(), 2e-6..1e-4_f64),
            |(p, q, gap)| {
                let raised = |z: f64| Frame::new(DVec3::new(p.x, p.y, z), q);
                let least = |pose: &Frame, ground: &Geometry, margin: f64| {
                    let all = found(body, pose, ground, &Frame::IDENTITY, margin);
                    all.iter().fold(f64::INFINITY, |g, c| g.min(c.gap))
                };
                let (mut low, mut high) = (-0.4 * p.x.abs(), 1.0);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if least(&raised(middle), &coarse, 1e-3) < f64::INFINITY {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                let pose = raised(low - 1e-3 + gap);
                // A face may stand for an edge that leans from it by 0.6°.
                let (few, many) = (least(&pose, &coarse, 1e-3), least(&pose, &fine, 1e-3));
                let none = few.is_infinite() && many.is_infinite();
                let same = none || (few - many).abs() < 1e-8 + 2e-4 * few.abs();
                prop_assert!(same, "{i}: {few} {many}");
                Ok(())
            },
        );
    }
}
