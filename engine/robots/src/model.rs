//! What both formats say: links in a tree, with their joints, masses and shapes.

use crate::error::Place;
use glam::{DMat3, DQuat, DVec3};
use moreau::geometry::{Frame, Shape};
use moreau::{JointForce, JointKind, Settings};

/// A robot, or several, and what is around them.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    /// The world first, then every link after its parent.
    pub(crate) links: Vec<Link>,
    /// What relates coordinates of joints to each other.
    pub(crate) relations: Vec<Relation>,
    /// What holds links together beside the joints of the tree.
    pub(crate) closures: Vec<Closure>,
    /// Links that do not collide with each other.
    pub(crate) exclusions: Vec<[usize; 2]>,
    /// A link that moves does not collide with what it is jointed to even if that stands still.
    pub(crate) base_is_apart: bool,
}

/// A rigid part.
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) place: Place,
    /// Of the world none.
    pub(crate) parent: Option<usize>,
    /// In the frame of the parent, with all coordinates at zero.
    pub(crate) pose: Frame,
    pub(crate) hold: Hold,
    pub(crate) inertial: Option<Inertial>,
    pub(crate) geoms: Vec<Geom>,
    /// Linear in the inertial, angular in the link's frame; for free links. m/s, rad/s.
    pub(crate) twist: [DVec3; 2],
    /// What gravity is multiplied by.
    pub(crate) gravity_scale: f64,
    /// What of it could not be read and would weigh something.
    pub(crate) without: Option<String>,
}

impl Link {
    /// One that is welded to the world, or the world itself, with nothing in it.
    pub(crate) fn new(name: impl Into<String>, place: Place) -> Self {
        Self {
            name: name.into(),
            place,
            parent: None,
            pose: Frame::IDENTITY,
            hold: Hold::Welded,
            inertial: None,
            geoms: Vec::new(),
            twist: [DVec3::ZERO; 2],
            gravity_scale: 1.0,
            without: None,
        }
    }
}

/// `q = ratio q_leader + offset`, of coordinates that are zero where links have the poses that the model gives them.
pub(crate) struct Relation {
    pub(crate) name: Option<String>,
    pub(crate) follower: Coordinate,
    pub(crate) leader: Coordinate,
    /// Not zero.
    pub(crate) ratio: f64,
    pub(crate) offset: f64,
}

/// A joint between two links, neither of which need be the parent of the other; they collide as without it.
pub(crate) struct Closure {
    pub(crate) name: Option<String>,
    pub(crate) links: [usize; 2],
    /// Frames of the joint in those of the links.
    pub(crate) frames: [Frame; 2],
    pub(crate) kind: JointKind,
}

/// A joint that turns about or moves along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Coordinate {
    /// Link that it moves.
    pub(crate) link: usize,
    /// Which of the joints of that.
    pub(crate) axis: usize,
}

/// What holds a link to its parent.
pub(crate) enum Hold {
    /// It is one with it.
    Welded,
    /// Joints, one after the other.
    Joints(Vec<Axis>),
    /// Nothing: `pose` is in the inertial frame.
    Free,
    /// Somebody moves it: `pose` is in the inertial frame.
    Kinematic,
}

/// A joint of one kind of motion.
#[derive(Clone)]
pub(crate) struct Axis {
    pub(crate) name: String,
    /// What the file calls the coordinate that is zero here.
    pub(crate) reference: f64,
    pub(crate) motion: Motion,
    /// Its velocity at the start, along z, m/s or rad/s; of balls in the frame of the link, rad/s.
    pub(crate) rate: DVec3,
    /// Frame of the joint in that of the link, z along its axis.
    pub(crate) frame: Frame,
    /// Their axis is that of the motion; of balls the three rotations.
    pub(crate) forces: Vec<JointForce>,
}

/// What a joint does, and its coordinate at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Motion {
    /// Turns about z, rad.
    Hinge(f64),
    /// Moves along z, m.
    Slide(f64),
    /// Turns.
    Ball(DQuat),
    /// Moves across and turns about z.
    Planar,
}

impl Motion {
    /// Where it puts the link's frame, seen from the joint's.
    pub(crate) fn pose(&self) -> Option<Frame> {
        match *self {
            Self::Hinge(angle) if angle != 0.0 => {
                let (sin, cos) = libm::sincos(0.5 * angle);
                let turn = DQuat::from_xyzw(0.0, 0.0, sin, cos);
                Some(Frame::new(DVec3::ZERO, turn))
            }
            Self::Slide(way) if way != 0.0 => Some(Frame::from_position(DVec3::Z * way)),
            Self::Ball(turn) if turn != DQuat::IDENTITY => Some(Frame::new(DVec3::ZERO, turn)),
            _ => None,
        }
    }
}

/// Mass and inertia in the frame of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inertial {
    /// kg, > 0.
    pub(crate) mass: f64,
    /// m.
    pub(crate) center: DVec3,
    /// About the centre, along the axes of `frame`, kg·m².
    pub(crate) tensor: DMat3,
    /// Axes of the tensor to those of the link.
    pub(crate) frame: DQuat,
}

/// A shape on a link.
pub(crate) struct Geom {
    pub(crate) name: Option<String>,
    pub(crate) place: Place,
    pub(crate) shape: Shape,
    /// In the frame of the link.
    pub(crate) pose: Frame,
    pub(crate) friction: Option<f64>,
    pub(crate) frictionless: bool,
    pub(crate) groups: Groups,
}

/// Two meet if what one belongs to is what the other looks for, whichever is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) kind: u32,
    pub(crate) affinity: u32,
}

impl Default for Groups {
    fn default() -> Self {
        Self {
            kind: 1,
            affinity: 1,
        }
    }
}

impl Groups {
    pub(crate) fn meets(self, other: Self) -> bool {
        self.kind & other.affinity != 0 || other.kind & self.affinity != 0
    }
}
