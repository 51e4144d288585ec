//! What decides which pairs a body belongs to, besides its extent.

use crate::bodies::constants::BodyConstants;
use crate::components::CollisionGroups;
use moreau_geometry::Geometry;

/// A copy to compare with: whether the pairs of a body must be found anew.
#[derive(Default)]
pub(super) struct Outline {
    geometry: Option<Geometry>,
    groups: CollisionGroups,
    dynamic: bool,
}

impl Outline {
    pub(super) fn of(body: &BodyConstants) -> Self {
        Self {
            geometry: body.geometry.clone(),
            groups: body.groups,
            dynamic: body.is_dynamic(),
        }
    }

    pub(super) fn is_of(&self, body: &BodyConstants) -> bool {
        self.groups == body.groups
            && self.dynamic == body.is_dynamic()
            && self.geometry == body.geometry
    }

    /// The two bodies may touch: one of them is dynamic, and their groups allow it.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        (self.dynamic || other.dynamic) && self.groups.meets(other.groups)
    }
}
