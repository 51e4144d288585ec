//! Symmetries every pair obeys: exchange, rigid motion, and motion along the normal.

use super::*;

/// A pose that brings `b` near `a`: somewhere around the unit ball, above surfaces.
fn near() -> impl Strategy<Value = Frame> {
    (vector(0.5), orientation())
        .prop_map(|(p, q)| Frame::new(DVec3::new(p.x, p.y, p.z.abs() + 0.35), q))
}

fn least(contacts: &[ContactPoint]) -> Option<ContactPoint> {
    contacts
        .iter()
        .copied()
        .min_by(|a, b| a.gap.total_cmp(&b.gap))
}

#[test]
fn exchange_flips_the_normal() {
    let shapes = all_shapes();
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            check(40, &(near(), orientation()), |(pa, q)| {
                let pb = if b.is_solid() {
                    Frame::new(DVec3::ZERO, q)
                } else {
                    Frame::IDENTITY
                };
                let ab = found(a, &pa, b, &pb, 0.2);
                let ba = found(b, &pb, a, &pa, 0.2);
                prop_assert_eq!(ab.is_empty(), ba.is_empty());
                if let (Some(x), Some(y)) = (least(&ab), least(&ba)) {
                    prop_assert!((x.gap - y.gap).abs() < 1e-7, "{i} {j} {} {}", x.gap, y.gap);
                }
                // Shapes of one rank: the frame shape changes with the order.
                let same_rank = i == j
                    || [[1, 5], [3, 4]]
                        .iter()
                        .any(|rank| rank.contains(&i) && rank.contains(&j));
                if !same_rank {
                    prop_assert_eq!(ab.len(), ba.len());
                    for (x, y) in ab.iter().zip(&ba) {
                        prop_assert!(
                            (x.normal + y.normal).length() < 1e-9,
                            "{i} {j} {ab:?} {ba:?}"
                        );
                        prop_assert!((x.point - y.point).length() < 1e-9);
                    }
                }
                Ok(())
            });
        }
    }
}

#[test]
fn rigid_motion_of_both_moves_the_contacts() {
    let shapes = all_shapes();
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            check(
                40,
                &(near(), orientation(), pose(5.0)),
                |(pa, q, motion)| {
                    let pb = if b.is_solid() {
                        Frame::new(DVec3::ZERO, q)
                    } else {
                        Frame::IDENTITY
                    };
                    let mut before = found(a, &pa, b, &pb, 0.2);
                    let mut after = found(a, &motion.compose(&pa), b, &motion.compose(&pb), 0.2);
                    if least(&before).is_some_and(|c| c.gap < -0.05) {
                        return Ok(());
                    }
                    before.sort_by_key(|c| c.feature);
                    after.sort_by_key(|c| c.feature);
                    prop_assert_eq!(before.len(), after.len(), "{} {}", i, j);
                    for (x, y) in before.iter().zip(&after) {
                        prop_assert!(
                            (x.gap - y.gap).abs() < 1e-9,
                            "{i} {j} {before:x?} {after:x?}"
                        );
                        prop_assert!(
                            (motion.rotate(x.normal) - y.normal).length() < 1e-6,
                            "{i} {j}"
                        );
                        prop_assert_eq!(
                            x.feature,
                            y.feature,
                            "{} {} {:x?} {:x?}",
                            i,
                            j,
                            before,
                            after
                        );
                    }
                    Ok(())
                },
            );
        }
    }
}

#[test]
fn motion_along_the_normal_changes_the_gap_by_as_much() {
    let shapes = all_shapes();
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            check(
                40,
                &(near(), orientation(), -1e-5..1e-5_f64),
                |(pa, q, step)| {
                    let pb = if b.is_solid() {
                        Frame::new(DVec3::ZERO, q)
                    } else {
                        Frame::IDENTITY
                    };
                    let before = found(a, &pa, b, &pb, 0.2);
                    let Some(contact) = least(&before).filter(|c| c.gap > -0.05) else {
                        return Ok(());
                    };
                    let moved = Frame::new(pa.position + contact.normal * step, pa.orientation);
                    let after = found(a, &moved, b, &pb, 0.2 + 1e-5);
                    let Some(then) = least(&after) else {
                        return Err(TestCaseError::fail("contact lost"));
                    };
                    let miss = then.gap - contact.gap - step;
                    prop_assert!(
                        miss.abs() < 1e-9,
                        "{i} {j} gap {} step {step} miss {miss}",
                        contact.gap
                    );
                    Ok(())
                },
            );
        }
    }
}

#[test]
fn symmetric_and_coinciding_poses_give_finite_contacts() {
    let shapes = all_shapes();
    let turns = [
        DQuat::IDENTITY,
        turn(DVec3::X, 1.0),
        turn(DVec3::Y, 1.0),
        turn(DVec3::Z, 2.0_f64.sqrt() - 1.0),
        turn(DVec3::ONE, 1e-9),
        DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),
    ];
    let steps = [-0.5, 0.0, 0.3, 0.5, 1.0];
    for a in &shapes {
        for b in &shapes {
            for q in turns {
                for k in 0..125 {
                    let place = DVec3::new(steps[k % 5], steps[k / 5 % 5], steps[k / 25]);
                    let pose = Frame::new(place, q);
                    for contact in found(a, &pose, b, &Frame::IDENTITY, 0.1) {
                        assert!(contact.point.is_finite() && contact.gap <= 0.1);
                        assert!((contact.normal.length() - 1.0).abs() < 1e-12);
                    }
                }
            }
        }
    }
}

/// One of every convex kind, slender and flat ones too, a half-space and a mesh, in units of `unit`.
fn in_units(unit: f64) -> Vec<Geometry> {
    let cylinder = |half_height: f64, radius: f64| {
        build(Shape::Cylinder {
            half_height: half_height * unit,
            radius: radius * unit,
        })
    };
    let hull = |count: u32| {
        let point = |k: u32| {
            let part = |by: f64| (f64::from(k) * by).fract() - 0.5;
            let on_ball = DVec3::new(part(0.618), part(0.414), part(0.732)).normalize();
            on_ball * DVec3::new(0.6, 0.5, 0.3) * unit
        };
        build(Shape::ConvexHull {
            points: (1..=count).map(point).collect(),
        })
    };
    let corners = [(-1.0, -1.0, -0.2), (1.0, -1.0, -0.2), (1.0, 1.0, -0.2)];
    let corners = corners
        .into_iter()
        .chain([(-1.0, 1.0, -0.2), (0.1, 0.05, 0.3)]);
    vec![
        build(Shape::Sphere { radius: 0.4 * unit }),
        cuboid(0.5 * unit, 0.4 * unit, 0.3 * unit),
        build(Shape::Capsule {
            half_height: 0.4 * unit,
            radius: 0.2 * unit,
        }),
        cylinder(0.03, 0.5),
        cylinder(0.6, 0.05),
        build(Shape::Cone {
            half_height: 0.4 * unit,
            radius: 0.5 * unit,
        }),
        hull(12),
        hull(40),
        build(Shape::HalfSpace { normal: DVec3::Z }),
        build(Shape::TriangleMesh {
            vertices: corners
                .map(|(x, y, z)| DVec3::new(x, y, z) * unit)
                .collect(),
            triangles: vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
        }),
    ]
}

/// Contact knows no length but those of the bodies: in units of a power of two, in which no digit is lost, no bit changes.
#[test]
fn small_bodies_touch_as_large_ones_do() {
    let usual = in_units(1.0);
    for exponent in [10, -7, -13, -20] {
        let unit = libm::ldexp(1.0, exponent);
        let others = in_units(unit);
        for (i, (a, small_a)) in usual.iter().zip(&others).enumerate() {
            for (j, (b, small_b)) in usual.iter().zip(&others).enumerate() {
                check(40, &(near(), orientation()), |(pa, q)| {
                    let pb = if b.is_solid() {
                        Frame::new(DVec3::ZERO, q)
                    } else {
                        Frame::IDENTITY
                    };
                    let small = |pose: &Frame| Frame::new(pose.position * unit, pose.orientation);
                    let before = found(a, &pa, b, &pb, 0.3);
                    let after = found(small_a, &small(&pa), small_b, &small(&pb), 0.3 * unit);
                    let back = after.iter().map(|contact| ContactPoint {
                        point: contact.point / unit,
                        gap: contact.gap / unit,
                        ..*contact
                    });
                    let back: Vec<_> = back.collect();
                    prop_assert_eq!(before, back, "{} {} {}", i, j, unit);
                    Ok(())
                });
            }
        }
    }
}
