//! What a [`StepState`] knows, for users.

use super::StepState;
use super::threads::Threads;
use crate::bodies::Bodies;
use crate::bodies::check::check_body_state;
use crate::components::{BodyId, JointId, MaterialPairs, PairTable, Pose, Twist, Wrench};
use crate::error::StepError;
use crate::interactions::edit::Interactions;
use crate::interactions::warm_start::WarmStart;
use crate::joints::{CouplerSpec, JointReaction, JointSpec};
use crate::results::contact_view::ContactViews;
use crate::results::events::StepEvents;
use crate::results::report::StepReport;
use bevy_ecs::entity::Entity;
use glam::DVec3;
use moreau_solvers::FactoredProblem;

impl StepState {
    /// The interactions, open to changes between detection and solve.
    pub fn interactions(&mut self) -> Interactions<'_> {
        Interactions {
            found: &mut self.record.found,
            edits: &mut self.edits,
            bodies: &self.bodies,
            settings: &self.settings,
        }
    }

    /// Time at the end of the last step, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.clock.t
    }

    /// The report of the last step that succeeded.
    #[must_use]
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// Contacts of the last step that succeeded, ordered by the ids of their bodies.
    #[must_use]
    pub fn contacts(&self) -> &ContactViews {
        &self.contacts
    }

    /// What began and ended in the last step that succeeded.
    #[must_use]
    pub fn events(&self) -> &StepEvents {
        &self.touching.events
    }

    /// Pairs of bodies that touch after the last step, `A < B`, in the order of their ids: awake, asleep, or with one of them asleep on the other.
    pub fn touching(&self) -> impl Iterator<Item = [BodyId; 2]> + '_ {
        self.touching.pairs()
    }

    /// Two bodies touch, in either order: see [`StepEvents`].
    #[must_use]
    pub fn are_touching(&self, bodies: [BodyId; 2]) -> bool {
        self.touching.holds(bodies)
    }

    /// Sensors and what they see after the last step, in the order of the ids of both.
    pub fn sensed(&self) -> impl Iterator<Item = [BodyId; 2]> + '_ {
        self.touching.sensed()
    }

    /// The friction-contact problem of the last step, in factored form, over the bodies in the
    /// order of their ids. [`FactoredProblem::assemble`] gives the stored form with the full
    /// Delassus operator. Where impacts of the step followed one another ([`StepReport::stages`]), it is that of the stage
    /// with the largest residual: the one that the report judges. `None` before the first step and after a failed one.
    #[must_use]
    pub fn problem(&self) -> Option<FactoredProblem<'_>> {
        let motion = &self.motion;
        self.solved.then(|| match &self.judged {
            Some(judged) => judged.problem(motion),
            None => self.problem.factored(motion, &motion.free),
        })
    }

    /// Solution of [`StepState::problem`]: impulses, N·s, contact frames. [`Self::contacts`] has those of the whole step.
    #[must_use]
    pub fn impulses(&self) -> &[DVec3] {
        if let Some(judged) = self.judged.as_ref().filter(|_| self.solved) {
            return &judged.impulse;
        }
        let last = self.contacts.last().filter(|_| self.solved);
        last.map_or(&[], |last| &last.record.impulse)
    }

    /// Ids, poses and twists of all bodies, in the order of ids.
    pub fn states(&self) -> impl Iterator<Item = (BodyId, Pose, Twist)> + '_ {
        let Bodies {
            ids, pose, twist, ..
        } = &self.bodies;
        let states = pose.iter().zip(twist);
        let states = ids.iter().zip(states);
        states.map(|(id, (pose, twist))| (*id, *pose, *twist))
    }

    /// The entity of a body of the last step.
    pub(crate) fn entity(&self, id: BodyId) -> Option<Entity> {
        Some(self.bodies.entities[self.bodies.slot_of(id)?])
    }

    /// Pose of a body at the end of the last step.
    #[must_use]
    pub fn pose(&self, id: BodyId) -> Option<Pose> {
        Some(self.bodies.pose[self.bodies.slot_of(id)?])
    }

    /// Twist of a body at the end of the last step.
    #[must_use]
    pub fn twist(&self, id: BodyId) -> Option<Twist> {
        Some(self.bodies.twist[self.bodies.slot_of(id)?])
    }

    /// The threads of its steps.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The impulses that the next step starts from, by the ids of bodies and the features of contacts: with the states
    /// of the bodies all that a step without sleepers depends on.
    #[must_use]
    pub fn warm_start(&self) -> WarmStart {
        let last = self.contacts.last();
        last.map_or_else(WarmStart::default, |last| self.stored.export(last))
    }

    /// Lets the next step start from these impulses. Impulses of contacts that it does not have are ignored, and so are numbers that no step leaves:
    /// what is not finite, or beyond 1e150.
    pub fn set_warm_start(&mut self, warm_start: WarmStart) {
        self.stored.restore(warm_start, self.contacts.renew());
    }

    /// Replaces all joints. They are checked by the next step, which names what is wrong.
    pub fn set_joints(&mut self, mut joints: Vec<JointSpec>) {
        self.exchange_joints(&mut joints, &[]);
    }

    /// The same with a list that is left to be written anew. `resting` are joints that take no part for now, ascending: they keep their places.
    pub(crate) fn exchange_joints(&mut self, joints: &mut Vec<JointSpec>, resting: &[JointId]) {
        self.joints.replace(joints, resting);
    }

    /// As [`Self::exchange_joints`].
    pub(crate) fn exchange_couplers(
        &mut self,
        couplers: &mut Vec<CouplerSpec>,
        resting: &[JointId],
    ) {
        self.joints.replace_couplers(couplers, resting);
    }

    /// Replaces all couplers, as [`Self::set_joints`]. Those of joints that are not there have no effect.
    pub fn set_couplers(&mut self, mut couplers: Vec<CouplerSpec>) {
        self.exchange_couplers(&mut couplers, &[]);
    }

    /// Replaces the table of pairs of materials, from the next step on; bodies whose materials have names wake.
    ///
    /// # Errors
    /// [`StepError::Pairs`] names the first pair at fault; the old table then stays.
    pub fn set_material_pairs(&mut self, pairs: &MaterialPairs) -> Result<(), StepError> {
        if self.material_pairs != *pairs {
            self.bodies.set_pairs(PairTable::of(pairs)?);
            self.material_pairs = pairs.clone();
        }
        Ok(())
    }

    /// The table of pairs of materials.
    #[must_use]
    pub fn material_pairs(&self) -> &MaterialPairs {
        &self.material_pairs
    }

    /// The joints that broke in the last step, ascending: they are out of the steps, with their couplers, until they are set again.
    #[must_use]
    pub fn broken_joints(&self) -> &[JointId] {
        &self.joints.broken
    }

    /// The mean force or torque of each of the [`forces`](JointSpec::forces) of a joint over the last step, N or N·m along its coordinate: the effort of a
    /// motor, the push of a limit, positive from its lower end. Asleep, those of the last step awake.
    #[must_use]
    pub fn joint_efforts(&self, id: JointId) -> Option<Vec<f64>> {
        self.joints.efforts(id)
    }

    /// The mean force `f` of a coupler over the last step: `ratio·f` acts along each of its coordinates. Asleep, that of the last step awake.
    #[must_use]
    pub fn coupler_force(&self, id: JointId) -> Option<f64> {
        self.joints.tension(id)
    }

    /// What a joint bore in the last step; asleep, in the last one awake.
    #[must_use]
    pub fn joint_reaction(&self, id: JointId) -> Option<JointReaction> {
        self.joints.reaction(id, &self.bodies)
    }

    /// The frames of a joint in those of its bodies A and B, from the centres of mass, and in the inertial frame of the world: those that were given, or that it was
    /// found to have when it was first seen. m, unit quaternions.
    #[must_use]
    pub fn joint_frames(&self, id: JointId) -> Option<[Pose; 2]> {
        self.joints.frames(id)
    }

    /// Puts another wrench on a body, and wakes it; false without the body.
    ///
    /// # Errors
    /// [`StepError::Body`] if it is not finite; the old one then stays.
    pub fn set_wrench(&mut self, id: BodyId, wrench: Wrench) -> Result<bool, StepError> {
        let Some(slot) = self.bodies.slot_of(id) else {
            return Ok(false);
        };
        check_body_state(&Pose::default(), &Twist::default(), &wrench)
            .map_err(|source| self.bodies.refused(slot, source))?;
        if self.bodies.wrench[slot] != wrench {
            self.bodies.disturb(slot);
            self.bodies.wrench[slot] = wrench;
        }
        Ok(true)
    }

    /// Gives a kinematic body the pose that it has at the end of the next step
    /// ([`KinematicTarget`](crate::KinematicTarget)); false without the body. In an ECS the component does that.
    ///
    /// # Errors
    /// [`StepError::Body`] if the body is not kinematic, or the pose not finite or no rotation; nothing then changes.
    pub fn move_to(&mut self, id: BodyId, target: &Pose) -> Result<bool, StepError> {
        let Some(slot) = self.bodies.slot_of(id) else {
            return Ok(false);
        };
        let set = self.bodies.set_target(slot, target);
        set.map_err(|source| self.bodies.refused(slot, source))?;
        Ok(true)
    }

    /// Wakes the island of a body at the beginning of the next step. False if it does not sleep.
    pub fn wake(&mut self, id: BodyId) -> bool {
        let slot = self.bodies.slot_of(id);
        slot.is_some_and(|slot| self.bodies.ask_to_wake(slot))
    }
}
