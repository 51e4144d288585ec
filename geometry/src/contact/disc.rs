//! Contact of a disc (the end of a cylinder or cone) with polygons and discs.
//!
//! All functions visit candidate points with a number each; the caller filters by gap.

use super::half_space::{LEVEL, azimuth};
use glam::{DVec2, DVec3};

/// Polygon corners in order; a polygon of two corners is a segment.
pub(crate) type Corners<'a> = &'a [DVec3];

/// The plane of the side `k` of the prism over a polygon: outward unit normal across the edge.
fn side(corners: Corners<'_>, k: usize, normal: DVec3) -> (DVec3, DVec3) {
    let from = corners[k];
    let to = corners[(k + 1) % corners.len()];
    ((to - from).cross(normal).normalize_or_zero(), from)
}

/// True if the point projects along `normal` into the polygon, up to the tolerance (m).
pub(crate) fn over_polygon(
    corners: Corners<'_>,
    normal: DVec3,
    point: DVec3,
    tolerance: f64,
    except: Option<usize>,
) -> bool {
    (0..corners.len()).all(|k| {
        let (across, from) = side(corners, k, normal);
        Some(k) == except || across.dot(point - from) <= tolerance
    })
}

/// Where the rim circle `z = height, |xy| = radius` meets the side planes of the prism over a
/// polygon, within the other sides.
pub(crate) fn rim_on_sides(
    height: f64,
    radius: f64,
    corners: Corners<'_>,
    normal: DVec3,
    tolerance: f64,
    mut visit: impl FnMut(DVec3, u64),
) {
    for k in 0..corners.len() {
        let (across, from) = side(corners, k, normal);
        // across · (ρ e + h ẑ − from) = 0 with e on the unit circle.
        let flat = across.truncate();
        let length = flat.length();
        if length * radius <= 1e-12 {
            continue;
        }
        let along = flat / length;
        let cosine = (across.dot(from) - across.z * height) / (length * radius);
        if cosine.abs() >= 1.0 {
            continue;
        }
        let sine = (1.0 - cosine * cosine).sqrt();
        for (turn, number) in [(sine, 0), (-sine, 1)] {
            let e = along * cosine + along.perp() * turn;
            let point = (e * radius).extend(height);
            if over_polygon(corners, normal, point, tolerance, Some(k)) {
                visit(point, 2 * k as u64 + number);
            }
        }
    }
}

/// Corners of a polygon within the cylinder `|xy| ≤ radius`, and where its edges cross it.
pub(crate) fn polygon_in_disc(
    corners: Corners<'_>,
    radius: f64,
    tolerance: f64,
    mut visit: impl FnMut(DVec3, u64),
) {
    let count = corners.len();
    for (k, corner) in (0..).zip(corners) {
        if corner.truncate().length() <= radius + tolerance {
            visit(*corner, 4 * k);
        }
    }
    let edges = if count == 2 { 1 } else { count };
    for k in 0..edges {
        let from = corners[k];
        let along = corners[(k + 1) % count] - from;
        // |from + s along|² = ρ² in the plane, with the mid parameter split off.
        let (p, d) = (from.truncate(), along.truncate());
        let square = d.length_squared();
        if square <= 1e-24 {
            continue;
        }
        let middle = -p.dot(d) / square;
        let least = (p + d * middle).length_squared();
        let rest = radius * radius - least;
        if rest <= 0.0 {
            continue;
        }
        let half = (rest / square).sqrt();
        for (s, number) in [(middle - half, 1), (middle + half, 2)] {
            if s > 0.0 && s < 1.0 {
                visit(from + along * s, 4 * k as u64 + number);
            }
        }
    }
}

/// Four points of the circle of radius `radius` at the origin, one of them along `towards`.
pub(crate) fn around(radius: f64, towards: DVec2) -> [DVec2; 4] {
    let e = azimuth(towards) * radius;
    [e, e.perp(), -e, -e.perp()]
}

/// Points that span the common part of two discs in one plane, the first about the origin:
/// the crossings of the rims, and rim points of each within the other. Centres that are closer than [`LEVEL`] of the smaller radius
/// count as one.
pub(crate) fn common_part(
    radius: f64,
    center: DVec2,
    other_radius: f64,
    mut visit: impl FnMut(DVec2, u64),
) {
    let distance = center.length();
    let least = radius.min(other_radius);
    let apart = distance > LEVEL * least;
    let (towards, tolerance) = if apart {
        (center / distance, 1e-9 * least)
    } else {
        (DVec2::ZERO, LEVEL * least)
    };
    for (k, point) in (0..).zip(around(radius, towards)) {
        if (point - center).length() <= other_radius + tolerance {
            visit(point, k);
        }
    }
    for (k, point) in (4..).zip(around(other_radius, -towards)) {
        if (point + center).length() <= radius + tolerance {
            visit(point + center, k);
        }
    }
    if apart {
        // Radical line: x = (d² + ρ₁² − ρ₂²) / 2d along the line of centres.
        let x = (distance * distance + radius * radius - other_radius * other_radius)
            / (2.0 * distance);
        let rest = radius * radius - x * x;
        if rest > 0.0 {
            let y = rest.sqrt();
            visit(towards * x + towards.perp() * y, 8);
            visit(towards * x - towards.perp() * y, 9);
        }
    }
}
