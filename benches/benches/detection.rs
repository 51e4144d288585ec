//! Free motion, broad phase and narrow phase.

#![expect(clippy::unwrap_used, reason = "a bench that cannot run may panic")]

mod phases;

use criterion::{Criterion, criterion_group, criterion_main};

fn detection(criterion: &mut Criterion) {
    phases::bench_phase(criterion, "detection", |t| t.ms_detect).unwrap();
}

criterion_group!(benches, detection);
criterion_main!(benches);
