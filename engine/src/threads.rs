//! The threads that a step runs on.

use crate::error::StepError;
use bevy_ecs::prelude::*;
use moreau_solvers::awake;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// A pool of the size that the settings ask for, started when it is first needed.
#[derive(Resource, Clone, Default)]
pub(crate) struct Threads {
    pool: Option<(usize, Arc<ThreadPool>)>,
}

impl Threads {
    /// Makes the pool have `threads` threads; 0 is one a core.
    pub(crate) fn resize(&mut self, threads: usize) -> Result<(), StepError> {
        if self.pool.as_ref().is_some_and(|(size, _)| *size == threads) {
            return Ok(());
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| StepError::Threads {
                threads,
                reason: error.to_string(),
            })?;
        self.pool = Some((threads, Arc::new(pool)));
        Ok(())
    }

    /// Runs `work` with the pool as the current one if it is `worth` it: handing work over wakes
    /// threads, which takes longer than a small step. Outside a pool nothing is shared.
    pub(crate) fn run<R: Send>(&self, worth: bool, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some((_, pool)) if worth && pool.current_num_threads() > 1 => pool.install(work),
            _ => work(),
        }
    }

    /// Runs a whole step, `worth` it as in [`Self::run`]: on one thread of the pool, with the others looking
    /// for work from its beginning to its end.
    pub(crate) fn run_step(&self, worth: bool, step: impl FnOnce() + Send) {
        self.run(worth, || awake::during(worth, step));
    }
}
