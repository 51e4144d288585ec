//! Free motion, broad phase and narrow phase, as the step itself times them.

use criterion::{Criterion, criterion_group, criterion_main};
use moreau_benches::{CASES, phase};

fn detection(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("detection");
    group.sample_size(10);
    for case in CASES {
        for threads in [1, 2] {
            let mut run = case.prepare(threads).unwrap();
            group.bench_function(case.name(threads), |bencher| {
                bencher.iter_custom(|iterations| {
                    (0..iterations)
                        .map(|_| phase(&run.step().unwrap(), |t| t.ms_detect))
                        .sum()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, detection);
criterion_main!(benches);
