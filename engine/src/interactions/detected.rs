//! A contact as detection finds it.

use super::law::InteractionLaw;
use super::record::{Earlier, OwnArms};
use crate::bodies::slot::Slot;
use glam::{BVec3, DVec3};
use moreau_geometry::ContactPoint;
use std::ops::Range;

/// A contact found by the narrow phase. Bodies are dense slots, `A < B` in the order of ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Detected {
    pub(crate) bodies: [Slot; 2],
    /// Midpoint between the surfaces, inertial frame, m.
    pub(crate) point: DVec3,
    /// Unit normal from B to A.
    pub(crate) normal: DVec3,
    /// `g_N`, m, negative in overlap.
    pub(crate) gap: f64,
    /// Names the point among those of its pair, from step to step.
    pub(crate) feature: u64,
}

impl Detected {
    /// Fills buffers that are written before they are read.
    pub(crate) const UNSET: Self = Self {
        bodies: [Slot::NONE; 2],
        point: DVec3::NAN,
        normal: DVec3::NAN,
        gap: f64::NAN,
        feature: 0,
    };

    #[inline]
    pub(crate) fn new(bodies: [Slot; 2], point: &ContactPoint) -> Self {
        Self {
            bodies,
            point: point.point,
            normal: point.normal,
            gap: point.gap,
            feature: point.feature,
        }
    }

    // Calls would return these through memory: 15 to 25 ns a contact.
    /// `ρ_A`, `ρ_B`: the point from the centres of its bodies, m.
    #[inline(always)]
    pub(crate) fn arms(&self, centres: Centres) -> [DVec3; 2] {
        let [a, b] = self.bodies;
        [
            self.arm(-1.0, centres.balls[a], centres.positions[a]),
            self.arm(1.0, centres.balls[b], centres.positions[b]),
        ]
    }

    /// Arms on which the impulse acts, m, to one point between the surfaces: it divides the gap like the masses. Where the bodies will touch, the arm of
    /// each ends on its own surface, and from the middle of a gap that is many radii wide friction would turn a ball by as much too far.
    /// One point gives no moment to both together; what is fixed, or far heavier, does not feel where it is.
    #[inline(always)]
    pub(crate) fn acting_arms(&self, centres: Centres) -> [DVec3; 2] {
        let [a, b] = self.bodies;
        let inverse_masses = [a, b].map(|slot| centres.inverse_mass[slot]);
        let from_a = self.gap * part_from_a(inverse_masses);
        let point = self.point + self.normal * (0.5 * self.gap - from_a);
        let off = |slot: Slot, gap: f64| (centres.balls[slot], gap);
        [
            self.arm_to(-1.0, off(a, from_a), point - centres.positions[a]),
            self.arm_to(1.0, off(b, self.gap - from_a), point - centres.positions[b]),
        ]
    }

    /// The same for a point that need not be in the middle between surfaces.
    pub(crate) fn arms_to_point(&self, centres: Centres) -> [DVec3; 2] {
        self.bodies.map(|slot| self.point - centres.positions[slot])
    }

    /// The point from the centre of one body. The normal points to A: it is on the side −1 of A and 1 of B.
    /// A difference of coordinates has their rounding; the arm of a ball, of this radius, is known without.
    #[inline(always)]
    pub(crate) fn arm(&self, side: f64, ball: f64, centre: DVec3) -> DVec3 {
        self.arm_to(side, (ball, 0.5 * self.gap), self.point - centre)
    }

    /// The arm of a ball to a point so far off its surface, or that of another body.
    #[inline(always)]
    fn arm_to(&self, side: f64, (ball, off): (f64, f64), other: DVec3) -> DVec3 {
        let along = self.normal * (side * (ball + off));
        DVec3::select(BVec3::splat(ball > 0.0), along, other)
    }
}

/// Distance of the point on which the impulses of A and B act from the surface of A, as a part of the gap.
#[inline(always)]
pub(crate) fn part_from_a([a, b]: [f64; 2]) -> f64 {
    // Of two bodies that nothing moves no part is needed.
    b / (a + b).max(f64::MIN_POSITIVE)
}

/// A contact of bodies that have moved: with the arms at that time, and the gap that a plane there has at `t_k`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    pub(crate) contact: Detected,
    pub(crate) own: OwnArms,
    /// What a user gave it.
    pub(crate) law: Option<InteractionLaw>,
    /// What stages of the step that are over did to it.
    pub(crate) earlier: Earlier,
}

/// What the arms of contacts are measured from, by slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Centres<'a> {
    /// Centres of mass, m.
    pub(crate) positions: &'a [DVec3],
    /// Radii of balls about them, m; 0 for all other bodies.
    pub(crate) balls: &'a [f64],
    /// Of their bodies, 1/kg; 0 for what no impulse moves.
    pub(crate) inverse_mass: &'a [f64],
}

/// The first row of a pair, or where it would be, in a list that is ordered by pair, from a row on that is not after it: near by in short time.
pub(crate) fn first_row_from(found: &[Detected], mut from: usize, pair: [Slot; 2]) -> usize {
    let is_before = |place: &Detected| place.bodies < pair;
    let mut step = 1;
    while found.get(from + step).is_some_and(is_before) {
        from += step;
        step *= 2;
    }
    let end = found.len().min(from + step);
    from + found[from..end].partition_point(is_before)
}

/// All rows of the pair of this one.
pub(crate) fn rows_around(found: &[Detected], row: usize) -> Range<usize> {
    let is_of_pair = |place: &&Detected| place.bodies == found[row].bodies;
    let before = found[..row].iter().rev().take_while(is_of_pair).count();
    let after = found[row..].iter().take_while(is_of_pair).count();
    row - before..row + after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_pair_are_found_from_any_row_before_them() {
        let place = |a: u32, b: u32| Detected {
            bodies: [Slot(a), Slot(b)],
            point: DVec3::ZERO,
            normal: DVec3::Z,
            gap: 0.0,
            feature: 0,
        };
        // Pairs (a, b) with one to four rows, some left out.
        let pairs = (0..40).flat_map(|a| (a + 1..a + 4).map(move |b| (a, b)));
        let pairs = pairs.filter(|(a, b)| (3 * a + b) % 5 != 0);
        let rows = pairs.flat_map(|(a, b)| (0..1 + (a + b) % 4).map(move |_| place(a, b)));
        let found: Vec<_> = rows.collect();
        for a in 0..40 {
            for b in a + 1..a + 4 {
                let pair = [Slot(a), Slot(b)];
                let first = found.partition_point(|place| place.bodies < pair);
                for from in 0..=first {
                    assert_eq!(first_row_from(&found, from, pair), first);
                }
            }
        }
        for (row, place) in found.iter().enumerate() {
            let first = found.partition_point(|other| other.bodies < place.bodies);
            let end = found.partition_point(|other| other.bodies <= place.bodies);
            assert_eq!(rows_around(&found, row), first..end);
        }
        assert_eq!(first_row_from(&[], 0, [Slot(0), Slot(1)]), 0);
    }
}
