//! A force that is linear in the displacement from a pose and in the twist.

use super::law::{BodyState, ForceError, ForceJacobians, ForceLaw};
use crate::components::{Pose, Wrench};
use crate::math::rotation;
use crate::math::six::{Matrix, blocks, halves, plus, product, six, times};
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// `W = W₀ − K (x − x₀, φ) − C (v, ω)`, with the rotation vector `φ` of `R R₀ᵀ`, of at most half a turn; the internal wrench of docs/theory.md §5.
///
/// Everything is in the inertial frame; rows and columns are linear first. At half a turn `φ` jumps to the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearForce {
    /// `W₀`.
    pub wrench: Wrench,
    /// `K`: N/m, N/rad, N·m/m, N·m/rad.
    pub stiffness: [[f64; 6]; 6],
    /// `C`: the same per 1/s.
    pub damping: [[f64; 6]; 6],
    /// Where `K` does nothing.
    pub reference: Pose,
}

impl LinearForce {
    /// A spring to a pose: N/m in all directions, and N·m/rad about all axes.
    #[must_use]
    pub fn spring(reference: Pose, linear: f64, angular: f64) -> Self {
        Self {
            stiffness: diagonal(linear, angular),
            reference,
            ..Self::default()
        }
    }

    /// The same with a damper: N·s/m and N·m·s/rad.
    #[must_use]
    pub fn with_damping(self, linear: f64, angular: f64) -> Self {
        Self {
            damping: diagonal(linear, angular),
            ..self
        }
    }

    /// `(x − x₀, φ)`.
    fn displacement(&self, body: &BodyState) -> [f64; 6] {
        let turn = body.orientation * self.reference.orientation.conjugate();
        six(body.position - self.reference.position, rotation::log(turn))
    }
}

fn diagonal(linear: f64, angular: f64) -> Matrix {
    let part = |x: f64| DMat3::from_diagonal(DVec3::splat(x));
    blocks([[part(linear), DMat3::ZERO], [DMat3::ZERO, part(angular)]])
}

/// `∂φ/∂` of a small rotation in the inertial frame that comes after that by `φ`: `I − φ̃/2 + (1/θ² − (1 + cos θ)/(2 θ sin θ)) φ̃²`.
fn rate_of_log(phi: DVec3) -> DMat3 {
    let square = phi.length_squared();
    let factor = if square < 1e-4 {
        // Its series: what comes next is θ⁴/30240.
        (1.0 + square / 60.0) / 12.0
    } else {
        let angle = square.sqrt();
        let (sin, cos) = rotation::sin_cos(0.5 * angle);
        (1.0 - 0.5 * angle * cos / sin) / square
    };
    let cross = skew(phi);
    DMat3::IDENTITY - cross * 0.5 + cross * cross * factor
}

/// `[a]×`.
pub(super) fn skew(a: DVec3) -> DMat3 {
    DMat3::from_cols(a.cross(DVec3::X), a.cross(DVec3::Y), a.cross(DVec3::Z))
}

impl ForceLaw for LinearForce {
    fn wrench(&self, body: &BodyState) -> Wrench {
        let twist = six(body.velocity, body.angular_velocity);
        let back = plus(
            &times(&self.stiffness, &self.displacement(body)),
            1.0,
            &times(&self.damping, &twist),
        );
        let [force, moment] = halves(&back);
        Wrench {
            force: self.wrench.force - force,
            moment: self.wrench.moment - moment,
            ..self.wrench
        }
    }

    fn jacobians(&self, body: &BodyState) -> ForceJacobians {
        let [_, phi] = halves(&self.displacement(body));
        let rate = [
            [DMat3::IDENTITY, DMat3::ZERO],
            [DMat3::ZERO, rate_of_log(phi)],
        ];
        let mut pose = product(&self.stiffness, &blocks(rate)).map(|row| row.map(|x| -x));
        // A moment that turns with the body.
        let turning = skew(body.orientation * self.wrench.body_moment);
        for (i, row) in pose[3..].iter_mut().enumerate() {
            for (j, x) in row[3..].iter_mut().enumerate() {
                *x -= turning.col(j)[i];
            }
        }
        ForceJacobians {
            pose,
            twist: self.damping.map(|row| row.map(|x| -x)),
        }
    }

    fn check(&self) -> Result<(), ForceError> {
        let fault = |field, value| {
            Err(ForceError {
                field,
                value,
                bound: "finite",
            })
        };
        for (field, matrix) in [("stiffness", &self.stiffness), ("damping", &self.damping)] {
            let bad = matrix.iter().flatten().find(|x| !x.is_finite());
            if let Some(bad) = bad {
                return fault(field, *bad);
            }
        }
        let wrench = &self.wrench;
        for (field, vector) in [
            ("force", wrench.force),
            ("moment", wrench.moment),
            ("body moment", wrench.body_moment),
            ("reference position", self.reference.position),
        ] {
            if let Some(bad) = vector.to_array().into_iter().find(|x| !x.is_finite()) {
                return fault(field, bad);
            }
        }
        let norm = self.reference.orientation.length();
        if (norm - 1.0).abs() <= 1e-6 {
            Ok(())
        } else {
            Err(ForceError {
                field: "reference orientation norm",
                value: norm,
                bound: "1 ± 1e-6",
            })
        }
    }
}
