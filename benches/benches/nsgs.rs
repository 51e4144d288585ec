//! One Gauss–Seidel sweep on the problems of real steps. Criterion's throughput counts contacts:
//! the time per element is the time per contact and sweep (packing and two certificates over
//! [`SWEEPS`] sweeps included).

#![expect(clippy::unwrap_used, reason = "a bench that cannot run may panic")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use moreau::solvers::{Goal, Momentum, Nsgs, NsgsSettings, rows_of_mut};
use moreau_benches::CASES;

/// Sweeps of one measured solve; enough to make packing small.
const SWEEPS: usize = 100;

fn sweep(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sweep");
    group
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_secs(1));
    for case in CASES {
        let run = case.prepare(1).unwrap();
        let problem = run.simulation.problem().unwrap();
        group.throughput(Throughput::Elements(
            (problem.contacts.len() * SWEEPS) as u64,
        ));
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            // A tolerance out of reach: every solve makes all its sweeps.
            let mut solver = Nsgs::new(NsgsSettings {
                min_sweeps: SWEEPS,
                parallel_from: 0,
                max_sweeps: SWEEPS,
                momentum: Momentum {
                    rises: false,
                    turns_after: None,
                    ..Momentum::CAPPED
                },
                ..NsgsSettings::default()
            });
            let goal = Goal::scaled(f64::MIN_POSITIVE);
            let mut twist = Vec::new();
            group.bench_function(case.name(threads), |bencher| {
                bencher.iter(|| {
                    let mut impulse = run.simulation.impulses().to_vec();
                    pool.install(|| {
                        solver.solve_factored(
                            &problem,
                            rows_of_mut(&mut impulse),
                            &mut twist,
                            &goal,
                        )
                    })
                    .unwrap()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, sweep);
criterion_main!(benches);
