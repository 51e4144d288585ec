//! Same input, same bits: for any number of threads, any order of spawning the same ids, any storage of the
//! bodies, any executor of the schedule.
//!
//! No tolerance anywhere: states are compared by the hash of all their bits.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its scene fails"
)]

mod edits;
mod ids;
mod phases;
mod plain;
mod pools;
mod random_calls;
mod restored_worlds;
mod rollback;
mod scenes;
mod schedules;
mod sleeping;
mod snapshots;
mod spawn_order;
mod support;
mod threads;
mod worlds;
