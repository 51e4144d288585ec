//! From the plant of a step back to the components: the only place that writes them.

use super::Plant;
use super::link::Level;
use crate::integrator::Integrator;
use crate::interaction::{Outcome, Previous, Reaction};
use bevy_ecs::prelude::*;

impl Plant {
    /// Writes states, reactions and outcomes.
    pub(crate) fn commit(self, world: &mut World) {
        let outcomes: Vec<Outcome> = (0..self.links.len()).map(|k| self.outcome(k)).collect();
        for (link, outcome) in self.links.iter().zip(outcomes) {
            write(world, link.entity, outcome);
        }
        for block in self.blocks {
            if let Integrator::SchatzmanPaoli(_) = block.integrator {
                write(world, block.entity, Previous(block.start.q().to_vec()));
            }
            write(world, block.entity, block.state);
            write(world, block.entity, Reaction(block.reaction));
        }
    }

    fn outcome(&self, index: usize) -> Outcome {
        let link = &self.links[index];
        let rate = match link.level {
            Level::Value { .. } => Vec::new(),
            _ => {
                let end = link.end_point(&self.blocks, self.at);
                link.rate(&end, link.blocks.iter().map(|j| self.blocks[*j].state.v()))
                    .to_vec()
            }
        };
        let lambda = if link.active {
            link.lambda.clone()
        } else {
            vec![0.0; link.rows()]
        };
        Outcome {
            active: link.active,
            closed: link.closed,
            output: link.law_output(&self.blocks, self.at).to_vec(),
            rate,
            lambda,
            correction: link.correction.clone(),
        }
    }
}

/// Overwrites a component, or inserts it.
fn write<C: Component<Mutability = bevy_ecs::component::Mutable>>(
    world: &mut World,
    entity: Entity,
    component: C,
) {
    match world.get_mut::<C>(entity) {
        Some(mut old) => *old = component,
        None => {
            world.entity_mut(entity).insert(component);
        }
    }
}
