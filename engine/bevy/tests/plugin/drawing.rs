//! What is drawn, as lines.

use crate::setting::{app, ball, floor, frames_of, run, transform};
use bevy_app::App;
use bevy_ecs::system::RunSystemOnce;
use bevy_moreau::moreau::glam::Vec3;
use bevy_moreau::prelude::*;
use bevy_moreau::{Line, Picture};

fn lines(app: &mut App, drawing: Drawing) -> Vec<Line> {
    let draw = move |picture: Picture| {
        let mut lines = Vec::new();
        picture.draw(&drawing, |line| lines.push(line));
        lines
    };
    app.world_mut().run_system_once(draw).expect("it runs")
}

const NOTHING: fn() -> Drawing = || Drawing {
    shapes: false,
    contacts: false,
    forces: false,
    joints: false,
    ..Drawing::default()
};

#[test]
fn shapes_are_where_transforms_are_in_the_colour_of_their_state() {
    let mut app = app();
    let ball = ball(&mut app, 2.0, 0.7);
    frames_of(&mut app, 1.25);
    let shapes = Drawing {
        shapes: true,
        ..NOTHING()
    };
    for _ in 0..5 {
        run(&mut app, 1);
        let center = transform(&app, ball).translation;
        let lines = lines(&mut app, shapes);
        assert!(!lines.is_empty());
        for line in &lines {
            assert_eq!(line.color, shapes.dynamic);
            assert!(((line.start - center).length() - 0.5).abs() < 1e-5);
        }
    }
    floor(&mut app);
    app.world_mut()
        .entity_mut(ball)
        .insert(Pose::at(2.0, 0.5, 0.0));
    run(&mut app, 100);
    let lines = lines(&mut app, shapes);
    assert!(lines.iter().any(|line| line.color == shapes.sleeping));
    assert!(lines.iter().any(|line| line.color == shapes.fixed));
    assert!(lines.iter().all(|line| line.color != shapes.dynamic));
}

#[test]
fn forces_of_contacts_are_as_long_as_they_are_large() {
    let mut app = app();
    app.world_mut().resource_mut::<Settings>().sleeping = SleepSettings::OFF;
    floor(&mut app);
    ball(&mut app, 0.0, 0.5);
    run(&mut app, 100);
    let normals = Drawing {
        contacts: true,
        ..NOTHING()
    };
    let [normal] = lines(&mut app, normals)[..] else {
        panic!("there is one contact");
    };
    assert!((normal.end - normal.start - 0.2 * Vec3::NEG_Y).length() < 1e-5);
    let forces = Drawing {
        forces: true,
        ..NOTHING()
    };
    let [force] = lines(&mut app, forces)[..] else {
        panic!("there is one contact");
    };
    // On the floor, its weight.
    let weight = 1000.0 * std::f32::consts::PI / 6.0 * 9.81;
    let drawn = force.end - force.start;
    assert!((drawn.y / (-1e-3 * weight) - 1.0).abs() < 1e-3, "{drawn}");
}

#[test]
fn joints_show_their_frames_where_their_bodies_are() {
    let mut app = app();
    let ball = ball(&mut app, 1.0, 0.0);
    run(&mut app, 1);
    let hinge = Joint::to_world(ball, JointKind::Revolute).at(DVec3::ZERO, DVec3::Z);
    app.world_mut().spawn(hinge);
    run(&mut app, 30);
    let joints = Drawing {
        joints: true,
        ..NOTHING()
    };
    let lines = lines(&mut app, joints);
    // Two frames of three axes, and a line from the ball.
    assert_eq!(lines.len(), 7);
    let arm = lines
        .iter()
        .find(|line| line.color == joints.joint)
        .expect("it is drawn");
    assert!((arm.start - transform(&app, ball).translation).length() < 1e-5);
    assert!(arm.end.length() < 1e-2);
}

#[test]
fn a_collider_that_changes_or_goes_is_drawn_as_it_is() {
    let mut app = app();
    let body = app
        .world_mut()
        .spawn((RigidBody::Static, Collider::cuboid(1.0, 1.0, 1.0)))
        .id();
    run(&mut app, 1);
    assert_eq!(lines(&mut app, Drawing::default()).len(), 12);
    app.world_mut()
        .entity_mut(body)
        .insert(Collider::sphere(1.0));
    run(&mut app, 1);
    assert_eq!(lines(&mut app, Drawing::default()).len(), 72);
    app.world_mut().entity_mut(body).remove::<Collider>();
    run(&mut app, 1);
    assert_eq!(lines(&mut app, Drawing::default()), []);
}
