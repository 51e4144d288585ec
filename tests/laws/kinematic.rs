//! **Law.** Kinematic bodies keep the motion they are given and drive others through the contact law:
//! a conveyor drags a block with the acceleration `μ g` up to its own speed; a lift carries a body without slip as
//! long as its acceleration stays inside the friction cone. Bodies meet only if their groups say so, and
//! bodies that cannot move never meet each other.
//!
//! Velocities are exact in the scheme (1e-9: the solver's 1e-11 over the steps). A pushed body advances with
//! θ = 1, as kinematic bodies do, so relative positions stay to the same accuracy.

use crate::support::*;

fn belt(simulation: &mut Simulation, twist: Twist, mu: f64) -> Entity {
    simulation
        .spawn((
            RigidBody::Kinematic,
            Collider::cuboid(5.0, 1.0, 0.1),
            Material::with_friction(mu),
            Pose::at(0.0, 0.0, -0.1),
            twist,
        ))
        .unwrap()
}

fn block(simulation: &mut Simulation, mu: f64) -> Entity {
    simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            Material::with_friction(mu),
            Pose::at(0.0, 0.0, 0.1),
        ))
        .unwrap()
}

#[test]
fn a_conveyor_drags_a_block_to_its_speed() {
    let (mu, speed) = (0.3, 1.5);
    let mut simulation = Simulation::new(reference()).unwrap();
    let belt = belt(&mut simulation, Twist::linear(speed, 0.0, 0.0), mu);
    let block = block(&mut simulation, mu);
    let reached = speed / (mu * G);
    let h = simulation.settings().time_step;
    while simulation.time() < 2.0 * reached {
        simulation.step().unwrap();
        let t = simulation.time();
        let expected = (mu * G * t).min(speed);
        let v = simulation.twist(block).unwrap();
        assert!(
            (v.linear - DVec3::X * expected).length() <= 1e-9,
            "{} at {t} s",
            v.linear
        );
        assert!(v.angular.length() <= 1e-9);
        let ran = simulation.pose(belt).unwrap().position.x;
        assert!((ran - speed * t).abs() <= 1e-12);
    }
    // Driving power: friction force times belt speed while it slips, nothing afterwards.
    let report = simulation.step().unwrap();
    assert!(report.energy.work_external.abs() <= 1e-9 * h);
}

#[test]
fn a_lift_carries_a_body_without_slip() {
    // A circle in a vertical plane, radius 0.5 m, 2 rad/s: 2 m/s², inside the cone of μ = 0.5.
    let mut simulation = Simulation::new(reference()).unwrap();
    let lift = belt(&mut simulation, Twist::default(), 0.5);
    let block = block(&mut simulation, 0.5);
    let h = simulation.settings().time_step;
    let mut worst: f64 = 0.0;
    // From rest: the speed grows over the first second.
    for step in 0..800 {
        let t = (f64::from(step) + 1.0) * h;
        let (sin, cos) = libm::sincos(2.0 * t);
        let speed = t.min(1.0);
        simulation.set(lift, Twist::linear(-speed * sin, 0.0, speed * cos));
        simulation.step().unwrap();
        let relative =
            simulation.pose(block).unwrap().position - simulation.pose(lift).unwrap().position;
        worst = worst.max((relative - DVec3::new(0.0, 0.0, 0.2)).length());
        for contact in simulation.contacts() {
            assert!(contact.impulse.x > 0.0, "lifts off at {t} s");
            assert!(contact.local_velocity.length() <= 1e-9);
        }
    }
    assert!(worst <= 1e-9, "slips by {worst:e} m");
}

#[test]
fn a_turntable_carries_a_body_along() {
    // A block near the axis of a turntable, 3 rad/s at 0.2 m: 1.8 m/s² < μ g.
    let drift = |h: f64| {
        let mut simulation = Simulation::new(Settings {
            time_step: h,
            ..reference()
        })
        .unwrap();
        let table = belt(&mut simulation, Twist::default(), 0.5);
        let block = simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::cuboid(0.05, 0.05, 0.05),
                Pose::at(0.2, 0.0, 0.05),
                Twist {
                    linear: DVec3::new(0.0, 0.6, 0.0),
                    angular: DVec3::new(0.0, 0.0, 3.0),
                },
            ))
            .unwrap();
        simulation.set(
            table,
            Twist {
                linear: DVec3::ZERO,
                angular: DVec3::new(0.0, 0.0, 3.0),
            },
        );
        for _ in 0..(0.5_f64 / h).round() as usize {
            simulation.step().unwrap();
        }
        let expected = turn(DVec3::Z, 3.0 * simulation.time()) * DVec3::new(0.2, 0.0, 0.05);
        (simulation.pose(block).unwrap().position - expected).length()
    };
    // The chord of each step: no error but the solver's 1e-11 of g h, over half a second.
    for h in [2e-2, 2e-3, 1e-3] {
        let off = drift(h);
        assert!(off < 1e-10, "off by {off:e} m at h = {h}");
    }
}

#[test]
fn bodies_meet_only_if_both_masks_agree() {
    let groups = |memberships, mask| CollisionGroups { memberships, mask };
    // (ball, ground) and whether the ball is carried.
    let cases = [
        (groups(1, 1), groups(1, 1), true),
        (groups(1, 2), groups(2, 1), true),
        (groups(1, 2), groups(1, 1), false),
        (groups(1, 2), groups(2, 2), false),
        (groups(1, 0), CollisionGroups::default(), false),
    ];
    for (of_ball, of_ground, carried) in cases {
        let mut simulation = Simulation::new(reference()).unwrap();
        simulation
            .spawn((RigidBody::Static, Collider::half_space(DVec3::Z), of_ground))
            .unwrap();
        let ball = simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::sphere(0.5),
                of_ball,
                Pose::at(0.0, 0.0, 0.5),
            ))
            .unwrap();
        for _ in 0..20 {
            simulation.step().unwrap();
        }
        let fell = simulation.pose(ball).unwrap().position.z < 0.49;
        assert_eq!(fell, !carried, "{of_ball:?} on {of_ground:?}");
        assert_eq!(simulation.contacts().is_empty(), !carried);
    }
}

#[test]
fn bodies_that_cannot_move_never_meet() {
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    for kind in [RigidBody::Static, RigidBody::Kinematic] {
        for x in [0.0, 0.3] {
            simulation
                .spawn((
                    kind,
                    Collider::sphere(0.5),
                    Pose::at(x, 0.0, 0.1),
                    Twist::linear(1.0, 0.0, 0.0),
                ))
                .unwrap();
        }
    }
    for _ in 0..10 {
        assert_eq!(simulation.step().unwrap().contacts, 0);
    }
}

/// The velocity of a point of a turntable is a tangent; along it a body would leave its circle by `hω²/2` of the radius a second: 11 cm in
/// 20 s here. What sticks to the table moves along the chord of the step instead, and its distance from the axis stays.
#[test]
fn what_a_turntable_carries_stays_on_its_circle() {
    for (omega, h) in [(2.0, 1.0 / 200.0), (2.0, 1.0 / 50.0), (-1.0, 1.0 / 200.0)] {
        let settings = Settings {
            time_step: h,
            ..reference()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let turning = Twist {
            linear: DVec3::ZERO,
            angular: DVec3::Z * omega,
        };
        belt(&mut simulation, turning, 0.8);
        let block = (
            RigidBody::Dynamic,
            Collider::cuboid(0.05, 0.05, 0.05),
            Material::with_friction(0.8),
            Pose::at(0.5, 0.0, 0.05),
            Twist {
                linear: DVec3::new(0.0, 0.5 * omega, 0.0),
                angular: DVec3::new(0.0, 0.0, omega),
            },
        );
        let block = simulation.spawn(block).unwrap();
        while simulation.time() < 20.0 {
            simulation.step().unwrap();
        }
        let end = simulation.pose(block).unwrap().position;
        let radius = libm::hypot(end.x, end.y);
        // Slips of the solver's tolerance, 1e-11 of g h, add up over 4,000 steps.
        assert!((radius - 0.5).abs() <= 1e-7, "ω {omega}, h {h}: {radius}");
    }
}

/// Movers of every shape come at up to a size of the body a step and turn by up to 1.5 rad in it; they hit a body at rest that nothing else touches. What they move gets a velocity of that order: it is not put aside
/// without an impulse, as 2.5 % of these were.
#[test]
fn what_a_turning_mover_strikes_gets_a_velocity() {
    let settings = Settings {
        gravity: DVec3::ZERO,
        restitution_threshold: Some(0.0),
        ..Settings::default()
    };
    let h = settings.time_step;
    let mut hits = 0;
    for seed in 0..1000 {
        let mut drawn = Lcg::new(seed);
        let (own, other) = (0.5, 0.5 * libm::exp(1.2 * drawn.symmetric()));
        let [hull, mover] = [own, other].map(|size| any_shape(&mut drawn, size));
        let material = || Material {
            restitution: if seed & 2 == 0 { 0.0 } else { 0.6 },
            ..Material::with_friction(if seed & 1 == 0 { 0.0 } else { 0.5 })
        };
        let placed = |position: DVec3, orientation: DQuat| Pose {
            position,
            orientation,
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let struck = simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::new(hull),
                placed(DVec3::ZERO, drawn.rotation()),
                material(),
            ))
            .unwrap();
        let (way, speed, steps) = (
            unit(&mut drawn),
            own / h * part(&mut drawn, 0.02),
            part(&mut drawn, 0.0),
        );
        let ahead = 2.0 * (own + other);
        let aside = unit(&mut drawn) * 0.3 * own;
        let twist = Twist {
            linear: way * speed,
            angular: unit(&mut drawn) * (1.5 / h * part(&mut drawn, 0.0)),
        };
        simulation
            .spawn((
                RigidBody::Kinematic,
                Collider::new(mover),
                placed(aside - way * (ahead + speed * h * steps), drawn.rotation()),
                twist,
                material(),
            ))
            .unwrap();
        for _ in 0..(2.5 * ahead / (speed * h)) as usize + 2 {
            simulation.step().unwrap();
        }
        let way = simulation.pose(struck).unwrap().position.length();
        let after = simulation.twist(struck).unwrap().linear.length();
        hits += usize::from(way > 0.0);
        assert!(
            way <= 1e-3 * own || after > 0.01 * speed,
            "seed {seed}: moved by {way} m at {after} m/s, struck at {speed} m/s"
        );
    }
    assert!(hits > 900, "{hits}");
}
