//! How far from its surface a body may meet another one in a step.

use crate::bodies::Bodies;
use crate::bodies::slot::{Slot, Slots};
use crate::math::chunks;
use crate::motion::Motion;
use crate::settings::Settings;
use glam::DVec3;
use moreau_geometry::{Aabb, Extent};
use moreau_solvers::WorldTwist;

/// Reach of a body that is not a ball.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reach {
    /// Margin and travel of its points, m.
    pub(super) distance: f64,
    /// Angle turned by a body without bounds, rad: its points travel the farther the farther out
    /// they are. Zero for bounded bodies.
    pub(super) angle: f64,
    /// The margin alone, m.
    pub(super) margin: f64,
    /// Of the body about its centre, m; zero for unbounded bodies.
    pub(super) radius: f64,
    /// How far the body may go before the broad phase looks at it again, m; negative without a
    /// shape.
    slack: f64,
}

/// A ball and its reach: all that two balls need of each other, next to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct BallReach {
    pub(super) center: DVec3,
    /// m; zero if the body is not a ball about its centre of mass.
    pub(super) radius: f64,
    /// Margin and travel of the centre, m. Turning does not move the surface of a ball.
    pub(super) distance: f64,
    /// The margin alone, m.
    pub(super) margin: f64,
}

impl BallReach {
    const NONE: Self = Self {
        center: DVec3::ZERO,
        radius: 0.0,
        distance: 0.0,
        margin: 0.0,
    };

    #[inline]
    pub(super) fn is_ball(&self) -> bool {
        self.radius > 0.0
    }

    /// Both are balls that may meet in this step.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        let reach = (self.radius + self.distance) + (other.radius + other.distance);
        (self.center - other.center).length_squared() <= reach * reach
    }
}

/// Extents of all bodies in this step, by slot.
#[derive(Default)]
pub(super) struct Extents {
    /// Box of each body with its reach; inverted where there is no shape.
    pub(super) boxes: Vec<Aabb>,
    pub(super) reach: Vec<Reach>,
    pub(super) balls: Vec<BallReach>,
}

/// What extents are made of.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) bodies: &'a Bodies,
    pub(super) motion: &'a Motion,
    pub(super) settings: &'a Settings,
}

/// A body is left alone until it has gone this many steps at its speed …
const STEPS: f64 = 6.0;
/// … but at least, and at most, this fraction of its half-thickness.
const LEAST_SLACK: f64 = 0.05;
const MOST_SLACK: f64 = 0.5;

const NOWHERE: Aabb = Aabb::new(DVec3::INFINITY, DVec3::NEG_INFINITY);

impl Extents {
    pub(super) fn resize(&mut self, count: usize) {
        self.boxes.resize(count, NOWHERE);
        self.reach.resize(count, Reach::default());
        self.balls.resize(count, BallReach::NONE);
    }

    /// Works out the extent of one body.
    pub(super) fn set(&mut self, slot: Slot, source: &Source) {
        (self.boxes[slot], self.reach[slot], self.balls[slot]) = measure(slot, source);
    }

    /// Works out the extents of the bodies of `slots`, ascending. Sets the row of each in `loose`, which has one a body:
    /// whether the extent is not `held`.
    pub(super) fn set_all(
        &mut self,
        slots: &[Slot],
        source: &Source,
        loose: &mut [bool],
        held: impl Fn(Slot, Option<&Extent>) -> bool + Sync,
    ) {
        let columns = (
            &mut self.boxes[..],
            &mut self.reach[..],
            &mut self.balls[..],
            loose,
        );
        chunks::for_each(Slots::of(slots, columns), &|part| {
            let rows = part.each();
            let (boxes, reach, balls, loose) = part.columns;
            for (slot, row) in rows {
                (boxes[row], reach[row], balls[row]) = measure(slot, source);
                let extent = extent(boxes[row], &reach[row], &balls[row]);
                loose[row] = !held(slot, extent.as_ref());
            }
        });
    }

    /// Contacts of a pair with gaps beyond this, m, do not matter in the step.
    pub(super) fn distance(&self, pair: [Slot; 2], bodies: &Bodies) -> f64 {
        let [x, y] = pair.map(|slot| &self.balls[slot]);
        if x.is_ball() && y.is_ball() {
            return x.distance + y.distance;
        }
        let [x, y] = pair.map(|slot| &self.reach[slot]);
        let mut distance = x.distance + y.distance;
        for (turning, other) in [(x, pair[1]), (y, pair[0])] {
            if turning.angle > 0.0 {
                let [a, b] = pair.map(|slot| bodies.pose[slot].position);
                distance += turning.angle * ((a - b).length() + bodies.constants[other].radius);
            }
        }
        distance
    }

    /// The body gets farther with this twist than its extent allows for, and it may get farther than its half-thickness.
    #[inline]
    pub(super) fn are_passed(&self, slot: Slot, end: &WorldTwist, h: f64) -> [bool; 2] {
        let ball = &self.balls[slot];
        if ball.is_ball() {
            let way = h * end.linear.length();
            return [way > ball.distance, way > ball.radius];
        }
        let reach = &self.reach[slot];
        let turn = reach.radius * end.angular.length();
        let passes = reach.slack >= 0.0 && h * (end.linear.length() + turn) > reach.distance;
        [passes, true]
    }

    /// Widens the extent of a body to what it reaches with a twist.
    pub(super) fn widen(&mut self, slot: Slot, end: &WorldTwist, source: &Source) {
        let (speed, spin) = source.motion.speeds(slot);
        let speeds = (
            speed.max(end.linear.length()),
            spin.max(end.angular.length()),
        );
        (self.boxes[slot], self.reach[slot], self.balls[slot]) = measure_at(slot, speeds, source);
    }

    /// The extent of one body; `None` if it has no shape.
    pub(super) fn of(&self, slot: Slot) -> Option<Extent> {
        extent(self.boxes[slot], &self.reach[slot], &self.balls[slot])
    }
}

/// How far a body gets in [`STEPS`] steps at the velocity of its free motion, m.
pub(super) fn ahead(slot: Slot, source: &Source) -> DVec3 {
    STEPS * source.settings.time_step * source.motion.free[slot].linear
}

#[inline]
fn extent(bounds: Aabb, reach: &Reach, ball: &BallReach) -> Option<Extent> {
    let of_box = Extent::of_box(bounds, reach.slack);
    (reach.slack >= 0.0).then_some(if ball.is_ball() {
        Extent {
            center: ball.center,
            radius: ball.radius + ball.distance,
            ..of_box
        }
    } else {
        of_box
    })
}

/// Box, reach and ball of a body at its present pose.
#[inline(always)]
fn measure(slot: Slot, source: &Source) -> (Aabb, Reach, BallReach) {
    measure_at(slot, source.motion.speeds(slot), source)
}

/// The same at a given speed of the centre (m/s) and angular speed (rad/s).
#[inline(always)]
fn measure_at(slot: Slot, (speed, spin): (f64, f64), source: &Source) -> (Aabb, Reach, BallReach) {
    let Source {
        bodies, settings, ..
    } = source;
    let body = &bodies.constants[slot];
    let pose = &bodies.pose[slot];
    let h = settings.time_step;
    let margin = settings.margin * body.size;
    let bounded = body.radius.is_finite();
    let turn = if bounded { spin * body.radius } else { 0.0 };
    let distance = margin + h * (speed + turn);
    let angle = if bounded { 0.0 } else { h * spin };
    let radius = source.motion.centres().balls[slot];
    let ball_radius = (radius > 0.0).then_some(radius);
    let travel = h * if ball_radius.is_some() {
        speed
    } else {
        speed + turn
    };
    // Bodies without a thickness go by their speed alone.
    let most = if body.size > 0.0 {
        MOST_SLACK * body.size
    } else {
        f64::INFINITY
    };
    let slack = (STEPS * travel).max(LEAST_SLACK * body.size).min(most);
    let ball = ball_radius.map_or(BallReach::NONE, |radius| BallReach {
        center: pose.position,
        radius,
        distance: margin + travel,
        margin,
    });
    let bounds = match (&body.geometry, ball_radius) {
        (None, _) => NOWHERE,
        (Some(_), Some(radius)) => {
            let reach = radius + (margin + travel);
            Aabb::from_center(pose.position, DVec3::splat(reach))
        }
        (Some(_), None) if angle > 0.0 => Aabb::EVERYTHING,
        (Some(geometry), None) => geometry.aabb(&body.shape_pose(pose)).inflated(distance),
    };
    let reach = Reach {
        distance,
        angle,
        margin,
        radius: if bounded { body.radius } else { 0.0 },
        slack: if body.geometry.is_some() { slack } else { -1.0 },
    };
    (bounds, reach, ball)
}
