//! How articulations move through a step: their joints are closed at its end, in places and in velocities.
//!
//! The bodies of an articulation turn freely and go straight, as all bodies do, from a velocity `v_m` at `t_k` in which the impulses of
//! the joints are included; these are those that leave no error at the end [RATTLE: Andersen83, Leimkuhler-Reich04]:
//!
//! ```text
//! v_m = v̄ + M⁻¹ J_kᵀ Λ,     q_{k+1} = Φ_h(q_k, v_m),     e(q_{k+1}) = 0                       places
//! v_{k+1} = v' + late + M⁻¹ J_{k+1}ᵀ μ,                  J_{k+1} v_{k+1} = 0                  velocities
//! ```
//!
//! where `v'` is `v_m` after the free rotation. If nothing pushes the articulation but forces and what acts along its joints, `v̄ = v_k + ½ M⁻¹ (h F + J_fᵀ r)`
//! and the other half of these impulses comes late, at `q_{k+1}`: the scheme is symmetric and of second order, and its energy does not
//! drift. If contacts or limits push it, `v̄` is the velocity that was solved for, and the step is that of the θ-method with θ = 1. If all that pushes it are impacts,
//! it starts from other poses, so that it ends as with the mean velocity `θ v + (1 − θ) v_k` and the largest θ of these, or with that of the stages where impacts followed one another (`transport.rs`).
//!
//! A rotor that moves with a coordinate (armature `I`) is a body of one degree of freedom with the row `ẋ − w = 0`: in the factor it is a
//! compliance `1/I`. Couplers are rows over several joints.
//!
//! `Λ` comes from Newton steps with the matrix `J_k M⁻¹ J_kᵀ`, whose factor is worked out once.
//!
//! The step is taken in equal parts, each of them as above, where bodies turn far, where joints bear so much that bodies swing about them too
//! fast for the step (a link of mass `m` and length `l` under a tension `T` with `ω² = 12 T/(m l)`, followed up to `ω h ≈ 2`), and where the Newton steps do not close the
//! joints. What the most parts do not follow is projected (`projected.rs`). What was solved for acts evenly in the parts. With [`JointOrder::Fourth`](crate::JointOrder) a part is composed of five.

mod accounts;
mod composition;
mod course;
mod projected;
mod step;
mod transport;

use super::Joints;
use super::articulation::Articulation;
use super::held::Held;
use super::system::Push;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::Twist;
use crate::math::chunks;
use crate::settings::Settings;
pub(super) use accounts::{add, drag, turned_mass};
pub(super) use course::{Course, NEARLY, SLOW};
use moreau_solvers::WorldTwist;
pub(crate) use step::Solution;
use step::Step;

/// Error over length from which on a joint is open.
pub(super) const OPEN: f64 = 1e-9;
/// What the joints did to a body in a step, by locked rows and by forces along free ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JointPush {
    pub(crate) slot: Slot,
    pub(crate) locked: Push,
    pub(crate) driven: Push,
    /// By drag; once joints are closed, beyond that of the velocity that the body ends with.
    pub(crate) dragged: Push,
}

/// Joints that a thread moves at least: handing over fewer takes longer.
const PIECE: usize = 16;

/// All articulations, and the results of the last step.
#[derive(Debug, Default)]
pub(crate) struct Drift {
    /// By articulations; there may be more than of these.
    pub(super) courses: Vec<Course>,
    /// What bodies were given that joints share in this step.
    pub(super) shared: Vec<(Slot, Twist)>,
    /// By bodies of the articulations, one articulation after the other.
    pub(crate) pushes: Vec<JointPush>,
    /// What each joint of the list did to B, about the origin of its frame.
    pub(crate) reactions: Vec<Push>,
    /// Impulse of each coupler of the list, over the step.
    pub(crate) tensions: Vec<f64>,
    /// Motors that hold their rates, one articulation after the other.
    pub(super) held: Vec<Held>,
    /// Kinetic energy of all rotors at `t_k` and at the end, J.
    pub(crate) energy_of_rotors: [f64; 2],
    /// Parts that the last articulation was taken in.
    #[cfg(test)]
    pub(crate) parts: usize,
    /// Largest error that was left, m or rad.
    pub(crate) error: f64,
    /// Largest velocity along a locked row, m/s or rad/s.
    pub(crate) velocity: f64,
    /// Some joints gave way: they were asked for more than they reach.
    gave_way: bool,
}

impl Drift {
    /// Moves all articulations, from the poses of `t_k` on.
    pub(crate) fn advance<'m>(
        &mut self,
        joints: &mut Joints,
        bodies: &mut Bodies,
        solution: &Solution,
        mean: impl Fn(Slot) -> Option<&'m WorldTwist> + Sync,
        settings: &Settings,
    ) {
        joints.articulate(bodies);
        let of = (joints.lists(), &*bodies, settings);
        let articulations = &joints.articulations;
        let known = &*bodies;
        let mean = |slot| mean(slot).filter(|_| !known.is_stiff(slot));
        let courses = self.courses_of(articulations);
        each(articulations, courses, &|articulation, course| {
            let holding = (&mut course.holding, &mut course.stops);
            let step = Step::new(articulation, of, solution, &mean, holding);
            course.advance(&step, &mean);
        });
        for (articulation, course) in articulations.iter().zip(courses) {
            course.leave(articulation, bodies);
        }
        #[cfg(test)]
        if let Some(course) = joints.articulations.len().checked_sub(1) {
            self.parts = self.courses[course].parts;
        }
    }

    /// The buffers of the articulations.
    pub(super) fn courses_of(&mut self, articulations: &[Articulation]) -> &mut [Course] {
        let count = articulations.len();
        if self.courses.len() < count {
            self.courses.resize_with(count, Course::default);
        }
        &mut self.courses[..count]
    }

    /// Lists the results of all articulations.
    pub(super) fn gather(&mut self, joints: &Joints) {
        self.pushes.clear();
        self.held.clear();
        self.reactions.clear();
        self.reactions.resize(joints.list.len(), Push::default());
        self.tensions.clear();
        self.tensions.resize(joints.couplers.len(), 0.0);
        self.energy_of_rotors = [0.0; 2];
        (self.error, self.velocity, self.gave_way) = (0.0, 0.0, false);
        for (articulation, course) in joints.articulations.iter().zip(&self.courses) {
            self.pushes.extend_from_slice(&course.pushes);
            self.held.extend_from_slice(&course.held);
            for (joint, push) in articulation.joints.iter().zip(&course.reactions) {
                self.reactions[*joint] = *push;
            }
            for (coupler, tension) in articulation.couplers.iter().zip(&course.tensions) {
                self.tensions[*coupler] = *tension;
            }
            for (sum, energy) in self
                .energy_of_rotors
                .iter_mut()
                .zip(course.energy_of_rotors)
            {
                *sum += energy;
            }
            self.gave_way |= course.gave_way;
            self.error = self.error.max(course.error);
            self.velocity = self.velocity.max(course.velocity);
        }
    }

    /// There are no joints any more.
    pub(crate) fn forget(&mut self, joints: &mut Joints) {
        joints.articulations.clear();
        joints.epoch = None;
        self.gather(joints);
    }

    /// No joint is left open, and none gave way: a step with one is not converged.
    pub(crate) fn holds(&self) -> bool {
        self.error <= OPEN && !self.gave_way
    }
}

/// `work` on each articulation, shared among the threads of the pool where there is one. None reads what another writes.
pub(super) fn each(
    articulations: &[Articulation],
    courses: &mut [Course],
    work: &(impl Fn(&Articulation, &mut Course) + Sync),
) {
    let joints: usize = articulations.iter().map(|of| of.joints.len()).sum();
    if articulations.len() <= 1 || joints < 2 * PIECE {
        for (articulation, course) in articulations.iter().zip(courses) {
            work(articulation, course);
        }
        return;
    }
    let mut before = 0;
    let middle = articulations.iter().position(|of| {
        before += of.joints.len();
        2 * before >= joints
    });
    let middle = middle.unwrap_or(0).clamp(1, articulations.len() - 1);
    let (low, high) = articulations.split_at(middle);
    let (of_low, of_high) = courses.split_at_mut(middle);
    chunks::both(|| each(low, of_low, work), || each(high, of_high, work));
}
