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
}
