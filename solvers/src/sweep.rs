//! Gauss–Seidel sweeps over stored blocks or over the bodies' twists, and their acceleration.

pub mod acceleration;
pub(crate) mod explicit_sweep;
pub(crate) mod lane_sweep;

pub(crate) mod general;

mod ball_lanes;
mod manifold_lanes;
mod members;
mod prefetch;
mod rows;
mod slabs;
mod sums;
mod transpose;
mod unit;
