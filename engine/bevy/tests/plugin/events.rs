//! Messages, and events for observers.

use crate::setting::{app, ball, change, floor, messages, run};
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_moreau::prelude::*;
use bevy_transform::prelude::*;

/// What observers were told, in its order.
#[derive(Resource, Default)]
struct Told(Vec<String>);

fn observe(app: &mut App, entity: Entity, name: &'static str) {
    app.init_resource::<Told>();
    let mut entity = app.world_mut().entity_mut(entity);
    entity
        .observe(move |_: On<ContactBegan>, mut told: ResMut<Told>| {
            told.0.push(format!("{name} began"))
        })
        .observe(move |_: On<ContactEnded>, mut told: ResMut<Told>| {
            told.0.push(format!("{name} ended"))
        })
        .observe(move |_: On<SensorEntered>, mut told: ResMut<Told>| {
            told.0.push(format!("{name} entered"))
        })
        .observe(move |_: On<SensorLeft>, mut told: ResMut<Told>| {
            told.0.push(format!("{name} left"))
        })
        .observe(move |_: On<FellAsleep>, mut told: ResMut<Told>| {
            told.0.push(format!("{name} fell asleep"))
        })
        .observe(move |_: On<Woke>, mut told: ResMut<Told>| told.0.push(format!("{name} woke")));
}

#[test]
fn contacts_begin_and_end_once_with_both_bodies_told() {
    let mut app = app();
    let floor = floor(&mut app);
    let ball = ball(&mut app, 0.0, 0.6);
    observe(&mut app, floor, "floor");
    observe(&mut app, ball, "ball");
    let mut began = Vec::new();
    let mut asleep = Vec::new();
    for _ in 0..120 {
        run(&mut app, 1);
        began.extend(messages::<ContactBegan>(&mut app));
        asleep.extend(messages::<FellAsleep>(&mut app));
    }
    assert!(matches!(&began[..], [one] if (one.body, one.other) == (floor, ball)));
    assert!(began[0].impulse.y < 0.0 && began[0].normal_impulse > 0.0);
    assert_eq!(asleep, [FellAsleep { body: ball }]);
    change(&mut app, ball, |transform| transform.translation.y = 5.0);
    run(&mut app, 2);
    let ended = messages::<ContactEnded>(&mut app);
    assert_eq!(
        ended,
        [ContactEnded {
            body: floor,
            other: ball
        }]
    );
    assert_eq!(messages::<Woke>(&mut app), [Woke { body: ball }]);
    let told = &app.world().resource::<Told>().0;
    let expected = [
        "floor began",
        "ball began",
        "ball fell asleep",
        "floor ended",
        "ball ended",
        "ball woke",
    ];
    assert_eq!(told[..], expected);
}

#[test]
fn a_sensor_and_what_it_sees_are_told() {
    let mut app = app();
    let gate = (RigidBody::Static, Collider::cuboid(1.0, 0.2, 1.0), Sensor);
    let gate = app.world_mut().spawn(gate).id();
    let ball = ball(&mut app, 0.0, 1.0);
    observe(&mut app, gate, "gate");
    observe(&mut app, ball, "ball");
    let (mut entered, mut left) = (Vec::new(), Vec::new());
    for _ in 0..64 {
        run(&mut app, 1);
        entered.extend(messages::<SensorEntered>(&mut app));
        left.extend(messages::<SensorLeft>(&mut app));
    }
    let (entity, sensor, body) = (gate, gate, ball);
    assert_eq!(
        entered,
        [SensorEntered {
            entity,
            sensor,
            body
        }]
    );
    assert_eq!(
        left,
        [SensorLeft {
            entity,
            sensor,
            body
        }]
    );
    let told = &app.world().resource::<Told>().0;
    assert_eq!(
        told[..],
        ["gate entered", "ball entered", "gate left", "ball left"]
    );
}

#[test]
fn a_joint_that_breaks_is_told() {
    let mut app = app();
    let ball = ball(&mut app, 0.0, 0.0);
    run(&mut app, 1);
    let joint = Joint::to_world(ball, JointKind::Fixed);
    let weak = BreakLimit {
        force: 1.0,
        ..BreakLimit::default()
    };
    let joint = app.world_mut().spawn((joint, weak)).id();
    app.init_resource::<Told>();
    app.add_observer(|broke: On<JointBroke>, mut told: ResMut<Told>| {
        told.0.push(format!("{} broke", broke.joint));
    });
    run(&mut app, 1);
    assert_eq!(messages::<JointBroke>(&mut app), [JointBroke { joint }]);
    run(&mut app, 3);
    assert_eq!(messages::<JointBroke>(&mut app), []);
    assert_eq!(app.world().resource::<Told>().0, [format!("{joint} broke")]);
}

#[test]
fn a_body_that_is_despawned_ends_its_contacts_and_the_rest_goes_on() {
    let mut app = app();
    let floor = floor(&mut app);
    let [first, second] = [0.0, 3.0].map(|x| ball(&mut app, x, 0.5));
    observe(&mut app, floor, "floor");
    run(&mut app, 10);
    app.world_mut().despawn(first);
    run(&mut app, 2);
    assert_eq!(
        messages::<ContactEnded>(&mut app),
        [ContactEnded {
            body: floor,
            other: first
        }]
    );
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    assert!(app.world().get::<Transform>(second).is_some());
    assert_eq!(app.world().resource::<Told>().0.len(), 3);
}

#[test]
fn messages_are_in_the_order_of_the_ids() {
    let mut app = app();
    let floor = floor(&mut app);
    let balls: Vec<Entity> = (0_u8..10)
        .map(|i| ball(&mut app, 2.0 * f32::from(i), 0.499))
        .collect();
    run(&mut app, 1);
    let began = messages::<ContactBegan>(&mut app);
    let pairs: Vec<_> = began
        .iter()
        .map(|began| (began.body, began.other))
        .collect();
    let expected: Vec<_> = balls.into_iter().map(|ball| (floor, ball)).collect();
    assert_eq!(pairs, expected);
}

#[test]
fn an_observer_may_despawn_what_it_is_told_of() {
    let mut app = app();
    floor(&mut app);
    let bodies = [0.0, 3.0].map(|x| ball(&mut app, x, 0.499));
    for body in bodies {
        let mut entity = app.world_mut().entity_mut(body);
        entity.observe(|began: On<ContactBegan>, mut commands: Commands| {
            commands.entity(began.body).despawn();
        });
    }
    // The first takes the second with it, before that is told.
    let [first, second] = bodies;
    let mut entity = app.world_mut().entity_mut(first);
    entity.observe(move |_: On<ContactBegan>, mut commands: Commands| {
        commands.entity(second).try_despawn();
    });
    run(&mut app, 3);
    assert!(
        bodies
            .iter()
            .all(|body| app.world().get_entity(*body).is_err())
    );
    assert_eq!(messages::<PhysicsError>(&mut app), []);
}
