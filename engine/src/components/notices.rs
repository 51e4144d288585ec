//! What the hooks of components leave for the next gather.

use super::BodyId;
use bevy_ecs::prelude::*;

/// The letter box of the step. In the world from the installation on.
#[derive(Resource, Debug, Default)]
pub(crate) struct Notices {
    /// Above every id that was ever in use.
    pub(crate) next_id: u64,
    /// Entities whose [`Sleeping`](crate::Sleeping) was inserted or removed since the last step.
    pub(crate) sleep_touched: Vec<Entity>,
    /// A collider was taken off: its body is in the same columns as before but for this one, and no tick
    /// tells.
    pub(crate) shape_lost: bool,
}

impl Notices {
    /// The id of a new body that asked for `id`: itself, or the next one above all ever in use.
    /// `None` if there is no id left.
    pub(crate) fn take_id(&mut self, id: BodyId) -> Option<BodyId> {
        let taken = if id == BodyId::UNASSIGNED {
            BodyId(self.next_id)
        } else {
            id
        };
        let next = taken.0.checked_add(1)?;
        self.next_id = self.next_id.max(next);
        Some(taken)
    }
}
