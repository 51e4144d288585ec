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
fn support(geometry: &Geometry, pose: &Frame, l: DVec3) -> f64 {
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

pub(super) fn separation(a: &Geometry, pa: &Frame, b: &Geometry, pb: &Frame, l: DVec3) -> f64 {
    -support(a, pa, -l) - support(b, pb, l)
}

/// About 2000 directions, evenly spread (Fibonacci lattice by exact recurrences of a rotation).
pub(super) fn directions() -> Vec<DVec3> {
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
    let depth = |a: &Geometry, pa: &Frame, b: &Geometry, pb: &Frame, margin: f64| {
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
    let pose_b = Frame::new(DVec3::new(-0.0398, -0.0662, -0.0101), turn);
    let [far, near] = [0.03, 0.0].map(|margin| depth(&a, &Frame::IDENTITY, &b, &pose_b, margin));
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
                let pb = Frame::new(
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
                    let at_rest = Frame::new(DVec3::ZERO, turned);
                    let all = found(&of_a, &Frame::from_position(at), &of_b, &at_rest, 0.02);
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
                let all = found(a, &Frame::IDENTITY, b, &Frame::new(place, orientation), 0.1);
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

/// Bodies that a plane holds all but apart, and whose faces and sides show a depth of up to a third of their size along another direction: no contact is deeper than the plane proves.
#[test]
fn rims_that_hardly_touch_are_not_said_to_be_deep() {
    let cone = |half_height, radius| {
        build(Shape::Cone {
            half_height,
            radius,
        })
    };
    let cylinder = |half_height, radius| {
        build(Shape::Cylinder {
            half_height,
            radius,
        })
    };
    let capsule = |half_height, radius| {
        build(Shape::Capsule {
            half_height,
            radius,
        })
    };
    let cases = [
        (
            [
                cone(1.5725834802627985, 13.676991095721776),
                capsule(0.9289960491535081, 0.21345685018613753),
            ],
            [
                [
                    0.5667533824445493,
                    -0.482150319291666,
                    0.4937596777420643,
                    0.4500256145272845,
                ],
                [
                    0.6133784998430442,
                    0.4608298153375224,
                    0.28402338688485257,
                    0.5750942643851866,
                ],
            ],
            [12.263865389682003, 3.7303267351433043, -6.251062514255445],
            [
                0.41320037350696537,
                0.8917384778065975,
                -0.18457502142185145,
            ],
        ),
        (
            [
                cone(0.1546899939771598, 0.13248722297643117),
                cone(4.739729593263815, 11.442264590120681),
            ],
            [
                [
                    -0.11951766759626015,
                    0.9030452838037012,
                    -0.17489994432351433,
                    -0.37367733675976933,
                ],
                [
                    0.5856324642396666,
                    0.5438504630103206,
                    -0.5670505078139928,
                    0.19928625717778015,
                ],
            ],
            [-10.683858295747484, 1.9893434551376332, -6.105191150554229],
            [-0.661757797372575, 0.6552901969033235, -0.36424082069285113],
        ),
        (
            [
                cone(2.0905628576024147, 2.0252377449653696),
                cone(6.47153160284471, 9.184823647122341),
            ],
            [
                [
                    0.1270867461852155,
                    -0.5290471417958107,
                    0.3954920955459979,
                    -0.7399622173208394,
                ],
                [
                    -0.2459508276788918,
                    0.11806681352436055,
                    -0.4077012550802255,
                    -0.8714058207943535,
                ],
            ],
            [7.044520722874991, -10.191678252029316, 2.246447433612515],
            [0.5896884942011549, -0.5959519677706775, -0.5450768128594647],
        ),
        (
            [
                cylinder(57.23820608639285, 232.26951506945352),
                cylinder(22.433868676801232, 9.453698324644234),
            ],
            [
                [
                    -0.49348448483664975,
                    -0.17373847680875676,
                    -0.7951026026663137,
                    0.30675699851011323,
                ],
                [
                    -0.5405868569171888,
                    0.006246884726198386,
                    -0.33922505496101557,
                    -0.7698397162048138,
                ],
            ],
            [13.185865838950013, -87.20468132799768, 237.20542454298342],
            [0.6637483254693606, 0.5402488227924577, 0.5172710797135132],
        ),
        (
            [
                capsule(0.3655039383039246, 0.01609087198572938),
                cone(0.033051920097756385, 0.13531336872326158),
            ],
            [
                [
                    0.18286519034625648,
                    0.35031074599464784,
                    0.05537674794044605,
                    -0.9169384489636373,
                ],
                [
                    -0.36838644592011366,
                    0.8280864130967336,
                    -0.03703943845966351,
                    -0.4209422750277359,
                ],
            ],
            [
                -0.05028903451923825,
                0.07983764081847838,
                -0.07363630254992545,
            ],
            [
                -0.7702587854770345,
                -0.13546614321693198,
                -0.623177605051219,
            ],
        ),
    ];
    for (k, ([a, b], turns, place, normal)) in cases.iter().enumerate() {
        let [qa, qb] = turns.map(|q| DQuat::from_array(q).normalize());
        let (pa, pb) = (
            Frame::new(DVec3::ZERO, qa),
            Frame::new(DVec3::from_array(*place), qb),
        );
        let l = DVec3::from_array(*normal).normalize();
        let held = separation(a, &pa, b, &pb, l).max(separation(a, &pa, b, &pb, -l));
        for (first, second) in [((a, &pa), (b, &pb)), ((b, &pb), (a, &pa))] {
            let all = found(first.0, first.1, second.0, second.1, 1.0);
            assert!(!all.is_empty(), "{k}");
            for contact in all {
                let excess = contact.gap - held;
                assert!(excess > -1e-8, "{k}: gap {}, held {held}", contact.gap);
            }
        }
    }
}
