//! Couplers of the step: rows over the joints that they relate.

use super::coordinates::{Placed, Row, unwrapped};
use super::{Jointed, Joints};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{JointAxis, JointId};
use crate::error::{JointError, StepError};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Everything that the step needs to know of a coupler: `Σ ratio·q = offset`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CouplerSpec {
    /// Its identity, among those of joints and couplers.
    pub id: JointId,
    /// Joint, coordinate and factor, at least two.
    pub terms: Vec<(JointId, JointAxis, f64)>,
    /// What the sum is.
    pub offset: f64,
}

/// One coordinate of a coupler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// Its place in the list of joints.
    pub(super) joint: usize,
    pub(super) axis: JointAxis,
    pub(super) ratio: f64,
    /// At the last look, an angle with its turns.
    pub(super) last: f64,
}

/// A coupler of the step.
#[derive(Clone, Debug)]
pub(crate) struct Coupled {
    pub(crate) id: JointId,
    pub(super) terms: Vec<Term>,
    pub(super) offset: f64,
    /// Its force in its last step awake.
    pub(super) pulled: f64,
}

impl Term {
    /// What a turn adds to its part of the sum.
    pub(super) fn period(&self) -> f64 {
        if self.axis.is_rotation() {
            self.ratio * TAU
        } else {
            0.0
        }
    }

    /// Its part of the sum, and of the rate of that.
    pub(super) fn part(&self, joint: &Jointed, placed: &Placed) -> (f64, Row) {
        let (value, row) = placed.coordinate(&joint.kind, self.axis);
        let value = if self.axis.is_rotation() {
            unwrapped(value, self.last)
        } else {
            value
        };
        (self.ratio * value, row.map(|x| self.ratio * x))
    }
}

impl Coupled {
    /// Remembers where its joints are now, a time `h` (s) after the last look.
    pub(super) fn count_turns(&mut self, joints: &[Jointed], bodies: &Bodies, h: f64) {
        for term in &mut self.terms {
            let joint = &joints[term.joint];
            let (value, row) = joint.placed(bodies).coordinate(&joint.kind, term.axis);
            term.last = if term.axis.is_rotation() {
                unwrapped(value, term.last + h * joint.mean_rate(&row, bodies))
            } else {
                value
            };
        }
    }

    /// The dynamic bodies of its joints.
    pub(super) fn slots<'a>(
        &'a self,
        joints: &'a [Jointed],
        bodies: &'a Bodies,
    ) -> impl Iterator<Item = Slot> + 'a {
        let slots = self
            .terms
            .iter()
            .flat_map(|term| joints[term.joint].slots());
        slots.filter(|slot| bodies.constants[*slot].is_dynamic())
    }
}

impl Joints {
    /// The couplers that were asked for, checked, over the list of joints. Those of joints that are out of the steps are, too.
    pub(super) fn couple(
        &self,
        joints: &[Jointed],
        bodies: &Bodies,
    ) -> Result<Vec<Coupled>, StepError> {
        let mut order: Vec<&CouplerSpec> = self.coupler_specs.iter().collect();
        order.sort_by_key(|spec| spec.id);
        let mut list = Vec::new();
        for spec in order {
            let refused = |source| StepError::Joint {
                id: spec.id,
                source,
            };
            let known = |id: &JointId| joints.binary_search_by_key(id, |joint| joint.id).ok();
            let taken = list.last().is_some_and(|last: &Coupled| last.id == spec.id);
            if taken || known(&spec.id).is_some() {
                return Err(refused(JointError::DuplicateId));
            }
            check(spec, |id| {
                known(&id).map(|place| joints[place].kind.locked())
            })
            .map_err(refused)?;
            let before = self.couplers.iter().find(|old| old.id == spec.id);
            let idle = before.is_none().then(|| self.idle_coupler(spec)).flatten();
            let terms = spec.terms.iter().enumerate().map(|(k, (id, axis, ratio))| {
                let last = before.and_then(|old| Some(old.terms.get(k)?.last));
                let last = last.or_else(|| idle?.get(k).copied());
                known(id).map(|joint| Term {
                    joint,
                    axis: *axis,
                    ratio: *ratio,
                    last: last.unwrap_or(0.0),
                })
            });
            if let Some(terms) = terms.collect::<Option<Vec<Term>>>() {
                let mut coupled = Coupled {
                    id: spec.id,
                    terms,
                    offset: spec.offset,
                    pulled: before.map_or(0.0, |old| old.pulled),
                };
                coupled.count_turns(joints, bodies, 0.0);
                list.push(coupled);
            }
        }
        Ok(list)
    }
}

/// Checks a coupler; `locked` says which coordinates a joint locks, if the joint takes part.
pub(crate) fn check(
    spec: &CouplerSpec,
    locked: impl Fn(JointId) -> Option<[bool; 7]>,
) -> Result<(), JointError> {
    let field = |field, value, bound| {
        Err(JointError::Field {
            field,
            value,
            bound,
        })
    };
    if spec.id == JointId::UNASSIGNED {
        return Err(JointError::NoId);
    }
    if spec.terms.len() < 2 {
        return field("number of coordinates", spec.terms.len() as f64, "≥ 2");
    }
    if !spec.offset.is_finite() {
        return field("offset", spec.offset, "finite");
    }
    for (k, (joint, axis, ratio)) in spec.terms.iter().enumerate() {
        if !ratio.is_finite() || *ratio == 0.0 {
            return field("ratio", *ratio, "finite, not 0");
        }
        let same = |(other, its, _): &(JointId, JointAxis, f64)| other == joint && its == axis;
        if spec.terms[..k].iter().any(same) {
            return Err(JointError::Twice {
                id: *joint,
                axis: *axis,
            });
        }
        if locked(*joint).is_some_and(|locked| locked[axis.place()]) {
            return Err(JointError::Locked { axis: *axis });
        }
    }
    Ok(())
}
