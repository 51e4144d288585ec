//! **Law.** The phases of a step are done one after the other, and what a system of the user does between two of them is
//! not lost: it acts in the phases that follow, or it is a change for the next step.

use crate::support::*;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::MultiThreadedExecutor;
use moreau::prelude::*;

/// A world with the heap, and a schedule with the step.
fn own_world() -> (World, Schedule) {
    let (mut world, mut schedule) = (World::new(), Schedule::default());
    schedule.set_executor(MultiThreadedExecutor::new());
    moreau::install(&mut world, &mut schedule, settings(2)).unwrap();
    for spec in heap(3) {
        world.spawn(spec.bundle());
    }
    (world, schedule)
}

#[test]
fn systems_in_a_set_run_after_all_of_the_sets_before() {
    #[derive(Resource, Default)]
    struct Order(Vec<&'static str>);
    fn note(name: &'static str) -> impl FnMut(ResMut<Order>, Query<&Pose>) {
        move |mut order, _| order.0.push(name)
    }
    let (mut world, mut schedule) = own_world();
    world.init_resource::<Order>();
    // In the reverse of their order.
    schedule.add_systems((
        note("commit").in_set(StepPhase::Commit),
        note("integrate").in_set(StepPhase::Integrate),
        note("between")
            .after(StepPhase::Solve)
            .before(StepPhase::Integrate),
        note("solve").in_set(StepPhase::Solve),
        note("edit").in_set(StepPhase::Edit),
        note("detect").in_set(StepPhase::Detect),
        note("gather").in_set(StepPhase::Gather),
    ));
    schedule.run(&mut world);
    let expected = [
        "gather",
        "detect",
        "edit",
        "solve",
        "between",
        "integrate",
        "commit",
    ];
    assert_eq!(world.resource::<Order>().0, expected);
}

#[test]
fn interactions_are_open_between_detection_and_solve_alone() {
    #[derive(Resource, Default)]
    struct Counts(Vec<usize>);
    fn count(mut counts: ResMut<Counts>, mut step: ResMut<StepState>) {
        counts.0.push(step.interactions().len());
    }
    let (mut world, mut schedule) = own_world();
    world.init_resource::<Counts>();
    schedule.add_systems((
        count.after(StepPhase::Gather).before(StepPhase::Detect),
        count.in_set(StepPhase::Edit),
        count.after(StepPhase::Solve).before(StepPhase::Integrate),
        count.after(StepPhase::Commit),
    ));
    let mut compared = 0;
    for _ in 0..30 {
        schedule.run(&mut world);
        let counts = &world.resource::<Counts>().0;
        let step = &counts[counts.len() - 4..];
        assert_eq!([step[0], step[2], step[3]], [0; 3]);
        // Rounds exchange contacts after the edit.
        if step[1] > 0 && world.resource::<StepReport>().rounds == 0 {
            assert_eq!(step[1], world.resource::<Contacts>().0.len());
            compared += 1;
        }
    }
    assert!(compared > 0);
}

/// What a user's system writes to a body in the middle of a step, in each place of it.
#[test]
fn components_written_within_a_step_are_where_the_next_one_starts_from() {
    #[derive(Resource)]
    struct Change(Entity, bool);
    const AT: Pose = Pose {
        position: DVec3::new(50.0, 0.0, 20.0),
        orientation: DQuat::IDENTITY,
    };
    fn write(
        mut change: ResMut<Change>,
        mut bodies: Query<(&mut Pose, &mut Twist, &mut Wrench, &mut Material)>,
    ) {
        if std::mem::take(&mut change.1) {
            let (mut pose, mut twist, mut wrench, mut material) = bodies.get_mut(change.0).unwrap();
            *pose = AT;
            *twist = Twist::linear(3.0, 0.0, 0.0);
            wrench.force = DVec3::X;
            material.friction = 0.125;
        }
    }
    let places: [fn(&mut Schedule); 3] = [
        |schedule| {
            schedule.add_systems(write.after(StepPhase::Gather).before(StepPhase::Detect));
        },
        |schedule| {
            schedule.add_systems(write.in_set(StepPhase::Edit));
        },
        |schedule| {
            schedule.add_systems(write.after(StepPhase::Integrate).before(StepPhase::Commit));
        },
    ];
    for place in places {
        // In the first step, in which bodies are new, and in a later one.
        for before in [0, 5] {
            let (mut world, mut schedule) = own_world();
            let mut query = world.query::<(Entity, &BodyId)>();
            let bodies = query.iter(&world);
            let mut bodies = bodies.filter(|(_, id)| id.0 == 8).map(|(body, _)| body);
            let body = bodies.next().unwrap();
            drop(bodies);
            world.insert_resource(Change(body, false));
            place(&mut schedule);
            for _ in 0..before {
                schedule.run(&mut world);
            }
            world.resource_mut::<Change>().1 = true;
            let untouched: Vec<Pose> = poses(&mut world, body);
            schedule.run(&mut world);
            assert!(world.resource::<StepOutcome>().error().is_none());
            assert_eq!(world.get::<Pose>(body), Some(&AT));
            assert_eq!(
                world.get::<Twist>(body),
                Some(&Twist::linear(3.0, 0.0, 0.0))
            );
            assert_ne!(untouched, poses(&mut world, body), "the others move");
            // The next step starts from there: a free flight, far from all others.
            schedule.run(&mut world);
            let settings = world.resource::<Settings>();
            let (h, g) = (settings.time_step, settings.gravity);
            let mass = world.get::<Mass>(body).unwrap().mass();
            let expected = DVec3::X * 3.0 + (g + DVec3::X / mass) * h;
            let v = world.get::<Twist>(body).unwrap().linear;
            assert!((v - expected).length() <= 1e-14, "{v} {expected}");
            let moved = world.get::<Pose>(body).unwrap().position - AT.position;
            assert!((moved - (DVec3::X * 3.0 + expected) * (0.5 * h)).length() <= 1e-13);
        }
    }
}

fn poses(world: &mut World, except: Entity) -> Vec<Pose> {
    let mut query = world.query::<(Entity, &Pose)>();
    let others = query.iter(world).filter(|(body, _)| *body != except);
    others.map(|(_, pose)| *pose).collect()
}

#[test]
fn users_of_install_have_the_problem_and_its_solution() {
    let (mut world, mut schedule) = own_world();
    let mut simulation = spawn(settings(2), &heap(3));
    assert!(world.resource::<StepState>().problem().is_none());
    for _ in 0..20 {
        schedule.run(&mut world);
        simulation.step().unwrap();
    }
    let state = world.resource::<StepState>();
    let (own, expected) = (state.problem().unwrap(), simulation.problem().unwrap());
    assert_eq!(own.contacts, expected.contacts);
    assert_eq!(own.free_twist, expected.free_twist);
    assert!(!state.impulses().is_empty());
    assert_eq!(state.impulses(), simulation.impulses());
    assert_eq!(state.warm_start(), simulation.state().unwrap().warm_start());
}

#[test]
fn a_second_installation_is_refused() {
    let (mut world, mut schedule) = own_world();
    schedule.run(&mut world);
    let systems = schedule.systems_len();
    let error = moreau::install(&mut world, &mut schedule, Settings::default()).unwrap_err();
    assert_eq!(error, StepError::AlreadyInstalled);
    assert_eq!(schedule.systems_len(), systems);
    assert_eq!(*world.resource::<Settings>(), settings(2));
    let report = *world.resource::<StepReport>();
    schedule.run(&mut world);
    assert_eq!(world.resource::<StepReport>().step, report.step + 1);
}

/// Views of a step that are kept are those of that step, whatever comes later, and cost the others no bits.
#[test]
fn contacts_that_are_kept_stay_as_they_were() {
    let mut simulation = spawn(settings(1), &heap(3));
    let mut control = spawn(settings(1), &heap(3));
    let mut kept = Vec::new();
    for _ in 0..40 {
        simulation.step().unwrap();
        control.step().unwrap();
        let contacts = simulation.world().resource::<Contacts>().clone();
        kept.push((control.contacts().to_vec(), contacts));
    }
    for (expected, contacts) in kept {
        assert_eq!(contacts.0[..], expected[..]);
    }
    simulation.world_mut().insert_resource(Contacts::default());
    simulation.step().unwrap();
    control.step().unwrap();
    assert_eq!(simulation.state_hash(), control.state_hash());
}
