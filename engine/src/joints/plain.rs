//! Joints as plain data, for steps without an ECS.

use super::check::check_joint;
use super::{CouplerSpec, JointReaction, Jointed, Joints, rigid_bodies};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{BodyId, BreakLimit, JointForce, JointFrames, JointId, JointKind, Pose};
use crate::error::{JointError, StepError};
use serde::{Deserialize, Serialize};

/// Everything that the step needs to know of a joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JointSpec {
    /// Its identity; no two joints share one. Results depend on the order of ids.
    pub id: JointId,
    /// A and B; the world where there is none.
    pub bodies: [Option<BodyId>; 2],
    /// Where it holds each of them.
    pub frames: JointFrames,
    /// What it leaves free.
    pub kind: JointKind,
    /// What acts along what is free.
    pub forces: Vec<JointForce>,
    /// Its bodies collide with each other.
    pub collide: bool,
    /// What it bears at most.
    pub break_limit: Option<BreakLimit>,
}

impl Joints {
    /// Makes the list of the joints that were asked for, checked, if it or the bodies are others than before. Joints whose ids stay keep the turns
    /// that they have counted, and what they bore.
    pub(crate) fn resolve(&mut self, bodies: &mut Bodies) -> Result<(), StepError> {
        let known = self.resolved == Some(bodies.epoch);
        if known && !self.driven_anew || self.specs.is_empty() && self.list.is_empty() {
            return Ok(());
        }
        for id in self.disturbed.drain(..) {
            if let Some(slot) = bodies.slot_of(id) {
                bodies.ask_to_wake(slot);
            }
        }
        if known {
            return self.drive_anew(bodies);
        }
        let mut order: Vec<&JointSpec> = self.specs.iter().collect();
        order.sort_by_key(|spec| spec.id);
        let refused = |spec: &JointSpec, source| StepError::Joint {
            id: spec.id,
            source,
        };
        if let Some(pair) = order.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(refused(pair[1], JointError::DuplicateId));
        }
        let mut list = Vec::new();
        for spec in order {
            let mut slots = [Slot::NONE; 2];
            for (slot, body) in slots.iter_mut().zip(spec.bodies) {
                if let Some(id) = body {
                    let found = bodies.slot_of(id);
                    *slot = found.ok_or_else(|| refused(spec, JointError::UnknownBody { id }))?;
                }
            }
            check_joint(spec, rigid_bodies(slots, bodies))
                .map_err(|source| refused(spec, source))?;
            list.push(self.jointed(spec, slots, bodies));
        }
        for joint in &mut list {
            joint.count_turns(bodies, 0.0);
        }
        let couplers = self.couple(&list, bodies)?;
        self.lay_couplers_aside(&couplers);
        self.couplers = couplers;
        self.lay_aside(&list);
        self.list = list;
        self.tie(bodies);
        self.resolved = Some(bodies.epoch);
        self.driven_anew = false;
        self.epoch = None;
        self.articulations.clear();
        Ok(())
    }

    /// Other joints and couplers, of other bodies. Those whose ids are known here are held where they are, and keep their turns.
    pub(crate) fn with(
        &self,
        (specs, coupler_specs): (Vec<JointSpec>, Vec<CouplerSpec>),
        bodies: &mut Bodies,
    ) -> Result<Self, StepError> {
        let asked = |joint: &&Jointed| specs.iter().any(|spec| spec.id == joint.id);
        let mut joints = Self {
            list: self.list.iter().filter(asked).cloned().collect(),
            couplers: self.couplers.clone(),
            specs,
            coupler_specs,
            idle: self.idle.clone(),
            idle_couplers: self.idle_couplers.clone(),
            ..Self::default()
        };
        joints.resolve(bodies)?;
        Ok(joints)
    }

    /// Tells the bodies which of them the list ties, keeps apart and holds on what impulses do not move.
    pub(super) fn tie(&self, bodies: &mut Bodies) {
        let (mut tied, mut apart, mut hung) = (Vec::new(), Vec::new(), Vec::new());
        let in_order = |[a, b]: [Slot; 2]| [a.min(b), a.max(b)];
        for joint in &self.list {
            let slots = joint.bodies;
            if slots.iter().all(|slot| *slot != Slot::NONE) {
                tied.push(in_order(slots));
                if !joint.collide {
                    apart.push(in_order(slots));
                }
            }
            let moves = |slot: Slot| slot != Slot::NONE && bodies.constants[slot].is_dynamic();
            match slots.map(moves) {
                [true, false] => hung.push(slots),
                [false, true] => hung.push([slots[1], slots[0]]),
                _ => {}
            }
        }
        for coupler in &self.couplers {
            let slots: Vec<Slot> = coupler.slots(&self.list, bodies).collect();
            let pairs = slots.windows(2).filter(|pair| pair[0] != pair[1]);
            tied.extend(pairs.map(|pair| in_order([pair[0], pair[1]])));
        }
        for pairs in [&mut tied, &mut apart] {
            pairs.sort_unstable();
            pairs.dedup();
        }
        bodies.tied = tied;
        bodies.apart = apart;
        bodies.hung = hung;
    }

    fn jointed(&self, spec: &JointSpec, slots: [Slot; 2], bodies: &Bodies) -> Jointed {
        let known = self.list.binary_search_by_key(&spec.id, |joint| joint.id);
        let known = known.ok().map(|place| &self.list[place]);
        let idle = self.idle(spec.id, &spec.frames);
        let frames = match (spec.frames, known, idle) {
            (JointFrames::Own(frames), ..) => frames,
            // Where its bodies were when it was first seen.
            (JointFrames::World(_), Some(known), _) if known.given == spec.frames => known.frames,
            (JointFrames::World(_), None, Some(idle)) => idle.frames,
            (JointFrames::World(frame), ..) => slots.map(|slot| {
                if slot == Slot::NONE {
                    return frame;
                }
                let body = &bodies.pose[slot];
                let back = body.orientation.conjugate();
                Pose {
                    position: back * (frame.position - body.position),
                    orientation: back * frame.orientation,
                }
            }),
        };
        let mut joint = Jointed {
            id: spec.id,
            bodies: slots,
            frames,
            given: spec.frames,
            kind: spec.kind,
            forces: spec.forces.clone(),
            collide: spec.collide,
            break_limit: spec.break_limit,
            turned: match (known, idle) {
                (Some(known), _) => known.turned,
                (None, idle) => idle.map_or(0.0, |idle| idle.turned),
            },
            coordinates: vec![0.0; spec.forces.len()],
            bore: known.map_or_else(JointReaction::default, |known| known.bore),
            efforts: vec![0.0; spec.forces.len()],
            yields: 0.0,
            carried: Vec::new(),
        };
        if let Some(known) = known.filter(|known| known.forces.len() == spec.forces.len()) {
            joint.coordinates.clone_from(&known.coordinates);
            joint.efforts.clone_from(&known.efforts);
        } else if let (None, Some(idle)) = (known, idle)
            && idle.coordinates.len() == spec.forces.len()
        {
            joint.coordinates.clone_from(&idle.coordinates);
        }
        joint
    }
}
