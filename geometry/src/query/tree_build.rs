//! How a [`Tree`] is built: from the whole downwards, cut where the surface area heuristic in bins says [Wald07].

use super::tree::{Around, ITEM, NONE, Node, Tree, WIDTH, place};
use crate::Aabb;
use glam::DVec3;

/// Bins along each axis.
const BINS: usize = 12;
/// Cuts below this depth are made in the middle of the list: no tree is much deeper.
const DEEPEST: usize = 48;

type Leaf = (u32, Around);

/// The middle of most boxes: one that is far away does not move it (m).
pub(super) fn middle(boxes: &[Aabb]) -> DVec3 {
    let centers = boxes
        .iter()
        .map(|bounds| 0.5 * bounds.min + 0.5 * bounds.max);
    let mut centers: Vec<DVec3> = centers.filter(|center| center.is_finite()).collect();
    if centers.is_empty() {
        return DVec3::ZERO;
    }
    let half = centers.len() / 2;
    let mut along = |axis: usize| {
        let by = |a: &DVec3, b: &DVec3| a[axis].total_cmp(&b[axis]);
        centers.select_nth_unstable_by(half, by).1[axis]
    };
    DVec3::new(along(0), along(1), along(2))
}

impl Tree {
    /// Replaces all nodes.
    pub(super) fn build(&mut self, leaves: &mut [Leaf]) {
        self.nodes.clear();
        self.parents.clear();
        self.nodes.reserve(leaves.len() / 2 + 1);
        self.count = leaves.len();
        if !leaves.is_empty() {
            self.add_node(leaves, NONE, 0);
        }
    }

    fn add_node(&mut self, leaves: &mut [Leaf], parent: u32, depth: usize) -> u32 {
        let node = self.nodes.len();
        self.nodes.push(Node::EMPTY);
        self.parents.push(parent);
        let mut groups: [Option<&mut [Leaf]>; WIDTH] = [Some(leaves), None, None, None];
        for next in 1..WIDTH {
            // The group with the most area is cut next.
            let mut widest = (0, -1.0);
            for (k, group) in groups.iter().enumerate() {
                let area = group.as_ref().filter(|group| group.len() > 1);
                let area = area.map_or(-1.0, |group| whole(group).area());
                if area > widest.1 {
                    widest = (k, area);
                }
            }
            if widest.1 < 0.0 {
                break;
            }
            if let Some(group) = groups[widest.0].take() {
                let (low, high) = cut(group, depth);
                (groups[widest.0], groups[next]) = (Some(low), Some(high));
            }
        }
        for (lane, group) in groups.into_iter().flatten().enumerate() {
            let around = whole(group);
            let branch = match group {
                [(item, _)] => {
                    self.places[*item as usize] = place(node, lane);
                    ITEM | *item
                }
                group => self.add_node(group, place(node, lane), depth + 1),
            };
            self.nodes[node].set(lane, &around, branch);
        }
        node as u32
    }
}

fn whole(leaves: &[Leaf]) -> Around {
    let boxes = leaves.iter().map(|(_, around)| *around);
    boxes.fold(Around::NOTHING, Around::union)
}

/// Twice the middle.
fn center(around: &Around, axis: usize) -> f32 {
    around.low[axis] + around.high[axis]
}

/// Cuts two or more leaves in two.
fn cut(leaves: &mut [Leaf], depth: usize) -> (&mut [Leaf], &mut [Leaf]) {
    let half = leaves.len() / 2;
    if leaves.len() > 2
        && depth < DEEPEST
        && let Some((axis, bins, last)) = best_cut(leaves)
    {
        let at = partition(leaves, |leaf| bins.of(center(&leaf.1, axis)) <= last);
        if at > 0 && at < leaves.len() {
            return leaves.split_at_mut(at);
        }
    }
    // Along the longest axis.
    let bounds = whole(leaves);
    let length = |axis: usize| bounds.high[axis] - bounds.low[axis];
    let axis = (1..3).fold(0, |best, axis| {
        if length(axis) > length(best) {
            axis
        } else {
            best
        }
    });
    leaves.select_nth_unstable_by(half, |a, b| {
        let along = center(&a.1, axis).total_cmp(&center(&b.1, axis));
        along.then(a.0.cmp(&b.0))
    });
    leaves.split_at_mut(half)
}

/// Bins of equal width over the middles of some boxes.
struct Bins {
    low: f32,
    scale: f32,
}

impl Bins {
    fn of(&self, center: f32) -> usize {
        (((center - self.low) * self.scale) as usize).min(BINS - 1)
    }
}

/// The axis, its bins, and the last bin before the best cut.
fn best_cut(leaves: &[Leaf]) -> Option<(usize, Bins, usize)> {
    let mut best: Option<(f64, usize, Bins, usize)> = None;
    for axis in 0..3 {
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for (_, around) in leaves {
            let center = center(around, axis);
            (low, high) = (low.min(center), high.max(center));
        }
        let bins = Bins {
            low,
            scale: BINS as f32 / (high - low),
        };
        if !(high > low && bins.scale.is_finite()) {
            continue;
        }
        let mut filled = [(0_usize, Around::NOTHING); BINS];
        for (_, around) in leaves {
            let bin = &mut filled[bins.of(center(around, axis))];
            *bin = (bin.0 + 1, bin.1.union(*around));
        }
        // Costs of what lies behind each cut.
        let mut behind = [0.0; BINS];
        let mut sum = (0, Around::NOTHING);
        for k in (1..BINS).rev() {
            sum = (sum.0 + filled[k].0, sum.1.union(filled[k].1));
            behind[k - 1] = sum.0 as f64 * sum.1.area();
        }
        sum = (0, Around::NOTHING);
        for k in 0..BINS - 1 {
            sum = (sum.0 + filled[k].0, sum.1.union(filled[k].1));
            let cost = sum.0 as f64 * sum.1.area() + behind[k];
            if best.as_ref().is_none_or(|best| cost < best.0) && sum.0 > 0 {
                let Bins { low, scale } = bins;
                best = Some((cost, axis, Bins { low, scale }, k));
            }
        }
    }
    best.map(|(_, axis, bins, last)| (axis, bins, last))
}

/// Moves what belongs first to the front; how many these are.
fn partition(leaves: &mut [Leaf], first: impl Fn(&Leaf) -> bool) -> usize {
    let mut at = 0;
    for k in 0..leaves.len() {
        if first(&leaves[k]) {
            leaves.swap(at, k);
            at += 1;
        }
    }
    at
}
