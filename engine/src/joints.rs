//! Joints as the step works on them: dense, checked, in the order of ids.

mod articulation;
mod breaking;
mod carried;
pub(crate) mod check;
mod closing;
pub(crate) mod coordinates;
pub(crate) mod coupled;
mod drift;
mod driven;
mod given;
mod held;
mod idle;
pub(crate) mod memory;
mod plain;
mod reach;
mod reaction;
mod renewed;
mod rows;
mod system;

pub use coupled::CouplerSpec;
pub use plain::JointSpec;
pub use reaction::JointReaction;

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{
    BodyId, BreakLimit, JointAxis, JointForce, JointFrames, JointId, JointKind, Pose, RigidBody,
    Twist,
};
use crate::math::chunks;
use articulation::Articulation;
use coordinates::{Placed, Row, turning, unwrapped};
use coupled::Coupled;
pub(crate) use drift::{Drift, JointPush, Solution};
use glam::{DQuat, DVec3};
use idle::{IdleCoupler, IdleJoint};
use moreau_solvers::{Interaction, Law};
use rows::Along;
pub(crate) use rows::JointRows;
pub(crate) use system::Push;

/// A joint of the step.
#[derive(Clone, Debug)]
pub(crate) struct Jointed {
    pub(crate) id: JointId,
    /// A and B; [`Slot::NONE`] is the world.
    pub(crate) bodies: [Slot; 2],
    pub(crate) frames: [Pose; 2],
    /// What they were made of.
    given: JointFrames,
    pub(crate) kind: JointKind,
    pub(crate) forces: Vec<JointForce>,
    /// Its bodies collide with each other.
    collide: bool,
    break_limit: Option<BreakLimit>,
    /// Rotation about z with its turns, rad.
    turned: f64,
    /// Coordinates of the forces at the last look, angles with their turns.
    coordinates: Vec<f64>,
    /// What it bore in its last step awake, in the inertial frame.
    bore: JointReaction,
    /// The mean of each of its forces in that step, N or N·m along its coordinate.
    efforts: Vec<f64>,
    /// `δ` with which its locked rows give way in this step; 0 but where it is asked for more than it reaches.
    yields: f64,
    /// Of springs that are stiff on their bodies alone: the inverse inertia with all that these carry.
    carried: Vec<(usize, f64)>,
}

/// Where the world is.
pub(crate) const WORLD: Pose = Pose {
    position: DVec3::ZERO,
    orientation: DQuat::IDENTITY,
};

impl Jointed {
    /// The frames with the bodies at their present poses.
    pub(crate) fn placed(&self, bodies: &Bodies) -> Placed {
        self.placed_at(|side| self.pose_of(side, bodies))
    }

    /// The frames with the bodies where `pose` says.
    fn placed_at<'p>(&self, pose: impl Fn(usize) -> &'p Pose) -> Placed {
        Placed::new(&self.frames, [pose(0), pose(1)])
    }

    /// The pose of a body at `t_k`.
    fn start_of<'p>(&self, side: usize, bodies: &'p Bodies) -> &'p Pose {
        match self.bodies[side] {
            Slot::NONE => const { &WORLD },
            slot => &bodies.before.pose[slot],
        }
    }

    /// The present pose of a body.
    fn pose_of<'p>(&self, side: usize, bodies: &'p Bodies) -> &'p Pose {
        match self.bodies[side] {
            Slot::NONE => const { &WORLD },
            slot => &bodies.pose[slot],
        }
    }

    /// The rotation about z of a screw in these places, with the turns that were counted, rad; no other joint asks.
    fn turns(&self, placed: &Placed) -> f64 {
        if !matches!(self.kind, JointKind::Screw { .. }) {
            return 0.0;
        }
        let (angle, _) = placed.coordinate(&self.kind, JointAxis::RotationZ);
        unwrapped(angle, self.turned)
    }

    /// Coordinate and rate of one of its forces in these places; an angle with the turns that were counted. Three rotations together have no
    /// coordinate.
    fn coordinate(&self, force: usize, placed: &Placed) -> (f64, Row) {
        let Some(axis) = self.forces[force].axis() else {
            return (0.0, turning(0));
        };
        let (value, row) = placed.coordinate(&self.kind, axis);
        let last = self.coordinates[force];
        (
            if axis.is_rotation() {
                unwrapped(value, last)
            } else {
                value
            },
            row,
        )
    }

    /// One of the rows of a force in these places: the one that it has, or one of three.
    fn row(&self, along: Along, placed: &Placed) -> Row {
        match self.forces[along.force].axis() {
            Some(axis) => placed.coordinate(&self.kind, axis).1,
            None => turning(along.row),
        }
    }

    /// What moves with its coordinates: places among its forces, and inertias.
    fn rotors(&self) -> impl Iterator<Item = (usize, f64)> {
        let forces = self.forces.iter().enumerate();
        forces.filter_map(|(index, force)| match *force {
            JointForce::Armature { inertia, .. } if inertia > 0.0 => Some((index, inertia)),
            _ => None,
        })
    }

    /// Rows and gaps of its rope and its limits in these places: the gap opens along the row.
    fn stops(&self, placed: &Placed, mut of: impl FnMut(Row, f64)) {
        let opposite = |row: Row| row.map(|x| -x);
        if let JointKind::Rope { length } = self.kind {
            let (distance, row) = placed.coordinate(&self.kind, JointAxis::Distance);
            of(opposite(row), length - distance);
        }
        for (index, force) in self.forces.iter().enumerate() {
            if let JointForce::Limit { low, high, .. } = *force {
                let (x, row) = self.coordinate(index, placed);
                of(row, x - low);
                of(opposite(row), high - x);
            }
        }
    }

    /// Remembers where it is now, a time `h` (s) after the last look.
    fn count_turns(&mut self, bodies: &Bodies, h: f64) {
        let placed = self.placed(bodies);
        let (angle, row) = placed.coordinate(&self.kind, JointAxis::RotationZ);
        self.turned = unwrapped(angle, self.turned + h * self.mean_rate(&row, bodies));
        for force in 0..self.forces.len() {
            let Some(axis) = self.forces[force].axis() else {
                continue;
            };
            let (value, row) = placed.coordinate(&self.kind, axis);
            self.coordinates[force] = if axis.is_rotation() {
                let last = self.coordinates[force];
                unwrapped(value, last + h * self.mean_rate(&row, bodies))
            } else {
                value
            };
        }
    }

    /// The velocity along a row, the mean of those that its bodies had before the step and have now.
    fn mean_rate(&self, row: &Row, bodies: &Bodies) -> f64 {
        let of = |side: usize, pose: &Pose, twist: &Twist| {
            let part = |k: usize| DVec3::from_slice(&row[6 * side + k..6 * side + k + 3]);
            part(0).dot(twist.linear) + part(3).dot(pose.orientation * twist.angular)
        };
        let sides = self.bodies.into_iter().enumerate();
        let sides = sides.filter(|(_, slot)| *slot != Slot::NONE);
        let rates = sides.map(|(side, slot)| {
            let before = &bodies.before;
            of(side, &before.pose[slot], &before.twist[slot])
                + of(side, &bodies.pose[slot], &bodies.twist[slot])
        });
        0.5 * rates.sum::<f64>()
    }

    /// Its bodies, without the world.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        self.bodies.into_iter().filter(|slot| *slot != Slot::NONE)
    }
}

/// The joints and couplers of a step.
#[derive(Clone, Copy)]
pub(crate) struct Lists<'a> {
    pub(crate) joints: &'a [Jointed],
    pub(crate) couplers: &'a [Coupled],
}

/// The joints of the step.
#[derive(Debug, Default)]
pub(crate) struct Joints {
    /// In the order of ids; none of joints that are disabled.
    pub(crate) list: Vec<Jointed>,
    /// In the order of ids; none of joints that are out of the steps.
    pub(crate) couplers: Vec<Coupled>,
    /// What was asked for.
    pub(crate) specs: Vec<JointSpec>,
    coupler_specs: Vec<CouplerSpec>,
    /// Those that broke in the last step, ascending.
    pub(crate) broken: Vec<JointId>,
    /// Bodies of joints that came, went or changed.
    disturbed: Vec<BodyId>,
    /// Joints of the world that take no part, ascending, and what is kept of them, in the order of ids.
    resting: Vec<JointId>,
    idle: Vec<IdleJoint>,
    resting_couplers: Vec<JointId>,
    idle_couplers: Vec<IdleCoupler>,
    /// Of the bodies, when the list was made of it.
    resolved: Option<u64>,
    /// What was asked for has other drives than the list, and no more.
    driven_anew: bool,
    /// Of the bodies, when the articulations were made.
    epoch: Option<u64>,
    articulations: Vec<Articulation>,
    /// What counts turns, before the step did.
    counted: Vec<f64>,
}

impl Joints {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Articulations whose bodies are awake.
    pub(crate) fn articulate(&mut self, bodies: &Bodies) {
        if self.epoch != Some(bodies.epoch) {
            self.epoch = Some(bodies.epoch);
            self.articulations =
                articulation::find(self.lists(), bodies, |slot| bodies.is_awake_dynamic(slot));
        }
    }

    /// The lowest of their bodies whose present state overflows.
    pub(crate) fn overflow(&self, bodies: &Bodies) -> Option<Slot> {
        let slots = self.articulations.iter().flat_map(|of| &of.bodies).copied();
        slots.filter(|slot| bodies.overflows(*slot)).min()
    }

    /// Remembers where all joints are now, a time `h` (s) after the last look.
    fn count_turns(&mut self, bodies: &Bodies, h: f64) {
        chunks::for_each(&mut self.list[..], &|part: &mut [Jointed]| {
            for joint in part {
                joint.count_turns(bodies, h);
            }
        });
        for coupler in &mut self.couplers {
            coupler.count_turns(&self.list, bodies, h);
        }
    }

    /// Keeps what counts turns, for a step that fails.
    fn keep_counts(&mut self) {
        let mut kept = std::mem::take(&mut self.counted);
        kept.clear();
        kept.extend(self.counts().map(|count| *count));
        self.counted = kept;
    }

    /// Turns are those before the step counted them.
    pub(crate) fn put_back_counts(&mut self) {
        let kept = std::mem::take(&mut self.counted);
        for (count, kept) in self.counts().zip(&kept) {
            *count = *kept;
        }
        self.counted = kept;
    }

    fn counts(&mut self) -> impl Iterator<Item = &mut f64> {
        let joints = self.list.iter_mut().flat_map(|joint| {
            let turned = std::iter::once(&mut joint.turned);
            turned.chain(&mut joint.coordinates)
        });
        let couplers = self.couplers.iter_mut();
        joints.chain(couplers.flat_map(|of| of.terms.iter_mut().map(|term| &mut term.last)))
    }

    fn lists(&self) -> Lists<'_> {
        Lists {
            joints: &self.list,
            couplers: &self.couplers,
        }
    }

    /// What the joints of bodies that `moves` names hold, as rows for a displacement of the present poses.
    pub(crate) fn hold(
        &self,
        bodies: &Bodies,
        moves: impl Fn(Slot) -> bool,
        rows: &mut Vec<Interaction>,
    ) {
        for joint in &self.list {
            if !joint.slots().any(&moves) {
                continue;
            }
            let placed = joint.placed(bodies);
            let locks = placed.locks(&joint.kind, joint.turns(&placed));
            if locks.count > 0 {
                let pair = joint.bodies.map(|slot| slot.0);
                let mut interaction = Interaction::new(pair, Law::equality(locks.count));
                interaction.rows = locks.rows;
                interaction.offset = locks.errors;
                rows.push(interaction);
            }
        }
    }

    /// Other couplers from now on, in exchange for those before, if they are others; `resting` as for joints.
    pub(crate) fn replace_couplers(&mut self, specs: &mut Vec<CouplerSpec>, resting: &[JointId]) {
        self.set_resting_couplers(resting, specs);
        if *specs == self.coupler_specs {
            return;
        }
        let of = |list: &[CouplerSpec], other: &[CouplerSpec]| -> Vec<JointId> {
            let new = list.iter().filter(|spec| !other.contains(spec));
            new.flat_map(|spec| spec.terms.iter().map(|(joint, ..)| *joint))
                .collect()
        };
        let mut joints = of(&self.coupler_specs, specs);
        joints.extend(of(specs, &self.coupler_specs));
        let disturbed = self.specs.iter().filter(|spec| joints.contains(&spec.id));
        self.disturbed
            .extend(disturbed.flat_map(|spec| spec.bodies.into_iter().flatten()));
        std::mem::swap(&mut self.coupler_specs, specs);
        self.resolved = None;
    }
}

/// What its bodies are; nothing of the world.
fn rigid_bodies(slots: [Slot; 2], bodies: &Bodies) -> [Option<RigidBody>; 2] {
    slots.map(|slot| {
        let known = slot != Slot::NONE;
        known.then(|| bodies.constants[slot].kind)
    })
}
