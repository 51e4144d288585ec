//! Trajectories of the engine beside those of Siconos, which implements the same scheme.
//!
//! The tables stand in `shared/references/siconos` beside the checkout; without them these tests say so
//! and pass. With the sources' rules (forecast activation, θ = ½) the schemes are the same and trajectories agree to
//! rounding; where the schemes differ the difference is stated and bounded by its order.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a reference that cannot be read fails, an absent folder is printed"
)]

mod adams;
mod ball_friction;
mod bouncing_ball;
mod exact_joints;
mod free_body;
mod gmp;
mod joints;
mod mixed;
mod scheme;
mod slider_crank;
mod slider_crank_bodies;
mod table;
