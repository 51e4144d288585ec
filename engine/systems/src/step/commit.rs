//! From the plant of a step back to the components: the only place that writes them.

use super::Plant;
use super::block::Block;
use super::link::{Level, Link};
use super::scheme::Instant;
use crate::integrator::Integrator;
use crate::interaction::{Outcome, Previous, Reaction};
use crate::system::state::State;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;

impl Plant {
    /// Writes states, reactions and outcomes.
    pub(crate) fn commit(&self, world: &mut World) {
        for link in &self.links {
            write(world, link.entity, |outcome: &mut Outcome| {
                link.write(&self.blocks, self.at, outcome);
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
    fn write(&self, blocks: &[Block], at: Instant, outcome: &mut Outcome) {
        (outcome.active, outcome.closed) = (self.active, self.closed);
        fill(&mut outcome.output, &self.law_output(blocks, at));
        outcome.rate.clear();
        if !matches!(self.level, Level::Value { .. }) {
            let v = self.blocks.iter().map(|j| blocks[*j].state.v());
            outcome
                .rate
                .extend(self.rate(&self.end_point(blocks, at), v));
        }
        fill(&mut outcome.lambda, &self.lambda);
        if !self.active {
            outcome.lambda.fill(0.0);
        }
        fill(&mut outcome.correction, &self.correction);
    }
}

fn fill(vector: &mut Vec<f64>, with: &[f64]) {
    vector.clear();
    vector.extend_from_slice(with);
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
