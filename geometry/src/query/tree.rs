//! A tree of boxes over many things, in single precision, four branches to a node.
//!
//! The boxes are kept relative to the middle of the crowd and rounded outwards, so that a look at the tree finds all that a look at every box
//! in double precision would, and sometimes more. The four boxes of a node are compared side by side.
//!
//! ```text
//! lane      0      1      2      3
//! node    [box]  [box]  [box]  [box]     a node, an item, or nothing
//! ```
//!
//! Nodes come after the nodes that they hang on: one pass from the last to the first makes all boxes fit again.

use crate::Aabb;
use glam::DVec3;

/// Branches of a node.
pub(super) const WIDTH: usize = 4;
/// Marks the number of an item among the branches.
pub(super) const ITEM: u32 = 1 << 31;
/// No branch.
pub(super) const NONE: u32 = u32::MAX;

/// Boxes are wider by this part of the largest of their coordinates: what their owners' arithmetic may have lost.
const PAD: f64 = 1e-12;
/// Coordinates up to here are kept in single precision (m).
const FARTHEST: f64 = 1e30;

/// Finds, among items `0, 1, 2, …` with a box each, those that a ray, a moving box, a box or a ball may meet.
///
/// Boxes may be set, moved and removed one by one; [`settle`](Self::settle) makes the tree ready for the next look.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::Aabb;
/// use moreau_geometry::query::Tree;
///
/// let at = |x: f64| Aabb::from_center(x * DVec3::X, DVec3::splat(0.4));
/// let tree = Tree::of(&[at(0.0), at(1.0), at(2.0)]);
/// let mut met = Vec::new();
/// tree.cast(DVec3::new(1.1, -5.0, 0.0), DVec3::Y, f64::INFINITY, |item, reach| {
///     met.push(item);
///     reach
/// });
/// assert_eq!(met, [1]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// What coordinates are relative to (m).
    pub(super) origin: DVec3,
    pub(super) nodes: Vec<Node>,
    /// The branch that each node hangs on: `WIDTH · node + lane`; none of the first.
    pub(super) parents: Vec<u32>,
    /// The branch of each item; none of those that are not in the tree.
    pub(super) places: Vec<u32>,
    /// Items whose boxes are too large for the tree, or infinite.
    pub(super) loose: Vec<u32>,
    /// Items in the tree.
    pub(super) count: usize,
    /// Nodes whose boxes have changed.
    changed: Vec<u32>,
    /// Items that were put or taken out since the tree was built.
    churn: usize,
    /// Sum of the areas of all boxes over that of the whole, when it was built.
    built_cost: f64,
}

/// Four boxes and what is in them.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Node {
    /// Least and greatest coordinates, by axis and lane.
    pub(super) sides: [[[f32; WIDTH]; 3]; 2],
    pub(super) branches: [u32; WIDTH],
}

/// A box in single precision, relative to the origin of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Around {
    pub(super) low: [f32; 3],
    pub(super) high: [f32; 3],
}

pub(super) fn down(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) > x {
        near.next_down()
    } else {
        near
    }
}

pub(super) fn up(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) < x {
        near.next_up()
    } else {
        near
    }
}

impl Around {
    pub(super) const NOTHING: Self = Self {
        low: [f32::INFINITY; 3],
        high: [f32::NEG_INFINITY; 3],
    };

    /// None for boxes that are not finite, or far away.
    pub(super) fn of(bounds: &Aabb, origin: DVec3) -> Option<Self> {
        let most = bounds.min.abs().max(bounds.max.abs()).max_element();
        let (low, high) = (bounds.min - origin, bounds.max - origin);
        let relative = low.abs().max(high.abs()).max_element();
        let fits = bounds.is_finite() && relative <= FARTHEST && low.cmple(high).all();
        let pad = PAD * most.max(relative);
        fits.then(|| Self {
            low: (low - pad).to_array().map(down),
            high: (high + pad).to_array().map(up),
        })
    }

    pub(super) fn union(self, other: Self) -> Self {
        let least = |a: f32, b: f32| if b < a { b } else { a };
        let most = |a: f32, b: f32| if b > a { b } else { a };
        Self {
            low: std::array::from_fn(|k| least(self.low[k], other.low[k])),
            high: std::array::from_fn(|k| most(self.high[k], other.high[k])),
        }
    }

    /// Half the area of its surface (m²).
    pub(super) fn area(&self) -> f64 {
        let [x, y, z] = std::array::from_fn(|k| f64::from(self.high[k]) - f64::from(self.low[k]));
        if x < 0.0 { 0.0 } else { x * y + y * z + z * x }
    }
}

impl Node {
    pub(super) const EMPTY: Self = Self {
        sides: [[[f32::INFINITY; WIDTH]; 3], [[f32::NEG_INFINITY; WIDTH]; 3]],
        branches: [NONE; WIDTH],
    };

    pub(super) fn around(&self, lane: usize) -> Around {
        let [low, high] = [0, 1].map(|side: usize| self.sides[side].map(|lanes| lanes[lane]));
        Around { low, high }
    }

    pub(super) fn set(&mut self, lane: usize, around: &Around, branch: u32) {
        for axis in 0..3 {
            self.sides[0][axis][lane] = around.low[axis];
            self.sides[1][axis][lane] = around.high[axis];
        }
        self.branches[lane] = branch;
    }

    /// Around all branches.
    pub(super) fn whole(&self) -> Around {
        (0..WIDTH).fold(Around::NOTHING, |all, lane| all.union(self.around(lane)))
    }
}

pub(super) fn node_of(place: u32) -> (usize, usize) {
    (place as usize / WIDTH, place as usize % WIDTH)
}

pub(super) fn place(node: usize, lane: usize) -> u32 {
    (node * WIDTH + lane) as u32
}

impl Tree {
    /// Of items with these boxes (m).
    #[must_use]
    pub fn of(boxes: &[Aabb]) -> Self {
        let mut tree = Self {
            origin: super::tree_build::middle(boxes),
            ..Self::default()
        };
        tree.places.resize(boxes.len(), NONE);
        let mut leaves = Vec::with_capacity(boxes.len());
        for (item, bounds) in (0..).zip(boxes) {
            match Around::of(bounds, tree.origin) {
                Some(around) => leaves.push((item, around)),
                None => tree.loose.push(item),
            }
        }
        tree.build(&mut leaves);
        tree.built_cost = tree.cost();
        tree
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count + self.loose.len()
    }

    /// True without items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the box of an item (m), new or known. [`Self::settle`] must follow before the next look.
    pub fn set(&mut self, item: u32, bounds: &Aabb) {
        let index = item as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, NONE);
        }
        let around = Around::of(bounds, self.origin);
        match (self.places[index], around) {
            (NONE, None) => {
                if !self.loose.contains(&item) {
                    self.loose.push(item);
                }
            }
            (NONE, Some(around)) => {
                self.loose.retain(|known| *known != item);
                self.insert(item, &around);
            }
            (_, None) => {
                self.take_out(item);
                self.loose.push(item);
            }
            (at, Some(around)) => {
                let (node, lane) = node_of(at);
                self.nodes[node].set(lane, &around, ITEM | item);
                self.changed.push(node as u32);
            }
        }
    }

    /// Takes an item out; nothing happens if it is not there. [`Self::settle`] must follow before the next look.
    pub fn remove(&mut self, item: u32) {
        match self.places.get(item as usize) {
            None => {}
            Some(&NONE) => self.loose.retain(|known| *known != item),
            Some(_) => self.take_out(item),
        }
    }

    /// Makes the boxes fit again. A few changes cost their paths to the root, many one pass over all nodes. The tree is built anew when it has
    /// become a half worse than it was, or half its items have come or gone.
    pub fn settle(&mut self) {
        if self.changed.is_empty() {
            return;
        }
        if 8 * self.changed.len() < self.nodes.len() {
            for k in 0..self.changed.len() {
                self.fit_path(self.changed[k] as usize);
            }
            self.changed.clear();
        } else {
            self.changed.clear();
            for node in (1..self.nodes.len()).rev() {
                self.fit(node);
            }
            if self.cost() > 1.5 * self.built_cost {
                self.rebuild();
            }
        }
        if 2 * self.churn > self.count + 16 {
            self.rebuild();
        }
    }

    fn fit(&mut self, node: usize) {
        let whole = self.nodes[node].whole();
        let (parent, lane) = node_of(self.parents[node]);
        self.nodes[parent].set(lane, &whole, node as u32);
    }

    fn fit_path(&mut self, mut node: usize) {
        while node > 0 {
            let (parent, lane) = node_of(self.parents[node]);
            let before = self.nodes[parent].around(lane);
            self.fit(node);
            if self.nodes[parent].around(lane) == before {
                break;
            }
            node = parent;
        }
    }

    fn cost(&self) -> f64 {
        let Some(root) = self.nodes.first() else {
            return 0.0;
        };
        let areas = |node: &Node| (0..WIDTH).map(|lane| node.around(lane).area()).sum::<f64>();
        let sum: f64 = self.nodes.iter().map(areas).sum();
        sum / root.whole().area().max(f64::MIN_POSITIVE)
    }

    fn take_out(&mut self, item: u32) {
        let (node, lane) = node_of(std::mem::replace(&mut self.places[item as usize], NONE));
        self.nodes[node].set(lane, &Around::NOTHING, NONE);
        self.changed.push(node as u32);
        self.count -= 1;
        self.churn += 1;
    }

    /// Puts an item where it widens the boxes least.
    fn insert(&mut self, item: u32, around: &Around) {
        self.count += 1;
        self.churn += 1;
        if self.nodes.is_empty() {
            self.nodes.push(Node::EMPTY);
            self.parents.push(NONE);
        }
        let mut node = 0;
        loop {
            let own = &mut self.nodes[node];
            if let Some(lane) = (0..WIDTH).find(|lane| own.branches[*lane] == NONE) {
                own.set(lane, around, ITEM | item);
                self.places[item as usize] = place(node, lane);
                break;
            }
            let growth = |lane: usize| {
                let known = own.around(lane);
                known.union(*around).area() - known.area()
            };
            let mut best = (0, growth(0));
            for lane in 1..WIDTH {
                let growth = growth(lane);
                if growth < best.1 {
                    best = (lane, growth);
                }
            }
            let lane = best.0;
            let (known, branch) = (own.around(lane), own.branches[lane]);
            let next = if branch & ITEM == 0 {
                branch as usize
            } else {
                // Two items in a node of their own.
                let next = self.nodes.len();
                let mut pair = Node::EMPTY;
                pair.set(0, &known, branch);
                self.nodes.push(pair);
                self.parents.push(place(node, lane));
                self.places[(branch & !ITEM) as usize] = place(next, 0);
                next
            };
            self.nodes[node].set(lane, &known.union(*around), next as u32);
            node = next;
        }
        self.changed.push(node as u32);
    }

    fn rebuild(&mut self) {
        let branches = self.nodes.iter().flat_map(|node| {
            let lanes = (0..WIDTH).map(|lane| (node.branches[lane], node.around(lane)));
            lanes.filter(|(branch, _)| *branch != NONE && branch & ITEM != 0)
        });
        let mut leaves: Vec<_> = branches.map(|(item, box_)| (item & !ITEM, box_)).collect();
        leaves.sort_unstable_by_key(|(item, _)| *item);
        self.build(&mut leaves);
        self.built_cost = self.cost();
        self.churn = 0;
    }
}
