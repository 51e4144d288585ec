//! Components spoiled between two steps, ids that clash, states that overflow.

use crate::support::*;
use moreau::BodyError;

#[test]
fn spoiled_states_fail_the_step() {
    for value in NOT_FINITE {
        let shown = value.to_string();
        step_refuses(
            Pose::at(0.0, value, 1.0),
            Pose::at(0.0, 0.0, 1.0),
            &["position", &shown, "finite"],
        );
        step_refuses(
            Twist::linear(value, 0.0, 0.0),
            Twist::default(),
            &["linear velocity", &shown, "finite"],
        );
        let spin = Twist {
            angular: DVec3::new(0.0, 0.0, value),
            ..Twist::default()
        };
        step_refuses(spin, Twist::default(), &["angular velocity", &shown]);
        let wrench = Wrench {
            body_moment: DVec3::splat(value),
            ..Wrench::default()
        };
        step_refuses(wrench, Wrench::default(), &["body moment", &shown]);
        let pose = Pose::default().with_orientation(DQuat::from_xyzw(0.0, 0.0, value, 1.0));
        step_refuses(pose, Pose::default(), &["orientation", "1 ± 1e-6"]);
    }
}

#[test]
fn spoiled_constants_fail_the_step() {
    step_refuses(
        Material {
            friction: -1.0,
            ..Material::default()
        },
        Material::default(),
        &["friction", "-1", "in [0, 1e3]"],
    );
    step_refuses(
        Mass::given(-1.0, DVec3::ONE),
        Mass::given(1.0, DVec3::ONE),
        &["mass", "-1", "> 0"],
    );
}

#[test]
fn an_invalid_shape_fails_every_step_until_corrected() {
    // Not only the first one: the shape that the body had before is gone.
    step_refuses(
        Collider::sphere(-1.0),
        Collider::sphere(1.0),
        &["radius", "-1", "> 0"],
    );
    step_refuses(
        Collider::half_space(DVec3::Z),
        Collider::sphere(1.0),
        &["solid"],
    );
}

#[test]
fn one_bad_body_does_not_move_the_others() {
    let (mut simulation, ball) = healthy();
    let other = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(0.5),
            Pose::at(5.0, 0.0, 2.0),
        ))
        .unwrap();
    simulation.step().unwrap();
    let before = (simulation.pose(other), simulation.twist(other));
    simulation.set(ball, Twist::linear(f64::NAN, 0.0, 0.0));
    let error = simulation.step().unwrap_err();
    let StepError::Body { entity, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(entity, ball);
    assert_eq!((simulation.pose(other), simulation.twist(other)), before);
}

#[test]
fn states_that_overflow_fail_the_step() {
    // Finite, but the next state is not.
    let (mut simulation, ball) = healthy();
    simulation.set(
        ball,
        (
            Pose::at(1e308, 0.0, 5.0),
            Twist::linear(1e308, 0.0, 0.0),
            Wrench {
                force: DVec3::new(1e308, 0.0, 0.0),
                ..Wrench::default()
            },
        ),
    );
    simulation
        .set_settings(Settings {
            time_step: 10.0,
            threads: 1,
            ..Settings::default()
        })
        .unwrap();
    let (hash, time) = (simulation.state_hash(), simulation.time());
    let error = simulation.step().unwrap_err();
    names(&error.to_string(), &["body 1", "finite"]);
    assert_eq!(simulation.state_hash(), hash);
    assert_eq!(simulation.time().to_bits(), time.to_bits());
    simulation.set(ball, (Pose::at(0.0, 0.0, 5.0), Twist::default()));
    simulation.set(ball, Wrench::default());
    simulation.step().unwrap();
}

#[test]
fn two_bodies_with_one_id_fail_the_step() {
    let (mut simulation, _) = healthy();
    let twin = simulation
        .spawn((RigidBody::Dynamic, Collider::sphere(0.5), BodyId(1)))
        .unwrap_or_else(|error| panic!("refused at once: {error}"));
    let hash = simulation.state_hash();
    let error = simulation.step().unwrap_err();
    let StepError::Body { id, source, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((*id, source), (BodyId(1), &BodyError::DuplicateId));
    assert_eq!(simulation.state_hash(), hash);
    simulation.despawn(twin);
    simulation.step().unwrap();
}

#[test]
fn unassigned_ids_are_given_out_above_those_in_use() {
    let (mut simulation, _) = healthy();
    let body = || (RigidBody::Dynamic, Collider::sphere(0.1));
    let named = simulation
        .spawn((body(), BodyId(40), Pose::at(9.0, 0.0, 9.0)))
        .unwrap();
    let unnamed = simulation
        .spawn((body(), Pose::at(12.0, 0.0, 9.0)))
        .unwrap();
    simulation.step().unwrap();
    let id = |entity| simulation.world().get::<BodyId>(entity).copied();
    assert_eq!(
        (id(named), id(unnamed)),
        (Some(BodyId(40)), Some(BodyId(41)))
    );
}

#[test]
fn ids_at_the_end_of_their_range_do_not_panic() {
    let (mut simulation, _) = healthy();
    let body = || (RigidBody::Dynamic, Collider::sphere(0.1));
    simulation
        .spawn((body(), BodyId(u64::MAX - 1), Pose::at(9.0, 0.0, 9.0)))
        .unwrap();
    for x in [12.0, 14.0] {
        let error = simulation
            .spawn((body(), Pose::at(x, 0.0, 9.0)))
            .unwrap_err();
        assert!(error.to_string().contains("no id left"), "{error}");
    }
    simulation.step().unwrap();
}

#[test]
fn a_failed_step_gives_out_no_ids() {
    let (mut simulation, ball) = healthy();
    simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(0.1),
            Pose::at(9.0, 0.0, 9.0),
        ))
        .unwrap();
    simulation.set(ball, Twist::linear(f64::NAN, 0.0, 0.0));
    let hash = simulation.state_hash();
    simulation.step().unwrap_err();
    assert_eq!(simulation.state_hash(), hash);
}

#[test]
fn a_failed_step_does_not_disturb_those_that_follow() {
    let run = |fail: bool| {
        let (mut simulation, ball) = healthy();
        for step in 0..200 {
            if fail && step % 50 == 20 {
                let twist = simulation.twist(ball).unwrap();
                simulation.set(ball, Twist::linear(f64::NAN, 0.0, 0.0));
                simulation.step().unwrap_err();
                simulation.set(ball, twist);
            }
            simulation.step().unwrap();
        }
        (simulation.state_hash(), simulation.time().to_bits())
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn a_step_without_the_engine_is_an_error() {
    let (mut simulation, _) = healthy();
    simulation
        .world_mut()
        .remove_resource::<StepOutcome>()
        .unwrap();
    assert!(simulation.step().is_err());
}
