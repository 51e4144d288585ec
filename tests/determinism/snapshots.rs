//! **Law.** A simulation that is restored from a snapshot makes the steps that followed it, to the last bit: in a new world and in the old one, on any
//! number of threads, through bytes, from any moment.
//!
//! Compared are the states, and of every report all that is no time: energies, residuals, sweeps, contacts.

use crate::support::{heap, spawn};
use bevy_ecs::entity::Entity;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::Component;
use glam::DVec3;
use moreau::prelude::*;
use moreau::{Coupler, ForceLaw, LinearForce, PointSpring, StepTiming};
use moreau_demos::{built_in, list};
use rayon::prelude::*;

/// Small forms of the built-in scenes, steps between snapshots, and steps after each.
const SMALL: [(&str, usize, usize); 39] = [
    ("pour:n=60,radius=0.01", 25, 25),
    ("stack:n=6", 20, 20),
    ("pyramid:n=6", 20, 20),
    ("wall:nx=4,ny=4", 20, 20),
    ("arch:voussoirs=7", 20, 20),
    ("incline:f=1.2", 20, 20),
    ("pinch", 20, 20),
    ("bridge:n=6", 50, 20),
    ("slider-crank", 30, 20),
    ("gripper", 20, 20),
    ("crane:links=4", 20, 20),
    ("net:n=5", 40, 10),
    ("ragdolls:n=2", 50, 20),
    ("humanoid", 20, 10),
    ("quadruped:n=2", 20, 10),
    ("anymal:n=2", 20, 10),
    ("arm-in-pile:n=300", 20, 10),
    ("mass-ratio:n=4,ratio=100", 20, 10),
    ("bounce:height=0.02", 20, 20),
    ("top", 20, 20),
    ("mixed:layers=2", 30, 15),
    ("pile:n=32", 22, 15),
    ("pile:shape=cones,n=32", 22, 15),
    ("pile:shape=U,n=18", 22, 15),
    ("sphere_pour:n=1000", 35, 15),
    ("box_pyramid:n=20", 12, 8),
    ("wall_20x20", 12, 8),
    ("rolling", 12, 12),
    ("bouncing", 500, 40),
    ("pile_666", 35, 20),
    ("elastic_666", 250, 20),
    ("kapla_tower", 12, 12),
    ("sphere_pour:n=8000", 16, 4),
    ("pendulum:n=5", 50, 20),
    ("chain:n=12,ratio=100", 50, 20),
    ("fourbar", 50, 20),
    ("stewart", 20, 20),
    ("sphere_pour:n=32000", 2, 1),
    ("box_pyramid:n=40", 2, 2),
];

fn without_times(report: StepReport) -> StepReport {
    StepReport {
        timing: StepTiming::default(),
        ..report
    }
}

/// The reports of some steps, bit by bit, and the state at the end.
type Course = (Vec<String>, u64);

/// Of a float `Debug` prints the shortest digits that read back to its bits.
fn line(report: StepReport) -> String {
    format!("{:?}", without_times(report))
}

fn steps(simulation: &mut Simulation, count: usize) -> Course {
    let reports = (0..count).map(|_| line(simulation.step().unwrap()));
    (reports.collect(), simulation.state_hash())
}

fn scene_steps(run: &mut SceneRun, count: usize) -> Course {
    let reports = (0..count).map(|_| line(run.step().unwrap()));
    (reports.collect(), run.simulation.state_hash())
}

fn started(scene: &Scene, threads: usize) -> SceneRun {
    let mut scene = scene.clone();
    scene.settings.threads = threads;
    scene.settings.advanced.parallel_from = Some(0);
    scene.settings.advanced.max_sweeps = Some(60);
    scene.settings.advanced.max_factorizations = Some(4);
    scene.start().unwrap()
}

fn set_threads(simulation: &mut Simulation, threads: usize) {
    let settings = Settings {
        threads,
        ..simulation.settings()
    };
    simulation.set_settings(settings).unwrap();
}

/// Snapshots at two moments, restored into new worlds on one and two threads and into the old one.
fn check(spec: &str, scene: &Scene, between: usize, after: usize) {
    let mut run = started(scene, 2);
    for moment in 1..=2 {
        scene_steps(&mut run, between);
        let snapshot = run.snapshot().unwrap();
        let bytes = snapshot.to_bytes().unwrap();
        let expected = scene_steps(&mut run, after);
        let read = Snapshot::from_bytes(&bytes).unwrap();
        for threads in [1, 2] {
            let mut fresh = SceneRun::from_snapshot(&read).unwrap();
            set_threads(&mut fresh.simulation, threads);
            if threads == 2 {
                let again = fresh.snapshot().unwrap().to_bytes().unwrap();
                assert!(again == bytes, "{spec}: the bytes of a restored run");
            }
            let found = scene_steps(&mut fresh, after);
            assert_eq!(
                found, expected,
                "{spec}: new, {threads} threads, moment {moment}"
            );
        }
        run.restore(&snapshot).unwrap();
        let found = scene_steps(&mut run, after);
        assert_eq!(found, expected, "{spec}: rewound at moment {moment}");
    }
}

#[test]
fn restored_runs_of_all_built_in_scenes_have_the_bits_of_the_uninterrupted_ones() {
    for (spec, between, after) in SMALL {
        check(spec, &built_in(spec).unwrap(), between, after);
    }
}

#[test]
fn no_built_in_scene_is_left_out() {
    let name = |spec: &'static str| spec.split(':').next().unwrap_or(spec);
    let covered: Vec<_> = SMALL.iter().map(|(spec, ..)| name(spec)).collect();
    assert!(list().iter().all(|scene| covered.contains(&scene.name)));
}

#[test]
fn emitters_go_on_where_they_were() {
    let text = include_str!("../../demos/scenes/funnel.toml");
    let scene = Scene::from_toml(text, "funnel.toml").unwrap();
    check("funnel", &scene, 100, 60);
}

/// A body for the story below.
fn entity(simulation: &mut Simulation, id: u64) -> Entity {
    let mut query = simulation.world_mut().query::<(Entity, &BodyId)>();
    let mut bodies = query.iter(simulation.world());
    bodies.find(|(_, found)| found.0 == id).unwrap().0
}

/// What a user does between two steps, by the number of the step.
fn meddle(step: usize, simulation: &mut Simulation) -> bool {
    let body = |simulation: &mut Simulation, k: u64| entity(simulation, 5 + 3 * k);
    match step {
        220 => {
            let ground = entity(simulation, 0);
            simulation.set(ground, Pose::at(0.0, 0.0, -0.02));
        }
        260 => {
            let sleeper = body(simulation, 3);
            simulation.set(sleeper, Pose::at(0.0, 0.0, 1.0));
        }
        300 => {
            let heavy = body(simulation, 5);
            simulation.set(heavy, Material::with_friction(0.05));
        }
        340 => {
            let gone = body(simulation, 0);
            simulation.despawn(gone);
        }
        380 => {
            let woken = body(simulation, 7);
            simulation.wake(woken);
        }
        420 => {
            let new = (
                RigidBody::Dynamic,
                Collider::sphere(0.1),
                Pose::at(0.1, 0.1, 0.6),
            );
            simulation.spawn(new).unwrap();
        }
        440 => {
            let pushed = body(simulation, 9);
            let wrench = Wrench {
                force: DVec3::new(3.0, 0.0, 0.0),
                ..Wrench::default()
            };
            simulation.set(pushed, wrench);
        }
        460 => {
            let calm = body(simulation, 9);
            simulation.set(calm, Wrench::default());
        }
        480 => {
            let laid = body(simulation, 11);
            simulation.set(laid, Sleeping);
        }
        500 => {
            let settings = Settings {
                gravity: DVec3::new(0.5, 0.0, -9.81),
                ..simulation.settings()
            };
            simulation.set_settings(settings).unwrap();
        }
        520 => {
            let other = body(simulation, 13);
            simulation.set(other, Collider::cuboid(0.05, 0.06, 0.07));
        }
        540 => {
            let kinematic = body(simulation, 14);
            simulation.set(kinematic, RigidBody::Kinematic);
            simulation
                .move_to(kinematic, Pose::at(0.3, 0.3, 0.5))
                .unwrap();
        }
        560 => {
            let swapped = body(simulation, 15);
            simulation.set(swapped, BodyId(2));
        }
        _ => return false,
    }
    true
}

/// Snapshots right after a user changed something, and on the way between sleep and wake.
#[test]
fn snapshots_hold_what_was_changed_since_the_last_step() {
    let settings = Settings {
        threads: 1,
        sleeping: SleepSettings {
            enabled: Some(true),
            linear: 0.05,
            angular: 1.0,
            residual: Some(1.0),
            time: 0.1,
        },
        ..Settings::default()
    };
    let mut simulation = spawn(settings, &heap(3));
    let mut forks: Vec<(usize, Simulation, Course)> = Vec::new();
    let (mut slept, mut last) = (0, (Vec::new(), 0));
    for step in 0..600 {
        let changed = meddle(step, &mut simulation);
        if changed || step % 40 == 7 {
            let bytes = simulation.snapshot().unwrap().to_bytes().unwrap();
            let read = Snapshot::from_bytes(&bytes).unwrap();
            let mut fork = Simulation::from_snapshot(&read).unwrap();
            let again = fork.snapshot().unwrap().to_bytes().unwrap();
            assert!(
                again == bytes,
                "the bytes of a restored simulation, step {step}"
            );
            let course = steps(&mut fork, 12);
            forks.push((step, fork, course));
        }
        let report = simulation.step().unwrap();
        slept = slept.max(report.sleeping);
        last = (vec![line(report)], simulation.state_hash());
        for (from, _, (reports, hash)) in &forks {
            if let Some(report) = reports.get(step - from) {
                assert_eq!(
                    *report, last.0[0],
                    "step {step}, snapshot before step {from}"
                );
            }
            if step - from == 11 {
                assert_eq!(
                    *hash, last.1,
                    "after step {step}, snapshot before step {from}"
                );
            }
        }
    }
    assert!(slept > 8, "{slept} bodies slept");
    assert_ne!(last.1, 0);
}

/// A law that no file knows.
#[derive(Debug)]
struct Swing;

impl ForceLaw for Swing {
    fn wrench(&self, body: &BodyState) -> Wrench {
        Wrench {
            force: DVec3::X * (body.time - body.position.x),
            ..Wrench::default()
        }
    }

    fn is_steady(&self) -> bool {
        false
    }
}

#[test]
fn forces_of_the_crate_are_in_files_and_others_stay_on_their_bodies() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let ball = |x: f64| {
        (
            RigidBody::Dynamic,
            Collider::sphere(0.1),
            Pose::at(x, 0.0, 0.0),
        )
    };
    let spring = PointSpring {
        stiffness: 500.0,
        damping: 1.0,
        to: DVec3::new(0.0, 0.0, 0.5),
        ..PointSpring::default()
    };
    let field = LinearForce::spring(Pose::default(), 20.0, 1.0).with_damping(0.1, 0.1);
    let held = (ball(0.3), BodyForces::new(spring).and(field));
    simulation.spawn(held).unwrap();
    steps(&mut simulation, 30);
    let read = |simulation: &Simulation| {
        Snapshot::from_bytes(&simulation.snapshot().unwrap().to_bytes().unwrap()).unwrap()
    };
    let mut fresh = Simulation::from_snapshot(&read(&simulation)).unwrap();
    assert_eq!(steps(&mut fresh, 30), steps(&mut simulation, 30));

    let swinging = simulation
        .spawn((ball(1.0), BodyForces::new(Swing)))
        .unwrap();
    steps(&mut simulation, 10);
    let file = read(&simulation);
    let error = Simulation::from_snapshot(&file).map(|_| ()).unwrap_err();
    assert!(
        matches!(
            error,
            SnapshotError::Force {
                id: BodyId(1),
                index: 0,
                count: 1
            }
        ),
        "{error}"
    );
    // In memory it is shared.
    let mut fork = simulation.fork().unwrap();
    let expected = steps(&mut simulation, 20);
    assert_eq!(steps(&mut fork, 20), expected);
    // From a file it is kept.
    simulation.restore(&file).unwrap();
    assert!(simulation.world().get::<BodyForces>(swinging).is_some());
    assert_eq!(steps(&mut simulation, 20), expected);
}

/// A winch that turns many times, geared to a wheel, a door that breaks off, and a joint that is disabled.
fn machine() -> (Simulation, [Entity; 4]) {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let mut wheel = |x: f64, spin: f64| {
        let body = (
            RigidBody::Dynamic,
            Collider::cylinder(0.1, 0.2),
            Pose::at(x, 0.0, 0.0),
            Twist {
                angular: DVec3::Z * spin,
                ..Twist::default()
            },
        );
        let body = simulation.spawn(body).unwrap();
        let hinge = Joint::to_world(body, JointKind::Revolute).at(DVec3::X * x, DVec3::Z);
        (body, hinge)
    };
    let (_, first) = wheel(0.0, 0.0);
    let (_, second) = wheel(1.0, 0.0);
    let (third, loose) = wheel(2.0, 3.0);
    let (_, off) = wheel(3.0, 1.0);
    let motor = JointForce::Motor {
        axis: JointAxis::RotationZ,
        position: 0.0,
        velocity: 40.0,
        stiffness: 0.0,
        damping: 5.0,
        effort: 30.0,
    };
    let limit = JointForce::Limit {
        axis: JointAxis::RotationZ,
        low: -1e9,
        high: 15.0,
        restitution: 0.3,
    };
    let first = simulation
        .spawn_joint(first, JointForces(vec![motor]))
        .unwrap();
    let second = simulation
        .spawn_joint(second, JointForces(vec![limit]))
        .unwrap();
    let gear = simulation
        .spawn_coupler(Coupler::gear(first, second, 0.5))
        .unwrap();
    let limit = BreakLimit {
        force: 300.0,
        ..BreakLimit::default()
    };
    let weak = simulation.spawn_joint(loose, limit).unwrap();
    let off = simulation.spawn_joint(off, JointDisabled).unwrap();
    let pull = Wrench {
        force: DVec3::X * 250.0,
        ..Wrench::default()
    };
    simulation.set(third, pull);
    (simulation, [first, weak, gear, off])
}

#[test]
fn turns_couplers_broken_and_disabled_joints_go_on() {
    let (mut simulation, [first, weak, gear, off]) = machine();
    for moment in 0..12 {
        steps(&mut simulation, 15);
        if moment == 6 {
            let entity = simulation.world().get::<Joint>(weak).unwrap().bodies[1].unwrap();
            let pull = Wrench {
                force: DVec3::X * 400.0,
                ..Wrench::default()
            };
            simulation.set(entity, pull);
        }
        if moment == 8 {
            let motor = JointForce::Applied {
                axis: JointAxis::RotationZ,
                effort: -5.0,
            };
            simulation.set(first, JointForces(vec![motor]));
        }
        if moment == 10 {
            simulation
                .world_mut()
                .entity_mut(off)
                .remove::<JointDisabled>();
        }
        let snapshot = simulation.snapshot().unwrap();
        let read = Snapshot::from_bytes(&snapshot.to_bytes().unwrap()).unwrap();
        let mut fresh = Simulation::from_snapshot(&read).unwrap();
        let loads = (
            simulation.joint_reaction(weak),
            simulation.joint_efforts(first),
            simulation.coupler_force(gear),
        );
        let expected = steps(&mut simulation, 40);
        assert_eq!(steps(&mut fresh, 40), expected, "moment {moment}");
        simulation.restore(&snapshot).unwrap();
        let known = (
            simulation.joint_reaction(weak),
            simulation.joint_efforts(first),
            simulation.coupler_force(gear),
        );
        assert_eq!(known, loads, "moment {moment}");
        assert_eq!(
            steps(&mut simulation, 40),
            expected,
            "rewound, moment {moment}"
        );
        simulation.restore(&snapshot).unwrap();
    }
    assert!(
        simulation
            .world()
            .get::<moreau::JointBroken>(weak)
            .is_some()
    );
}

/// What a user put on a body.
#[derive(Component, Debug, PartialEq)]
struct Owner(&'static str);

#[test]
fn entities_keep_what_is_not_of_the_engine() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let ball = |x: f64| {
        (
            RigidBody::Dynamic,
            Collider::sphere(0.1),
            Pose::at(x, 0.0, 0.0),
        )
    };
    let kept = simulation
        .spawn((ball(0.0), Owner("me"), Name::new("first")))
        .unwrap();
    let lost = simulation.spawn((ball(1.0), Name::new("second"))).unwrap();
    let other = simulation.world_mut().spawn(Owner("no body")).id();
    steps(&mut simulation, 3);
    let snapshot = simulation.snapshot().unwrap();
    simulation.despawn(lost);
    let surplus = simulation.spawn(ball(2.0)).unwrap();
    simulation.set(
        kept,
        (Name::new("renamed"), Wrench::default(), GravityScale(0.0)),
    );
    steps(&mut simulation, 3);
    simulation.restore(&snapshot).unwrap();
    let world = simulation.world();
    assert_eq!(world.get::<Owner>(kept), Some(&Owner("me")));
    assert_eq!(world.get::<Name>(kept).map(Name::as_str), Some("first"));
    assert_eq!(world.get::<Owner>(other), Some(&Owner("no body")));
    assert!(world.get::<GravityScale>(kept).is_none());
    assert!(world.get_entity(surplus).is_err());
    let back = entity(&mut simulation, 1);
    assert_eq!(
        simulation.world().get::<Name>(back).map(Name::as_str),
        Some("second")
    );
    // The next body gets the id that it got then.
    let next = simulation.spawn(ball(3.0)).unwrap();
    assert_eq!(simulation.world().get::<BodyId>(next), Some(&BodyId(2)));
}

#[test]
fn forks_side_by_side_have_the_same_bits() {
    let mut simulation = spawn(Settings::default(), &heap(4));
    steps(&mut simulation, 40);
    let forks: Vec<Simulation> = (0..64).map(|_| simulation.fork().unwrap()).collect();
    let expected = steps(&mut simulation, 15);
    let courses = forks.into_par_iter().map(|mut fork| steps(&mut fork, 15));
    let courses: Vec<Course> = courses.collect();
    assert!(courses.iter().all(|course| *course == expected));
}

#[test]
fn a_rollback_goes_back_any_number_of_its_steps() {
    let mut simulation = spawn(Settings::default(), &heap(3));
    let mut rollback = Rollback::new(10);
    let mut lines = Vec::new();
    for _ in 0..60 {
        lines.push(line(simulation.step().unwrap()));
        rollback.push(&simulation).unwrap();
    }
    let end = simulation.state_hash();
    assert_eq!(rollback.len(), 10);
    for back in [9, 1, 0, 4] {
        rollback.restore(&mut simulation, back).unwrap();
        for step in 60 - back..60 {
            assert_eq!(
                line(simulation.step().unwrap()),
                lines[step],
                "{back} steps back"
            );
            rollback.push(&simulation).unwrap();
        }
        assert_eq!(simulation.state_hash(), end);
    }
    let error = rollback.restore(&mut simulation, 10).unwrap_err();
    assert!(matches!(
        error,
        SnapshotError::TooFarBack { back: 10, kept: 9 }
    ));
    assert_eq!(simulation.state_hash(), end);
}

/// What the bodies of a world are.
fn described(simulation: &mut Simulation) -> Vec<String> {
    type Is = (
        &'static BodyId,
        &'static RigidBody,
        &'static Material,
        &'static Mass,
        Option<&'static GravityScale>,
        Option<&'static Name>,
    );
    let mut query = simulation.world_mut().query::<Is>();
    let mut bodies: Vec<_> = query.iter(simulation.world()).collect();
    bodies.sort_by_key(|(id, ..)| **id);
    bodies.iter().map(|body| format!("{body:?}")).collect()
}

/// Snapshots share what bodies are as long as it does not change: they see it when it does.
#[test]
fn a_rollback_sees_what_bodies_are_changed_to() {
    let mut simulation = spawn(Settings::default(), &heap(2));
    let mut rollback = Rollback::new(40);
    let one = entity(&mut simulation, 5);
    for step in 0..30 {
        match step {
            5 => drop(simulation.set(one, GravityScale(0.5))),
            8 => drop(simulation.set(one, Name::new("named"))),
            11 => drop(simulation.world_mut().entity_mut(one).remove::<Name>()),
            14 => drop(
                simulation
                    .world_mut()
                    .entity_mut(one)
                    .take::<GravityScale>(),
            ),
            17 => drop(simulation.set(one, Material::with_friction(0.1))),
            20 => drop(simulation.set(one, GravityScale(1.0))),
            23 => drop(
                simulation
                    .world_mut()
                    .entity_mut(one)
                    .take::<GravityScale>(),
            ),
            26 => drop(simulation.despawn(one)),
            _ => {}
        }
        simulation.step().unwrap();
        rollback.push(&simulation).unwrap();
        let mut fork = Simulation::from_snapshot(rollback.back(0).unwrap()).unwrap();
        assert_eq!(
            described(&mut fork),
            described(&mut simulation),
            "step {step}"
        );
    }
}
