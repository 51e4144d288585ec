//! Snapshots of a world that has the step, and of a [`Simulation`].

use super::simulation::Simulation;
use super::{capture, restore};
use crate::snapshot::Snapshot;
use crate::snapshot::error::SnapshotError;
use crate::step::StepState;
use crate::step::threads::Threads;
use bevy_ecs::prelude::*;

/// A world was restored from a snapshot: triggered after all is in place, for observers that keep something of bodies and joints.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored;

/// Worlds of the user's own, in which the step was put by [`install`](crate::install).
impl Snapshot {
    /// All that the future of the bodies of a world depends on, between two steps. What was changed since the last step is in it, too.
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use moreau::prelude::*;
    /// let (mut world, mut schedule) = (World::new(), Schedule::default());
    /// moreau::install(&mut world, &mut schedule, Settings::default())?;
    /// let ball = world.spawn((RigidBody::Dynamic, Collider::sphere(0.5))).id();
    /// let start = Snapshot::of(&world)?;
    /// schedule.run(&mut world);
    /// start.restore(&mut world)?;
    /// assert_eq!(world.get::<Pose>(ball), Some(&Pose::default()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError::Refused`] if a body or a joint is one that no step would take, or the world has no step; [`SnapshotError::WithinStep`] between the phases
    /// of one.
    pub fn of(world: &World) -> Result<Self, SnapshotError> {
        let mut snapshot = Self::default();
        snapshot.take(world)?;
        Ok(snapshot)
    }

    /// As [`Self::of`], into buffers that are used again; of no use after an error.
    pub(crate) fn take(&mut self, world: &World) -> Result<(), SnapshotError> {
        self.scene = None;
        capture::capture(world, &mut self.image)
    }

    /// Puts a world that has the step back, or on, to this snapshot of it or of any other: the steps from here on are those that followed it there, to the last bit.
    ///
    /// Bodies and joints whose ids are in the world keep their entities, with all components that are not of this crate; those that are missing are spawned, and
    /// those that are too many are despawned. Of [`Disabled`](bevy_ecs::entity_disabling::Disabled) ones a snapshot holds the ids alone: they stay as they are, but those
    /// that it has are bodies again, and those that were disabled then are so again. Schedules stay, and so does the number of threads. There are no contacts and no report until the next step. At the end [`Restored`] is
    /// triggered.
    ///
    /// # Errors
    /// [`SnapshotError`] names what no step would take, or a force law that a file did not hold; nothing then changes.
    pub fn restore(&self, world: &mut World) -> Result<(), SnapshotError> {
        restore::restore(world, &self.image)?;
        world.trigger(Restored);
        world.flush();
        Ok(())
    }
}

/// Takes the buffers of a snapshot that will be written anew.
pub(crate) fn reuse(world: &mut World, snapshot: &mut Snapshot) {
    if let Some(mut state) = world.get_resource_mut::<StepState>() {
        state.reuse(std::mem::take(&mut snapshot.image.impulses));
    }
}

impl Simulation {
    /// All that the future depends on, between two steps: see [`Snapshot`]. What was changed since the last step is in it, too.
    ///
    /// # Errors
    /// [`SnapshotError::Refused`] if a body or a joint is one that no step would take.
    pub fn snapshot(&self) -> Result<Snapshot, SnapshotError> {
        Snapshot::of(self.world())
    }

    /// Goes back, or on, to a snapshot of this simulation or of any other: see [`Snapshot::restore`].
    ///
    /// # Errors
    /// As [`Snapshot::restore`]; nothing then changes.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        snapshot.restore(self.world_mut())
    }

    /// A simulation of its own that goes on from a snapshot, on threads of its own.
    ///
    /// # Errors
    /// As [`Simulation::restore`].
    pub fn from_snapshot(snapshot: &Snapshot) -> Result<Self, SnapshotError> {
        Self::from_snapshot_with(snapshot, Threads::own())
    }

    /// As [`Simulation::from_snapshot`], on given threads, which other simulations may share.
    ///
    /// # Errors
    /// As [`Simulation::restore`].
    pub fn from_snapshot_with(
        snapshot: &Snapshot,
        threads: Threads,
    ) -> Result<Self, SnapshotError> {
        let mut simulation = Self::with_threads(snapshot.image.settings, threads)?;
        simulation.restore(snapshot)?;
        Ok(simulation)
    }

    /// A copy that goes on from here by itself, for plans: what happens to it changes nothing here. It steps on the thread that calls it, so that many forks can be
    /// stepped side by side. What a user has put on entities or into the schedule is not in it.
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings::default())?;
    /// simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5)))?;
    /// let mut plan = simulation.fork()?;
    /// plan.step()?;
    /// assert_eq!(simulation.time(), 0.0);
    /// simulation.step()?;
    /// assert_eq!(simulation.state_hash(), plan.state_hash());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Simulation::snapshot`].
    pub fn fork(&self) -> Result<Self, SnapshotError> {
        Self::from_snapshot_with(&self.snapshot()?, Threads::of_caller())
    }
}
