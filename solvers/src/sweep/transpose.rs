//! Rows of eight bodies to columns and back, in registers, where the instruction set has vectors of eight.
//!
//! Three rounds of exchanges between pairs of rows, as in a butterfly: 24 shuffles instead of 48 loads
//! of single numbers. Elsewhere the compiler's own way is taken.

use super::rows::Row;
use pulp::{Simd, f64x8};
use std::any::Any;

/// Eight vectors of eight.
pub(crate) type Square<S> = [<S as Simd>::f64s; 8];

/// The columns of eight rows; none if vectors are not eight long.
#[inline(always)]
pub(crate) fn columns<S: Simd>(simd: S, rows: [&Row; 8]) -> Option<Square<S>> {
    let mut m = [ZERO; 8];
    for (vector, row) in m.iter_mut().zip(rows) {
        *vector = pulp::cast(row.0);
    }
    same(transposed(simd, m)?)
}

/// The rows of eight columns; none if vectors are not eight long.
#[inline(always)]
pub(crate) fn rows<S: Simd>(simd: S, columns: Square<S>) -> Option<[Row; 8]> {
    let m = transposed(simd, same(columns)?)?;
    let mut rows = [Row::default(); 8];
    for (row, vector) in rows.iter_mut().zip(m) {
        row.0 = pulp::cast(vector);
    }
    Some(rows)
}

const ZERO: f64x8 = f64x8(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);

/// A value as the type that it has.
#[inline(always)]
fn same<A: Any + Copy, B: Any + Copy>(value: A) -> Option<B> {
    (&value as &dyn Any).downcast_ref::<B>().copied()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transposed<S: Simd>(simd: S, m: [f64x8; 8]) -> Option<[f64x8; 8]> {
    let simd = same::<S, pulp::x86::V4>(simd)?;
    let [a, b, c, d, e, f, g, h] = m;
    // Neighbours: even and odd columns of two rows.
    let ([p0, p1], [q0, q1]) = (pair(simd, a, b), pair(simd, c, d));
    let ([r0, r1], [s0, s1]) = (pair(simd, e, f), pair(simd, g, h));
    let [c0, c2, c4, c6] = quarter(simd, [p0, q0, r0, s0]);
    let [c1, c3, c5, c7] = quarter(simd, [p1, q1, r1, s1]);
    Some([c0, c1, c2, c3, c4, c5, c6, c7])
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn pair(simd: pulp::x86::V4, a: f64x8, b: f64x8) -> [f64x8; 2] {
    let (a, b) = (pulp::cast(a), pulp::cast(b));
    [
        pulp::cast(simd.avx512f._mm512_unpacklo_pd(a, b)),
        pulp::cast(simd.avx512f._mm512_unpackhi_pd(a, b)),
    ]
}

/// Four columns from pairs of rows: every second one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn quarter(simd: pulp::x86::V4, [p, q, r, s]: [f64x8; 4]) -> [f64x8; 4] {
    let ([p04, p26], [r04, r26]) = (halves(simd, p, q), halves(simd, r, s));
    let ([c0, c4], [c2, c6]) = (halves(simd, p04, r04), halves(simd, p26, r26));
    [c0, c2, c4, c6]
}

/// The even and the odd quarters of two vectors.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn halves(simd: pulp::x86::V4, a: f64x8, b: f64x8) -> [f64x8; 2] {
    let (a, b) = (pulp::cast(a), pulp::cast(b));
    [
        pulp::cast(simd.avx512f._mm512_shuffle_f64x2::<0x88>(a, b)),
        pulp::cast(simd.avx512f._mm512_shuffle_f64x2::<0xdd>(a, b)),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn transposed<S: Simd>(_: S, _: [f64x8; 8]) -> Option<[f64x8; 8]> {
    None
}
