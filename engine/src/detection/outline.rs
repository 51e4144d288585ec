//! What decides which pairs a body belongs to, besides its extent.

use crate::bodies::constants::BodyConstants;
use crate::components::{CollisionGroups, RigidBody};
use moreau_geometry::Geometry;

/// A copy to compare with: whether the pairs of a body must be found anew.
#[derive(Default)]
pub(super) struct Outline {
    geometry: Option<Geometry>,
    groups: CollisionGroups,
    dynamic: bool,
    moves: bool,
    sensor: bool,
}

impl Outline {
    pub(super) fn of(body: &BodyConstants) -> Self {
        Self {
            geometry: body.geometry.clone(),
            groups: body.groups,
            dynamic: body.is_dynamic(),
            moves: body.kind != RigidBody::Static,
            sensor: body.sensor,
        }
    }

    pub(super) fn is_of(&self, body: &BodyConstants) -> bool {
        self.groups == body.groups
            && self.dynamic == body.is_dynamic()
            && self.moves == (body.kind != RigidBody::Static)
            && self.sensor == body.sensor
            && self.geometry == body.geometry
    }

    /// The two bodies may touch: one of them is dynamic, and their groups allow it. A sensor sees what moves, or what it moves into.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        let pushes = self.dynamic || other.dynamic;
        let moves = self.moves || other.moves;
        let is_pair = match [self.sensor, other.sensor] {
            [false, false] => pushes,
            [true, true] => false,
            _ => moves,
        };
        is_pair && self.groups.meets(other.groups)
    }
}
