//! Questions about the bodies of a world: against a look at every body, after changes of every kind, on any number of threads.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its scene fails"
)]

mod answers;
mod bits;
mod changes;
mod filters;
mod refused;
mod support;
mod systems;
