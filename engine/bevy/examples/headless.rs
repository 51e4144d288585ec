//! A table of four legs, each a child with a collider of its own, is put in the air and falls, in an app without a window.
//!
//! `cargo run --release -p bevy-moreau --example headless`

#![expect(clippy::print_stdout, reason = "an example prints")]

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_moreau::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::prelude::*;
use std::time::Duration;

#[derive(Component)]
struct Table;

fn main() {
    let mut app = App::new();
    app.add_plugins((TimePlugin, TransformPlugin, MoreauPlugin::default()));
    // Sixty frames a second, whatever the clock says: the step is 1/64 s.
    let frame = Duration::from_secs_f64(1.0 / 60.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.add_systems(Startup, build)
        .add_systems(Update, watch)
        .add_systems(FixedPostUpdate, complain);
    for _ in 0..120 {
        app.update();
    }
}

fn build(mut commands: Commands) {
    let floor = (RigidBody::Static, Collider::half_space(DVec3::Y));
    commands.spawn(floor);
    let table = (
        Table,
        RigidBody::Dynamic,
        Transform::from_xyz(0.0, 2.0, 0.0),
    );
    let top = (Collider::cuboid(1.0, 0.05, 1.0), Transform::default());
    let mut table = commands.spawn(table);
    table.with_child(top);
    for (x, z) in [(-0.9, -0.9), (-0.9, 0.9), (0.9, -0.9), (0.9, 0.9)] {
        let leg = Collider::cuboid(0.05, 0.5, 0.05);
        table.with_child((leg, Transform::from_xyz(x, -0.55, z)));
    }
    table.observe(|landed: On<ContactBegan>| {
        println!("it lands with {:.0} N·s", landed.normal_impulse)
    });
    table.observe(|_: On<FellAsleep>| println!("it sleeps"));
}

fn watch(table: Single<(&Transform, &Mass), With<Table>>, mut frame: Local<u32>) {
    if frame.is_multiple_of(10) {
        let (transform, mass) = *table;
        let height = transform.translation.y;
        println!("frame {:3}: {:.0} kg at {height:.3} m", *frame, mass.mass());
    }
    *frame += 1;
}

fn complain(mut errors: MessageReader<PhysicsError>) {
    for error in errors.read() {
        println!("{error}");
    }
}
