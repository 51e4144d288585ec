//! The engine beside exact motions of the joint references.

use bevy_ecs::entity::Entity;
use moreau::prelude::*;
use moreau::rotation::exp;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4};

fn settings(h: f64) -> Settings {
    Settings {
        time_step: h,
        gravity: DVec3::NEG_Z * moreau_tests::G,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    }
}

/// A bar of length 1 along x, turned by `turn` about y.
fn bar(simulation: &mut Simulation, position: DVec3, turn: f64) -> Entity {
    let body = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::new(0.1, 1.0, 1.0)),
        Pose::from_position(position).with_orientation(exp(DVec3::Y * turn)),
    );
    simulation.spawn(body).unwrap()
}

/// One step, with joints closed.
fn step(simulation: &mut Simulation) {
    let report = simulation.step().unwrap();
    assert!(report.converged, "{:?}", report.status);
    assert!(report.joint_error <= 1e-9, "{}", report.joint_error);
}

/// Angle of a bar about the origin below the horizontal.
fn angle(simulation: &Simulation, bar: Entity) -> f64 {
    let x = simulation.pose(bar).unwrap().position;
    libm::atan2(-x.z, x.x)
}

/// Bars of the chain, with a hinge or a ball on the ground.
fn chain(
    simulation: &mut Simulation,
    first: JointKind,
    forces: Vec<JointForce>,
) -> ([Entity; 3], Entity) {
    let c = FRAC_1_SQRT_2;
    let bars = [
        (DVec3::new(0.5 * c, 0.0, -0.5 * c), FRAC_PI_4),
        (DVec3::new(0.5 * c, 0.0, -1.5 * c), -FRAC_PI_4),
        (DVec3::new(0.0, 0.0, -2.0 * c - 0.5), FRAC_PI_2),
    ];
    let bars = bars.map(|(x, turn)| bar(simulation, x, turn));
    let ground = Joint::to_world(bars[0], first).at(DVec3::ZERO, DVec3::Y);
    let ground = simulation.spawn_joint(ground, JointForces(forces)).unwrap();
    let elbow = DVec3::new(c, 0.0, -c);
    let wrist = DVec3::new(0.0, 0.0, -2.0 * c);
    for joint in [
        Joint::new(bars[0], bars[1], JointKind::Ball).at(elbow, DVec3::Y),
        Joint::new(bars[1], bars[2], JointKind::Ball).at(wrist, DVec3::Y),
        Joint::to_world(bars[2], JointKind::Prismatic).at(DVec3::ZERO, DVec3::Z),
    ] {
        simulation.spawn_joint(joint, ()).unwrap();
    }
    (bars, ground)
}

/// Free motion is of second order; the exact angles have seven digits.
#[test]
fn a_pendulum_swings_to_second_order() {
    let exact = [(1.0, 1.8313313), (5.0, 2.3524441), (10.0, 0.8003717)];
    let errors = [1e-2, 5e-3].map(|h| {
        let mut simulation = Simulation::new(settings(h)).unwrap();
        let at = DVec3::new(1.0, 0.0, -1.0) * 0.5 * FRAC_1_SQRT_2;
        let bar = bar(&mut simulation, at, FRAC_PI_4);
        let pin = Joint::to_world(bar, JointKind::Ball).at(DVec3::ZERO, DVec3::Y);
        simulation.spawn_joint(pin, ()).unwrap();
        let mut begin = 0.0;
        exact.map(|(t, exact)| {
            for _ in 0..((t - begin) / h).round() as usize {
                step(&mut simulation);
            }
            begin = t;
            (angle(&simulation, bar) - exact).abs()
        })
    });
    println!("pendulum at 1, 5 and 10 s: {errors:?}");
    for k in 0..3 {
        let ratio = errors[0][k] / errors[1][k];
        assert!((3.8..=4.2).contains(&ratio), "{errors:?}");
        assert!(errors[0][k] <= 6e-5, "{errors:?}");
    }
}

/// Largest errors of the angle of the first bar over 10 s, and of its rate, where a motor drives it at `cos(π t/2)`: asked for in the middle of each step.
fn driven(h: f64, whole_chain: bool) -> [f64; 2] {
    let mut simulation = Simulation::new(settings(h)).unwrap();
    let motor = |velocity: f64| JointForce::Motor {
        axis: JointAxis::RotationZ,
        position: 0.0,
        velocity,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort: f64::INFINITY,
    };
    let forces = vec![motor(1.0)];
    let (arm, hinge) = if whole_chain {
        let (bars, hinge) = chain(&mut simulation, JointKind::Revolute, forces);
        (bars[0], hinge)
    } else {
        let at = DVec3::new(1.0, 0.0, -1.0) * 0.5 * FRAC_1_SQRT_2;
        let arm = bar(&mut simulation, at, FRAC_PI_4);
        let hinge = Joint::to_world(arm, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        let hinge = simulation.spawn_joint(hinge, JointForces(forces)).unwrap();
        (arm, hinge)
    };
    let (mut angles, mut rates) = (0.0_f64, 0.0_f64);
    for k in 1..=(10.0 / h).round() as usize {
        let t = k as f64 * h;
        let asked = libm::cos(FRAC_PI_2 * (t - 0.5 * h));
        let world = simulation.world_mut();
        world.get_mut::<JointForces>(hinge).unwrap().0[0] = motor(asked);
        step(&mut simulation);
        let exact = FRAC_PI_4 + libm::sin(FRAC_PI_2 * t) / FRAC_PI_2;
        angles = angles.max((angle(&simulation, arm) - exact).abs());
        let rate = simulation.twist(arm).unwrap().angular.y;
        rates = rates.max((rate - asked).abs());
    }
    [angles, rates]
}

/// An unbounded motor has its rate at the end of every step, to rounding, whatever it drives. The angles are those of the midpoint rule on the rate that is asked for, the first step
/// from rest included: second order.
#[test]
fn an_unbounded_motor_holds_its_rate() {
    for whole_chain in [false, true] {
        let errors = [1e-2, 5e-3].map(|h| driven(h, whole_chain));
        println!("driven, whole chain {whole_chain}, angle and rate: {errors:?}");
        assert!(errors.iter().all(|[_, rate]| *rate <= 1e-12), "{errors:?}");
        let ratio = errors[0][0] / errors[1][0];
        assert!((3.9..=4.1).contains(&ratio), "{errors:?}");
    }
}

/// The slider meets the floor at 1.778 m/s and 1.05 m/s², and impacts act at an end of the step in which they happen: times are within two steps and
/// velocities within what a step adds. After all of them the chain lies still.
#[test]
fn a_chain_strikes_the_floor_and_comes_to_rest() {
    let exact = [
        0.351778235,
        0.99969592,
        1.59584378,
        2.14368099,
        2.64636664,
        3.10684567,
    ];
    for h in [1e-2, 5e-3, 1e-3, 5e-4] {
        let mut simulation = Simulation::new(settings(h)).unwrap();
        let material = Material {
            restitution: 0.9,
            friction: 0.0,
            ..Material::default()
        };
        let floor = Pose::at(0.0, 0.0, -2.4);
        let floor = (
            RigidBody::Static,
            Collider::half_space(DVec3::Z),
            material,
            floor,
        );
        simulation.spawn(floor).unwrap();
        let (bars, _) = chain(&mut simulation, JointKind::Ball, Vec::new());
        let slider = bars[2];
        let shape = (Collider::sphere(0.1), material);
        simulation.world_mut().entity_mut(slider).insert(shape);
        let mut impacts = Vec::new();
        let (mut before, mut lowest) = (0.0, 0.0_f64);
        for k in 1..=(10.0 / h).round() as usize {
            step(&mut simulation);
            let v = simulation.twist(slider).unwrap().linear.z;
            if before < 0.0 && v > 1e-3 {
                impacts.push((k as f64 * h, before, v));
            }
            before = v;
            lowest = lowest.min(simulation.pose(slider).unwrap().position.z + 2.3);
        }
        let late = impacts
            .iter()
            .zip(exact)
            .map(|(impact, t)| (impact.0 - t).abs());
        let late = late.fold(0.0, f64::max);
        let (_, down, up) = impacts[0];
        println!(
            "chain at {h}: impacts late by {late:.1e} s, first {down:.5} and {up:.5} m/s, lowest {lowest:.1e} m"
        );
        assert!(late <= 2.0 * h, "{impacts:?}");
        assert!((down + 1.77784577).abs() <= 1.1 * h, "{down}");
        assert!((up - 0.9 * 1.77784577).abs() <= 1.1 * h, "{up}");
        assert!(lowest >= -1e-5, "{lowest:e}");
        let z = simulation.pose(slider).unwrap().position.z + 2.3;
        assert!(z.abs() <= 1e-9 && before.abs() <= 1e-9, "{z:e} {before:e}");
    }
}
