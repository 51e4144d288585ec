//! Forces of users on bodies, and what they do in the step.

use super::Bodies;
use super::slot::Slot;
use crate::components::{BodyForces, Wrench};
use crate::error::BodyError;

/// The forces of all bodies that have some.
#[derive(Debug, Default)]
pub(crate) struct UserForces {
    /// Ascending.
    pub(crate) laws: Vec<(Slot, BodyForces)>,
    /// What they do in the step, as a mean over it, by slot; no entries without forces.
    pub(crate) mean: Vec<Wrench>,
    /// By slot: where the step takes them with θ = 1, how much heavier than 1 they make the body in the direction in which they hold it most; 0 elsewhere.
    pub(crate) stiff: Vec<f64>,
}

impl UserForces {
    /// Others from now on.
    pub(crate) fn replace(&mut self, laws: Vec<(Slot, BodyForces)>, bodies: usize) {
        let count = if laws.is_empty() { 0 } else { bodies };
        self.laws = laws;
        self.mean.clear();
        self.mean.resize(count, Wrench::default());
        self.stiff.clear();
        self.stiff.resize(count, 0.0);
    }

    /// The step takes those of a body with θ = 1.
    #[inline]
    pub(crate) fn is_stiff(&self, slot: Slot) -> bool {
        self.heavier(slot) > 1.0
    }

    /// How heavy stiff forces make a body where they hold it most, over its mass.
    #[inline]
    pub(crate) fn heavier(&self, slot: Slot) -> f64 {
        let stiff = self.stiff.get(slot.index());
        1.0 + stiff.copied().unwrap_or(0.0)
    }
}

impl Bodies {
    /// What acts on a body in the step: its wrench, and its forces.
    #[inline]
    pub(crate) fn acting(&self, slot: Slot) -> Wrench {
        let own = self.wrench[slot];
        match self.user_forces.mean.get(slot.index()) {
            None => own,
            Some(mean) => Wrench {
                force: own.force + mean.force,
                moment: own.moment + mean.moment,
                ..own
            },
        }
    }

    /// The way of a body through the step is that of θ = 1, since its forces are stiff.
    #[inline]
    pub(crate) fn is_stiff(&self, slot: Slot) -> bool {
        self.user_forces.is_stiff(slot)
    }

    /// Nothing acts on a body that could change while it sleeps.
    pub(crate) fn is_left_alone(&self, slot: Slot) -> bool {
        self.wrench[slot] == Wrench::default()
            && self.forces_of(slot).is_none_or(BodyForces::are_steady)
    }

    pub(crate) fn forces_of(&self, slot: Slot) -> Option<&BodyForces> {
        forces_of(&self.user_forces.laws, slot)
    }
}

/// The forces of a body, in a list that is ascending.
pub(crate) fn forces_of(list: &[(Slot, BodyForces)], slot: Slot) -> Option<&BodyForces> {
    let found = list.binary_search_by_key(&slot, |(own, _)| *own);
    found.ok().map(|place| &list[place].1)
}

/// Every one of them can be computed with.
pub(crate) fn check_forces(forces: Option<&BodyForces>) -> Result<(), BodyError> {
    let laws = forces.into_iter().flat_map(|forces| forces.0.iter());
    for (index, law) in laws.enumerate() {
        law.check()
            .map_err(|source| BodyError::Force { index, source })?;
    }
    Ok(())
}
