//! The candidates contain what they must, whatever the history.

use super::*;
use crate::Aabb;
use glam::DVec3;

/// Linear congruential numbers in [0, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// A body as the tests see it.
#[derive(Clone, Copy)]
struct Body {
    extent: Option<Extent>,
    moving: bool,
}

fn accept(i: u32, j: u32) -> bool {
    !(i + j).is_multiple_of(7)
}

fn meet(a: &Extent, b: &Extent) -> bool {
    if a.radius.is_finite() && b.radius.is_finite() {
        let reach = a.radius + b.radius;
        (a.center - b.center).length_squared() <= reach * reach
    } else {
        a.bounds.intersects(&b.bounds)
    }
}

fn brute_force(bodies: &[Body]) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for i in 0..bodies.len() {
        for j in i + 1..bodies.len() {
            let (a, b) = (&bodies[i], &bodies[j]);
            let [k, l] = [i as u32, j as u32];
            if let (Some(x), Some(y)) = (&a.extent, &b.extent)
                && (a.moving || b.moving)
                && meet(x, y)
                && accept(k, l)
            {
                pairs.push([k, l]);
            }
        }
    }
    pairs
}

fn tell(broad_phase: &mut BroadPhase, bodies: &[Body]) {
    broad_phase.resize(bodies.len());
    for (slot, body) in bodies.iter().enumerate() {
        broad_phase.set_moving(slot, body.moving);
        // Whatever is said of where they go.
        let ahead = [0.0, 0.01, -3.0, f64::NAN, f64::INFINITY, 1e300][slot % 6] * DVec3::X;
        match &body.extent {
            Some(extent) if broad_phase.holds(slot, extent) => {}
            Some(extent) => broad_phase.renew(slot, extent, ahead),
            None => broad_phase.forget(slot),
        }
    }
    assert_eq!(broad_phase.find(&accept), Ok(()));
}

fn met(broad_phase: &BroadPhase, bodies: &[Body]) -> Vec<[u32; 2]> {
    let extent = |slot: u32| bodies[slot as usize].extent;
    let mut pairs = broad_phase.candidates().to_vec();
    pairs.retain(|[i, j]| {
        extent(*i)
            .zip(extent(*j))
            .is_some_and(|(a, b)| meet(&a, &b))
    });
    pairs
}

#[test]
fn pairs_that_meet_equal_brute_force_whatever_the_history() {
    let mut numbers = Numbers(7);
    let count = 200;
    let mut centers: Vec<DVec3> = (0..count).map(|_| 10.0 * numbers.vector()).collect();
    let mut sizes: Vec<DVec3> = (0..count).map(|_| 0.2 + 0.6 * numbers.vector()).collect();
    sizes[17] = DVec3::new(9.0, 9.0, 0.2);
    sizes[18] = DVec3::splat(4.0);
    let mut moving: Vec<bool> = (0..count).map(|i| i % 3 != 0).collect();
    let mut broad_phase = BroadPhase::new();
    let mut most = 0;
    for step in 0..200 {
        // Calm steps, then some where everything moves, then one jump far away.
        let speed = if step % 10 == 9 { 1.0 } else { 0.02 };
        for (center, moving) in centers.iter_mut().zip(&moving) {
            let way = speed * (numbers.vector() - 0.5);
            *center += if *moving || step % 20 == 19 {
                way
            } else {
                DVec3::ZERO
            };
        }
        if step == 50 {
            centers[4] += 100.0;
            centers[5] += 1e200;
        }
        // Bodies fall asleep and wake.
        if step % 17 == 3 {
            for m in &mut moving[20..80] {
                *m = !*m;
            }
        }
        let mut bodies: Vec<Body> = (0..count)
            .map(|i| Body {
                extent: Some(if i % 2 == 0 {
                    Extent::of_ball(centers[i], sizes[i].x, 0.05)
                } else {
                    Extent::of_box(Aabb::from_center(centers[i], sizes[i]), 0.05)
                }),
                moving: moving[i],
            })
            .collect();
        let top = DVec3::new(f64::INFINITY, 2.0 + speed, 1e9);
        for (slot, bounds) in [Aabb::new(DVec3::NEG_INFINITY, top), Aabb::EVERYTHING]
            .into_iter()
            .enumerate()
        {
            bodies[slot].extent = Some(Extent::of_box(bounds, 0.0));
        }
        if step >= 70 {
            bodies[7].extent = None;
            bodies[9].extent = Some(Extent::of_box(
                Aabb::from_center(DVec3::NAN, DVec3::ONE),
                0.1,
            ));
        }
        // Spawned and removed at the end.
        bodies.truncate([count, count - 20, count - 50][step / 25 % 3]);
        tell(&mut broad_phase, &bodies);
        let pairs = met(&broad_phase, &bodies);
        assert!(broad_phase.candidates().is_sorted());
        assert_eq!(pairs, brute_force(&bodies), "step {step}");
        let mut fresh = BroadPhase::new();
        tell(&mut fresh, &bodies);
        assert_eq!(pairs, met(&fresh, &bodies), "step {step}");
        most = most.max(pairs.len());
    }
    assert!(most > 150, "{most}");
}

/// With three quarters of the slack it goes 1.75 times as far.
#[test]
fn a_body_that_goes_where_it_was_said_to_stays_in_its_volume_for_longer() {
    let stays = |ahead: DVec3| {
        let mut broad_phase = BroadPhase::new();
        broad_phase.resize(1);
        let extent = |step: i32| Extent::of_ball(0.01 * f64::from(step) * DVec3::Z, 0.5, 0.1);
        broad_phase.renew(0, &extent(0), ahead);
        (0..).find(|step| !broad_phase.holds(0, &extent(*step)))
    };
    assert_eq!(stays(DVec3::ZERO), Some(11));
    assert_eq!(stays(DVec3::Z), Some(18));
    assert_eq!(stays(DVec3::NAN), Some(11));
}

#[test]
fn the_list_does_not_depend_on_threads() {
    let lists = [1, 2, 3].map(|threads| {
        let mut numbers = Numbers(3);
        let mut bodies: Vec<Body> = (0..2000)
            .map(|_| Body {
                extent: Some(Extent::of_ball(10.0 * numbers.vector(), 0.4, 0.1)),
                moving: true,
            })
            .collect();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| error.to_string());
        let mut broad_phase = BroadPhase::new();
        let mut list = Vec::new();
        for _ in 0..5 {
            match &pool {
                Ok(pool) => pool.install(|| tell(&mut broad_phase, &bodies)),
                Err(error) => assert!(error.is_empty(), "{error}"),
            }
            list.push(broad_phase.candidates().to_vec());
            for body in &mut bodies {
                if let Some(extent) = &mut body.extent {
                    let center = extent.center + 0.1 * (numbers.vector() - 0.5);
                    *extent = Extent::of_ball(center, 0.4, 0.1);
                }
            }
        }
        list
    });
    assert_eq!(lists[0], lists[1]);
    assert_eq!(lists[0], lists[2]);
}

#[test]
fn bodies_at_rest_have_no_pairs_until_one_moves() {
    let mut broad_phase = BroadPhase::new();
    let mut bodies = [Body {
        extent: Some(Extent::of_ball(DVec3::ZERO, 1.0, 0.0)),
        moving: false,
    }; 3];
    tell(&mut broad_phase, &bodies);
    assert!(broad_phase.candidates().is_empty());
    bodies[1].moving = true;
    tell(&mut broad_phase, &bodies);
    assert_eq!(broad_phase.candidates(), [[0, 1], [1, 2]]);
    bodies[1].moving = false;
    tell(&mut broad_phase, &bodies);
    assert!(broad_phase.candidates().is_empty());
}

#[test]
fn empty_and_single_scenes_have_no_pairs() {
    let mut broad_phase = BroadPhase::new();
    assert_eq!(broad_phase.find(&accept), Ok(()));
    assert!(broad_phase.candidates().is_empty());
    let body = Body {
        extent: Some(Extent::of_box(Aabb::EVERYTHING, 0.0)),
        moving: true,
    };
    tell(&mut broad_phase, &[body]);
    assert!(broad_phase.candidates().is_empty());
}

#[test]
fn bodies_that_grow_together_stay_in_the_grid() {
    let mut broad_phase = BroadPhase::new();
    let count = 64;
    broad_phase.resize(count);
    // Extents grow with the speed of a fall, in small and in large steps.
    for width in [1.0, 1.25, 1.4, 3.0, 3.7] {
        for slot in 0..count {
            let center = 5.0 * slot as f64 * DVec3::X;
            broad_phase.set_moving(slot, true);
            broad_phase.follow(slot, &Extent::of_ball(center, 0.5 * width, 0.0));
        }
        assert_eq!(broad_phase.find(&|_, _| true), Ok(()));
        let in_grid = broad_phase.state.iter().filter(|s| s.place == Place::Grid);
        assert_eq!(in_grid.count(), count, "width {width}");
    }
}

#[test]
fn boxes_that_touch_far_from_the_origin_are_found() {
    // Single precision tells numbers of this size apart by half a metre.
    let half = DVec3::splat(0.3);
    for k in 0..200 {
        let center = DVec3::splat(5e6 + 0.123 * f64::from(k));
        for axis in DVec3::AXES {
            let bodies = [center, center + 0.6 * axis].map(|center| Body {
                extent: Some(Extent::of_box(
                    Aabb::from_center(center, half + 1e-9 * half),
                    0.0,
                )),
                moving: true,
            });
            let mut broad_phase = BroadPhase::new();
            broad_phase.resize(2);
            tell(&mut broad_phase, &bodies);
            assert_eq!(broad_phase.candidates(), [[0, 1]], "{k}");
        }
    }
}

#[test]
fn a_cell_holds_any_number_of_bodies() {
    let mut numbers = Numbers(11);
    let mut broad_phase = BroadPhase::new();
    let mut bodies: Vec<Body> = (0..60)
        .map(|_| Body {
            extent: Some(Extent::of_ball(0.3 * numbers.vector(), 0.1, 0.01)),
            moving: true,
        })
        .collect();
    for step in 0..60 {
        // They leave one by one, from anywhere in their buckets, and come back together.
        let leaver = (numbers.next() * 60.0) as usize;
        bodies[leaver].extent = None;
        if step % 20 == 19 {
            for body in &mut bodies {
                body.extent = Some(Extent::of_ball(0.3 * numbers.vector(), 0.1, 0.01));
            }
        }
        tell(&mut broad_phase, &bodies);
        assert_eq!(met(&broad_phase, &bodies), brute_force(&bodies), "{step}");
    }
}

#[test]
fn a_crowd_is_refused_and_leaves_the_candidates_as_they_were() {
    // 3,000 balls in one place would have 4.5 million pairs.
    let count = 3000;
    let mut broad_phase = BroadPhase::new();
    broad_phase.resize(count);
    let put = |broad_phase: &mut BroadPhase, distance: f64| {
        for slot in 0..count {
            let center = distance * slot as f64 * DVec3::X;
            broad_phase.set_moving(slot, true);
            broad_phase.follow(slot, &Extent::of_ball(center, 0.5, 0.0));
        }
    };
    put(&mut broad_phase, 0.9);
    assert_eq!(broad_phase.find(&|_, _| true), Ok(()));
    let before = broad_phase.candidates().to_vec();
    put(&mut broad_phase, 0.0);
    // The first of them is there already.
    let crowd = Crowd {
        most: BroadPhase::MOST_PAIRS,
        slot: 1,
        pairs: count - 1,
    };
    assert_eq!(broad_phase.find(&|_, _| true), Err(crowd));
    assert_eq!(broad_phase.candidates(), before);
    put(&mut broad_phase, 0.9);
    assert_eq!(broad_phase.find(&|_, _| true), Ok(()));
    assert_eq!(broad_phase.candidates(), before);
}
