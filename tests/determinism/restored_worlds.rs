//! **Law.** A snapshot holds what a user has changed since the last step, forces, machines with their turns, and what is on entities beside; restored, it all goes on to
//! the last bit.

use crate::snapshots::{Course, line, steps};
use crate::support::{entity, heap, spawn};
use bevy_ecs::entity::Entity;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::Component;
use glam::DVec3;
use moreau::prelude::*;
use moreau::{Coupler, ForceLaw, GravityScale, JointAxis, LinearForce, PointSpring};

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

/// A swing with a rotor, one end on a body that is moved, and what was known of it is past: a body with a lower id has come, and the step was refused.
#[test]
fn an_impulse_on_a_machine_with_a_rotor_is_that_of_the_world_as_it_is() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let ball = || Collider::sphere(0.1);
    let at = |x: f64| Pose::at(x, 0.0, 0.0);
    let spawn = |simulation: &mut Simulation, id: u64, kind: RigidBody, x: f64| {
        simulation.spawn((BodyId(id), kind, ball(), at(x))).unwrap()
    };
    let base = spawn(&mut simulation, 10, RigidBody::Kinematic, 0.0);
    let arm = spawn(&mut simulation, 11, RigidBody::Dynamic, 1.0);
    let tip = spawn(&mut simulation, 12, RigidBody::Dynamic, 2.0);
    let rotor = JointForces(vec![JointForce::Armature {
        axis: JointAxis::RotationZ,
        inertia: 0.5,
    }]);
    let hinge = |a: Entity, b: Entity, x: f64| {
        Joint::new(a, b, JointKind::Revolute).at(DVec3::X * x, DVec3::Y)
    };
    let joints = [hinge(base, arm, 0.5), hinge(arm, tip, 1.5)];
    for joint in joints {
        simulation
            .spawn_joint(joint, (rotor.clone(), NoCollision))
            .unwrap();
    }
    steps(&mut simulation, 3);
    spawn(&mut simulation, 1, RigidBody::Static, 5.0);
    let no_body = simulation.world_mut().spawn_empty().id();
    let wrong = Joint::new(tip, no_body, JointKind::Fixed);
    let wrong = simulation.world_mut().spawn(wrong).id();
    simulation.step().unwrap_err();
    simulation.despawn(wrong);
    let before = simulation.twist(arm).unwrap();
    let mut restored = simulation.fork().unwrap();
    let twists = [&mut simulation, &mut restored].map(|world| {
        let tip = entity(world, 12);
        world
            .apply_impulse(tip, DVec3::Z, DVec3::new(2.05, 0.0, 0.0))
            .unwrap();
        [11, 12].map(|id| {
            let body = entity(world, id);
            world.twist(body).unwrap()
        })
    });
    assert_eq!(twists[0], twists[1]);
    // The arm takes some of it.
    assert!(twists[0][0] != before, "{twists:?}");
}

/// Whatever was kept before: the snapshot of a world with a body that lacks its mass is refused.
#[test]
fn a_body_that_is_not_whole_is_refused_by_every_snapshot() {
    let mut simulation = spawn(Settings::default(), &heap(2));
    steps(&mut simulation, 2);
    simulation.snapshot().unwrap();
    let new = (RigidBody::Dynamic, Collider::sphere(0.1));
    let new = simulation.spawn(new).unwrap();
    simulation.world_mut().entity_mut(new).remove::<Mass>();
    simulation.snapshot().unwrap_err();
    simulation.step().unwrap_err();
    simulation.snapshot().unwrap_err();
    simulation.despawn(new);
    simulation.step().unwrap();
    simulation.snapshot().unwrap();
}

/// Marks of sleepers that were put on or taken off before a snapshot hold for their bodies, whatever comes and goes between the restore and the next step.
#[test]
fn marks_of_sleepers_are_of_their_bodies_after_a_restore() {
    use bevy_ecs::entity_disabling::Disabled;
    let run = |way: usize, touched: usize, restored: bool| {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let floor = (RigidBody::Static, Collider::half_space(DVec3::Z));
        simulation.spawn(floor).unwrap();
        let boxes = [0.0, 3.0, 6.0].map(|x| {
            let cube = (RigidBody::Dynamic, Collider::cuboid(0.5, 0.5, 0.5));
            let cube = (cube, Pose::at(x, 0.0, 0.5));
            simulation.spawn(cube).unwrap()
        });
        while simulation.time() < 1.0 {
            simulation.step().unwrap();
        }
        assert!(boxes.iter().all(|of| simulation.is_sleeping(*of)));
        simulation.wake(boxes[touched]);
        if restored {
            let snapshot = simulation.snapshot().unwrap();
            simulation.restore(&snapshot).unwrap();
        }
        let other = boxes[(touched + 1) % 3];
        match way {
            0 => drop(simulation.despawn(other)),
            1 => drop(simulation.world_mut().entity_mut(other).insert(Disabled)),
            _ => drop(simulation.despawn(boxes[touched])),
        }
        simulation.step().unwrap();
        boxes.map(|of| simulation.is_sleeping(of))
    };
    for way in 0..3 {
        for touched in 0..3 {
            let both = [false, true].map(|restored| run(way, touched, restored));
            assert_eq!(both[0], both[1], "way {way}, box {touched}");
        }
    }
}
