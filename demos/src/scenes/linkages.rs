//! Pendulums, chains, a four-bar linkage and a hanging bridge: bodies on joints.

use super::parts::joint;
use super::{common, cuboid, fixed_block, named, with_friction};
use glam::{DQuat, DVec3};
use moreau::geometry::Shape;
use moreau::scene::{BodySpec, Scene};
use moreau::{JointKind, Mass, Material};

/// Half the thickness of the bars, m.
const HALF_BAR: f64 = 0.02;

/// A bar between two points, square in section.
fn bar(from: DVec3, to: DVec3) -> BodySpec {
    let way = to - from;
    let shape = cuboid(0.5 * way.length(), HALF_BAR, HALF_BAR);
    BodySpec {
        orientation: DQuat::from_rotation_arc(DVec3::X, way.normalize_or_zero()),
        ..common(BodySpec::dynamic(shape, (from + to) * 0.5))
    }
}

/// `n` bars of half a metre on hinges about y, held out level: `link0` hangs on the world at 2 m.
#[must_use]
pub fn pendulum(n: usize) -> Scene {
    let mut scene = with_friction(0.5, 5.0);
    let at = |i: usize| DVec3::new(0.5 * i as f64, 0.0, 2.0);
    for i in 0..n {
        let name = format!("link{i}");
        let last = i.checked_sub(1).map(|last| format!("link{last}"));
        scene
            .bodies
            .push(named(name.clone(), bar(at(i), at(i + 1))));
        let place = (at(i), DVec3::Y);
        let hinge = joint(last.as_deref(), &name, JointKind::Revolute, place);
        scene.joints.push(hinge);
    }
    scene
}

/// A chain of `n` links of 10 cm and 0.1 kg on balls, hanging from the world at an angle of 0.5 rad; the mass of the last, `end`, is `ratio` times theirs.
#[must_use]
pub fn chain(n: usize, ratio: f64) -> Scene {
    let mut scene = with_friction(0.5, 10.0);
    let (sin, cos) = libm::sincos(0.5);
    let along = DVec3::new(sin, 0.0, -cos);
    let top = DVec3::Z * (0.1 * n as f64 + 1.0);
    for i in 0..n {
        let is_last = i + 1 == n;
        let (from, to) = (
            top + along * (0.1 * i as f64),
            top + along * (0.1 * (i + 1) as f64),
        );
        let name = if is_last {
            "end".to_owned()
        } else {
            format!("link{i}")
        };
        let last = i.checked_sub(1).map(|last| format!("link{last}"));
        let mass = Mass::scaled_to(if is_last { 0.1 * ratio } else { 0.1 });
        let link = BodySpec {
            mass,
            ..bar(from, to)
        };
        scene.bodies.push(named(name.clone(), link));
        let ball = joint(last.as_deref(), &name, JointKind::Ball, (from, DVec3::Z));
        scene.joints.push(ball);
    }
    scene
}

/// A crank, a coupler and a rocker on four hinges about y, which close a loop: one degree of freedom, three rows too many.
#[must_use]
pub fn fourbar() -> Scene {
    let mut scene = with_friction(0.5, 5.0);
    let points = [
        DVec3::new(0.0, 0.0, 1.0),
        DVec3::new(0.3, 0.0, 1.3),
        DVec3::new(1.0, 0.0, 1.5),
        DVec3::new(1.2, 0.0, 1.0),
    ];
    let names = ["crank", "coupler", "rocker"];
    for (i, name) in names.into_iter().enumerate() {
        let body = bar(points[i], points[i + 1]);
        scene.bodies.push(named(name, body));
        let last = i.checked_sub(1).map(|last| names[last]);
        let place = (points[i], DVec3::Y);
        let hinge = joint(last, name, JointKind::Revolute, place);
        scene.joints.push(hinge);
    }
    let place = (points[3], DVec3::Y);
    let last = joint(None, "rocker", JointKind::Revolute, place);
    scene.joints.push(last);
    scene
}

/// `n` planks hinged to each other by two balls at each edge, hanging in an arc of a radian between two pillars; a crate of `ratio` times the mass
/// of a plank falls on them. (A bridge that is straight and taut bears no load at all.)
#[must_use]
pub fn bridge(n: usize, ratio: f64) -> Scene {
    let mut scene = with_friction(0.6, 6.0);
    let (length, height) = (0.5, 3.0);
    let step = 1.0 / n as f64;
    let radius = 0.5 * length / libm::sin(0.5 * step);
    let edge = |i: usize| {
        let (sin, cos) = libm::sincos(step * i as f64 - 0.5);
        DVec3::new(radius * sin, 0.0, height - radius * (cos - libm::cos(0.5)))
    };
    let half_span = edge(n).x;
    for side in [-1.0, 1.0] {
        let x = side * (half_span + 0.6);
        let pillar = fixed_block([0.5, 0.8, 0.5 * height], [x, 0.0, 0.5 * height]);
        scene.bodies.push(pillar);
    }
    scene
        .bodies
        .push(fixed_block([20.0, 20.0, 0.5], [0.0, 0.0, -0.5]));
    let half = DVec3::new(0.48 * length, 0.6, 0.03);
    for i in 0..n {
        let (from, to) = (edge(i), edge(i + 1));
        let plank = BodySpec {
            orientation: DQuat::from_rotation_arc(DVec3::X, (to - from).normalize_or_zero()),
            ..common(BodySpec::dynamic(
                Shape::Cuboid { half_extents: half },
                (from + to) * 0.5,
            ))
        };
        scene.bodies.push(named(format!("plank{i}"), plank));
    }
    for i in 0..=n {
        let plank = |i: usize| format!("plank{i}");
        let (a, b) = match i {
            0 => (None, plank(0)),
            i if i == n => (None, plank(n - 1)),
            i => (Some(plank(i - 1)), plank(i)),
        };
        for y in [-0.55, 0.55] {
            let place = (edge(i) + DVec3::Y * y, DVec3::Z);
            let ball = joint(a.as_deref(), &b, JointKind::Ball, place);
            scene.joints.push(ball);
        }
    }
    let density = Material::default().density;
    let mass = ratio * 8.0 * half.element_product() * density;
    let falling = BodySpec {
        mass: Mass::scaled_to(mass),
        ..common(BodySpec::dynamic(
            cuboid(0.3, 0.3, 0.3),
            DVec3::new(0.1, 0.05, height),
        ))
    };
    scene.bodies.push(named("crate", falling));
    scene
}
