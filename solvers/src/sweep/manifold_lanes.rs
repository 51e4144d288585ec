//! Contacts with full 3×3 blocks, by pairs of bodies: eight pairs side by side, up to four points
//! of each one after the other, with the twists of the pairs held in between.
//!
//! The local problem is that of [`crate::law::one_contact`], in its eigenbasis; the cases of a
//! contact become choices by lane, and the secular iteration runs until the last lane is done.

mod principal;

pub(crate) use principal::Prepare;

use super::rows::{Place, Places, Rows, Twists};
use super::sums::LaneSums;
use crate::lanes::{
    LANES, Lanes, Lanes3, Mask, Wide, Wide3, add, cross, dot, load3, scale, store3, sub,
};
use crate::problem::{Contact, FactoredProblem};
use glam::DVec3;
use pulp::Simd;

/// Points of a pair that are visited together.
pub(crate) const MAX_POINTS: usize = 4;
/// Newton and bisection steps, as for single contacts.
const MAX_ITERATIONS: usize = 60;
/// Relative distance to the cone from which one more Newton step is the last of a visit. It squares the
/// distance, and the next visit continues from there, so that the error vanishes as sweeps converge.
const NEAR: f64 = 1e-4;

/// Eight pairs of bodies, no free body in common, each with the same number of points.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairLanes {
    places: [Places; 2],
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
    #[inline(always)]
    fn load<S: Simd>(&self, simd: S, part: usize) -> Masses<S> {
        Masses {
            linear: self.linear.load(simd, part),
            diagonal: load3(&self.diagonal, simd, part),
            off: load3(&self.off, simd, part),
        }
    }
}

/// `Ŵ` of as many bodies as a vector holds.
struct Masses<S: Simd> {
    linear: Wide<S>,
    diagonal: Wide3<S>,
    off: Wide3<S>,
}

impl<S: Simd> Masses<S> {
    /// `𝕀⁻¹ m`.
    #[inline(always)]
    fn turned(&self, m: Wide3<S>) -> Wide3<S> {
        let ([d0, d1, d2], [o0, o1, o2]) = (self.diagonal, self.off);
        [
            d0 * m[0] + o2 * m[1] + o1 * m[2],
            o2 * m[0] + d1 * m[1] + o0 * m[2],
            o1 * m[0] + o0 * m[1] + d2 * m[2],
        ]
    }

    /// `v + Ŵ [p; ρ × p]`.
    #[inline(always)]
    fn pushed(&self, twists: &Twists<S>, arm: Wide3<S>, p: Wide3<S>) -> Twists<S> {
        Twists {
            linear: add(twists.linear, scale(p, self.linear)),
            angular: add(twists.angular, self.turned(cross(arm, p))),
            ..*twists
        }
    }
}

impl PairLanes {
    /// Puts a pair into an empty lane.
    pub(crate) fn set(
        &mut self,
        lane: usize,
        problem: &FactoredProblem,
        contact: &Contact,
        places: [Place; 2],
    ) {
        let sides = self.places.iter_mut().zip(&mut self.mass);
        for ((own, mass), (place, body)) in sides.zip(places.into_iter().zip(contact.bodies)) {
            own.set(lane, place);
            let body = &problem.inverse_mass[body as usize];
            mass.linear.0[lane] = body.linear;
            for axis in 0..3 {
                let column = |axis| body.angular.col(axis % 3);
                mass.diagonal[axis].0[lane] = column(axis)[axis];
                mass.off[axis].0[lane] = column(axis + 1)[(axis + 2) % 3];
            }
        }
    }

    /// Solves the points one after the other, all other contacts frozen.
    #[inline(always)]
    pub(crate) fn relax<S: Simd>(
        &self,
        (simd, now): (S, usize),
        points: &mut [PointLanes],
        rows: &mut impl Rows,
        stride: [Wide<S>; 2],
        sums: &mut LaneSums,
    ) {
        for part in 0..LANES / S::F64_LANES {
            let mut visit = self.arrive((simd, part), now, rows);
            for point in &mut *points {
                visit.relax(point, stride, sums);
            }
            visit.leave(self, rows);
        }
    }

    /// [`PairLanes::relax`] for two groups that have no body in common, in turn: each waits while the
    /// other computes.
    #[inline(always)]
    pub(crate) fn relax_two<S: Simd>(
        [first, second]: [&Self; 2],
        (simd, now): (S, usize),
        points: [&mut [PointLanes]; 2],
        rows: &mut impl Rows,
        stride: [Wide<S>; 2],
        sums: &mut LaneSums,
    ) {
        let [own, other] = points;
        for part in 0..LANES / S::F64_LANES {
            let mut one = first.arrive((simd, part), now, rows);
            let mut two = second.arrive((simd, part), now, rows);
            for (own, other) in own.iter_mut().zip(&mut *other) {
                one.relax(own, stride, sums);
                two.relax(other, stride, sums);
            }
            one.leave(first, rows);
            two.leave(second, rows);
        }
    }

    #[inline(always)]
    fn arrive<S: Simd>(&self, (simd, part): (S, usize), now: usize, rows: &impl Rows) -> Visit<S> {
        Visit {
            simd,
            part,
            now,
            a: rows.gather(simd, &self.places[0], part),
            b: rows.gather(simd, &self.places[1], part),
            mass_a: self.mass[0].load(simd, part),
            mass_b: self.mass[1].load(simd, part),
        }
    }
}

/// Pairs at work: their twists.
struct Visit<S: Simd> {
    simd: S,
    part: usize,
    /// Which impulses are the present ones.
    now: usize,
    a: Twists<S>,
    b: Twists<S>,
    mass_a: Masses<S>,
    mass_b: Masses<S>,
}

impl<S: Simd> Visit<S> {
    #[inline(always)]
    fn relax(&mut self, point: &mut PointLanes, stride: [Wide<S>; 2], sums: &mut LaneSums) {
        let arms = point.arms_of(self.simd, self.part);
        let lanes = (self.simd, self.part);
        let change = point.relax(lanes, self.now, [&self.a, &self.b], arms, stride, sums);
        self.a = self.mass_a.pushed(&self.a, arms[0], change);
        let back = [-change[0], -change[1], -change[2]];
        self.b = self.mass_b.pushed(&self.b, arms[1], back);
    }

    #[inline(always)]
    fn leave(self, pairs: &PairLanes, rows: &mut impl Rows) {
        rows.scatter(self.simd, &pairs.places[0], self.part, &self.a);
        rows.scatter(self.simd, &pairs.places[1], self.part, &self.b);
    }
}

impl PairLanes {
    /// Adds the present impulses of the points to the twists of their bodies.
    #[inline(always)]
    pub(crate) fn push_all<S: Simd>(
        &self,
        (simd, now): (S, usize),
        points: &[PointLanes],
        rows: &mut impl Rows,
    ) {
        for part in 0..LANES / S::F64_LANES {
            let mut a = rows.gather(simd, &self.places[0], part);
            let mut b = rows.gather(simd, &self.places[1], part);
            let mass_a = self.mass[0].load(simd, part);
            let mass_b = self.mass[1].load(simd, part);
            for point in points {
                let [arm_a, arm_b] = point.arms_of(simd, part);
                let [n, t1, t2] = point.axes_of(simd, part);
                let r = load3(&point.impulse[now], simd, part);
                let p = add(add(scale(n, r[0]), scale(t1, r[1])), scale(t2, r[2]));
                a = mass_a.pushed(&a, arm_a, p);
                b = mass_b.pushed(&b, arm_b, [-p[0], -p[1], -p[2]]);
            }
            rows.scatter(simd, &self.places[0], part, &a);
            rows.scatter(simd, &self.places[1], part, &b);
        }
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
    /// Impulses, principal basis: the present and the previous ones take turns.
    impulse: [Lanes3; 2],
    /// Slip multiplier of the last solve in which the contact slid.
    alpha: Lanes,
}

fn set3(lanes: &mut Lanes3, lane: usize, vector: DVec3) {
    for (axis, lanes) in (0..).zip(lanes) {
        lanes.0[lane] = vector[axis];
    }
}

impl PointLanes {
    /// A point of no pair at all.
    pub(crate) fn empty() -> Self {
        Self {
            s: [Lanes::splat(1.0); 2],
            ..Self::default()
        }
    }

    /// Puts a contact into an empty lane, not yet [prepared](Prepare).
    pub(crate) fn set(&mut self, lane: usize, contact: &Contact) {
        let Contact { frame, offset, .. } = contact;
        for (axis, lanes) in (0..).zip(&mut self.axes) {
            set3(lanes, lane, frame.col(axis));
        }
        for (lanes, arm) in self.arms.iter_mut().zip(contact.arms) {
            set3(lanes, lane, arm);
        }
        set3(&mut self.offset, lane, *offset);
        self.friction.0[lane] = contact.friction;
    }

    /// `(c, s)` of the rotation from the tangents of `contact` to the principal ones.
    fn rotation(&self, lane: usize, contact: &Contact) -> [f64; 2] {
        let [x, y, z] = &self.axes[1];
        let axis = DVec3::new(x.0[lane], y.0[lane], z.0[lane]);
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
            self.impulse[0][k].0[lane] = r;
            self.impulse[1][k].0[lane] = r;
        }
        self.alpha.0[lane] = 0.0;
    }

    /// The impulse of a lane, contact frame; `now` says which are the present ones.
    pub(crate) fn impulse(&self, lane: usize, now: usize, contact: &Contact) -> DVec3 {
        let [c, s] = self.rotation(lane, contact);
        let [n, y, z] = &self.impulse[now];
        let (n, y, z) = (n.0[lane], y.0[lane], z.0[lane]);
        DVec3::new(n, c * y - s * z, c * z + s * y)
    }

    /// The change of the impulses (inertial frame) that solves the contacts at these twists.
    #[inline(always)]
    fn relax<S: Simd>(
        &mut self,
        (simd, part): (S, usize),
        now: usize,
        [a, b]: [&Twists<S>; 2],
        arms: [Wide3<S>; 2],
        [beta, part_of_normal]: [Wide<S>; 2],
        sums: &mut LaneSums,
    ) -> Wide3<S> {
        let relative = sub(
            add(a.linear, cross(a.angular, arms[0])),
            add(b.linear, cross(b.angular, arms[1])),
        );
        let [n, t1, t2] = self.axes_of(simd, part);
        let offset = load3(&self.offset, simd, part);
        let along = [dot(n, relative), dot(t1, relative), dot(t2, relative)];
        let present = load3(&self.impulse[now], simd, part);
        let before = load3(&self.impulse[1 - now], simd, part);
        let start = add(present, scale(sub(present, before), beta));
        let local = self.local(simd, part);
        let mut u = add(along, offset);
        u[0] = u[0] * part_of_normal;
        let q = sub(u, local.apply(start));
        let (solved, alpha) = local.solve(q, self.alpha.load(simd, part));
        self.alpha.store(part, alpha);
        let lambda = self.lambda.load(simd, part);
        sums.add_change((simd, part), lambda, [present, start, solved]);
        store3(&mut self.impulse[1 - now], part, solved);
        let change = sub(solved, start);
        add(
            add(scale(n, change[0]), scale(t1, change[1])),
            scale(t2, change[2]),
        )
    }

    #[inline(always)]
    fn arms_of<S: Simd>(&self, simd: S, part: usize) -> [Wide3<S>; 2] {
        [
            load3(&self.arms[0], simd, part),
            load3(&self.arms[1], simd, part),
        ]
    }

    #[inline(always)]
    fn axes_of<S: Simd>(&self, simd: S, part: usize) -> [Wide3<S>; 3] {
        [
            load3(&self.axes[0], simd, part),
            load3(&self.axes[1], simd, part),
            load3(&self.axes[2], simd, part),
        ]
    }

    #[inline(always)]
    fn local<S: Simd>(&self, simd: S, part: usize) -> Local<S> {
        let at = |lanes: &Lanes| lanes.load(simd, part);
        Local {
            simd,
            friction: at(&self.friction),
            w_nn: at(&self.w_nn),
            inverse_w_nn: at(&self.inverse_w_nn),
            w: [at(&self.w[0]), at(&self.w[1])],
            s: [at(&self.s[0]), at(&self.s[1])],
        }
    }
}

/// Local problems side by side.
struct Local<S: Simd> {
    simd: S,
    friction: Wide<S>,
    w_nn: Wide<S>,
    inverse_w_nn: Wide<S>,
    w: [Wide<S>; 2],
    s: [Wide<S>; 2],
}

impl<S: Simd> Local<S> {
    #[inline(always)]
    fn number(&self, value: f64) -> Wide<S> {
        Wide::splat(self.simd, value)
    }

    /// `W r`.
    #[inline(always)]
    fn apply(&self, r: Wide3<S>) -> Wide3<S> {
        let coupling = self.w[0] * r[1] + self.w[1] * r[2];
        let lift = coupling * self.inverse_w_nn + r[0];
        [
            self.w_nn * r[0] + coupling,
            self.s[0] * r[1] + self.w[0] * lift,
            self.s[1] * r[2] + self.w[1] * lift,
        ]
    }

    /// The impulses for the velocities `q` without them, take-off, stick or slip, and the slip
    /// multipliers, given those of the last solve.
    #[inline(always)]
    fn solve(&self, q: Wide3<S>, alpha: Wide<S>) -> (Wide3<S>, Wide<S>) {
        let zero = self.number(0.0);
        let slope = q[0] * self.inverse_w_nn;
        let b = [q[1] - self.w[0] * slope, q[2] - self.w[1] * slope];
        let mut solved = self.with_tangential(q[0], [-(b[0] / self.s[0]), -(b[1] / self.s[1])]);
        let mut multiplier = alpha;
        // Pressed: W_NN > 0 and q_N < 0.
        let pressed = slope.less(zero);
        let slides = pressed.and_not(norm(solved).at_most(self.friction * solved[0]));
        if slides.any() {
            let (slip, slipping) = self.slip(q[0], b, slides, alpha);
            for (r, slip) in solved.iter_mut().zip(slip) {
                *r = slides.choose(slip, *r);
            }
            multiplier = slipping;
        }
        let impulse = [
            pressed.choose(solved[0], zero),
            pressed.choose(solved[1], zero),
            pressed.choose(solved[2], zero),
        ];
        (impulse, multiplier)
    }

    /// `(r_N, r_T)` with `u_N = 0`.
    #[inline(always)]
    fn with_tangential(&self, q_n: Wide<S>, r: [Wide<S>; 2]) -> Wide3<S> {
        let normal = -((q_n + self.w[0] * r[0] + self.w[1] * r[1]) * self.inverse_w_nn);
        [normal, r[0], r[1]]
    }

    /// The sliding impulses and their multipliers where `slides`: Newton on `1/‖r_T‖ − 1/(μ r_N)` from
    /// the multiplier of the last visit, bisection where it leaves the bracket.
    #[inline(always)]
    fn slip(
        &self,
        q_n: Wide<S>,
        b: [Wide<S>; 2],
        slides: Mask<S>,
        first: Wide<S>,
    ) -> (Wide3<S>, Wide<S>) {
        let zero = self.number(0.0);
        let near = self.number(NEAR);
        // Frictionless lanes are solved at once: nothing tangential.
        let rough = slides.and(zero.less(self.friction));
        let mut active = rough;
        let mut alpha = first;
        let (mut low, mut high) = (zero, self.number(f64::MAX));
        let (mut r, mut inverse) = self.at(alpha, q_n, b);
        for _ in 0..MAX_ITERATIONS {
            let (tangential, bound) = (norm(r), self.friction * r[0]);
            let excess = tangential - bound;
            let above = zero.less(excess);
            low = above.choose(alpha, low);
            high = above.choose(high, alpha);
            // T dT/dα = −Σ r²/(s+α), dB/dα = μ Σ w r/(s+α)/W_NN; the step is −h/h'.
            let y = [r[1] * inverse[0], r[2] * inverse[1]];
            let t_dt = -(r[1] * y[0] + r[2] * y[1]);
            let db = self.friction * self.inverse_w_nn * (self.w[0] * y[0] + self.w[1] * y[1]);
            let square = tangential * tangential;
            let slope = square * tangential * db - bound * bound * t_dt;
            let newton = alpha + square * bound * excess / slope;
            // Inside the bracket, with an impulse that presses.
            let inside = active
                .and(low.less(newton))
                .and(newton.less(high))
                .and(zero.less(bound));
            // Near the root this step is the last one.
            let close = excess.abs().at_most(near * (tangential + bound.abs()));
            let outside = active.and_not(inside).and_not(close);
            if outside.any() {
                high = outside.choose(high.min(self.slip_bound(q_n, b)), high);
                let tenth = self.number(0.1) * high;
                let middle = zero.less(low).choose((low * high).sqrt(), tenth);
                alpha = outside.choose(middle, alpha);
            }
            alpha = inside.choose(newton, alpha);
            (r, inverse) = self.at(alpha, q_n, b);
            let narrow = (high - low).at_most(self.number(2.0 * f64::EPSILON) * high);
            active = active.and_not(close).and_not(narrow);
            if !active.any() {
                break;
            }
        }
        // The last rounding: put r on the cone exactly.
        let tangential = norm(r);
        let normal = r[0].max(zero);
        let factor = zero
            .less(tangential)
            .choose(self.friction * normal / tangential, zero);
        // Without friction the normal impulse is that of the normal alone.
        let alone = -(q_n * self.inverse_w_nn);
        let slip = [rough.choose(normal, alone), factor * r[1], factor * r[2]];
        (slip, rough.choose(alpha, first))
    }

    /// `r(α)` and `1/(s + α)`.
    #[inline(always)]
    fn at(&self, alpha: Wide<S>, q_n: Wide<S>, b: [Wide<S>; 2]) -> (Wide3<S>, [Wide<S>; 2]) {
        let sums = [self.s[0] + alpha, self.s[1] + alpha];
        let product = self.number(1.0) / (sums[0] * sums[1]);
        let inverse = [sums[1] * product, sums[0] * product];
        let tangential = [-(b[0] * inverse[0]), -(b[1] * inverse[1])];
        (self.with_tangential(q_n, tangential), inverse)
    }

    /// `α_max`: at and beyond it `‖r_T‖ ≤ μ r_N`.
    #[inline(always)]
    fn slip_bound(&self, q_n: Wide<S>, b: [Wide<S>; 2]) -> Wide<S> {
        let b_norm = (b[0] * b[0] + b[1] * b[1]).sqrt();
        let w_norm = (self.w[0] * self.w[0] + self.w[1] * self.w[1]).sqrt();
        let s_min = self.s[0].min(self.s[1]);
        let far = b_norm * (self.w_nn + self.friction * w_norm) / -(self.friction * q_n);
        (far - s_min).max(self.number(0.0))
    }
}

/// `‖r_T‖`.
#[inline(always)]
fn norm<S: Simd>(r: Wide3<S>) -> Wide<S> {
    (r[1] * r[1] + r[2] * r[2]).sqrt()
}
