//! Checks of what is gathered: ids, systems with their states and integrators, interactions with what they join.

use super::block::Block;
use super::levels::{check_degree, level};
use super::link::Level;
use crate::error::{FieldError, expect_finite, expect_length};
use crate::integrator::Integrator;
use crate::interaction::{Joins, SpawnId};
use crate::law::NonsmoothLaw;
use crate::relation::{Relation, Seen};
use crate::system::state::State;
use crate::system::{Model, System};
use bevy_ecs::entity::Entity;

/// Every entity of a list that is sorted by ids has one, and no two the same.
pub(super) fn check_ids<'a>(
    list: impl Iterator<Item = (Entity, Option<&'a SpawnId>)>,
) -> Result<(), (Entity, FieldError)> {
    let mut before = None;
    for (entity, id) in list {
        let field = "spawn id";
        let id = id.ok_or((entity, FieldError::Missing { field }))?;
        if before == Some(*id) {
            let (found, expected) = ("that of another", "an id of its own");
            return Err((
                entity,
                FieldError::Kind {
                    field,
                    found,
                    expected,
                },
            ));
        }
        before = Some(*id);
    }
    Ok(())
}

pub(super) fn check_system(
    system: &System,
    state: &State,
    integrator: &Integrator,
) -> Result<(), FieldError> {
    system.check()?;
    integrator.check(system)?;
    check_state(system, state)
}

pub(super) fn check_state(system: &System, state: &State) -> Result<(), FieldError> {
    let n = system.size();
    match (system.model(), state) {
        (Model::Lagrangian(model), State::Lagrangian { q, v }) => {
            expect_length("q", q.len(), model.coordinates())?;
            expect_length("v", v.len(), n)?;
            expect_finite("q", q)?;
            model.check_coordinates(q)?;
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
pub(super) fn find(joins: &Joins, places: &[(Entity, usize)]) -> Result<Vec<usize>, FieldError> {
    let field = "joins";
    if joins.0.is_empty() {
        return Err(FieldError::Empty { field });
    }
    let others = |k: usize| &joins.0[k + 1..];
    if (0..joins.0.len()).any(|k| others(k).contains(&joins.0[k])) {
        return Err(FieldError::Kind {
            field,
            found: "one system twice",
            expected: "each system once",
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

/// A body has no constant rows by its seven coordinates, and no state that first-order relations could see.
fn check_bodies(relation: &Relation, joined: &[usize], blocks: &[Block]) -> Result<(), FieldError> {
    let found = match relation {
        Relation::Lagrangian(_) => return Ok(()),
        Relation::LagrangianLinear(_) => "LagrangianLinear",
        Relation::FirstOrderLinear(_) | Relation::FirstOrder(_) => "FirstOrder",
    };
    if joined.iter().all(|j| blocks[*j].system.is_flat()) {
        return Ok(());
    }
    Err(FieldError::Kind {
        field: "relation",
        found,
        expected: "a Lagrangian relation of its own for a rigid body",
    })
}

/// On what quantity the law is imposed.
pub(super) fn check_interaction(
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
    for pair in joined.windows(2) {
        let steps = [0, 1].map(|k| of(&pair[k]).substeps);
        if steps[0] != steps[1] {
            return Err(FieldError::DifferentSubsteps { steps });
        }
    }
    check_bodies(relation, joined, blocks)?;
    relation.check(&columns, &inputs)?;
    law.check(relation.rows())?;
    let integrators: Vec<Integrator> = joined.iter().map(|j| of(j).integrator).collect();
    let level = level(relation, law, &integrators)?;
    let systems: Vec<&System> = joined.iter().map(|j| &of(j).system).collect();
    check_degree(relation, level, &systems, &integrators)?;
    Ok(level)
}
