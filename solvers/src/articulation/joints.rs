//! The rows of the joints of an island, and their exact solve.
//!
//! ```text
//! J v + C λ + d = 0,   v = v₀ + M⁻¹Jᵀλ        A = J M⁻¹Jᵀ + C,   λ −= (A + ε diag)⁻¹ (J v + C λ + d),  twice; more often where rows are nearly redundant
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | `J`, `d`, `C` | rows, offsets and compliances of equalities, and of motors that are away from their bounds |
//! | `v₀` | twists under all other impulses |
//! | `ε` | 1e-12: redundant rows share their load, to the shortest multipliers |
//!
//! Rows between the same two bodies fill one block as long as there is room: a motor is the sixth row of its hinge. Spare rows are
//! those of the unit matrix. Bodies that impulses do not move enter `d`.

use super::factor::{Block, Factor, Six, Step};
use super::plan::{FIXED, Graph, Plan};
use crate::lanes::Dispatch;
use crate::law::list::rows_of_mut;
use crate::problem::{FactoredProblem, Interaction, InverseMass, WorldTwist};
use glam::DVec3;
use pulp::{Simd, WithSimd};
use smallvec::SmallVec;
use std::ops::Range;

/// At most `N` rows between two bodies.
#[derive(Clone, Debug)]
struct Rows<const N: usize> {
    /// Among the bodies of [`Joints`], or [`FIXED`].
    bodies: [u32; 2],
    used: usize,
    /// `J` and `J M⁻¹`, side by side.
    lever: [[Six; N]; 2],
    push: [[Six; N]; 2],
    offset: [f64; N],
    compliance: [f64; N],
    /// Where the impulse of each row is, counted in rows of triples.
    places: [u32; N],
    /// What its first row takes of further bodies, among those of [`Joints`], and further places of its impulse.
    more: Range<u32>,
    copies: Range<u32>,
    /// The next block of each of the two bodies, while blocks are filled.
    next: [u32; 2],
}

/// What a row takes of one body, and what it does to it.
#[derive(Clone, Copy, Debug)]
struct More {
    body: u32,
    lever: Six,
    push: Six,
}

/// Corrections of a solve at most.
const CORRECTIONS: usize = 40;
/// Velocity that is left, over what was to be taken away: two corrections leave it where no rows are nearly redundant.
const EXACT: f64 = 1e-12;
/// Part of the velocity that is left by a correction which is worth another.
const GAINS: f64 = 0.9;

/// Plans that are kept: robots of a few kinds come in many.
const PLANS: usize = 32;

/// The joints of an island.
#[derive(Debug, Default)]
pub(super) struct Joints<const N: usize> {
    /// Bodies of the problem that joints move, and the index here of every body there.
    bodies: Vec<u32>,
    slots: Vec<u32>,
    blocks: Vec<Rows<N>>,
    /// Of rows on more than two bodies, which are the only ones of their blocks.
    more: Vec<More>,
    copies: Vec<u32>,
    /// First block of each body.
    first: Vec<u32>,
    graph: Graph,
    plans: Vec<Plan>,
    plan: usize,
    factor: Factor<N>,
    /// Multipliers, and twists of the bodies.
    pub(super) lambda: Vec<[f64; N]>,
    pub(super) twists: Vec<Six>,
    x: Vec<[f64; N]>,
    /// The largest entry of `J v + C λ + d` before the last correction, and before the first of a solve.
    left: f64,
    pub(super) asked: f64,
}

impl<const N: usize> Rows<N> {
    /// None yet between two bodies.
    fn of(bodies: [u32; 2]) -> Self {
        Self {
            bodies,
            used: 0,
            lever: [[[0.0; 6]; N]; 2],
            push: [[[0.0; 6]; N]; 2],
            offset: [0.0; N],
            compliance: [0.0; N],
            places: [0; N],
            more: 0..0,
            copies: 0..0,
            next: [FIXED; 2],
        }
    }
}

#[inline(always)]
fn as_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn six(a: DVec3, b: DVec3) -> Six {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

pub(super) fn six_of(twist: &WorldTwist) -> Six {
    six(twist.linear, twist.angular)
}

pub(super) fn twist_of(six: &Six) -> WorldTwist {
    WorldTwist {
        linear: DVec3::from_slice(&six[..3]),
        angular: DVec3::from_slice(&six[3..]),
    }
}

#[inline(always)]
pub(super) fn dot(a: &Six, b: &Six) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<const N: usize> Joints<N> {
    /// Takes on the joints of `problem`: the interactions that `takes` names, by their index among those that are no contacts. False if
    /// their factorisation is too expensive.
    pub(super) fn load(&mut self, problem: &FactoredProblem, takes: &[bool]) -> bool {
        self.bodies.clear();
        self.slots.clear();
        self.slots.resize(problem.inverse_mass.len(), FIXED);
        self.blocks.clear();
        self.more.clear();
        self.copies.clear();
        self.first.clear();
        // Equalities come before motors, which fill their blocks.
        for equalities in [true, false] {
            for (index, (range, other)) in problem.others().enumerate() {
                let begins_link = problem
                    .interactions
                    .get(index + 1)
                    .is_some_and(|next| next.linked);
                if takes[index]
                    && is_equality(&other.law) == equalities
                    && !other.linked
                    && !begins_link
                {
                    self.add(problem, other, 3 * range.start);
                }
            }
        }
        let mut triple = problem.contacts.len();
        for group in problem.interactions.chunk_by(|_, next| next.linked) {
            if group.len() > 1 {
                self.add_linked(problem, group, 3 * triple);
            }
            triple += group.iter().map(Interaction::triples).sum::<usize>();
        }
        self.graph.clear();
        for (block, rows) in self.blocks.iter().enumerate() {
            self.graph.ends.push(rows.bodies);
            let more = &self.more[as_range(&rows.more)];
            let more = more.iter().map(|more| [block as u32, more.body]);
            self.graph.more.extend(more);
        }
        if !self.choose_plan() {
            return false;
        }
        Dispatch::new(true).run(Factorize(self));
        self.lambda.clear();
        self.lambda.resize(self.blocks.len(), [0.0; N]);
        true
    }

    fn choose_plan(&mut self) -> bool {
        let known = |plan: &Plan| plan.is_of(&self.graph);
        if self.plans.get(self.plan).is_some_and(known) {
            return true;
        }
        if let Some(found) = self.plans.iter().position(known) {
            self.plan = found;
            return true;
        }
        let Some(plan) = Plan::new(&self.graph, self.bodies.len()) else {
            return false;
        };
        if self.plans.len() >= PLANS {
            self.plans.remove(0);
        }
        self.plans.push(plan);
        self.plan = self.plans.len() - 1;
        true
    }

    /// The index here of a body of the problem.
    fn slot(&mut self, problem: &FactoredProblem, body: u32) -> u32 {
        let there = body as usize;
        if problem.inverse_mass[there].is_fixed() {
            return FIXED;
        }
        if self.slots[there] == FIXED {
            self.slots[there] = self.bodies.len() as u32;
            self.bodies.push(body);
            self.first.push(FIXED);
        }
        self.slots[there]
    }

    /// Adds a row that is made of linked interactions, a block of its own; the impulse of the first is at `place`.
    fn add_linked(&mut self, problem: &FactoredProblem, group: &[Interaction], place: usize) {
        // Two, but for couplers of several joints.
        let mut sides = SmallVec::<[More; 4]>::new();
        let (mut offset, mut compliance) = (0.0, 0.0);
        let copies = self.copies.len() as u32;
        for (k, other) in group.iter().enumerate() {
            offset += other.offset[0];
            compliance += other.compliance[0];
            if k > 0 {
                self.copies.push((place + 3 * k) as u32);
            }
            for (side, there) in other.bodies.into_iter().enumerate() {
                let [linear, angular] = other.lever(0, side);
                let lever = six(linear, angular);
                let body = self.slot(problem, there);
                if body == FIXED {
                    offset += dot(&lever, &six_of(&problem.free_twist[there as usize]));
                    continue;
                }
                let mass = &problem.inverse_mass[there as usize];
                let push = six(linear * mass.linear, mass.angular * angular);
                // One entry a body: what couples a block with itself is a sum over bodies.
                if let Some(known) = sides.iter_mut().find(|known| known.body == body) {
                    for k in 0..6 {
                        known.lever[k] += lever[k];
                        known.push[k] += push[k];
                    }
                } else {
                    sides.push(More { body, lever, push });
                }
            }
        }
        let mut rows = Rows {
            used: 1,
            next: [FIXED; 2],
            ..Rows::of([FIXED; 2])
        };
        for (side, of) in sides.iter().take(2).enumerate() {
            rows.bodies[side] = of.body;
            rows.lever[side][0] = of.lever;
            rows.push[side][0] = of.push;
        }
        (rows.offset[0], rows.compliance[0], rows.places[0]) = (offset, compliance, place as u32);
        let begin = self.more.len() as u32;
        self.more.extend(sides.into_iter().skip(2));
        rows.more = begin..self.more.len() as u32;
        rows.copies = copies..self.copies.len() as u32;
        self.blocks.push(rows);
    }

    fn add(&mut self, problem: &FactoredProblem, other: &Interaction, place: usize) {
        let m = other.law.rows();
        let bodies = other.bodies.map(|body| self.slot(problem, body));
        let (block, turned) = self.block_with_room(bodies, m);
        let masses = other.bodies.map(|j| &problem.inverse_mass[j as usize]);
        let free = other.bodies.map(|j| &problem.free_twist[j as usize]);
        let rows = &mut self.blocks[block];
        for row in 0..m {
            let own = rows.used;
            rows.used += 1;
            rows.offset[own] = other.offset[row];
            rows.compliance[own] = other.compliance[row];
            rows.places[own] = (place + row) as u32;
            for side in 0..2 {
                let [linear, angular] = other.lever(row, side);
                let lever = six(linear, angular);
                if bodies[side] == FIXED {
                    rows.offset[own] += dot(&lever, &six_of(free[side]));
                    continue;
                }
                let mass = masses[side];
                let there = side ^ usize::from(turned);
                rows.lever[there][own] = lever;
                rows.push[there][own] = six(linear * mass.linear, mass.angular * angular);
            }
        }
    }

    /// A block of the two bodies with room for `m` rows, and whether it names them the other way round.
    fn block_with_room(&mut self, bodies: [u32; 2], m: usize) -> (usize, bool) {
        let [a, b] = bodies;
        let start = if a == FIXED { b } else { a };
        let mut next = match self.first.get(start as usize) {
            Some(first) if start != FIXED => *first,
            _ => FIXED,
        };
        while next != FIXED {
            let block = next as usize;
            let rows = &self.blocks[block];
            let (same, turned) = (rows.bodies == bodies, rows.bodies == [b, a]);
            if (same || turned) && rows.used + m <= N {
                return (block, !same);
            }
            next = rows.next[usize::from(rows.bodies[0] != start)];
        }
        let block = self.blocks.len();
        let mut next = [FIXED; 2];
        for (side, body) in bodies.into_iter().enumerate() {
            if body != FIXED {
                let first = &mut self.first[body as usize];
                next[side] = std::mem::replace(first, block as u32);
            }
        }
        self.blocks.push(Rows {
            next,
            ..Rows::of(bodies)
        });
        (block, false)
    }

    /// `A`, block by block.
    #[inline(always)]
    fn assemble(&mut self) {
        let plan = &self.plans[self.plan];
        self.factor.clear(plan);
        for (block, rows) in self.blocks.iter().enumerate() {
            let diagonal = &mut self.factor.diagonal[plan.place[block] as usize];
            for side in 0..2 {
                if rows.bodies[side] != FIXED {
                    add_product(diagonal, &rows.push[side], &rows.lever[side]);
                }
            }
            for (row, compliance) in rows.compliance.iter().enumerate() {
                diagonal[row][row] += compliance;
            }
            for more in &self.more[as_range(&rows.more)] {
                diagonal[0][0] += dot(&more.push, &more.lever);
            }
        }
        for [position, row, column] in &plan.entries {
            let block = &mut self.factor.below[*position as usize];
            let (low, high) = (&self.blocks[*row as usize], &self.blocks[*column as usize]);
            for (side, body) in low.bodies.iter().enumerate() {
                for (other, its) in high.bodies.iter().enumerate() {
                    if body == its && *body != FIXED {
                        add_product(block, &low.push[side], &high.lever[other]);
                    }
                }
            }
            let (more, others) = (as_range(&low.more), as_range(&high.more));
            if more.is_empty() && others.is_empty() {
                continue;
            }
            for of in &self.more[others.clone()] {
                for (side, body) in low.bodies.iter().enumerate() {
                    if *body == of.body {
                        for (row, push) in low.push[side].iter().enumerate() {
                            block[row][0] += dot(push, &of.lever);
                        }
                    }
                }
            }
            for of in &self.more[more] {
                for (side, body) in high.bodies.iter().enumerate() {
                    if *body == of.body {
                        for (column, lever) in high.lever[side].iter().enumerate() {
                            block[0][column] += dot(&of.push, lever);
                        }
                    }
                }
                for its in &self.more[others.clone()] {
                    if its.body == of.body {
                        block[0][0] += dot(&of.push, &its.lever);
                    }
                }
            }
        }
    }

    /// The bodies that joints move, in the problem.
    pub(super) fn bodies(&self) -> &[u32] {
        &self.bodies
    }

    /// What one exact solve costs, in products of a vector with 3×3 blocks: two substitutions, and the rows twice.
    pub(super) fn sweep_products(&self) -> f64 {
        let plan = &self.plans[self.plan];
        let blocks = 2 * plan.rows.len() + 6 * self.blocks.len();
        blocks as f64 * (N * N) as f64 / 9.0
    }

    /// Index here of a body of the problem, if joints move it.
    pub(super) fn index_of(&self, body: u32) -> Option<u32> {
        Some(self.slots[body as usize]).filter(|slot| *slot != FIXED)
    }

    /// What bodies have in common that joints connect.
    pub(super) fn component(&self, index: u32) -> u32 {
        self.plans[self.plan].component[index as usize]
    }

    /// Takes over the twists of the problem's bodies.
    pub(super) fn gather(&mut self, twist: &[WorldTwist]) {
        self.twists.clear();
        let own = self.bodies.iter().map(|j| six_of(&twist[*j as usize]));
        self.twists.extend(own);
    }

    /// Gives the twists back.
    pub(super) fn scatter(&self, twist: &mut [WorldTwist]) {
        for (body, own) in self.bodies.iter().zip(&self.twists) {
            twist[*body as usize] = twist_of(own);
        }
    }

    /// `λ −= A⁻¹ (J v + C λ + d)`, and `v` with it.
    pub(super) fn correct(&mut self) {
        Dispatch::new(true).run(Correct(self));
    }

    #[inline(always)]
    fn correct_here(&mut self) {
        self.left = 0.0;
        self.x.clear();
        for (rows, lambda) in self.blocks.iter().zip(&self.lambda) {
            let mut x = [0.0; N];
            for row in 0..rows.used {
                let mut sum = rows.offset[row] + rows.compliance[row] * lambda[row];
                for (lever, body) in rows.lever.iter().zip(rows.bodies) {
                    if let Some(twist) = self.twists.get(body as usize) {
                        sum += dot(&lever[row], twist);
                    }
                }
                if row == 0 {
                    for more in &self.more[as_range(&rows.more)] {
                        sum += dot(&more.lever, &self.twists[more.body as usize]);
                    }
                }
                x[row] = -sum;
                self.left = self.left.max(sum.abs());
            }
            self.x.push(x);
        }
        self.factor.solve(&self.plans[self.plan], &mut self.x);
        let changes = self.blocks.iter().zip(&self.x).zip(&mut self.lambda);
        for ((rows, x), lambda) in changes {
            for row in 0..rows.used {
                lambda[row] += x[row];
                for (push, body) in rows.push.iter().zip(rows.bodies) {
                    if let Some(twist) = self.twists.get_mut(body as usize) {
                        for (v, push) in twist.iter_mut().zip(&push[row]) {
                            *v += push * x[row];
                        }
                    }
                }
            }
            for more in &self.more[as_range(&rows.more)] {
                let twist = &mut self.twists[more.body as usize];
                for (v, push) in twist.iter_mut().zip(&more.push) {
                    *v += push * x[0];
                }
            }
        }
    }

    /// The multipliers for the twists that were gathered, which are those without joints, from zero: a function of these alone.
    pub(super) fn solve(&mut self) {
        self.lambda.fill([0.0; N]);
        self.correct();
        self.asked = self.left;
        let mut last = self.left;
        for _ in 1..CORRECTIONS {
            self.correct();
            // This one leaves as much of it as the last one did.
            let foreseen = self.left * (self.left / last);
            if !(foreseen > EXACT * self.asked && self.left <= GAINS * last) {
                break;
            }
            last = self.left;
        }
    }

    /// Writes the multipliers into the impulse of the problem.
    pub(super) fn write(&self, impulse: &mut [DVec3]) {
        let all = rows_of_mut(impulse);
        for (rows, lambda) in self.blocks.iter().zip(&self.lambda) {
            for (place, lambda) in rows.places[..rows.used].iter().zip(lambda) {
                all[*place as usize] = *lambda;
            }
            for place in &self.copies[as_range(&rows.copies)] {
                all[*place as usize] = lambda[0];
            }
        }
    }

    /// Their impulses in the problem, set to zero.
    pub(super) fn erase(&self, impulse: &mut [DVec3]) {
        let all = rows_of_mut(impulse);
        for rows in &self.blocks {
            for place in &rows.places[..rows.used] {
                all[*place as usize] = 0.0;
            }
            for place in &self.copies[as_range(&rows.copies)] {
                all[*place as usize] = 0.0;
            }
        }
    }

    /// Appends `L⁻¹ J M⁻¹E_b` of one of its bodies.
    #[inline(always)]
    pub(super) fn respond(&mut self, body: u32, steps: &mut Vec<Step<N>>) {
        let (plan, blocks, more) = (&self.plans[self.plan], &self.blocks, &self.more);
        let own = plan.blocks_of(body as usize).iter();
        let sources = own.map(|(block, side)| {
            let (rows, side) = (&blocks[*block as usize], *side as usize);
            let push = rows.push.get(side).copied().unwrap_or_else(|| {
                let mut push = [[0.0; 6]; N];
                push[0] = more[rows.more.start as usize + side - 2].push;
                push
            });
            (*block, push)
        });
        self.factor.respond(plan, sources, steps);
    }
}

/// Assembles and factorises, with the instructions of the machine.
struct Factorize<'a, const N: usize>(&'a mut Joints<N>);

impl<const N: usize> WithSimd for Factorize<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.assemble();
        self.0.factor.factorize(&self.0.plans[self.0.plan]);
    }
}

/// One exact solve, the same way.
struct Correct<'a, const N: usize>(&'a mut Joints<N>);

impl<const N: usize> WithSimd for Correct<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.correct_here();
    }
}

pub(crate) fn is_equality(law: &crate::Law) -> bool {
    matches!(law, crate::Law::Equality(_))
}

/// `M⁻¹` of one body.
pub(super) fn inverse_mass(mass: &InverseMass) -> [Six; 6] {
    let mut block = [[0.0; 6]; 6];
    for k in 0..3 {
        block[k][k] = mass.linear;
        for l in 0..3 {
            block[3 + k][3 + l] = mass.angular.col(l)[k];
        }
    }
    block
}

/// `C += P Jᵀ`, rows of both.
#[inline(always)]
pub(super) fn add_product<const N: usize>(c: &mut Block<N>, push: &[Six; N], lever: &[Six; N]) {
    let mut turned = [[0.0; N]; 6];
    for (row, lever) in lever.iter().enumerate() {
        for (turned, entry) in turned.iter_mut().zip(lever) {
            turned[row] = *entry;
        }
    }
    for (c, push) in c.iter_mut().zip(push) {
        for (factor, turned) in push.iter().zip(&turned) {
            for (c, turned) in c.iter_mut().zip(turned) {
                *c += factor * turned;
            }
        }
    }
}
