//! Bad input is refused with a typed error that names the place (entity or file), the field, its value and the
//! bound; a rejected call or a failed step leaves the world as it was. Nothing panics.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its scene fails"
)]

mod bodies;
mod counted;
mod hostile;
mod missing;
mod mutated;
mod overflow;
mod scenes;
mod settings;
mod snapshots;
mod steps;
mod support;
