//! An app with a floor, whose frames are as long as they are told to be.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_moreau::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use bevy_transform::prelude::*;
use std::time::Duration;

/// The time step of all apps here, s.
pub(crate) const STEP: f64 = 1.0 / 64.0;

pub(crate) fn app_with(plugin: MoreauPlugin) -> App {
    let mut app = app_before_its_first_frame(plugin);
    // The first frame has no length.
    app.update();
    app
}

pub(crate) fn app_before_its_first_frame(plugin: MoreauPlugin) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, TransformPlugin, plugin, DrawingPlugin));
    frames_of(&mut app, 1.0);
    app.finish();
    app.cleanup();
    app
}

pub(crate) fn app() -> App {
    app_with(MoreauPlugin::default())
}

/// Frames are this many steps long.
pub(crate) fn frames_of(app: &mut App, steps: f64) {
    let frame = Duration::from_secs_f64(STEP * steps);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
}

pub(crate) fn run(app: &mut App, frames: usize) {
    for _ in 0..frames {
        app.update();
    }
}

pub(crate) fn floor(app: &mut App) -> Entity {
    let floor = (RigidBody::Static, Collider::half_space(DVec3::Y));
    app.world_mut().spawn(floor).id()
}

pub(crate) fn ball(app: &mut App, x: f32, y: f32) -> Entity {
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.5),
        Transform::from_xyz(x, y, 0.0),
    );
    app.world_mut().spawn(ball).id()
}

pub(crate) fn get<C: Component + Clone>(app: &App, entity: Entity) -> C {
    app.world().get::<C>(entity).expect("it has one").clone()
}

pub(crate) fn pose(app: &App, body: Entity) -> Pose {
    get(app, body)
}

pub(crate) fn transform(app: &App, body: Entity) -> Transform {
    get(app, body)
}

/// Steps so far.
pub(crate) fn steps(app: &App) -> u64 {
    let time = app.world().resource::<Time<Fixed>>();
    (time.elapsed_secs_f64() / STEP).round() as u64
}

pub(crate) fn change(app: &mut App, body: Entity, change: impl FnOnce(&mut Transform)) {
    let mut transform = app.world_mut().get_mut::<Transform>(body).expect("a body");
    change(&mut transform);
}

/// The messages of a type that are there.
pub(crate) fn messages<M: Message + Clone>(app: &mut App) -> Vec<M> {
    app.world_mut()
        .resource_mut::<Messages<M>>()
        .drain()
        .collect()
}
