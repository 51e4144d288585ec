//! Scenes: bodies, lattices, emitters and settings as data, from TOML (feature `toml`) or from Rust.
//!
#![cfg_attr(feature = "toml", doc = "```")]
#![cfg_attr(not(feature = "toml"), doc = "```ignore")]
//! let text = r#"
//!     name = "drop"
//!     duration = 0.5
//!     [[bodies]]
//!     kind = "static"
//!     shape = { half_space = { normal = [0.0, 0.0, 1.0] } }
//!     [[lattices]]
//!     count = [2, 2, 2]
//!     spacing = [0.3, 0.3, 0.3]
//!     origin = [0.0, 0.0, 0.2]
//!     jitter = 0.01
//!     body = { shape = { sphere = { radius = 0.1 } } }
//! "#;
//! let scene = moreau::Scene::from_toml(text, "drop.toml")?;
//! let mut run = scene.start()?;
//! let report = run.step()?;
//! assert_eq!(report.bodies, 9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The keys of a file
//!
//! Units are those of SI, angles in rad. A key that is left out has its default; one that is unknown is an error with file, line and column, and the
//! nearest known key.
//!
//! | table | keys |
//! |---|---|
//! | top | [`name`, `description`, `seed`, `duration`](Scene) |
//! | `[settings]` | those of [`Settings`], the solver's in `[settings.solver]` |
//! | `[materials.NAME]` | [`density`, `friction`, `restitution`, `frictionless`, `combine_friction`, `combine_restitution`, `bounce_threshold`, `cohesion`, `rolling_resistance`, `spinning_resistance`, `grain`](crate::Material) |
//! | `[[pairs]]` | [`between`, `friction`, `restitution`, `bounce_threshold`, `cohesion`, `rolling_resistance`, `spinning_resistance`](crate::MaterialPair) |
//! | `[[bodies]]` | [`name`, `kind`, `shape` or `mesh`, `position`, `orientation`, `twist`, `material`, `part_materials`, `mass`, `wrench`, `groups`, `sensor`, `gravity_scale`, `drag`](BodySpec) |
//! | `[[lattices]]` | [`count`, `spacing`, `origin`, `jitter`, `random_orientation`, `body`](Lattice) |
//! | `[[joints]]` | [`name`, `a`, `b`, `kind`, `point` and `axis`, or `frames`, `forces`, `collide`, `break_limit`](SceneJoint) |
//! | `[[couplers]]` | [`name`, `terms`, `offset`](SceneCoupler) |
//! | `[[emitters]]` | [`center`, `half_extents`, `start`, `interval`, `count`, `random_orientation`, `bodies`](Emitter) |
//!
//! | value | forms |
//! |---|---|
//! | `orientation` | `[x, y, z, w]`, of unit length to 1e-6 and then normalised |
//! | | `{ euler = [a, b, c] }`: turns about the fixed axes, x by a first, then y by b, then z by c; `euler_degrees` |
//! | | `{ axis = [x, y, z], angle = a }`: a right-handed turn about an axis of any length; `angle_degrees` |
//! | `mass` | `{ mass = 3.0 }`: with the inertia of the shape, scaled to this mass |
//! | | `{ mass = 3.0, principal_inertia = [a, b, c] }`, and `principal_frame = [x, y, z, w]` where its axes are not the body's,
//! | | `center_of_mass = [x, y, z]` where it is not that of the shape, in the frame of which it is given |
//! | `mesh` | `{ path = "rock.obj", scale = 0.01 }`: a regular file, relative to that of the scene |
//!
//! # Bounds
//!
//! Beyond them a scene is refused before anything is built: [`Scene::MOST_BODIES`] with lattices and emitters, [`Scene::MOST_BYTES`] of a file,
//! [`MeshFile::MOST_BYTES`], [`Emitter::MOST_PER_STEP`], [`Threads::MOST`](crate::Threads::MOST). Files that are no regular ones are not opened. Hulls have at most
//! 200,000 points and are thicker than 1e-4 of their diameter: [`Shape::ConvexHull`].

mod error;
mod file;
mod joint;
pub(crate) mod memory;
mod motion;
mod nearest;
mod random;
mod room;
mod run;
mod warning;

pub use error::SceneError;
pub use joint::{SceneCoupler, SceneCouplerTerm, SceneJoint};
pub use motion::{MotionPath, SceneMotion};
pub use nearest::nearest_name;
pub use random::Lcg;
pub use run::SceneRun;
pub use warning::SceneWarning;

use crate::{
    CollisionGroups, Drag, GravityScale, Mass, Material, MaterialPairs, Pose, RigidBody, Settings,
    Twist, Wrench, rotation,
};
use glam::DVec3;
use moreau_geometry::Shape;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Everything that a simulation starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// Short name.
    pub name: String,
    /// One line for a listing.
    pub description: String,
    /// Seed of everything random in the scene.
    pub seed: u64,
    /// Time to simulate unless told otherwise, s.
    pub duration: f64,
    /// Settings of the step.
    pub settings: Settings,
    /// Materials by name. Bodies that name none have the default material.
    pub materials: BTreeMap<String, Material>,
    /// What holds where two of them meet.
    pub pairs: MaterialPairs,
    /// Single bodies, in the order of their ids.
    pub bodies: Vec<BodySpec>,
    /// Regular arrays of bodies, after the single ones.
    pub lattices: Vec<Lattice>,
    /// Sources of bodies over time.
    pub emitters: Vec<Emitter>,
    /// Joints of single bodies, in the order of their ids.
    pub joints: Vec<SceneJoint>,
    /// Couplers of these joints, after them.
    pub couplers: Vec<SceneCoupler>,
    /// How kinematic bodies among the single ones move.
    pub motions: Vec<SceneMotion>,
    /// Folder that mesh paths are relative to. Set when the scene is read from a file.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            name: String::new(),
            description: String::new(),
            seed: 12345,
            duration: 1.0,
            settings: Settings::default(),
            materials: BTreeMap::new(),
            pairs: MaterialPairs::default(),
            bodies: Vec::new(),
            lattices: Vec::new(),
            emitters: Vec::new(),
            joints: Vec::new(),
            couplers: Vec::new(),
            motions: Vec::new(),
            folder: PathBuf::new(),
        }
    }
}

impl Scene {
    /// The largest number of bodies of a scene, those of lattices and emitters included. A body takes 2.5 kB and more.
    pub const MOST_BODIES: usize = 2_000_000;
    /// The largest scene file that is read, bytes.
    pub const MOST_BYTES: u64 = 1 << 26;

    /// Number of bodies, those that emitters give in the course of time included; no more than can be counted.
    #[must_use]
    pub fn body_count(&self) -> usize {
        let lattices = self.lattices.iter().map(Lattice::body_count);
        let emitters = self.emitters.iter().map(|emitter| emitter.count);
        lattices
            .chain(emitters)
            .fold(self.bodies.len(), usize::saturating_add)
    }
}

/// One body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BodySpec {
    /// Name for messages and for [`SceneRun::body`].
    pub name: Option<String>,
    /// Dynamic (default), kinematic or static.
    pub kind: RigidBody,
    /// The shape; a body has this or [`BodySpec::mesh`].
    pub shape: Option<Shape>,
    /// A triangle mesh from a file.
    pub mesh: Option<MeshFile>,
    /// Centre of mass, inertial frame, m.
    pub position: DVec3,
    /// Orientation, unit quaternion, normalised if its length is 1 to 1e-6. In files `[x, y, z, w]`,
    /// `{ euler = [a, b, c] }` (rad; turns about the fixed x, then y, then z axis), `{ axis = [x, y, z], angle = a }` (rad), or
    /// the same with `euler_degrees` and `angle_degrees`: see [`moreau_geometry::orientation`].
    #[serde(deserialize_with = "moreau_geometry::orientation::deserialize")]
    pub orientation: glam::DQuat,
    /// Initial velocity.
    pub twist: Twist,
    /// Name of its material.
    pub material: Option<String>,
    /// Names of the materials of its parts, one for each part of a compound; none if all are made of `material`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub part_materials: Vec<String>,
    /// Mass and inertia, where they do not follow from the shape; in files `{ mass, principal_inertia, principal_frame }`, or
    /// `{ mass }` alone, to which the inertia of the shape is scaled.
    pub mass: Mass,
    /// External wrench.
    pub wrench: Wrench,
    /// Collision groups.
    pub groups: CollisionGroups,
    /// It sees what overlaps it, and touches nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sensor: bool,
    /// Factor of gravity.
    pub gravity_scale: GravityScale,
    /// Drag in proportion to the velocity: `{ linear, angular }`, 1/s.
    pub drag: Drag,
}

impl BodySpec {
    /// A dynamic body of the given shape at `position` (m).
    #[must_use]
    pub fn dynamic(shape: Shape, position: DVec3) -> Self {
        Self {
            shape: Some(shape),
            position,
            ..Self::default()
        }
    }

    /// A static body of the given shape at `position` (m).
    #[must_use]
    pub fn fixed(shape: Shape, position: DVec3) -> Self {
        Self {
            kind: RigidBody::Static,
            ..Self::dynamic(shape, position)
        }
    }

    /// The pose it starts from. An orientation that is a rotation only to 1e-6 is normalised; one that is none stays.
    #[must_use]
    pub fn pose(&self) -> Pose {
        let excess = (self.orientation.length_squared() - 1.0).abs();
        let rounded = 4.0 * f64::EPSILON < excess && excess <= 2e-6;
        Pose {
            position: self.position,
            orientation: if rounded {
                rotation::normalised(self.orientation)
            } else {
                self.orientation
            },
        }
    }
}

/// A Wavefront OBJ file (feature `obj`), for static and kinematic bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshFile {
    /// Path, relative to the scene's folder, of a regular file of at most [`MeshFile::MOST_BYTES`].
    pub path: PathBuf,
    /// Factor from the file's unit to m, > 0.
    #[serde(default = "one")]
    pub scale: f64,
}

impl MeshFile {
    /// The largest mesh file that is read, bytes.
    pub const MOST_BYTES: u64 = 1 << 27;
}

fn one() -> f64 {
    1.0
}

/// `nx × ny × nz` copies of a body, centred in x and y, rising from `origin` in z.
///
/// ```text
/// p = origin + ((i − (nx−1)/2) dx, (j − (ny−1)/2) dy, k dz) + jitter (s₁, s₂, s₃)
/// ```
///
/// with `k` the slowest and `i` the fastest index, and `s` uniform in [−1, 1) drawn in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lattice {
    /// `[nx, ny, nz]`; all bodies of a scene are at most [`Scene::MOST_BODIES`].
    pub count: [usize; 3],
    /// `[dx, dy, dz]`, m.
    pub spacing: DVec3,
    /// Centre of the lowest layer, m.
    pub origin: DVec3,
    /// Amplitude of the random displacement, m, ≥ 0.
    pub jitter: f64,
    /// Turn each copy at random.
    pub random_orientation: bool,
    /// What is copied; its position is added to the lattice's.
    pub body: BodySpec,
}

impl Lattice {
    /// `nx ny nz`, or the largest number there is.
    fn body_count(&self) -> usize {
        let product = self
            .count
            .iter()
            .try_fold(1, |n: usize, m| n.checked_mul(*m));
        let empty = self.count.contains(&0);
        product.unwrap_or(if empty { 0 } else { usize::MAX })
    }
}

/// A box from which bodies appear at regular times, where there is room.
///
/// The `k`-th body is due in the first step that begins at `start + k · interval` or later (with half a step of slack). It gets a random place,
/// and another one if it would overlap a body there, up to [`Emitter::TRIES`] in a step. If none is free it waits for the next step, and the
/// bodies after it wait too: they come in their order, as soon as there is room. Bodies overlap by 1e-9 of the smaller one's radius or more, by
/// what contacts would be detected; bodies that would not meet, by their groups or as both are static or kinematic, share a place. Behind a mesh or
/// height field no contact is detected, so keep the box in front of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Emitter {
    /// Centre of the box, m.
    pub center: DVec3,
    /// Half-extents of the box, m, ≥ 0; positions are uniform in it.
    pub half_extents: DVec3,
    /// Time of the first body, s, ≥ 0.
    pub start: f64,
    /// Time between bodies, s, > 0 and at least `time_step` / [`Emitter::MOST_PER_STEP`].
    pub interval: f64,
    /// Number of bodies; all bodies of a scene are at most [`Scene::MOST_BODIES`].
    pub count: usize,
    /// Turn each body at random.
    pub random_orientation: bool,
    /// The bodies, taken in turn.
    pub bodies: Vec<BodySpec>,
}

impl Emitter {
    /// Places that are tried for a body in a step.
    pub const TRIES: usize = 8;
    /// The largest number of bodies that come in a step.
    pub const MOST_PER_STEP: usize = 1000;
}
