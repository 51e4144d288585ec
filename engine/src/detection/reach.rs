//! How far from its surface a body may meet another one in a step.

use crate::bodies::Bodies;
use crate::motion::Motion;
use crate::settings::Settings;
use glam::DVec3;
use moreau_geometry::{Aabb, Extent};

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
const STEPS: f64 = 4.0;
/// … but at least, and at most, this fraction of its half-thickness.
const LEAST_SLACK: f64 = 0.05;
const MOST_SLACK: f64 = 0.5;

/// Bodies per unit of parallel work.
const CHUNK: usize = 1024;

const NOWHERE: Aabb = Aabb::new(DVec3::INFINITY, DVec3::NEG_INFINITY);

impl Extents {
    pub(super) fn resize(&mut self, count: usize) {
        self.boxes.resize(count, NOWHERE);
        self.reach.resize(count, Reach::default());
        self.balls.resize(count, BallReach::NONE);
    }

    /// Works out the extent of one body.
    pub(super) fn set(&mut self, slot: usize, source: &Source) {
        self.rows().set(slot, source);
    }

    /// Works out the extents of the bodies of `slots`, ascending, in parallel.
    pub(super) fn set_shared(&mut self, slots: &[u32], source: &Source) {
        self.rows().set_shared(slots, source);
    }

    fn rows(&mut self) -> Rows<'_> {
        Rows {
            first: 0,
            boxes: &mut self.boxes,
            reach: &mut self.reach,
            balls: &mut self.balls,
        }
    }

    /// The extent of one body; `None` if it has no shape.
    pub(super) fn of(&self, slot: usize) -> Option<Extent> {
        let (bounds, ball, slack) = (self.boxes[slot], &self.balls[slot], self.reach[slot].slack);
        let of_box = Extent::of_box(bounds, slack);
        (slack >= 0.0).then_some(if ball.is_ball() {
            Extent {
                center: ball.center,
                radius: ball.radius + ball.distance,
                ..of_box
            }
        } else {
            of_box
        })
    }
}

/// The extents of the bodies from slot `first` on.
struct Rows<'a> {
    first: usize,
    boxes: &'a mut [Aabb],
    reach: &'a mut [Reach],
    balls: &'a mut [BallReach],
}

impl Rows<'_> {
    fn set_shared(&mut self, slots: &[u32], source: &Source) {
        if slots.len() <= CHUNK {
            for slot in slots {
                self.set(*slot as usize, source);
            }
            return;
        }
        let (low, high) = slots.split_at(slots.len() / 2);
        let at = high[0] as usize - self.first;
        let (boxes, reach) = (self.boxes.split_at_mut(at), self.reach.split_at_mut(at));
        let balls = self.balls.split_at_mut(at);
        let mut left = Rows {
            first: self.first,
            boxes: boxes.0,
            reach: reach.0,
            balls: balls.0,
        };
        let mut right = Rows {
            first: self.first + at,
            boxes: boxes.1,
            reach: reach.1,
            balls: balls.1,
        };
        rayon::join(
            || left.set_shared(low, source),
            || right.set_shared(high, source),
        );
    }

    #[inline]
    fn set(&mut self, slot: usize, source: &Source) {
        let Source {
            bodies,
            motion,
            settings,
        } = source;
        let body = &bodies.constants[slot];
        let pose = &bodies.pose[slot];
        let h = settings.time_step;
        let (speed, spin) = motion.speeds(slot);
        let row = slot - self.first;
        let margin = settings.margin * body.size;
        let bounded = body.radius.is_finite();
        let turn = if bounded { spin * body.radius } else { 0.0 };
        let distance = margin + h * (speed + turn);
        let angle = if bounded { 0.0 } else { h * spin };
        let ball_radius = body.ball_radius();
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
        self.balls[row] = ball_radius.map_or(BallReach::NONE, |radius| BallReach {
            center: pose.position,
            radius,
            distance: margin + travel,
            margin,
        });
        self.boxes[row] = match (&body.geometry, ball_radius) {
            (None, _) => NOWHERE,
            (Some(_), Some(radius)) => {
                let reach = radius + (margin + travel);
                Aabb::from_center(pose.position, DVec3::splat(reach))
            }
            (Some(_), None) if angle > 0.0 => Aabb::EVERYTHING,
            (Some(geometry), None) => geometry.aabb(&body.shape_pose(pose)).inflated(distance),
        };
        self.reach[row] = Reach {
            distance,
            angle,
            margin,
            slack: if body.geometry.is_some() { slack } else { -1.0 },
        };
    }
}
