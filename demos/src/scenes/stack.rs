//! Cubes on top of each other.

use super::{block, floor, with_friction};
use moreau::Scene;

/// Half the edge of the cubes, m.
pub const HALF: f64 = 0.25;

/// `n` cubes of 0.5 m.
#[must_use]
pub fn stack(n: usize, friction: f64) -> Scene {
    let mut scene = with_friction(friction, 10.0);
    scene.bodies.push(floor());
    for k in 0..n {
        let z = HALF + 2.0 * HALF * k as f64;
        scene.bodies.push(block([HALF; 3], [0.0, 0.0, z]));
    }
    scene
}
