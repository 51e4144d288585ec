//! Gaps of convex pairs are distances and depths.
//!
//! For every unit `l` from B to A the separation `s(l) = min_A l·x − max_B l·x` is a lower bound
//! of the distance; the gap of a contact is the distance of two points of the bodies, an upper
//! bound. So `gap = s(normal)` proves both to be optimal, without any reference solver. For
//! overlapping bodies the same equality says that the gap is the depth along the normal; that no
//! other direction gives a much lesser depth is tested against sampled directions.

use super::*;
use crate::geometry::{Body, Convex};

/// Largest `l · x` over a placed convex shape.
fn support(geometry: &Geometry, pose: &Pose, l: DVec3) -> f64 {
    let local = pose.inverse_rotate(l);
    let Body::Convex(convex) = geometry.body() else {
        panic!("convex expected")
    };
    l.dot(pose.position)
        + match convex {
            Convex::Sphere { radius } => *radius,
            Convex::Capsule {
                half_height,
                radius,
            } => local.z.abs() * half_height + radius,
            Convex::Frustum(frustum) => frustum.support(local),
            Convex::Polyhedron(p) => p
                .vertices
                .iter()
                .fold(f64::NEG_INFINITY, |m, v| m.max(local.dot(*v))),
        }
}

fn separation(a: &Geometry, pa: &Pose, b: &Geometry, pb: &Pose, l: DVec3) -> f64 {
    -support(a, pa, -l) - support(b, pb, l)
}

/// About 2000 directions, evenly spread (Fibonacci lattice by exact recurrences of a rotation).
fn directions() -> Vec<DVec3> {
    let count = 2000;
    let (c, s) = (-0.737_368_878_078_32_f64, 0.675_490_294_261_524_f64);
    let mut e = glam::DVec2::X;
    (0..count)
        .map(|i| {
            let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
            e = glam::DVec2::new(c * e.x - s * e.y, s * e.x + c * e.y).normalize();
            (e * (1.0 - z * z).sqrt()).extend(z)
        })
        .collect()
}

#[test]
fn least_gap_is_the_distance_or_the_depth() {
    let shapes = convex_shapes();
    let sample = directions();
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            // Hulls prefer faces to edge axes by design: second order in 0.6°, and a bias.
            let hull = [1, 5].contains(&i) && j == 5 || i == 5 && [1, 2].contains(&j);
            let tolerance = if hull || j == 5 && i == 2 {
                1e-2
            } else {
                1e-12
            };
            check(150, &(pose(0.1), pose(0.9)), |(pa, pb)| {
                let all = found(a, &pa, b, &pb, 3.0);
                prop_assert!(!all.is_empty() && all.len() <= 4);
                for contact in &all {
                    prop_assert!((contact.normal.length() - 1.0).abs() < 1e-14);
                    prop_assert!(contact.gap.is_finite() && contact.point.is_finite());
                }
                let least = all.iter().min_by(|x, y| x.gap.total_cmp(&y.gap)).unwrap();
                // Deep overlap is not the business of a contact engine.
                if least.gap > -0.05 {
                    let s = separation(a, &pa, b, &pb, least.normal);
                    prop_assert!((s - least.gap).abs() < tolerance, "{i} {j} {s} {least:?}");
                    let best = sample
                        .iter()
                        .map(|l| separation(a, &pa, b, &pb, *l))
                        .fold(f64::NEG_INFINITY, f64::max);
                    prop_assert!(best <= least.gap + 1e-12, "{i} {j} {best} {least:?}");
                }
                Ok(())
            });
        }
    }
}

/// Where the bodies overlap the best of planes is worth their depth: no sampled one holds two cuboids farther apart.
#[test]
fn a_separating_plane_holds_polytopes_as_far_apart_as_it_says() {
    let shapes = convex_shapes();
    let sample = directions();
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            check(150, &(pose(0.1), pose(1.2)), |(pa, pb)| {
                let mut planes = Vec::new();
                let all = (f64::NEG_INFINITY, 0.0);
                let known = separating_planes((a, &pa), (b, &pb), all, &mut planes);
                prop_assert_eq!(known, [1, 5].contains(&i) && [1, 5].contains(&j));
                let Some((gap, normal)) = planes.pop() else {
                    return Ok(());
                };
                prop_assert!((normal.length() - 1.0).abs() < 1e-14);
                let held = separation(a, &pa, b, &pb, normal);
                prop_assert!((held - gap).abs() < 1e-12, "{i} {j} {held} {gap}");
                let overlap = sample
                    .iter()
                    .map(|l| separation(a, &pa, b, &pb, *l))
                    .fold(f64::NEG_INFINITY, f64::max);
                let best = i == 1 && j == 1 && overlap <= 0.0;
                prop_assert!(!best || overlap <= gap + 1e-12, "{overlap} {gap}");
                Ok(())
            });
        }
    }
}

/// Of two solids of parts that planes hold apart no contact is nearer than the nearest of these planes says; and the search for planes ends at one that does not hold enough.
#[test]
fn planes_between_parts_hold_them_apart() {
    let bar = |x: f64, half: DVec3| (at(x, 0.0, 0.1 * x), Shape::Cuboid { half_extents: half });
    let parts = vec![
        bar(-0.3, DVec3::new(0.1, 0.4, 0.1)),
        bar(0.3, DVec3::new(0.4, 0.1, 0.2)),
    ];
    let hull = convex_shapes().remove(5).shape().clone();
    let arms = build(Shape::Compound {
        parts: parts.clone(),
    });
    let hammer = build(Shape::Compound {
        parts: vec![parts[0].clone(), (at(0.2, 0.0, 0.0), hull)],
    });
    let one = cuboid(0.3, 0.2, 0.1);
    let pairs = [(&arms, &hammer), (&hammer, &one), (&one, &arms)];
    let met = std::cell::Cell::new(0);
    for (a, b) in pairs {
        check(200, &(pose(0.1), pose(1.2)), |(pa, pb)| {
            let mut planes = Vec::new();
            let margin = 0.2;
            let query = (f64::NEG_INFINITY, margin);
            prop_assert!(separating_planes((a, &pa), (b, &pb), query, &mut planes));
            let nearest = planes.iter().map(|plane| plane.0).reduce(f64::min);
            let contacts = found(a, &pa, b, &pb, margin);
            // What overlaps may be held along another axis.
            let held = nearest.is_none_or(|nearest| nearest > 0.0);
            for contact in contacts.iter().filter(|_| held) {
                prop_assert!(contact.gap >= nearest.unwrap_or(f64::INFINITY) - 1e-9);
            }
            met.set(met.get() + usize::from(!contacts.is_empty()));
            let Some(nearest) = nearest else {
                return Ok(());
            };
            // It stops at the first that does not.
            let query = (nearest, margin);
            prop_assert!(!separating_planes((a, &pa), (b, &pb), query, &mut planes));
            Ok(())
        });
    }
    assert!(met.get() > 100, "{}", met.get());
}

/// How deep two bodies are in each other does not depend on the margin, also where their edges cross beside the face along which they are held: two tetrahedra, and polytopes anywhere.
#[test]
fn the_deepest_contact_is_found_with_any_margin() {
    let depth = |a: &Geometry, pa: &Pose, b: &Geometry, pb: &Pose, margin: f64| {
        let contacts = found(a, pa, b, pb, margin).into_iter();
        let gaps = contacts.map(|contact| contact.gap);
        gaps.reduce(f64::min).unwrap_or(f64::INFINITY)
    };
    let hull = |points: [[f64; 3]; 4]| {
        let points = points.into_iter().map(DVec3::from_array).collect();
        build(Shape::ConvexHull { points })
    };
    let a = hull([
        [-0.03, -0.0378, 0.0132],
        [0.0105, -0.0407, -0.0271],
        [-0.0037, -0.049, 0.0092],
        [0.0027, -0.0498, 0.0039],
    ]);
    let b = hull([
        [0.0344, 0.0284, 0.0226],
        [-0.0041, 0.0457, -0.0199],
        [-0.0337, 0.0273, 0.0249],
        [0.0321, 0.0289, -0.0252],
    ]);
    let turn = DQuat::from_xyzw(0.1867, 0.9358, 0.2399, 0.1784).normalize();
    let pose_b = Pose::new(DVec3::new(-0.0398, -0.0662, -0.0101), turn);
    let [far, near] = [0.03, 0.0].map(|margin| depth(&a, &Pose::IDENTITY, &b, &pose_b, margin));
    // The axis across the edges is within 0.6° of that of the face, and the corner a few millimetres from where they cross.
    assert!(near < -1e-3 && (far - near).abs() < 3e-5, "{far} {near}");
    let shapes = convex_shapes();
    for (i, j) in [(1, 1), (1, 5), (5, 5)] {
        let (a, b) = (&shapes[i], &shapes[j]);
        check(1000, &(pose(0.1), pose(1.0)), |(pa, pb)| {
            let [far, near] = [0.05, 0.0].map(|margin| depth(a, &pa, b, &pb, margin));
            prop_assert!(
                near > 0.0 || (far - near).abs() < 1e-4,
                "{i} {j} {far} {near}"
            );
            Ok(())
        });
    }
}

/// What is tried first changes nothing of what is found, from wherever the plane is and however near to the margin the bodies come; where nothing is found the plane
/// that is handed back holds the bodies farther apart than that.
#[test]
fn a_plane_at_hand_changes_no_contact() {
    let shapes = convex_shapes();
    let mut refused = 0;
    for a in &shapes {
        for b in &shapes {
            let before = std::cell::Cell::new(0);
            let input = (
                pose(0.1),
                pose(1.3),
                vector(0.02),
                1e-4..0.3_f64,
                0.9..1.1_f64,
            );
            check(150, &input, |(pa, pb, moved, margin, close)| {
                let mut plane = None;
                let mut none = Vec::new();
                contacts_or_plane(a, &pa, b, &pb, (margin, &mut plane), &mut none);
                prop_assert_eq!(plane.is_none() || none.is_empty(), true);
                let Some(normal) = plane else { return Ok(()) };
                let held = separation(a, &pa, b, &pb, normal);
                prop_assert!(held > margin, "{} {}", held, margin);
                before.set(before.get() + 1);
                // Nearer, to about the margin; along with the plane of the pose before.
                let pb = Pose::new(
                    pb.position + moved + normal * (held - margin * close),
                    pb.orientation,
                );
                let mut out = Vec::new();
                contacts_or_plane(a, &pa, b, &pb, (margin, &mut plane), &mut out);
                prop_assert_eq!(out, found(a, &pa, b, &pb, margin));
                Ok(())
            });
            refused += before.get();
        }
    }
    assert!(refused > 100, "{refused}");
}

/// Where rims meet rims, sides, edges and corners, the gap of bodies apart is their distance: no lesser gap can be had from the points,
/// no greater separation from the normal.
#[test]
fn discs_and_needles_that_are_apart_have_their_distance_as_gap() {
    let cylinder = |half_height, radius| {
        build(Shape::Cylinder {
            half_height,
            radius,
        })
    };
    let cone = |half_height, radius| {
        build(Shape::Cone {
            half_height,
            radius,
        })
    };
    let points = directions().into_iter().step_by(51);
    let shapes = [
        cylinder(0.03, 0.5),
        cylinder(0.9, 0.03),
        cylinder(0.4, 0.35),
        cone(0.1, 0.7),
        cone(0.8, 0.05),
        cuboid(0.5, 0.4, 0.01),
        build(Shape::ConvexHull {
            points: points.map(|l| l * DVec3::new(0.6, 0.5, 0.3)).collect(),
        }),
    ];
    for (i, a) in shapes.iter().enumerate().take(5) {
        for (j, b) in shapes.iter().enumerate() {
            let met = std::cell::Cell::new(0);
            check(400, &(pose(0.1), pose(0.9)), |(pa, pb)| {
                let all = found(a, &pa, b, &pb, 1.0);
                let least = all.iter().min_by(|x, y| x.gap.total_cmp(&y.gap));
                // Nearer than that, a side that all but faces a face rests on it.
                let Some(least) = least.filter(|contact| contact.gap > 0.01) else {
                    return Ok(());
                };
                let s = separation(a, &pa, b, &pb, least.normal);
                prop_assert!((s - least.gap).abs() < 1e-12, "{i} {j} {s} {least:?}");
                met.set(met.get() + 1);
                Ok(())
            });
            assert!(met.get() > 40, "{i} {j} {}", met.get());
        }
    }
}

/// Discs that lean by less than 0.01 rest flat on each other, and gaps differ by the square of that, over bodies of about 1 m.
const LIKE_DISC: f64 = 2e-4;

/// Bodies that were apart are pushed into each other by a little: one of their points is as deep as its normal says.
#[test]
fn bodies_in_a_little_overlap_have_their_depth_as_gap() {
    let cylinder = |half_height, radius| {
        build(Shape::Cylinder {
            half_height,
            radius,
        })
    };
    let cone = |half_height, radius| {
        build(Shape::Cone {
            half_height,
            radius,
        })
    };
    let shapes = [
        cylinder(0.03, 0.5),
        cylinder(0.9, 0.03),
        cylinder(0.4, 0.35),
        cone(0.1, 0.7),
        cone(0.3, 0.58),
        cone(0.8, 0.2),
        cuboid(0.5, 0.4, 0.3),
        cuboid(0.5, 0.4, 0.01),
        build(Shape::Capsule {
            half_height: 0.4,
            radius: 0.1,
        }),
    ];
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            // Sides and edges that lean by less than 0.6° from a face give way to it: 0.01 of bodies of about 1 m.
            let has_faces = [i, j].iter().any(|k| [6, 7].contains(k));
            let tolerance = if has_faces { 1e-2 } else { LIKE_DISC };
            check(
                1000,
                &(pose(0.1), pose(0.9), 1e-4..0.03),
                |(pa, mut pb, depth)| {
                    let all = found(a, &pa, b, &pb, 1.0);
                    let least = all.iter().min_by(|x, y| x.gap.total_cmp(&y.gap));
                    let Some(least) = least.filter(|contact| contact.gap > 0.0) else {
                        return Ok(());
                    };
                    pb.position += least.normal * (least.gap + depth);
                    let all = found(a, &pa, b, &pb, 0.2);
                    let shows = |contact: &ContactPoint| {
                        let s = separation(a, &pa, b, &pb, contact.normal);
                        (s - contact.gap).abs() <= tolerance
                    };
                    prop_assert!(all.iter().any(shows), "{i} {j} {all:?} {pa:?} {pb:?}");
                    Ok(())
                },
            );
        }
    }
}

/// Long prisms that touch edge on edge, across each other up to a small turn: a plane along both edges holds them apart.
#[test]
fn long_edges_that_touch_do_not_overlap() {
    let prism = |sides: u32, half: f64| -> Vec<DVec3> {
        let corner = |k: u32| {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(k) / f64::from(sides));
            [-half, half].map(|z| DVec3::new(0.1 * cos, 0.1 * sin, z))
        };
        (0..sides).flat_map(corner).collect()
    };
    let most = |points: &[DVec3], l: DVec3| {
        let along = points.iter().map(|p| l.dot(*p));
        along.fold(f64::NEG_INFINITY, f64::max)
    };
    let across = turn(DVec3::Y, -1.0);
    for (sides, half) in [(4, 0.3), (4, 1.0), (4, 5.0), (3, 1.0), (6, 5.0)] {
        for other in [5, 7] {
            let (a, b) = (prism(sides, half), prism(other, 0.1));
            let [of_a, of_b] = [&a, &b].map(|points| {
                let points = points.clone();
                build(Shape::ConvexHull { points })
            });
            for small in [0.0, 1e-8, 3e-8, 1e-7, 1e-6, 1e-5] {
                check(30, &(vector(1.0), vector(1.0)), |(v, place)| {
                    let small = v * small;
                    let small = DQuat::from_xyzw(small.x, small.y, small.z, 1.0).normalize();
                    let turned = small * across;
                    let points: Vec<DVec3> = b.iter().map(|p| turned * *p).collect();
                    let apart = most(&a, -DVec3::Y) + most(&points, DVec3::Y);
                    let at = DVec3::new(0.05 * place.x, apart, 0.9 * half * place.z);
                    let at_rest = Pose::new(DVec3::ZERO, turned);
                    let all = found(&of_a, &Pose::from_position(at), &of_b, &at_rest, 0.02);
                    for contact in all {
                        prop_assert!(contact.gap > -1e-6, "{sides} {other} {half}: {contact:?}");
                    }
                    Ok(())
                });
            }
        }
    }
}

/// Rods that lean from each other by a small angle: both ends of the stretch are contacts, each as far apart as the bodies are there. The shortest way from
/// a ring of a rod to the side of the other is a distance of points of both: no less than the gap between the bodies, and less than that of any plane across
/// an end only by the lean.
#[test]
fn rods_side_by_side_are_held_at_both_ends() {
    let (half_height, radius) = (0.3, 0.02);
    let rods = [
        build(Shape::Capsule {
            half_height,
            radius,
        }),
        build(Shape::Cylinder {
            half_height,
            radius,
        }),
    ];
    for (i, a) in rods.iter().enumerate() {
        for (j, b) in rods.iter().enumerate() {
            for lean in [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.02, 0.05, 0.12] {
                let orientation = turn(DVec3::X, -0.5 * lean);
                let near = DVec3::new(0.0, 2.0 * radius + 0.002, -half_height);
                let place = near + orientation * (DVec3::Z * half_height);
                let all = found(a, &Pose::IDENTITY, b, &Pose::new(place, orientation), 0.1);
                assert_eq!(all.len(), 2, "{i} {j} {lean}: {all:?}");
                for end in [-half_height, half_height] {
                    let here = all.iter().find(|c| (c.point.z - end).abs() < 0.01);
                    let gap = here.map_or(f64::NAN, |contact| contact.gap);
                    let exact = 0.002 + lean * (end + half_height);
                    assert!(
                        (gap - exact).abs() < 1e-6 + 0.1 * lean * lean,
                        "{i} {j} {lean}: {gap} instead of {exact}"
                    );
                }
                let mut features: Vec<u64> = all.iter().map(|c| c.feature).collect();
                features.sort_unstable();
                assert_eq!(features[1], features[0] + 1, "{i} {j} {lean}: {all:?}");
            }
        }
    }
}
