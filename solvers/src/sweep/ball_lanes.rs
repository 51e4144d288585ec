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

use super::rows::{Place, Places, Rows, Twists};
use super::sums::LaneSums;
use crate::lanes::{LANES, Lanes, Lanes3, Wide, Wide3, add, cross, dot, load3, scale, store3, sub};
use crate::problem::{Contact, InverseMass, WorldTwist};
use glam::{DMat3, DVec3};
use pulp::Simd;

/// Relative size below which the geometry of a ball is off by rounding only.
const BALL: f64 = 1e-14;

/// What the sweep needs of the mass of a body, two numbers beside each other instead of a whole block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BallMass {
    /// `1/m`.
    pub(crate) linear: f64,
    /// Inverse inertia; not a number if the body is no ball.
    angular: f64,
}

impl BallMass {
    /// Of a body with the twist `free`.
    pub(crate) fn of(mass: &InverseMass, free: &WorldTwist) -> Self {
        Self {
            linear: mass.linear,
            angular: isotropic_inertia(mass, free).unwrap_or(f64::NAN),
        }
    }

    /// Inverse inertia of a ball, else zero.
    pub(crate) fn angular(self) -> f64 {
        if self.is_ball() { self.angular } else { 0.0 }
    }

    fn is_ball(self) -> bool {
        !self.angular.is_nan()
    }
}

/// What makes a body a ball for its contacts: isotropic inverse inertia. `None` if it is not.
fn isotropic_inertia(mass: &InverseMass, free: &WorldTwist) -> Option<f64> {
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

/// True if the arm of a ball of inverse inertia `inertia` points along the normal.
fn is_along_normal(contact: &Contact, side: usize, inertia: f64) -> bool {
    let (arm, normal) = (contact.arms[side], contact.frame.x_axis);
    let across = arm.cross(normal).length_squared();
    inertia == 0.0 || across <= BALL * BALL * arm.length_squared()
}

/// True if the contact is one of balls with the offset on the normal alone.
pub(crate) fn is_of_balls(contact: &Contact, masses: [BallMass; 2]) -> bool {
    let offset = contact.offset;
    masses.iter().all(|mass| mass.is_ball())
        && offset.y == 0.0
        && offset.z == 0.0
        && (0..2).all(|side| is_along_normal(contact, side, masses[side].angular))
}

/// Eight contacts without a free body in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct BallLanes {
    places: [Places; 2],
    normal: Lanes3,
    /// `a`, `b`, m.
    radius: [Lanes; 2],
    /// `1/W_NN`, `1/W_TT`.
    inverse: [Lanes; 2],
    offset: Lanes,
    friction: Lanes,
    /// Impulses `p`, inertial frame: the present and the previous ones take turns.
    impulse: [Lanes3; 2],
}

impl BallLanes {
    /// Puts a contact into an empty lane.
    pub(crate) fn set(
        &mut self,
        lane: usize,
        contact: &Contact,
        masses: [BallMass; 2],
        places: [Place; 2],
    ) {
        let inertia = masses.map(BallMass::angular);
        let radius = [0, 1].map(|side| {
            if inertia[side] == 0.0 {
                0.0
            } else {
                contact.arms[side].dot(contact.frame.x_axis)
            }
        });
        let turn = [radius[0] * inertia[0], radius[1] * inertia[1]];
        let normal = masses[0].linear + masses[1].linear;
        let tangential = normal + radius[0] * turn[0] + radius[1] * turn[1];
        let inverse = |w: f64| if w > 0.0 { 1.0 / w } else { 0.0 };
        for side in 0..2 {
            self.places[side].set(lane, places[side]);
            self.radius[side].0[lane] = radius[side];
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
            self.impulse[0][axis].0[lane] = p[axis];
            self.impulse[1][axis].0[lane] = p[axis];
        }
    }

    /// The impulse of a lane, inertial frame; `now` says which are the present ones.
    pub(crate) fn impulse(&self, lane: usize, now: usize) -> DVec3 {
        let [x, y, z] = &self.impulse[now];
        DVec3::new(x.0[lane], y.0[lane], z.0[lane])
    }

    /// Solves the eight contacts with all others frozen, from `y = x + β (x − x_prev)`; `stride` is `β` and the part of the
    /// normal correction that is made. The results take the place of the previous impulses.
    #[inline(always)]
    pub(crate) fn relax<S: Simd>(
        &mut self,
        (simd, now): (S, usize),
        rows: &mut impl Rows,
        stride: [Wide<S>; 2],
        sums: &mut LaneSums,
    ) {
        for part in 0..LANES / S::F64_LANES {
            self.relax_part((simd, part), now, rows, stride, sums);
        }
    }

    #[inline(always)]
    fn relax_part<S: Simd>(
        &mut self,
        (simd, part): (S, usize),
        now: usize,
        rows: &mut impl Rows,
        [beta, part_of_normal]: [Wide<S>; 2],
        sums: &mut LaneSums,
    ) {
        let at = |lanes: &Lanes| lanes.load(simd, part);
        let a = rows.gather(simd, &self.places[0], part);
        let b = rows.gather(simd, &self.places[1], part);
        let n = load3(&self.normal, simd, part);
        let [radius_a, radius_b] = [at(&self.radius[0]), at(&self.radius[1])];
        let [turn_a, turn_b] = [radius_a * a.mass[1], radius_b * b.mass[1]];
        let present = load3(&self.impulse[now], simd, part);
        let before = load3(&self.impulse[1 - now], simd, part);
        let spin = sub(scale(a.angular, radius_a), scale(b.angular, radius_b));
        let u = add(sub(a.linear, b.linear), cross(spin, n));
        let start = add(present, scale(sub(present, before), beta));
        let w_n = a.mass[0] + b.mass[0];
        let w_t = w_n + radius_a * turn_a + radius_b * turn_b;
        let (u_n, start_n) = (dot(n, u), dot(n, start));
        let q_n = (u_n + at(&self.offset)) * part_of_normal - w_n * start_n;
        // q_T = u_T − W_TT y_T
        let along = u_n - w_t * start_n;
        let q_t = sub(sub(u, scale(start, w_t)), scale(n, along));
        let r_n = (-(q_n * at(&self.inverse[0]))).max(Wide::splat(simd, 0.0));
        // The minimum takes 1/W_TT for the 0/0 of an open contact at rest.
        let cap = at(&self.friction) * r_n / dot(q_t, q_t).sqrt();
        let factor = cap.min(at(&self.inverse[1]));
        let solved = sub(scale(n, r_n), scale(q_t, factor));
        let change = sub(solved, start);
        let lambda = (w_n + w_t + w_t) * Wide::splat(simd, 1.0 / 3.0);
        sums.add_change((simd, part), lambda, [present, start, solved]);
        store3(&mut self.impulse[1 - now], part, solved);
        self.push(simd, part, rows, [a, b], change);
    }

    /// Adds the impulses `p` to the twists `a` and `b` of their bodies.
    #[inline(always)]
    fn push<S: Simd>(
        &self,
        simd: S,
        part: usize,
        rows: &mut impl Rows,
        [a, b]: [Twists<S>; 2],
        p: Wide3<S>,
    ) {
        let at = |lanes: &Lanes| lanes.load(simd, part);
        let moment = cross(load3(&self.normal, simd, part), p);
        let turn_a = at(&self.radius[0]) * a.mass[1];
        let turn_b = at(&self.radius[1]) * b.mass[1];
        let new_a = Twists {
            linear: add(a.linear, scale(p, a.mass[0])),
            angular: add(a.angular, scale(moment, turn_a)),
            ..a
        };
        let new_b = Twists {
            linear: sub(b.linear, scale(p, b.mass[0])),
            angular: sub(b.angular, scale(moment, turn_b)),
            ..b
        };
        rows.scatter(simd, &self.places[0], part, &new_a);
        rows.scatter(simd, &self.places[1], part, &new_b);
    }

    /// Adds the present impulses to the twists of their bodies.
    #[inline(always)]
    pub(crate) fn push_all<S: Simd>(&self, (simd, now): (S, usize), rows: &mut impl Rows) {
        for part in 0..LANES / S::F64_LANES {
            let a = rows.gather(simd, &self.places[0], part);
            let b = rows.gather(simd, &self.places[1], part);
            self.push(
                simd,
                part,
                rows,
                [a, b],
                load3(&self.impulse[now], simd, part),
            );
        }
    }
}
