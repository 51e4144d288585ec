//! The narrow phase over all candidate pairs: filter, contacts, margin.
//!
//! Pairs of balls, the bulk of granular scenes, work on compact arrays and leave before the first
//! root; all others go through [`contacts`]. Both give the same points.

use super::covered;
use super::reach::{BallReach, Extents};
use super::swing;
use super::{Pair, PlaneBetween};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::interactions::detected::Detected;
use crate::math::chunks::is_shared;
use crate::motion::Motion;
use crate::settings::Settings;
use moreau_geometry::{Ball, ContactPoint, ball_contact, contacts_or_plane};
use rayon::prelude::*;

/// Pairs per unit of parallel work.
const CHUNK: usize = 256;

/// Chunks that a thread takes at most: pairs of one body lie together, and may take much longer than others.
const AT_ONCE: usize = 4;

/// Chunks whose contacts are found before they are put in their place. What the chunks need is then little memory, and
/// still in the caches when it is copied.
const AT_A_TIME: usize = 128;

/// What one chunk of pairs found, and its scratch space.
#[derive(Default)]
pub(super) struct Found {
    points: Vec<ContactPoint>,
    candidates: Vec<Detected>,
    /// The nearest points of pairs that keep none, see [`swing`].
    swings: Vec<Detected>,
    /// Planes between pairs, of all the chunks that it was used for.
    planes: Vec<PlaneBetween>,
    deepest: f64,
}

/// Which contacts of a pair are kept.
#[derive(Clone, Copy)]
pub(super) enum Rule<'a> {
    /// Those within the margin of the module doc of [`detection`](super).
    Margin {
        motion: &'a Motion,
        settings: &'a Settings,
    },
    /// All within the reach, up to this gap (m).
    Within(f64),
}

/// What the narrow phase reads.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) bodies: &'a Bodies,
    /// Extents at the poses of `t_k`.
    pub(super) extents: &'a Extents,
    pub(super) rule: Rule<'a>,
    /// Planes that were between pairs at poses close to these, ordered by pair.
    pub(super) planes: &'a [PlaneBetween],
}

/// Replaces `candidates` by the contacts of `pairs`, in their order, and `swings` by the nearest points of pairs that have none and may meet as they turn.
/// Returns the deepest overlap among the contacts, m, ≥ 0.
pub(super) fn run(
    pairs: &[Pair],
    scene: &Scene,
    found: &mut Vec<Found>,
    (candidates, swings): (&mut Vec<Detected>, &mut Vec<Detected>),
) -> f64 {
    swings.clear();
    let at_a_time = if is_shared() { AT_A_TIME } else { 1 };
    if found.len() < at_a_time {
        found.resize_with(at_a_time, Found::default);
    }
    if at_a_time == 1 {
        found[0].candidates = std::mem::take(candidates);
        scene.find(pairs, &mut found[0]);
        *candidates = std::mem::take(&mut found[0].candidates);
        swings.append(&mut found[0].swings);
        return found[0].deepest;
    }
    let (mut count, mut deepest): (usize, f64) = (0, 0.0);
    for pairs in pairs.chunks(at_a_time * CHUNK) {
        let found = &mut found[..pairs.len().div_ceil(CHUNK)];
        pairs
            .par_chunks(CHUNK)
            .zip(&mut *found)
            .with_max_len(AT_ONCE)
            .for_each(|(pairs, found)| scene.find(pairs, found));
        let begin = count;
        for found in &mut *found {
            count += found.candidates.len();
            swings.append(&mut found.swings);
            deepest = deepest.max(found.deepest);
        }
        if candidates.len() < count {
            candidates.resize(count, Detected::UNSET);
        }
        gather(found, &mut candidates[begin..count]);
    }
    candidates.truncate(count);
    deepest
}

/// Forgets the planes that the chunks of a run found.
pub(super) fn forget_planes(found: &mut [Found]) {
    found.iter_mut().for_each(|found| found.planes.clear());
}

/// Takes the planes that the chunks of a run found.
pub(super) fn take_planes(found: &mut [Found], planes: &mut Vec<PlaneBetween>) {
    planes.clear();
    for found in found {
        planes.append(&mut found.planes);
    }
    if !planes.is_sorted_by_key(|plane| plane.0) {
        planes.sort_unstable_by_key(|plane| plane.0);
    }
}

/// Copies what the chunks found into `all`, one behind the other.
fn gather(found: &[Found], all: &mut [Detected]) {
    match found {
        [] => {}
        [one] => all.copy_from_slice(&one.candidates),
        _ => {
            let (left, right) = found.split_at(found.len() / 2);
            let count = left.iter().map(|found| found.candidates.len()).sum();
            let (first, rest) = all.split_at_mut(count);
            rayon::join(|| gather(left, first), || gather(right, rest));
        }
    }
}

impl Scene<'_> {
    fn find(&self, pairs: &[Pair], found: &mut Found) {
        let Found {
            points,
            candidates,
            swings,
            planes,
            deepest,
        } = found;
        candidates.clear();
        swings.clear();
        *deepest = 0.0;
        let balls = &self.extents.balls;
        let some_sleep = self.bodies.sleep.count > 0;
        for pair in pairs.iter().map(|pair| pair.map(Slot)) {
            if some_sleep && !self.concerns(pair) || self.bodies.are_apart(&pair) {
                continue;
            }
            let [a, b] = pair;
            let (x, y) = (&balls[a], &balls[b]);
            if x.is_ball() && y.is_ball() {
                if x.meets(y) {
                    let [p, q] = [(a, x), (b, y)].map(|(slot, ball)| self.ball(slot, ball));
                    if let Some(point) = ball_contact(p, q, x.distance + y.distance)
                        && self.keeps_balls(pair, x.margin + y.margin, &point)
                    {
                        *deepest = deepest.max(-point.gap);
                        candidates.push(Detected::new(pair, &point));
                    }
                }
                continue;
            }
            points.clear();
            let margin = self.contacts(pair, points, planes);
            self.put_on_surface(pair, points);
            let before = candidates.len();
            for point in points.iter() {
                if self.keeps(pair, margin, point) {
                    *deepest = deepest.max(-point.gap);
                    candidates.push(Detected::new(pair, point));
                }
            }
            self.let_meet_axes(&mut candidates[before..]);
            if candidates.len() == before
                && let Some(nearest) = self.swings(pair, margin, points)
            {
                swings.push(Detected::new(pair, nearest));
            }
        }
    }

    /// Normals are those of what lies open.
    fn put_on_surface(&self, pair: [Slot; 2], points: &mut Vec<ContactPoint>) {
        let constants = pair.map(|slot| &self.bodies.constants[slot]);
        let poses = pair.map(|slot| &self.bodies.pose[slot]);
        covered::put_on_surface((pair, constants, poses), self.bodies, false, points);
    }

    /// Turning about its axis does not move a body of revolution: where it was left in overlap, points of a rim beside the deepest one have no moment about it either.
    fn let_meet_axes(&self, contacts: &mut [Detected]) {
        let Rule::Margin { motion, settings } = self.rule else {
            return;
        };
        let (bodies, left_alone) = (self.bodies, settings.projection.tolerance);
        let overlap = |contact: &Detected| contact.gap < -left_alone;
        if !bodies.some_bounce || !motion.round || !contacts.iter().any(overlap) {
            return;
        }
        for contact in contacts {
            for slot in contact.bodies {
                let (body, pose) = (&bodies.constants[slot], &bodies.pose[slot]);
                contact.point = body.before_axis(pose, contact.point, contact.normal);
            }
        }
    }

    /// A ball where it is now.
    #[inline]
    fn ball(&self, slot: Slot, ball: &BallReach) -> Ball {
        let center = match self.rule {
            // Its extent was just made of the same pose.
            Rule::Margin { .. } => ball.center,
            Rule::Within(_) => self.bodies.pose[slot].position,
        };
        Ball {
            center,
            radius: ball.radius,
        }
    }

    /// Where bodies sleep: the pair has one that is pushed, or one that wakes the other.
    fn concerns(&self, pair: [Slot; 2]) -> bool {
        match self.rule {
            Rule::Margin { .. } => self.bodies.may_meet(pair),
            Rule::Within(_) => self.bodies.may_push(pair),
        }
    }

    /// Contacts of any pair within its reach, or a plane between the bodies. Returns the margin of the two, m.
    fn contacts(
        &self,
        pair: [Slot; 2],
        points: &mut Vec<ContactPoint>,
        planes: &mut Vec<PlaneBetween>,
    ) -> f64 {
        let [a, b] = pair;
        let Extents { boxes, reach, .. } = self.extents;
        let margin = reach[a].margin + reach[b].margin;
        if !boxes[a].intersects(&boxes[b]) {
            return margin;
        }
        let bodies = self.bodies;
        let (body_a, body_b) = (&bodies.constants[a], &bodies.constants[b]);
        let (Some(shape_a), Some(shape_b)) = (&body_a.geometry, &body_b.geometry) else {
            return margin;
        };
        let mut distance = self.extents.distance(pair, bodies);
        match self.rule {
            Rule::Within(most) => distance = distance.min(most),
            Rule::Margin { motion, settings } if reach[a].angle + reach[b].angle <= 0.0 => {
                distance = distance.min(margin + self.approach(pair, motion, settings.time_step));
            }
            Rule::Margin { .. } => {}
        }
        let pose_a = body_a.shape_pose(&bodies.pose[a]);
        let pose_b = body_b.shape_pose(&bodies.pose[b]);
        let known = self.planes.binary_search_by_key(&pair, |known| known.0);
        let mut plane = known.ok().map(|place| self.planes[place].1);
        let query = (distance, &mut plane);
        contacts_or_plane(shape_a, &pose_a, shape_b, &pose_b, query, points);
        planes.extend(plane.map(|normal| (pair, normal)));
        margin
    }

    /// No contact of two bounded bodies that is kept has a gap beyond their margins that is larger (m): each by itself comes no nearer than its
    /// points travel, and the two no nearer than their relative motion brings them.
    fn approach(&self, pair: [Slot; 2], motion: &Motion, time_step: f64) -> f64 {
        let reach = pair.map(|slot| &self.extents.reach[slot]);
        let alone = reach.map(|reach| reach.distance - reach.margin);
        let mut most = alone[0].max(alone[1]);
        let mut turned: f64 = 0.0;
        for twists in [&motion.begin, &motion.free] {
            let [a, b] = pair.map(|slot| &twists[slot]);
            let [spin_a, spin_b] = [a, b].map(|twist| time_step * twist.angular.length());
            let turn = spin_a * reach[0].radius + spin_b * reach[1].radius;
            most = most.max(time_step * (a.linear - b.linear).length() + turn);
            turned = turned.max(spin_a + spin_b);
        }
        // The middle of a gap lies off the surface.
        most * (1.0 + turned)
    }

    /// The nearest point of a pair that keeps none, if the bodies may meet as they turn.
    fn swings<'p>(
        &self,
        pair: [Slot; 2],
        margin: f64,
        points: &'p [ContactPoint],
    ) -> Option<&'p ContactPoint> {
        let Rule::Margin { motion, settings } = self.rule else {
            return None;
        };
        let nearest = points.iter().min_by(|a, b| a.gap.total_cmp(&b.gap))?;
        let step = (motion, settings.time_step);
        swing::may_meet(pair, nearest, margin, self.bodies, step).then_some(nearest)
    }

    /// The rule of the phase, with velocities at the contact before and after the free motion.
    #[inline]
    fn keeps(&self, pair: [Slot; 2], margin: f64, point: &ContactPoint) -> bool {
        let Rule::Margin { motion, settings } = self.rule else {
            return true;
        };
        // Whatever the velocities.
        point.gap <= margin
            || point.gap <= margin + settings.time_step * self.speed(pair, motion, point)
                && !(motion.round && self.is_beside(pair, point))
    }

    /// The same of two balls, whose spin does not move their surfaces along the normal.
    #[inline]
    fn keeps_balls(&self, pair: [Slot; 2], margin: f64, point: &ContactPoint) -> bool {
        let Rule::Margin { motion, settings } = self.rule else {
            return true;
        };
        let speed = || {
            let mut speed: f64 = 0.0;
            for twists in [&motion.begin, &motion.free] {
                let [a, b] = pair.map(|slot| point.normal.dot(twists[slot].linear));
                speed = speed.max(a.abs()).max(b.abs()).max(b - a);
            }
            speed
        };
        point.gap <= margin || point.gap <= margin + settings.time_step * speed()
    }

    /// See [`BodyConstants::is_beside`](crate::bodies::constants::BodyConstants::is_beside).
    #[inline(never)]
    fn is_beside(&self, pair: [Slot; 2], point: &ContactPoint) -> bool {
        pair.into_iter().any(|slot| {
            let (body, pose) = (&self.bodies.constants[slot], &self.bodies.pose[slot]);
            body.is_beside(pose, point.point, point.normal)
        })
    }

    /// `max( |n·v_A|, |n·v_B|, −u_N )` of a contact, m/s.
    fn speed(&self, pair: [Slot; 2], motion: &Motion, point: &ContactPoint) -> f64 {
        if motion.round {
            return self.speed_without_spin(pair, motion, point);
        }
        let arms = pair.map(|slot| point.point - self.bodies.pose[slot].position);
        let mut speed: f64 = 0.0;
        for twists in [&motion.begin, &motion.free] {
            let a = point.normal.dot(twists[pair[0]].at(arms[0]));
            let b = point.normal.dot(twists[pair[1]].at(arms[1]));
            speed = speed.max(a.abs()).max(b.abs()).max(b - a);
        }
        speed
    }

    /// The same where surfaces of revolution may turn in themselves.
    #[inline(never)]
    fn speed_without_spin(&self, pair: [Slot; 2], motion: &Motion, point: &ContactPoint) -> f64 {
        let mut speed: f64 = 0.0;
        for twists in [&motion.begin, &motion.free] {
            let [a, b] = pair.map(|slot| {
                let mut twist = twists[slot];
                twist.angular -= self.bodies.spin(slot, twist.angular);
                let arm = point.point - self.bodies.pose[slot].position;
                point.normal.dot(twist.at(arm))
            });
            speed = speed.max(a.abs()).max(b.abs()).max(b - a);
        }
        speed
    }
}
