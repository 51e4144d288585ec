//! Momentum balance of a finished step, from the states that were committed.

use crate::assembly::ContactProblem;
use crate::bodies::Bodies;
use crate::chunks::{self, Slots};
use crate::gather::Before;
use crate::settings::Settings;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// The check of `m (v_{k+1} − v_k) = h (m g + f) + Σ ±P` for every dynamic body.
#[derive(Resource, Debug, Default)]
pub(crate) struct MomentumCheck {
    /// Impulse still to be explained, N·s. Bodies at rest take part, but nobody reads theirs.
    defect: Vec<DVec3>,
}

impl MomentumCheck {
    /// Largest defect of a body, N·s.
    pub(crate) fn check(
        &mut self,
        before: &Before,
        bodies: &Bodies,
        problem: &ContactProblem,
        settings: &Settings,
    ) -> f64 {
        let h = settings.time_step;
        self.defect.resize(bodies.len(), DVec3::ZERO);
        let explained_by_forces = |part: Slots<'_, &mut [DVec3]>| {
            let (rows, defect) = (part.each(), part.columns);
            for (slot, row) in rows {
                let mass = bodies.constants[slot].inertia.mass;
                let change = bodies.twist[slot].linear - before.twist[slot].linear;
                let external = settings.gravity * mass + bodies.wrench[slot].force;
                defect[row] = change * mass - external * h;
            }
        };
        let moving = Slots::of(&bodies.moving, &mut self.defect[..]);
        chunks::for_each(moving, &explained_by_forces);
        for (contact, r) in problem.contacts.iter().zip(&problem.impulse) {
            if *r != DVec3::ZERO {
                let p = contact.frame * *r;
                self.defect[contact.bodies[0] as usize] -= p;
                self.defect[contact.bodies[1] as usize] += p;
            }
        }
        let moving = bodies.moving.iter().map(|slot| *slot as usize);
        let dynamic = moving.filter(|slot| bodies.constants[*slot].is_dynamic());
        dynamic.fold(0.0, |worst: f64, slot| {
            worst.max(self.defect[slot].length())
        })
    }
}
