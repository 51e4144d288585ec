//! Islands of the awake bodies: dynamic bodies that the contacts of a step (`I₁`) connect.
//!
//! Bodies are joined by union-find over the contacts in their order, the lower slot becoming the
//! root: an island is named by its lowest slot, whatever the order of contacts. Static and kinematic
//! bodies connect nobody.
//!
//! ```text
//! an island may rest  ⇔  all its bodies have been quiet for long enough,
//!                        no contact with a kinematic body in motion, and
//!                        a contact with fixed ground carries an impulse, or all its twists are zero
//! ```
//!
//! The last line keeps free flight alive: a slow body that nothing holds goes on for ever.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{RigidBody, Twist};
use crate::interactions::detected::Detected;
use glam::DVec3;

/// A body of the island is not quiet, or is carried along.
const RESTLESS: u8 = 1;
/// A contact with fixed ground carries an impulse.
const HELD: u8 = 2;
/// A twist is not zero.
const STIRS: u8 = 4;

/// The islands of a step. Entries of bodies that do not move are neither wiped nor read.
#[derive(Debug, Default)]
pub(crate) struct Islands {
    parent: Vec<Slot>,
    flags: Vec<u8>,
    /// How many there are; a body without contacts is one of its own.
    pub(crate) count: usize,
}

impl Islands {
    /// Joins the bodies of `contacts`. A body counts as quiet if `Rest::quiet` has reached `time`, s.
    pub(crate) fn find(
        &mut self,
        bodies: &Bodies,
        contacts: &[Detected],
        impulse: &[DVec3],
        time: f64,
    ) {
        self.parent.resize(bodies.len(), Slot::NONE);
        self.flags.resize(bodies.len(), 0);
        for slot in bodies.awake_dynamic() {
            let quiet = bodies.sleep.rest[slot].quiet;
            let restless = quiet <= 0.0 || quiet < time;
            let stirs = bodies.twist[slot] != Twist::default();
            self.parent[slot] = slot;
            self.flags[slot] = u8::from(restless) * RESTLESS + u8::from(stirs) * STIRS;
        }
        for (contact, r) in contacts.iter().zip(impulse) {
            let [a, b] = contact.bodies;
            match [a, b].map(|slot| bodies.is_awake_dynamic(slot)) {
                [true, true] => self.join(a, b),
                [true, false] => self.lean(a, b, r.x, bodies),
                [false, true] => self.lean(b, a, r.x, bodies),
                [false, false] => {}
            }
        }
        self.count = 0;
        // Roots come before their members.
        for slot in bodies.awake_dynamic() {
            let root = self.root(slot);
            self.flags[root] |= self.flags[slot];
            self.count += usize::from(root == slot);
        }
    }

    /// The root of a body's island, if that may rest.
    pub(crate) fn resting(&mut self, slot: Slot) -> Option<Slot> {
        let root = self.root(slot);
        let flags = self.flags[root];
        (flags & RESTLESS == 0 && (flags & HELD != 0 || flags & STIRS == 0)).then_some(root)
    }

    /// A contact of `slot` with a body that impulses do not move.
    fn lean(&mut self, slot: Slot, on: Slot, normal_impulse: f64, bodies: &Bodies) {
        let carried = bodies.constants[on].kind == RigidBody::Kinematic
            && bodies.twist[on] != Twist::default();
        if carried {
            self.flags[slot] |= RESTLESS;
        } else if normal_impulse > 0.0 {
            self.flags[slot] |= HELD;
        }
    }

    fn join(&mut self, a: Slot, b: Slot) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Halving paths.
    fn root(&mut self, mut slot: Slot) -> Slot {
        while self.parent[slot] != slot {
            let up = self.parent[self.parent[slot]];
            self.parent[slot] = up;
            slot = up;
        }
        slot
    }
}
