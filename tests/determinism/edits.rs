//! Interactions that users change, drop and add in every step: the same bits on any number of threads, and after a snapshot of the
//! warm start through text.

use crate::support::*;
use moreau::prelude::*;
use moreau::{InteractionError, MoreauJean, WarmStart};

const STEPS: usize = 40;

fn bodies() -> Vec<Body> {
    let body = |spec: &Spec| Body {
        id: spec.id,
        kind: spec.kind,
        pose: spec.pose,
        twist: spec.twist,
        collider: Some(spec.collider.clone()),
        ..Body::default()
    };
    heap(7).iter().map(body).collect()
}

/// Every law changes, every 37th interaction is dropped, and a support is added beside every 50th, at its point.
fn edit(interactions: &mut Interactions<'_>, step: usize) -> Result<(), InteractionError> {
    let found: Vec<_> = interactions.iter().collect();
    let mut count = step;
    interactions.retain(|interaction, law| {
        count += 1;
        law.friction = 0.1 * (count % 7) as f64;
        law.restitution = 0.1 * (count % 2) as f64;
        law.surface_velocity = interaction.carried_by(BodyId(0), DVec3::X);
        !count.is_multiple_of(37)
    })?;
    for (interaction, law) in found.into_iter().step_by(50) {
        let support = Interaction {
            feature: u64::from(u32::MAX) + interaction.feature,
            normal: DVec3::Y,
            ..interaction
        };
        interactions.add(&support, law)?;
    }
    Ok(())
}

fn advance(state: &mut StepState, settings: &Settings, steps: std::ops::Range<usize>) {
    for step in steps {
        let made = state.step_by(&MoreauJean, settings, |open| edit(open, step));
        assert!(made.unwrap().contacts > 0 || step < 10);
    }
}

#[test]
fn edited_steps_give_the_same_bits_on_any_number_of_threads() {
    let mut expected = None;
    for threads in [1, 2, 4] {
        for pool in [Threads::own(), Threads::shared(threads).unwrap()] {
            let mut state = StepState::with_threads(pool);
            state.set_bodies(&bodies()).unwrap();
            advance(&mut state, &settings(threads), 0..STEPS);
            let states: Vec<_> = state.states().collect();
            let expected = expected.get_or_insert_with(|| states.clone());
            assert!(*expected == states, "{threads} threads");
        }
    }
}

#[test]
fn edited_steps_go_on_with_the_same_bits_from_a_snapshot_in_text() {
    let mut settings = settings(1);
    settings.sleeping = SleepSettings::OFF;
    let mut state = StepState::default();
    state.set_bodies(&bodies()).unwrap();
    advance(&mut state, &settings, 0..STEPS);
    let text = toml::to_string(&state.warm_start()).unwrap();
    let snapshot: WarmStart = toml::from_str(&text).unwrap();
    let mut copies = bodies();
    copies.reverse();
    for body in &mut copies {
        (body.pose, body.twist) = (state.pose(body.id).unwrap(), state.twist(body.id).unwrap());
    }
    let mut copy = StepState::default();
    copy.set_bodies(&copies).unwrap();
    copy.set_warm_start(snapshot);
    for steps in [STEPS..STEPS + 1, STEPS + 1..2 * STEPS] {
        advance(&mut state, &settings, steps.clone());
        advance(&mut copy, &settings, steps);
        assert!(state.states().eq(copy.states()));
    }
}
