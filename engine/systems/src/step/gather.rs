//! From the components of a world to the plant of a step, checked, in the order of the ids.
//!
//! The plant stays from step to step as long as nothing but states and outcomes changes; these are read in every step.

use super::Plant;
use super::block::Block;
use super::check::{check_ids, check_interaction, check_state, check_system, find};
use super::link::{Level, Link};
use super::point::Point;
use super::scheme::Instant;
use crate::algebra::{Matrix, Row, zeros};
use crate::error::{FieldError, SystemsError};
use crate::integrator::Integrator;
use crate::interaction::{Joins, Outcome, Previous, Reaction, SpawnId};
use crate::law::NonsmoothLaw;
use crate::relation::{Relation, Seen};
use crate::report::StepReport;
use crate::system::System;
use crate::system::state::State;
use bevy_ecs::prelude::*;

/// What is read of a system.
type OfSystem = (
    Entity,
    Option<&'static SpawnId>,
    &'static System,
    Option<&'static State>,
    Option<&'static Integrator>,
    Option<&'static Reaction>,
    Option<&'static Previous>,
);

/// What is read of an interaction.
type OfInteraction = (
    Entity,
    Option<&'static SpawnId>,
    &'static Joins,
    Option<&'static Relation>,
    Option<&'static NonsmoothLaw>,
    Option<&'static Outcome>,
);

/// What makes a system what it is.
type KindOfSystem = (
    Option<Ref<'static, SpawnId>>,
    Ref<'static, System>,
    Option<Ref<'static, Integrator>>,
);

/// What makes an interaction what it is.
type KindOfInteraction = (
    Option<Ref<'static, SpawnId>>,
    Ref<'static, Joins>,
    Option<Ref<'static, Relation>>,
    Option<Ref<'static, NonsmoothLaw>>,
);

/// The queries of a world, made once.
pub(crate) struct Gather {
    systems: QueryState<OfSystem>,
    interactions: QueryState<OfInteraction>,
    kinds_of_systems: QueryState<KindOfSystem>,
    kinds_of_interactions: QueryState<KindOfInteraction>,
}

impl Gather {
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            systems: world.query(),
            interactions: world.query(),
            kinds_of_systems: world.query(),
            kinds_of_interactions: world.query(),
        }
    }

    /// The plant of the step from `t_k`: that of the step before, with the states of now, if it is still the one of the world.
    pub(crate) fn again(
        &mut self,
        world: &mut World,
        old: Option<Plant>,
        at: Instant,
    ) -> Result<Plant, SystemsError> {
        if let Some(mut plant) = old
            && self.is_same(world, &plant)
            && plant.read(world, at)?
        {
            return Ok(plant);
        }
        let plant = self.plant(world, at)?;
        // From here on only what is newer counts as changed.
        world.clear_trackers();
        Ok(plant)
    }

    /// Nothing was spawned, despawned or replaced since the plant was made, but states and outcomes.
    fn is_same(&mut self, world: &World, plant: &Plant) -> bool {
        self.kinds_of_systems.update_archetypes(world);
        let mut count = 0;
        for (id, system, integrator) in self.kinds_of_systems.iter_manual(world) {
            count += 1;
            let integrator = integrator.is_none_or(|integrator| integrator.is_changed());
            let id = id.is_none_or(|id| id.is_changed());
            if id || system.is_changed() || integrator {
                return false;
            }
        }
        if count != plant.blocks.len() {
            return false;
        }
        self.kinds_of_interactions.update_archetypes(world);
        let mut count = 0;
        for (id, joins, relation, law) in self.kinds_of_interactions.iter_manual(world) {
            count += 1;
            let relation = relation.is_none_or(|relation| relation.is_changed());
            let law = law.is_none_or(|law| law.is_changed());
            let id = id.is_none_or(|id| id.is_changed());
            if id || joins.is_changed() || relation || law {
                return false;
            }
        }
        count == plant.links.len()
    }

    /// The plant of the step from `t_k`.
    pub(crate) fn plant(&mut self, world: &World, at: Instant) -> Result<Plant, SystemsError> {
        self.systems.update_archetypes(world);
        let mut systems: Vec<_> = self.systems.iter_manual(world).collect();
        systems.sort_by_key(|row| row.1);
        check_ids(systems.iter().map(|row| (row.0, row.1)))
            .map_err(|(entity, source)| SystemsError::System { entity, source })?;
        let blocks = systems.into_iter().map(
            |(entity, _, system, state, integrator, reaction, previous)| {
                let named = |source| SystemsError::System { entity, source };
                let state = state
                    .ok_or(FieldError::Missing { field: "state" })
                    .map_err(named)?;
                let missing = FieldError::Missing {
                    field: "integrator",
                };
                let integrator = integrator.ok_or(missing).map_err(named)?;
                check_system(system, state, integrator).map_err(named)?;
                let memory = [reaction.map(|r| &r.0), previous.map(|p| &p.0)];
                Ok(block(entity, system, state, *integrator, memory, at.h))
            },
        );
        let blocks = blocks.collect::<Result<Vec<Block>, SystemsError>>()?;
        // Where each system is.
        let mut places: Vec<(Entity, usize)> = blocks
            .iter()
            .enumerate()
            .map(|(j, block)| (block.entity, j))
            .collect();
        places.sort_unstable();
        self.interactions.update_archetypes(world);
        let mut interactions: Vec<_> = self.interactions.iter_manual(world).collect();
        interactions.sort_by_key(|row| row.1);
        check_ids(interactions.iter().map(|row| (row.0, row.1)))
            .map_err(|(entity, source)| SystemsError::Interaction { entity, source })?;
        let links = interactions
            .into_iter()
            .map(|(entity, _, joins, relation, law, outcome)| {
                let named = |source| SystemsError::Interaction { entity, source };
                let missing = |field| named(FieldError::Missing { field });
                let relation = relation.ok_or(missing("relation"))?;
                let law = law.ok_or(missing("law"))?;
                let joined = find(joins, &places).map_err(named)?;
                let level = check_interaction(relation, law, &joined, &blocks).map_err(named)?;
                let before = outcome.cloned().unwrap_or_default();
                Ok(link(entity, relation, law, level, joined, before))
            });
        let links = links.collect::<Result<Vec<Link>, SystemsError>>()?;
        Ok(Plant {
            at,
            blocks,
            links,
            report: StepReport::default(),
        })
    }
}

impl Plant {
    /// Takes the states and outcomes of now; false if a component is missing.
    fn read(&mut self, world: &World, at: Instant) -> Result<bool, SystemsError> {
        (self.at, self.report) = (at, StepReport::default());
        for block in &mut self.blocks {
            let Some(state) = world.get::<State>(block.entity) else {
                return Ok(false);
            };
            check_state(&block.system, state).map_err(block.named())?;
            block.start.copy_from(state);
            let fits = |memory: &&[f64]| memory.len() == block.known.len();
            let reaction = world.get::<Reaction>(block.entity).map(|r| &r.0[..]);
            match reaction.filter(fits) {
                Some(reaction) => block.reaction_before.copy_from_slice(reaction),
                None => block.reaction_before.fill(0.0),
            }
            if let Integrator::SchatzmanPaoli(_) = block.integrator {
                let previous = world.get::<Previous>(block.entity).map(|p| &p.0[..]);
                block.previous = match previous.filter(fits) {
                    Some(previous) => previous.to_vec(),
                    None => before_the_start(state, at.h),
                };
            }
        }
        for link in &mut self.links {
            let Some(outcome) = world.get::<Outcome>(link.entity) else {
                return Ok(false);
            };
            (link.active, link.closed) = (false, false);
            link.was_closed = outcome.closed;
            link.correction.fill(0.0);
            if outcome.active && outcome.lambda.len() == link.lambda.len() {
                link.lambda.copy_from_slice(&outcome.lambda);
            } else {
                link.lambda.fill(0.0);
            }
        }
        Ok(true)
    }
}

/// `q_{−1} = q_0 − h v_0`.
fn before_the_start(state: &State, h: f64) -> Vec<f64> {
    let back = |(q, v): (&f64, &f64)| q - h * v;
    state.q().iter().zip(state.v()).map(back).collect()
}

fn block(
    entity: Entity,
    system: &System,
    state: &State,
    integrator: Integrator,
    [reaction, previous]: [Option<&Vec<f64>>; 2],
    h: f64,
) -> Block {
    let n = system.size();
    let fits = |memory: &&Vec<f64>| memory.len() == n;
    let previous = previous.filter(fits).cloned();
    let previous = previous.unwrap_or_else(|| before_the_start(state, h));
    Block {
        entity,
        system: system.clone(),
        integrator,
        start: state.clone(),
        previous,
        predicted: Vec::new(),
        reaction_before: reaction
            .filter(fits)
            .cloned()
            .unwrap_or_else(|| vec![0.0; n]),
        known: zeros(n),
        z: zeros(n),
        state: state.clone(),
        factor: None,
        factored_for: None,
        constant_mass: None,
        slope_of_input: None,
        applied: vec![0.0; n],
        reaction: vec![0.0; n],
        held: Vec::new(),
    }
}

fn link(
    entity: Entity,
    relation: &Relation,
    law: &NonsmoothLaw,
    level: Level,
    blocks: Vec<usize>,
    before: Outcome,
) -> Link {
    let (m, sides) = (law.rows(), blocks.len());
    let warm = before.active && before.lambda.len() == m;
    Link {
        entity,
        relation: relation.clone(),
        law: law.clone(),
        level,
        blocks,
        lambda: if warm {
            before.lambda.clone()
        } else {
            vec![0.0; m]
        },
        was_closed: before.closed,
        output_at_start: Row::new(),
        reference: Row::new(),
        active: false,
        closed: false,
        offset: Row::new(),
        output: smallvec::smallvec![Matrix::default(); sides],
        input: smallvec::smallvec![Matrix::default(); sides],
        linearised_for: None,
        known: vec![Vec::new(); sides],
        feedthrough: None,
        correction: vec![0.0; m],
    }
}

impl Link {
    /// `y` of a rigid Lagrangian relation at a point.
    pub(super) fn gap(&self, point: &Point) -> Row {
        let mut y = zeros(self.rows());
        if let Seen::Lagrangian(relation) = self.relation.seen() {
            relation.output(point.t, &point.slices(), &self.lambda, &mut y);
        }
        y
    }
}
