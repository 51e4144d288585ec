#![doc = include_str!("../../README.md")]
#![forbid(unsafe_code)]

mod assembly;
mod bodies;
mod body;
mod body_check;
mod chunks;
mod clock;
mod collider;
mod compact;
mod contact_view;
mod detection;
mod error;
#[cfg(test)]
mod footprint;
mod free_motion;
mod gather;
mod index_set;
mod islands;
mod ledger;
mod mass;
mod material;
mod momentum;
mod moreau_jean;
mod motion;
mod overflow;
mod projection;
mod report;
pub mod rotation;
pub mod scene;
mod settings;
mod simulation;
mod sleeping;
mod spatial_order;
mod state_hash;
mod step;
mod threads;
mod wrench;

pub use body::{BodyId, CollisionGroups, Pose, RigidBody, Twist};
pub use collider::Collider;
pub use contact_view::{ContactStatus, ContactView, ContactViews, Contacts};
pub use error::{BodyError, SettingsError, StepError};
pub use ledger::EnergyLedger;
pub use mass::Mass;
pub use material::{Combine, Material};
pub use report::{StepReport, StepTiming};
pub use scene::{Scene, SceneError, SceneRun};
pub use settings::{
    Accuracy, Activation, DelassusForm, Projection, RotationUpdate, Settings, SleepSettings,
    SolverOverrides, Theta,
};
pub use simulation::Simulation;
pub use sleeping::Sleeping;
pub use spatial_order::spatial_order;
pub use step::{StepOutcome, StepPhase, install};
pub use wrench::Wrench;

pub use glam;
pub use moreau_geometry as geometry;
pub use moreau_solvers as solvers;

/// What most programs need.
pub mod prelude {
    pub use crate::{
        Accuracy, Activation, BodyId, Collider, CollisionGroups, Combine, ContactStatus,
        ContactView, Contacts, EnergyLedger, Mass, Material, Pose, RigidBody, Scene, SceneRun,
        Settings, Simulation, SleepSettings, Sleeping, StepError, StepOutcome, StepPhase,
        StepReport, Theta, Twist, Wrench,
    };
    pub use glam;
    pub use glam::{DQuat, DVec3};
    pub use moreau_geometry::Shape;
}
