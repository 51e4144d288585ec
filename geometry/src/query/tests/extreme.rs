//! Numbers of any size.

use super::{Random, ball_of_triangles, compound, field, solids};
use crate::query::{Sweep, cast_shape, closest_point, distance, overlaps};
use crate::{Frame, Geometry, Shape};
use glam::DVec3;

fn wild(random: &mut Random) -> f64 {
    (random.unit() - 0.5) * libm::exp10(600.0 * (random.unit() - 0.5))
}

#[test]
fn pairs_at_any_distance_end_in_finite_numbers() {
    let mut random = Random::new(1);
    let mut all: Vec<Geometry> = solids(1.0);
    all.extend(solids(1e-4));
    all.extend(solids(1e5));
    for shape in [
        ball_of_triangles(1.0, 5, 6),
        field(1.0),
        compound(1.0),
        Shape::HalfSpace { normal: DVec3::X },
    ] {
        all.push(shape.build().unwrap());
    }
    for k in 0..3_000 {
        let pick = |random: &mut Random| &all[(random.unit() * all.len() as f64) as usize];
        let (a, b) = (pick(&mut random), pick(&mut random));
        let mut offset = DVec3::new(wild(&mut random), wild(&mut random), wild(&mut random));
        if k % 2 == 0 {
            offset = random.vector() * 3.0;
        }
        let (pose, place) = (
            Frame::new(offset, random.turn()),
            Frame::new(random.vector(), random.turn()),
        );
        if let Some(found) = distance(a, &pose, b, &place) {
            assert!(found.distance.is_finite() && found.on_a.is_finite() && found.on_b.is_finite());
            assert!((found.normal.length() - 1.0).abs() < 1e-9, "{found:?}");
        }
        let _ = overlaps(a, &pose, b, &place);
        let sweep = Sweep::new(place.position - offset).unwrap();
        if let Some(hit) = cast_shape(a, &pose, &sweep, b, &place) {
            assert!(hit.distance.is_finite() && hit.point.is_finite() && hit.on_moving.is_finite());
            assert!((hit.normal.length() - 1.0).abs() < 1e-9, "{hit:?}");
        }
        if let Some(hit) = closest_point(a, &place, offset, f64::INFINITY).unwrap() {
            assert!(hit.distance.is_finite() && hit.point.is_finite());
            assert!((hit.normal.length() - 1.0).abs() < 1e-9, "{hit:?}");
        }
    }
}
