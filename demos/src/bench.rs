//! `moreau bench`: whole steps, their sweeps and the memory behind them; solvers side by side; tasks that other engines did; piles of
//! other shapes than balls; machines.

mod bandwidth;
mod machine;
mod machines;
mod piles;
mod plan;
mod report;
mod simbench;
mod solvers;
mod standing;
mod steps;
mod sweeps;
mod timing_parts;

use crate::cli::{Bench, BenchOptions};
use crate::failure::Failure;

/// The timings, or the comparison of methods that was asked for.
pub(crate) fn bench(options: &BenchOptions) -> Result<(), Failure> {
    match &options.methods {
        None => report::report(&options.timings),
        Some(Bench::Solvers(options)) => solvers::solvers(options),
        Some(Bench::Simbench(options)) => simbench::simbench(options),
        Some(Bench::Piles(options)) => piles::piles(options),
        Some(Bench::Machines(options)) => machines::machines(options),
    }
}
