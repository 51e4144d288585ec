//! Pairs of convex shapes of every kind in overlap, drawn at random: their gap is their depth.

use super::hulls::Drawn;
use super::optimality::{directions, separation};
use super::terrain::polytopes;
use super::*;
use crate::contact::with_polytope;
use crate::geometry::{Body, Convex};

/// A shape of about this size (m): a cuboid, a prism, a round hull, a flat one, a needle, a tetrahedron, a cylinder, a cone or a capsule.
fn drawn_shape(drawn: &mut Drawn, kind: usize, size: f64) -> Geometry {
    let [x, y, z] = [(); 3].map(|()| size * (0.1 + 0.45 * (drawn.number() + 1.0)));
    let half_extents = DVec3::new(x, y, z);
    let points = match kind {
        0 => return cuboid(x, y, z),
        1 => {
            let sides = 3 + ((drawn.number() + 1.0) * 6.0) as usize;
            let corner = |k: usize| {
                let angle = (k / 2) as f64 * std::f64::consts::TAU / sides as f64;
                let level = if k & 1 == 0 { -y } else { y };
                DVec3::new(libm::cos(angle) * x, libm::sin(angle) * x, level)
            };
            (0..2 * sides).map(corner).collect()
        }
        2 => {
            let count = 8 + ((drawn.number() + 1.0) * 16.0) as usize;
            drawn.hull(count, DVec3::splat(size))
        }
        3 => drawn.hull(16, DVec3::new(size, size, 0.05 * size)),
        4 => drawn.hull(12, DVec3::new(0.05 * size, 0.08 * size, size)),
        5 => drawn.hull(4, half_extents),
        _ => {
            let (half_height, radius) = (x, y);
            return build(match kind {
                6 => Shape::Cylinder {
                    half_height,
                    radius,
                },
                7 => Shape::Cone {
                    half_height,
                    radius,
                },
                _ => Shape::Capsule {
                    half_height,
                    radius,
                },
            });
        }
    };
    // Four points may be too flat for a hull.
    let hull = Shape::ConvexHull { points }.build();
    hull.unwrap_or_else(|_| cuboid(x, y, z))
}

/// Two bodies as they are placed.
type Pair<'a> = [(&'a Geometry, Frame); 2];

/// No less than minus the depth of two bodies (m): the greatest separation along the axes of polytopes, and along directions that are led uphill.
fn held(pair: &Pair<'_>, sample: &[DVec3]) -> f64 {
    let [(a, pa), (b, pb)] = pair;
    let along = |l: DVec3| separation(a, pa, b, pb, l);
    let mut starts: Vec<(f64, DVec3)> = sample.iter().map(|l| (along(*l), *l)).collect();
    starts.sort_by(|x, y| y.0.total_cmp(&x.0));
    let uphill = |(mut value, mut l): (f64, DVec3)| {
        let mut step = 0.05;
        while step > 1e-8 {
            let (u, w) = l.any_orthonormal_pair();
            let around = [u, w, u + w, u - w].into_iter().flat_map(|t| [t, -t]);
            let around = around.map(|t| (l + t * step).normalize());
            match around
                .map(|l| (along(l), l))
                .find(|(next, _)| *next > value)
            {
                Some(next) => (value, l) = next,
                None => step *= 0.5,
            }
        }
        value
    };
    let best = starts
        .into_iter()
        .take(6)
        .map(uphill)
        .fold(f64::NEG_INFINITY, f64::max);
    let (Body::Convex(a), Body::Convex(b)) = (a.body(), b.body()) else {
        panic!("convex expected")
    };
    let mut of_axes = f64::NEG_INFINITY;
    if let (Convex::Polyhedron(_), Convex::Polyhedron(_)) = (a, b) {
        with_polytope(a, pa, |a, _| {
            with_polytope(b, pb, |b, _| of_axes = polytopes(&a, &b))
        });
    }
    best.max(of_axes)
}

/// Two bodies of any kinds and of sizes within 1 : 10, brought into each other by 3e-3 to 0.1 of the smaller one as their contacts say: no contact is deeper than a plane proves.
///
/// Where an edge gives way to a face the points along that may be deeper by 1e-3 of the smaller radius, which comes to 1.7e-3 of the size at most, or by half of the depth. Of 33,000 pairs 30 were deeper by 1e-3 of the size, among them the ones that are named, of which ten by more than that.
#[test]
fn no_contact_is_deeper_than_a_plane_proves() {
    let once_wrong = [
        202, 3473, 5146, 5940, 7599, 8403, 9329, 9502, 10205, 10371, 12384, 14447, 15253, 17337,
        18843, 19082, 21482, 23833, 25720, 25891, 26100, 27176, 29058, 30213, 31378,
    ];
    let sample: Vec<DVec3> = directions().into_iter().step_by(4).collect();
    for seed in (0..100).chain(once_wrong) {
        let mut drawn = Drawn((seed * 0x9E37_79B9_7F4A_7C15_u128) as u64 ^ 12345);
        for _ in 0..4 {
            drawn.number();
        }
        let kinds = [(); 2].map(|()| (((drawn.number() + 1.0) * 4.5) as usize).min(8));
        let ratio = libm::pow(10.0, drawn.number());
        let a = drawn_shape(&mut drawn, kinds[0], 1.0);
        let b = drawn_shape(&mut drawn, kinds[1], ratio);
        let size = ratio.min(1.0);
        let turns = [(); 2].map(|()| turn(drawn.unit(), 2.0 * drawn.number()));
        let (way, aside) = (drawn.unit(), drawn.unit() * 0.6);
        let depth = size * libm::pow(10.0, -2.5 + 1.5 * drawn.number());
        let pa = Frame::new(DVec3::ZERO, turns[0]);
        let place = |d: f64| Frame::new(way * d + aside, turns[1]);
        let least = |pair: &Pair<'_>| {
            let [(a, pa), (b, pb)] = pair;
            let all = found(a, pa, b, pb, size);
            all.iter().fold(size, |g, c| g.min(c.gap))
        };
        let (mut near, mut far) = (0.0, 4.0 * (1.0 + ratio));
        for _ in 0..25 {
            let middle = 0.5 * (near + far);
            if least(&[(&a, pa), (&b, place(middle))]) > -depth {
                far = middle;
            } else {
                near = middle;
            }
        }
        // Some pass each other.
        if near <= 0.0 {
            continue;
        }
        for d in [near, far] {
            let pair = [(&a, pa), (&b, place(d))];
            let held = held(&pair, &sample);
            for pair in [pair, [pair[1], pair[0]]] {
                let least = least(&pair);
                assert!(
                    held - least <= (1.7e-3 * size).max(-0.5 * held),
                    "seed {seed}: gap {least}, held {held}"
                );
            }
        }
    }
}
