//! Steps, time, and what is shown between steps.

use crate::setting::{
    STEP, app, app_before_its_first_frame, app_with, ball, change, floor, frames_of, pose, run,
    steps, transform,
};
use bevy_app::{FixedFirst, FixedUpdate, PostUpdate, RunFixedMainLoop};
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel};
use bevy_moreau::prelude::*;
use bevy_time::{Fixed, Time, Virtual};

#[test]
fn a_ball_falls_and_rests() {
    let mut app = app();
    floor(&mut app);
    let ball = ball(&mut app, 0.0, 2.0);
    run(&mut app, 200);
    assert_eq!(steps(&app), 200);
    assert!((pose(&app, ball).position.y - 0.5).abs() < 1e-3);
    assert!((transform(&app, ball).translation.y - 0.5).abs() < 1e-3);
    let settings = app.world().resource::<Settings>();
    assert_eq!(settings.time_step.to_bits(), STEP.to_bits());
}

#[test]
fn a_transform_is_between_the_last_two_steps_and_exact_at_the_ends() {
    let mut app = app();
    let ball = ball(&mut app, 0.0, 10.0);
    frames_of(&mut app, 0.25);
    let mut ends = vec![10.0];
    for frame in 1_u32..=40 {
        app.update();
        if frame % 4 == 0 {
            ends.push(pose(&app, ball).position.y);
        }
        let Some([before, after]) = ends.last_chunk::<2>() else {
            continue;
        };
        let share = f64::from(frame % 4) / 4.0;
        let between = (before * (1.0 - share) + after * share) as f32;
        let shown = transform(&app, ball).translation.y;
        assert!(
            (shown - between).abs() < 1e-5,
            "{shown} for {between} in frame {frame}"
        );
        if frame % 4 == 0 {
            assert_eq!(shown.to_bits(), (*before as f32).to_bits());
        }
    }
    assert_eq!(steps(&app), 10);
}

#[test]
fn nothing_is_interpolated_where_it_is_turned_off() {
    let plugin = MoreauPlugin {
        interpolation: false,
        ..MoreauPlugin::default()
    };
    let [mut app, mut other] = [app_with(plugin), app()];
    let [first, second] = [ball(&mut app, 0.0, 10.0), ball(&mut other, 0.0, 10.0)];
    other.world_mut().entity_mut(second).insert(NoInterpolation);
    for (app, ball) in [(&mut app, first), (&mut other, second)] {
        frames_of(app, 1.25);
        for _ in 0..10 {
            app.update();
            let exact = pose(app, ball).position.y as f32;
            assert_eq!(
                transform(app, ball).translation.y.to_bits(),
                exact.to_bits()
            );
        }
    }
}

#[test]
fn paused_time_makes_no_steps_and_its_speed_makes_more_or_less() {
    let mut app = app();
    let ball = ball(&mut app, 0.0, 10.0);
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    run(&mut app, 10);
    assert_eq!(steps(&app), 0);
    assert_eq!(pose(&app, ball).position.y, 10.0);
    let mut time = app.world_mut().resource_mut::<Time<Virtual>>();
    time.unpause();
    time.set_relative_speed(2.0);
    run(&mut app, 10);
    assert_eq!(steps(&app), 20);
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed(0.5);
    run(&mut app, 10);
    assert_eq!(steps(&app), 25);
}

#[test]
fn the_time_step_is_that_of_the_fixed_loop() {
    let mut app = app();
    app.insert_resource(Time::<Fixed>::from_hz(256.0));
    run(&mut app, 4);
    let settings = app.world().resource::<Settings>();
    assert_eq!(settings.time_step, 1.0 / 256.0);
    let state = app.world().resource::<StepState>();
    assert!((state.time() - 4.0 * STEP).abs() < 1e-12);
}

#[test]
fn an_app_without_bodies_makes_steps() {
    let mut app = app();
    run(&mut app, 5);
    assert_eq!(steps(&app), 5);
    let report = app.world().resource::<StepReport>();
    assert!(report.converged);
}

#[test]
fn the_bits_are_those_of_a_simulation_with_the_same_bodies() {
    let settings = Settings {
        time_step: STEP,
        ..Settings::default()
    };
    let mut app = app_with(MoreauPlugin::new(settings));
    let mut alone = Simulation::new(settings).expect("settings are right");
    let floor = (RigidBody::Static, Collider::half_space(DVec3::Z));
    app.world_mut().spawn(floor.clone());
    alone.spawn(floor).expect("a floor");
    for i in 0..60 {
        let at = Pose::at(
            0.3 * f64::from(i % 3),
            0.25 * f64::from(i % 4),
            0.6 * f64::from(i),
        );
        let body = (RigidBody::Dynamic, Collider::cuboid(0.2, 0.25, 0.3), at);
        app.world_mut().spawn(body.clone());
        alone.spawn(body).expect("a box");
    }
    frames_of(&mut app, 1.5);
    run(&mut app, 60);
    assert_eq!(steps(&app), 90);
    for _ in 0..90 {
        alone.step().expect("a step");
    }
    let state = |world: &mut bevy_ecs::world::World| {
        let mut bodies = world.query::<(&BodyId, &Pose, &Twist)>();
        let mut bodies: Vec<_> = bodies
            .iter(world)
            .map(|(id, pose, twist)| {
                let vectors = [pose.position, twist.linear, twist.angular];
                let bits = vectors.map(|v| v.to_array().map(f64::to_bits));
                (*id, bits, pose.orientation.to_array().map(f64::to_bits))
            })
            .collect();
        bodies.sort_unstable();
        bodies
    };
    assert_eq!(state(app.world_mut()), state(alone.world_mut()));
}

#[test]
fn hundreds_of_bodies_rest_and_sleep() {
    let mut app = app();
    floor(&mut app);
    let balls: Vec<_> = (0_u8..200)
        .map(|i| {
            let (row, column) = (f32::from(i / 20), f32::from(i % 20));
            let ball = ball(&mut app, 1.5 * column, 0.6);
            change(&mut app, ball, |transform| {
                transform.translation.z = 1.5 * row
            });
            ball
        })
        .collect();
    run(&mut app, 200);
    for ball in balls {
        assert!((transform(&app, ball).translation.y - 0.5).abs() < 1e-3);
        assert!(app.world().get::<Sleeping>(ball).is_some());
    }
}

#[test]
fn what_is_shown_goes_on_after_a_pause() {
    let mut app = app();
    let ball = ball(&mut app, 0.0, 10.0);
    frames_of(&mut app, 0.25);
    run(&mut app, 9);
    let shown = transform(&app, ball);
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    run(&mut app, 5);
    assert_eq!(transform(&app, ball), shown);
    app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    let mut last = shown.translation.y;
    for _ in 0..2 {
        run(&mut app, 1);
        let now = transform(&app, ball).translation.y;
        assert!(now < last);
        last = now;
    }
    assert_eq!(steps(&app), 2);
}

#[test]
fn the_order_of_all_systems_is_given() {
    let mut app = app_before_its_first_frame(MoreauPlugin::default());
    let strict = ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        ..ScheduleBuildSettings::default()
    };
    for label in [
        MoreauStep.intern(),
        FixedFirst.intern(),
        FixedUpdate.intern(),
        RunFixedMainLoop.intern(),
        PostUpdate.intern(),
    ] {
        app.edit_schedule(label, |schedule| {
            schedule.set_build_settings(strict.clone());
        });
    }
    ball(&mut app, 0.0, 1.0);
    run(&mut app, 3);
}
