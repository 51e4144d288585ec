//! Bounding volume tree for bodies of other sizes than most.

use crate::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

#[derive(Default)]
pub(super) struct Tree {
    bvh: Bvh,
    workspace: BvhWorkspace,
    /// Inner nodes do not hold their leaves.
    unsettled: bool,
    /// Leaves put since the tree was built.
    put: usize,
}

impl Tree {
    /// Builds anew from bodies with their boxes.
    pub(super) fn build(&mut self, leaves: Vec<(usize, parry3d_f64::bounding_volume::Aabb)>) {
        self.bvh = if leaves.len() > 2 {
            Bvh::from_iter(BvhBuildStrategy::Binned, leaves)
        } else {
            // Parry's bulk build expects the indices 0 and 1 in trees this small.
            let mut bvh = Bvh::new();
            for (index, aabb) in leaves {
                bvh.insert(aabb, index as u32);
            }
            bvh
        };
        self.put = 0;
        self.unsettled = false;
    }

    /// With so many changes at once it is quicker to work out all inner nodes in the end.
    pub(super) fn is_better_settled_once_for(&self, changes: usize) -> bool {
        4 * changes > self.bvh.leaf_count() as usize
    }

    /// Sets the box of a body, new or known. [`settle`](Self::settle) must follow; `many` as asked
    /// of [`is_better_settled_once_for`](Self::is_better_settled_once_for).
    pub(super) fn put(&mut self, slot: usize, aabb: &Aabb, many: bool) {
        let (aabb, leaf) = (aabb.to_parry(), slot as u32);
        if many {
            self.bvh.insert_or_update_partially(aabb, leaf, 0.0);
            self.unsettled = true;
        } else {
            self.bvh
                .reinsert_or_update_with_change_detection(aabb, leaf, 0.0);
        }
        self.put += 1;
    }

    pub(super) fn remove(&mut self, slot: usize) {
        self.bvh.remove(slot as u32);
    }

    /// Makes queries valid again. After as many changes as there are leaves four times over, the
    /// tree is built anew.
    pub(super) fn settle(&mut self) {
        if self.unsettled {
            self.unsettled = false;
            self.bvh.refit(&mut self.workspace);
        }
        if self.put > 4 * self.bvh.leaf_count() as usize {
            self.bvh
                .rebuild(&mut self.workspace, BvhBuildStrategy::Binned);
            self.put = 0;
        }
    }

    pub(super) fn visit(&self, region: &Aabb, visit: impl FnMut(u32)) {
        self.bvh.intersect_aabb(&region.to_parry()).for_each(visit);
    }
}
