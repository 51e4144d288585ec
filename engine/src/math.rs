//! Numerics that know nothing of bodies.

pub(crate) mod chunks;
pub(crate) mod exact_sum;
pub mod rotation;
pub(crate) mod six;
pub(crate) mod spatial_order;
