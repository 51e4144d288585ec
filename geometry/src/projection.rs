//! Signed distance of a point from the surface of a convex solid.

use crate::frustum::Frustum;
use crate::polytope::Polytope;
use glam::{DVec2, DVec3};

/// Nearest surface point, with the outward unit normal there and the signed distance along it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Projection {
    pub(crate) point: DVec3,
    pub(crate) normal: DVec3,
    /// > 0 outside (m).
    pub(crate) distance: f64,
    /// Which part of the surface: stable while the point stays over it.
    pub(crate) feature: u32,
}

/// Unit vector along `offset`, or `fallback` if it is zero; scaled first so that a tiny offset
/// keeps its direction.
pub(crate) fn direction_or(offset: DVec3, fallback: DVec3) -> DVec3 {
    let largest = offset.abs().max_element();
    if largest > 0.0 {
        (offset / largest).normalize()
    } else {
        fallback
    }
}

/// Box about the origin. Inside, the nearest face wins; ties fall to z, then x, then y.
pub(crate) fn onto_cuboid(point: DVec3, half_extents: DVec3) -> Projection {
    let nearest = point.clamp(-half_extents, half_extents);
    let offset = point - nearest;
    if offset != DVec3::ZERO {
        let code = |x: f64| u32::from(x > 0.0) + 2 * u32::from(x < 0.0);
        return Projection {
            point: nearest,
            normal: direction_or(offset, DVec3::Z),
            distance: offset.length(),
            feature: code(offset.x) + 3 * code(offset.y) + 9 * code(offset.z),
        };
    }
    let depth = half_extents - point.abs();
    let axis = if depth.z <= depth.x && depth.z <= depth.y {
        2
    } else if depth.x <= depth.y {
        0
    } else {
        1
    };
    let sign = 1.0_f64.copysign(point[axis]);
    let normal = DVec3::AXES[axis] * sign;
    Projection {
        point: point + normal * depth[axis],
        normal,
        distance: -depth[axis],
        feature: [1, 3, 9][axis] * if sign > 0.0 { 1 } else { 2 },
    }
}

/// Polytope with faces, by inspection of faces and edges.
///
/// Outside, the nearest point lies over a face if it projects into that face, which is then the
/// face of largest plane distance; otherwise on the nearest edge.
pub(crate) fn onto_polytope(point: DVec3, polytope: &Polytope<'_>) -> Projection {
    let mut best = 0;
    let mut distance = f64::NEG_INFINITY;
    for (i, face) in polytope.faces.iter().enumerate() {
        let value = face.normal.dot(point) - face.offset;
        if value > distance {
            best = i;
            distance = value;
        }
    }
    let normal = polytope.faces[best].normal;
    let foot = point - normal * distance;
    let over = |face: usize| {
        let corners = polytope.loop_of(face);
        corners.iter().enumerate().all(|(k, &i)| {
            let a = polytope.vertices[i as usize];
            let b = polytope.vertices[corners[(k + 1) % corners.len()] as usize];
            (b - a).cross(normal).dot(foot - a) <= 0.0
        })
    };
    let on_face = Projection {
        point: foot,
        normal,
        distance,
        feature: best as u32,
    };
    if distance < 0.0 || over(best) {
        return on_face;
    }
    let mut nearest = (f64::INFINITY, foot, 0);
    for (k, &[i, j]) in polytope.edges.iter().enumerate() {
        let candidate = onto_segment(
            point,
            polytope.vertices[i as usize],
            polytope.vertices[j as usize],
        );
        let square = (point - candidate).length_squared();
        if square < nearest.0 {
            nearest = (square, candidate, k);
        }
    }
    let offset = point - nearest.1;
    Projection {
        point: nearest.1,
        normal: direction_or(offset, normal),
        distance: offset.length(),
        feature: 0x1_0000 + nearest.2 as u32,
    }
}

/// Nearest point of the segment `a b`.
pub(crate) fn onto_segment(point: DVec3, a: DVec3, b: DVec3) -> DVec3 {
    let along = b - a;
    let square = along.length_squared();
    if square > 0.0 {
        a + along * ((point - a).dot(along) / square).clamp(0.0, 1.0)
    } else {
        a
    }
}

/// Frustum: a planar problem in the half plane `(ρ, z)` through the axis and the point.
pub(crate) fn onto_frustum(point: DVec3, frustum: &Frustum) -> Projection {
    let radial = point.truncate();
    let rho = radial.length();
    let azimuth = if rho > 0.0 { radial / rho } else { DVec2::X };
    let lift = |flat: DVec2| (azimuth * flat.x).extend(flat.y);
    let here = DVec2::new(rho, point.z);
    let h = frustum.half_height;
    let corner = [DVec2::new(frustum.bottom, -h), DVec2::new(frustum.top, h)];
    let side = frustum.side;
    let depth = [-h - here.y, here.y - h, side.dot(here - corner[0])];
    if depth.iter().all(|d| *d <= 0.0) {
        // Inside or on the surface: least penetration; ties fall to the discs.
        let bottom = frustum.bottom > 0.0 && depth[0] >= depth[1] && depth[0] >= depth[2];
        let top = frustum.top > 0.0 && depth[1] >= depth[2] && !bottom;
        let (normal, distance, feature) = if bottom {
            (DVec2::NEG_Y, depth[0], 0)
        } else if top {
            (DVec2::Y, depth[1], 1)
        } else {
            (side, depth[2], 2)
        };
        return Projection {
            point: lift(here - normal * distance),
            normal: lift(normal),
            distance,
            feature,
        };
    }
    // Outside: nearest of the profile's three segments.
    let segments = [
        (DVec2::new(0.0, -h), corner[0], DVec2::NEG_Y),
        (DVec2::new(0.0, h), corner[1], DVec2::Y),
        (corner[0], corner[1], side),
    ];
    let mut best: Option<Projection> = None;
    for (feature, (a, b, outward)) in (0..).zip(segments) {
        let along = b - a;
        let square = along.length_squared();
        let fraction = if square > 0.0 {
            (here - a).dot(along) / square
        } else {
            0.0
        };
        // Over the interior of a segment the normal is the segment's own, free of rounding.
        let inner =
            fraction > 0.0 && fraction < 1.0 || (feature < 2 && square > 0.0 && fraction <= 0.0);
        let foot = if feature < 2 {
            a + along * fraction.clamp(0.0, 1.0)
        } else if inner {
            here - outward * outward.dot(here - a)
        } else {
            a + along * fraction.clamp(0.0, 1.0)
        };
        let offset = here - foot;
        let distance = offset.length();
        if best.is_none_or(|known| distance < known.distance) && offset.dot(outward) >= 0.0 {
            let normal = if inner {
                outward
            } else {
                direction_or(offset.extend(0.0), outward.extend(0.0)).truncate()
            };
            best = Some(Projection {
                point: lift(foot),
                normal: lift(normal),
                distance,
                feature,
            });
        }
    }
    best.unwrap_or(Projection {
        point: lift(corner[0]),
        normal: lift(side),
        distance: 0.0,
        feature: 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polytope::Polyhedron;

    /// Points on a lattice around a solid of unit size.
    fn lattice() -> impl Iterator<Item = DVec3> {
        (0..1331).map(|i| {
            let step = |k: i32| f64::from(k - 5) * 0.37 + 0.013;
            DVec3::new(step(i % 11), step(i / 11 % 11), step(i / 121))
        })
    }

    fn check(projection: &Projection, point: DVec3) {
        let back = projection.point + projection.normal * projection.distance;
        assert!((back - point).length() < 1e-14);
        assert!((projection.normal.length() - 1.0).abs() < 1e-14);
    }

    #[test]
    fn box_and_polytope_agree() {
        let half = DVec3::new(0.7, 0.9, 1.1);
        let polyhedron = Polyhedron::cuboid(half);
        for point in lattice() {
            let a = onto_cuboid(point, half);
            let b = onto_polytope(point, &polyhedron.view());
            check(&a, point);
            check(&b, point);
            assert!((a.distance - b.distance).abs() < 1e-14, "{point}");
        }
    }

    #[test]
    fn frustum_projection_is_consistent() {
        for frustum in [Frustum::new(1.0, 0.8, 0.8), Frustum::new(1.0, 0.8, 0.0)] {
            for point in lattice() {
                let projection = onto_frustum(point, &frustum);
                check(&projection, point);
                // The plane through the foot supports the solid.
                let support = frustum.support(projection.normal);
                if projection.distance > 0.0 {
                    assert!((support - projection.normal.dot(projection.point)).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn centre_and_surface_points_have_a_normal() {
        assert_eq!(onto_cuboid(DVec3::ZERO, DVec3::ONE).normal, DVec3::Z);
        assert_eq!(onto_cuboid(DVec3::X, DVec3::ONE).normal, DVec3::X);
        let frustum = Frustum::new(2.0, 1.0, 1.0);
        assert_eq!(onto_frustum(DVec3::ZERO, &frustum).normal, DVec3::X);
        assert_eq!(onto_frustum(DVec3::Y, &frustum).normal, DVec3::Y);
    }
}
