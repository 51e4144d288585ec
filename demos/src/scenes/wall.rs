//! A wall of loose bricks.

use super::{block, centred, floor, with_friction};
use moreau::Scene;

/// `ny` rows of `nx` bricks of 40 × 20 × 20 cm in running bond: odd rows have half bricks at both
/// ends. With 20 × 20 bricks and μ = 0.6 the benchmark scene `wall_20x20`.
#[must_use]
pub fn wall(nx: usize, ny: usize, friction: f64) -> Scene {
    let (brick, half_brick, pitch) = ([0.2, 0.1, 0.1], [0.095, 0.1, 0.1], 0.41);
    let mut scene = with_friction(friction, 3.0);
    scene.bodies.push(floor());
    for k in 0..ny {
        let z = 0.1 + 0.2 * k as f64;
        let mut lay = |shape, x| scene.bodies.push(block(shape, [x, 0.0, z]));
        if k % 2 == 0 {
            for j in 0..nx {
                lay(brick, centred(j, nx) * pitch);
            }
        } else {
            let inner = nx.saturating_sub(1);
            let end = centred(inner, nx) * pitch + 0.105;
            lay(half_brick, -end);
            for j in 0..inner {
                lay(brick, centred(j, inner) * pitch);
            }
            lay(half_brick, end);
        }
    }
    scene
}
