//! The tree against a look at every box.

use super::Random;
use crate::Aabb;
use crate::query::Tree;
use glam::DVec3;

/// Distance at which a ray enters a box, by slabs in double precision.
fn enter(bounds: &Aabb, origin: DVec3, direction: DVec3) -> Option<f64> {
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    for k in 0..3 {
        if direction[k] == 0.0 {
            if origin[k] < bounds.min[k] || origin[k] > bounds.max[k] {
                return None;
            }
            continue;
        }
        let (a, b) = (
            (bounds.min[k] - origin[k]) / direction[k],
            (bounds.max[k] - origin[k]) / direction[k],
        );
        (low, high) = (low.max(a.min(b)), high.min(a.max(b)));
    }
    (low <= high).then_some(low)
}

fn boxes(random: &mut Random, count: usize, scale: f64, center: DVec3) -> Vec<Aabb> {
    let one = |_| {
        let half = (random.vector().abs() + 1e-3) * 0.05 * scale;
        Aabb::from_center(center + random.vector() * scale, half)
    };
    (0..count).map(one).collect()
}

fn check(tree: &Tree, boxes: &[Option<Aabb>], random: &mut Random, scale: f64, center: DVec3) {
    for round in 0..200 {
        let origin = center + random.vector() * scale * libm::exp10(random.within(-1.0, 3.0));
        let mut direction = (center + random.vector() * scale - origin).normalize();
        if round % 4 == 0 {
            direction = DVec3::AXES[round / 4 % 3];
        }
        let reach = scale * libm::exp10(random.within(-1.0, 4.0));
        let mut seen = vec![false; boxes.len()];
        let mut count = 0;
        tree.cast(origin, direction, reach, |item, reach| {
            assert!(!std::mem::replace(&mut seen[item as usize], true));
            count += 1;
            reach
        });
        for (item, bounds) in boxes.iter().enumerate() {
            let hit = bounds.and_then(|bounds| enter(&bounds, origin, direction));
            assert!(
                seen[item] || hit.is_none_or(|at| at > reach),
                "{item} {bounds:?}"
            );
            assert!(!seen[item] || bounds.is_some());
        }
        let region = Aabb::from_center(origin, random.vector().abs() * scale);
        let mut met = vec![false; boxes.len()];
        tree.meet(&region, |item| met[item as usize] = true);
        let mut swept = vec![false; boxes.len()];
        tree.sweep(&region, direction, reach, |item, reach| {
            swept[item as usize] = true;
            reach
        });
        let mut near = vec![false; boxes.len()];
        tree.near(origin, reach, |item, reach| {
            near[item as usize] = true;
            reach
        });
        for (item, bounds) in boxes.iter().enumerate() {
            let Some(bounds) = bounds else { continue };
            assert!(met[item] || !bounds.intersects(&region));
            let wide = Aabb::new(
                bounds.min - 0.5 * (region.max - region.min),
                bounds.max + 0.5 * (region.max - region.min),
            );
            let hit = enter(&wide, 0.5 * (region.min + region.max), direction);
            assert!(swept[item] || hit.is_none_or(|at| at > reach * (1.0 - 1e-12)));
            let nearest = origin.clamp(bounds.min, bounds.max);
            assert!(near[item] || nearest.distance(origin) > reach * (1.0 - 1e-12));
        }
        let _ = count;
    }
}

#[test]
fn nothing_is_missed() {
    let mut random = Random::new(1);
    for (scale, center) in [
        (1.0, DVec3::ZERO),
        (1e-3, DVec3::new(5.0, 0.0, 0.0)),
        (1e3, DVec3::new(1e6, -1e6, 1e7)),
        (1.0, DVec3::splat(1e5)),
    ] {
        for count in [0, 1, 2, 3, 4, 5, 17, 400] {
            let boxes = boxes(&mut random, count, scale, center);
            let tree = Tree::of(&boxes);
            assert_eq!(tree.len(), count);
            let some: Vec<_> = boxes.into_iter().map(Some).collect();
            check(&tree, &some, &mut random, scale, center);
        }
    }
}

#[test]
fn few_boxes_are_looked_at_beside_one_that_is_far_away() {
    let mut random = Random::new(2);
    let mut all = boxes(&mut random, 2000, 1.0, DVec3::ZERO);
    all.push(Aabb::from_center(DVec3::splat(1e12), DVec3::ONE));
    let tree = Tree::of(&all);
    let mut seen = 0;
    for _ in 0..100 {
        tree.cast(random.vector(), random.direction(), 10.0, |_, reach| {
            seen += 1;
            reach
        });
    }
    assert!(seen < 100 * 60, "{seen}");
}

#[test]
fn boxes_come_go_and_move() {
    let mut random = Random::new(3);
    let mut all: Vec<Option<Aabb>> = vec![None; 300];
    let mut tree = Tree::default();
    for round in 0..60 {
        let changes = [1, 10, 300][round % 3];
        for _ in 0..changes {
            let item = (random.unit() * 300.0) as usize;
            if random.unit() < 0.3 {
                tree.remove(item as u32);
                all[item] = None;
            } else {
                let bounds = match random.unit() {
                    x if x < 0.02 => Aabb::EVERYTHING,
                    x if x < 0.04 => Aabb::from_center(DVec3::splat(1e200), DVec3::ONE),
                    _ => boxes(&mut random, 1, 1.0, DVec3::ZERO)[0],
                };
                tree.set(item as u32, &bounds);
                all[item] = Some(bounds);
            }
        }
        tree.settle();
        assert_eq!(tree.len(), all.iter().flatten().count());
        check(&tree, &all, &mut random, 1.0, DVec3::ZERO);
    }
}

/// Sizes that double from one to the next, and all in one place.
#[test]
fn odd_crowds_do_not_overflow_the_stack() {
    let doubled = |k: i32| Aabb::from_center(DVec3::splat(1.3_f64.powi(k % 200)), DVec3::ONE);
    let tree = Tree::of(&(0..20_000).map(doubled).collect::<Vec<_>>());
    let mut seen = 0;
    tree.meet(&Aabb::EVERYTHING, |_| seen += 1);
    assert_eq!(seen, 20_000);
    let same = vec![Aabb::from_center(DVec3::ONE, DVec3::ONE); 20_000];
    let tree = Tree::of(&same);
    seen = 0;
    tree.cast(DVec3::ZERO, DVec3::X, 5.0, |_, reach| {
        seen += 1;
        reach
    });
    assert_eq!(seen, 20_000);
}
