//! Checks that the forms of a problem share.

use super::ProblemError;
use glam::DVec3;
use rayon::prelude::*;

/// Index of the first row that is not `right`; on the threads of the pool where there are many.
pub(super) fn first_wrong<T: Sync>(rows: &[T], right: impl Fn(&T) -> bool + Sync) -> Option<usize> {
    if is_shared(rows.len()) {
        let rows = rows.par_iter().with_min_len(1024);
        rows.position_first(|row| !right(row))
    } else {
        rows.iter().position(|row| !right(row))
    }
}

/// So many contacts or bodies are worth the threads of the pool that the caller runs in, if there is one.
pub(crate) fn is_shared(rows: usize) -> bool {
    const WORTH_IT: usize = 3000;
    rows >= WORTH_IT && rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1
}

pub(crate) fn expect_length(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), ProblemError> {
    if found == expected {
        Ok(())
    } else {
        Err(ProblemError::Length {
            what,
            found,
            expected,
        })
    }
}

/// One finite impulse a block.
pub(crate) fn check_warm_start(impulse: &[DVec3], expected: usize) -> Result<(), ProblemError> {
    if impulse.len() != expected {
        return Err(ProblemError::Length {
            what: "impulse",
            found: impulse.len(),
            expected,
        });
    }
    match first_wrong(impulse, |r| r.is_finite()) {
        None => Ok(()),
        Some(index) => Err(ProblemError::NotFinite {
            what: "impulse",
            index,
            value: f64::NAN,
        }),
    }
}

pub(crate) fn check_friction(contact: usize, value: f64) -> Result<(), ProblemError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(ProblemError::Friction { contact, value })
    }
}

pub(super) fn first_non_finite(a: DVec3, b: DVec3) -> f64 {
    let all = [a.x, a.y, a.z, b.x, b.y, b.z];
    all.into_iter().find(|x| !x.is_finite()).unwrap_or(0.0)
}
