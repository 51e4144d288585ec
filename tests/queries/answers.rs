//! Every question against a look at every body.

use crate::support::{Random, bodies, check, first_hit, world};
use moreau::geometry::query::{cast_shape, closest_point, contains, overlaps, ray_hits};
use moreau::prelude::*;

#[test]
fn first_hits_are_those_of_a_look_at_every_body() {
    for count in [0, 1, 2, 5, 300] {
        let mut simulation = world(count, Settings::default());
        check(&mut simulation, &mut Random::new(2), 1000);
    }
}

#[test]
fn all_hits_are_sorted_and_complete() {
    let mut simulation = world(200, Settings::default());
    let mut random = Random::new(3);
    let every = QueryFilter::new();
    for _ in 0..500 {
        let ray = random.ray(12.0);
        let mut expected = Vec::new();
        for (entity, id, geometry, pose) in bodies(&mut simulation) {
            let mut hits = Vec::new();
            ray_hits(&geometry, &pose, &ray, &mut hits);
            expected.extend(hits.into_iter().map(|at| Found { entity, id, at }));
        }
        expected.sort_by(|a, b| {
            let distance = a.at.distance.total_cmp(&b.at.distance);
            distance
                .then(a.id.cmp(&b.id))
                .then(a.at.part.cmp(&b.at.part))
        });
        let first = first_hit(&mut simulation, &ray);
        let queries = simulation.queries().unwrap();
        assert_eq!(queries.ray_all(&ray, &every), expected);
        assert_eq!(expected.first().copied(), first);
        assert_eq!(queries.is_blocked(&ray, &every), first.is_some());
    }
}

#[test]
fn points_and_shapes_find_what_every_body_says() {
    let mut simulation = world(200, Settings::default());
    let mut random = Random::new(4);
    let every = QueryFilter::new();
    let mut counts = [0; 4];
    for _ in 0..300 {
        let all = bodies(&mut simulation);
        // Near bodies, but for some.
        let place = all[random.below(all.len())].3.position;
        let point = place + random.vector() * [0.5, 5.0][random.below(2)];
        let queries = simulation.queries().unwrap();
        let within: Vec<_> = all
            .iter()
            .filter(|(.., geometry, pose)| contains(geometry, pose, point).unwrap())
            .map(|(entity, ..)| *entity)
            .collect();
        let found = queries.overlap_point(point, &every).unwrap();
        let found: Vec<_> = found.iter().map(|found| found.entity).collect();
        assert_eq!(found, within);
        counts[0] += within.len();

        for reach in [f64::INFINITY, 0.5] {
            let nearest = all
                .iter()
                .filter_map(|(entity, id, geometry, pose)| {
                    let at = closest_point(geometry, pose, point, reach).unwrap()?;
                    let (entity, id) = (*entity, *id);
                    Some(Found { entity, id, at })
                })
                .min_by(|a, b| {
                    a.at.distance
                        .total_cmp(&b.at.distance)
                        .then(a.id.cmp(&b.id))
                });
            let found = queries.closest_point(point, reach, &every).unwrap();
            assert_eq!(found, nearest);
        }

        let (collider, turned) = (random.collider(), random.pose(1.0));
        let pose = Pose::from_position(point).with_orientation(turned.orientation);
        let geometry = collider.geometry().unwrap();
        let met: Vec<_> = all
            .iter()
            .filter(|(.., other, place)| overlaps(&geometry, &pose.into(), other, place))
            .map(|(entity, ..)| *entity)
            .collect();
        let found = queries.overlap_shape(&collider, &pose, &every).unwrap();
        let found: Vec<_> = found.iter().map(|found| found.entity).collect();
        assert_eq!(found, met);
        counts[1] += met.len();

        let sweep = Sweep::new(random.vector()).unwrap();
        let mut hits: Vec<_> = all
            .iter()
            .filter_map(|(entity, id, other, place)| {
                let at = cast_shape(&geometry, &pose.into(), &sweep, other, place)?;
                let (entity, id) = (*entity, *id);
                Some(Found { entity, id, at })
            })
            .collect();
        hits.sort_by(|a, b| {
            a.at.distance
                .total_cmp(&b.at.distance)
                .then(a.id.cmp(&b.id))
        });
        let found = queries
            .shape_cast_all(&collider, &pose, &sweep, &every)
            .unwrap();
        assert_eq!(found, hits);
        let first = queries
            .shape_cast(&collider, &pose, &sweep, &every)
            .unwrap();
        assert_eq!(first, hits.first().copied());
        counts[2] += hits.len();

        let contacts = queries.contacts_of(&collider, &pose, 0.1, &every).unwrap();
        let mut expected = Vec::new();
        for (entity, id, other, place) in &all {
            let mut points = Vec::new();
            moreau::geometry::contacts(&geometry, &pose.into(), other, place, 0.1, &mut points);
            let (entity, id) = (*entity, *id);
            expected.extend(points.into_iter().map(|at| Found { entity, id, at }));
        }
        assert_eq!(contacts, expected);
        counts[3] += contacts.len();
    }
    assert!(counts.into_iter().all(|count| count > 30), "{counts:?}");
}
