//! Machines that stand on the ground: an engine of crank and slider, a platform on six legs, a gripper, a crane.

use super::parts::{APART, capsule, drive, joint, servo, tie};
use super::{block, common, fixed_block, floor, named, with_friction};
use glam::{DQuat, DVec3};
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Emitter, Scene, SceneJoint};
use moreau::{JointAxis, JointKind, Mass};
use std::f64::consts::{FRAC_PI_3, TAU};

/// A crank that a motor turns at `speed` (rad/s), a rod, and a slider that pushes crates along a table.
#[must_use]
pub fn slider_crank(speed: f64) -> Scene {
    let mut scene = with_friction(0.4, 5.0);
    let (height, crank, rod) = (1.0, 0.15, 0.5);
    let at = |x: f64| DVec3::new(x, 0.0, height);
    let [shaft, pin, wrist] = [at(0.0), at(-crank), at(rod - crank)];
    scene.bodies.push(floor());
    // Its top is below the slider by a hair.
    let top = height - 0.0501;
    scene
        .bodies
        .push(fixed_block([0.7, 0.3, 0.5 * top], [1.0, 0.0, 0.5 * top]));
    let bar = |from: DVec3, to: DVec3| BodySpec {
        groups: APART,
        ..common(capsule(from, to, 0.02))
    };
    let piston = block([0.06, 0.05, 0.05], wrist.to_array());
    for (name, body) in [
        ("crank", bar(shaft, pin)),
        ("rod", bar(pin, wrist)),
        ("slider", piston),
    ] {
        scene.bodies.push(named(name, body));
    }
    // One after the other, as soon as the slider leaves room.
    let falling = block([0.07, 0.07, 0.07], [0.0; 3]);
    scene.emitters.push(Emitter {
        center: DVec3::new(wrist.x + 0.14, 0.0, top + 0.09),
        interval: 0.25,
        count: 30,
        bodies: vec![falling],
        ..Emitter::default()
    });
    let turn = drive(JointAxis::RotationZ, speed, 500.0);
    scene.joints = vec![
        SceneJoint {
            name: Some("shaft".to_owned()),
            forces: vec![turn],
            ..joint(None, "crank", JointKind::Revolute, (shaft, DVec3::Y))
        },
        joint(Some("crank"), "rod", JointKind::Revolute, (pin, DVec3::Y)),
        joint(
            Some("rod"),
            "slider",
            JointKind::Revolute,
            (wrist, DVec3::Y),
        ),
        joint(None, "slider", JointKind::Prismatic, (wrist, DVec3::X)),
    ];
    scene
}

/// A platform on six legs, each a tube on a universal joint and a rod in it on a ball, with a load of 1000 N that is bolted to it by a weld, a hinge
/// and a ball: the last two are eight rows too many. Servos lift and tilt it by `lift` (m) and `tilt` (rad about x).
#[must_use]
pub fn stewart(lift: f64, tilt: f64) -> Scene {
    let mut scene = with_friction(0.5, 5.0);
    scene.bodies.push(floor());
    let height = 1.0;
    let platform = DVec3::Z * height;
    let ring = |radius: f64, angle: f64, z: f64| {
        let (sin, cos) = libm::sincos(angle);
        DVec3::new(radius * cos, radius * sin, z)
    };
    let plate = Shape::Cylinder {
        half_height: 0.04,
        radius: 0.6,
    };
    let above = platform + DVec3::Z * 0.06;
    scene
        .bodies
        .push(named("platform", common(BodySpec::dynamic(plate, above))));
    let load = BodySpec {
        mass: Mass::scaled_to(1000.0 / 9.81),
        ..block([0.2, 0.2, 0.15], (above + DVec3::Z * 0.19).to_array())
    };
    scene.bodies.push(named("load", load));
    let goal = |point: DVec3| {
        platform + DVec3::Z * lift + DQuat::from_rotation_x(tilt) * (point - platform)
    };
    for leg in 0..6 {
        let side = if leg % 2 == 0 { 1.0 } else { -1.0 };
        let third = TAU / 3.0 * f64::from(leg / 2);
        let foot = ring(0.8, third + side * 0.25, 0.1);
        let head = ring(0.5, third + side * (FRAC_PI_3 - 0.2), height);
        let way = (head - foot).normalize_or_zero();
        let middle = (foot + head) * 0.5;
        let (tube, rod) = (format!("tube{leg}"), format!("rod{leg}"));
        let part = |from: DVec3, to: DVec3, radius: f64| BodySpec {
            groups: APART,
            ..common(capsule(from, to, radius))
        };
        scene
            .bodies
            .push(named(tube.clone(), part(foot, middle + way * 0.15, 0.035)));
        scene
            .bodies
            .push(named(rod.clone(), part(middle - way * 0.15, head, 0.025)));
        let stroke = (goal(head) - foot).length() - (head - foot).length();
        let push = servo(JointAxis::Z, stroke, [1e6, 2e5, 1e4]);
        scene.joints.extend([
            joint(None, &tube, JointKind::Universal, (foot, way)),
            SceneJoint {
                name: Some(format!("leg{leg}")),
                forces: vec![push],
                ..joint(Some(&tube), &rod, JointKind::Prismatic, (middle, way))
            },
            joint(Some(&rod), "platform", JointKind::Ball, (head, DVec3::Z)),
        ]);
    }
    let bolt = |kind: JointKind, x: f64| SceneJoint {
        name: Some(format!("bolt at {x}")),
        ..joint(
            Some("platform"),
            "load",
            kind,
            (above + DVec3::new(x, 0.0, 0.04), DVec3::Z),
        )
    };
    scene.joints.extend([
        bolt(JointKind::Fixed, 0.0),
        bolt(JointKind::Revolute, 0.15),
        bolt(JointKind::Ball, -0.15),
    ]);
    scene
}

/// Mass of a finger of the gripper, kg.
pub const FINGER: f64 = 0.1;

/// Two fingers of 0.1 kg close on a cube of `ratio` times their mass with 1.25 times the force that friction needs, and lift it by 0.3 m.
#[must_use]
pub fn gripper(ratio: f64, friction: f64) -> Scene {
    let mut scene = with_friction(friction, 5.0);
    scene.bodies.push(floor());
    let mass = ratio * FINGER;
    let cube = BodySpec {
        mass: Mass::scaled_to(mass),
        ..block([0.1, 0.1, 0.1], [0.0, 0.0, 0.1])
    };
    scene.bodies.push(named("cube", cube));
    let palm = BodySpec {
        mass: Mass::scaled_to(2.0),
        ..block([0.2, 0.05, 0.02], [0.0, 0.0, 0.35])
    };
    scene.bodies.push(named("palm", palm));
    let weight = mass * 9.81;
    // Of two fingers; a place of the servo that is inside of the cube.
    let grip = 1.25 * 0.5 * weight / friction.max(1e-3);
    let depth = 1e-3;
    let stiff = grip / depth;
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let x = side * 0.12;
        let finger = BodySpec {
            mass: Mass::scaled_to(FINGER),
            ..block([0.02, 0.03, 0.11], [x, 0.0, 0.2])
        };
        scene.bodies.push(named(name, finger));
        let close = servo(JointAxis::Z, depth, [stiff, 0.02 * stiff, 2.0 * grip]);
        scene.joints.push(SceneJoint {
            name: Some(format!("{name} finger")),
            forces: vec![close],
            ..joint(
                Some("palm"),
                name,
                JointKind::Prismatic,
                (DVec3::new(x, 0.0, 0.32), DVec3::X * -side),
            )
        });
    }
    // It pulls a tenth more than all weighs.
    let whole = weight + 9.81 * (2.0 + 2.0 * FINGER);
    let raise = servo(JointAxis::Z, 0.3, [1e3 * whole, 1e3 * whole, 1.1 * whole]);
    scene.joints.push(SceneJoint {
        name: Some("lift".to_owned()),
        forces: vec![raise],
        ..joint(
            None,
            "palm",
            JointKind::Prismatic,
            (DVec3::Z * 0.35, DVec3::Z),
        )
    });
    scene
}

/// A crane slews, and its load of `load` (kg) on a chain of `links` swings into a stack of crates.
#[must_use]
pub fn crane(links: usize, load: f64) -> Scene {
    let mut scene = with_friction(0.5, 8.0);
    scene.bodies.push(floor());
    let (height, reach) = (4.0, 3.0);
    let mast = block(
        [0.15, 0.15, 0.5 * height - 0.03],
        [0.0, 0.0, 0.5 * height + 0.02],
    );
    scene.bodies.push(named("mast", mast));
    let boom = block(
        [0.5 * reach + 0.5, 0.08, 0.08],
        [0.5 * reach - 0.5, 0.0, height + 0.1],
    );
    scene.bodies.push(named("boom", boom));
    let counterweight = block([0.3, 0.3, 0.3], [-0.7, 0.0, height - 0.3]);
    scene.bodies.push(named("counterweight", counterweight));
    let top = DVec3::Z * height;
    let slew = drive(JointAxis::RotationZ, 0.35, 2e4);
    let luff = servo(JointAxis::RotationZ, -0.15, [2e5, 8e4, 5e4]);
    scene.joints = vec![
        SceneJoint {
            name: Some("slew".to_owned()),
            forces: vec![slew],
            ..joint(None, "mast", JointKind::Revolute, (DVec3::ZERO, DVec3::Z))
        },
        SceneJoint {
            name: Some("luff".to_owned()),
            forces: vec![luff],
            ..joint(Some("mast"), "boom", JointKind::Revolute, (top, DVec3::Y))
        },
        joint(
            Some("boom"),
            "counterweight",
            JointKind::Fixed,
            (DVec3::new(-0.7, 0.0, height), DVec3::Z),
        ),
    ];
    let link = 2.4 / links as f64;
    let at = |i: usize| DVec3::new(reach, 0.0, height - link * i as f64);
    let mut last = "boom".to_owned();
    for i in 0..links {
        let name = format!("link{i}");
        let body = BodySpec {
            mass: Mass::scaled_to(0.5),
            ..common(capsule(at(i), at(i + 1), (0.2 * link).min(0.03)))
        };
        scene.bodies.push(named(name.clone(), body));
        let ball = joint(Some(&last), &name, JointKind::Ball, (at(i), DVec3::Z));
        scene.joints.push(ball);
        last = name;
    }
    let hook = at(links);
    let ball = BodySpec {
        mass: Mass::scaled_to(load),
        ..common(BodySpec::dynamic(
            Shape::Sphere { radius: 0.3 },
            hook - DVec3::Z * 0.3,
        ))
    };
    scene.bodies.push(named("load", ball));
    scene.joints.push(joint(
        Some(&last),
        "load",
        JointKind::Ball,
        (hook, DVec3::Z),
    ));
    // In its way.
    let turn = DQuat::from_rotation_z(0.9);
    for row in 0..6 {
        for column in 0..3 {
            let place = turn * DVec3::new(reach + 0.42 * (f64::from(column) - 1.0), 0.0, 0.0);
            let body = block([0.2; 3], [place.x, place.y, 0.2 + 0.4 * f64::from(row)]);
            scene.bodies.push(BodySpec {
                orientation: turn,
                mass: Mass::scaled_to(5.0),
                ..named(format!("crate{row}{column}"), body)
            });
        }
    }
    scene
}

/// Angle of the arcs in which a net hangs, rad.
const SAG: f64 = 2.0;

/// `n × n` knots 10 cm apart, held at the corners, and a ball of 20 kg that falls into them. Knots are tied by bars, which keep their lengths, or by
/// ropes, which go slack. Rows and columns sag in arcs of `SAG`: straight and taut they would bear no load at all.
#[must_use]
pub fn net(n: usize, ropes: bool) -> Scene {
    let mut scene = with_friction(0.5, 4.0);
    let (spacing, height) = (0.1, 3.0);
    scene.bodies.push(floor());
    let name = |i: usize, j: usize| format!("knot{i},{j}");
    // Steps along an arc, the same for all rows: every tie has its length.
    let turn = SAG / (n as f64 - 1.0);
    let radius = 0.5 * spacing / libm::sin(0.5 * turn);
    let arc = |i: usize| {
        let (sin, cos) = libm::sincos(turn * super::centred(i, n));
        [radius * sin, radius * (cos - libm::cos(0.5 * SAG))]
    };
    let at = |i: usize, j: usize| {
        let ([x, down], [y, further]) = (arc(i), arc(j));
        DVec3::new(x, y, height - down - further)
    };
    let length = spacing;
    let rope = if ropes {
        JointKind::Rope { length }
    } else {
        JointKind::Distance { length }
    };
    let knot = Shape::Sphere { radius: 0.02 };
    for j in 0..n {
        for i in 0..n {
            let body = common(BodySpec::dynamic(knot.clone(), at(i, j)));
            scene.bodies.push(named(name(i, j), body));
            if i > 0 {
                let left = name(i - 1, j);
                scene
                    .joints
                    .push(tie(Some(&left), &name(i, j), rope, DVec3::ZERO));
            }
            if j > 0 {
                let before = name(i, j - 1);
                scene
                    .joints
                    .push(tie(Some(&before), &name(i, j), rope, DVec3::ZERO));
            }
        }
    }
    for (i, j) in [(0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1)] {
        let ball = joint(None, &name(i, j), JointKind::Ball, (at(i, j), DVec3::Z));
        scene.joints.push(ball);
    }
    let radius = (0.2 * spacing * n as f64).clamp(0.12, 0.4);
    let falling = BodySpec {
        mass: Mass::scaled_to(20.0),
        ..common(BodySpec::dynamic(
            Shape::Sphere { radius },
            DVec3::new(0.02, 0.01, height + radius),
        ))
    };
    scene.bodies.push(named("ball", falling));
    scene
}
