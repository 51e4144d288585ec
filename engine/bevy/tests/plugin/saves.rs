//! Snapshots of apps.

use crate::setting::{app, ball, change, floor, frames_of, messages, pose, run, transform};
use bevy_app::App;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_moreau::moreau::StepError;
use bevy_moreau::prelude::*;
use bevy_moreau::{push_snapshot, snapshot};
use bevy_transform::prelude::*;

/// Bodies with all that the plugin adds: child colliders, a child sensor, locked axes, a platform that is moved by its `Transform`, a stack, things in flight.
struct Stage {
    app: App,
    tool: Entity,
    upright: Entity,
    platform: Entity,
}

fn stage() -> Stage {
    let mut app = app();
    floor(&mut app);
    for level in 0..4 {
        let cube = (
            RigidBody::Dynamic,
            Collider::cuboid(0.5, 0.5, 0.5),
            Transform::from_xyz(4.0, 0.5 + level as f32, 0.03 * level as f32),
        );
        app.world_mut().spawn(cube);
    }
    let world = app.world_mut();
    let tool = (RigidBody::Dynamic, Transform::from_xyz(0.0, 2.0, 0.0));
    let tool = world.spawn(tool).id();
    for x in [-0.5, 0.7] {
        let part = (
            Collider::sphere(0.3),
            Transform::from_xyz(x, 0.0, 0.0),
            ChildOf(tool),
        );
        world.spawn(part);
    }
    let eye = (Collider::sphere(1.0), Sensor, Transform::default());
    world.spawn((eye, ChildOf(tool)));
    let upright = (
        RigidBody::Dynamic,
        Collider::capsule(0.5, 0.3),
        Transform::from_xyz(-4.0, 1.0, 0.3),
        LockedAxes::ROTATION.translation_x(),
        Twist::linear(0.0, 0.0, -1.0),
    );
    let upright = world.spawn(upright).id();
    let platform = (
        RigidBody::Kinematic,
        Collider::cuboid(1.0, 0.1, 1.0),
        Transform::from_xyz(8.0, 0.5, 0.0),
    );
    let platform = world.spawn(platform).id();
    ball(&mut app, 8.0, 1.2);
    frames_of(&mut app, 0.7);
    Stage {
        app,
        tool,
        upright,
        platform,
    }
}

impl Stage {
    /// Frames in which the platform moves.
    fn go_on(&mut self, frames: usize) -> Vec<(BodyId, Pose, Twist)> {
        for _ in 0..frames {
            change(&mut self.app, self.platform, |at| at.translation.x += 0.01);
            run(&mut self.app, 1);
        }
        states(&mut self.app)
    }
}

fn states(app: &mut App) -> Vec<(BodyId, Pose, Twist)> {
    let mut bodies = app.world_mut().query::<(&BodyId, &Pose, &Twist)>();
    let mut states: Vec<_> = bodies
        .iter(app.world())
        .map(|(id, pose, twist)| (*id, *pose, *twist))
        .collect();
    states.sort_unstable_by_key(|(id, ..)| *id);
    states
}

fn joints(app: &mut App) -> usize {
    let mut joints = app.world_mut().query::<&Joint>();
    joints.iter(app.world()).count()
}

#[test]
fn a_restored_app_makes_the_steps_that_followed_to_the_last_bit() {
    let mut stage = stage();
    stage.go_on(50);
    let clock = |app: &App| {
        let time = app.world().resource::<bevy_time::Time<bevy_time::Fixed>>();
        time.overstep()
    };
    let (saved, at) = (snapshot(stage.app.world_mut()).unwrap(), clock(&stage.app));
    let then = stage.go_on(80);
    assert_eq!(messages::<PhysicsError>(&mut stage.app), []);
    for _ in 0..2 {
        saved.restore(stage.app.world_mut()).unwrap();
        // Time is Bevy's.
        let mut time = stage
            .app
            .world_mut()
            .resource_mut::<bevy_time::Time<bevy_time::Fixed>>();
        let over = time.overstep();
        time.discard_overstep(over);
        time.accumulate_overstep(at);
        assert!(stage.go_on(80) == then);
    }
    assert_eq!(joints(&mut stage.app), 1);
    assert_eq!(messages::<PhysicsError>(&mut stage.app), []);
}

#[test]
fn what_was_written_since_the_last_step_is_saved() {
    let mut stage = stage();
    stage.go_on(20);
    change(&mut stage.app, stage.tool, |at| at.translation.y = 7.0);
    let late = ball(&mut stage.app, 20.0, 3.0);
    let saved = snapshot(stage.app.world_mut()).unwrap();
    let then = states(&mut stage.app);
    assert_eq!(pose(&stage.app, late).position, DVec3::new(20.0, 3.0, 0.0));
    assert_eq!(pose(&stage.app, stage.tool).position.y, 7.0);
    stage.go_on(30);
    stage.app.world_mut().despawn(late);
    saved.restore(stage.app.world_mut()).unwrap();
    assert!(states(&mut stage.app) == then);
}

/// After a restore a `Transform` is where the snapshot has its body: what is written to it from then on is a user's, the same value as before included.
#[test]
fn transforms_are_those_of_the_snapshot_at_once() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 100.0);
    frames_of(&mut app, 1.0);
    run(&mut app, 10);
    let (saved, there) = (snapshot(app.world_mut()).unwrap(), pose(&app, body));
    run(&mut app, 30);
    // Written and not yet read when the restore comes: it is gone.
    change(&mut app, body, |at| at.translation.x = 7.0);
    saved.restore(app.world_mut()).unwrap();
    let shown = transform(&app, body).translation.as_dvec3();
    assert!((shown - there.position).length() < 1e-5, "{shown}");
    run(&mut app, 1);
    assert_eq!(pose(&app, body).position.x, 0.0);
    // The same write again, as netcode does it, and one relative to what is there.
    for _ in 0..2 {
        saved.restore(app.world_mut()).unwrap();
        change(&mut app, body, |at| at.translation.x = 7.0);
        change(&mut app, body, |at| at.translation.y += 1.0);
        run(&mut app, 1);
        let at = pose(&app, body).position;
        assert_eq!(at.x, 7.0);
        assert!((at.y - there.position.y - 1.0).abs() < 0.1, "{at}");
    }
}

#[test]
fn a_rollback_holds_what_was_written_since_the_last_step() {
    let mut app = app();
    floor(&mut app);
    run(&mut app, 2);
    let whole = ball(&mut app, 3.0, 5.0);
    let of_parts = (RigidBody::Dynamic, Transform::from_xyz(-3.0, 5.0, 0.0));
    let of_parts = app.world_mut().spawn(of_parts).id();
    let part = (Collider::sphere(0.5), Transform::default());
    app.world_mut().spawn((part, ChildOf(of_parts)));
    let mut rollback = Rollback::new(4);
    push_snapshot(&mut rollback, app.world_mut()).unwrap();
    run(&mut app, 20);
    rollback.restore_world(app.world_mut(), 0).unwrap();
    for (body, x) in [(whole, 3.0), (of_parts, -3.0)] {
        assert_eq!(pose(&app, body).position, DVec3::new(x, 5.0, 0.0));
    }
}

#[test]
fn a_rollback_over_an_enabling_disables_again() {
    let mut app = app();
    let [pooled, other] = [0.0, 3.0].map(|x| ball(&mut app, x, 5.0));
    let rod = Joint::to_world(pooled, JointKind::Ball).at(DVec3::ZERO, DVec3::Y);
    let rod = app.world_mut().spawn(rod).id();
    run(&mut app, 2);
    app.world_mut().entity_mut(pooled).insert(Disabled);
    run(&mut app, 2);
    let saved = snapshot(app.world_mut()).unwrap();
    app.world_mut().entity_mut(pooled).remove::<Disabled>();
    run(&mut app, 5);
    let read = Snapshot::from_bytes(&saved.to_bytes().unwrap()).unwrap();
    read.restore(app.world_mut()).unwrap();
    assert!(app.world().entity(pooled).contains::<Disabled>());
    assert!(!app.world().entity(other).contains::<Disabled>());
    run(&mut app, 3);
    assert!(app.world().get_entity(rod).is_ok());
    app.world_mut().entity_mut(pooled).remove::<Disabled>();
    run(&mut app, 3);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn a_file_goes_on_in_another_app() {
    let mut stage = stage();
    stage.go_on(30);
    let bytes = snapshot(stage.app.world_mut()).unwrap().to_bytes().unwrap();
    frames_of(&mut stage.app, 1.0);
    run(&mut stage.app, 60);
    let mut other = app();
    let saved = Snapshot::from_bytes(&bytes).unwrap();
    saved.restore(other.world_mut()).unwrap();
    run(&mut other, 60);
    let sensor = |app: &mut App| {
        let mut sensors = app.world_mut().query_filtered::<&BodyId, With<Sensor>>();
        *sensors.single(app.world()).unwrap()
    };
    // The sensor went with its body there.
    let eye = sensor(&mut stage.app);
    assert_eq!(eye, sensor(&mut other));
    let without = |states: Vec<(BodyId, Pose, Twist)>| -> Vec<_> {
        states.into_iter().filter(|of| of.0 != eye).collect()
    };
    assert!(without(states(&mut stage.app)) == without(states(&mut other)));
    assert_eq!(messages::<PhysicsError>(&mut other), []);
}

#[test]
fn locks_are_those_of_the_snapshot() {
    let mut stage = stage();
    stage.go_on(10);
    let saved = snapshot(stage.app.world_mut()).unwrap();
    // Put elsewhere it gets another joint.
    change(&mut stage.app, stage.upright, |at| at.translation.x = -8.0);
    stage.go_on(10);
    assert!((pose(&stage.app, stage.upright).position.x + 8.0).abs() < 1e-12);
    saved.restore(stage.app.world_mut()).unwrap();
    stage.go_on(30);
    assert!((pose(&stage.app, stage.upright).position.x + 4.0).abs() < 1e-12);
    assert_eq!(joints(&mut stage.app), 1);
    let body = stage.upright;
    stage
        .app
        .world_mut()
        .entity_mut(body)
        .remove::<LockedAxes>();
    stage.go_on(1);
    assert_eq!(joints(&mut stage.app), 0);
    // Without its mark the joint of a file is a joint; with it, that of the locks.
    saved.restore(stage.app.world_mut()).unwrap();
    assert_eq!(joints(&mut stage.app), 1);
    let locks = LockedAxes::ROTATION.translation_x();
    stage.app.world_mut().entity_mut(body).insert(locks);
    stage.go_on(10);
    assert_eq!(joints(&mut stage.app), 1);
    stage
        .app
        .world_mut()
        .entity_mut(body)
        .remove::<LockedAxes>();
    stage.go_on(1);
    assert_eq!(joints(&mut stage.app), 0);
}

#[test]
fn a_compound_is_of_the_parts_that_are_there() {
    let mut stage = stage();
    stage.go_on(10);
    let saved = snapshot(stage.app.world_mut()).unwrap();
    let two = mass(&stage.app, stage.tool);
    let third = (Collider::sphere(0.3), Transform::from_xyz(0.0, 0.5, 0.0));
    let third = stage
        .app
        .world_mut()
        .spawn((third, ChildOf(stage.tool)))
        .id();
    stage.go_on(10);
    let three = mass(&stage.app, stage.tool);
    assert!((three / two - 1.5).abs() < 1e-9);
    saved.restore(stage.app.world_mut()).unwrap();
    assert_eq!(mass(&stage.app, stage.tool), two);
    stage.go_on(10);
    assert!((mass(&stage.app, stage.tool) - three).abs() < 1e-9 * three);
    stage.app.world_mut().despawn(third);
    stage.go_on(10);
    assert!((mass(&stage.app, stage.tool) - two).abs() < 1e-9 * two);
    assert_eq!(messages::<PhysicsError>(&mut stage.app), []);
}

fn mass(app: &App, body: Entity) -> f64 {
    app.world().get::<Mass>(body).expect("a body").mass()
}

#[test]
fn a_body_that_is_out_of_the_steps_comes_back_with_its_entity() {
    let mut stage = stage();
    stage.go_on(10);
    let saved = snapshot(stage.app.world_mut()).unwrap();
    let then = states(&mut stage.app);
    let tool = stage.tool;
    stage.app.world_mut().entity_mut(tool).insert(Disabled);
    let other = ball(&mut stage.app, 30.0, 1.0);
    stage.go_on(10);
    stage.app.world_mut().entity_mut(other).insert(Disabled);
    saved.restore(stage.app.world_mut()).unwrap();
    assert!(states(&mut stage.app) == then);
    assert!(!stage.app.world().entity(tool).contains::<Disabled>());
    assert!(stage.app.world().entity(other).contains::<Disabled>());
    stage.go_on(10);
    assert_eq!(messages::<PhysicsError>(&mut stage.app), []);
}

#[test]
fn within_a_step_nothing_is_saved_or_restored() {
    #[derive(Resource, Default)]
    struct Seen(Vec<bool>);

    let mut app = app();
    ball(&mut app, 0.0, 3.0);
    app.init_resource::<Seen>();
    let start = snapshot(app.world_mut()).unwrap();
    let look = move |world: &mut World| {
        let saved = Snapshot::of(world);
        let back = start.restore(world);
        let refused = matches!(saved, Err(SnapshotError::WithinStep))
            && matches!(back, Err(SnapshotError::WithinStep));
        world.resource_mut::<Seen>().0.push(refused);
    };
    app.add_systems(MoreauStep, look.in_set(StepPhase::Edit));
    run(&mut app, 3);
    assert_eq!(app.world().resource::<Seen>().0, [true; 3]);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    // Nor without the step.
    let mut empty = World::new();
    let error = snapshot(&mut empty).unwrap_err();
    let missing = matches!(
        &error,
        SnapshotError::Refused(StepError::NotInstalled { .. })
    );
    assert!(missing, "{error}");
}
