//! Routines for particular pairs give the bits of the general ones.

use super::*;
use crate::contact::{Ball, ball_contact};

fn bits(point: &ContactPoint) -> ([u64; 7], u64) {
    let [x, y, z] = point.point.to_array();
    let [nx, ny, nz] = point.normal.to_array();
    let numbers = [x, y, z, nx, ny, nz, point.gap];
    (numbers.map(f64::to_bits), point.feature)
}

fn pose() -> impl Strategy<Value = Frame> {
    let number = || -1.0..1.0_f64;
    let axis = (number(), number(), number());
    (axis, number(), number(), number(), 0.0..1.0_f64).prop_map(|((x, y, z), a, b, c, t)| {
        let axis = DVec3::new(a, b, c + 1.1);
        Frame::new(DVec3::new(x, y, z), turn(axis, t))
    })
}

#[test]
fn balls_in_arrays_have_the_contacts_of_spheres() {
    let near = (pose(), pose(), 0.1..0.9_f64, 0.1..0.9_f64, 0.0..0.3_f64);
    let touching = std::cell::Cell::new(0);
    check(3000, &near, |(pa, pb, ra, rb, margin)| {
        let [a, b] = [ra, rb].map(|radius| build(Shape::Sphere { radius }));
        let general = found(&a, &pa, &b, &pb, margin);
        let [x, y] = [(pa, ra), (pb, rb)].map(|(pose, radius)| Ball {
            center: pose.position,
            radius,
        });
        let fast: Vec<_> = ball_contact(x, y, margin).into_iter().collect();
        prop_assert_eq!(
            general.iter().map(bits).collect::<Vec<_>>(),
            fast.iter().map(bits).collect::<Vec<_>>()
        );
        for point in &fast {
            let offset = pa.position - pb.position;
            prop_assert!((point.gap - (offset.length() - ra - rb)).abs() < 1e-15);
            prop_assert!((point.normal - offset.normalize()).length() < 1e-15);
            let on_a = pa.position - point.normal * (ra + 0.5 * point.gap);
            prop_assert!((point.point - on_a).length() < 1e-15);
        }
        touching.set(touching.get() + fast.len());
        Ok(())
    });
    assert!(touching.get() > 500, "{}", touching.get());
}

#[test]
fn coinciding_and_nearly_coinciding_balls_have_a_unit_normal() {
    for distance in [0.0, 5e-324, 1e-200, 1e-150, 1e-100] {
        let [a, b] = [distance, 0.0].map(|z| Ball {
            center: DVec3::new(0.0, 0.0, z),
            radius: 0.5,
        });
        let normal = ball_contact(a, b, 0.0).map(|point| point.normal);
        assert_eq!(normal, Some(DVec3::Z), "{distance}");
    }
}

#[test]
fn a_ball_on_a_turned_plane_has_the_gap_along_its_normal() {
    check(500, &(pose(), pose()), |(of_ball, of_plane)| {
        let ball = build(Shape::Sphere { radius: 0.3 });
        let plane = build(Shape::HalfSpace { normal: DVec3::Z });
        let normal = of_plane.rotate(DVec3::Z);
        let height = normal.dot(of_ball.position - of_plane.position);
        let above = found(&ball, &of_ball, &plane, &of_plane, 10.0);
        let below = found(&plane, &of_plane, &ball, &of_ball, 10.0);
        prop_assert_eq!(above.len(), 1);
        prop_assert!((above[0].gap - (height - 0.3)).abs() < 1e-14);
        prop_assert!((above[0].normal - normal).length() < 1e-14);
        prop_assert_eq!(above[0].gap.to_bits(), below[0].gap.to_bits());
        prop_assert_eq!(above[0].normal, -below[0].normal);
        prop_assert_eq!(above[0].point, below[0].point);
        Ok(())
    });
}
