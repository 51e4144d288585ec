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

mod error;
mod file;
mod random;
mod run;

pub use error::SceneError;
pub use random::Lcg;
pub use run::SceneRun;

use crate::{CollisionGroups, Mass, Material, Pose, RigidBody, Settings, Twist, Wrench};
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
    /// Single bodies, in the order of their ids.
    pub bodies: Vec<BodySpec>,
    /// Regular arrays of bodies, after the single ones.
    pub lattices: Vec<Lattice>,
    /// Sources of bodies over time.
    pub emitters: Vec<Emitter>,
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
            bodies: Vec::new(),
            lattices: Vec::new(),
            emitters: Vec::new(),
            folder: PathBuf::new(),
        }
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
    /// Orientation, unit quaternion `[x, y, z, w]`.
    pub orientation: glam::DQuat,
    /// Initial velocity.
    pub twist: Twist,
    /// Name of its material.
    pub material: Option<String>,
    /// Mass and inertia, where they do not follow from the shape.
    pub mass: Mass,
    /// External wrench.
    pub wrench: Wrench,
    /// Collision groups.
    pub groups: CollisionGroups,
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

    /// The pose it starts from.
    #[must_use]
    pub fn pose(&self) -> Pose {
        Pose {
            position: self.position,
            orientation: self.orientation,
        }
    }
}

/// A Wavefront OBJ file (feature `obj`), for static and kinematic bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshFile {
    /// Path, relative to the scene's folder.
    pub path: PathBuf,
    /// Factor from the file's unit to m, > 0.
    #[serde(default = "one")]
    pub scale: f64,
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
    /// `[nx, ny, nz]`.
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

/// A box from which bodies appear at regular times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Emitter {
    /// Centre of the box, m.
    pub center: DVec3,
    /// Half-extents of the box, m, ≥ 0; positions are uniform in it.
    pub half_extents: DVec3,
    /// Time of the first body, s, ≥ 0.
    pub start: f64,
    /// Time between bodies, s, > 0.
    pub interval: f64,
    /// Number of bodies.
    pub count: usize,
    /// Turn each body at random.
    pub random_orientation: bool,
    /// The bodies, taken in turn.
    pub bodies: Vec<BodySpec>,
}
