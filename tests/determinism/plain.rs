//! **Law.** A step is a function of plain data: without any world it gives the bits of a [`Simulation`]. What it starts from
//! are the states of the bodies and the impulses of the last step, by ids: a copy that is given both goes on with the same bits.

use crate::support::*;
use moreau::prelude::*;
use moreau::{WarmStart, rotation};

const STEPS: usize = 60;

fn bodies(specs: &[Spec]) -> Vec<Body> {
    let body = |spec: &Spec| Body {
        id: spec.id,
        kind: spec.kind,
        pose: spec.pose,
        twist: spec.twist,
        collider: Some(spec.collider.clone()),
        ..Body::default()
    };
    specs.iter().map(body).collect()
}

/// A block that slides down a slope steeper than its friction angle.
fn sliding_block() -> Vec<Spec> {
    let slope = rotation::exp(glam::DVec3::Y * 0.6);
    let spec = |id, kind, collider, pose| Spec {
        id: BodyId(id),
        kind,
        collider,
        pose,
        twist: Twist::default(),
    };
    let plane = Collider::half_space(slope * DVec3::Z);
    let block = Collider::cuboid(0.2, 0.15, 0.1);
    let above = Pose::from_position(slope * (DVec3::Z * 0.1)).with_orientation(slope);
    vec![
        spec(0, RigidBody::Static, plane, Pose::default()),
        spec(7, RigidBody::Dynamic, block, above),
    ]
}

fn assert_same(state: &StepState, simulation: &mut Simulation) {
    let mut world = simulation.world_mut().query::<(&BodyId, &Pose, &Twist)>();
    let mut expected: Vec<_> = world
        .iter(simulation.world())
        .map(|(id, pose, twist)| (*id, *pose, *twist))
        .collect();
    expected.sort_unstable_by_key(|(id, ..)| *id);
    let states: Vec<_> = state.states().collect();
    assert_eq!(states, expected);
}

#[test]
fn steps_without_an_ecs_give_the_bits_of_a_simulation() {
    for specs in [heap(4), sliding_block()] {
        for threads in [1, 2] {
            let mut simulation = spawn(settings(threads), &specs);
            let mut state = StepState::default();
            // In any order: bodies are sorted by id.
            let mut plain = bodies(&specs);
            plain.reverse();
            state.set_bodies(&plain).unwrap();
            for _ in 0..STEPS {
                let report = state.step(&settings(threads)).unwrap();
                let expected = simulation.step().unwrap();
                assert_eq!(report.e_scaled.to_bits(), expected.e_scaled.to_bits());
                assert_eq!(report.energy, expected.energy);
            }
            assert_same(&state, &mut simulation);
            assert_eq!(state.impulses(), simulation.impulses());
            assert_eq!(state.contacts().len(), simulation.contacts().len());
        }
    }
}

#[test]
fn sleeping_without_an_ecs_gives_the_bits_of_a_simulation() {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let mut specs = heap(2);
    specs[1].pose.position += DVec3::Z * 4.0;
    let mut simulation = spawn(settings, &specs);
    let mut state = StepState::default();
    state.set_bodies(&bodies(&specs)).unwrap();
    let mut slept = 0;
    for _ in 0..600 {
        let report = state.step(&settings).unwrap();
        assert_eq!(report.sleeping, simulation.step().unwrap().sleeping);
        slept = slept.max(report.sleeping);
    }
    assert!(slept > 0, "no body slept");
    assert_same(&state, &mut simulation);
}

#[test]
fn states_and_warm_starts_are_all_that_a_step_depends_on() {
    let mut settings = settings(1);
    settings.sleeping = moreau::SleepSettings::OFF;
    let specs = heap(3);
    let mut plain = bodies(&specs);
    let mut state = StepState::default();
    state.set_bodies(&plain).unwrap();
    for _ in 0..STEPS {
        state.step(&settings).unwrap();
    }
    // Through text and back.
    let text = toml::to_string(&state.warm_start()).unwrap();
    let warm_start: WarmStart = toml::from_str(&text).unwrap();
    assert_eq!(warm_start, state.warm_start());
    assert!(warm_start.contacts.len() > 20);
    for body in &mut plain {
        body.pose = state.pose(body.id).unwrap();
        body.twist = state.twist(body.id).unwrap();
    }
    let mut copy = StepState::default();
    copy.set_bodies(&plain).unwrap();
    copy.set_warm_start(warm_start);
    let (mut cold, mut sweeps) = (StepState::default(), [0, 0]);
    cold.set_bodies(&plain).unwrap();
    for _ in 0..STEPS {
        let [going_on, copied, from_zero] =
            [&mut state, &mut copy, &mut cold].map(|state| state.step(&settings).unwrap());
        assert_eq!(going_on.sweeps, copied.sweeps);
        assert_eq!(going_on.e_scaled.to_bits(), copied.e_scaled.to_bits());
        sweeps[0] += copied.sweeps;
        sweeps[1] += from_zero.sweeps;
        assert!(state.states().eq(copy.states()));
    }
    assert!(!state.states().eq(cold.states()), "warm starts matter");
}

#[test]
fn bodies_that_cannot_be_are_refused_and_nothing_changes() {
    let specs = sliding_block();
    let mut state = StepState::default();
    state.set_bodies(&bodies(&specs)).unwrap();
    let before: Vec<_> = state.states().collect();
    let mut twins = bodies(&specs);
    twins[1].id = twins[0].id;
    let mut nameless = bodies(&specs);
    nameless[1].id = BodyId::UNASSIGNED;
    let mut spoiled = bodies(&specs);
    spoiled[1].pose.position.y = f64::NAN;
    for (bad, named) in [
        (twins, "the id is taken"),
        (nameless, "BodyId is missing"),
        (spoiled, "position is NaN"),
    ] {
        let error = state.set_bodies(&bad).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
        assert!(state.states().eq(before.iter().copied()));
    }
    state.step(&settings(1)).unwrap();
}

#[test]
fn a_step_that_fails_leaves_the_bodies_as_they_were() {
    let mut plain = bodies(&heap(2));
    plain[1].twist.linear.x = 1e200;
    plain[1].pose.position.z = 50.0;
    let mut state = StepState::default();
    state.set_bodies(&plain).unwrap();
    let before: Vec<_> = state.states().collect();
    let error = state.step(&settings(1)).unwrap_err();
    assert!(error.to_string().contains("body 5"), "{error}");
    assert!(state.states().eq(before));
    assert!(state.problem().is_none() && state.impulses().is_empty());
    plain[1].twist.linear.x = 1.0;
    state.set_bodies(&plain).unwrap();
    state.step(&settings(1)).unwrap();
}

/// Between bodies that were replaced by fewer and the next step, a joint of those that are gone bears nothing.
#[test]
fn a_joint_of_bodies_that_are_gone_bears_nothing() {
    let plain = bodies(&heap(2));
    let joint = JointSpec {
        id: JointId(0),
        bodies: [None, plain.last().map(|body| body.id)],
        kind: JointKind::Ball,
        ..JointSpec::default()
    };
    let mut state = StepState::default();
    state.set_bodies(&plain).unwrap();
    state.set_joints(vec![joint]);
    state.step(&settings(1)).unwrap();
    assert!(state.joint_reaction(JointId(0)).is_some());
    state.set_bodies(&plain[..1]).unwrap();
    assert!(state.joint_reaction(JointId(0)).is_none());
}
