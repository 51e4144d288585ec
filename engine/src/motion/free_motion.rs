//! Free motion of one body over a step: everything except contact impulses.
//!
//! ```text
//! translation   v_free = v_k + h (g + f/m)
//! rotation      Ω ← Ω + (h/2) 𝕀⁻¹ m_ext              half kick, moment in the frame of p_k
//!               (p, Ω) ← Φ_h(p, Ω)                   torque-free rotation
//!               Ω ← Ω + (h/2) 𝕀⁻¹ m_ext              half kick, moment in the frame of the new p
//! drag          v_free ← v_free/(1 + h d), Ω_free ← Ω_free/(1 + h c)         its root before and after Φ_h, where the second half kick is dragged as the first one is
//! ```
//!
//! The impulses of a step act at its beginning, before the rotation `Φ_h`, where arms and inertia are those of one orientation:
//! `Ω_free = Ω_k + h 𝕀⁻¹ m_ext` in the frame of `p_k` is what they change. A body that they push turns by `Φ_h` from there
//! (`step/moreau_jean.rs`). The gyroscopic moment acts in `Φ_h` only, so that the iteration matrix stays `M̂ = M` and `W` stays symmetric.
//!
//! Drag acts on the velocity that the step ends with: `M (v − v_k) = h F − h D v + Gᵀr` with `D` of the rates `d`, `c` of the masses. So impulses find the masses
//! `M̂ = M + h D`, and `v_free = M̂⁻¹(M v_k + h F)`.
//!
//! `Φ_h` is the symmetric splitting into rotations about the principal axes [Dullweber-Leimkuhler-McLachlan97]: with `L = 𝕀Ω` the energy `Σ L_i²/2I_i` is split and each
//! term turns the body about its axis `e_i` by `φ_i = h L_i/I_i`,
//!
//! ```text
//! Φ_h = R₁(h/2) R₂(h/2) R₃(h) R₂(h/2) R₁(h/2),    R_i:  p ← p ∘ exp(φ_i e_i),  L ← exp(−φ_i e_i) L
//! ```
//!
//! It is explicit, reversible, of second order, and keeps the angular momentum `R L` in the
//! inertial frame to rounding. Its energy swings by the square of the angle that a part of the motion turns by: a body that turns
//! fast takes its step in several equal parts. A body with two equal moments precesses regularly, and a spherical one turns about a fixed axis: both are
//! exact.

use super::scheme::{BodyAtStart, FreeMotion};
use crate::components::inertia::Inertia;
use crate::components::{Pose, Twist};
use crate::math::rotation;
use crate::settings::{RotationUpdate, Settings};
use glam::{DQuat, DVec3};

/// Angle that a part of a torque-free rotation turns by, rad: impacts meet its energy at any point of its swing, and what they
/// find too much adds up (26 tumbling bodies with e = 1 in a box for 2 s: 1e-3 of the energy).
const LARGEST_TURN: f64 = 0.05;
/// Parts of a step: what turns faster is not followed.
const MOST_PARTS: f64 = 1000.0;

/// Free motion of a dynamic body.
#[inline]
pub(crate) fn free_motion(body: &BodyAtStart, settings: &Settings) -> FreeMotion {
    let BodyAtStart {
        pose,
        twist,
        wrench,
        inertia,
        response,
        ..
    } = *body;
    let (h, gravity) = (settings.time_step, settings.gravity * response.gravity.0);
    let mut linear = twist.linear + (gravity + wrench.force * inertia.inverse_mass) * h;
    let turning = wrench.moment != DVec3::ZERO || wrench.body_moment != DVec3::ZERO;
    let half_kick = |orientation: DQuat| {
        if !turning {
            return DVec3::ZERO;
        }
        let moment = orientation.conjugate() * wrench.moment + wrench.body_moment;
        inertia.inverse_times(moment) * (0.5 * h)
    };
    let before = half_kick(pose.orientation);
    let kick = before * 2.0;
    let (mut free, mut half) = (twist.angular + kick, 1.0);
    if response.has_drag() {
        let [linear_drag, angular_drag] = response.heavier(h);
        linear /= linear_drag;
        free /= angular_drag;
        half = 1.0 / angular_drag.sqrt();
    }
    let slowed = (twist.angular + before) * half;
    let (turned, angular) = torque_free(inertia, pose.orientation, slowed, h);
    let orientation = match settings.rotation {
        RotationUpdate::Exponential => turned,
        RotationUpdate::Linear => pose.orientation,
    };
    FreeMotion {
        twist: Twist {
            linear,
            angular: free,
        },
        kick,
        orientation,
        // Both half kicks are dragged for the whole step: what does not turn its axis ends with `free`.
        turned: (angular + half_kick(orientation) * half) * half,
    }
}

/// Free motion of a kinematic body: its twist stays, its orientation turns.
pub(crate) fn prescribed_motion(pose: &Pose, twist: &Twist, h: f64) -> FreeMotion {
    let turned = pose.orientation * rotation::exp(twist.angular * h);
    FreeMotion {
        twist: *twist,
        orientation: rotation::normalised(turned),
        turned: twist.angular,
        kick: DVec3::ZERO,
    }
}

/// Orientation and `Ω` after a step of the free rotation `Φ_h` under `mean`; what `solved` is beyond that comes after it, with its angular momentum.
#[inline]
pub(crate) fn turned_under(
    inertia: &Inertia,
    p: DQuat,
    [mean, solved]: [DVec3; 2],
    h: f64,
) -> (DQuat, DVec3) {
    let (orientation, angular) = torque_free(inertia, p, mean, h);
    let late = solved - mean;
    if late == DVec3::ZERO {
        return (orientation, angular);
    }
    // In the frame of the new orientation.
    let late = orientation.conjugate() * (p * inertia.times(late));
    (orientation, angular + inertia.inverse_times(late))
}

/// `Φ_h`: orientation and body-frame angular velocity after a torque-free rotation.
pub(crate) fn torque_free(inertia: &Inertia, p: DQuat, omega: DVec3, h: f64) -> (DQuat, DVec3) {
    if omega == DVec3::ZERO {
        return (p, omega);
    }
    if inertia.spherical {
        return (rotation::normalised(p * rotation::exp(omega * h)), omega);
    }
    let mut state = PrincipalRotation {
        orientation: p * inertia.frame,
        momentum: inertia.moments * (inertia.frame.conjugate() * omega),
    };
    if let Some(axis) = inertia.symmetry {
        state.precess(usize::from(axis), inertia, h);
        return state.end(inertia);
    }
    let rate = inertia.inverse_moments;
    let parts = (omega.length() * h.abs() / LARGEST_TURN).ceil();
    let parts = parts.clamp(1.0, MOST_PARTS);
    let turn = rate * (h / parts);
    for _ in 0..parts as usize {
        state.turn(0, 0.5 * turn.x);
        state.turn(1, 0.5 * turn.y);
        state.turn(2, turn.z);
        state.turn(1, 0.5 * turn.y);
        state.turn(0, 0.5 * turn.x);
    }
    state.end(inertia)
}

/// Orientation of the principal axes and the angular momentum in them.
struct PrincipalRotation {
    orientation: DQuat,
    momentum: DVec3,
}

impl PrincipalRotation {
    /// Regular precession, exact: about the angular momentum by `h L/I₁`, and about the axis of symmetry by `h (1/I₃ − 1/I₁) L₃`.
    #[inline]
    fn precess(&mut self, axis: usize, inertia: &Inertia, h: f64) {
        let rate = inertia.inverse_moments;
        let across = rate[(axis + 1) % 3];
        self.orientation *= rotation::exp(self.momentum * (h * across));
        self.turn(axis, h * (rate[axis] - across));
    }

    /// Orientation and angular velocity of the body.
    #[inline]
    fn end(&self, inertia: &Inertia) -> (DQuat, DVec3) {
        let orientation = rotation::normalised(self.orientation * inertia.frame.conjugate());
        (
            orientation,
            inertia.frame * (self.momentum * inertia.inverse_moments),
        )
    }

    /// `R_axis`: turns by `φ = L_axis · time_over_moment` about a principal axis.
    #[inline]
    fn turn(&mut self, axis: usize, time_over_moment: f64) {
        let angle = self.momentum[axis] * time_over_moment;
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        let (sin, cos) = rotation::sin_cos(angle);
        let (a, b) = (self.momentum[next], self.momentum[last]);
        self.momentum[next] = cos * a + sin * b;
        self.momentum[last] = cos * b - sin * a;
        let (sin_half, cos_half) = rotation::sin_cos(0.5 * angle);
        let mut v = DVec3::ZERO;
        v[axis] = sin_half;
        self.orientation *= DQuat::from_xyzw(v.x, v.y, v.z, cos_half);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::response::Response;
    use crate::components::{BodyId, Wrench};

    /// One Euler top, integrated with step `h` to `t = 5`; returns `(p, Ω)`.
    fn tumble(h: f64) -> (DQuat, DVec3) {
        let inertia = Inertia::new(2.0, DVec3::new(5.0, 10.0, 1.0), DQuat::IDENTITY);
        let mut state = (DQuat::IDENTITY, DVec3::new(0.1, 5.0, 0.1));
        for _ in 0..(5.0 / h).round() as usize {
            state = torque_free(&inertia, state.0, state.1, h);
        }
        state
    }

    #[test]
    fn splitting_is_of_second_order() {
        let reference = tumble(1e-4).1;
        let coarse = (tumble(4e-3).1 - reference).length();
        let fine = (tumble(2e-3).1 - reference).length();
        // Halving h divides an O(h²) error by 4; 10 % for the next term of the expansion.
        assert!((coarse / fine - 4.0).abs() < 0.4, "ratio {}", coarse / fine);
    }

    #[test]
    fn splitting_is_reversible() {
        let inertia = Inertia::new(2.0, DVec3::new(5.0, 10.0, 1.0), DQuat::IDENTITY);
        let start = (
            rotation::exp(DVec3::new(0.3, 0.2, 0.1)),
            DVec3::new(0.1, 5.0, 0.1),
        );
        let there = torque_free(&inertia, start.0, start.1, 0.01);
        let back = torque_free(&inertia, there.0, there.1, -0.01);
        assert!((back.1 - start.1).length() < 1e-14);
        assert!((back.0 - start.0).length() < 1e-15);
    }

    /// The splitting with its error removed: steps of a thousandth.
    #[test]
    fn a_symmetric_body_precesses_as_fine_splitting_says() {
        for axis in 0..3 {
            let mut moments = DVec3::splat(2.0);
            moments[axis] = 0.3;
            let inertia = Inertia::new(1.0, moments, rotation::exp(DVec3::new(0.3, -0.2, 0.5)));
            assert_eq!(inertia.symmetry, Some(axis as u8));
            let mut split = inertia;
            split.symmetry = None;
            let start = (
                rotation::exp(DVec3::new(0.1, 0.7, -0.4)),
                DVec3::new(3.0, -2.0, 1.0),
            );
            let exact = torque_free(&inertia, start.0, start.1, 0.3);
            let mut state = start;
            for _ in 0..1000 {
                state = torque_free(&split, state.0, state.1, 0.3e-3);
            }
            // Second order: (20 rad/s · 3e-4 s)², 20 rad/s being L/I₃.
            assert!((exact.1 - state.1).length() < 4e-5 * start.1.length());
            assert!((exact.0 - state.0).length() < 4e-5);
            let energy = |omega| inertia.rotational_energy(omega);
            assert!((energy(exact.1) / energy(start.1) - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn external_moment_in_either_frame_is_the_same_at_identity() {
        let inertia = Inertia::new(1.0, DVec3::ONE, DQuat::IDENTITY);
        let moment = DVec3::new(0.0, 0.0, 2.0);
        let in_body = Wrench {
            body_moment: moment,
            ..Wrench::default()
        };
        let in_world = Wrench {
            moment,
            ..Wrench::default()
        };
        let settings = Settings {
            time_step: 0.1,
            ..Settings::default()
        };
        let run = |wrench| {
            let start = BodyAtStart {
                id: BodyId(0),
                pose: &Pose::default(),
                twist: &Twist::default(),
                wrench,
                inertia: &inertia,
                response: &Response::default(),
            };
            free_motion(&start, &settings)
        };
        let (a, b) = (run(&in_body), run(&in_world));
        assert!((a.turned - DVec3::new(0.0, 0.0, 0.2)).length() < 1e-16);
        assert!((a.turned - b.turned).length() < 1e-16);
    }
}
