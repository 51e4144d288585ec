//! Block Cholesky of `A = J M⁻¹Jᵀ + C + ε diag`, and what follows from it.
//!
//! ```text
//! A = L Lᵀ      L_kk⁻¹ is kept, so that all that follows are products of blocks
//! solve:        A⁻¹ b by a forward and a backward substitution
//! response:     Z = L⁻¹ J M⁻¹E_b for the six directions of a body b, along its path in the elimination tree
//! ```
//!
//! A row that is redundant has a pivot of rounding and `ε`; one below a tenth of `ε` is replaced by `ε`.

use super::plan::Plan;

/// A dense block, row by row.
pub(super) type Block<const N: usize> = [[f64; N]; N];
/// Six numbers of a body: linear, angular.
pub(super) type Six = [f64; 6];

/// Relative to the diagonal of `J M⁻¹Jᵀ + C`.
const EPSILON: f64 = 1e-12;

/// The factors.
#[derive(Debug, Default)]
pub(super) struct Factor<const N: usize> {
    /// `A_kk`, then `L_kk⁻¹`, lower triangular.
    pub(super) diagonal: Vec<Block<N>>,
    /// `A_ik`, then `L_ik`, by the positions of the plan.
    pub(super) below: Vec<Block<N>>,
    /// Diagonal entries of `A` before it is factorised.
    scale: Vec<[f64; N]>,
    work: Vec<[f64; N]>,
    /// Right-hand sides of the response.
    columns: Vec<[Six; N]>,
    on_path: Vec<bool>,
}

/// One entry of a response: the place of a block and `L⁻¹ J M⁻¹E_b` there.
pub(super) type Step<const N: usize> = (u32, [Six; N]);

impl<const N: usize> Factor<N> {
    /// Makes room: all blocks zero.
    pub(super) fn clear(&mut self, plan: &Plan) {
        self.diagonal.clear();
        self.diagonal.resize(plan.len(), [[0.0; N]; N]);
        self.below.clear();
        self.below.resize(plan.rows.len(), [[0.0; N]; N]);
        self.work.resize(plan.len(), [0.0; N]);
        self.columns.resize(plan.len(), [[0.0; 6]; N]);
        self.on_path.resize(plan.len(), false);
    }

    /// Adds `ε diag` and factorises. Rows whose diagonal is zero become rows of the unit matrix.
    #[inline(always)]
    pub(super) fn factorize(&mut self, plan: &Plan) {
        self.scale.clear();
        for block in &mut self.diagonal {
            let mut scale = [0.0; N];
            for (row, scale) in scale.iter_mut().enumerate() {
                if block[row][row] == 0.0 {
                    block[row][row] = 1.0;
                }
                *scale = EPSILON * block[row][row];
                block[row][row] += *scale;
            }
            self.scale.push(scale);
        }
        let mut targets = plan.targets.iter();
        for k in 0..plan.len() {
            let inverse = inverse_of_cholesky(&self.diagonal[k], &self.scale[k]);
            self.diagonal[k] = inverse;
            let column = plan.column(k);
            for block in &mut self.below[column.clone()] {
                *block = times_transposed(block, &inverse);
            }
            for a in column.clone() {
                let transposed = transpose(&self.below[a]);
                let own = self.below[a];
                let diagonal = &mut self.diagonal[plan.rows[a] as usize];
                subtract_product(diagonal, &own, &transposed);
                for b in a + 1..column.end {
                    let Some(target) = targets.next() else { break };
                    let factor = self.below[b];
                    subtract_product(&mut self.below[*target as usize], &factor, &transposed);
                }
            }
        }
    }

    /// `x ← A⁻¹ x`, blocks in their own order.
    #[inline(always)]
    pub(super) fn solve(&mut self, plan: &Plan, x: &mut [[f64; N]]) {
        for (work, block) in self.work.iter_mut().zip(&plan.order) {
            *work = x[*block as usize];
        }
        for k in 0..plan.len() {
            let y = times(&self.diagonal[k], &self.work[k]);
            self.work[k] = y;
            for position in plan.column(k) {
                let row = plan.rows[position] as usize;
                subtract_times(&mut self.work[row], &self.below[position], &y);
            }
        }
        for k in (0..plan.len()).rev() {
            let mut y = self.work[k];
            for position in plan.column(k) {
                let row = plan.rows[position] as usize;
                subtract_transposed_times(&mut y, &self.below[position], &self.work[row]);
            }
            let mut z = [0.0; N];
            subtract_transposed_times(&mut z, &self.diagonal[k], &y);
            self.work[k] = z.map(|z| -z);
            x[plan.order[k] as usize] = self.work[k];
        }
    }

    /// Appends the response to the right-hand sides that `sources` names: blocks and their `N × 6` entries. Places ascend.
    #[inline(always)]
    pub(super) fn respond(
        &mut self,
        plan: &Plan,
        sources: impl Iterator<Item = (u32, [Six; N])>,
        steps: &mut Vec<Step<N>>,
    ) {
        let begin = steps.len();
        let mut path: smallvec::SmallVec<[u32; 64]> = smallvec::SmallVec::new();
        for (block, entries) in sources {
            let mut k = plan.place[block as usize];
            for (own, entry) in self.columns[k as usize].iter_mut().zip(&entries) {
                for (own, entry) in own.iter_mut().zip(entry) {
                    *own += entry;
                }
            }
            while !self.on_path[k as usize] {
                self.on_path[k as usize] = true;
                path.push(k);
                match plan.rows[plan.column(k as usize)].first() {
                    Some(parent) => k = *parent,
                    None => break,
                }
            }
        }
        path.sort_unstable();
        for k in path {
            let k = k as usize;
            let mut z = [[0.0; 6]; N];
            let (inverse, source) = (&self.diagonal[k], &self.columns[k]);
            for (z, row) in z.iter_mut().zip(inverse) {
                for (factor, source) in row.iter().zip(source) {
                    for (z, source) in z.iter_mut().zip(source) {
                        *z += factor * source;
                    }
                }
            }
            for position in plan.column(k) {
                let target = &mut self.columns[plan.rows[position] as usize];
                for (target, row) in target.iter_mut().zip(&self.below[position]) {
                    for (factor, z) in row.iter().zip(&z) {
                        for (target, z) in target.iter_mut().zip(z) {
                            *target -= factor * z;
                        }
                    }
                }
            }
            self.columns[k] = [[0.0; 6]; N];
            self.on_path[k] = false;
            steps.push((k as u32, z));
        }
        debug_assert!(steps[begin..].is_sorted_by_key(|(place, _)| *place));
    }
}

/// `Σ_k Z_a,kᵀ Z_b,k` over the places that both responses have.
#[inline(always)]
pub(super) fn common<const N: usize>(a: &[Step<N>], b: &[Step<N>]) -> [Six; 6] {
    let mut sum = [[0.0; 6]; 6];
    let (mut i, mut j) = (0, 0);
    while let (Some((p, own)), Some((q, other))) = (a.get(i), b.get(j)) {
        if p == q {
            for (own, other) in own.iter().zip(other) {
                for (sum, own) in sum.iter_mut().zip(own) {
                    for (sum, other) in sum.iter_mut().zip(other) {
                        *sum += own * other;
                    }
                }
            }
        }
        i += usize::from(p <= q);
        j += usize::from(q <= p);
    }
    sum
}

#[inline(always)]
fn transpose<const N: usize>(a: &Block<N>) -> Block<N> {
    let mut t = [[0.0; N]; N];
    for (i, row) in a.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            t[j][i] = *entry;
        }
    }
    t
}

/// `C −= A B`.
#[inline(always)]
fn subtract_product<const N: usize>(c: &mut Block<N>, a: &Block<N>, b: &Block<N>) {
    for (c, a) in c.iter_mut().zip(a) {
        let mut row = *c;
        for (a, b) in a.iter().zip(b) {
            for (c, b) in row.iter_mut().zip(b) {
                *c -= a * b;
            }
        }
        *c = row;
    }
}

/// `A Bᵀ`, `B` lower triangular.
#[inline(always)]
fn times_transposed<const N: usize>(a: &Block<N>, b: &Block<N>) -> Block<N> {
    let t = transpose(b);
    let mut c = [[0.0; N]; N];
    for (c, a) in c.iter_mut().zip(a) {
        for (a, t) in a.iter().zip(&t) {
            for (c, t) in c.iter_mut().zip(t) {
                *c += a * t;
            }
        }
    }
    c
}

#[inline(always)]
fn times<const N: usize>(a: &Block<N>, x: &[f64; N]) -> [f64; N] {
    let mut y = [0.0; N];
    for (y, a) in y.iter_mut().zip(a) {
        for (a, x) in a.iter().zip(x) {
            *y += a * x;
        }
    }
    y
}

#[inline(always)]
fn subtract_times<const N: usize>(y: &mut [f64; N], a: &Block<N>, x: &[f64; N]) {
    for (y, a) in y.iter_mut().zip(a) {
        for (a, x) in a.iter().zip(x) {
            *y -= a * x;
        }
    }
}

/// `y −= Aᵀ x`.
#[inline(always)]
fn subtract_transposed_times<const N: usize>(y: &mut [f64; N], a: &Block<N>, x: &[f64; N]) {
    for (a, x) in a.iter().zip(x) {
        for (y, a) in y.iter_mut().zip(a) {
            *y -= a * x;
        }
    }
}

/// `L⁻¹` of `A = L Lᵀ`; pivots below a tenth of `least` are replaced by it.
#[inline(always)]
fn inverse_of_cholesky<const N: usize>(a: &Block<N>, least: &[f64; N]) -> Block<N> {
    let (mut l, mut scales) = ([[0.0; N]; N], [0.0; N]);
    for j in 0..N {
        let mut pivot = a[j][j];
        for entry in &l[j][..j] {
            pivot -= entry * entry;
        }
        // NaN goes through: an undefined matrix has no solution.
        if pivot < 0.1 * least[j] {
            pivot = least[j];
        }
        let scale = 1.0 / pivot.sqrt();
        scales[j] = scale;
        for i in j + 1..N {
            let mut sum = a[i][j];
            for (a, b) in l[i][..j].iter().zip(&l[j]) {
                sum -= a * b;
            }
            l[i][j] = sum * scale;
        }
    }
    let mut inverse = [[0.0; N]; N];
    for j in 0..N {
        inverse[j][j] = scales[j];
        for i in j + 1..N {
            let mut sum = 0.0;
            for k in j..i {
                sum -= l[i][k] * inverse[k][j];
            }
            inverse[i][j] = sum * scales[i];
        }
    }
    inverse
}
