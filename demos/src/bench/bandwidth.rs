//! How fast memory is: the triad `a ← b + s c` over arrays that no cache holds.

use crate::failure::Failure;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;

/// Numbers in each of the three arrays: 128 MiB.
const LENGTH: usize = 1 << 24;
/// Bytes of all three arrays.
pub(super) const BYTES: usize = 3 * LENGTH * size_of::<f64>();
/// The fastest of so many passes counts.
const PASSES: usize = 8;

/// Bytes a second, read and written, for each of the numbers of threads. Lines that are read only
/// because they are about to be written do not count.
pub(super) fn triad(threads: &[usize]) -> Result<Vec<f64>, Failure> {
    let (b, c) = (vec![1.0_f64; LENGTH], vec![2.0_f64; LENGTH]);
    let mut a = vec![0.5_f64; LENGTH];
    let mut speeds = Vec::new();
    for &count in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build()?;
        let chunk = LENGTH.div_ceil(count);
        let mut least = f64::INFINITY;
        for _ in 0..PASSES {
            let scale = black_box(3.0);
            let started = Instant::now();
            pool.install(|| {
                a.par_chunks_mut(chunk)
                    .zip(b.par_chunks(chunk).zip(c.par_chunks(chunk)))
                    .for_each(|(a, (b, c))| {
                        for (a, (b, c)) in a.iter_mut().zip(b.iter().zip(c)) {
                            *a = b + scale * c;
                        }
                    });
            });
            least = least.min(started.elapsed().as_secs_f64());
            black_box(&a);
        }
        speeds.push(BYTES as f64 / least);
    }
    Ok(speeds)
}
