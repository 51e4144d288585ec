//! Index set, frames, laws and warm start.

#![expect(clippy::unwrap_used, reason = "a bench that cannot run may panic")]

mod phases;

use criterion::{Criterion, criterion_group, criterion_main};

fn assembly(criterion: &mut Criterion) {
    phases::bench_phase(criterion, "assembly", |t| t.ms_assemble).unwrap();
}

criterion_group!(benches, assembly);
criterion_main!(benches);
