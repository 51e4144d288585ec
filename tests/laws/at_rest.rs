//! **Law.** A body at rest costs nothing, and yet what the user does to it counts from the next step on: its pose,
//! material, kind, groups and twist may be changed in place or replaced, it may be disabled and enabled again.
//!
//! A ball of 1 kg lies on a static slab. Contacts show the slab's state: gap, friction, or that they are gone.

use crate::support::*;
use bevy_ecs::component::Mutable;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::Component;

struct Slab {
    simulation: Simulation,
    slab: Entity,
    ball: Entity,
}

/// A ball on a slab whose top is at z = 0, and another static body far away.
fn resting() -> Slab {
    let mut simulation = Simulation::new(reference()).unwrap();
    let slab = (
        RigidBody::Static,
        Collider::cuboid(5.0, 5.0, 0.5),
        Pose::at(0.0, 0.0, -0.5),
    );
    let slab = simulation.spawn(slab).unwrap();
    let far = (
        RigidBody::Static,
        Collider::sphere(1.0),
        Pose::at(90.0, 0.0, 0.0),
    );
    simulation.spawn(far).unwrap();
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.5),
        Pose::at(0.0, 0.0, 0.5),
    );
    let ball = simulation.spawn(ball).unwrap();
    for _ in 0..5 {
        assert_eq!(simulation.step().unwrap().closed_contacts, 1);
    }
    Slab {
        simulation,
        slab,
        ball,
    }
}

impl Slab {
    /// Changes a component of the slab in place.
    fn change<C: Component<Mutability = Mutable>>(&mut self, change: impl FnOnce(&mut C)) {
        let mut component = self.simulation.world_mut().get_mut::<C>(self.slab).unwrap();
        change(&mut component);
    }

    fn contacts(&mut self) -> Vec<ContactView> {
        self.simulation.step().unwrap();
        self.simulation.contacts().to_vec()
    }
}

#[test]
fn a_pose_changed_in_place_is_seen() {
    let mut world = resting();
    world.change::<Pose>(|pose| pose.position.z -= 0.001);
    assert!((world.contacts()[0].gap - 0.001).abs() <= 1e-9);
    world.change::<Pose>(|pose| pose.position.z -= 10.0);
    assert!(world.contacts().is_empty());
    world.change::<Pose>(|pose| pose.position.z = -0.5);
    let z = world.simulation.pose(world.ball).unwrap().position.z;
    assert!((world.contacts()[0].gap - (z - 0.5)).abs() <= 1e-9);
}

#[test]
fn a_material_changed_in_place_is_seen() {
    let mut world = resting();
    world.change::<Material>(|material| material.friction = 2.0);
    // √(2 · 0.5) = 1.
    assert!((world.contacts()[0].friction - 1.0).abs() <= 1e-15);
    world.change::<Material>(|material| material.friction = -1.0);
    assert!(world.simulation.step().is_err());
    assert!(world.simulation.step().is_err(), "until it is mended");
    world.change::<Material>(|material| material.friction = 0.5);
    assert!((world.contacts()[0].friction - 0.5).abs() <= 1e-15);
}

#[test]
fn groups_changed_in_place_are_seen() {
    let mut world = resting();
    world.change::<CollisionGroups>(|groups| groups.mask = 0);
    assert!(world.contacts().is_empty());
}

#[test]
fn an_invalid_state_written_in_place_fails_every_step_until_corrected() {
    let mut world = resting();
    for spoil in [f64::NAN, f64::INFINITY] {
        world.change::<Pose>(|pose| pose.position.x = spoil);
        for _ in 0..3 {
            let error = world.simulation.step().unwrap_err().to_string();
            assert!(error.contains("position"), "{error}");
        }
        world.change::<Pose>(|pose| pose.position.x = 0.0);
        assert_eq!(world.contacts().len(), 1);
        world.change::<Twist>(|twist| twist.linear.y = spoil);
        for _ in 0..2 {
            assert!(world.simulation.step().is_err());
        }
        world.change::<Twist>(|twist| twist.linear.y = 0.0);
        assert_eq!(world.contacts().len(), 1);
    }
}

#[test]
fn a_kind_changed_in_place_is_seen_and_may_be_taken_back() {
    let mut world = resting();
    for _ in 0..3 {
        world.change::<RigidBody>(|kind| *kind = RigidBody::Kinematic);
        world.change::<Twist>(|twist| twist.linear.x = 1.0);
        let before = world.simulation.pose(world.slab).unwrap();
        for _ in 0..2 {
            world.simulation.step().unwrap();
        }
        let after = world.simulation.pose(world.slab).unwrap();
        assert!(after.position.x > before.position.x);
        world.change::<RigidBody>(|kind| *kind = RigidBody::Static);
        for _ in 0..3 {
            world.simulation.step().unwrap();
            assert_eq!(world.simulation.pose(world.slab), Some(after));
        }
    }
}

#[test]
fn a_disabled_body_is_absent_and_its_slot_may_be_reused() {
    let mut world = resting();
    let slab = world.slab;
    let disable = |world: &mut Slab, body: Entity| {
        world
            .simulation
            .world_mut()
            .entity_mut(body)
            .insert(Disabled);
    };
    let enable = |world: &mut Slab, body: Entity| {
        let mut body = world.simulation.world_mut().entity_mut(body);
        body.remove::<Disabled>();
    };
    disable(&mut world, slab);
    assert!(world.contacts().is_empty());
    let far = (
        RigidBody::Static,
        Collider::sphere(1.0),
        Pose::at(0.0, 90.0, 0.0),
    );
    let far = world.simulation.spawn(far).unwrap();
    for _ in 0..3 {
        assert!(world.contacts().is_empty());
    }
    // The number of bodies stays the same.
    disable(&mut world, far);
    enable(&mut world, slab);
    let z = world.simulation.pose(world.ball).unwrap().position.z;
    let contacts = world.contacts();
    assert_eq!(contacts.len(), 1);
    assert!((contacts[0].gap - (z - 0.5)).abs() <= 1e-12);
}

#[test]
fn a_shape_taken_off_is_seen() {
    let mut world = resting();
    let slab = world.slab;
    let mut body = world.simulation.world_mut().entity_mut(slab);
    body.remove::<Collider>();
    assert!(world.contacts().is_empty());
    world.simulation.set(slab, Collider::cuboid(5.0, 5.0, 0.5));
    assert_eq!(world.contacts().len(), 1);
}

#[test]
fn a_component_of_the_users_changes_nothing() {
    #[derive(Component)]
    struct Mine;
    let (mut world, mut control) = (resting(), resting());
    for body in [world.slab, world.ball] {
        world.simulation.set(body, Mine);
        assert_eq!(world.contacts(), control.contacts());
        world
            .simulation
            .world_mut()
            .entity_mut(body)
            .remove::<Mine>();
        assert_eq!(world.contacts(), control.contacts());
    }
    // Everything taken off that the user does not know of.
    let mut slab = world.simulation.world_mut().entity_mut(world.slab);
    slab.retain::<(
        (RigidBody, BodyId, Pose, Twist, Collider),
        (Material, Mass, Wrench, CollisionGroups),
    )>();
    for _ in 0..2 {
        assert_eq!(world.contacts(), control.contacts());
    }
    world.change::<Pose>(|pose| pose.position.z -= 0.001);
    control.change::<Pose>(|pose| pose.position.z -= 0.001);
    assert_eq!(world.contacts(), control.contacts());
}
