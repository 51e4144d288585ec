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

use crate::local::one_contact::OneContact;
use crate::problem::{Contact, FactoredProblem, InverseMass, WorldTwist};
use crate::sweep::acceleration::{CHECK_EVERY, Relaxation, SweepSums};
use crate::sweep::colouring::Colouring;
use crate::sweep::options::{Schedule, SweepOptions};
use crate::{Residual, natural_map};
use glam::{DMat3, DVec3};
use rayon::prelude::*;

mod classical;

/// Contacts per unit of parallel work and per partial sum.
const CHUNK: usize = 256;
/// Marks a relay source that is an index into the body array.
const FROM_BODY: u32 = 1 << 31;

/// One contact as the sweep reads it.
#[derive(Clone, Copy, Debug)]
struct Packed {
    bodies: [u32; 2],
    /// Where the twists of A and B are written: the bodies, or a spare entry behind the last one
    /// for fixed bodies, so that the contacts of the ground do not wait for each other's stores.
    targets: [u32; 2],
    /// Where the relay reads the twists of A and B.
    source: [u32; 2],
    /// `n, t₁', t₂'`: principal tangents.
    axes: [DVec3; 3],
    /// `ρ_A`, `ρ_B`; for balls `(a, 0, 0)` and `(b, 0, 0)` with `ρ = a n`, `ρ = b n`.
    arms: [DVec3; 2],
    balls: bool,
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

/// Relative size below which the geometry of a ball is off by rounding only.
const BALL: f64 = 1e-14;

/// True if the contact sees the body as a ball: arm along the normal, isotropic inertia. A fixed
/// body that does not turn is a ball of radius zero, wherever its centre is.
fn is_ball(contact: &Contact, side: usize, mass: &InverseMass, twist: &WorldTwist) -> bool {
    if mass.is_fixed() && twist.angular == DVec3::ZERO {
        return true;
    }
    let (arm, normal) = (contact.arms[side], contact.frame.x_axis);
    let inertia = mass.angular.x_axis.x;
    let deviation = mass.angular - DMat3::from_diagonal(DVec3::splat(inertia));
    let entries = deviation.abs().to_cols_array();
    entries.iter().all(|d| *d <= BALL * inertia)
        && arm.cross(normal).length() <= BALL * arm.length()
}

/// Impulses of one contact, principal basis: current `x` and previous `x_prev`; and `α`.
#[derive(Clone, Copy, Debug, Default)]
struct Iterate {
    now: DVec3,
    before: DVec3,
    /// Slip multiplier of the last solve in which the contact slid.
    alpha: f64,
}

impl Packed {
    fn new(contact: &Contact, problem: &FactoredProblem) -> Self {
        let masses = problem.inverse_mass;
        let [a, b] = contact.bodies.map(|j| &masses[j as usize]);
        let block = contact.local_block(a, b);
        let local = OneContact::new(&block);
        let [c, s] = local.rotation();
        let balls = [(0, a), (1, b)].into_iter().all(|(side, mass)| {
            let body = contact.bodies[side] as usize;
            is_ball(contact, side, mass, &problem.free_twist[body])
        });
        let arms = if balls {
            contact
                .arms
                .map(|arm| DVec3::X * arm.dot(contact.frame.x_axis))
        } else {
            contact.arms
        };
        let (t1, t2) = (contact.frame.y_axis, contact.frame.z_axis);
        Self {
            bodies: contact.bodies,
            targets: contact.bodies.map(|j| {
                if masses[j as usize].is_fixed() {
                    masses.len() as u32
                } else {
                    j
                }
            }),
            source: [0; 2],
            axes: [contact.frame.x_axis, t1 * c + t2 * s, t2 * c - t1 * s],
            arms,
            balls,
            offset: local.to_principal(contact.offset),
            friction: contact.friction,
            lambda: (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0,
            local,
        }
    }

    /// The kernel: solves this contact with all others frozen. Pure. Inlined, so that the twists
    /// travel in registers: a call passes them through memory in pieces that do not forward.
    #[inline(always)]
    fn relax(
        &self,
        twists: [&WorldTwist; 2],
        masses: [&PackedMass; 2],
        iterate: &mut Iterate,
        beta: f64,
        sums: &mut SweepSums,
    ) -> [WorldTwist; 2] {
        let solve = |relative| self.relax_impulse(relative, iterate, beta, sums);
        self.push(twists, masses, solve)
    }

    /// The twists after the change of impulse (principal basis) that `solve` makes of the relative
    /// velocity of the contact points (inertial frame).
    #[inline(always)]
    fn push(
        &self,
        twists: [&WorldTwist; 2],
        masses: [&PackedMass; 2],
        solve: impl FnOnce(DVec3) -> DVec3,
    ) -> [WorldTwist; 2] {
        if self.balls {
            return self.push_balls(twists, masses, solve);
        }
        let relative = twists[0].at(self.arms[0]) - twists[1].at(self.arms[1]);
        let change = solve(relative);
        let p = self.axes[0] * change.x + self.axes[1] * change.y + self.axes[2] * change.z;
        [
            masses[0].pushed(twists[0], self.arms[0], p),
            masses[1].pushed(twists[1], self.arms[1], -p),
        ]
    }

    /// The same for two balls, or a ball and a fixed body: `ρ = a n`, so that
    /// `ω × ρ = (a ω) × n` and `ρ × p = a (n × p)`, where `n × t₁ = t₂`, `n × t₂ = −t₁`.
    #[inline(always)]
    fn push_balls(
        &self,
        twists: [&WorldTwist; 2],
        masses: [&PackedMass; 2],
        solve: impl FnOnce(DVec3) -> DVec3,
    ) -> [WorldTwist; 2] {
        let [n, t1, t2] = self.axes;
        let [a, b] = [self.arms[0].x, self.arms[1].x];
        let spin = twists[0].angular * a - twists[1].angular * b;
        let relative = twists[0].linear - twists[1].linear + spin.cross(n);
        let change = solve(relative);
        let p = n * change.x + t1 * change.y + t2 * change.z;
        let turn = t2 * change.y - t1 * change.z;
        [
            WorldTwist {
                linear: twists[0].linear + p * masses[0].linear,
                angular: twists[0].angular + turn * (a * masses[0].diagonal.x),
            },
            WorldTwist {
                linear: twists[1].linear - p * masses[1].linear,
                angular: twists[1].angular - turn * (b * masses[1].diagonal.x),
            },
        ]
    }

    /// Solves for the impulse, given the relative velocity of the contact points (inertial frame),
    /// and returns what it adds to the one that the twists know of (principal basis).
    #[inline(always)]
    fn relax_impulse(
        &self,
        relative: DVec3,
        iterate: &mut Iterate,
        beta: f64,
        sums: &mut SweepSums,
    ) -> DVec3 {
        let start = iterate.now + (iterate.now - iterate.before) * beta;
        let u = DVec3::from(self.axes.map(|axis| axis.dot(relative))) + self.offset;
        let q = u - self.local.apply_principal(start);
        let alpha = &mut iterate.alpha;
        let solved = self.local.solve_principal_from(q, self.friction, alpha);
        sums.add_change(self.lambda, [iterate.now, start, solved]);
        iterate.before = iterate.now;
        iterate.now = solved;
        solved - start
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
    scratch: Vec<WorldTwist>,
    schedule: Schedule,
}

/// A factored problem on its way to a solution.
pub(crate) struct TwistSweep<'a> {
    problem: &'a FactoredProblem<'a>,
    space: &'a mut TwistWorkspace,
    relay: bool,
    /// Options that the default sweep does not know.
    classical: bool,
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
        for contact in space.colouring.order() {
            let contact = &problem.contacts[*contact as usize];
            space.packed.push(Packed::new(contact, problem));
        }
        space.partial.clear();
        space
            .partial
            .resize(chunk_count(&space.colouring), SweepSums::default());
        let mut sweep = Self {
            problem,
            space,
            relay,
            classical: false,
        };
        if relay {
            sweep.link_slots();
        }
        sweep.restart(impulse);
        sweep
    }

    /// The same with the options of `options`; on one thread unless they are the default.
    pub(crate) fn with_options(mut self, options: &SweepOptions) -> Self {
        self.classical = !options.are_default();
        if self.classical {
            let contacts = self.space.packed.len();
            self.space.schedule.begin(options, contacts);
        }
        self
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
        let (twists, masses) = (&mut space.twists[..], &space.masses[..]);
        let packed = space.packed[range.clone()].chunks(CHUNK);
        let iterates = space.iterates[range].chunks_mut(CHUNK);
        for ((packed, iterates), sums) in
            packed.zip(iterates).zip(&mut space.partial[first_chunk..])
        {
            let mut sum = SweepSums::default();
            for (contact, iterate) in packed.iter().zip(iterates) {
                let [a, b] = contact.bodies.map(|j| j as usize);
                let [new_a, new_b] = contact.relax(
                    [&twists[a], &twists[b]],
                    [&masses[a], &masses[b]],
                    iterate,
                    beta,
                    &mut sum,
                );
                let [a, b] = contact.targets.map(|j| j as usize);
                twists[a] = new_a;
                twists[b] = new_b;
            }
            *sums = sum;
        }
    }

    /// The contacts of one colour in parallel, twists relayed through the slots.
    fn sweep_relayed(&mut self, range: std::ops::Range<usize>, first_chunk: usize, beta: f64) {
        let space = &mut *self.space;
        let (done, rest) = space.slots.split_at_mut(2 * range.start);
        let (done, twists, masses) = (&*done, &space.twists, &space.masses);
        let read = |source: u32| {
            if source & FROM_BODY == 0 {
                &done[source as usize]
            } else {
                &twists[(source & !FROM_BODY) as usize]
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
                let mut sum = SweepSums::default();
                for ((contact, iterate), slot) in
                    packed.iter().zip(iterates).zip(slots.chunks_mut(2))
                {
                    let now = contact.source.map(read);
                    let masses = contact.bodies.map(|j| &masses[j as usize]);
                    slot.copy_from_slice(&contact.relax(now, masses, iterate, beta, &mut sum));
                }
                *sums = sum;
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
}

impl Relaxation for TwistSweep<'_> {
    fn check_after(&self, _: usize) -> usize {
        CHECK_EVERY
    }

    fn is_empty(&self) -> bool {
        self.space.packed.is_empty()
    }

    fn sweep(&mut self, beta: f64) -> SweepSums {
        self.extrapolate(beta);
        if self.classical {
            return self.sweep_classically(beta);
        }
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
        self.space.schedule.thaw();
        self.unpack();
        natural_map::factored(self.problem, &self.space.impulse, &mut self.space.scratch)
    }

    fn residual_of(&mut self, impulse: &[DVec3]) -> Residual {
        natural_map::factored(self.problem, impulse, &mut self.space.scratch)
    }

    fn impulse(&self) -> &[DVec3] {
        &self.space.impulse
    }

    fn restart(&mut self, impulse: &[DVec3]) {
        let space = &mut *self.space;
        space.iterates.clear();
        for (contact, packed) in space.colouring.order().iter().zip(&space.packed) {
            let r = packed.local.to_principal(impulse[*contact as usize]);
            space.iterates.push(Iterate {
                now: r,
                before: r,
                alpha: 0.0,
            });
        }
        self.problem.twist_under(impulse, &mut space.twists);
        space.twists.push(WorldTwist::default());
        space.twists_before.clone_from(&space.twists);
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
