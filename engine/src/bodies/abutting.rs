//! Bodies that no impulse moves, that do not move against each other, and that abut: tiles of a floor, plates of a wall or of a lift.

use super::Bodies;
use super::constants::BodyConstants;
use super::slot::Slot;
use crate::components::{Pose, RigidBody};
use crate::detection::path::tolerance;
use moreau_geometry::{Aabb, Geometry};
use moreau_solvers::WorldTwist;

/// Part of a velocity that is rounding.
const ROUNDING: f64 = 1e-9;

/// What abuts a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    of: Slot,
    pub(crate) slot: Slot,
    /// The box around it when it was found, inertial frame.
    pub(crate) bounds: Aabb,
}

/// Pairs of solids whose boxes touch.
#[derive(Debug, Default)]
pub(crate) struct Abutting {
    /// Of the bodies, when static ones were looked at last.
    epoch: Option<u64>,
    /// What their pairs were found of.
    known: Vec<(Slot, Pose, Geometry)>,
    /// Each pair of static bodies both ways, ascending.
    of_static: Vec<Next>,
    /// The same of kinematic ones.
    of_driven: Vec<Next>,
}

impl Abutting {
    pub(crate) fn is_empty(&self) -> bool {
        self.of_static.is_empty() && self.of_driven.is_empty()
    }

    /// What abuts a body.
    pub(crate) fn on(&self, slot: Slot) -> impl Iterator<Item = &Next> + Clone {
        let lists = [&self.of_static, &self.of_driven].into_iter();
        lists.flat_map(move |list| {
            let begin = list.partition_point(|next| next.of < slot);
            list[begin..].iter().take_while(move |next| next.of == slot)
        })
    }

    /// Static bodies are looked at if one of them is another, or elsewhere, kinematic ones in each step, with their `twists` in it, inertial frame.
    pub(crate) fn renew(&mut self, bodies: &Bodies, twists: &[WorldTwist]) {
        let changed = self.epoch.replace(bodies.epoch) != Some(bodies.epoch);
        if changed && !self.knows(bodies) {
            self.known.clear();
            for (slot, shape) in solids(bodies, bodies.slots(), RigidBody::Static) {
                self.known.push((slot, bodies.pose[slot], shape.clone()));
            }
            let known = self.known.iter().map(|known| (known.0, &known.2));
            find(bodies, known, &mut self.of_static);
        }
        self.of_driven.clear();
        if bodies.kinematic > 1 {
            let moving = bodies.moving.iter().copied();
            let driven = solids(bodies, moving, RigidBody::Kinematic);
            find(bodies, driven, &mut self.of_driven);
            self.of_driven
                .retain(|next| move_alike([next.of, next.slot], bodies, twists));
        }
    }

    /// The static solids are those that it knows of.
    fn knows(&self, bodies: &Bodies) -> bool {
        let mut known = self.known.iter();
        let mut solids = solids(bodies, bodies.slots(), RigidBody::Static);
        let same = solids.all(|(slot, shape)| {
            let now = (slot, &bodies.pose[slot], shape);
            known
                .next()
                .is_some_and(|known| (known.0, &known.1, &known.2) == now)
        });
        same && known.next().is_none()
    }
}

/// The solids of one kind among some bodies.
fn solids(
    bodies: &Bodies,
    slots: impl Iterator<Item = Slot>,
    kind: RigidBody,
) -> impl Iterator<Item = (Slot, &Geometry)> {
    slots.filter_map(move |slot| {
        let body: &BodyConstants = &bodies.constants[slot];
        let shape = body.geometry.as_ref();
        let shape = shape.filter(|shape| shape.is_solid() && body.kind == kind && !body.sensor)?;
        Some((slot, shape))
    })
}

/// Pairs whose boxes touch, by a sweep along one axis.
fn find<'a>(
    bodies: &Bodies,
    solids: impl Iterator<Item = (Slot, &'a Geometry)>,
    found: &mut Vec<Next>,
) {
    found.clear();
    let around = |(slot, shape): (Slot, &Geometry)| {
        let body = &bodies.constants[slot];
        let bounds = shape.aabb(&body.shape_pose(&bodies.pose[slot]));
        (bounds.inflated(tolerance([body, body])), slot)
    };
    let mut boxes: Vec<(Aabb, Slot)> = solids.map(around).collect();
    boxes.sort_by(|one, other| one.0.min.x.total_cmp(&other.0.min.x));
    for (number, (bounds, slot)) in boxes.iter().enumerate() {
        let next = boxes[number + 1..].iter();
        let ahead = next.take_while(|(other, _)| other.min.x <= bounds.max.x);
        for (box_of_other, other) in ahead.filter(|(other, _)| other.intersects(bounds)) {
            let next = |of: Slot, slot: Slot, bounds: Aabb| Next { of, slot, bounds };
            found.push(next(*slot, *other, *box_of_other));
            found.push(next(*other, *slot, *bounds));
        }
    }
    found.sort_unstable_by_key(|next| (next.of, next.slot));
}

/// Two bodies with these twists (inertial frame) move as one.
fn move_alike([a, b]: [Slot; 2], bodies: &Bodies, twists: &[WorldTwist]) -> bool {
    let apart = bodies.pose[b].position - bodies.pose[a].position;
    let (a, b) = (&twists[a], &twists[b]);
    let (turn, slip) = (b.angular - a.angular, b.linear - a.at(apart));
    let most = a.linear.length() + a.angular.length() * apart.length();
    turn.length() <= ROUNDING * a.angular.length() && slip.length() <= ROUNDING * most
}
