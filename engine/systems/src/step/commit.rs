//! From the plant of a step back to the components: the only place that writes them.

use super::Plant;
use super::gather::Gather;
use super::link::Link;
use crate::algebra::fill;
use crate::integrator::Integrator;
use crate::interaction::{Outcome, Previous, Reaction};
use crate::system::state::State;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;

/// What is written of a system.
pub(crate) type EndOfSystem = (
    Entity,
    &'static mut State,
    Option<&'static mut Reaction>,
    Option<&'static mut Previous>,
);

/// What is written of an interaction.
pub(crate) type EndOfInteraction = (Entity, &'static mut Outcome);

impl Gather {
    /// Writes states, reactions and outcomes, and notes when.
    pub(crate) fn commit(&mut self, plant: &mut Plant, world: &mut World) {
        plant.kept.committed = Some(world.change_tick());
        if !self.write_in_order(plant, world) {
            plant.commit(world);
        }
        // What is changed from here on is changed later.
        world.increment_change_tick();
    }

    /// In the order in which the world has them; false if that is another than it was or a component is not there.
    fn write_in_order(&mut self, plant: &Plant, world: &mut World) -> bool {
        let mut known = plant.kept.systems.iter();
        for (entity, mut state, reaction, previous) in self.ends_of_systems.iter_mut(world) {
            let (Some(own), Some(mut reaction)) = (known.next(), reaction) else {
                return false;
            };
            if own.entity != entity {
                return false;
            }
            let block = &plant.blocks[own.place];
            state.copy_from(&block.state);
            fill(&mut reaction.0, &block.reaction);
            if let Integrator::SchatzmanPaoli(_) = block.integrator {
                let Some(mut previous) = previous else {
                    return false;
                };
                fill(&mut previous.0, block.start.q());
            }
        }
        let is_whole = known.next().is_none();
        let mut known = plant.kept.interactions.iter();
        for (entity, mut outcome) in self.ends_of_interactions.iter_mut(world) {
            match known.next() {
                Some(own) if own.entity == entity => plant.links[own.place].write(&mut outcome),
                _ => return false,
            }
        }
        is_whole && known.next().is_none()
    }
}

impl Plant {
    /// Writes states, reactions and outcomes.
    pub(crate) fn commit(&mut self, world: &mut World) {
        if !self.is_noted {
            self.note_ends();
        }
        for link in &self.links {
            write(world, link.entity, |outcome: &mut Outcome| {
                link.write(outcome)
            });
        }
        for block in &self.blocks {
            if let Integrator::SchatzmanPaoli(_) = block.integrator {
                let q = block.start.q();
                write(world, block.entity, |previous: &mut Previous| {
                    fill(&mut previous.0, q)
                });
            }
            match world.get_mut::<State>(block.entity) {
                Some(mut state) => state.copy_from(&block.state),
                None => drop(world.entity_mut(block.entity).insert(block.state.clone())),
            }
            let acts = &block.reaction;
            write(world, block.entity, |reaction: &mut Reaction| {
                fill(&mut reaction.0, acts)
            });
        }
    }
}

impl Link {
    fn write(&self, outcome: &mut Outcome) {
        (outcome.active, outcome.closed) = (self.active, self.closed);
        fill(&mut outcome.output, &self.end_output);
        fill(&mut outcome.rate, &self.end_rate);
        fill(&mut outcome.lambda, &self.lambda);
        if !self.active {
            outcome.lambda.fill(0.0);
        }
        fill(&mut outcome.correction, &self.correction);
        match &self.half {
            Some(half) => fill(&mut outcome.force, &half.force),
            None => outcome.force.clear(),
        }
    }
}

/// Changes a component, or inserts it.
fn write<C: Component<Mutability = Mutable> + Default>(
    world: &mut World,
    entity: Entity,
    change: impl FnOnce(&mut C),
) {
    match world.get_mut::<C>(entity) {
        Some(mut component) => change(&mut component),
        None => {
            let mut component = C::default();
            change(&mut component);
            world.entity_mut(entity).insert(component);
        }
    }
}
