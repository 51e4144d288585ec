//! The sweep on twists with options: any order, relaxation, frozen contacts, any local solver.
//!
//! One contact after the other on one thread: natural is the order of the problem, backwards is its reverse,
//! and a shuffle mixes all contacts. Without options [`crate::sweep::lane_sweep`] does the same in lanes.
//!
//! Contacts are stored with their tangents turned to the principal axes of the local problem
//! ([`OneContact`]), so that the loop rotates nothing.

use crate::comparison::classical::options::{Schedule, SweepOptions};
use crate::law::one_contact::OneContact;
use crate::problem::{Contact, FactoredProblem, WorldTwist};
use crate::sweep::acceleration::{CHECK_EVERY, Relaxation, Stride, SweepSums};
use crate::sweep::general::General;
use crate::{Residual, natural_map};
use glam::DVec3;

/// One contact as the sweep reads it.
#[derive(Clone, Copy, Debug)]
struct Packed {
    bodies: [u32; 2],
    /// `n, t₁', t₂'`: principal tangents.
    axes: [DVec3; 3],
    arms: [DVec3; 2],
    offset: DVec3,
    friction: f64,
    lambda: f64,
    local: OneContact,
}

impl Packed {
    fn new(contact: &Contact, problem: &FactoredProblem) -> Self {
        let [a, b] = contact.bodies.map(|j| &problem.inverse_mass[j as usize]);
        let block = contact.local_block(a, b);
        let local = OneContact::new(&block);
        let [c, s] = local.rotation();
        let (t1, t2) = (contact.frame.y_axis, contact.frame.z_axis);
        Self {
            bodies: contact.bodies,
            axes: [contact.frame.x_axis, t1 * c + t2 * s, t2 * c - t1 * s],
            arms: contact.arms,
            offset: local.to_principal(contact.offset),
            friction: contact.friction,
            lambda: (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0,
            local,
        }
    }
}

/// Impulses of one contact, principal basis: current `x` and previous `x_prev`; and the memory of
/// the local solver.
#[derive(Clone, Copy, Debug, Default)]
struct Iterate {
    now: DVec3,
    before: DVec3,
    memory: f64,
}

/// Buffers of the sweep, reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct ClassicalWorkspace {
    packed: Vec<Packed>,
    iterates: Vec<Iterate>,
    twists: Vec<WorldTwist>,
    twists_before: Vec<WorldTwist>,
    /// Interactions that are no contacts: they follow the contacts, in their order.
    others: Vec<General>,
    impulse: Vec<DVec3>,
    scratch: Vec<WorldTwist>,
    schedule: Schedule,
}

/// A factored problem and its iterate.
pub(crate) struct ClassicalTwistSweep<'a> {
    problem: &'a FactoredProblem<'a>,
    space: &'a mut ClassicalWorkspace,
}

impl<'a> ClassicalTwistSweep<'a> {
    /// Packs the problem; `impulse` is the warm start.
    pub(crate) fn new(
        problem: &'a FactoredProblem<'a>,
        space: &'a mut ClassicalWorkspace,
        impulse: &[DVec3],
        options: &SweepOptions,
    ) -> Self {
        space.packed.clear();
        let contacts = problem.contacts.iter();
        space
            .packed
            .extend(contacts.map(|contact| Packed::new(contact, problem)));
        space.others.clear();
        for (range, other) in problem.others() {
            let masses = other.bodies.map(|j| &problem.inverse_mass[j as usize]);
            space
                .others
                .push(General::new(range.start as u32, other, masses));
        }
        space.schedule.begin(options, problem.contacts.len());
        let mut sweep = Self { problem, space };
        sweep.restart(impulse);
        sweep
    }

    /// `v ← v + β (v − v_prev)`: the twists' part of the extrapolation.
    fn extrapolate(&mut self, beta: f64) {
        let space = &mut *self.space;
        for (now, before) in space.twists.iter_mut().zip(&mut space.twists_before) {
            let current = *now;
            now.linear += (current.linear - before.linear) * beta;
            now.angular += (current.angular - before.angular) * beta;
            *before = current;
        }
    }
}

impl Relaxation for ClassicalTwistSweep<'_> {
    fn check_after(&self, _: usize) -> usize {
        CHECK_EVERY
    }

    fn is_exact(&self) -> bool {
        self.space.schedule.options.is_exact()
    }

    fn is_empty(&self) -> bool {
        self.problem.is_empty()
    }

    fn sweep(&mut self, stride: Stride) -> SweepSums {
        let beta = stride.beta;
        self.extrapolate(beta);
        let masses = self.problem.inverse_mass;
        let ClassicalWorkspace {
            packed,
            iterates,
            twists,
            others,
            schedule,
            ..
        } = &mut *self.space;
        let mut sums = SweepSums::default();
        let backwards = schedule.next_sweep();
        for turn in 0..schedule.len() {
            let position = schedule.contact(turn, backwards);
            let (packed, iterate) = (&packed[position], &mut iterates[position]);
            let [a, b] = packed.bodies.map(|j| j as usize);
            let relative = twists[a].at(packed.arms[0]) - twists[b].at(packed.arms[1]);
            let step = Step {
                relative,
                stride,
                position,
            };
            let change = step.take(packed, iterate, schedule, &mut sums);
            let [n, t1, t2] = packed.axes;
            let p = n * change.x + t1 * change.y + t2 * change.z;
            for (body, arm, p) in [(a, packed.arms[0], p), (b, packed.arms[1], -p)] {
                let mass = &masses[body];
                if !mass.is_fixed() {
                    twists[body].linear += p * mass.linear;
                    twists[body].angular += mass.angular * arm.cross(p);
                }
            }
        }
        for (general, other) in others.iter_mut().zip(self.problem.interactions) {
            let [a, b] = other.bodies.map(|j| rows_of_twist(&twists[j as usize]));
            let changes = general.relax([&a, &b], stride, &mut sums);
            for (body, change) in other.bodies.iter().zip(changes) {
                let twist = &mut twists[*body as usize];
                twist.linear += DVec3::from_slice(&change[..3]);
                twist.angular += DVec3::from_slice(&change[3..]);
            }
        }
        sums
    }

    fn residual(&mut self) -> Residual {
        let space = &mut *self.space;
        space.schedule.thaw();
        space.impulse.clear();
        let solved = space.packed.iter().zip(&space.iterates);
        space
            .impulse
            .extend(solved.map(|(packed, iterate)| packed.local.from_principal(iterate.now)));
        let others = space.others.iter().flat_map(General::impulse);
        space.impulse.extend(others.map(|(_, r)| r));
        natural_map::factored_triples(self.problem, &space.impulse, &mut space.scratch)
    }

    fn residual_of(&mut self, impulse: &[DVec3]) -> Residual {
        natural_map::factored_triples(self.problem, impulse, &mut self.space.scratch)
    }

    fn impulse(&self) -> &[DVec3] {
        &self.space.impulse
    }

    fn restart(&mut self, impulse: &[DVec3]) {
        let space = &mut *self.space;
        space.iterates.clear();
        for (packed, r) in space.packed.iter().zip(impulse) {
            let r = packed.local.to_principal(*r);
            space.iterates.push(Iterate {
                now: r,
                before: r,
                memory: 0.0,
            });
        }
        for general in &mut space.others {
            general.restart(impulse);
        }
        self.problem.twist_under_triples(impulse, &mut space.twists);
        space.twists_before.clone_from(&space.twists);
    }
}

fn rows_of_twist(twist: &WorldTwist) -> [f64; 6] {
    let (v, w) = (twist.linear, twist.angular);
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// One contact's turn.
struct Step {
    relative: DVec3,
    stride: Stride,
    position: usize,
}

impl Step {
    /// Solves the contact, or leaves it as it was before the extrapolation if it is frozen. Returns
    /// the change that the twists have to follow.
    fn take(
        &self,
        packed: &Packed,
        iterate: &mut Iterate,
        schedule: &mut Schedule,
        sums: &mut SweepSums,
    ) -> DVec3 {
        let start = iterate.now + (iterate.now - iterate.before) * self.stride.beta;
        let solved = if schedule.skips(self.position) {
            iterate.now
        } else {
            let mut u = DVec3::from(packed.axes.map(|axis| axis.dot(self.relative)));
            u += packed.offset;
            u.x *= self.stride.normal;
            let q = u - packed.local.apply_principal(start);
            let memory = &mut iterate.memory;
            let solved = schedule
                .options
                .solve(&packed.local, q, packed.friction, start, memory);
            schedule.note(self.position, start, solved);
            solved
        };
        sums.add_change(packed.lambda, [iterate.now, start, solved]);
        iterate.before = iterate.now;
        iterate.now = solved;
        solved - start
    }
}
