//! Friction-contact problems with the exact Signorini–Coulomb law, and solvers for them.
//!
//! The problem, for `n_c` contacts with local velocities `u` and impulses `r` in the contact
//! frames `(n, t₁, t₂)`, normal first [Acary-Bremond-Huber18, §2]:
//!
//! ```text
//! u = W r + q,      û_α = u_α + (μ_α ‖u_αT‖, 0, 0),      K*_α ∋ û_α ⊥ r_α ∈ K_α
//! K_μ = { r : ‖r_T‖ ≤ μ r_N },                           K*_μ = { z : z_N ≥ μ ‖z_T‖ }
//! ```
//!
//! `W` comes in two forms: stored blocks ([`FrictionProblem`]) or factored through the bodies,
//! `W = G Ŵ Gᵀ` ([`FactoredProblem`]), which is never formed. [`Nsgs`] solves both, and
//! [`natural_map`] judges every answer by the definition, with code that no solver shares.
//!
//! The numerics know no entities and no shapes: they are plain functions over slices.
#![forbid(unsafe_code)]

pub mod acceleration;
pub mod admm;
pub mod alart_curnier;
pub mod alart_curnier_newton;
pub mod anderson;
pub mod auto;
pub mod colouring;
pub mod cone;
pub mod delassus;
#[cfg(feature = "fclib")]
pub mod fclib;
pub mod global;
pub mod goal;
pub mod history;
pub mod infeasibility;
pub mod local_solver;
pub mod natural_map;
pub mod nncg;
pub mod nsgs;
pub mod one_contact;
pub mod planar;
pub mod problem;
pub mod projection;
pub mod proximal_newton;
pub mod quartic;
pub mod report;
pub mod solver;
pub mod sparse;
pub mod sweep_options;

mod block_lu;
mod explicit_sweep;
mod fixed_point;
mod islands;
mod joint_block;
mod newton;
mod progress;
#[cfg(test)]
mod random;
mod sparse_lu;
mod twist_sweep;

pub use acceleration::Momentum;
pub use admm::{Admm, AdmmSettings};
pub use alart_curnier::AlartCurnierSettings;
pub use alart_curnier_newton::{AlartCurnierNewton, AlartCurnierNewtonSettings};
pub use anderson::{Anderson, AndersonSettings};
pub use auto::{Auto, AutoSettings};
pub use delassus::Delassus;
pub use global::GlobalProblem;
pub use goal::Goal;
pub use history::{History, Sample};
pub use local_solver::LocalSolver;
pub use natural_map::Residual;
pub use nncg::{Nncg, NncgSettings};
pub use nsgs::{Nsgs, NsgsSettings};
pub use one_contact::OneContact;
pub use problem::{
    Contact, FactoredProblem, FrictionProblem, InverseMass, ProblemError, WorldTwist,
};
pub use projection::ProjectionSettings;
pub use proximal_newton::{ConeMap, ProximalNewton, ProximalNewtonSettings};
pub use report::{SolverReport, SolverStatus};
pub use solver::Solver;
pub use sparse::SparseMatrix;
pub use sweep_options::{Freezing, SweepOrder};
