//! **Law.** A given torque `τ` on a free rotor about its hinge gives `ω = τ t/I` and `φ = ½ (τ/I) t²`; its work is the change of energy, and the opposite acts on
//! the other body.
//!
//! A constant force along a straight way, or about a fixed principal axis, has no error but rounding in the symmetric scheme of joints: tolerances without
//! another reason are 1e-12 of what is measured.

use crate::support::*;
use moreau::JointError;
use moreau::scene::SceneError;

fn applied(axis: JointAxis, effort: f64) -> JointForce {
    JointForce::Applied { axis, effort }
}

fn body(mass: f64, moments: DVec3, at: DVec3) -> (RigidBody, Mass, Pose) {
    let mass = Mass::given(mass, moments);
    (RigidBody::Dynamic, mass, Pose::from_position(at))
}

/// The ledger closes, joints are closed, and the step is solved.
fn sound(report: &StepReport) {
    let energy = &report.energy;
    let moved = 1.0 + energy.kinetic + energy.potential.abs();
    assert!(energy.energy_gap.abs() <= 1e-12 * moved, "{energy:?}");
    assert!(
        report.converged && report.joint_error <= 1e-12,
        "{report:?}"
    );
}

#[test]
fn a_rotor_turns_by_half_its_acceleration_times_the_square_of_the_time() {
    let (inertia, torque) = (0.4, -0.9);
    let mut simulation = Simulation::new(weightless()).unwrap();
    let moments = DVec3::new(0.3, 0.2, inertia);
    let rotor = simulation.spawn(body(2.0, moments, DVec3::X)).unwrap();
    let hinge = Joint::to_world(rotor, JointKind::Revolute).at(DVec3::X, DVec3::Z);
    let forces = JointForces(vec![applied(JointAxis::RotationZ, torque)]);
    let hinge = simulation.spawn_joint(hinge, forces).unwrap();
    let rate = torque / inertia;
    let mut work = 0.0;
    for step in 1..=200 {
        let report = simulation.step().unwrap();
        sound(&report);
        work += report.energy.work_drives;
        let t = f64::from(step) * weightless().time_step;
        let turned = angle_between(DQuat::IDENTITY, simulation.pose(rotor).unwrap().orientation);
        let spin = simulation.twist(rotor).unwrap().angular.z;
        assert!(
            (turned - 0.5 * rate.abs() * t * t).abs() < 1e-12,
            "{turned}"
        );
        assert!((spin - rate * t).abs() < 1e-12, "{spin}");
        // All that moves it is the work of the torque.
        assert!((work - report.energy.kinetic).abs() < 1e-12, "{work}");
        assert!((work - torque * 0.5 * rate * t * t).abs() < 1e-12, "{work}");
        let effort = simulation.joint_efforts(hinge).unwrap()[0];
        assert!((effort - torque).abs() < 1e-15, "{effort}");
        let bears = simulation.joint_reaction(hinge).unwrap();
        assert!((bears.torque - DVec3::Z * torque).length() < 1e-12);
        assert!(bears.force.length() < 1e-12);
    }
}

/// About a hinge away from the centre, of second order in `h`.
#[test]
fn an_arm_turns_by_its_inertia_about_the_hinge() {
    let (mass, length, own, torque) = (1.5, 0.8, 0.3, 2.0);
    let rate = torque / (own + mass * length * length);
    let run = |steps: u32| {
        let h = 1.0 / f64::from(steps);
        let settings = Settings {
            time_step: h,
            ..weightless()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let at = DVec3::X * length;
        let arm = simulation.spawn(body(mass, DVec3::splat(own), at)).unwrap();
        let hinge = Joint::to_world(arm, JointKind::Revolute).at(DVec3::ZERO, DVec3::Z);
        let forces = JointForces(vec![applied(JointAxis::RotationZ, torque)]);
        simulation.spawn_joint(hinge, forces).unwrap();
        let mut work = 0.0;
        for _ in 0..steps {
            let report = simulation.step().unwrap();
            sound(&report);
            work += report.energy.work_drives + report.energy.work_joints;
            assert!((work - report.energy.kinetic).abs() < 1e-11, "{work}");
        }
        let turned = angle_between(DQuat::IDENTITY, simulation.pose(arm).unwrap().orientation);
        (turned - 0.5 * rate, work - torque * 0.5 * rate)
    };
    let [(coarse, spent), (fine, less)] = [100, 200].map(run);
    println!("{coarse:e} {fine:e}, {spent:e} {less:e}");
    // (ω h)²/12 of the angle at most.
    let bound = rate * rate * 1e-4 / 12.0 * 0.5 * rate;
    assert!(coarse.abs() < bound, "{coarse:e} {bound:e}");
    let ratio = coarse / fine;
    assert!(
        coarse.abs() < 1e-12 || (3.8..4.2).contains(&ratio),
        "{ratio}"
    );
}

#[test]
fn a_force_and_a_torque_have_their_opposites_on_the_other_body() {
    // In free space, with spin: momenta stay what they were.
    let mut simulation = Simulation::new(weightless()).unwrap();
    let (a, b) = (
        body(3.0, DVec3::new(0.3, 0.4, 0.5), DVec3::ZERO),
        body(1.0, DVec3::new(0.1, 0.05, 0.08), DVec3::X * 0.5),
    );
    let bodies = [a, b].map(|body| simulation.spawn(body).unwrap());
    let hinge = Joint::new(bodies[0], bodies[1], JointKind::Cylindrical);
    let axis = DVec3::new(0.3, 0.2, 1.0);
    let hinge = hinge.at(DVec3::X * 0.3, axis);
    let forces = vec![
        applied(JointAxis::RotationZ, 0.7),
        applied(JointAxis::Z, -1.1),
    ];
    let joint = simulation.spawn_joint(hinge, JointForces(forces)).unwrap();
    let momenta = |simulation: &Simulation| {
        let angular = bodies.map(|body| {
            let place = simulation.pose(body).unwrap().position;
            spin(simulation, body).unwrap() + place.cross(linear_momentum(simulation, &[body]))
        });
        [
            linear_momentum(simulation, &bodies),
            angular[0] + angular[1],
        ]
    };
    let before = momenta(&simulation);
    for _ in 0..100 {
        sound(&simulation.step().unwrap());
        for (now, before) in momenta(&simulation).iter().zip(&before) {
            assert!((*now - *before).length() < 1e-12, "{now} {before}");
        }
    }
    // Work is effort times way.
    let [a, b] = bodies.map(|body| simulation.pose(body).unwrap());
    let along = a.orientation * axis.normalize();
    let way = along.dot(b.position - a.position) - axis.normalize().dot(DVec3::X * 0.5);
    let turned = angle_between(a.orientation, b.orientation);
    let work = 0.7 * turned - 1.1 * way;
    let kinetic: f64 = bodies
        .map(|body| kinetic_energy(&simulation, body).unwrap())
        .iter()
        .sum();
    println!("{work} {kinetic} J, {turned} rad, {way} m");
    assert!(turned < 3.0 && work > 0.5, "{work} J");
    // Of second order: (Ω h)²/12 with Ω up to 10 rad/s.
    assert!((kinetic / work - 1.0).abs() < 2e-4, "{kinetic} of {work} J");
    let efforts = simulation.joint_efforts(joint).unwrap();
    assert!((efforts[0] - 0.7).abs() < 1e-12 && (efforts[1] + 1.1).abs() < 1e-12);
}

#[test]
fn two_wheels_on_one_axle_turn_against_each_other() {
    let inertias = [0.5, 0.2];
    let mut simulation = Simulation::new(weightless()).unwrap();
    let wheels = inertias.map(|inertia| {
        let moments = DVec3::new(0.6, 0.6, 1.0) * inertia;
        simulation.spawn(body(1.0, moments, DVec3::ZERO)).unwrap()
    });
    let axle = Joint::new(wheels[0], wheels[1], JointKind::Revolute).at(DVec3::ZERO, DVec3::Z);
    let forces = JointForces(vec![applied(JointAxis::RotationZ, 0.3)]);
    simulation.spawn_joint(axle, forces).unwrap();
    for step in 1..=400 {
        sound(&simulation.step().unwrap());
        let t = f64::from(step) * weightless().time_step;
        let spins = wheels.map(|wheel| simulation.twist(wheel).unwrap().angular.z);
        assert!((spins[0] + 0.3 * t / 0.5).abs() < 1e-12, "{spins:?}");
        assert!((spins[1] - 0.3 * t / 0.2).abs() < 1e-12, "{spins:?}");
    }
}

const AXES: [JointAxis; 7] = [
    JointAxis::X,
    JointAxis::Y,
    JointAxis::Z,
    JointAxis::RotationX,
    JointAxis::RotationY,
    JointAxis::RotationZ,
    JointAxis::Distance,
];

/// Along every coordinate that a joint leaves free, and along no other.
#[test]
fn every_free_coordinate_takes_a_force_and_locked_ones_refuse_it() {
    let kinds = [
        JointKind::Fixed,
        JointKind::Ball,
        JointKind::Revolute,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Planar,
        JointKind::Universal,
        JointKind::Screw { lead: 0.1 },
        JointKind::Distance { length: 0.5 },
        JointKind::Rope { length: 0.6 },
        JointKind::Generic {
            translation: [true, false, true],
            rotation: [false, false, true],
        },
    ];
    let mut free = 0;
    for (kind, axis) in kinds.iter().flat_map(|kind| AXES.map(|axis| (*kind, axis))) {
        let mut simulation = Simulation::new(weightless()).unwrap();
        // Where the joint is closed, and the origins apart along something free.
        let at = match kind {
            JointKind::Prismatic | JointKind::Cylindrical => DVec3::Z * 0.5,
            JointKind::Generic { .. } => DVec3::Y * 0.5,
            JointKind::Screw { lead } => DVec3::Z * 0.25 * lead,
            JointKind::Planar => DVec3::X * 0.5,
            JointKind::Distance { .. } | JointKind::Rope { .. } => DVec3::new(0.3, 0.4, 0.0),
            _ => DVec3::ZERO,
        };
        let mut own = body(2.0, DVec3::new(0.3, 0.4, 0.5), at);
        if let JointKind::Screw { .. } = kind {
            own.2.orientation = turn(DVec3::Z, 0.5 * std::f64::consts::PI);
        }
        let own = simulation.spawn(own);
        let frames = [Pose::default(), Pose::default()];
        let joint = Joint::to_world(own.unwrap(), kind).with_frames(frames);
        let forces = JointForces(vec![applied(axis, 1.5)]);
        let joint = match simulation.spawn_joint(joint, forces) {
            Ok(joint) => joint,
            Err(StepError::Joint { source, .. }) => {
                assert!(matches!(source, JointError::Locked { axis: of } if of == axis));
                continue;
            }
            Err(error) => panic!("{kind:?} {axis:?}: {error}"),
        };
        free += 1;
        let mut work = 0.0;
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            sound(&report);
            work += report.energy.work_drives + report.energy.work_joints;
            assert!(
                (work - report.energy.kinetic).abs() < 1e-12,
                "{kind:?} {axis:?}"
            );
            let effort = simulation.joint_efforts(joint).unwrap()[0];
            assert!((effort - 1.5).abs() < 1e-12, "{kind:?} {axis:?}: {effort}");
        }
        // The least is that along the screw, whose turning is 2 t of inertia.
        assert!(work > 5e-6, "{kind:?} {axis:?}: {work} J");
    }
    // In the order of the kinds, with the distance where it is not given.
    assert_eq!(free, 3 + 1 + 2 + 3 + 4 + 2 + 3 + 6 + 7 + 4);
}

#[test]
fn rotors_and_couplers_take_their_part() {
    let mut simulation = Simulation::new(weightless()).unwrap();
    let (inertias, armature, ratio, torque) = ([0.3, 0.7], 0.25, -2.0, 1.3);
    let mut hinges = Vec::new();
    let mut wheels = Vec::new();
    for (index, inertia) in inertias.into_iter().enumerate() {
        let at = DVec3::X * index as f64;
        let wheel = simulation.spawn(body(1.0, DVec3::new(0.6, 0.6, 1.0) * inertia, at));
        let wheel = wheel.unwrap();
        let hinge = Joint::to_world(wheel, JointKind::Revolute).at(at, DVec3::Z);
        let forces = if index == 0 {
            let inertia = armature;
            let axis = JointAxis::RotationZ;
            vec![
                applied(axis, torque),
                JointForce::Armature { axis, inertia },
            ]
        } else {
            Vec::new()
        };
        hinges.push(simulation.spawn_joint(hinge, JointForces(forces)).unwrap());
        wheels.push(wheel);
    }
    let gear = Coupler::gear(hinges[0], hinges[1], ratio);
    let gear = simulation.spawn_coupler(gear).unwrap();
    let rate = torque / (inertias[0] + armature + ratio * ratio * inertias[1]);
    for step in 1..=200 {
        sound(&simulation.step().unwrap());
        let t = f64::from(step) * weightless().time_step;
        let spin = simulation.twist(wheels[0]).unwrap().angular.z;
        assert!((spin - rate * t).abs() < 1e-11, "{spin}");
        let pulls = simulation.coupler_force(gear).unwrap();
        assert!((pulls - ratio * rate * inertias[1]).abs() < 1e-9, "{pulls}");
        let efforts = simulation.joint_efforts(hinges[0]).unwrap();
        assert!((efforts[0] - torque).abs() < 1e-12 && (efforts[1] + armature * rate).abs() < 1e-9);
    }
}

/// A block of 2 kg on a floor with μ = 0.5, pushed along x by a joint: it slides with what is beyond `μ m g`.
#[test]
fn a_push_over_a_floor_is_resisted_by_friction() {
    let (mass, friction) = (2.0, 0.5);
    for effort in [0.9 * friction * mass * G, 1.5 * friction * mass * G] {
        let mut simulation = Simulation::new(reference()).unwrap();
        let material = Material::with_friction(friction);
        ground(&mut simulation, material);
        let block = (
            RigidBody::Dynamic,
            Collider::cuboid(0.5, 0.5, 0.1),
            material,
            Mass::scaled_to(mass),
            Pose::at(0.0, 0.0, 0.1),
        );
        let block = simulation.spawn(block).unwrap();
        let free = JointKind::Generic {
            translation: [false; 3],
            rotation: [false; 3],
        };
        let joint = Joint::to_world(block, free).at(DVec3::ZERO, DVec3::Z);
        let forces = JointForces(vec![applied(JointAxis::X, effort)]);
        simulation.spawn_joint(joint, forces).unwrap();
        for _ in 0..100 {
            assert!(simulation.step().unwrap().converged);
        }
        let speed = simulation.twist(block).unwrap().linear.x;
        let expected = (effort / mass - friction * G).max(0.0) * simulation.time();
        // Goal of the solves, 1e-11 of the impulses.
        assert!((speed - expected).abs() < 1e-8, "{speed} {expected}");
    }
}

/// A wagon of 2 kg on a slider, pushed against the end of its way.
fn wagon(forces: Vec<JointForce>) -> (Simulation, Entity, Entity) {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let wagon = body(2.0, DVec3::splat(0.1), DVec3::ZERO);
    let wagon = simulation.spawn(wagon).unwrap();
    let slider = Joint::to_world(wagon, JointKind::Prismatic).at(DVec3::ZERO, DVec3::X);
    let slider = simulation.spawn_joint(slider, JointForces(forces)).unwrap();
    (simulation, wagon, slider)
}

#[test]
fn what_it_presses_against_a_stop_sleeps_until_it_is_changed() {
    let stop = JointForce::Limit {
        axis: JointAxis::Z,
        low: -1.0,
        high: 0.0,
        restitution: 0.0,
    };
    let pushed = |effort| vec![stop, applied(JointAxis::Z, effort)];
    let (mut simulation, wagon, slider) = wagon(pushed(3.0));
    for _ in 0..300 {
        simulation.step().unwrap();
    }
    assert!(simulation.is_sleeping(wagon));
    let holds = simulation.joint_efforts(slider).unwrap();
    assert!(
        (holds[0] + 3.0).abs() < 1e-6 && (holds[1] - 3.0).abs() < 1e-12,
        "{holds:?}"
    );
    simulation.set(slider, JointForces(pushed(-3.0)));
    for _ in 0..40 {
        simulation.step().unwrap();
    }
    let x = simulation.pose(wagon).unwrap().position.x;
    let right = -0.5 * 1.5 * 0.2 * 0.2;
    assert!((x - right).abs() < 1e-10, "{x} of {right} m");
}

#[test]
fn what_it_moves_slowly_does_not_fall_asleep() {
    // 1 mm/s against a damper, below the speed at rest.
    let damper = JointForce::Spring {
        axis: JointAxis::Z,
        stiffness: 0.0,
        damping: 1000.0,
        rest: 0.0,
    };
    let (mut simulation, wagon, _) = wagon(vec![damper, applied(JointAxis::Z, 1.0)]);
    for _ in 0..2000 {
        simulation.step().unwrap();
    }
    let x = simulation.pose(wagon).unwrap().position.x;
    assert!((x - 0.01).abs() < 1e-4, "{x} of 0.01 m");
}

#[test]
fn an_effort_that_is_no_number_is_refused() {
    for effort in [f64::NAN, f64::INFINITY] {
        let (mut simulation, wagon, slider) = wagon(vec![applied(JointAxis::Z, 1.0)]);
        let again = Joint::to_world(wagon, JointKind::Prismatic).at(DVec3::ZERO, DVec3::X);
        let bad = JointForces(vec![applied(JointAxis::Z, effort)]);
        let refused = simulation.spawn_joint(again, bad.clone());
        let is_named = |error: &StepError| {
            let StepError::Joint { source, .. } = error else {
                return false;
            };
            matches!(
                source,
                JointError::Field {
                    field: "applied effort",
                    ..
                }
            )
        };
        assert!(refused.is_err_and(|error| is_named(&error)));
        // The same between steps.
        simulation.set(slider, bad);
        let before = simulation.pose(wagon).unwrap();
        assert!(simulation.step().is_err_and(|error| is_named(&error)));
        assert_eq!(simulation.pose(wagon).unwrap(), before);
    }
}

fn scene(effort: &str, axis: &str) -> Scene {
    let text = format!(
        r#"
[settings]
gravity = [0.0, 0.0, 0.0]

[[bodies]]
name = "wheel"
kind = "dynamic"
shape = {{ sphere = {{ radius = 0.5 }} }}

[[joints]]
b = "wheel"
kind = "revolute"
forces = [{{ applied = {{ axis = "{axis}", effort = {effort} }} }}]
"#
    );
    Scene::from_toml(&text, "").unwrap()
}

#[test]
fn scenes_have_given_forces() {
    let of = scene("2.0", "rotation_z");
    assert_eq!(Scene::from_toml(&of.to_toml().unwrap(), "").unwrap(), of);
    let mut run = of.start().unwrap();
    for _ in 0..100 {
        run.step().unwrap();
    }
    let wheel = run.body("wheel").unwrap();
    let inertia = mass(&run.simulation, wheel).unwrap().principal_inertia().z;
    let spin = run.simulation.twist(wheel).unwrap().angular.z;
    let right = 2.0 / inertia * run.simulation.time();
    assert!((spin / right - 1.0).abs() < 1e-12, "{spin} {right}");
    for (effort, axis) in [("nan", "rotation_z"), ("2.0", "rotation_x")] {
        let refused = scene(effort, axis).start();
        assert!(matches!(refused, Err(SceneError::Refused { .. })));
    }
}
