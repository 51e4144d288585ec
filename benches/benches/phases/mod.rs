//! One phase of the steps of all cases, as the step itself times it.

use criterion::Criterion;
use moreau::{SceneError, StepTiming};
use moreau_benches::{CASES, phase};
use std::time::Duration;

/// Benches one phase of the steps of all [`CASES`] on one and two threads.
///
/// # Errors
/// As `Case::prepare`.
pub(crate) fn bench_phase(
    criterion: &mut Criterion,
    name: &str,
    part: fn(&StepTiming) -> f64,
) -> Result<(), SceneError> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    for case in CASES {
        for threads in [1, 2] {
            let mut run = case.prepare(threads)?;
            let mut failed = None;
            group.bench_function(case.name(threads), |bencher| {
                bencher.iter_custom(|iterations| {
                    let mut time = Duration::ZERO;
                    for _ in 0..iterations {
                        match run.step() {
                            Ok(report) => time += phase(&report, part),
                            Err(error) => failed = Some(error),
                        }
                    }
                    time
                });
            });
            if let Some(error) = failed {
                return Err(error);
            }
        }
    }
    group.finish();
    Ok(())
}
