//! Linear complementarity problems and their kin: `−(M z + q) ∈ N_[low, high](z)`, row by row [docs/theory.md §12].
//!
//! The problem is a [`crate::StoredProblem`] whose laws are complementarities, intervals and equalities; [`BoxProblem`] is its dense
//! form. Every method works on both, and the natural map judges every answer.
//!
//! | method | needs | finds |
//! |---|---|---|
//! | [`Lemke`] | nothing | a solution in finitely many pivots, or a ray |
//! | [`Enumeration`] | few rows | all complementary bases: a solution, whether it is the only one, or that there is none |
//!
//! A status says how a solve ended ([`crate::SolverStatus`]): `Infeasible` comes with a certificate after Farkas that has been checked
//! ([`crate::infeasibility`]); `Ray` says that a path ended and nothing is known; `NoSolution` that all bases were searched.

mod basis;
pub(crate) mod box_problem;
mod dense_lu;
pub mod enumeration;
mod free_rows;
pub mod lemke;
pub(crate) mod method;

pub use box_problem::{BoxProblem, MAX_DENSE_ROWS};
pub use enumeration::{Enumeration, EnumerationSettings};
pub use lemke::{Lemke, LemkeSettings};

#[cfg(test)]
mod tests;
