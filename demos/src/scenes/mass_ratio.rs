//! A stack with a heavy cube on top: hard for methods that iterate from contact to contact.

use super::stack::stack;
use moreau::{Material, Scene};

/// `n` cubes of 0.5 m, the top one `ratio` times as heavy as the others.
#[must_use]
pub fn mass_ratio(n: usize, ratio: f64, friction: f64) -> Scene {
    let mut scene = stack(n, friction);
    let heavy = Material {
        density: Material::default().density * ratio,
        ..Material::with_friction(friction)
    };
    // The residual is relative to the largest load: what the light cubes feel is finer by the ratio.
    scene.settings.tolerance = Some((1e-5 / ratio).clamp(1e-10, 1e-5));
    scene.materials.insert("heavy".to_owned(), heavy);
    if let Some(top) = scene.bodies.last_mut() {
        top.material = Some("heavy".to_owned());
        top.name = Some("top".to_owned());
    }
    scene
}
