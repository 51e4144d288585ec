//! Islands with joints: their equality rows are solved exactly, whatever else is left.
//!
//! ```text
//! J v + C λ + d = 0                          equalities, and motors away from their bounds (folded)
//! −( G v + R r + d + s ) ∈ N_C(r)            contacts, limits, bounded motors
//! v = v_free + M⁻¹( Jᵀλ + Gᵀr )
//! ```
//!
//! 1. *Fold.* An interval whose last impulse is within nine tenths of its bounds counts as an equality with its compliance. After the
//!    solve those beyond their bounds are put back among the rows that remain, and the island is solved again. Where folded motors
//!    leave no solution, impulses grow in a direction that moves nothing: without factorisations it is followed to where the first of them
//!    is at its bound, and the island solved from there. Sweeps from zero would raise a motor by what its own light body takes, `m v`, in each.
//! 2. *Factorise* `A = J M⁻¹Jᵀ + C + ε diag` ([`joints`], [`factor`], [`plan`]).
//! 3. *Condense* ([`condensed`]) if few rows remain: `Ŵ`, `q̂` is a stored problem, solved by sweeps and Newton to the goal. Or
//!    *alternate* ([`alternate`]) if there are many: sweeps on twists with the joints solved anew after each of them.
//! 4. *Recover.* `v₀ = v_free + M⁻¹Gᵀr`, `λ` from zero by two solves with the factor, and only then the residual is judged: the joints
//!    of what is returned are exact, converged or not.
//!
//! Which of the two ways is a matter of counted block products. Multipliers are a function of the other impulses, never of a warm start:
//! redundant rows share their load alike in every step.

mod alternate;
mod condensed;
mod factor;
mod island;
mod joint_factor;
mod joints;
mod plan;
mod shares;

#[cfg(test)]
mod tests;

use crate::problem::FactoredProblem;
pub(crate) use island::Solver;
pub use joint_factor::{JointBlock, JointFactor, JointLink};
pub(crate) use joints::is_equality;

/// True if the problem has joints.
pub(crate) fn has_joints(problem: &FactoredProblem) -> bool {
    problem
        .interactions
        .iter()
        .any(|other| is_equality(&other.law))
}
