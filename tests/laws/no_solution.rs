//! **Law.** A step whose bodies nothing can keep apart has no solution: it says so, names two of the bodies, and ejects none.
//!
//! What encloses a body here moves with at most `v`, and a body that is pushed without bounce leaves whatever pushes it at most as
//! fast as that. In a straight line that is `v`; in a V whose walls are inclined by `a` to the vertical it is `v / sin a`, the speed
//! at which their line of intersection rises. Gravity adds `g t` while a body falls. Twice that is "not ejected".

use crate::support::*;
use moreau::StepStatus;

const BALL: f64 = 0.1;

fn ball(simulation: &mut Simulation, at: DVec3) -> Entity {
    let material = Material::with_friction(0.5);
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(BALL),
        material,
        Pose::from_position(at),
    );
    simulation.spawn(ball).unwrap()
}

fn wall(simulation: &mut Simulation, normal: DVec3, at: DVec3, velocity: DVec3) -> Entity {
    let wall = (
        RigidBody::Kinematic,
        Collider::half_space(normal),
        Material::with_friction(0.5),
        Pose::from_position(at),
        Twist {
            linear: velocity,
            angular: DVec3::ZERO,
        },
    );
    simulation.spawn(wall).unwrap()
}

/// Steps of a simulation that say they were solved, of those in which the walls press on what is between them. Nothing becomes
/// faster than `bound`.
fn solved(simulation: &mut Simulation, bodies: &[Entity], steps: usize, bound: f64) -> usize {
    let mut solved = 0;
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        println!(
            "{} {:?} {:?} e {:.1e} v {:.1e} {:.1e} sweeps {}",
            report.step,
            report.status,
            report.conflict,
            report.e_scaled,
            report.velocity,
            report.worst_velocity,
            report.sweeps
        );
        solved += usize::from(report.converged);
        assert_eq!(report.converged, report.status == StepStatus::Converged);
        assert_eq!(
            report.conflict.is_some(),
            report.status.is_without_solution()
        );
        for body in bodies {
            let speed = simulation.twist(*body).unwrap().linear.length();
            let t = simulation.time();
            assert!(
                speed <= 2.0 * (bound + 9.81 * t),
                "{speed} m/s after {t} s, walls {bound}"
            );
        }
    }
    solved
}

/// The walls stop, or go apart: what they held overlaps them and must not shoot out.
fn let_go(simulation: &mut Simulation, walls: &[(Entity, DVec3)], bodies: &[Entity], bound: f64) {
    for (wall, velocity) in walls {
        simulation.set(
            *wall,
            Twist {
                linear: *velocity,
                angular: DVec3::ZERO,
            },
        );
    }
    let begin = simulation.time();
    for _ in 0..40 {
        simulation.step().unwrap();
        for body in bodies {
            let speed = simulation.twist(*body).unwrap().linear.length();
            let falls = 9.81 * (simulation.time() - begin);
            assert!(speed <= 2.0 * (bound + falls), "ejected with {speed} m/s");
        }
    }
}

#[test]
fn two_walls_that_close_on_a_ball_have_no_solution() {
    for speed in [0.01, 0.1, 1.0, 10.0] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let inside = DVec3::X * BALL;
        let v = DVec3::X * speed;
        let left = wall(&mut simulation, DVec3::X, -inside, v);
        let right = wall(&mut simulation, -DVec3::X, inside, -v);
        let ball = ball(&mut simulation, DVec3::ZERO);
        let steps = ((0.5 * BALL / speed / 0.005) as usize).clamp(3, 60);
        assert_eq!(
            solved(&mut simulation, &[ball], steps, speed),
            0,
            "{speed} m/s"
        );
        let_go(
            &mut simulation,
            &[(left, DVec3::ZERO), (right, DVec3::ZERO)],
            &[ball],
            speed,
        );
        let_go(&mut simulation, &[(left, -v), (right, v)], &[ball], speed);
    }
}

#[test]
fn a_closing_v_that_jams_has_no_solution() {
    // μ = 0.5 holds in a V of less than atan 0.5 to the vertical on each side.
    for angle in [0.1_f64, 0.3] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let (sin, cos) = libm::sincos(angle);
        let speed = 0.2;
        let normals = [DVec3::new(cos, 0.0, sin), DVec3::new(-cos, 0.0, sin)];
        let walls = normals.map(|n| {
            wall(
                &mut simulation,
                n,
                -n * BALL,
                DVec3::new(speed * n.x.signum(), 0.0, 0.0),
            )
        });
        let ball = ball(&mut simulation, DVec3::ZERO);
        let bound = speed / sin;
        assert_eq!(solved(&mut simulation, &[ball], 30, bound), 0, "{angle}");
        let_go(
            &mut simulation,
            &walls.map(|w| (w, DVec3::ZERO)),
            &[ball],
            bound,
        );
    }
}

#[test]
fn columns_under_a_piston_have_no_solution() {
    for count in [5_usize, 10, 30] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        ground(&mut simulation, Material::default());
        let height = |k: usize| (2 * k + 1) as f64 * BALL;
        let balls: Vec<_> = (0..count)
            .map(|k| ball(&mut simulation, DVec3::Z * height(k)))
            .collect();
        let top = DVec3::Z * 2.0 * BALL * count as f64;
        let piston = wall(&mut simulation, -DVec3::Z, top, DVec3::Z * -0.2);
        assert_eq!(solved(&mut simulation, &balls, 60, 0.2), 0, "{count} balls");
        let_go(&mut simulation, &[(piston, DVec3::ZERO)], &balls, 0.2);
        let_go(&mut simulation, &[(piston, DVec3::Z * 0.2)], &balls, 0.2);
    }
}

/// Faces without friction, pressed straight: nothing turns them, so nothing leaves sideways.
#[test]
fn what_a_piston_presses_straight_is_not_shot_out() {
    for time_step in [1.0 / 200.0, 1.0 / 60.0] {
        let settings = Settings {
            time_step,
            sleeping: SleepSettings::OFF,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let smooth = Material::with_friction(0.0);
        ground(&mut simulation, smooth);
        let cubes: Vec<_> = (0..3)
            .map(|k| {
                let pose = Pose::from_position(DVec3::Z * 0.1 * f64::from(2 * k + 1));
                let cube = (
                    RigidBody::Dynamic,
                    Collider::cuboid(0.1, 0.1, 0.1),
                    smooth,
                    pose,
                );
                simulation.spawn(cube).unwrap()
            })
            .collect();
        let down = Twist {
            linear: -DVec3::Z,
            angular: DVec3::ZERO,
        };
        let above = Pose::from_position(DVec3::Z * 0.701);
        let plate = Collider::cuboid(1.0, 1.0, 0.1);
        simulation
            .spawn((RigidBody::Kinematic, plate, smooth, above, down))
            .unwrap();
        let steps = (0.1 / time_step).round() as usize;
        assert_eq!(solved(&mut simulation, &cubes, steps, 1.0), 0);
    }
}

/// A hull of eight points that are off the corners of a cube by a tenth, the same for every seed.
fn uneven(seed: u64) -> Collider {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        0.02 * ((state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
    };
    let corner = |k: i32, bit: i32| if k >> bit & 1 == 1 { 0.1 } else { -0.1 };
    let points: Vec<_> = (0..8)
        .map(|k| DVec3::new(corner(k, 0) + next(), corner(k, 1) + next(), corner(k, 2)))
        .collect();
    Collider::convex_hull(points)
}

/// A plate goes three quarters of a body into a column. Balls, capsules, cylinders and cubes are pressed straight, and what buckles is pushed by
/// what leans on it: nothing becomes faster than twice the plate and its own fall. Uneven hulls may be squeezed out, as a kernel between two
/// fingers is. In all of them no overlap grows unsaid: a step without conflict and without an overlap that is left leaves none.
#[test]
fn columns_deep_under_a_plate_are_not_shot_out_and_say_so() {
    let kinds: [(&str, Collider, bool); 7] = [
        ("cube", Collider::cuboid(0.1, 0.1, 0.1), true),
        ("cylinder", Collider::cylinder(0.1, 0.1), true),
        ("capsule", Collider::capsule(0.05, 0.05), true),
        ("ball", Collider::sphere(0.1), true),
        ("hull 7", uneven(7), false),
        ("hull 8", uneven(8), false),
        ("hull 9", uneven(9), false),
    ];
    for (name, shape, is_even) in &kinds {
        for count in [2_u32, 3, 5] {
            for (friction, time_step, speed) in [
                (0.0, 1.0 / 200.0, 0.2),
                (0.0, 1.0 / 200.0, 1.0),
                (0.0, 1.0 / 60.0, 0.2),
                (0.0, 1.0 / 60.0, 1.0),
                (0.5, 1.0 / 200.0, 0.2),
                (0.5, 1.0 / 60.0, 1.0),
            ] {
                let case = format!("{count} × {name}, μ {friction}, h {time_step}, {speed} m/s");
                let settings = Settings {
                    time_step,
                    sleeping: SleepSettings::OFF,
                    ..Settings::default()
                };
                let mut simulation = Simulation::new(settings).unwrap();
                let material = Material::with_friction(friction);
                ground(&mut simulation, material);
                let bodies: Vec<_> = (0..count)
                    .map(|k| {
                        let pose = Pose::from_position(DVec3::Z * 0.1 * f64::from(2 * k + 1));
                        let mass = Mass::scaled_to(1.0);
                        let body = (RigidBody::Dynamic, shape.clone(), mass, material, pose);
                        simulation.spawn(body).unwrap()
                    })
                    .collect();
                let down = Twist {
                    linear: -speed * DVec3::Z,
                    angular: DVec3::ZERO,
                };
                let top = 0.2 * f64::from(count);
                let above = Pose::from_position(DVec3::Z * (top + 0.101));
                let plate = Collider::cuboid(1.0, 1.0, 0.1);
                let plate = (RigidBody::Kinematic, plate, material, above, down);
                let plate = simulation.spawn(plate).unwrap();
                let steps = (0.15 / speed / time_step).round() as usize;
                let mut before: Option<StepReport> = None;
                for step in 0..3 * steps {
                    if step == steps {
                        simulation.set(plate, Twist::default());
                    }
                    let report = simulation.step().unwrap();
                    let t = simulation.time();
                    let speeds = bodies.iter().map(|body| simulation.twist(*body).unwrap());
                    let fastest = speeds.map(|twist| twist.linear.length());
                    let fastest = fastest.fold(0.0, f64::max);
                    let bound = 2.0 * (speed + 9.81 * t);
                    assert!(
                        !is_even || fastest <= bound,
                        "{case}: {fastest} m/s at {t} s"
                    );
                    // Bodies that meet in the step while they turn do so to the order of h²: 2 mm is (h ω)²/2 of a half-diagonal at 9 rad/s.
                    // Once the plate stands the projection takes away at once what is deep, by more than its linearised gaps tell of.
                    if let Some(before) = before.filter(|before| before.converged && step < steps) {
                        let said = before.overlap_left.max(1e-3);
                        let deep = report.max_penetration;
                        assert!(deep <= 2.0 * said, "{case}: {deep} m at {t} s, {before:?}");
                    }
                    before = Some(report);
                }
            }
        }
    }
}

/// A stick of 30 cm hangs on a pin from a hand that begins to move at once, and its lower end, ahead of the hand, slides on the ground: with friction well below
/// what jams, `l sin a > μ (l cos a + r)`. The impulse comes from the hand, at a speed that nothing has on its own.
#[test]
fn a_stick_that_a_hand_begins_to_push_has_a_solution() {
    for (accuracy, h, friction, lean, speed) in [
        (Accuracy::Engineering, 1e-5, 0.3, 0.7, 0.5),
        (Accuracy::Engineering, 1e-5, 0.5, 0.9, 2.0),
        (Accuracy::Reference, 2e-4, 0.1, 0.45, 2.0),
    ] {
        let settings = Settings {
            time_step: h,
            accuracy,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let material = Material::with_friction(friction);
        let ground = (RigidBody::Static, Collider::half_space(DVec3::Z), material);
        simulation.spawn(ground).unwrap();
        let (length, radius) = (0.3, 0.01);
        let low = radius * DVec3::Z;
        let up = DVec3::new(-libm::sin(lean), 0.0, libm::cos(lean));
        let pin = low + length * up;
        let hand = (
            RigidBody::Kinematic,
            Collider::sphere(0.001),
            Pose::from_position(pin),
            Twist::linear(speed, 0.0, 0.0),
        );
        let hand = simulation.spawn(hand).unwrap();
        let stick = (
            RigidBody::Dynamic,
            Collider::capsule(length / 2.0, radius),
            Pose::from_position(low + length / 2.0 * up)
                .with_orientation(DQuat::from_rotation_arc(DVec3::Z, up)),
            material,
        );
        let stick = simulation.spawn(stick).unwrap();
        let joint = Joint::new(hand, stick, JointKind::Revolute).at(pin, DVec3::Y);
        simulation.spawn_joint(joint, NoCollision).unwrap();
        for _ in 0..5 {
            let report = simulation.step().unwrap();
            let (status, left) = (report.status, report.velocity);
            assert_eq!(status, StepStatus::Converged, "h {h}: {left:e} m/s left");
        }
    }
}
