//! The local blocks of eight pairs' contacts, and their eigenbases: what [`crate::OneContact::new`] finds for
//! one, side by side.
//!
//! ```text
//! W_αα = Σ_j I/m + Lᵀ 𝕀⁻¹ L,  L = [ρ × n, ρ × t₁, ρ × t₂];    S = W_TT − w wᵀ/W_NN = R diag(s₁, s₂) Rᵀ
//! ```

use super::{PairLanes, PointLanes};
use crate::lanes::{LANES, Wide, Wide3, add, cross, dot, load3, scale, store3, sub};
use pulp::{Simd, WithSimd};

/// Turns the tangents of points to the principal ones, and their offsets with them, and works out their blocks. The
/// points hold contact frames, arms, offsets and friction.
pub(crate) struct Prepare<'a> {
    pub(crate) pairs: &'a PairLanes,
    pub(crate) points: &'a mut [PointLanes],
}

impl WithSimd for Prepare<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for point in self.points {
            for part in 0..LANES / S::F64_LANES {
                point.prepare((simd, part), self.pairs);
            }
        }
    }
}

/// A symmetric block in the contact frame.
struct Block<S: Simd> {
    /// `W_NN`, `W_11`, `W_22`.
    diagonal: Wide3<S>,
    /// `W_N1`, `W_N2`, `W_12`.
    off: Wide3<S>,
}

impl PointLanes {
    #[inline(always)]
    fn block<S: Simd>(&self, (simd, part): (S, usize), pairs: &PairLanes) -> Block<S> {
        let axes = self.axes_of(simd, part);
        let mut diagonal = [Wide::splat(simd, 0.0); 3];
        let mut off = diagonal;
        for (mass, arm) in pairs.mass.iter().zip(self.arms_of(simd, part)) {
            let mass = mass.load(simd, part);
            let levers = axes.map(|axis| cross(arm, axis));
            let [l0, l1, l2] = levers;
            let [t0, t1, t2] = levers.map(|lever| mass.turned(lever));
            let own = [dot(l0, t0), dot(l1, t1), dot(l2, t2)];
            diagonal = add(diagonal, own.map(|turn| mass.linear + turn));
            off = add(off, [dot(l0, t1), dot(l0, t2), dot(l1, t2)]);
        }
        Block { diagonal, off }
    }

    #[inline(always)]
    fn prepare<S: Simd>(&mut self, (simd, part): (S, usize), pairs: &PairLanes) {
        let number = |x: f64| Wide::splat(simd, x);
        let (zero, one) = (number(0.0), number(1.0));
        let Block { diagonal, off } = self.block((simd, part), pairs);
        let trace = diagonal[0] + diagonal[1] + diagonal[2];
        self.lambda.store(part, trace * number(1.0 / 3.0));

        // A block that is not positive and finite carries no impulse.
        let size = trace.abs() + off[0].abs() + off[1].abs() + off[2].abs();
        let usable = zero.less(diagonal[0]).and(size.at_most(number(f64::MAX)));
        let [w_nn, w_11, w_22] = diagonal.map(|w| usable.choose(w, zero));
        let [w_1, w_2, w_12] = off.map(|w| usable.choose(w, zero));
        let inverse = usable.choose(one / w_nn, zero);
        let (a, d) = (w_11 - w_1 * w_1 * inverse, w_22 - w_2 * w_2 * inverse);
        let o = w_12 - w_1 * w_2 * inverse;

        // Jacobi rotation: eigenvalues a − t o for the axis (c, −s) and d + t o for (s, c).
        let diagonal = (o.abs()).at_most(number(f64::EPSILON) * (a.abs() + d.abs()));
        let tau = (d - a) / (o + o);
        let sign = zero.at_most(tau).choose(one, -one);
        let t = diagonal.choose(zero, sign / (tau.abs() + (one + tau * tau).sqrt()));
        let c = one / (one + t * t).sqrt();
        let s = t * c;
        let floor = number(f64::EPSILON) * (w_nn + w_11.abs() + w_22.abs());
        for (k, own) in [a - t * o, d + t * o].into_iter().enumerate() {
            let own = own.max(floor);
            // Anything that does not divide by zero.
            self.s[k].store(part, zero.less(own).choose(own, one));
        }
        self.w[0].store(part, c * w_1 - s * w_2);
        self.w[1].store(part, s * w_1 + c * w_2);
        self.w_nn.store(part, w_nn);
        self.inverse_w_nn.store(part, inverse);

        let [_, first, second] = self.axes_of(simd, part);
        store3(
            &mut self.axes[1],
            part,
            sub(scale(first, c), scale(second, s)),
        );
        store3(
            &mut self.axes[2],
            part,
            add(scale(second, c), scale(first, s)),
        );
        let [normal, first, second] = load3(&self.offset, simd, part);
        let turned = [normal, c * first - s * second, c * second + s * first];
        store3(&mut self.offset, part, turned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Dispatch, Lanes};
    use crate::problem::{Contact, InverseMass};
    use crate::random::OwnedProblem;
    use crate::sweep::rows::Place;
    use glam::{DMat3, DVec3};

    /// Random blocks of entries of about ten, with fixed bodies and empty lanes among them: a hundred roundings.
    const ROUNDING: f64 = 1e3 * f64::EPSILON;

    #[test]
    fn the_tangents_diagonalise_what_the_normal_leaves() {
        let mut seen = 0;
        for seed in 0..200 {
            let owned = OwnedProblem::random(seed, 8, LANES);
            let (mut pairs, mut point) = (PairLanes::default(), PointLanes::empty());
            for (lane, contact) in owned.contacts.iter().enumerate().skip(1) {
                pairs.set(lane, &owned.view(), contact, [Place::AT_REST; 2]);
                point.set(lane, contact);
            }
            let points = &mut [point];
            Dispatch::new(true).run(Prepare {
                pairs: &pairs,
                points: &mut *points,
            });
            let [point] = points;
            assert_eq!(
                (point.s[0].0[0], point.w_nn.0[0], point.inverse_w_nn.0[0]),
                (1.0, 0.0, 0.0)
            );
            for (lane, contact) in owned.contacts.iter().enumerate().skip(1) {
                let at = |lanes: &Lanes| lanes.0[lane];
                let axis = |k: usize| DVec3::from_array([0, 1, 2].map(|x| at(&point.axes[k][x])));
                let frame = DMat3::from_cols(axis(0), axis(1), axis(2));
                let turned = Contact { frame, ..*contact };
                let [a, b]: [&InverseMass; 2] =
                    contact.bodies.map(|j| &owned.inverse_mass[j as usize]);
                let block = turned.local_block(a, b);
                let w = [at(&point.w[0]), at(&point.w[1])];
                let inverse = at(&point.inverse_w_nn);
                let zeros = [
                    (frame.transpose() * frame - DMat3::IDENTITY)
                        .to_cols_array()
                        .map(f64::abs)
                        .into_iter()
                        .fold(0.0, f64::max),
                    at(&point.w_nn) - block.x_axis.x,
                    at(&point.w_nn) * inverse - 1.0,
                    w[0] - block.x_axis.y,
                    w[1] - block.x_axis.z,
                    block.y_axis.z - w[0] * w[1] * inverse,
                    block.y_axis.y - w[0] * w[0] * inverse - at(&point.s[0]),
                    block.z_axis.z - w[1] * w[1] * inverse - at(&point.s[1]),
                    3.0 * at(&point.lambda) - block.x_axis.x - block.y_axis.y - block.z_axis.z,
                    (frame * DVec3::from_array([0, 1, 2].map(|k| at(&point.offset[k])))
                        - contact.frame * contact.offset)
                        .length(),
                ];
                assert!(
                    zeros.iter().all(|x| x.abs() < ROUNDING),
                    "{seed} {lane}: {zeros:?}"
                );
                seen += 1;
            }
        }
        assert_eq!(seen, 200 * (LANES - 1));
    }
}
