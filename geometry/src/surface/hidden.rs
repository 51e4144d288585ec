//! What of a surface a solid cannot get at, since it lies behind another part of it.
//!
//! Contact is one-sided: what is behind a triangle is the inside of something. So a point of the surface acts on a solid only if the way from
//! it to the solid's centre passes no triangle from behind.
//!
//! ```text
//!        c
//!   L    |    R         c is over the floor L, R, and F is a wall under it. The way from p to c passes L or R from
//!  ------+------        behind, whichever side F faces: nothing of F acts. Where c is under the floor F does.
//!      p + F
//!        |
//! ```
//!
//! Where two triangles meet at each edge and no others are near, their normal cones say as much. So this is asked at crowded edges alone (`crowded`): of the
//! triangles there, and of those that have an end of such an edge for a corner, as a wall cut finely has many.

use super::triangle::{CONE_TOLERANCE, normal_of};
use super::{Surface, SurfaceTriangle};
use crate::query::Sheared;
use glam::DVec3;

/// Points are looked at from this part of the solid's size, and of the triangle's, within the triangle: on an edge they would be neither
/// before nor behind what else is there.
const WITHIN: f64 = 1e-3;
/// Triangles that are looked at on the way from one point. Where thousands meet at an edge, what hides it is mostly among the first; else it
/// acts as if nothing did.
const MOST: usize = 256;

impl Surface {
    /// True if the way from a point on a triangle to the centre of a solid of this radius (m) passes another triangle from behind. False for
    /// triangles away from crowded edges.
    pub(crate) fn hides(
        &self,
        id: u32,
        triangle: &SurfaceTriangle,
        point: DVec3,
        center: DVec3,
        radius: f64,
    ) -> bool {
        if !self.is_crowded(id) {
            return false;
        }
        let point = triangle.nearest(point);
        let inward = triangle.vertices.iter().sum::<DVec3>() / 3.0 - point;
        let length = inward.length();
        let within = WITHIN * radius.min(length);
        let from = point + inward * (within / length.max(f64::MIN_POSITIVE));
        let way = center - from;
        let reach = way.length();
        if !(reach > 0.0 && reach.is_finite()) {
            return false;
        }
        let direction = way / reach;
        let ray = Sheared::new(from, direction);
        let (mut hidden, mut looked_at) = (false, 0);
        self.tree().cast(from, direction, reach, |item, reach| {
            for other in self.triangles_of(item) {
                let corners = self.corners_of(other);
                looked_at += 1;
                if other != id
                    && let Some(distance) = ray.meet(&corners)
                {
                    // The height of the point under the plane; none if the triangle is folded onto this one.
                    let under = distance * normal_of(corners).dot(direction);
                    hidden |= distance <= reach && under > CONE_TOLERANCE * within;
                }
            }
            let go_on = !hidden && looked_at < MOST;
            if go_on { reach } else { -1.0 }
        });
        hidden
    }
}
