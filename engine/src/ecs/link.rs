//! Which entity is which body.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;

/// The bond between the bodies of the step and the entities of the world.
#[derive(Resource, Debug)]
pub(crate) struct Link {
    /// Slots by entity index; none where there is no body.
    slots: Vec<Slot>,
    /// Entities that were bodies once and still carry the mark of a body at rest.
    pub(super) left: Vec<Entity>,
    /// The constants do not describe the world: check and rebuild at the next gather.
    pub(super) stale: bool,
    /// When the components of this step were read.
    pub(super) gathered: Tick,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            left: Vec::new(),
            stale: false,
            gathered: Tick::new(0),
        }
    }
}

impl Link {
    /// Slot of an entity in the list of the last gather.
    #[inline]
    pub(super) fn slot(&self, entity: Entity, bodies: &Bodies) -> Option<Slot> {
        let slot = *self.slots.get(entity.index_u32() as usize)?;
        (bodies.entities.get(slot.index()) == Some(&entity)).then_some(slot)
    }

    /// Takes over a new list of entities. Those that were `bodies` and are none any more are remembered.
    pub(super) fn replace(&mut self, new: &[Entity], bodies: &Bodies) {
        self.slots.clear();
        for (row, entity) in new.iter().enumerate() {
            let index = entity.index_u32() as usize;
            if self.slots.len() <= index {
                self.slots.resize(index + 1, Slot::NONE);
            }
            self.slots[index] = Slot::new(row);
        }
        let stays = |entity: Entity| {
            let slot = self.slots.get(entity.index_u32() as usize);
            slot.is_some_and(|slot| new.get(slot.index()) == Some(&entity))
        };
        let gone = bodies.entities.iter().filter(|body| !stays(**body));
        self.left.extend(gone);
    }
}
