//! **Law.** Between detection and solve the interactions of a step are the user's to change, and the step obeys: a contact whose
//! surface runs carries a body along, one without friction lets it slide, one that is dropped lets it pass, one that is added holds.
//!
//! A belt at velocity `w` is the offset `−w` in the tangential rows. A box that is put on it slips, and gains `h μ g` a step
//! until it has the velocity of the belt; then it sticks to it. Velocities of the scheme are exact here: tolerances come from the
//! solver's 1e-11 of `g h`, times the number of steps.

use crate::support::*;
use bevy_ecs::prelude::{BevyError, IntoScheduleConfigs, Res, ResMut, Resource};
use moreau::InteractionError;

const MU: f64 = 0.5;
const TOLERANCE: f64 = 1e-9;

/// A flat box, which friction at its foot does not tilt.
fn flat_box(id: u64, x: f64) -> Body {
    Body {
        id: BodyId(id),
        pose: Pose::at(x, 0.0, 0.1),
        collider: Some(Collider::cuboid(0.5, 0.4, 0.1)),
        ..Body::default()
    }
}

fn floor(id: u64) -> Body {
    Body {
        id: BodyId(id),
        kind: RigidBody::Static,
        collider: Some(Collider::half_space(DVec3::Z)),
        ..Body::default()
    }
}

fn with_bodies(bodies: &[Body]) -> StepState {
    let mut state = StepState::default();
    state.set_bodies(bodies).unwrap();
    state
}

/// One step with other laws, and interactions dropped where `keep` is false.
fn step_with(
    state: &mut StepState,
    keep: impl FnMut(&Interaction, &mut InteractionLaw) -> bool + Send,
) -> StepReport {
    let report = state.step_by(&moreau::MoreauJean, &reference(), |i| i.retain(keep));
    report.unwrap()
}

/// The box has the lower id, and the higher one: it is body A, and body B, of its contacts.
#[test]
fn a_conveyor_starts_a_box_with_its_friction_and_carries_it_at_its_own_speed() {
    let h = reference().time_step;
    for belt in [0, 9] {
        let mut state = with_bodies(&[floor(belt), flat_box(5, 0.0)]);
        let speed = DVec3::new(0.6, -0.8, 0.0);
        let carry = |state: &mut StepState| {
            let report = step_with(state, |interaction, law| {
                law.surface_velocity = interaction.carried_by(BodyId(belt), speed);
                true
            });
            assert!(report.converged && report.contacts == 4);
            state.twist(BodyId(5)).unwrap().linear
        };
        let starts = (1.0 / (MU * G * h)) as usize;
        for step in 1..=starts {
            let v = carry(&mut state);
            let expected = speed * (step as f64 * h * MU * G);
            assert!(
                (v - expected).length() <= TOLERANCE,
                "{step}: {v}, {expected}"
            );
        }
        for _ in 0..100 {
            carry(&mut state);
        }
        let start = state.pose(BodyId(5)).unwrap().position;
        for step in 1..=100 {
            let v = carry(&mut state);
            assert!((v - speed).length() <= TOLERANCE, "{step}: {v}");
        }
        let gone = state.pose(BodyId(5)).unwrap().position - start;
        assert!((gone - speed * (100.0 * h)).length() <= 100.0 * TOLERANCE);
        for contact in state.contacts() {
            assert_eq!(contact.status, ContactStatus::Stick);
        }
    }
}

#[test]
fn a_dropped_interaction_lets_a_body_fall_through() {
    let h = reference().time_step;
    let mut state = with_bodies(&[floor(0), flat_box(1, 0.0), flat_box(2, 3.0)]);
    for step in 1..=40 {
        step_with(&mut state, |interaction, _| {
            !interaction.bodies.contains(&BodyId(1))
        });
        let fallen = state.twist(BodyId(1)).unwrap().linear.z;
        assert!((fallen + step as f64 * G * h).abs() <= TOLERANCE);
        let other = state.pose(BodyId(2)).unwrap().position.z;
        assert!((other - 0.1).abs() <= TOLERANCE, "the other is at {other}");
    }
    // Not pushed out by projection either: ½ g t², and overlap only with the floor that it passes.
    let t = 40.0 * h;
    let z = state.pose(BodyId(1)).unwrap().position.z;
    assert!((z - (0.1 - 0.5 * G * t * t)).abs() <= TOLERANCE, "{z}");
}

#[test]
fn other_friction_lets_a_body_slide_and_stops_it() {
    let h = reference().time_step;
    let mut sliding = flat_box(1, 0.0);
    sliding.twist = Twist::linear(1.0, 0.0, 0.0);
    let mut state = with_bodies(&[floor(0), sliding]);
    let mut expected = 1.0;
    for friction in [0.0, 0.1, 0.3] {
        for _ in 0..10 {
            step_with(&mut state, |_, law| {
                assert!((law.friction - MU).abs() <= f64::EPSILON);
                law.friction = friction;
                true
            });
            expected -= friction * G * h;
            let v = state.twist(BodyId(1)).unwrap().linear.x;
            assert!((v - expected).abs() <= TOLERANCE, "{v}, {expected}");
        }
        assert!(
            state
                .contacts()
                .iter()
                .all(|c| (c.friction - friction).abs() <= 0.0)
        );
    }
}

/// The forecast rule imposes the law of some interactions alone: each keeps its own all the same. Of two balls at rest and one
/// above the ground, the last has no law, and one of the others slides without friction.
#[test]
fn laws_stay_with_their_interactions_where_some_are_not_imposed() {
    let settings = Settings {
        activation: moreau::Activation::Forecast {
            gamma: 0.5,
            threshold: 0.0,
            approaching_only: false,
        },
        ..reference()
    };
    let ball = |id, x, z| Body {
        id: BodyId(id),
        pose: Pose::at(x, 0.0, z),
        twist: Twist::linear(0.0, 1.0, 0.0),
        collider: Some(Collider::sphere(0.5)),
        ..Body::default()
    };
    let above = 0.5 + 0.5 * settings.margin * 0.5;
    let mut state = with_bodies(&[
        floor(0),
        ball(1, 0.0, above),
        ball(2, 2.0, 0.5),
        ball(3, 4.0, 0.5),
    ]);
    let mut found = 0;
    let report = state.step_by(&moreau::MoreauJean, &settings, |interactions| {
        found = interactions.len();
        interactions.retain(|interaction, law| {
            if interaction.bodies[1] == BodyId(3) {
                law.friction = 0.0;
            }
            true
        })
    });
    assert_eq!((found, report.unwrap().contacts), (3, 2));
    let speed = |id| state.twist(BodyId(id)).unwrap().linear.y;
    let braked = MU * G * settings.time_step;
    assert!((speed(1) - 1.0).abs() <= TOLERANCE);
    assert!(
        (speed(2) - (1.0 - braked)).abs() <= TOLERANCE,
        "{}",
        speed(2)
    );
    assert!((speed(3) - 1.0).abs() <= TOLERANCE);
    let frictions: Vec<f64> = state.contacts().iter().map(|c| c.friction).collect();
    assert_eq!(frictions, [MU, 0.0]);
}

#[test]
fn other_restitution_lets_a_ball_bounce() {
    let ball = Body {
        id: BodyId(1),
        pose: Pose::at(0.0, 0.0, 0.5),
        twist: Twist::linear(0.0, 0.0, -2.0),
        collider: Some(Collider::sphere(0.5)),
        ..Body::default()
    };
    for restitution in [0.25, 0.5, 1.0] {
        let mut state = with_bodies(&[floor(0), ball.clone()]);
        step_with(&mut state, |_, law| {
            law.restitution = restitution;
            true
        });
        let v = state.twist(BodyId(1)).unwrap().linear.z;
        assert!((v - 2.0 * restitution).abs() <= TOLERANCE, "{v}");
    }
}

/// A ball in the air, held by an interaction with the ground far below it that no shape makes.
#[test]
fn an_added_interaction_acts() {
    let ball = Body {
        id: BodyId(4),
        pose: Pose::at(0.0, 0.0, 5.0),
        collider: Some(Collider::sphere(0.5)),
        ..Body::default()
    };
    let mut state = with_bodies(&[floor(0), ball]);
    let settings = reference();
    for step in 0..20 {
        let report = state.step_by(&moreau::MoreauJean, &settings, |interactions| {
            assert!(interactions.is_empty());
            let support = Interaction {
                // The normal points from the second to the first.
                bodies: [BodyId(4), BodyId(0)],
                entities: [Entity::PLACEHOLDER; 2],
                feature: 77,
                point: DVec3::new(0.0, 0.0, 4.5),
                normal: DVec3::Z,
                gap: 0.0,
            };
            let law = InteractionLaw {
                friction: 0.2,
                restitution: 0.0,
                surface_velocity: DVec3::ZERO,
                ..InteractionLaw::default()
            };
            interactions.add(&support, law)?;
            assert_eq!(interactions.len(), 1);
            Ok(())
        });
        assert_eq!(report.unwrap().closed_contacts, 1, "step {step}");
        let (pose, twist) = (state.pose(BodyId(4)), state.twist(BodyId(4)));
        assert!((pose.unwrap().position.z - 5.0).abs() <= TOLERANCE);
        assert!(twist.unwrap().linear.length() <= TOLERANCE);
    }
    let [contact] = &state.contacts()[..] else {
        panic!("{} contacts", state.contacts().len());
    };
    assert_eq!(contact.bodies, [BodyId(0), BodyId(4)]);
    assert_eq!(contact.frame.x_axis, -DVec3::Z);
    // Left alone it falls.
    state.step(&settings).unwrap();
    assert!(state.twist(BodyId(4)).unwrap().linear.z < 0.0);
}

/// A ball that is held at its side turns about it: `r = m g h/(1 + ρ²/j²)` with `j² = 2R²/5`, `v = −g h + r/m`, `ω = ρ × r/I`.
/// It holds at the point that was given, on the surface of the ball or not.
#[test]
fn an_added_interaction_acts_at_its_point() {
    let forecast = moreau::Activation::Forecast {
        gamma: 0.5,
        threshold: 0.0,
        approaching_only: false,
    };
    let chosen = Settings {
        activation: forecast,
        ..reference()
    };
    let gh = G * chosen.time_step;
    let cases = [(0, 0.5), (9, 0.5), (0, 0.2), (9, 1.5)];
    let all = [reference(), chosen].map(|settings| cases.map(|case| (settings, case)));
    for (settings, (ground, arm)) in all.into_iter().flatten() {
        let ball = Body {
            id: BodyId(4),
            pose: Pose::at(3.0, 0.0, 5.0),
            collider: Some(Collider::sphere(0.5)),
            ..Body::default()
        };
        // Another one above the ground comes first among what is found: the forecast leaves it out.
        let above = Body {
            id: BodyId(3),
            pose: Pose::at(9.0, 0.0, 0.5 + 0.25 * chosen.margin),
            twist: Twist::linear(0.0, 0.0, 1.0),
            collider: Some(Collider::sphere(0.5)),
            ..Body::default()
        };
        let mut state = with_bodies(&[floor(ground), above, ball]);
        let held = 1.0 / (1.0 + arm * arm / 0.1);
        let report = state.step_by(&moreau::MoreauJean, &settings, |interactions| {
            let support = Interaction {
                bodies: [BodyId(4), BodyId(ground)],
                entities: [Entity::PLACEHOLDER; 2],
                feature: 77,
                point: DVec3::new(3.0 + arm, 0.0, 5.0),
                normal: DVec3::Z,
                gap: 0.0,
            };
            let law = InteractionLaw {
                friction: 0.0,
                restitution: 0.0,
                surface_velocity: DVec3::ZERO,
                ..InteractionLaw::default()
            };
            interactions.add(&support, law)?;
            // Looking at all of them changes nothing.
            interactions.retain(|_, _| true)
        });
        assert!(report.unwrap().converged);
        let twist = state.twist(BodyId(4)).unwrap();
        let expected = [
            DVec3::Z * (gh * (held - 1.0)),
            DVec3::Y * (-arm * gh * held / 0.1),
        ];
        assert!(
            (twist.linear - expected[0]).length() <= TOLERANCE,
            "{arm}: {twist:?}"
        );
        assert!(
            (twist.angular - expected[1]).length() <= TOLERANCE,
            "{arm}: {twist:?}"
        );
        let own = |contact: &&ContactView| contact.bodies.contains(&BodyId(4));
        let contact = state.contacts().iter().find(own).unwrap();
        assert!(
            contact.local_velocity.length() <= TOLERANCE,
            "{:?}",
            contact.local_velocity
        );
    }
}

#[test]
fn laws_out_of_range_are_refused_and_change_nothing() {
    let mut state = with_bodies(&[floor(0), flat_box(1, 0.0)]);
    let mut control = with_bodies(&[floor(0), flat_box(1, 0.0)]);
    type Spoil = fn(&mut InteractionLaw);
    let laws: [(Spoil, &str); 5] = [
        (
            |law| law.friction = -0.1,
            "friction is -0.1, expected in [0, 1e3]",
        ),
        (|law| law.friction = f64::INFINITY, "friction is inf"),
        (
            |law| law.restitution = 1.5,
            "restitution is 1.5, expected in [0, 1]",
        ),
        (|law| law.restitution = f64::NAN, "restitution is NaN"),
        (
            |law| law.surface_velocity.y = f64::NAN,
            "surface velocity is NaN",
        ),
    ];
    for (spoil, named) in laws {
        let result = state.step_by(&moreau::MoreauJean, &reference(), |interactions| {
            interactions.retain(|_, law| {
                spoil(law);
                true
            })
        });
        let error = result.unwrap_err();
        assert!(matches!(error, StepError::Interaction(_)));
        assert!(error.to_string().contains(named), "{error}");
        // A user who goes on after the error has the interactions as they were.
        let report = state.step_by(&moreau::MoreauJean, &reference(), |interactions| {
            let refused = interactions.retain(|_, law| {
                spoil(law);
                true
            });
            assert!(refused.is_err());
            Ok(())
        });
        assert_eq!(report.unwrap().contacts, 4);
        control.step(&reference()).unwrap();
        assert!(state.states().eq(control.states()));
    }
}

#[test]
fn interactions_that_cannot_be_are_refused() {
    let mut state = with_bodies(&[floor(0), floor(1), flat_box(2, 0.0)]);
    let sound = Interaction {
        bodies: [BodyId(0), BodyId(2)],
        entities: [Entity::PLACEHOLDER; 2],
        feature: 1,
        point: DVec3::ZERO,
        normal: DVec3::Z,
        gap: 0.0,
    };
    let law = InteractionLaw {
        friction: 0.0,
        restitution: 0.0,
        surface_velocity: DVec3::ZERO,
        ..InteractionLaw::default()
    };
    let refused = |error: Result<_, InteractionError>, named: &str| {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    };
    refused(
        state.interactions().add(&sound, law),
        "between detection and solve",
    );
    refused(
        state
            .interactions()
            .retain(|_, _| true)
            .map(|()| unreachable()),
        "between detection and solve",
    );
    let report = state.step_by(&moreau::MoreauJean, &reference(), |interactions| {
        let with = |bodies| Interaction { bodies, ..sound };
        refused(
            interactions.add(&with([BodyId(0), BodyId(8)]), law),
            "no body 8",
        );
        refused(
            interactions.add(&with([BodyId(0), BodyId(1)]), law),
            "moves no body",
        );
        refused(
            interactions.add(&with([BodyId(2), BodyId(2)]), law),
            "moves no body",
        );
        let normal = DVec3::Z * 1.01;
        refused(
            interactions.add(&Interaction { normal, ..sound }, law),
            "normal length is 1.01",
        );
        let gap = f64::NAN;
        refused(
            interactions.add(&Interaction { gap, ..sound }, law),
            "gap is NaN",
        );
        let bad = InteractionLaw {
            friction: -1.0,
            ..law
        };
        refused(interactions.add(&sound, bad), "friction is -1");
        Ok(())
    });
    assert_eq!(report.unwrap().contacts, 8);
}

/// Bodies that sleep have no interactions, with the ground as little as with one another: the error names the sleeper.
#[test]
fn an_interaction_of_a_sleeping_body_is_refused_by_name() {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let mut state = with_bodies(&[floor(0), flat_box(1, 0.0), flat_box(2, 3.0)]);
    let mut steps = 0;
    while state.report().sleeping < 2 {
        state.step(&settings).unwrap();
        steps += 1;
        assert!(steps < 1000);
    }
    for other in [0, 2] {
        let result = state.step_by(&moreau::MoreauJean, &settings, |interactions| {
            let support = Interaction {
                bodies: [BodyId(1), BodyId(other)],
                entities: [Entity::PLACEHOLDER; 2],
                feature: 1,
                point: DVec3::ZERO,
                normal: DVec3::Z,
                gap: 0.0,
            };
            let law = InteractionLaw {
                friction: 0.0,
                restitution: 0.0,
                surface_velocity: DVec3::ZERO,
                ..InteractionLaw::default()
            };
            interactions.add(&support, law).map(|_| ())
        });
        let expected = StepError::Interaction(InteractionError::Asleep { id: BodyId(1) });
        assert_eq!(result.unwrap_err(), expected);
    }
}

fn unreachable() -> moreau::InteractionIndex {
    panic!("interactions were open")
}

/// The same in a world: a system within [`StepPhase::Edit`].
#[derive(Resource)]
struct Belt(Entity, DVec3);

fn run_belt(belt: Res<Belt>, mut step: ResMut<StepState>) {
    let edited = step.interactions().retain(|interaction, law| {
        law.surface_velocity = match interaction.entities {
            [_, b] if b == belt.0 => belt.1,
            [a, _] if a == belt.0 => -belt.1,
            _ => DVec3::ZERO,
        };
        true
    });
    edited.unwrap();
}

#[test]
fn a_system_of_the_user_runs_a_belt() {
    let mut simulation = Simulation::new(reference()).unwrap();
    let belt = ground(&mut simulation, Material::default());
    let spec = flat_box(0, 0.0);
    let cargo = (RigidBody::Dynamic, spec.pose, spec.collider.unwrap());
    let cargo = simulation.spawn(cargo).unwrap();
    let speed = DVec3::new(0.3, 0.0, 0.0);
    simulation.world_mut().insert_resource(Belt(belt, speed));
    simulation
        .schedule_mut()
        .add_systems(run_belt.in_set(StepPhase::Edit));
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    let v = simulation.twist(cargo).unwrap().linear;
    assert!((v - speed).length() <= TOLERANCE, "{v}");
}

/// **Law.** A belt carries what lies on it, however slowly it runs: nothing comes to rest on it. Where it stands, things sleep.
#[test]
fn what_lies_on_a_slow_belt_does_not_fall_asleep() {
    for velocity in [0.0, 1e-4, 1e-3, 9e-3] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let belt = ground(&mut simulation, Material::default());
        let cube = Collider::cuboid(0.1, 0.1, 0.1);
        let [lower, upper] = [0.1, 0.3].map(|z| {
            let cube = (RigidBody::Dynamic, cube.clone(), Pose::at(0.0, 0.0, z));
            simulation.spawn(cube).unwrap()
        });
        let speed = DVec3::new(velocity, 0.0, 0.0);
        simulation.world_mut().insert_resource(Belt(belt, speed));
        simulation
            .schedule_mut()
            .add_systems(run_belt.in_set(StepPhase::Edit));
        while simulation.time() < 5.0 {
            assert!(simulation.step().unwrap().converged);
        }
        let asleep = [lower, upper].map(|cube| simulation.is_sleeping(cube));
        assert_eq!(asleep, [velocity == 0.0; 2], "at {velocity} m/s");
        // It has the velocity of the belt from the first step on, within which it may start late.
        let way = velocity * simulation.time();
        let late = velocity * simulation.settings().time_step;
        for cube in [lower, upper] {
            let x = simulation.pose(cube).unwrap().position.x;
            assert!((x - way).abs() <= late + TOLERANCE, "{x} m of {way}");
        }
    }
}

/// A step that failed has no interactions: systems of the user in [`StepPhase::Edit`] do not run in it, and an error of theirs that
/// says so takes no program down. The next step that succeeds has them again.
#[test]
fn a_failed_step_does_not_run_the_users_edits() {
    #[derive(Resource, Default)]
    struct Runs(usize);
    fn ice(mut runs: ResMut<Runs>, mut step: ResMut<StepState>) -> Result<(), BevyError> {
        runs.0 += 1;
        step.interactions().retain(|_, law| {
            law.friction = 0.0;
            true
        })?;
        Ok(())
    }
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    let ball = (RigidBody::Dynamic, Collider::sphere(0.5));
    let ball = simulation.spawn((ball, Pose::at(0.0, 0.0, 0.5))).unwrap();
    simulation.world_mut().init_resource::<Runs>();
    simulation
        .schedule_mut()
        .add_systems(ice.in_set(StepPhase::Edit));
    simulation.step().unwrap();
    simulation.set(ball, Pose::at(f64::NAN, 0.0, 0.5));
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::Body { .. }), "{error}");
    simulation.set(ball, Pose::at(0.0, 0.0, 0.5));
    simulation.step().unwrap();
    assert_eq!(simulation.world().resource::<Runs>().0, 2);
}
