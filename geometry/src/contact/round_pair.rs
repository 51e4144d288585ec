//! Spheres against everything convex, capsules against capsules.

use super::patch::{LocalContact, Patch};
use super::side_by_side::{Rod, add_ends};
use crate::geometry::Convex;
use crate::polytope::closest_on_segments;
use crate::projection::{
    Projection, direction_or, onto_cuboid, onto_frustum, onto_polytope, onto_segment,
};
use glam::DVec3;
use smallvec::SmallVec;

/// Sphere against a convex solid in whose frame its centre is given: the signed distance of the
/// centre less the radius.
pub(crate) fn sphere(frame: &Convex, center: DVec3, radius: f64, margin: f64, patch: &mut Patch) {
    let projection = match frame {
        Convex::Sphere { radius } => from_core(DVec3::ZERO, *radius, center, DVec3::Z),
        Convex::Capsule {
            half_height,
            radius,
        } => {
            let core = DVec3::Z * center.z.clamp(-half_height, *half_height);
            from_core(core, *radius, center, DVec3::X)
        }
        Convex::Frustum(frustum) => onto_frustum(center, frustum),
        Convex::Polyhedron(polyhedron) => match polyhedron.half_extents {
            Some(half_extents) => onto_cuboid(center, half_extents),
            None => onto_polytope(center, &polyhedron.view()),
        },
    };
    let gap = projection.distance - radius;
    if gap <= margin {
        patch.push(LocalContact {
            point: projection.point + projection.normal * (0.5 * gap),
            normal: projection.normal,
            gap,
            feature: u64::from(projection.feature),
        });
    }
}

/// Projection onto a ball about `core`; `fallback` is the normal at its centre.
fn from_core(core: DVec3, radius: f64, point: DVec3, fallback: DVec3) -> Projection {
    let offset = point - core;
    let normal = direction_or(offset, fallback);
    Projection {
        point: core + normal * radius,
        normal,
        distance: offset.length() - radius,
        feature: 0,
    }
}

/// Two capsules: the closest points of their cores, and the ends of the stretch where they face each other.
pub(crate) fn capsules(
    p: [DVec3; 2],
    p_radius: f64,
    q: [DVec3; 2],
    q_radius: f64,
    margin: f64,
    patch: &mut Patch,
) {
    let (_, _, on_p, on_q) = closest_on_segments(p[0], p[1], q[0], q[1]);
    let offset = on_q - on_p;
    let distance = offset.length();
    let gap = distance - p_radius - q_radius;
    if gap > margin {
        return;
    }
    // Crossing cores: the common perpendicular; coinciding ones: any perpendicular.
    let axis = (p[1] - p[0]).normalize_or(DVec3::Z);
    let normal = if distance > 1e-14 * (p_radius + q_radius) {
        direction_or(offset, axis.any_orthonormal_vector())
    } else {
        let common = axis.cross((q[1] - q[0]).normalize_or(DVec3::Z));
        if common.length_squared() > 1e-12 {
            common.normalize()
        } else {
            axis.any_orthonormal_vector()
        }
    };
    patch.push(LocalContact {
        point: on_p + normal * (0.5 * (distance + p_radius - q_radius)),
        normal,
        gap,
        feature: 2,
    });
    if let (Some(a), Some(b)) = (Rod::capsule(p, p_radius), Rod::capsule(q, q_radius)) {
        add_ends(&a, &b, margin, 0, patch);
    }
}

/// Squared sine below which two segments count as nearly parallel (about 1°).
const NEARLY_PARALLEL: f64 = 3e-4;

/// Pairs of near points on two segments: one pair of closest points; if the segments are nearly
/// parallel, the ends of their common stretch, and the closest pair too if it is closer than both.
pub(crate) fn facing_points(p: [DVec3; 2], q: [DVec3; 2]) -> SmallVec<[(DVec3, DVec3); 3]> {
    let (_, _, on_p, on_q) = closest_on_segments(p[0], p[1], q[0], q[1]);
    let mut found: SmallVec<[(DVec3, DVec3); 3]> = SmallVec::new();
    let u = p[1] - p[0];
    let v = q[1] - q[0];
    let square = u.length_squared();
    if u.cross(v).length_squared() <= NEARLY_PARALLEL * square * v.length_squared() {
        let s = [(q[0] - p[0]).dot(u) / square, (q[1] - p[0]).dot(u) / square];
        let low = s[0].min(s[1]).max(0.0);
        let high = s[0].max(s[1]).min(1.0);
        if high - low > 1e-3 {
            for s in [low, high] {
                let end = p[0] + u * s;
                found.push((end, onto_segment(end, q[0], q[1])));
            }
            let least = found
                .iter()
                .fold(f64::INFINITY, |least, (a, b)| least.min((*b - *a).length()));
            if (on_q - on_p).length() < least - 1e-9 * square.sqrt() {
                found.push((on_p, on_q));
            }
            return found;
        }
    }
    found.push((on_p, on_q));
    found
}
