//! The race of several kinds of momentum.

use super::Momentum;

/// Part of the normal corrections that are careful.
const CAREFUL: f64 = 0.4;

/// Sweeps of the first window, which most time steps do not outlast, and of the later ones.
const FIRST_WINDOW: usize = 150;
const WINDOW: usize = 400;

/// Races several kinds of momentum against each other when the first does not get there: no single one is good
/// for all problems. A window of sweeps measures the rate at which one lowers the best residual;
/// the next window goes to the one with the best last rate, those not yet tried first, unless the present one will be
/// at the goal at its rate. A new kind starts from the best iterate. Windows double when none of them gains.
///
/// Careful sweeps are for iterates that fluctuate. Where most sweeps of the first window kept their direction its kind
/// has another window instead.
pub(super) struct Race {
    kinds: [Momentum; 4],
    /// `ln(e before/e after)` a sweep in the last window of each; infinite if not yet tried.
    rate: [f64; 4],
    current: usize,
    begin: usize,
    length: usize,
    residual: f64,
    idle: usize,
    /// Sweeps that kept their direction.
    aligned: usize,
    enabled: bool,
}

impl Race {
    pub(super) fn new(momentum: Momentum) -> Self {
        Self {
            kinds: [
                momentum,
                Momentum {
                    normal: CAREFUL,
                    ..momentum
                },
                Momentum::NONE,
                Momentum::NESTEROV,
            ],
            rate: [f64::INFINITY; 4],
            current: 0,
            begin: 0,
            length: FIRST_WINDOW,
            residual: f64::INFINITY,
            idle: 0,
            aligned: 0,
            enabled: momentum.race,
        }
    }

    /// A sweep was made, which kept the direction of the iterates or did not.
    pub(super) fn saw(&mut self, aligned: bool) {
        self.aligned += usize::from(aligned);
    }

    /// The window of the present kind ends with this sweep.
    pub(super) fn is_over(&self, sweep: usize) -> bool {
        self.enabled && sweep == self.begin + self.length
    }

    /// Ends a window at the best residual `best`, relative to the goal; the kind to go on with if it is another one.
    pub(super) fn next(&mut self, sweep: usize, best: f64) -> Option<Momentum> {
        let first = self.residual.is_infinite();
        if first && 3 * self.aligned > 2 * self.length {
            // Slow modes, which careful sweeps would leave slower and hide from the residual: more of the same instead.
            self.kinds[1].normal = self.kinds[0].normal;
        }
        let gain = libm::log(self.residual / best).max(0.0) / self.length as f64;
        // Nothing to compare the first window with: it ranks behind the kinds not yet tried.
        self.rate[self.current] = if first { 0.0 } else { gain };
        self.idle = if gain > 0.0 { 0 } else { self.idle + 1 };
        self.residual = best;
        self.begin = sweep;
        self.length = if self.idle > self.kinds.len() {
            2 * self.length
        } else {
            WINDOW.max(self.length / 2)
        };
        // At this rate the next window reaches the goal: keep this kind.
        if !first && libm::log(best) <= gain * self.length as f64 {
            return None;
        }
        let previous = self.current;
        // Ties go round: the first after the present one.
        for step in 1..=self.kinds.len() {
            let candidate = (previous + step) % self.kinds.len();
            if step == 1 || self.rate[candidate] > self.rate[self.current] {
                self.current = candidate;
            }
        }
        (self.current != previous).then_some(self.kinds[self.current])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn race_tries_every_kind_and_goes_on_with_the_fastest() {
        let mut race = Race::new(Momentum::CAPPED);
        let kinds = race.kinds;
        let mut sweep = race.length;
        assert!(race.is_over(sweep));
        assert_eq!(race.next(sweep, 1e6), Some(kinds[1]));
        sweep += race.length;
        assert_eq!(race.next(sweep, 1e5), Some(kinds[2])); // fast, but one is untried
        sweep += race.length;
        assert_eq!(race.next(sweep, 9e4), Some(kinds[3])); // and another one
        sweep += race.length;
        assert_eq!(race.next(sweep, 8e4), Some(kinds[1])); // back to the fast one
        sweep += race.length;
        assert_eq!(race.next(sweep, 1e4), None);
    }

    #[test]
    fn a_kind_that_will_reach_the_goal_keeps_its_turn() {
        let after = |best: f64| {
            let mut race = Race::new(Momentum::CAPPED);
            race.next(FIRST_WINDOW, 4.0);
            race.next(FIRST_WINDOW + WINDOW, best)
        };
        // At the rate of the window the next one ends at 1.9² / 4 and 2.1² / 4.
        assert_eq!(after(1.9), None);
        assert_eq!(after(2.1), Some(Momentum::NONE));
    }

    /// Structures keep their direction in 120 and more of the first 150 sweeps, piles in less than 90.
    #[test]
    fn kinds_that_keep_their_direction_are_given_more_of_the_same() {
        let second = |aligned: usize| {
            let mut race = Race::new(Momentum::CAPPED);
            (0..FIRST_WINDOW).for_each(|sweep| race.saw(sweep < aligned));
            race.next(FIRST_WINDOW, 1e-2).map(|kind| kind.normal)
        };
        assert_eq!(second(90), Some(CAREFUL));
        assert_eq!(second(120), Some(1.0));
    }

    #[test]
    fn race_goes_round_when_none_gains() {
        let mut race = Race::new(Momentum::CAPPED);
        let (mut sweep, mut seen) = (0, Vec::new());
        for _ in 0..9 {
            sweep = race.begin + race.length;
            race.next(sweep, 10.0);
            seen.push(race.current);
        }
        assert_eq!(seen, [1, 2, 3, 0, 1, 2, 3, 0, 1]);
        assert!(race.length > WINDOW && sweep > 0);
    }
}
