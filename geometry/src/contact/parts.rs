//! Which parts of compounds a contact is between: a field of its feature.
//!
//! ```text
//! bits 63..52   part of A, from 1 on; 0 if A is no compound
//! bits 51..40   part of B
//! bits 39..0    number of the point on these two
//! ```
//!
//! Features of pairs without a compound are numbers of 64 bits.

/// Bits of the number of a part.
const BITS: u32 = 12;
/// Bits of the number of the point.
const POINT: u32 = 64 - 2 * BITS;

/// Parts of a compound that features tell apart; those beyond count as the last of them.
pub(super) const MOST: usize = (1 << BITS) - 1;

/// The field of a part, by its place in the compound.
pub(super) fn of_part(place: usize, of_b: bool) -> u64 {
    let number = (place + 1).min(MOST) as u64;
    number << if of_b { POINT } else { POINT + BITS }
}

/// The feature of a point between parts.
pub(super) fn with_parts(parts: u64, feature: u64) -> u64 {
    if parts == 0 {
        feature
    } else {
        parts | feature >> (2 * BITS)
    }
}

/// The places of the parts of A and B in their compounds, of a feature that has this field.
pub(super) fn places(feature: u64) -> [Option<usize>; 2] {
    let of = |shift: u32| {
        let number = (feature >> shift) as usize & MOST;
        number.checked_sub(1)
    };
    [of(POINT + BITS), of(POINT)]
}
