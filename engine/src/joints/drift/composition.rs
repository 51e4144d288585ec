//! Steps of fourth order, made of steps of second order.
//!
//! The scheme of a part is symmetric: its error has odd powers of `h` alone. Parts of the lengths
//!
//! ```text
//! w h, w h, (1 − 4 w) h, w h, w h,     w = 1/(4 − 4^(1/3))
//! ```
//!
//! one after the other, the third backwards, have `Σ w_i = 1` and `Σ w_i³ = 0`, and so the order four [Suzuki90; Hairer06, II.4]; they are symmetric again, keep
//! momenta, and their energy does not drift.

use crate::settings::JointOrder;

/// `w`.
const OUTER: f64 = 0.414_490_771_794_375_74;

/// Lengths of the pieces of a part, as parts of it.
pub(super) fn pieces(order: JointOrder) -> &'static [f64] {
    match order {
        JointOrder::Second => &[1.0],
        JointOrder::Fourth => &[OUTER, OUTER, 1.0 - 4.0 * OUTER, OUTER, OUTER],
    }
}

/// Times as many parts at most as were too few: errors far beyond what is allowed do not follow the order yet.
const MOST_FINER: f64 = 8.0;
/// Beyond what the order asks for: the next parts are not too few by next to nothing, and energies swing by no more than they did with parts that doubled.
const SPARE: f64 = 1.25;

/// How many parts leave no more of an error than is allowed, if `parts` left `excess` times that: what a step leaves goes with the order.
pub(super) fn finer(parts: usize, excess: f64, order: JointOrder) -> usize {
    let root = match order {
        JointOrder::Second => excess.sqrt(),
        JointOrder::Fourth => excess.sqrt().sqrt(),
    };
    // An error that is not finite asks for the most.
    let factor = (SPARE * root).min(MOST_FINER);
    ((parts as f64 * factor).ceil() as usize).max(parts + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_the_whole_and_their_cubes_are_nothing() {
        let pieces = pieces(JointOrder::Fourth);
        assert!((pieces.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        let cubes: f64 = pieces.iter().map(|piece| piece * piece * piece).sum();
        assert!(cubes.abs() < 1e-15, "{cubes:e}");
    }

    #[test]
    fn errors_of_an_order_ask_for_parts_by_its_root() {
        assert_eq!(finer(1, 16.0, JointOrder::Second), 5);
        assert_eq!(finer(2, 16.0, JointOrder::Fourth), 5);
        assert_eq!(finer(4, 1.0, JointOrder::Second), 5);
        assert_eq!(finer(1, f64::NAN, JointOrder::Second), 8);
        assert_eq!(finer(3, f64::INFINITY, JointOrder::Fourth), 24);
    }
}
