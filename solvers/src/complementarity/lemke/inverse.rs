//! The inverse of the small matrix of a basis, kept as rows and columns come and go.
//!
//! ```text
//! B c = …      one row for each y that is zero, one column for each x that is not, and for t;     P = B⁻¹
//!
//! grow       [B g; h d]⁻¹ = [P + u w/s, −u/s; −w/s, 1/s]        u = P g,  w = h P,  s = d − h u
//! column c   P_c ← P_c/u_c,  P_a ← P_a − u_a P_c                u = P g
//! row r      P_·r ← P_·r/w_r,  P_·b ← P_·b − P_·r w_b           w = h P
//! shrink     P_a ← P_a − (P_ar/P_cr) P_c,  then without row c and column r
//! ```
//!
//! Each is one update of rank one. Loops run over rows, by the widest instructions that the machine has: entries are independent of each other, so that the bits are
//! the same on all.

use crate::complementarity::box_problem::dot;
use crate::lanes::Dispatch;
use pulp::{Simd, WithSimd};

/// `P`, row by row with room to grow.
#[derive(Debug, Default)]
pub(super) struct Inverse {
    size: usize,
    stride: usize,
    entries: Vec<f64>,
    dispatch: Dispatch,
}

impl Inverse {
    /// No rows, and room for `most`.
    pub(super) fn clear(&mut self, most: usize) {
        self.size = 0;
        self.stride = most;
        if self.entries.len() < most * most {
            self.entries.resize(most * most, 0.0);
        }
    }

    /// One row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.stride..row * self.stride + self.size]
    }

    fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.entries[row * self.stride..row * self.stride + self.size]
    }

    /// `u ← −P g`.
    pub(super) fn minus_times(&self, g: &[f64], u: &mut Vec<f64>) {
        u.clear();
        u.extend((0..self.size).map(|row| -dot(self.row(row), g)));
    }

    /// `u ←` column of `P`.
    pub(super) fn column(&self, column: usize, u: &mut Vec<f64>) {
        u.clear();
        u.extend((0..self.size).map(|row| self.entries[row * self.stride + column]));
    }

    /// `w ← h P`.
    pub(super) fn row_times(&self, h: &[f64], w: &mut Vec<f64>) {
        w.clear();
        w.resize(self.size, 0.0);
        let parts = h.iter().enumerate();
        let parts = parts.map(|(row, factor)| (row * self.stride, *factor));
        combine(self.dispatch, &self.entries, parts, w);
    }

    /// One more row and column: `minus_u = −P g`, `w = h P`.
    pub(super) fn grow(&mut self, minus_u: &[f64], w: &[f64], s: f64) {
        let inverse = 1.0 / s;
        self.add_product(-inverse, minus_u, w);
        let last = self.size;
        self.size += 1;
        for (row, u) in minus_u.iter().enumerate() {
            self.entries[row * self.stride + last] = u * inverse;
        }
        let row = self.row_mut(last);
        for (entry, w) in row.iter_mut().zip(w) {
            *entry = -w * inverse;
        }
        row[last] = inverse;
    }

    /// Another column `c` of `B`: `minus_u = −P g`. `space` is overwritten.
    pub(super) fn replace_column(&mut self, c: usize, minus_u: &mut [f64], space: &mut Vec<f64>) {
        let inverse = -1.0 / minus_u[c];
        self.row_mut(c).iter_mut().for_each(|p| *p *= inverse);
        space.clear();
        space.extend_from_slice(self.row(c));
        minus_u[c] = 0.0;
        self.add_product(1.0, minus_u, space);
    }

    /// Another row `r` of `B`: `column` is that of `P`, `w = h P`.
    pub(super) fn replace_row(&mut self, r: usize, column: &[f64], w: &[f64]) {
        let inverse = 1.0 / w[r];
        self.add_product(-inverse, column, w);
        for (row, p) in column.iter().enumerate() {
            self.entries[row * self.stride + r] = p * inverse;
        }
    }

    /// Without row `c` and column `r` of `P`, whose places the last ones take: `column` is that of `P`. `space` is overwritten.
    pub(super) fn shrink(&mut self, c: usize, r: usize, column: &mut [f64], space: &mut Vec<f64>) {
        space.clear();
        space.extend_from_slice(self.row(c));
        let inverse = -1.0 / column[c];
        column[c] = 0.0;
        self.add_product(inverse, column, space);
        let last = self.size - 1;
        if c != last {
            let (head, tail) = self.entries.split_at_mut(last * self.stride);
            head[c * self.stride..c * self.stride + last + 1].copy_from_slice(&tail[..last + 1]);
        }
        for row in 0..last {
            let row = row * self.stride;
            self.entries[row + r] = self.entries[row + last];
        }
        self.size = last;
    }

    /// `P ← P + factor u wᵀ`.
    fn add_product(&mut self, factor: f64, u: &[f64], w: &[f64]) {
        let stride = self.stride;
        let entries = &mut self.entries[..u.len() * stride];
        let work = Product {
            entries,
            stride,
            factor,
            u,
            w,
        };
        if w.len() < WIDE {
            work.run();
        } else {
            self.dispatch.run(work);
        }
    }
}

/// Entries of a row from which on the instruction set is picked.
const WIDE: usize = 16;

struct Product<'a> {
    entries: &'a mut [f64],
    stride: usize,
    factor: f64,
    u: &'a [f64],
    w: &'a [f64],
}

impl Product<'_> {
    #[inline(always)]
    fn run(self) {
        for (row, u) in self
            .entries
            .chunks_exact_mut(self.stride.max(1))
            .zip(self.u)
        {
            let factor = self.factor * u;
            for (entry, w) in row.iter_mut().zip(self.w) {
                *entry += factor * w;
            }
        }
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.run();
    }
}

/// `sum ← sum + Σ factor · table[start..]`, part by part in their order.
pub(super) fn combine(
    dispatch: Dispatch,
    table: &[f64],
    parts: impl Iterator<Item = (usize, f64)>,
    sum: &mut [f64],
) {
    let work = Combination { table, parts, sum };
    if work.sum.len() < WIDE {
        work.run();
    } else {
        dispatch.run(work);
    }
}

struct Combination<'a, I> {
    table: &'a [f64],
    parts: I,
    sum: &'a mut [f64],
}

impl<I: Iterator<Item = (usize, f64)>> Combination<'_, I> {
    #[inline(always)]
    fn run(mut self) {
        let n = self.sum.len();
        // Two parts at a time: half the loads and stores of the sum.
        while let Some((start, factor)) = self.parts.next() {
            let one = &self.table[start..start + n];
            let Some((start, other)) = self.parts.next() else {
                for (sum, a) in self.sum.iter_mut().zip(one) {
                    *sum += factor * a;
                }
                return;
            };
            let two = &self.table[start..start + n];
            for ((sum, a), b) in self.sum.iter_mut().zip(one).zip(two) {
                *sum = *sum + factor * a + other * b;
            }
        }
    }
}

impl<I: Iterator<Item = (usize, f64)>> WithSimd for Combination<'_, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.run();
    }
}
