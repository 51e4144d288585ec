//! The Newton matrix in the space of the bodies: for problems that know them.
//!
//! With `Ŵ = L Lᵀ` block by block and `K = Lᵀ H/√λ` (one column a scaled row of the contacts),
//!
//! ```text
//! W = Kᵀ K,   (I + ρ C B W) x = b   ⇔   (I + ρ K C B Kᵀ) v = K b,   x = b − ρ C B Kᵀ v
//! ```
//!
//! One 6×6 block a body, however many contacts it has; blocks couple bodies in contact. On masonry
//! and stacks, where several contacts share a pair of bodies, this is far smaller than the matrix
//! in contact space. `L` may be singular: a locked rotation has a zero row.

use super::scaling::root_of;
use super::space::{NEWTON_STEPS, NewtonSpace};
use crate::algebra::block_lu::{Block, BlockLu, Pattern, Singular};
use crate::law::linearised::Linearised;
use crate::law::list::Laws;
use crate::{FactoredProblem, GlobalProblem, Interaction, InverseMass, Law};
use glam::{DMat3, DVec3};

/// `K` of one block of contacts on one body: six rows.
type Lever = [DVec3; 6];

/// The problem in scaled variables, and buffers that outlive a solve.
#[derive(Debug, Default)]
pub(crate) struct BodySpace {
    root: Vec<f64>,
    free_velocity: Vec<DVec3>,
    laws: Laws,
    /// Levers of each triple: `start[α]..start[α + 1]`, each with its body.
    start: Vec<usize>,
    bodies: Vec<u32>,
    levers: Vec<Lever>,
    /// Where the products of each block's pairs of levers are added, in their order.
    slots: Vec<u32>,
    pattern: Pattern,
    lu: BlockLu<6, 6>,
    diagonal: Vec<u32>,
    idle: Vec<bool>,
    velocity: Vec<[f64; 6]>,
    /// Index among the free bodies, and `√(1/m)` and `Lᵀ` of each of them.
    index: Vec<u32>,
    factors: Vec<(f64, DMat3)>,
}

impl BodySpace {
    /// Takes on a problem in factored form.
    pub(crate) fn load_factored(&mut self, problem: &FactoredProblem) {
        self.clear();
        // Fixed bodies have no block.
        self.index.clear();
        self.factors.clear();
        for mass in problem.inverse_mass {
            if mass.is_fixed() {
                self.index.push(u32::MAX);
            } else {
                self.index.push(self.factors.len() as u32);
                self.factors.push(factor(mass));
            }
        }
        for contact in problem.contacts {
            let [a, b] = contact.bodies.map(|j| j as usize);
            let block = contact.local_block(&problem.inverse_mass[a], &problem.inverse_mass[b]);
            let root = root_of((block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0);
            for (side, body) in [(0, a), (1, b)] {
                let index = self.index[body];
                if index == u32::MAX {
                    continue;
                }
                let scale = if side == 0 { 1.0 } else { -1.0 } / root;
                let (linear, angular) = self.factors[index as usize];
                let axes = [
                    contact.frame.x_axis,
                    contact.frame.y_axis,
                    contact.frame.z_axis,
                ];
                let turned = axes.map(|axis| angular * contact.arms[side].cross(axis) * scale);
                let pushed = axes.map(|axis| axis * (linear * scale));
                self.bodies.push(index);
                self.levers.push(rows(pushed, turned));
            }
            self.start.push(self.levers.len());
            let [v, w] = [a, b].map(|j| &problem.free_twist[j]);
            let q = contact.local_velocity(v, w) + contact.offset;
            self.free_velocity.push(q / root);
            self.laws.push(Law::coulomb(contact.friction));
            self.root.push(root);
        }
        let mut bodies = self.factors.len();
        for group in problem.interactions.chunk_by(|_, next| next.linked) {
            if group.len() > 1 {
                self.load_linked(problem, group, &mut bodies);
            } else {
                self.load_interaction(problem, &group[0], &mut bodies);
            }
        }
        self.analyse(bodies);
    }

    /// Adds an interaction of any law. A compliance is a spring of unit mass, with degrees of freedom of its own.
    fn load_interaction(
        &mut self,
        problem: &FactoredProblem,
        other: &Interaction,
        bodies: &mut usize,
    ) {
        let m = other.law.rows();
        let masses = other.bodies.map(|j| &problem.inverse_mass[j as usize]);
        let block = other.block(masses);
        let trace: f64 = (0..m).map(|row| block[row * m + row]).sum();
        let root = root_of(trace / m as f64);
        let free = other.bodies.map(|j| problem.free_twist[j as usize]);
        let q = other.velocity(&free);
        let soft = other.compliance[..m].iter().any(|r| *r > 0.0);
        for (k, q) in q.iter().take(other.triples()).enumerate() {
            let own = 3 * k..m.min(3 * k + 3);
            for (side, body) in other.bodies.iter().enumerate() {
                let index = self.index[*body as usize];
                if index == u32::MAX {
                    continue;
                }
                let (linear, angular) = self.factors[index as usize];
                let (mut pushed, mut turned) = ([DVec3::ZERO; 3], [DVec3::ZERO; 3]);
                for (column, row) in own.clone().enumerate() {
                    let [force, moment] = other.lever(row, side);
                    pushed[column] = force * (linear / root);
                    turned[column] = angular * moment / root;
                }
                self.bodies.push(index);
                self.levers.push(rows(pushed, turned));
            }
            if soft {
                let mut spring = Lever::default();
                for row in own {
                    spring[row][row % 3] = other.compliance[row].sqrt() / root;
                }
                self.bodies.push(*bodies as u32);
                self.levers.push(spring);
            }
            self.start.push(self.levers.len());
            self.free_velocity.push(*q / root);
            self.root.push(root);
        }
        *bodies += usize::from(soft);
        self.laws.push(other.law.scaled(root));
    }

    /// Adds a row that is made of linked interactions. The triple of the first has all of it, those of the others have nothing.
    fn load_linked(
        &mut self,
        problem: &FactoredProblem,
        group: &[Interaction],
        bodies: &mut usize,
    ) {
        let (mut trace, mut q, mut compliance) = (0.0, 0.0, 0.0);
        for other in group {
            trace += other.block(other.bodies.map(|j| &problem.inverse_mass[j as usize]))[0];
            q += other.velocity(&other.bodies.map(|j| problem.free_twist[j as usize]))[0].x;
            compliance += other.compliance[0];
        }
        let root = root_of(trace);
        for other in group {
            for (side, body) in other.bodies.iter().enumerate() {
                let index = self.index[*body as usize];
                if index == u32::MAX {
                    continue;
                }
                let (linear, angular) = self.factors[index as usize];
                let [force, moment] = other.lever(0, side);
                let (mut pushed, mut turned) = ([DVec3::ZERO; 3], [DVec3::ZERO; 3]);
                pushed[0] = force * (linear / root);
                turned[0] = angular * moment / root;
                self.bodies.push(index);
                self.levers.push(rows(pushed, turned));
            }
        }
        if compliance > 0.0 {
            let mut spring = Lever::default();
            spring[0].x = f64::sqrt(compliance) / root;
            self.bodies.push(*bodies as u32);
            self.levers.push(spring);
            *bodies += 1;
        }
        for (k, other) in group.iter().enumerate() {
            let (root, q) = if k == 0 { (root, q) } else { (1.0, 0.0) };
            self.start.push(self.levers.len());
            self.free_velocity.push(DVec3::new(q / root, 0.0, 0.0));
            self.root.push(root);
            self.laws.push(other.law.scaled(root));
        }
    }

    /// Takes on a problem in global form, whose `q` is given, if its mass matrix consists of
    /// symmetric positive definite blocks of six degrees of freedom. False otherwise.
    pub(crate) fn load_global(&mut self, problem: &GlobalProblem, q: &[DVec3]) -> bool {
        self.clear();
        let chunks = problem.degrees_of_freedom().div_ceil(6);
        let Some(factors) = cholesky_of_chunks(problem, chunks) else {
            return false;
        };
        self.laws.clear();
        problem.laws.iter().for_each(|law| self.laws.push(*law));
        let (mut column, mut triples) = (0, q.iter());
        for law in &problem.laws {
            let (begin, first) = (self.levers.len(), self.start.len() - 1);
            let mut trace = 0.0;
            for k in 0..law.rows().div_ceil(3) {
                let own = self.levers.len();
                for axis in 0..(law.rows() - 3 * k).min(3) {
                    for (row, value) in problem.kinematic.column(column) {
                        let body = (row / 6) as u32;
                        let known = self.bodies[own..].iter().position(|j| *j == body);
                        let lever = known.map_or(self.levers.len(), |k| own + k);
                        if known.is_none() {
                            self.bodies.push(body);
                            self.levers.push(Lever::default());
                        }
                        self.levers[lever][row % 6][axis] += value;
                    }
                    column += 1;
                }
                for (body, lever) in self.bodies[own..].iter().zip(&mut self.levers[own..]) {
                    forward(&factors[*body as usize], lever);
                    trace += lever.iter().map(|row| row.length_squared()).sum::<f64>();
                }
                self.start.push(self.levers.len());
            }
            let root = root_of(trace / law.rows() as f64);
            for lever in &mut self.levers[begin..] {
                *lever = lever.map(|row| row / root);
            }
            for q in triples.by_ref().take(self.start.len() - 1 - first) {
                self.free_velocity.push(*q / root);
                self.root.push(root);
            }
        }
        self.laws = self.laws.scaled(&self.root);
        self.analyse(chunks);
        true
    }

    /// What a successful Newton call costs, in sweeps in lanes over the same problem: times of the kernels,
    /// measured once in nanoseconds; only their ratio counts.
    pub(crate) fn newton_cost(&self) -> f64 {
        let (n, pairs) = (self.root.len() as f64, self.slots.len() as f64);
        let step = 100.0 * self.lu.products() as f64 + 60.0 * pairs + 600.0 * n;
        NEWTON_STEPS * step / (20.0 * n)
    }

    fn clear(&mut self) {
        self.root.clear();
        self.free_velocity.clear();
        self.laws.clear();
        self.start.clear();
        self.start.push(0);
        self.bodies.clear();
        self.levers.clear();
    }

    /// Orders the bodies for the factorisation and finds where each product goes.
    fn analyse(&mut self, bodies: usize) {
        let own = (0..bodies as u32).map(|j| (j, j));
        let coupled = self.start.windows(2).flat_map(|range| {
            let touched = &self.bodies[range[0]..range[1]];
            touched
                .iter()
                .flat_map(|a| touched.iter().map(|b| (*a, *b)))
        });
        self.pattern.set(bodies, own.chain(coupled));
        self.lu.analyse(&self.pattern);
        self.slots.clear();
        for range in self.start.windows(2) {
            let touched = &self.bodies[range[0]..range[1]];
            for a in touched {
                for b in touched {
                    self.slots
                        .push(self.lu.slot(*a as usize, *b as usize) as u32);
                }
            }
        }
        self.diagonal.clear();
        self.diagonal
            .extend((0..bodies).map(|j| self.lu.slot(j, j) as u32));
        self.velocity.resize(bodies, [0.0; 6]);
    }

    /// `v ← K z`.
    fn gather(&mut self, z: &[DVec3]) {
        self.velocity.fill([0.0; 6]);
        for (range, z) in self.start.windows(2).zip(z) {
            for k in range[0]..range[1] {
                let velocity = &mut self.velocity[self.bodies[k] as usize];
                for (v, row) in velocity.iter_mut().zip(&self.levers[k]) {
                    *v += row.dot(*z);
                }
            }
        }
    }

    /// `Kᵀ v` of one block.
    fn spread(&self, block: usize) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for k in self.start[block]..self.start[block + 1] {
            let velocity = &self.velocity[self.bodies[k] as usize];
            for (v, row) in velocity.iter().zip(&self.levers[k]) {
                sum += *row * *v;
            }
        }
        sum
    }
}

impl BodySpace {
    /// Adds what couples a triple with the next one, both of one interaction: `ρ K₊ tail b₀ᵀ Kᵀ`.
    fn add_tail(&mut self, triple: usize, at: &Linearised, rho: f64) {
        let [begin, middle, end] = [0, 1, 2].map(|k| self.start[triple + k]);
        for a in middle..end {
            let left = self.levers[a].map(|row| at.b[0] * (row.dot(at.tail) * rho));
            for b in begin..middle {
                self.idle[self.bodies[a] as usize] = false;
                let slot = self
                    .lu
                    .slot(self.bodies[a] as usize, self.bodies[b] as usize);
                add_product(self.lu.block_mut(slot), &left, &self.levers[b]);
            }
        }
    }
}

impl NewtonSpace for BodySpace {
    fn root(&self) -> &[f64] {
        &self.root
    }

    fn free_velocity(&self) -> &[DVec3] {
        &self.free_velocity
    }

    fn laws(&self) -> &Laws {
        &self.laws
    }

    fn times(&mut self, z: &[DVec3], out: &mut [DVec3]) {
        self.gather(z);
        for (block, out) in out.iter_mut().enumerate() {
            *out = self.spread(block);
        }
    }

    fn factorize(&mut self, rho: f64, at: &[Linearised]) -> Result<(), Singular> {
        self.lu.clear();
        self.idle.clear();
        self.idle.resize(self.diagonal.len(), true);
        let mut slot = 0;
        for (range, at) in self.start.windows(2).zip(at) {
            let count = range[1] - range[0];
            if at.rank == 0 {
                slot += count * count;
                continue;
            }
            let derivative = at.matrix() * rho;
            for a in range[0]..range[1] {
                self.idle[self.bodies[a] as usize] = false;
                let left = self.levers[a].map(|row| derivative.transpose() * row);
                for b in range[0]..range[1] {
                    let target = self.lu.block_mut(self.slots[slot] as usize);
                    add_product(target, &left, &self.levers[b]);
                    slot += 1;
                }
            }
        }
        for (triple, at) in at.iter().enumerate().filter(|(_, at)| at.has_tail()) {
            self.add_tail(triple, at, rho);
        }
        for diagonal in &self.diagonal {
            let block = self.lu.block_mut(*diagonal as usize);
            for (k, row) in block.iter_mut().enumerate() {
                row[k] += 1.0;
            }
        }
        let idle = &self.idle;
        self.lu.factorize(|body| idle[body])
    }

    fn solve(&mut self, rho: f64, at: &[Linearised], x: &mut [DVec3]) {
        self.gather(x);
        self.lu.solve(&mut self.velocity);
        for (triple, at) in at.iter().enumerate().filter(|(_, at)| at.rank > 0) {
            let velocity = self.spread(triple);
            x[triple] -= at.apply(velocity) * rho;
            if at.has_tail() {
                x[triple + 1] -= at.apply_tail(velocity) * rho;
            }
        }
    }
}

/// `target += A Bᵀ`.
#[inline]
fn add_product(target: &mut Block<6, 6>, a: &Lever, b: &Lever) {
    for (target, a) in target.iter_mut().zip(a) {
        for (target, b) in target.iter_mut().zip(b) {
            *target += a.dot(*b);
        }
    }
}

/// The six rows of a lever from its columns.
fn rows(linear: [DVec3; 3], angular: [DVec3; 3]) -> Lever {
    let row = |columns: [DVec3; 3], k: usize| DVec3::from(columns.map(|column| column[k]));
    [
        row(linear, 0),
        row(linear, 1),
        row(linear, 2),
        row(angular, 0),
        row(angular, 1),
        row(angular, 2),
    ]
}

/// `√(1/m)` and `Lᵀ` of the inverse inertia `L Lᵀ`; a locked direction has a zero column in `L`.
fn factor(mass: &InverseMass) -> (f64, DMat3) {
    let columns = mass.angular.to_cols_array_2d();
    let l = cholesky(&columns);
    // The columns of Lᵀ are the rows of L.
    (mass.linear.sqrt(), DMat3::from_cols_array_2d(&l))
}

/// The Cholesky factors of the blocks of `M`, the last one filled up with the unit matrix.
fn cholesky_of_chunks(problem: &GlobalProblem, chunks: usize) -> Option<Vec<Block<6, 6>>> {
    let mut blocks = vec![[[0.0; 6]; 6]; chunks];
    let n = problem.degrees_of_freedom();
    for dof in n..6 * chunks {
        blocks[dof / 6][dof % 6][dof % 6] = 1.0;
    }
    for column in 0..n {
        for (row, value) in problem.mass.column(column) {
            if row / 6 == column / 6 {
                blocks[row / 6][row % 6][column % 6] = value;
            } else if value != 0.0 {
                return None;
            }
        }
    }
    let factor = |block: &Block<6, 6>| {
        let factor = cholesky(block);
        let regular = (0..6).all(|k| factor[k][k] > 0.0);
        (is_symmetric(block) && regular).then_some(factor)
    };
    blocks.iter().map(factor).collect()
}

/// Symmetric to rounding.
fn is_symmetric(a: &Block<6, 6>) -> bool {
    let pairs = (0..6).flat_map(|i| (0..i).map(move |j| (i, j)));
    let size = |i: usize, j: usize| (a[i][i] * a[j][j]).abs().sqrt();
    pairs
        .into_iter()
        .all(|(i, j)| (a[i][j] - a[j][i]).abs() <= 1e-14 * size(i, j))
}

/// `L` with `L Lᵀ = A` for a symmetric positive semi-definite matrix, of which the lower triangle
/// is read. Where a pivot is rounding, or not a number, the column of `L` is zero.
fn cholesky<const N: usize>(a: &Block<N, N>) -> Block<N, N> {
    let mut l = [[0.0; N]; N];
    for j in 0..N {
        for i in j..N {
            let known: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let rest = a[i][j] - known;
            if i == j {
                l[j][j] = if rest > 1e-14 * a[j][j] {
                    rest.sqrt()
                } else {
                    0.0
                };
            } else if l[j][j] > 0.0 {
                l[i][j] = rest / l[j][j];
            }
        }
    }
    l
}

/// `X ← L⁻¹ X`.
fn forward(l: &Block<6, 6>, x: &mut Lever) {
    for i in 0..6 {
        let mut row = x[i];
        for k in 0..i {
            row -= x[k] * l[i][k];
        }
        x[i] = row / l[i][i];
    }
}
