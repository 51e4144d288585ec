//! ANYmal, a quadruped of 12 hinges, in the tasks of SimBenchmark [docs/references.md, SimBenchmark].
//!
//! Links that are fixed to one another are one body: 13 bodies, 18 degrees of freedom, 33.9 kg. Links on a common hinge do not collide. The angle of a
//! hinge is its coordinate: zero where all frames are parallel. Nothing sleeps, and one thread works. What each task measures: [`crate::simbench`].

mod links;

pub use links::{LEGS, Leg, MASS};

use super::named;
use super::parts::APART;
use super::simbench::on_a_plane;
use glam::{DQuat, DVec3};
use links::Link;
use moreau::geometry::{Frame, Shape};
use moreau::scene::{BodySpec, Scene, SceneJoint};
use moreau::{Accuracy, JointAxis, JointForce, JointKind, Mass, Material, Twist};

/// Gains of the controller that keeps a robot standing: N m a rad, and N m s a rad.
pub const GAINS: [f64; 2] = [40.0, 1.0];
/// Height at which the base of a robot starts that is to stand, m: its feet are 1.8 mm deep in the ground.
pub const HEIGHT: f64 = 0.54;
/// Height of the base at which the feet touch the ground, m, to the digits of their published places.
pub const TOUCH: f64 = 0.541_768;
/// Height at which it starts in the air, m.
const ALOFT: f64 = 2.0;
/// Momentum of the ball that strikes it, along y, N s.
pub const MOMENTUM: f64 = 50.0;

/// What acts on the hinges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Nothing.
    Free,
    /// Torques that are given anew before every step: [`crate::simbench::Hold`].
    Given,
    /// Motors with the [`GAINS`], whose law holds at the end of the step.
    Motors,
}

/// Puts a robot into a scene whose base is at `place`, its angles those of [`Leg::stance`]; every name begins with `prefix`.
fn robot(scene: &mut Scene, prefix: &str, place: DVec3, drive: Drive) {
    let base = links::base();
    let root = Frame::from_position(place);
    body(scene, prefix, base.name, &base, &root);
    for leg in LEGS {
        let (mut above, mut at) = ((base.name.to_owned(), center(&base)), root);
        for (link, angle) in links::links(leg).iter().zip(leg.stance()) {
            let turn = links::turn(link.axis, angle);
            at = at.compose(&Frame::new(link.hinge, turn));
            let name = format!("{} {}", leg.name, link.name);
            body(scene, prefix, &name, link, &at);
            let along = DQuat::from_rotation_arc(DVec3::Z, link.axis);
            let ends = [link.hinge - above.1, -center(link)];
            scene.joints.push(SceneJoint {
                name: Some(format!("{prefix}{name}")),
                a: Some(format!("{prefix}{}", above.0)),
                b: format!("{prefix}{name}"),
                kind: JointKind::Revolute,
                frames: Some(ends.map(|end| Frame::new(end, along).into())),
                forces: forces(drive, angle),
                ..SceneJoint::default()
            });
            above = (name, center(link));
        }
    }
}

fn center(link: &Link) -> DVec3 {
    link.mass.center_of_mass().unwrap_or_default()
}

fn body(scene: &mut Scene, prefix: &str, name: &str, link: &Link, at: &Frame) {
    let body = BodySpec {
        orientation: at.orientation.normalize(),
        mass: link.mass,
        material: Some("ground".to_owned()),
        ..BodySpec::dynamic(link.shape.clone(), at.transform_point(center(link)))
    };
    scene.bodies.push(named(format!("{prefix}{name}"), body));
}

fn forces(drive: Drive, angle: f64) -> Vec<JointForce> {
    let axis = JointAxis::RotationZ;
    let [stiffness, damping] = GAINS;
    match drive {
        Drive::Free => Vec::new(),
        Drive::Given => vec![JointForce::Applied { axis, effort: 0.0 }],
        Drive::Motors => vec![JointForce::Motor {
            axis,
            position: angle,
            velocity: 0.0,
            stiffness,
            damping,
            effort: 80.0,
        }],
    }
}

/// `n × n` robots, 2 m apart, that are to stand for 250 s on four feet each. Their bases start at `height` (m): [`HEIGHT`] in the task, or [`TOUCH`].
#[must_use]
pub fn standing(n: usize, drive: Drive, height: f64) -> Scene {
    let mut scene = on_a_plane(5e-3, 250.0, Material::with_friction(0.8));
    for i in 0..n {
        for j in 0..n {
            let prefix = if n == 1 {
                String::new()
            } else {
                format!("robot{i},{j} ")
            };
            let place = DVec3::new(2.0 * i as f64, 2.0 * j as f64, height);
            robot(&mut scene, &prefix, place, drive);
        }
    }
    scene
}

/// A robot in space that a ball of 10 kg strikes at 5 m/s from the side, without friction and without rebound.
#[must_use]
pub fn struck() -> Scene {
    let mut scene = on_a_plane(1e-3, 10.0, Material::with_friction(0.0));
    scene.settings.gravity = DVec3::ZERO;
    scene.settings.accuracy = Accuracy::Reference;
    robot(&mut scene, "", DVec3::Z * ALOFT, Drive::Free);
    let (mass, radius) = (10.0, 0.2);
    let ball = BodySpec {
        mass: Mass::given(mass, DVec3::splat(0.4 * mass * radius * radius)),
        material: Some("ground".to_owned()),
        twist: Twist::linear(0.0, MOMENTUM / mass, 0.0),
        ..BodySpec::dynamic(Shape::Sphere { radius }, DVec3::new(0.0, -5.0, ALOFT))
    };
    scene.bodies.push(named("ball", ball));
    scene
}

/// A robot that touches nothing, not even itself: for a second twice its weight pulls it up by its base, for two more it flies.
#[must_use]
pub fn flung() -> Scene {
    let mut scene = on_a_plane(1e-3, 3.0, Material::with_friction(0.0));
    robot(&mut scene, "", DVec3::Z * ALOFT, Drive::Free);
    for body in &mut scene.bodies {
        body.groups = APART;
    }
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_robot_stands_where_its_figures_say() {
        let scene = standing(1, Drive::Motors, HEIGHT);
        assert_eq!((scene.bodies.len(), scene.joints.len()), (1 + 13, 12));
        let base = DVec3::Z * HEIGHT;
        let mass = |body: &&BodySpec| body.mass.mass();
        let robot = || scene.bodies.iter().skip(1);
        let total: f64 = robot().map(|body| mass(&body)).sum();
        let moment: DVec3 = robot().map(|body| body.position * mass(&body)).sum();
        // By forward kinematics, published to these digits.
        let center = moment / total - base;
        let right = DVec3::new(3.6e-5, -6.3e-5, -0.054223);
        assert!((center - right).abs().max_element() < 1e-6, "{center}");
        for leg in LEGS {
            let name = format!("{} shank", leg.name);
            let shank = robot().find(|body| body.name.as_deref() == Some(&name));
            let shank = shank.unwrap();
            let Some(Shape::Compound { parts }) = &shank.shape else {
                panic!("{name}");
            };
            let own = shank.mass.center_of_mass().unwrap();
            let foot = shank.position + shank.orientation * (parts[0].0.position - own) - base;
            let right = DVec3::new(0.344765 * leg.front, 0.256915 * leg.left, -0.511768);
            assert!((foot - right).abs().max_element() < 1e-6, "{name}: {foot}");
        }
    }
}
