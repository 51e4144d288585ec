//! Shapes that move along a line.

use super::convex_pair::Solid;
use super::error::{QueryError, reach, unit};
use super::flight::{Touch, first_touch};
use super::pair::{solids, to_plane};
use crate::geometry::Body;
use crate::{Frame, Geometry};
use glam::DVec3;

/// A motion along a line, without turning.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::query::{Sweep, cast_shape};
/// use moreau_geometry::{Frame, Shape};
///
/// let ball = Shape::Sphere { radius: 0.5 }.build()?;
/// let floor = Shape::HalfSpace { normal: DVec3::Z }.build()?;
/// let start = Frame::from_position(DVec3::new(0.0, 0.0, 3.0));
/// let fall = Sweep::new(DVec3::NEG_Z)?;
/// let hit = cast_shape(&ball, &start, &fall, &floor, &Frame::IDENTITY);
/// assert!(hit.is_some_and(|hit| hit.distance == 2.5 && hit.normal == DVec3::Z));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    pub(super) direction: DVec3,
    pub(super) reach: f64,
    pub(super) overlaps: bool,
}

impl Sweep {
    /// Along a direction of any length but zero, without end. What overlaps at the start is hit at once.
    ///
    /// # Errors
    /// [`QueryError`] names a number that is not finite, or the direction if it is zero.
    pub fn new(direction: DVec3) -> Result<Self, QueryError> {
        Ok(Self {
            direction: unit("direction of the sweep", direction)?,
            reach: f64::INFINITY,
            overlaps: true,
        })
    }

    /// The same, no longer than `reach` (m, ≥ 0; `∞` is without end).
    ///
    /// # Errors
    /// [`QueryError`] if it is negative or not a number.
    pub fn up_to(self, reach_in_m: f64) -> Result<Self, QueryError> {
        let reach = reach("length of the sweep", reach_in_m)?;
        Ok(Self { reach, ..self })
    }

    /// The same, no longer than it is and than `reach` (m).
    #[must_use]
    pub fn shortened(self, reach: f64) -> Self {
        let reach = if reach < self.reach {
            reach
        } else {
            self.reach
        };
        Self { reach, ..self }
    }

    /// The same, but convex solids that overlap at the start, or touch and move apart, do not meet.
    #[must_use]
    pub fn past_overlaps(self) -> Self {
        let overlaps = false;
        Self { overlaps, ..self }
    }

    /// Unit vector along it.
    #[must_use]
    pub fn direction(&self) -> DVec3 {
        self.direction
    }

    /// How long it is (m).
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }
}

/// Where a shape that moves touches another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeHit {
    /// How far it has moved, m, ≥ 0.
    pub distance: f64,
    /// The point of the other shape that is touched, inertial frame, m. Of shapes that overlap at the start the deepest one.
    pub point: DVec3,
    /// The point of the shape that moves, when it is there (m): the same, but in overlap.
    pub on_moving: DVec3,
    /// Unit vector from the other shape to the one that moves.
    pub normal: DVec3,
    /// Part of the other shape, as [`RayHit::part`](super::RayHit::part).
    pub part: u32,
    /// Part of the shape that moves.
    pub moving_part: u32,
}

/// When a shape that starts at `start` and moves along a line first touches another; among equal distances the least part of the other, then of the moving
/// shape. One of the two must be solid.
///
/// The distance is right to 1e-8 of the smaller shape over the cosine between its way and the normal, with rims of cylinders and cones to 1e-6.
#[must_use]
pub fn cast_shape(
    moving: &Geometry,
    start: &Frame,
    sweep: &Sweep,
    other: &Geometry,
    pose: &Frame,
) -> Option<ShapeHit> {
    if !(start.is_finite() && pose.is_finite()) {
        return None;
    }
    // Relative to the other shape: no digits are lost far from the origin.
    let from = Frame::new(start.position - pose.position, start.orientation);
    let at_rest = Frame::new(DVec3::ZERO, pose.orientation);
    let mut best = Best {
        sweep: *sweep,
        reach: sweep.reach,
        hit: None,
    };
    if let Some(solids) = solids(moving, &from) {
        for (part, solid) in (0..).zip(&solids) {
            best.solid(
                solid,
                sweep.direction,
                other.body(),
                &at_rest,
                |touch, of| hit(touch, [of, part], false),
            );
        }
    } else if let Some(solids) = solids(other, &at_rest) {
        // What does not move comes the other way. The points of the touch are in the frame that moves.
        for (part, solid) in (0..).zip(&solids) {
            best.solid(
                solid,
                -sweep.direction,
                moving.body(),
                &from,
                |touch, of| {
                    let hit = hit(touch, [part, of], true);
                    let back = sweep.direction * hit.distance;
                    ShapeHit {
                        point: hit.point + back,
                        on_moving: hit.on_moving + back,
                        ..hit
                    }
                },
            );
        }
    }
    let hit = best.hit?;
    let placed = ShapeHit {
        point: pose.position + hit.point,
        on_moving: pose.position + hit.on_moving,
        ..hit
    };
    let sound = placed.distance.is_finite()
        && placed.point.is_finite()
        && placed.on_moving.is_finite()
        && is_unit(placed.normal);
    sound.then_some(placed)
}

/// Not lost in numbers that leave their range.
pub(super) fn is_unit(normal: DVec3) -> bool {
    (normal.length_squared() - 1.0).abs() < 1e-6
}

/// A touch of what moves, A, with B; or, with `turned`, of B that moves the other way with A at rest.
fn hit(touch: &Touch, [part, moving_part]: [u32; 2], turned: bool) -> ShapeHit {
    let between = &touch.between;
    let (on_moving, point, normal) = if turned {
        (between.on_b, between.on_a, between.direction)
    } else {
        (between.on_a, between.on_b, -between.direction)
    };
    ShapeHit {
        distance: touch.way,
        point,
        on_moving,
        normal,
        part,
        moving_part,
    }
}

/// The best hit so far.
struct Best {
    sweep: Sweep,
    reach: f64,
    hit: Option<ShapeHit>,
}

impl Best {
    fn take(&mut self, hit: ShapeHit) {
        let key = |hit: &ShapeHit| (hit.distance, hit.part, hit.moving_part);
        if self.hit.is_none_or(|best| key(&hit) < key(&best)) {
            self.reach = self.reach.min(hit.distance);
            self.hit = Some(hit);
        }
    }

    /// A solid that moves along `d` against a whole body.
    fn solid(
        &mut self,
        solid: &Solid,
        d: DVec3,
        body: &Body,
        pose: &Frame,
        hit: impl Fn(&Touch, u32) -> ShapeHit,
    ) {
        let overlaps = self.sweep.overlaps;
        match body {
            Body::Convex(convex) => {
                let other = Solid::convex(convex, *pose);
                if let Some(touch) = first_touch(solid, &other, d, self.reach, overlaps) {
                    self.take(hit(&touch, 0));
                }
            }
            Body::Compound(parts) => {
                for (number, part) in (0..).zip(parts) {
                    let other = Solid::convex(&part.convex, pose.compose(&part.pose));
                    if let Some(touch) = first_touch(solid, &other, d, self.reach, overlaps) {
                        self.take(hit(&touch, number));
                    }
                }
            }
            Body::HalfSpace(normal) => {
                let mut between = to_plane(solid, pose.rotate(*normal), pose.position);
                let (gap, speed) = (between.distance, between.direction.dot(d));
                let way = if gap > 0.0 { gap / speed } else { 0.0 };
                let met = if gap > 0.0 {
                    speed > 0.0
                } else {
                    overlaps || gap == 0.0 && speed > 0.0
                };
                if met && way <= self.reach {
                    between.on_a += d * way;
                    if gap > 0.0 {
                        between.on_b = between.on_a;
                    }
                    self.take(hit(&Touch { way, between }, 0));
                }
            }
            Body::Surface(surface) => {
                let local = solid.seen_from(pose);
                let along = pose.inverse_rotate(d);
                surface
                    .tree()
                    .sweep(&local.aabb(), along, self.reach, |item, _| {
                        for triangle in surface.triangles_of(item) {
                            let other = Solid::triangle(surface.corners_of(triangle), *pose);
                            if let Some(touch) = first_touch(solid, &other, d, self.reach, overlaps)
                            {
                                self.take(hit(&touch, surface.given(triangle)));
                            }
                        }
                        self.reach
                    });
            }
        }
    }
}
