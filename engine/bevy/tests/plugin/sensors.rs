//! Child sensors.

use crate::setting::{app, ball, change, floor, frames_of, get, messages, pose, run, transform};
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_moreau::moreau::glam::Vec3;
use bevy_moreau::prelude::*;
use bevy_transform::prelude::*;

/// A sensor 0.6 m below the middle of a body.
fn feet(app: &mut App, body: Entity) -> Entity {
    let feet = (
        Collider::sphere(0.1),
        Sensor,
        Transform::from_xyz(0.0, -0.6, 0.0),
        ChildOf(body),
    );
    app.world_mut().spawn(feet).id()
}

#[test]
fn a_sensor_below_a_body_sees_the_ground_and_not_the_body() {
    let mut app = app();
    let floor = floor(&mut app);
    let body = ball(&mut app, 0.0, 1.5);
    let feet = feet(&mut app, body);
    let mut entered = Vec::new();
    for _ in 0..100 {
        run(&mut app, 1);
        entered.extend(messages::<SensorEntered>(&mut app));
    }
    let (entity, sensor) = (feet, feet);
    assert_eq!(
        entered,
        [SensorEntered {
            entity,
            sensor,
            body: floor
        }]
    );
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    // It pushes nothing, weighs nothing, and its transform is as it was given.
    assert!((pose(&app, body).position.y - 0.5).abs() < 1e-3);
    let ball = 1000.0 * std::f64::consts::PI / 6.0;
    assert!((get::<Mass>(&app, body).mass() - ball).abs() < 1e-9);
    assert_eq!(transform(&app, feet).translation, Vec3::new(0.0, -0.6, 0.0));
    assert!((pose(&app, feet).position - DVec3::new(0.0, -0.1, 0.0)).length() < 1e-3);
    // Up, and it leaves.
    change(&mut app, body, |transform| transform.translation.y = 3.0);
    run(&mut app, 1);
    let left = messages::<SensorLeft>(&mut app);
    assert_eq!(
        left,
        [SensorLeft {
            entity,
            sensor,
            body: floor
        }]
    );
}

#[test]
fn a_sensor_turns_with_its_body_and_is_where_it_ends() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 0.0);
    let spin = Twist {
        linear: DVec3::X,
        angular: DVec3::Z,
    };
    app.world_mut()
        .entity_mut(body)
        .insert((GravityScale(0.0), spin));
    let feet = feet(&mut app, body);
    frames_of(&mut app, 0.5);
    run(&mut app, 60);
    let body = pose(&app, body);
    let expected = body.position + body.orientation * DVec3::new(0.0, -0.6, 0.0);
    let at = pose(&app, feet).position;
    assert!((at - expected).length() < 1e-3, "{at} for {expected}");
}

#[test]
fn a_sensor_that_moves_in_its_body_or_leaves_it_is_followed() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 5.0);
    app.world_mut().entity_mut(body).insert(GravityScale(0.0));
    let feet = feet(&mut app, body);
    run(&mut app, 2);
    change(&mut app, feet, |transform| transform.translation.y = 2.0);
    run(&mut app, 1);
    assert!((pose(&app, feet).position.y - 7.0).abs() < 1e-6);
    // No sensor any more: a part.
    app.world_mut().entity_mut(feet).remove::<Sensor>();
    run(&mut app, 2);
    assert!(app.world().get::<RigidBody>(feet).is_none());
    assert_eq!(app.world().get::<PartOf>(feet), Some(&PartOf(body)));
    // And again.
    app.world_mut().entity_mut(feet).insert(Sensor);
    run(&mut app, 2);
    assert!(app.world().get::<PartOf>(feet).is_none());
    let ball = 1000.0 * std::f64::consts::PI / 6.0;
    assert!((get::<Mass>(&app, body).mass() - ball).abs() < 1e-9);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    // It goes with its body.
    app.world_mut().despawn(body);
    run(&mut app, 2);
    assert!(app.world().get_entity(feet).is_err());
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn what_a_sensor_is_not_said_to_see_it_is_not_said_to_leave() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 3.0);
    let eye = feet(&mut app, body);
    run(&mut app, 10);
    app.world_mut().despawn(eye);
    run(&mut app, 5);
    assert_eq!(messages::<SensorEntered>(&mut app), []);
    assert_eq!(messages::<SensorLeft>(&mut app), []);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}

#[test]
fn a_sensor_that_is_made_a_body_is_one() {
    for taken_off_first in [false, true] {
        let mut app = app();
        let body = ball(&mut app, 0.0, 3.0);
        let eye = feet(&mut app, body);
        run(&mut app, 10);
        let mut entity = app.world_mut().entity_mut(eye);
        entity.insert(RigidBody::Static);
        if taken_off_first {
            entity.remove::<ChildOf>();
        }
        run(&mut app, 5);
        app.world_mut().entity_mut(eye).remove::<ChildOf>();
        run(&mut app, 5);
        assert_eq!(messages::<PhysicsError>(&mut app), []);
        assert_eq!(get::<RigidBody>(&app, eye), RigidBody::Static);
        let at = pose(&app, eye);
        run(&mut app, 5);
        assert_eq!(pose(&app, eye), at);
    }
}

#[test]
fn a_restored_sensor_does_not_tell_of_its_body() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 30.0);
    let eye = feet(&mut app, body);
    let saved = bevy_moreau::snapshot(app.world_mut()).expect("it can be saved");
    for _ in 0..3 {
        run(&mut app, 5);
        saved.restore(app.world_mut()).expect("and restored");
    }
    run(&mut app, 5);
    app.world_mut().despawn(eye);
    run(&mut app, 2);
    assert_eq!(messages::<SensorEntered>(&mut app), []);
    assert_eq!(messages::<SensorLeft>(&mut app), []);
}
