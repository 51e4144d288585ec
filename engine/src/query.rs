//! Questions about the bodies of a world where they are now: rays, casts of shapes, points, overlaps, contacts.
//!
//! | file | holds |
//! |---|---|
//! | `index` | the bodies and a tree of their boxes, kept from one question to the next |
//! | `refresh` | what is read anew of the world: what has changed |
//! | `view` | [`Queries`]: rays and points |
//! | `shapes` | the same: shapes |
//! | `filter` | [`QueryFilter`]: which bodies count |
//! | `param` | [`SpatialQuery`]: the same within systems |
//!
//! The index follows the ticks of the ECS: what other systems or the user wrote since the last question is read, whether a step was made
//! since or not. The tree of the broad phase is not used: it knows what the last step saw, in boxes widened by margins and speeds.

mod error;
mod filter;
mod index;
mod param;
mod refresh;
mod shapes;
mod view;

pub use error::QueryError;
pub use filter::QueryFilter;
pub use param::SpatialQuery;
pub use view::{Found, Queries};

pub(crate) use index::QueryIndex;
pub(crate) use param::Asking;
