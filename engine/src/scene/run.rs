//! A scene in motion.

use super::file::read_mesh;
use super::{BodySpec, Emitter, Lattice, Lcg, Scene, SceneError};
use crate::{Collider, Material, Pose, Simulation, StepError, StepReport};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use glam::DVec3;

/// A simulation that was started from a scene, with its emitters.
pub struct SceneRun {
    /// The simulation.
    pub simulation: Simulation,
    scene: Scene,
    random: Lcg,
    emitted: Vec<usize>,
}

impl Scene {
    /// Builds the simulation.
    ///
    /// # Errors
    /// [`SceneError`] names the entry of the scene, the field and the bound.
    pub fn start(&self) -> Result<SceneRun, SceneError> {
        let simulation = Simulation::new(self.settings).map_err(|source| SceneError::Refused {
            place: "settings".to_owned(),
            source,
        })?;
        let mut run = SceneRun {
            simulation,
            scene: self.clone(),
            random: Lcg::new(self.seed),
            emitted: vec![0; self.emitters.len()],
        };
        for (index, body) in self.bodies.iter().enumerate() {
            run.spawn(body, &[body.pose()], &place("bodies", index, body))?;
        }
        for (index, lattice) in self.lattices.iter().enumerate() {
            run.fill(lattice, &place("lattices", index, &lattice.body))?;
        }
        for (index, emitter) in self.emitters.iter().enumerate() {
            check_emitter(emitter, &format!("emitters[{index}]"))?;
        }
        Ok(run)
    }
}

impl SceneRun {
    /// Emits the bodies that are due and makes one step.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn step(&mut self) -> Result<StepReport, SceneError> {
        let time = self.simulation.time();
        for index in 0..self.scene.emitters.len() {
            self.emit(index, time)?;
        }
        let place = || format!("step at t = {time} s");
        self.simulation
            .step()
            .map_err(|source| SceneError::Refused {
                place: place(),
                source,
            })
    }

    /// The scene it was started from.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The body with this name.
    #[must_use]
    pub fn body(&mut self, name: &str) -> Option<Entity> {
        let world = self.simulation.world_mut();
        let mut query = world.query::<(Entity, &Name)>();
        query
            .iter(world)
            .find(|(_, n)| n.as_str() == name)
            .map(|(entity, _)| entity)
    }

    /// Spawns a copy of `body` at each of the poses.
    fn spawn(&mut self, body: &BodySpec, poses: &[Pose], place: &str) -> Result<(), SceneError> {
        let material = match &body.material {
            None => Material::default(),
            Some(name) => *self
                .scene
                .materials
                .get(name)
                .ok_or_else(|| SceneError::Field {
                    place: place.to_owned(),
                    field: "material",
                    value: name.clone(),
                    bound: "a name in [materials]",
                })?,
        };
        let shape = match (&body.shape, &body.mesh) {
            (Some(shape), None) => Some(shape.clone()),
            (None, Some(mesh)) => Some(read_mesh(mesh, &self.scene.folder, place)?),
            (None, None) => None,
            (Some(_), Some(_)) => {
                return Err(SceneError::Field {
                    place: place.to_owned(),
                    field: "mesh",
                    value: "given beside shape".to_owned(),
                    bound: "one of the two",
                });
            }
        };
        let components = |pose: &Pose| {
            (
                body.kind,
                *pose,
                body.twist,
                material,
                body.mass,
                body.wrench,
                body.groups,
            )
        };
        let spawned = match shape.map(Collider::new) {
            Some(shape) => {
                let bodies = poses.iter().map(|pose| (components(pose), shape.clone()));
                self.simulation.spawn_batch(bodies)
            }
            None => self.simulation.spawn_batch(poses.iter().map(components)),
        };
        let entities = spawned.map_err(|source| SceneError::Refused {
            place: place.to_owned(),
            source,
        })?;
        if let Some(name) = &body.name {
            for entity in entities {
                self.simulation.set(entity, Name::new(name.clone()));
            }
        }
        Ok(())
    }

    fn fill(&mut self, lattice: &Lattice, place: &str) -> Result<(), SceneError> {
        check(
            place,
            "jitter",
            lattice.jitter,
            lattice.jitter >= 0.0,
            "≥ 0",
        )?;
        let [nx, ny, nz] = lattice.count;
        let centred = |i: usize, n: usize| i as f64 - 0.5 * (n as f64 - 1.0);
        let mut poses = Vec::new();
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let index = DVec3::new(centred(i, nx), centred(j, ny), k as f64);
                    let jitter = if lattice.jitter > 0.0 {
                        self.random.symmetric_vector() * lattice.jitter
                    } else {
                        DVec3::ZERO
                    };
                    let position =
                        index * lattice.spacing + lattice.origin + lattice.body.position + jitter;
                    let mut pose = Pose {
                        position,
                        orientation: lattice.body.orientation,
                    };
                    if lattice.random_orientation {
                        pose.orientation = self.random.rotation();
                    }
                    poses.push(pose);
                }
            }
        }
        self.spawn(&lattice.body, &poses, place)
    }

    fn emit(&mut self, index: usize, time: f64) -> Result<(), SceneError> {
        // Half a step of slack: times are multiples of h up to rounding.
        let slack = 0.5 * self.scene.settings.time_step;
        loop {
            let number = self.emitted[index];
            let emitter = &self.scene.emitters[index];
            let due = emitter.start + number as f64 * emitter.interval <= time + slack;
            if number == emitter.count || !due {
                return Ok(());
            }
            let body = emitter.bodies[number % emitter.bodies.len()].clone();
            let offset = self.random.symmetric_vector() * emitter.half_extents;
            let mut pose = Pose {
                position: emitter.center + body.position + offset,
                ..body.pose()
            };
            if emitter.random_orientation {
                pose.orientation = self.random.rotation();
            }
            self.spawn(&body, &[pose], &format!("emitters[{index}]"))?;
            self.emitted[index] += 1;
        }
    }
}

fn place(list: &str, index: usize, body: &BodySpec) -> String {
    match &body.name {
        Some(name) => format!("{list}[{index}] \"{name}\""),
        None => format!("{list}[{index}]"),
    }
}

fn check(
    place: &str,
    field: &'static str,
    value: f64,
    ok: bool,
    bound: &'static str,
) -> Result<(), SceneError> {
    if value.is_finite() && ok {
        return Ok(());
    }
    Err(SceneError::Field {
        place: place.to_owned(),
        field,
        value: value.to_string(),
        bound,
    })
}

fn check_emitter(emitter: &Emitter, place: &str) -> Result<(), SceneError> {
    check(
        place,
        "interval",
        emitter.interval,
        emitter.interval > 0.0,
        "> 0",
    )?;
    check(place, "start", emitter.start, emitter.start >= 0.0, "≥ 0")?;
    for extent in emitter.half_extents.to_array() {
        check(place, "half_extents", extent, extent >= 0.0, "≥ 0")?;
    }
    let bodies = emitter.bodies.len() as f64;
    check(place, "number of bodies", bodies, bodies >= 1.0, "≥ 1")
}

impl From<StepError> for SceneError {
    fn from(source: StepError) -> Self {
        Self::Refused {
            place: "scene".to_owned(),
            source,
        }
    }
}
