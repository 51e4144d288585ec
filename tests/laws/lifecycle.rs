//! **Law.** Bodies may come and go between any two steps; what happens to others depends only on the contacts they
//! have. Warm starts belong to contacts, not to storage: bodies elsewhere keep theirs.
//!
//! A resting stack that is disturbed by nothing continues bit by bit when bodies out of its reach are spawned and
//! despawned, as bodies are ordered by id and the stack's contacts keep their impulses. A stack that starts
//! from its impulses is solved in the fewest sweeps; from zero it takes many more.

use crate::support::*;

fn stack(simulation: &mut Simulation) -> Vec<Entity> {
    simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z), BodyId(0)))
        .unwrap();
    (0..6)
        .map(|i| {
            simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::cuboid(0.5, 0.5, 0.5),
                    BodyId(10 + i),
                    Pose::at(0.0, 0.0, 0.5 + i as f64),
                ))
                .unwrap()
        })
        .collect()
}

#[test]
fn spawning_elsewhere_keeps_warm_starts() {
    let mut settings = reference();
    // Sweeps tell whether the start was warm; Newton would need few from anywhere.
    settings.advanced.max_factorizations = Some(0);
    let mut simulation = Simulation::new(settings).unwrap();
    let mut control = Simulation::new(settings).unwrap();
    let bodies = stack(&mut simulation);
    let control_bodies = stack(&mut control);
    let cold = simulation.step().unwrap().sweeps;
    control.step().unwrap();
    let mut guests: Vec<Entity> = Vec::new();
    for step in 0..60 {
        // Ids below, among and above those of the stack, in free flight far away.
        if step % 2 == 0 {
            for id in [1, 9, 30] {
                let far = Pose::at(50.0 + id as f64, 0.0, 10.0);
                let guest = (RigidBody::Dynamic, Collider::sphere(0.2), BodyId(id), far);
                guests.push(simulation.spawn(guest).unwrap());
            }
        } else {
            for guest in guests.drain(..) {
                assert!(simulation.despawn(guest));
            }
        }
        let report = simulation.step().unwrap();
        let alone = control.step().unwrap();
        assert_eq!(report.bodies, alone.bodies + guests.len());
        assert_eq!(report.sweeps, alone.sweeps, "step {step}");
        assert!(
            report.sweeps * 3 < cold,
            "{} of {cold} sweeps",
            report.sweeps
        );
        for (body, other) in bodies.iter().zip(&control_bodies) {
            assert_eq!(simulation.pose(*body), control.pose(*other), "step {step}");
            assert_eq!(simulation.twist(*body), control.twist(*other));
        }
    }
}

#[test]
fn removing_the_lowest_cube_lets_the_others_fall() {
    let mut simulation = Simulation::new(reference()).unwrap();
    let bodies = stack(&mut simulation);
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    simulation.despawn(bodies[0]);
    let start = simulation.time();
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        assert!(
            report.converged,
            "e_scaled {:e} after {} sweeps",
            report.e_scaled, report.sweeps
        );
        // Together, and freely: no contact among them carries anything.
        let fall = 0.5 * G * (simulation.time() - start).powi(2);
        for (i, body) in bodies.iter().enumerate().skip(1) {
            let z = simulation.pose(*body).unwrap().position.z;
            assert!(
                (z - (0.5 + i as f64 - fall)).abs() <= 1e-9,
                "cube {i} at {z} after a fall of {fall}"
            );
        }
    }
    assert!(!simulation.despawn(bodies[0]), "it is gone already");
}

#[test]
fn an_emptied_world_still_steps() {
    let mut simulation = Simulation::new(reference()).unwrap();
    let bodies = stack(&mut simulation);
    simulation.step().unwrap();
    for body in bodies {
        simulation.despawn(body);
    }
    let report = simulation.step().unwrap();
    assert_eq!((report.bodies, report.contacts), (1, 0));
    let again = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(0.5),
            BodyId(10),
            Pose::at(0.0, 0.0, 0.5),
        ))
        .unwrap();
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    assert!((simulation.pose(again).unwrap().position.z - 0.5).abs() <= 1e-9);
}

#[test]
fn a_body_without_collider_flies() {
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    let point = simulation
        .spawn((
            RigidBody::Dynamic,
            Mass::given(1.0, DVec3::ONE),
            Pose::at(0.0, 0.0, 0.01),
        ))
        .unwrap();
    for _ in 0..20 {
        simulation.step().unwrap();
    }
    assert!(simulation.pose(point).unwrap().position.z < 0.0);
}

#[test]
fn a_body_may_be_frozen_and_freed() {
    // In mid-flight, spinning; a second one lands on it while it is static.
    let mut simulation = Simulation::new(reference()).unwrap();
    let cube = |z: f64| {
        (
            RigidBody::Dynamic,
            Collider::cuboid(0.5, 0.5, 0.2),
            Pose::at(0.0, 0.0, z),
        )
    };
    let body = simulation
        .spawn((cube(5.0), Twist::linear(0.0, 0.0, 1.0)))
        .unwrap();
    let rider = simulation.spawn(cube(5.6)).unwrap();
    let full = mass(&simulation, body).unwrap();
    for _ in 0..5 {
        simulation.step().unwrap();
    }
    simulation.set(body, RigidBody::Static);
    let (pose, twist) = (simulation.pose(body), simulation.twist(body));
    for _ in 0..100 {
        simulation.step().unwrap();
        assert_eq!(simulation.pose(body), pose);
        assert_eq!(simulation.twist(body), twist);
    }
    // The rider rests on it: g h a step is all that presses.
    let height = simulation.pose(rider).unwrap().position.z - pose.unwrap().position.z;
    assert!((height - 0.4).abs() <= 1e-9, "it rests at {height}");
    assert!(simulation.twist(rider).unwrap().linear.length() <= 1e-10);
    assert!(simulation.contacts().iter().any(|c| c.impulse.x > 0.0));
    // Freed, it goes on with the velocity that it had, and takes its mass again.
    simulation.despawn(rider);
    simulation.set(body, RigidBody::Dynamic);
    simulation.step().unwrap();
    assert_eq!(mass(&simulation, body), Some(full));
    let h = simulation.settings().time_step;
    let expected = twist.unwrap().linear - DVec3::Z * (G * h);
    let v = simulation.twist(body).unwrap().linear;
    assert!((v - expected).length() <= 1e-14, "{v}");
}

#[test]
fn a_moving_body_made_kinematic_keeps_its_velocity() {
    let mut simulation = Simulation::new(reference()).unwrap();
    let body = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(0.5),
            Twist::linear(1.0, 0.0, 2.0),
        ))
        .unwrap();
    simulation.step().unwrap();
    simulation.set(body, RigidBody::Kinematic);
    let (pose, twist) = (
        simulation.pose(body).unwrap(),
        simulation.twist(body).unwrap(),
    );
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    assert_eq!(simulation.twist(body), Some(twist));
    let moved = simulation.pose(body).unwrap().position - pose.position;
    let h = simulation.settings().time_step;
    assert!((moved - twist.linear * (10.0 * h)).length() <= 1e-14);
}

/// A ball that rests on the ground, after a few steps.
fn resting_ball(mass: Mass) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.5),
        mass,
        Pose::at(0.0, 0.0, 0.5),
    );
    let ball = simulation.spawn(ball).unwrap();
    for _ in 0..5 {
        assert_eq!(simulation.step().unwrap().closed_contacts, 1);
    }
    (simulation, ball)
}

/// It falls freely for `steps`, then is put back and rests again.
fn falls_and_is_put_back(
    simulation: &mut Simulation,
    ball: Entity,
    mend: impl FnOnce(&mut Simulation),
) {
    let (start, z) = (simulation.time(), simulation.pose(ball).unwrap().position.z);
    for _ in 0..20 {
        assert_eq!(simulation.step().unwrap().contacts, 0);
    }
    let fall = z - simulation.pose(ball).unwrap().position.z;
    let expected = 0.5 * G * (simulation.time() - start).powi(2);
    assert!((fall - expected).abs() <= 1e-10, "{fall} of {expected} m");
    mend(simulation);
    simulation.set(ball, (Pose::at(0.0, 0.0, 0.5), Twist::default()));
    for _ in 0..5 {
        assert_eq!(simulation.step().unwrap().closed_contacts, 1);
    }
}

#[test]
fn a_collider_may_be_taken_off_and_put_on() {
    let given = Mass::given(3.0, DVec3::ONE);
    let (mut simulation, ball) = resting_ball(given);
    simulation.world_mut().entity_mut(ball).remove::<Collider>();
    falls_and_is_put_back(&mut simulation, ball, |simulation| {
        assert!(simulation.set(ball, Collider::sphere(0.5)));
    });
    assert_eq!(mass(&simulation, ball), Some(given));
}

#[test]
fn groups_may_change() {
    let (mut simulation, ball) = resting_ball(Mass::default());
    let none = CollisionGroups {
        memberships: u32::MAX,
        mask: 0,
    };
    simulation.set(ball, none);
    falls_and_is_put_back(&mut simulation, ball, |simulation| {
        assert!(simulation.set(ball, CollisionGroups::default()));
    });
}

#[test]
fn a_collider_may_be_exchanged() {
    // The smaller ball falls by the difference and rests; mass follows the shape.
    let (mut simulation, ball) = resting_ball(Mass::default());
    let before = mass(&simulation, ball).unwrap().mass();
    simulation.set(ball, Collider::sphere(0.4));
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    let z = simulation.pose(ball).unwrap().position.z;
    assert!((z - 0.4).abs() <= 1e-9, "rests at {z}");
    let ratio = mass(&simulation, ball).unwrap().mass() / before;
    assert!((ratio - 0.512).abs() <= 1e-14, "mass changes by {ratio}");
}

/// The points where two boxes touch get other numbers whenever the face of the other one becomes the reference, as
/// happens all the time between faces that are parallel to rounding. They keep their impulses: most steps of a wall that stands
/// then need no more than twice the least number of sweeps that steps make by default, here without a least number. (Without,
/// they take 31 in the median.)
#[test]
fn contacts_that_change_their_number_keep_their_impulse() {
    let mut run = moreau_demos::built_in("wall_20x20")
        .unwrap()
        .start()
        .unwrap();
    let mut settings = run.simulation.settings();
    let least = settings.nsgs().min_sweeps;
    settings.tolerance = Some(1e-4);
    settings.advanced.min_sweeps = Some(1);
    run.simulation.set_settings(settings).unwrap();
    let mut sweeps: Vec<usize> = (0..200)
        .map(|_| run.step().unwrap().sweeps)
        .skip(100)
        .collect();
    sweeps.sort_unstable();
    assert!(sweeps[50] <= 2 * least, "{sweeps:?}");
}

/// A motor turns a bar about the world; then its hinge, the only joint, is disabled, broken or despawned.
#[test]
fn a_world_whose_last_joint_goes_steps_on_in_free_fall() {
    for way in ["disabled", "broken", "despawned"] {
        let mut simulation = Simulation::new(Settings {
            threads: 1,
            ..Settings::default()
        })
        .unwrap();
        let mass = Mass::given(1.0, DVec3::splat(0.01));
        let bar = (RigidBody::Dynamic, mass, Pose::at(0.5, 0.0, 0.0));
        let bar = simulation.spawn(bar).unwrap();
        let motor = JointForce::Motor {
            axis: JointAxis::RotationZ,
            position: 0.0,
            velocity: 1.0,
            stiffness: 0.0,
            damping: f64::INFINITY,
            effort: f64::INFINITY,
        };
        let hinge = Joint::to_world(bar, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        let hinge = simulation
            .spawn_joint(hinge, JointForces(vec![motor]))
            .unwrap();
        for _ in 0..5 {
            simulation.step().unwrap();
        }
        match way {
            "disabled" => {
                simulation.set(hinge, JointDisabled);
            }
            "broken" => {
                let none = BreakLimit {
                    force: 0.0,
                    torque: 0.0,
                };
                simulation.set(hinge, none);
                assert_eq!(simulation.step().unwrap().broken_joints, 1);
            }
            _ => {
                simulation.despawn(hinge);
            }
        }
        let before = simulation.twist(bar).unwrap().linear;
        let begin = simulation.time();
        for _ in 0..5 {
            assert_eq!(simulation.step().unwrap().joints, 0, "{way}");
        }
        let fallen = simulation.twist(bar).unwrap().linear - before;
        let fall = DVec3::NEG_Z * G * (simulation.time() - begin);
        // Five sums.
        assert!((fallen - fall).length() < 1e-14, "{way}: {fallen} {fall}");
    }
}

/// Two wheels on hinges, geared; one, then both are made static, and dynamic again.
#[test]
fn a_joint_whose_bodies_are_made_static_rests_until_one_is_dynamic() {
    let mut simulation = Simulation::new(Settings {
        threads: 1,
        ..Settings::default()
    })
    .unwrap();
    let mass = Mass::given(1.0, DVec3::splat(0.01));
    let mut bars = Vec::new();
    let mut hinges = Vec::new();
    for x in [0.0, 3.0] {
        let bar = (RigidBody::Dynamic, mass, Pose::at(x + 0.5, 0.0, 0.0));
        let bar = simulation.spawn(bar).unwrap();
        let hinge = Joint::to_world(bar, JointKind::Revolute).at(DVec3::X * x, DVec3::Y);
        hinges.push(simulation.spawn_joint(hinge, ()).unwrap());
        bars.push(bar);
    }
    let gear = Coupler::gear(hinges[0], hinges[1], 1.0);
    simulation.spawn_coupler(gear).unwrap();
    let steps = |simulation: &mut Simulation, joints: usize| {
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.joints == joints && report.converged, "{report:?}");
            assert!(report.joint_error < 1e-9, "{report:?}");
        }
    };
    // A gear keeps them level; without it the other one falls.
    steps(&mut simulation, 2);
    for still in [vec![0], vec![0, 1]] {
        let poses: Vec<Pose> = bars.iter().map(|b| simulation.pose(*b).unwrap()).collect();
        for bar in &still {
            simulation.set(bars[*bar], (RigidBody::Static, Twist::default()));
        }
        steps(&mut simulation, 2 - still.len());
        for bar in still {
            assert_eq!(simulation.pose(bars[bar]).unwrap(), poses[bar]);
        }
        // A snapshot holds what rests.
        let mut copy = Simulation::from_snapshot(&simulation.snapshot().unwrap()).unwrap();
        let reports = [copy.step().unwrap(), simulation.step().unwrap()];
        assert_eq!(reports[0].joints, reports[1].joints);
        assert_eq!(copy.state_hash(), simulation.state_hash());
    }
    let fallen = simulation.pose(bars[1]).unwrap().position.z;
    assert!(fallen < -1e-2, "{fallen}");
    // One that is spawned so is refused.
    let hinge = Joint::to_world(bars[0], JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    let refused = simulation.spawn_joint(hinge, ()).unwrap_err();
    assert!(refused.to_string().contains("dynamic"), "{refused}");
    for bar in &bars {
        simulation.set(*bar, RigidBody::Dynamic);
    }
    steps(&mut simulation, 2);
    for (bar, x) in bars.iter().zip([0.0, 3.0]) {
        let arm = simulation.pose(*bar).unwrap().position - DVec3::X * x;
        // The hinge is closed to rounding.
        assert!((arm.length() - 0.5).abs() < 1e-9, "{arm}");
    }
}

/// **Law.** A joint that was out of the steps for a while holds its bodies where it did before, and counts its turns on, whatever took it out; also in a world that was restored meanwhile.
#[test]
fn a_joint_that_comes_back_holds_its_bodies_where_it_did() {
    use bevy_ecs::entity_disabling::Disabled;
    let ways = ["disabled", "broken", "joint off", "body off", "static"];
    for (way, restored) in ways.into_iter().flat_map(|way| [(way, false), (way, true)]) {
        let mut simulation = Simulation::new(Settings {
            threads: 1,
            ..Settings::default()
        })
        .unwrap();
        let mass = Mass::given(1.0, DVec3::splat(0.01));
        let bar = (RigidBody::Dynamic, mass, Pose::at(0.5, 0.0, 0.0));
        let bar = simulation.spawn(bar).unwrap();
        let hinge = Joint::to_world(bar, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        let hinge = simulation.spawn_joint(hinge, ()).unwrap();
        for _ in 0..5 {
            simulation.step().unwrap();
        }
        let world = simulation.world_mut();
        match way {
            "disabled" => drop(world.entity_mut(hinge).insert(JointDisabled)),
            "broken" => drop(world.entity_mut(hinge).insert(JointBroken)),
            "joint off" => drop(world.entity_mut(hinge).insert(Disabled)),
            "body off" => drop(world.entity_mut(bar).insert(Disabled)),
            _ => drop(world.entity_mut(bar).insert(RigidBody::Static)),
        }
        for _ in 0..20 {
            assert_eq!(simulation.step().unwrap().joints, 0, "{way}");
        }
        let away = Pose::at(0.9, 0.2, -0.3).with_orientation(DQuat::from_rotation_x(0.3));
        simulation.set(bar, away);
        if restored {
            let bytes = simulation.snapshot().unwrap().to_bytes().unwrap();
            simulation.step().unwrap();
            let read = Snapshot::from_bytes(&bytes).unwrap();
            simulation.restore(&read).unwrap();
        }
        simulation.step().unwrap();
        let world = simulation.world_mut();
        world.entity_mut(hinge).remove::<JointDisabled>();
        world.entity_mut(hinge).remove::<JointBroken>();
        world.entity_mut(hinge).remove::<Disabled>();
        world.entity_mut(bar).remove::<Disabled>();
        world.entity_mut(bar).insert(RigidBody::Dynamic);
        for _ in 0..3 {
            let report = simulation.step().unwrap();
            assert_eq!(report.joints, 1, "{way}");
        }
        // It is closed to rounding at the end of a step, with its axis.
        let pose = simulation.pose(bar).unwrap();
        let anchor = pose.position + pose.orientation * DVec3::new(-0.5, 0.0, 0.0);
        let axis = pose.orientation * DVec3::Y;
        assert!(anchor.length() < 1e-9, "{way}: {anchor}");
        assert!((axis - DVec3::Y).length() < 1e-9, "{way}: {axis}");
    }
}

fn wheel(simulation: &mut Simulation, x: f64, rate: f64) -> Entity {
    let mass = Mass::given(1.0, DVec3::splat(0.1));
    let spin = Twist::from_inertial_frame(DVec3::ZERO, DVec3::Y * rate, DQuat::IDENTITY);
    let wheel = (RigidBody::Dynamic, mass, Pose::at(x, 0.0, 0.0), spin);
    simulation.spawn(wheel).unwrap()
}

fn weightless() -> Simulation {
    Simulation::new(Settings {
        gravity: DVec3::ZERO,
        sleeping: SleepSettings::OFF,
        threads: 1,
        ..Settings::default()
    })
    .unwrap()
}

/// **Law.** Limits count turns, also over a while in which their joint is out of the steps: a wheel stops at 20 rad.
#[test]
fn limits_of_a_joint_that_comes_back_count_its_turns_on() {
    for way in ["never", "joint", "body"] {
        let mut simulation = weightless();
        let wheel = wheel(&mut simulation, 0.0, 8.0);
        let limit = JointForce::Limit {
            axis: JointAxis::RotationZ,
            low: -10.0,
            high: 20.0,
            restitution: 0.0,
        };
        let hinge = Joint::to_world(wheel, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        let hinge = simulation
            .spawn_joint(hinge, JointForces(vec![limit]))
            .unwrap();
        let h = simulation.settings().time_step;
        let mut turned = 0.0;
        let mut step = |simulation: &mut Simulation| {
            simulation.step().unwrap();
            turned += h * simulation.twist(wheel).unwrap().angular.y;
            turned
        };
        while step(&mut simulation) < 15.0 {}
        match way {
            "joint" => drop(simulation.set(hinge, JointDisabled)),
            "body" => drop(simulation.set(wheel, RigidBody::Kinematic)),
            _ => {}
        }
        step(&mut simulation);
        let world = simulation.world_mut();
        world.entity_mut(hinge).remove::<JointDisabled>();
        simulation.set(wheel, RigidBody::Dynamic);
        let mut last = 0.0;
        for _ in 0..400 {
            last = step(&mut simulation);
        }
        // A limit is met within a step of its speed.
        assert!((last - 20.0).abs() <= 8.0 * h, "{way}: {last} rad");
    }
}

/// **Law.** A gear that comes back takes its wheels where they are.
#[test]
fn a_gear_that_comes_back_counts_its_turns_on() {
    let mut simulation = weightless();
    // q_a − 0.3 q_b = 0.
    let wheels = [(0.0, 3.0), (1.0, 10.0)].map(|(x, rate)| wheel(&mut simulation, x, rate));
    let axis = JointAxis::RotationZ;
    let terms = [(1.0, wheels[0]), (-0.3, wheels[1])].map(|(ratio, wheel)| {
        let at = simulation.pose(wheel).unwrap().position;
        let hinge = Joint::to_world(wheel, JointKind::Revolute).at(at, DVec3::Y);
        let joint = simulation.spawn_joint(hinge, ()).unwrap();
        CouplerTerm { joint, axis, ratio }
    });
    let joint = terms[1].joint;
    let gear = Coupler {
        terms: terms.to_vec(),
        offset: 0.0,
    };
    let gear = simulation.spawn_coupler(gear).unwrap();
    let rate = |simulation: &Simulation| simulation.twist(wheels[1]).unwrap().angular.y;
    for out in [gear, joint, gear] {
        for _ in 0..150 {
            simulation.step().unwrap();
        }
        simulation.set(out, JointDisabled);
        simulation.step().unwrap();
        let world = simulation.world_mut();
        world.entity_mut(out).remove::<JointDisabled>();
        simulation.step().unwrap();
        let turn = |wheel: Entity| simulation.pose(wheel).unwrap().orientation;
        let before = wheels.map(turn);
        simulation.step().unwrap();
        let h = simulation.settings().time_step;
        for (wheel, before) in wheels.into_iter().zip(before) {
            let now = simulation.pose(wheel).unwrap().orientation;
            let angle = before.angle_between(now);
            let own = h * simulation.twist(wheel).unwrap().angular.y;
            assert!((angle - own).abs() < 1e-9, "{angle} for {own}");
        }
        assert!((rate(&simulation) - 10.0).abs() < 1e-6);
    }
}

/// A snapshot with a body that is disabled has its joints: those that were made later go, those that went come back, and none is broken that was not.
#[test]
fn joints_of_a_disabled_body_are_those_of_the_snapshot() {
    use bevy_ecs::entity_disabling::Disabled;
    let mut simulation = weightless();
    let [a, b] = [0.0, 1.0].map(|x| wheel(&mut simulation, x, 0.0));
    let rod = |length| Joint {
        frames: JointFrames::Own([Pose::default(); 2]),
        ..Joint::new(a, b, JointKind::Distance { length })
    };
    let old = simulation.spawn_joint(rod(1.0), ()).unwrap();
    simulation.step().unwrap();
    simulation.world_mut().entity_mut(b).insert(Disabled);
    simulation.step().unwrap();
    let saved = simulation.snapshot().unwrap();
    let saved = Snapshot::from_bytes(&saved.to_bytes().unwrap()).unwrap();
    let count = |simulation: &mut Simulation| {
        let world = simulation.world_mut();
        world.query::<&Joint>().iter(world).count()
    };
    for way in ["made", "broken", "gone"] {
        simulation.world_mut().entity_mut(b).remove::<Disabled>();
        simulation.step().unwrap();
        match way {
            "made" => drop(simulation.spawn_joint(rod(1.0), (NoCollision,)).unwrap()),
            "broken" => drop(simulation.set(old, JointBroken)),
            _ => drop(simulation.despawn(old)),
        }
        simulation.step().unwrap();
        simulation.restore(&saved).unwrap();
        assert!(simulation.world().get::<Disabled>(b).is_some());
        assert_eq!(count(&mut simulation), 1, "{way}");
        simulation.step().unwrap();
        simulation.world_mut().entity_mut(b).remove::<Disabled>();
        assert_eq!(simulation.step().unwrap().joints, 1, "{way}");
        simulation.restore(&saved).unwrap();
    }
    // In a world without the disabled body there is nothing to join.
    let mut other = Simulation::from_snapshot(&saved).unwrap();
    assert_eq!(other.step().unwrap().joints, 0);
}
