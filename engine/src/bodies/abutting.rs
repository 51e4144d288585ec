//! Bodies that no impulse moves, that do not move against each other, and that abut: tiles of a floor, plates of a wall or of a lift.

use super::Bodies;
use super::constants::BodyConstants;
use super::slot::Slot;
use crate::components::{Pose, RigidBody};
use crate::detection::path::tolerance;
use moreau_geometry::{Aabb, Geometry};
use moreau_solvers::WorldTwist;

/// Part of the overlap at which bodies meet by which two that move as one may move against each other in a step.
const ALIKE: f64 = 0.1;

/// What abuts a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    of: Slot,
    pub(crate) slot: Slot,
    /// The box around it when it was found, inertial frame.
    pub(crate) bounds: Aabb,
}

impl Next {
    fn pair(&self) -> (Slot, Slot) {
        (self.of, self.slot)
    }
}

/// Boxes around solids, grown by half of what a gap between those that abut may be.
#[derive(Debug, Default)]
struct Boxes {
    /// By their least x.
    boxes: Vec<(Aabb, Slot)>,
    /// The longest of them along that, m.
    longest: f64,
}

/// Pairs of solids whose boxes touch.
#[derive(Debug, Default)]
pub(crate) struct Abutting {
    /// Of the bodies, when static ones were looked at last.
    epoch: Option<u64>,
    /// What their pairs were found of.
    known: Vec<(Slot, Pose, Geometry)>,
    static_boxes: Boxes,
    driven_boxes: Boxes,
    /// Each pair of static bodies both ways, ascending.
    of_static: Vec<Next>,
    /// The same of kinematic ones, and of those that stand still with static ones.
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

    /// Static bodies are looked at if one of them is another, or elsewhere, kinematic ones in each step, with their `twists` in it (inertial frame) and its length `h` (s).
    /// One that stands still is as a static one.
    pub(crate) fn renew(&mut self, bodies: &Bodies, (twists, h): (&[WorldTwist], f64)) {
        let changed = self.epoch.replace(bodies.epoch) != Some(bodies.epoch);
        if changed && !self.knows(bodies) {
            self.known.clear();
            for (slot, shape) in solids(bodies, bodies.slots(), RigidBody::Static) {
                self.known.push((slot, bodies.pose[slot], shape.clone()));
            }
            let known = self.known.iter().map(|known| (known.0, &known.2));
            self.static_boxes.set(bodies, known);
            self.of_static.clear();
            self.static_boxes.find_pairs(&mut self.of_static);
            self.of_static.sort_unstable_by_key(Next::pair);
        }
        self.of_driven.clear();
        if bodies.kinematic > 0 {
            let moving = bodies.moving.iter().copied();
            let driven = &mut self.driven_boxes;
            driven.set(bodies, solids(bodies, moving, RigidBody::Kinematic));
            driven.find_pairs(&mut self.of_driven);
            for own in &driven.boxes {
                let touched = self.static_boxes.touched_by(&own.0);
                touched.for_each(|other| list(&mut self.of_driven, [own, other]));
            }
            self.of_driven
                .retain(|next| move_alike([next.of, next.slot], bodies, (twists, h)));
        }
        self.of_driven.sort_unstable_by_key(Next::pair);
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

impl Boxes {
    fn set<'a>(&mut self, bodies: &Bodies, solids: impl Iterator<Item = (Slot, &'a Geometry)>) {
        let around = |(slot, shape): (Slot, &Geometry)| {
            let body = &bodies.constants[slot];
            let bounds = shape.aabb(&body.shape_pose(&bodies.pose[slot]));
            (bounds.inflated(tolerance([body, body])), slot)
        };
        self.boxes.clear();
        self.boxes.extend(solids.map(around));
        self.boxes.sort_unstable_by(|(a, slot_a), (b, slot_b)| {
            a.min.x.total_cmp(&b.min.x).then(slot_a.cmp(slot_b))
        });
        let lengths = self
            .boxes
            .iter()
            .map(|(bounds, _)| bounds.max.x - bounds.min.x);
        self.longest = lengths.fold(0.0, f64::max);
    }

    /// Pairs that touch, by a sweep along one axis.
    fn find_pairs(&self, found: &mut Vec<Next>) {
        for (number, one) in self.boxes.iter().enumerate() {
            let next = self.boxes[number + 1..].iter();
            let ahead = next.take_while(|(other, _)| other.min.x <= one.0.max.x);
            let touched = ahead.filter(|(other, _)| other.intersects(&one.0));
            touched.for_each(|other| list(found, [one, other]));
        }
    }

    fn touched_by(&self, bounds: &Aabb) -> impl Iterator<Item = &(Aabb, Slot)> {
        let least = bounds.min.x - self.longest;
        let begin = self.boxes.partition_point(|(other, _)| other.min.x < least);
        let ahead = self.boxes[begin..].iter();
        let ahead = ahead.take_while(move |(other, _)| other.min.x <= bounds.max.x);
        ahead.filter(move |(other, _)| other.intersects(bounds))
    }
}

/// A pair, both ways.
fn list(found: &mut Vec<Next>, [a, b]: [&(Aabb, Slot); 2]) {
    let next = |of: &(Aabb, Slot), other: &(Aabb, Slot)| Next {
        of: of.1,
        slot: other.1,
        bounds: other.0,
    };
    found.push(next(a, b));
    found.push(next(b, a));
}

/// Two bodies with these twists (inertial frame) move as one for a time `h` (s): where they touch, which lies on both, against each other by less than what is
/// rounding where bodies meet.
fn move_alike(pair: [Slot; 2], bodies: &Bodies, (twists, h): (&[WorldTwist], f64)) -> bool {
    let constants = pair.map(|slot| &bodies.constants[slot]);
    let [a, b] = pair.map(|slot| &twists[slot]);
    let turn = (b.angular - a.angular).length();
    let fastest_on = |side: usize| {
        let center = bodies.pose[pair[side]].position;
        let [on_a, on_b] = [0, 1].map(|other: usize| {
            let from = center - bodies.pose[pair[other]].position;
            twists[pair[other]].at(from)
        });
        (on_b - on_a).length() + turn * constants[side].radius
    };
    let fastest = fastest_on(0).min(fastest_on(1));
    fastest * h <= ALIKE * tolerance(constants)
}
