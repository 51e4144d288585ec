//! Keeps the threads of the pool awake while many short pieces of work follow each other.
//!
//! A thread without work goes to sleep, and waking it takes as long as a part of a sweep. While a large
//! solve is going on, or the whole step that it belongs to, the other threads look for work all the time
//! instead, and leave the processor to whoever else wants it in between.

use rayon::Yield;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sets the flag when it goes, however that comes about.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Does `work`, if `shared` with as many threads of the rayon pool that the caller runs in awake as there
/// are cores. Outside a pool nothing else happens. Calls may be nested.
pub fn during<R>(shared: bool, work: impl FnOnce() -> R) -> R {
    let Some(own) = rayon::current_thread_index().filter(|_| shared) else {
        return work();
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let over = AtomicBool::new(false);
    rayon::in_place_scope(|scope| {
        // One job for each thread, which no other thread takes: the caller must not end up in one.
        scope.spawn_broadcast(|_, context| {
            if context.index() == own || context.index() >= cores {
                return;
            }
            while !over.load(Ordering::Acquire) {
                if rayon::yield_now() != Some(Yield::Executed) {
                    std::thread::yield_now();
                }
            }
        });
        let _stop = Stop(&over);
        work()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn work_is_done_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let sum = |shared| {
                during(shared, || {
                    let parts =
                        (0..100).map(|k| (0..1000_u64).into_par_iter().map(|x| x * k).sum::<u64>());
                    parts.sum::<u64>()
                })
            };
            assert_eq!(pool.install(|| sum(true)), sum(false));
            assert_eq!(sum(true), sum(false));
        }
    }
}
