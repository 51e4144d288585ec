//! A spring with a damper between a point of a body and a point of the world.

use super::law::{BodyState, ForceError, ForceJacobians, ForceLaw};
use super::linear::skew;
use crate::components::Wrench;
use crate::math::six::blocks;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// A spring from a point of the body to a point of the world, with a damper beside it.
///
/// ```text
/// d = x + R a − w,  ℓ = ‖d‖,  n = d/ℓ        f = −( k (ℓ − ℓ₀) + c n·ḋ ) n         ℓ₀ > 0
///                                            f = −k d − c ḋ                        ℓ₀ = 0
/// ```
///
/// A spring with a length pulls and pushes along its line; one without holds the point, and damps it in every direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PointSpring {
    /// `a`: the point of the body, from its centre of mass, body frame, m.
    pub anchor: DVec3,
    /// `w`: the point of the world, m.
    pub to: DVec3,
    /// `k`, N/m, ≥ 0.
    pub stiffness: f64,
    /// `c`, N·s/m, ≥ 0.
    pub damping: f64,
    /// `ℓ₀`, m, ≥ 0.
    pub rest: f64,
}

/// The force, and its derivatives by `d` and `ḋ`.
struct Pull {
    force: DVec3,
    by_place: DMat3,
    by_rate: DMat3,
}

impl PointSpring {
    fn pull(&self, d: DVec3, rate: DVec3) -> Pull {
        let Self {
            stiffness: k,
            damping: c,
            rest,
            ..
        } = *self;
        let length = d.length();
        if rest == 0.0 || length == 0.0 {
            // With its ends in one point a spring with a length has no direction.
            let c = if rest == 0.0 { c } else { 0.0 };
            return Pull {
                force: d * -k - rate * c,
                by_place: DMat3::from_diagonal(DVec3::splat(-k)),
                by_rate: DMat3::from_diagonal(DVec3::splat(-c)),
            };
        }
        let n = d / length;
        let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
        let across = DMat3::IDENTITY - outer(n, n);
        let tension = k * (length - rest) + c * n.dot(rate);
        let turning = outer(n, across * rate) * (c / length);
        Pull {
            force: n * -tension,
            by_place: outer(n, n) * -k - turning - across * (tension / length),
            by_rate: outer(n, n) * -c,
        }
    }
}

impl ForceLaw for PointSpring {
    fn wrench(&self, body: &BodyState) -> Wrench {
        let arm = body.arm(self.anchor);
        let d = body.position + arm - self.to;
        let pull = self.pull(d, body.velocity_at(arm));
        Wrench::default().with_force_at(pull.force, arm)
    }

    fn jacobians(&self, body: &BodyState) -> ForceJacobians {
        let arm = body.arm(self.anchor);
        let d = body.position + arm - self.to;
        let Pull {
            force,
            by_place,
            by_rate,
        } = self.pull(d, body.velocity_at(arm));
        let (lever, spin) = (skew(arm), skew(body.angular_velocity));
        // The arm turns: δρ = −ρ̃ δφ, and its velocity ω × ρ with it.
        let by_turn = (by_place + by_rate * spin) * lever * -1.0;
        let by_spin = by_rate * lever * -1.0;
        ForceJacobians {
            pose: blocks([
                [by_place, by_turn],
                [lever * by_place, lever * by_turn + skew(force) * lever],
            ]),
            twist: blocks([[by_rate, by_spin], [lever * by_rate, lever * by_spin]]),
        }
    }

    fn check(&self) -> Result<(), ForceError> {
        for (field, value) in [
            ("stiffness", self.stiffness),
            ("damping", self.damping),
            ("rest length", self.rest),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(ForceError {
                    field,
                    value,
                    bound: "finite, ≥ 0",
                });
            }
        }
        for (field, vector) in [("anchor", self.anchor), ("point of the world", self.to)] {
            if let Some(value) = vector.to_array().into_iter().find(|x| !x.is_finite()) {
                return Err(ForceError {
                    field,
                    value,
                    bound: "finite",
                });
            }
        }
        Ok(())
    }
}
