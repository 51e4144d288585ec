//! Bodies that are put somewhere, by `Transform` or by `Pose`, and bodies that stand in something.

use crate::setting::{
    STEP, app, ball, change, floor, frames_of, get, messages, pose, run, transform,
};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_moreau::moreau::glam::{Quat, Vec3};
use bevy_moreau::prelude::*;
use bevy_transform::prelude::*;

fn floating(app: &mut App, at: Transform) -> Entity {
    let body = (RigidBody::Dynamic, Collider::sphere(0.5), GravityScale(0.0));
    app.world_mut().spawn((body, at)).id()
}

#[test]
fn a_body_is_put_where_its_transform_says_without_a_way_there() {
    let mut app = app();
    let ball = floating(&mut app, Transform::from_xyz(1.0, 2.0, 3.0));
    app.world_mut()
        .get_mut::<Twist>(ball)
        .expect("a body")
        .linear = DVec3::X;
    run(&mut app, 3);
    frames_of(&mut app, 0.5);
    run(&mut app, 1);
    let before = pose(&app, ball).position;
    change(&mut app, ball, |transform| transform.translation.y = 20.0);
    run(&mut app, 1);
    let after = pose(&app, ball).position;
    // What was not written goes on, from where the body is and not from where it is shown.
    assert!((after.x - before.x - STEP).abs() < 1e-12);
    assert_eq!((after.y, after.z), (20.0, before.z));
    assert_eq!(transform(&app, ball).translation.y, 20.0);
    run(&mut app, 1);
    assert_eq!(transform(&app, ball).translation.y, 20.0);
}

#[test]
fn a_body_is_put_where_its_pose_says_without_a_way_there() {
    let mut app = app();
    let ball = floating(&mut app, Transform::default());
    frames_of(&mut app, 0.5);
    run(&mut app, 5);
    let turned = Pose::at(0.1, 7.0, 0.3).with_orientation(DQuat::from_rotation_y(0.5));
    app.world_mut().entity_mut(ball).insert(turned);
    run(&mut app, 1);
    let shown = transform(&app, ball);
    assert_eq!(shown.translation, turned.position.as_vec3());
    assert_eq!(shown.rotation, turned.orientation.as_quat());
    assert_eq!(pose(&app, ball), turned);
}

#[test]
fn a_pose_counts_more_than_a_transform_at_the_spawn() {
    let mut app = app();
    let body = (
        RigidBody::Static,
        Collider::sphere(0.5),
        Pose::at(1.0, 2.0, 3.0),
    );
    let body = app
        .world_mut()
        .spawn((body, Transform::from_xyz(9.0, 9.0, 9.0)))
        .id();
    run(&mut app, 1);
    assert_eq!(pose(&app, body).position, DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(transform(&app, body).translation, Vec3::new(1.0, 2.0, 3.0));
}

#[test]
fn a_transform_written_in_the_fixed_loop_goes_on_from_the_last_step() {
    let mut app = app();
    let ball = floating(&mut app, Transform::default());
    app.add_systems(
        FixedUpdate,
        move |mut all: Query<&mut Transform, With<RigidBody>>| {
            for mut transform in &mut all {
                transform.translation.x += 0.25;
            }
        },
    );
    frames_of(&mut app, 0.5);
    run(&mut app, 20);
    // Ten steps, or eleven: the system is not ordered against the step.
    let x = pose(&app, ball).position.x;
    assert!((2.25..=2.5).contains(&x), "{x}");
}

#[test]
fn the_shape_is_where_the_transform_says_whose_centre_of_mass_is_elsewhere() {
    let mut app = app();
    let cone = (
        RigidBody::Dynamic,
        Collider::cone(0.5, 0.5),
        Transform::from_xyz(0.0, 3.0, 0.0),
        GravityScale(0.0),
    );
    let cone = app.world_mut().spawn(cone).id();
    run(&mut app, 3);
    assert_eq!(transform(&app, cone).translation, Vec3::new(0.0, 3.0, 0.0));
    let center = pose(&app, cone).position - DVec3::new(0.0, 3.0, 0.0);
    assert!(
        (center - DVec3::new(0.0, 0.0, -0.25)).length() < 1e-12,
        "{center}"
    );
}

#[test]
fn a_kinematic_body_that_its_transform_moves_carries_a_box() {
    let mut app = app();
    let table = (
        RigidBody::Kinematic,
        Collider::cuboid(1.0, 0.1, 1.0),
        Transform::from_xyz(0.0, -0.1, 0.0),
    );
    let table = app.world_mut().spawn(table).id();
    let load = (
        RigidBody::Dynamic,
        Collider::cuboid(0.2, 0.2, 0.2),
        Transform::from_xyz(0.0, 0.2, 0.0),
    );
    let load = app.world_mut().spawn(load).id();
    run(&mut app, 10);
    for _ in 0..64 {
        change(&mut app, table, |transform| {
            transform.translation.x += (0.5 * STEP) as f32;
        });
        run(&mut app, 1);
    }
    assert!((pose(&app, table).position.x - 0.5).abs() < 1e-6);
    assert!((transform(&app, table).translation.x - 0.5).abs() < 1e-6);
    // It slid back by v²/(2μg) at the start.
    let behind = 0.5 * 0.5 / (2.0 * 0.5 * 9.81);
    assert!((pose(&app, load).position.x - (0.5 - behind)).abs() < 5e-3);
    assert_eq!(app.world().get::<KinematicTarget>(table), None);
    run(&mut app, 5);
    assert_eq!(app.world().get::<Twist>(table), Some(&Twist::default()));
}

#[test]
fn a_transform_of_a_kinematic_body_waits_for_the_step_that_takes_it() {
    let mut app = app();
    let table = (RigidBody::Kinematic, Collider::cuboid(1.0, 0.1, 1.0));
    let table = app.world_mut().spawn(table).id();
    frames_of(&mut app, 0.25);
    run(&mut app, 4);
    change(&mut app, table, |transform| transform.translation.x = 0.5);
    run(&mut app, 1);
    assert_eq!(transform(&app, table).translation.x, 0.5);
    change(&mut app, table, |transform| transform.translation.y = 0.25);
    run(&mut app, 3);
    assert_eq!(
        transform(&app, table).translation,
        Vec3::new(0.5, 0.25, 0.0)
    );
    assert_eq!(pose(&app, table).position, DVec3::new(0.5, 0.25, 0.0));
}

#[test]
fn a_target_of_a_kinematic_body_is_reached_and_interpolated() {
    let mut app = app();
    let table = (RigidBody::Kinematic, Collider::cuboid(1.0, 0.1, 1.0));
    let table = app.world_mut().spawn(table).id();
    run(&mut app, 1);
    frames_of(&mut app, 0.5);
    let target = KinematicTarget(Pose::at(1.0, 0.0, 0.0));
    app.world_mut().entity_mut(table).insert(target);
    run(&mut app, 3);
    assert_eq!(pose(&app, table).position.x, 1.0);
    assert_eq!(transform(&app, table).translation.x, 0.5);
}

#[test]
fn a_body_in_a_scaled_and_turned_frame_is_at_the_same_place_in_the_world() {
    let mut app = app();
    let above = Transform::from_xyz(1.0, 2.0, 3.0)
        .with_rotation(Quat::from_rotation_z(std::f32::consts::FRAC_PI_2))
        .with_scale(Vec3::new(2.0, 2.0, 2.0));
    let above = app.world_mut().spawn(above).id();
    let body = floating(&mut app, Transform::from_xyz(1.0, 0.0, 0.0));
    app.world_mut().entity_mut(body).insert(ChildOf(above));
    run(&mut app, 2);
    let at = |app: &App| pose(app, body).position;
    assert!((at(&app) - DVec3::new(1.0, 4.0, 3.0)).length() < 1e-6);
    let global = app
        .world()
        .get::<GlobalTransform>(body)
        .expect("propagated");
    assert!((global.translation() - Vec3::new(1.0, 4.0, 3.0)).length() < 1e-5);
    // It moves by itself, and what is shown in the world is where it is.
    app.world_mut()
        .get_mut::<Twist>(body)
        .expect("a body")
        .linear = DVec3::X;
    run(&mut app, 64);
    assert!((at(&app) - DVec3::new(2.0, 4.0, 3.0)).length() < 0.05);
    let global = app
        .world()
        .get::<GlobalTransform>(body)
        .expect("propagated");
    assert!((global.translation().as_dvec3() - at(&app)).length() < 0.05);
    // What it stands in is moved: it goes with it.
    app.world_mut()
        .get_mut::<Twist>(body)
        .expect("a body")
        .linear = DVec3::ZERO;
    run(&mut app, 2);
    let before = at(&app);
    change(&mut app, above, |transform| transform.translation.y += 5.0);
    run(&mut app, 1);
    assert!((at(&app) - before - 5.0 * DVec3::Y).length() < 1e-5);
}

#[test]
fn a_body_below_a_body_moves_by_itself() {
    let mut app = app();
    floor(&mut app);
    let above = ball(&mut app, 0.0, 5.0);
    let below = floating(&mut app, Transform::from_xyz(3.0, 0.0, 0.0));
    app.world_mut().entity_mut(below).insert(ChildOf(above));
    run(&mut app, 30);
    assert!(pose(&app, above).position.y < 4.5);
    let at = pose(&app, below).position;
    assert!((at - DVec3::new(3.0, 5.0, 0.0)).length() < 1e-5, "{at}");
    let global = app
        .world()
        .get::<GlobalTransform>(below)
        .expect("propagated");
    assert!((global.translation() - Vec3::new(3.0, 5.0, 0.0)).length() < 1e-5);
}

#[test]
fn a_kinematic_body_that_becomes_dynamic_is_where_its_transform_said() {
    let mut app = app();
    let body = (
        RigidBody::Kinematic,
        Collider::sphere(0.5),
        GravityScale(0.0),
    );
    let body = app.world_mut().spawn(body).id();
    frames_of(&mut app, 0.25);
    run(&mut app, 4);
    change(&mut app, body, |transform| transform.translation.x = 2.0);
    run(&mut app, 1);
    app.world_mut().entity_mut(body).insert(RigidBody::Dynamic);
    run(&mut app, 8);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    assert_eq!(pose(&app, body).position.x, 2.0);
    assert_eq!(get::<Twist>(&app, body), Twist::default());
}

#[test]
fn a_pose_takes_the_place_of_a_target_that_waits() {
    let mut app = app();
    let body = (RigidBody::Kinematic, Collider::sphere(0.5));
    let body = app.world_mut().spawn(body).id();
    frames_of(&mut app, 0.25);
    run(&mut app, 4);
    change(&mut app, body, |transform| transform.translation.x = 2.0);
    run(&mut app, 1);
    let pose_of_its_own = Pose::at(0.0, 3.0, 0.0);
    app.world_mut().entity_mut(body).insert(pose_of_its_own);
    run(&mut app, 8);
    assert_eq!(pose(&app, body), pose_of_its_own);
    assert_eq!(transform(&app, body).translation, Vec3::new(0.0, 3.0, 0.0));
}

#[test]
fn a_body_that_is_taken_out_of_its_parent_is_where_its_transform_says() {
    let mut app = app();
    let above = app
        .world_mut()
        .spawn(Transform::from_xyz(0.0, 10.0, 0.0))
        .id();
    let body = floating(&mut app, Transform::from_xyz(1.0, 0.0, 0.0));
    app.world_mut().entity_mut(body).insert(ChildOf(above));
    run(&mut app, 3);
    assert_eq!(pose(&app, body).position, DVec3::new(1.0, 10.0, 0.0));
    app.world_mut().entity_mut(body).remove::<ChildOf>();
    run(&mut app, 2);
    assert_eq!(pose(&app, body).position, DVec3::X);
    assert_eq!(transform(&app, body).translation, Vec3::X);
}

#[test]
fn a_shape_stays_where_it_is_when_its_centre_of_mass_moves() {
    let mut app = app();
    let body = floating(&mut app, Transform::from_xyz(0.0, 2.0, 0.0));
    let spin = Twist {
        linear: DVec3::ZERO,
        angular: DVec3::Z,
    };
    run(&mut app, 1);
    app.world_mut()
        .entity_mut(body)
        .insert((Collider::cone(0.5, 0.5), spin));
    run(&mut app, 1);
    let at = pose(&app, body).position - DVec3::new(0.0, 2.0, -0.25);
    assert!(at.length() < 1e-9, "{at}");
    // No collider: the place of the shape is that of the body.
    let mass = Mass::given(1.0, DVec3::ONE);
    app.world_mut()
        .entity_mut(body)
        .insert(mass)
        .remove::<Collider>();
    run(&mut app, 1);
    let at = pose(&app, body).position - DVec3::new(0.0, 2.0, 0.0);
    assert!(at.length() < 1e-9, "{at}");
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}
