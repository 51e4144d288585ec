//! Rays against one shape.

use super::{Random, ball_of_triangles, compound, field, solids};
use crate::query::{Inside, Ray, RayHit, cast_ray, closest_point, ray_hits};
use crate::{Frame, Geometry, Shape};
use glam::DVec3;

fn signed(geometry: &Geometry, pose: &Frame, point: DVec3) -> f64 {
    let found = closest_point(geometry, pose, point, f64::INFINITY).unwrap();
    found.map_or(f64::NAN, |found| found.distance)
}

/// A ray towards somewhere near a thing at `pose`.
fn ray_near(random: &mut Random, pose: &Frame, size: f64, far: f64) -> Ray {
    let target = pose.position + random.vector() * size;
    let origin = pose.position + random.direction() * far;
    Ray::new(origin, target - origin).unwrap()
}

#[test]
fn the_hit_is_on_the_surface_and_nothing_is_nearer() {
    let mut random = Random::new(1);
    let (mut hits, mut all) = (0, 0);
    for size in [1e-3, 1.0, 1e3] {
        for solid in solids(size) {
            for _ in 0..2000 {
                let far = size * libm::exp10(random.within(0.2, 1.5));
                let pose = random.pose(10.0 * size);
                let ray = ray_near(&mut random, &pose, 1.2 * size, far);
                all += 1;
                let hit = cast_ray(&solid, &pose, &ray);
                // Spheres of the signed distance are free: they lead to the first hit, from before it.
                let (mut way, mut left) = (0.0, f64::INFINITY);
                for _ in 0..4000 {
                    left = signed(&solid, &pose, ray.at(way));
                    if left < 1e-9 * size || way > 100.0 * far {
                        break;
                    }
                    way += left;
                }
                let Some(RayHit {
                    distance,
                    normal,
                    point,
                    ..
                }) = hit
                else {
                    assert!(left > 1e-10 * size, "missed {:?} at {way}", solid.shape());
                    continue;
                };
                hits += 1;
                let on = signed(&solid, &pose, point).abs();
                assert!(on < 1e-13 * (far + 10.0 * size), "{on} {:?}", solid.shape());
                assert!((normal.length() - 1.0).abs() < 1e-12);
                let facing = normal.dot(ray.direction());
                assert!(facing <= 0.0, "{facing}");
                assert!(way <= distance * (1.0 + 1e-12) + 1e-12 * size);
                // A ray that grazes may be near long before it hits.
                let near = 1e-7 * size / facing.abs().max(1e-3)
                    + 1e-4 * size * f64::from(facing.abs() < 0.05);
                assert!(
                    distance - way < near,
                    "{distance} {way} {:?}",
                    solid.shape()
                );
                // The normal is the gradient of the distance, but at edges.
                let out = signed(&solid, &pose, point + normal * 1e-3 * size);
                assert!(
                    (out / (1e-3 * size) - 1.0).abs() < 1e-9,
                    "{out} {:?}",
                    solid.shape()
                );
            }
        }
    }
    assert!(hits * 3 > all, "{hits} of {all}");
}

#[test]
fn rigid_motions_move_the_hit_along() {
    let mut random = Random::new(2);
    let mut shapes = solids(1.0);
    shapes.extend([
        ball_of_triangles(1.0, 9, 12).build().unwrap(),
        field(1.0).build().unwrap(),
        compound(1.0).build().unwrap(),
        Shape::HalfSpace { normal: DVec3::Z }.build().unwrap(),
    ]);
    for shape in &shapes {
        for _ in 0..1000 {
            let pose = random.pose(3.0);
            let ray = ray_near(&mut random, &pose, 1.0, 4.0);
            let motion = random.pose(100.0);
            let moved = Ray::new(
                motion.transform_point(ray.origin()),
                motion.rotate(ray.direction()),
            );
            let hit = cast_ray(shape, &pose, &ray);
            let then = cast_ray(shape, &motion.compose(&pose), &moved.unwrap());
            let Some((hit, then)) = hit.zip(then) else {
                assert_eq!(hit.is_some(), then.is_some());
                continue;
            };
            let facing = hit.normal.dot(ray.direction()).abs();
            let near = 1e-12 / facing.max(1e-6);
            assert!(
                (hit.distance - then.distance).abs() < near,
                "{hit:?} {then:?}"
            );
            assert!((motion.transform_point(hit.point) - then.point).length() < near);
            assert!((motion.rotate(hit.normal) - then.normal).length() < 1e-9 / facing.max(1e-6));
            assert_eq!(hit.part, then.part);
        }
    }
}

#[test]
fn a_ray_that_starts_inside_hits_at_once_or_leaves() {
    let mut random = Random::new(3);
    for solid in solids(1.0) {
        let pose = random.pose(1.0);
        for _ in 0..500 {
            let start = pose.position + random.vector() * 0.5;
            if signed(&solid, &pose, start) >= -1e-6 {
                continue;
            }
            let ray = Ray::new(start, random.direction()).unwrap();
            let hit = cast_ray(&solid, &pose, &ray).unwrap();
            assert_eq!(hit.distance.to_bits(), 0.0_f64.to_bits());
            assert_eq!((hit.point, hit.normal), (start, -ray.direction()));
            let ray = ray.starting_inside(Inside::Leaves);
            let hit = cast_ray(&solid, &pose, &ray).unwrap();
            assert!(signed(&solid, &pose, hit.point).abs() < 1e-13);
            assert!(hit.normal.dot(ray.direction()) <= 0.0);
            let inwards = signed(&solid, &pose, hit.point + hit.normal * 1e-6);
            assert!(inwards < 0.0);
            // The way back from outside ends at the same point.
            let back = Ray::new(ray.at(hit.distance + 5.0), -ray.direction()).unwrap();
            let other = cast_ray(&solid, &pose, &back).unwrap();
            assert!((other.point - hit.point).length() < 1e-12);
        }
    }
}

/// Through edges and corners of a closed mesh, aimed exactly and along coordinate axes.
#[test]
fn no_ray_goes_between_triangles() {
    let mut random = Random::new(4);
    let shape = ball_of_triangles(1.0, 9, 12);
    let Shape::TriangleMesh {
        vertices,
        triangles,
    } = &shape
    else {
        panic!()
    };
    let mesh = shape.build().unwrap();
    let mut aims: Vec<DVec3> = vertices.clone();
    for t in triangles {
        let [a, b, c] = t.map(|i| vertices[i as usize]);
        aims.extend([0.5 * (a + b), 0.5 * (b + c), 0.3 * a + 0.7 * c]);
    }
    for aim in aims {
        for k in 0..40 {
            let origin = match k {
                0 => DVec3::ZERO,
                1..8 => {
                    aim + DVec3::AXES[k % 3]
                        * -(3.0_f64.copysign(aim[k % 3]))
                        * f64::from((k as u32 % 2) * 2)
                        - DVec3::AXES[k % 3] * 4.0_f64.copysign(-aim[k % 3])
                }
                _ => random.direction() * 3.0,
            };
            let Ok(ray) = Ray::new(origin, aim - origin) else {
                continue;
            };
            let mut hits = Vec::new();
            ray_hits(&mesh, &Frame::IDENTITY, &ray, &mut hits);
            // It runs through the inside of the ball, or grazes an edge.
            let middle = ray.at(-ray.origin().dot(ray.direction()).min(0.0));
            let deep = middle.length() < 0.9;
            assert!(!deep || !hits.is_empty(), "{ray:?}");
        }
    }
}

#[test]
fn surfaces_are_met_as_by_brute_force() {
    let mut random = Random::new(5);
    for shape in [ball_of_triangles(1.0, 20, 30), field(1.0)] {
        let surface = shape.build().unwrap();
        let count = match &shape {
            Shape::TriangleMesh { triangles, .. } => triangles.len() as u32,
            _ => 2 * 29 * 39,
        };
        let crate::geometry::Body::Surface(sheet) = surface.body() else {
            panic!()
        };
        let mut hits = 0;
        for _ in 0..3000 {
            let pose = random.pose(2.0);
            let far = random.within(0.1, 30.0);
            let ray = ray_near(&mut random, &pose, 1.3, far);
            let hit = cast_ray(&surface, &pose, &ray);
            let mut best: Option<(f64, u32)> = None;
            for t in 0..count {
                let [a, b, c] = sheet.corners_of(t).map(|x| pose.transform_point(x));
                // The textbook's way.
                let (p, q) = (b - a, c - a);
                let cross = ray.direction().cross(q);
                let det = p.dot(cross);
                let from = ray.origin() - a;
                let u = from.dot(cross) / det;
                let v = ray.direction().dot(from.cross(p)) / det;
                let s = q.dot(from.cross(p)) / det;
                if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && s >= 0.0 && best.is_none_or(|b| s < b.0)
                {
                    best = Some((s, t));
                }
            }
            assert_eq!(hit.is_some(), best.is_some(), "{hit:?} {best:?}");
            if let Some((hit, best)) = hit.zip(best) {
                hits += 1;
                assert!(
                    (hit.distance - best.0).abs() < 1e-11 * far,
                    "{hit:?} {best:?}"
                );
                assert_eq!(hit.part, best.1);
                assert!(hit.normal.dot(ray.direction()) <= 0.0);
            }
        }
        assert!(hits > 500, "{hits}");
    }
}

#[test]
fn all_hits_of_a_compound_are_those_of_its_parts_in_order() {
    let mut random = Random::new(6);
    let shape = compound(1.0);
    let Shape::Compound { parts } = &shape else {
        panic!()
    };
    let whole = shape.build().unwrap();
    for _ in 0..2000 {
        let pose = random.pose(1.0);
        let ray = ray_near(&mut random, &pose, 1.5, 4.0);
        let mut hits = Vec::new();
        ray_hits(&whole, &pose, &ray, &mut hits);
        let mut own: Vec<(f64, u32)> = Vec::new();
        for (k, (place, part)) in (0..).zip(parts) {
            let hit = cast_ray(&part.build().unwrap(), &pose.compose(place), &ray);
            own.extend(hit.map(|hit| (hit.distance, k)));
        }
        own.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        assert_eq!(hits.len(), own.len());
        for (hit, own) in hits.iter().zip(&own) {
            // The pose of a part is normalised in a compound.
            assert!((hit.distance - own.0).abs() < 1e-10, "{hit:?} {own:?}");
            assert_eq!(hit.part, own.1);
        }
        assert_eq!(cast_ray(&whole, &pose, &ray), hits.first().copied());
    }
}

#[test]
fn closed_forms_far_from_the_origin_and_from_far_away() {
    let half = DVec3::new(0.5, 0.25, 1.0);
    let brick = Shape::Cuboid { half_extents: half }.build().unwrap();
    let far = DVec3::new(1e6, -2e6, 3e6);
    let pose = Frame::from_position(far);
    let ray = Ray::new(far + DVec3::new(-2.0, 0.1, 0.3), DVec3::X).unwrap();
    let hit = cast_ray(&brick, &pose, &ray).unwrap();
    assert!((hit.distance - 1.5).abs() < 1e-9 && hit.normal == DVec3::NEG_X);
    let cone = Shape::Cone {
        half_height: 1.0,
        radius: 0.5,
    }
    .build()
    .unwrap();
    let from = DVec3::new(-1e9, 0.0, 0.0);
    let hit = cast_ray(&cone, &Frame::IDENTITY, &Ray::new(from, DVec3::X).unwrap()).unwrap();
    assert!(
        (hit.distance - (1e9 - 0.25)).abs() < 1e-6,
        "{}",
        hit.distance
    );
    // Down the axis: the apex, and from below the disc.
    let down = Ray::new(DVec3::Z * 5.0, DVec3::NEG_Z).unwrap();
    assert!((cast_ray(&cone, &Frame::IDENTITY, &down).unwrap().distance - 4.0).abs() < 1e-15);
    let up = Ray::new(DVec3::Z * -5.0, DVec3::Z).unwrap();
    let hit = cast_ray(&cone, &Frame::IDENTITY, &up).unwrap();
    assert_eq!((hit.distance, hit.normal), (4.0, DVec3::NEG_Z));
    // Along a generator, and parallel to one.
    let along = DVec3::new(0.5, 0.0, -2.0);
    for aside in [1e-6, 1e-3, 0.05] {
        let start = DVec3::new(-aside, 0.0, 1.0) - along;
        let hit = cast_ray(&cone, &Frame::IDENTITY, &Ray::new(start, along).unwrap());
        let point = hit.unwrap().point;
        let off = signed(&cone, &Frame::IDENTITY, point);
        assert!(off.abs() < 1e-11, "{aside} {off} {point}");
    }
    let outside = DVec3::new(1e-3, 0.0, 1.0) - along;
    assert!(cast_ray(&cone, &Frame::IDENTITY, &Ray::new(outside, along).unwrap()).is_none());
}

#[test]
fn grazing_rays_touch() {
    let ball = Shape::Sphere { radius: 1.0 }.build().unwrap();
    let ray = |z: f64| Ray::new(DVec3::new(-3.0, 0.0, z), DVec3::X).unwrap();
    let hit = cast_ray(&ball, &Frame::IDENTITY, &ray(1.0)).unwrap();
    assert_eq!((hit.distance, hit.normal), (3.0, DVec3::Z));
    assert!(cast_ray(&ball, &Frame::IDENTITY, &ray(1.0 + 1e-15)).is_none());
    // Along a side of a box.
    let cube = Shape::Cuboid {
        half_extents: DVec3::ONE,
    }
    .build()
    .unwrap();
    assert!(cast_ray(&cube, &Frame::IDENTITY, &ray(1.0)).is_some());
    assert!(cast_ray(&cube, &Frame::IDENTITY, &ray(1.0 + 1e-15)).is_none());
    // The end of the ray counts.
    let short = ray(0.0).up_to(2.0).unwrap();
    assert!(cast_ray(&cube, &Frame::IDENTITY, &short).is_some());
    let short = ray(0.0).up_to(2.0_f64.next_down()).unwrap();
    assert!(cast_ray(&cube, &Frame::IDENTITY, &short).is_none());
}
