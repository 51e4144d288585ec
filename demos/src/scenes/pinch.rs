//! A capsule held between two pads by friction alone.

use super::{COMMON, cuboid, named, with_friction};
use glam::{DQuat, DVec3};
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Scene};
use moreau::{Accuracy, Material, Wrench};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Radius of the capsule, m.
const RADIUS: f64 = 0.05;
/// Half the length of its axis, m.
const HALF_HEIGHT: f64 = 0.1;
/// Half-extents of the pads, m.
const PAD: [f64; 3] = [0.1, 0.25, 0.3];

/// A capsule, called `capsule`, lies across between a static pad and one that a constant force
/// pushes towards it over a frictionless table; nothing supports it from below. The force is
/// `grip` times the least one that can hold it, its weight over 2 μ: above 1 it stays where it is
/// [the case of google-deepmind/mujoco#3328].
#[must_use]
pub fn pinch(grip: f64, friction: f64) -> Scene {
    let mut scene = with_friction(friction, 5.0);
    // A law to be compared with its closed form, at the cost of a few contacts.
    scene.settings.accuracy = Accuracy::Reference;
    scene
        .materials
        .insert("smooth".to_owned(), Material::frictionless(0.0));
    let made_of = |material: &str, body| BodySpec {
        material: Some(material.to_owned()),
        ..body
    };

    let volume = PI * RADIUS * RADIUS * (2.0 * HALF_HEIGHT + 4.0 / 3.0 * RADIUS);
    let weight = Material::default().density * volume * scene.settings.gravity.length();
    let force = grip * weight / (2.0 * friction);

    let [x, y, z] = PAD;
    let offset = DVec3::new(RADIUS + x, 0.0, 0.0);
    let middle = DVec3::new(0.0, 0.0, z);
    let table = BodySpec::fixed(cuboid(2.0, 2.0, 0.5), DVec3::new(0.0, 0.0, -0.5));
    let fixed_pad = BodySpec::fixed(cuboid(x, y, z), middle - offset);
    let moving_pad = BodySpec {
        wrench: Wrench {
            force: DVec3::new(-force, 0.0, 0.0),
            ..Wrench::default()
        },
        ..BodySpec::dynamic(cuboid(x, y, z), middle + offset)
    };
    let capsule = BodySpec {
        // Its axis along y.
        orientation: DQuat::from_xyzw(-FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2),
        ..BodySpec::dynamic(
            Shape::Capsule {
                half_height: HALF_HEIGHT,
                radius: RADIUS,
            },
            middle,
        )
    };
    scene.bodies = vec![
        named("table", made_of("smooth", table)),
        named("fixed_pad", made_of(COMMON, fixed_pad)),
        named("moving_pad", made_of(COMMON, moving_pad)),
        named("capsule", made_of(COMMON, capsule)),
    ];
    scene
}
