//! The components that make an entity a body, plain data that also serves without an ECS.

mod body;
mod body_forces;
mod collider;
mod coupler;
mod groups;
pub(crate) mod inertia;
mod joint;
pub(crate) mod mass;
mod material;
mod material_pairs;
pub(crate) mod notices;
mod part_of;
mod pose;
pub(crate) mod response;
mod sensor;
mod sleeping;
mod target;
mod twist;
mod wrench;

pub use body::{BodyId, RigidBody};
pub use body_forces::BodyForces;
pub use collider::Collider;
pub use coupler::{Coupler, CouplerTerm};
pub use groups::CollisionGroups;
pub use joint::{
    BreakLimit, Joint, JointAxis, JointBroken, JointDisabled, JointForce, JointForces, JointFrames,
    JointId, JointKind, NoCollision,
};
pub use mass::Mass;
pub(crate) use material::Made;
pub use material::{Combine, Grain, Material, PartMaterials};
pub(crate) use material_pairs::PairTable;
pub use material_pairs::{MaterialName, MaterialPair, MaterialPairs};
pub use part_of::PartOf;
pub use pose::Pose;
pub use response::{Drag, GravityScale};
pub use sensor::Sensor;
pub use sleeping::Sleeping;
pub use target::KinematicTarget;
pub use twist::Twist;
pub use wrench::Wrench;
