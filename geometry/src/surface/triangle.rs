//! One triangle of a surface, with the largest lean of a contact normal over each of its edges.

use crate::projection::onto_segment;
use glam::DVec3;

/// Angular tolerance of the normal cones (rad): far above rounding, far below any visible edge.
pub(super) const CONE_TOLERANCE: f64 = 1e-6;

/// The edge `vertices[k] → vertices[k + 1]` of a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rim {
    /// Unit vector in the triangle's plane, across the edge, outward.
    pub(crate) outward: DVec3,
    /// Cosine of the largest lean.
    pub(crate) cos: f64,
    /// Sine of the largest lean.
    pub(crate) sin: f64,
    /// The neighbour rises behind the edge: what is over it is held by both planes.
    pub(crate) rises: bool,
}

impl Rim {
    /// True if the normal, of which `along` is the part along the triangle's, leans over this edge
    /// by no more than it may.
    pub(super) fn permits(&self, direction: DVec3, along: f64) -> bool {
        let across = direction.dot(self.outward);
        across <= CONE_TOLERANCE || across * self.cos <= along * self.sin + CONE_TOLERANCE
    }
}

/// One triangle of a surface, in the surface's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SurfaceTriangle {
    pub(crate) vertices: [DVec3; 3],
    /// Unit normal on the free side.
    pub(crate) normal: DVec3,
    pub(crate) rims: [Rim; 3],
}

impl SurfaceTriangle {
    /// Triangle with the normals of its neighbours across the three edges (`None` at a border).
    pub(super) fn new(vertices: [DVec3; 3], normal: DVec3, neighbours: [Option<DVec3>; 3]) -> Self {
        let mut rims = [Rim::default(); 3];
        for (k, rim) in rims.iter_mut().enumerate() {
            let outward = (vertices[(k + 1) % 3] - vertices[k])
                .cross(normal)
                .normalize_or_zero();
            let (cos, sin) = match neighbours[k] {
                None => (0.0, 1.0),
                Some(other) if other.dot(outward) > CONE_TOLERANCE => {
                    (other.dot(normal), other.dot(outward))
                }
                Some(_) => (1.0, 0.0),
            };
            *rim = Rim {
                outward,
                cos,
                sin,
                rises: neighbours[k].is_some_and(|other| other.dot(outward) < -CONE_TOLERANCE),
            };
        }
        Self {
            vertices,
            normal,
            rims,
        }
    }

    /// True if another triangle lies in the plane of this one: its corners leave it by no more than this part of the longest side of either.
    pub(super) fn is_level_with(&self, other: &Self, part: f64) -> bool {
        let near = part * self.longest().min(other.longest());
        let height = |corner: &DVec3| self.normal.dot(*corner - self.vertices[0]);
        (self.normal - other.normal).length_squared() <= CONE_TOLERANCE * CONE_TOLERANCE
            && other
                .vertices
                .iter()
                .all(|corner| height(corner).abs() <= near)
    }

    fn longest(&self) -> f64 {
        let [a, b, c] = self.vertices;
        (b - a).length().max((c - b).length()).max((a - c).length())
    }

    /// True if a point is before the triangle's plane, within `margin` (m) of it, and beside it behind edges alone at which the
    /// surface rises: the space there is that before both planes, so that the point gets to this one.
    pub(crate) fn is_ahead(&self, point: DVec3, margin: f64) -> bool {
        let height = self.normal.dot(point - self.vertices[0]);
        let mut beside = false;
        let within = self.rims.iter().zip(&self.vertices).all(|(rim, vertex)| {
            let over = rim.outward.dot(point - *vertex);
            beside |= over > 0.0;
            over <= 0.0 || rim.rises && over <= margin
        });
        within && beside && height >= 0.0 && height <= margin
    }

    /// The point of the triangle that is nearest to `point` (m).
    pub(super) fn nearest(&self, point: DVec3) -> DVec3 {
        let offset = point - self.vertices[0];
        let mut over = self.rims.iter().zip(&self.vertices);
        if over.all(|(rim, vertex)| rim.outward.dot(point - *vertex) <= 0.0) {
            return point - self.normal * self.normal.dot(offset);
        }
        let [a, b, c] = self.vertices;
        [(b, c), (c, a)]
            .into_iter()
            .map(|(from, to)| onto_segment(point, from, to))
            .fold(onto_segment(point, a, b), |best, next| {
                let nearer = next.distance_squared(point) < best.distance_squared(point);
                if nearer { next } else { best }
            })
    }

    /// True if a contact normal (unit, away from the surface) may act on this triangle.
    ///
    /// For each edge, the projection of the normal on the plane across it must make an angle with
    /// the triangle's normal of at most the edge's lean: `(l·t) cos ≤ (l·n) sin`.
    pub(crate) fn permits(&self, direction: DVec3) -> bool {
        let along = direction.dot(self.normal);
        along > -CONE_TOLERANCE && self.rims.iter().all(|rim| rim.permits(direction, along))
    }
}

/// Unit normal on the side from which the corners are counter-clockwise; zero if they have none.
pub(super) fn normal_of([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}
