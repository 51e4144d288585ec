//! Figures of people: ragdolls, and one that keeps standing.

use super::figure::{Figure, bulk};
use super::parts::{capsule, damper, limit, servo};
use super::{common, floor, with_friction};
use glam::DVec3;
use moreau::geometry::{Frame, Shape};
use moreau::scene::{BodySpec, Emitter, Lcg, Scene};
use moreau::{JointAxis, JointForce, JointKind, Mass, Twist};

/// Stiffness (N·m/rad), damping (N·m·s/rad) and bound (N·m) of a servo.
type Gains = [f64; 3];

/// A coordinate of a joint: axis, bounds (rad), servo.
type Coordinate = (JointAxis, [f64; 2], Gains);

const ROLL: JointAxis = JointAxis::RotationX;
const PITCH: JointAxis = JointAxis::RotationY;
const YAW: JointAxis = JointAxis::RotationZ;

/// A person of 1.7 m who stands at the origin and looks along x: 13 parts, 12 joints with 22 coordinates, which are zero where it stands upright.
/// With servos, or with limits and a little damping.
fn person(servos: bool) -> Figure {
    let mut figure = Figure::default();
    let forces = |coordinates: &[Coordinate], hinge: bool| {
        let mut forces: Vec<JointForce> = Vec::new();
        for (axis, [low, high], gains) in coordinates {
            // The axis of a hinge is its z.
            let axis = if hinge { YAW } else { *axis };
            if servos {
                forces.push(servo(axis, 0.0, *gains));
            } else {
                forces.extend([limit(axis, *low, *high), damper(axis, 0.002 * gains[2])]);
            }
        }
        forces
    };
    let column = |y: f64, [low, high]: [f64; 2], radius: f64| {
        capsule(DVec3::new(0.0, y, low), DVec3::new(0.0, y, high), radius)
    };
    let ball = |radius: f64, z: f64| BodySpec::dynamic(Shape::Sphere { radius }, DVec3::Z * z);
    figure
        .part("pelvis", bulk([0.09, 0.14, 0.06], [0.0, 0.0, 0.95]))
        .part("torso", bulk([0.09, 0.16, 0.22], [0.0, 0.0, 1.26]))
        .part("head", ball(0.11, 1.62));
    let strong = [1e3, 6e1, 2e2];
    let weak = [2e2, 2e1, 6e1];
    let waist = forces(
        &[(ROLL, [-0.4, 0.4], strong), (PITCH, [-0.4, 1.0], strong)],
        false,
    );
    let neck = forces(
        &[(ROLL, [-0.5, 0.5], weak), (PITCH, [-0.6, 0.6], weak)],
        false,
    );
    let up = |y: f64, z: f64| (DVec3::new(0.0, y, z), DVec3::Z);
    figure.joint(
        ["pelvis", "torso"],
        JointKind::Universal,
        up(0.0, 1.025),
        waist,
    );
    figure.joint(["torso", "head"], JointKind::Universal, up(0.0, 1.5), neck);
    for (side, y) in [("left", 1.0), ("right", -1.0)] {
        let name = |part: &str| format!("{side} {part}");
        let (thigh, shank, foot) = (name("thigh"), name("shank"), name("foot"));
        let (upper, lower) = (name("upper arm"), name("forearm"));
        figure
            .part(thigh.clone(), column(0.09 * y, [0.48, 0.88], 0.065))
            .part(shank.clone(), column(0.09 * y, [0.09, 0.48], 0.045))
            .part(
                foot.clone(),
                bulk([0.13, 0.05, 0.03], [0.04, 0.09 * y, 0.03]),
            )
            .part(upper.clone(), column(0.23 * y, [1.12, 1.42], 0.045))
            .part(lower.clone(), column(0.23 * y, [0.82, 1.12], 0.035));
        // Outwards is farther than inwards.
        let outwards = |far: f64| if y > 0.0 { [-0.2, far] } else { [-far, 0.2] };
        let hip = forces(
            &[
                (ROLL, outwards(0.6), strong),
                (PITCH, [-1.6, 0.5], strong),
                (YAW, [-0.5, 0.5], strong),
            ],
            false,
        );
        let knee = forces(&[(PITCH, [0.0, 2.3], strong)], true);
        let ankle = forces(
            &[(ROLL, [-0.4, 0.4], strong), (PITCH, [-0.7, 0.7], strong)],
            false,
        );
        let shoulder = forces(
            &[(ROLL, outwards(1.5), weak), (PITCH, [-1.5, 1.0], weak)],
            false,
        );
        let elbow = forces(&[(PITCH, [-2.3, 0.0], weak)], true);
        let hinge = |y: f64, z: f64| (DVec3::new(0.0, y, z), DVec3::Y);
        // Three servos, or two with limits: a third angle is for small ones.
        let (hip_kind, hip) = if servos {
            (JointKind::Ball, hip)
        } else {
            (JointKind::Universal, hip[..4].to_vec())
        };
        figure
            .joint(["pelvis", &thigh], hip_kind, up(0.09 * y, 0.88), hip)
            .joint(
                [&thigh, &shank],
                JointKind::Revolute,
                hinge(0.09 * y, 0.48),
                knee,
            )
            .joint(
                [&shank, &foot],
                JointKind::Universal,
                up(0.09 * y, 0.09),
                ankle,
            )
            .joint(
                ["torso", &upper],
                JointKind::Universal,
                up(0.2 * y, 1.42),
                shoulder,
            )
            .joint(
                [&upper, &lower],
                JointKind::Revolute,
                hinge(0.23 * y, 1.12),
                elbow,
            );
    }
    figure
}

/// `n` ragdolls of 13 parts, turned at random, fall on a heap.
#[must_use]
pub fn ragdolls(n: usize) -> Scene {
    let mut scene = with_friction(0.6, 5.0);
    scene.bodies.push(floor());
    let figure = person(false);
    let mut random = Lcg::new(scene.seed);
    for k in 0..n {
        let turn = random.rotation();
        let aside = random.symmetric_vector() * 0.3;
        let center = DVec3::new(aside.x, aside.y, 1.2 + 1.9 * k as f64);
        // It turns about its waist.
        let position = center - turn * DVec3::Z;
        figure.place(
            &mut scene,
            &format!("doll{k} "),
            &Frame::new(position, turn),
        );
    }
    scene
}

/// A person of 13 parts on 12 joints with 22 servos keeps standing while balls of `ball` (kg) hit its chest and then its shoulder.
#[must_use]
pub fn humanoid(ball: f64) -> Scene {
    let mut scene = with_friction(0.8, 5.0);
    scene.bodies.push(floor());
    person(true).place(&mut scene, "", &Frame::IDENTITY);
    // They arrive level, half a second after they come.
    let (time, speed) = (0.5, 5.0);
    for (at, way, start) in [
        (DVec3::new(0.19, 0.02, 1.4), DVec3::NEG_X, 0.0),
        (DVec3::new(0.02, 0.375, 1.4), DVec3::NEG_Y, 1.5),
    ] {
        let rise = DVec3::Z * (9.81 * time);
        let thrown = BodySpec {
            mass: Mass::scaled_to(ball),
            twist: Twist {
                linear: way * speed + rise,
                angular: DVec3::ZERO,
            },
            ..common(BodySpec::dynamic(
                Shape::Sphere { radius: 0.1 },
                DVec3::ZERO,
            ))
        };
        scene.emitters.push(Emitter {
            center: at - (way * speed + rise * 0.5) * time,
            start,
            interval: 1.0,
            count: 1,
            bodies: vec![thrown],
            ..Emitter::default()
        });
    }
    scene
}
