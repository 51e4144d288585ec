//! Why a question was not answered.

use crate::components::BodyId;
use crate::error::BodyError;
use bevy_ecs::entity::Entity;
use moreau_geometry::GeometryError;

/// A question, or a body of the world, with a number that makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A number of the question is out of range.
    #[error(transparent)]
    Question(#[from] moreau_geometry::query::QueryError),
    /// The shape that is asked about.
    #[error("the shape asked about: {0}")]
    Shape(#[from] GeometryError),
    /// A body is wrong, as the next step would say.
    #[error("body {id} ({entity}): {source}")]
    Body {
        /// Its id.
        id: BodyId,
        /// Its entity.
        entity: Entity,
        /// What is wrong.
        source: BodyError,
    },
    /// The engine is not in the world.
    #[error("the engine is not installed in this world: {what} is missing")]
    NotInstalled {
        /// What was looked for.
        what: &'static str,
    },
}
