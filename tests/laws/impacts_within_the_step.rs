//! **Law.** An impact within a step is one at its time: what is free bounces exactly, so what is on a joint must, and momenta are kept about every point.
//!
//! A free elastic ball keeps its energy to 4e-16 here, at all steps. Of two bodies alone in space the angular momentum is kept by any law of contact, since both are pushed in one
//! point; plastic capsules that touch at the beginning of the step keep it to 1e-13.

use crate::support::*;

fn settings(time_step: f64, gravity: DVec3) -> Settings {
    Settings {
        time_step,
        gravity,
        threads: 1,
        ..Settings::default()
    }
}

#[test]
fn an_elastic_ball_on_a_slider_bounces_as_a_free_one() {
    for time_step in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
        for on_a_joint in [false, true] {
            let mut simulation = Simulation::new(settings(time_step, DVec3::NEG_Z * G)).unwrap();
            let smooth = Material::frictionless(1.0);
            ground(&mut simulation, smooth);
            let ball = (
                RigidBody::Dynamic,
                Collider::sphere(0.1),
                smooth,
                Pose::at(0.0, 0.0, 1.1),
            );
            let ball = simulation.spawn(ball).unwrap();
            if on_a_joint {
                let slider = Joint::to_world(ball, JointKind::Prismatic).at(DVec3::Z, DVec3::Z);
                simulation.spawn_joint(slider, ()).unwrap();
            }
            let begin = simulation.step().unwrap().energy.total();
            let mut end = begin;
            while simulation.time() < 2.0 {
                end = simulation.step().unwrap().energy.total();
            }
            println!(
                "h {time_step}, on a joint {on_a_joint}: {} of its energy",
                end / begin
            );
            assert!((end / begin - 1.0).abs() < 1e-12, "{}", end / begin);
        }
    }
}

/// `Σ x × m v + R 𝕀 Ω`.
fn about_the_origin(simulation: &Simulation, bodies: &[Entity]) -> DVec3 {
    let of = |body: &Entity| {
        let p = linear_momentum(simulation, &[*body]);
        let at = simulation.pose(*body).unwrap().position;
        at.cross(p) + spin(simulation, *body).unwrap()
    };
    bodies.iter().map(of).sum()
}

/// Two smooth capsules that meet off their centres, alone in space: `Σ x × m v + R 𝕀 Ω` before and after.
#[test]
fn capsules_that_strike_each_other_keep_their_angular_momentum() {
    for time_step in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
        for restitution in [0.0, 0.5] {
            let mut simulation = Simulation::new(settings(time_step, DVec3::ZERO)).unwrap();
            let smooth = Material::frictionless(restitution);
            let mut bodies = Vec::new();
            for side in [-1.0, 1.0] {
                let capsule = (
                    RigidBody::Dynamic,
                    Collider::capsule(0.1, 0.06),
                    smooth,
                    Pose::at(0.6 * side, 0.03 * side, 0.05 * side),
                    Twist::linear(-3.0 * side, 0.0, 0.0),
                );
                bodies.push(simulation.spawn(capsule).unwrap());
            }
            simulation.step().unwrap();
            let begin = about_the_origin(&simulation, &bodies);
            while simulation.time() < 0.5 {
                simulation.step().unwrap();
            }
            let v = simulation.twist(bodies[0]).unwrap().linear;
            assert!((v - DVec3::X * 3.0).length() > 0.5, "they did not meet");
            let change = (about_the_origin(&simulation, &bodies) - begin).length() / begin.length();
            println!("h {time_step}, e {restitution}: changed by {change:e}");
            assert!(change < 1e-9, "changed by {change:e} of itself");
        }
    }
}

/// Balls, boxes, plates and tetrahedra that fly at each other and turn, rough or smooth, elastic or not. Of bodies of revolution the arms are turned so that a smooth one keeps its
/// spin, the projection leaves twists alone, and impacts that follow one another have arms of `t_k`: steps with any of these are not counted here. Steps with contacts, and the largest change.
fn thrown_at_each_other(spin: f64) -> (usize, f64) {
    let corners = [
        [0.1, 0.1, 0.1],
        [0.1, -0.1, -0.1],
        [-0.1, 0.1, -0.1],
        [-0.1, -0.1, 0.1],
    ];
    let shapes = [
        Collider::sphere(0.1),
        Collider::cuboid(0.1, 0.06, 0.15),
        Collider::cuboid(0.12, 0.12, 0.02),
        Collider::convex_hull(corners.map(DVec3::from_array).to_vec()),
    ];
    let (mut met, mut worst) = (0, 0.0_f64);
    for (seed, time_step) in [(17, 1.0 / 60.0), (18, 1.0 / 200.0), (19, 1e-3)] {
        let mut random = Lcg::new(seed);
        for (first, a) in shapes.iter().enumerate() {
            for (second, b) in shapes.iter().enumerate() {
                let mut simulation = Simulation::new(settings(time_step, DVec3::ZERO)).unwrap();
                let material = Material {
                    friction: [0.0, 0.4][(first + second) % 2],
                    restitution: [0.0, 0.5, 0.9][(first + 2 * second) % 3],
                    ..Material::default()
                };
                let mut vector = || random.symmetric_vector() * 0.5;
                let mut body = |shape: &Collider, side: f64| {
                    let turn = DQuat::from_scaled_axis(vector() * 6.0);
                    let at = DVec3::X * (0.6 * side) + vector() * 0.1;
                    let twist = Twist {
                        linear: DVec3::X * (-3.0 * side) + vector(),
                        angular: vector() * 2.0 * spin,
                    };
                    (
                        RigidBody::Dynamic,
                        shape.clone(),
                        Mass::scaled_to(1.0 + vector().x),
                        material,
                        Pose::from_position(at).with_orientation(turn),
                        twist,
                    )
                };
                let bodies = [body(a, -1.0), body(b, 1.0)];
                let bodies = bodies.map(|body| simulation.spawn(body).unwrap());
                let mut before = about_the_origin(&simulation, &bodies);
                while simulation.time() < 0.4 {
                    let report = simulation.step().unwrap();
                    let now = about_the_origin(&simulation, &bodies);
                    if report.projections == 0 && report.stages == 0 {
                        worst = worst.max((now - before).length());
                        met += usize::from(report.contacts > 0);
                    }
                    before = now;
                }
            }
        }
    }
    println!("{met} steps with contacts, angular momentum to {worst:e} kg m²/s");
    (met, worst)
}

/// Of some 1 kg m²/s of either body: sums of rounding.
const ROUNDING: f64 = 1e-13;

#[test]
fn two_bodies_that_strike_each_other_keep_their_angular_momentum() {
    let (met, worst) = thrown_at_each_other(2.0);
    assert!(met > 100);
    assert!(worst < ROUNDING, "it changes by {worst}");
}

#[test]
fn nor_do_two_bodies_that_turn_fast_change_it() {
    let (_, worst) = thrown_at_each_other(30.0);
    assert!(worst < ROUNDING, "it changes by {worst}");
}

/// The goal of the residual of a step by default, as a part of velocities.
const RESIDUAL: f64 = 1e-4;

/// Three elastic balls fly at a wall and a ceiling; a slack rope joins the second and the third. A rope takes energy or keeps it.
#[test]
fn a_slack_rope_gives_no_energy_to_what_strikes() {
    let smooth = Material::frictionless(1.0);
    let mut simulation = Simulation::new(settings(0.005, DVec3::ZERO)).unwrap();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for side in [axis, -axis] {
            let at = Pose::from_position(-side);
            let wall = (RigidBody::Static, Collider::half_space(side), smooth, at);
            simulation.spawn(wall).unwrap();
        }
    }
    let balls = [
        (
            7.4863,
            [-0.917_458_457_3, -0.152_199_691, 0.905_252_858_3],
            [-4.213_141_235_6, -1.790_584_599_2, 10.233_069_703_2],
        ),
        (
            1.0,
            [-0.743_895_443_6, -0.152_199_691, 0.905_256_341_8],
            [-11.029_440_113_6, -1.790_584_599_2, 10.233_466_542_1],
        ),
        (
            1.0,
            [-0.549_522_357, -0.152_199_691, 0.905_253_154_2],
            [-0.988_454_891_7, -1.790_584_599_2, 10.233_102_674_9],
        ),
    ];
    let bodies = balls.map(|(mass, place, velocity)| {
        let linear = DVec3::from_array(velocity);
        let angular = DVec3::ZERO;
        let motion = (
            Pose::from_position(DVec3::from_array(place)),
            Twist { linear, angular },
        );
        let ball = (RigidBody::Dynamic, Collider::sphere(0.08), smooth);
        let ball = (ball, Mass::scaled_to(mass), motion);
        simulation.spawn(ball).unwrap()
    });
    let mut rope = Joint::new(bodies[1], bodies[2], JointKind::Rope { length: 0.25 });
    rope.frames = JointFrames::Own([Pose::default(); 2]);
    simulation.spawn_joint(rope, ()).unwrap();
    let energy = |simulation: &Simulation| {
        let each = bodies.iter().zip(&balls);
        let each = each.map(|(body, (mass, ..))| {
            0.5 * mass * simulation.twist(*body).unwrap().linear.length_squared()
        });
        each.sum::<f64>()
    };
    let before = energy(&simulation);
    let report = simulation.step().unwrap();
    let after = energy(&simulation);
    assert!(report.converged, "{report:?}");
    assert!(
        after <= before * (1.0 + RESIDUAL),
        "{before} J become {after} J"
    );
}

/// An arm leaves its limit, and a ball that comes to meet it throws it back onto it in the same step: of two elastic bodies of one mass the limit must not push by the speed of the ball.
#[test]
fn a_limit_gives_no_energy_to_what_strikes() {
    for (arm_speed, ball_speed) in [(1.0, 5.0), (3.0, 3.0), (0.2, 20.0)] {
        for h in [0.01, 1e-3] {
            let mut simulation = Simulation::new(settings(h, DVec3::ZERO)).unwrap();
            let smooth = Material::frictionless(1.0);
            let slider = |x: f64, v: f64| {
                let motion = Twist {
                    linear: DVec3::X * v,
                    angular: DVec3::ZERO,
                };
                let mass = Mass::scaled_to(1.0);
                let pose = Pose::at(x, 0.0, 0.0);
                let ball = Collider::sphere(0.1);
                (RigidBody::Dynamic, ball, mass, smooth, pose, motion)
            };
            let arm = simulation.spawn(slider(0.0, arm_speed)).unwrap();
            let ball = simulation.spawn(slider(0.2, -ball_speed)).unwrap();
            let limit = JointForce::Limit {
                axis: JointAxis::Z,
                low: 0.0,
                high: f64::INFINITY,
                restitution: 0.0,
            };
            let rail = Joint::to_world(arm, JointKind::Prismatic).at(DVec3::ZERO, DVec3::X);
            let rail = simulation.spawn_joint(rail, JointForces(vec![limit]));
            rail.unwrap();
            let energy = |simulation: &Simulation| {
                let speed = |body| simulation.twist(body).unwrap().linear.length_squared();
                0.5 * (speed(arm) + speed(ball))
            };
            let before = energy(&simulation);
            let report = simulation.step().unwrap();
            assert!(report.converged, "{report:?}");
            let after = energy(&simulation);
            assert!(
                after <= before * (1.0 + RESIDUAL),
                "{before} J become {after} J"
            );
        }
    }
}
