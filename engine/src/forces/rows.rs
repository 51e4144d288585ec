//! The response of forces as rows of the problem.

use super::linearised::Response;
use super::{Forced, Forces};
use crate::bodies::slot::Slot;
use crate::joints::JointRows;
use crate::math::six::{dot, plus, six};
use crate::motion::Motion;
use moreau_solvers::{Contact, Interaction, Law, WorldTwist};

/// Rows of the bodies that something else may push, and what was solved for them.
#[derive(Debug, Default)]
pub(crate) struct ForceRows {
    /// Ascending; from the body to the world.
    pub(crate) interactions: Vec<Interaction>,
    /// Warm start before the solve, solution after it.
    pub(crate) impulse: Vec<f64>,
}

impl ForceRows {
    /// The body has rows.
    pub(crate) fn hold(&self, slot: Slot) -> bool {
        let body = |of: &Interaction| of.bodies[0];
        let found = self.interactions.binary_search_by_key(&slot.0, body);
        found.is_ok()
    }
}

impl Forces {
    /// Makes the rows, of bodies that are in a contact or joint.
    pub(crate) fn build(
        &mut self,
        contacts: &[Contact],
        joints: &JointRows,
        motion: &Motion,
        begin: Option<&[WorldTwist]>,
    ) {
        if self.list.is_empty() {
            self.rows.interactions.clear();
            self.rows.impulse.clear();
            return;
        }
        for of in &mut self.list {
            of.held = false;
        }
        let of_contacts = contacts.iter().flat_map(|contact| contact.bodies);
        let of_joints = joints.interactions.iter().flat_map(|joint| joint.bodies);
        for slot in of_contacts.chain(of_joints) {
            let place = self.list.binary_search_by_key(&slot, |of| of.slot.0);
            if let Ok(place) = place {
                self.list[place].held = true;
            }
        }
        self.write_rows(motion, begin);
    }

    /// The same rows, of forces that were linearised again.
    pub(crate) fn write_rows(&mut self, motion: &Motion, begin: Option<&[WorldTwist]>) {
        let Self { list, rows, .. } = self;
        rows.interactions.clear();
        rows.impulse.clear();
        let free = begin.unwrap_or(&motion.free);
        for of in list.iter().filter(|of| of.held && of.response.count > 0) {
            rows.interactions.push(of.interaction(&free[of.slot]));
            let impulse = of.response.pairs().map(|(_, n)| dot(n, &of.own));
            rows.impulse.extend(impulse);
        }
    }

    /// The problem was solved.
    pub(crate) fn take_impulses(&mut self) {
        let mut begin = 0;
        for of in &mut self.list {
            if !of.held {
                continue;
            }
            let impulses = &self.rows.impulse[begin..begin + of.response.count];
            begin += of.response.count;
            of.own = [0.0; 6];
            for (impulse, (_, n)) in impulses.iter().zip(of.response.pairs()) {
                of.own = plus(&of.own, *impulse, n);
            }
        }
    }

    /// A stage is over: what the rows did stays.
    pub(crate) fn end_stage(&mut self) {
        self.take_impulses();
        for of in &mut self.list {
            of.earlier = plus(&of.earlier, 1.0, &std::mem::take(&mut of.own));
        }
    }
}

impl Forced {
    /// `r_i = −λ_i n_i·(v − v_free)`.
    fn interaction(&self, free: &WorldTwist) -> Interaction {
        let Response { count, .. } = self.response;
        let mut interaction = Interaction::new([self.slot.0, Slot::NONE.0], Law::equality(count));
        let y = self.scaled.coordinates(free);
        for (k, (value, n)) in self.response.pairs().enumerate() {
            let push = self.scaled.impulse(n);
            interaction.rows[k][..6].copy_from_slice(&six(push.linear, push.angular));
            interaction.offset[k] = -dot(n, &y);
            interaction.compliance[k] = 1.0 / value;
        }
        interaction
    }
}
