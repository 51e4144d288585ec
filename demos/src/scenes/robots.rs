//! Robots: quadrupeds that stand or trot, and an arm that stirs a pile.

use super::figure::{Figure, bulk};
use super::parts::{capsule, drive, joint, servo};
use super::{common, container, fixed_block, floor, named, with_friction};
use glam::DVec3;
use moreau::geometry::{Frame, Shape};
use moreau::scene::{BodySpec, Lcg, Scene, SceneCoupler, SceneCouplerTerm, SceneJoint};
use moreau::{JointAxis, JointForce, JointKind, Mass};
use std::f64::consts::TAU;

/// Length of a thigh and of a shank, m.
const LEG: f64 = 0.25;
/// How far a thigh leans at rest, and a shank the other way, rad.
const BEND: f64 = 0.5;
/// Half of a stride and of its height, m.
const STRIDE: [f64; 2] = [0.05, 0.015];
/// Of the pin on the shaft of the gait, m.
const PIN: f64 = 0.04;
const LEGS: [(&str, f64, f64); 4] = [
    ("front left", 1.0, 1.0),
    ("front right", 1.0, -1.0),
    ("hind left", -1.0, 1.0),
    ("hind right", -1.0, -1.0),
];

/// Angles of a thigh and of a shank that move the foot by this way from its place at rest, to first order, rad.
fn angles(way: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = libm::sincos(BEND);
    let sum = -way[0] / (LEG * cos);
    let difference = way[1] / (LEG * sin);
    [0.5 * (sum + difference), 0.5 * (sum - difference)]
}

/// The legs of one diagonal are half a turn behind those of the other.
fn phase(front: f64, left: f64) -> f64 {
    front * left
}

/// A trunk of 12 kg on four legs, each of a thigh on a universal joint and a shank on a hinge, its feet on the ground at z = 0 at rest.
///
/// With a gait, a shaft in the trunk moves two yokes by `PIN cos φ` and `PIN sin φ`, and couplers make angles of the legs of that, so that the feet
/// move in ellipses.
fn quadruped(gait: f64) -> Figure {
    let mut figure = Figure::default();
    let walks = gait != 0.0;
    let radius = 0.025;
    let hip = radius + 2.0 * LEG * libm::cos(BEND);
    let trunk = BodySpec {
        mass: Mass::scaled_to(12.0),
        ..bulk([0.32, 0.1, 0.07], [0.0, 0.0, hip])
    };
    figure.part("trunk", trunk);
    for (leg, front, left) in LEGS {
        // The shaft begins at φ = 0.
        let ahead = if walks {
            phase(front, left) * STRIDE[0]
        } else {
            0.0
        };
        let [thigh_turns, shank_turns] = angles([ahead, 0.0]);
        let down = |angle: f64| {
            let (sin, cos) = libm::sincos(angle);
            DVec3::new(-sin, 0.0, -cos) * LEG
        };
        let top = DVec3::new(0.27 * front, 0.15 * left, hip);
        let knee = top + down(BEND + thigh_turns);
        let foot = knee + down(-BEND + shank_turns);
        let (thigh, shank) = (format!("{leg} thigh"), format!("{leg} shank"));
        let past = (foot - knee).normalize_or_zero() * radius;
        let between = (knee - top).normalize_or_zero() * 0.01;
        figure
            .part(&*thigh, capsule(top, knee - between, 0.035))
            .part(&*shank, capsule(knee, foot + past, radius));
        let gains = [400.0, 12.0, 80.0];
        let (hips, knees): (Vec<JointForce>, Vec<JointForce>) = if walks {
            (vec![servo(JointAxis::RotationX, 0.0, gains)], Vec::new())
        } else {
            (
                vec![
                    servo(JointAxis::RotationX, 0.0, gains),
                    servo(JointAxis::RotationY, 0.0, gains),
                ],
                vec![servo(JointAxis::RotationZ, 0.0, gains)],
            )
        };
        figure
            .joint(
                ["trunk", &thigh],
                JointKind::Universal,
                (top, DVec3::Z),
                hips,
            )
            .joint(
                [&thigh, &shank],
                JointKind::Revolute,
                (knee, DVec3::Y),
                knees,
            );
    }
    if walks {
        cams(&mut figure, hip, gait);
    }
    figure
}

/// The shaft in the trunk and its yokes, which have no shapes.
fn cams(figure: &mut Figure, height: f64, gait: f64) {
    let center = DVec3::Z * height;
    let bare = |mass: f64, at: DVec3| BodySpec {
        mass: Mass::given(mass, DVec3::splat(2e-3 * mass)),
        position: at,
        ..BodySpec::default()
    };
    figure.part("shaft", bare(0.5, center)).joint(
        ["trunk", "shaft"],
        JointKind::Revolute,
        (center, DVec3::Y),
        vec![drive(JointAxis::RotationZ, -TAU * gait, 200.0)],
    );
    // Both slide along x; about y a pin on x goes down.
    for (name, pin) in [("cosine", DVec3::X * PIN), ("sine", DVec3::Z * PIN)] {
        let slot = JointKind::Generic {
            translation: [false, false, true],
            rotation: [false; 3],
        };
        figure
            .part(name, bare(0.2, center + pin))
            .joint(
                ["trunk", name],
                JointKind::Prismatic,
                (center + pin, DVec3::X),
                Vec::new(),
            )
            .joint([name, "shaft"], slot, (center + pin, DVec3::X), Vec::new());
    }
}

/// `q = Σ k s` of the yokes for hips and knees.
fn gait_couplers(prefix: &str) -> Vec<SceneCoupler> {
    let mut couplers = Vec::new();
    for (leg, front, left) in LEGS {
        let sign = phase(front, left);
        // For every m of a yoke: the feet go ahead with the cosine, and up with the sine.
        let ahead = angles([sign * STRIDE[0] / PIN, 0.0]);
        let up = angles([0.0, sign * STRIDE[1] / PIN]);
        let term = |joint: &str, axis, ratio| SceneCouplerTerm {
            joint: format!("{prefix}{joint}"),
            axis,
            ratio,
        };
        for (part, axis, [cosine, sine]) in [
            ("thigh", JointAxis::RotationY, [ahead[0], up[0]]),
            (
                "shank",
                JointAxis::RotationZ,
                [ahead[1] - ahead[0], up[1] - up[0]],
            ),
        ] {
            let mut terms = vec![term(&format!("{leg} {part}"), axis, 1.0)];
            for (yoke, ratio) in [("cosine", -cosine), ("sine", -sine)] {
                if ratio != 0.0 {
                    terms.push(term(yoke, JointAxis::Z, ratio));
                }
            }
            couplers.push(SceneCoupler {
                name: Some(format!("{prefix}{leg} {part} gait")),
                terms,
                offset: 0.0,
            });
        }
    }
    couplers
}

/// `n` quadrupeds in a square of their own. Without a gait they drop by 5 cm and stand on servos, with one (turns a second) they trot ahead.
#[must_use]
pub fn quadrupeds(n: usize, gait: f64) -> Scene {
    let mut scene = with_friction(0.8, 5.0);
    scene.bodies.push(floor());
    let figure = quadruped(gait);
    let side = (1..=n).find(|side| side * side >= n).unwrap_or(1);
    let drop = if gait == 0.0 { 0.05 } else { 0.0 };
    for k in 0..n {
        let prefix = if n == 1 {
            String::new()
        } else {
            format!("robot{k} ")
        };
        let x = 1.2 * super::centred(k % side, side);
        let y = 0.8 * super::centred(k / side, side);
        let at = Frame::from_position(DVec3::new(x, y, drop));
        figure.place(&mut scene, &prefix, &at);
        if gait != 0.0 {
            scene.couplers.extend(gait_couplers(&prefix));
        }
    }
    scene
}

/// An arm of six axes on a post turns round and stirs a box of `n` balls with a paddle, which turns as well.
#[must_use]
pub fn arm_in_pile(n: usize) -> Scene {
    let mut scene = with_friction(0.4, 6.0);
    let (inside, radius) = (0.5, 0.03);
    scene.bodies = container(inside, 0.6);
    scene
        .bodies
        .push(fixed_block([0.05, 0.05, 0.35], [0.0, 0.0, 0.35]));
    let at = |x: f64, z: f64| DVec3::new(x, 0.0, z);
    let [shoulder, elbow, roll, wrist, hand] = [
        at(0.0, 0.86),
        at(0.34, 1.0),
        at(0.38, 0.75),
        at(0.4, 0.5),
        at(0.4, 0.36),
    ];
    let turret = Shape::Cylinder {
        half_height: 0.06,
        radius: 0.08,
    };
    let mut figure = Figure::default();
    figure
        .part("turret", BodySpec::dynamic(turret, at(0.0, 0.78)))
        .part("upper arm", capsule(shoulder, elbow, 0.04))
        .part("forearm", capsule(elbow, roll, 0.035))
        .part("wrist roll", capsule(roll, wrist, 0.03))
        .part("wrist", capsule(wrist, hand, 0.03))
        .part("paddle", bulk([0.012, 0.08, 0.16], [0.4, 0.0, 0.195]));
    let hold = |effort: f64| {
        vec![servo(
            JointAxis::RotationZ,
            0.0,
            [40.0 * effort, 4.0 * effort, effort],
        )]
    };
    let along = (wrist - roll).normalize_or_zero();
    for (a, b, place, forces) in [
        ("turret", "upper arm", (shoulder, DVec3::Y), hold(400.0)),
        ("upper arm", "forearm", (elbow, DVec3::Y), hold(300.0)),
        ("forearm", "wrist roll", (roll, along), hold(100.0)),
        ("wrist roll", "wrist", (wrist, DVec3::Y), hold(100.0)),
        (
            "wrist",
            "paddle",
            (hand, DVec3::Z),
            vec![drive(JointAxis::RotationZ, -3.0, 40.0)],
        ),
    ] {
        figure.joint([a, b], JointKind::Revolute, place, forces);
    }
    figure.place(&mut scene, "", &Frame::IDENTITY);
    scene.joints.push(SceneJoint {
        name: Some("turret".to_owned()),
        forces: vec![drive(JointAxis::RotationZ, 1.0, 300.0)],
        ..joint(
            None,
            "turret",
            JointKind::Revolute,
            (at(0.0, 0.72), DVec3::Z),
        )
    });
    // Layers of balls that leave room for the post and the arm.
    let spacing = 2.02 * radius;
    let side = (2.0 * inside / spacing) as usize;
    let mut random = Lcg::new(scene.seed);
    let mut placed = 0;
    let mut layer = 0;
    while placed < n {
        let z = radius + 1e-3 + spacing * layer as f64;
        for place in 0..side * side {
            let [x, y] = [place % side, place / side].map(|k| spacing * super::centred(k, side));
            let jitter = DVec3::new(random.symmetric(), random.symmetric(), 0.0) * 3e-4;
            let post = x.abs().max(y.abs()) < 0.05 + 1.1 * radius;
            let arm = (DVec3::new(x, y, 0.0) - at(0.4, 0.0)).length() < 0.08 + 1.1 * radius;
            if post || arm || placed == n {
                continue;
            }
            placed += 1;
            let ball = BodySpec::dynamic(Shape::Sphere { radius }, DVec3::new(x, y, z) + jitter);
            scene
                .bodies
                .push(named(format!("ball{placed}"), common(ball)));
        }
        layer += 1;
    }
    scene
}
