//! The built-in scenes of the Moreau contact engine.
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
#![forbid(unsafe_code)]

pub mod catalog;
pub mod scenes;

pub use catalog::{BuiltIn, CatalogError, built_in, list};
