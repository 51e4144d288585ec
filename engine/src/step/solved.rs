//! The motion of a step as solved, for those who look at it: the rounds of [`meeting`](super::meeting) and the stages of
//! [`impacts`](super::impacts).

use super::moreau_jean::theta_of_impact;
use super::other_laws::turned;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::RigidBody;
use crate::detection::Detection;
use crate::detection::path::{self, Path};
use crate::forces::Forces;
use crate::interactions::detected::{Detected, Late};
use crate::interactions::edit::Edits;
use crate::interactions::law::{Coefficients, InteractionLaw, coefficients};
use crate::interactions::record::{ContactRecord, Earlier};
use crate::joints::Push;
use crate::math::rotation::rate_between;
use crate::motion::Motion;
use crate::motion::free_motion::turned_under;
use crate::settings::{RotationUpdate, Settings, Theta};
use glam::DVec3;
use moreau_solvers::{Contact, WorldTwist};
use std::ops::Range;

/// Cosine of the angle between two normals that are one plane: what a body of a twentieth of its size a step turns it by.
pub(super) const SAME_PLANE: f64 = 0.998;

/// Way along a plane, as a part of the half-thickness of the thinner body, from which on it may not be the plane of the pair at
/// the end of the step: two balls have left it by a hundredth of their radius.
pub(super) const FAST: f64 = 0.2;

/// Way by which the farthest point of a body leaves its tangent in a step, `½ φ² R`, as a part of the half-thickness, from which on the body may
/// turn out of the planes of its contacts into what it lies on, or into what had none.
const TURN: f64 = 0.1;

/// Way of the farthest point of a body as it turns in a step, as a part of the half-thickness, up to which what its contacts do not stand for is left
/// to the projection.
const SWING: f64 = 0.1;

/// Radius of a body of parts, over that of another one that may be among them.
const SURROUNDS: f64 = 2.0;

/// `u_N` of a contact with these twists of its bodies, m/s.
pub(crate) fn normal_velocity(contact: &Contact, twists: &[WorldTwist; 2]) -> f64 {
    let [a, b] = [0, 1].map(|side| twists[side].at(contact.arms[side]));
    contact.frame.x_axis.dot(a - b)
}

/// What contacts do to a body in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Pushed {
    /// None pushes it.
    #[default]
    Not,
    /// None of them is an impact.
    Held,
    /// Some are impacts, and this is the θ of all of them.
    Struck(f64),
}

impl Pushed {
    /// Another contact pushes it, in an impact of this θ if it is one.
    pub(crate) fn by(self, impact: Option<f64>) -> Self {
        match (self, impact) {
            (Self::Struck(before), Some(theta)) => Self::Struck(before.max(theta)),
            (_, Some(theta)) => Self::Struck(theta),
            (Self::Not, None) => Self::Held,
            (pushed, None) => pushed,
        }
    }
}

/// What a look reads.
pub(crate) struct Solved<'a> {
    pub(crate) bodies: &'a Bodies,
    pub(crate) motion: &'a Motion,
    pub(crate) record: &'a ContactRecord,
    pub(crate) contacts: &'a [Contact],
    pub(crate) impacts: &'a [bool],
    pub(crate) forces: &'a Forces,
    pub(crate) edits: &'a Edits,
    pub(crate) settings: &'a Settings,
}

impl Solved<'_> {
    /// The surfaces are apart at `t_k`: the contact is of a plane that the body has yet to meet.
    pub(crate) fn is_ahead(&self, row: usize) -> bool {
        let place = &self.record.found[row];
        let balls = self.motion.centres().balls;
        let tolerance = || path::tolerance_of(place.bodies, balls, self.bodies);
        place.gap > 0.0 && place.gap > tolerance() && !self.is_given(row)
    }

    /// What earlier stages did to a row.
    pub(crate) fn earlier(&self, row: usize) -> Earlier {
        self.record.earlier(row)
    }

    /// `e` of a row.
    pub(crate) fn restitution(&self, row: usize) -> f64 {
        let contact = &self.record.found[row];
        self.law(contact, self.edits.law(row)).restitution
    }

    /// Approach speed below which a row does not bounce, m/s.
    pub(crate) fn bounce_threshold(&self, row: usize) -> f64 {
        self.threshold_of(&self.record.found[row], self.edits.law(row))
    }

    /// The same of a contact, with the law that a user gave it.
    pub(crate) fn threshold_of(&self, contact: &Detected, given: Option<&InteractionLaw>) -> f64 {
        if given.is_none() && !self.bodies.some_materials_differ {
            return self.settings.bounce_threshold();
        }
        self.law(contact, given).bounce_threshold(self.settings)
    }

    #[inline]
    pub(crate) fn law(&self, contact: &Detected, given: Option<&InteractionLaw>) -> Coefficients {
        match given {
            Some(law) => law.into(),
            None => coefficients(contact, self.bodies, self.settings),
        }
    }

    /// `u_N` of a row with these twists of its bodies, m/s.
    pub(crate) fn normal_velocity(&self, row: usize, twists: &[WorldTwist; 2]) -> f64 {
        normal_velocity(&self.contacts[row], twists)
    }

    /// What the impulse of a row changes of the velocity of one of its bodies.
    pub(crate) fn change(&self, row: usize, slot: Slot) -> WorldTwist {
        if !self.bodies.is_awake_dynamic(slot) {
            return WorldTwist::default();
        }
        let contact = &self.contacts[row];
        let r = contact.frame * self.record.impulse[row];
        let (side, force) = if contact.bodies[0] == slot.0 {
            (0, r)
        } else {
            (1, -r)
        };
        let push = Push {
            linear: force,
            angular: contact.arms[side].cross(force),
        };
        let push = turned(push, self.record.couple(row, &contact.frame), side);
        let held = self.forces.change(slot, &push);
        held.unwrap_or_else(|| push.change(&self.motion.inverse_mass[slot]))
    }

    /// Some of these rows have this normal.
    pub(crate) fn is_plane(&self, rows: &[usize], normal: DVec3) -> bool {
        let found = &self.record.found;
        let mut planes = rows.iter().map(|row| found[*row].normal);
        planes.any(|plane| plane.dot(normal) > SAME_PLANE)
    }

    /// Two rows of a pair are of one plane.
    pub(crate) fn are_one_plane(&self, rows: [usize; 2]) -> bool {
        self.is_one_plane(rows.map(|row| &self.record.found[row]))
    }

    /// The same of two contacts of a pair.
    pub(crate) fn is_one_plane(&self, [first, second]: [&Detected; 2]) -> bool {
        let parts = self.has_parts(first.bodies);
        let least = if parts { path::SAME_FACE } else { SAME_PLANE };
        first.normal.dot(second.normal) > least
    }

    /// One of the bodies is put together from parts.
    pub(crate) fn has_parts(&self, pair: [Slot; 2]) -> bool {
        let has_parts = |slot: Slot| self.bodies.constants[slot].has_parts();
        self.bodies.some_have_parts && pair.into_iter().any(has_parts)
    }

    /// The body is not a ball, and turns far in the step.
    pub(crate) fn turns(&self, slot: Slot) -> bool {
        let body = &self.bodies.constants[slot];
        let angular = self.end(slot).angular;
        let turn = angular - self.bodies.spin(slot, angular);
        let angle = turn.length() * self.settings.time_step;
        let leaves = 0.5 * angle * angle * body.radius;
        leaves > TURN * body.size && body.size > 0.0 && body.ball_radius().is_none()
    }

    /// The bodies of [`Self::turns`], ascending.
    pub(crate) fn turning(&self) -> Vec<Slot> {
        let moving = self.bodies.moving.iter().copied();
        moving.filter(|slot| self.turns(*slot)).collect()
    }

    /// Parts of the body that none of its contacts stands for may get into another one as it turns.
    pub(crate) fn swings(&self, slot: Slot) -> bool {
        let body = &self.bodies.constants[slot];
        let angular = self.end(slot).angular;
        let is_far = |turn: f64| {
            let way = self.settings.time_step * turn * body.radius;
            way > SWING * body.size && body.size > 0.0
        };
        // Few turn so far with their spin.
        is_far(angular.length())
            && is_far((angular - self.bodies.spin(slot, angular)).length())
            && body.ball_radius().is_none()
    }

    /// The body moves by more than its half-thickness in the step.
    pub(crate) fn flies(&self, slot: Slot) -> bool {
        let way = self.settings.time_step * self.end(slot).linear.length();
        let size = self.bodies.constants[slot].size;
        size > 0.0 && way > size
    }

    /// The body gets farther across the direction in which it began than its half-thickness: detection allows for what lies along it.
    pub(crate) fn is_deflected(&self, slot: Slot) -> bool {
        let [begin, end] = [self.motion.begin[slot], self.end(slot)].map(|twist| twist.linear);
        let across = begin
            .try_normalize()
            .map_or(end, |way| end.reject_from_normalized(way));
        let size = self.bodies.constants[slot].size;
        size > 0.0 && self.settings.time_step * across.length() > size
    }

    pub(crate) fn has_surfaces(&self) -> bool {
        let mut bodies = self.bodies.constants.iter();
        bodies.any(path::is_surface)
    }

    /// The rows of a pair.
    pub(crate) fn rows_of(&self, pair: [Slot; 2]) -> Range<usize> {
        let found = &self.record.found;
        let begin = found.partition_point(|place| place.bodies < pair);
        let same = found[begin..]
            .iter()
            .take_while(|place| place.bodies == pair);
        begin..begin + same.count()
    }

    /// All contacts of a pair are a user's own, or found on its way.
    pub(crate) fn has_given(&self, pair: [Slot; 2]) -> bool {
        let mut rows = self.rows_of(pair);
        !rows.is_empty() && rows.all(|row| self.is_given(row))
    }

    /// The contacts of a pair are all that it may meet: a surface has others ahead of a body that flies, and so have the parts around a small one.
    pub(crate) fn is_known(&self, pair: [Slot; 2]) -> bool {
        let flies = || pair.into_iter().any(|slot| self.flies(slot));
        let several = || self.may_surround(pair) || self.is_of_surface(pair) && flies();
        !(self.rows_of(pair).is_empty() || several())
    }

    /// One of the bodies is put together from parts, and so large that the other may be among them: a room, a crate, a drum.
    pub(crate) fn may_surround(&self, pair: [Slot; 2]) -> bool {
        let [a, b] = pair.map(|slot| &self.bodies.constants[slot]);
        let larger = if a.radius > b.radius { [a, b] } else { [b, a] };
        self.bodies.some_have_parts
            && larger[0].has_parts()
            && larger[0].radius >= SURROUNDS * larger[1].radius
    }

    /// A small body that meets one part or triangle of the other may meet more of them on its way.
    pub(crate) fn may_meet_more(&self, pair: [Slot; 2]) -> bool {
        self.may_surround(pair) || self.is_of_surface(pair)
    }

    /// What one of the bodies is put together from, parts or triangles, has planes of its own: those of one tell nothing of another.
    pub(crate) fn is_of_several(&self, pair: [Slot; 2]) -> bool {
        self.has_parts(pair) || self.is_of_surface(pair)
    }

    /// One of the bodies is a surface of triangles: a pair of many planes.
    pub(crate) fn is_of_surface(&self, pair: [Slot; 2]) -> bool {
        let is_surface = |slot: Slot| path::is_surface(&self.bodies.constants[slot]);
        pair.into_iter().any(is_surface)
    }

    pub(crate) fn turns_something(&self, detection: &Detection) -> bool {
        // What turns far swings: ½φ²R > TURN·size, and R is no less than the size. Most bodies of large scenes are balls.
        let mut others = self
            .bodies
            .moving
            .iter()
            .filter(|slot| !detection.is_ball(**slot));
        others.any(|slot| self.swings(*slot))
    }

    /// A body without bounds is its plane.
    pub(crate) fn is_unbounded(&self, pair: [Slot; 2]) -> bool {
        let bounded = |slot: Slot| self.bodies.constants[slot].radius.is_finite();
        !pair.into_iter().all(bounded)
    }

    pub(crate) fn is_of_balls(&self, pair: [Slot; 2]) -> bool {
        let balls = self.motion.centres().balls;
        pair.into_iter().all(|slot| balls[slot] > 0.0)
    }

    /// Neither is a ball.
    pub(crate) fn is_of_others(&self, pair: [Slot; 2]) -> bool {
        let balls = self.motion.centres().balls;
        !pair.into_iter().any(|slot| balls[slot] > 0.0)
    }

    /// The contact is of a plane ahead that the bodies may have left when they get there.
    pub(crate) fn is_in_doubt(&self, row: usize) -> bool {
        self.is_ahead(row) && !self.is_unbounded(self.record.found[row].bodies) && self.is_fast(row)
    }

    /// The bodies of a row move along its plane by a good part of the thinner one, before or after the impulses.
    pub(crate) fn is_fast(&self, row: usize) -> bool {
        let (place, contact) = (&self.record.found[row], &self.contacts[row]);
        let along = |twists: [&WorldTwist; 2]| {
            let [a, b] = [0, 1].map(|side| twists[side].at(contact.arms[side]));
            (a - b).reject_from_normalized(place.normal).length()
        };
        let begin = along(place.bodies.map(|slot| &self.motion.begin[slot]));
        let ends = place.bodies.map(|slot| self.end(slot));
        let way = self.settings.time_step * begin.max(along([&ends[0], &ends[1]]));
        let bodies = place.bodies.map(|slot| &self.bodies.constants[slot]);
        way > FAST * path::thickness(bodies)
    }

    /// The gap (m) that the plane of a row foretells for the end of these ways.
    pub(crate) fn gap_after(&self, row: usize, ways: &[WorldTwist; 2]) -> f64 {
        let (place, contact) = (&self.record.found[row], &self.contacts[row]);
        let [a, b] = [0, 1].map(|side| ways[side].at(contact.arms[side]));
        place.gap + self.settings.time_step * place.normal.dot(a - b)
    }

    /// On these ways a pair gets into a plane that is imposed: what is left to do is to solve further, and no other plane will keep
    /// the bodies apart before that. Of those put together from parts or triangles it is such a plane for contacts `met` on the same plane.
    pub(crate) fn is_left_open(
        &self,
        pair: [Slot; 2],
        ways: &[WorldTwist; 2],
        met: &Detected,
    ) -> bool {
        let tolerance = path::tolerance(pair.map(|slot| &self.bodies.constants[slot]));
        let several = self.is_of_several(pair);
        let mut rows = self.rows_of(pair);
        rows.any(|row| {
            let same = !several || self.is_plane(&[row], met.normal);
            same && self.gap_after(row, ways) < -tolerance
        })
    }

    /// A contact of the same plane in the same point of a body is imposed already.
    pub(crate) fn is_imposed(&self, met: &Late) -> bool {
        let pair = met.contact.bodies;
        let tolerance = path::tolerance(pair.map(|slot| &self.bodies.constants[slot]));
        self.rows_of(pair).any(|row| {
            let (found, arms) = (&self.record.found[row], &self.contacts[row].arms);
            let mut sides = arms.iter().zip(&met.own.arms);
            self.is_one_plane([found, &met.contact])
                && (found.gap - met.contact.gap).abs() <= tolerance
                && sides.any(|(own, other)| own.distance(*other) <= tolerance)
        })
    }

    pub(crate) fn is_given(&self, row: usize) -> bool {
        let given = &self.record.given;
        given
            .binary_search_by_key(&(row as u32), |given| given.row)
            .is_ok()
    }

    pub(crate) fn path(&self, pair: [Slot; 2], twists: [WorldTwist; 2]) -> Path<'_> {
        let plane = if self.is_of_balls(pair) {
            None
        } else {
            let found = &self.record.found[self.rows_of(pair)];
            found.first().map(|place| place.normal)
        };
        let poses = pair.map(|slot| &self.bodies.pose[slot]);
        Path::new((pair, self.bodies), poses, twists, plane)
    }

    /// `v_{k+1}`.
    pub(crate) fn end(&self, slot: Slot) -> WorldTwist {
        if self.bodies.is_awake_dynamic(slot) {
            self.record.end[slot]
        } else {
            self.motion.free[slot]
        }
    }

    /// θ of an impact.
    pub(crate) fn theta_of_impact(&self, row: usize) -> f64 {
        let place = &self.record.found[row];
        let begin = place.bodies.map(|slot| self.motion.begin[slot]);
        let end = place.bodies.map(|slot| self.end(slot));
        let u = [begin, end].map(|twists| self.normal_velocity(row, &twists));
        theta_of_impact(place.gap, u, self.settings.time_step)
    }

    /// `v_{k+θ}`, for a body that ends with a velocity and is pushed so. What tumbles gets to where the step turns it.
    pub(crate) fn way(&self, slot: Slot, end: WorldTwist, pushed: Pushed) -> WorldTwist {
        let mean = self.mean(slot, end, pushed);
        WorldTwist {
            angular: self.turn(slot, end.angular, pushed).unwrap_or(mean.angular),
            ..mean
        }
    }

    /// The constant angular velocity, rad/s, inertial frame, under which a body that ends with a velocity gets to where the step turns it, if that is another one: a body of unequal moments
    /// that turns far changes its own as it does.
    pub(crate) fn turn(&self, slot: Slot, end: DVec3, pushed: Pushed) -> Option<DVec3> {
        let (body, settings) = (&self.bodies.constants[slot], self.settings);
        let is_free = settings.theta == Theta::Auto
            && settings.rotation == RotationUpdate::Exponential
            && body.kind == RigidBody::Dynamic
            && !self.bodies.is_stiff(slot);
        if !is_free || body.inertia.spherical || !self.turns(slot) {
            return None;
        }
        let (p, drift) = (self.bodies.pose[slot].orientation, &self.motion.drift[slot]);
        let change = p.conjugate() * (end - self.motion.free[slot].angular);
        let turned = if change == DVec3::ZERO || matches!(pushed, Pushed::Not) {
            drift.orientation
        } else {
            let solved = drift.twist.angular + change;
            turned_under(&body.inertia, p, [solved; 2], settings.time_step).0
        };
        Some(rate_between([p, turned], settings.time_step, end))
    }

    /// `v_{k+θ}`, for a body that ends with a velocity and is pushed so.
    pub(crate) fn mean(&self, slot: Slot, end: WorldTwist, pushed: Pushed) -> WorldTwist {
        let theta = match (self.settings.theta, pushed) {
            (Theta::Fixed(theta), _) => theta,
            (Theta::Auto, Pushed::Not) => 0.5,
            (Theta::Auto, Pushed::Held) => 1.0,
            (Theta::Auto, Pushed::Struck(theta)) => theta,
        };
        let is_auto = self.settings.theta == Theta::Auto;
        if self.bodies.constants[slot].kind != RigidBody::Dynamic
            || is_auto && self.bodies.is_stiff(slot)
        {
            return end;
        }
        let begin = &self.motion.begin[slot];
        WorldTwist {
            linear: end.linear * theta + begin.linear * (1.0 - theta),
            angular: end.angular * theta + begin.angular * (1.0 - theta),
        }
    }
}
