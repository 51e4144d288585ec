//! Convex hulls with polygonal faces.
//!
//! The triangulated hull comes from quickhull; coplanar triangles are then merged into polygons,
//! because contact between polygons yields clean normals and few, well-spread points where a
//! triangulation would invent edges.

use crate::GeometryError;
use crate::polytope::{Face, Polyhedron};
use glam::DVec3;

/// Relative distance from a plane below which a vertex counts as lying in it.
const COPLANAR: f64 = 1e-9;

/// Hull of the points.
///
/// # Errors
/// Fewer than four points, a number that is not finite, or points in one plane.
pub(crate) fn convex_hull(points: &[DVec3]) -> Result<Polyhedron, GeometryError> {
    if points.len() < 4 {
        return Err(GeometryError::TooFew {
            field: "points",
            count: points.len(),
            least: 4,
        });
    }
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
    let (thickness, diameter) = thickness(&distinct);
    let bound = COPLANAR * diameter;
    if thickness.is_nan() || thickness <= bound {
        return Err(GeometryError::Flat { thickness, bound });
    }
    let failed = |reason: String| GeometryError::Hull {
        count: points.len(),
        reason,
    };
    let (vertices, triangles) = parry3d_f64::transformation::try_convex_hull(&distinct)
        .map_err(|error| failed(error.to_string()))?;
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

/// Extent across the plane of three far points, and the diameter seen from the first point (m).
fn thickness(points: &[DVec3]) -> (f64, f64) {
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        points.iter().fold((0.0, DVec3::ZERO), |best, &p| {
            let value = measure(p);
            if value > best.0 { (value, p) } else { best }
        })
    };
    let Some(&origin) = points.first() else {
        return (0.0, 0.0);
    };
    let (diameter, a) = farthest(&|p| (p - origin).length());
    let along = (a - origin).normalize_or_zero();
    let (_, b) = farthest(&|p| (p - origin).cross(along).length());
    let normal = along.cross(b - origin).normalize_or_zero();
    let (thickness, _) = farthest(&|p| (p - origin).dot(normal).abs());
    (thickness, diameter)
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
}
