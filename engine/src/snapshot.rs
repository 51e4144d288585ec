//! Snapshots of a simulation: save, restore, resume, roll back, fork [docs/snapshots.md].

pub(crate) mod error;
mod file;
mod format;
pub(crate) mod image;
pub(crate) mod rollback;
pub(crate) mod shape;
pub(crate) mod substance;

use crate::components::BodyId;
use crate::scene::memory::SceneMemory;
use error::SnapshotError;
use format::{Reader, Writer};
use image::Image;
use std::sync::Arc;

/// All that the future of a simulation depends on, between two steps: a simulation that is restored from it makes the same steps as the one it was
/// taken from, to the last bit, on any number of threads.
///
/// That is the settings, the time, bodies and joints with their states, impulses to start from, and what is known of sleep; not the reports and contacts of the last
/// step, which are there again after the next one. In the world these are the components of this crate and names ([`bevy_ecs::name::Name`]); of what else a user has put on
/// entities see [`Simulation::restore`](crate::Simulation::restore).
///
/// It is a value: clones of it share what does not change. [`Snapshot::write`] makes a file of it.
///
/// Closures and laws of the user's own are no data. A snapshot in memory shares the [`BodyForces`](crate::BodyForces) of the world that it was taken from. In a file
/// are [`LinearForce`](crate::LinearForce) and [`PointSpring`](crate::PointSpring); other laws are kept from the bodies that the snapshot is restored to, where these have
/// as many forces, and are a [`SnapshotError::Force`] otherwise. Systems in the schedule, such as edits of interactions, belong to the simulation that has them: a
/// fork has none.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5)))?;
/// simulation.step()?;
/// let snapshot = Snapshot::from_bytes(&simulation.snapshot()?.to_bytes()?)?;
/// simulation.step()?;
/// let end = simulation.pose(ball);
/// simulation.restore(&snapshot)?;
/// assert_ne!(simulation.pose(ball), end);
/// simulation.step()?;
/// assert_eq!(simulation.pose(ball), end);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(crate) image: Image,
    /// Of a scene in motion.
    pub(crate) scene: Option<Arc<SceneMemory>>,
}

impl Snapshot {
    /// Steps made until then.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.image.clock.step
    }

    /// The time that they have reached, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.image.clock.t
    }

    /// The ids of its bodies, ascending.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = BodyId> + '_ {
        self.image.matter.bodies.iter().map(|(id, _)| *id)
    }

    /// Its bytes: with a magic number, the format, the version of the crate, their length and a checksum. The same state gives the same bytes.
    ///
    /// # Errors
    /// [`SnapshotError::Malformed`] if a shape is one that no body can have.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SnapshotError> {
        let mut writer = Writer::new();
        self.image.write(&mut writer)?;
        writer.section("scene", &self.scene.as_deref())?;
        Ok(writer.finish())
    }

    /// Reads bytes of [`Snapshot::to_bytes`].
    ///
    /// # Errors
    /// [`SnapshotError`]: they are something else, truncated, damaged, older or newer, or mean nothing. Whether bodies and joints can be simulated is seen by
    /// [`Simulation::restore`](crate::Simulation::restore).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut reader = Reader::new(bytes)?;
        let image = Image::read(&mut reader)?;
        let scene: Option<SceneMemory> = reader.section("scene")?;
        reader.end()?;
        let scene = scene.map(Arc::new);
        Ok(Self { image, scene })
    }
}
