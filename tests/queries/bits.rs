//! The same bits on any number of threads and for any order of storage.

use crate::support::{Random, terrain};
use moreau::prelude::*;

/// The same bodies, spawned in an order of their own.
fn shuffled(seed: u64, threads: usize) -> Simulation {
    let settings = Settings {
        threads,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let mut random = Random::new(8);
    let mut bodies: Vec<_> = (0..600)
        .map(|id| {
            (
                BodyId(id),
                RigidBody::Static,
                random.collider(),
                random.pose(8.0),
            )
        })
        .collect();
    // Some in one place: hits at the same distance.
    for k in 0..100 {
        bodies[k + 100].2 = bodies[k].2.clone();
        bodies[k + 100].3 = bodies[k].3;
    }
    let mut order = Random::new(seed);
    for k in (1..bodies.len()).rev() {
        bodies.swap(k, order.below(k + 1));
    }
    let floor = (
        BodyId(1000),
        RigidBody::Static,
        terrain(),
        Pose::at(0.0, 0.0, -8.0),
    );
    simulation.spawn(floor).unwrap();
    for body in bodies {
        simulation.spawn(body).unwrap();
        if order.unit() < 0.1 {
            // The index is made bit by bit.
            simulation.queries().unwrap();
        }
    }
    simulation
}

#[test]
fn batches_have_the_same_bits() {
    let mut random = Random::new(9);
    let rays: Vec<Ray> = (0..3000).map(|_| random.ray(12.0)).collect();
    let points: Vec<DVec3> = (0..500).map(|_| random.vector() * 10.0).collect();
    let casts: Vec<_> = (0..300)
        .map(|_| (random.pose(10.0), Sweep::new(random.vector()).unwrap()))
        .collect();
    let every = QueryFilter::new();
    let probe = Collider::capsule(0.3, 0.1);
    let mut known: Option<(Vec<_>, Vec<_>, Vec<_>)> = None;
    for (seed, threads) in [(1, 1), (2, 2), (3, 3), (4, 0)] {
        let mut simulation = shuffled(seed, threads);
        let queries = simulation.queries().unwrap();
        let hits = queries.rays(&rays, &every);
        for (ray, hit) in rays.iter().zip(&hits) {
            assert_eq!(queries.ray(ray, &every), *hit);
        }
        let strip = |hit: &Option<Found<RayHit>>| hit.map(|hit| (hit.id, hit.at));
        let nearest = queries.closest_points(&points, 5.0, &every).unwrap();
        let touches = queries.shape_casts(&probe, &casts, &every).unwrap();
        let found = (
            hits.iter().map(strip).collect::<Vec<_>>(),
            nearest
                .iter()
                .map(|hit| hit.map(|hit| (hit.id, hit.at)))
                .collect::<Vec<_>>(),
            touches
                .iter()
                .map(|hit| hit.map(|hit| (hit.id, hit.at)))
                .collect::<Vec<_>>(),
        );
        assert_eq!(*known.get_or_insert_with(|| found.clone()), found);
    }
}
