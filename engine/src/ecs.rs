//! The step in an ECS: components in, components out.

mod gather;
mod incomplete;
pub(crate) mod install;
mod joints;
mod link;
mod scatter;
pub(crate) mod simulation;
mod state_hash;
pub(crate) mod worlds;
