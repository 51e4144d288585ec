//! The momentum of an articulation that nothing holds, to the last digits.
//!
//! Joints push its bodies many times in a step, row by row, and every time the velocities are rounded: that of a body of the mass `m` by up to
//! `m ε ‖v‖` of momentum. So velocities are made once more of the sums of all impulses, `v = v_k + J/m`, which is one rounding a body, the heaviest body first, and what
//! is rounded away of a body is an impulse on the next one:
//!
//! ```text
//! v_i = v_{i,k} + (J_i + c_{i−1})/m_i,     c_i = J_i + c_{i−1} − m_i (v_i − v_{i,k})
//! ```
//!
//! `J_i` and `−J_i` of a row are the same number, and what is lost at the end is of the lightest body. Velocities change by rounding alone.

use super::course::Course;
use super::step::Step;
use glam::DVec3;

impl Course {
    /// Rounds the velocities of what floats, and is pushed by no contact or limit, to its momentum.
    pub(super) fn keep_momentum(&mut self, step: &Step) {
        if step.struck || !step.floats() {
            return;
        }
        let slots = &step.articulation.bodies;
        let mass = |place: usize| step.bodies.constants[slots[place]].inertia.mass;
        self.by_mass.clear();
        self.by_mass.extend(0..slots.len());
        let heaviest_first = |a: &usize, b: &usize| mass(*b).total_cmp(&mass(*a)).then(a.cmp(b));
        self.by_mass.sort_unstable_by(heaviest_first);
        let h = step.settings.time_step;
        let mut lost = DVec3::ZERO;
        for place in &self.by_mass {
            let slot = slots[*place];
            let (mass, push) = (mass(*place), &self.pushes[*place]);
            let joints = push.locked.linear + push.driven.linear + push.dragged.linear;
            let gravity = step.settings.gravity * step.bodies.constants[slot].response.gravity.0;
            let given = (step.bodies.wrench[slot].force + gravity * mass) * h;
            let all = joints + given + lost;
            let begin = step.solution.motion.begin[slot].linear;
            let velocity = begin + all / mass;
            lost = all - (velocity - begin) * mass;
            self.twists[*place].linear = velocity;
        }
    }
}
