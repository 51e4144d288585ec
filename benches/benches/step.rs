//! Whole steps. Beside each time: contacts, sweeps and the residual reached.

#![expect(clippy::unwrap_used, reason = "a bench that cannot run may panic")]

use criterion::{Criterion, criterion_group, criterion_main};
use moreau::prelude::StepReport;
use moreau_benches::{CASES, median, phase};
use std::time::Duration;

fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    for case in CASES {
        for threads in [1, 2] {
            let mut run = case.prepare(threads).unwrap();
            let mut reports = Vec::new();
            group.bench_function(case.name(threads), |bencher| {
                bencher.iter_custom(|iterations| {
                    let from = reports.len();
                    reports.extend((0..iterations).map(|_| run.step().unwrap()));
                    reports[from..]
                        .iter()
                        .map(|r| phase(r, |t| t.ms_total))
                        .sum()
                });
            });
            let of = |figure: fn(&StepReport) -> f64| median(reports.iter().map(figure).collect());
            eprintln!(
                "{}: {} contacts, medians: {} sweeps, {:.2} ms = {:.2} gather + {:.2} free + {:.2} detect \
                 + {:.2} assemble + {:.2} solve + {:.2} update + {:.2} commit, e_scaled {:.1e} (worst {:.1e})",
                case.name(threads),
                of(|r| r.contacts as f64),
                of(|r| r.sweeps as f64),
                of(|r| r.timing.ms_total),
                of(|r| r.timing.ms_gather),
                of(|r| r.timing.ms_free),
                of(|r| r.timing.ms_detect),
                of(|r| r.timing.ms_assemble),
                of(|r| r.timing.ms_solve),
                of(|r| r.timing.ms_update),
                of(|r| r.timing.ms_commit),
                of(|r| r.e_scaled),
                reports.iter().map(|r| r.e_scaled).fold(0.0, f64::max),
            );
        }
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
