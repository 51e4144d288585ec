//! A scene in motion.

use super::file::read_mesh;
use super::motion::Mover;
use super::room::{Guest, Room};
use super::{BodySpec, Emitter, Lattice, Lcg, Scene, SceneError, SceneWarning, nearest_name};
use crate::bodies::check::{check_body, check_body_state};
use crate::components::Made;
use crate::components::response::Response;
use crate::{
    Collider, Material, MaterialName, PartMaterials, Pose, RigidBody, Sensor, Simulation,
    StepError, StepReport,
};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_geometry::Aabb;

/// A simulation that was started from a scene, with its emitters.
pub struct SceneRun {
    /// The simulation.
    pub simulation: Simulation,
    scene: Scene,
    random: Lcg,
    sources: Vec<Source>,
    /// One for each of the motions of the scene.
    movers: Vec<Mover>,
    warnings: Vec<SceneWarning>,
}

/// A body with all that its entry refers to.
struct Ready<'a> {
    spec: &'a BodySpec,
    of: Substance,
}

/// What a body consists of.
#[derive(Clone)]
pub(super) struct Substance {
    material: Material,
    parts: PartMaterials,
    pub(super) collider: Option<Collider>,
}

/// An emitter at work.
pub(super) struct Source {
    pub(super) bodies: Vec<(Substance, Option<Guest>)>,
    region: Option<Aabb>,
    /// Number of bodies that have come.
    pub(super) emitted: usize,
    /// The next one is due and found no room in the last step.
    pub(super) waits: bool,
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
        self.check_count()?;
        self.check_pairs()?;
        self.check_motions()?;
        let mut simulation = simulation;
        simulation
            .set_material_pairs(self.pairs.clone())
            .map_err(|source| SceneError::Refused {
                place: "pairs".to_owned(),
                source,
            })?;
        let (mut sources, mut warnings) = (Vec::new(), Vec::new());
        for (index, emitter) in self.emitters.iter().enumerate() {
            let place = format!("emitters[{index}]");
            check_emitter(emitter, self.settings.time_step, &place)?;
            sources.push(self.source(emitter, &place, &mut warnings)?);
        }
        let mut run = SceneRun {
            simulation,
            scene: self.clone(),
            random: Lcg::new(self.seed),
            sources,
            movers: Vec::new(),
            warnings,
        };
        for (index, body) in self.bodies.iter().enumerate() {
            let place = place("bodies", index, body);
            let ready = self.ready(body, &place)?;
            run.spawn(&ready, &[body.pose()], &place)?;
            run.warn_of(&ready, &place);
        }
        run.find_movers()?;
        for (index, joint) in self.joints.iter().enumerate() {
            let place = match &joint.name {
                Some(name) => format!("joints[{index}] \"{name}\""),
                None => format!("joints[{index}]"),
            };
            run.join(joint, &place)?;
        }
        for (index, coupler) in self.couplers.iter().enumerate() {
            let place = match &coupler.name {
                Some(name) => format!("couplers[{index}] \"{name}\""),
                None => format!("couplers[{index}]"),
            };
            run.couple(coupler, &place)?;
        }
        for (index, lattice) in self.lattices.iter().enumerate() {
            let place = place("lattices", index, &lattice.body);
            let ready = self.ready(&lattice.body, &place)?;
            run.fill(lattice, &ready, &place)?;
            run.warn_of(&ready, &place);
        }
        Ok(run)
    }

    /// Names the first entry with which there are too many bodies.
    pub(super) fn check_count(&self) -> Result<(), SceneError> {
        let lattices = self.lattices.iter().enumerate().map(|(index, lattice)| {
            let place = place("lattices", index, &lattice.body);
            (place, format!("{:?}", lattice.count), lattice.body_count())
        });
        let emitters = self.emitters.iter().enumerate().map(|(index, emitter)| {
            let place = format!("emitters[{index}]");
            (place, emitter.count.to_string(), emitter.count)
        });
        let single = self.bodies.len();
        let bodies = std::iter::once(("bodies".to_owned(), single.to_string(), single));
        let mut total = 0_usize;
        for (place, value, count) in bodies.chain(lattices).chain(emitters) {
            total = total.saturating_add(count);
            if total > Self::MOST_BODIES {
                return Err(SceneError::Field {
                    place,
                    field: "count",
                    value,
                    bound: "at most 2000000 bodies in all",
                });
            }
        }
        Ok(())
    }

    /// Looks up what the entry of a body refers to.
    fn ready<'a>(&self, spec: &'a BodySpec, place: &str) -> Result<Ready<'a>, SceneError> {
        let material = match &spec.material {
            None => Material::default(),
            Some(name) => self.material(name, place)?,
        };
        let shape = match (&spec.shape, &spec.mesh) {
            (Some(shape), None) => Some(shape.clone()),
            (None, Some(mesh)) => Some(read_mesh(mesh, &self.folder, place)?),
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
        let parts = spec.part_materials.iter();
        let parts = parts.map(|name| self.material(name, place));
        Ok(Ready {
            spec,
            of: Substance {
                material,
                parts: PartMaterials(parts.collect::<Result<_, _>>()?),
                collider: shape.map(Collider::new),
            },
        })
    }

    fn material(&self, name: &str, place: &str) -> Result<Material, SceneError> {
        let known = || self.materials.keys().map(String::as_str);
        let found = self.materials.get(name).copied();
        let found = found.ok_or_else(|| SceneError::UnknownMaterial {
            place: place.to_owned(),
            name: name.to_owned(),
            nearest: nearest_name(name, known()).map(str::to_owned),
        })?;
        // Names that are too long are not in the table of pairs.
        Ok(Material {
            name: found.name.or_else(|| MaterialName::new(name).ok()),
            ..found
        })
    }

    /// Pairs are of materials of the scene, which have no other names than those of their tables.
    fn check_pairs(&self) -> Result<(), SceneError> {
        for (name, material) in &self.materials {
            if let Some(own) = material.name.filter(|own| own.as_str() != name) {
                return Err(SceneError::Field {
                    place: format!("materials.{name}"),
                    field: "name",
                    value: format!("{:?}", own.as_str()),
                    bound: "the name of its table, or none",
                });
            }
        }
        for (index, pair) in self.pairs.0.iter().enumerate() {
            for name in &pair.between {
                self.material(name.as_str(), &format!("pairs[{index}]"))?;
            }
        }
        Ok(())
    }

    /// Checks the bodies of an emitter as if they were spawned.
    pub(super) fn source(
        &self,
        emitter: &Emitter,
        place: &str,
        warnings: &mut Vec<SceneWarning>,
    ) -> Result<Source, SceneError> {
        let mut bodies = Vec::new();
        for (index, spec) in emitter.bodies.iter().enumerate() {
            let place = format!("{place}.bodies[{index}]");
            let Ready { of, .. } = self.ready(spec, &place)?;
            let refused = |source| SceneError::Body {
                place: place.clone(),
                source,
            };
            check_body(
                spec.kind,
                of.collider.as_ref(),
                Made::of(&of.material, Some(&of.parts)),
                &spec.mass,
                (spec.groups, spec.sensor),
                Response {
                    gravity: spec.gravity_scale,
                    drag: spec.drag,
                },
            )
            .and_then(|_| check_body_state(&spec.pose(), &spec.twist, &spec.wrench))
            .map_err(refused)?;
            // A sensor takes no room.
            let solid = of.collider.as_ref().filter(|_| !spec.sensor);
            let guest = solid
                .map(|collider| Guest::new(spec.kind, collider, spec.groups, &spec.mass))
                .transpose();
            let guest = guest.map_err(|source| refused(source.into()))?;
            warnings.extend(SceneWarning::of_shape(of.collider.as_ref(), &place));
            bodies.push((of, guest));
        }
        let guests = emitter.bodies.iter().zip(&bodies);
        let guests = guests.filter_map(|(spec, (_, guest))| Some((spec, guest.as_ref()?)));
        Ok(Source {
            region: Room::region(emitter, guests),
            bodies,
            emitted: 0,
            waits: false,
        })
    }
}

impl SceneRun {
    /// Emits the bodies that are due and find room, moves those whose motion is prescribed, and makes one step.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn step(&mut self) -> Result<StepReport, SceneError> {
        let time = self.simulation.time();
        for index in 0..self.scene.emitters.len() {
            self.emit(index, time)?;
        }
        self.move_bodies(time)?;
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

    /// The body with this name. Joints have names of their own.
    #[must_use]
    pub fn body(&mut self, name: &str) -> Option<Entity> {
        let world = self.simulation.world_mut();
        let mut query = world.query_filtered::<(Entity, &Name), With<RigidBody>>();
        let mut named = query.iter(world);
        let found = named.find(|(_, own)| own.as_str() == name);
        found.map(|(entity, _)| entity)
    }

    /// Number of emitters whose next body is due and found no room in the last step.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.sources.iter().filter(|source| source.waits).count()
    }

    /// What in the scene is allowed and hardly meant: emitters, then bodies and lattices in their order.
    #[must_use]
    pub fn warnings(&self) -> &[SceneWarning] {
        &self.warnings
    }

    pub(super) fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(super) fn sources_mut(&mut self) -> &mut [Source] {
        &mut self.sources
    }

    pub(super) fn movers(&self) -> &[Mover] {
        &self.movers
    }

    pub(super) fn movers_mut(&mut self) -> &mut Vec<Mover> {
        &mut self.movers
    }

    pub(super) fn random(&self) -> Lcg {
        self.random
    }

    pub(super) fn set_random(&mut self, random: Lcg) {
        self.random = random;
    }

    /// It is of this scene from now on.
    pub(super) fn set_scene(&mut self, scene: Scene, sources: Vec<Source>) {
        self.scene = scene;
        self.sources = sources;
    }

    fn warn_of(&mut self, body: &Ready, place: &str) {
        let warning = SceneWarning::of_shape(body.of.collider.as_ref(), place);
        self.warnings.extend(warning);
    }

    /// Spawns a copy of the body at each of the poses.
    fn spawn(&mut self, body: &Ready, poses: &[Pose], place: &str) -> Result<(), SceneError> {
        let Ready { spec: body, of } = body;
        let components = |pose: &Pose| {
            (
                body.kind,
                *pose,
                body.twist,
                of.material,
                body.mass,
                body.wrench,
                body.groups,
                body.gravity_scale,
                body.drag,
            )
        };
        let all = poses.iter().map(components);
        let (shape, parts) = (&of.collider, &of.parts);
        let has_parts = !parts.0.is_empty();
        let simulation = &mut self.simulation;
        let spawned = match shape {
            Some(shape) if has_parts => {
                simulation.spawn_batch(all.map(|body| (body, shape.clone(), parts.clone())))
            }
            Some(shape) => simulation.spawn_batch(all.map(|body| (body, shape.clone()))),
            None if has_parts => simulation.spawn_batch(all.map(|body| (body, parts.clone()))),
            None => simulation.spawn_batch(all),
        };
        let entities = spawned.map_err(|source| SceneError::Refused {
            place: place.to_owned(),
            source,
        })?;
        for entity in entities {
            if let Some(name) = &body.name {
                self.simulation.set(entity, Name::new(name.clone()));
            }
            if body.sensor {
                self.simulation.set(entity, Sensor);
            }
        }
        Ok(())
    }

    fn fill(&mut self, lattice: &Lattice, body: &Ready, place: &str) -> Result<(), SceneError> {
        check(
            place,
            "jitter",
            lattice.jitter,
            lattice.jitter >= 0.0,
            "≥ 0",
        )?;
        let [nx, ny, nz] = match lattice.body_count() {
            0 => [0; 3],
            _ => lattice.count,
        };
        let start = lattice.body.pose();
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
                        index * lattice.spacing + lattice.origin + start.position + jitter;
                    let mut pose = Pose { position, ..start };
                    if lattice.random_orientation {
                        pose.orientation = self.random.rotation();
                    }
                    poses.push(pose);
                }
            }
        }
        self.spawn(body, &poses, place)
    }

    fn emit(&mut self, index: usize, time: f64) -> Result<(), SceneError> {
        // Half a step of slack: times are multiples of h up to rounding.
        let slack = 0.5 * self.scene.settings.time_step;
        let mut room = None;
        self.sources[index].waits = false;
        for _ in 0..Emitter::MOST_PER_STEP {
            let (emitter, source) = (&self.scene.emitters[index], &self.sources[index]);
            let number = source.emitted;
            let due = emitter.start + number as f64 * emitter.interval <= time + slack;
            if number == emitter.count || !due {
                return Ok(());
            }
            let turn = number % emitter.bodies.len();
            let spec = emitter.bodies[turn].clone();
            let (of, guest) = &source.bodies[turn];
            let mut random_pose = || {
                let offset = self.random.symmetric_vector() * emitter.half_extents;
                let mut pose = spec.pose();
                pose.position += emitter.center + offset;
                if emitter.random_orientation {
                    pose.orientation = self.random.rotation();
                }
                pose
            };
            let free = match (guest, &source.region) {
                (Some(guest), Some(region)) => {
                    let world = self.simulation.world_mut();
                    let room = room.get_or_insert_with(|| Room::around(world, region));
                    let mut places = (0..Emitter::TRIES).map(|_| random_pose());
                    places.find(|pose| room.take(guest, *pose))
                }
                _ => Some(random_pose()),
            };
            let Some(pose) = free else {
                self.sources[index].waits = true;
                return Ok(());
            };
            let body = Ready {
                spec: &spec,
                of: of.clone(),
            };
            self.spawn(&body, &[pose], &format!("emitters[{index}]"))?;
            self.sources[index].emitted += 1;
        }
        Ok(())
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

pub(super) fn check_emitter(
    emitter: &Emitter,
    time_step: f64,
    place: &str,
) -> Result<(), SceneError> {
    check(
        place,
        "interval",
        emitter.interval,
        emitter.interval > 0.0,
        "> 0",
    )?;
    let least = time_step / Emitter::MOST_PER_STEP as f64;
    check(
        place,
        "interval",
        emitter.interval,
        emitter.interval >= least,
        "≥ time_step / 1000",
    )?;
    check(place, "start", emitter.start, emitter.start >= 0.0, "≥ 0")?;
    for coordinate in emitter.center.to_array() {
        check(place, "center", coordinate, true, "finite")?;
    }
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
