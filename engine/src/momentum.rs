//! Momentum balance of a finished step, from the states that were committed.

use crate::assembly::ContactProblem;
use crate::bodies::Bodies;
use crate::ledger::StateBefore;
use crate::settings::Settings;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// The check of `m (v_{k+1} − v_k) = h (m g + f) + Σ ±P` for every dynamic body.
#[derive(Resource, Debug, Default)]
pub(crate) struct MomentumCheck {
    /// Impulse still to be explained, N·s.
    defect: Vec<DVec3>,
}

impl MomentumCheck {
    /// Largest defect of a body, N·s.
    pub(crate) fn check(
        &mut self,
        before: StateBefore,
        bodies: &Bodies,
        problem: &ContactProblem,
        settings: &Settings,
    ) -> f64 {
        let h = settings.time_step;
        self.defect.clear();
        for (slot, body) in bodies.constants.iter().enumerate() {
            let change = bodies.twist[slot].linear - before.twist[slot].linear;
            let external = settings.gravity * body.inertia.mass + bodies.wrench[slot].force;
            self.defect.push(change * body.inertia.mass - external * h);
        }
        for (contact, r) in problem.contacts.iter().zip(&problem.impulse) {
            let p = contact.frame * *r;
            self.defect[contact.bodies[0] as usize] -= p;
            self.defect[contact.bodies[1] as usize] += p;
        }
        let dynamic = self
            .defect
            .iter()
            .zip(&bodies.constants)
            .filter(|(_, body)| body.is_dynamic());
        dynamic.fold(0.0, |worst, (defect, _)| worst.max(defect.length()))
    }
}
