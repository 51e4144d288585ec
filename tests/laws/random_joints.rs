//! **Law.** Joints, couplers and rotors of any graph do no work and leave the momenta of what floats; redundant ones change nothing; removing some gains
//! no energy.
//!
//! Random graphs of boxes, with all kinds, loops and couplers, in free flight. Bounds: momenta and closed rows to rounding at these lengths and masses;
//! energies of second order in `h`, with the bound of a step on what joints do, 1e-5, summed up.

use crate::support::*;

struct Graph {
    simulation: Simulation,
    bodies: Vec<Entity>,
    joints: Vec<Entity>,
}

const KINDS: [JointKind; 9] = [
    JointKind::Fixed,
    JointKind::Ball,
    JointKind::Revolute,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::Universal,
    JointKind::Screw { lead: 0.3 },
    JointKind::Distance { length: 0.6 },
];

fn between(random: &mut Lcg, low: f64, high: f64) -> f64 {
    low + (high - low) * random.uniform()
}

fn vector(random: &mut Lcg, scale: f64) -> DVec3 {
    random.symmetric_vector() * scale
}

/// A tree of up to nine bodies, with couplers and rotors, and balls that close loops, so many a body in the mean.
fn graph(seed: u64, h: f64, (spread, loops): (f64, f64), offset: DVec3) -> Graph {
    let mut random = Lcg::new(seed);
    let settings = Settings {
        time_step: h,
        gravity: DVec3::ZERO,
        ..reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let count = 2 + (between(&mut random, 0.0, 8.0) as usize);
    let (mut bodies, mut joints) = (Vec::new(), Vec::new());
    let mut places: Vec<DVec3> = Vec::new();
    let mut free = Vec::new();
    for k in 0..count {
        let mass = libm::pow(10.0, between(&mut random, -spread, spread));
        let at = DVec3::X * (0.5 * k as f64) + vector(&mut random, 0.1);
        let body = (
            RigidBody::Dynamic,
            Mass::given(mass, DVec3::new(0.02, 0.03, 0.04) * mass),
            Pose::from_position(offset + at),
        );
        let body = simulation.spawn(body).unwrap();
        if k > 0 {
            let to = between(&mut random, 0.0, k as f64) as usize;
            let kind = KINDS[between(&mut random, 0.0, 9.0) as usize];
            let kind = match kind {
                JointKind::Distance { .. } => JointKind::Distance {
                    length: (at - places[to]).length(),
                },
                kind => kind,
            };
            let joint = Joint::new(bodies[to], body, kind);
            let joint = match kind {
                JointKind::Distance { .. } => joint.with_frames([Pose::default(); 2]),
                _ => joint.at(
                    offset + 0.5 * (at + places[to]),
                    vector(&mut random, 1.0) + DVec3::Z * 0.01,
                ),
            };
            let axis = match kind {
                JointKind::Revolute | JointKind::Cylindrical => Some(JointAxis::RotationZ),
                JointKind::Prismatic => Some(JointAxis::Z),
                _ => None,
            };
            let mut forces = Vec::new();
            if let Some(axis) = axis
                && between(&mut random, 0.0, 1.0) < 0.5
            {
                let inertia = 0.02 * mass;
                forces.push(JointForce::Armature { axis, inertia });
            }
            let joint = simulation.spawn_joint(joint, JointForces(forces)).unwrap();
            free.extend(axis.map(|axis| (joint, axis)));
            joints.push(joint);
        }
        bodies.push(body);
        places.push(at);
    }
    // Loops.
    for k in 2..count {
        if between(&mut random, 0.0, 1.0) < loops {
            let to = between(&mut random, 0.0, k as f64 - 1.0) as usize;
            let ball = Joint::new(bodies[to], bodies[k], JointKind::Ball);
            let ball = ball.at(offset + 0.5 * (places[k] + places[to]), DVec3::Z);
            joints.push(simulation.spawn_joint(ball, ()).unwrap());
        }
    }
    for pair in free.windows(2) {
        if between(&mut random, 0.0, 1.0) < 0.5 {
            let ratio = between(&mut random, 0.3, 2.0);
            let mimic = Coupler::mimic(pair[1], pair[0], ratio, 0.0);
            simulation.spawn_coupler(mimic).unwrap();
        }
    }
    // It turns as a whole, and is kicked.
    let kick = Twist {
        linear: vector(&mut random, 0.5),
        angular: vector(&mut random, 1.0),
    };
    let kicked = between(&mut random, 0.0, count as f64) as usize;
    simulation.set(bodies[kicked], kick);
    Graph {
        simulation,
        bodies,
        joints,
    }
}

/// Momentum, and angular momentum about `origin`.
fn momenta(graph: &Graph, origin: DVec3) -> [DVec3; 2] {
    let mut sum = [DVec3::ZERO; 2];
    for body in &graph.bodies {
        let pose = graph.simulation.pose(*body).unwrap();
        let twist = graph.simulation.twist(*body).unwrap();
        let mass = graph.simulation.world().get::<Mass>(*body).unwrap();
        let p = twist.linear * mass.mass();
        sum[0] += p;
        sum[1] += (pose.position - origin).cross(p)
            + pose.orientation * (mass.principal_inertia() * twist.angular);
    }
    sum
}

#[test]
fn random_graphs_keep_momenta_and_energy() {
    for seed in 0..60 {
        let mut graph = graph(seed, 2e-3, (0.5, 0.0), DVec3::ZERO);
        // Kicked bodies do not move as their joints let them: the first step makes them.
        graph.simulation.step().unwrap();
        let begin = momenta(&graph, DVec3::ZERO);
        let first = graph.simulation.state().unwrap().report().energy.kinetic;
        for step in 0..200 {
            let report = graph.simulation.step().unwrap();
            assert!(report.joint_error <= 1e-11, "{seed} {step}: {report:?}");
            assert!(report.joint_velocity <= 1e-10, "{seed} {step}: {report:?}");
            assert!(report.converged, "{seed} {step}: {report:?}");
            let energy = &report.energy;
            assert!(
                energy.energy_gap.abs() < 1e-12 * (1.0 + energy.kinetic),
                "{seed}"
            );
            for (now, begin) in momenta(&graph, DVec3::ZERO).into_iter().zip(begin) {
                let off = (now - begin).length();
                assert!(
                    off < 1e-10 * (1.0 + begin.length()),
                    "{seed} {step}: {off:e}"
                );
            }
            let gain = energy.kinetic / first - 1.0;
            assert!(gain.abs() < 1e-3, "{seed} {step}: {gain:e}");
        }
    }
}

/// Loops at random places leave rows that are nearly redundant. Joints are closed all the same.
#[test]
fn random_loops_are_closed() {
    for seed in 0..60 {
        let mut graph = graph(seed, 2e-3, (0.5, 0.3), DVec3::ZERO);
        graph.simulation.step().unwrap();
        let first = graph.simulation.state().unwrap().report().energy.kinetic;
        for step in 0..200 {
            let report = graph.simulation.step().unwrap();
            assert!(report.joint_error <= 1e-11, "{seed} {step}: {report:?}");
            assert!(report.joint_velocity <= 1e-10, "{seed} {step}: {report:?}");
            let gain = report.energy.kinetic / first - 1.0;
            assert!(gain < 1e-3, "{seed} {step}: {gain:e}");
        }
    }
}

#[test]
#[ignore = "a known fault: with nearly redundant loops momenta change by 1e-9 and more, and a step may be called infeasible"]
fn random_loops_keep_momenta_and_have_a_solution() {
    for seed in 0..60 {
        let mut graph = graph(seed, 2e-3, (0.5, 0.3), DVec3::ZERO);
        graph.simulation.step().unwrap();
        let begin = momenta(&graph, DVec3::ZERO);
        for step in 0..200 {
            let report = graph.simulation.step().unwrap();
            assert!(report.converged, "{seed} {step}: {report:?}");
            let gap = report.energy.energy_gap.abs();
            assert!(
                gap < 1e-12 * (1.0 + report.energy.kinetic),
                "{seed} {step}: {gap:e}"
            );
            for (now, begin) in momenta(&graph, DVec3::ZERO).into_iter().zip(begin) {
                let off = (now - begin).length();
                assert!(
                    off < 1e-9 * (1.0 + begin.length()),
                    "{seed} {step}: {off:e}"
                );
            }
        }
    }
}

/// A second joint over every first one, of the same kind: the same motion.
#[test]
fn redundant_joints_are_harmless() {
    for seed in 0..30 {
        let mut single = graph(seed, 2e-3, (0.5, 0.0), DVec3::ZERO);
        let mut double = graph(seed, 2e-3, (0.5, 0.0), DVec3::ZERO);
        for joint in double.joints.clone() {
            let again = *double.simulation.world().get::<Joint>(joint).unwrap();
            double.simulation.spawn_joint(again, ()).unwrap();
        }
        for step in 0..100 {
            single.simulation.step().unwrap();
            let report = double.simulation.step().unwrap();
            assert!(report.converged, "{seed} {step}: {report:?}");
            assert!(report.joint_velocity <= 1e-10, "{seed} {step}: {report:?}");
            for (a, b) in single.bodies.iter().zip(&double.bodies) {
                let [a, b] = [
                    single.simulation.pose(*a).unwrap(),
                    double.simulation.pose(*b).unwrap(),
                ];
                let off = (a.position - b.position).length();
                assert!(off < 1e-7, "{seed} {step}: {off:e}");
            }
        }
    }
}

#[test]
fn joints_taken_out_gain_no_energy() {
    for seed in 0..30 {
        let mut graph = graph(seed, 2e-3, (0.5, 0.0), DVec3::ZERO);
        let mut last = f64::INFINITY;
        let mut joints = graph.joints.clone();
        for step in 0..100 {
            let report = graph.simulation.step().unwrap();
            let kinetic = report.energy.kinetic;
            assert!(
                kinetic < last * (1.0 + 1e-4),
                "{seed} {step}: {kinetic} {last}"
            );
            last = kinetic;
            match (step % 10, joints.pop()) {
                (5, Some(joint)) if step % 20 == 5 => {
                    graph.simulation.despawn(joint);
                }
                (5, Some(joint)) => {
                    graph.simulation.set(joint, JointDisabled);
                }
                (_, Some(joint)) => joints.push(joint),
                _ => {}
            }
            // The energy of a rotor goes with its joint, never up.
        }
    }
}

/// Masses of 1e6 to one, steps from 1e-6 to 0.1 s, far from the origin: closed, and no energy from nowhere.
#[test]
fn extremes_stay_closed_and_finite() {
    for seed in 0..30 {
        for (h, spread, offset) in [
            (2e-3, 3.0, 0.0),
            (1e-6, 0.5, 0.0),
            (0.1, 0.5, 0.0),
            (2e-3, 0.5, 1e5),
        ] {
            let mut graph = graph(
                seed,
                h,
                (spread, 0.3),
                DVec3::new(offset, -offset, 0.5 * offset),
            );
            graph.simulation.step().unwrap();
            let first = graph.simulation.state().unwrap().report().energy.kinetic;
            for step in 0..60 {
                let report = graph.simulation.step().unwrap();
                let scale = 1.0 + offset;
                let what =
                    || format!("{seed} {step} h={h} spread={spread} offset={offset}: {report:?}");
                assert!(report.joint_error <= 1e-10 * scale, "{}", what());
                assert!(report.joint_velocity <= 1e-8, "{}", what());
                let gain = report.energy.kinetic / first - 1.0;
                assert!(gain < 1e-2, "{gain:e}: {}", what());
            }
        }
    }
}

/// Machines that fall onto a floor, with limits at both ends, springs, friction and motors of bounded effort: closed in every step, the ledger
/// balanced, nothing comes to be but what motors put in, all asleep or quiet at the end, the same bits on two threads.
#[test]
fn random_machines_fall_onto_the_floor() {
    for seed in 0..16 {
        let run = |threads: usize| {
            let mut random = Lcg::new(seed);
            let settings = Settings {
                threads,
                ..Settings::default()
            };
            let mut simulation = Simulation::new(settings).unwrap();
            ground(&mut simulation, Material::default());
            let mut last: Option<(Entity, DVec3)> = None;
            let mut hinges = Vec::new();
            for k in 0..7 {
                let at = DVec3::new(0.45 * k as f64, 0.0, 0.6) + vector(&mut random, 0.05);
                let body = (
                    RigidBody::Dynamic,
                    Collider::cuboid(0.2, 0.08, 0.06),
                    Pose::from_position(at),
                );
                let body = simulation.spawn(body).unwrap();
                if let Some((to, there)) = last {
                    let axis = DVec3::Y + vector(&mut random, 0.3);
                    let joint = Joint::new(to, body, JointKind::Revolute);
                    let joint = joint.at(0.5 * (at + there), axis);
                    let turn = JointAxis::RotationZ;
                    let mut forces = vec![JointForce::Limit {
                        axis: turn,
                        low: -0.6,
                        high: 0.6,
                        restitution: between(&mut random, 0.0, 0.8),
                    }];
                    match between(&mut random, 0.0, 4.0) as usize {
                        0 => forces.push(JointForce::Spring {
                            axis: turn,
                            stiffness: 20.0,
                            damping: 1.0,
                            rest: 0.1,
                        }),
                        1 => forces.push(JointForce::Friction {
                            axis: turn,
                            force: 2.0,
                        }),
                        2 => forces.push(JointForce::Motor {
                            axis: turn,
                            position: 0.2,
                            velocity: 0.0,
                            stiffness: 100.0,
                            damping: 10.0,
                            effort: 5.0,
                        }),
                        _ => forces.push(JointForce::Armature {
                            axis: turn,
                            inertia: 0.3,
                        }),
                    }
                    let siblings = (JointForces(forces), NoCollision);
                    hinges.push(simulation.spawn_joint(joint, siblings).unwrap());
                }
                last = Some((body, at));
            }
            if seed % 2 == 0 {
                let gear = Coupler::gear(hinges[0], hinges[4], -0.7);
                simulation.spawn_coupler(gear).unwrap();
            }
            let weight = 7.0 * 8.0 * 0.2 * 0.08 * 0.06 * 1000.0 * G;
            let mut last_total = f64::INFINITY;
            for step in 0..400 {
                let report = simulation.step().unwrap();
                assert!(report.joint_error <= 1e-11, "{seed} {step}: {report:?}");
                assert!(report.joint_velocity <= 1e-10, "{seed} {step}: {report:?}");
                assert!(report.box_violation <= 1e-12, "{seed} {step}: {report:?}");
                let energy = &report.energy;
                let gap = energy.energy_gap.abs();
                assert!(
                    gap < 1e-10 * (1.0 + energy.total().abs()),
                    "{seed} {step}: {gap:e}"
                );
                // Nothing gives energy but drives, and what moves bodies without velocity. Where surfaces are is known to the tolerance of the projection, 1e-4 m.
                let given = energy.work_drives.max(0.0) + energy.work_drift.max(0.0);
                let total = energy.total();
                assert!(
                    total < last_total + given + 1e-4 * weight,
                    "{seed} {step}: {report:?}"
                );
                last_total = total;
            }
            let report = simulation.state().unwrap().report();
            assert!(report.energy.kinetic < 0.5, "{seed}: {report:?}");
            simulation.state_hash()
        };
        assert_eq!(run(1), run(2), "{seed}");
    }
}
