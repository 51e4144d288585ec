//! Layers, gravity, locked axes: what users know from other plugins.

use crate::setting::{STEP, app, ball, change, floor, get, messages, pose, run, transform};
use bevy_ecs::prelude::*;
use bevy_moreau::prelude::*;
use bevy_transform::prelude::*;

const WALLS: Layers = Layers::nth::<0>();
const GHOSTS: Layers = Layers::nth::<1>();

#[test]
fn bodies_meet_those_that_their_layers_do() {
    let mut app = app();
    let floor = floor(&mut app);
    let [ghost, other] = [0.0, 5.0].map(|x| ball(&mut app, x, 1.0));
    app.world_mut()
        .entity_mut(floor)
        .insert(WALLS.meeting(Layers::ALL));
    app.world_mut()
        .entity_mut(ghost)
        .insert(GHOSTS.meeting(WALLS.others()));
    app.world_mut()
        .entity_mut(other)
        .insert(WALLS.meeting(WALLS));
    run(&mut app, 100);
    assert!(pose(&app, ghost).position.y < -1.0);
    assert!((pose(&app, other).position.y - 0.5).abs() < 1e-3);
}

#[test]
fn gravity_acts_with_the_scale_of_the_body() {
    let mut app = app();
    let bodies = [0.0, 1.0, 2.0, -1.0].map(|scale| {
        let body = ball(&mut app, 3.0 * scale as f32, 0.0);
        app.world_mut().entity_mut(body).insert(GravityScale(scale));
        (body, scale)
    });
    run(&mut app, 64);
    for (body, scale) in bodies {
        let twist = app.world().get::<Twist>(body).expect("a body");
        assert!((twist.linear.y + 9.81 * scale).abs() < 1e-9);
    }
}

#[test]
fn locked_axes_are_held() {
    let mut app = app();
    let body = |locks: LockedAxes, x| {
        let twist = Twist {
            linear: DVec3::ONE,
            angular: DVec3::new(1.0, 2.0, 3.0),
        };
        let shape = Collider::cuboid(0.2, 0.3, 0.4);
        let at = Transform::from_xyz(x, 0.0, 0.0);
        (
            RigidBody::Dynamic,
            shape,
            at,
            twist,
            locks,
            GravityScale(0.0),
        )
    };
    let flat = app.world_mut().spawn(body(LockedAxes::PLANE_XY, 0.0)).id();
    let upright = app.world_mut().spawn(body(LockedAxes::ROTATION, 10.0)).id();
    let still = app
        .world_mut()
        .spawn(body(LockedAxes::TRANSLATION, 20.0))
        .id();
    let lift = LockedAxes::ROTATION.translation_x().translation_z();
    let lift = app.world_mut().spawn(body(lift, 30.0)).id();
    run(&mut app, 64);
    let twist = |body| *app.world().get::<Twist>(body).expect("a body");
    let at = |body| pose(&app, body);
    assert!(at(flat).position.z.abs() < 1e-9 && at(flat).position.x > 0.9);
    assert!(twist(flat).angular.truncate().length() < 1e-9 && twist(flat).angular.z > 2.0);
    assert!(at(upright).orientation.angle_between(DQuat::IDENTITY) < 1e-7);
    assert!((at(upright).position.x - 11.0).abs() < 0.05);
    assert!((at(still).position.x - 20.0).abs() < 1e-9 && twist(still).angular.length() > 2.0);
    assert!((at(lift).position - DVec3::new(30.0, 1.0, 0.0)).length() < 0.05);
    assert!((at(lift).position.x - 30.0).abs() < 1e-9);
}

#[test]
fn locks_go_with_a_body_that_is_put_elsewhere_and_end_with_their_component() {
    let mut app = app();
    let body = ball(&mut app, 0.0, 0.0);
    let lift = LockedAxes::new().translation_x().translation_y();
    app.world_mut().entity_mut(body).insert(lift);
    run(&mut app, 5);
    change(&mut app, body, |transform| transform.translation.y = 8.0);
    run(&mut app, 20);
    assert_eq!(transform(&app, body).translation.y, 8.0);
    let mut joints = app.world_mut().query::<&Joint>();
    assert_eq!(joints.iter(app.world()).count(), 1);
    app.world_mut()
        .entity_mut(body)
        .insert(LockedAxes::ROTATION);
    run(&mut app, 20);
    assert!(pose(&app, body).position.y < 7.9);
    app.world_mut().entity_mut(body).remove::<LockedAxes>();
    run(&mut app, 1);
    assert_eq!(joints.iter(app.world()).count(), 0);
    app.world_mut().entity_mut(body).insert(lift);
    run(&mut app, 1);
    assert_eq!(joints.iter(app.world()).count(), 1);
    app.world_mut().despawn(body);
    run(&mut app, 1);
    assert_eq!(joints.iter(app.world()).count(), 0);
}

#[test]
fn questions_find_bodies_of_the_app() {
    #[derive(Resource, Default)]
    struct Seen(Option<Entity>);
    fn look(mut bodies: SpatialQuery, mut seen: ResMut<Seen>) -> Result<(), BevyError> {
        let ray = Ray::new(DVec3::ZERO, DVec3::X)?.up_to(100.0)?;
        seen.0 = bodies
            .view()?
            .ray(&ray, &QueryFilter::new())
            .map(|hit| hit.entity);
        Ok(())
    }
    let mut app = app();
    let ball = ball(&mut app, 3.0, 0.0);
    app.init_resource::<Seen>()
        .add_systems(bevy_app::Update, look);
    run(&mut app, 2);
    assert_eq!(app.world().resource::<Seen>().0, Some(ball));
}

#[test]
fn a_system_in_the_step_changes_its_interactions() {
    fn ghosts(mut state: ResMut<StepState>) -> Result<(), BevyError> {
        state.interactions().retain(|_, _| false)?;
        Ok(())
    }
    let mut app = app();
    floor(&mut app);
    let ball = ball(&mut app, 0.0, 1.0);
    app.add_systems(MoreauStep, ghosts.in_set(StepPhase::Edit));
    run(&mut app, 100);
    assert!(pose(&app, ball).position.y < -1.0);
}

#[test]
fn impulses_and_forces_act_where_the_body_is_shown() {
    let mut app = app();
    app.world_mut().resource_mut::<Settings>().gravity = DVec3::ZERO;
    // No step has seen it: its mass follows from its shape, its place from its `Transform`.
    let body = ball(&mut app, 5.0, 2.0);
    let mass = 1000.0 * std::f64::consts::PI / 6.0;
    let top = DVec3::new(5.0, 2.5, 0.0);
    let mut commands = app.world_mut().commands();
    commands
        .entity(body)
        .apply_impulse(DVec3::X * mass, top)
        .add_force_at(DVec3::Z * mass, top);
    app.world_mut().flush();
    let twist: Twist = get(&app, body);
    assert!((twist.linear - DVec3::X).length() < 1e-12);
    assert!((twist.angular + DVec3::Z * 0.5 / (0.4 * 0.25)).length() < 1e-12);
    run(&mut app, 1);
    let twist: Twist = get(&app, body);
    assert!((twist.linear - DVec3::new(1.0, 0.0, STEP)).length() < 1e-12);
    assert_eq!(messages::<PhysicsError>(&mut app), []);
    // Refused by name, and nothing changes.
    let mut commands = app.world_mut().commands();
    commands.entity(body).apply_impulse(DVec3::NAN, top);
    app.world_mut().flush();
    let errors = messages::<PhysicsError>(&mut app);
    assert!(matches!(&errors[..], [PhysicsError::Step(_)]), "{errors:?}");
    assert_eq!(get::<Twist>(&app, body), twist);
}
