//! From the components of a world to the plant of a step, checked, in the order of the ids.

use super::Plant;
use super::block::Block;
use super::link::{Level, Link, Point};
use super::scheme::Instant;
use crate::algebra::{Matrix, Row, zeros};
use crate::error::{FieldError, SystemsError, expect_finite, expect_length};
use crate::integrator::Integrator;
use crate::interaction::{Joins, Outcome, Previous, Reaction, SpawnId};
use crate::law::NonsmoothLaw;
use crate::relation::{Relation, Seen};
use crate::report::StepReport;
use crate::system::state::State;
use crate::system::{Model, System};
use bevy_ecs::prelude::*;

/// What is read of a system.
type OfSystem = (
    Entity,
    &'static SpawnId,
    &'static System,
    Option<&'static State>,
    Option<&'static Integrator>,
    Option<&'static Reaction>,
    Option<&'static Previous>,
);

/// What is read of an interaction.
type OfInteraction = (
    Entity,
    &'static SpawnId,
    &'static Joins,
    Option<&'static Relation>,
    Option<&'static NonsmoothLaw>,
    Option<&'static Outcome>,
);

/// The queries of a world, made once.
pub(crate) struct Gather {
    systems: QueryState<OfSystem>,
    interactions: QueryState<OfInteraction>,
}

impl Gather {
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            systems: world.query(),
            interactions: world.query(),
        }
    }

    /// The plant of the step from `t_k`.
    pub(crate) fn plant(&mut self, world: &World, at: Instant) -> Result<Plant, SystemsError> {
        self.systems.update_archetypes(world);
        let mut systems: Vec<_> = self.systems.iter_manual(world).collect();
        systems.sort_by_key(|row| *row.1);
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
        interactions.sort_by_key(|row| *row.1);
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
    let previous = previous.filter(fits).cloned().unwrap_or_else(|| {
        // q_{−1} = q_0 − h v_0
        let back = |(q, v): (&f64, &f64)| q - h * v;
        state.q().iter().zip(state.v()).map(back).collect()
    });
    Block {
        entity,
        system: system.clone(),
        integrator,
        start: state.clone(),
        previous,
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
        before,
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

fn check_system(system: &System, state: &State, integrator: &Integrator) -> Result<(), FieldError> {
    system.check()?;
    integrator.check(system)?;
    let n = system.size();
    match (system.model(), state) {
        (Model::Lagrangian(_), State::Lagrangian { q, v }) => {
            expect_length("q", q.len(), n)?;
            expect_length("v", v.len(), n)?;
            expect_finite("q", q)?;
            expect_finite("v", v)
        }
        (Model::FirstOrder(_), State::FirstOrder { x }) => {
            expect_length("x", x.len(), n)?;
            expect_finite("x", x)
        }
        (Model::Lagrangian(_), _) => Err(FieldError::Kind {
            field: "state",
            found: "FirstOrder",
            expected: "Lagrangian",
        }),
        (Model::FirstOrder(_), _) => Err(FieldError::Kind {
            field: "state",
            found: "Lagrangian",
            expected: "FirstOrder",
        }),
    }
}

/// The places of the systems that are joined.
fn find(joins: &Joins, places: &[(Entity, usize)]) -> Result<Vec<usize>, FieldError> {
    let field = "joins";
    if joins.0.is_empty() {
        return Err(FieldError::Empty { field });
    }
    if joins.0.len() > 2 || (joins.0.len() == 2 && joins.0[0] == joins.0[1]) {
        return Err(FieldError::Kind {
            field,
            found: "one system twice, or more than two",
            expected: "one system or two",
        });
    }
    let place = |entity: &Entity| {
        let found = places.binary_search_by_key(entity, |(entity, _)| *entity);
        let missing = FieldError::Missing {
            field: "a system that it joins",
        };
        found.map(|k| places[k].1).map_err(|_| missing)
    };
    joins.0.iter().map(place).collect()
}

/// On what quantity the law is imposed.
fn check_interaction(
    relation: &Relation,
    law: &NonsmoothLaw,
    joined: &[usize],
    blocks: &[Block],
) -> Result<Level, FieldError> {
    let of = |j: &usize| &blocks[*j];
    let stacked = matches!(relation.seen(), Seen::FirstOrder(_));
    let width = |j: &usize| match of(j).system.model() {
        Model::Lagrangian(_) if stacked => 2 * of(j).size(),
        _ => of(j).size(),
    };
    let (columns, inputs): (Vec<_>, Vec<_>) =
        joined.iter().map(|j| (width(j), of(j).size())).unzip();
    relation.check(&columns, &inputs)?;
    law.check(relation.rows())?;
    let integrators: Vec<Integrator> = joined.iter().map(|j| of(j).integrator).collect();
    let level = super::levels::level(relation, law, &integrators)?;
    let systems: Vec<&System> = joined.iter().map(|j| &of(j).system).collect();
    super::levels::check_degree(relation, level, &systems)?;
    Ok(level)
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
