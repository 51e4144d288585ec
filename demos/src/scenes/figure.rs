//! Figures of parts on joints that can be put anywhere in a scene, any number of times.

use glam::{DQuat, DVec3};
use moreau::geometry::{Frame, Shape};
use moreau::scene::{BodySpec, Scene, SceneJoint};
use moreau::{JointForce, JointKind};

use super::{common, named};

/// Parts and joints where they are at rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Figure {
    parts: Vec<(String, BodySpec)>,
    joints: Vec<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    name: String,
    /// Places of the parts.
    between: [usize; 2],
    kind: JointKind,
    frame: Frame,
    forces: Vec<JointForce>,
}

impl Figure {
    pub(super) fn part(&mut self, name: impl Into<String>, body: BodySpec) -> &mut Self {
        self.parts.push((name.into(), body));
        self
    }

    /// A joint of two parts, the z axis of its frames along `axis`. Its name is that of its second part.
    pub(super) fn joint(
        &mut self,
        between: [&str; 2],
        kind: JointKind,
        (point, axis): (DVec3, DVec3),
        forces: Vec<JointForce>,
    ) -> &mut Self {
        let part = |name: &str| self.parts.iter().position(|(own, _)| own == name);
        let [Some(a), Some(b)] = between.map(part) else {
            return self;
        };
        self.joints.push(Held {
            name: between[1].to_owned(),
            between: [a, b],
            kind,
            frame: Frame::new(point, DQuat::from_rotation_arc(DVec3::Z, axis)),
            forces,
        });
        self
    }

    /// Puts it into a scene, moved and turned by `pose`; every name begins with `prefix`.
    pub(super) fn place(&self, scene: &mut Scene, prefix: &str, pose: &Frame) {
        for (name, body) in &self.parts {
            let own = pose.compose(&Frame::new(body.position, body.orientation));
            let body = BodySpec {
                position: own.position,
                orientation: own.orientation.normalize(),
                ..body.clone()
            };
            scene
                .bodies
                .push(named(format!("{prefix}{name}"), common(body)));
        }
        for held in &self.joints {
            let [a, b] = held.between.map(|part| &self.parts[part]);
            let own = |(_, body): &(String, BodySpec)| {
                let own = Frame::new(body.position, body.orientation).inverse();
                let frame = own.compose(&held.frame);
                Frame::new(frame.position, frame.orientation.normalize()).into()
            };
            scene.joints.push(SceneJoint {
                name: Some(format!("{prefix}{}", held.name)),
                a: Some(format!("{prefix}{}", a.0)),
                b: format!("{prefix}{}", b.0),
                kind: held.kind,
                frames: Some([own(a), own(b)]),
                forces: held.forces.clone(),
                ..SceneJoint::default()
            });
        }
    }
}

/// A box part.
pub(super) fn bulk(half: [f64; 3], at: [f64; 3]) -> BodySpec {
    let half_extents = DVec3::from_array(half);
    BodySpec::dynamic(Shape::Cuboid { half_extents }, at.into())
}
