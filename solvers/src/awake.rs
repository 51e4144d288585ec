//! Keeps the threads of the pool awake while many short pieces of work follow each other.
//!
//! A thread without work goes to sleep, and waking it takes as long as a part of a sweep. While a large
//! solve is going on, or the whole step that it belongs to, the other threads look for work all the time
//! instead, and leave the processor to whoever else wants it in between.

use rayon::Yield;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Sets the flag when it goes, however that comes about.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The gate is closed; below it the number of threads that came.
const CLOSED: usize = 1 << (usize::BITS - 1);
/// Times that the caller looks whether all threads have come: those that sleep take as long to wake.
const PATIENCE: usize = 200;

/// Cores of this process. The system is asked once: on Linux it reads several files for an answer, a tenth of a
/// millisecond each time.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Does `work`, if `shared` with as many threads of the rayon pool that the caller runs in awake as there
/// are cores. Outside a pool nothing else happens. Calls may be nested.
///
/// A thread that waits for a part of `work` which another one took does any job in the meantime. Had it yet to begin
/// to stay awake, that job would be to stay awake until `work` ends, on top of a part of `work`, which then never does.
/// Hence the gate: threads stay awake if they come before `work` begins, or not at all.
pub fn during<R>(shared: bool, work: impl FnOnce() -> R) -> R {
    let Some(own) = rayon::current_thread_index().filter(|_| shared) else {
        return work();
    };
    let cores = cores();
    let others = cores.min(rayon::current_num_threads()) - usize::from(own < cores);
    let (gate, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    rayon::in_place_scope(|scope| {
        // One job for each thread, which no other thread takes: the caller must not end up in one.
        scope.spawn_broadcast(|_, context| {
            if context.index() == own || context.index() >= cores {
                return;
            }
            if gate.fetch_add(1, Ordering::AcqRel) & CLOSED != 0 {
                return;
            }
            while !over.load(Ordering::Acquire) {
                if rayon::yield_now() != Some(Yield::Executed) {
                    std::thread::yield_now();
                }
            }
        });
        let _stop = Stop(&over);
        for _ in 0..PATIENCE {
            if gate.load(Ordering::Acquire) >= others {
                break;
            }
            std::thread::yield_now();
        }
        gate.fetch_or(CLOSED, Ordering::AcqRel);
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

    /// Waiting for a part that another thread took, on top of staying awake and the other way round. A failure is
    /// a test that does not end: without the gate it stops within some thousand rounds on two cores.
    #[test]
    fn many_short_pieces_come_to_an_end() {
        for threads in [2, 4] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let sum = || (0..64_u32).into_par_iter().with_max_len(1).sum::<u32>();
            pool.install(|| {
                for _ in 0..10_000 {
                    let both = during(true, || sum() + during(true, sum));
                    assert_eq!(both, 2 * 2016);
                }
            });
        }
    }
}
