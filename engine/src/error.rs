//! What can go wrong, with the place, the value and the bound.

use crate::components::{BodyId, JointAxis, JointId, MaterialName, RigidBody};
use crate::forces::law::ForceError;
use bevy_ecs::entity::Entity;
use moreau_geometry::{Crowd, GeometryError};
use moreau_solvers::ProblemError;

/// A setting outside its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("setting {field} is {value}, expected {bound}")]
pub struct SettingsError {
    /// Field at fault.
    pub field: &'static str,
    /// Its value.
    pub value: f64,
    /// What it must satisfy.
    pub bound: &'static str,
}

/// A body that cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A number outside its range.
    #[error("{field} is {value}, expected {bound}")]
    Field {
        /// Field at fault.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        bound: &'static str,
    },
    /// One of its [`BodyForces`](crate::BodyForces) cannot be computed with.
    #[error("force {index}: {source}")]
    Force {
        /// Its place in the list.
        index: usize,
        /// What is wrong with it.
        source: ForceError,
    },
    /// The shape or the mass that follows from it.
    #[error(transparent)]
    Shape(#[from] GeometryError),
    /// A dynamic body without mass has neither collider nor given mass.
    #[error("a dynamic body needs a collider or a given mass")]
    NoMass,
    /// A mass given by itself takes its inertia from a shape.
    #[error("a dynamic body without collider needs a given inertia beside its mass")]
    NoInertia,
    /// The inertia of a shape is about its own centre.
    #[error("a centre of mass is given without mass and inertia")]
    CenterAlone,
    /// Materials of parts are one for each part of a compound, of at most 4095.
    #[error(
        "{given} materials of parts, expected one for each of the {parts} parts of its compound, at most 4095"
    )]
    PartMaterials {
        /// How many were given.
        given: usize,
        /// Parts of its shape, 0 if it is no compound.
        parts: usize,
    },
    /// Only static and kinematic bodies may be surfaces.
    #[error("a dynamic body needs a solid shape, not a half-space, mesh or heightfield")]
    NotSolid,
    /// Only kinematic bodies go to the pose they are given.
    #[error("only a kinematic body can be given a target, this one is {kind:?}")]
    NotKinematic {
        /// What the body is.
        kind: RigidBody,
    },
    /// A component that every body has was removed.
    #[error("the component {part} is missing")]
    Missing {
        /// The component.
        part: &'static str,
    },
    /// Two bodies with one id.
    #[error("the id is taken by another body")]
    DuplicateId,
    /// All ids above those in use are taken.
    #[error("there is no id left above those in use")]
    NoIdLeft,
}

/// A pair of materials, or a name of one, that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PairError {
    /// A number outside its range.
    #[error("pair of {} and {}: {field} is {value}, expected {bound}", .between[0], .between[1])]
    Field {
        /// The two materials.
        between: Box<[MaterialName; 2]>,
        /// Field at fault.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        bound: &'static str,
    },
    /// A pair is in the table twice.
    #[error("pair of {} and {}: it is in the table twice", .between[0], .between[1])]
    Twice {
        /// The two materials.
        between: Box<[MaterialName; 2]>,
    },
    /// A name that is empty or too long.
    #[error("the name \"{name}\" of a material has {bytes} bytes, expected 1 to 31")]
    Name {
        /// The name.
        name: String,
        /// Its length.
        bytes: usize,
    },
}

/// A joint that cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JointError {
    /// A number outside its range.
    #[error("{field} is {value}, expected {bound}")]
    Field {
        /// Field at fault.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        bound: &'static str,
    },
    /// There is no body with this id.
    #[error("there is no body {id}")]
    UnknownBody {
        /// The id.
        id: BodyId,
    },
    /// The entity that it names is no body.
    #[error("there is no body {entity}")]
    NoBody {
        /// The entity.
        entity: Entity,
    },
    /// Both of its bodies are the same.
    #[error("it joins a body to itself")]
    ItsOwn,
    /// None of its bodies is dynamic as it is spawned. One whose bodies stop being dynamic later rests until one of them is again.
    #[error("none of its bodies is dynamic")]
    NothingToMove,
    /// A force acts along an axis that the joint locks.
    #[error("a force acts along {axis:?}, which the joint locks")]
    Locked {
        /// The axis.
        axis: JointAxis,
    },
    /// A coupler names an entity that is no joint.
    #[error("there is no joint {entity}")]
    NoJoint {
        /// The entity.
        entity: Entity,
    },
    /// A coupler names a joint that is not there.
    #[error("there is no joint {id}")]
    UnknownJoint {
        /// The id.
        id: JointId,
    },
    /// A coupler names a coordinate twice.
    #[error("{axis:?} of joint {id} is in it twice")]
    Twice {
        /// The joint.
        id: JointId,
        /// The coordinate.
        axis: JointAxis,
    },
    /// Two joints with one id.
    #[error("the id is taken by another joint")]
    DuplicateId,
    /// A joint without an id.
    #[error("it has no id")]
    NoId,
}

/// Why the interactions of a step were not changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InteractionError {
    /// Interactions may be changed between detection and solve alone.
    #[error("interactions are open to changes between detection and solve alone")]
    NotOpen,
    /// A number outside its range.
    #[error("interaction of bodies {} and {}: {field} is {value}, expected {bound}", .bodies[0], .bodies[1])]
    Field {
        /// Its bodies.
        bodies: [BodyId; 2],
        /// Field at fault.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        bound: &'static str,
    },
    /// There is no body with this id.
    #[error("there is no body {id}")]
    UnknownBody {
        /// The id.
        id: BodyId,
    },
    /// An interaction needs two bodies, one of them dynamic.
    #[error("an interaction of bodies {} and {} moves no body", .bodies[0], .bodies[1])]
    NothingToPush {
        /// Its bodies.
        bodies: [BodyId; 2],
    },
    /// A body that sleeps has no interactions: wake it first.
    #[error("body {id} sleeps")]
    Asleep {
        /// The body.
        id: BodyId,
    },
}

/// Why a step was not made. The world is as it was before the call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// A setting is out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A pair of materials is wrong.
    #[error(transparent)]
    Pairs(#[from] PairError),
    /// A body is wrong.
    #[error("body {id} ({entity}): {source}")]
    Body {
        /// Its id.
        id: BodyId,
        /// Its entity.
        entity: Entity,
        /// What is wrong.
        source: BodyError,
    },
    /// A joint is wrong.
    #[error("joint {id}: {source}")]
    Joint {
        /// Its id.
        id: JointId,
        /// What is wrong.
        source: JointError,
    },
    /// Too many bodies are in one place for their pairs to be looked at.
    #[error("{crowd}, body {id}: are bodies in one place?")]
    Crowd {
        /// A body with many pairs.
        id: BodyId,
        /// How many, and how many pairs are allowed.
        crowd: Crowd,
    },
    /// Bodies overlap so much that their contacts would fill the memory.
    #[error("{contacts} contacts, expected at most {most}: are bodies in one place?")]
    Contacts {
        /// Contacts found.
        contacts: usize,
        /// Contacts allowed.
        most: usize,
    },
    /// The contact problem is unusable.
    #[error("contact problem: {0}")]
    Problem(#[from] ProblemError),
    /// The new state of a body is not finite.
    #[error("body {id}: the new {field} is not finite ({value})")]
    NonFinite {
        /// Body.
        id: BodyId,
        /// Quantity.
        field: &'static str,
        /// Offending value.
        value: f64,
    },
    /// The thread pool could not be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// The step's resources are not in the world: install the engine first.
    #[error("the engine is not installed in this world: {what} is missing")]
    NotInstalled {
        /// What was looked for.
        what: &'static str,
    },
    /// The engine is in this world already.
    #[error("the engine is installed in this world already")]
    AlreadyInstalled,
    /// A change to the interactions was refused.
    #[error(transparent)]
    Interaction(#[from] InteractionError),
}
