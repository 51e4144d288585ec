//! **Law.** The step in a world and schedule of the user's own gives the bits of a [`Simulation`], under any executor,
//! and its systems leave no order open: a schedule that treats ambiguities as errors builds.

use crate::support::*;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{
    LogLevel, MultiThreadedExecutor, ScheduleBuildSettings, SingleThreadedExecutor,
};
use moreau::prelude::*;

const STEPS: usize = 40;

/// A world with the heap and a schedule with the step.
fn own_world(schedule: &mut Schedule) -> World {
    let mut world = World::new();
    schedule.set_build_settings(ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        ..ScheduleBuildSettings::default()
    });
    moreau::install(&mut world, schedule, settings(2)).unwrap();
    for spec in heap(4) {
        world.spawn(spec.bundle());
    }
    world
}

/// Hash of a world of the user's: that of a simulation with the same states.
fn states(world: &mut World) -> Vec<(BodyId, Pose, Twist)> {
    let mut states: Vec<(BodyId, Pose, Twist)> = world
        .query::<(&BodyId, &Pose, &Twist)>()
        .iter(world)
        .map(|(id, pose, twist)| (*id, *pose, *twist))
        .collect();
    states.sort_unstable_by_key(|(id, ..)| *id);
    states
}

#[test]
fn a_schedule_of_the_users_own_gives_the_same_bits() {
    let mut simulation = spawn(settings(2), &heap(4));
    run(&mut simulation, STEPS);
    let expected = states(simulation.world_mut());
    let mut single = Schedule::default();
    single.set_executor(SingleThreadedExecutor::new());
    let mut multi = Schedule::default();
    multi.set_executor(MultiThreadedExecutor::new());
    for mut schedule in [single, multi] {
        let mut world = own_world(&mut schedule);
        for _ in 0..STEPS {
            schedule.run(&mut world);
            assert!(world.resource::<StepOutcome>().error().is_none());
        }
        assert_eq!(states(&mut world), expected);
        assert_eq!(world.resource::<StepReport>().step, STEPS as u64);
    }
}

#[test]
fn systems_of_the_user_may_be_ordered_against_the_phases() {
    #[derive(Resource, Default)]
    struct Seen(Vec<(u64, usize)>);
    fn after(report: Res<StepReport>, contacts: Res<Contacts>, mut seen: ResMut<Seen>) {
        seen.0.push((report.step, contacts.0.len()));
    }
    fn push(mut bodies: Query<(&RigidBody, &mut Wrench)>) {
        for (kind, mut wrench) in &mut bodies {
            if *kind == RigidBody::Dynamic {
                wrench.force.x = 1.0;
            }
        }
    }
    let mut schedule = Schedule::default();
    let mut world = own_world(&mut schedule);
    world.init_resource::<Seen>();
    schedule.add_systems((
        push.before(StepPhase::Gather),
        after.after(StepPhase::Commit),
    ));
    for _ in 0..3 {
        schedule.run(&mut world);
    }
    let seen = &world.resource::<Seen>().0;
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2].0, 3);
}
