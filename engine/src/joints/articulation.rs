//! Articulations: dynamic bodies that joints connect.

use super::{Jointed, Lists};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;

/// Bodies that joints connect, directly or through each other. Static and kinematic bodies and the world connect nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Articulation {
    /// Ascending.
    pub(super) bodies: Vec<Slot>,
    /// Places in the list of joints, ascending.
    pub(super) joints: Vec<usize>,
    /// Places in the list of couplers, ascending.
    pub(super) couplers: Vec<usize>,
}

impl Articulation {
    /// The place of a body among its bodies.
    pub(super) fn place(&self, slot: Slot) -> Option<usize> {
        self.bodies.binary_search(&slot).ok()
    }

    /// `δ` with which its joints give way in this step.
    pub(super) fn yields(&self, lists: Lists) -> f64 {
        let first = self.joints.first();
        first.map_or(0.0, |joint| lists.joints[*joint].yields)
    }

    /// The place of a joint of the list among its joints.
    pub(super) fn place_of_joint(&self, joint: usize) -> Option<usize> {
        self.joints.binary_search(&joint).ok()
    }
}

/// The articulations of bodies that `moves` names, by their lowest body.
pub(super) fn find(
    Lists { joints, couplers }: Lists,
    bodies: &Bodies,
    moves: impl Fn(Slot) -> bool,
) -> Vec<Articulation> {
    let mut parent: Vec<Slot> = bodies.slots().collect();
    let root = |parent: &mut Vec<Slot>, mut slot: Slot| {
        while parent[slot] != slot {
            let up = parent[parent[slot]];
            parent[slot] = up;
            slot = up;
        }
        slot
    };
    let moves = &moves;
    let dynamic = |joint: &Jointed| joint.slots().filter(|slot| moves(*slot));
    for joint in joints {
        let pair: Vec<Slot> = dynamic(joint).collect();
        if let [a, b] = pair[..] {
            let roots = [root(&mut parent, a), root(&mut parent, b)];
            let [low, high] = [roots[0].min(roots[1]), roots[0].max(roots[1])];
            parent[high] = low;
        }
    }
    for coupler in couplers {
        let slots = coupler.slots(joints, bodies);
        let awake: Vec<Slot> = slots.filter(|slot| moves(*slot)).collect();
        for pair in awake.windows(2) {
            let roots = [root(&mut parent, pair[0]), root(&mut parent, pair[1])];
            let [low, high] = [roots[0].min(roots[1]), roots[0].max(roots[1])];
            parent[high] = low;
        }
    }
    let mut place = vec![usize::MAX; bodies.len()];
    let mut found: Vec<Articulation> = Vec::new();
    // Of the lowest body first.
    let mut named: Vec<(Slot, usize)> = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        if let Some(slot) = dynamic(joint).next() {
            named.push((root(&mut parent, slot), index));
        }
    }
    named.sort_unstable();
    for (root, index) in named {
        if place[root] == usize::MAX {
            place[root] = found.len();
            found.push(Articulation::default());
        }
        let articulation = &mut found[place[root]];
        articulation.joints.push(index);
        articulation.bodies.extend(dynamic(&joints[index]));
    }
    for (index, coupler) in couplers.iter().enumerate() {
        let awake = coupler.slots(joints, bodies).find(|slot| moves(*slot));
        if let Some(slot) = awake {
            let own = place[root(&mut parent, slot)];
            found[own].couplers.push(index);
        }
    }
    for articulation in &mut found {
        articulation.bodies.sort_unstable();
        articulation.bodies.dedup();
    }
    found
}
