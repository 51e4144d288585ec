//! Free motion, broad phase and narrow phase.

#![expect(
    clippy::unwrap_used,
    reason = "a bench that cannot run has nobody to report to"
)]

use criterion::{Criterion, criterion_group, criterion_main};

fn detection(criterion: &mut Criterion) {
    moreau_benches::bench_phase(criterion, "detection", |t| t.ms_detect).unwrap();
}

criterion_group!(benches, detection);
criterion_main!(benches);
