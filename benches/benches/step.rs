//! Whole steps. Beside each time: contacts, sweeps and the residual reached.

#![expect(
    clippy::unwrap_used,
    reason = "a bench that cannot run has nobody to report to"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use moreau_benches::{CASES, phase};
use std::time::Duration;

fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step");
    group.sample_size(10);
    for case in CASES {
        for threads in [1, 2] {
            let mut run = case.prepare(threads).unwrap();
            let mut worst: f64 = 0.0;
            let (mut steps, mut sweeps, mut contacts) = (0u32, 0, 0);
            group.bench_function(case.name(threads), |bencher| {
                bencher.iter_custom(|iterations| {
                    let mut time = Duration::ZERO;
                    for _ in 0..iterations {
                        let report = run.step().unwrap();
                        time += phase(&report, |t| t.ms_total);
                        worst = worst.max(report.e_scaled);
                        steps += 1;
                        sweeps += report.sweeps;
                        contacts = report.contacts;
                    }
                    time
                });
            });
            eprintln!(
                "{}: {contacts} contacts, {:.1} sweeps a step, worst e_scaled {worst:.1e}",
                case.name(threads),
                sweeps as f64 / f64::from(steps)
            );
        }
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
