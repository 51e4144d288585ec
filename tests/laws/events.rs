//! **Law.** What begins ends, once each: contacts, bodies in sensors, sleep. Nothing of it changes how bodies move.

use crate::support::*;

fn settings() -> Settings {
    Settings {
        time_step: 5e-3,
        threads: 1,
        ..Settings::default()
    }
}

fn floor(simulation: &mut Simulation) -> Entity {
    let ground = (RigidBody::Static, Collider::half_space(DVec3::Z));
    simulation.spawn(ground).unwrap()
}

fn ids(simulation: &Simulation, pair: [Entity; 2]) -> [BodyId; 2] {
    pair.map(|body| *simulation.world().get::<BodyId>(body).unwrap())
}

/// An elastic ball begins to touch the floor once in each of its bounces, in which it is given twice its momentum.
#[test]
fn every_bounce_begins_and_ends_one_contact() {
    let mut simulation = Simulation::new(settings()).unwrap();
    let floor = floor(&mut simulation);
    simulation.set(floor, Material::frictionless(1.0));
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.1),
        Material::frictionless(1.0),
        Mass::scaled_to(2.0),
        Pose::at(0.0, 0.0, 0.6),
    );
    let ball = simulation.spawn(ball).unwrap();
    let (mut begun, mut ended, mut turns) = (0, 0, 0);
    for _ in 0..1000 {
        let before = simulation.twist(ball).unwrap().linear.z;
        simulation.step().unwrap();
        let after = simulation.twist(ball).unwrap().linear.z;
        turns += usize::from(before < 0.0 && after > 0.0);
        let events = simulation.events();
        for contact in events.begun() {
            assert_eq!(contact.entities, [floor, ball]);
            // The impulse on the floor is minus that on the ball, whose weight goes on in this step.
            let given = 2.0 * (after - before + G * 5e-3);
            assert!((contact.normal_impulse - given).abs() < 1e-9 * given);
            assert!((contact.impulse + DVec3::Z * given).length() < 1e-9 * given);
        }
        begun += events.begun().count();
        ended += events.ended().count();
    }
    assert!(turns > 5, "{turns} bounces");
    assert_eq!(begun, turns);
    assert!(ended == begun || ended + 1 == begun, "{begun} {ended}");
}

/// Ten cubes fall, rest, sleep, wake as the lowest is taken away, and go one by one.
#[test]
fn a_pile_that_falls_asleep_ends_nothing() {
    let mut simulation = Simulation::new(settings()).unwrap();
    let floor = floor(&mut simulation);
    let cubes: Vec<Entity> = (0..10)
        .map(|k| {
            let at = Pose::at(0.0, 0.0, 0.05 + 0.1001 * f64::from(k));
            let cube = (RigidBody::Dynamic, Collider::cuboid(0.05, 0.05, 0.05), at);
            simulation.spawn(cube).unwrap()
        })
        .collect();
    let mut open = std::collections::BTreeSet::new();
    let mut asleep = std::collections::BTreeSet::new();
    let step = |simulation: &mut Simulation,
                open: &mut std::collections::BTreeSet<[BodyId; 2]>,
                asleep: &mut std::collections::BTreeSet<BodyId>| {
        simulation.step().unwrap();
        for contact in &simulation.events().contacts {
            match contact.edge {
                Edge::Begins => assert!(open.insert(contact.bodies), "begins twice"),
                Edge::Ends => assert!(open.remove(&contact.bodies), "ends twice"),
            }
        }
        for body in &simulation.events().sleep {
            match body.edge {
                Edge::Begins => assert!(asleep.insert(body.body)),
                Edge::Ends => assert!(asleep.remove(&body.body)),
            }
        }
        let state = simulation.state().unwrap();
        assert!(open.iter().copied().eq(state.touching()));
    };
    let mut steps = 0;
    while asleep.len() < 10 {
        step(&mut simulation, &mut open, &mut asleep);
        steps += 1;
        assert!(steps < 1000, "it does not sleep");
    }
    assert_eq!(open.len(), 10);
    for _ in 0..50 {
        step(&mut simulation, &mut open, &mut asleep);
        assert_eq!(simulation.events(), &StepEvents::default());
    }
    let base = ids(&simulation, [floor, cubes[0]]);
    assert!(simulation.state().unwrap().are_touching(base));
    let [_, base] = base;
    simulation.despawn(cubes[0]);
    step(&mut simulation, &mut open, &mut asleep);
    // Its sleep and its two contacts ended, and the others woke.
    assert!(asleep.is_empty() && open.iter().all(|pair| !pair.contains(&base)));
    for cube in &cubes[1..] {
        simulation.despawn(*cube);
        for _ in 0..20 {
            step(&mut simulation, &mut open, &mut asleep);
        }
    }
    assert!(open.is_empty());
}

fn shapes() -> Vec<(Collider, f64)> {
    // Each with its lowest point below its centre of mass, m.
    vec![
        (Collider::sphere(0.1), 0.1),
        (Collider::cuboid(0.1, 0.2, 0.1), 0.1),
        (Collider::capsule(0.1, 0.05), 0.15),
        (Collider::cylinder(0.1, 0.1), 0.1),
    ]
}

/// A body that falls through a sensor is inside from when its lowest point is below the upper side until its highest is below the lower one, and
/// falls as if there were none.
#[test]
fn a_sensor_sees_what_falls_through_it_and_does_not_hold_it() {
    for kind in [RigidBody::Static, RigidBody::Kinematic, RigidBody::Dynamic] {
        for (collider, half) in shapes() {
            let mut simulation = Simulation::new(settings()).unwrap();
            let gate = (kind, Collider::cuboid(0.5, 0.5, 0.1), Sensor);
            let gate = simulation.spawn((gate, GravityScale(0.0))).unwrap();
            let body = (RigidBody::Dynamic, collider, Pose::at(0.0, 0.0, 1.0));
            let body = simulation.spawn(body).unwrap();
            let mut inside = false;
            for k in 1..=150 {
                simulation.step().unwrap();
                let z = simulation.pose(body).unwrap().position.z;
                let t = 5e-3 * f64::from(k);
                assert!((z - (1.0 - 0.5 * G * t * t)).abs() < 1e-12, "it is held");
                let overlaps = z.abs() < 0.1 + half;
                let events = simulation.events();
                let [entered, left] = [events.entered().count(), events.left().count()];
                assert_eq!(entered, usize::from(overlaps && !inside), "{kind:?} {z}");
                assert_eq!(left, usize::from(!overlaps && inside), "{kind:?} {z}");
                for seen in &events.sensors {
                    assert_eq!(seen.entities, [gate, body]);
                }
                assert!(events.contacts.is_empty());
                let sensed = simulation.state().unwrap().sensed().count();
                assert_eq!(sensed, usize::from(overlaps));
                inside = overlaps;
            }
            assert!(!inside, "it is through");
        }
    }
}

#[test]
fn sensors_do_not_change_a_bit_of_what_moves_through_them() {
    let run = |sensors: bool, threads: usize| {
        let mut simulation = Simulation::new(Settings {
            threads,
            ..settings()
        })
        .unwrap();
        floor(&mut simulation);
        let mut bodies = Vec::new();
        for k in 0..300_u32 {
            let [i, j, l] = [k % 5, k / 5 % 5, k / 25].map(f64::from);
            let at = Pose::at(0.11 * i + 0.01 * l, 0.11 * j, 0.06 + 0.13 * l);
            let shape = [Collider::sphere(0.05), Collider::cuboid(0.04, 0.05, 0.03)];
            let body = (
                RigidBody::Dynamic,
                shape[(k % 2) as usize].clone(),
                at,
                BodyId(10 + u64::from(k)),
            );
            bodies.push(simulation.spawn(body).unwrap());
        }
        let mut seen = 0;
        if sensors {
            for (k, kind) in (0..2_u32).zip([RigidBody::Static, RigidBody::Kinematic]) {
                let at = Pose::at(0.2, 0.2, 0.2 + 0.3 * f64::from(k));
                let id = BodyId(1000 + u64::from(k));
                let sensor = (kind, Collider::sphere(0.3), at, Sensor, id);
                simulation.spawn(sensor).unwrap();
            }
        }
        for _ in 0..200 {
            simulation.step().unwrap();
            seen += simulation.events().sensors.len();
        }
        let places = bodies.iter().map(|body| {
            let (pose, twist) = (simulation.pose(*body), simulation.twist(*body));
            (pose.unwrap(), twist.unwrap())
        });
        (places.collect::<Vec<_>>(), seen)
    };
    let (without, none) = run(false, 1);
    let (with, seen) = run(true, 1);
    let (on_two, seen_on_two) = run(true, 2);
    assert!(none == 0 && seen > 0);
    assert_eq!(seen, seen_on_two);
    assert!(without == with && with == on_two);
}

/// Groups, other sensors and what stands still beside it are not seen; sleepers are, and are not woken.
#[test]
fn a_sensor_sees_sleepers_and_no_other_sensor() {
    let mut simulation = Simulation::new(settings()).unwrap();
    let ground = floor(&mut simulation);
    let cube = Collider::cuboid(0.05, 0.05, 0.05);
    let resting = (RigidBody::Dynamic, cube.clone(), Pose::at(0.0, 0.0, 0.05));
    let resting = simulation.spawn(resting).unwrap();
    let other = CollisionGroups {
        memberships: 2,
        mask: 2,
    };
    let foreign = (
        RigidBody::Kinematic,
        cube.clone(),
        other,
        Pose::at(0.0, 0.0, 0.05),
    );
    simulation.spawn(foreign).unwrap();
    let zone = Collider::cuboid(0.3, 0.3, 0.3);
    let mine = CollisionGroups {
        memberships: 1,
        mask: 1,
    };
    let sensors = [RigidBody::Static, RigidBody::Kinematic].map(|kind| {
        let zone = (kind, zone.clone(), Sensor, mine);
        simulation.spawn(zone).unwrap()
    });
    let mut entered = Vec::new();
    for _ in 0..400 {
        simulation.step().unwrap();
        entered.extend(simulation.events().entered().map(|seen| seen.entities));
        assert_eq!(simulation.events().left().count(), 0);
    }
    assert!(simulation.is_sleeping(resting));
    entered.sort();
    // Of two static bodies neither moves into the other.
    let mut expected = sensors.map(|sensor| [sensor, resting]).to_vec();
    expected.push([sensors[1], ground]);
    expected.sort();
    assert_eq!(entered, expected);
    // A sensor that moves away loses it, without waking it.
    for _ in 0..2 {
        simulation.set(sensors[1], Pose::at(0.0, 5.0, 0.0));
        simulation.step().unwrap();
    }
    assert!(simulation.is_sleeping(resting));
    // What is left: the static one and the cube, the other and the ground.
    assert_eq!(simulation.state().unwrap().sensed().count(), 2);
    // One that appears where it sleeps sees it.
    let late = (RigidBody::Static, zone, Sensor, mine);
    let late = simulation.spawn(late).unwrap();
    simulation.step().unwrap();
    let entered: Vec<_> = simulation
        .events()
        .entered()
        .map(|seen| seen.entities)
        .collect();
    assert_eq!(entered, [[late, resting]]);
    assert!(simulation.is_sleeping(resting));
    simulation.despawn(late);
    simulation.step().unwrap();
    assert_eq!(simulation.events().left().count(), 1);
    simulation.despawn(sensors[0]);
    simulation.step().unwrap();
    let left: Vec<_> = simulation
        .events()
        .left()
        .map(|seen| seen.entities)
        .collect();
    assert_eq!(left, [[sensors[0], resting]]);
    // What becomes solid again holds up.
    let body = simulation.spawn((RigidBody::Dynamic, cube, Pose::at(2.0, 0.0, 1.0)));
    let body = body.unwrap();
    simulation.set(body, Sensor);
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    assert!(
        simulation.pose(body).unwrap().position.z < -0.1,
        "a sensor falls through the floor"
    );
    simulation.set(body, (Pose::at(2.0, 0.0, 1.0), Twist::default()));
    simulation.world_mut().entity_mut(body).remove::<Sensor>();
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    let z = simulation.pose(body).unwrap().position.z;
    assert!((z - 0.05).abs() < 1e-3, "{z}");
}

/// Weight and contacts are all that moves the balls of a pile: `m Δv/h = m g + F`, and `I Δω/h = M` of a ball. Forces of a pair are opposite.
#[test]
fn the_contacts_of_a_body_give_all_its_momentum() {
    let h = 5e-3;
    let mut simulation = Simulation::new(settings()).unwrap();
    floor(&mut simulation);
    let (m, r) = (2.0, 0.05);
    let mut random = Lcg::new(11);
    let balls: Vec<Entity> = (0..60)
        .map(|k| {
            let at = random.symmetric_vector() * DVec3::new(0.1, 0.1, 0.0);
            let at = Pose::from_position(at + DVec3::Z * (0.06 + 0.11 * f64::from(k)));
            let ball = (
                RigidBody::Dynamic,
                Collider::sphere(r),
                Mass::scaled_to(m),
                at,
            );
            simulation.spawn(ball).unwrap()
        })
        .collect();
    let (mut pushed, mut most) = (0, 0.0_f64);
    for _ in 0..300 {
        let twist = |simulation: &Simulation| {
            let twists = balls.iter().map(|ball| simulation.twist(*ball).unwrap());
            let pose = |ball: &Entity| simulation.pose(*ball).unwrap().orientation;
            let turned = twists.zip(balls.iter().map(pose));
            let inertial = turned.map(|(twist, pose)| (twist.linear, pose * twist.angular));
            inertial.collect::<Vec<_>>()
        };
        let before = twist(&simulation);
        simulation.step().unwrap();
        let after = twist(&simulation);
        let contacts = simulation.state().unwrap().contacts();
        for ((ball, (v, w)), (v1, w1)) in balls.iter().zip(before).zip(after) {
            let [id, _] = ids(&simulation, [*ball, *ball]);
            let wrench = contacts.wrench_on(id);
            let force = (v1 - v) * (m / h) + DVec3::Z * (m * G);
            let moment = (w1 - w) * (0.4 * m * r * r / h);
            most = most.max(force.length());
            // Velocities of m/s are rounded to 1e-16, and divided by h: 1e-13 of m/h.
            let near = 1e-11 * m / h;
            assert!((wrench.force - force).length() < near);
            assert!((wrench.moment - moment).length() < near * r);
            pushed += usize::from(contacts.of(id).any(|contact| contact.impulse.x > 0.0));
        }
        for contact in contacts.iter() {
            let [a, b] = contact.bodies;
            assert!(contacts.between([b, a]).contains(contact));
            assert_eq!(contact.impulse_on(a), -contact.impulse_on(b));
        }
    }
    assert!(pushed > 1000 && most > m * G);
}

/// A world that goes on from a snapshot has the events of the one that was not interrupted, at any moment of a pile that falls, sleeps and is woken.
#[test]
fn what_is_restored_has_the_events_of_what_was_not_interrupted() {
    let mut simulation = Simulation::new(settings()).unwrap();
    floor(&mut simulation);
    for k in 0..6 {
        let at = Pose::at(0.0, 0.0, 0.1 + 0.15 * f64::from(k));
        let shape = Collider::cuboid(0.05, 0.05, 0.05);
        simulation.spawn((RigidBody::Dynamic, shape, at)).unwrap();
    }
    for kind in [RigidBody::Static, RigidBody::Kinematic] {
        let zone = (kind, Collider::cuboid(0.2, 0.2, 0.25), Sensor);
        simulation.spawn(zone).unwrap();
    }
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.05),
        Pose::at(-20.0, 0.0, 0.35),
        Twist::linear(12.0, 0.0, 0.0),
        GravityScale(0.0),
    );
    simulation.spawn(ball).unwrap();
    let named = |events: &StepEvents| {
        let contacts = events
            .contacts
            .iter()
            .map(|of| (of.edge, of.bodies, of.normal_impulse));
        let sensors = events.sensors.iter().map(|of| (of.edge, of.bodies));
        let sleep = events.sleep.iter().map(|of| (of.edge, of.body));
        let lists = (contacts.collect::<Vec<_>>(), sensors.collect::<Vec<_>>());
        (lists, sleep.collect::<Vec<_>>())
    };
    let mut restored: Vec<Simulation> = Vec::new();
    let (mut contacts, mut slept) = (0, 0);
    for step in 0..500 {
        if step % 40 == 7 {
            let bytes = simulation.snapshot().unwrap().to_bytes().unwrap();
            let snapshot = Snapshot::from_bytes(&bytes).unwrap();
            restored.push(Simulation::from_snapshot(&snapshot).unwrap());
            // Back in the world that it is of.
            simulation.restore(&snapshot).unwrap();
        }
        simulation.step().unwrap();
        let expected = named(simulation.events());
        contacts += simulation.events().contacts.len();
        slept += simulation.events().sleep.len();
        for other in &mut restored {
            other.step().unwrap();
            assert_eq!(named(other.events()), expected, "step {step}");
            let [one, all] = [&*other, &simulation].map(|world| world.state().unwrap());
            assert!(one.touching().eq(all.touching()) && one.sensed().eq(all.sensed()));
        }
    }
    assert!(contacts > 10 && slept > 6, "{contacts} {slept}");
}

/// What can touch no more has ended: of two bodies that nothing moves, or of which one is a sensor now.
#[test]
fn a_contact_ends_when_a_body_becomes_static_or_a_sensor() {
    for sensor in [false, true] {
        let mut simulation = Simulation::new(settings()).unwrap();
        let floor = floor(&mut simulation);
        let cube = Collider::cuboid(0.05, 0.05, 0.05);
        let cube = (RigidBody::Dynamic, cube, Pose::at(0.0, 0.0, 0.05));
        let cube = simulation.spawn(cube).unwrap();
        while !simulation.is_sleeping(cube) {
            simulation.step().unwrap();
        }
        let pair = ids(&simulation, [floor, cube]);
        assert!(simulation.state().unwrap().are_touching(pair));
        if sensor {
            simulation.set(cube, (Sensor, Sleeping));
        } else {
            simulation.set(cube, (RigidBody::Static, Pose::at(0.0, 0.0, 5.0)));
        }
        simulation.step().unwrap();
        assert!(!simulation.state().unwrap().are_touching(pair));
        assert_eq!(simulation.events().ended().count(), 1);
    }
}

/// A sensor that sleeps sees a wall that is put where it is, and loses it when the wall is taken away.
#[test]
fn a_sleeping_sensor_sees_static_bodies_that_are_put_there() {
    let mut simulation = Simulation::new(settings()).unwrap();
    let ball = Collider::sphere(0.1);
    let sensor = (RigidBody::Dynamic, ball.clone(), Sensor, GravityScale(0.0));
    let sensor = simulation.spawn(sensor).unwrap();
    let wall = (RigidBody::Static, ball, Pose::at(5.0, 0.0, 0.0));
    let wall = simulation.spawn(wall).unwrap();
    let pair = ids(&simulation, [sensor, wall]);
    simulation.set(sensor, Sleeping);
    simulation.step().unwrap();
    assert!(simulation.is_sleeping(sensor));
    for (x, seen) in [(0.05, 1), (5.0, 0)] {
        simulation.set(wall, Pose::at(x, 0.0, 0.0));
        simulation.set(sensor, Sleeping);
        simulation.step().unwrap();
        let sensed: Vec<_> = simulation.state().unwrap().sensed().collect();
        assert_eq!(sensed, vec![pair; seen]);
        assert_eq!(simulation.events().sensors.len(), 1);
    }
}

/// What ended between a restore and the step after it is told with the entities that the world has.
#[test]
fn what_ends_after_a_restore_names_its_entities() {
    let mut simulation = Simulation::new(settings()).unwrap();
    let floor = floor(&mut simulation);
    let cube = (RigidBody::Dynamic, Collider::cuboid(0.1, 0.1, 0.1));
    let cube = simulation.spawn((cube, Pose::at(0.0, 0.0, 0.1))).unwrap();
    while simulation.time() < 0.1 {
        simulation.step().unwrap();
    }
    let snapshot = simulation.snapshot().unwrap();
    simulation.step().unwrap();
    simulation.restore(&snapshot).unwrap();
    simulation.despawn(cube);
    simulation.step().unwrap();
    let ended: Vec<_> = simulation.events().ended().map(|of| of.entities).collect();
    assert_eq!(ended, [[floor, cube]]);
}
