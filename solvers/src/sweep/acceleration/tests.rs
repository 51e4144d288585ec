use super::*;

/// Sweeps whose corrections make a given angle with the steps of the iterates, and whose result is a
/// solution from the first on.
struct Steady {
    cosine: f64,
    change: f64,
}

impl Relaxation for Steady {
    fn check_after(&self, _: usize) -> usize {
        CHECK_EVERY
    }
    fn is_empty(&self) -> bool {
        false
    }
    fn sweep(&mut self, _: Stride) -> SweepSums {
        let change = self.change * self.change;
        SweepSums {
            uphill: -self.cosine * change,
            change,
            step: change,
            size: 1.0,
            ..SweepSums::default()
        }
    }
    fn residual(&mut self) -> Residual {
        Residual::default()
    }
    fn residual_of(&mut self, _: &[DVec3]) -> Residual {
        Residual::default()
    }
    fn impulse(&self) -> &[DVec3] {
        &[]
    }
    fn restart(&mut self, _: &[DVec3]) {}
}

#[test]
fn sweeps_that_keep_their_direction_get_a_reserve_unless_they_change_next_to_nothing() {
    let goal = crate::Goal::scaled(1e-3);
    let settings = NsgsSettings {
        min_sweeps: 8,
        ..NsgsSettings::default()
    };
    // The residual that a change points to is about half of it.
    let cases = [
        (0.95, 1e-4, 16),
        (0.95, 6e-4, 20),
        (0.6, 6e-4, 8),
        (0.95, 1e-6, 8),
    ];
    for (cosine, change, sweeps) in cases {
        let mut history = crate::History::default();
        let mut best = Vec::new();
        let mut progress = Progress::new(&goal, &mut history, &mut best, &[]);
        run(&mut Steady { cosine, change }, &settings, &mut progress);
        assert_eq!(progress.report.iterations, sweeps, "{cosine} {change}");
    }
}

#[test]
fn momentum_is_at_its_cap_after_two_sweeps() {
    let mut sequence = Sequence::new(Momentum::CAPPED, true);
    let mut betas = [0.0; 4];
    for beta in &mut betas {
        *beta = sequence.beta;
        sequence.advance(&SweepSums::default());
    }
    // What the first sweep corrects says nothing of the next one.
    assert_eq!(betas[..2], [0.0; 2]);
    assert!(betas[2..].iter().all(|beta| (beta - 0.8).abs() <= 0.02));
}

#[test]
fn momentum_passes_the_cap_only_while_sweeps_keep_their_direction() {
    let along = |cosine: f64| SweepSums {
        uphill: -cosine,
        change: 1.0,
        step: 1.0,
        ..SweepSums::default()
    };
    let cap = Momentum::CAPPED.cap;
    let mut sequence = Sequence::new(Momentum::CAPPED, true);
    for _ in 0..200 {
        sequence.advance(&along(0.95));
    }
    assert!(sequence.beta > 0.98);
    sequence.advance(&along(0.8));
    assert_eq!(sequence.beta.to_bits(), cap.to_bits());
    for _ in 0..20 {
        sequence.advance(&along(0.8));
        assert!(sequence.beta <= cap);
    }
    let mut fixed = Sequence::new(
        Momentum {
            rises: false,
            ..Momentum::CAPPED
        },
        true,
    );
    for _ in 0..200 {
        fixed.advance(&along(1.0));
    }
    assert_eq!(fixed.beta.to_bits(), cap.to_bits());
}
