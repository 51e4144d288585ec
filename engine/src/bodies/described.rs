//! What the bodies are, as the last image of the world describes them.

use crate::snapshot::substance::Matter;
use bevy_ecs::change_detection::Tick;
use std::sync::{Arc, Mutex};

/// A description of the bodies, and when it was that of the world.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) since: Tick,
    pub(crate) matter: Arc<Matter>,
}

/// The last one, until the list of bodies is made anew. Images are taken of a world that others may read.
#[derive(Debug, Default)]
pub(crate) struct LastDescribed(Mutex<Option<Described>>);

impl LastDescribed {
    pub(crate) fn get(&self) -> Option<Described> {
        self.0.lock().ok()?.clone()
    }

    pub(crate) fn set(&self, described: Described) {
        if let Ok(mut last) = self.0.lock() {
            *last = Some(described);
        }
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}
