//! The plant of the step before, where it is still that of the world: components are compared by when they were changed.

use super::{Gather, before_the_start, places};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::Integrator;
use crate::interaction::{Joins, Outcome, Previous, Reaction, SpawnId};
use crate::law::NonsmoothLaw;
use crate::relation::Relation;
use crate::report::StepReport;
use crate::step::Plant;
use crate::step::block::Block;
use crate::step::check::check_state;
use crate::step::link::Link;
use crate::step::scheme::Instant;
use crate::substeps::Substeps;
use crate::system::System;
use crate::system::state::State;
use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;

/// What makes a system what it is, its state, and what is remembered of it.
pub(super) type NowOfSystem = (
    Entity,
    (
        Option<Ref<'static, SpawnId>>,
        Ref<'static, System>,
        Option<Ref<'static, Integrator>>,
        Option<Ref<'static, Substeps>>,
    ),
    Option<Ref<'static, State>>,
    Option<Ref<'static, Reaction>>,
    Option<&'static Previous>,
);

/// The same of an interaction.
pub(super) type NowOfInteraction = (
    Entity,
    (
        Option<Ref<'static, SpawnId>>,
        Ref<'static, Joins>,
        Option<Ref<'static, Relation>>,
        Option<Ref<'static, NonsmoothLaw>>,
    ),
    Option<Ref<'static, Outcome>>,
);

/// What the plant was made of, in the order in which the world has it, and when each part of it was changed last. Times are compared for being the same and not
/// for being later, so that they may come round.
#[derive(Default)]
pub(crate) struct Kept {
    pub(in crate::step) systems: Vec<Known<4>>,
    pub(in crate::step) interactions: Vec<Known<4>>,
    /// When states and outcomes were written by the step.
    pub(in crate::step) committed: Option<Tick>,
}

/// An entity, its place in the plant, and when its parts were changed.
pub(in crate::step) struct Known<const N: usize> {
    pub(in crate::step) entity: Entity,
    pub(in crate::step) place: usize,
    changed: [Tick; N],
}

/// When a component was changed.
fn tick<T: Component>(part: Option<&Ref<T>>) -> Option<Tick> {
    part.map(DetectChanges::last_changed)
}

type Parts<'a> = (
    Option<Ref<'a, SpawnId>>,
    Ref<'a, System>,
    Option<Ref<'a, Integrator>>,
    Option<Ref<'a, Substeps>>,
);

fn ticks_of_system((id, system, integrator, substeps): &Parts<'_>) -> Option<[Tick; 4]> {
    Some([
        tick(id.as_ref())?,
        system.last_changed(),
        tick(integrator.as_ref())?,
        // What is not there has never changed.
        tick(substeps.as_ref()).unwrap_or(Tick::new(0)),
    ])
}

type PartsOfInteraction<'a> = (
    Option<Ref<'a, SpawnId>>,
    Ref<'a, Joins>,
    Option<Ref<'a, Relation>>,
    Option<Ref<'a, NonsmoothLaw>>,
);

fn ticks_of_interaction((id, joins, relation, law): &PartsOfInteraction<'_>) -> Option<[Tick; 4]> {
    Some([
        tick(id.as_ref())?,
        joins.last_changed(),
        tick(relation.as_ref())?,
        tick(law.as_ref())?,
    ])
}

impl Gather {
    /// The plant of the step from `t_k`: that of the step before, with the states of now, if it is still the one of the world.
    pub(crate) fn again(
        &mut self,
        world: &mut World,
        old: Option<Box<Plant>>,
        at: Instant,
    ) -> Result<Box<Plant>, SystemsError> {
        if let Some(mut plant) = old
            && self.read(world, &mut plant, at)?
        {
            return Ok(plant);
        }
        let mut plant = self.plant(world, at)?;
        self.remember(world, &mut plant);
        // Removals that were seen need not be kept.
        world.clear_trackers();
        Ok(Box::new(plant))
    }

    /// Notes what the plant was made of.
    fn remember(&mut self, world: &World, plant: &mut Plant) {
        let places = places(&plant.blocks);
        self.now_of_systems.update_archetypes(world);
        for (entity, parts, ..) in self.now_of_systems.iter_manual(world) {
            let place = places.binary_search_by_key(&entity, |(entity, _)| *entity);
            if let (Some(changed), Ok(k)) = (ticks_of_system(&parts), place) {
                plant.kept.systems.push(Known {
                    entity,
                    place: places[k].1,
                    changed,
                });
            }
        }
        let links = plant.links.iter().enumerate();
        let mut places: Vec<_> = links.map(|(k, link)| (link.entity, k)).collect();
        places.sort_unstable();
        self.now_of_interactions.update_archetypes(world);
        for (entity, parts, _) in self.now_of_interactions.iter_manual(world) {
            let place = places.binary_search_by_key(&entity, |(entity, _)| *entity);
            if let (Some(changed), Ok(k)) = (ticks_of_interaction(&parts), place) {
                plant.kept.interactions.push(Known {
                    entity,
                    place: places[k].1,
                    changed,
                });
            }
        }
    }

    /// Takes the states and outcomes of now; false if anything but these was spawned, despawned or replaced since the plant was made.
    fn read(
        &mut self,
        world: &World,
        plant: &mut Plant,
        at: Instant,
    ) -> Result<bool, SystemsError> {
        (plant.at, plant.report) = (at, StepReport::default());
        let kept = &plant.kept;
        let mut known = kept.systems.iter();
        self.now_of_systems.update_archetypes(world);
        for (entity, parts, state, reaction, previous) in self.now_of_systems.iter_manual(world) {
            let (Some(own), Some(state)) = (known.next(), state) else {
                return Ok(false);
            };
            if own.entity != entity || ticks_of_system(&parts) != Some(own.changed) {
                return Ok(false);
            }
            let block = &mut plant.blocks[own.place];
            block.is_edited = Some(state.last_changed()) != kept.committed;
            block
                .read(&state, reaction.as_deref(), previous, at)
                .map_err(block.named())?;
        }
        let is_whole = known.next().is_none();
        let mut known = kept.interactions.iter();
        self.now_of_interactions.update_archetypes(world);
        for (entity, parts, outcome) in self.now_of_interactions.iter_manual(world) {
            let (Some(own), Some(outcome)) = (known.next(), outcome) else {
                return Ok(false);
            };
            if own.entity != entity || ticks_of_interaction(&parts) != Some(own.changed) {
                return Ok(false);
            }
            let is_as_left = Some(outcome.last_changed()) == kept.committed;
            let link = &mut plant.links[own.place];
            link.read(&outcome, is_as_left).map_err(link.named())?;
        }
        Ok(is_whole && known.next().is_none())
    }
}

impl Block {
    /// Takes the state of now, and what is remembered.
    fn read(
        &mut self,
        state: &State,
        reaction: Option<&Reaction>,
        previous: Option<&Previous>,
        at: Instant,
    ) -> Result<(), FieldError> {
        if self.is_edited {
            check_state(&self.system, state)?;
            self.start.copy_from(state);
        } else {
            // The states are of one kind and size: the old start is overwritten by the first iterate.
            std::mem::swap(&mut self.start, &mut self.state);
        }
        match self.integrator {
            Integrator::EulerMoreau(scheme) if scheme.remembers() => {
                let n = self.size();
                match reaction.filter(|reaction| reaction.0.len() == n) {
                    Some(reaction) => {
                        expect_finite("reaction", &reaction.0)?;
                        self.reaction_before.copy_from_slice(&reaction.0);
                    }
                    None => self.reaction_before.fill(0.0),
                }
            }
            Integrator::SchatzmanPaoli(_) => {
                let n = self.size();
                match previous.filter(|previous| previous.0.len() == n) {
                    Some(previous) => {
                        expect_finite("previous", &previous.0)?;
                        self.previous.copy_from_slice(&previous.0);
                    }
                    None => {
                        self.previous = before_the_start(state, at.h / f64::from(self.substeps))
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Link {
    /// Takes what the step before, or the user, says of it.
    fn read(&mut self, outcome: &Outcome, is_as_left: bool) -> Result<(), FieldError> {
        if is_as_left {
            self.go_on();
        } else {
            expect_finite("lambda", &outcome.lambda)?;
            self.was_closed = outcome.closed;
            if outcome.active && outcome.lambda.len() == self.lambda.len() {
                self.lambda.copy_from_slice(&outcome.lambda);
            } else {
                self.lambda.fill(0.0);
            }
        }
        (self.active, self.closed) = (false, false);
        self.correction.fill(0.0);
        Ok(())
    }

    /// The end of a step is the start of the next one.
    pub(in crate::step) fn go_on(&mut self) {
        self.was_closed = self.closed;
        if !self.active {
            self.lambda.fill(0.0);
        }
        (self.active, self.closed) = (false, false);
        self.correction.fill(0.0);
    }
}
