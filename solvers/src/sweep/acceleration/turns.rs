//! Careful sweeps and sweeps without a cap take turns where the first sweeps do not get there.

use super::Momentum;

/// Part of the normal corrections that are careful. With De Saxcé's shift held at the value of the last sweep, the exact solve of
/// a sliding contact of two equal balls makes `a/(a + b μ²)` of its normal correction, `W = diag(a, b, b)` and `b = 3.5 a`: 0.53 at
/// μ = 0.5, 0.31 at 0.8.
pub(super) const CAREFUL: f64 = 0.4;

/// Who sweeps. A kind goes on as long as it halves the best residual within a turn; the next one starts from the best iterate.
/// Turns double, so that a kind that needs long gets there, and no more than a fixed share of all sweeps is lost to the other.
pub(super) struct Turns {
    kinds: [Momentum; 3],
    current: usize,
    end: usize,
    length: usize,
    /// Best residual when the turn began.
    before: f64,
    /// Sweeps that kept their direction.
    aligned: usize,
}

impl Turns {
    pub(super) fn new(first: Momentum) -> Self {
        let length = first.turns_after.unwrap_or(usize::MAX);
        Self {
            kinds: [first, first.careful(), Momentum::NESTEROV],
            current: 0,
            end: length,
            length,
            before: f64::INFINITY,
            aligned: 0,
        }
    }

    /// A sweep was made, which kept the direction of the iterates or did not.
    pub(super) fn saw(&mut self, aligned: bool) {
        self.aligned += usize::from(aligned);
    }

    /// There are turns, and less than two thirds of the first sweeps kept their direction: what is left is not slow, and careful sweeps may do better.
    pub(super) fn are_hopeful(&self, sweep: usize) -> bool {
        self.length < usize::MAX && 3 * self.aligned <= 2 * sweep
    }

    /// The turn ends with this sweep.
    pub(super) fn is_over(&self, sweep: usize) -> bool {
        sweep == self.end
    }

    /// Ends a turn at the best residual `best`: the kind to go on with if it is another one. The second turn is not one of careful
    /// sweeps if two thirds of the first sweeps kept their direction: what is left is slow then, and careful sweeps would be slower
    /// and hide it from the residual.
    pub(super) fn next(&mut self, sweep: usize, best: f64) -> Option<Momentum> {
        if !self.is_over(sweep) {
            return None;
        }
        let halved = best <= 0.5 * self.before;
        let next = match self.current {
            0 if self.are_hopeful(sweep) => 1,
            0 => 2,
            current if halved => current,
            current => 3 - current,
        };
        self.length *= 2;
        self.end = sweep + self.length;
        self.before = best;
        let changed = next != self.current;
        self.current = next;
        changed.then_some(self.kinds[next])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_first_turn(aligned: usize, best: f64) -> (Turns, Option<Momentum>) {
        let mut turns = Turns::new(Momentum::CAPPED);
        let length = turns.length;
        (0..length).for_each(|sweep| turns.saw(sweep < aligned));
        assert!(turns.next(length - 1, best).is_none());
        let next = turns.next(length, best);
        (turns, next)
    }

    /// Structures keep their direction in 120 and more of the first 150 sweeps, piles in less than 90.
    #[test]
    fn careful_sweeps_come_second_unless_most_sweeps_kept_their_direction() {
        assert_eq!(
            after_first_turn(90, 10.0).1.map(|kind| kind.normal),
            Some(CAREFUL)
        );
        assert_eq!(after_first_turn(120, 10.0).1, Some(Momentum::NESTEROV));
    }

    #[test]
    fn a_kind_goes_on_while_it_halves_the_residual_in_turns_that_double() {
        let (mut turns, _) = after_first_turn(90, 10.0);
        assert_eq!(turns.next(450, 5.0), None);
        assert!(!turns.is_over(1_049));
        assert_eq!(turns.next(1_050, 3.0), Some(Momentum::NESTEROV));
        assert_eq!(
            turns.next(2_250, 2.9).map(|kind| kind.normal),
            Some(CAREFUL)
        );
    }

    /// In a pile other sweeps may do better than the rate says, in structures they do not.
    #[test]
    fn there_is_hope_where_sweeps_do_not_keep_their_direction() {
        let seen = |first: Momentum, aligned: usize| {
            let mut turns = Turns::new(first);
            (0..100).for_each(|sweep| turns.saw(sweep < aligned));
            turns.are_hopeful(100)
        };
        assert!(seen(Momentum::CAPPED, 60));
        assert!(!seen(Momentum::CAPPED, 80));
        assert!(!seen(Momentum::NESTEROV, 0));
    }

    #[test]
    fn without_turns_the_first_kind_goes_on() {
        let mut turns = Turns::new(Momentum::NESTEROV);
        assert!((1..100_000).all(|sweep| turns.next(sweep, 10.0).is_none()));
    }
}
