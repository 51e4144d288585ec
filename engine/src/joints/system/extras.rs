//! Rows beside those of joints: of couplers, which act on several joints, of rotors that move with a coordinate, and of motors that hold its rate.

use super::{At, Locked, System};
use crate::bodies::slot::Slot;
use crate::components::{JointAxis, Pose};
use crate::joints::articulation::Articulation;
use crate::joints::coordinates::{Row, turning};
use crate::joints::coupled::Coupled;
use crate::joints::drift::NEARLY;
use crate::joints::held::Held;
use crate::joints::{Jointed, Lists};
use moreau_solvers::{JointBlock, JointLink, WorldTwist};
use std::f64::consts::TAU;
use std::ops::Range;

/// What a row beside those of joints is of.
#[derive(Clone, Copy, Debug)]
pub(in crate::joints) enum Source {
    /// A coupler, by its place in the articulation.
    Coupler(usize),
    /// A rotor of this inertia that has this speed, kg·m² and rad/s, or kg and m/s.
    Rotor { inertia: f64, speed: f64 },
    /// A motor that holds this rate, m/s or rad/s.
    Motor { rate: f64 },
}

/// A row beside those of joints: the sum of its pieces, each at one joint.
#[derive(Clone, Debug)]
pub(in crate::joints) struct Extra {
    pub(super) pieces: Range<usize>,
    /// m or rad; of a rotor or a motor its coordinate.
    pub(in crate::joints) error: f64,
    /// What rounding refers to.
    pub(super) scale: f64,
    pub(in crate::joints) source: Source,
}

impl Extra {
    /// What its velocity is to be.
    pub(super) fn speed(&self) -> f64 {
        match self.source {
            Source::Coupler(_) => 0.0,
            Source::Rotor { speed, .. } => speed,
            Source::Motor { rate } => rate,
        }
    }
}

impl System {
    /// Adds the couplers of an articulation.
    pub(super) fn place_couplers(
        &mut self,
        (articulation, Lists { joints, couplers }): (&Articulation, Lists),
        poses: &[Pose],
        of_others: impl Fn(Slot) -> Pose,
    ) {
        for (place, index) in articulation.couplers.iter().enumerate() {
            let coupler: &Coupled = &couplers[*index];
            let begin = self.pieces.len();
            let (mut error, mut scale) = (-coupler.offset, 1.0 + coupler.offset.abs());
            for term in &coupler.terms {
                let joint = &joints[term.joint];
                let at = At::new((articulation, term.joint, joint), poses, &of_others);
                let (part, row) = term.part(joint, &at.placed);
                let piece = at.locked(row, (part, term.period()));
                error += part;
                scale += part.abs() + piece.scale;
                self.pieces.push(piece);
            }
            self.extras.push(Extra {
                pieces: begin..self.pieces.len(),
                error,
                scale,
                source: Source::Coupler(place),
            });
        }
    }

    /// Adds the rotors of an articulation, at rest: their speeds are still to be told.
    pub(in crate::joints) fn place_rotors(
        &mut self,
        (articulation, Lists { joints, .. }): (&Articulation, Lists),
        poses: &[Pose],
        of_others: impl Fn(Slot) -> Pose,
    ) {
        for index in &articulation.joints {
            let joint = &joints[*index];
            for (force, inertia) in joint.rotors() {
                let at = At::new((articulation, *index, joint), poses, &of_others);
                let source = Source::Rotor {
                    inertia,
                    speed: 0.0,
                };
                self.place_coordinate((&at, joint), force, source);
            }
        }
    }

    /// Adds motors and friction of an articulation that hold their rates.
    pub(in crate::joints) fn place_motors(
        &mut self,
        (articulation, Lists { joints, .. }): (&Articulation, Lists),
        poses: &[Pose],
        of_others: impl Fn(Slot) -> Pose,
        held: &[Held],
    ) {
        for (place, motor) in held.iter().enumerate() {
            let joint = &joints[motor.joint];
            let at = At::new((articulation, motor.joint, joint), poses, &of_others);
            let source = Source::Motor { rate: motor.rate };
            match motor.about {
                Some((axis, before)) => {
                    let turned = at.placed.turned_since(before)[axis];
                    self.place_row(&at, (turned, turning(axis)), 0.0, source);
                }
                None => self.place_coordinate((&at, joint), motor.force, source),
            }
            if let Some(piece) = self.pieces.last_mut() {
                piece.motor = Some(place);
            }
        }
    }

    /// Adds the row of the coordinate that a force of a joint acts along.
    fn place_coordinate(&mut self, (at, joint): (&At, &Jointed), force: usize, source: Source) {
        let axis = joint.forces[force].axis();
        let is_angle = axis.is_some_and(JointAxis::is_rotation);
        let period = if is_angle { TAU } else { 0.0 };
        self.place_row(at, joint.coordinate(force, &at.placed), period, source);
    }

    fn place_row(&mut self, at: &At, (value, row): (f64, Row), period: f64, source: Source) {
        let begin = self.pieces.len();
        let piece = at.locked(row, (value, period));
        self.extras.push(Extra {
            pieces: begin..begin + 1,
            error: value,
            scale: piece.scale + value.abs(),
            source,
        });
        self.pieces.push(piece);
    }

    /// What the last rows, those of motors, are off from where these are with `left` (s) of the step to come; rounding is nothing.
    pub(in crate::joints) fn aim_motors(&mut self, held: &[Held], left: f64) {
        let first = self.extras.len() - held.len();
        for (extra, motor) in self.extras[first..].iter_mut().zip(held) {
            let period = self.pieces[extra.pieces.start].period;
            let mut off = extra.error - (motor.end - motor.rate * left);
            if period > 0.0 {
                off -= (off / period).round() * period;
            }
            extra.error = if off.abs() <= NEARLY * extra.scale {
                0.0
            } else {
                off
            };
        }
    }

    /// The rotors turn as their coordinates do.
    pub(in crate::joints) fn start_rotors(
        &mut self,
        twists: &[WorldTwist],
        of_others: impl Fn(Slot) -> WorldTwist,
    ) {
        for extra in &mut self.extras {
            if let Source::Rotor { speed, .. } = &mut extra.source {
                let pieces = self.pieces[extra.pieces.clone()].iter();
                *speed = pieces.map(|piece| piece.velocity(twists, &of_others)).sum();
            }
        }
    }

    pub(in crate::joints) fn has_rotors(&self) -> bool {
        let mut extras = self.extras.iter();
        extras.any(|extra| matches!(extra.source, Source::Rotor { .. }))
    }

    /// Counts turns: those that lead on from `before` in a time `h` with these velocities. Rows of screws stay as closed as they were.
    pub(in crate::joints) fn follow(
        &mut self,
        before: &Self,
        (twists, h): (&[WorldTwist], f64),
        of_others: impl Fn(Slot) -> WorldTwist,
    ) {
        let turns = |own: &Locked, expected: f64| {
            let off = (expected - own.error) / own.period;
            if own.period == 0.0 || !off.is_finite() {
                return 0.0;
            }
            off.round() * own.period
        };
        for (row, before) in self.rows.iter_mut().zip(&before.rows) {
            row.error += turns(row, before.error);
        }
        for extra in &mut self.extras {
            for k in extra.pieces.clone() {
                let (own, before) = (&mut self.pieces[k], &before.pieces[k]);
                let expected = before.error + h * before.velocity(twists, &of_others);
                let by = turns(own, expected);
                own.error += by;
                extra.error += by;
            }
        }
    }

    /// The rotors turn for a time `h`, at the speeds that those of `system` have: their errors are what their coordinates turned beyond that.
    pub(in crate::joints) fn turn_rotors(&mut self, system: &Self, h: f64) {
        for (extra, own) in self.extras.iter_mut().zip(&system.extras) {
            extra.error -= h * own.speed();
        }
    }

    /// Speeds of the rotors.
    pub(in crate::joints) fn rotors(&self) -> impl Iterator<Item = f64> {
        self.extras.iter().filter_map(|extra| match extra.source {
            Source::Rotor { speed, .. } => Some(speed),
            Source::Coupler(_) | Source::Motor { .. } => None,
        })
    }

    /// Sets them.
    pub(in crate::joints) fn set_rotors(&mut self, speeds: &[f64]) {
        let mut speeds = speeds.iter();
        for extra in &mut self.extras {
            if let Source::Rotor { speed, .. } = &mut extra.source {
                *speed = speeds.next().copied().unwrap_or(*speed);
            }
        }
    }

    /// Their kinetic energy, J.
    pub(in crate::joints) fn energy_of_rotors(&self) -> f64 {
        let energies = self.extras.iter().map(|extra| match extra.source {
            Source::Rotor { inertia, speed } => 0.5 * inertia * speed * speed,
            Source::Coupler(_) | Source::Motor { .. } => 0.0,
        });
        energies.sum()
    }
}

/// The block of a row that is made of pieces. What they take of each body is in `sides`, of which the block has the first two.
pub(super) fn joined(pieces: &[Locked], extra: &Extra, sides: &mut Vec<JointLink>) -> JointBlock {
    sides.clear();
    for piece in pieces {
        for (side, body) in piece.bodies.into_iter().enumerate() {
            let Some(body) = body.map(|place| place as u32) else {
                continue;
            };
            let row = &piece.row[6 * side..6 * side + 6];
            let known = sides.iter().position(|known| known.body == body);
            let known = known.unwrap_or_else(|| {
                sides.push(JointLink {
                    body,
                    ..JointLink::default()
                });
                sides.len() - 1
            });
            for (sum, entry) in sides[known].row.iter_mut().zip(row) {
                *sum += entry;
            }
        }
    }
    let mut block = JointBlock {
        count: 1,
        ..JointBlock::default()
    };
    for (side, of) in sides.iter().take(2).enumerate() {
        block.bodies[side] = Some(of.body);
        block.rows[0][6 * side..6 * side + 6].copy_from_slice(&of.row);
    }
    if let Source::Rotor { inertia, .. } = extra.source {
        block.compliance[0] = 1.0 / inertia;
    }
    block
}
