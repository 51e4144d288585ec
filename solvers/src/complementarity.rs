//! Linear complementarity problems and their kin: `−(M z + q) ∈ N_[low, high](z)`, row by row [docs/theory.md §12].
//!
//! The problem is a [`crate::StoredProblem`] whose laws are complementarities, intervals and equalities; [`BoxProblem`] is its dense
//! form. Every method works on both, and the natural map judges every answer.
//!
//! | method | needs | finds |
//! |---|---|---|
//! | [`Lemke`] | nothing | a solution in finitely many pivots, or a ray |
//! | [`ActiveSet`] (NSQP) | symmetric `M` | the minimum of the convex quadratic programme, or a direction without end |
//! | [`InteriorPoint`] | monotone `M` | a solution in some ten to thirty factorisations |
//! | [`SemismoothNewton`] | P₀ matrices, or a good start | a solution, on the minimum or on Fischer–Burmeister's function |
//! | [`Psor`] | symmetric or H-matrices, positive diagonal | low accuracy at `n²` a sweep |
//! | [`Cpg`] | symmetric `M` | the same faster, without factors |
//! | [`Latin`] | monotone `M` | a solution with one factorisation |
//! | [`PrimalDual`] | a good start, or an M-matrix | a solution in a few factorisations, sparse ones for many rows, or nothing |
//! | [`Enumeration`] | few rows | all complementary bases: a solution, whether it is the only one, or that there is none |
//! | [`BoxAuto`] | nothing | what these find: it picks, and says which it took |
//!
//! A status says how a solve ended ([`crate::SolverStatus`]): `Infeasible` comes with a certificate after Farkas that has been checked
//! ([`crate::infeasibility`]); `Ray` says that a path ended and nothing is known; `NoSolution` that all bases were searched.

pub mod active_set;
mod basis;
pub(crate) mod box_problem;
pub mod choice;
pub mod cpg;
mod dense_lu;
pub mod enumeration;
mod envelope;
mod free_rows;
pub mod interior_point;
pub mod latin;
pub mod lcp_file;
pub mod lemke;
pub(crate) mod method;
pub mod newton;
pub mod primal_dual;
pub mod psor;
pub mod sparse_box;

pub use active_set::{ActiveSet, ActiveSetSettings};
pub use box_problem::{BoxProblem, MAX_DENSE_ROWS};
pub use choice::{BoxAuto, BoxAutoSettings};
pub use cpg::{Cpg, CpgSettings};
pub use enumeration::{Enumeration, EnumerationSettings};
pub use interior_point::{InteriorPoint, InteriorPointSettings};
pub use latin::{Latin, LatinSettings};
pub use lcp_file::{LcpFile, LcpFileError};
pub use lemke::{Lemke, LemkeSettings};
pub use newton::{Complementarity, SemismoothNewton, SemismoothNewtonSettings};
pub use primal_dual::{Boxes, PrimalDual, PrimalDualSettings};
pub use psor::{Psor, PsorSettings};
pub use sparse_box::SparseBoxProblem;

#[cfg(test)]
mod tests;
