//! Where two bodies meet on their way through a step.
//!
//! Both move with constant twists from their poses at `t_k`. By conservative advancement
//!
//! ```text
//! t ← t + min_i (g_i + ε)/c_i,     c_i = −n_i·(v_A − v_B) + |n_i×ω_A| R_A + |n_i×ω_B| R_B
//! ```
//!
//! over the contact points `i` that the pair has at `t`, no meeting is passed over; without rotation the steps are exact.
//! Bodies meet when they overlap by `ε`: two that slide past each other flush do not.

mod late;
mod sampled;

use super::covered;
use crate::bodies::Bodies;
use crate::bodies::constants::BodyConstants;
use crate::bodies::slot::Slot;
use crate::components::Pose;
use crate::math::rotation;
use glam::{DQuat, DVec3};
use moreau_geometry::query::{Sweep, cast_shape};
use moreau_geometry::{ContactPoint, Frame, Geometry, Shape, contacts_or_plane, separating_planes};
use moreau_solvers::WorldTwist;
use smallvec::SmallVec;
use std::cell::Cell;
use std::f64::consts::SQRT_2;

/// Overlap at which bodies meet, as a part of the half-thickness of the thinner one.
const TOUCH: f64 = 1e-4;
/// Looks at a pair; what turns along a surface needs more than any budget.
const LOOKS: usize = 24;
/// More of them at most along the way over a surface, one every half-thickness.
const MORE_LOOKS: f64 = 200.0;
/// How much farther apart than they have to be bodies are tried to be found, as parts of that half-thickness: on ways that are as close they need not be followed again.
const SPARES: [f64; 2] = [0.5, 0.02];
/// Overlap at which a pair is followed whose bodies turn by little, as a part of that half-thickness: less is left to the projection.
const SINKS: f64 = 0.2;
/// Chords along the separation of a pair between two looks at its poses.
const CHORDS: usize = 3;
/// Part of `ε` that may be left of the way where bodies that turn are found to meet: what turns comes closer by a part in each look.
const SHARP: f64 = 0.1;

/// Square of the part of an angular velocity that is about the axis of a round body, relative to its own, up to which it is rounding.
const NO_SPIN: f64 = 1e-24;

/// By how much less than 1 the cosine may be of the angle between the normal of a half-space and that of a plane that is its own.
const PARALLEL: f64 = 1e-15;

/// Cosine of the angle between two normals of one time that are those of one face, where bodies have parts: flush ones have planes of their own next to
/// each other.
pub(crate) const SAME_FACE: f64 = 1.0 - 1e-12;

/// How far apart a plane holds what is on both sides, m, and its unit normal, from B to A.
type Plane = (f64, DVec3);

/// A pair of bodies on its way.
pub(crate) struct Path<'a> {
    pub(crate) pair: [Slot; 2],
    pub(crate) bodies: [&'a BodyConstants; 2],
    /// All bodies.
    all: &'a Bodies,
    /// At `t_k`.
    pub(crate) poses: [&'a Pose; 2],
    /// Constant through the step, inertial frame.
    pub(crate) twists: [WorldTwist; 2],
    /// Angular velocities that move the surfaces, rad/s: balls turn in themselves, and so do round bodies about their axis.
    turns: [DVec3; 2],
    /// Unit normal, from B to A, of a plane that may be between them: any will do. The last that was, once the pair was followed.
    pub(crate) plane: Cell<Option<DVec3>>,
    /// How much deeper the bodies would have to be somewhere on the way to meet, m, at least: as the last look at it tells.
    pub(crate) spare: Cell<f64>,
}

/// What becomes of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Encounter {
    /// The bodies do not meet.
    Apart,
    /// They overlap from the beginning, or nothing is certain.
    Unclear,
    /// They meet at this time after `t_k`, s, along this normal, from B to A.
    Meets { time: f64, normal: DVec3 },
}

/// Overlap at which two bodies meet, m; infinite if both are unbounded.
pub(crate) fn tolerance(bodies: [&BodyConstants; 2]) -> f64 {
    TOUCH * thickness(bodies)
}

/// The same by slots; `balls`: radii, m, 0 for all other bodies. They are asked first, as they lie closer together in memory than the constants of the bodies.
pub(crate) fn tolerance_of(pair: [Slot; 2], balls: &[f64], bodies: &Bodies) -> f64 {
    let [a, b] = pair.map(|slot| balls[slot]);
    if a > 0.0 && b > 0.0 {
        TOUCH * a.min(b)
    } else {
        tolerance(pair.map(|slot| &bodies.constants[slot]))
    }
}

/// Half-thickness of the thinner of two bodies, m; infinite if both are unbounded.
pub(crate) fn thickness([a, b]: [&BodyConstants; 2]) -> f64 {
    let size = |body: &BodyConstants| {
        if body.size > 0.0 {
            body.size
        } else {
            f64::INFINITY
        }
    };
    size(a).min(size(b))
}

/// A mesh or a height field.
pub(crate) fn is_surface(body: &BodyConstants) -> bool {
    let solid = body.geometry.as_ref().is_none_or(Geometry::is_solid);
    !solid && body.radius.is_finite()
}

/// Angular velocity that moves the surface of a body at a pose, rad/s.
fn turn(body: &BodyConstants, pose: &Pose, angular: DVec3) -> DVec3 {
    if angular == DVec3::ZERO || body.ball_radius().is_some() {
        return DVec3::ZERO;
    }
    let axis = body.axis_at(pose);
    axis.map_or(angular, |axis| angular.reject_from_normalized(axis))
}

impl<'a> Path<'a> {
    /// A pair that moves from these poses at `t_k` on, with a plane to begin with.
    pub(crate) fn new(
        (pair, all): ([Slot; 2], &'a Bodies),
        poses: [&'a Pose; 2],
        twists: [WorldTwist; 2],
        plane: Option<DVec3>,
    ) -> Self {
        let bodies = pair.map(|slot| &all.constants[slot]);
        let turns = [0, 1].map(|side| turn(bodies[side], poses[side], twists[side].angular));
        Self {
            pair,
            bodies,
            all,
            poses,
            twists,
            turns,
            plane: Cell::new(plane),
            spare: Cell::new(0.0),
        }
    }
}

impl Path<'_> {
    /// The bodies meet within `h`, or not. `points` is scratch space.
    pub(crate) fn encounter(&self, h: f64, points: &mut Vec<ContactPoint>) -> Encounter {
        self.advance(h, points).0
    }

    /// The same, and a time, s, up to which the bodies do not meet where nothing more is certain. What keeps well apart stays apart on ways that are close to this one.
    fn advance(&self, h: f64, points: &mut Vec<ContactPoint>) -> (Encounter, f64) {
        self.spare.set(0.0);
        let (thickness, tolerance) = (thickness(self.bodies), tolerance(self.bodies));
        let has_shape = |body: &BodyConstants| body.geometry.is_some();
        if !tolerance.is_finite() || !self.bodies.into_iter().all(has_shape) {
            return (Encounter::Unclear, 0.0);
        }
        if let [Some(a), Some(b)] = self.bodies.map(BodyConstants::ball_radius) {
            return (self.of_balls(a + b, h, tolerance), 0.0);
        }
        let turning = self.turning();
        if !turning.is_finite() {
            return (Encounter::Unclear, 0.0);
        }
        // What stays outside of the ball that a body turns in does not meet it.
        let radii = self.bodies[0].radius + self.bodies[1].radius;
        if radii.is_finite() && self.of_balls(radii, h, 0.0) == Encounter::Apart {
            return (Encounter::Apart, h);
        }
        let [a, b] = &self.twists;
        let relative = a.linear - b.linear;
        let most = relative.length() + turning;
        let cap = if self.is_of_surface() {
            thickness
        } else {
            f64::INFINITY
        };
        let looks = LOOKS + (h * most / cap).min(MORE_LOOKS) as usize;
        // Behind edges what is nearest may be as near as that at once.
        let mut leap = cap;
        let is_of_ball = self
            .bodies
            .into_iter()
            .any(|body| body.ball_radius().is_some());
        let near = SHARP * tolerance;
        let spares = if self.is_of_polytopes() {
            &SPARES
        } else {
            &[][..]
        };
        // The largest that leaves some of the room (m).
        let spare_of = |room: f64, most: f64| {
            let spares = spares.iter().map(|part| part * thickness);
            let mut small = spares.filter(|spare| *spare <= most && room - spare > near);
            small.next().unwrap_or(0.0)
        };
        let mut spare = spare_of(f64::INFINITY, f64::INFINITY);
        let (mut before, mut time, mut left) = (0.0, 0.0, looks);
        let mut plane = self.plane();
        loop {
            if left == 0 {
                if spare == 0.0 {
                    break;
                }
                (spare, left) = (0.0, looks);
            }
            left -= 1;
            time = plane.map_or(time, |plane| {
                self.apart_until(time, spare - tolerance, plane, h)
            });
            if time >= h {
                self.spare.set(spare);
                return (Encounter::Apart, h);
            }
            let margin = (most * (h - time) + tolerance + spare).min(4.0 * cap);
            if let Some(planes) = self.planes_between(time, (near - tolerance, margin)) {
                let rooms = planes.iter().map(|(gap, _)| gap + tolerance);
                let allowed = spare_of(rooms.fold(f64::INFINITY, f64::min), spare);
                if allowed < spare {
                    (spare, left) = (allowed, looks);
                }
                let (step, normal) = self.step_between(&planes, spare - tolerance, [time, h]);
                time += step;
                if time >= h {
                    self.spare.set(spare);
                    return (Encounter::Apart, h);
                }
                plane = Some(normal);
                self.plane.set(plane);
                continue;
            }
            self.points_at(time, margin, points);
            let least = points.iter().map(|point| point.gap).fold(margin, f64::min);
            let allowed = spare_of(least + tolerance, spare);
            if allowed < spare {
                (spare, left) = (allowed, looks);
            }
            let overlap = tolerance - spare;
            if time == 0.0 && least + overlap < 0.0 {
                return (Encounter::Unclear, 0.0);
            }
            let (mut step, mut nearest, mut normal) = (f64::INFINITY, f64::INFINITY, DVec3::ZERO);
            for point in points.iter() {
                let room = point.gap + overlap;
                let closing = self.closing(point.normal, [time, h]);
                if closing > 0.0 && room / closing < step {
                    (step, normal) = (room / closing, point.normal);
                    nearest = room;
                }
            }
            // Of a surface the nearest point is certain alone: others may hide behind its edges.
            let bound = (least.max(0.0) + leap) / most;
            if is_of_ball && leap.is_finite() && time > 0.0 && leap > 0.0 && least < -overlap {
                // Between this look and the last one they met on another plane than those that they are in now.
                (time, leap) = (before, 0.0);
                continue;
            }
            before = time;
            if bound < step {
                (step, nearest) = (bound, f64::INFINITY);
            }
            if nearest <= near {
                // Bodies that touch already have the contacts of that time: how deep they get tells.
                let encounter = if time > 0.0 {
                    Encounter::Meets { time, normal }
                } else {
                    Encounter::Unclear
                };
                return (encounter, time);
            }
            time += step;
            if time >= h || step.is_infinite() {
                self.spare.set(spare);
                return (Encounter::Apart, h);
            }
            plane = Some(normal);
            self.plane.set(plane);
        }
        if turning > 0.0 {
            return (Encounter::Unclear, time);
        }
        (self.cast(time, h, points), time)
    }

    /// How long, s, what these planes hold apart stays more than `least` (m) apart, and the normal of the plane that tells.
    fn step_between(&self, planes: &[Plane], least: f64, [time, h]: [f64; 2]) -> (f64, DVec3) {
        let steps = planes.iter().map(|(gap, normal)| {
            let closing = self.closing(*normal, [time, h]);
            let step = if closing > 0.0 {
                (gap - least) / closing
            } else {
                f64::INFINITY
            };
            (step, *normal)
        });
        let first = |first: (f64, DVec3), other: (f64, DVec3)| {
            if other.0 < first.0 { other } else { first }
        };
        steps.fold((f64::INFINITY, DVec3::ZERO), first)
    }

    /// What becomes of bodies that do not turn from a time (s) on, up to which they do not meet, by a cast along the rest of their way: of any length, however many triangles it
    /// passes.
    fn cast(&self, time: f64, h: f64, points: &mut Vec<ContactPoint>) -> Encounter {
        let relative = self.twists[0].linear - self.twists[1].linear;
        let (speed, left) = (relative.length(), h - time);
        let sweep = Sweep::new(relative).and_then(|sweep| sweep.up_to(speed * left));
        let [Some(a), Some(b)] = self.bodies.map(|body| body.geometry.as_ref()) else {
            return Encounter::Unclear;
        };
        let Ok(sweep) = sweep else {
            return Encounter::Unclear;
        };
        let [at_a, at_b] =
            [0, 1].map(|side| self.bodies[side].shape_pose(&self.pose_at(side, time)));
        let Some(hit) = cast_shape(a, &at_a, &sweep, b, &at_b) else {
            return Encounter::Apart;
        };
        // What is touched as it goes by does not get deep.
        let (tolerance, closing) = (tolerance(self.bodies), -hit.normal.dot(relative));
        let met = time + hit.distance / speed + 2.0 * tolerance / closing.max(0.0);
        let met = met.min(h);
        if hit.distance > 0.0 && self.deepest_at(met, points).0 < -tolerance {
            Encounter::Meets {
                time: met,
                normal: hit.normal,
            }
        } else {
            Encounter::Unclear
        }
    }

    /// The plane to begin with.
    fn plane(&self) -> Option<DVec3> {
        let [a, b] = self.poses.map(|pose| pose.position);
        let of_a = || self.half_space(0).map(|normal| -normal);
        let of_half_space = || self.half_space(1).or_else(of_a);
        let known = self.plane.get().or_else(of_half_space);
        known.or_else(|| (a - b).try_normalize())
    }

    /// Outward normal of a half-space that does not turn.
    fn half_space(&self, side: usize) -> Option<DVec3> {
        let Shape::HalfSpace { normal } = self.bodies[side].geometry.as_ref()?.shape() else {
            return None;
        };
        let stays = self.twists[side].angular == DVec3::ZERO;
        stays.then(|| (self.poses[side].orientation * *normal).normalize())
    }

    /// By how much more than they may overlap planes with the normal at hand hold the bodies apart on the whole way, m; `None` if they do not. Bodies
    /// may overlap as far as they do not meet, or, unless that is `strict`, do not sink into each other.
    pub(crate) fn room(&self, h: f64, strict: bool) -> Option<f64> {
        let depth = if strict {
            tolerance(self.bodies)
        } else {
            SINKS * thickness(self.bodies)
        };
        let poses = [0, 1].map(|side| *self.poses[side]);
        let plane = self.plane().filter(|_| depth.is_finite())?;
        let [begin, end] = [0.0, h].map(|window| self.separation(&poses, plane, window));
        let bend = 0.5 * (self.bend(0, plane) + self.bend(1, plane));
        let room = begin?.min(end? - bend * h * h) + depth - SHARP * tolerance(self.bodies);
        (room > 0.0).then_some(room)
    }

    /// A time, s, from `time` on, up to which the gap stays above `least` (m), since planes with this normal hold the bodies so far apart.
    ///
    /// Over a window `τ` a point at `ρ` from its centre moves to `x + τ (v + ω×ρ)`, but for `½ (ωτ)² |ρ|`. The separation of all points
    /// so moved is a minimum of linear functions of `τ`, less that bound a concave one: it stays above its chords.
    fn apart_until(&self, time: f64, least: f64, normal: DVec3, h: f64) -> f64 {
        let near = SHARP * tolerance(self.bodies);
        let bend = 0.5 * (self.bend(0, normal) + self.bend(1, normal));
        let poses = [0, 1].map(|side| self.pose_at(side, time));
        let room = |window: f64| {
            let separation = self.separation(&poses, normal, window)?;
            Some(separation - least - bend * window * window)
        };
        let left = h - time;
        let Some((first, last)) = room(0.0).zip(room(left)) else {
            return time;
        };
        if first <= near || left <= 0.0 {
            return time;
        }
        if last >= 0.0 {
            return h;
        }
        let (mut safe, mut at_safe) = (0.0, first);
        for _ in 0..CHORDS {
            safe += (left - safe) * (at_safe / (at_safe - last));
            at_safe = room(safe).unwrap_or(0.0);
            if at_safe <= near {
                break;
            }
        }
        time + safe
    }

    /// How far apart planes with this normal hold the two solids (m), once their points have moved on from these poses for a time
    /// `window` as they began to.
    fn separation(&self, poses: &[Pose; 2], normal: DVec3, window: f64) -> Option<f64> {
        let support = |side: usize, n: DVec3| {
            let (body, pose, twist) = (self.bodies[side], &poses[side], &self.twists[side]);
            // n·(ω×ρ) = (n×ω)·ρ
            let turned = n + n.cross(self.turns[side]) * window;
            let shape = body.shape_pose(pose);
            let about_centre = Frame::new(shape.position - pose.position, shape.orientation);
            let geometry = body.geometry.as_ref()?;
            let reach = match self.half_space(side) {
                Some(own) if own.dot(n) > 1.0 - PARALLEL => n.dot(about_centre.position),
                _ => geometry.support(&about_centre, turned)?,
            };
            Some(reach + n.dot(pose.position + twist.linear * window))
        };
        Some(-support(0, -normal)? - support(1, normal)?)
    }

    /// Largest acceleration of a point of the surface from turning, along a normal, m/s²: `|n·(ω×(ω×ρ))| ≤ |n×ω| |ω| R`. Of round bodies, whose turn about their axis does
    /// not count, the turn that does changes its direction with the other.
    fn bend(&self, side: usize, normal: DVec3) -> f64 {
        let (turn, whole) = (self.turns[side], self.twists[side].angular);
        let across = if self.bodies[side].is_round() {
            SQRT_2 * turn.length()
        } else {
            normal.cross(turn).length()
        };
        across * whole.length() * self.reach(side)
    }

    /// Two balls, in closed form.
    fn of_balls(&self, radii: f64, h: f64, tolerance: f64) -> Encounter {
        let [a, b] = self.poses.map(|pose| pose.position);
        let (d, w) = (a - b, self.twists[0].linear - self.twists[1].linear);
        let reach = radii - tolerance;
        let (ww, dw, c) = (
            w.length_squared(),
            d.dot(w),
            d.length_squared() - reach * reach,
        );
        if c < 0.0 {
            return Encounter::Unclear;
        }
        let root = dw * dw - ww * c;
        if dw >= 0.0 || root < 0.0 {
            return Encounter::Apart;
        }
        // The first root of |d + t w| = reach.
        let time = c / (root.sqrt() - dw);
        if time >= h {
            return Encounter::Apart;
        }
        let normal = (d + w * time).normalize_or_zero();
        Encounter::Meets { time, normal }
    }

    /// Longest way of a point of one body, seen from the other, within `h`, m.
    pub(crate) fn length(&self, h: f64) -> f64 {
        let [a, b] = &self.twists;
        h * ((a.linear - b.linear).length() + self.turning())
    }

    /// Largest speed of a surface from turning, m/s.
    fn turning(&self) -> f64 {
        self.turns[0].length() * self.reach(0) + self.turns[1].length() * self.reach(1)
    }

    /// The largest speed at which points of the bodies that may meet between two times (s) come closer along a normal, m/s.
    ///
    /// A point at `ρ` from its centre turns along the normal with `n·(ω×ρ)`, `|n·(ω×ρ)| ≤ |n×ω| R`. What meets the other body lies within its radius then, and no farther from it before
    /// than it comes nearer: `ρ = d + y` with the other's centre at `d` and `|y| ≤ R' + τ s`, where `s` is the largest relative speed of any two points.
    fn closing(&self, normal: DVec3, [time, end]: [f64; 2]) -> f64 {
        let relative = self.twists[0].linear - self.twists[1].linear;
        let [a, b] = self.poses.map(|pose| pose.position);
        let (left, between) = (end - time, b - a - relative * time);
        let travel = left * (relative.length() + self.turning() + relative.length());
        let turning = |side: usize, towards: DVec3, other: usize| {
            let across = normal.cross(self.turns[side]);
            // From B to A: A comes closer against the normal, `−n·(ω×ρ) = −(n×ω)·ρ`.
            let sign = if side == 0 { -1.0 } else { 1.0 };
            let farthest = across.length() * self.reach(side);
            let (turn, whole) = (self.turns[side], self.twists[side].angular);
            if (whole - turn).length_squared() > NO_SPIN * whole.length_squared() {
                // With the spin about its own axis the turn of a round body changes its direction.
                return farthest;
            }
            let near =
                sign * across.dot(towards) + across.length() * (self.bodies[other].radius + travel);
            near.min(farthest)
        };
        turning(0, between, 1) + turning(1, -between, 0) - normal.dot(relative)
    }

    /// Distance of the farthest point of a body that turns, m.
    fn reach(&self, side: usize) -> f64 {
        if self.turns[side] == DVec3::ZERO {
            0.0
        } else {
            self.bodies[side].radius
        }
    }

    fn pose_at(&self, side: usize, time: f64) -> Pose {
        let (pose, twist) = (self.poses[side], &self.twists[side]);
        let orientation = if twist.angular == DVec3::ZERO {
            pose.orientation
        } else {
            let turn: DQuat = rotation::exp(twist.angular * time);
            rotation::normalised(turn * pose.orientation)
        };
        Pose {
            position: pose.position + twist.linear * time,
            orientation,
        }
    }

    fn points_at(&self, time: f64, margin: f64, points: &mut Vec<ContactPoint>) {
        self.surface_at((time, margin), true, points);
    }

    /// Points at `time` that are no farther apart than `margin`, m, while the pair is `followed`, or to be imposed.
    fn surface_at(
        &self,
        (time, margin): (f64, f64),
        followed: bool,
        points: &mut Vec<ContactPoint>,
    ) {
        points.clear();
        if let [Some(a), Some(b)] = self.bodies.map(|body| body.geometry.as_ref()) {
            let poses = [0, 1].map(|side| self.pose_at(side, time));
            let [at_a, at_b] = [0, 1].map(|side| self.bodies[side].shape_pose(&poses[side]));
            let mut plane = self.plane.get();
            contacts_or_plane(a, &at_a, b, &at_b, (margin, &mut plane), points);
            let pair = (self.pair, self.bodies, [&poses[0], &poses[1]]);
            covered::put_on_surface(pair, self.all, followed, points);
        }
    }

    /// Planes that hold all parts of two solids of polytopes more than `least` (m) apart at `time`, but for those farther apart than `margin` (m): by how much, m, and
    /// unit normals, from B to A.
    fn planes_between(
        &self,
        time: f64,
        (least, margin): (f64, f64),
    ) -> Option<SmallVec<[Plane; 4]>> {
        let [a, b] = [
            self.bodies[0].geometry.as_ref()?,
            self.bodies[1].geometry.as_ref()?,
        ];
        let [at_a, at_b] =
            [0, 1].map(|side| self.bodies[side].shape_pose(&self.pose_at(side, time)));
        let mut planes = SmallVec::new();
        separating_planes((a, &at_a), (b, &at_b), (least, margin), &mut planes).then_some(planes)
    }

    /// Deepest overlap of the pair at `time` as a gap, m, with its normal; infinite where there is none.
    pub(crate) fn deepest_at(&self, time: f64, points: &mut Vec<ContactPoint>) -> (f64, DVec3) {
        self.points_at(time, 0.0, points);
        let mut deepest = (f64::INFINITY, DVec3::ZERO);
        for point in points.iter() {
            if point.gap < deepest.0 {
                deepest = (point.gap, point.normal);
            }
        }
        deepest
    }

    /// Planes between the bodies are found much faster than their contacts.
    fn is_of_polytopes(&self) -> bool {
        let geometries = self.bodies.map(|body| body.geometry.as_ref());
        let mut geometries = geometries.into_iter().flatten();
        geometries.all(Geometry::is_of_polytopes)
    }

    /// One of the bodies is a surface of triangles.
    pub(crate) fn is_of_surface(&self) -> bool {
        self.bodies.into_iter().any(is_surface)
    }
}
