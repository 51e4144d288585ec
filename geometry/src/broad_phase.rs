//! Broad phase: which boxes meet.
//!
//! Finite boxes sit in two bounding volume trees, one for movable bodies and one for scenery,
//! each box fattened a little. As long as a box stays inside its fat one nothing is done for it.
//! The sorted list of *candidates* (pairs whose fat boxes meet, at least one of them movable)
//! is kept between calls; only candidates of boxes that left their fat box are found anew. Every
//! call then filters the candidates by the boxes given.
//!
//! Since a box lies in its fat box, every pair that meets is a candidate; so the result is
//! exactly the set of pairs that meet and are accepted: it depends on the arguments alone.
//! Unbounded boxes (half-spaces) and boxes with NaN are compared with all others in every call.

use crate::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// Finds the pairs of boxes that meet, incrementally.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::{Aabb, BroadPhase};
///
/// let boxes = [0.0, 1.5, 9.0].map(|x| Aabb::from_center(x * DVec3::X, DVec3::ONE));
/// let mut pairs = Vec::new();
/// BroadPhase::new().update(&boxes, &[true; 3], &|_, _| true, &mut pairs);
/// assert_eq!(pairs, [[0, 1]]);
/// ```
#[derive(Default)]
pub struct BroadPhase {
    /// Fat box of every body with a finite box.
    fat: Vec<Aabb>,
    kind: Vec<Kind>,
    movable: Tree,
    scenery: Tree,
    /// Pairs `[i < j]` of finite boxes whose fat boxes meet, at least one movable; sorted.
    candidates: Vec<[u32; 2]>,
    unbounded: Vec<u32>,
    moved: Vec<u32>,
    has_moved: Vec<bool>,
    fresh: Vec<[u32; 2]>,
    scratch: Vec<[u32; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Movable,
    Scenery,
    Unbounded,
}

/// A tree and the number of leaves reinserted since it was built.
#[derive(Default)]
struct Tree {
    bvh: Bvh,
    workspace: BvhWorkspace,
    reinserted: usize,
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase")
            .field("bodies", &self.kind.len())
            .field("candidates", &self.candidates.len())
            .finish_non_exhaustive()
    }
}

/// A fat box exceeds its box by this fraction of the box's extent.
const FATTENING: f64 = 0.05;

fn fattened(aabb: &Aabb) -> Aabb {
    aabb.inflated(FATTENING * (aabb.max - aabb.min).max_element())
}

impl BroadPhase {
    /// Empty: the first update builds the trees.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything; the next update builds anew. Never needed for correctness.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Replaces `pairs` by all `[i, j]`, `i < j`, sorted, such that the boxes `i` and `j` meet,
    /// at least one is movable, and `accept(i, j)` holds.
    ///
    /// `aabbs` and `movable` have one entry per body; missing entries of `movable` count as
    /// false. The result depends on the arguments only, not on earlier calls.
    pub fn update(
        &mut self,
        aabbs: &[Aabb],
        movable: &[bool],
        accept: &(dyn Fn(u32, u32) -> bool + Sync),
        pairs: &mut Vec<[u32; 2]>,
    ) {
        let kind_of = |i: usize| {
            if !aabbs[i].is_finite() {
                Kind::Unbounded
            } else if movable.get(i).copied().unwrap_or(false) {
                Kind::Movable
            } else {
                Kind::Scenery
            }
        };
        let same =
            self.kind.len() == aabbs.len() && (0..aabbs.len()).all(|i| self.kind[i] == kind_of(i));
        if same {
            self.refresh(aabbs);
        } else {
            self.kind.clear();
            self.kind.extend((0..aabbs.len()).map(kind_of));
            self.rebuild(aabbs);
        }
        pairs.clear();
        let meet =
            |&[i, j]: &[u32; 2]| aabbs[i as usize].intersects(&aabbs[j as usize]) && accept(i, j);
        pairs.extend(self.candidates.iter().filter(|pair| meet(pair)));
        if !self.unbounded.is_empty() {
            self.unbounded_pairs(movable, meet);
            if !self.fresh.is_empty() {
                merge(pairs, &self.fresh, &mut self.scratch);
            }
        }
    }

    fn rebuild(&mut self, aabbs: &[Aabb]) {
        self.fat.clear();
        self.fat.extend(aabbs.iter().map(fattened));
        self.unbounded.clear();
        self.moved.clear();
        self.has_moved.clear();
        self.has_moved.resize(aabbs.len(), false);
        let mut leaves = [Vec::new(), Vec::new()];
        for (i, kind) in (0_u32..).zip(&self.kind) {
            let leaf = (i as usize, self.fat[i as usize].to_parry());
            match kind {
                Kind::Movable => {
                    leaves[0].push(leaf);
                    self.moved.push(i);
                    self.has_moved[i as usize] = true;
                }
                Kind::Scenery => leaves[1].push(leaf),
                Kind::Unbounded => self.unbounded.push(i),
            }
        }
        let [movable, scenery] = leaves;
        for (tree, leaves) in [(&mut self.movable, movable), (&mut self.scenery, scenery)] {
            tree.bvh = if leaves.len() > 2 {
                Bvh::from_iter(BvhBuildStrategy::Binned, leaves)
            } else {
                // Parry's bulk build expects the indices 0 and 1 in trees this small.
                let mut bvh = Bvh::new();
                for (index, aabb) in leaves {
                    bvh.insert(aabb, index as u32);
                }
                bvh
            };
            tree.reinserted = 0;
        }
        self.candidates.clear();
        self.find_candidates();
    }

    /// Updates the fat boxes that were left, and the candidates of those bodies.
    fn refresh(&mut self, aabbs: &[Aabb]) {
        self.moved.clear();
        for (i, aabb) in aabbs.iter().enumerate() {
            if self.kind[i] != Kind::Unbounded && !self.fat[i].contains(aabb) {
                self.fat[i] = fattened(aabb);
                self.has_moved[i] = true;
                self.moved.push(i as u32);
            }
        }
        if self.moved.is_empty() {
            return;
        }
        for (kind, tree) in [
            (Kind::Movable, &mut self.movable),
            (Kind::Scenery, &mut self.scenery),
        ] {
            let moved = self
                .moved
                .iter()
                .filter(|i| self.kind[**i as usize] == kind);
            tree.update(moved.map(|&i| (i, self.fat[i as usize])));
        }
        let has_moved = &self.has_moved;
        self.candidates
            .retain(|[i, j]| !has_moved[*i as usize] && !has_moved[*j as usize]);
        self.find_candidates();
    }

    /// Adds the candidates of all moved bodies to those of the others, and unmarks the moved.
    fn find_candidates(&mut self) {
        self.fresh.clear();
        for &i in &self.moved {
            let own = self.fat[i as usize];
            let region = own.to_parry();
            let mut add = |j: u32| {
                // A pair of two moved bodies is found from the lesser one.
                let again = self.has_moved[j as usize] && j <= i;
                if j != i && !again && self.fat[j as usize].intersects(&own) {
                    self.fresh.push([i.min(j), i.max(j)]);
                }
            };
            self.movable.bvh.intersect_aabb(&region).for_each(&mut add);
            if self.kind[i as usize] == Kind::Movable {
                self.scenery.bvh.intersect_aabb(&region).for_each(&mut add);
            }
        }
        for &i in &self.moved {
            self.has_moved[i as usize] = false;
        }
        self.fresh.sort_unstable();
        merge(&mut self.candidates, &self.fresh, &mut self.scratch);
    }

    /// Sorted pairs of unbounded boxes with all others, into `fresh`.
    fn unbounded_pairs(&mut self, movable: &[bool], meet: impl Fn(&[u32; 2]) -> bool) {
        self.fresh.clear();
        let moves = |i: u32| movable.get(i as usize).copied().unwrap_or(false);
        for &u in &self.unbounded {
            for j in 0..self.kind.len() as u32 {
                let twice = j <= u && self.kind[j as usize] == Kind::Unbounded;
                let pair = [u.min(j), u.max(j)];
                if !twice && (moves(u) || moves(j)) && meet(&pair) {
                    self.fresh.push(pair);
                }
            }
        }
        self.fresh.sort_unstable();
    }
}

impl Tree {
    /// Few moved leaves are reinserted one by one; many are changed in place and the whole tree
    /// refitted. After as many changes as there are leaves the tree is built anew.
    fn update(&mut self, moved: impl Iterator<Item = (u32, Aabb)> + Clone) {
        let count = moved.clone().count();
        if count == 0 {
            return;
        }
        let leaves = self.bvh.leaf_count() as usize;
        let many = 4 * count > leaves;
        for (leaf, fat) in moved {
            if many {
                self.bvh
                    .insert_or_update_partially(fat.to_parry(), leaf, 0.0);
            } else {
                self.bvh
                    .reinsert_or_update_with_change_detection(fat.to_parry(), leaf, 0.0);
            }
        }
        self.reinserted += count;
        if many {
            self.bvh.refit(&mut self.workspace);
        }
        if self.reinserted > 4 * leaves {
            self.bvh
                .rebuild(&mut self.workspace, BvhBuildStrategy::Binned);
            self.reinserted = 0;
        }
    }
}

/// Merges the sorted `fresh` into the sorted `list`; the two have no pair in common.
fn merge(list: &mut Vec<[u32; 2]>, fresh: &[[u32; 2]], scratch: &mut Vec<[u32; 2]>) {
    if fresh.is_empty() {
        return;
    }
    scratch.clear();
    let mut rest = fresh.iter().copied().peekable();
    for &pair in list.iter() {
        while let Some(next) = rest.next_if(|next| *next < pair) {
            scratch.push(next);
        }
        scratch.push(pair);
    }
    scratch.extend(rest);
    std::mem::swap(list, scratch);
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn brute_force(
        aabbs: &[Aabb],
        movable: &[bool],
        accept: &dyn Fn(u32, u32) -> bool,
    ) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for i in 0..aabbs.len() {
            for j in i + 1..aabbs.len() {
                let pair = [i as u32, j as u32];
                if aabbs[i].intersects(&aabbs[j])
                    && (movable[i] || movable[j])
                    && accept(pair[0], pair[1])
                {
                    pairs.push(pair);
                }
            }
        }
        pairs
    }

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

    #[test]
    fn pairs_equal_brute_force_whatever_the_history() {
        let mut numbers = Numbers(7);
        let count = 120;
        let mut centers: Vec<DVec3> = (0..count).map(|_| 10.0 * numbers.vector()).collect();
        let sizes: Vec<DVec3> = (0..count).map(|_| 0.2 + numbers.vector()).collect();
        let mut movable: Vec<bool> = (0..count).map(|i| i % 3 != 0).collect();
        let accept = |i: u32, j: u32| !(i + j).is_multiple_of(7);
        let mut broad_phase = BroadPhase::new();
        let mut pairs = Vec::new();
        let mut most = 0;
        for step in 0..200 {
            // Calm steps, then some where everything moves, then one jump far away.
            let speed = if step % 10 == 9 { 1.0 } else { 0.02 };
            for center in &mut centers {
                *center += speed * (numbers.vector() - 0.5);
            }
            if step == 50 {
                centers[4] += 100.0;
            }
            if step == 60 {
                movable[9] = true;
                movable[10] = false;
            }
            let mut aabbs: Vec<Aabb> = centers
                .iter()
                .zip(&sizes)
                .map(|(c, s)| Aabb::from_center(*c, *s))
                .collect();
            aabbs[0] = Aabb::new(DVec3::NEG_INFINITY, DVec3::new(f64::INFINITY, 2.0, 1e9));
            aabbs[1] = Aabb::EVERYTHING;
            if step == 70 {
                aabbs[5] = Aabb::from_center(DVec3::NAN, DVec3::ONE);
            }
            let size = if step < 100 { count } else { count - 20 };
            aabbs.truncate(size);
            broad_phase.update(&aabbs, &movable[..size], &accept, &mut pairs);
            let expected = brute_force(&aabbs, &movable[..size], &accept);
            assert_eq!(pairs, expected, "step {step}");
            let mut fresh = Vec::new();
            BroadPhase::new().update(&aabbs, &movable[..size], &accept, &mut fresh);
            assert_eq!(pairs, fresh);
            most = most.max(pairs.len());
            if step == 150 {
                broad_phase.clear();
            }
        }
        assert!(most > 150, "{most}");
    }

    #[test]
    fn empty_and_single_scenes_have_no_pairs() {
        let mut pairs = vec![[1, 2]];
        BroadPhase::new().update(&[], &[], &|_, _| true, &mut pairs);
        assert!(pairs.is_empty());
        BroadPhase::new().update(&[Aabb::EVERYTHING], &[true], &|_, _| true, &mut pairs);
        assert!(pairs.is_empty());
    }
}
