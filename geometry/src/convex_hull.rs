//! Convex hulls with polygonal faces.
//!
//! The triangulated hull comes from quickhull; coplanar triangles are then merged into polygons,
//! because contact between polygons yields clean normals and few, well-spread points where a
//! triangulation would invent edges.

use crate::GeometryError;
use crate::polytope::{Face, Polyhedron};
use glam::DVec3;
use std::collections::BTreeMap;

/// Relative distance from a plane below which a vertex counts as lying in it.
const COPLANAR: f64 = 1e-9;
/// Least thickness over the diameter. Sides of thinner hulls are lost in the rounding of contact points.
const FLATTEST: f64 = 1e-4;
/// Thickness over diameter below which hulls are stretched before they are built; above, quickhull is safe.
const THIN: f64 = 0.02;

/// Most points, and most triangles of the hull before coplanar ones are merged: what is built in half a second.
const MOST_POINTS: usize = 200_000;
const MOST_TRIANGLES: usize = 8_000;

/// Hull of the points.
///
/// # Errors
/// Fewer than four points, too many, a number that is not finite, or points in one plane or nearly so.
pub(crate) fn convex_hull(points: &[DVec3]) -> Result<Polyhedron, GeometryError> {
    if points.len() < 4 {
        return Err(GeometryError::TooFew {
            field: "points",
            count: points.len(),
            least: 4,
        });
    }
    let few = |field, count, most| {
        if count <= most {
            return Ok(());
        }
        Err(GeometryError::TooMany { field, count, most })
    };
    few("points", points.len(), MOST_POINTS)?;
    for point in points {
        crate::error::finite("points", *point)?;
    }
    let mut distinct = points.to_vec();
    distinct.sort_by(|a, b| {
        (a.x.total_cmp(&b.x))
            .then(a.y.total_cmp(&b.y))
            .then(a.z.total_cmp(&b.z))
    });
    distinct.dedup();
    let spread = Spread::of(&distinct);
    let [diameter, _, thickness] = spread.extents;
    let bound = FLATTEST * diameter;
    if thickness.is_nan() || thickness <= bound {
        return Err(GeometryError::Flat { thickness, bound });
    }
    let failed = |reason: String| GeometryError::Hull {
        count: points.len(),
        reason,
    };
    let (vertices, triangles) = triangulated(&distinct, &spread).map_err(failed)?;
    few(
        "the list of triangles of the hull",
        triangles.len(),
        MOST_TRIANGLES,
    )?;
    let hull = merge_coplanar(&vertices, &triangles, COPLANAR * diameter)
        .ok_or_else(|| failed("faces do not close".into()))?;
    let outside = distinct.iter().any(|point| {
        hull.faces
            .iter()
            .any(|face| face.normal.dot(*point) - face.offset > 10.0 * COPLANAR * diameter)
    });
    if outside || hull.faces.len() < 4 {
        return Err(failed("a point lies outside the result".into()));
    }
    Ok(hull)
}

/// How far points extend along three orthogonal axes.
struct Spread {
    origin: DVec3,
    axes: [DVec3; 3],
    /// Diameter seen from the first point, width across it, thickness across the plane of both (m).
    extents: [f64; 3],
}

impl Spread {
    fn of(points: &[DVec3]) -> Self {
        let origin = points.first().copied().unwrap_or_default();
        let farthest = |measure: &dyn Fn(DVec3) -> f64| {
            points.iter().fold((0.0, DVec3::ZERO), |best, &p| {
                let value = measure(p);
                if value > best.0 { (value, p) } else { best }
            })
        };
        let (diameter, a) = farthest(&|p| (p - origin).length());
        let along = (a - origin).normalize_or_zero();
        let (width, b) = farthest(&|p| (p - origin).cross(along).length());
        let normal = along.cross(b - origin).normalize_or_zero();
        let (thickness, _) = farthest(&|p| (p - origin).dot(normal).abs());
        Self {
            origin,
            axes: [along, normal.cross(along), normal],
            extents: [diameter, width, thickness],
        }
    }

    /// The point in axes and units of the extents.
    fn stretched(&self, point: DVec3) -> DVec3 {
        let along = |axis: usize| (point - self.origin).dot(self.axes[axis]) / self.extents[axis];
        DVec3::new(along(0), along(1), along(2))
    }
}

/// Vertices and triangles of the hull, otherwise what is wrong. Hulls keep their triangles if all is stretched: thin ones are
/// built as thick as they are wide, because quickhull loses the others' edges.
fn triangulated(points: &[DVec3], spread: &Spread) -> Result<(Vec<DVec3>, Vec<[u32; 3]>), String> {
    let built = |points: &[DVec3]| {
        parry3d_f64::transformation::try_convex_hull(points).map_err(|error| error.to_string())
    };
    let [diameter, width, thickness] = spread.extents;
    if width.min(thickness) >= THIN * diameter {
        return built(points);
    }
    let bits = |p: DVec3| p.to_array().map(f64::to_bits);
    let stretched: Vec<DVec3> = points.iter().map(|p| spread.stretched(*p)).collect();
    let origins: BTreeMap<_, _> = stretched.iter().map(|p| bits(*p)).zip(points).collect();
    let (vertices, triangles) = built(&stretched)?;
    let vertices = vertices.iter().map(|p| origins.get(&bits(*p)).map(|p| **p));
    let vertices: Option<Vec<DVec3>> = vertices.collect();
    Ok((vertices.ok_or("a vertex is none of the points")?, triangles))
}

/// Merges triangles whose corners lie within `tolerance` of a seed's plane, largest seed first.
fn merge_coplanar(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    tolerance: f64,
) -> Option<Polyhedron> {
    let corner = |t: usize, k: usize| vertices[triangles[t][k] as usize];
    let area_vector = |t: usize| (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0));
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&s, &t| {
        (area_vector(t).length_squared())
            .total_cmp(&area_vector(s).length_squared())
            .then(s.cmp(&t))
    });
    let mut taken = vec![false; triangles.len()];
    let mut polygons: Vec<Vec<u32>> = Vec::new();
    for &seed in &order {
        if taken[seed] {
            continue;
        }
        let normal = area_vector(seed).try_normalize()?;
        let offset = normal.dot(corner(seed, 0));
        let group: Vec<usize> = (0..triangles.len())
            .filter(|&t| {
                !taken[t]
                    && (0..3).all(|k| (normal.dot(corner(t, k)) - offset).abs() <= tolerance)
                    && normal.dot(area_vector(t)) >= 0.0
            })
            .collect();
        for &t in &group {
            taken[t] = true;
        }
        if let Some(polygon) = boundary(vertices, triangles, &group, normal) {
            polygons.push(polygon);
        }
    }
    Some(assemble(vertices, &polygons))
}

/// Corners of the convex polygon covered by a group of coplanar triangles: its planar hull,
/// counter-clockwise about the normal, without points in the middle of an edge.
fn boundary(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    group: &[usize],
    normal: DVec3,
) -> Option<Vec<u32>> {
    let mut ids: Vec<u32> = group.iter().flat_map(|&t| triangles[t]).collect();
    ids.sort_unstable();
    ids.dedup();
    let (u, v) = normal.any_orthonormal_pair();
    // (u, v, n) must be right-handed for the loop to turn counter-clockwise.
    let v = if u.cross(v).dot(normal) < 0.0 { -v } else { v };
    let flat = |i: u32| {
        let x = vertices[i as usize];
        (x.dot(u), x.dot(v))
    };
    ids.sort_by(|&i, &j| {
        let (a, b) = (flat(i), flat(j));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    // Monotone chain; a turn must exceed rounding relative to the two edges.
    let half = |ids: &mut dyn Iterator<Item = u32>| {
        let mut chain: Vec<u32> = Vec::new();
        for k in ids {
            while let [.., i, j] = chain[..] {
                let (a, b, c) = (flat(i), flat(j), flat(k));
                let (p, q) = ((b.0 - a.0, b.1 - a.1), (c.0 - b.0, c.1 - b.1));
                let turn = p.0 * q.1 - p.1 * q.0;
                let scale = (p.0 * p.0 + p.1 * p.1).sqrt() * (q.0 * q.0 + q.1 * q.1).sqrt();
                if turn <= 1e-9 * scale {
                    chain.pop();
                } else {
                    break;
                }
            }
            chain.push(k);
        }
        chain.pop();
        chain
    };
    let mut polygon = half(&mut ids.iter().copied());
    polygon.extend(half(&mut ids.iter().rev().copied()));
    (polygon.len() >= 3).then_some(polygon)
}

/// Drops unused vertices and computes the face planes.
///
/// The normal is Newell's, `Σ vₖ × vₖ₊₁` about the first corner; the offset is the largest over
/// the corners, so that no corner lies outside its own face.
fn assemble(vertices: &[DVec3], polygons: &[Vec<u32>]) -> Polyhedron {
    let mut used: Vec<u32> = polygons.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let kept: Vec<DVec3> = used.iter().map(|&i| vertices[i as usize]).collect();
    let mut faces = Vec::with_capacity(polygons.len());
    let mut loops: Vec<u32> = Vec::new();
    for polygon in polygons {
        let first = vertices[polygon[0] as usize];
        let normal = polygon
            .windows(2)
            .map(|pair| {
                let [a, b] = [pair[0], pair[1]].map(|i| vertices[i as usize] - first);
                a.cross(b)
            })
            .sum::<DVec3>()
            .normalize_or_zero();
        let offset = polygon.iter().fold(f64::NEG_INFINITY, |offset, &i| {
            offset.max(normal.dot(vertices[i as usize]))
        });
        let start = loops.len() as u32;
        loops.extend(
            polygon
                .iter()
                .map(|i| used.partition_point(|u| u < i) as u32),
        );
        faces.push(Face {
            normal,
            offset,
            start,
            end: loops.len() as u32,
        });
    }
    Polyhedron::from_faces(kept, faces, loops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hull_of_a_box_with_extra_points_has_six_quads() {
        let half = DVec3::new(0.5, 1.0, 1.5);
        let mut points = Polyhedron::cuboid(half).vertices;
        points.extend([DVec3::ZERO, half, 0.5 * half, DVec3::new(0.5, 0.1, 0.2)]);
        points.push(DVec3::new(0.5, 1.0, 0.0));
        let hull = convex_hull(&points).unwrap();
        assert_eq!(hull.vertices.len(), 8);
        assert_eq!(hull.faces.len(), 6);
        assert_eq!(hull.edges.len(), 12);
        assert_eq!(hull.directions.len(), 3);
        for face in &hull.faces {
            assert!((face.offset - face.normal.abs().dot(half)).abs() < 1e-15);
            assert!((face.normal.abs().max_element() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn flat_and_short_inputs_are_refused() {
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y];
        assert!(matches!(
            convex_hull(&flat),
            Err(GeometryError::Flat { .. })
        ));
        assert!(matches!(
            convex_hull(&flat[..3]),
            Err(GeometryError::TooFew { count: 3, .. })
        ));
        let line = [DVec3::ZERO, DVec3::X, 2.0 * DVec3::X, 3.0 * DVec3::X];
        assert!(matches!(
            convex_hull(&line),
            Err(GeometryError::Flat { .. })
        ));
        let same = [DVec3::ONE; 5];
        assert!(matches!(
            convex_hull(&same),
            Err(GeometryError::Flat { .. })
        ));
        let mut bad = flat;
        bad[2] = DVec3::NAN;
        assert!(matches!(
            convex_hull(&bad),
            Err(GeometryError::NotFinite { .. })
        ));
    }

    /// A volume is exact to the thickness over the rounding of the coordinates.
    #[test]
    fn thin_plates_and_needles_have_their_volume_and_faces() {
        let turn = glam::DQuat::from_xyzw(0.3, -0.5, 0.2, 0.7).normalize();
        for size in [1e-5, 1.0, 1e3] {
            for thin in [0.1, 1e-2, 3e-3, 1e-3, 3e-4] {
                for half in [
                    DVec3::new(1.0, 0.7, thin),
                    DVec3::new(1.0, thin, 1.1 * thin),
                ] {
                    for turn in [glam::DQuat::IDENTITY, turn] {
                        let corners = Polyhedron::cuboid(size * half).vertices;
                        let points: Vec<_> = corners.iter().map(|p| turn * *p).collect();
                        let hull = convex_hull(&points).unwrap();
                        assert_eq!((hull.vertices.len(), hull.faces.len()), (8, 6));
                        let volume = crate::inertia::Moments::polyhedron(&hull).volume;
                        let exact = 8.0 * (size * half).element_product();
                        let error = (volume / exact - 1.0).abs();
                        assert!(error < 1e-15 / (thin * thin), "{half}: {error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn hulls_thinner_than_the_bound_are_flat() {
        for thin in [5e-5, 1e-6, 1e-8, 1e-12] {
            let plate = Polyhedron::cuboid(DVec3::new(1.0, 1.0, thin)).vertices;
            let needle = Polyhedron::cuboid(DVec3::new(1.0, thin, thin)).vertices;
            for points in [plate, needle] {
                let Err(GeometryError::Flat { thickness, bound }) = convex_hull(&points) else {
                    panic!("{thin}");
                };
                assert!(thickness < bound && bound > 1e-4, "{thickness} {bound}");
            }
        }
    }

    #[test]
    fn hulls_of_too_many_points_are_refused() {
        let mut points = vec![DVec3::ZERO; MOST_POINTS + 1];
        assert!(matches!(
            convex_hull(&points),
            Err(GeometryError::TooMany {
                field: "points",
                ..
            })
        ));
        // A spiral on a ball.
        points = (0..5000_i32)
            .map(|i| {
                let (z, angle) = (f64::from(i) / 2500.0 - 0.9999, 2.4 * f64::from(i));
                let (sin, cos) = libm::sincos(angle);
                let r = (1.0 - z * z).sqrt();
                DVec3::new(r * cos, r * sin, z)
            })
            .collect();
        assert!(matches!(
            convex_hull(&points),
            Err(GeometryError::TooMany {
                most: MOST_TRIANGLES,
                ..
            })
        ));
        assert!(convex_hull(&points[..2000]).is_ok());
    }
}
