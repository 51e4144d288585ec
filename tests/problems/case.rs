//! A stored problem and what is known of it.

use moreau_solvers::{Goal, StoredProblem};

/// What a file says.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) problem: StoredProblem,
    pub(crate) expect: Expect,
}

/// What is known of the solutions.
#[derive(Debug)]
pub(crate) struct Expect {
    /// There is a solution.
    pub(crate) solvable: bool,
    pub(crate) unique: Unique,
    /// Closed forms, one entry a row: all the solutions there are if `unique` is `Impulse` or `Nothing`.
    pub(crate) impulses: Vec<Vec<f64>>,
    /// Closed form of `u`.
    pub(crate) velocity: Option<Vec<f64>>,
    /// Error of a solution over its residual, both scaled.
    pub(crate) sensitivity: f64,
    /// Solvers that need not reach the goal here.
    pub(crate) hard: Vec<String>,
    /// `e_fclib` is asked for as well.
    pub(crate) both: bool,
}

/// What all solutions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unique {
    Impulse,
    Velocity,
    Nothing,
}

impl Case {
    pub(crate) fn goal(&self) -> Goal<'static> {
        if self.expect.both {
            Goal::both(crate::GOAL)
        } else {
            Goal::scaled(crate::GOAL)
        }
    }

    /// The solver `name` has to reach the goal.
    pub(crate) fn is_due(&self, name: &str) -> bool {
        self.expect.solvable && !self.expect.hard.iter().any(|hard| hard == name)
    }
}
