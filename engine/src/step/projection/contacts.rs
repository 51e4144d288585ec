//! The contacts of a projection at the present poses: carried along from those of the step, or found again.

use super::carried::{Carried, Displacement, carried};
use super::neighbourhood::Neighbourhood;
use super::{Kick, may_meet_unseen};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::detection::{Detection, Pair};
use crate::interactions::detected::{Centres, Detected};
use crate::interactions::edit::Edits;
use crate::interactions::record::GivenArms;
use crate::settings::Settings;
use crate::step::bouncing::left_to_bounce;
use glam::DVec3;
use moreau_geometry::Shape;
use moreau_solvers::WorldTwist;
use std::ops::Range;

/// Part of the thinner half-thickness of two bodies that may be left as overlap, where that is less than the setting: small bodies do
/// not sink into each other.
const THIN: f64 = 0.02;
/// Part of the tolerance up to which a gap that was carried along may be off: by no more than what is left alone …
const GOOD: f64 = 1.0;
/// … and of an overlap that may be deeper than the tolerance.
const SHARP: f64 = 0.1;

/// What a body allows for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// Overlap that is left alone, m.
    pub(super) tolerance: f64,
    /// Least radius of curvature of the surface, m; infinite for plane faces.
    pub(super) curvature: f64,
    /// Distance of the point of the surface that is farthest from the centre, m; zero for balls, which may turn.
    pub(super) lever: f64,
    /// The body is put together from parts: contacts with one tell nothing of the others.
    pub(super) parts: bool,
}

impl Limits {
    /// Those of a body, where `widest` is the tolerance of the settings.
    pub(super) fn of(bodies: &Bodies, slot: Slot, widest: f64) -> Self {
        let body = &bodies.constants[slot];
        let thin = THIN * body.size;
        let tolerance = if thin > 0.0 { widest.min(thin) } else { widest };
        let shape = body.geometry.as_ref().map(|geometry| geometry.shape());
        let curvature = match shape {
            Some(
                Shape::Sphere { .. }
                | Shape::Capsule { .. }
                | Shape::Cylinder { .. }
                | Shape::Cone { .. },
            ) => body.size,
            // What slides over a surface is soon above another triangle.
            Some(Shape::TriangleMesh { .. } | Shape::HeightField { .. }) => tolerance,
            _ => f64::INFINITY,
        };
        let is_ball = body.ball_radius().is_some();
        Self {
            tolerance,
            curvature,
            lever: if is_ball { 0.0 } else { body.radius },
            parts: body.has_parts(),
        }
    }
}

/// One of the bodies is put together from parts.
pub(super) fn have_parts(limits: &[Limits], pair: [Slot; 2]) -> bool {
    pair.into_iter().any(|slot| limits[slot].parts)
}

/// By how much what is not in the list of contacts may have closed, as two bodies turned, m: of the points of two faces four are kept, and
/// of corners and edges the closest. What is farthest from a contact is about an arm and a lever away.
/// `arms`: their lengths, m; `turn`: that of one body against the other, rad.
pub(super) fn unlisted(limits: &[Limits], contact: &Detected, arms: [f64; 2], turn: f64) -> f64 {
    let lever = |side: usize| {
        let lever = limits[contact.bodies[side]].lever;
        if lever > 0.0 { lever + arms[side] } else { 0.0 }
    };
    turn * lever(0).min(lever(1))
}

/// `I₀`, and which of its rows are of other poses or a user's own.
pub(super) type Found<'a> = (&'a [Detected], &'a [GivenArms]);

/// What the contacts are carried along by.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    /// `I₀` at the poses of `t_k`, those of it that are of other poses or a user's own, and the centres then.
    found: &'a [Detected],
    given: &'a [GivenArms],
    centres: Centres<'a>,
    /// By slot.
    limits: &'a [Limits],
    /// What happened since then, by slot.
    moved: &'a [Displacement],
    kicks: &'a [Kick],
}

impl<'a> Step<'a> {
    /// From `I₀` and the centres of `t_k` on.
    pub(super) fn new(
        (found, given): Found<'a>,
        centres: Centres<'a>,
        limits: &'a [Limits],
        (moved, kicks): (&'a [Displacement], &'a [Kick]),
    ) -> Self {
        Self {
            found,
            given,
            centres,
            limits,
            moved,
            kicks,
        }
    }

    fn tolerance(&self, contact: &Detected) -> f64 {
        tolerance(self.limits, contact)
    }

    fn carried(&self, contact: &Detected) -> Carried {
        let [a, b] = contact.bodies;
        carried(
            contact,
            contact.arms(self.centres),
            [a, b].map(|slot| self.centres.balls[slot]),
            [self.moved[a], self.moved[b]],
            surfaces(self.limits, [a, b]),
        )
    }

    /// The contacts of one pair, with these rows, go to `into`, unless one of those with gaps below `reach` is not good enough, or the bodies may have met
    /// at parts that have none. True if they went.
    fn carry(&self, rows: Range<usize>, reach: f64, into: &mut Vec<Detected>) -> bool {
        let first = self.found[rows.clone()].first().map(|own| own.bodies);
        let meets_unseen = |pair: [Slot; 2]| {
            have_parts(self.limits, pair)
                && may_meet_unseen(pair.map(|slot| slot.0), self.kicks, self.limits)
        };
        if first.is_some_and(meets_unseen) {
            return false;
        }
        let given = self
            .given
            .partition_point(|given| (given.row as usize) < rows.start);
        if self
            .given
            .get(given)
            .is_some_and(|given| rows.contains(&(given.row as usize)))
        {
            return false;
        }
        let begin = into.len();
        for contact in &self.found[rows] {
            let [a, b] = contact.bodies.map(|slot| self.moved[slot].angular);
            let arms = contact.arms(self.centres).map(DVec3::length);
            let unlisted = unlisted(self.limits, contact, arms, (a - b).length());
            let Carried { contact, error } = self.carried(contact);
            if !is_good(&contact, error + unlisted, self.tolerance(&contact), reach) {
                into.truncate(begin);
                return false;
            }
            into.push(contact);
        }
        true
    }

    /// A plane that turned with one of the bodies of a pair, from where it was in the nearest of its contacts, holds the two so far apart that they do not overlap by more than
    /// the tolerance.
    fn are_apart(&self, contacts: &[Detected], bodies: &Bodies) -> bool {
        let gap = |contact: &&Detected| self.carried(contact).contact.gap;
        let Some(nearest) = contacts.iter().min_by(|a, b| gap(a).total_cmp(&gap(b))) else {
            return false;
        };
        let mut turned = nearest
            .bodies
            .map(|slot| self.moved[slot].turned(nearest.normal))
            .into_iter();
        turned.any(|normal| {
            let separation = separation(nearest.bodies, normal, bodies);
            separation.is_some_and(|gap| gap >= -self.tolerance(nearest))
        })
    }
}

/// How far apart a plane with this unit normal, from B to A, holds two solids where they are, m.
fn separation([a, b]: [Slot; 2], normal: DVec3, bodies: &Bodies) -> Option<f64> {
    let reach = |slot: Slot, direction: DVec3| {
        let body = &bodies.constants[slot];
        let pose = body.shape_pose(&bodies.pose[slot]);
        body.geometry.as_ref()?.support(&pose, direction)
    };
    Some(-reach(a, -normal)? - reach(b, normal)?)
}

/// Depth of an overlap, m, and its bodies.
pub(super) type Overlap = (f64, [Slot; 2]);

/// The deepest of some overlaps: of equal ones the first.
pub(super) fn deepest_of(overlaps: impl Iterator<Item = Overlap>) -> Option<Overlap> {
    overlaps.reduce(|deepest, other| if other.0 > deepest.0 { other } else { deepest })
}

/// Overlap of the bodies of a contact that is left alone, m.
pub(super) fn tolerance(limits: &[Limits], contact: &Detected) -> f64 {
    let [a, b] = contact.bodies.map(|slot| limits[slot].tolerance);
    a.min(b)
}

/// A contact whose gap may be off by `error` need not be found again; gaps from `reach` on do not matter.
fn is_good(contact: &Detected, error: f64, tolerance: f64, reach: f64) -> bool {
    let least = contact.gap - error;
    let most = if least < -tolerance { SHARP } else { GOOD };
    error <= most * tolerance || least >= reach
}

/// The least radius of curvature of a pair, m, and who of it is a plane.
fn surfaces(limits: &[Limits], pair: [Slot; 2]) -> (f64, [bool; 2]) {
    let [a, b] = pair.map(|slot| &limits[slot]);
    let planes = [a, b].map(|body| body.lever.is_infinite());
    (a.curvature.min(b.curvature), planes)
}

/// The bodies where they are, and who looks at pairs of them.
type Here<'a> = (&'a Bodies, &'a mut Detection);

/// How deep contacts may be.
#[derive(Clone, Copy)]
pub(super) struct Allowed<'a> {
    /// By slot.
    pub(super) limits: &'a [Limits],
    pub(super) bodies: &'a Bodies,
    pub(super) settings: &'a Settings,
}

impl<'a> Allowed<'a> {
    pub(super) fn new(limits: &'a [Limits], bodies: &'a Bodies, settings: &'a Settings) -> Self {
        Self {
            limits,
            bodies,
            settings,
        }
    }

    /// The contact is deeper than it may be.
    pub(super) fn is_passed(&self, contact: &Detected) -> bool {
        let over = -contact.gap - tolerance(self.limits, contact);
        over > 0.0 && over > left_to_bounce(contact, self.bodies, self.settings)
    }
}

/// A pair whose contacts were found again.
#[derive(Clone, Copy, Debug)]
struct Again {
    pair: Pair,
    /// Up to which gap, less what the bodies may have come closer since then, m: what is not listed has at least this room.
    room: f64,
}

/// Buffers of the contacts.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    /// Those that a correction is made of, or of the pairs looked at first.
    pub(super) near: Vec<Detected>,
    /// Those of the same bodies that are left out as too far apart.
    far: Vec<Detected>,
    /// Pairs whose contacts were found again, ascending, and these contacts in their order.
    again: Vec<Again>,
    fresh: Vec<Detected>,
    /// Pairs to be looked at, and what is found of them.
    asked: Vec<Pair>,
    answer: Vec<Detected>,
    /// Displacements by the last correction, by slot.
    last: Vec<Displacement>,
}

impl Contacts {
    /// The overlaps of the pairs `suspects`, ascending, and what is no farther apart than `within` (m): what is left of those that contacts were `taken` out of, ascending too, tells nothing of these.
    pub(super) fn of_suspects(
        &mut self,
        step: &Step,
        (suspects, taken): (&[Pair], &[Pair]),
        within: f64,
        here: Here,
    ) {
        self.near.clear();
        self.far.clear();
        self.again.clear();
        self.fresh.clear();
        self.asked.clear();
        let mut next = 0;
        for suspect in suspects {
            let pair = suspect.map(Slot);
            let begin = next + step.found[next..].partition_point(|own| own.bodies < pair);
            let own = step.found[begin..].partition_point(|own| own.bodies == pair);
            next = begin + own;
            let known = own > 0 && taken.binary_search(suspect).is_err();
            let known = known && step.carry(begin..next, 0.0, &mut self.near);
            if !known && !step.are_apart(&step.found[begin..next], here.0) {
                self.asked.push(*suspect);
            }
        }
        self.ask(within, here);
        self.near.extend_from_slice(&self.fresh);
    }

    /// Contacts that are deeper than they may be.
    pub(super) fn deep<'a>(&'a self, allowed: Allowed<'a>) -> impl Iterator<Item = &'a Detected> {
        self.near
            .iter()
            .filter(move |contact| allowed.is_passed(contact))
    }

    /// The deepest overlap beyond the tolerance among `those`.
    pub(super) fn deepest(
        &self,
        those: impl Fn(&Detected) -> bool,
        limits: &[Limits],
    ) -> Option<Overlap> {
        let overlaps = |contact: &&Detected| contact.gap < -tolerance(limits, contact);
        let those = self.near.iter().filter(overlaps).filter(|own| those(own));
        deepest_of(those.map(|contact| (-contact.gap, contact.bodies)))
    }

    /// Becomes the contacts of the bodies of a neighbourhood, but for those farther apart than the deepest overlap around: what takes that away
    /// does not meet them.
    pub(super) fn around(
        &mut self,
        near: &Neighbourhood,
        step: &Step,
        within: f64,
        (bodies, detection): Here,
        edits: &Edits,
    ) {
        self.near.clear();
        self.asked.clear();
        let mut next = 0;
        for own in step.found.chunk_by(|a, b| a.bodies == b.bodies) {
            let (pair, begin) = (own[0].bodies, next);
            next += own.len();
            let is_part = pair.into_iter().any(|slot| near.moves(slot));
            let slots = pair.map(|slot| slot.0);
            let known = || {
                self.again
                    .binary_search_by_key(&slots, |own| own.pair)
                    .is_ok()
            };
            if !is_part || edits.drops() && edits.lets_pass(&pair) || known() {
                continue;
            }
            if !step.carry(begin..next, near.reach(pair), &mut self.near) {
                self.asked.push(slots);
            }
        }
        let mut most = within;
        for again in &self.again {
            let reach = near.reach(again.pair.map(Slot));
            if again.room < reach && again.room < detection.reach(again.pair, bodies) {
                self.asked.push(again.pair);
                most = most.max(reach);
            }
        }
        self.asked.sort();
        self.ask(most, (bodies, detection));
        let part = |contact: &&Detected| contact.bodies.into_iter().any(|slot| near.moves(slot));
        self.near.extend(self.fresh.iter().filter(part));
        self.far.clear();
        self.far.extend(
            self.near
                .extract_if(.., |contact| contact.gap > near.reach(contact.bodies)),
        );
    }

    /// Runs the narrow phase for the pairs asked for, ascending, up to this gap (m).
    fn ask(&mut self, within: f64, (bodies, detection): Here) {
        if self.asked.is_empty() {
            return;
        }
        let asked = &self.asked;
        let is_asked = |pair: &Pair| asked.binary_search(pair).is_ok();
        let of = |contact: &Detected| contact.bodies.map(|slot| slot.0);
        self.fresh.retain(|contact| !is_asked(&of(contact)));
        detection.measure((asked, within), bodies, &mut self.answer);
        self.fresh.extend_from_slice(&self.answer);
        self.fresh.sort_by_key(|contact| contact.bodies);
        self.again.retain(|again| !is_asked(&again.pair));
        self.again.extend(asked.iter().map(|pair| Again {
            pair: *pair,
            room: within.min(detection.reach(*pair, bodies)),
        }));
        self.again.sort_by_key(|again| again.pair);
    }

    /// The bodies of `slots` were moved by these displacements, to where they are now, and may have met others in the pairs `unlisted`.
    pub(super) fn follow(
        &mut self,
        (slots, by, unlisted_pairs): (&[Slot], &[WorldTwist], &[[Slot; 2]]),
        limits: &[Limits],
        within: f64,
        (bodies, detection): Here,
    ) {
        self.last.resize(bodies.len(), Displacement::NONE);
        for (slot, by) in slots.iter().zip(by) {
            self.last[*slot] = Displacement::by(by);
        }
        let last = &self.last;
        let carry = |contact: &mut Detected| {
            let pair = contact.bodies;
            let [a, b] = pair;
            let centre = |slot: Slot| bodies.pose[slot].position - last[slot].linear;
            let arms = pair.map(|slot| contact.point - centre(slot));
            let balls = pair.map(|slot| bodies.constants[slot].ball_radius().unwrap_or(0.0));
            let moved = [last[a], last[b]];
            let carried = carried(contact, arms, balls, moved, surfaces(limits, pair));
            let turn = (last[a].angular - last[b].angular).length();
            let error = carried.error + unlisted(limits, contact, arms.map(DVec3::length), turn);
            *contact = carried.contact;
            is_good(contact, error, tolerance(limits, contact), 0.0)
        };
        self.asked.clear();
        for contact in &mut self.near {
            if !carry(contact) {
                self.asked.push(contact.bodies.map(|slot| slot.0));
            }
        }
        // What was far enough for a correction is not for one that goes farther.
        for contact in &mut self.far {
            if !carry(contact) || contact.gap < -tolerance(limits, contact) {
                self.asked.push(contact.bodies.map(|slot| slot.0));
            }
        }
        for contact in &mut self.fresh {
            if !carry(contact) {
                self.asked.push(contact.bodies.map(|slot| slot.0));
            }
        }
        let swing = |slot: Slot| {
            let angle = last[slot].angle;
            if angle > 0.0 {
                angle * limits[slot].lever
            } else {
                0.0
            }
        };
        for again in &mut self.again {
            let [a, b] = again.pair.map(Slot);
            again.room -= (last[a].linear - last[b].linear).length() + swing(a) + swing(b);
            if again.room < 0.0 {
                self.asked.push(again.pair);
            }
        }
        let met = unlisted_pairs.iter().map(|pair| pair.map(|slot| slot.0));
        self.asked.extend(met);
        for slot in slots {
            self.last[*slot] = Displacement::NONE;
        }
        self.asked.sort();
        self.asked.dedup();
        if !self.asked.is_empty() {
            self.ask(within, (bodies, detection));
            let asked = &self.asked;
            let is_asked = |pair: [Slot; 2]| asked.binary_search(&pair.map(|slot| slot.0)).is_ok();
            self.near.retain(|contact| !is_asked(contact.bodies));
            self.near.extend_from_slice(&self.answer);
        }
    }
}
