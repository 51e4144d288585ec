//! The one-step nonsmooth problem, in its two forms [docs/theory.md §6].
//!
//! ```text
//! stored:    u = W r + q                                  StoredProblem
//! factored:  v = v_free + Ŵ Gᵀ r,   u = G v + d            FactoredProblem   (W = G Ŵ Gᵀ, q = G v_free + d)
//! ```
//!
//! `d` carries what is known of each interaction before the solve: the restitution or gap term on the
//! normal of a contact, say. Bodies of given motion have `Ŵ = 0`; their velocity enters through `G v_free`.
//! Each interaction has a [`crate::Law`]; impulses are rows, those of one interaction after those of the one before.

mod body;
mod check;
mod contact;
mod error;
mod factored;
mod interaction;
mod stored;
pub(crate) mod weak_rows;

pub use body::{InverseMass, WorldTwist};
pub use contact::Contact;
pub use error::ProblemError;
pub use factored::FactoredProblem;
pub use interaction::{Interaction, MAX_ROWS};
pub use stored::StoredProblem;

pub(crate) use check::{check_warm_start, expect_length, is_shared};

#[cfg(test)]
mod tests;
