//! Which islands may rest.
//!
//! ```text
//! an island may rest  ⇔  all its bodies have been quiet for long enough,
//!                        no contact with a kinematic body in motion or a surface that runs, no motor that moves a joint, and
//!                        a contact with fixed ground carries an impulse, a joint holds it there, or all its twists are zero
//! ```
//!
//! The last line keeps free flight alive: a slow body that nothing holds goes on for ever.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::Twist;
use crate::interactions::edit::Edits;
use crate::interactions::graph::Graph;
use crate::interactions::record::ContactRecord;
use crate::joints::Joints;

/// A body of the island is not quiet, or is carried along or driven.
const RESTLESS: u8 = 1;
/// A contact with fixed ground carries an impulse.
const HELD: u8 = 2;
/// A twist is not zero.
const STIRS: u8 = 4;

/// What keeps the islands of a step awake. Entries of bodies that do not move are neither wiped nor read.
#[derive(Debug, Default)]
pub(crate) struct Restlessness {
    flags: Vec<u8>,
    /// Pairs with surfaces that run, ascending.
    belts: Vec<[Slot; 2]>,
    /// How many islands there are; a body without contacts is one of its own.
    pub(crate) islands: usize,
}

impl Restlessness {
    /// Looks at all islands. A body counts as quiet if `Rest::quiet` has reached `time`, s.
    pub(crate) fn find(
        &mut self,
        (graph, joints): (&mut Graph, &Joints),
        bodies: &Bodies,
        (solved, edits): (&ContactRecord, &Edits),
        time: f64,
    ) {
        self.belts.clear();
        self.belts.extend(edits.belts(&solved.found));
        self.flags.resize(bodies.len(), 0);
        for slot in bodies.awake_dynamic() {
            let quiet = bodies.sleep.rest[slot].quiet;
            let restless = quiet <= 0.0 || quiet < time;
            let stirs = bodies.twist[slot] != Twist::default();
            self.flags[slot] = u8::from(restless) * RESTLESS + u8::from(stirs) * STIRS;
        }
        for (contact, r) in solved.places().iter().zip(&solved.impulse) {
            let [a, b] = contact.bodies;
            if r.x > 0.0 && self.belts.binary_search(&[a, b]).is_ok() {
                for slot in [a, b].into_iter().filter(|slot| graph.has(*slot)) {
                    self.flags[slot] |= RESTLESS;
                }
            }
            match [a, b].map(|slot| graph.has(slot)) {
                [true, false] => self.lean(a, Some(b), r.x, bodies),
                [false, true] => self.lean(b, Some(a), r.x, bodies),
                _ => {}
            }
        }
        for [slot, on] in &bodies.hung {
            if graph.has(*slot) {
                let on = Some(*on).filter(|on| *on != Slot::NONE);
                self.lean(*slot, on, 1.0, bodies);
            }
        }
        for slot in joints.driven(bodies) {
            if graph.has(slot) {
                self.flags[slot] |= RESTLESS;
            }
        }
        self.islands = 0;
        // Roots come before their members.
        for slot in bodies.awake_dynamic() {
            let root = graph.island(slot);
            self.flags[root] |= self.flags[slot];
            self.islands += usize::from(root == slot);
        }
    }

    /// The island named by this slot may rest.
    pub(crate) fn allows(&self, island: Slot) -> bool {
        let flags = self.flags[island];
        flags & RESTLESS == 0 && (flags & HELD != 0 || flags & STIRS == 0)
    }

    /// A contact or joint of `slot` with a body that impulses do not move, or with the world.
    fn lean(&mut self, slot: Slot, on: Option<Slot>, normal_impulse: f64, bodies: &Bodies) {
        if on.is_some_and(|on| bodies.carries(on)) {
            self.flags[slot] |= RESTLESS;
        } else if normal_impulse > 0.0 {
            self.flags[slot] |= HELD;
        }
    }
}
