//! The direction in which two convex bodies meet, one of which at least has rims.
//!
//! Shrunk by a tenth about points within, bodies that touch are apart, and the closest points of what is left ([`shrunk`](super::shrunk))
//! show roughly where the whole bodies meet: on which rims, sides, edges and corners. On these the separation
//! `s(l) = min_B l·x − max_A l·x` is a smooth function of the direction, and its maximum is found by Newton's method
//! ([`stationary`](super::stationary)). Where the maximum lies off the end of an edge or a generator, or another part of a body reaches farther,
//! the parts are exchanged.
//!
//! What is returned satisfies the conditions of an optimum to rounding: points of the two bodies, opposite each other along `l`, and `l`
//! supports both bodies there. For bodies apart that proves the distance. Thin bodies may overlap along such a direction and yet be apart: a point of
//! an overlap must lie within both.

use super::separating_axis::Placed;
use super::shrunk::{Rough, Simplex};
use super::stationary::{Arc, Part, Tie, across, stationary};
use crate::frustum::Frustum;
use crate::polytope::Face;
use glam::{DVec2, DVec3};
use smallvec::SmallVec;

/// Points that meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    /// Point of A.
    pub(crate) on_a: DVec3,
    /// Point of B.
    pub(crate) on_b: DVec3,
    /// Unit direction from A to B.
    pub(crate) direction: DVec3,
    /// Separation along the direction (m).
    pub(crate) distance: f64,
    /// True if A is met on a part that is tied to two arcs: a side, or an edge.
    pub(crate) is_tied: bool,
}

/// What a search has found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// More than the limit lies between the bodies.
    Apart,
    /// The best direction.
    Exact(Meeting),
    /// Not the best direction, but one near it.
    Rough(DVec3),
    /// The bodies overlap by too much.
    Deep,
}

/// A convex body in the common frame.
pub(super) trait Body {
    /// A point farthest along a direction.
    fn farthest(&self, direction: DVec3) -> DVec3;
    /// A point within.
    fn inner(&self) -> DVec3;
    /// True if a point lies within, or outside by no more than `near` (m). What has no inside says yes.
    fn holds(&self, point: DVec3, near: f64) -> bool;
    /// The part of the surface on which some farthest points lie; none if that is flat.
    fn part(&self, points: &[DVec3], direction: DVec3) -> Option<Part>;
    /// The part that reaches out to a point which is farther out than the place on a part at the fraction from its arc to the other.
    fn exchanged(&self, part: &Part, fraction: f64, farther: DVec3) -> Option<Part>;
}

/// A placed cylinder or cone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned<'a> {
    pub(super) frustum: &'a Frustum,
    /// Unit axis.
    pub(super) axis: DVec3,
    /// Middle of the axis (m).
    pub(super) center: DVec3,
}

impl Turned<'_> {
    fn rim(&self, top: bool) -> Arc {
        let (radius, height) = if top {
            (self.frustum.top, self.frustum.half_height)
        } else {
            (self.frustum.bottom, -self.frustum.half_height)
        };
        Arc {
            center: self.center + self.axis * height,
            axis: self.axis,
            radius,
        }
    }

    fn side(&self) -> Part {
        let tie = Tie {
            axis: self.axis,
            sine: self.frustum.side.y,
            other: self.rim(true),
        };
        Part {
            arc: self.rim(false),
            tie: Some(tie),
        }
    }

    fn is_top(&self, point: DVec3) -> bool {
        self.axis.dot(point - self.center) > 0.0
    }
}

impl Body for Turned<'_> {
    fn farthest(&self, direction: DVec3) -> DVec3 {
        let along = direction.dot(self.axis);
        let (flat, length) = across(direction, self.axis);
        let Frustum {
            bottom,
            top,
            half_height,
            ..
        } = *self.frustum;
        let is_top = length * (top - bottom) + 2.0 * along * half_height > 0.0;
        let (radius, height) = if is_top {
            (top, half_height)
        } else {
            (bottom, -half_height)
        };
        let reach = if length > 0.0 { radius / length } else { 0.0 };
        self.center + self.axis * height + flat * reach
    }

    /// The centroid of a cylinder or a cone.
    fn inner(&self) -> DVec3 {
        let Frustum {
            bottom,
            top,
            half_height,
            ..
        } = *self.frustum;
        let lean = (top - bottom) / (top + bottom);
        self.center + self.axis * (0.5 * lean * half_height)
    }

    fn holds(&self, point: DVec3, near: f64) -> bool {
        let offset = point - self.center;
        let height = offset.dot(self.axis);
        let radius = (offset - self.axis * height).length();
        let Frustum {
            bottom,
            half_height,
            side,
            ..
        } = *self.frustum;
        height.abs() <= half_height + near
            && side.dot(DVec2::new(radius - bottom, height + half_height)) <= near
    }

    fn part(&self, points: &[DVec3], direction: DVec3) -> Option<Part> {
        let top = self.is_top(*points.first()?);
        let both = points.iter().any(|point| self.is_top(*point) != top);
        if let ([a, b, c], false) = (points, both)
            && a != b
            && b != c
            && c != a
            && self.axis.cross(direction).length_squared() < FLAT
        {
            // A disc.
            return None;
        }
        Some(if both {
            self.side()
        } else {
            Part::of(self.rim(top))
        })
    }

    fn exchanged(&self, part: &Part, _: f64, _: DVec3) -> Option<Part> {
        part.tie.is_none().then(|| self.side())
    }
}

impl Body for Placed<'_> {
    fn farthest(&self, direction: DVec3) -> DVec3 {
        Placed::farthest(self, direction)
    }

    fn inner(&self) -> DVec3 {
        Placed::inner(self)
    }

    fn holds(&self, point: DVec3, near: f64) -> bool {
        let local = self.rotation.transpose() * (point - self.translation);
        let faces = self.shape.faces;
        let is_solid = faces.len() > 2;
        let below = |face: &Face| face.normal.dot(local) - face.offset <= near;
        !is_solid || faces.iter().all(below)
    }

    fn part(&self, points: &[DVec3], _: DVec3) -> Option<Part> {
        let first = *points.first()?;
        let mut others = points.iter().filter(|point| **point != first);
        let Some(second) = others.next() else {
            return Some(Part::of(Arc::point(first)));
        };
        let flat = others.any(|point| point != second);
        (!flat).then(|| edge(first, *second)).flatten()
    }

    fn exchanged(&self, part: &Part, fraction: f64, farther: DVec3) -> Option<Part> {
        let kept = match part.tie {
            Some(tie) if fraction > 0.5 => tie.other.center,
            _ => part.arc.center,
        };
        edge(kept, farther)
    }
}

fn edge(from: DVec3, to: DVec3) -> Option<Part> {
    let tie = Tie {
        axis: (to - from).try_normalize()?,
        sine: 0.0,
        other: Arc::point(to),
    };
    Some(Part {
        arc: Arc::point(from),
        tie: Some(tie),
    })
}

/// Relative errors of the distance of the shrunk bodies: rough ones mostly do.
pub(super) const ROUGH: [f64; 2] = [0.25, 1e-3];
/// Squared sine to the axis below which a direction looks at a disc.
const FLAT: f64 = 1e-6;
/// Most searches from better directions.
const IMPROVEMENTS: usize = 3;
/// Most exchanges of parts.
const EXCHANGES: usize = 8;
/// How far beyond the end of an edge a point still lies on it, over its length.
const BEYOND: f64 = 1e-9;
/// How far outside of a body a point of an overlap may lie, over the size.
const WITHIN: f64 = 1e-8;
/// What counts as rounding, over the size.
const ROUNDING: f64 = 1e-13;

/// A search for the direction in which two bodies meet, in stages.
pub(super) struct Search<'a, A, B> {
    a: &'a A,
    b: &'a B,
    limit: f64,
    scale: f64,
    simplex: Simplex,
}

impl<'a, A: Body, B: Body> Search<'a, A, B> {
    /// `limit`: distance beyond which nothing is looked for (m); `scale`: a length for tolerances (m).
    pub(super) fn new(a: &'a A, b: &'a B, limit: f64, scale: f64) -> Self {
        let simplex = Simplex::new(a, b);
        Self {
            a,
            b,
            limit,
            scale,
            simplex,
        }
    }

    /// The direction in which the bodies meet, from closest points of the shrunk bodies whose distance is right up to a part `rough`.
    pub(super) fn stage(&mut self, rough: f64) -> Found {
        match self.simplex.search(self.a, self.b, self.limit, rough) {
            Rough::Apart => return Found::Apart,
            Rough::Deep => return Found::Deep,
            Rough::Near => {}
        }
        let l = self.simplex.direction;
        let part = self.a.part(&self.simplex.on_a(), l);
        let parts = part.zip(self.b.part(&self.simplex.on_b(), l));
        let exact = parts.and_then(|parts| settled(self.a, self.b, parts, l, self.scale));
        exact.map_or(Found::Rough(l), Found::Exact)
    }

    /// All stages, until one is exact.
    pub(super) fn run(mut self) -> Found {
        let mut found = Found::Deep;
        for rough in ROUGH {
            found = self.stage(rough);
            if !matches!(found, Found::Rough(_)) {
                break;
            }
        }
        found
    }
}

/// Directions along which overlapping bodies may be held less deep than by `depth` along `direction`: those between them when both are shrunk by a tenth, and when they are moved
/// apart by half of that depth. The second, if there is one, is one.
pub(super) fn likely<A: Body, B: Body>(
    a: &A,
    b: &B,
    direction: DVec3,
    depth: f64,
) -> SmallVec<[DVec3; 2]> {
    let starts = [Simplex::new(a, b), Simplex::behind(direction, 0.5 * depth)];
    let between = starts.map(|mut simplex| {
        let found = simplex.search(a, b, f64::INFINITY, ROUGH[1]);
        matches!(found, Rough::Near).then_some(simplex.direction)
    });
    between.into_iter().flatten().collect()
}

/// Searches on from directions along which overlapping bodies are held less deep than where they are found to meet, as long as that leads to better ones.
pub(super) fn improved(
    mut found: Meeting,
    elsewhere: impl Fn(f64, DVec3) -> Option<DVec3>,
    searched: impl Fn(DVec3) -> Option<Meeting>,
) -> Meeting {
    for _ in 0..IMPROVEMENTS {
        let better = elsewhere(found.distance, found.direction);
        match better.and_then(&searched) {
            Some(next) if next.distance > found.distance => found = next,
            _ => break,
        }
    }
    found
}

/// The stationary direction whose parts are those that it supports.
fn settled<A: Body, B: Body>(
    a: &A,
    b: &B,
    (mut part_a, mut part_b): (Part, Part),
    mut l: DVec3,
    scale: f64,
) -> Option<Meeting> {
    for _ in 0..EXCHANGES {
        let found = stationary(&part_a, &part_b, l)?;
        l = found.direction;
        let [(on_a, along_a), (on_b, along_b)] = [found.on_a, found.on_b];
        if found.is_settled {
            let left = [part_a.left(along_a), part_b.left(along_b)];
            if left.iter().any(Option::is_some) {
                part_a = left[0].unwrap_or(part_a);
                part_b = left[1].unwrap_or(part_b);
                continue;
            }
        }
        let (p, q) = (a.farthest(l), b.farthest(-l));
        let near = ROUNDING * scale.max(p.length()).max(q.length());
        let (more_a, more_b) = (l.dot(p - on_a), l.dot(on_b - q));
        if more_a > near {
            part_a = a.exchanged(&part_a, along_a, p)?;
        }
        if more_b > near {
            part_b = b.exchanged(&part_b, along_b, q)?;
        }
        if found.is_settled && more_a <= near && more_b <= near {
            let aside = on_b - on_a - l * found.separation;
            let overlaps = found.separation > 0.0 || overlap(a, b, on_a, on_b, scale);
            return (overlaps && aside.length() <= 10.0 * near).then(|| Meeting {
                on_a,
                on_b,
                direction: l,
                distance: l.dot(q - p),
                is_tied: part_a.tie.is_some(),
            });
        }
    }
    None
}

/// True if one of two points that are opposite each other, or the middle between them, lies within both bodies, whose size is `scale` (m).
pub(super) fn overlap<A: Body, B: Body>(
    a: &A,
    b: &B,
    on_a: DVec3,
    on_b: DVec3,
    scale: f64,
) -> bool {
    let near = WITHIN * scale;
    let middle = 0.5 * (on_a + on_b);
    b.holds(on_a, near) || a.holds(on_b, near) || a.holds(middle, near) && b.holds(middle, near)
}

impl Part {
    /// The end off which a fraction lies, if it does.
    fn left(&self, fraction: f64) -> Option<Self> {
        let tie = self.tie?;
        if fraction < -BEYOND {
            Some(Self::of(self.arc))
        } else if fraction > 1.0 + BEYOND {
            Some(Self::of(tie.other))
        } else {
            None
        }
    }
}
