//! The condensed problem of an island: its contacts, limits and bounded motors, with the joints eliminated exactly.
//!
//! ```text
//! v = v_J + M̂⁻¹Gᵀ r,    v_J = v_free − M⁻¹Jᵀ A⁻¹ (J v_free + d)        M̂⁻¹ = M⁻¹ − M⁻¹Jᵀ A⁻¹ J M⁻¹
//! Ŵ = G M̂⁻¹ Gᵀ,   q̂ = G v_J + d        M̂⁻¹_ab = δ_ab M_a⁻¹ − Σ_common path Z_aᵀ Z_b,   Z_b = L⁻¹ J M⁻¹E_b
//! ```
//!
//! `M̂⁻¹` is needed between touched bodies only, those with a contact or a limit: 6×6 blocks, zero where no joints connect the two bodies.
//! `Ŵ ≥ 0` follows from `M̂⁻¹ ≥ 0`, a Schur complement. It is what an articulation answers to an impulse, so that sweeps over
//! few contacts of a robot see no joints and need no more rounds than those of a rigid body.

use super::factor::{Six, Step, common};
use super::joints::{Joints, dot, inverse_mass, six_of};
use super::plan::FIXED;
use crate::Law;
use crate::lanes::Dispatch;
use crate::problem::{FactoredProblem, StoredProblem, WorldTwist};
use glam::{DMat3, DVec3};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Part of `G M⁻¹Gᵀ` below which `Ŵ` is rounding: some hundred times `ε`.
const NOTHING: f64 = 1e-10;

/// Three rows of a column, for one of its bodies.
type Lever = [Six; 3];

/// A body with columns.
#[derive(Debug)]
struct Touched {
    body: u32,
    group: u32,
    /// Its place in the group.
    place: u32,
    /// Its part of the responses.
    steps: Range<usize>,
    /// Triples at the body.
    levers: Vec<(u32, Lever)>,
}

/// Bodies that respond to each other.
#[derive(Debug)]
struct Group {
    members: Vec<u32>,
    /// Where their blocks of `M̂⁻¹` begin.
    base: usize,
}

/// The condensed problem and its buffers.
#[derive(Debug)]
pub(super) struct Condensed<const N: usize> {
    pub(super) stored: StoredProblem,
    /// Triple of the island's problem of each triple here.
    pub(super) source: Vec<u32>,
    touched: Vec<Touched>,
    /// Lists of the last problem, to be used again.
    spare_levers: Vec<Vec<(u32, Lever)>>,
    spare_members: Vec<Vec<u32>>,
    groups: Vec<Group>,
    /// Index of each body among those that are touched.
    index: Vec<u32>,
    /// Group of the bodies of each component.
    of_component: Vec<(u32, u32)>,
    steps: Vec<Step<N>>,
    response: Vec<[Six; 6]>,
    blocks: Vec<DMat3>,
    coupled: Vec<bool>,
    /// Trace of `G M⁻¹Gᵀ` of each triple, and the speeds that `G v_free` is made of.
    free: Vec<[f64; 2]>,
    /// Triples that nothing moves.
    held: Vec<bool>,
}

impl<const N: usize> Default for Condensed<N> {
    fn default() -> Self {
        Self {
            stored: StoredProblem::default(),
            source: Vec::new(),
            touched: Vec::new(),
            spare_levers: Vec::new(),
            spare_members: Vec::new(),
            groups: Vec::new(),
            index: Vec::new(),
            of_component: Vec::new(),
            steps: Vec::new(),
            response: Vec::new(),
            blocks: Vec::new(),
            coupled: Vec::new(),
            free: Vec::new(),
            held: Vec::new(),
        }
    }
}

impl<const N: usize> Condensed<N> {
    /// Condenses `problem` onto the interactions that are no joints, given `v_J` of all bodies.
    pub(super) fn build(
        &mut self,
        problem: &FactoredProblem,
        is_joint: &[bool],
        joints: &mut Joints<N>,
        twist: &[WorldTwist],
    ) {
        let levers = self.touched.drain(..).map(|touched| touched.levers);
        self.spare_levers.extend(levers);
        let members = self.groups.drain(..).map(|group| group.members);
        self.spare_members.extend(members);
        self.index.clear();
        self.index.resize(problem.inverse_mass.len(), FIXED);
        self.of_component.clear();
        self.source.clear();
        self.stored.laws.clear();
        self.stored.free_velocity.clear();
        for (triple, contact) in problem.contacts.iter().enumerate() {
            let [a, b] = contact.bodies.map(|j| &twist[j as usize]);
            let q = contact.local_velocity(a, b) + contact.offset;
            self.stored.laws.push(Law::coulomb(contact.friction));
            self.stored.free_velocity.push(q);
            for (side, body) in contact.bodies.into_iter().enumerate() {
                let sign = if side == 0 { 1.0 } else { -1.0 };
                let frame = &contact.frame;
                let lever = [frame.x_axis, frame.y_axis, frame.z_axis].map(|axis| {
                    let (force, arm) = (axis * sign, contact.arms[side]);
                    let moment = arm.cross(force);
                    [force.x, force.y, force.z, moment.x, moment.y, moment.z]
                });
                self.touch(problem, joints, body, lever);
            }
            self.source.push(triple as u32);
        }
        for (index, (range, other)) in problem.others().enumerate() {
            if is_joint[index] {
                continue;
            }
            let ends = other.bodies.map(|j| twist[j as usize]);
            let q = other.velocity(&ends);
            self.stored.laws.push(other.law);
            for (k, triple) in range.enumerate() {
                self.stored.free_velocity.push(q[k]);
                for (side, body) in other.bodies.into_iter().enumerate() {
                    let mut lever = [[0.0; 6]; 3];
                    for (row, lever) in (3 * k..other.law.rows()).zip(&mut lever) {
                        lever.copy_from_slice(&other.rows[row][6 * side..6 * side + 6]);
                    }
                    self.touch(problem, joints, body, lever);
                }
                self.source.push(triple as u32);
            }
        }
        let condensed = &mut *self;
        Dispatch::new(true).run(Condense {
            condensed,
            problem,
            joints,
        });
        self.clear_what_nothing_moves(problem);
        let n = self.source.len();
        self.stored
            .delassus
            .set_dense(n, &self.blocks, &self.coupled);
        self.complete(problem, is_joint);
    }

    /// Takes the rounding of `Ŵ` out of the velocities near `impulse` (that of the columns), given the twists under all impulses:
    /// `q̂ ← G v + R r + d − Ŵ r`.
    pub(super) fn refine(
        &mut self,
        problem: &FactoredProblem,
        is_joint: &[bool],
        impulse: &[DVec3],
        twist: &[WorldTwist],
    ) {
        let (stored, held) = (&mut self.stored, &self.held);
        let mut set = |triple: usize, u: DVec3| {
            if !held[triple] {
                stored.free_velocity[triple] = u - stored.delassus.row_times(triple, impulse);
            }
        };
        let mut triple = 0;
        for contact in problem.contacts {
            let [a, b] = contact.bodies.map(|j| &twist[j as usize]);
            let u = contact.local_velocity(a, b) + contact.offset;
            set(triple, u);
            triple += 1;
        }
        let others = problem.interactions.iter().zip(is_joint);
        for (other, _) in others.filter(|(_, is_joint)| !**is_joint) {
            let mut u = other.velocity(&other.bodies.map(|j| twist[j as usize]));
            for (k, u) in u.iter_mut().enumerate().take(other.triples()) {
                for row in 3 * k..other.law.rows().min(3 * k + 3) {
                    u[row % 3] += other.compliance[row] * impulse[triple][row % 3];
                }
                set(triple, *u);
                triple += 1;
            }
        }
    }

    /// `M̂⁻¹` of one body; none of what nothing moves or no column touches.
    pub(super) fn response_of(&self, body: u32) -> Option<&[Six; 6]> {
        let touched = self.touched_at(body)?;
        let group = &self.groups[touched.group as usize];
        let place = touched.place as usize;
        Some(&self.response[group.base + place * group.members.len() + place])
    }

    /// The first row of a triple, for one of its bodies.
    pub(super) fn normal_lever(&self, body: u32, triple: usize) -> Option<Six> {
        let mut levers = self.touched_at(body)?.levers.iter();
        levers
            .find(|(own, _)| *own as usize == triple)
            .map(|(_, lever)| lever[0])
    }

    fn touched_at(&self, body: u32) -> Option<&Touched> {
        let index = *self.index.get(body as usize)?;
        (index != FIXED).then(|| &self.touched[index as usize])
    }

    /// The triple that is next acts on a body.
    fn touch(&mut self, problem: &FactoredProblem, joints: &Joints<N>, body: u32, lever: Lever) {
        if problem.inverse_mass[body as usize].is_fixed() {
            return;
        }
        let triple = self.source.len() as u32;
        let index = self.index[body as usize];
        if index != FIXED {
            self.touched[index as usize].levers.push((triple, lever));
            return;
        }
        let index = self.touched.len() as u32;
        self.index[body as usize] = index;
        let component = joints.index_of(body).map(|own| joints.component(own));
        let known = component.and_then(|own| {
            let mut all = self.of_component.iter();
            all.find(|(other, _)| *other == own)
                .map(|(_, group)| *group)
        });
        let group = known.unwrap_or_else(|| {
            let mut members = self.spare_members.pop().unwrap_or_default();
            members.clear();
            self.groups.push(Group { members, base: 0 });
            let group = self.groups.len() as u32 - 1;
            self.of_component.extend(component.map(|own| (own, group)));
            group
        });
        let mut levers = self.spare_levers.pop().unwrap_or_default();
        levers.clear();
        levers.push((triple, lever));
        let members = &mut self.groups[group as usize].members;
        members.push(index);
        self.touched.push(Touched {
            body,
            group,
            place: members.len() as u32 - 1,
            steps: 0..0,
            levers,
        });
    }

    /// `M̂⁻¹` between the touched bodies.
    #[inline(always)]
    fn respond(&mut self, problem: &FactoredProblem, joints: &mut Joints<N>) {
        self.steps.clear();
        for touched in &mut self.touched {
            let begin = self.steps.len();
            if let Some(own) = joints.index_of(touched.body) {
                joints.respond(own, &mut self.steps);
            }
            touched.steps = begin..self.steps.len();
        }
        self.response.clear();
        for group in &mut self.groups {
            group.base = self.response.len();
            let n = group.members.len();
            self.response.resize(group.base + n * n, [[0.0; 6]; 6]);
            for (i, a) in group.members.iter().enumerate() {
                let a = &self.touched[*a as usize];
                for (j, b) in group.members.iter().enumerate().skip(i) {
                    let b = &self.touched[*b as usize];
                    let shared = common(&self.steps[a.steps.clone()], &self.steps[b.steps.clone()]);
                    let mut block = if i == j {
                        inverse_mass(&problem.inverse_mass[a.body as usize])
                    } else {
                        [[0.0; 6]; 6]
                    };
                    for (block, shared) in block.iter_mut().zip(&shared) {
                        for (block, shared) in block.iter_mut().zip(shared) {
                            *block -= shared;
                        }
                    }
                    for (k, row) in block.iter().enumerate() {
                        for (l, entry) in row.iter().enumerate() {
                            self.response[group.base + j * n + i][l][k] = *entry;
                        }
                    }
                    self.response[group.base + i * n + j] = block;
                }
            }
        }
    }

    /// `Ŵ`, all blocks on and above the diagonal, and their transposes.
    #[inline(always)]
    fn multiply(&mut self) {
        let n = self.source.len();
        self.blocks.clear();
        self.blocks.resize(n * n, DMat3::ZERO);
        self.coupled.clear();
        self.coupled.resize(n * n, false);
        for body in &self.touched {
            let group = &self.groups[body.group as usize];
            let size = group.members.len();
            for (triple, lever) in &body.levers {
                let row = *triple as usize;
                let response = &self.response[group.base + body.place as usize * size..][..size];
                for (other, response) in group.members.iter().zip(response) {
                    let product = lever.map(|lever| times(&lever, response));
                    for (column, lever) in &self.touched[*other as usize].levers {
                        let column = *column as usize;
                        if column < row {
                            continue;
                        }
                        self.coupled[row * n + column] = true;
                        let block = &mut self.blocks[row * n + column];
                        for (c, lever) in lever.iter().enumerate() {
                            let of = |r: usize| -> f64 {
                                product[r].iter().zip(lever).map(|(a, b)| a * b).sum()
                            };
                            *block.col_mut(c) += DVec3::new(of(0), of(1), of(2));
                        }
                    }
                }
            }
        }
        for row in 0..n {
            for column in row + 1..n {
                self.coupled[column * n + row] = self.coupled[row * n + column];
                self.blocks[column * n + row] = self.blocks[row * n + column].transpose();
            }
        }
    }

    /// Rows whose bodies the joints hold altogether: what is left of their block is rounding and `ε`, and is set to zero.
    fn clear_what_nothing_moves(&mut self, problem: &FactoredProblem) {
        let n = self.source.len();
        self.free.clear();
        self.free.resize(n, [0.0; 2]);
        for touched in &self.touched {
            let mass = inverse_mass(&problem.inverse_mass[touched.body as usize]);
            let twist = six_of(&problem.free_twist[touched.body as usize]);
            for (triple, lever) in &touched.levers {
                let [trace, speed] = &mut self.free[*triple as usize];
                for row in lever {
                    *trace += dot(&times(row, &mass), row);
                    *speed += dot(row, &twist).abs();
                }
            }
        }
        self.held.clear();
        self.held.resize(n, false);
        for (row, [free, speed]) in self.free.iter().enumerate() {
            let block = &self.blocks[row * n + row];
            let trace = block.x_axis.x + block.y_axis.y + block.z_axis.z;
            if trace <= NOTHING * free {
                let q = &mut self.stored.free_velocity[row];
                if q.length() <= NOTHING * speed {
                    *q = DVec3::ZERO;
                }
                self.held[row] = true;
                for other in 0..n {
                    self.blocks[row * n + other] = DMat3::ZERO;
                    self.blocks[other * n + row] = DMat3::ZERO;
                }
            }
        }
    }

    /// Compliances and spare rows.
    fn complete(&mut self, problem: &FactoredProblem, is_joint: &[bool]) {
        let mut triple = problem.contacts.len();
        for (other, _) in problem
            .interactions
            .iter()
            .zip(is_joint)
            .filter(|(_, is_joint)| !**is_joint)
        {
            let range = triple..triple + other.triples();
            triple = range.end;
            for row in 0..other.law.rows() {
                let r = other.compliance[row];
                self.stored
                    .delassus
                    .add_to_diagonal(range.start + row / 3, row % 3, r);
            }
            self.stored
                .delassus
                .fill_spare_rows(range, other.law.rows());
        }
    }
}

/// The products of [`Condensed::build`], with the instructions of the machine.
struct Condense<'a, const N: usize> {
    condensed: &'a mut Condensed<N>,
    problem: &'a FactoredProblem<'a>,
    joints: &'a mut Joints<N>,
}

impl<const N: usize> WithSimd for Condense<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.condensed.respond(self.problem, self.joints);
        self.condensed.multiply();
    }
}

#[inline(always)]
fn times(row: &Six, matrix: &[Six; 6]) -> Six {
    let mut product = [0.0; 6];
    for (factor, row) in row.iter().zip(matrix) {
        for (product, entry) in product.iter_mut().zip(row) {
            *product += factor * entry;
        }
    }
    product
}
