//! The narrow phase by pair of shapes: the time of one call of `geometry::contacts`.
//!
//! Pairs in contact touch with known features, at a gap of ±1e-5 m; near ones are 4 mm apart, beyond the margin of 1 mm. Pairs apart
//! are of bodies whose bounding spheres just meet, in random orientations. Every case cycles through [`PLACEMENTS`] placements, so that no branch is known beforehand. Beside the
//! times, on stderr: contact points of a call and the largest error of the gap.

#![expect(clippy::unwrap_used, reason = "a bench that cannot run may panic")]

#[path = "pairs/feature.rs"]
mod feature;

use criterion::{Criterion, criterion_group, criterion_main};
use feature::{Feature, hull, of_box, of_capsule, of_cone, of_cylinder, of_hull};
use moreau::geometry::{ContactPoint, Frame, Geometry, Shape, contacts};
use moreau::prelude::{DQuat, DVec3};
use moreau::scene::Lcg;
use std::f64::consts::PI;
use std::hint::black_box;
use std::time::Duration;

/// Placements of a case.
const PLACEMENTS: usize = 16;
/// Gap of bodies in contact, m.
const GAP: f64 = 1e-5;
/// Gap up to which contacts are asked for, m.
const MARGIN: f64 = 1e-3;

/// A shape with the features that may touch.
struct Side {
    name: &'static str,
    geometry: Geometry,
    features: Vec<(&'static str, Feature)>,
}

impl Side {
    fn new<const N: usize>(
        name: &'static str,
        shape: &Shape,
        names: [&'static str; N],
        features: [Feature; N],
    ) -> Self {
        Self {
            name,
            geometry: shape.build().unwrap(),
            features: names.into_iter().zip(features).collect(),
        }
    }

    fn hull(name: &'static str, count: usize, axes: [f64; 3]) -> Self {
        let (shape, points) = hull(count, axes.into());
        let features = of_hull(&points).unwrap();
        Self::new(name, &shape, ["face", "edge", "vertex"], features)
    }

    fn feature(&self, name: &str) -> Feature {
        let found = self.features.iter().find(|(own, _)| *own == name);
        found.unwrap().1
    }
}

/// The shapes of all pairs, about 10 cm in size.
fn sides() -> Vec<Side> {
    let half = DVec3::new(0.05, 0.04, 0.03);
    let cuboid = Shape::Cuboid { half_extents: half };
    let (half_height, radius) = (0.05, 0.04);
    let cylinder = Shape::Cylinder {
        half_height,
        radius,
    };
    let cone = Shape::Cone {
        half_height,
        radius,
    };
    let capsule = Shape::Capsule {
        half_height: 0.03,
        radius,
    };
    vec![
        Side::hull("hull12", 12, [0.05; 3]),
        Side::hull("hull20", 20, [0.05; 3]),
        Side::hull("hull40", 40, [0.05; 3]),
        Side::hull("thin20", 20, [0.1, 0.1, 0.003]),
        Side::new("box", &cuboid, ["face", "edge", "vertex"], of_box(half)),
        Side::new(
            "cylinder",
            &cylinder,
            ["end", "side", "rim"],
            of_cylinder(half_height, radius),
        ),
        Side::new(
            "cone",
            &cone,
            ["base", "side", "rim"],
            of_cone(half_height, radius),
        ),
        Side::new(
            "capsule",
            &capsule,
            ["side", "cap"],
            of_capsule(0.03, radius),
        ),
    ]
}

/// What touches what.
const TOUCHING: [[&str; 4]; 37] = [
    ["hull12", "face", "hull12", "face"],
    ["hull20", "face", "hull20", "face"],
    ["hull20", "edge", "hull20", "edge"],
    ["hull20", "vertex", "hull20", "face"],
    ["hull20", "edge", "hull20", "face"],
    ["hull40", "face", "hull40", "face"],
    ["hull40", "edge", "hull40", "edge"],
    ["hull40", "vertex", "hull40", "face"],
    ["hull40", "edge", "hull40", "face"],
    ["hull20", "face", "hull40", "face"],
    ["thin20", "face", "thin20", "face"],
    ["thin20", "edge", "thin20", "edge"],
    ["thin20", "edge", "thin20", "face"],
    ["thin20", "vertex", "thin20", "face"],
    ["box", "face", "box", "face"],
    ["box", "edge", "box", "edge"],
    ["box", "edge", "box", "face"],
    ["box", "vertex", "box", "face"],
    ["box", "face", "hull20", "face"],
    ["box", "edge", "hull40", "edge"],
    ["cylinder", "rim", "cylinder", "rim"],
    ["cylinder", "side", "cylinder", "side"],
    ["cylinder", "end", "cylinder", "side"],
    ["cylinder", "end", "cylinder", "end"],
    ["cylinder", "rim", "cylinder", "side"],
    ["cylinder", "rim", "cylinder", "end"],
    ["cone", "rim", "cone", "rim"],
    ["cone", "side", "cone", "side"],
    ["cone", "base", "cone", "side"],
    ["cone", "base", "cone", "base"],
    ["cylinder", "side", "cone", "side"],
    ["cylinder", "side", "hull20", "face"],
    ["cylinder", "rim", "hull20", "edge"],
    ["cylinder", "end", "hull40", "face"],
    ["capsule", "side", "hull20", "face"],
    ["capsule", "cap", "hull40", "face"],
    ["capsule", "side", "capsule", "side"],
];

/// What faces what beyond the margin.
const NEAR: [[&str; 4]; 5] = [
    ["hull20", "vertex", "hull20", "face"],
    ["hull40", "face", "hull40", "face"],
    ["box", "edge", "box", "edge"],
    ["cylinder", "rim", "cylinder", "side"],
    ["cone", "rim", "cone", "side"],
];
/// Their gap, m.
const NEAR_GAP: f64 = 4e-3;

/// Pairs of bodies apart.
const APART: [[&str; 2]; 9] = [
    ["hull20", "hull20"],
    ["hull40", "hull40"],
    ["thin20", "thin20"],
    ["box", "box"],
    ["cylinder", "cylinder"],
    ["cone", "cone"],
    ["cylinder", "cone"],
    ["cylinder", "hull20"],
    ["capsule", "hull20"],
];

/// A case: two shapes in several poses.
struct Case {
    name: String,
    geometries: [Geometry; 2],
    poses: Vec<[Frame; 2]>,
    /// Gap of the features, m; infinite if they are apart.
    gap: f64,
}

/// The second body, turned about the common normal.
fn touching(sides: &[Side], [a, feature_a, b, feature_b]: [&str; 4], gap: f64) -> Case {
    let side = |name: &str| sides.iter().find(|side| side.name == name).unwrap();
    let (a, b) = (side(a), side(b));
    let mut random = Lcg::new(7);
    let poses = (0..PLACEMENTS).map(|_| {
        let common = random.rotation();
        // Edges cross at 30° to 150°.
        let angle = PI * (1.0 + 4.0 * random.uniform()) / 6.0;
        let along = DQuat::from_rotation_x(angle) * DVec3::Y;
        let first = a.feature(feature_a).placed(DVec3::ZERO, DVec3::X, DVec3::Y);
        let second = b
            .feature(feature_b)
            .placed(DVec3::X * gap, DVec3::NEG_X, along);
        let turned = |pose: Frame| Frame::new(common * pose.position, common * pose.orientation);
        [turned(first), turned(second)]
    });
    let state = match gap {
        gap if gap < 0.0 => "overlap",
        gap if gap > MARGIN => "near",
        _ => "gap",
    };
    Case {
        name: format!("{} {feature_a} · {} {feature_b}, {state}", a.name, b.name),
        geometries: [a.geometry.clone(), b.geometry.clone()],
        poses: poses.collect(),
        gap,
    }
}

/// Bounding spheres that overlap by a hundredth of their radii.
fn apart(sides: &[Side], [a, b]: [&str; 2]) -> Case {
    let side = |name: &str| sides.iter().find(|side| side.name == name).unwrap();
    let (a, b) = (side(a), side(b));
    let mut random = Lcg::new(11);
    let reach = a.geometry.bounding_radius() + b.geometry.bounding_radius();
    let mut poses = Vec::new();
    let mut found = Vec::new();
    while poses.len() < PLACEMENTS {
        let direction = random.rotation() * DVec3::X;
        let first = Frame::new(DVec3::ZERO, random.rotation());
        let second = Frame::new(0.99 * reach * direction, random.rotation());
        found.clear();
        contacts(
            &a.geometry,
            &first,
            &b.geometry,
            &second,
            MARGIN,
            &mut found,
        );
        if found.is_empty() {
            poses.push([first, second]);
        }
    }
    Case {
        name: format!("{} · {}, apart", a.name, b.name),
        geometries: [a.geometry.clone(), b.geometry.clone()],
        poses,
        gap: f64::INFINITY,
    }
}

/// A side on a flat mesh of squares of 2 cm, cut into triangles.
fn on_a_mesh(sides: &[Side], name: &str, feature: &str, gap: f64) -> Case {
    let side = sides.iter().find(|side| side.name == name).unwrap();
    let n = 21;
    let at = |i: usize| 0.02 * (i as f64 - 10.0);
    let vertices = (0..n * n).map(|k| DVec3::new(at(k % n), at(k / n), 0.0));
    let squares = (0..n * n).filter(|k| k % n + 1 < n && k / n + 1 < n);
    let triangles = squares.flat_map(|k| {
        let [a, b, c, d] = [k, k + 1, k + n, k + n + 1].map(|k| k as u32);
        [[a, b, d], [a, d, c]]
    });
    let mesh = Shape::TriangleMesh {
        vertices: vertices.collect(),
        triangles: triangles.collect(),
    };
    let mut random = Lcg::new(13);
    let poses = (0..PLACEMENTS).map(|_| {
        let angle = 2.0 * PI * random.uniform();
        let along = DQuat::from_rotation_z(angle) * DVec3::X;
        let place = DVec3::new(0.05 * random.symmetric(), 0.05 * random.symmetric(), gap);
        let body = side.feature(feature).placed(place, DVec3::NEG_Z, along);
        [body, Frame::new(DVec3::ZERO, DQuat::IDENTITY)]
    });
    Case {
        name: format!("{name} {feature} · mesh, overlap"),
        geometries: [side.geometry.clone(), mesh.build().unwrap()],
        poses: poses.collect(),
        gap,
    }
}

/// A height field of 200 × 200 points on 4 m × 4 m, times `height` (m).
fn field(height: f64) -> Geometry {
    let value = |k: usize| ((k * 7919 + k / 200 * 104_729) % 1009) as f64 / 1008.0;
    let shape = Shape::HeightField {
        x_size: 4.0,
        y_size: 4.0,
        columns: 200,
        heights: (0..40_000).map(|k| height * value(k)).collect(),
    };
    shape.build().unwrap()
}

/// As many triangles that meet in one point, the top of a hill of this slope.
fn fan(slope: f64) -> Geometry {
    let count = 80_000;
    let corner = |k: u32| {
        let turn = DQuat::from_rotation_z(2.0 * PI * f64::from(k) / f64::from(count));
        turn * DVec3::X - DVec3::Z * slope
    };
    let shape = Shape::TriangleMesh {
        vertices: std::iter::once(DVec3::ZERO)
            .chain((0..count).map(corner))
            .collect(),
        triangles: (1..=count).map(|k| [0, k, k % count + 1]).collect(),
    };
    shape.build().unwrap()
}

/// Bodies on 80,000 triangles: 1.8 m wide on flat and on rough ground, and small ones all over triangles that meet in one point.
fn on_many_triangles() -> Vec<Case> {
    let (flat, rough) = (field(0.0), field(0.01));
    let (level, hill) = (fan(0.0), fan(0.3));
    let slab = Shape::Cuboid {
        half_extents: DVec3::new(0.9, 0.9, 0.1),
    };
    let disc = Shape::Cylinder {
        half_height: 0.1,
        radius: 0.9,
    };
    let cube = Shape::Cuboid {
        half_extents: DVec3::splat(0.1),
    };
    let ball = Shape::Sphere { radius: 0.1 };
    let case = |name: &str, shape: &Shape, ground: &Geometry, reach: f64, up: f64, gap: f64| {
        let mut random = Lcg::new(17);
        let poses = (0..PLACEMENTS).map(|_| {
            let turn = DQuat::from_rotation_z(2.0 * PI * random.uniform());
            let [x, y] = [0, 1].map(|_| reach * random.symmetric());
            let body = Frame::new(DVec3::new(x, y, up), turn);
            [body, Frame::new(DVec3::ZERO, DQuat::IDENTITY)]
        });
        Case {
            name: name.to_owned(),
            geometries: [shape.build().unwrap(), ground.clone()],
            poses: poses.collect(),
            gap,
        }
    };
    let none = f64::INFINITY;
    vec![
        case(
            "slab · flat ground, overlap",
            &slab,
            &flat,
            0.1,
            0.1 - GAP,
            -GAP,
        ),
        case(
            "disc · flat ground, overlap",
            &disc,
            &flat,
            0.1,
            0.1 - GAP,
            -GAP,
        ),
        case(
            "slab · rough ground, overlap",
            &slab,
            &rough,
            0.1,
            0.11 - GAP,
            none,
        ),
        case(
            "disc · rough ground, overlap",
            &disc,
            &rough,
            0.1,
            0.11 - GAP,
            none,
        ),
        case(
            "box · level fan, overlap",
            &cube,
            &level,
            0.5,
            0.1 - GAP,
            -GAP,
        ),
        case(
            "ball · level fan, overlap",
            &ball,
            &level,
            0.5,
            0.1 - GAP,
            -GAP,
        ),
        case(
            "box · top of a fan, overlap",
            &cube,
            &hill,
            0.01,
            0.1 - GAP,
            none,
        ),
        case(
            "ball · top of a fan, overlap",
            &ball,
            &hill,
            0.001,
            0.1 - GAP,
            none,
        ),
    ]
}

fn query(case: &Case, [a, b]: &[Frame; 2], out: &mut Vec<ContactPoint>) {
    out.clear();
    let [x, y] = &case.geometries;
    contacts(x, a, y, b, MARGIN, out);
}

/// Says what is found: a faster answer that is worse is not faster.
fn describe(case: &Case) {
    let mut out = Vec::new();
    let (mut least, mut most, mut error) = (usize::MAX, 0, 0.0_f64);
    for poses in &case.poses {
        query(case, poses, &mut out);
        (least, most) = (least.min(out.len()), most.max(out.len()));
        let deepest = out.iter().map(|point| point.gap);
        let deepest = deepest.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
        if case.gap < MARGIN {
            error = error.max((deepest - case.gap).abs());
        }
    }
    eprintln!(
        "{}: {least} to {most} points, error of the least gap {error:.0e} m",
        case.name
    );
}

fn pairs(criterion: &mut Criterion) {
    let sides = sides();
    let mut cases = Vec::new();
    for pair in TOUCHING {
        cases.extend([GAP, -GAP].map(|gap| touching(&sides, pair, gap)));
    }
    for (name, feature) in [("box", "face"), ("box", "edge"), ("hull20", "face")] {
        cases.push(on_a_mesh(&sides, name, feature, -GAP));
    }
    cases.extend(on_many_triangles());
    cases.extend(NEAR.map(|pair| touching(&sides, pair, NEAR_GAP)));
    cases.extend(APART.map(|pair| apart(&sides, pair)));
    let mut group = criterion.benchmark_group("pairs");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(200));
    for case in &cases {
        describe(case);
        let mut out = Vec::new();
        let mut turn = 0;
        group.bench_function(&case.name, |bencher| {
            bencher.iter(|| {
                turn = (turn + 1) % PLACEMENTS;
                query(black_box(case), &case.poses[turn], &mut out);
                out.len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pairs);
criterion_main!(benches);
