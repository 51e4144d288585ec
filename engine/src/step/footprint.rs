//! What the arrays of the step hold of a body and of a contact, in bytes.
//!
//! Without components in the ECS, geometries, and the arrays of detection, of the solver and of the
//! projection's iterations.

use crate::bodies::constants::BodyConstants;
use crate::bodies::waking::Rest;
use crate::components::{BodyId, Material, Pose, Twist, Wrench};
use crate::interactions::detected::Detected;
use crate::motion::scheme::FreeMotion;
use crate::step::projection::{Displacement, Limits};
use bevy_ecs::entity::Entity;
use glam::DVec3;
use moreau_solvers::{Contact, InverseMass, WorldTwist};
use std::mem::size_of;

#[test]
fn bytes_of_a_body() {
    let slot_maps = 2 * size_of::<u32>();
    let constants = size_of::<BodyConstants>() + size_of::<Material>();
    let state = size_of::<Pose>() + size_of::<Twist>();
    let identity = size_of::<Entity>() + size_of::<BodyId>();
    // Begin, free, end (of two steps) and mean.
    let twists = 5 * size_of::<WorldTwist>();
    let position = size_of::<DVec3>() + size_of::<f64>();
    let motion = twists + position + size_of::<FreeMotion>() + size_of::<InverseMass>();
    let checks = size_of::<DVec3>() + size_of::<Displacement>() + 2 * size_of::<u8>();
    let limits = size_of::<Limits>();
    let kept_for_views = identity + size_of::<DVec3>() + size_of::<f64>();
    // Sleeping bodies, and the islands of the others.
    let rest = size_of::<Rest>() + size_of::<u32>() + size_of::<u8>();
    let bodies = slot_maps + constants + 2 * state + size_of::<Wrench>() + identity;
    assert_eq!(
        bodies + motion + checks + limits + kept_for_views + rest,
        1391
    );
}

#[test]
fn bytes_of_a_contact() {
    let row = size_of::<Contact>() + size_of::<bool>();
    let record = size_of::<Detected>() + size_of::<f64>() + 2 * size_of::<DVec3>();
    // What is kept of the step, and of the last one.
    assert_eq!(row + 2 * record, 417);
}
