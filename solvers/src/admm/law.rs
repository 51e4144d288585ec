//! The law of one block in the splitting. `None` for the friction of a joint.

use super::Shift;
use glam::DVec3;

/// `z` of the law for the point `v` (scaled).
#[inline]
pub(super) fn resolve(shift: Shift, friction: Option<f64>, v: DVec3) -> DVec3 {
    let Some(mu) = friction else {
        return v;
    };
    match shift {
        Shift::Implicit => coulomb(mu, v),
        Shift::Explicit => project(mu, v),
    }
}

/// What a velocity `u` contributes to `−ρy`: `u` itself, moved to where the law can meet it.
pub(super) fn dual(shift: Shift, friction: Option<f64>, u: DVec3) -> DVec3 {
    match (friction, shift) {
        (None, _) => DVec3::ZERO,
        (Some(_), Shift::Implicit) => DVec3::new(u.x.max(0.0), u.y, u.z),
        (Some(mu), Shift::Explicit) => {
            let shifted = DVec3::new(u.x + mu * tangential_norm(u), u.y, u.z);
            shifted + project(mu, -shifted)
        }
    }
}

/// The impulse `z` with `u = z − v` under Coulomb's law: one contact with the block `I`.
#[inline]
fn coulomb(mu: f64, v: DVec3) -> DVec3 {
    let normal = v.x.max(0.0);
    let (bound, tangential) = (mu * normal, tangential_norm(v));
    // A product that overflows bounds nothing.
    let scale = if tangential <= bound {
        1.0
    } else {
        bound / tangential
    };
    DVec3::new(normal, scale * v.y, scale * v.z)
}

/// Euclidean projection on `K_μ`. The solver's own: the judge's code stays apart from it.
#[inline]
fn project(mu: f64, v: DVec3) -> DVec3 {
    let tangential = tangential_norm(v);
    if v.x >= 0.0 && tangential <= mu * v.x {
        return v;
    }
    if mu * tangential <= -v.x {
        return DVec3::ZERO;
    }
    let normal = (v.x + mu * tangential) / (1.0 + mu * mu);
    let scale = if tangential > 0.0 {
        mu * normal / tangential
    } else {
        0.0
    };
    DVec3::new(normal, scale * v.y, scale * v.z)
}

#[inline]
pub(super) fn tangential_norm(v: DVec3) -> f64 {
    (v.y * v.y + v.z * v.z).sqrt()
}
