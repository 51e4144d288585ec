//! Gauss–Seidel on stored blocks: `u_α = q_α + Σ_β W_αβ r_β`, contacts in their given order.
//!
//! For imported problems, and as the oracle of the twist form. Rows are used as given, also when
//! `W` is not symmetric: the local model is the symmetric part of `W_αα` in `q_loc` and in the
//! solve alike, so a fixed point satisfies the law with the true `u`.

use crate::acceleration::{Relaxation, SweepSums};
use crate::{FrictionProblem, OneContact, Residual, natural_map};
use glam::DVec3;

/// Buffers of the sweep, reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct ExplicitWorkspace {
    local: Vec<OneContact>,
    lambda: Vec<f64>,
    now: Vec<DVec3>,
    before: Vec<DVec3>,
    best: Vec<DVec3>,
}

/// A stored problem on its way to a solution.
pub(crate) struct ExplicitSweep<'a> {
    problem: &'a FrictionProblem,
    space: &'a mut ExplicitWorkspace,
}

impl<'a> ExplicitSweep<'a> {
    /// Prepares the local blocks; `impulse` is the warm start.
    pub(crate) fn new(
        problem: &'a FrictionProblem,
        space: &'a mut ExplicitWorkspace,
        impulse: &[DVec3],
    ) -> Self {
        space.local.clear();
        space.lambda.clear();
        for contact in 0..problem.len() {
            let block = problem.delassus.block(contact, contact);
            space
                .lambda
                .push((block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0);
            space.local.push(OneContact::new(&block));
        }
        space.now.clear();
        space.now.extend_from_slice(impulse);
        space.before.clone_from(&space.now);
        space.best.clone_from(&space.now);
        Self { problem, space }
    }

    /// The best impulse, after [`crate::acceleration::run`].
    pub(crate) fn best(&self) -> &[DVec3] {
        &self.space.best
    }
}

impl Relaxation for ExplicitSweep<'_> {
    fn is_empty(&self) -> bool {
        self.space.now.is_empty()
    }

    fn sweep(&mut self, beta: f64) -> SweepSums {
        let space = &mut *self.space;
        for (now, before) in space.now.iter_mut().zip(&mut space.before) {
            let current = *now;
            *now += (current - *before) * beta;
            *before = current;
        }
        let mut sums = SweepSums::default();
        for contact in 0..space.now.len() {
            let (start, previous) = (space.now[contact], space.before[contact]);
            let u = self.problem.free_velocity[contact]
                + self.problem.delassus.row_times(contact, &space.now);
            let local = &space.local[contact];
            let q = local.to_principal(u) - local.apply_principal(local.to_principal(start));
            let solved =
                local.from_principal(local.solve_principal(q, self.problem.friction[contact]));
            let change = solved - start;
            let lambda = space.lambda[contact];
            sums.turn += lambda * (start - previous).dot(solved - previous);
            sums.uphill -= lambda * change.dot(solved - previous);
            sums.change += lambda * change.length_squared();
            sums.size += lambda * solved.length_squared();
            space.now[contact] = solved;
        }
        sums
    }

    fn residual(&mut self) -> Residual {
        natural_map::stored(self.problem, &self.space.now)
    }

    fn keep(&mut self) {
        self.space.best.clone_from(&self.space.now);
    }

    fn restore(&mut self) {
        self.space.now.clone_from(&self.space.best);
        self.space.before.clone_from(&self.space.best);
    }
}
