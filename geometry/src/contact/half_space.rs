//! A half-space against convex solids: the support points below the margin.

use super::patch::{LocalContact, Patch};
use crate::Frame;
use crate::frustum::Frustum;
use crate::geometry::Convex;
use glam::{DVec2, DVec3};

/// Below this sine of the tilt a disc counts as parallel to the plane and its points keep fixed
/// azimuths in its body; beyond, one of them is the lowest point. The gap is off by less than
/// `0.3 · 1e-4 · radius` in between. What the solver leaves of a tilt must not choose other points in each step: they
/// would start from the loads of others.
pub(crate) const LEVEL: f64 = 1e-4;

/// Contacts in the half-space's frame; `pose` places the solid there.
pub(crate) fn contact(
    normal: DVec3,
    convex: &Convex,
    pose: &Frame,
    margin: f64,
    patch: &mut Patch,
) {
    let height = normal.dot(pose.position);
    if height > convex.bounding_radius() + margin {
        return;
    }
    // Point of the solid's core, with the radius around it.
    let mut push = |point: DVec3, radius: f64, feature: u64| {
        let center = normal.dot(point);
        let gap = center - radius;
        if gap <= margin {
            patch.push(LocalContact {
                point: point - normal * (0.5 * (center + radius)),
                normal,
                gap,
                feature,
            });
        }
    };
    match convex {
        Convex::Sphere { radius } => push(pose.position, *radius, 0),
        Convex::Capsule {
            half_height,
            radius,
        } => {
            let axis = pose.rotate(DVec3::Z * *half_height);
            push(pose.position - axis, *radius, 0);
            push(pose.position + axis, *radius, 1);
        }
        Convex::Polyhedron(polyhedron) => {
            let rotation = pose.rotation_matrix();
            for (i, vertex) in (0..).zip(&polyhedron.vertices) {
                push(pose.position + rotation * *vertex, 0.0, i);
            }
        }
        Convex::Frustum(frustum) => {
            let down = pose.inverse_rotate(-normal);
            rim_points(frustum, down, |point, feature| {
                push(pose.transform_point(point), 0.0, feature);
            });
        }
    }
}

/// Four points of each rim, 90° apart, one of them farthest along `direction`; the apex of a cone.
///
/// Nearer ones would hold up what rolls. Of a disc of radius R that leans by the angle whose sine is s, a point at the angle ψ from the lowest is R s (1 − cos ψ)
/// above it. The disc turns about its axis by hω, and the point comes down by hωR sin ψ: through the plane, where the disc itself stays, if
/// hω > s tan(ψ/2). With 90° that is a turn by s, with 45° one by 0.41 s.
pub(crate) fn rim_points(frustum: &Frustum, direction: DVec3, mut visit: impl FnMut(DVec3, u64)) {
    let azimuth = azimuth(direction.truncate());
    let around = [azimuth, azimuth.perp(), -azimuth, -azimuth.perp()];
    for (disc, radius, z) in [
        (0, frustum.bottom, -frustum.half_height),
        (4, frustum.top, frustum.half_height),
    ] {
        if radius > 0.0 {
            for (k, towards) in (disc..).zip(around) {
                visit((towards * radius).extend(z), k);
            }
        } else {
            visit(DVec3::Z * z, disc);
        }
    }
}

/// Unit vector along `across`, or x if it is too short to be told from rounding.
pub(crate) fn azimuth(across: DVec2) -> DVec2 {
    let length = across.length();
    if length > LEVEL {
        across / length
    } else {
        DVec2::X
    }
}
