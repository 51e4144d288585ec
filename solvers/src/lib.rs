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
//! `W` comes in three forms: stored blocks ([`StoredProblem`]), factored through the bodies,
//! `W = G Ŵ Gᵀ` ([`FactoredProblem`]), which is never formed, and the field's global form
//! ([`GlobalProblem`]). [`Auto`] solves all three and picks its methods by itself; every method of
//! its own has a page and the trait [`Solver`]. [`natural_map`] judges every answer by the
//! definition: in the factored form, that of time steps, with code that no sweep shares; of a law it uses the projection and the shift. Which method to choose: `solvers/README.md`.
//!
//! Feature `fclib` (off by default): the field's exchange format, HDF5 in pure Rust.
//!
//! The numerics know no entities and no shapes: they are plain functions over slices. One module has unsafe
//! code, a hint to the processor in large sweeps (`sweep/prefetch.rs`).
#![deny(unsafe_code)]

pub mod algebra;
pub mod auto;
pub mod awake;
pub mod comparison;
pub mod complementarity;
pub mod cone;
pub mod delassus;
#[cfg(feature = "fclib")]
pub mod fclib;
pub mod global;
pub mod goal;
pub mod history;
pub mod infeasibility;
pub mod law;
pub mod natural_map;
pub mod nsgs;
pub mod problem;
pub mod proximal_newton;
pub mod report;
pub mod solver;
pub mod sweep;

mod articulation;
mod islands;
mod lanes;
mod newton;
mod progress;
#[cfg(test)]
mod random;

pub use algebra::sparse::SparseMatrix;
pub use articulation::{JointBlock, JointFactor, JointLink};
pub use auto::{Auto, AutoSettings, VelocityGoal};
pub use comparison::{
    Admm, AdmmSettings, AlartCurnierNewton, AlartCurnierNewtonSettings, AlartCurnierSettings,
    Anderson, AndersonSettings, ClassicalNsgs, ClassicalSettings, Freezing, LocalSolver, Nncg,
    NncgSettings, ProjectionSettings, SweepOrder,
};
pub use complementarity::{BoxProblem, Enumeration, EnumerationSettings, Lemke, LemkeSettings};
pub use delassus::Delassus;
pub use global::GlobalProblem;
pub use goal::Goal;
pub use history::{History, Sample};
pub use law::Law;
pub use law::list::{rows_of, rows_of_mut};
pub use law::one_contact::OneContact;
pub use natural_map::Residual;
pub use nsgs::{Nsgs, NsgsSettings};
pub use problem::{
    Contact, FactoredProblem, Interaction, InverseMass, ProblemError, StoredProblem, WorldTwist,
};
pub use proximal_newton::{ConeMap, ProximalNewton, ProximalNewtonSettings};
pub use report::{SolverReport, SolverStatus};
pub use solver::Solver;
pub use sweep::acceleration::Momentum;
