//! The impulse of the forces of a body, and its derivative, at a velocity.

use super::Forced;
use super::law::{BodyState, ForceError, ForceJacobians, whole};
use super::scaled::Scaled;
use crate::components::inertia::Inertia;
use crate::components::{BodyForces, Pose, Twist};
use crate::math::rotation;
use crate::math::six::{Matrix, Six, blocks, dot, eigen, plus, product, symmetric_part};
use crate::motion::free_motion::turned_under;
use crate::settings::{RotationUpdate, Settings};
use glam::{DMat3, DVec3};
use moreau_solvers::WorldTwist;

/// `S⁺` in the coordinates of unit mass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Response {
    /// The positive eigenvalues come first.
    pub(super) values: Six,
    /// Row by row.
    pub(super) vectors: Matrix,
    /// How many are positive.
    pub(super) count: usize,
    /// The least eigenvalue, of any sign.
    lowest: f64,
}

/// Eigenvalues below are rounding beside the mass, which is 1.
const NOTHING: f64 = 1e-12;

impl Response {
    /// The positive part of the symmetric part.
    pub(super) fn of(s: &Matrix) -> Self {
        let (values, vectors) = eigen(symmetric_part(s));
        let mut found = Self {
            lowest: values.iter().copied().fold(f64::INFINITY, f64::min),
            ..Self::default()
        };
        for (value, vector) in values.iter().zip(&vectors) {
            if *value > NOTHING {
                found.values[found.count] = *value;
                found.vectors[found.count] = *vector;
                found.count += 1;
            }
        }
        found
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (f64, &Six)> {
        let values = self.values.iter().copied().zip(&self.vectors);
        values.take(self.count)
    }

    /// `S⁺ x`.
    pub(super) fn times(&self, x: &Six) -> Six {
        let sum = |sum, (value, n): (f64, &Six)| plus(&sum, value * dot(n, x), n);
        self.pairs().fold([0.0; 6], sum)
    }

    /// `(1 + S⁺)⁻¹ x`.
    pub(super) fn divided(&self, x: &Six) -> Six {
        let sum = |sum, (value, n): (f64, &Six)| plus(&sum, -value / (1.0 + value) * dot(n, x), n);
        self.pairs().fold(*x, sum)
    }

    /// The square of what a way has in directions in which forces push away by more than the mass, `1 + S ≤ 0`: there the equation of the step has a solution on the
    /// other side, to which no motion leads.
    pub(super) fn runs_away(&self, s: &Matrix, way: &Six) -> f64 {
        if self.lowest > -1.0 {
            return 0.0;
        }
        let (values, vectors) = eigen(symmetric_part(s));
        let away = values
            .iter()
            .zip(&vectors)
            .filter(|(value, _)| **value <= -1.0);
        away.map(|(_, n)| dot(n, way) * dot(n, way)).sum()
    }

    pub(super) fn largest(&self) -> f64 {
        self.pairs().map(|(value, _)| value).fold(0.0, f64::max)
    }
}

/// One body with its forces, at the beginning of the step.
pub(super) struct At<'a> {
    pub(super) laws: &'a BodyForces,
    pub(super) inertia: &'a Inertia,
    pub(super) pose: &'a Pose,
    pub(super) twist: &'a Twist,
    pub(super) scaled: &'a Scaled,
    /// `t_k`, s.
    pub(super) time: f64,
    pub(super) theta: f64,
    pub(super) settings: &'a Settings,
}

/// A law and what is wrong with it.
pub(super) type Fault = (usize, ForceError);

/// Turn by which the derivative of the rotation is found, rad: the root of third order of the rounding.
const TURN: f64 = 6e-6;

impl At<'_> {
    /// `(t_k, q_k, v_k)`.
    pub(super) fn begin(&self) -> BodyState {
        BodyState::new(self.time, self.pose, self.twist)
    }

    /// `(t_{k+1}, q(v), v)`: where the step leaves the body with this velocity.
    pub(super) fn end(&self, v: &WorldTwist) -> BodyState {
        let (h, theta) = (self.settings.time_step, self.theta);
        let (p, before) = (self.pose.orientation, self.twist.angular);
        let solved = p.conjugate() * v.angular;
        let mean = before + (solved - before) * theta;
        let (turned, angular) = turned_under(self.inertia, p, [mean, solved], h);
        let orientation = match self.settings.rotation {
            RotationUpdate::Exponential => turned,
            RotationUpdate::Linear => rotation::linear_update(p, mean, h),
        };
        BodyState {
            time: self.time + h,
            position: self.pose.position
                + (v.linear * theta + self.twist.linear * (1.0 - theta)) * h,
            orientation,
            velocity: v.linear,
            angular_velocity: orientation * angular,
        }
    }

    /// The wrench of all forces in a state.
    pub(super) fn wrench(&self, state: &BodyState) -> Result<Six, Fault> {
        let mut sum = [0.0; 6];
        for (index, law) in self.laws.0.iter().enumerate() {
            let wrench = law.wrench(state);
            let all = whole(&wrench, state.orientation);
            check(index, ["force", "moment"], &all)?;
            sum = plus(&sum, 1.0, &all);
        }
        Ok(sum)
    }

    /// `π` of the end, and its derivative `Lᵀ S L`, at `y`.
    pub(super) fn linearise(&self, y: &Six) -> Result<(Six, Matrix), Fault> {
        let v = self.scaled.twist(y);
        let state = self.end(&v);
        let h = self.settings.time_step * self.theta;
        let wrench = self.wrench(&state)?.map(|w| h * w);
        let jacobians = self.jacobians(&state)?;
        let (turn, spin) = self.turning(&v);
        let ahead = DMat3::from_diagonal(DVec3::splat(h));
        let none = DMat3::ZERO;
        let of_pose = blocks([[ahead, none], [none, turn]]);
        let of_twist = blocks([[DMat3::IDENTITY, none], [none, spin]]);
        let of_pose = product(&jacobians.pose, &of_pose);
        let of_twist = product(&jacobians.twist, &of_twist);
        let s: Matrix =
            std::array::from_fn(|i| plus(&of_pose[i], 1.0, &of_twist[i]).map(|x| -h * x));
        Ok((self.scaled.of_impulse(&wrench), self.scaled.of_matrix(&s)))
    }

    /// `S` of θ = 1 in the coordinates of unit mass, in a state: its largest eigenvalue tells whether the forces are stiff.
    pub(super) fn stiffness(&self, state: &BodyState) -> Result<f64, Fault> {
        let h = self.settings.time_step;
        let jacobians = self.jacobians(state)?;
        let s: Matrix = std::array::from_fn(|i| {
            plus(&jacobians.twist[i], h, &jacobians.pose[i]).map(|x| -h * x)
        });
        Ok(Response::of(&self.scaled.of_matrix(&s)).largest())
    }

    fn jacobians(&self, state: &BodyState) -> Result<ForceJacobians, Fault> {
        let mut sum = ForceJacobians::default();
        for (index, law) in self.laws.0.iter().enumerate() {
            let own = law.jacobians(state);
            for i in 0..6 {
                check(index, ["derivative by the pose"; 2], &own.pose[i])?;
                check(index, ["derivative by the twist"; 2], &own.twist[i])?;
                sum.pose[i] = plus(&sum.pose[i], 1.0, &own.pose[i]);
                sum.twist[i] = plus(&sum.twist[i], 1.0, &own.twist[i]);
            }
        }
        Ok(sum)
    }

    /// Derivatives of the turn of the body and of its angular velocity at the end by the one that is solved for.
    fn turning(&self, v: &WorldTwist) -> (DMat3, DMat3) {
        let step = TURN / self.settings.time_step;
        let columns = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
            let at = |sign: f64| {
                self.end(&WorldTwist {
                    angular: v.angular + axis * (sign * step),
                    ..*v
                })
            };
            let (ahead, behind) = (at(1.0), at(-1.0));
            let turn = rotation::log(ahead.orientation * behind.orientation.conjugate());
            let spin = ahead.angular_velocity - behind.angular_velocity;
            [turn / (2.0 * step), spin / (2.0 * step)]
        });
        let matrix = |k: usize| DMat3::from_cols(columns[0][k], columns[1][k], columns[2][k]);
        (matrix(0), matrix(1))
    }

    /// Energy, as a square in the coordinates of unit mass, that rounding of poses makes of a velocity: a few units of the last place.
    pub(super) fn rounding(&self, s: &Response) -> f64 {
        let way = 4.0 * f64::EPSILON / self.settings.time_step;
        let far = self.pose.position.abs().max_element();
        let linear = DVec3::splat(way * far);
        let noise = self.scaled.coordinates(&WorldTwist {
            linear,
            angular: DVec3::splat(way),
        });
        (1.0 + s.largest()) * dot(&noise, &noise)
    }
}

impl Forced {
    /// What is left of `y − y₀ = π(y) + …` relative to what is in it, as energies of `M̂`: `left` is the remainder. Zero if it is rounding.
    pub(super) fn relative(
        &self,
        at: &At,
        left: &Six,
        [impulse, y]: [&Six; 2],
        s: &Response,
    ) -> f64 {
        let square = dot(left, &s.divided(left)).max(0.0);
        let all = dot(impulse, &s.divided(impulse)).max(0.0)
            + dot(y, y)
            + dot(&self.unforced, &self.unforced);
        if square <= at.rounding(s) {
            0.0
        } else {
            (square / all).sqrt()
        }
    }
}

fn check(index: usize, fields: [&'static str; 2], values: &Six) -> Result<(), Fault> {
    for (k, value) in values.iter().enumerate() {
        if !value.is_finite() {
            let error = ForceError {
                field: fields[k / 3],
                value: *value,
                bound: "finite",
            };
            return Err((index, error));
        }
    }
    Ok(())
}
