//! Looks at a pair at times along its way, where no bound tells whether it meets.

use super::{Encounter, Path, SINKS, thickness, tolerance};
use glam::DVec3;
use moreau_geometry::ContactPoint;
use moreau_geometry::query::{Ray, cast_ray, contains};

/// Looks at a pair of which no bound tells, and the overlap that they see, as a part of the half-thickness of the thinner body.
const SAMPLES: f64 = 64.0;
const SUNK: f64 = 0.05;
/// Overlap, as a multiple of `ε`, that they see of bodies which are to pass each other flush.
const GRAZE: f64 = 10.0;
/// Overlap, as a multiple of `ε`, of what lies on something: twice what the projection leaves alone.
const LEANS: f64 = 20.0;
/// How much more than that is tried first, as a part of the same: on ways that are as close they need not be looked at again.
const SPARE: f64 = 0.02;
/// Halvings of the time between two looks, after which it is known to a millionth of them.
const BISECTIONS: usize = 20;

/// A centre gets into another body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// s after `t_k`.
    pub(crate) time: f64,
    /// Until when the ball that the body turns in stays before the surface, s after `t_k`.
    pub(crate) before: f64,
    /// Unit normal of the surface, from B to A.
    pub(crate) normal: DVec3,
}

impl Path<'_> {
    /// When the bodies meet within `h`, s after `t_k`. Bodies that turn where they touch are looked at every half of the half-thickness
    /// of the thinner one, as often as [`SAMPLES`] allows.
    pub(crate) fn meeting(&self, h: f64, points: &mut Vec<ContactPoint>) -> Option<f64> {
        match self.advance(h, points) {
            (Encounter::Meets { time, .. }, _) => Some(time),
            (Encounter::Apart, _) => None,
            (Encounter::Unclear, clear) => {
                let seen = self.sampled_from(clear, h, points);
                match self.entry(h) {
                    // Beyond it the bodies are held on the wrong side.
                    Some(entry) if seen.is_none_or(|seen| entry.time <= seen) => Some(entry.before),
                    _ => seen,
                }
            }
        }
    }

    /// When bodies first overlap by `ε` within `h`, s after `t_k`, of which a solved motion says that they push each other: looks that see any overlap tell, and a bisection between
    /// the last without and the first with it.
    pub(crate) fn first_touch(&self, h: f64, points: &mut Vec<ContactPoint>) -> Option<f64> {
        let (encounter, clear) = self.advance(h, points);
        match encounter {
            Encounter::Meets { time, .. } => return Some(time),
            Encounter::Apart => return None,
            Encounter::Unclear => {}
        }
        let tolerance = tolerance(self.bodies);
        if !(tolerance + self.length(h)).is_finite() {
            return None;
        }
        if clear == 0.0 && self.deepest_at(0.0, points).0 < -tolerance {
            // They touch elsewhere already: where they get deeper.
            return self.sampled_from(clear, h, points);
        }
        let mut met = self.first_deeper(tolerance, clear, h, points)?;
        let mut apart = clear;
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (apart + met);
            if self.deepest_at(middle, points).0 < -tolerance {
                met = middle;
            } else {
                apart = middle;
            }
        }
        Some(met)
    }

    pub(crate) fn sampled(&self, h: f64, points: &mut Vec<ContactPoint>) -> Option<f64> {
        self.sampled_from(0.0, h, points)
    }

    /// The same of bodies that do not meet before the time `clear`, s.
    fn sampled_from(&self, clear: f64, h: f64, points: &mut Vec<ContactPoint>) -> Option<f64> {
        let (tolerance, thickness) = (tolerance(self.bodies), thickness(self.bodies));
        if !(tolerance + self.length(h)).is_finite() {
            return None;
        }
        // Bodies that overlap already meet again where they get deeper.
        let begin = if clear > 0.0 {
            0.0
        } else {
            -self.deepest_at(0.0, points).0
        };
        if begin > thickness {
            return None;
        }
        let (depth, spare) = (SUNK * thickness + begin.max(0.0), SPARE * thickness);
        if self.first_deeper(depth - spare, clear, h, points).is_none() {
            self.spare.set(spare);
            return None;
        }
        self.first_deeper(depth, clear, h, points)
    }

    /// On their way the bodies get deeper than the thinner one is half as thick, and than they were: farther on it comes out on the other side.
    pub(crate) fn sinks_through(&self, h: f64, points: &mut Vec<ContactPoint>) -> bool {
        let (tolerance, thickness) = (tolerance(self.bodies), thickness(self.bodies));
        let begin = self.deepest_at(0.0, points).0.min(0.0);
        (tolerance + self.length(h)).is_finite()
            && self
                .first_deeper(thickness - begin, 0.0, h, points)
                .is_some()
    }

    /// Where the centre of one of the bodies, which lies within it, gets into the other one, which does not turn. However thin that is: looks may miss what turns on the whole way through it.
    pub(crate) fn entry(&self, h: f64) -> Option<Entry> {
        let of_sides = [(0, 1, 1.0), (1, 0, -1.0)].into_iter();
        let entries = of_sides.filter_map(|(mover, wall, sign)| {
            // The centre of what is unbounded is any point of it.
            let is_unbounded = !self.bodies[mover].radius.is_finite();
            if is_unbounded || self.twists[wall].angular != DVec3::ZERO {
                return None;
            }
            let relative = self.twists[mover].linear - self.twists[wall].linear;
            let (speed, centre) = (relative.length(), self.poses[mover].position);
            let [own, other] = [mover, wall].map(|side| self.bodies[side].geometry.as_ref());
            let [at_own, at_other] =
                [mover, wall].map(|side| self.bodies[side].shape_pose(self.poses[side]));
            let ray = Ray::new(centre, relative).and_then(|ray| ray.up_to(speed * h));
            let hit = cast_ray(other?, &at_other, &ray.ok()?)?;
            let is_within = matches!(contains(own?, &at_own, centre), Ok(true));
            let time = hit.distance / speed;
            let closing = -hit.normal.dot(relative);
            (time > 0.0 && is_within).then_some(Entry {
                time,
                before: (time - self.bodies[mover].radius / closing).max(0.0),
                normal: hit.normal * sign,
            })
        });
        entries.reduce(|first, other| {
            if other.time < first.time {
                other
            } else {
                first
            }
        })
    }

    /// The bodies are deeper at the end, or at a look on their way if they are fast, than they were and may be. They turn so little that what they
    /// pass through on their way they are still in at the next look.
    pub(crate) fn sinks(&self, h: f64, points: &mut Vec<ContactPoint>) -> bool {
        let thickness = thickness(self.bodies);
        let depth = SINKS * thickness;
        // On longer ways looks may miss what bodies pass; a surface has no inside.
        let seen = if self.is_of_surface() {
            thickness
        } else {
            0.5 * SAMPLES * thickness
        };
        if self.length(h) > seen {
            return true;
        }
        let apart = |plane| self.apart_until(0.0, -depth, plane, h) >= h;
        if self.plane().is_some_and(apart) {
            return false;
        }
        let end = self.deepest(h, points).0;
        // Gaps beyond zero are not looked for.
        self.spare.set((end.min(0.0) + depth).max(0.0));
        end < -depth && end < -depth + self.deepest_at(0.0, points).0.min(0.0)
    }

    /// Looks at every half of the half-thickness of the way are no more than [`SAMPLES`].
    pub(crate) fn is_seen(&self, h: f64) -> bool {
        self.length(h) <= 0.5 * SAMPLES * thickness(self.bodies)
    }

    /// Looked at as often, bodies that slide or roll past each other flush do not meet.
    pub(crate) fn is_clear(&self, h: f64, points: &mut Vec<ContactPoint>) -> bool {
        let tolerance = tolerance(self.bodies);
        (tolerance + self.length(h)).is_finite()
            && self.deepest_at(0.0, points).0 >= -tolerance
            && self
                .first_deeper(GRAZE * tolerance, 0.0, h, points)
                .is_none()
    }

    /// The first of the looks from `clear` (s) on that sees an overlap of more than `depth` (m).
    fn first_deeper(
        &self,
        depth: f64,
        mut clear: f64,
        h: f64,
        points: &mut Vec<ContactPoint>,
    ) -> Option<f64> {
        let mut plane = self.plane();
        self.looks(h).find(|time| {
            if *time < clear {
                return false;
            }
            clear = plane.map_or(0.0, |plane| self.apart_until(*time, -depth, plane, h));
            if *time < clear {
                return false;
            }
            if let Some(planes) = self.planes_between(*time, (-depth, 0.0)) {
                let nearest = planes
                    .into_iter()
                    .reduce(|a, b| if b.0 < a.0 { b } else { a });
                plane = nearest.map_or(plane, |(_, normal)| Some(normal));
                return false;
            }
            let (gap, normal) = self.deepest_at(*time, points);
            if normal != DVec3::ZERO {
                plane = Some(normal);
            }
            gap < -depth
        })
    }

    /// Every half of the half-thickness of the way, as far as [`SAMPLES`] allows; the last at `h`.
    fn looks(&self, h: f64) -> impl Iterator<Item = f64> + use<> {
        let count = (self.length(h) / (0.5 * thickness(self.bodies))).ceil();
        let count = count.clamp(1.0, SAMPLES) as u32;
        (1..=count).map(move |look| h * f64::from(look) / f64::from(count))
    }

    /// The deepest overlap that these looks see, as a gap (m), with its normal; infinite where there is none.
    pub(crate) fn deepest(&self, h: f64, points: &mut Vec<ContactPoint>) -> (f64, DVec3) {
        let looks = self.looks(h).map(|time| self.deepest_at(time, points));
        looks.fold((f64::INFINITY, DVec3::ZERO), |deepest, look| {
            if look.0 < deepest.0 { look } else { deepest }
        })
    }

    /// The bodies begin no deeper in each other than what lies on the other one does.
    pub(crate) fn touches(&self, points: &mut Vec<ContactPoint>) -> bool {
        self.deepest_at(0.0, points).0 >= -LEANS * tolerance(self.bodies)
    }

    /// One of these looks sees the bodies deeper than that on such a plane.
    pub(crate) fn overlaps_on(
        &self,
        is_plane: impl Fn(DVec3) -> bool,
        h: f64,
        points: &mut Vec<ContactPoint>,
    ) -> bool {
        let depth = LEANS * tolerance(self.bodies);
        let is_met = |point: &ContactPoint| point.gap < -depth && is_plane(point.normal);
        self.looks(h).any(|time| {
            self.points_at(time, 0.0, points);
            points.iter().any(is_met)
        })
    }
}
