//! Gauss–Seidel on stored blocks: `u_α = q_α + Σ_β W_αβ r_β`, contacts in their order or against it,
//! then the joints.
//!
//! For imported problems, and as the oracle of the twist form. Rows are used as given, also when
//! `W` is not symmetric: the local model is the symmetric part of `W_αα` in `q_loc` and in the
//! solve alike, so a fixed point satisfies the law with the true `u`.
//!
//! A joint solves its `m × m` linear block exactly: `r_J ← r_J − W_JJ⁺ u_J`, with the inverse
//! computed once; a singular block takes its least-norm solution in the eigenbasis.

use crate::sweep::acceleration::{CHECK_EVERY, Relaxation, Stride, SweepSums};
use crate::sweep::joint_block::JointBlock;
use crate::sweep::options::{Schedule, SweepOptions};
use crate::{FrictionProblem, OneContact, Residual, natural_map};
use glam::DVec3;

/// Buffers of the sweep, reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct ExplicitWorkspace {
    local: Vec<OneContact>,
    joints: Vec<JointBlock>,
    lambda: Vec<f64>,
    alpha: Vec<f64>,
    now: Vec<DVec3>,
    before: Vec<DVec3>,
    schedule: Schedule,
}

/// A stored problem on its way to a solution.
pub(crate) struct ExplicitSweep<'a> {
    problem: &'a FrictionProblem,
    space: &'a mut ExplicitWorkspace,
    /// The contacts are visited from the last to the first.
    reversed: bool,
    /// Options that the default sweep does not know.
    classical: bool,
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
        for block in 0..problem.len() {
            let local = *problem.delassus.diagonal(block);
            space
                .lambda
                .push((local.x_axis.x + local.y_axis.y + local.z_axis.z) / 3.0);
            if block < problem.contacts() {
                space.local.push(OneContact::new(&local));
            }
        }
        space.joints.clear();
        for range in problem.joint_blocks() {
            space.joints.push(JointBlock::new(&problem.delassus, range));
        }
        let mut sweep = Self {
            problem,
            space,
            reversed: false,
            classical: false,
        };
        sweep.restart(impulse);
        sweep
    }

    /// The same with the options of `options`.
    pub(crate) fn with_options(mut self, options: &SweepOptions) -> Self {
        self.classical = !options.are_default();
        if self.classical {
            let contacts = self.problem.contacts();
            self.space.schedule.begin(options, contacts);
        }
        self
    }
}

impl ExplicitSweep<'_> {
    /// `λ_α`, the weights of the norm.
    pub(crate) fn lambda(&self) -> &[f64] {
        &self.space.lambda
    }

    /// Goes on from `impulse`, at rest, and keeps what the local solvers remember.
    pub(crate) fn move_to(&mut self, impulse: &[DVec3]) {
        self.space.now.copy_from_slice(impulse);
        self.space.before.copy_from_slice(impulse);
    }

    /// `y = x + β (x − x_prev)`.
    fn extrapolate(&mut self, beta: f64) {
        let space = &mut *self.space;
        for (now, before) in space.now.iter_mut().zip(&mut space.before) {
            let current = *now;
            *now += (current - *before) * beta;
            *before = current;
        }
    }

    /// The sweep with options.
    fn sweep_classically(&mut self) -> SweepSums {
        let mut schedule = std::mem::take(&mut self.space.schedule);
        let mut sums = SweepSums::default();
        let backwards = schedule.next_sweep();
        let joints = self.space.joints.len();
        if backwards {
            (0..joints)
                .rev()
                .for_each(|joint| self.relax_joint(joint, &mut sums));
        }
        for position in 0..schedule.len() {
            let contact = schedule.contact(position, backwards);
            self.relax_classically(contact, &mut schedule, &mut sums);
        }
        if !backwards {
            (0..joints).for_each(|joint| self.relax_joint(joint, &mut sums));
        }
        self.space.schedule = schedule;
        sums
    }

    /// One contact of the sweep with options. A frozen one drops its extrapolation too.
    fn relax_classically(&mut self, contact: usize, schedule: &mut Schedule, sums: &mut SweepSums) {
        let (problem, space) = (self.problem, &mut *self.space);
        let (start, before) = (space.now[contact], space.before[contact]);
        let solved = if schedule.skips(contact) {
            before
        } else {
            let u =
                problem.free_velocity[contact] + problem.delassus.row_times(contact, &space.now);
            let local = &space.local[contact];
            let begin = local.to_principal(start);
            let q = local.to_principal(u) - local.apply_principal(begin);
            let memory = &mut space.alpha[contact];
            let friction = problem.friction[contact];
            let solved = schedule.options.solve(local, q, friction, begin, memory);
            let solved = local.from_principal(solved);
            schedule.note(contact, start, solved);
            solved
        };
        sums.add_change(space.lambda[contact], [before, start, solved]);
        space.now[contact] = solved;
    }

    /// Solves contact `contact` with all others frozen.
    #[inline(always)]
    fn relax(&mut self, contact: usize, part_of_normal: f64, sums: &mut SweepSums) {
        let (problem, space) = (self.problem, &mut *self.space);
        let start = space.now[contact];
        let u = problem.free_velocity[contact] + problem.delassus.row_times(contact, &space.now);
        let local = &space.local[contact];
        let mut u = local.to_principal(u);
        u.x *= part_of_normal;
        let q = u - local.apply_principal(local.to_principal(start));
        let alpha = &mut space.alpha[contact];
        let solved = local.solve_principal_from(q, problem.friction[contact], alpha);
        let solved = local.from_principal(solved);
        sums.add_change(
            space.lambda[contact],
            [space.before[contact], start, solved],
        );
        space.now[contact] = solved;
    }

    fn relax_joint(&mut self, joint: usize, sums: &mut SweepSums) {
        let (problem, space) = (self.problem, &mut *self.space);
        let blocks = space.joints[joint].blocks();
        let velocity = |block: usize| {
            problem.free_velocity[block] + problem.delassus.row_times(block, &space.now)
        };
        let change = space.joints[joint].solve(velocity);
        for (block, change) in blocks.zip(change) {
            let start = space.now[block];
            space.now[block] = start - *change;
            sums.add_change(
                space.lambda[block],
                [space.before[block], start, space.now[block]],
            );
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
        if self.classical {
            return self.sweep_classically();
        }
        let mut sums = SweepSums::default();
        if self.reversed {
            for contact in (0..self.problem.contacts()).rev() {
                self.relax(contact, stride.normal, &mut sums);
            }
        } else {
            for contact in 0..self.problem.contacts() {
                self.relax(contact, stride.normal, &mut sums);
            }
        }
        for joint in 0..self.space.joints.len() {
            self.relax_joint(joint, &mut sums);
        }
        sums
    }

    fn residual(&mut self) -> Residual {
        self.space.schedule.thaw();
        natural_map::stored(self.problem, &self.space.now)
    }

    fn residual_of(&mut self, impulse: &[DVec3]) -> Residual {
        natural_map::stored(self.problem, impulse)
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
        space.alpha.clear();
        space.alpha.resize(impulse.len(), 0.0);
    }
}
