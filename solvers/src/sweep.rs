//! Gauss–Seidel sweeps over stored blocks or over the bodies' twists, and their acceleration.

pub mod acceleration;
pub mod colouring;
pub mod options;

pub(crate) mod explicit_sweep;
pub(crate) mod fixed_point;
pub(crate) mod joint_block;
pub(crate) mod twist_sweep;
