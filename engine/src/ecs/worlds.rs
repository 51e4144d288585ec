//! Many simulations at once.

use super::simulation::Simulation;
use crate::error::StepError;
use crate::results::report::StepReport;
use crate::snapshot::error::SnapshotError;
use crate::step::threads::Threads;
use rayon::prelude::*;

/// Independent simulations that are stepped in parallel on one pool: the worlds of a planner, or of reinforcement learning.
///
/// Each has its own settings, bodies and time, and its steps have the same bits as if it were alone, on any number of threads. A world whose step fails is
/// as it was before, and the others go on.
///
/// ```
/// use moreau::prelude::*;
/// let mut worlds = Worlds::new(8, 2, |index, threads| {
///     let mut world = Simulation::with_threads(Settings::default(), threads)?;
///     world.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
///     let height = 1.0 + 0.1 * index as f64;
///     world.spawn((RigidBody::Dynamic, Collider::sphere(0.1), Pose::at(0.0, 0.0, height), BodyId(7)))?;
///     Ok(world)
/// })?;
/// // Array in, array out: a force on each ball, and its height after ten steps.
/// let forces = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// let mut heights = [0.0; 8];
/// let push = |world: &mut Simulation, force: &[f64]| {
///     let wrench = Wrench { force: DVec3::Z * force[0], ..Wrench::default() };
///     if let Some(ball) = world.body(BodyId(7)) {
///         world.set(ball, wrench);
///     }
/// };
/// let see = |world: &mut Simulation, height: &mut [f64]| {
///     let pose = world.state().and_then(|state| state.pose(BodyId(7)));
///     height[0] = pose.map_or(f64::NAN, |pose| pose.position.z);
/// };
/// worlds.advance(10, (&forces, push), (&mut heights, see))?;
/// assert!(heights.is_sorted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Worlds {
    worlds: Vec<Simulation>,
    reports: Vec<Result<StepReport, StepError>>,
    threads: Threads,
}

/// What was wrong with a batch of worlds.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldsError {
    /// An array has not as many numbers for each world as for the others.
    #[error("{what}: {found} numbers for {worlds} worlds, must be a multiple of their number")]
    Length {
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The number of worlds.
        worlds: usize,
    },
    /// A world was refused, or one of its steps: the first of them.
    #[error("world {index}: {source}")]
    World {
        /// Its place.
        index: usize,
        /// What was wrong.
        source: StepError,
    },
}

impl Worlds {
    /// `count` worlds, each made by `make` from its index, on a pool of `threads` (0: one a core). `make` hands the given threads on to
    /// [`Simulation::with_threads`].
    ///
    /// # Errors
    /// [`WorldsError::World`] of the first world that could not be made, or of world 0 if there are no such threads.
    pub fn new(
        count: usize,
        threads: usize,
        make: impl Fn(usize, Threads) -> Result<Simulation, StepError> + Sync,
    ) -> Result<Self, WorldsError> {
        let refused = |index| move |source| WorldsError::World { index, source };
        let threads = Threads::shared(threads).map_err(refused(0))?;
        let made = |index| make(index, Threads::of_caller()).map_err(refused(index));
        let worlds: Vec<_> = threads.run_within(|| (0..count).into_par_iter().map(made).collect());
        Ok(Self {
            worlds: worlds.into_iter().collect::<Result<_, _>>()?,
            reports: Vec::new(),
            threads,
        })
    }

    /// `count` copies of a world, which go on from where it is, on a pool of `threads` (0: one a core). What a user has put on entities or into
    /// its schedule is not in them.
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings::default())?;
    /// simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5), BodyId(7)))?;
    /// let mut worlds = Worlds::of(&simulation, 3, 1)?;
    /// worlds.step();
    /// simulation.step()?;
    /// let hash = simulation.state_hash();
    /// assert!(worlds.each(|_, world| world.state_hash()).iter().all(|of| *of == hash));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Simulation::fork`]; [`SnapshotError::Refused`] if there are no such threads.
    pub fn of(world: &Simulation, count: usize, threads: usize) -> Result<Self, SnapshotError> {
        let (snapshot, threads) = (world.snapshot()?, Threads::shared(threads)?);
        let copy = |_| Simulation::from_snapshot_with(&snapshot, Threads::of_caller());
        let worlds: Vec<_> = threads.run_within(|| (0..count).into_par_iter().map(copy).collect());
        Ok(Self {
            worlds: worlds.into_iter().collect::<Result<_, _>>()?,
            reports: Vec::new(),
            threads,
        })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.worlds.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.worlds.is_empty()
    }

    /// A world.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Simulation> {
        self.worlds.get(index)
    }

    /// A world, to be changed, or replaced: its reset.
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Simulation> {
        self.worlds.get_mut(index)
    }

    /// All worlds, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Simulation> {
        self.worlds.iter()
    }

    /// Does something with each world, in parallel: the results in their order.
    pub fn each<R: Send>(&mut self, work: impl Fn(usize, &mut Simulation) -> R + Sync) -> Vec<R> {
        let worlds = &mut self.worlds;
        self.threads.run_within(|| {
            let worlds = worlds.par_iter_mut().enumerate();
            worlds.map(|(index, world)| work(index, world)).collect()
        })
    }

    /// Makes one step of each world. The report of each, or why it failed.
    pub fn step(&mut self) -> &[Result<StepReport, StepError>] {
        self.reports = self.each(|_, world| world.step());
        &self.reports
    }

    /// Gives each world its part of an array by `act`, makes `steps` of it, and writes its part of another by `see`; both arrays
    /// have the same number of numbers for each world, one world after the other.
    ///
    /// # Errors
    /// [`WorldsError::Length`], and nothing is done; [`WorldsError::World`] of the first world of which a step failed: that one is as before this step and makes no
    /// further one, all others are stepped and seen.
    pub fn advance(
        &mut self,
        steps: usize,
        (actions, act): (&[f64], impl Fn(&mut Simulation, &[f64]) + Sync),
        (seen, see): (&mut [f64], impl Fn(&mut Simulation, &mut [f64]) + Sync),
    ) -> Result<(), WorldsError> {
        let count = self.len();
        for (what, found) in [("actions", actions.len()), ("observations", seen.len())] {
            if found.checked_rem(count).unwrap_or(found) != 0 {
                return Err(WorldsError::Length {
                    what,
                    found,
                    worlds: count,
                });
            }
        }
        if count == 0 {
            return Ok(());
        }
        let action = actions.len() / count;
        let mut parts: Vec<&mut [f64]> = match seen.len() / count {
            0 => (0..count).map(|_| &mut [][..]).collect(),
            width => seen.chunks_mut(width).collect(),
        };
        let worlds = &mut self.worlds;
        let done: Vec<Result<(), StepError>> = self.threads.run_within(|| {
            let worlds = worlds.par_iter_mut().zip(&mut parts).enumerate();
            let each = worlds.map(|(index, (world, seen))| {
                act(world, &actions[index * action..(index + 1) * action]);
                let stepped = (0..steps).try_for_each(|_| world.step().map(drop));
                see(world, seen);
                stepped
            });
            each.collect()
        });
        let failed = done.into_iter().enumerate();
        let mut failed = failed.filter_map(|(index, done)| Some((index, done.err()?)));
        match failed.next() {
            Some((index, source)) => Err(WorldsError::World { index, source }),
            None => Ok(()),
        }
    }
}
