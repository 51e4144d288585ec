//! A unit of the sweep: the contacts inside one slab, or between two, packed into lanes.
//!
//! Contacts come in [`Member`]s: a contact of balls, or up to four contacts of one pair of bodies.
//! Members of one kind are coloured, greedily and in their order, so that those of one colour share
//! no body which impulses move; eight of a colour fill the lanes of a group. Interactions of other laws follow one by one
//! ([`super::general`]). Bodies with more members than there
//! are colours (a drum, a plate) go on in another round of colours.

use super::acceleration::{Stride, SweepSums};
use super::ball_lanes::{BallLanes, BallMass};
use super::general::{General, Generals};
use super::manifold_lanes::{PairLanes, PointLanes, Prepare};
use super::members::{GENERAL, Member};
use super::prefetch::prefetch;
use super::rows::{OneSlab, Row, Rows, TwoSlabs};
use super::sums::LaneSums;
use crate::lanes::{Dispatch, LANES, Wide};
use crate::problem::FactoredProblem;
use glam::{DMat3, DVec3};
use pulp::{Simd, WithSimd};

/// Colours of one round: bits of the set of used colours of a body.
const COLOURS: usize = 64;
/// Not yet coloured.
const LATER: u8 = u8::MAX;
/// Has its place.
const DONE: u8 = LATER - 1;
/// No contact in a lane.
const NONE: u32 = u32::MAX;

/// Groups between the one that is swept and the one that is fetched.
const AHEAD: usize = 4;

/// What is known of a group of pairs.
#[derive(Clone, Copy, Debug)]
struct Height {
    /// Points of each pair.
    points: u8,
    /// Solved in turn with the next group: they are of one colour.
    with_next: bool,
}

/// The contacts of one unit.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    pub(crate) members: Vec<Member>,
    balls: Vec<BallLanes>,
    pairs: Vec<PairLanes>,
    points: Vec<PointLanes>,
    heights: Vec<Height>,
    generals: Generals,
    /// The member of each lane of balls.
    ball_members: Vec<[u32; LANES]>,
    /// First contact of each lane of pairs.
    pair_contacts: Vec<[u32; LANES]>,
    pub(crate) sums: SweepSums,
    /// Which of the two impulses of a lane is the present one.
    now: usize,
    used: [Vec<u64>; 2],
    order: Vec<u32>,
    /// Contacts and their impulses, unpacked: first one a member, in which those that are no balls are empty.
    impulse: Vec<(u32, DVec3)>,
}

/// What a unit is packed from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) problem: &'a FactoredProblem<'a>,
    /// One entry a body.
    pub(crate) masses: &'a [BallMass],
    /// Warm start, in triples.
    pub(crate) impulse: &'a [DVec3],
    /// First triple of each interaction that is no contact.
    pub(crate) first_triples: &'a [u32],
    pub(crate) dispatch: Dispatch,
}

impl Unit {
    /// Packs the members. `rows` are the numbers of rows in the two slabs.
    pub(crate) fn pack(&mut self, source: &Source, rows: [usize; 2]) {
        self.balls.clear();
        self.pairs.clear();
        self.points.clear();
        self.heights.clear();
        self.generals.clear();
        self.ball_members.clear();
        self.pair_contacts.clear();
        let mut sizes = [0; GENERAL + 1];
        for member in &mut self.members {
            member.colour = LATER;
            sizes[member.kind()] += 1;
        }
        for (used, rows) in self.used.iter_mut().zip(rows) {
            used.resize(rows, 0);
        }
        for (kind, size) in sizes.into_iter().enumerate() {
            if size > 0 && kind != GENERAL {
                self.pack_kind(source, kind);
            }
        }
        if sizes[GENERAL] > 0 {
            self.pack_generals(source);
        }
    }

    /// Packs the members that are no contacts, in their order.
    fn pack_generals(&mut self, source: &Source) {
        let problem = source.problem;
        for member in self.members.iter().filter(|member| member.general) {
            let index = member.contact as usize - problem.contacts.len();
            let other = &problem.interactions[index];
            let masses = other.bodies.map(|j| &problem.inverse_mass[j as usize]);
            let mut general = General::new(source.first_triples[index], other, masses);
            general.restart(source.impulse);
            self.generals.add(general, member.places);
        }
    }

    /// Packs the members of one kind.
    fn pack_kind(&mut self, source: &Source, kind: usize) {
        loop {
            let sizes = self.colour(kind);
            let colours = sizes.iter().take_while(|size| **size > 0).count();
            // Places in the order of colours, each colour filled up to whole groups.
            let mut next = [0; COLOURS];
            let mut end = 0;
            for (colour, size) in sizes[..colours].iter().enumerate() {
                next[colour] = end;
                end += size.next_multiple_of(LANES);
            }
            self.order.clear();
            self.order.resize(end, NONE);
            let mut left = false;
            for (index, member) in self.members.iter_mut().enumerate() {
                if member.kind() != kind || member.colour == DONE {
                    continue;
                }
                if member.colour == LATER {
                    left = true;
                    continue;
                }
                let place = &mut next[member.colour as usize];
                self.order[*place] = index as u32;
                *place += 1;
                member.colour = DONE;
            }
            let mut group = 0;
            for size in &sizes[..colours] {
                let last = group + size.div_ceil(LANES);
                let first = group;
                while group < last {
                    let with_next = (group - first).is_multiple_of(2) && group + 1 < last;
                    self.fill(source, group, with_next);
                    group += 1;
                }
            }
            if !left {
                return;
            }
        }
    }

    /// Colours the members of a kind that have no place yet; the sizes of the colours.
    fn colour(&mut self, kind: usize) -> [usize; COLOURS] {
        let mut sizes = [0; COLOURS];
        for used in &mut self.used {
            used.fill(0);
        }
        for member in &mut self.members {
            if member.colour == DONE || member.kind() != kind {
                continue;
            }
            let places = member
                .places
                .map(|place| (place.is_free(), place.slab_and_row()));
            let mut taken = 0;
            for (free, (slab, row)) in places {
                taken |= if free { self.used[slab][row] } else { 0 };
            }
            let colour = (!taken).trailing_zeros() as usize;
            if colour == COLOURS {
                continue;
            }
            for (free, (slab, row)) in places {
                if free {
                    self.used[slab][row] |= 1 << colour;
                }
            }
            member.colour = colour as u8;
            sizes[colour] += 1;
        }
        sizes
    }

    /// Appends one group of the order, which starts from the impulses of the source.
    fn fill(&mut self, source: &Source, group: usize, with_next: bool) {
        let Source {
            problem,
            masses,
            impulse,
            dispatch,
            ..
        } = source;
        let mut sources = [NONE; LANES];
        let lanes = &self.order[group * LANES..(group + 1) * LANES];
        let Some(first) = self.members.get(lanes[0] as usize) else {
            return;
        };
        let height = first.points as usize;
        if first.ball {
            self.balls.push(BallLanes::default());
            let Some(balls) = self.balls.last_mut() else {
                return;
            };
            // The contacts of a colour lie far apart.
            let ahead = (group + 1) * LANES..(group + 2) * LANES;
            for index in self.order.get(ahead).unwrap_or(&[]) {
                if let Some(member) = self.members.get(*index as usize) {
                    prefetch(&problem.contacts[member.contact as usize]);
                }
            }
            for (lane, index) in lanes.iter().enumerate() {
                let Some(member) = self.members.get(*index as usize) else {
                    continue;
                };
                let index = member.contact as usize;
                let contact = &problem.contacts[index];
                let masses = contact.bodies.map(|j| masses[j as usize]);
                balls.set(lane, contact, masses, member.places);
                balls.restart(lane, contact, impulse[index]);
            }
            sources.copy_from_slice(lanes);
            self.ball_members.push(sources);
            return;
        }
        let mut pairs = PairLanes::default();
        let begin = self.points.len();
        self.points.resize_with(begin + height, PointLanes::empty);
        let points = &mut self.points[begin..];
        for (lane, index) in lanes.iter().enumerate() {
            let Some(member) = self.members.get(*index as usize) else {
                continue;
            };
            let contacts = &problem.contacts[member.contact as usize..][..height];
            pairs.set(lane, problem, &contacts[0], member.places);
            for (point, contact) in points.iter_mut().zip(contacts) {
                point.set(lane, contact);
            }
            sources[lane] = member.contact;
        }
        dispatch.run(Prepare {
            pairs: &pairs,
            points: &mut *points,
        });
        for (lane, source) in sources.iter().enumerate().filter(|(_, s)| **s != NONE) {
            let own = *source as usize..;
            let contacts = problem.contacts[own.clone()].iter().zip(&impulse[own]);
            for (point, (contact, r)) in points.iter_mut().zip(contacts) {
                point.restart(lane, contact, *r);
            }
        }
        self.pairs.push(pairs);
        self.heights.push(Height {
            points: height as u8,
            with_next,
        });
        self.pair_contacts.push(sources);
    }

    /// Starts from `impulse`, in triples of the problem.
    pub(crate) fn restart(&mut self, problem: &FactoredProblem, impulse: &[DVec3]) {
        self.generals.restart(impulse);
        let at = |contact: u32| {
            (
                &problem.contacts[contact as usize],
                impulse[contact as usize],
            )
        };
        for (balls, members) in self.balls.iter_mut().zip(&self.ball_members) {
            for (lane, member) in members.iter().enumerate().filter(|(_, m)| **m != NONE) {
                let (contact, r) = at(self.members[*member as usize].contact);
                balls.restart(lane, contact, r);
            }
        }
        let mut points = &mut self.points[..];
        for (height, sources) in self.heights.iter().zip(&self.pair_contacts) {
            let (own, rest) = points.split_at_mut(height.points as usize);
            points = rest;
            for (lane, source) in sources.iter().enumerate().filter(|(_, s)| **s != NONE) {
                for (contact, point) in (*source..).zip(&mut *own) {
                    let (contact, r) = at(contact);
                    point.restart(lane, contact, r);
                }
            }
        }
    }

    /// Writes the impulses of all lanes to a list of its own, in contact frames.
    pub(crate) fn unpack(&mut self, problem: &FactoredProblem) {
        let contacts = problem.contacts;
        let impulse = &mut self.impulse;
        impulse.clear();
        impulse.resize(self.members.len(), (NONE, DVec3::ZERO));
        for (balls, members) in self.balls.iter().zip(&self.ball_members) {
            for (lane, member) in members.iter().enumerate().filter(|(_, m)| **m != NONE) {
                impulse[*member as usize].1 = balls.impulse(lane, self.now);
            }
        }
        // Contacts are read in their order, which colours jump about in.
        let balls = self.members.iter().zip(&mut *impulse).enumerate();
        for (place, (member, (contact, r))) in balls.filter(|(_, (member, _))| member.ball) {
            let next = self.members.get(place + LANES);
            if let Some(next) = next.and_then(|next| contacts.get(next.contact as usize)) {
                prefetch(&next.frame);
            }
            *contact = member.contact;
            *r = in_frame(&contacts[member.contact as usize].frame, *r);
        }
        let mut points = &self.points[..];
        for (height, sources) in self.heights.iter().zip(&self.pair_contacts) {
            let (own, rest) = points.split_at(height.points as usize);
            points = rest;
            for (lane, source) in sources.iter().enumerate().filter(|(_, s)| **s != NONE) {
                for (source, point) in (*source..).zip(own) {
                    let r = point.impulse(lane, self.now, &contacts[source as usize]);
                    impulse.push((source, r));
                }
            }
        }
        impulse.extend(self.generals.impulses());
    }

    /// Copies what was unpacked to the impulses of the problem.
    pub(crate) fn give(&self, impulse: &mut [DVec3]) {
        let filled = self.impulse.iter().filter(|(contact, _)| *contact != NONE);
        for (contact, r) in filled {
            impulse[*contact as usize] = *r;
        }
    }

    /// Adds the impulses of all lanes to the twists of their bodies.
    pub(crate) fn push(&self, slabs: Slabs, dispatch: Dispatch) {
        let unit = self;
        match slabs {
            Slabs::One(rows) => dispatch.run(Push {
                unit,
                rows: OneSlab(rows),
            }),
            Slabs::Two(rows) => dispatch.run(Push {
                unit,
                rows: TwoSlabs(rows),
            }),
        }
    }

    /// One sweep over the unit, on the rows of its slabs. `far`: the lanes are not in the caches.
    pub(crate) fn sweep(&mut self, slabs: Slabs, stride: Stride, far: bool, dispatch: Dispatch) {
        let unit = self;
        match slabs {
            Slabs::One(rows) => dispatch.run(Sweep {
                unit,
                rows: OneSlab(rows),
                stride,
                far,
            }),
            Slabs::Two(rows) => dispatch.run(Sweep {
                unit,
                rows: TwoSlabs(rows),
                stride,
                far,
            }),
        }
    }
}

/// An impulse of the inertial frame in a contact frame; none stays none, without signs of zeros.
fn in_frame(frame: &DMat3, p: DVec3) -> DVec3 {
    if p == DVec3::ZERO {
        DVec3::ZERO
    } else {
        frame.transpose() * p
    }
}

/// The rows of the slabs of a unit.
pub(crate) enum Slabs<'a> {
    /// Of the one that it is the inside of.
    One(&'a mut [Row]),
    /// Of the two that it lies between.
    Two([&'a mut [Row]; 2]),
}

/// The work of [`Unit::sweep`], compiled for each instruction set.
struct Sweep<'a, R> {
    unit: &'a mut Unit,
    rows: R,
    stride: Stride,
    far: bool,
}

impl<R: Rows> WithSimd for Sweep<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let beta = Wide::splat(simd, self.stride.beta);
        let stride = [beta, Wide::splat(simd, self.stride.normal)];
        let mut sums = LaneSums::default();
        let simd = (simd, self.unit.now);
        let balls = &mut self.unit.balls[..];
        for group in 0..balls.len() {
            if let (true, Some(next)) = (self.far, balls.get(group + AHEAD)) {
                prefetch(next);
            }
            balls[group].relax(simd, &mut self.rows, stride, &mut sums);
        }
        let mut points = &mut self.unit.points[..];
        let mut groups = self.unit.pairs.iter().zip(&self.unit.heights);
        while let Some((pairs, height)) = groups.next() {
            let (own, rest) = points.split_at_mut(height.points as usize);
            points = rest;
            let next = if height.with_next {
                groups.next()
            } else {
                None
            };
            if let Some((second, height)) = next {
                let (other, rest) = points.split_at_mut(height.points as usize);
                points = rest;
                let both = [pairs, second];
                PairLanes::relax_two(both, simd, [own, other], &mut self.rows, stride, &mut sums);
            } else {
                pairs.relax(simd, own, &mut self.rows, stride, &mut sums);
            }
        }
        self.unit.sums = sums.total();
        let others = self.unit.generals.sweep(&mut self.rows, self.stride);
        self.unit.sums.add(&others);
        self.unit.now = 1 - self.unit.now;
    }
}

/// The work of [`Unit::push`].
struct Push<'a, R> {
    unit: &'a Unit,
    rows: R,
}

impl<R: Rows> WithSimd for Push<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let simd = (simd, self.unit.now);
        for balls in &self.unit.balls {
            balls.push_all(simd, &mut self.rows);
        }
        let mut points = &self.unit.points[..];
        for (pairs, height) in self.unit.pairs.iter().zip(&self.unit.heights) {
            let (own, rest) = points.split_at(height.points as usize);
            points = rest;
            pairs.push_all(simd, own, &mut self.rows);
        }
        self.unit.generals.push(&mut self.rows);
    }
}
