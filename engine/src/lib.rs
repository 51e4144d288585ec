//! Rigid-body contact with exact Coulomb friction, on an entity-component system.
//!
//! Every step solves Signorini's condition, Newton's impact law and Coulomb's cone together, and reports a residual that is
//! recomputed from the definition of these laws by code that shares nothing with the solver.
//!
//! ```
//! use moreau::prelude::*;
//! let mut simulation = Simulation::new(Settings::default())?;
//! simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
//! let cube = (RigidBody::Dynamic, Collider::cuboid(0.25, 0.25, 0.25), Pose::at(0.0, 0.0, 1.0));
//! let cube = simulation.spawn(cube)?;
//! while simulation.time() < 1.0 {
//!     let report = simulation.step()?;
//!     assert!(report.converged && report.e_scaled <= 1e-4);
//! }
//! assert!(simulation.pose(cube).is_some_and(|pose| (pose.position.z - 0.25).abs() < 1e-3));
//! # Ok::<(), StepError>(())
//! ```
//!
//! | what | where |
//! |---|---|
//! | a world of its own, headless | [`Simulation`]; many at once: [`Worlds`] |
//! | the step in a world and a schedule of the user's | [`install`], [`StepPhase`] |
//! | bodies | [`RigidBody`], [`Collider`], [`Pose`], [`Twist`], [`Mass`], [`Material`]; all components are siblings of these |
//! | joints, motors, limits | [`Joint`], [`JointForces`] |
//! | forces | [`Wrench`], [`BodyForces`], [`ForceLaw`] |
//! | what a step did | [`StepReport`], [`Contacts`], [`StepEvents`] |
//! | rays, casts, overlaps | [`Queries`], [`SpatialQuery`] |
//! | save, resume, roll back, fork | [`Snapshot`], [`Rollback`] |
//! | scenes as data | [`scene`], [`Scene`], [`SceneRun`] |
//! | the contact problem of a step, and solvers for others | [`Simulation::problem`], [`solvers`] |
//! | a step without an entity-component system | [`StepState`] |
//!
//! Units are SI, angles radians, coordinates those of the inertial frame unless a field says otherwise; `Twist::angular` is in the
//! frame of the body. Features: `toml` reads scenes from TOML files, `obj` meshes from Wavefront files.

#![forbid(unsafe_code)]

mod bodies;
mod components;
mod detection;
mod ecs;
mod error;
mod forces;
mod interactions;
mod joints;
mod math;
mod motion;
mod query;
mod results;
pub mod scene;
mod settings;
mod snapshot;
mod step;

pub use bodies::plain::Body;
pub use components::{
    BodyForces, BodyId, BreakLimit, Collider, CollisionGroups, Combine, Coupler, CouplerTerm, Drag,
    Grain, GravityScale, Joint, JointAxis, JointBroken, JointDisabled, JointForce, JointForces,
    JointFrames, JointId, JointKind, KinematicTarget, Mass, Material, MaterialName, MaterialPair,
    MaterialPairs, NoCollision, PartMaterials, PartOf, Pose, RigidBody, Sensor, Sleeping, Twist,
    Wrench,
};
pub use ecs::install::{StepOutcome, StepPhase, install, install_with};
pub use ecs::push::{add_force_at, apply_impulse};
pub use ecs::simulation::Simulation;
pub use ecs::snapshots::Restored;
pub use ecs::worlds::{Worlds, WorldsError};
pub use error::{BodyError, InteractionError, JointError, PairError, SettingsError, StepError};
pub use forces::law::{BodyState, ForceError, ForceJacobians, ForceLaw};
pub use forces::linear::LinearForce;
pub use forces::point_spring::PointSpring;
pub use interactions::edit::{Interaction, InteractionIndex, Interactions};
pub use interactions::law::InteractionLaw;
pub use interactions::warm_start::{StoredImpulse, WarmStart};
pub use joints::{CouplerSpec, JointReaction, JointSpec};
pub use math::rotation;
pub use math::spatial_order::spatial_order;
pub use motion::scheme::{Approach, BodyAtStart, BodySolved, FreeMotion, NormalLaw, Scheme};
pub use query::{Found, Queries, QueryError, QueryFilter, SpatialQuery};
pub use results::contact_view::{ContactStatus, ContactView, ContactViews, Contacts};
pub use results::energy::EnergyLedger;
pub use results::events::{ContactEvent, Edge, SensorEvent, SleepEvent, StepEvents};
pub use results::report::{StepReport, StepStatus, StepTiming};
pub use scene::{
    MotionPath, Scene, SceneCoupler, SceneCouplerTerm, SceneError, SceneJoint, SceneMotion,
    SceneRun, SceneWarning,
};
pub use settings::{
    Accuracy, Activation, Advanced, DelassusForm, JointOrder, Projection, RotationUpdate, Settings,
    SleepSettings, Theta,
};
pub use snapshot::Snapshot;
pub use snapshot::error::SnapshotError;
pub use snapshot::rollback::Rollback;
pub use step::StepState;
pub use step::moreau_jean::MoreauJean;
pub use step::threads::Threads;

pub use bevy_ecs;
pub use glam;
pub use moreau_geometry as geometry;
pub use moreau_solvers as solvers;

/// What most programs need.
pub mod prelude {
    pub use crate::{
        Accuracy, Activation, Body, BodyForces, BodyId, BodyState, BreakLimit, Collider,
        CollisionGroups, Combine, ContactEvent, ContactStatus, ContactView, Contacts, Coupler,
        CouplerSpec, CouplerTerm, Drag, Edge, EnergyLedger, ForceError, ForceJacobians, ForceLaw,
        Grain, GravityScale, Interaction, InteractionLaw, Interactions, Joint, JointAxis,
        JointBroken, JointDisabled, JointForce, JointForces, JointFrames, JointId, JointKind,
        JointReaction, JointSpec, KinematicTarget, LinearForce, Mass, Material, MaterialName,
        MaterialPair, MaterialPairs, NoCollision, PairError, PartMaterials, PartOf, PointSpring,
        Pose, Restored, RigidBody, Rollback, Scene, SceneRun, Sensor, SensorEvent, Settings,
        Simulation, SleepEvent, SleepSettings, Sleeping, Snapshot, SnapshotError, StepError,
        StepEvents, StepOutcome, StepPhase, StepReport, StepState, StepStatus, Theta, Threads,
        Twist, Worlds, WorldsError, Wrench,
    };
    pub use crate::{Found, Queries, QueryError, QueryFilter, SpatialQuery};
    pub use bevy_ecs::entity::Entity;
    pub use glam;
    pub use glam::{DQuat, DVec3};
    pub use moreau_geometry::Shape;
    pub use moreau_geometry::query::{Inside, PointHit, Ray, RayHit, ShapeHit, Sweep};
}

/// The examples of the page run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The same.
#[cfg(doctest)]
#[doc = include_str!("../../docs/joints.md")]
struct JointsPage;

/// The same.
#[cfg(doctest)]
#[doc = include_str!("../../docs/forces.md")]
struct ForcesPage;

/// The same.
#[cfg(doctest)]
#[doc = include_str!("../../docs/events.md")]
struct EventsPage;

/// The same.
#[cfg(doctest)]
#[doc = include_str!("../../docs/queries.md")]
struct QueriesPage;

/// The same.
#[cfg(doctest)]
#[doc = include_str!("../../docs/snapshots.md")]
struct SnapshotsPage;

/// The same.
#[cfg(doctest)]
#[doc = include_str!("../../docs/materials.md")]
struct MaterialsPage;
