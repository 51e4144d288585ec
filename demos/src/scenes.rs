//! The scenes, one file per family. SI units, `z` up, gravity 9.81 m/s².
//!
//! `sphere_pour`, `box_pyramid`, `wall_20x20` and `incline` have the positions that the
//! benchmark suite specifies, body by body.

pub mod anymal;
pub mod arch;
pub mod bounce;
mod figure;
pub mod incline;
pub mod linkages;
pub mod machines;
pub mod mass_ratio;
pub mod mixed;
mod parts;
pub mod people;
pub mod pile;
pub mod pinch;
pub mod pour;
pub mod pyramid;
pub mod robots;
pub mod simbench;
pub mod stack;
pub mod top;
pub mod wall;

use glam::DVec3;
use moreau::geometry::Shape;
use moreau::scene::BodySpec;
use moreau::{Material, Scene, SleepSettings};

/// Name of the material that all bodies of a scene share, where they do.
const COMMON: &str = "common";

/// An empty scene whose bodies are to share one friction coefficient.
fn with_friction(friction: f64, duration: f64) -> Scene {
    let material = Material::with_friction(friction);
    Scene {
        duration,
        materials: [(COMMON.to_owned(), material)].into(),
        ..Scene::default()
    }
}

fn common(body: BodySpec) -> BodySpec {
    BodySpec {
        material: Some(COMMON.to_owned()),
        ..body
    }
}

fn named(name: impl Into<String>, body: BodySpec) -> BodySpec {
    BodySpec {
        name: Some(name.into()),
        ..body
    }
}

fn cuboid(half_x: f64, half_y: f64, half_z: f64) -> Shape {
    Shape::Cuboid {
        half_extents: DVec3::new(half_x, half_y, half_z),
    }
}

/// A dynamic box of the common material.
fn block(half_extents: [f64; 3], position: [f64; 3]) -> BodySpec {
    let [x, y, z] = half_extents;
    common(BodySpec::dynamic(cuboid(x, y, z), position.into()))
}

/// A static box of the common material.
fn fixed_block(half_extents: [f64; 3], position: [f64; 3]) -> BodySpec {
    let [x, y, z] = half_extents;
    common(BodySpec::fixed(cuboid(x, y, z), position.into()))
}

/// The floor of the benchmark scenes: a large static box with its top face at z = 0.
fn floor() -> BodySpec {
    fixed_block([50.0, 50.0, 0.5], [0.0, 0.0, -0.5])
}

/// Floor and four walls, static, of the inner half-width `w` and the height `height` (m).
fn container(w: f64, height: f64) -> Vec<BodySpec> {
    let (side, middle) = (w + 0.5, 0.5 * height);
    vec![
        fixed_block([w + 1.0, w + 1.0, 0.5], [0.0, 0.0, -0.5]),
        fixed_block([0.5, w + 1.0, middle], [-side, 0.0, middle]),
        fixed_block([0.5, w + 1.0, middle], [side, 0.0, middle]),
        fixed_block([w, 0.5, middle], [0.0, -side, middle]),
        fixed_block([w, 0.5, middle], [0.0, side, middle]),
    ]
}

/// `i − (n − 1)/2`: the index `i` of `n`, counted from the middle.
fn centred(i: usize, n: usize) -> f64 {
    i as f64 - 0.5 * (n as f64 - 1.0)
}

/// Settings of scenes that are timed step by step: sleeping off.
#[must_use]
pub fn awake(mut scene: Scene) -> Scene {
    scene.settings.sleeping = SleepSettings::OFF;
    scene
}

/// A structure that is to stand still: `e_scaled ≤ 1e-5`, a tenth of the default. The residual is
/// relative to the loads at the bottom, and what is left of it moves the light blocks at the top:
/// `wall_20x20` swings by up to 3 mm in 3 s at 1e-4, and by up to 0.3 mm at 1e-5.
#[must_use]
pub fn standing(mut scene: Scene) -> Scene {
    scene.settings.tolerance = Some(1e-5);
    scene
}
