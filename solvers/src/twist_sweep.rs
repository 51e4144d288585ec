//! Gauss–Seidel on the bodies' twists: `W` is applied as `G Ŵ Gᵀ`, one sweep costs `O(n_c)`.
//!
//! | symbol | meaning |
//! |---|---|
//! | `v_j` | current twist of body `j`, always `v_free + Ŵ Gᵀ r` up to rounding |
//! | `y = x + β(x − x_prev)` | impulses the sweep starts from, formed contact by contact |
//!
//! ```text
//! for each contact α, colour by colour:
//!     u_α   = G_α v + d_α                          from the two twists
//!     q_loc = u_α − W_αα y_α
//!     x_α   = one-contact solve(W_αα, q_loc, μ_α)
//!     v_A  += Ŵ_A G_Aᵀ (x_α − y_α),   v_B likewise
//! ```
//!
//! Contacts are stored in colour order, with their tangents turned to the principal axes of the
//! local problem ([`OneContact`]), so that the kernel rotates nothing.
//!
//! **Threads.** A colour's contacts share no moving body, but safe Rust cannot write two
//! arbitrary entries of one array from many threads. So twists are *relayed*: every contact owns
//! two slots, writes its bodies' new twists there, and reads them from the slots of the contacts
//! that touched the bodies before it in the sweep (all in earlier colours, hence finished), or
//! from the body array if it is the first. After the last colour each body takes the twist of its
//! last slot. Serial and relayed sweeps do the same arithmetic in the same order per body; sums
//! are taken over fixed chunks: the bits do not depend on the path or on the number of threads.
//!
//! ```text
//!            colour 0        colour 1        colour 2
//! bodies ──▶ slots 0..2n₀ ──▶ slots … ─────▶ slots … ──▶ bodies
//!               └──────────── body untouched by colour 1 ──▲
//! ```

use crate::acceleration::{Relaxation, SweepSums};
use crate::colouring::Colouring;
use crate::one_contact::OneContact;
use crate::problem::{Contact, FactoredProblem, InverseMass, WorldTwist};
use crate::{Residual, natural_map};
use glam::DVec3;
use rayon::prelude::*;

/// Contacts per unit of parallel work and per partial sum.
const CHUNK: usize = 256;
/// Marks a relay source that is an index into the body array.
const FROM_BODY: u32 = 1 << 31;

/// One contact as the sweep reads it.
#[derive(Clone, Copy, Debug)]
struct Packed {
    bodies: [u32; 2],
    /// Where the relay reads the twists of A and B.
    source: [u32; 2],
    /// `n, t₁', t₂'`: principal tangents.
    axes: [DVec3; 3],
    arms: [DVec3; 2],
    offset: DVec3,
    friction: f64,
    lambda: f64,
    local: OneContact,
}

/// `Ŵ_j` as the sweep reads it: `1/m` and the six entries of the inverse inertia.
#[derive(Clone, Copy, Debug)]
struct PackedMass {
    linear: f64,
    diagonal: DVec3,
    off: DVec3,
}

impl PackedMass {
    fn new(mass: &InverseMass) -> Self {
        let i = &mass.angular;
        Self {
            linear: mass.linear,
            diagonal: DVec3::new(i.x_axis.x, i.y_axis.y, i.z_axis.z),
            off: DVec3::new(i.y_axis.z, i.x_axis.z, i.x_axis.y),
        }
    }

    /// Twist of a body pushed by the impulse `p` at `arm`.
    #[inline]
    fn pushed(&self, twist: &WorldTwist, arm: DVec3, p: DVec3) -> WorldTwist {
        let m = arm.cross(p);
        let angular = DVec3::new(
            self.diagonal.x * m.x + self.off.z * m.y + self.off.y * m.z,
            self.off.z * m.x + self.diagonal.y * m.y + self.off.x * m.z,
            self.off.y * m.x + self.off.x * m.y + self.diagonal.z * m.z,
        );
        WorldTwist {
            linear: twist.linear + p * self.linear,
            angular: twist.angular + angular,
        }
    }
}

/// Impulses of one contact, principal basis: current `x` and previous `x_prev`.
#[derive(Clone, Copy, Debug, Default)]
struct Iterate {
    now: DVec3,
    before: DVec3,
}

impl Packed {
    fn new(contact: &Contact, masses: &[InverseMass]) -> Self {
        let [a, b] = contact.bodies.map(|j| &masses[j as usize]);
        let block = contact.local_block(a, b);
        let local = OneContact::new(&block);
        let [c, s] = local.rotation();
        let (t1, t2) = (contact.frame.y_axis, contact.frame.z_axis);
        Self {
            bodies: contact.bodies,
            source: [0; 2],
            axes: [contact.frame.x_axis, t1 * c + t2 * s, t2 * c - t1 * s],
            arms: contact.arms,
            offset: local.to_principal(contact.offset),
            friction: contact.friction,
            lambda: (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0,
            local,
        }
    }

    /// The kernel: solves this contact with all others frozen. Pure.
    #[inline]
    fn relax(
        &self,
        twists: [WorldTwist; 2],
        masses: [&PackedMass; 2],
        iterate: &mut Iterate,
        beta: f64,
        sums: &mut SweepSums,
    ) -> [WorldTwist; 2] {
        let start = iterate.now + (iterate.now - iterate.before) * beta;
        let relative = twists[0].at(self.arms[0]) - twists[1].at(self.arms[1]);
        let u = DVec3::new(
            self.axes[0].dot(relative),
            self.axes[1].dot(relative),
            self.axes[2].dot(relative),
        ) + self.offset;
        let q = u - self.local.apply_principal(start);
        let solved = self.local.solve_principal(q, self.friction);
        let change = solved - start;
        sums.uphill -= self.lambda * change.dot(solved - iterate.now);
        sums.change += self.lambda * change.length_squared();
        sums.size += self.lambda * solved.length_squared();
        iterate.before = iterate.now;
        iterate.now = solved;
        let p = self.axes[0] * change.x + self.axes[1] * change.y + self.axes[2] * change.z;
        [
            masses[0].pushed(&twists[0], self.arms[0], p),
            masses[1].pushed(&twists[1], self.arms[1], -p),
        ]
    }
}

/// Buffers of the sweep, reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct TwistWorkspace {
    colouring: Colouring,
    packed: Vec<Packed>,
    masses: Vec<PackedMass>,
    iterates: Vec<Iterate>,
    twists: Vec<WorldTwist>,
    twists_before: Vec<WorldTwist>,
    slots: Vec<WorldTwist>,
    last_slot: Vec<u32>,
    partial: Vec<SweepSums>,
    impulse: Vec<DVec3>,
    best: Vec<DVec3>,
    scratch: Vec<WorldTwist>,
}

/// A factored problem on its way to a solution.
pub(crate) struct TwistSweep<'a> {
    problem: &'a FactoredProblem<'a>,
    space: &'a mut TwistWorkspace,
    relay: bool,
}

impl<'a> TwistSweep<'a> {
    /// Packs the problem; `impulse` is the warm start.
    pub(crate) fn new(
        problem: &'a FactoredProblem<'a>,
        space: &'a mut TwistWorkspace,
        impulse: &[DVec3],
        relay: bool,
    ) -> Self {
        space
            .colouring
            .update(problem.contacts, problem.inverse_mass);
        space.masses.clear();
        space
            .masses
            .extend(problem.inverse_mass.iter().map(PackedMass::new));
        space.packed.clear();
        space.iterates.clear();
        for contact in space.colouring.order() {
            let packed = Packed::new(&problem.contacts[*contact as usize], problem.inverse_mass);
            let r = packed.local.to_principal(impulse[*contact as usize]);
            space.iterates.push(Iterate { now: r, before: r });
            space.packed.push(packed);
        }
        space.partial.clear();
        space
            .partial
            .resize(chunk_count(&space.colouring), SweepSums::default());
        problem.twist_under(impulse, &mut space.twists);
        space.twists_before.clone_from(&space.twists);
        space.best.clear();
        space.best.extend_from_slice(impulse);
        let mut sweep = Self {
            problem,
            space,
            relay,
        };
        if relay {
            sweep.link_slots();
        }
        sweep
    }

    /// Sets each contact's relay sources and each body's last slot.
    fn link_slots(&mut self) {
        let space = &mut *self.space;
        let end = space.colouring.starts().last().copied().unwrap_or(0);
        space.slots.clear();
        space.slots.resize(2 * end, WorldTwist::default());
        space.last_slot.clear();
        space
            .last_slot
            .extend((0..space.masses.len() as u32).map(|j| j | FROM_BODY));
        for (position, packed) in space.packed[..end].iter_mut().enumerate() {
            for side in 0..2 {
                let body = packed.bodies[side] as usize;
                packed.source[side] = space.last_slot[body];
                if !self.problem.inverse_mass[body].is_fixed() {
                    space.last_slot[body] = (2 * position + side) as u32;
                }
            }
        }
    }

    /// `v ← v + β (v − v_prev)`: the twists' part of the extrapolation.
    fn extrapolate(&mut self, beta: f64) {
        let step = |(now, before): (&mut WorldTwist, &mut WorldTwist)| {
            let current = *now;
            now.linear += (current.linear - before.linear) * beta;
            now.angular += (current.angular - before.angular) * beta;
            *before = current;
        };
        let space = &mut *self.space;
        space
            .twists
            .iter_mut()
            .zip(&mut space.twists_before)
            .for_each(step);
    }

    /// One contact after the other, twists in the body array. `first_chunk` counts partial sums.
    fn sweep_serially(&mut self, range: std::ops::Range<usize>, first_chunk: usize, beta: f64) {
        let space = &mut *self.space;
        let packed = space.packed[range.clone()].chunks(CHUNK);
        let iterates = space.iterates[range].chunks_mut(CHUNK);
        for ((packed, iterates), sums) in
            packed.zip(iterates).zip(&mut space.partial[first_chunk..])
        {
            *sums = SweepSums::default();
            for (contact, iterate) in packed.iter().zip(iterates) {
                let [a, b] = contact.bodies.map(|j| j as usize);
                let twists = [space.twists[a], space.twists[b]];
                let masses = [&space.masses[a], &space.masses[b]];
                let [new_a, new_b] = contact.relax(twists, masses, iterate, beta, sums);
                space.twists[a] = new_a;
                space.twists[b] = new_b;
            }
        }
    }

    /// The contacts of one colour in parallel, twists relayed through the slots.
    fn sweep_relayed(&mut self, range: std::ops::Range<usize>, first_chunk: usize, beta: f64) {
        let space = &mut *self.space;
        let (done, rest) = space.slots.split_at_mut(2 * range.start);
        let (done, twists, masses) = (&*done, &space.twists, &space.masses);
        let read = |source: u32| {
            if source & FROM_BODY == 0 {
                done[source as usize]
            } else {
                twists[(source & !FROM_BODY) as usize]
            }
        };
        let size = range.len();
        let chunks = size.div_ceil(CHUNK);
        space.packed[range.clone()]
            .par_chunks(CHUNK)
            .zip(space.iterates[range].par_chunks_mut(CHUNK))
            .zip(rest[..2 * size].par_chunks_mut(2 * CHUNK))
            .zip(space.partial[first_chunk..first_chunk + chunks].par_iter_mut())
            .for_each(|(((packed, iterates), slots), sums)| {
                *sums = SweepSums::default();
                for ((contact, iterate), slot) in
                    packed.iter().zip(iterates).zip(slots.chunks_mut(2))
                {
                    let now = contact.source.map(read);
                    let masses = contact.bodies.map(|j| &masses[j as usize]);
                    slot.copy_from_slice(&contact.relax(now, masses, iterate, beta, sums));
                }
            });
    }

    /// Bodies take the twists of their last slots.
    fn collect_slots(&mut self) {
        let space = &mut *self.space;
        let slots = &space.slots;
        for (twist, source) in space.twists.iter_mut().zip(&space.last_slot) {
            if source & FROM_BODY == 0 {
                *twist = slots[*source as usize];
            }
        }
    }

    /// Writes the iterate to `impulse`, in the problem's order and tangents.
    fn unpack(&mut self) {
        let space = &mut *self.space;
        space.impulse.clear();
        space.impulse.resize(space.packed.len(), DVec3::ZERO);
        for ((contact, packed), iterate) in space
            .colouring
            .order()
            .iter()
            .zip(&space.packed)
            .zip(&space.iterates)
        {
            space.impulse[*contact as usize] = packed.local.from_principal(iterate.now);
        }
    }

    /// The best impulse, after [`crate::acceleration::run`].
    pub(crate) fn best(&self) -> &[DVec3] {
        &self.space.best
    }
}

impl Relaxation for TwistSweep<'_> {
    fn sweep(&mut self, beta: f64) -> SweepSums {
        self.extrapolate(beta);
        let colours = self.space.colouring.starts().len().saturating_sub(1);
        let mut chunk = 0;
        for colour in 0..colours {
            let starts = self.space.colouring.starts();
            let range = starts[colour]..starts[colour + 1];
            let chunks = range.len().div_ceil(CHUNK);
            if self.relay {
                self.sweep_relayed(range, chunk, beta);
            } else {
                self.sweep_serially(range, chunk, beta);
            }
            chunk += chunks;
        }
        if self.relay {
            self.collect_slots();
        }
        let end = self.space.colouring.starts().last().copied().unwrap_or(0);
        self.sweep_serially(end..self.space.packed.len(), chunk, beta);
        let mut sums = SweepSums::default();
        for partial in &self.space.partial {
            sums.add(partial);
        }
        sums
    }

    fn residual(&mut self) -> Residual {
        self.unpack();
        natural_map::factored(self.problem, &self.space.impulse, &mut self.space.scratch)
    }

    fn keep(&mut self) {
        self.space.best.clone_from(&self.space.impulse);
    }
}

/// Partial sums needed: each colour's chunks, then the overflow's.
fn chunk_count(colouring: &Colouring) -> usize {
    let starts = colouring.starts();
    let colours: usize = starts
        .windows(2)
        .map(|w| (w[1] - w[0]).div_ceil(CHUNK))
        .sum();
    let overflow = colouring.order().len() - starts.last().copied().unwrap_or(0);
    colours + overflow.div_ceil(CHUNK)
}
