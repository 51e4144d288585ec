//! What a force law is: a wrench of the state of one body, and its derivatives.

use crate::components::{Pose, Twist, Wrench};
use crate::math::rotation;
use glam::{DQuat, DVec3};
use std::any::Any;
use std::fmt::Debug;

/// A force on one body, as a function of the time and of the state of the body.
///
/// The step takes it implicitly [docs/forces.md]: with `θ = 1` where it is stiff for the step, whatever its stiffness, and with `θ = ½` where it is not. Its
/// response to the impulses of contacts and joints is in the matrix with which these are solved.
///
/// Everything is in the **inertial frame**, angular velocities as well. It must be a function of its arguments alone: steps evaluate it
/// several times, on any thread.
///
/// Files of snapshots hold [`LinearForce`](crate::LinearForce) and [`PointSpring`](crate::PointSpring); of other laws see [`Snapshot`](crate::Snapshot).
///
/// ```
/// use moreau::prelude::*;
/// /// A hardening spring to the origin, `f = −k (1 + ‖x‖²) x`.
/// #[derive(Debug)]
/// struct Hardening(f64);
/// impl ForceLaw for Hardening {
///     fn wrench(&self, body: &BodyState) -> Wrench {
///         let x = body.position;
///         Wrench { force: x * (-self.0 * (1.0 + x.length_squared())), ..Wrench::default() }
///     }
/// }
/// let mut simulation = Simulation::new(Settings::default())?;
/// let ball = simulation.spawn((
///     RigidBody::Dynamic,
///     Collider::sphere(0.5),
///     Pose::at(1.0, 0.0, 0.0),
///     BodyForces::new(Hardening(1e9)),
/// ))?;
/// assert!(simulation.step()?.converged);
/// # Ok::<(), StepError>(())
/// ```
pub trait ForceLaw: Any + Debug + Send + Sync + 'static {
    /// Force at the centre of mass, and moments about it.
    fn wrench(&self, body: &BodyState) -> Wrench;

    /// Derivatives of [`Self::wrench`]: of its force and of its whole moment in the inertial frame, also where that is given as a body moment.
    ///
    /// Without one of its own a law has those that central differences give, over `6e-6` times the entry, or `6e-6` m, rad, m/s, rad/s where that is
    /// larger.
    fn jacobians(&self, body: &BodyState) -> ForceJacobians {
        ForceJacobians::by_differences(|state| self.wrench(state), body)
    }

    /// It does not depend on the time: a body on which it acts may fall asleep.
    fn is_steady(&self) -> bool {
        true
    }

    /// Its parameters can be computed with. Asked when the body is taken over by the step.
    ///
    /// # Errors
    /// [`ForceError`] names the parameter at fault.
    fn check(&self) -> Result<(), ForceError> {
        Ok(())
    }
}

/// A force law cannot be computed with.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{field} is {value}, expected {bound}")]
pub struct ForceError {
    /// Parameter or result at fault.
    pub field: &'static str,
    /// Its value.
    pub value: f64,
    /// What it must satisfy.
    pub bound: &'static str,
}

/// The state of a body at a time, all of it in the **inertial frame**.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyState {
    /// s.
    pub time: f64,
    /// Centre of mass, m.
    pub position: DVec3,
    /// Body frame to inertial frame.
    pub orientation: DQuat,
    /// Of the centre of mass, m/s.
    pub velocity: DVec3,
    /// `ω = RΩ`, rad/s.
    pub angular_velocity: DVec3,
}

impl BodyState {
    /// Of a pose and a twist.
    #[must_use]
    pub fn new(time: f64, pose: &Pose, twist: &Twist) -> Self {
        Self {
            time,
            position: pose.position,
            orientation: pose.orientation,
            velocity: twist.linear,
            angular_velocity: pose.orientation * twist.angular,
        }
    }

    /// Where a point of the body is from its centre of mass (m): `anchor` is the same in the body frame.
    #[must_use]
    pub fn arm(&self, anchor: DVec3) -> DVec3 {
        self.orientation * anchor
    }

    /// Velocity of the point of the body at this arm, m/s.
    #[must_use]
    pub fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.angular_velocity.cross(arm)
    }

    /// Displaced by these in the inertial frame, linear part first.
    fn moved(&self, pose: &[f64; 6], twist: &[f64; 6]) -> Self {
        let of = |x: &[f64; 6], k: usize| DVec3::from_slice(&x[k..k + 3]);
        let turned = rotation::exp(of(pose, 3)) * self.orientation;
        Self {
            time: self.time,
            position: self.position + of(pose, 0),
            orientation: rotation::normalised(turned),
            velocity: self.velocity + of(twist, 0),
            angular_velocity: self.angular_velocity + of(twist, 3),
        }
    }
}

/// Derivatives of a wrench, row by row: three rows of the force, N, and three of the moment, N·m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceJacobians {
    /// By the pose: three columns by the position, m, and three by a small rotation vector in the **inertial frame**, rad.
    pub pose: [[f64; 6]; 6],
    /// By the velocity of the centre of mass, m/s, and by the angular velocity, rad/s, both in the **inertial frame**.
    pub twist: [[f64; 6]; 6],
}

/// The root of third order of the rounding: where the errors of central differences are least.
const DIFFERENCE: f64 = 6e-6;

impl ForceJacobians {
    /// Those of a wrench, by central differences.
    #[must_use]
    pub fn by_differences(wrench: impl Fn(&BodyState) -> Wrench, body: &BodyState) -> Self {
        let at = |pose: &[f64; 6], twist: &[f64; 6]| {
            let state = body.moved(pose, twist);
            whole(&wrench(&state), state.orientation)
        };
        let (x, v, w) = (body.position, body.velocity, body.angular_velocity);
        let of_pose = [x.x, x.y, x.z, 0.0, 0.0, 0.0];
        let of_twist = [v.x, v.y, v.z, w.x, w.y, w.z];
        let mut found = Self::default();
        for j in 0..6 {
            for (is_twist, entry) in [(false, of_pose[j]), (true, of_twist[j])] {
                let mut step = [0.0; 6];
                step[j] = DIFFERENCE * entry.abs().max(1.0);
                let back = step.map(|x| -x);
                let none = [0.0; 6];
                let (ahead, behind, matrix) = if is_twist {
                    (at(&none, &step), at(&none, &back), &mut found.twist)
                } else {
                    (at(&step, &none), at(&back, &none), &mut found.pose)
                };
                for (row, (a, b)) in matrix.iter_mut().zip(ahead.iter().zip(behind)) {
                    row[j] = (a - b) / (2.0 * step[j]);
                }
            }
        }
        found
    }
}

/// Force and whole moment in the inertial frame.
pub(crate) fn whole(wrench: &Wrench, orientation: DQuat) -> [f64; 6] {
    let moment = wrench.moment + orientation * wrench.body_moment;
    let force = wrench.force;
    [force.x, force.y, force.z, moment.x, moment.y, moment.z]
}
