//! Gauss–Seidel on the bodies' twists: `W` is applied as `G Ŵ Gᵀ`, one sweep costs `O(n_c)`.
//!
//! | symbol | meaning |
//! |---|---|
//! | `v_j` | current twist of body `j`, always `v_free + Ŵ Gᵀ r` up to rounding |
//! | `y = x + β(x − x_prev)` | impulses the sweep starts from, formed contact by contact |
//!
//! ```text
//! for each contact α:
//!     u_α   = G_α v + d_α                          from the two twists
//!     q_loc = u_α − W_αα y_α
//!     x_α   = one-contact solve(W_αα, q_loc, μ_α)
//!     v_A  += Ŵ_A G_Aᵀ (x_α − y_α),   v_B likewise
//! ```
//!
//! Eight contacts without a body in common are solved side by side ([`crate::lanes`]); large problems
//! are cut into slabs, which threads may sweep at the same time ([`super::slabs`]). Cuts, colours and
//! sums depend on the problem alone: so do the bits of the result.

use super::acceleration::{CHECK_EVERY, Relaxation, Stride, SweepSums};
use super::ball_lanes::BallMass;
use super::members::Members;
use super::rows::{Extrapolate, FIRST_ROW, Row};
use super::slabs::{Slabs, Task};
use super::unit::{self, Source, Unit};
use crate::lanes::Dispatch;
use crate::problem::{FactoredProblem, ProblemError, WorldTwist};
use crate::progress::Progress;
use crate::{Residual, natural_map};
use glam::DVec3;
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Contacts a thread whose lanes, 136 bytes each, no longer fit the second-level cache of a core.
const FAR: usize = 6_000;

/// Sweeps that take as long as unpacking the impulses and judging them: three to six.
const CHECK_COST: usize = 6;

/// Twists of the bodies of a slab: now, and before the last sweep.
#[derive(Debug, Default)]
struct Slab {
    now: Vec<Row>,
    before: Vec<Row>,
}

/// Buffers of the sweep, reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct LaneWorkspace {
    members: Members,
    cut: Slabs,
    slabs: Vec<Mutex<Slab>>,
    units: Vec<Mutex<Unit>>,
    masses: Vec<BallMass>,
    impulse: Vec<DVec3>,
    twist: Vec<WorldTwist>,
    /// The square of `v_α = λ_α‖F_α‖` of each contact when it was judged last, m²/s².
    pub(crate) squares: Vec<f64>,
    first_triples: Vec<u32>,
}

impl LaneWorkspace {
    /// Judges impulses that no sweep has changed yet, of a problem whose contacts have not been checked. True if they are good enough;
    /// with `exact` only a residual of zero is, and no other is taken notice of.
    pub(crate) fn judge(
        &mut self,
        problem: &FactoredProblem,
        impulse: &[DVec3],
        exact: bool,
        progress: &mut Progress,
    ) -> Result<bool, ProblemError> {
        problem.refuse_links("sweeps on twists")?;
        problem.validate_contacts()?;
        let (squares, twist) = (&mut self.squares, &mut self.twist);
        let residual = natural_map::factored_with_squares(problem, impulse, squares, twist);
        if exact && residual.whole() != 0.0 {
            return Ok(false);
        }
        progress.judge(&residual, impulse);
        Ok(progress.finished())
    }

    /// `v_free + Ŵ Gᵀ r` of the best iterate of `progress`, into `twist`: what the judge worked with,
    /// if that iterate was judged last.
    pub(crate) fn twist_of_best(
        &mut self,
        problem: &FactoredProblem,
        progress: &Progress,
        twist: &mut Vec<WorldTwist>,
    ) {
        if progress.best_is_last() {
            std::mem::swap(twist, &mut self.twist);
        } else {
            problem.twist_under_triples(progress.best(), twist);
        }
    }
}

/// A factored problem and its iterate.
pub(crate) struct LaneSweep<'a> {
    problem: &'a FactoredProblem<'a>,
    space: &'a mut LaneWorkspace,
    dispatch: Dispatch,
    shared: bool,
    far: bool,
}

/// Code under a lock does not panic, so a poisoned lock is still sound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` with `0..count`, on several threads if `shared`.
fn for_each(shared: bool, count: usize, work: impl Fn(usize) + Sync + Send) {
    if shared && count > 1 {
        (0..count).into_par_iter().with_max_len(1).for_each(work);
    } else {
        (0..count).for_each(work);
    }
}

impl<'a> LaneSweep<'a> {
    /// Checks the contacts of a problem and packs it; `impulse` is the warm start. `shared`: on the
    /// threads of the pool that this is called in. `simd`: with the best instruction set of the machine.
    pub(crate) fn new(
        problem: &'a FactoredProblem<'a>,
        space: &'a mut LaneWorkspace,
        impulse: &[DVec3],
        shared: bool,
        simd: bool,
    ) -> Result<Self, ProblemError> {
        problem.refuse_links("sweeps on twists")?;
        let (blocks, free) = (problem.inverse_mass, problem.free_twist);
        let mass = |j: usize| BallMass::of(&blocks[j], &free[j]);
        if shared {
            let bodies = (0..blocks.len()).into_par_iter().with_min_len(1024);
            bodies.map(mass).collect_into_vec(&mut space.masses);
        } else {
            space.masses.clear();
            space.masses.extend((0..blocks.len()).map(mass));
        }
        space.members.read(problem, &space.masses, shared)?;
        let (members, cut) = (&mut space.members, &mut space.cut);
        cut.cut(problem, members.links());
        members.sort(cut, shared);
        cut.number_units(members);
        space.first_triples.clear();
        let others = problem.others().map(|(range, _)| range.start as u32);
        space.first_triples.extend(others);
        let units = space.units.len().max(cut.units.len());
        space.units.resize_with(units, Mutex::default);
        let slabs = space.slabs.len().max(cut.len());
        space.slabs.resize_with(slabs, Mutex::default);
        let threads = if shared {
            rayon::current_num_threads()
        } else {
            1
        };
        let sweep = Self {
            problem,
            space,
            dispatch: Dispatch::new(simd),
            shared,
            far: problem.contacts.len() >= FAR * threads,
        };
        sweep.start(|unit, own| sweep.pack(unit, own, impulse));
        Ok(sweep)
    }

    /// Slab and row of each of these bodies; `None` of those that no contact moves.
    pub(crate) fn places(&self, bodies: &[u32]) -> Vec<Option<(u32, u32)>> {
        let cut = &self.space.cut;
        bodies.iter().map(|body| cut.slab_and_row(*body)).collect()
    }

    /// The present twists of bodies at such places.
    pub(crate) fn read(&mut self, places: &[Option<(u32, u32)>], twists: &mut [[f64; 6]]) {
        for (place, twist) in places.iter().zip(twists) {
            if let Some((slab, row)) = place {
                let slab = get_mut(&mut self.space.slabs[*slab as usize]);
                twist.copy_from_slice(&slab.now[*row as usize].0[..6]);
            }
        }
    }

    /// Sets them; `at_rest`: those before the last sweep too.
    pub(crate) fn write(
        &mut self,
        places: &[Option<(u32, u32)>],
        twists: &[[f64; 6]],
        at_rest: bool,
    ) {
        for (place, twist) in places.iter().zip(twists) {
            if let Some((slab, row)) = place {
                let slab = get_mut(&mut self.space.slabs[*slab as usize]);
                slab.now[*row as usize].0[..6].copy_from_slice(twist);
                if at_rest {
                    slab.before[*row as usize].0[..6].copy_from_slice(twist);
                }
            }
        }
    }

    /// The present impulses, in the problem's order and frames.
    pub(crate) fn unpack(&mut self) -> &[DVec3] {
        let LaneWorkspace {
            cut,
            units,
            impulse,
            ..
        } = &mut *self.space;
        for_each(self.shared, cut.units.len(), |unit| {
            lock(&units[unit]).unpack(self.problem);
        });
        impulse.resize(self.problem.triples(), DVec3::ZERO);
        for unit in &units[..cut.units.len()] {
            lock(unit).give(impulse);
        }
        impulse
    }

    /// Colours and packs the members of a unit.
    fn pack(&self, unit: usize, own: &mut Unit, impulse: &[DVec3]) {
        let space = &*self.space;
        let cut = &space.cut;
        let first = FIRST_ROW as usize + cut.driven.len();
        let slabs = cut.units[unit];
        let [a, b] = slabs.map(|slab| first + cut.bodies[slab as usize].len());
        let rows = [a, if slabs[0] == slabs[1] { 0 } else { b }];
        space.members.collect(cut.key(slabs), &mut own.members);
        let source = Source {
            problem: self.problem,
            masses: &space.masses,
            impulse,
            first_triples: &space.first_triples,
            dispatch: self.dispatch,
        };
        own.pack(&source, rows);
    }

    fn row(&self, body: usize) -> Row {
        let mass = self.space.masses[body];
        Row::new(&self.problem.free_twist[body], mass.linear, mass.angular())
    }

    /// Begins at rest with the impulses that `load` puts into each unit.
    fn start(&self, load: impl Fn(usize, &mut Unit) + Sync) {
        let LaneWorkspace {
            cut, slabs, units, ..
        } = &*self.space;
        for_each(self.shared, cut.units.len(), |unit| {
            let own = &mut *lock(&units[unit]);
            load(unit, own);
            if unit < cut.len() {
                let now = &mut lock(&slabs[unit]).now;
                let bodies = cut.driven.iter().chain(&cut.bodies[unit]);
                now.clear();
                now.resize(FIRST_ROW as usize, Row::default());
                now.extend(bodies.map(|j| self.row(*j as usize)));
                own.push(unit::Slabs::One(now), self.dispatch);
            }
        });
        for round in &cut.rounds {
            for_each(self.shared, round.len(), |k| {
                let Some(unit) = round[k].between else {
                    return;
                };
                let [mut a, mut b] = round[k].slabs.map(|slab| lock(&slabs[slab as usize]));
                let rows = unit::Slabs::Two([&mut a.now, &mut b.now]);
                lock(&units[unit as usize]).push(rows, self.dispatch);
            });
        }
        for_each(self.shared, cut.len(), |slab| {
            let Slab { now, before } = &mut *lock(&slabs[slab]);
            before.clone_from(now);
        });
    }

    /// The part of a task in a sweep. In the first round it begins with the extrapolation of its slabs.
    fn visit(&self, task: &Task, first: bool, stride: Stride) {
        let LaneWorkspace { slabs, units, .. } = &*self.space;
        let [a, b] = task.slabs;
        let mut low = lock(&slabs[a as usize]);
        let mut high = (b != a).then(|| lock(&slabs[b as usize]));
        if first {
            for slab in std::iter::once(&mut low).chain(&mut high) {
                let Slab { now, before } = &mut **slab;
                let beta = stride.beta;
                self.dispatch.run(Extrapolate { now, before, beta });
            }
        }
        if let Some(unit) = task.inside {
            let rows = unit::Slabs::One(&mut low.now);
            lock(&units[unit as usize]).sweep(rows, stride, self.far, self.dispatch);
        }
        if let (Some(unit), Some(high)) = (task.between, &mut high) {
            let rows = unit::Slabs::Two([&mut low.now, &mut high.now]);
            lock(&units[unit as usize]).sweep(rows, stride, self.far, self.dispatch);
        }
    }
}

impl Relaxation for LaneSweep<'_> {
    fn check_after(&self, _: usize) -> usize {
        CHECK_EVERY
    }

    fn check_cost(&self) -> usize {
        CHECK_COST
    }

    fn is_empty(&self) -> bool {
        self.problem.is_empty()
    }

    fn sweep(&mut self, stride: Stride) -> SweepSums {
        let this = &*self;
        let cut = &this.space.cut;
        for (number, round) in cut.rounds.iter().enumerate() {
            for_each(this.shared, round.len(), |k| {
                this.visit(&round[k], number == 0, stride);
            });
        }
        let mut sums = SweepSums::default();
        for unit in &this.space.units[..cut.units.len()] {
            sums.add(&lock(unit).sums);
        }
        sums
    }

    fn residual(&mut self) -> Residual {
        self.unpack();
        let LaneWorkspace {
            impulse,
            twist,
            squares,
            ..
        } = &mut *self.space;
        natural_map::factored_with_squares(self.problem, impulse, squares, twist)
    }

    fn residual_of(&mut self, impulse: &[DVec3]) -> Residual {
        natural_map::factored_triples(self.problem, impulse, &mut self.space.twist)
    }

    fn impulse(&self) -> &[DVec3] {
        &self.space.impulse
    }

    fn restart(&mut self, impulse: &[DVec3]) {
        self.start(|_, own| own.restart(self.problem, impulse));
    }
}

#[cfg(test)]
mod tests;
