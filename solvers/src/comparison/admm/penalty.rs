//! The penalty `ρ`: balances the two residuals of the splitting, and comes to rest.

/// Largest and smallest `ρ`. Blocks of the scaled `W` have mean diagonal 1: beyond these, `W` or
/// `ρI` is lost in the rounding of the sum.
const RANGE: [f64; 2] = [1e-10, 1e10];

/// `ρ` and its history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Penalty {
    rho: f64,
    balance: f64,
    /// Iterations since the last change, and the least number between two changes.
    age: usize,
    patience: usize,
    /// The last change was upwards; none before the first.
    last_up: Option<bool>,
}

impl Penalty {
    pub(super) fn new(rho: f64, balance: f64) -> Self {
        let usable = rho.is_finite() && rho > 0.0;
        Self {
            rho: if usable { rho } else { 1.0 }.clamp(RANGE[0], RANGE[1]),
            balance,
            age: 0,
            patience: 0,
            last_up: None,
        }
    }

    pub(super) fn value(&self) -> f64 {
        self.rho
    }

    pub(super) fn double(&mut self) {
        self.rho *= 2.0;
    }

    /// After `iterations` more: the factor by which `ρ` has changed, if it has.
    pub(super) fn advance(&mut self, primal: f64, dual: f64, iterations: usize) -> Option<f64> {
        self.age += iterations;
        if self.age < self.patience {
            return None;
        }
        let up = primal > self.balance * dual;
        if !up && dual <= self.balance * primal {
            return None;
        }
        let factor = if up { 2.0 } else { 0.5 };
        let next = self.rho * factor;
        if !(RANGE[0]..=RANGE[1]).contains(&next) {
            return None;
        }
        if self.last_up == Some(!up) {
            self.patience = (2 * self.patience).max(2 * iterations);
        }
        self.age = 0;
        self.last_up = Some(up);
        self.rho = next;
        Some(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Residuals that always ask for the other direction: the changes get rarer, a logarithm of
    /// the iterations in all.
    #[test]
    fn an_oscillating_penalty_settles() {
        let mut penalty = Penalty::new(1.0, 10.0);
        let changes = (0..1000)
            .filter(|_| {
                let up = penalty.value() <= 1.0;
                let (primal, dual) = if up { (1.0, 0.01) } else { (0.01, 1.0) };
                penalty.advance(primal, dual, 10).is_some()
            })
            .count();
        assert!((5..15).contains(&changes), "{changes}");
    }

    #[test]
    fn it_stays_within_its_range() {
        let mut penalty = Penalty::new(f64::NAN, 10.0);
        for _ in 0..1000 {
            penalty.advance(1.0, 0.0, 10);
        }
        assert!(penalty.value() <= RANGE[1] && penalty.value() > 0.1 * RANGE[1]);
    }
}
