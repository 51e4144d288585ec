//! The step in an ECS: components in, components out.

mod capture;
mod check;
mod gather;
mod incomplete;
pub(crate) mod install;
mod joints;
mod kick;
mod link;
mod machines;
pub(crate) mod push;
mod recapture;
mod restore;
mod scatter;
pub(crate) mod simulation;
pub(crate) mod snapshots;
mod state_hash;
pub(crate) mod worlds;
