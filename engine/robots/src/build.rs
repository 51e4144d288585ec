//! A model as a scene: links that are one become one body, each at its place by forward kinematics.
//!
//! With `T` the pose of a link in its parent with all coordinates at zero, and `J` the frame of a joint in the link, a coordinate `q` moves the link to
//!
//! ```text
//! T J₁ M₁(q₁) J₁⁻¹ J₂ M₂(q₂) J₂⁻¹ …
//! ```
//!
//! Frame A of a joint is `T J` in the parent and frame B is `J` in the link. The frame of a body is that of the first link that it is made of,
//! moved to the centre of mass.

mod bodies;
mod chain;
mod collisions;
mod names;
mod rates;

use crate::LinkFrame;
use crate::error::RobotError;
use crate::inertia::component;
use crate::model::{Coordinate, Hold, Model};
use crate::reading::Reading;
use bodies::{Part, parts, shape};
use chain::{Piece, pieces};
use glam::DVec3;
use moreau::geometry::{Frame, MassProperties};
use moreau::scene::{BodySpec, SceneCoupler, SceneCouplerTerm};
use moreau::{
    Combine, GravityScale, JointAxis, JointForce, JointKind, Mass, Material, RigidBody, Scene,
    SceneJoint, Settings, Twist,
};
use names::Names;
use rates::{Rate, rates};
use std::collections::BTreeMap;

/// A scene, and where the links are in it.
pub(crate) struct Built {
    pub(crate) scene: Scene,
    pub(crate) links: Vec<LinkFrame>,
}

/// Part of the mass of a link that a body between two of its joints has.
const BETWEEN: f64 = 1e-6;

/// Its moments, as a part of the link's largest one: where nothing acts along its joints, and where springs, dampers or servos do. With the first they would turn
/// it so far within 4 ms that the joints of figures do not close.
const BETWEEN_MOMENTS: [f64; 2] = [1e-6, 1e-4];

pub(crate) fn build(model: &Model, reading: &mut Reading) -> Result<Built, RobotError> {
    let parts = parts(model)?;
    let mut builder = Builder {
        model,
        parts,
        worlds: vec![Frame::IDENTITY; model.links.len()],
        rates: Vec::new(),
        scene: Scene {
            name: model.name.clone(),
            duration: 10.0,
            settings: Settings {
                combine_friction: Combine::Max,
                ..model.settings
            },
            ..Scene::default()
        },
        names: Names::new(model),
        standing: Vec::new(),
        coordinates: BTreeMap::new(),
    };
    for index in 1..model.links.len() {
        builder.worlds[index] = builder.start_of(index);
    }
    builder.rates = rates(&model.links, &builder.worlds);
    builder.add_bodies(reading)?;
    builder.add_joints(reading)?;
    builder.add_couplers();
    builder.add_closures();
    builder.keep_apart();
    let links = (1..model.links.len()).map(|index| builder.link_frame(index));
    Ok(Built {
        links: links.collect(),
        scene: builder.scene,
    })
}

struct Builder<'a> {
    model: &'a Model,
    /// Of every link.
    parts: Vec<Part>,
    /// Poses of the links at the start.
    worlds: Vec<Frame>,
    /// How the links move then.
    rates: Vec<Rate>,
    scene: Scene,
    names: Names,
    /// Names of the bodies of the world.
    standing: Vec<String>,
    /// Joint of the scene and coordinate of it, for every joint of the file.
    coordinates: BTreeMap<Coordinate, (String, JointAxis)>,
}

impl<'a> Builder<'a> {
    /// Where a link is at the start, its parent being known.
    fn start_of(&self, index: usize) -> Frame {
        let link = &self.model.links[index];
        let parent = self.worlds[link.parent.unwrap_or(0)];
        let mut pose = parent.compose(&link.pose);
        if let Hold::Joints(axes) = &link.hold {
            for axis in axes {
                if let Some(moved) = axis.motion.pose() {
                    let back = axis.frame.inverse();
                    pose = pose.compose(&axis.frame.compose(&moved).compose(&back));
                }
            }
        }
        Frame {
            orientation: moreau::rotation::normalised(pose.orientation),
            ..pose
        }
    }

    /// Name of the body of a link.
    fn body(&self, link: usize) -> Option<String> {
        let first = self.parts[link].first;
        (!self.parts[first].stands).then(|| self.names.bodies[first].clone())
    }

    /// From the frame of a body's first link to its centre of mass, m.
    fn center(&self, first: usize) -> DVec3 {
        let mass = self.parts[first].mass.as_ref();
        mass.map_or(DVec3::ZERO, |mass| mass.center_of_mass)
    }

    /// A pose in the frame of a link, from the centre of mass in the frame of its body.
    fn in_body(&self, link: usize, pose: &Frame) -> moreau::Pose {
        let part = &self.parts[link];
        let stands = part.stands;
        let mut found = if stands {
            self.worlds[link].compose(pose)
        } else {
            part.pose.compose(pose)
        };
        if !stands {
            found.position -= self.center(part.first);
        }
        found.orientation = moreau::rotation::normalised(found.orientation);
        found.into()
    }

    fn link_frame(&self, index: usize) -> LinkFrame {
        LinkFrame {
            name: self.model.links[index].name.clone(),
            body: self.body(index),
            pose: self.in_body(index, &Frame::IDENTITY),
        }
    }

    fn add_bodies(&mut self, reading: &mut Reading) -> Result<(), RobotError> {
        let groups = collisions::groups(self.model, &self.parts, reading);
        self.add_standing(&groups)?;
        for first in 1..self.model.links.len() {
            let part = &self.parts[first];
            if part.first != first || part.stands {
                continue;
            }
            let model: &'a Model = self.model;
            let link = &model.links[first];
            let geoms = bodies::geoms_of(model, &self.parts, first);
            let is_kinematic = matches!(link.hold, Hold::Kinematic);
            let mass = part.mass;
            let world = self.worlds[first];
            let center = self.center(first);
            let place = world.transform_point(center);
            let rate = self.rates[first];
            let [material, part_materials] = self.materials(&geoms);
            self.scene.bodies.push(BodySpec {
                name: Some(self.names.bodies[first].clone()),
                kind: if is_kinematic {
                    RigidBody::Kinematic
                } else {
                    RigidBody::Dynamic
                },
                shape: shape(&geoms),
                position: place,
                orientation: world.orientation,
                twist: twist(&rate, place, &world),
                gravity_scale: GravityScale(link.gravity_scale),
                material: material.into_iter().next(),
                part_materials,
                mass: mass.as_ref().map_or_else(own_frame, component),
                groups: groups.of(first),
                ..BodySpec::default()
            });
        }
        Ok(())
    }

    /// What stands still: the shapes of every part of the world.
    fn add_standing(&mut self, groups: &collisions::Found) -> Result<(), RobotError> {
        for (index, link) in self.model.links.iter().enumerate() {
            if !self.parts[self.parts[index].first].stands {
                continue;
            }
            for geom in &link.geoms {
                let pose = self.worlds[index].compose(&geom.pose);
                let name = self.names.standing(link, geom.name.as_deref());
                let material = bodies::material_of(geom);
                let material = material.map(|of| self.add_material(of));
                self.standing.push(name.clone());
                self.scene.bodies.push(BodySpec {
                    name: Some(name),
                    kind: RigidBody::Static,
                    shape: Some(geom.shape.clone()),
                    position: pose.position,
                    orientation: moreau::rotation::normalised(pose.orientation),
                    material,
                    mass: own_frame(),
                    groups: groups.of_standing(geom.groups),
                    ..BodySpec::default()
                });
            }
        }
        Ok(())
    }

    /// The material of a body, if its shapes have the same and the file says it; of its parts, if they differ.
    fn materials(&mut self, geoms: &[(Frame, &crate::model::Geom)]) -> [Vec<String>; 2] {
        let all: Vec<Option<Material>> = geoms
            .iter()
            .map(|(_, geom)| bodies::material_of(geom))
            .collect();
        let mut add = |of: &Option<Material>| self.add_material(of.unwrap_or_default());
        if all.windows(2).any(|pair| pair[0] != pair[1]) {
            return [Vec::new(), all.iter().map(add).collect()];
        }
        let whole = all.first().filter(|of| of.is_some());
        [whole.map(&mut add).into_iter().collect(), Vec::new()]
    }

    fn add_material(&mut self, material: Material) -> String {
        let name = if material.frictionless {
            "frictionless".to_owned()
        } else {
            format!("friction {}", material.friction)
        };
        self.scene.materials.insert(name.clone(), material);
        name
    }

    fn add_joints(&mut self, reading: &mut Reading) -> Result<(), RobotError> {
        for index in 1..self.model.links.len() {
            let link = &self.model.links[index];
            let Hold::Joints(axes) = &link.hold else {
                continue;
            };
            let parent = link.parent.unwrap_or(0);
            let pieces = pieces(axes);
            let own = self.names.bodies[index].clone();
            let mut above = self.body(parent);
            let Some(first) = pieces.first() else {
                continue;
            };
            let mut frame_a = self.in_body(parent, &link.pose.compose(&first.frame));
            let last = pieces.len() - 1;
            let mut taken = 0;
            // Where the link would be if the joints after this one were at zero.
            let mut start = self.worlds[parent].compose(&link.pose);
            let mut rate = self.rates[parent];
            for (number, piece) in pieces.iter().enumerate() {
                for axis in &axes[taken..taken + piece.axes.len()] {
                    start = rate.add(axis, &start);
                }
                let (body, frame_b) = if number == last {
                    (own.clone(), self.in_body(index, &piece.frame))
                } else {
                    let name = self.add_between((index, number), piece, (start, rate), reading);
                    (name, piece.frame.into())
                };
                let name = self.names.joint(&piece.name, &own);
                for along in &piece.axes {
                    let of = Coordinate {
                        link: index,
                        axis: taken,
                    };
                    self.coordinates.insert(of, (name.clone(), *along));
                    taken += 1;
                }
                self.scene.joints.push(SceneJoint {
                    name: Some(name),
                    a: above.take(),
                    b: body.clone(),
                    kind: piece.kind,
                    frames: Some([frame_a, frame_b]),
                    forces: piece.forces.clone(),
                    ..SceneJoint::default()
                });
                above = Some(body);
                if let Some(next) = pieces.get(number + 1) {
                    frame_a = next.frame.into();
                }
            }
            if last > 0 {
                self.apart(parent, index);
            }
            if self.model.base_is_apart {
                self.apart_from_base(parent, index);
            }
        }
        Ok(())
    }

    fn add_couplers(&mut self) {
        for relation in &self.model.relations {
            let term = |of: Coordinate, ratio: f64| {
                let (joint, axis) = self.coordinates.get(&of)?.clone();
                Some(SceneCouplerTerm { joint, axis, ratio })
            };
            let follower = term(relation.follower, 1.0);
            let leader = term(relation.leader, -relation.ratio);
            self.scene.couplers.push(SceneCoupler {
                name: relation.name.clone(),
                terms: follower.into_iter().chain(leader).collect(),
                offset: relation.offset,
            });
        }
    }

    fn add_closures(&mut self) {
        for closure in &self.model.closures {
            let [a, b] = closure.links;
            let frames = [0, 1].map(|k| self.in_body(closure.links[k], &closure.frames[k]));
            let (first, second, frames) = match (self.body(a), self.body(b)) {
                (first, Some(second)) => (first, second, frames),
                (Some(first), None) => (None, first, [frames[1], frames[0]]),
                (None, None) => continue,
            };
            if first.as_ref() == Some(&second) {
                continue;
            }
            let name = self
                .names
                .joint(closure.name.as_deref().unwrap_or_default(), &second);
            self.scene.joints.push(SceneJoint {
                name: Some(name),
                a: first,
                b: second,
                kind: closure.kind,
                frames: Some(frames),
                collide: true,
                ..SceneJoint::default()
            });
        }
    }

    /// A body between two joints of a link, in its frame, with a part of its mass, which the link loses.
    fn add_between(
        &mut self,
        (link, number): (usize, usize),
        piece: &Piece,
        (start, rate): (Frame, Rate),
        reading: &mut Reading,
    ) -> String {
        let name = self.names.between(link, number);
        let whole = self.parts[link].mass;
        let (mass, moment) = whole.map_or((1.0, 1.0), |whole| {
            (whole.mass, whole.principal_inertia.max_element())
        });
        let place = &self.model.links[link].place;
        let part = BETWEEN_MOMENTS[usize::from(self.is_driven(link))];
        reading.note(crate::NotUnderstood {
            place: place.clone(),
            attribute: None,
            reason: crate::Reason::Replaced(format!(
                "several joints: {BETWEEN:e} of its mass and {part:e} of its largest moment is between \"{}\" and the next",
                piece.name
            )),
        });
        let spec = BodySpec {
            name: Some(name.clone()),
            position: start.position,
            orientation: moreau::rotation::normalised(start.orientation),
            twist: twist(&rate, start.position, &start),
            gravity_scale: GravityScale(self.model.links[link].gravity_scale),
            mass: Mass::given(BETWEEN * mass, DVec3::splat(part * moment)),
            ..BodySpec::default()
        };
        // Bodies are ordered from the root on.
        let own = Some(self.names.bodies[link].clone());
        let at = self.scene.bodies.iter().position(|body| body.name == own);
        let at = at.unwrap_or(self.scene.bodies.len());
        if let (Some(body), Some(whole)) = (self.scene.bodies.get_mut(at), whole) {
            let left = 1.0 - BETWEEN * (number + 1) as f64;
            body.mass = component(&MassProperties {
                mass: left * whole.mass,
                ..whole
            });
        }
        self.scene.bodies.insert(at, spec);
        name
    }

    /// Something that has a gain acts along a joint of a link.
    fn is_driven(&self, link: usize) -> bool {
        let Hold::Joints(axes) = &self.model.links[link].hold else {
            return false;
        };
        let mut forces = axes.iter().flat_map(|axis| &axis.forces);
        forces.any(|force| match *force {
            JointForce::Spring {
                stiffness, damping, ..
            }
            | JointForce::Motor {
                stiffness, damping, ..
            } => stiffness > 0.0 || damping > 0.0,
            _ => false,
        })
    }

    /// The exclusions of the file.
    fn keep_apart(&mut self) {
        for [a, b] in self.model.exclusions.clone() {
            self.apart(a, b);
        }
    }

    /// Keeps the body of a link from colliding with the shapes of the world's part that it is jointed to.
    fn apart_from_base(&mut self, base: usize, link: usize) {
        let (None, Some(body)) = (self.body(base), self.body(link)) else {
            return;
        };
        let standing: Vec<String> = self.standing.clone();
        for name in standing {
            self.passes(name, body.clone());
        }
    }

    /// Keeps the bodies of two links from colliding, by a joint that holds nothing. What is welded to the world is the world.
    fn apart(&mut self, a: usize, b: usize) {
        let (a, b) = match (self.body(a), self.body(b)) {
            (Some(a), Some(b)) => (a, b),
            (None, Some(_)) => return self.apart_from_base(a, b),
            (Some(_), None) => return self.apart_from_base(b, a),
            (None, None) => return,
        };
        let known = self.scene.joints.iter().any(|joint| {
            let pair = (joint.a.as_ref(), &joint.b);
            !joint.collide && (pair == (Some(&a), &b) || pair == (Some(&b), &a))
        });
        if a == b || known {
            return;
        }
        self.passes(a, b);
    }

    fn passes(&mut self, a: String, b: String) {
        let name = self.names.joint(&format!("{a} passes {b}"), &b);
        self.scene.joints.push(SceneJoint {
            name: Some(name),
            a: Some(a),
            b,
            kind: JointKind::Generic {
                translation: [false; 3],
                rotation: [false; 3],
            },
            ..SceneJoint::default()
        });
    }
}

/// Of what is at a place with the orientation of a frame.
fn twist(rate: &Rate, place: DVec3, frame: &Frame) -> Twist {
    Twist {
        linear: rate.at(place),
        angular: frame.orientation.inverse() * rate.angular,
    }
}

/// For what does not move by forces: its pose is that of the frame of its shape.
fn own_frame() -> Mass {
    Mass::given(1.0, DVec3::ONE).with_center_of_mass(DVec3::ZERO)
}
