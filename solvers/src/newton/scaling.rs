//! Scaled variables: one scalar a block makes all contacts alike [docs/theory.md §7].
//!
//! ```text
//! λ_α = trace(W_αα)/m,   r̂ = √λ r,   û = u/√λ,   q̂ = q/√λ,   Ŵ_αβ = W_αβ/√(λ_α λ_β)
//! ```
//!
//! A scalar keeps the cones, so the laws are the same in these variables (bounds of impulses are scaled), and one penalty `ρ` is right
//! for every interaction, whatever the masses. `e_scaled` is the plain natural-map residual in them.

use crate::law::list::Laws;
use crate::{Delassus, StoredProblem};
use glam::DVec3;

/// A stored problem in scaled variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScaledProblem {
    /// `√λ` of each triple, 1 where `λ` is not positive.
    pub(crate) root: Vec<f64>,
    pub(crate) delassus: Delassus,
    pub(crate) free_velocity: Vec<DVec3>,
    pub(crate) laws: Laws,
}

impl ScaledProblem {
    pub(crate) fn new(problem: &StoredProblem) -> Self {
        let mut root = Vec::new();
        crate::infeasibility::scales(problem, &mut root);
        root.iter_mut().for_each(|lambda| *lambda = lambda.sqrt());
        Self {
            delassus: problem.delassus.scaled(&root),
            free_velocity: problem
                .free_velocity
                .iter()
                .zip(&root)
                .map(|(q, root)| *q / *root)
                .collect(),
            laws: problem.laws.scaled(&root),
            root,
        }
    }
}

/// `√λ`, or 1 for a block that nothing moves.
pub(crate) fn root_of(lambda: f64) -> f64 {
    if lambda > 0.0 { lambda.sqrt() } else { 1.0 }
}
