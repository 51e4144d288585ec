//! **Law.** Motors that hold rates are as strong as they are said to be. Where they contradict each other, no impulses give them their rates, which the status says: joints are
//! closed to rounding as in every step, and what moves is between what the motors ask for. Where a load grows beyond a bound on the way, the effort is the bound.

use crate::support::*;

fn turning(velocity: f64) -> JointForces {
    motor(JointAxis::RotationZ, velocity, f64::INFINITY)
}

/// A slender bar of `mass` (kg) between two points.
fn bar(simulation: &mut Simulation, [from, to]: [DVec3; 2], mass: f64) -> Entity {
    let way = to - from;
    let across = mass * way.length_squared() / 12.0;
    let body = (
        RigidBody::Dynamic,
        Mass::given(mass, DVec3::new(1e-3 * mass, across, across)),
        Pose::from_position((from + to) / 2.0)
            .with_orientation(DQuat::from_rotation_arc(DVec3::X, way.normalize())),
    );
    simulation.spawn(body).unwrap()
}

#[test]
fn a_fourbar_with_two_motors_that_contradict_each_other_stays_closed() {
    let points = [[0.0, 0.0], [0.2, 0.3], [0.9, 0.6], [1.0, 0.0]];
    let points = points.map(|[x, z]| DVec3::new(x, 0.0, z));
    for time_step in [1e-3, 4e-3, 1.0 / 60.0] {
        for of_rocker in [2.0, -2.0] {
            let mut simulation = Simulation::new(Settings {
                time_step,
                threads: 1,
                ..Settings::default()
            })
            .unwrap();
            let bars = [1.0, 2.0, 1.5].into_iter().enumerate();
            let bars: Vec<Entity> = bars
                .map(|(k, mass)| bar(&mut simulation, [points[k], points[k + 1]], mass))
                .collect();
            let [crank, coupler, rocker] = bars[..] else {
                unreachable!()
            };
            let hinges = [
                (Joint::to_world(crank, JointKind::Revolute), turning(2.0)),
                (
                    Joint::new(crank, coupler, JointKind::Revolute),
                    JointForces::default(),
                ),
                (
                    Joint::new(coupler, rocker, JointKind::Revolute),
                    JointForces::default(),
                ),
                (
                    Joint::to_world(rocker, JointKind::Revolute),
                    turning(of_rocker),
                ),
            ];
            for ((hinge, forces), point) in hinges.into_iter().zip(points) {
                simulation
                    .spawn_joint(hinge.at(point, DVec3::Y), forces)
                    .unwrap();
            }
            let (mut open, mut rate, mut kinetic) = (0.0_f64, 0.0_f64, 0.0_f64);
            let mut told = false;
            while simulation.time() < 1.0 {
                let report = simulation.step().unwrap();
                told |= !report.converged;
                open = open.max(report.joint_error);
                rate = rate.max(report.joint_velocity);
                kinetic = kinetic.max(report.energy.kinetic);
            }
            println!("h {time_step}, {of_rocker}: open {open:e}, {rate:e}, at most {kinetic} J");
            assert!(told);
            // As of any joint, docs/joints.md.
            assert!(open < 1e-9 && rate < 1e-9, "{open:e} {rate:e}");
            // Bars of 1 m and 4.5 kg in all, none of whose ends is faster than some 4 m/s at 2 rad/s.
            assert!(kinetic < 0.5 * 4.5 * 16.0, "{kinetic} J");
        }
    }
}

/// A load of 1 kg that a motor of 25 N lets out along an arm at 0.5 m/s, while the arm turns at 5 rad/s: `m ω² r` is its bound at 1 m.
#[test]
fn a_motor_that_holds_a_rate_never_pulls_beyond_its_effort() {
    for time_step in [1e-3, 4e-3, 1.0 / 60.0] {
        let mut simulation = Simulation::new(Settings {
            time_step,
            gravity: DVec3::ZERO,
            threads: 1,
            ..Settings::default()
        })
        .unwrap();
        let hub = (RigidBody::Dynamic, Mass::given(1.0, DVec3::splat(0.1)));
        let hub = simulation.spawn(hub).unwrap();
        let hinge = Joint::to_world(hub, JointKind::Revolute).at(DVec3::ZERO, DVec3::Z);
        simulation.spawn_joint(hinge, turning(5.0)).unwrap();
        let mass = Mass::given(1.0, DVec3::splat(0.01));
        let load = (RigidBody::Dynamic, mass, Pose::at(0.5, 0.0, 0.0));
        let load = simulation.spawn(load).unwrap();
        let slider = Joint::new(hub, load, JointKind::Prismatic).at(DVec3::X * 0.5, DVec3::X);
        let motor = motor(JointAxis::Z, 0.5, 25.0);
        let slider = simulation.spawn_joint(slider, motor).unwrap();
        let mut most = 0.0_f64;
        while simulation.time() < 1.5 {
            simulation.step().unwrap();
            most = most.max(simulation.joint_efforts(slider).unwrap()[0].abs());
        }
        let way = simulation.pose(load).unwrap().position.length();
        println!("h {time_step}: at most {most} N, in the end at {way} m");
        // A sum of two, over h.
        assert!(most <= 25.0 * (1.0 + 1e-12), "{most} N");
        // It was reached, and the load then goes faster than it is let.
        assert!(most > 24.9 && way > 1.25, "{most} N, {way} m");
    }
}

/// Two motors of the same bound that are to go at opposite rates: neither wins, whatever the bound. On one slider they cancel until gravity has brought it to the rate of one of
/// them, which then bears its weight; on two sliders that a coupler lets go against each other nothing moves.
#[test]
fn of_two_motors_against_each_other_none_wins() {
    for effort in [1e2, 1e4, 1e6, 1e8, 1e10] {
        for coupled in [false, true] {
            against_each_other(effort, coupled);
        }
    }
}

fn against_each_other(effort: f64, coupled: bool) {
    let time_step = 1.0 / 60.0;
    let settings = Settings {
        time_step,
        threads: 1,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let motor = |velocity: f64| JointForce::Motor {
        axis: JointAxis::Z,
        position: 0.0,
        velocity,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort,
    };
    let mut slider = |x: f64, forces: Vec<JointForce>| {
        let mass = Mass::given(1.0, DVec3::splat(0.1));
        let body = (RigidBody::Dynamic, mass, Pose::at(x, 0.0, 0.0));
        let body = simulation.spawn(body).unwrap();
        let slide = Joint::to_world(body, JointKind::Prismatic).at(DVec3::X * x, DVec3::Z);
        let slide = simulation.spawn_joint(slide, JointForces(forces)).unwrap();
        (body, slide)
    };
    let body = if coupled {
        let (body, first) = slider(0.0, vec![motor(-1.0)]);
        let (_, second) = slider(3.0, vec![motor(-1.0)]);
        let axis = JointAxis::Z;
        let coupler = Coupler::mimic((second, axis), (first, axis), -1.0, 0.0);
        simulation.spawn_coupler(coupler).unwrap();
        body
    } else {
        slider(0.0, vec![motor(-1.0), motor(1.0)]).0
    };
    for _ in 0..60 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{effort:e}: {:?}", report.status);
    }
    let moved = simulation.pose(body).unwrap().position.z;
    // It falls for 1/g s to the rate of 1 m/s; implicit steps are half a step behind or ahead.
    let expected = if coupled { 0.0 } else { -1.0 + 0.5 / 9.81 };
    let off = (moved - expected).abs();
    assert!(off <= time_step, "{effort:e}, coupled {coupled}: {moved} m");
}
