//! Child colliders.

use crate::setting::{app, change, floor, get, messages, pose, run, transform};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_moreau::prelude::*;
use bevy_transform::prelude::*;

fn part(app: &mut App, body: Entity, x: f32) -> Entity {
    let part = (
        Collider::cuboid(0.1, 0.1, 0.1),
        Transform::from_xyz(x, 0.0, 0.0),
        ChildOf(body),
    );
    app.world_mut().spawn(part).id()
}

fn mass(app: &App, body: Entity) -> f64 {
    get::<Mass>(app, body).mass()
}

/// Of a part, kg.
const PART: f64 = 8.0;

fn floating(app: &mut App) -> Entity {
    let at = Transform::from_xyz(0.0, 1.0, 0.0);
    app.world_mut()
        .spawn((RigidBody::Dynamic, at, GravityScale(0.0)))
        .id()
}

#[test]
fn children_with_colliders_are_parts_of_the_body_above() {
    let mut app = app();
    let body = floating(&mut app);
    let parts = [0.0, 1.0].map(|x| part(&mut app, body, x));
    run(&mut app, 2);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    assert!((mass(&app, body) - 2.0 * PART).abs() < 1e-9);
    assert!((pose(&app, body).position - DVec3::new(0.5, 1.0, 0.0)).length() < 1e-9);
    assert_eq!(transform(&app, body).translation.x, 0.0);
    // One more: the shape stays where it is.
    let third = part(&mut app, body, 4.0);
    run(&mut app, 2);
    assert!((mass(&app, body) - 3.0 * PART).abs() < 1e-9);
    assert!((pose(&app, body).position.x - 5.0 / 3.0).abs() < 1e-6);
    assert!(transform(&app, body).translation.x.abs() < 1e-6);
    // One moves, one goes.
    change(&mut app, third, |transform| transform.translation.x = 2.0);
    app.world_mut().despawn(parts[1]);
    run(&mut app, 2);
    assert!((mass(&app, body) - 2.0 * PART).abs() < 1e-9);
    assert!((pose(&app, body).position.x - 1.0).abs() < 1e-6);
    // None is left: a body without shape and mass is an error, as it is without parts.
    app.world_mut().entity_mut(third).remove::<Collider>();
    app.world_mut().despawn(parts[0]);
    run(&mut app, 1);
    assert!(app.world().get::<Collider>(body).is_none());
    let wrong = messages::<PhysicsError>(&mut app);
    assert!(
        matches!(&wrong[..], [PhysicsError::Step(StepError::Body { entity, .. })] if *entity == body)
    );
}

#[test]
fn a_body_keeps_its_own_shape_beside_those_of_its_children() {
    let mut app = app();
    let body = floating(&mut app);
    let own = Collider::cuboid(0.2, 0.2, 0.2);
    app.world_mut().entity_mut(body).insert(own.clone());
    let child = part(&mut app, body, 1.0);
    run(&mut app, 2);
    assert!((mass(&app, body) - 9.0 * PART).abs() < 1e-9);
    // Its own is changed while there are parts.
    app.world_mut()
        .entity_mut(body)
        .insert(Collider::cuboid(0.1, 0.1, 0.1));
    run(&mut app, 2);
    assert!((mass(&app, body) - 2.0 * PART).abs() < 1e-9);
    app.world_mut().entity_mut(body).insert(own.clone());
    app.world_mut().despawn(child);
    run(&mut app, 2);
    assert_eq!(get::<Collider>(&app, body), own);
    assert!((mass(&app, body) - 8.0 * PART).abs() < 1e-9);
}

#[test]
fn parts_stand_where_their_entities_do_at_any_depth_and_scale() {
    let mut app = app();
    let body = floating(&mut app);
    let middle = Transform::from_xyz(1.0, 0.0, 0.0).with_scale([3.0; 3].into());
    let middle = app.world_mut().spawn((middle, ChildOf(body))).id();
    let leaf = part(&mut app, middle, 1.0);
    run(&mut app, 2);
    assert!((mass(&app, body) - PART).abs() < 1e-9);
    assert!((pose(&app, body).position.x - 4.0).abs() < 1e-6);
    let global = app
        .world()
        .get::<GlobalTransform>(leaf)
        .expect("propagated");
    assert!((f64::from(global.translation().x) - 4.0).abs() < 1e-6);
    // What is above it moves.
    change(&mut app, middle, |transform| transform.translation.x = 2.0);
    run(&mut app, 2);
    assert!((pose(&app, body).position.x - 5.0).abs() < 1e-6);
}

#[test]
fn parts_have_materials_of_their_own() {
    let mut app = app();
    let body = floating(&mut app);
    let [first, second] = [0.0, 1.0].map(|x| part(&mut app, body, x));
    let heavy = Material {
        density: 3000.0,
        ..Material::default()
    };
    app.world_mut().entity_mut(second).insert(heavy);
    run(&mut app, 2);
    assert_eq!(
        get::<PartMaterials>(&app, body).0,
        [Material::default(), heavy]
    );
    assert!((mass(&app, body) - 4.0 * PART).abs() < 1e-9);
    assert!((pose(&app, body).position.x - 0.75).abs() < 1e-9);
    app.world_mut().despawn(first);
    run(&mut app, 2);
    assert_eq!(get::<PartMaterials>(&app, body).0, [heavy]);
    app.world_mut().entity_mut(second).remove::<Material>();
    run(&mut app, 2);
    assert!(app.world().get::<PartMaterials>(body).is_none());
    assert!((mass(&app, body) - PART).abs() < 1e-9);
}

#[test]
fn a_table_of_parts_stands_on_its_legs() {
    let mut app = app();
    floor(&mut app);
    let at = Transform::from_xyz(0.0, 1.05, 0.0);
    let table = app.world_mut().spawn((RigidBody::Dynamic, at)).id();
    let top = (
        Collider::cuboid(1.0, 0.05, 1.0),
        Transform::default(),
        ChildOf(table),
    );
    app.world_mut().spawn(top);
    for (x, z) in [(-0.9, -0.9), (-0.9, 0.9), (0.9, -0.9), (0.9, 0.9)] {
        let leg = (
            Collider::cuboid(0.05, 0.5, 0.05),
            Transform::from_xyz(x, -0.55, z),
            ChildOf(table),
        );
        app.world_mut().spawn(leg);
    }
    run(&mut app, 128);
    assert!((transform(&app, table).translation.y - 1.05).abs() < 1e-3);
}

#[test]
fn a_level_of_meshes_is_one_surface() {
    let mut app = app();
    let level = app
        .world_mut()
        .spawn((RigidBody::Static, Transform::default()))
        .id();
    for x in [-2.0, 0.0, 2.0] {
        let corners = vec![
            DVec3::new(-1.0, 0.0, -1.0),
            DVec3::new(-1.0, 0.0, 1.0),
            DVec3::new(1.0, 0.0, 1.0),
            DVec3::new(1.0, 0.0, -1.0),
        ];
        let mesh = Collider::triangle_mesh(corners, vec![[0, 1, 2], [0, 2, 3]]);
        let at = Transform::from_xyz(x, 0.0, 0.0);
        app.world_mut().spawn((mesh, at, ChildOf(level)));
    }
    let balls = [-2.5, 0.0, 1.0].map(|x| crate::setting::ball(&mut app, x, 1.0));
    run(&mut app, 128);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    for ball in balls {
        assert!((pose(&app, ball).position.y - 0.5).abs() < 1e-3);
    }
}

#[test]
fn a_part_that_is_taken_off_becomes_a_body() {
    let mut app = app();
    let body = floating(&mut app);
    let [_, second] = [0.0, 1.0].map(|x| part(&mut app, body, x));
    run(&mut app, 2);
    let body_of_its_own = (RigidBody::Dynamic, Transform::from_xyz(0.0, 9.0, 0.0));
    app.world_mut()
        .entity_mut(second)
        .remove::<ChildOf>()
        .insert(body_of_its_own);
    run(&mut app, 2);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    assert!((mass(&app, body) - PART).abs() < 1e-9);
    assert!((mass(&app, second) - PART).abs() < 1e-9);
    assert!(app.world().get::<PartOf>(second).is_none());
    assert!(pose(&app, second).position.y < 9.0);
}

#[test]
fn what_is_spawned_just_before_a_step_is_whole_in_it() {
    fn spawn(mut commands: Commands, mut spawned: Local<bool>) {
        if !std::mem::replace(&mut *spawned, true) {
            let at = Transform::from_xyz(3.0, 5.0, 0.0);
            commands
                .spawn((RigidBody::Dynamic, at))
                .with_child((Collider::sphere(0.5), Transform::default()));
        }
    }
    let mut app = app();
    app.add_systems(FixedUpdate, spawn.before(MoreauSystems::Step));
    run(&mut app, 2);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    let mut bodies = app.world_mut().query::<&Pose>();
    let pose = bodies.single(app.world()).expect("one");
    assert!(pose.position.x == 3.0 && (4.9..5.0).contains(&pose.position.y));
}

#[test]
fn locks_go_with_a_centre_of_mass_that_moves() {
    let mut app = app();
    let body = floating(&mut app);
    part(&mut app, body, 0.0);
    app.world_mut()
        .entity_mut(body)
        .insert(LockedAxes::TRANSLATION);
    run(&mut app, 5);
    part(&mut app, body, 1.0);
    run(&mut app, 5);
    assert!(transform(&app, body).translation.x.abs() < 1e-6);
    assert!((pose(&app, body).position.x - 0.5).abs() < 1e-9);
    assert!(get::<Twist>(&app, body).linear.length() < 1e-9);
}

#[test]
fn the_scale_of_a_body_moves_its_parts_and_leaves_their_sizes() {
    let mut app = app();
    let body = floating(&mut app);
    change(&mut app, body, |transform| {
        transform.scale = [2.0; 3].into()
    });
    let first = part(&mut app, body, 0.0);
    let second = part(&mut app, body, 1.0);
    app.world_mut().entity_mut(first).insert(Sensor);
    change(&mut app, first, |transform| transform.translation.y = 1.0);
    run(&mut app, 3);
    assert!((mass(&app, body) - PART).abs() < 1e-9);
    let global = app
        .world()
        .get::<GlobalTransform>(second)
        .expect("propagated");
    let at = pose(&app, body).position;
    assert!((at - DVec3::new(2.0, 1.0, 0.0)).length() < 1e-6, "{at}");
    assert!((global.translation().as_dvec3() - at).length() < 1e-6);
    let at = pose(&app, first).position;
    assert!((at - DVec3::new(0.0, 3.0, 0.0)).length() < 1e-6, "{at}");
    assert_eq!(transform(&app, body).scale.x, 2.0);
}
