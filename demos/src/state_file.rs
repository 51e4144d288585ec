//! `--state`: where the bodies are at the end of a run, and what held them in its last step.

use crate::failure::Failure;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use moreau::{BodyId, ContactStatus, ContactView, JointId, RigidBody, SceneRun, Twist};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Inertial frame and SI units, but where it says otherwise.
#[derive(Serialize)]
struct State {
    /// s.
    t: f64,
    bodies: Vec<Body>,
    contacts: Vec<Contact>,
    joints: Vec<Joint>,
}

#[derive(Serialize)]
struct Body {
    name: String,
    /// Centre of mass.
    position: [f64; 3],
    /// x, y, z, w.
    orientation: [f64; 4],
    linear: [f64; 3],
    /// In the frame of the body.
    angular: [f64; 3],
}

#[derive(Serialize)]
struct Contact {
    /// Bodies without names have none.
    a: Option<String>,
    b: Option<String>,
    point: [f64; 3],
    gap: f64,
    /// Mean over the step, on A, N.
    force: [f64; 3],
    status: ContactStatus,
}

#[derive(Serialize)]
struct Joint {
    name: String,
    /// Mean over the step, on B in frame A, N.
    force: [f64; 3],
    /// About the origin of frame B, N·m.
    torque: [f64; 3],
    /// Along the coordinates, in the order of the forces of the joint, N or N·m.
    efforts: Vec<f64>,
}

/// Writes the state as JSON: bodies and joints with names, and all contacts of the last step.
pub(crate) fn write(run: &mut SceneRun, file: &Path) -> Result<(), Failure> {
    let text = serde_json::to_vec(&state(run)).map_err(std::io::Error::from)?;
    std::fs::write(file, text).map_err(|source| Failure::OutputFile {
        path: file.to_owned(),
        source,
    })
}

fn state(run: &mut SceneRun) -> State {
    let mut names = BTreeMap::new();
    let mut bodies = Vec::new();
    for (entity, name) in named::<BodyId, RigidBody>(run.simulation.world_mut()) {
        names.insert(entity, name.clone());
        let Some(pose) = run.simulation.pose(entity) else {
            continue;
        };
        let Twist { linear, angular } = run.simulation.twist(entity).unwrap_or_default();
        bodies.push(Body {
            name: name.clone(),
            position: pose.position.to_array(),
            orientation: pose.orientation.to_array(),
            linear: linear.to_array(),
            angular: angular.to_array(),
        });
    }
    let h = run.simulation.settings().time_step;
    let contact = |of: &ContactView| Contact {
        a: names.get(&of.entities[0]).cloned(),
        b: names.get(&of.entities[1]).cloned(),
        point: of.point.to_array(),
        gap: of.gap,
        force: (of.frame * of.impulse / h).to_array(),
        status: of.status,
    };
    let contacts = run.simulation.contacts().iter().map(contact).collect();
    let joints = named::<JointId, moreau::Joint>(run.simulation.world_mut()).into_iter();
    let joints = joints.filter_map(|(entity, name)| {
        let reaction = run.simulation.joint_reaction(entity)?;
        Some(Joint {
            name,
            force: reaction.force.to_array(),
            torque: reaction.torque.to_array(),
            efforts: run.simulation.joint_efforts(entity).unwrap_or_default(),
        })
    });
    let joints = joints.collect();
    State {
        t: run.simulation.time(),
        bodies,
        contacts,
        joints,
    }
}

/// The entities of one kind that have names, in the order of their ids.
fn named<Id: Component + Copy + Ord, Kind: Component>(world: &mut World) -> Vec<(Entity, String)> {
    let mut query = world.query_filtered::<(&Id, Entity, &Name), With<Kind>>();
    let mut found: Vec<_> = query.iter(world).collect();
    found.sort_unstable_by_key(|(id, ..)| **id);
    let found = found.into_iter();
    found
        .map(|(_, entity, name)| (entity, name.as_str().to_owned()))
        .collect()
}
