//! The contact engine [Moreau](moreau) as a plugin for Bevy 0.20.
//!
//! ```
//! use bevy_app::prelude::*;
//! use bevy_moreau::prelude::*;
//! use bevy_time::TimePlugin;
//! use bevy_transform::prelude::*;
//!
//! let mut app = App::new();
//! app.add_plugins((TimePlugin, TransformPlugin, MoreauPlugin::default()));
//! app.world_mut().spawn((RigidBody::Static, Collider::half_space(DVec3::Y)));
//! app.world_mut().spawn((RigidBody::Dynamic, Collider::sphere(0.5), Transform::from_xyz(0.0, 3.0, 0.0)));
//! app.update();
//! ```
//!
//! | what | where |
//! |---|---|
//! | the plugin: a step in each run of the fixed loop | [`MoreauPlugin`], [`MoreauSystems`], [`MoreauStep`] |
//! | what is shown | `Transform`, between two steps: [`Interpolation`], [`NoInterpolation`] |
//! | what a step began and ended, as messages and for observers | [`ContactBegan`], [`ContactEnded`], [`SensorEntered`], [`SensorLeft`], [`FellAsleep`], [`Woke`], [`JointBroke`] |
//! | what was refused | [`PhysicsError`] |
//! | layers, locked axes | [`Layers`], [`LockedAxes`] |
//! | impulses and forces at a point | [`BodyCommands`] |
//! | save and restore | [`snapshot()`], [`push_snapshot`], [`moreau::Snapshot::restore`] |
//! | lines to look at | [`DrawingPlugin`] with the feature `gizmos`; [`Picture`] for whatever else draws |
//!
//! Transforms, child colliders, parents, scale and the rest: `docs/bevy.md` of the repository.
#![forbid(unsafe_code)]

mod commands;
mod compound;
mod drawing;
mod error;
mod events;
mod frame;
mod gizmos;
mod layers;
mod locks;
mod parts;
mod plugin;
mod read;
mod reflection;
mod saves;
mod sensors;
mod shown;
mod step;
mod wire;
mod write;

pub use commands::BodyCommands;
pub use drawing::{Drawing, Line, Picture, Rgba};
pub use error::PhysicsError;
pub use events::{
    ContactBegan, ContactEnded, FellAsleep, JointBroke, SensorEntered, SensorLeft, Woke,
};
pub use gizmos::DrawingPlugin;
pub use layers::Layers;
pub use locks::LockedAxes;
pub use moreau;
pub use plugin::MoreauPlugin;
pub use saves::{push_snapshot, snapshot};
pub use shown::{Interpolation, NoInterpolation};
pub use step::{MoreauStep, MoreauSystems};

/// What most apps need: that of the engine, and what the plugin adds.
pub mod prelude {
    pub use crate::{
        BodyCommands, ContactBegan, ContactEnded, Drawing, DrawingPlugin, FellAsleep,
        Interpolation, JointBroke, Layers, LockedAxes, MoreauPlugin, MoreauStep, MoreauSystems,
        NoInterpolation, PhysicsError, SensorEntered, SensorLeft, Woke,
    };
    pub use moreau::prelude::*;
}

/// The example of the page runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/bevy.md")]
struct BevyPage;
