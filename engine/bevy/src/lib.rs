#![doc = include_str!("../../../docs/bevy.md")]
#![forbid(unsafe_code)]

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
mod sensors;
mod shown;
mod step;
mod wire;
mod write;

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
pub use shown::{Interpolation, NoInterpolation};
pub use step::{MoreauStep, MoreauSystems};

/// What most apps need: that of the engine, and what the plugin adds.
pub mod prelude {
    pub use crate::{
        ContactBegan, ContactEnded, Drawing, DrawingPlugin, FellAsleep, Interpolation, JointBroke,
        Layers, LockedAxes, MoreauPlugin, MoreauStep, MoreauSystems, NoInterpolation, PhysicsError,
        SensorEntered, SensorLeft, Woke,
    };
    pub use moreau::prelude::*;
}
