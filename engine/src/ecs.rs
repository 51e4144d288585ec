//! The step in an ECS: components in, components out.

mod gather;
pub(crate) mod install;
mod link;
pub(crate) mod simulation;
mod state_hash;
