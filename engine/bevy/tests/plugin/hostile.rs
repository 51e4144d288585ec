//! Wrong input: told in a message, and the world is as it was.

use crate::setting::{app, app_with, ball, change, floor, messages, pose, run, steps, transform};
use bevy_ecs::prelude::*;
use bevy_moreau::moreau::glam::{Quat, Vec3};
use bevy_moreau::prelude::*;
use bevy_transform::prelude::*;

#[test]
fn a_transform_that_is_no_number_is_refused_and_the_body_stays_where_it_was() {
    let mut app = app();
    floor(&mut app);
    let [ball, other] = [0.0, 3.0].map(|x| ball(&mut app, x, 0.5));
    run(&mut app, 5);
    let before = [ball, other].map(|body| pose(&app, body));
    for wrong in [f32::NAN, f32::INFINITY] {
        change(&mut app, ball, |transform| transform.translation.y = wrong);
        run(&mut app, 1);
        let errors = messages::<PhysicsError>(&mut app);
        assert!(
            matches!(&errors[..], [PhysicsError::Transform { body, field: "translation", .. }] if *body == ball)
        );
        let near = |a: Pose, b: Pose| (a.position - b.position).length() < 1e-9;
        assert!(near(pose(&app, ball), before[0]) && near(pose(&app, other), before[1]));
        assert!(transform(&app, ball).translation.is_finite());
    }
    for wrong in [Quat::NAN, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)] {
        change(&mut app, ball, |transform| transform.rotation = wrong);
        run(&mut app, 1);
        let errors = messages::<PhysicsError>(&mut app);
        assert!(matches!(
            &errors[..],
            [PhysicsError::Transform {
                field: "length of the rotation",
                ..
            }]
        ));
        assert_eq!(transform(&app, ball).rotation.length(), 1.0);
    }
    run(&mut app, 1);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn a_new_body_with_a_wrong_transform_is_told() {
    let mut app = app();
    let body = ball(&mut app, f32::NAN, 0.0);
    run(&mut app, 1);
    let errors = messages::<PhysicsError>(&mut app);
    assert!(matches!(&errors[..], [PhysicsError::Transform { body: told, .. }] if *told == body));
    assert_eq!(transform(&app, body).translation.x, 0.0);
}

#[test]
fn a_pose_that_is_no_number_stops_the_steps_until_it_is_one() {
    let mut app = app();
    let [ball, other] = [0.0, 3.0].map(|x| ball(&mut app, x, 0.5));
    run(&mut app, 2);
    let before = pose(&app, other);
    app.world_mut()
        .entity_mut(ball)
        .insert(Pose::at(0.0, f64::NAN, 0.0));
    run(&mut app, 2);
    let errors = messages::<PhysicsError>(&mut app);
    assert_eq!(errors.len(), 2);
    assert!(
        matches!(&errors[0], PhysicsError::Step(StepError::Body { entity, .. }) if *entity == ball)
    );
    assert_eq!(pose(&app, other), before);
    assert!(transform(&app, ball).translation.is_finite());
    app.world_mut()
        .entity_mut(ball)
        .insert(Pose::at(0.0, 0.5, 0.0));
    run(&mut app, 1);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    assert!(pose(&app, other).position.y < before.position.y);
}

#[test]
fn a_body_without_collider_and_a_collider_without_body_are_named() {
    let mut app = app();
    let body = app.world_mut().spawn(RigidBody::Dynamic).id();
    run(&mut app, 1);
    let errors = messages::<PhysicsError>(&mut app);
    assert!(
        matches!(&errors[..], [PhysicsError::Step(StepError::Body { entity, .. })] if *entity == body)
    );
    app.world_mut().despawn(body);
    // Static, it needs none.
    app.world_mut().spawn(RigidBody::Static);
    run(&mut app, 1);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    let loose = app
        .world_mut()
        .spawn((Collider::sphere(0.5), Transform::default()))
        .id();
    run(&mut app, 1);
    let errors = messages::<PhysicsError>(&mut app);
    assert!(
        matches!(&errors[..], [PhysicsError::Step(StepError::Body { entity, .. })] if *entity == loose)
    );
}

#[test]
fn wrong_settings_are_told_by_every_step() {
    let settings = Settings {
        margin: -1.0,
        ..Settings::default()
    };
    let mut app = app_with(MoreauPlugin::new(settings));
    run(&mut app, 2);
    let errors = messages::<PhysicsError>(&mut app);
    assert_eq!(errors.len(), 2);
    assert!(matches!(
        errors[0],
        PhysicsError::Step(StepError::Settings(_))
    ));
    app.insert_resource(Settings::default());
    run(&mut app, 1);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn resources_that_are_taken_out_are_named() {
    let mut app = app();
    let ball = ball(&mut app, 0.0, 1.0);
    app.world_mut().remove_resource::<StepEvents>();
    run(&mut app, 2);
    let errors = messages::<PhysicsError>(&mut app);
    assert!(matches!(
        errors[0],
        PhysicsError::Step(StepError::NotInstalled { what: "StepEvents" })
    ));
    assert_eq!(pose(&app, ball).position.y, 1.0);
    assert_eq!(steps(&app), 2);
}

#[test]
fn a_parent_without_size_leaves_the_body_in_the_world() {
    let mut app = app();
    let above = app
        .world_mut()
        .spawn(Transform::from_scale(Vec3::ZERO))
        .id();
    let ball = ball(&mut app, 0.0, 1.0);
    app.world_mut().entity_mut(ball).insert(ChildOf(above));
    run(&mut app, 10);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    assert!(pose(&app, ball).position.y < 0.0);
    assert!(transform(&app, ball).translation.is_finite());
}

#[test]
fn a_body_that_loses_its_transform_is_stepped_all_the_same() {
    let mut app = app();
    let ball = ball(&mut app, 0.0, 1.0);
    run(&mut app, 1);
    app.world_mut().entity_mut(ball).remove::<Transform>();
    run(&mut app, 10);
    assert!(pose(&app, ball).position.y < 1.0);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn entities_come_and_go_in_every_order() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 1.0);
    let child = (Collider::sphere(0.1), Transform::default(), ChildOf(body));
    let child = app.world_mut().spawn(child).id();
    run(&mut app, 2);
    // The kind goes, and comes back.
    let kind = app.world_mut().entity_mut(body).take::<RigidBody>();
    app.world_mut().entity_mut(body).remove::<Collider>();
    app.world_mut().entity_mut(child).remove::<Collider>();
    run(&mut app, 2);
    app.world_mut()
        .entity_mut(body)
        .insert(kind.expect("a body"));
    app.world_mut()
        .entity_mut(body)
        .insert(Collider::sphere(0.2));
    app.world_mut()
        .entity_mut(child)
        .insert(Collider::sphere(0.1));
    run(&mut app, 2);
    app.world_mut().entity_mut(child).remove::<ChildOf>();
    app.world_mut().despawn(child);
    app.world_mut().despawn(body);
    messages::<PhysicsError>(&mut app);
    run(&mut app, 2);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn a_disabled_body_is_out_of_the_steps_until_it_is_enabled() {
    use bevy_ecs::entity_disabling::Disabled;
    let mut app = app();
    let [body, other] = [0.0, 3.0].map(|x| ball(&mut app, x, 1.0));
    run(&mut app, 2);
    let before = pose(&app, body);
    app.world_mut().entity_mut(body).insert(Disabled);
    run(&mut app, 5);
    assert_eq!(pose(&app, body), before);
    assert!(pose(&app, other).position.y < before.position.y);
    app.world_mut().entity_mut(body).remove::<Disabled>();
    run(&mut app, 5);
    assert!(pose(&app, body).position.y < before.position.y);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

/// As in a pool of objects.
#[test]
fn a_transform_that_is_written_while_its_body_is_disabled_is_taken() {
    use bevy_ecs::entity_disabling::Disabled;
    let mut app = app();
    app.world_mut().resource_mut::<Settings>().gravity = DVec3::ZERO;
    let body = ball(&mut app, 0.0, 1.0);
    run(&mut app, 2);
    app.world_mut().entity_mut(body).insert(Disabled);
    run(&mut app, 2);
    change(&mut app, body, |at| at.translation.x = 5.0);
    run(&mut app, 3);
    app.world_mut().entity_mut(body).remove::<Disabled>();
    run(&mut app, 3);
    assert_eq!(pose(&app, body).position, DVec3::new(5.0, 1.0, 0.0));
    assert_eq!(transform(&app, body).translation.x, 5.0);
}

#[test]
fn what_hangs_on_a_disabled_body_rests_with_it() {
    use bevy_ecs::entity_disabling::Disabled;
    let mut app = app();
    floor(&mut app);
    let with_parts = (RigidBody::Dynamic, Transform::from_xyz(0.0, 3.0, 0.0));
    let with_parts = app.world_mut().spawn(with_parts).id();
    for x in [-1.0, 1.0] {
        let at = Transform::from_xyz(x, 0.0, 0.0);
        app.world_mut()
            .spawn((Collider::sphere(0.5), at, ChildOf(with_parts)));
    }
    let eye = (Collider::sphere(0.1), Sensor, Transform::default());
    let eye = app.world_mut().spawn((eye, ChildOf(with_parts))).id();
    let locked = ball(&mut app, 5.0, 3.0);
    app.world_mut()
        .entity_mut(locked)
        .insert(LockedAxes::TRANSLATION);
    let [hung, free] = [10.0, 11.0].map(|x| ball(&mut app, x, 3.0));
    let rod = Joint {
        frames: JointFrames::Own([Pose::default(); 2]),
        ..Joint::new(hung, free, JointKind::Distance { length: 1.0 })
    };
    let rod = app.world_mut().spawn(rod).id();
    run(&mut app, 5);
    let mass = app.world().get::<Mass>(with_parts).map(Mass::mass);
    let bodies = [with_parts, locked, hung];
    for body in bodies {
        app.world_mut().entity_mut(body).insert(Disabled);
    }
    let before = bodies.map(|body| pose(&app, body));
    run(&mut app, 20);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    assert_eq!(bodies.map(|body| pose(&app, body)), before);
    assert!(pose(&app, free).position.y < before[2].position.y - 0.1);
    // A snapshot has none of them, and leaves them where they are.
    let saved = bevy_moreau::snapshot(app.world_mut()).expect("it can be saved");
    run(&mut app, 3);
    saved.restore(app.world_mut()).expect("it can be restored");
    run(&mut app, 3);
    assert!(app.world().get_entity(rod).is_ok());
    for body in bodies {
        app.world_mut().entity_mut(body).remove::<Disabled>();
    }
    run(&mut app, 60);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    let places = bodies.map(|body| pose(&app, body).position);
    assert!(
        (places[0].y - 0.5).abs() < 1e-2,
        "on its two balls: {places:?}"
    );
    assert_eq!(app.world().get::<Mass>(with_parts).map(Mass::mass), mass);
    assert!((places[1] - before[1].position).length() < 1e-9);
    let apart = (places[2] - pose(&app, free).position).length();
    assert!((apart - 1.0).abs() < 1e-6, "{apart}");
    assert!((pose(&app, eye).position - places[0]).length() < 1e-2);
}

#[test]
fn joints_and_couplers_that_are_out_of_the_steps_disturb_none() {
    use bevy_ecs::entity_disabling::Disabled;
    let mut app = app();
    let wheels = [0.0, 2.0].map(|x| ball(&mut app, x, 3.0));
    let hinges = wheels.map(|wheel| {
        let at = pose(&app, wheel).position;
        let hinge = Joint::to_world(wheel, JointKind::Revolute).at(at, DVec3::Z);
        app.world_mut().spawn(hinge).id()
    });
    let axis = JointAxis::RotationZ;
    let terms = [1.0, 2.0].into_iter().zip(hinges);
    let terms = terms.map(|(ratio, joint)| CouplerTerm { joint, axis, ratio });
    let gear = Coupler {
        terms: terms.collect(),
        offset: 0.0,
    };
    let gear = app.world_mut().spawn(gear).id();
    run(&mut app, 3);
    let saved = bevy_moreau::snapshot(app.world_mut()).expect("it can be saved");
    for off in [hinges[0], wheels[1]] {
        app.world_mut().entity_mut(off).insert(Disabled);
        run(&mut app, 3);
        let without = bevy_moreau::snapshot(app.world_mut()).expect("it can be saved");
        without.restore(app.world_mut()).expect("and restored");
        run(&mut app, 3);
        assert!(app.world().get_entity(gear).is_ok());
        app.world_mut().entity_mut(off).remove::<Disabled>();
        run(&mut app, 3);
        assert_eq!(messages::<PhysicsError>(&mut app), []);
    }
    // What hangs on a disabled body and on one that a restore takes away goes with that.
    let late = ball(&mut app, 6.0, 3.0);
    let rod = Joint {
        frames: JointFrames::Own([Pose::default(); 2]),
        ..Joint::new(wheels[0], late, JointKind::Distance { length: 6.0 })
    };
    let rod = app.world_mut().spawn(rod).id();
    run(&mut app, 2);
    app.world_mut().entity_mut(wheels[0]).insert(Disabled);
    app.world_mut().entity_mut(rod).insert(Disabled);
    run(&mut app, 2);
    saved.restore(app.world_mut()).expect("it can be restored");
    assert!(app.world().get_entity(rod).is_err());
    // And what is disabled goes with a body that is despawned.
    app.world_mut().entity_mut(hinges[0]).insert(Disabled);
    run(&mut app, 1);
    app.world_mut().despawn(wheels[0]);
    run(&mut app, 2);
    assert!(app.world().get_entity(hinges[0]).is_err());
    assert!(app.world().get_entity(gear).is_err());
    run(&mut app, 5);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn a_body_changes_its_kind_in_mid_run() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 1.0);
    let mut last = 1.0;
    for kind in [RigidBody::Static, RigidBody::Kinematic, RigidBody::Dynamic] {
        run(&mut app, 2);
        let y = pose(&app, body).position.y;
        assert!(y <= last);
        last = y;
        app.world_mut()
            .entity_mut(body)
            .insert((kind, Twist::default()));
    }
    run(&mut app, 10);
    assert!(pose(&app, body).position.y < last - 0.05);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn a_part_with_a_wrong_transform_is_an_error_of_its_body_until_it_is_right() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 1.0);
    let part = (Collider::sphere(0.1), Transform::default(), ChildOf(body));
    let part = app.world_mut().spawn(part).id();
    run(&mut app, 1);
    let before = pose(&app, body);
    change(&mut app, part, |transform| {
        transform.translation.x = f32::NAN
    });
    run(&mut app, 2);
    let errors = messages::<PhysicsError>(&mut app);
    assert_eq!(errors.len(), 2);
    assert!(
        matches!(&errors[0], PhysicsError::Step(StepError::Body { entity, .. }) if *entity == body),
        "{errors:?}"
    );
    assert_eq!(pose(&app, body), before);
    change(&mut app, part, |transform| transform.translation.x = 0.0);
    run(&mut app, 2);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    assert!(pose(&app, body).position.y < before.position.y);
}
