//! The momentum of machines that nothing holds in space, to the last digits.
//!
//! Joints and contacts push a body many times in a step, row by row, and every time its velocity is rounded: by up to `m ε ‖v‖` of momentum. What is lost by all bodies of an
//! island that touches nothing fixed is known, to twice the digits,
//!
//! ```text
//! c = Σ m v_k + h Σ (m g + f) − Σ m v_{k+1}
//! ```
//!
//! and is given back, the heaviest body first, as far as its velocity has digits for it: `v ← v + c/m`, `c ← c − m Δv`. What is left is of the lightest body's last digit. Velocities change
//! by rounding alone.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::interactions::graph::Graph;
use crate::interactions::record::ContactRecord;
use crate::joints::Joints;
use crate::math::exact_sum::ExactSum;
use crate::settings::Settings;
use glam::DVec3;

/// Part of the momenta that rounding loses in a step, at most; what is more was no rounding.
const ROUNDING: f64 = 1e-12;

/// Islands with joints that touch nothing fixed.
#[derive(Debug, Default)]
pub(crate) struct Floating {
    /// Of the body that names an island.
    islands: Vec<Kind>,
    /// Bodies of such islands, by island, the heaviest first.
    bodies: Vec<(Slot, Slot)>,
}

/// What is known of an island.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// It has no joints.
    #[default]
    Loose,
    /// It has joints, and nothing else holds it.
    Floats,
    /// Something that does not move, or as it is told, pushes it; or drag does.
    Held,
}

impl Floating {
    /// Rounds velocities to momenta.
    pub(crate) fn keep_momentum(
        &mut self,
        (bodies, joints): (&mut Bodies, &Joints),
        record: &ContactRecord,
        graph: &mut Graph,
        settings: &Settings,
    ) {
        if !self.find((bodies, joints), record, graph) {
            return;
        }
        self.bodies.clear();
        for slot in bodies.awake_dynamic() {
            let island = graph.island(slot);
            if self.islands[island] == Kind::Floats {
                self.bodies.push((island, slot));
            }
        }
        let mass = |slot: Slot| bodies.constants[slot].inertia.mass;
        self.bodies.sort_unstable_by(|a, b| {
            let by_mass = mass(b.1).total_cmp(&mass(a.1));
            a.0.cmp(&b.0).then(by_mass).then(a.1.cmp(&b.1))
        });
        for island in self.bodies.chunk_by(|a, b| a.0 == b.0) {
            let mut lost = lost(island, bodies, settings);
            for (_, slot) in island {
                let mass = bodies.constants[*slot].inertia.mass;
                let velocity = &mut bodies.twist[*slot].linear;
                let before = *velocity;
                *velocity += lost / mass;
                lost -= (*velocity - before) * mass;
            }
        }
    }

    /// Marks islands. False if none floats.
    fn find(
        &mut self,
        (bodies, joints): (&Bodies, &Joints),
        record: &ContactRecord,
        graph: &mut Graph,
    ) -> bool {
        let is_free = |slot: Slot| {
            slot != Slot::NONE
                && bodies.is_awake_dynamic(slot)
                && !bodies.constants[slot].response.has_drag()
        };
        // Most machines are held, which is seen at once.
        let floats = |pair: [Slot; 2]| pair.into_iter().all(is_free);
        if !joints.list.iter().any(|joint| floats(joint.bodies)) {
            return false;
        }
        graph.tie(&record.found, bodies);
        self.islands.clear();
        self.islands.resize(bodies.len(), Kind::Loose);
        let mut mark = |pair: [Slot; 2], kind: Kind| {
            let floats = floats(pair);
            for slot in pair {
                if slot != Slot::NONE && graph.has(slot) {
                    let island = &mut self.islands[graph.island(slot)];
                    if !floats {
                        *island = Kind::Held;
                    } else if *island == Kind::Loose {
                        *island = kind;
                    }
                }
            }
        };
        for joint in &joints.list {
            mark(joint.bodies, Kind::Floats);
        }
        for (row, (contact, impulse)) in record.places().iter().zip(&record.impulse).enumerate() {
            if *impulse != DVec3::ZERO || record.adhesion(row) > 0.0 {
                mark(contact.bodies, Kind::Loose);
            }
        }
        self.islands.contains(&Kind::Floats)
    }
}

/// What rounding took of the momentum of an island, N s; nothing if it was no rounding.
fn lost(island: &[(Slot, Slot)], bodies: &Bodies, settings: &Settings) -> DVec3 {
    let h = settings.time_step;
    let mut sums = [ExactSum::default(); 3];
    let mut size = 0.0;
    for (_, slot) in island {
        let body = &bodies.constants[*slot];
        let mass = body.inertia.mass;
        let force =
            settings.gravity * (body.response.gravity.0 * mass) + bodies.acting(*slot).force;
        let [before, after] =
            [&bodies.before.twist, &bodies.twist].map(|twist| twist[*slot].linear);
        size += mass * after.length() + h * force.length();
        for (axis, sum) in sums.iter_mut().enumerate() {
            sum.add_product(mass, before[axis]);
            sum.add_product(h, force[axis]);
            sum.add_product(-mass, after[axis]);
        }
    }
    let lost = DVec3::from_array(sums.map(ExactSum::value));
    if lost.length() <= ROUNDING * size {
        lost
    } else {
        DVec3::ZERO
    }
}
