//! The threads that a step runs on.

use crate::error::{SettingsError, StepError};
use moreau_solvers::awake;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;

/// Where a step finds its threads. Results do not depend on it.
///
/// By default each simulation has a pool of its own, of the size in [`Settings::threads`](crate::Settings::threads), from its
/// first step on that is large enough to be shared out. Many simulations in one process better share one:
///
/// ```
/// use moreau::prelude::*;
/// let threads = Threads::shared(2)?;
/// let simulations = (0..64).map(|_| Simulation::with_threads(Settings::default(), threads.clone()));
/// assert_eq!(simulations.filter(Result::is_ok).count(), 64);
/// # Ok::<(), StepError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Threads(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    /// Not started yet.
    #[default]
    Own,
    /// Started for this number of threads in the settings.
    Started(usize, Arc<ThreadPool>),
    Shared(Arc<ThreadPool>),
    Caller,
}

impl Threads {
    /// The largest number of threads. More is a slip of the hand, and a system that stands still.
    pub const MOST: usize = 1024;

    /// A pool of the simulation's own.
    #[must_use]
    pub fn own() -> Self {
        Self::default()
    }

    /// A pool for all simulations that are given a clone of this; 0 threads is one a core.
    ///
    /// # Errors
    /// [`StepError::Settings`] for more than [`Threads::MOST`], [`StepError::Threads`] if the system does not start them.
    pub fn shared(threads: usize) -> Result<Self, StepError> {
        Ok(Self(Source::Shared(start(threads)?)))
    }

    /// A pool that exists already.
    #[must_use]
    pub fn of_pool(pool: Arc<ThreadPool>) -> Self {
        Self(Source::Shared(pool))
    }

    /// No threads but those of the rayon pool that the caller of the step runs in, if it does.
    #[must_use]
    pub fn of_caller() -> Self {
        Self(Source::Caller)
    }

    /// The pool, once it is started.
    #[must_use]
    pub fn pool(&self) -> Option<&Arc<ThreadPool>> {
        match &self.0 {
            Source::Own | Source::Caller => None,
            Source::Started(_, pool) | Source::Shared(pool) => Some(pool),
        }
    }

    /// The same threads, or a pool of this size where none is started yet; none if the system does not start it.
    pub(crate) fn started(&self, threads: usize) -> Self {
        let mut own = self.clone();
        match own.start(threads) {
            Ok(()) => own,
            Err(_) => self.clone(),
        }
    }

    /// A pool of the simulation's own has `threads` threads from now on.
    pub(crate) fn start(&mut self, threads: usize) -> Result<(), StepError> {
        match &self.0 {
            Source::Shared(_) | Source::Caller => return Ok(()),
            Source::Started(size, _) if *size == threads => return Ok(()),
            Source::Started(..) | Source::Own => {}
        }
        // The thread of the caller is one already.
        self.0 = match threads {
            1 => Source::Own,
            _ => Source::Started(threads, start(threads)?),
        };
        Ok(())
    }

    /// Runs `work` with the pool as the current one if it is `worth` it: handing work over wakes
    /// threads, which takes longer than a small step. Outside a pool nothing is shared.
    pub(crate) fn run<R: Send>(&self, worth: bool, work: impl FnOnce() -> R + Send) -> R {
        match self.pool() {
            Some(pool) if worth && pool.current_num_threads() > 1 => pool.install(work),
            _ => work(),
        }
    }

    /// Runs `work` in the pool, and nowhere else, be it of one thread: what is shared out outside of one goes to the pool of the process.
    pub(crate) fn run_within<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.pool() {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Runs a whole step or a phase, `worth` it as in [`Self::run`], on one thread of the pool. In a pool of the
    /// simulation's own the others look for work from its beginning to its end. Within such a run it is the work alone.
    pub(crate) fn run_awake<R: Send>(&self, worth: bool, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Source::Started(_, pool) if pool.current_thread_index().is_none() => {
                self.run(worth, || awake::during(worth, work))
            }
            Source::Shared(_) => self.run(worth, work),
            _ => work(),
        }
    }
}

/// Refuses more than [`Threads::MOST`].
pub(crate) fn check_number(threads: usize) -> Result<(), SettingsError> {
    if threads <= Threads::MOST {
        return Ok(());
    }
    Err(SettingsError {
        field: "threads",
        value: threads as f64,
        bound: "in [0, 1024]",
    })
}

fn start(threads: usize) -> Result<Arc<ThreadPool>, StepError> {
    check_number(threads)?;
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Arc::new).map_err(|error| StepError::Threads {
        threads,
        reason: error.to_string(),
    })
}
