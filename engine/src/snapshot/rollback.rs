//! The last steps of a simulation, to go back to.

use super::Snapshot;
use super::error::SnapshotError;
use crate::ecs::simulation::Simulation;
use crate::ecs::snapshots::reuse;
use bevy_ecs::world::World;
use std::collections::VecDeque;

/// Snapshots of the last steps, as many as it is told to keep.
///
/// What bodies are is shared between them as long as it does not change; buffers of the oldest are used for the newest. A step of 1,000 bodies takes about 0.2 MB and a
/// few hundredths of its time (docs/snapshots.md). It knows nothing of the emitters of a scene: keep [`SceneRun::snapshot`](crate::SceneRun::snapshot)s of one that has some.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5)))?;
/// let mut rollback = Rollback::new(8);
/// for _ in 0..20 {
///     simulation.step()?;
///     rollback.push(&mut simulation)?;
/// }
/// let end = simulation.pose(ball);
/// // An input of three steps ago has come late: the same steps again, with it.
/// rollback.restore(&mut simulation, 3)?;
/// for _ in 0..3 {
///     simulation.step()?;
///     rollback.push(&mut simulation)?;
/// }
/// assert_eq!(simulation.pose(ball), end);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rollback {
    /// The newest last.
    kept: VecDeque<Snapshot>,
    most: usize,
}

impl Rollback {
    /// Keeps this many snapshots, at least one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            kept: VecDeque::new(),
            most: most.max(1),
        }
    }

    /// How many it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Nothing was pushed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Takes a snapshot; the oldest goes if there are too many.
    ///
    /// # Errors
    /// As [`Simulation::snapshot`]; what it holds then stays, but for the oldest.
    pub fn push(&mut self, simulation: &mut Simulation) -> Result<(), SnapshotError> {
        self.push_world(simulation.world_mut())
    }

    /// As [`Self::push`], of a world in which the step was put by [`install`](crate::install).
    ///
    /// # Errors
    /// As [`Snapshot::of`]; what it holds then stays, but for the oldest.
    pub fn push_world(&mut self, world: &mut World) -> Result<(), SnapshotError> {
        let full = self.kept.len() >= self.most;
        let oldest = if full { self.kept.pop_front() } else { None };
        let mut snapshot = oldest.unwrap_or_default();
        reuse(world, &mut snapshot);
        snapshot.take(world)?;
        self.kept.push_back(snapshot);
        Ok(())
    }

    /// The snapshot of so many pushes ago; 0 is the last one.
    #[must_use]
    pub fn back(&self, pushes: usize) -> Option<&Snapshot> {
        let last = self.kept.len().checked_sub(1)?;
        self.kept.get(last.checked_sub(pushes)?)
    }

    /// Puts a simulation back by so many pushes, and forgets the later ones: 0 is the last one.
    ///
    /// # Errors
    /// [`SnapshotError::TooFarBack`], or as [`Simulation::restore`]; nothing then changes.
    pub fn restore(
        &mut self,
        simulation: &mut Simulation,
        pushes: usize,
    ) -> Result<(), SnapshotError> {
        self.restore_world(simulation.world_mut(), pushes)
    }

    /// As [`Self::restore`], for the world of [`Self::push_world`].
    ///
    /// # Errors
    /// As there.
    pub fn restore_world(&mut self, world: &mut World, pushes: usize) -> Result<(), SnapshotError> {
        let snapshot = self.back(pushes).ok_or(SnapshotError::TooFarBack {
            back: pushes,
            kept: self.kept.len().saturating_sub(1),
        })?;
        snapshot.restore(world)?;
        self.kept.truncate(self.kept.len() - pushes);
        Ok(())
    }
}
