//! The package beside the trajectories of Siconos, beside closed forms, and on wrong input.
//!
//! The tables stand in `shared/references/siconos` beside the checkout; without them the tests of [`references`] say so and pass. Each states the largest
//! difference to every column that it compares, and why it is not smaller.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a reference that cannot be read fails, an absent folder is printed"
)]

mod bad_input;
mod ball;
mod between;
mod bodies;
mod bodies_by_events;
mod bodies_joined;
#[cfg(feature = "rigid-bodies")]
mod bodies_of_the_engine;
mod chain;
mod circuits;
mod control;
mod control_events;
mod d1_minus;
mod edits;
mod events;
mod events_attacked;
mod events_manager;
mod global_form;
mod joins;
mod mechanisms;
mod multiple_impacts;
mod order;
mod order_of_others;
mod relations;
mod scales;
mod slider_crank;
mod sliding;
mod sparse;
mod substeps;
mod table;
mod zero_order_hold;
