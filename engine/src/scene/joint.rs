//! Joints of a scene.

use super::{SceneError, SceneRun, nearest_name};
use crate::{
    BreakLimit, Coupler, CouplerTerm, Joint, JointAxis, JointForce, JointForces, JointKind,
    NoCollision, Pose,
};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// One joint, between bodies of the scene where they are at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneJoint {
    /// Name for messages and for [`SceneRun::joint`].
    pub name: Option<String>,
    /// Name of body A; the world where there is none.
    pub a: Option<String>,
    /// Name of body B.
    pub b: String,
    /// What it leaves free.
    pub kind: JointKind,
    /// Origin of both frames, inertial frame, m.
    pub point: DVec3,
    /// Their z axes, inertial frame, of any length. Default z.
    pub axis: DVec3,
    /// Frame A in the frame of body A and frame B in that of body B, both from the centres of mass; of the world in the inertial frame. Instead of
    /// `point` and `axis`, where its coordinates are not zero at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<[Pose; 2]>,
    /// What acts along what is free.
    pub forces: Vec<JointForce>,
    /// Its bodies collide with each other. Default false.
    pub collide: bool,
    /// Force (N) and torque (N·m) beyond which it breaks: `{ force = 100.0 }`. Default none.
    pub break_limit: Option<BreakLimit>,
}

/// A relation of coordinates of joints of the scene: `Σ ratio·q = offset`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneCoupler {
    /// Name for messages.
    pub name: Option<String>,
    /// At least two.
    pub terms: Vec<SceneCouplerTerm>,
    /// What the sum is. Default 0.
    pub offset: f64,
}

/// One coordinate of a coupler: `{ joint = "hinge", axis = "rotation_z", ratio = -2.0 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneCouplerTerm {
    /// Name of the joint.
    pub joint: String,
    /// Which of its coordinates.
    pub axis: JointAxis,
    /// Its factor.
    pub ratio: f64,
}

impl Default for SceneJoint {
    fn default() -> Self {
        Self {
            name: None,
            a: None,
            b: String::new(),
            kind: JointKind::default(),
            point: DVec3::ZERO,
            axis: DVec3::Z,
            frames: None,
            forces: Vec::new(),
            collide: false,
            break_limit: None,
        }
    }
}

impl SceneRun {
    /// The body with this name, which an entry refers to.
    pub(super) fn known(&mut self, name: &str, place: &str) -> Result<Entity, SceneError> {
        let bodies = &self.scene().bodies;
        let is_known = bodies.iter().any(|body| body.name.as_deref() == Some(name));
        let found = is_known.then(|| self.body(name)).flatten();
        found.ok_or_else(|| {
            let names = self.scene().bodies.iter();
            let names = names.filter_map(|body| body.name.as_deref());
            SceneError::UnknownBody {
                place: place.to_owned(),
                name: name.to_owned(),
                nearest: nearest_name(name, names).map(str::to_owned),
            }
        })
    }

    /// The joint with this name.
    #[must_use]
    pub fn joint(&mut self, name: &str) -> Option<Entity> {
        let world = self.simulation.world_mut();
        let mut query = world.query_filtered::<(Entity, &Name), With<Joint>>();
        let mut named = query.iter(world);
        let found = named.find(|(_, own)| own.as_str() == name);
        found.map(|(entity, _)| entity)
    }

    /// Spawns a joint; `place` is its entry.
    pub(super) fn join(&mut self, spec: &SceneJoint, place: &str) -> Result<(), SceneError> {
        let a = match &spec.a {
            Some(name) => Some(self.known(name, place)?),
            None => None,
        };
        let b = self.known(&spec.b, place)?;
        let placed = spec.point != DVec3::ZERO || spec.axis != DVec3::Z;
        if spec.frames.is_some() && placed {
            return Err(SceneError::Field {
                place: place.to_owned(),
                field: "frames",
                value: "given beside point or axis".to_owned(),
                bound: "one of the two",
            });
        }
        let free = Joint::to_world(b, spec.kind);
        let joint = Joint {
            bodies: [a, Some(b)],
            ..match spec.frames {
                Some(frames) => free.with_frames(frames),
                None => free.at(spec.point, spec.axis),
            }
        };
        let siblings = (
            JointForces(spec.forces.clone()),
            spec.break_limit.unwrap_or_default(),
        );
        let joint = self.simulation.spawn_joint(joint, siblings);
        let joint = joint.map_err(|source| SceneError::Refused {
            place: place.to_owned(),
            source,
        })?;
        if !spec.collide {
            self.simulation.set(joint, NoCollision);
        }
        if let Some(name) = &spec.name {
            self.simulation.set(joint, Name::new(name.clone()));
        }
        Ok(())
    }

    /// Spawns a coupler; `place` is its entry.
    pub(super) fn couple(&mut self, spec: &SceneCoupler, place: &str) -> Result<(), SceneError> {
        let mut terms = Vec::new();
        for SceneCouplerTerm { joint, axis, ratio } in &spec.terms {
            let found = self.joint(joint).ok_or_else(|| {
                let names = self.scene().joints.iter();
                let names = names.filter_map(|joint| joint.name.as_deref());
                SceneError::UnknownJoint {
                    place: place.to_owned(),
                    name: joint.clone(),
                    nearest: nearest_name(joint, names).map(str::to_owned),
                }
            })?;
            terms.push(CouplerTerm {
                joint: found,
                axis: *axis,
                ratio: *ratio,
            });
        }
        let coupler = Coupler {
            terms,
            offset: spec.offset,
        };
        let coupler = self.simulation.spawn_coupler(coupler);
        let coupler = coupler.map_err(|source| SceneError::Refused {
            place: place.to_owned(),
            source,
        })?;
        if let Some(name) = &spec.name {
            self.simulation.set(coupler, Name::new(name.clone()));
        }
        Ok(())
    }
}
