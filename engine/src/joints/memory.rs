//! What the next step depends on of the joints beside what was asked for: turns, frames, what was borne.

use super::check::check_joint;
use super::coupled::{self, Coupled, Term};
use super::idle::{IdleCoupler, IdleJoint};
use super::plain::JointSpec;
use super::rows::Kept;
use super::{CouplerSpec, JointReaction, Jointed, Joints, rigid_bodies};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{BodyId, JointId, Pose};
use crate::error::{JointError, StepError};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// The joints of a step state as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct JointsMemory {
    /// In the order of ids.
    list: Vec<JointMemory>,
    couplers: Vec<CouplerMemory>,
    /// What was asked for last; nothing if it is what the list was made of.
    specs: Option<Vec<JointSpec>>,
    coupler_specs: Vec<CouplerSpec>,
    broken: Vec<JointId>,
    /// Bodies of joints that came, went or changed since.
    disturbed: Vec<BodyId>,
    /// The list is of the present bodies.
    resolved: bool,
    driven_anew: bool,
    /// Impulses that the next step starts from.
    kept: Vec<Kept>,
    /// Joints that are out of the steps, in the order of ids.
    idle: Vec<IdleJoint>,
    idle_couplers: Vec<IdleCoupler>,
}

/// One joint of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct JointMemory {
    /// What it was made of.
    spec: JointSpec,
    /// In the frames of its bodies.
    frames: [Pose; 2],
    turned: f64,
    coordinates: Vec<f64>,
    bore: [DVec3; 2],
    efforts: Vec<f64>,
}

/// One coupler of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CouplerMemory {
    spec: CouplerSpec,
    /// Of each term, an angle with its turns.
    last: Vec<f64>,
    pulled: f64,
}

impl Joints {
    /// What is to be kept. `known` says that the bodies are those that the list was made for; `ids` are those of the slots.
    pub(crate) fn memory(
        &self,
        (epoch, known): (u64, bool),
        ids: &[BodyId],
        kept: &[Kept],
    ) -> JointsMemory {
        let list: Vec<JointMemory> = self.list.iter().map(|joint| joint.memory(ids)).collect();
        let made_of = list.iter().map(|joint| &joint.spec);
        let same = made_of.eq(&self.specs);
        let couplers = self.couplers.iter();
        let couplers = couplers.map(|coupler| CouplerMemory {
            spec: CouplerSpec {
                id: coupler.id,
                terms: coupler.terms_of(&self.list),
                offset: coupler.offset,
            },
            last: coupler.terms.iter().map(|term| term.last).collect(),
            pulled: coupler.pulled,
        });
        JointsMemory {
            couplers: couplers.collect(),
            list,
            specs: (!same).then(|| self.specs.clone()),
            coupler_specs: self.coupler_specs.clone(),
            broken: self.broken.clone(),
            disturbed: self.disturbed.clone(),
            resolved: known && self.resolved == Some(epoch),
            driven_anew: self.driven_anew,
            kept: kept.to_vec(),
            idle: self.idle.clone(),
            idle_couplers: self.idle_couplers.clone(),
        }
    }
}

impl Jointed {
    fn memory(&self, ids: &[BodyId]) -> JointMemory {
        JointMemory {
            spec: JointSpec {
                id: self.id,
                bodies: self.bodies.map(|slot| ids.get(slot.index()).copied()),
                frames: self.given,
                kind: self.kind,
                forces: self.forces.clone(),
                collide: self.collide,
                break_limit: self.break_limit,
            },
            frames: self.frames,
            turned: self.turned,
            coordinates: self.coordinates.clone(),
            bore: [self.bore.force, self.bore.torque],
            efforts: self.efforts.clone(),
        }
    }
}

impl Coupled {
    fn terms_of(&self, joints: &[Jointed]) -> Vec<(JointId, crate::components::JointAxis, f64)> {
        let terms = self.terms.iter();
        let terms = terms.filter_map(|term| {
            let joint = joints.get(term.joint)?;
            Some((joint.id, term.axis, term.ratio))
        });
        terms.collect()
    }
}

impl JointsMemory {
    /// What was asked for last.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &JointSpec> {
        let own = self.specs.iter().flatten();
        let made_of = self.list.iter().map(|joint| &joint.spec);
        own.chain(made_of.take(if self.specs.is_none() { usize::MAX } else { 0 }))
    }

    /// The impulses that the next step starts from.
    pub(crate) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// A list that is that of what was asked for has its joints, with as many forces: a controller changes no more than their numbers.
    fn check_specs(&self) -> Result<(), StepError> {
        let Some(specs) = self.specs.as_ref().filter(|_| self.resolved) else {
            return Ok(());
        };
        let mut order: Vec<_> = specs.iter().map(|of| (of.id, of.forces.len())).collect();
        order.sort_unstable();
        let made = self.list.iter();
        let made = made.map(|joint| (joint.spec.id, joint.spec.forces.len()));
        if made.clone().eq(order.iter().copied()) {
            return Ok(());
        }
        let odd = made.zip(order).find(|(own, other)| own != other);
        let id = odd.map_or_else(JointId::default, |((id, _), _)| id);
        Err(refused(id, JointError::UnknownJoint { id }))
    }

    /// The joints of these bodies, checked.
    pub(crate) fn joints(&self, bodies: &mut Bodies) -> Result<Joints, StepError> {
        for pair in self.list.windows(2) {
            if pair[0].spec.id >= pair[1].spec.id {
                return Err(refused(pair[1].spec.id, JointError::DuplicateId));
            }
        }
        self.check_specs()?;
        let list = self.list.iter().map(|joint| {
            let made = joint.jointed(self.resolved, bodies);
            made.map_err(|source| refused(joint.spec.id, source))
        });
        let list = list.collect::<Result<Vec<Jointed>, _>>()?;
        let couplers = self.couplers.iter().map(|coupler| {
            let made = coupler.coupled(&list);
            made.map_err(|source| refused(coupler.spec.id, source))
        });
        let couplers = couplers.collect::<Result<Vec<Coupled>, _>>()?;
        for (id, _, impulses) in &self.kept {
            for impulse in impulses {
                finite("impulse", *impulse).map_err(|source| refused(*id, source))?;
            }
        }
        for joint in &self.idle {
            let turns = std::iter::once(&joint.turned).chain(&joint.coordinates);
            check_frames(&joint.frames)
                .and_then(|()| turns.copied().try_for_each(|turn| finite("turn", turn)))
                .map_err(|source| refused(joint.id, source))?;
        }
        for coupler in &self.idle_couplers {
            let mut turns = coupler.last.iter();
            turns
                .try_for_each(|turn| finite("turn", *turn))
                .map_err(|source| refused(coupler.id, source))?;
        }
        if let Some(pair) = self.idle.windows(2).find(|pair| pair[0].id >= pair[1].id) {
            return Err(refused(pair[1].id, JointError::DuplicateId));
        }
        let joints = Joints {
            idle: self.idle.clone(),
            idle_couplers: self.idle_couplers.clone(),
            couplers,
            specs: self.specs().cloned().collect(),
            coupler_specs: self.coupler_specs.clone(),
            broken: self.broken.clone(),
            disturbed: self.disturbed.clone(),
            resolved: self.resolved.then_some(bodies.epoch),
            driven_anew: self.driven_anew,
            list,
            ..Joints::default()
        };
        if self.resolved {
            joints.tie(bodies);
        }
        Ok(joints)
    }
}

fn refused(id: JointId, source: JointError) -> StepError {
    StepError::Joint { id, source }
}

fn finite(field: &'static str, value: f64) -> Result<(), JointError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(JointError::Field {
        field,
        value,
        bound: "finite",
    })
}

/// Finite places, with orientations of length one.
fn check_frames(frames: &[Pose; 2]) -> Result<(), JointError> {
    for frame in frames {
        for part in frame.position.to_array() {
            finite("frame position", part)?;
        }
        // Of two quaternions that each are of unit length to 1e-6.
        let norm = frame.orientation.length();
        let ok = (norm - 1.0).abs() <= 1e-5;
        if !ok {
            return Err(JointError::Field {
                field: "frame orientation norm",
                value: norm,
                bound: "1 ± 1e-5",
            });
        }
    }
    Ok(())
}

/// As many numbers as `expected`, all of them finite.
fn numbers(field: &'static str, values: &[f64], expected: usize) -> Result<(), JointError> {
    if values.len() != expected {
        return Err(JointError::Field {
            field,
            value: values.len() as f64,
            bound: "as many as its forces or terms",
        });
    }
    values.iter().try_for_each(|value| finite(field, *value))
}

impl JointMemory {
    /// If it is `resolved`, its bodies are known, and it is checked as the step does; otherwise the next step does that.
    fn jointed(&self, resolved: bool, bodies: &Bodies) -> Result<Jointed, JointError> {
        let spec = &self.spec;
        let mut slots = [Slot::NONE; 2];
        for (slot, body) in slots.iter_mut().zip(spec.bodies) {
            let Some(id) = body else { continue };
            match bodies.slot_of(id) {
                Some(found) => *slot = found,
                None if resolved => return Err(JointError::UnknownBody { id }),
                None => {}
            }
        }
        if resolved {
            check_joint(spec, rigid_bodies(slots, bodies))?;
        }
        check_frames(&self.frames)?;
        finite("turn", self.turned)?;
        numbers("coordinate", &self.coordinates, spec.forces.len())?;
        numbers("effort", &self.efforts, spec.forces.len())?;
        for borne in self.bore {
            for part in borne.to_array() {
                finite("reaction", part)?;
            }
        }
        Ok(Jointed {
            id: spec.id,
            bodies: slots,
            frames: self.frames,
            given: spec.frames,
            kind: spec.kind,
            forces: spec.forces.clone(),
            collide: spec.collide,
            break_limit: spec.break_limit,
            turned: self.turned,
            coordinates: self.coordinates.clone(),
            bore: JointReaction {
                force: self.bore[0],
                torque: self.bore[1],
            },
            efforts: self.efforts.clone(),
            yields: 0.0,
            carried: Vec::new(),
        })
    }
}

impl CouplerMemory {
    fn coupled(&self, joints: &[Jointed]) -> Result<Coupled, JointError> {
        let place = |id: &JointId| joints.binary_search_by_key(id, |joint| joint.id);
        coupled::check(&self.spec, |id| {
            place(&id).ok().map(|place| joints[place].kind.locked())
        })?;
        numbers("coordinate", &self.last, self.spec.terms.len())?;
        finite("force", self.pulled)?;
        let terms = self.spec.terms.iter().zip(&self.last);
        let terms = terms.map(|((id, axis, ratio), last)| {
            let joint = place(id).map_err(|_| JointError::UnknownJoint { id: *id })?;
            Ok(Term {
                joint,
                axis: *axis,
                ratio: *ratio,
                last: *last,
            })
        });
        Ok(Coupled {
            id: self.spec.id,
            terms: terms.collect::<Result<_, JointError>>()?,
            offset: self.spec.offset,
            pulled: self.pulled,
        })
    }
}
