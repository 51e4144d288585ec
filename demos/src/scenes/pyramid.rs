//! A plane pyramid of cubes.

use super::{block, centred, floor, with_friction};
use moreau::Scene;

/// Rows of `n`, `n − 1`, … 1 cubes of 0.5 m, with gaps of 5 cm in a row. With μ = 0.6 the
/// benchmark scene `box_pyramid_n`.
#[must_use]
pub fn pyramid(n: usize, friction: f64) -> Scene {
    let mut scene = with_friction(friction, 3.0);
    scene.bodies.push(floor());
    for k in 0..n {
        let m = n - k;
        for j in 0..m {
            let (x, z) = (centred(j, m) * 0.55, 0.25 + 0.5 * k as f64);
            scene.bodies.push(block([0.25; 3], [x, 0.0, z]));
        }
    }
    scene
}
