//! What each contact of a factored problem adds to the norms of the judge, eight contacts side by side.
//!
//! The definition is that of [`super`]. The bits of a term depend on its contact alone.

use super::ROUNDING;
use crate::lanes::{
    Dispatch, LANES, Lanes, Lanes3, Wide, Wide3, add, cross, dot, load3, scale, sub,
};
use crate::problem::{Contact, FactoredProblem, WorldTwist};
use glam::DVec3;
use pulp::{Simd, WithSimd};

/// Terms of eight contacts, zero where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    /// `λ‖F‖²`, zero where that is below rounding.
    pub(super) natural_scaled: Lanes,
    /// `λ‖r‖²`.
    pub(super) impulse_scaled: Lanes,
    /// `‖q‖²/λ`.
    pub(super) free_scaled: Lanes,
    /// `‖F‖²` for `ρ = 1`.
    pub(super) natural: Lanes,
    /// `‖q‖²`.
    pub(super) free: Lanes,
    /// `(λ‖F‖)²`, zero where that is below rounding.
    pub(super) velocity: Lanes,
    /// The same; where terms are added up, the largest.
    pub(super) fastest: Lanes,
    /// 1 at contacts that are closed, or should be.
    pub(super) closed: Lanes,
    /// Violation of the cone.
    pub(super) violation: Lanes,
    /// `−u_N`.
    pub(super) approach: Lanes,
    /// `−q_N`.
    pub(super) free_approach: Lanes,
}

impl Terms {
    /// Adds up sums and keeps maxima, lane by lane.
    #[inline(always)]
    pub(super) fn gain(&mut self, other: &Self) {
        for lane in 0..LANES {
            self.natural_scaled.0[lane] += other.natural_scaled.0[lane];
            self.impulse_scaled.0[lane] += other.impulse_scaled.0[lane];
            self.free_scaled.0[lane] += other.free_scaled.0[lane];
            self.natural.0[lane] += other.natural.0[lane];
            self.free.0[lane] += other.free.0[lane];
            self.velocity.0[lane] += other.velocity.0[lane];
            self.closed.0[lane] += other.closed.0[lane];
        }
        let maximum = |own: &mut Lanes, other: &Lanes| {
            for (own, other) in own.0.iter_mut().zip(&other.0) {
                *own = own.max(*other);
            }
        };
        maximum(&mut self.fastest, &other.fastest);
        maximum(&mut self.violation, &other.violation);
        maximum(&mut self.approach, &other.approach);
        maximum(&mut self.free_approach, &other.free_approach);
    }
}

/// Calls `each` with the terms of every eight contacts under `impulse` and the twists `end`.
pub(super) fn for_each_eight(
    problem: &FactoredProblem,
    contacts: &[Contact],
    impulse: &[DVec3],
    end: &[WorldTwist],
    each: impl FnMut(&Terms),
) {
    Dispatch::new(true).run(Walk {
        problem,
        contacts,
        impulse,
        end,
        each,
    });
}

struct Walk<'a, F> {
    problem: &'a FactoredProblem<'a>,
    contacts: &'a [Contact],
    impulse: &'a [DVec3],
    end: &'a [WorldTwist],
    each: F,
}

impl<F: FnMut(&Terms)> WithSimd for Walk<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (mut eight, mut terms) = (Eight::default(), Terms::default());
        let eights = self.contacts.chunks(LANES).zip(self.impulse.chunks(LANES));
        for (contacts, impulse) in eights {
            if contacts.len() < LANES {
                eight = Eight::default();
            }
            for (lane, (contact, r)) in contacts.iter().zip(impulse).enumerate() {
                eight.set(lane, self.problem, contact, *r, self.end);
            }
            for part in 0..LANES / S::F64_LANES {
                eight.evaluate(simd, part, &mut terms);
            }
            (self.each)(&terms);
        }
    }
}

/// One body of each of eight contacts.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    arm: Lanes3,
    /// Twists under the impulse: linear, angular.
    end: [Lanes3; 2],
    /// Free twists.
    free: [Lanes3; 2],
    mass: Lanes,
    /// Columns of the inverse inertia.
    inertia: [Lanes3; 3],
}

/// Eight contacts.
#[derive(Clone, Copy, Debug, Default)]
struct Eight {
    sides: [Side; 2],
    frame: [Lanes3; 3],
    offset: Lanes3,
    friction: Lanes,
    impulse: Lanes3,
}

#[inline(always)]
fn set3(lanes: &mut Lanes3, lane: usize, vector: DVec3) {
    lanes[0].0[lane] = vector.x;
    lanes[1].0[lane] = vector.y;
    lanes[2].0[lane] = vector.z;
}

impl Eight {
    #[inline(always)]
    fn set(
        &mut self,
        lane: usize,
        problem: &FactoredProblem,
        contact: &Contact,
        r: DVec3,
        end: &[WorldTwist],
    ) {
        for side in 0..2 {
            let own = &mut self.sides[side];
            let body = contact.bodies[side] as usize;
            let (end, free) = (&end[body], &problem.free_twist[body]);
            let mass = &problem.inverse_mass[body];
            set3(&mut own.arm, lane, contact.arms[side]);
            set3(&mut own.end[0], lane, end.linear);
            set3(&mut own.end[1], lane, end.angular);
            set3(&mut own.free[0], lane, free.linear);
            set3(&mut own.free[1], lane, free.angular);
            own.mass.0[lane] = mass.linear;
            set3(&mut own.inertia[0], lane, mass.angular.x_axis);
            set3(&mut own.inertia[1], lane, mass.angular.y_axis);
            set3(&mut own.inertia[2], lane, mass.angular.z_axis);
        }
        set3(&mut self.frame[0], lane, contact.frame.x_axis);
        set3(&mut self.frame[1], lane, contact.frame.y_axis);
        set3(&mut self.frame[2], lane, contact.frame.z_axis);
        set3(&mut self.offset, lane, contact.offset);
        self.friction.0[lane] = contact.friction;
        set3(&mut self.impulse, lane, r);
    }

    /// Trace of `W_αα`. That of `Cᵀ(I/m + [ρ]×ᵀ 𝕀⁻¹ [ρ]×)C` does not depend on the orthonormal `C`:
    /// `3/m + ‖ρ‖² tr 𝕀⁻¹ − ρᵀ𝕀⁻¹ρ` for each body.
    #[inline(always)]
    fn trace_of<S: Simd>(&self, side: usize, simd: S, part: usize) -> Wide<S> {
        let own = &self.sides[side];
        let arm = load3(&own.arm, simd, part);
        let x = load3(&own.inertia[0], simd, part);
        let y = load3(&own.inertia[1], simd, part);
        let z = load3(&own.inertia[2], simd, part);
        let diagonal = x[0] + y[1] + z[2];
        let turned = add(add(scale(x, arm[0]), scale(y, arm[1])), scale(z, arm[2]));
        let mass = own.mass.load(simd, part);
        Wide::splat(simd, 3.0) * mass + dot(arm, arm) * diagonal - dot(arm, turned)
    }

    /// The relative velocity in the contact frame, offset included, and the sum of the squares of the velocities
    /// that it is made of.
    #[inline(always)]
    fn relative<S: Simd>(&self, free: bool, simd: S, part: usize) -> (Wide3<S>, Wide<S>) {
        let [a, b] = &self.sides;
        let (twist_a, twist_b) = if free {
            (&a.free, &b.free)
        } else {
            (&a.end, &b.end)
        };
        let load = |lanes: &Lanes3| load3(lanes, simd, part);
        let [linear_a, linear_b] = [load(&twist_a[0]), load(&twist_b[0])];
        let turning_a = cross(load(&twist_a[1]), load(&a.arm));
        let turning_b = cross(load(&twist_b[1]), load(&b.arm));
        let point_a = add(linear_a, turning_a);
        let point_b = add(linear_b, turning_b);
        let w = sub(point_a, point_b);
        let u = [
            dot(load(&self.frame[0]), w),
            dot(load(&self.frame[1]), w),
            dot(load(&self.frame[2]), w),
        ];
        // Before they cancel: a point of a rolling ball rests, and is known to the rounding of what moves it.
        let squares = dot(linear_a, linear_a)
            + dot(turning_a, turning_a)
            + dot(linear_b, linear_b)
            + dot(turning_b, turning_b);
        (add(u, load(&self.offset)), squares)
    }

    #[inline(always)]
    fn evaluate<S: Simd>(&self, simd: S, part: usize, terms: &mut Terms) {
        let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
        let trace = self.trace_of(0, simd, part) + self.trace_of(1, simd, part);
        let lambda = trace / Wide::splat(simd, 3.0);
        let (u, at_end) = self.relative(false, simd, part);
        let (q, at_start) = self.relative(true, simd, part);
        let offset = load3(&self.offset, simd, part);
        let noise =
            Wide::splat(simd, ROUNDING * ROUNDING) * (at_end + at_start + dot(offset, offset));
        let friction = self.friction.load(simd, part);
        let r = load3(&self.impulse, simd, part);
        let shifted = [u[0] + friction * tangential(u), u[1], u[2]];
        let unit = sub(r, project(simd, friction, sub(r, shifted)));
        terms.natural.store(part, dot(unit, unit));
        terms.free.store(part, dot(q, q));
        // NaN must reach the sums: an undefined contact is not a solved one.
        let none = lambda.at_most(zero);
        let inverse = one / lambda;
        let scaled = sub(r, project(simd, friction, sub(r, scale(shifted, inverse))));
        let square = dot(scaled, scaled);
        let resolved = (square * lambda * lambda).at_most(noise);
        let natural = resolved.choose(zero, lambda * square);
        terms.natural_scaled.store(part, none.choose(zero, natural));
        let velocity = none.choose(zero, lambda * natural);
        terms.velocity.store(part, velocity);
        terms.fastest.store(part, velocity);
        let pressed = zero.less(dot(r, r) + velocity);
        terms.closed.store(part, pressed.choose(one, zero));
        // Of a contact that no impulse moves, too: NaN is none.
        let impulse = none.choose(zero, lambda) * dot(r, r);
        terms.impulse_scaled.store(part, impulse);
        terms
            .free_scaled
            .store(part, none.choose(zero, dot(q, q) * inverse));
        let outside = (tangential(r) - friction * r[0]).max(-r[0]).max(zero);
        terms.violation.store(part, outside);
        terms.approach.store(part, -u[0]);
        terms.free_approach.store(part, -q[0]);
    }
}

#[inline(always)]
fn tangential<S: Simd>(z: Wide3<S>) -> Wide<S> {
    (z[1] * z[1] + z[2] * z[2]).sqrt()
}

/// Projection on the cone, as [`crate::cone::project`].
#[inline(always)]
fn project<S: Simd>(simd: S, friction: Wide<S>, z: Wide3<S>) -> Wide3<S> {
    let (zero, one) = (Wide::splat(simd, 0.0), Wide::splat(simd, 1.0));
    let length = tangential(z);
    let inside = zero.at_most(z[0]).and(length.at_most(friction * z[0]));
    let polar = (friction * length).at_most(-z[0]);
    let normal = (z[0] + friction * length) / (one + friction * friction);
    let factor = zero.less(length).choose(friction * normal / length, zero);
    let on_cone = [normal, factor * z[1], factor * z[2]];
    [
        inside.choose(z[0], polar.choose(zero, on_cone[0])),
        inside.choose(z[1], polar.choose(zero, on_cone[1])),
        inside.choose(z[2], polar.choose(zero, on_cone[2])),
    ]
}
