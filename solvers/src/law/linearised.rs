//! A map whose fixed points satisfy a law, at one point: its value and its derivative in factors.
//!
//! With `x = y − ρ w` and `P` one of the maps of a law (its file says which), `∂P/∂w = −ρ C B` with few columns in `C`: the
//! matrix of Newton's method has as many unknowns as the derivative has ranks, and none for an open contact. Factors are
//! stored triple by triple. `B` never couples triples; of `C` only the first column, that of the normal impulse, may
//! reach into the next triple ([`Linearised::tail`]): it carries the radii of rolling and spinning resistance.

use glam::{DMat3, DVec3};

/// Which projection the Newton method works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConeMap {
    /// Alart and Curnier's: the normal impulse first, then the projection on the section that it leaves; no shift anywhere
    /// [Alart-Curnier91]. The default.
    #[default]
    AlartCurnier,
    /// The projection on the cone, with De Saxcé's shift inside the derivative.
    Cone,
}

/// `P(x)` and the factors of its derivative for one triple of rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Linearised {
    /// `P(x)`.
    pub(crate) point: DVec3,
    /// Columns of `C` and rows of `B` that count.
    pub(crate) rank: usize,
    /// The columns of `C`.
    pub(crate) c: [DVec3; 3],
    /// The rows of `B`.
    pub(crate) b: [DVec3; 3],
    /// What the first column of `C` adds in the next triple.
    pub(crate) tail: DVec3,
}

impl Linearised {
    pub(crate) const AXES: [DVec3; 3] = [DVec3::X, DVec3::Y, DVec3::Z];

    /// `P = I`.
    pub(crate) fn free(x: DVec3) -> Self {
        Self {
            point: x,
            rank: 3,
            c: Self::AXES,
            b: Self::AXES,
            tail: DVec3::ZERO,
        }
    }

    /// One row, whose impulse `x` is free.
    pub(crate) fn first_row(x: f64) -> Self {
        Self {
            point: DVec3::X * x,
            rank: 1,
            ..Self::free(DVec3::ZERO)
        }
    }

    /// Appends the term `c bᵀ`.
    pub(super) fn push(&mut self, c: DVec3, b: DVec3) {
        self.c[self.rank] = c;
        self.b[self.rank] = b;
        self.rank += 1;
    }

    /// Appends the term `c cᵀ`.
    pub(super) fn push_square(&mut self, c: DVec3) {
        self.push(c, c);
    }

    /// `C B z` within the triple.
    pub(crate) fn apply(&self, z: DVec3) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for k in 0..self.rank {
            sum += self.c[k] * self.b[k].dot(z);
        }
        sum
    }

    /// What `C B z` adds in the next triple.
    pub(crate) fn apply_tail(&self, z: DVec3) -> DVec3 {
        if self.has_tail() {
            self.tail * self.b[0].dot(z)
        } else {
            DVec3::ZERO
        }
    }

    /// The derivative reaches into the next triple.
    pub(crate) fn has_tail(&self) -> bool {
        self.rank > 0 && self.tail != DVec3::ZERO
    }

    /// `C B` within the triple.
    pub(crate) fn matrix(&self) -> DMat3 {
        let mut sum = DMat3::ZERO;
        for k in 0..self.rank {
            let (c, b) = (self.c[k], self.b[k]);
            sum += DMat3::from_cols(c * b.x, c * b.y, c * b.z);
        }
        sum
    }
}
