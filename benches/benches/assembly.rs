//! Index set, frames, laws and warm start, as the step itself times them.

use criterion::{Criterion, criterion_group, criterion_main};
use moreau_benches::{CASES, phase};

fn assembly(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("assembly");
    group.sample_size(10);
    for case in CASES {
        for threads in [1, 2] {
            let mut run = case.prepare(threads).unwrap();
            group.bench_function(case.name(threads), |bencher| {
                bencher.iter_custom(|iterations| {
                    (0..iterations)
                        .map(|_| phase(&run.step().unwrap(), |t| t.ms_assemble))
                        .sum()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, assembly);
criterion_main!(benches);
