//! Contacts with full 3×3 blocks, by pairs of bodies: eight pairs side by side, up to four points
//! of each one after the other, with the twists of the pairs held in between.
//!
//! The local problem is that of [`crate::local::one_contact`], in its eigenbasis; the cases of a
//! contact become choices by lane, and the secular iteration runs until the last lane is done.

use super::lanes::{LANES, Lanes, Lanes3, add, cross, dot, scale, sub};
use super::rows::{AT_REST, Rows, Twists};
use super::sums::LaneSums;
use crate::OneContact;
use crate::problem::{Contact, FactoredProblem};
use glam::DVec3;

/// Points of a pair that are visited together.
pub(crate) const MAX_POINTS: usize = 4;
/// Newton and bisection steps, as for single contacts.
const MAX_ITERATIONS: usize = 60;

/// Eight pairs of bodies, no free body in common, each with the same number of points.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairLanes {
    rows: [[u32; LANES]; 2],
    mass: [MassLanes; 2],
}

/// `Ŵ` of eight bodies: `1/m`, diagonal and off-diagonal entries of the inverse inertia.
#[derive(Clone, Copy, Debug, Default)]
struct MassLanes {
    linear: Lanes,
    diagonal: Lanes3,
    off: Lanes3,
}

impl MassLanes {
    /// `v + Ŵ [p; ρ × p]`.
    #[inline(always)]
    fn pushed(&self, twists: &Twists, arm: Lanes3, p: Lanes3) -> Twists {
        let m = cross(arm, p);
        let ([d0, d1, d2], [o0, o1, o2]) = (self.diagonal, self.off);
        let turn = [
            d0 * m[0] + o2 * m[1] + o1 * m[2],
            o2 * m[0] + d1 * m[1] + o0 * m[2],
            o1 * m[0] + o0 * m[1] + d2 * m[2],
        ];
        Twists {
            linear: add(twists.linear, scale(p, self.linear)),
            angular: add(twists.angular, turn),
        }
    }
}

impl PairLanes {
    /// Eight pairs of no bodies.
    pub(crate) fn empty() -> Self {
        Self {
            rows: [[AT_REST; LANES]; 2],
            ..Self::default()
        }
    }

    /// Puts a pair into an empty lane.
    pub(crate) fn set(
        &mut self,
        lane: usize,
        problem: &FactoredProblem,
        contact: &Contact,
        rows: [u32; 2],
    ) {
        for side in 0..2 {
            self.rows[side][lane] = rows[side];
            let body = &problem.inverse_mass[contact.bodies[side] as usize];
            let (i, mass) = (&body.angular, &mut self.mass[side]);
            mass.linear.0[lane] = body.linear;
            for axis in 0..3 {
                mass.diagonal[axis].0[lane] = i.col(axis)[axis];
                mass.off[axis].0[lane] = i.col((axis + 1) % 3)[(axis + 2) % 3];
            }
        }
    }

    /// Solves the points one after the other, all other contacts frozen.
    #[inline(always)]
    pub(crate) fn relax(
        &self,
        points: &mut [PointLanes],
        rows: &mut Rows,
        beta: Lanes,
        sums: &mut LaneSums,
    ) {
        let mut a = rows.gather(&self.rows[0]);
        let mut b = rows.gather(&self.rows[1]);
        for point in points {
            let change = point.relax(&a, &b, beta, sums);
            a = self.mass[0].pushed(&a, point.arms[0], change);
            b = self.mass[1].pushed(&b, point.arms[1], change.map(|x| -x));
        }
        rows.scatter(&self.rows[0], &a);
        rows.scatter(&self.rows[1], &b);
    }
}

/// One point of each of eight pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointLanes {
    /// `n, t₁', t₂'`: principal tangents.
    axes: [Lanes3; 3],
    /// `ρ_A`, `ρ_B`, m.
    arms: [Lanes3; 2],
    /// `d` in the principal basis, m/s.
    offset: Lanes3,
    friction: Lanes,
    lambda: Lanes,
    w_nn: Lanes,
    inverse_w_nn: Lanes,
    w: [Lanes; 2],
    s: [Lanes; 2],
    /// Impulses, principal basis: present and previous.
    now: Lanes3,
    before: Lanes3,
    /// Slip multiplier of the last solve in which the contact slid.
    alpha: Lanes,
}

impl PointLanes {
    /// A point of no pair at all.
    pub(crate) fn empty() -> Self {
        Self {
            s: [Lanes::splat(1.0); 2],
            ..Self::default()
        }
    }

    /// Puts a contact into an empty lane.
    pub(crate) fn set(&mut self, lane: usize, problem: &FactoredProblem, contact: &Contact) {
        let [a, b] = contact.bodies.map(|j| &problem.inverse_mass[j as usize]);
        let block = contact.local_block(a, b);
        let local = OneContact::new(&block);
        let ([c, s], frame) = (local.rotation(), &contact.frame);
        let axes = [
            frame.x_axis,
            frame.y_axis * c + frame.z_axis * s,
            frame.z_axis * c - frame.y_axis * s,
        ];
        let offset = local.to_principal(contact.offset);
        for axis in 0..3 {
            for k in 0..3 {
                self.axes[k][axis].0[lane] = axes[k][axis];
            }
            for side in 0..2 {
                self.arms[side][axis].0[lane] = contact.arms[side][axis];
            }
            self.offset[axis].0[lane] = offset[axis];
        }
        self.friction.0[lane] = contact.friction;
        self.lambda.0[lane] = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
        let parts = local.parts();
        self.w_nn.0[lane] = parts.w_nn;
        self.inverse_w_nn.0[lane] = parts.inv_w_nn;
        for k in 0..2 {
            self.w[k].0[lane] = parts.w[k];
            // A block that carries no impulse: anything that does not divide by zero.
            self.s[k].0[lane] = if parts.s[k] > 0.0 { parts.s[k] } else { 1.0 };
        }
    }

    /// `(c, s)` of the rotation from the tangents of `contact` to the principal ones.
    fn rotation(&self, lane: usize, contact: &Contact) -> [f64; 2] {
        let axis = DVec3::from([0, 1, 2].map(|k| self.axes[1][k].0[lane]));
        [
            axis.dot(contact.frame.y_axis),
            axis.dot(contact.frame.z_axis),
        ]
    }

    /// Starts a lane from the impulse `r` (N·s, contact frame), at rest.
    pub(crate) fn restart(&mut self, lane: usize, contact: &Contact, r: DVec3) {
        let [c, s] = self.rotation(lane, contact);
        let r = [r.x, c * r.y + s * r.z, c * r.z - s * r.y];
        for (k, r) in r.into_iter().enumerate() {
            self.now[k].0[lane] = r;
            self.before[k].0[lane] = r;
        }
        self.alpha.0[lane] = 0.0;
    }

    /// The impulse of a lane, contact frame.
    pub(crate) fn impulse(&self, lane: usize, contact: &Contact) -> DVec3 {
        let [c, s] = self.rotation(lane, contact);
        let [n, y, z] = self.now.map(|r| r.0[lane]);
        DVec3::new(n, c * y - s * z, c * z + s * y)
    }

    /// The change of the impulses (inertial frame) that solves the contacts at these twists.
    #[inline(always)]
    fn relax(&mut self, a: &Twists, b: &Twists, beta: Lanes, sums: &mut LaneSums) -> Lanes3 {
        let relative = sub(
            add(a.linear, cross(a.angular, self.arms[0])),
            add(b.linear, cross(b.angular, self.arms[1])),
        );
        let u = add(self.axes.map(|axis| dot(axis, relative)), self.offset);
        let start = add(self.now, scale(sub(self.now, self.before), beta));
        let q = sub(u, self.apply(start));
        let solved = self.solve(q);
        sums.add_change(self.lambda, self.now, start, solved);
        self.before = self.now;
        self.now = solved;
        let change = sub(solved, start);
        let [n, t1, t2] = self.axes;
        add(
            add(scale(n, change[0]), scale(t1, change[1])),
            scale(t2, change[2]),
        )
    }

    /// `W r`.
    #[inline(always)]
    fn apply(&self, r: Lanes3) -> Lanes3 {
        let coupling = self.w[0] * r[1] + self.w[1] * r[2];
        let lift = coupling * self.inverse_w_nn + r[0];
        [
            self.w_nn * r[0] + coupling,
            self.s[0] * r[1] + self.w[0] * lift,
            self.s[1] * r[2] + self.w[1] * lift,
        ]
    }

    /// The impulses for the velocities `q` without them: take-off, stick or slip.
    #[inline(always)]
    fn solve(&mut self, q: Lanes3) -> Lanes3 {
        let (zero, one) = (Lanes::ZERO, Lanes::splat(1.0));
        let slope = q[0] * self.inverse_w_nn;
        let b = [q[1] - self.w[0] * slope, q[2] - self.w[1] * slope];
        let stick = self.with_tangential(q[0], [-(b[0] / self.s[0]), -(b[1] / self.s[1])]);
        let tangential = norm(stick);
        // Pressed: W_NN > 0 and q_N < 0, that is −q_N/W_NN > 0.
        let pressed = slope.where_less(zero, one, zero);
        let slides = tangential.where_at_most(self.friction * stick[0], zero, pressed);
        let mut solved = stick;
        if slides.any_positive() {
            let slip = self.slip(q[0], b, slides);
            for k in 0..3 {
                solved[k] = zero.where_less(slides, slip[k], solved[k]);
            }
        }
        solved.map(|r| zero.where_less(pressed, r, zero))
    }

    /// `(r_N, r_T)` with `u_N = 0`.
    #[inline(always)]
    fn with_tangential(&self, q_n: Lanes, r: [Lanes; 2]) -> Lanes3 {
        let normal = -((q_n + self.w[0] * r[0] + self.w[1] * r[1]) * self.inverse_w_nn);
        [normal, r[0], r[1]]
    }

    /// The sliding impulses, where `active` is positive: Newton on `1/‖r_T‖ − 1/(μ r_N)`, bisection
    /// where it leaves the bracket.
    #[inline(always)]
    fn slip(&mut self, q_n: Lanes, b: [Lanes; 2], slides: Lanes) -> Lanes3 {
        let (zero, one) = (Lanes::ZERO, Lanes::splat(1.0));
        let rounding = Lanes::splat(2.0 * f64::EPSILON);
        // Frictionless lanes are solved at once: nothing tangential.
        let mut active = zero.where_less(self.friction, slides, zero);
        let mut alpha = self.alpha;
        let (mut low, mut high) = (zero, Lanes::splat(f64::MAX));
        let mut r = [zero; 3];
        for _ in 0..MAX_ITERATIONS {
            let inverse = [one / (self.s[0] + alpha), one / (self.s[1] + alpha)];
            r = self.with_tangential(q_n, [-(b[0] * inverse[0]), -(b[1] * inverse[1])]);
            let (tangential, bound) = (norm(r), self.friction * r[0]);
            let excess = tangential - bound;
            let small = rounding * (tangential + bound.abs());
            active = excess.abs().where_at_most(small, zero, active);
            low = zero.where_less(excess, alpha, low);
            high = zero.where_less(excess, high, alpha);
            active = (high - low).where_at_most(rounding * high, zero, active);
            if !active.any_positive() {
                break;
            }
            // T dT/dα = −Σ r²/(s+α), dB/dα = μ Σ w r/(s+α)/W_NN; the step is −h/h'.
            let y = [r[1] * inverse[0], r[2] * inverse[1]];
            let t_dt = -(r[1] * y[0] + r[2] * y[1]);
            let db = self.friction * self.inverse_w_nn * (self.w[0] * y[0] + self.w[1] * y[1]);
            let square = tangential * tangential;
            let slope = square * tangential * db - bound * bound * t_dt;
            let newton = alpha + square * bound * excess / slope;
            // Inside the bracket, with an impulse that presses.
            let mut inside = low.where_less(newton, active, zero);
            inside = newton.where_less(high, inside, zero);
            inside = zero.where_less(bound, inside, zero);
            let outside = active - inside;
            if outside.any_positive() {
                let end = self.slip_bound(q_n, b);
                high = zero.where_less(outside, high.min(end), high);
                let middle = zero.where_less(low, (low * high).sqrt(), Lanes::splat(0.1) * high);
                alpha = zero.where_less(outside, middle, alpha);
            }
            alpha = zero.where_less(inside, newton, alpha);
        }
        let slid = zero.where_less(self.friction, slides, zero);
        self.alpha = zero.where_less(slid, alpha, self.alpha);
        // The last rounding: put r on the cone exactly.
        let tangential = norm(r);
        let normal = r[0].max(zero);
        let mut factor = self.friction * normal / tangential;
        factor = zero.where_less(tangential, factor, zero);
        // Without friction r_T is zero, and the normal impulse is that of the normal alone.
        let alone = -(q_n * self.inverse_w_nn);
        [
            zero.where_less(self.friction, normal, alone),
            factor * r[1],
            factor * r[2],
        ]
    }

    /// `α_max`: at and beyond it `‖r_T‖ ≤ μ r_N`.
    #[inline(always)]
    fn slip_bound(&self, q_n: Lanes, b: [Lanes; 2]) -> Lanes {
        let b_norm = (b[0] * b[0] + b[1] * b[1]).sqrt();
        let w_norm = (self.w[0] * self.w[0] + self.w[1] * self.w[1]).sqrt();
        let s_min = self.s[0].min(self.s[1]);
        let far = b_norm * (self.w_nn + self.friction * w_norm) / -(self.friction * q_n);
        (far - s_min).max(Lanes::ZERO)
    }
}

/// `‖r_T‖`.
#[inline(always)]
fn norm(r: Lanes3) -> Lanes {
    (r[1] * r[1] + r[2] * r[2]).sqrt()
}
