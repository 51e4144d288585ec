//! Numerics that know nothing of bodies.

pub(crate) mod chunks;
pub mod rotation;
pub(crate) mod six;
pub(crate) mod spatial_order;
