//! The rows of the joints in the problem of a step, at the poses of `t_k`.
//!
//! ```text
//! locked       J v = 0                                                                  equality; with a compliance where it gives way (`reach.rs`)
//! spring       r = −h (k (x_k + h ū/2 − x*) + c ū),  ū = (u_k + u)/2                    equality with a compliance; ū → u and h/2 → h if stiff
//! motor        r = −h (k_p (x_k + h u − x*) + k_d (u − ẋ*)),   |r| ≤ h f                interval with a compliance
//! friction     |r| ≤ h f,   u = 0 or r against u                                        interval
//! ball         ‖r‖ ≤ h f,   u = 0 or r against u, of the three rotations together  ball
//! applied      r = h f                                                                  interval of this one value
//! rotor        r = −I (u − u_k)                                                         equality with a compliance
//! coupler      Σ ratio J v = 0                                                          equality, over the bodies of its joints
//! limit, rope  0 ≤ u + s ⊥ r ≥ 0,   s = max(gap, 0)/h, or e u_k for an impact;           complementarity
//!              as it opens, s ≥ e u_k with the largest e of the impacts of its island
//! ```
//!
//! Velocities are of B against A; those of limits and ropes are those at which their gap opens.

mod stops;

use super::carried::is_stiff;
use super::coordinates::{MOST, Row, turning};
use super::system::dot;
use super::{Jointed, Joints};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{JointAxis, JointForce, JointId, JointKind};
use crate::motion::Motion;
use crate::settings::Settings;
use glam::DVec3;
use moreau_solvers::{Interaction, Law, WorldTwist};
use serde::{Deserialize, Serialize};

/// What an interaction is of its joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Part {
    Locks,
    Rope,
    /// Of its forces; of a limit the lower end.
    Force(usize),
    /// The upper end of a limit.
    High(usize),
    /// A force on the three rotations together.
    Ball(usize),
    /// A rotor, of the forces.
    Rotor(usize),
    /// Its part of a coupler, by the place in the list of these.
    Coupled(usize),
}

/// One of the rows of a force of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Along {
    /// Its place among the forces.
    pub(super) force: usize,
    /// Which of its rows.
    pub(super) row: usize,
}

/// The impulses of an interaction in the last step.
pub(crate) type Kept = (JointId, Part, [f64; MOST]);

/// A limit that is struck with restitution.
#[derive(Clone, Copy, Debug)]
struct Struck {
    /// Its interaction.
    index: usize,
    /// m or rad.
    gap: f64,
    restitution: f64,
}

/// The rows of the joints of a step, and what was solved for them.
#[derive(Debug, Default)]
pub(crate) struct JointRows {
    /// In the order of joints. Bodies are slots; [`Slot::NONE`] is the world.
    pub(crate) interactions: Vec<Interaction>,
    parts: Vec<(usize, Part)>,
    /// Limits that are struck with restitution, ascending.
    strikes: Vec<Struck>,
    /// Of each interaction the first of its impulses.
    first: Vec<usize>,
    /// Where those of each joint begin, and last where those of couplers do.
    of_joint: Vec<usize>,
    /// N·s or N·m·s, of this stage: warm start before the solve, solution after it.
    pub(crate) impulse: Vec<f64>,
    /// Of the stages before.
    earlier: Vec<f64>,
    /// The impulses are of this step.
    begun: bool,
    /// They are of several stages.
    staged: bool,
    /// Of the last step, ascending: the next one starts from them.
    pub(crate) kept: Vec<Kept>,
}

impl JointRows {
    /// Makes the rows. In later stages of a step only what is rigid acts.
    pub(crate) fn build(
        &mut self,
        joints: &Joints,
        (bodies, motion): (&Bodies, &Motion),
        settings: &Settings,
        begin: Option<&[WorldTwist]>,
    ) {
        let is_first = begin.is_none();
        let before = self.parts.len();
        self.interactions.clear();
        self.parts.clear();
        self.strikes.clear();
        self.of_joint.clear();
        if joints.is_empty() {
            self.impulse.clear();
            return;
        }
        for (index, joint) in joints.list.iter().enumerate() {
            self.of_joint.push(self.parts.len());
            if joint.slots().any(|slot| bodies.is_awake_dynamic(slot)) {
                let of = OfJoint {
                    joint,
                    bodies,
                    motion,
                    begin,
                    settings,
                    is_first,
                };
                of.rows(|part, (interaction, struck)| {
                    let at = self.parts.len();
                    let struck = struck.map(|[gap, restitution]| Struck {
                        index: at,
                        gap,
                        restitution,
                    });
                    self.strikes.extend(struck);
                    self.parts.push((index, part));
                    self.interactions.push(interaction);
                });
            }
        }
        self.of_joint.push(self.parts.len());
        for (index, coupler) in joints.couplers.iter().enumerate() {
            let mut slots = coupler.slots(&joints.list, bodies);
            if !slots.any(|slot| bodies.is_awake_dynamic(slot)) {
                continue;
            }
            for (k, term) in coupler.terms.iter().enumerate() {
                let joint = &joints.list[term.joint];
                let (_, row) = term.part(joint, &joint.placed(bodies));
                let pair = joint.bodies.map(|slot| slot.0);
                let mut piece = Interaction::new(pair, Law::equality(1));
                piece.rows[0] = row;
                piece.linked = k > 0;
                self.parts.push((term.joint, Part::Coupled(index)));
                self.interactions.push(piece);
            }
        }
        self.first.clear();
        let mut rows = 0;
        for interaction in &self.interactions {
            self.first.push(rows);
            rows += interaction.law.rows();
        }
        // Within a step the rows are the same, and so are their impulses.
        if self.begun && before == self.parts.len() {
            return;
        }
        self.begun = true;
        self.impulse.clear();
        for ((joint, part), interaction) in self.parts.iter().zip(&self.interactions) {
            let rows = interaction.law.rows();
            let key = (joints.list[*joint].id, *part);
            let known = self
                .kept
                .binary_search_by_key(&key, |kept| (kept.0, kept.1));
            match known {
                Ok(place) if is_first && settings.warm_start => {
                    self.impulse.extend_from_slice(&self.kept[place].2[..rows]);
                }
                _ => self.impulse.resize(self.impulse.len() + rows, 0.0),
            }
        }
    }

    /// The limits that are struck with restitution: a body of each, and its `e`.
    pub(crate) fn impacts(&self) -> impl Iterator<Item = (Slot, f64)> {
        self.strikes.iter().flat_map(|struck| {
            let sides = sides(&self.interactions[struck.index]);
            sides.map(|(_, slot)| (slot, struck.restitution))
        })
    }

    /// Limits and ropes that open while bodies of their island strike with an `e` restitute with it as well: so they take no energy
    /// from the impact that they did not lose.
    pub(crate) fn open_by_impacts(
        &mut self,
        begin: &[WorldTwist],
        mut of: impl FnMut(Slot) -> f64,
    ) {
        for interaction in &mut self.interactions {
            if interaction.law != Law::Complementarity {
                continue;
            }
            let (mut e, mut u) = (0.0_f64, 0.0);
            for (side, slot) in sides(interaction) {
                e = e.max(of(slot));
                u += dot(&interaction.rows[0], side, &begin[slot]);
            }
            interaction.offset[0] = interaction.offset[0].max(e * u);
        }
    }

    /// A step begins.
    pub(crate) fn begin(&mut self) {
        self.begun = false;
        self.earlier.clear();
    }

    /// A joint holds the body.
    pub(crate) fn hold(&self, slot: Slot) -> bool {
        let interactions = self.interactions.iter();
        interactions
            .flat_map(|of| of.bodies)
            .any(|body| body == slot.0)
    }

    /// A stage is over.
    pub(crate) fn end_stage(&mut self) {
        self.earlier.resize(self.impulse.len(), 0.0);
        for (earlier, impulse) in self.earlier.iter_mut().zip(&mut self.impulse) {
            *earlier += std::mem::take(impulse);
        }
    }

    /// The last stage is over: the impulses are those of the step.
    pub(crate) fn end_stages(&mut self, joints: &Joints) {
        self.staged = !self.earlier.is_empty();
        for (impulse, earlier) in self.impulse.iter_mut().zip(self.earlier.drain(..)) {
            *impulse += earlier;
        }
        self.kept.clear();
        let mut begin = 0;
        for ((joint, part), interaction) in self.parts.iter().zip(&self.interactions) {
            let rows = interaction.law.rows();
            // Those of equalities do not depend on where they start.
            if !matches!(part, Part::Coupled(_)) {
                let mut all = [0.0; MOST];
                all[..rows].copy_from_slice(&self.impulse[begin..begin + rows]);
                self.kept.push((joints.list[*joint].id, *part, all));
            }
            begin += rows;
        }
        self.kept.sort_by_key(|kept| (kept.0, kept.1));
    }

    /// The impulses of the step are of several stages.
    pub(super) fn are_of_stages(&self) -> bool {
        self.staged
    }

    /// Calls `of` with every row of some joints, ascending, and with its place among those of its part.
    fn visit(&self, joints: &[usize], mut of: impl FnMut(usize, (Part, usize), &Row, f64)) {
        for index in self.of(joints) {
            let ((joint, part), begin) = (self.parts[index], self.first[index]);
            let end = self.first.get(index + 1);
            let impulses = &self.impulse[begin..end.copied().unwrap_or(self.impulse.len())];
            let rows = self.interactions[index].rows.iter().zip(impulses);
            for (k, (row, impulse)) in rows.enumerate() {
                of(joint, (part, k), row, *impulse);
            }
        }
    }

    /// The interactions of some joints, ascending; last what couplers take of them.
    fn of(&self, joints: &[usize]) -> impl Iterator<Item = usize> {
        let own = joints.iter().filter_map(|joint| {
            let ends = self.of_joint.get(*joint..joint + 2)?;
            Some(ends[0]..ends[1])
        });
        let couplers = self.of_joint.last().copied().unwrap_or(self.parts.len());
        let couplers = couplers..self.parts.len();
        let taken = couplers.filter(|index| joints.binary_search(&self.parts[*index].0).is_ok());
        own.flatten().chain(taken)
    }

    /// The locked rows, and those of rotors and couplers.
    pub(super) fn each_lock(&self, joints: &[usize], mut of: impl FnMut(usize, &Row, f64)) {
        self.visit(joints, |joint, (part, _), row, impulse| {
            if matches!(part, Part::Locks | Part::Rotor(_) | Part::Coupled(_)) {
                of(joint, row, impulse);
            }
        });
    }

    /// The impulse of each coupler, once for every one of its joints.
    pub(super) fn each_coupler(&self, mut of: impl FnMut(usize, f64)) {
        let mut begin = 0;
        for ((_, part), interaction) in self.parts.iter().zip(&self.interactions) {
            if let Part::Coupled(index) = part {
                of(*index, self.impulse[begin]);
            }
            begin += interaction.law.rows();
        }
    }

    /// The impulse of each force of a joint in the step, N·s or N·m·s along its coordinate, of three rotations together its norm. Rotors push as well.
    pub(super) fn efforts(&self, joint: JointId, efforts: &mut [f64]) {
        efforts.fill(0.0);
        let begin = self.kept.partition_point(|kept| kept.0 < joint);
        let own = self.kept[begin..].iter().take_while(|kept| kept.0 == joint);
        for (_, part, impulse) in own {
            match *part {
                Part::Force(index) | Part::Rotor(index) => efforts[index] += impulse[0],
                Part::High(index) => efforts[index] -= impulse[0],
                Part::Ball(index) => {
                    efforts[index] += DVec3::from_slice(&impulse[..3]).length();
                }
                Part::Locks | Part::Rope | Part::Coupled(_) => {}
            }
        }
    }

    /// The rows that are not locked, limits and ropes with the sign of their gap; with their place among the forces of the joint.
    pub(super) fn each_force(
        &self,
        joints: &[usize],
        mut of: impl FnMut(usize, (&Row, Option<Along>), f64),
    ) {
        self.visit(joints, |joint, (part, k), row, impulse| match part {
            Part::Locks | Part::Rotor(_) | Part::Coupled(_) => {}
            Part::Force(force) | Part::Ball(force) => {
                of(joint, (row, Some(Along { force, row: k })), impulse);
            }
            Part::Rope | Part::High(_) => of(joint, (row, None), impulse),
        });
    }
}

/// One joint and what its rows are made from.
struct OfJoint<'a> {
    joint: &'a Jointed,
    bodies: &'a Bodies,
    motion: &'a Motion,
    /// Twists at the beginning of a stage that is not the first.
    begin: Option<&'a [WorldTwist]>,
    settings: &'a Settings,
    is_first: bool,
}

impl OfJoint<'_> {
    fn rows(&self, mut push: impl FnMut(Part, (Interaction, Option<[f64; 2]>))) {
        let placed = self.joint.placed(self.bodies);
        let locks = placed.locks(&self.joint.kind, self.joint.turns(&placed));
        if let JointKind::Rope { length } = self.joint.kind {
            let (distance, row) = placed.coordinate(&self.joint.kind, JointAxis::Distance);
            push(
                Part::Rope,
                self.stop(opposite(&row), length - distance, 0.0),
            );
        }
        if locks.count > 0 {
            let mut rigid = self.interaction(Law::equality(locks.count));
            rigid.rows[..locks.count].copy_from_slice(&locks.rows[..locks.count]);
            if self.joint.yields > 0.0 {
                for (compliance, row) in rigid.compliance.iter_mut().zip(&locks.rows) {
                    *compliance = self.joint.yields * self.inverse_mass(row);
                }
            }
            push(Part::Locks, (rigid, None));
        }
        for (index, force) in self.joint.forces.iter().enumerate() {
            if let JointForce::BallFriction { torque } = *force {
                // Later in a step it has acted.
                let most = if self.is_first { torque } else { 0.0 };
                let mut ball = self.interaction(Law::ball(self.settings.time_step * most));
                for (k, row) in ball.rows.iter_mut().take(3).enumerate() {
                    *row = turning(k);
                }
                push(Part::Ball(index), (ball, None));
                continue;
            }
            let (x, row) = self.joint.coordinate(index, &placed);
            if let JointForce::Limit {
                low,
                high,
                restitution,
                ..
            } = *force
            {
                if low.is_finite() {
                    push(Part::Force(index), self.stop(row, x - low, restitution));
                }
                if high.is_finite() {
                    let row = opposite(&row);
                    push(Part::High(index), self.stop(row, high - x, restitution));
                }
            } else if let JointForce::Armature { inertia, .. } = *force {
                if inertia > 0.0 {
                    let u = self.velocity(&row);
                    let rotor = self.one(Law::equality(1), &row, -u, 1.0 / inertia);
                    push(Part::Rotor(index), (rotor, None));
                }
            } else if let Some(interaction) = self.force((index, force), x, &row) {
                push(Part::Force(index), (interaction, None));
            }
        }
    }

    fn interaction(&self, law: Law) -> Interaction {
        Interaction::new(self.joint.bodies.map(|slot| slot.0), law)
    }

    fn one(&self, law: Law, row: &Row, offset: f64, compliance: f64) -> Interaction {
        let mut interaction = self.interaction(law);
        interaction.rows[0] = *row;
        interaction.offset[0] = offset;
        interaction.compliance[0] = compliance;
        interaction
    }

    /// A one-sided stop with this gap, which is told again with `e` if it is struck with restitution.
    fn stop(&self, row: Row, gap: f64, restitution: f64) -> (Interaction, Option<[f64; 2]>) {
        let h = self.settings.time_step;
        let u = self.velocity(&row);
        let strikes = restitution > 0.0
            && self.is_first
            && u < -self.settings.bounce_threshold()
            && gap + h * u <= 0.0;
        let shift = if strikes {
            restitution * u
        } else {
            gap.max(0.0) / h
        };
        let stop = self.one(Law::Complementarity, &row, shift, 0.0);
        (stop, strikes.then_some([gap, restitution]))
    }

    fn force(
        &self,
        (index, force): (usize, &JointForce),
        x: f64,
        row: &Row,
    ) -> Option<Interaction> {
        let h = self.settings.time_step;
        if !self.is_first {
            // It has acted.
            return Some(self.one(Law::interval(0.0, 0.0), row, 0.0, 0.0));
        }
        match *force {
            JointForce::Spring {
                stiffness: k,
                damping: c,
                rest,
                ..
            } => {
                // With the rotors that turn with it.
                let light = self.inverse_mass(row);
                let light = light / (1.0 + light * self.armature(force));
                let carried = self.joint.carried.iter().find(|(own, _)| *own == index);
                let light = carried.map_or(light, |(_, carried)| *carried);
                let (gain, before) = if is_stiff(force, light, h) {
                    (c + h * k, 0.0)
                } else {
                    (0.5 * c + 0.25 * h * k, self.velocity(row))
                };
                (gain > 0.0).then(|| {
                    let offset = before + k * (x - rest) / gain;
                    self.one(Law::equality(1), row, offset, 1.0 / (h * gain))
                })
            }
            JointForce::Motor {
                position,
                velocity,
                stiffness: k,
                damping: c,
                effort,
                ..
            } => {
                let law = if effort.is_finite() {
                    Law::interval(-h * effort, h * effort)
                } else {
                    Law::equality(1)
                };
                if c.is_infinite() {
                    return Some(self.one(law, row, -velocity, 0.0));
                }
                let gain = c + h * k;
                (gain > 0.0).then(|| {
                    let offset = (k * (x - position) - c * velocity) / gain;
                    self.one(law, row, offset, 1.0 / (h * gain))
                })
            }
            JointForce::Friction { force, .. } => {
                let most = h * force;
                Some(self.one(Law::interval(-most, most), row, 0.0, 0.0))
            }
            JointForce::Applied { effort, .. } => (effort != 0.0).then(|| {
                let given = h * effort;
                self.one(Law::interval(given, given), row, 0.0, 0.0)
            }),
            JointForce::Limit { .. }
            | JointForce::Armature { .. }
            | JointForce::BallFriction { .. } => None,
        }
    }

    fn of_sides(&self, of: impl Fn(Slot, [DVec3; 2]) -> f64, row: &Row) -> f64 {
        let part = |k: usize| DVec3::from_slice(&row[k..k + 3]);
        let sides = self.joint.bodies.into_iter().enumerate();
        let sides = sides.filter(|(_, slot)| *slot != Slot::NONE);
        sides
            .map(|(side, slot)| of(slot, [part(6 * side), part(6 * side + 3)]))
            .sum()
    }

    /// `u_k`, or that at the beginning of the stage.
    fn velocity(&self, row: &Row) -> f64 {
        let of = |slot: Slot, [linear, angular]: [DVec3; 2]| {
            let begin = self.begin.unwrap_or(&self.motion.begin[..]);
            let twist: &WorldTwist = &begin[slot.index()];
            linear.dot(twist.linear) + angular.dot(twist.angular)
        };
        self.of_sides(of, row)
    }

    /// Of the coordinate of a force, kg or kg·m².
    fn armature(&self, along: &JointForce) -> f64 {
        let forces = self.joint.forces.iter();
        let inertia = forces.map(|force| match *force {
            JointForce::Armature { axis, inertia } if Some(axis) == along.axis() => inertia,
            _ => 0.0,
        });
        inertia.sum()
    }

    /// `J M⁻¹ Jᵀ` of a row, without other joints: no less than with them.
    fn inverse_mass(&self, row: &Row) -> f64 {
        let of = |slot: Slot, [linear, angular]: [DVec3; 2]| {
            let inverse = &self.motion.inverse_mass[slot];
            linear.length_squared() * inverse.linear + angular.dot(inverse.angular * angular)
        };
        self.of_sides(of, row)
    }
}

/// The sides of an interaction that are bodies, and these.
fn sides(interaction: &Interaction) -> impl Iterator<Item = (usize, Slot)> + use<> {
    let sides = interaction.bodies.into_iter().enumerate();
    let sides = sides.map(|(side, body)| (side, Slot(body)));
    sides.filter(|(_, slot)| *slot != Slot::NONE)
}

fn opposite(row: &Row) -> Row {
    row.map(|x| -x)
}
