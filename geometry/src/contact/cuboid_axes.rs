//! Separating axes of two cuboids, in closed form.
//!
//! Finds what [`separating_axis`](super::separating_axis) finds for any two polytopes, to the last
//! bit: opposite faces share their products, products with the axes of the frame shape are
//! components, and the nine edge axes are worked out only where they may matter. With `c = eᵢ × r_j`
//! (`r` the axes of B in the frame of A, `(i, m, n)` and `(j, k, l)` cyclic)
//!
//! ```text
//! |c| s(c) = |c·t| − h_m |r_jn| − h_n |r_jm| − h_k |r_li| − h_l |r_ki|,     c·t = t_n r_jm − t_m r_jn
//! ```
//!
//! needs no root. Where `s(c)` is less than that of the best face by more than any bias towards a face, the axis can
//! neither separate the bodies nor be chosen. Of nearly parallel edges little is left of `c`: what rounding may have
//! taken from the last two terms, which are made of the axes of B, counts as separation.

use super::cuboid_faces::FACE_AXES;
use super::separating_axis::{Axes, Axis, PARALLEL, PolytopePair};
use glam::DVec3;

/// All axes that matter, or `None` if one of them separates by more than the margin. A is at rest
/// in the frame, with the half extents `half_a`; neither has a cone.
pub(super) fn axes(pair: &PolytopePair<'_>, half_a: DVec3, half_b: DVec3) -> Option<Axes> {
    let limit = pair.margin + pair.radius;
    let tie = 1e-12 * pair.scale;
    let rotation = &pair.b.rotation;
    let r = [rotation.x_axis, rotation.y_axis, rotation.z_axis].map(|axis| axis.to_array());
    let t = pair.b.translation.to_array();
    let (a, b) = (half_a.to_array(), half_b.to_array());

    // Of two opposite faces the one on the side of the other body; the first of two equal ones.
    let facing = |middle: f64| {
        if -middle > middle + tie {
            (1, -middle)
        } else {
            (0, middle)
        }
    };
    let mut best_a = (f64::NEG_INFINITY, 0);
    for (face, axis) in (0..).step_by(2).zip(FACE_AXES) {
        let reach = b[0] * r[0][axis].abs() + b[1] * r[1][axis].abs() + b[2] * r[2][axis].abs();
        let (side, middle) = facing(t[axis]);
        let separation = (middle - reach) - a[axis];
        if separation > best_a.0 + tie {
            best_a = (separation, face + side);
        }
    }
    let mut best_b = (f64::NEG_INFINITY, 0);
    for (face, axis) in (0..).step_by(2).zip(FACE_AXES) {
        let n = r[axis];
        let reach = a[0] * n[0].abs() + a[1] * n[1].abs() + a[2] * n[2].abs();
        let (side, middle) = facing(-(n[0] * t[0] + n[1] * t[1] + n[2] * t[2]));
        let separation = -reach - (b[axis] - middle);
        if separation > best_b.0 + tie {
            best_b = (separation, face + side);
        }
    }
    if best_a.0.max(best_b.0) > limit {
        return None;
    }
    let outward = |face: usize, axis: DVec3| if face.is_multiple_of(2) { axis } else { -axis };
    let face_a = Axis {
        direction: outward(best_a.1, DVec3::AXES[FACE_AXES[best_a.1 / 2]]),
        separation: best_a.0,
        face: best_a.1,
    };
    let face_b = Axis {
        direction: -outward(best_b.1, DVec3::from_array(r[FACE_AXES[best_b.1 / 2]])),
        separation: best_b.0,
        face: best_b.1,
    };
    let of_b = best_b.0 > best_a.0 + tie;
    let mut axes = Axes {
        face_a: Some(face_a),
        face_b: Some(face_b),
        any: Some(if of_b { face_b } else { face_a }),
        ..Axes::default()
    };
    // Far above every bias between the kinds of axes.
    let least = best_a.0.max(best_b.0) - 1e-6 * pair.scale;
    let rounding = 16.0 * f64::EPSILON * half_b.element_sum();
    for i in 0..3 {
        let (m, n) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (k, l) = ((j + 1) % 3, (j + 2) % 3);
            let (rm, rn) = (r[j][m], r[j][n]);
            let square = rm * rm + rn * rn;
            let scaled = (t[n] * rm - t[m] * rn).abs()
                - (a[m] * rn.abs() + a[n] * rm.abs())
                - (b[k] * r[l][i].abs() + b[l] * r[k][i].abs())
                + rounding;
            let minor = scaled < 0.0 && (least >= 0.0 || scaled * scaled > least * least * square);
            if minor || square < PARALLEL {
                continue;
            }
            let direction = DVec3::AXES[i].cross(DVec3::from_array(r[j])) / square.sqrt();
            let reach_a = half_a.dot(direction.abs());
            let across = r.map(|axis| direction.dot(DVec3::from_array(axis)).abs());
            let reach_b = half_b.dot(DVec3::from_array(across));
            let middle = direction.dot(pair.b.translation);
            let there = (middle - reach_b) - reach_a;
            let back = -reach_a - (middle + reach_b);
            let (direction, separation) = if back > there + tie {
                (-direction, back)
            } else {
                (direction, there)
            };
            let axis = Axis {
                direction,
                separation,
                face: 0,
            };
            axes.try_edges(axis, limit, tie)?;
        }
    }
    Some(axes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::contact::separating_axis::{Placed, Vertices, separating_axes};
    use crate::polytope::Polyhedron;
    use glam::{DMat3, DQuat};
    use std::cell::OnceCell;

    fn bits(axis: Option<Axis>) -> Option<([u64; 4], usize)> {
        axis.map(|axis| {
            let [x, y, z] = axis.direction.to_array();
            let numbers = [x, y, z, axis.separation];
            // The sign of a zero is of no consequence.
            (numbers.map(|number| (number + 0.0).to_bits()), axis.face)
        })
    }

    /// Numbers in (-1, 1).
    fn numbers() -> impl FnMut() -> f64 {
        let mut state = 11_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    /// Two cuboids 20,000 times: from parallel to any, some exactly on the other.
    pub(in crate::contact) fn for_each_pair(check: impl FnMut(usize, &PolytopePair<'_>)) {
        for_each_pair_with(1.0, [0.0, 1e-13, 1e-7, 1e-3, 1.0], check);
    }

    /// The same with tilts of one's own, or above cuboids so many times as large.
    fn for_each_pair_with(
        times: f64,
        tilts: [f64; 5],
        mut check: impl FnMut(usize, &PolytopePair<'_>),
    ) {
        let mut number = numbers();
        let mut vector = || DVec3::new(number(), number(), number());
        for case in 0..20_000 {
            let mut half = [vector(), vector()].map(|half| half.abs() * 0.5 + 0.05);
            half[1] *= times;
            let [a, b] = half.map(Polyhedron::cuboid);
            let tilt = tilts[case % 5];
            let mut translation = vector();
            let turned = if times > 1.0 {
                // A face of the large one is up; its edges along y are tilted in that face.
                let about_y = DQuat::from_rotation_y(vector().x);
                let up = about_y * DVec3::Z;
                let reach = half[0].dot(up.abs()) + half[1].z + 0.02 * vector().x;
                translation = -up * reach + vector() * DVec3::Y;
                DQuat::from_axis_angle(up, tilt) * about_y
            } else {
                DQuat::from_vec4((vector() * tilt).extend(1.0)).normalize()
            };
            if times <= 1.0 && case % 3 == 0 {
                translation.z = half[0].z + half[1].z;
            }
            let rotation = DMat3::from_quat(turned);
            let vertices = OnceCell::new();
            let pair = PolytopePair {
                a: Placed::at_rest(a.view()),
                b: Placed {
                    shape: b.view(),
                    rotation,
                    translation,
                    vertices: Vertices::Later(&vertices),
                },
                radius: 0.0,
                margin: 0.05,
                scale: a.bounding_radius.min(b.bounding_radius),
                cone: None,
            };
            check(case, &pair);
        }
    }

    #[test]
    fn the_axes_that_matter_are_those_of_any_two_polytopes() {
        let [apart, with_edges] = compare(1.0, [0.0, 1e-13, 1e-7, 1e-3, 1.0]);
        assert!(apart > 1000 && with_edges > 1000, "{apart} {with_edges}");
    }

    /// Where cross products nearly vanish and arms are long.
    #[test]
    fn axes_of_a_cuboid_on_a_huge_one_match_any_two_polytopes() {
        let [_, with_edges] = compare(1e4, [1e-6, 3e-6, 1e-5, 1e-4, 1e-3]);
        assert!(with_edges > 1000, "{with_edges}");
    }

    /// Compares the axes of all pairs; how many are apart, and how many have edges that matter.
    fn compare(times: f64, tilts: [f64; 5]) -> [usize; 2] {
        let [mut apart, mut with_edges] = [0, 0];
        for_each_pair_with(times, tilts, |case, pair| {
            let half = [pair.a, pair.b].map(|body| body.shape.half_extents.unwrap_or_default());
            let general = separating_axes(pair);
            let fast = axes(pair, half[0], half[1]);
            assert_eq!(general.is_none(), fast.is_none(), "case {case}");
            let (Some(general), Some(fast)) = (general, fast) else {
                apart += 1;
                return;
            };
            assert_eq!(bits(general.face_a), bits(fast.face_a), "case {case}");
            assert_eq!(bits(general.face_b), bits(fast.face_b), "case {case}");
            assert_eq!(bits(general.any), bits(fast.any), "case {case}");
            let best = |axes: &Axes| axes.edges.map_or(f64::NEG_INFINITY, |e| e.separation);
            let face = |axis: Option<Axis>| axis.map_or(f64::NEG_INFINITY, |a| a.separation);
            let least = face(fast.face_a).max(face(fast.face_b)) - 1e-7 * pair.scale;
            if best(&general) > least || best(&fast) > least {
                assert_eq!(bits(general.edges), bits(fast.edges), "case {case}");
                with_edges += 1;
            }
        });
        [apart, with_edges]
    }
}
