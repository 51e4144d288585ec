//! Names for the bits of collision groups.

use moreau::CollisionGroups;
use std::ops::BitOr;

/// A set of layers, out of 32: names for the bits of [`CollisionGroups`].
///
/// ```
/// use bevy_moreau::prelude::*;
///
/// const WALLS: Layers = Layers::nth::<0>();
/// const PLAYERS: Layers = Layers::nth::<1>();
/// const GHOSTS: Layers = Layers::nth::<2>();
///
/// // A ghost is one, and meets players: walls let it through.
/// let ghost: CollisionGroups = GHOSTS.meeting(PLAYERS);
/// let player: CollisionGroups = PLAYERS.meeting(Layers::ALL);
/// assert!(ghost.meets(player) && !ghost.meets(WALLS.meeting(Layers::ALL)));
/// assert!(!ghost.meets(GHOSTS.meeting(PLAYERS | WALLS)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layers(u32);

impl Layers {
    /// No layer.
    pub const NONE: Self = Self(0);
    /// Every layer.
    pub const ALL: Self = Self(u32::MAX);

    /// The layer of this number, of 0 to 31: others do not compile.
    #[must_use]
    pub const fn nth<const N: u32>() -> Self {
        const { assert!(N < u32::BITS, "there are 32 layers") };
        Self(1 << N)
    }

    /// Of a set of bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// These and those: `|` for constants.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// All but these.
    #[must_use]
    pub const fn others(self) -> Self {
        Self(!self.0)
    }

    /// The groups of a body that is in these layers and meets bodies in those, if they meet it.
    #[must_use]
    pub const fn meeting(self, met: Self) -> CollisionGroups {
        CollisionGroups {
            memberships: self.0,
            mask: met.0,
        }
    }
}

impl BitOr for Layers {
    type Output = Self;

    fn bitor(self, others: Self) -> Self {
        self.and(others)
    }
}
