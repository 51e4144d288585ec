//! A scene in motion as it is kept: its emitters, what they have given so far, and the state of its random numbers.
//!
//! The bodies and joints of a scene are in the simulation once it has started: what goes on from a snapshot is a scene with its name, its settings, its
//! materials, its motions and its emitters alone.

use super::motion::{Mover, SceneMotion};
use super::random::Lcg;
use super::run::check_emitter;
use super::{BodySpec, Emitter, Scene, SceneError, SceneRun};
use crate::components::mass::RawMass;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::shape::StoredShape;
use crate::{
    CollisionGroups, Drag, GravityScale, Mass, Material, MaterialPairs, RigidBody, Settings,
    Simulation, Snapshot, Twist, Wrench,
};
use glam::{DQuat, DVec3};
use moreau_geometry::Shape;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scene in motion, without its bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SceneMemory {
    about: About,
    /// Of the random numbers.
    random: u64,
    /// Of each emitter how many bodies have come, and whether the next one waits.
    emitted: Vec<(u64, bool)>,
    /// Which bodies are moved, one for each of the motions.
    movers: Vec<Mover>,
}

/// What does not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct About {
    name: String,
    description: String,
    seed: u64,
    duration: f64,
    settings: Settings,
    materials: BTreeMap<String, Material>,
    pairs: MaterialPairs,
    emitters: Vec<StoredEmitter>,
    motions: Vec<SceneMotion>,
}

/// See [`Emitter`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredEmitter {
    center: DVec3,
    half_extents: DVec3,
    start: f64,
    interval: f64,
    count: u64,
    random_orientation: bool,
    bodies: Vec<StoredBody>,
}

/// See [`BodySpec`]; a mesh is in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredBody {
    name: Option<String>,
    kind: RigidBody,
    shape: Option<StoredShape>,
    position: DVec3,
    orientation: DQuat,
    twist: Twist,
    material: Option<String>,
    part_materials: Vec<String>,
    mass: RawMass,
    wrench: Wrench,
    groups: CollisionGroups,
    sensor: bool,
    gravity_scale: GravityScale,
    drag: Drag,
}

impl SceneRun {
    /// All that the future depends on, emitters and random numbers included: as [`Simulation::snapshot`].
    ///
    /// # Errors
    /// As [`Simulation::snapshot`].
    pub fn snapshot(&self) -> Result<Snapshot, SnapshotError> {
        let scene = Some(Arc::new(self.memory()?));
        let snapshot = self.simulation.snapshot()?;
        Ok(Snapshot { scene, ..snapshot })
    }

    /// Goes on from a snapshot of a scene in motion. Of the scene it was started from [`SceneRun::scene`] then has all but single bodies, lattices, joints and
    /// couplers, which are in the simulation; meshes are shapes.
    ///
    /// ```
    /// # #[cfg(feature = "toml")] {
    /// let text = "[[bodies]]\nshape = { sphere = { radius = 0.1 } }";
    /// let mut run = moreau::Scene::from_toml(text, "ball.toml")?.start()?;
    /// run.step()?;
    /// let mut again = moreau::SceneRun::from_snapshot(&run.snapshot()?)?;
    /// assert_eq!(again.step()?.step, 2);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SceneError::Snapshot`]: [`SnapshotError::NoScene`] for that of a simulation alone, or what no step would take; otherwise what is wrong with an emitter.
    pub fn from_snapshot(snapshot: &Snapshot) -> Result<Self, SceneError> {
        let memory = snapshot.scene.as_deref().ok_or(SnapshotError::NoScene)?;
        let scene = Scene::from(&memory.about);
        let mut run = scene.resumed()?;
        run.simulation = Simulation::from_snapshot(snapshot)?;
        run.recall(memory)?;
        Ok(run)
    }

    /// Goes back, or on, to a snapshot of this scene in motion: as [`Simulation::restore`].
    ///
    /// # Errors
    /// As [`SceneRun::from_snapshot`]; nothing then changes. [`SnapshotError::OtherScene`] if it is of a scene with other emitters or motions.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SceneError> {
        let memory = snapshot.scene.as_deref().ok_or(SnapshotError::NoScene)?;
        let own = self.memory()?;
        let alike = own.about.emitters == memory.about.emitters
            && own.about.motions == memory.about.motions
            && own.emitted.len() == memory.emitted.len()
            && own.movers.len() == memory.movers.len();
        if !alike {
            return Err(SnapshotError::OtherScene {
                name: memory.about.name.clone(),
            }
            .into());
        }
        self.simulation.restore(snapshot)?;
        self.recall(memory)
    }

    fn memory(&self) -> Result<SceneMemory, SnapshotError> {
        let Scene {
            name,
            description,
            seed,
            duration,
            settings,
            materials,
            pairs,
            emitters,
            motions,
            ..
        } = self.scene();
        let emitters = emitters.iter().zip(self.sources());
        let emitters = emitters.map(|(emitter, source)| {
            let shapes = source.bodies.iter().map(|(of, _)| of.collider.as_ref());
            let bodies = emitter.bodies.iter().zip(shapes);
            let bodies =
                bodies.map(|(body, shape)| StoredBody::of(body, shape.map(|of| of.shape())));
            Ok(StoredEmitter {
                center: emitter.center,
                half_extents: emitter.half_extents,
                start: emitter.start,
                interval: emitter.interval,
                count: emitter.count as u64,
                random_orientation: emitter.random_orientation,
                bodies: bodies.collect::<Result<_, SnapshotError>>()?,
            })
        });
        let sources = self.sources().iter();
        Ok(SceneMemory {
            about: About {
                name: name.clone(),
                description: description.clone(),
                seed: *seed,
                duration: *duration,
                settings: *settings,
                materials: materials.clone(),
                pairs: pairs.clone(),
                emitters: emitters.collect::<Result<_, SnapshotError>>()?,
                motions: motions.clone(),
            },
            random: self.random().state(),
            emitted: sources
                .map(|source| (source.emitted as u64, source.waits))
                .collect(),
            movers: self.movers().to_vec(),
        })
    }

    fn recall(&mut self, memory: &SceneMemory) -> Result<(), SceneError> {
        let counts = self
            .scene()
            .emitters
            .iter()
            .map(|emitter| emitter.count as u64);
        let known = counts.zip(&memory.emitted).all(|(most, (n, _))| *n <= most);
        if !known || memory.emitted.len() != self.sources().len() {
            let reason = "emitters have given more bodies than they have";
            return Err(SnapshotError::malformed("scene", reason).into());
        }
        if memory.movers.len() != self.scene().motions.len() {
            let reason = "a motion without a body";
            return Err(SnapshotError::malformed("scene", reason).into());
        }
        self.movers_mut().clone_from(&memory.movers);
        self.set_random(Lcg::of_state(memory.random));
        for (source, (emitted, waits)) in self.sources_mut().iter_mut().zip(&memory.emitted) {
            source.emitted = *emitted as usize;
            source.waits = *waits;
        }
        Ok(())
    }
}

impl Scene {
    /// A scene in motion without bodies, its emitters checked.
    fn resumed(&self) -> Result<SceneRun, SceneError> {
        self.check_motions()?;
        let empty = Self {
            emitters: Vec::new(),
            motions: Vec::new(),
            ..self.clone()
        };
        let mut run = empty.start()?;
        self.check_count()?;
        let mut sources = Vec::new();
        for (index, emitter) in self.emitters.iter().enumerate() {
            let place = format!("emitters[{index}]");
            check_emitter(emitter, self.settings.time_step, &place)?;
            sources.push(self.source(emitter, &place, &mut Vec::new())?);
        }
        run.set_scene(self.clone(), sources);
        Ok(run)
    }
}

impl StoredBody {
    fn of(body: &BodySpec, shape: Option<&Shape>) -> Result<Self, SnapshotError> {
        Ok(Self {
            name: body.name.clone(),
            kind: body.kind,
            shape: shape.map(StoredShape::try_from).transpose()?,
            position: body.position,
            orientation: body.orientation,
            twist: body.twist,
            material: body.material.clone(),
            part_materials: body.part_materials.clone(),
            mass: body.mass.raw(),
            wrench: body.wrench,
            groups: body.groups,
            sensor: body.sensor,
            gravity_scale: body.gravity_scale,
            drag: body.drag,
        })
    }
}

impl From<&About> for Scene {
    fn from(about: &About) -> Self {
        let emitters = about.emitters.iter().map(|emitter| Emitter {
            center: emitter.center,
            half_extents: emitter.half_extents,
            start: emitter.start,
            interval: emitter.interval,
            count: usize::try_from(emitter.count).unwrap_or(usize::MAX),
            random_orientation: emitter.random_orientation,
            bodies: emitter.bodies.iter().map(BodySpec::from).collect(),
        });
        Self {
            name: about.name.clone(),
            description: about.description.clone(),
            seed: about.seed,
            duration: about.duration,
            settings: about.settings,
            materials: about.materials.clone(),
            pairs: about.pairs.clone(),
            emitters: emitters.collect(),
            motions: about.motions.clone(),
            ..Self::default()
        }
    }
}

impl From<&StoredBody> for BodySpec {
    fn from(body: &StoredBody) -> Self {
        Self {
            name: body.name.clone(),
            kind: body.kind,
            shape: body.shape.clone().map(Shape::from),
            mesh: None,
            position: body.position,
            orientation: body.orientation,
            twist: body.twist,
            material: body.material.clone(),
            part_materials: body.part_materials.clone(),
            mass: Mass::of_raw(body.mass),
            wrench: body.wrench,
            groups: body.groups,
            sensor: body.sensor,
            gravity_scale: body.gravity_scale,
            drag: body.drag,
        }
    }
}
