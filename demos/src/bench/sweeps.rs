//! Gauss–Seidel sweeps alone, on the problem of a step.

use crate::failure::Failure;
use moreau::Simulation;
use moreau::solvers::{
    FactoredProblem, Goal, Momentum, Nsgs, NsgsSettings, ProblemError, rows_of_mut,
};
use std::time::Instant;

/// Sweeps of the short and of the long solve. Their difference in time is that of the sweeps
/// between, since packing and one certificate are in both.
const SWEEPS: [usize; 2] = [100, 200];
/// Pairs of solves are repeated until they took this long together, s, …
const REPEAT_SECONDS: f64 = 1.0;
/// … at most this often. The shortest times count.
const REPEATS: usize = 10;

/// Sweeps on the problem of one step, on one number of threads.
pub(super) struct SweepRow {
    pub(super) scene: String,
    pub(super) step: u64,
    pub(super) contacts: usize,
    pub(super) threads: usize,
    /// Time of one contact in one sweep, ns.
    pub(super) nanoseconds: f64,
    /// `e_scaled` after the long solve.
    pub(super) residual: f64,
}

/// Sweeps the problem of the last step, from its solution on; no rows without contacts.
pub(super) fn sweeps(
    simulation: &Simulation,
    scene: &str,
    step: u64,
    threads: &[usize],
) -> Result<Vec<SweepRow>, Failure> {
    let Some(problem) = simulation.problem() else {
        return Ok(Vec::new());
    };
    let contacts = problem.contacts.len();
    let mut rows = Vec::new();
    for &threads in threads.iter().filter(|_| contacts > 0) {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        let impulse = simulation.impulses();
        let timed = pool.install(|| time(&problem, impulse));
        let (seconds, residual) = timed.map_err(|source| Failure::Sweeps {
            scene: scene.to_owned(),
            step,
            source,
        })?;
        rows.push(SweepRow {
            scene: scene.to_owned(),
            step,
            contacts,
            threads,
            nanoseconds: 1e9 * seconds / contacts as f64,
            residual,
        });
    }
    Ok(rows)
}

/// Time of one sweep, s, and the residual reached.
fn time(
    problem: &FactoredProblem,
    start: &[moreau::glam::DVec3],
) -> Result<(f64, f64), ProblemError> {
    let mut solver = Nsgs::default();
    let mut twist = Vec::new();
    // Out of reach: every solve makes all its sweeps.
    let goal = Goal::scaled(f64::MIN_POSITIVE);
    let mut solve = |sweeps: usize| {
        solver.settings = NsgsSettings {
            min_sweeps: sweeps,
            max_sweeps: sweeps,
            parallel_from: 0,
            momentum: Momentum {
                rises: false,
                turns_after: None,
                ..Momentum::CAPPED
            },
            ..NsgsSettings::default()
        };
        let mut impulse = start.to_vec();
        let started = Instant::now();
        let report =
            solver.solve_factored(problem, rows_of_mut(&mut impulse), &mut twist, &goal)?;
        let seconds = started.elapsed().as_secs_f64();
        Ok::<_, ProblemError>((seconds, report.residual.scaled))
    };
    let (mut least, mut total, mut residual) = ([f64::INFINITY; 2], 0.0, 0.0);
    for _ in 0..REPEATS {
        for (least, sweeps) in least.iter_mut().zip(SWEEPS) {
            let (seconds, reached) = solve(sweeps)?;
            *least = least.min(seconds);
            total += seconds;
            residual = reached;
        }
        if total >= REPEAT_SECONDS {
            break;
        }
    }
    let between = (SWEEPS[1] - SWEEPS[0]) as f64;
    Ok(((least[1] - least[0]) / between, residual))
}
