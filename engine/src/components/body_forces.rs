//! Forces on a body that depend on its state.

use super::notices::lost;
use crate::forces::law::ForceLaw;
use bevy_ecs::prelude::*;
use std::sync::Arc;

/// Forces that act on a dynamic body in every step, as laws of its state: springs, dampers, attractions. They are taken implicitly.
///
/// Two lists are the same if they share their laws: what a law refers to beside its arguments must not change while it is in use. To change a force, put another list on
/// the body.
#[derive(Component, Clone, Debug, Default)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(opaque, bevy_ecs::reflect::Component, bevy_reflect::prelude::Default)
)]
#[component(summary_tick, on_remove = lost)]
pub struct BodyForces(pub Vec<Arc<dyn ForceLaw>>);

impl BodyForces {
    /// One force.
    #[must_use]
    pub fn new(law: impl ForceLaw) -> Self {
        Self(vec![Arc::new(law)])
    }

    /// The same with one force more.
    #[must_use]
    pub fn and(mut self, law: impl ForceLaw) -> Self {
        self.0.push(Arc::new(law));
        self
    }

    /// None of them depends on the time.
    pub(crate) fn are_steady(&self) -> bool {
        self.0.iter().all(|law| law.is_steady())
    }
}

/// They share their laws.
impl PartialEq for BodyForces {
    fn eq(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && pairs.into_iter().all(|(a, b)| Arc::ptr_eq(a, b))
    }
}
