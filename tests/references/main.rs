//! Trajectories of the engine beside those of Siconos, which implements the same scheme.
//!
//! The tables stand in `shared/references/siconos` beside the checkout; without them these tests say so
//! and pass. With the sources' rules (forecast activation, θ = ½) the schemes are the same and trajectories agree to
//! rounding; where the schemes differ the difference is stated and bounded by its order. References with joints are of a scheme that the engine
//! does not have: test programs of it ([`scheme`], [`slider_crank`]) follow them with the project's solvers, and the engine is compared with exact motions.

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
