//! Gauss–Seidel on stored blocks: `u_α = q_α + Σ_β W_αβ r_β`, interactions in their order or against it.
//!
//! For imported problems, and as the oracle of the twist form. Rows are used as given, also when
//! `W` is not symmetric: the local model is the symmetric part of `W_αα` in `q_loc` and in the
//! solve alike, so a fixed point satisfies the law with the true `u`. Equality rows change by
//! `−W_αα⁺ u_α`, so that singular blocks take the least-norm change.

use crate::law::list::{rows_of, rows_of_mut};
use crate::law::one_block::OneBlock;
use crate::sweep::acceleration::{CHECK_EVERY, Relaxation, Stride, SweepSums};
use crate::{Law, OneContact, Residual, StoredProblem, natural_map};
use glam::DVec3;

/// Buffers of the sweep, reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct ExplicitWorkspace {
    /// One an interaction.
    pub(crate) local: Vec<OneBlock>,
    pub(crate) memory: Vec<f64>,
    /// One a triple.
    pub(crate) lambda: Vec<f64>,
    pub(crate) now: Vec<DVec3>,
    pub(crate) before: Vec<DVec3>,
    velocity: Vec<DVec3>,
    start: Vec<DVec3>,
}

/// A stored problem and its iterate.
pub(crate) struct ExplicitSweep<'a> {
    pub(crate) problem: &'a StoredProblem,
    pub(crate) space: &'a mut ExplicitWorkspace,
    /// The interactions are visited from the last to the first.
    reversed: bool,
}

impl<'a> ExplicitSweep<'a> {
    /// Prepares the local blocks; `impulse` is the warm start.
    pub(crate) fn new(
        problem: &'a StoredProblem,
        space: &'a mut ExplicitWorkspace,
        impulse: &[DVec3],
    ) -> Self {
        problem.scales(&mut space.lambda);
        space.local.clear();
        space.local.reserve(problem.len());
        let mut block = Vec::new();
        for (range, law) in problem.laws.iter() {
            let moves = || space.lambda[range.start] > 0.0;
            let contact = match law {
                Law::Coulomb(law) => Some(law.friction),
                // With its spare row it is a contact in space whose second tangent is coupled to nothing.
                Law::PlanarCoulomb(law) if moves() => Some(law.friction),
                _ => None,
            };
            if let Some(friction) = contact {
                let local = OneContact::new(problem.delassus.diagonal(range.start));
                space.local.push(OneBlock::Contact(local, friction));
            } else {
                problem.block(range, law.rows(), &mut block);
                space.local.push(OneBlock::new(law, &block));
            }
        }
        let mut sweep = Self {
            problem,
            space,
            reversed: false,
        };
        sweep.restart(impulse);
        sweep
    }
}

impl ExplicitSweep<'_> {
    /// `λ_α`, the weights of the norm.
    pub(crate) fn lambda(&self) -> &[f64] {
        &self.space.lambda
    }

    /// Continues from `impulse`, at rest, and keeps what the local solvers remember.
    pub(crate) fn move_to(&mut self, impulse: &[DVec3]) {
        self.space.now.copy_from_slice(impulse);
        self.space.before.copy_from_slice(impulse);
    }

    /// `y = x + β (x − x_prev)`.
    pub(crate) fn extrapolate(&mut self, beta: f64) {
        let space = &mut *self.space;
        for (now, before) in space.now.iter_mut().zip(&mut space.before) {
            let current = *now;
            *now += (current - *before) * beta;
            *before = current;
        }
    }

    /// Solves an interaction with all others frozen.
    #[inline(always)]
    pub(crate) fn relax(&mut self, interaction: usize, part_of_normal: f64, sums: &mut SweepSums) {
        let (problem, space) = (self.problem, &mut *self.space);
        if let OneBlock::Contact(local, friction) = &space.local[interaction] {
            let triple = problem.laws.range(interaction).start;
            let start = space.now[triple];
            let mut u = local.to_principal(problem.velocity(triple, &space.now));
            u.x *= part_of_normal;
            let q = u - local.apply_principal(local.to_principal(start));
            let memory = &mut space.memory[interaction];
            let solved = local.solve_principal_from(q, *friction, memory);
            let solved = local.from_principal(solved);
            sums.add_change(space.lambda[triple], [space.before[triple], start, solved]);
            space.now[triple] = solved;
        } else {
            self.relax_rows(interaction, part_of_normal, sums);
        }
    }

    /// [`Self::relax`] for what is no contact.
    #[inline(never)]
    fn relax_rows(&mut self, interaction: usize, part_of_normal: f64, sums: &mut SweepSums) {
        let (problem, space) = (self.problem, &mut *self.space);
        let range = problem.laws.range(interaction);
        let m = problem.laws.law(interaction).rows();
        space.velocity.clear();
        let velocity = range
            .clone()
            .map(|triple| problem.velocity(triple, &space.now));
        space.velocity.extend(velocity);
        space.start.clear();
        space.start.extend_from_slice(&space.now[range.clone()]);
        let w = &rows_of(&space.velocity)[..m];
        let r = &mut rows_of_mut(&mut space.now[range.clone()])[..m];
        let memory = &mut space.memory[interaction];
        space.local[interaction].relax(w, r, part_of_normal, memory);
        for (triple, start) in range.zip(&space.start) {
            let states = [space.before[triple], *start, space.now[triple]];
            sums.add_change(space.lambda[triple], states);
        }
    }
}

impl Relaxation for ExplicitSweep<'_> {
    /// Single problems may be near the goal at any time, whatever the last change was.
    fn check_after(&self, sweeps: usize) -> usize {
        sweeps.clamp(1, CHECK_EVERY)
    }

    fn is_empty(&self) -> bool {
        self.space.now.is_empty()
    }

    fn sweep(&mut self, stride: Stride) -> SweepSums {
        self.extrapolate(stride.beta);
        let mut sums = SweepSums::default();
        if self.reversed {
            for interaction in (0..self.problem.len()).rev() {
                self.relax(interaction, stride.normal, &mut sums);
            }
        } else {
            for interaction in 0..self.problem.len() {
                self.relax(interaction, stride.normal, &mut sums);
            }
        }
        sums
    }

    fn residual(&mut self) -> Residual {
        natural_map::stored_triples(self.problem, &self.space.now)
    }

    fn residual_of(&mut self, impulse: &[DVec3]) -> Residual {
        natural_map::stored_triples(self.problem, impulse)
    }

    fn impulse(&self) -> &[DVec3] {
        &self.space.now
    }

    fn reverse(&mut self) {
        self.reversed = !self.reversed;
    }

    fn restart(&mut self, impulse: &[DVec3]) {
        let space = &mut *self.space;
        space.now.clear();
        space.now.extend_from_slice(impulse);
        space.before.clone_from(&space.now);
        space.memory.clear();
        space.memory.resize(self.problem.len(), 0.0);
    }
}
