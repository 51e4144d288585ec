//! **Law.** Friction of a ball joint, `‖τ‖ ≤ f`: the joint holds, `ω = 0`, or slips, `τ = −f ω/‖ω‖`, with ω the angular velocity of one body against the other. No axis
//! is preferred, and friction takes energy alone.
//!
//! A body with three equal moments `I` that turns about its centre is slowed by `f h/I` a step, exactly, whatever the axis: the direction of ω stays. Three intervals, one an axis,
//! would slow it by up to `√3` times that and turn ω. Tolerances are rounding: `ε` of the velocities, times steps where they add up.

use crate::support::*;
use bevy_ecs::prelude::With;

fn rubs(torque: f64) -> JointForces {
    JointForces(vec![JointForce::BallFriction { torque }])
}

/// Directions all over the sphere, axes and diagonals among them.
fn directions() -> Vec<DVec3> {
    let mut all = vec![DVec3::X, -DVec3::Z, DVec3::ONE.normalize()];
    all.extend((0..9).map(|k| {
        let (angle, z) = (2.4 * f64::from(k), -0.88 + 0.22 * f64::from(k));
        let flat = (1.0 - z * z).sqrt();
        DVec3::new(flat * libm::cos(angle), flat * libm::sin(angle), z)
    }));
    all
}

/// A body with these moments that turns about its centre in a ball joint whose frames are turned somehow.
fn centred(settings: Settings, moments: DVec3, spin: DVec3, torque: f64) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(settings).unwrap();
    let body = (
        RigidBody::Dynamic,
        Mass::given(2.0, moments),
        Twist::from_inertial_frame(DVec3::ZERO, spin, DQuat::IDENTITY),
    );
    let body = simulation.spawn(body).unwrap();
    let joint = Joint::to_world(body, JointKind::Ball);
    let joint = joint.at(DVec3::ZERO, DVec3::new(0.3, -0.5, 0.7));
    simulation.spawn_joint(joint, rubs(torque)).unwrap();
    (simulation, body)
}

fn still() -> Settings {
    Settings {
        sleeping: SleepSettings::OFF,
        ..weightless()
    }
}

#[test]
fn a_body_is_slowed_at_a_constant_rate_about_any_axis_and_stays_at_rest() {
    let (inertia, torque, speed, h) = (0.5, 3.0, 10.0, 1e-3);
    let settings = Settings {
        time_step: h,
        ..still()
    };
    for axis in directions() {
        let (mut simulation, body) = centred(settings, DVec3::splat(inertia), axis * speed, torque);
        for step in 1..=2000 {
            simulation.step().unwrap();
            let omega = spin_of(&simulation, body);
            let expected = (speed - torque * f64::from(step) * h / inertia).max(0.0);
            // A few roundings of the speed a step.
            let rounding = 8.0 * f64::EPSILON * speed * f64::from(step);
            let error = (omega - axis * expected).length();
            assert!(error <= rounding, "{axis} {step}: {omega} {error:e}");
        }
        assert!(spin_of(&simulation, body).length() <= 1e-15);
    }
}

fn spin_of(simulation: &Simulation, body: Entity) -> DVec3 {
    let pose = simulation.pose(body).unwrap();
    pose.orientation * simulation.twist(body).unwrap().angular
}

/// The torque is the bound while it slips and what is needed while it holds, and so is what is read.
#[test]
fn the_effort_is_the_norm_of_the_torque() {
    let mut simulation = Simulation::new(still()).unwrap();
    let body = (RigidBody::Dynamic, Mass::given(1.0, DVec3::ONE));
    let body = simulation.spawn(body).unwrap();
    let joint = Joint::to_world(body, JointKind::Ball);
    let joint = simulation.spawn_joint(joint, rubs(2.0)).unwrap();
    for (moment, expected) in [(1.5, 1.5), (5.0, 2.0)] {
        let moment = DVec3::new(2.0, -1.0, 2.0) * (moment / 3.0);
        simulation.set(
            body,
            Wrench {
                moment,
                ..Wrench::default()
            },
        );
        simulation.step().unwrap();
        let effort = simulation.joint_efforts(joint).unwrap()[0];
        assert!((effort - expected).abs() <= 1e-14, "{effort}");
        let torque = simulation.joint_reaction(joint).unwrap().torque;
        let error = (torque + moment.normalize() * expected).length();
        assert!(error <= 1e-14, "{torque}");
    }
}

/// A pendulum on a ball, `m g l sin θ` of torque: it stays in any direction where the bound is a thousandth more, and leaves where it is less.
#[test]
fn a_pendulum_holds_in_any_direction_below_the_bound_and_moves_above_it() {
    let (mass, length) = (1.7, 0.6);
    let settings = Settings {
        sleeping: SleepSettings::OFF,
        ..reference()
    };
    for direction in directions() {
        let torque =
            mass * G * length * (direction.x * direction.x + direction.y * direction.y).sqrt();
        for part in [1.001, 0.999] {
            if torque == 0.0 {
                continue;
            }
            let mut simulation = Simulation::new(settings).unwrap();
            let bob = (
                RigidBody::Dynamic,
                Mass::given(mass, DVec3::splat(0.02)),
                Pose::from_position(direction * length),
            );
            let bob = simulation.spawn(bob).unwrap();
            let joint = Joint::to_world(bob, JointKind::Ball);
            simulation.spawn_joint(joint, rubs(part * torque)).unwrap();
            let steps = (10.0 / settings.time_step) as usize;
            for _ in 0..steps {
                simulation.step().unwrap();
            }
            let moved = (simulation.pose(bob).unwrap().position - direction * length).length();
            if part > 1.0 {
                assert!(moved <= 1e-12, "{direction}: {moved:e}");
            } else {
                // Below the joint it comes to rest where its way δ has used up what it began with, δ ≈ 2·10⁻³ l tan θ; above it falls.
                assert!(moved > 1e-4, "{direction}: {moved:e}");
            }
        }
    }
}

/// A chain of balls from the world, its links turned about each other somehow, its last one on a floor if there is one.
struct Chain {
    simulation: Simulation,
    bodies: Vec<Entity>,
}

fn chain(
    settings: Settings,
    count: usize,
    torque: f64,
    [heavy, spin]: [f64; 2],
    floor: Option<f64>,
) -> Chain {
    let mut simulation = Simulation::new(settings).unwrap();
    if let Some(height) = floor {
        let ground = (
            RigidBody::Static,
            Collider::cuboid(20.0, 20.0, 1.0),
            Pose::at(0.0, 0.0, height - 1.0),
        );
        simulation.spawn(ground).unwrap();
    }
    let mut bodies = Vec::new();
    for k in 0..count {
        let x = 0.4 * k as f64;
        let mass = if k + 1 == count { heavy } else { 1.0 };
        let moments = DVec3::new(0.004, 0.014, 0.015) * mass;
        let turn = DVec3::new(libm::sin(k as f64), 0.5, libm::cos(3.0 * k as f64)) * spin;
        let body = (
            RigidBody::Dynamic,
            Collider::cuboid(0.18, 0.06, 0.05),
            Mass::given(mass, moments),
            Pose::at(x + 0.2, 0.0, 0.0),
            Twist::from_inertial_frame(DVec3::ZERO, turn, DQuat::IDENTITY),
        );
        let body = simulation.spawn(body).unwrap();
        let joint = match bodies.last() {
            Some(last) => Joint::new(*last, body, JointKind::Ball),
            None => Joint::to_world(body, JointKind::Ball),
        };
        let joint = joint.at(DVec3::X * x, DVec3::new(0.2, x - 1.0, 0.4));
        let siblings = (rubs(torque), NoCollision);
        simulation.spawn_joint(joint, siblings).unwrap();
        bodies.push(body);
    }
    Chain { simulation, bodies }
}

/// What steps promise of joints, and that friction is within its bound and takes energy.
///
/// A torque opposes the rate ω' at the end of a step, and its work is that of the mean rate: `τ·(ω + ω')/2 ≤ −τ·(ω' − ω)/2 ≤ f ‖ω' − ω‖/2`, which may be positive in steps
/// in which something else turns the motion round, and only there; over many steps it is not.
struct Rubbed {
    torque: f64,
    h: f64,
    work: f64,
}

impl Rubbed {
    fn new(torque: f64, h: f64) -> Self {
        Self {
            torque,
            h,
            work: 0.0,
        }
    }

    fn step(&mut self, simulation: &mut Simulation, bodies: &[Entity]) -> StepReport {
        let spins = |simulation: &Simulation| -> Vec<DVec3> {
            bodies
                .iter()
                .map(|body| spin_of(simulation, *body))
                .collect()
        };
        let before = spins(simulation);
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        assert!(
            report.joint_error <= 1e-10 && report.joint_velocity <= 1e-9,
            "{report:?}"
        );
        let most = self.torque * self.h;
        assert!(
            report.box_violation <= 4.0 * f64::EPSILON * most,
            "{report:?}"
        );
        let energy = &report.energy;
        let size = 1.0 + energy.kinetic + energy.total().abs();
        assert!(energy.energy_gap.abs() <= 1e-10 * size, "{report:?}");
        let after = spins(simulation);
        let changes = before.iter().zip(&after).map(|(a, b)| (*b - *a).length());
        let change = changes.fold(0.0, f64::max);
        // Two bodies a joint; and what the solve leaves of the rates that oppose the torques.
        let turned = most * report.joints as f64 * (change + 2.0 * report.worst_velocity);
        assert!(energy.work_drives <= turned + 1e-12 * size, "{report:?}");
        self.work += energy.work_drives;
        assert!(self.work <= turned + 1e-11 * size, "{}", self.work);
        report
    }
}

/// A beam of links, stiff as long as the moment at its root, `Σ m g x`, is less than the bound; at a fifth of it the links hang down in the end.
#[test]
fn a_chain_stands_out_from_the_wall_below_the_bound_and_falls_above_it() {
    let settings = Settings {
        sleeping: SleepSettings::OFF,
        ..reference()
    };
    let moment = (0..6).map(|k| G * (0.4 * f64::from(k) + 0.2)).sum::<f64>();
    for part in [1.001, 0.2] {
        let torque = part * moment;
        let Chain {
            mut simulation,
            bodies,
        } = chain(settings, 6, torque, [1.0, 0.0], None);
        let mut rubbed = Rubbed::new(torque, settings.time_step);
        for _ in 0..1200 {
            rubbed.step(&mut simulation, &bodies);
        }
        let tip = simulation.pose(bodies[5]).unwrap().position;
        let moved = (tip - DVec3::X * 2.2).length();
        if part > 1.0 {
            assert!(moved <= 1e-11, "{moved:e}");
        } else {
            assert!(tip.z < -1.0, "{tip}");
        }
    }
}

/// Chains that turn and swing, light and heavy at the end, in large and small steps: friction never gives energy, and what is left comes to rest.
#[test]
fn friction_never_gives_energy_and_brings_chains_to_rest() {
    for (h, steps) in [(1.0 / 60.0, 900), (1e-3, 8000)] {
        for heavy in [1e-2_f64, 1.0, 1e2] {
            let torque = 0.3 * heavy.max(1.0);
            let settings = Settings {
                time_step: h,
                sleeping: SleepSettings::OFF,
                ..weightless()
            };
            let Chain {
                mut simulation,
                bodies,
            } = chain(settings, 4, torque, [heavy, 3.0], None);
            let mut last = f64::INFINITY;
            let mut rubbed = Rubbed::new(torque, h);
            for _ in 0..steps {
                let report = rubbed.step(&mut simulation, &bodies);
                let kinetic = report.energy.kinetic;
                assert!(
                    kinetic <= last * (1.0 + 1e-4) + 1e-13,
                    "{h} {heavy}: {kinetic} {last}"
                );
                last = kinetic;
            }
            assert!(last <= 1e-12, "{h} {heavy}: {last:e}");
        }
    }
}

/// A chain falls on a floor and lies there: contacts and friction of balls in one island.
#[test]
fn friction_of_balls_and_contacts_are_solved_together() {
    for torque in [0.05, 2.0, 1e3] {
        let settings = Settings {
            accuracy: Accuracy::default(),
            sleeping: SleepSettings::OFF,
            ..reference()
        };
        let Chain {
            mut simulation,
            bodies,
        } = chain(settings, 6, torque, [1.0, 0.5], Some(-0.4));
        let mut touched = 0;
        let mut rubbed = Rubbed::new(torque, settings.time_step);
        for _ in 0..1500 {
            let report = rubbed.step(&mut simulation, &bodies);
            touched += report.closed_contacts;
        }
        assert!(torque > 100.0 || touched > 1000, "{torque}: {touched}");
    }
}

/// Four rods in a square, hung up at one corner, all four balls with friction: a closed loop.
#[test]
fn a_loop_of_balls_with_friction_holds_and_swings_out() {
    for torque in [3.0, 50.0] {
        let settings = Settings {
            accuracy: Accuracy::default(),
            sleeping: SleepSettings::OFF,
            ..reference()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let corners = [DVec3::ZERO, DVec3::X, DVec3::X - DVec3::Z, -DVec3::Z];
        let rods: Vec<Entity> = (0..4)
            .map(|k| {
                let (from, to) = (corners[k], corners[(k + 1) % 4]);
                let body = (
                    RigidBody::Dynamic,
                    Mass::given(1.0, DVec3::splat(0.08)),
                    Pose::from_position(0.5 * (from + to)),
                );
                simulation.spawn(body).unwrap()
            })
            .collect();
        let wall = Joint::to_world(rods[0], JointKind::Ball);
        simulation.spawn_joint(wall, rubs(torque)).unwrap();
        for k in 0..4 {
            let pair = Joint::new(rods[k], rods[(k + 1) % 4], JointKind::Ball);
            let pair = pair.at(corners[(k + 1) % 4], DVec3::new(0.3, 1.0, 0.2));
            simulation.spawn_joint(pair, rubs(torque)).unwrap();
        }
        let (mut least, mut last) = (f64::INFINITY, 0.0);
        let mut rubbed = Rubbed::new(torque, settings.time_step);
        for _ in 0..4000 {
            let report = rubbed.step(&mut simulation, &rods);
            last = report.energy.kinetic;
            let corner = simulation.pose(rods[1]).unwrap().position;
            least = least.min(corner.z);
        }
        // Root moment 2 g·(0.5 + …) = 19.6 N·m: 50 hold it, 3 do not, and it comes to rest.
        let holds = torque > 20.0;
        assert_eq!(holds, least > -0.5 - 1e-11, "{torque}: {least}");
        assert!(last < 1e-10, "{torque}: {last:e}");
    }
}

/// What turns far in a step: a body with three different moments, at up to 1 rad a step, on a joint beside its centre.
#[test]
fn friction_takes_energy_from_what_tumbles_fast() {
    for (h, rate) in [(1.0 / 60.0, 60.0), (1e-3, 300.0), (1e-5, 1e3)] {
        for torque in [1e-3, 0.1, 10.0] {
            let settings = Settings {
                time_step: h,
                ..still()
            };
            let mut simulation = Simulation::new(settings).unwrap();
            let spin = DVec3::new(0.1, 1.0, 0.2).normalize() * rate;
            let arm = DVec3::new(0.2, 0.1, 0.0);
            let body = (
                RigidBody::Dynamic,
                Mass::given(1.0, DVec3::new(0.01, 0.02, 0.025)),
                Pose::from_position(arm),
                Twist::from_inertial_frame(spin.cross(arm), spin, DQuat::IDENTITY),
            );
            let body = simulation.spawn(body).unwrap();
            let joint = Joint::to_world(body, JointKind::Ball);
            simulation.spawn_joint(joint, rubs(torque)).unwrap();
            let first = kinetic_energy(&simulation, body).unwrap();
            let mut worst = 0.0_f64;
            let mut highest = first;
            for _ in 0..600 {
                let report = simulation.step().unwrap();
                worst = worst.max(report.energy.work_drives);
                highest = highest.max(report.energy.kinetic);
                assert!(report.converged, "{report:?}");
            }
            assert!(worst <= 0.0, "{h} {torque}: {worst:e}");
            // The scheme keeps energy to 1e-5 in a step, without drift.
            assert!(
                highest <= first * (1.0 + 1e-4),
                "{h} {torque}: {highest} {first}"
            );
        }
    }
}

#[test]
fn friction_of_balls_does_not_depend_on_the_threads() {
    let hash = |threads| {
        let mut settings = Settings {
            threads,
            ..Settings::default()
        };
        settings.advanced.parallel_from = Some(1);
        let mut simulation = chain(settings, 8, 0.5, [3.0, 2.0], Some(-0.5)).simulation;
        for _ in 0..300 {
            simulation.step().unwrap();
        }
        simulation.state_hash()
    };
    assert_eq!(hash(1), hash(2));
}

/// Bounds, masses and steps over many orders of magnitude: a step is solved, closed and takes energy.
#[test]
fn friction_of_any_size_is_solved() {
    for h in [1e-5, 1e-3, 1.0 / 30.0] {
        for heavy in [1e-6, 1.0, 1e6] {
            for torque in [0.0, 1e-6, 1.0, 1e6, f64::INFINITY] {
                // What friction holds is a force on the way of a step, which light links between heavy bodies do not stand (docs/joints.md, limits).
                if heavy > 1.0 && torque * h * h / 0.004 > 300.0 {
                    continue;
                }
                // Without gravity: at 1/30 s a chain with a million times its links' mass at the end swings too fast for its joints, without friction.
                let settings = Settings {
                    time_step: h,
                    ..still()
                };
                let mut simulation = chain(settings, 4, torque, [heavy, 1.0], None).simulation;
                for step in 0..100 {
                    let report = simulation.step().unwrap();
                    let here = format!("{h} {heavy} {torque} {step}: {report:?}");
                    assert!(report.converged && report.joint_error <= 1e-9, "{here}");
                    if torque < f64::INFINITY {
                        let bound = 4.0 * f64::EPSILON * torque * h;
                        assert!(report.box_violation <= bound, "{here}");
                    }
                }
            }
        }
    }
}

#[test]
fn friction_that_is_switched_off_or_gone_does_nothing() {
    let settings = Settings {
        accuracy: Accuracy::default(),
        ..reference()
    };
    let Chain {
        mut simulation,
        bodies,
    } = chain(settings, 2, 1e3, [1.0, 0.0], None);
    let pose = |simulation: &Simulation| simulation.pose(bodies[1]).unwrap();
    for _ in 0..1000 {
        simulation.step().unwrap();
    }
    // It sleeps where it stands; other friction wakes it.
    let start = pose(&simulation);
    assert_eq!(simulation.state().unwrap().report().sleeping, 2);
    let mut query = simulation
        .world_mut()
        .query_filtered::<Entity, With<Joint>>();
    let mut joints: Vec<Entity> = query.iter(simulation.world()).collect();
    joints.sort();
    simulation.set(joints[1], JointDisabled);
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    assert!(pose(&simulation).position.z < start.position.z - 1e-3);
    simulation
        .world_mut()
        .entity_mut(joints[1])
        .remove::<JointDisabled>();
    simulation.set(joints[0], rubs(0.0));
    for _ in 0..50 {
        simulation.step().unwrap();
    }
    // The joint to the world is back where it held its body, which friction keeps there; the other one swings.
    assert!(simulation.pose(bodies[0]).unwrap().position.z > -1e-9);
    assert!(pose(&simulation).position.z < -0.1);
    assert!(simulation.despawn(bodies[0]));
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    assert_eq!(simulation.state().unwrap().report().joints, 0);
}

/// What cannot be is refused, with the field and its bound, and nothing is changed.
#[test]
fn bounds_out_of_range_and_joints_that_do_not_turn_freely_are_refused() {
    let mut simulation = Simulation::new(reference()).unwrap();
    let body = simulation
        .spawn((RigidBody::Dynamic, Collider::sphere(0.1)))
        .unwrap();
    let before = simulation.state_hash();
    let mut refused = |kind, torque| {
        let error = simulation.spawn_joint(Joint::to_world(body, kind), rubs(torque));
        error.unwrap_err().to_string()
    };
    for bad in [-1.0, f64::NAN, f64::NEG_INFINITY] {
        let error = refused(JointKind::Ball, bad);
        assert!(
            error.contains("friction torque") && error.contains("≥ 0"),
            "{error}"
        );
    }
    let generic = JointKind::Generic {
        translation: [false; 3],
        rotation: [false, true, false],
    };
    for (kind, axis) in [
        (JointKind::Revolute, "RotationX"),
        (JointKind::Universal, "RotationZ"),
        (JointKind::Fixed, "RotationX"),
        (generic, "RotationY"),
    ] {
        let error = refused(kind, 1.0);
        assert!(error.contains(axis), "{error}");
    }
    assert_eq!(simulation.state_hash(), before);
    let all = JointKind::Generic {
        translation: [true, true, false],
        rotation: [false; 3],
    };
    simulation
        .spawn_joint(Joint::to_world(body, all), rubs(1.0))
        .unwrap();
}

#[test]
fn friction_of_balls_is_written_and_read_in_scenes() {
    let scene = |force: &str| {
        format!(
            "[[bodies]]\nname = \"bob\"\nposition = [0.5, 0.0, 0.0]\nshape = {{ sphere = {{ radius = 0.1 }} }}\n\n[[joints]]\nb = \"bob\"\nkind = \"ball\"\nforces = [{force}]\n"
        )
    };
    let text = scene("{ ball_friction = { torque = 1e4 } }");
    let scene_of = |text: &str| moreau::Scene::from_toml(text, "bob.toml");
    let read = scene_of(&text).unwrap();
    assert_eq!(read.joints[0].forces, rubs(1e4).0);
    assert_eq!(scene_of(&read.to_toml().unwrap()).unwrap(), read);
    let mut run = read.start().unwrap();
    for _ in 0..100 {
        run.step().unwrap();
    }
    let bob = run.body("bob").unwrap();
    let moved = run.simulation.pose(bob).unwrap().position - DVec3::X * 0.5;
    assert!(moved.length() <= 1e-12, "{moved}");
    for hostile in [
        "{ ball_friction = { torque = -1.0 } }",
        "{ ball_friction = { torque = nan } }",
        "{ ball_friction = {} }",
        "{ ball_friction = { torque = \"much\" } }",
        "{ ball_friction = 3.0 }",
        "{ ball_friction = { axis = \"rotation_z\" } }",
    ] {
        let started = scene_of(&scene(hostile)).and_then(|scene| scene.start().map(|_| ()));
        assert!(started.is_err(), "{hostile}");
    }
}

/// Four links, the last one a million times as heavy, on hinges and on balls whose friction is beyond any load, turned a little at first: all of it stops in a step, and stays.
#[test]
fn friction_holds_light_links_between_heavy_bodies() {
    for kind in [JointKind::Ball, JointKind::Revolute] {
        let settings = Settings {
            time_step: 1e-3,
            sleeping: SleepSettings::OFF,
            ..reference()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let mut last = None;
        for k in 0..4 {
            let x = 0.4 * f64::from(k);
            let mass = if k == 3 { 1e6 } else { 1.0 };
            let turn = DVec3::Y * if k % 2 == 0 { 1.0 } else { -1.0 };
            let body = (
                RigidBody::Dynamic,
                Mass::given(mass, DVec3::new(0.004, 0.014, 0.015) * mass),
                Pose::at(x + 0.2, 0.0, 0.0),
                Twist::from_inertial_frame(DVec3::ZERO, turn, DQuat::IDENTITY),
            );
            let body = simulation.spawn(body).unwrap();
            let joint = match last {
                Some(last) => Joint::new(last, body, kind),
                None => Joint::to_world(body, kind),
            };
            let forces = match kind {
                JointKind::Ball => rubs(1e12),
                _ => JointForces(vec![JointForce::Friction {
                    axis: JointAxis::RotationZ,
                    force: 1e12,
                }]),
            };
            let joint = joint.at(DVec3::X * x, DVec3::Y);
            simulation.spawn_joint(joint, forces).unwrap();
            last = Some(body);
        }
        for _ in 0..200 {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{kind:?}: {report:?}");
        }
    }
}
