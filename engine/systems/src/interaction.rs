//! The components of an interaction: which systems it joins, and what it did in the last step.

use bevy_ecs::prelude::*;

/// The systems that an interaction joins, each once, in the order of its relation. With a [`Relation`](crate::Relation) and a
/// [`NonsmoothLaw`](crate::NonsmoothLaw) it makes an entity an interaction.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
#[require(Outcome)]
pub struct Joins(pub Vec<Entity>);

impl Joins {
    /// One system.
    #[must_use]
    pub fn one(system: Entity) -> Self {
        Self(vec![system])
    }

    /// Two systems.
    #[must_use]
    pub fn two(first: Entity, second: Entity) -> Self {
        Self(vec![first, second])
    }

    /// Any number of systems, at least one, as a differential gear joins three shafts.
    #[must_use]
    pub fn all(systems: impl IntoIterator<Item = Entity>) -> Self {
        Self(systems.into_iter().collect())
    }
}

/// What an interaction did in the last step. The next step starts its solve from the multipliers.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Its law was imposed.
    pub active: bool,
    /// The contact is closed by the rule [`Activation::Hysteresis`](crate::Activation::Hysteresis) at the end of the step, or pushes there under D1-minus.
    pub closed: bool,
    /// `y` at the end of the step: after the projection, if there is one. Of first-order relations the output of the law.
    pub output: Vec<f64>,
    /// `ẏ` at the end of the step; empty for first-order relations.
    pub rate: Vec<f64>,
    /// `λ`: impulses over the step for Moreau–Jean (forces for compliant and first-order relations), position impulses for Schatzman–Paoli, values for
    /// Euler–Moreau; zero if it was not active.
    pub lambda: Vec<f64>,
    /// `Λ` of the projection, summed over the step; empty without projection.
    pub correction: Vec<f64>,
    /// Under D1-minus the forces of closed contacts and of equalities at the end of the step, N, beside which `λ` has the impulses there; empty under others.
    pub force: Vec<f64>,
}

/// What the interactions of a system did to it in the last step, one entry a coordinate: `Σ Hᵀλ` or `Σ g(λ)`; under D1-minus the impulse of the whole step, that
/// of forces as well, N·s.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Reaction(pub Vec<f64>);

/// What a scheme of two steps remembers of a system: `q` of the step before, and the interactions' outputs follow from it.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Previous(pub Vec<f64>);

/// Identity by the order of spawning. Results depend on the order of these numbers and never on the order in which entities are stored.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpawnId(pub u64);
