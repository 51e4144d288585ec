//! The stored problems: small files whose answers are known, on every solver.
//!
//! `data/*.toml` says what each problem shows and what is known of its solutions. Each answer is
//! judged by [`reference`], a dense implementation of the definition that shares no code with
//! the solvers or their judge.
//!
//! **Tolerances.** Solvers are asked for `e_scaled ≤ 1e-10` ([`GOAL`]). The dense sums round elsewhere
//! than the judge: 30 products of at most the size of the reference norm and a condition of up to
//! 100 between `W r` and `u`, 1e-13 in all ([`ROUNDING`]). A residual of 1e-10 moves the solution by
//! `1e-10 × sensitivity` of the reference norm, where `sensitivity` is that of the file (default 100).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a problem that cannot be read fails, and measured figures are printed"
)]

mod budgets;
mod case;
mod chains;
mod contradictions;
mod factored;
mod laws;
mod loader;
mod promises;
mod random;
mod reference;
mod rolling;
mod solvers;
mod suite;
mod transform;

/// `e_scaled` that is asked for.
const GOAL: f64 = 1e-10;
/// Difference of two ways to sum the same residual.
const ROUNDING: f64 = 1e-13;
