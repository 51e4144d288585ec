//! The locked rows of an articulation at some poses: `J`, `A = J M⁻¹ Jᵀ`, and what is off.

mod extras;

use super::articulation::Articulation;
use super::coordinates::{MOST, Placed, Row};
use super::{Jointed, Lists};
use crate::bodies::slot::Slot;
use crate::components::{JointForce, JointKind, Pose};
use extras::{Extra, Source, joined};
use glam::DVec3;
use moreau_solvers::{InverseMass, JointBlock, JointFactor, JointLink, WorldTwist};

/// An impulse on a body: N·s, and N·m·s about its centre of mass, inertial frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Push {
    pub(crate) linear: DVec3,
    pub(crate) angular: DVec3,
}

impl Push {
    /// What it changes of the velocity of a body.
    pub(crate) fn change(&self, mass: &InverseMass) -> WorldTwist {
        WorldTwist {
            linear: self.linear * mass.linear,
            angular: mass.angular * self.angular,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.linear += other.linear;
        self.angular += other.angular;
    }

    /// Of a row on one side, with this impulse along it.
    pub(super) fn along(row: &Row, side: usize, impulse: f64) -> Self {
        let of = |k: usize| DVec3::from_slice(&row[k..k + 3]) * impulse;
        Self {
            linear: of(6 * side),
            angular: of(6 * side + 3),
        }
    }
}

/// The part of a row that is of one side, times a twist.
pub(super) fn dot(row: &Row, side: usize, twist: &WorldTwist) -> f64 {
    let of = |k: usize| DVec3::from_slice(&row[k..k + 3]);
    of(6 * side).dot(twist.linear) + of(6 * side + 3).dot(twist.angular)
}

/// What a row does to B with this impulse, about the origin of its frame, which has this `arm` from the centre of mass.
pub(super) fn on_b(row: &Row, arm: DVec3, impulse: f64) -> Push {
    let push = Push::along(row, 1, impulse);
    Push {
        angular: push.angular - arm.cross(push.linear),
        ..push
    }
}

/// A locked row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locked {
    /// Place of its joint in the list, and in the articulation.
    pub(super) joint: usize,
    pub(super) place: usize,
    /// Places of its bodies in the articulation; none for those that impulses do not move.
    pub(super) bodies: [Option<usize>; 2],
    /// Bodies of given motion; [`Slot::NONE`] is the world.
    slots: [Slot; 2],
    /// From the centre of mass of B to the origin of its frame, m.
    arm: DVec3,
    pub(super) row: Row,
    /// `M⁻¹` times the row, side by side.
    scaled: [WorldTwist; 2],
    /// m or rad; of a piece of another row its part of the sum.
    pub(super) error: f64,
    /// What a turn adds to that; 0 if turns do not.
    pub(super) period: f64,
    /// Length that rounding refers to, m; 1 for rotations.
    scale: f64,
    /// Of a motor its place among those that hold.
    pub(super) motor: Option<usize>,
}

impl Locked {
    /// What it does to B with this impulse, about the origin of its frame.
    pub(super) fn on_b(&self, impulse: f64) -> Push {
        on_b(&self.row, self.arm, impulse)
    }

    /// The velocity along it, m/s or rad/s.
    fn velocity(&self, twists: &[WorldTwist], of_others: &impl Fn(Slot) -> WorldTwist) -> f64 {
        let of = |side: usize| match self.bodies[side] {
            Some(place) => dot(&self.row, side, &twists[place]),
            None if self.slots[side] == Slot::NONE => 0.0,
            None => dot(&self.row, side, &of_others(self.slots[side])),
        };
        of(0) + of(1)
    }
}

/// A joint with its bodies at some poses.
struct At {
    joint: usize,
    place: usize,
    bodies: [Option<usize>; 2],
    slots: [Slot; 2],
    placed: Placed,
}

impl At {
    fn new(
        (articulation, index, joint): (&Articulation, usize, &Jointed),
        poses: &[Pose],
        of_others: &impl Fn(Slot) -> Pose,
    ) -> Self {
        let bodies = joint.bodies.map(|slot| articulation.place(slot));
        let pose = |side: usize| match bodies[side] {
            Some(place) => poses[place],
            None => of_others(joint.bodies[side]),
        };
        Self {
            joint: index,
            place: articulation.place_of_joint(index).unwrap_or(0),
            bodies,
            slots: joint.bodies,
            placed: Placed::new(&joint.frames, [&pose(0), &pose(1)]),
        }
    }

    fn locked(&self, row: Row, (error, period): (f64, f64)) -> Locked {
        let reach = self.placed.origins.map(|origin| origin.abs().max_element());
        Locked {
            joint: self.joint,
            place: self.place,
            bodies: self.bodies,
            slots: self.slots,
            arm: self.placed.arm_of_b(),
            row,
            scaled: [WorldTwist::default(); 2],
            error,
            period,
            scale: 1.0 + reach[0].min(reach[1]),
            motor: None,
        }
    }
}

/// Locked rows and their factor.
#[derive(Debug, Default)]
pub(super) struct System {
    pub(super) rows: Vec<Locked>,
    /// Of couplers, rotors and motors.
    pub(super) extras: Vec<Extra>,
    /// One row of each joint that an extra row is made of.
    pieces: Vec<Locked>,
    links: Vec<JointLink>,
    /// What a row that is made of pieces takes of each body: a buffer.
    sides: Vec<JointLink>,
    /// The same, joint by joint.
    blocks: Vec<JointBlock>,
    factor: JointFactor,
    /// A right-hand side, joint by joint, and a solution, row by row.
    x: Vec<[f64; MOST]>,
    lambda: Vec<f64>,
    /// There is a factor: it was not too expensive.
    solvable: bool,
    /// Limits and ropes, by joint and number, that are passed, and those that are held though they are not.
    passed: Vec<(usize, usize)>,
    stopped: Vec<(usize, usize)>,
    /// Limits and ropes among the rows.
    stops: usize,
    /// Gap over length up to which they are.
    near: f64,
}

/// What is off by less than this, relative to lengths, is rounding.
const ROUNDING: f64 = 1e-14;

impl System {
    /// The rows of an articulation with its bodies at `poses`, and others where `of_others` says.
    pub(super) fn place(
        &mut self,
        (articulation, Lists { joints, couplers }): (&Articulation, Lists),
        poses: &[Pose],
        of_others: impl Fn(Slot) -> Pose,
    ) {
        self.rows.clear();
        self.extras.clear();
        self.pieces.clear();
        self.stops = 0;
        for index in &articulation.joints {
            let joint = &joints[*index];
            let at = At::new((articulation, *index, joint), poses, &of_others);
            let locks = at.placed.locks(&joint.kind, joint.turns(&at.placed));
            for (row, error) in locks.rows.iter().zip(locks.errors).take(locks.count) {
                self.rows.push(at.locked(*row, (error, 0.0)));
            }
            if let (JointKind::Screw { lead }, Some(row)) = (joint.kind, self.rows.last_mut()) {
                row.period = lead;
            }
        }
        self.place_couplers((articulation, Lists { joints, couplers }), poses, of_others);
    }

    /// All errors, rows first.
    pub(super) fn errors(&self) -> impl Iterator<Item = f64> {
        let rows = self.rows.iter().map(|row| row.error);
        rows.chain(self.extras.iter().map(|extra| extra.error))
    }

    /// The same, to be changed.
    pub(super) fn errors_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let rows = self.rows.iter_mut().map(|row| &mut row.error);
        rows.chain(self.extras.iter_mut().map(|extra| &mut extra.error))
    }

    /// Adds the limits and ropes that are passed, to be taken back to where they hold, and those of `stopped`.
    pub(super) fn hold_stops(
        &mut self,
        of: (&Articulation, Lists),
        poses: &[Pose],
        of_others: impl Fn(Slot) -> Pose,
    ) {
        let (mut passed, stopped) = (
            std::mem::take(&mut self.passed),
            std::mem::take(&mut self.stopped),
        );
        passed.clear();
        let near = self.near;
        self.stops += self.add_stops(of, poses, of_others, |stop, gap, scale| {
            let is_passed = gap < -ROUNDING * scale;
            if is_passed {
                passed.push(stop);
            }
            is_passed || gap <= near * scale && stopped.contains(&stop)
        });
        (self.passed, self.stopped) = (passed, stopped);
    }

    /// Adds some limits and ropes as if they were locked.
    pub(super) fn lock_stops(
        &mut self,
        of: (&Articulation, Lists),
        poses: &[Pose],
        of_others: impl Fn(Slot) -> Pose,
        stops: &[(usize, usize)],
    ) {
        if !stops.is_empty() {
            self.add_stops(of, poses, of_others, |stop, _, _| stops.contains(&stop));
        }
    }

    /// Adds the limits and ropes that `holds` names, given joint and number, gap and length. How many these are.
    fn add_stops(
        &mut self,
        (articulation, Lists { joints, .. }): (&Articulation, Lists),
        poses: &[Pose],
        of_others: impl Fn(Slot) -> Pose,
        mut holds: impl FnMut((usize, usize), f64, f64) -> bool,
    ) -> usize {
        let mut added = 0;
        for index in &articulation.joints {
            let joint = &joints[*index];
            let has_stops = matches!(joint.kind, JointKind::Rope { .. })
                || joint.forces.iter().any(JointForce::is_limit);
            if !has_stops {
                continue;
            }
            let at = At::new((articulation, *index, joint), poses, &of_others);
            // The rows of a joint lie together.
            let end = self.rows.partition_point(|row| row.joint <= *index);
            let begin = self.rows[..end].partition_point(|row| row.joint < *index);
            let (mut place, mut stop) = (end, 0);
            joint.stops(&at.placed, |row, gap| {
                let locked = at.locked(row, (gap, 0.0));
                if holds((*index, stop), gap, locked.scale) && place - begin < MOST {
                    self.rows.insert(place, locked);
                    added += 1;
                    place += 1;
                }
                stop += 1;
            });
        }
        added
    }

    /// Works out the factor of `A`.
    pub(super) fn factor(&mut self, masses: &[InverseMass]) {
        self.factor_damped(masses, 0.0);
    }

    /// The present rows push, without a new factor: the last one is of rows near by. False, and nothing is done, if these are not the same in number.
    pub(super) fn keep_factor(&mut self, masses: &[InverseMass]) -> bool {
        let joints = self.rows.chunk_by(|a, b| a.joint == b.joint);
        let blocks = joints.map(<[Locked]>::len);
        let blocks = blocks.chain(self.extras.iter().map(|_| 1));
        let alike = blocks.eq(self.blocks.iter().map(|block| block.count));
        if alike {
            self.scale(masses);
        }
        alike
    }

    /// `M⁻¹Jᵀ`.
    fn scale(&mut self, masses: &[InverseMass]) {
        for locked in self.rows.iter_mut().chain(&mut self.pieces) {
            for side in 0..2 {
                if let Some(place) = locked.bodies[side] {
                    let unit = Push::along(&locked.row, side, 1.0);
                    locked.scaled[side] = unit.change(&masses[place]);
                }
            }
        }
    }

    /// Works out the factor of `A + δ diag A`.
    pub(super) fn factor_damped(&mut self, masses: &[InverseMass], damping: f64) {
        self.scale(masses);
        self.blocks.clear();
        for joint in self.rows.chunk_by(|a, b| a.joint == b.joint) {
            let mut block = JointBlock {
                bodies: joint[0].bodies.map(|place| place.map(|place| place as u32)),
                count: joint.len(),
                ..JointBlock::default()
            };
            for (row, locked) in block.rows.iter_mut().zip(joint) {
                *row = locked.row;
            }
            self.blocks.push(block);
        }
        self.links.clear();
        for extra in &self.extras {
            let block = self.blocks.len() as u32;
            let pieces = &self.pieces[extra.pieces.clone()];
            self.blocks.push(joined(pieces, extra, &mut self.sides));
            let links = self.sides.iter().skip(2);
            self.links
                .extend(links.map(|link| JointLink { block, ..*link }));
        }
        if damping > 0.0 {
            for (index, block) in self.blocks.iter_mut().enumerate() {
                let links = self
                    .links
                    .iter()
                    .filter(|link| link.block as usize == index);
                damp(block, links, masses, damping);
            }
        }
        self.solvable = self
            .factor
            .factorize_linked(masses, &self.blocks, &self.links);
    }

    /// `λ = −A⁻¹ b`, `b` by row.
    fn solve(&mut self, of: impl Fn(&Locked) -> f64, of_extra: impl Fn(&Extra, &[Locked]) -> f64) {
        self.x.clear();
        for joint in self.rows.chunk_by(|a, b| a.joint == b.joint) {
            let mut x = [0.0; MOST];
            for (x, row) in x.iter_mut().zip(joint) {
                *x = -of(row);
            }
            self.x.push(x);
        }
        for extra in &self.extras {
            let mut x = [0.0; MOST];
            x[0] = -of_extra(extra, &self.pieces[extra.pieces.clone()]);
            self.x.push(x);
        }
        if self.solvable {
            self.factor.solve(&mut self.x);
        }
        self.lambda.clear();
        let none = if self.solvable { 1.0 } else { 0.0 };
        for (x, block) in self.x.iter().zip(&self.blocks) {
            self.lambda
                .extend(x[..block.count].iter().map(|x| x * none));
        }
    }

    /// Everything is closed, to rounding.
    pub(super) fn is_closed(&self) -> bool {
        let off = |row: &Locked| row.error.abs() > ROUNDING * row.scale;
        let off_extra = |extra: &Extra| extra.error.abs() > ROUNDING * extra.scale;
        !self.rows.iter().any(off) && !self.extras.iter().any(off_extra)
    }

    /// Largest error over its length.
    pub(super) fn error(&self) -> f64 {
        let errors = self.rows.iter().map(|row| row.error.abs() / row.scale);
        let extras = self.extras.iter();
        let extras = extras.map(|extra| extra.error.abs() / extra.scale);
        errors.chain(extras).fold(0.0, f64::max)
    }

    /// Some of the rows are of limits or ropes.
    pub(super) fn has_stops(&self) -> bool {
        self.stops > 0
    }

    /// No stop is held that is not passed.
    pub(super) fn free_stops(&mut self) {
        self.stopped.clear();
    }

    /// What was passed at the last places is held from now on where it is as near as this, over its length, passed or not. True if there is something new.
    pub(super) fn keep_stops(&mut self, near: f64) -> bool {
        let (passed, stopped) = (&self.passed, &mut self.stopped);
        let before = stopped.len();
        for stop in passed {
            if !stopped.contains(stop) {
                stopped.push(*stop);
            }
        }
        self.near = near;
        stopped.len() > before
    }

    /// Root of the sum of the squares of the errors over their lengths.
    pub(super) fn errors_all(&self) -> f64 {
        let errors = self.rows.iter().map(|row| row.error / row.scale);
        let extras = self.extras.iter().map(|extra| extra.error / extra.scale);
        let squares = errors.chain(extras).map(|error| error * error);
        squares.sum::<f64>().sqrt()
    }

    /// `λ = −A⁻¹ e`, e the errors.
    pub(super) fn against_errors(&mut self) {
        self.solve(|row| row.error, |extra, _| extra.error);
    }

    /// `λ = −A⁻¹ J v`. Bodies of given motion move as `of_others` says.
    pub(super) fn against_velocities(
        &mut self,
        twists: &[WorldTwist],
        of_others: impl Fn(Slot) -> WorldTwist,
    ) {
        self.solve(
            |row| row.velocity(twists, &of_others),
            |extra, pieces| {
                let pieces = pieces.iter();
                let sum: f64 = pieces.map(|piece| piece.velocity(twists, &of_others)).sum();
                sum - extra.speed()
            },
        );
    }

    /// Largest velocity along a row, m/s or rad/s.
    pub(super) fn velocity(
        &self,
        twists: &[WorldTwist],
        of_others: impl Fn(Slot) -> WorldTwist,
    ) -> f64 {
        let velocities = self.rows.iter();
        let velocities = velocities.map(|row| row.velocity(twists, &of_others).abs());
        let extras = self.extras.iter().map(|extra| {
            let pieces = self.pieces[extra.pieces.clone()].iter();
            let sum: f64 = pieces.map(|piece| piece.velocity(twists, &of_others)).sum();
            (sum - extra.speed()).abs()
        });
        velocities.chain(extras).fold(0.0, f64::max)
    }

    /// Root of the sum of the squares of what velocities open in a time, over lengths.
    pub(super) fn opened(
        &self,
        twists: &[WorldTwist],
        of_others: impl Fn(Slot) -> WorldTwist,
        time: f64,
    ) -> f64 {
        let opened = |row: &Locked| time * row.velocity(twists, &of_others) / row.scale;
        let squares = self.rows.iter().map(|row| opened(row).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// The same of what turns open to second order, of which velocities along the rows know nothing.
    pub(super) fn opened_by_turns(&self, twists: &[WorldTwist], time: f64) -> f64 {
        let of_side = |row: &Locked, side: usize| {
            let place = row.bodies[side]?;
            let arm = DVec3::from_slice(&row.row[6 * side + 3..6 * side + 6]).length();
            Some(0.5 * time * time * twists[place].angular.length_squared() * arm)
        };
        let opened = |row: &Locked| {
            let sides = (0..2).filter_map(|side| of_side(row, side));
            sides.sum::<f64>() / row.scale
        };
        let squares = self.rows.iter().map(|row| opened(row).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Largest velocity along a row, m/s or rad/s, but for rows on bodies of given motion that `leave_out` names.
    pub(super) fn velocity_apart_from(
        &self,
        twists: &[WorldTwist],
        of_others: impl Fn(Slot) -> WorldTwist,
        leave_out: impl Fn(Slot) -> bool,
    ) -> f64 {
        let counts = |row: &Locked| {
            let sides = row.bodies.iter().zip(&row.slots);
            let mut others = sides.filter(|(place, slot)| place.is_none() && **slot != Slot::NONE);
            !others.any(|(_, slot)| leave_out(*slot))
        };
        let rows = self.rows.iter().filter(|row| counts(row));
        let velocities = rows.map(|row| row.velocity(twists, &of_others).abs());
        let extras = self.extras.iter().filter_map(|extra| {
            let pieces = &self.pieces[extra.pieces.clone()];
            let all = pieces.iter().all(counts);
            let sum = || {
                pieces
                    .iter()
                    .map(|piece| piece.velocity(twists, &of_others))
                    .sum::<f64>()
            };
            all.then(|| (sum() - extra.speed()).abs())
        });
        velocities.chain(extras).fold(0.0, f64::max)
    }

    /// What the last solution changes of the velocities of the bodies and rotors; `pushed` is told of each impulse, `coupled` of those of couplers.
    pub(super) fn apply(
        &mut self,
        twists: &mut [WorldTwist],
        mut pushed: impl FnMut(&Locked, f64),
        mut coupled: impl FnMut(usize, f64),
    ) {
        let own = self.rows.iter().zip(&self.lambda);
        let extras = self.extras.iter().zip(&self.lambda[self.rows.len()..]);
        let extras = extras.flat_map(|(extra, impulse)| {
            let pieces = self.pieces[extra.pieces.clone()].iter();
            pieces.map(move |piece| (piece, impulse))
        });
        for (locked, impulse) in own.chain(extras) {
            let impulse = *impulse;
            for side in 0..2 {
                if let Some(place) = locked.bodies[side] {
                    twists[place].linear += locked.scaled[side].linear * impulse;
                    twists[place].angular += locked.scaled[side].angular * impulse;
                }
            }
            pushed(locked, impulse);
        }
        let extras = self.extras.iter_mut();
        for (extra, impulse) in extras.zip(&self.lambda[self.rows.len()..]) {
            match &mut extra.source {
                Source::Coupler(index) => coupled(*index, *impulse),
                Source::Rotor { inertia, speed } => *speed -= impulse / *inertia,
                Source::Motor { .. } => {}
            }
        }
    }
}

/// Adds a part of the diagonal of `A` to the compliances of a block.
fn damp<'l>(
    block: &mut JointBlock,
    links: impl Iterator<Item = &'l JointLink>,
    masses: &[InverseMass],
    damping: f64,
) {
    let square = |row: &[f64], body: u32| {
        let mass = &masses[body as usize];
        let (linear, angular) = (DVec3::from_slice(row), DVec3::from_slice(&row[3..]));
        linear.length_squared() * mass.linear + angular.dot(mass.angular * angular)
    };
    let linked: f64 = links.map(|link| square(&link.row, link.body)).sum();
    for k in 0..block.count {
        let row = &block.rows[k];
        let sides = block.bodies.iter().zip([&row[..6], &row[6..]]);
        let own: f64 = sides
            .filter_map(|(body, row)| Some(square(row, (*body)?)))
            .sum();
        let linked = if k == 0 { linked } else { 0.0 };
        block.compliance[k] += damping * (own + linked);
    }
}
