//! From the components of a world to the plant of a step, checked, in the order of the ids.
//!
//! The plant stays from step to step as long as nothing but states and outcomes changes; these are read in every step.

mod again;

pub(crate) use again::Kept;

use super::Plant;
use super::assemble::Assembly;
use super::block::{Block, MassOf};
use super::check::{check_ids, check_interaction, check_system, find};
use super::commit::{EndOfInteraction, EndOfSystem};
use super::half_explicit::Half;
use super::link::{Level, Link};
use super::point::Sides;
use super::scheme::{Instant, Missed};
use crate::algebra::{Coefficient, Matrix, Row, zeros};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::{Integrator, RowsAt};
use crate::interaction::{Joins, Outcome, Previous, Reaction, SpawnId};
use crate::law::NonsmoothLaw;
use crate::relation::Relation;
use crate::report::StepReport;
use crate::substeps::Substeps;
use crate::system::System;
use crate::system::state::State;
use again::{NowOfInteraction, NowOfSystem};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;

/// What is read of a system.
type OfSystem = (
    Entity,
    Option<&'static SpawnId>,
    &'static System,
    Option<&'static State>,
    Option<&'static Integrator>,
    Option<&'static Reaction>,
    Option<&'static Previous>,
    Option<&'static Substeps>,
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

/// The queries of a world, made once.
pub(crate) struct Gather {
    systems: QueryState<OfSystem>,
    interactions: QueryState<OfInteraction>,
    now_of_systems: QueryState<NowOfSystem>,
    now_of_interactions: QueryState<NowOfInteraction>,
    pub(super) ends_of_systems: QueryState<EndOfSystem, With<System>>,
    pub(super) ends_of_interactions: QueryState<EndOfInteraction, With<Joins>>,
}

impl Gather {
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            systems: world.query(),
            interactions: world.query(),
            now_of_systems: world.query(),
            now_of_interactions: world.query(),
            ends_of_systems: world.query_filtered(),
            ends_of_interactions: world.query_filtered(),
        }
    }

    /// Whether a system, or an interaction with the systems that it joins, is one that steps take; systems with faults of their own are for the step to name.
    pub(crate) fn check(
        &mut self,
        world: &World,
        entity: Entity,
        h: f64,
    ) -> Result<(), SystemsError> {
        self.systems.update_archetypes(world);
        self.interactions.update_archetypes(world);
        if let Ok(row) = self.systems.get_manual(world, entity) {
            block_of(row, h)?;
        }
        let Ok(row) = self.interactions.get_manual(world, entity) else {
            return Ok(());
        };
        let mut blocks = Vec::new();
        for joined in &row.2.0 {
            if let Ok(row) = self.systems.get_manual(world, *joined) {
                let Ok(block) = block_of(row, h) else {
                    return Ok(());
                };
                blocks.push(block);
            }
        }
        link_of(row, &places(&blocks), &blocks).map(drop)
    }

    /// The plant of the step from `t_k`.
    pub(crate) fn plant(&mut self, world: &World, at: Instant) -> Result<Plant, SystemsError> {
        self.systems.update_archetypes(world);
        let mut systems: Vec<_> = self.systems.iter_manual(world).collect();
        systems.sort_by_key(|row| row.1);
        check_ids(systems.iter().map(|row| (row.0, row.1)))
            .map_err(|(entity, source)| SystemsError::System { entity, source })?;
        let blocks = systems.into_iter().map(|row| block_of(row, at.h));
        let mut blocks = blocks.collect::<Result<Vec<Block>, SystemsError>>()?;
        let places = places(&blocks);
        self.interactions.update_archetypes(world);
        let mut interactions: Vec<_> = self.interactions.iter_manual(world).collect();
        interactions.sort_by_key(|row| row.1);
        check_ids(interactions.iter().map(|row| (row.0, row.1)))
            .map_err(|(entity, source)| SystemsError::Interaction { entity, source })?;
        let links = interactions.into_iter();
        let links = links.map(|row| link_of(row, &places, &blocks));
        let links = links.collect::<Result<Vec<Link>, SystemsError>>()?;
        for link in &links {
            if let Level::Value { gamma } = link.level {
                for j in &link.blocks {
                    blocks[*j].show_at(gamma);
                }
            }
        }
        Ok(Plant {
            at,
            blocks,
            links,
            report: StepReport::default(),
            assembly: Assembly::default(),
            beside: None,
            kept: Kept::default(),
            is_noted: false,
        })
    }
}

/// A system, checked.
fn block_of(row: <OfSystem as QueryData>::Item<'_, '_>, h: f64) -> Result<Block, SystemsError> {
    let (entity, _, system, state, integrator, reaction, previous, substeps) = row;
    let named = |source| SystemsError::System { entity, source };
    let missing = |field| named(FieldError::Missing { field });
    let state = state.ok_or(missing("state"))?;
    let integrator = integrator.ok_or(missing("integrator"))?;
    check_system(system, state, integrator).map_err(named)?;
    let substeps = substeps.copied().unwrap_or_default();
    substeps.check().map_err(named)?;
    let memory = [reaction.map(|r| &r.0), previous.map(|p| &p.0)];
    for (field, entries) in ["reaction", "previous"].into_iter().zip(memory) {
        expect_finite(field, entries.map_or(&[], Vec::as_slice)).map_err(named)?;
    }
    let h = h / f64::from(substeps.0);
    let mut block = block(entity, system, state, *integrator, memory, h);
    block.substeps = substeps.0;
    Ok(block)
}

/// An interaction, checked.
fn link_of(
    row: <OfInteraction as QueryData>::Item<'_, '_>,
    places: &[(Entity, usize)],
    blocks: &[Block],
) -> Result<Link, SystemsError> {
    let (entity, _, joins, relation, law, outcome) = row;
    let named = |source| SystemsError::Interaction { entity, source };
    let missing = |field| named(FieldError::Missing { field });
    let relation = relation.ok_or(missing("relation"))?;
    let law = law.ok_or(missing("law"))?;
    let joined = find(joins, places).map_err(named)?;
    let level = check_interaction(relation, law, &joined, blocks).map_err(named)?;
    let before = outcome.cloned().unwrap_or_default();
    expect_finite("lambda", &before.lambda).map_err(named)?;
    let mut link = link(entity, relation, law, level, joined, before);
    link.know_integrators(blocks);
    Ok(link)
}

/// Where each system is, sorted.
fn places(blocks: &[Block]) -> Vec<(Entity, usize)> {
    let places = blocks.iter().enumerate();
    let mut places: Vec<_> = places.map(|(j, block)| (block.entity, j)).collect();
    places.sort_unstable();
    places
}

impl Block {
    /// First-order relations see it at `t_{k+γ}`.
    fn show_at(&mut self, gamma: f64) {
        if gamma < 1.0 || matches!(self.start, State::Lagrangian { .. }) {
            self.seen_at = Some(gamma);
        }
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
        substeps: 1,
        start: state.clone(),
        previous,
        predicted: Vec::new(),
        between: Row::new(),
        reaction_before: reaction
            .filter(fits)
            .cloned()
            .unwrap_or_else(|| vec![0.0; n]),
        known: zeros(n),
        z: zeros(n),
        state: state.clone(),
        missed: Missed::new(n),
        is_missed: false,
        change: zeros(n),
        response: zeros(n),
        factor: None,
        factored_for: None,
        factorisations: 0,
        mass: Coefficient::default(),
        mass_factor: None,
        mass_of: MassOf::Nothing,
        slope_of_input: None,
        applied: vec![0.0; n],
        reaction: vec![0.0; n],
        acts: Row::new(),
        held: Vec::new(),
        hold: None,
        seen: Vec::new(),
        seen_at: None,
        is_edited: true,
        work: zeros(n),
        matrices: Default::default(),
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
        activation: None,
        rows_at: RowsAt::default(),
        gamma: 1.0,
        offset: Row::new(),
        output: smallvec::smallvec![Matrix::default(); sides],
        input: smallvec::smallvec![Matrix::default(); sides],
        linearised_for: None,
        linearisations: 0,
        sparse: None,
        known: vec![Vec::new(); sides],
        feedthrough: None,
        responses: Sides::new(),
        responded_for: None,
        correction: vec![0.0; m],
        half: None,
        end_output: Row::from_slice(&before.output),
        end_rate: Row::new(),
        rows_in_passing: Sides::new(),
        acts: Row::new(),
        slopes: None,
    }
}

impl Link {
    /// What the integrators of its systems ask of it.
    fn know_integrators(&mut self, blocks: &[Block]) {
        for j in &self.blocks {
            if let Integrator::D1Minus(scheme) = blocks[*j].integrator {
                self.half = Some(Box::new(Half::new(scheme)));
            }
            if let Integrator::MoreauJean(scheme) = blocks[*j].integrator {
                self.rows_at = scheme.rows_at;
                self.gamma = scheme.gamma_for_relation;
                if self.law.is_impact() {
                    self.activation = self.activation.or(Some(scheme.activation));
                }
            }
        }
    }
}
