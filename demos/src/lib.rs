//! The built-in scenes of the Moreau contact engine, and what its program does with stored
//! problems.
//!
//! Every scene is a plain function in [`scenes`] that returns a [`moreau::Scene`]: the program
//! `moreau`, the tests and the benches all start from the same ones. [`catalog`] finds them by
//! name, with parameters:
//!
//! ```
//! let scene = moreau_demos::built_in("stack:n=3")?;
//! let mut run = scene.start()?;
//! assert_eq!(run.step()?.bodies, 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`step_file()`] makes stored problems of their steps, [`inspection`] takes a step apart, [`problem_file`] reads and judges any,
//! [`solver_choice`] finds solvers by name, and [`comparison`] runs several over many problems.
//! [`systems`] has scenes that are not rigid bodies, and runs them under every integrator. [`table`] prints what was measured.
#![forbid(unsafe_code)]

pub mod catalog;
pub mod comparison;
pub mod inspection;
pub mod performance_profile;
pub mod problem_file;
pub mod residual_kind;
pub mod scenes;
pub mod simbench;
pub mod solver_choice;
pub mod step_file;
pub mod systems;
pub mod table;

pub use catalog::{BuiltIn, CatalogError, built_in, list};
pub use comparison::Comparison;
pub use performance_profile::PerformanceProfile;
pub use problem_file::ProblemFile;
pub use residual_kind::ResidualKind;
pub use solver_choice::SolverChoice;
pub use step_file::{step_file, step_file_name};
pub use table::Table;
