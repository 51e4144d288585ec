//! Contacts of two balls, or of a ball and a fixed body, eight side by side.
//!
//! Both arms lie along the normal, `ρ_A = a n`, `ρ_B = b n`, and the inertias are isotropic. The local
//! block is then diagonal with equal tangential entries,
//!
//! ```text
//! W_NN = 1/m_A + 1/m_B,     W_TT = W_NN + a²/I_A + b²/I_B,     ω × ρ = (a ω) × n,   ρ × p = a (n × p)
//! ```
//!
//! so that capping the sticking impulse is exact: `u_T = −α r_T` keeps `r_T` parallel to `q_T`. No
//! tangents are needed: the impulse is kept as the vector `p = r_N n + r_T` of the inertial frame.

use super::lanes::{LANES, Lanes, Lanes3, add, cross, dot, scale, sub};
use super::rows::{AT_REST, Rows, Twists};
use super::sums::LaneSums;
use crate::problem::{Contact, FactoredProblem, InverseMass, WorldTwist};
use glam::{DMat3, DVec3};

/// Relative size below which the geometry of a ball is off by rounding only.
const BALL: f64 = 1e-14;

/// What makes a body a ball for its contacts: isotropic inverse inertia. `None` if it is not.
pub(crate) fn isotropic_inertia(mass: &InverseMass, free: &WorldTwist) -> Option<f64> {
    if mass.is_fixed() {
        // A fixed body that does not turn is a ball of radius zero, wherever its centre is.
        return (free.angular == DVec3::ZERO).then_some(0.0);
    }
    let inertia = mass.angular.x_axis.x;
    let deviation = mass.angular - DMat3::from_diagonal(DVec3::splat(inertia));
    let entries = deviation.abs().to_cols_array();
    entries
        .iter()
        .all(|d| *d <= BALL * inertia)
        .then_some(inertia)
}

/// Arm along the normal, m, of a contact on a ball of inverse inertia `inertia`. `None` if the arm
/// points elsewhere.
fn radius(contact: &Contact, side: usize, inertia: f64) -> Option<f64> {
    let (arm, normal) = (contact.arms[side], contact.frame.x_axis);
    if inertia == 0.0 {
        return Some(0.0);
    }
    let across = arm.cross(normal).length_squared();
    (across <= BALL * BALL * arm.length_squared()).then(|| arm.dot(normal))
}

/// `a`, `b` if the contact is one of balls with the offset on the normal alone.
pub(crate) fn radii(contact: &Contact, inertia: [Option<f64>; 2]) -> Option<[f64; 2]> {
    let [Some(a), Some(b)] = inertia else {
        return None;
    };
    if contact.offset.y != 0.0 || contact.offset.z != 0.0 {
        return None;
    }
    Some([radius(contact, 0, a)?, radius(contact, 1, b)?])
}

/// Eight contacts without a free body in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct BallLanes {
    rows: [[u32; LANES]; 2],
    normal: Lanes3,
    /// `a`, `b`, m.
    radius: [Lanes; 2],
    /// `1/m_A`, `1/m_B`.
    mass: [Lanes; 2],
    /// `a/I_A`, `b/I_B`.
    turn: [Lanes; 2],
    /// `1/W_NN`, `1/W_TT`.
    inverse: [Lanes; 2],
    offset: Lanes,
    friction: Lanes,
    /// Impulses `p`, inertial frame: present and previous.
    now: Lanes3,
    before: Lanes3,
}

impl BallLanes {
    /// Eight contacts of no bodies.
    pub(crate) fn empty() -> Self {
        Self {
            rows: [[AT_REST; LANES]; 2],
            ..Self::default()
        }
    }

    /// Puts a contact into an empty lane.
    pub(crate) fn set(
        &mut self,
        lane: usize,
        problem: &FactoredProblem,
        contact: &Contact,
        inertia: [f64; 2],
        radius: [f64; 2],
        rows: [u32; 2],
    ) {
        let mass = contact
            .bodies
            .map(|j| problem.inverse_mass[j as usize].linear);
        let turn = [radius[0] * inertia[0], radius[1] * inertia[1]];
        let normal = mass[0] + mass[1];
        let tangential = normal + radius[0] * turn[0] + radius[1] * turn[1];
        let inverse = |w: f64| if w > 0.0 { 1.0 / w } else { 0.0 };
        for side in 0..2 {
            self.rows[side][lane] = rows[side];
            self.radius[side].0[lane] = radius[side];
            self.mass[side].0[lane] = mass[side];
            self.turn[side].0[lane] = turn[side];
        }
        self.inverse[0].0[lane] = inverse(normal);
        self.inverse[1].0[lane] = inverse(tangential);
        for axis in 0..3 {
            self.normal[axis].0[lane] = contact.frame.x_axis[axis];
        }
        self.offset.0[lane] = contact.offset.x;
        self.friction.0[lane] = contact.friction;
    }

    /// Starts a lane from the impulse `r` (N·s, contact frame), at rest.
    pub(crate) fn restart(&mut self, lane: usize, contact: &Contact, r: DVec3) {
        let p = contact.frame * r;
        for axis in 0..3 {
            self.now[axis].0[lane] = p[axis];
            self.before[axis].0[lane] = p[axis];
        }
    }

    /// The impulse of a lane, contact frame.
    pub(crate) fn impulse(&self, lane: usize, contact: &Contact) -> DVec3 {
        let p = DVec3::new(
            self.now[0].0[lane],
            self.now[1].0[lane],
            self.now[2].0[lane],
        );
        if p == DVec3::ZERO {
            DVec3::ZERO
        } else {
            contact.frame.transpose() * p
        }
    }

    /// Solves the eight contacts with all others frozen, from `y = x + β (x − x_prev)`.
    #[inline(always)]
    pub(crate) fn relax(&mut self, rows: &mut Rows, beta: Lanes, sums: &mut LaneSums) {
        let [a, b] = [rows.gather(&self.rows[0]), rows.gather(&self.rows[1])];
        let n = self.normal;
        let [mass_a, mass_b] = self.mass;
        let [turn_a, turn_b] = self.turn;
        let spin = sub(
            scale(a.angular, self.radius[0]),
            scale(b.angular, self.radius[1]),
        );
        let u = add(sub(a.linear, b.linear), cross(spin, n));
        let start = add(self.now, scale(sub(self.now, self.before), beta));
        let w_n = mass_a + mass_b;
        let w_t = w_n + self.radius[0] * turn_a + self.radius[1] * turn_b;
        let (u_n, start_n) = (dot(n, u), dot(n, start));
        let q_n = u_n + self.offset - w_n * start_n;
        // q_T = u_T − W_TT y_T
        let along = u_n - w_t * start_n;
        let q_t = sub(sub(u, scale(start, w_t)), scale(n, along));
        let r_n = (-(q_n * self.inverse[0])).max(Lanes::ZERO);
        // The minimum takes 1/W_TT for the 0/0 of an open contact at rest.
        let cap = self.friction * r_n / dot(q_t, q_t).sqrt();
        let factor = cap.min(self.inverse[1]);
        let solved = sub(scale(n, r_n), scale(q_t, factor));
        let change = sub(solved, start);
        let lambda = (w_n + w_t + w_t) * Lanes::splat(1.0 / 3.0);
        sums.add_change(lambda, self.now, start, solved);
        self.before = self.now;
        self.now = solved;
        let moment = cross(n, change);
        let new_a = Twists {
            linear: add(a.linear, scale(change, mass_a)),
            angular: add(a.angular, scale(moment, turn_a)),
        };
        let new_b = Twists {
            linear: sub(b.linear, scale(change, mass_b)),
            angular: sub(b.angular, scale(moment, turn_b)),
        };
        rows.scatter(&self.rows[0], &new_a);
        rows.scatter(&self.rows[1], &new_b);
    }
}
