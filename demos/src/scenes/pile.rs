//! Piles of shapes other than balls: what games and granular mechanics pour into a box.
//!
//! Bodies of one kind start on a cubic lattice above a floor and between four walls, all of them half-spaces, with noise in their
//! places and in random orientations. They fall, meet and come to rest within 300 steps of 5 ms.

mod form;

pub use form::Form;

use super::{awake, common, with_friction};
use glam::DVec3;
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Lcg, Scene};

/// Distance of the walls from the middle, m.
pub const WALL: f64 = 0.45;
/// Friction coefficient of all bodies.
const FRICTION: f64 = 0.5;
/// Steps of 5 ms after which most piles are at rest.
pub const STEPS: usize = 300;
/// Height of the first layer, m.
const BOTTOM: f64 = 0.2;
/// Largest displacement from the lattice along each axis, m.
const NOISE: f64 = 3e-3;

/// `n` bodies of one kind under the gravity `g` (m/s²). The same bodies for the same seed.
///
/// The first bodies are the floor and the walls; the others follow layer by layer.
#[must_use]
pub fn pile(form: Form, n: usize, seed: u64, g: f64) -> Scene {
    let mut scene = awake(with_friction(FRICTION, 0.0));
    scene.settings.gravity = DVec3::new(0.0, 0.0, -g);
    scene.duration = STEPS as f64 * scene.settings.time_step;
    scene.bodies = container();
    let mut random = Lcg::new(seed);
    let row = form.in_a_row();
    let place = |i: usize| i as f64 - 0.5 * (row as f64 - 1.0);
    for index in 0..n {
        let (i, j, layer) = (index % row, index / row % row, index / (row * row));
        let lattice = DVec3::new(place(i), place(j), layer as f64) * form.pitch();
        let noise = random.symmetric_vector() * NOISE;
        let orientation = random.rotation();
        let shape = form.draw(index, &mut random);
        scene.bodies.push(common(BodySpec {
            orientation,
            ..BodySpec::dynamic(shape, lattice + DVec3::Z * BOTTOM + noise)
        }));
    }
    scene
}

/// Floor and walls.
fn container() -> Vec<BodySpec> {
    let plane = |normal: DVec3, distance: f64| {
        common(BodySpec::fixed(
            Shape::HalfSpace { normal },
            normal * -distance,
        ))
    };
    let walls = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y];
    let mut bodies = vec![plane(DVec3::Z, 0.0)];
    bodies.extend(walls.map(|normal| plane(normal, WALL)));
    bodies
}
