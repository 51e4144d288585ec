//! Snapshots of a [`Simulation`].

use super::simulation::Simulation;
use super::{capture, restore};
use crate::snapshot::Snapshot;
use crate::snapshot::error::SnapshotError;
use crate::step::StepState;
use crate::step::threads::Threads;

impl Simulation {
    /// All that the future depends on, between two steps: see [`Snapshot`]. What was changed since the last step is in it, too.
    ///
    /// # Errors
    /// [`SnapshotError::Refused`] if a body or a joint is one that no step would take.
    pub fn snapshot(&self) -> Result<Snapshot, SnapshotError> {
        let mut snapshot = Snapshot::default();
        self.snapshot_into(&mut snapshot)?;
        Ok(snapshot)
    }

    /// As [`Self::snapshot`], into one whose buffers are used again; it is of no use after an error.
    pub(crate) fn snapshot_into(&self, snapshot: &mut Snapshot) -> Result<(), SnapshotError> {
        snapshot.scene = None;
        capture::capture(self.world(), &mut snapshot.image)
    }

    /// Takes the buffers of a snapshot that will be written anew.
    pub(crate) fn reuse(&mut self, snapshot: &mut Snapshot) {
        if let Some(mut state) = self.world_mut().get_resource_mut::<StepState>() {
            state.reuse(std::mem::take(&mut snapshot.image.impulses));
        }
    }

    /// Goes back, or on, to a snapshot of this simulation or of any other: the steps from here on are those that followed it there, to the last bit.
    ///
    /// Bodies and joints whose ids are in the world keep their entities, with all components that are not of this crate; those that are missing are spawned, and
    /// those that are too many are despawned. The schedule stays, and so does the number of threads. There are no contacts and no report until the next step.
    ///
    /// # Errors
    /// [`SnapshotError`] names what no step would take, or a force law that a file did not hold; nothing then changes.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        restore::restore(self.world_mut(), &snapshot.image)
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
