//! **Law.** What contacts do not push goes on: a smooth wall does not hold a body up that falls along it, and nothing stops the centre of mass of two free bodies.
//!
//! A wall without friction pushes along its normal alone, so that a body beside it falls as it does by itself. With gravity `g` along the wall a step of
//! `θ ∈ [½, 1]` has `z_k = z_0 − ½ g t² − ½ (2θ − 1) g h t`: between free fall and half a step of it later, and the projection moves along the normal.
//! Two bodies without gravity have a centre of mass that moves uniformly, whatever they do to each other: their impulses and shifts are opposite.

use crate::support::*;
use std::f64::consts::FRAC_1_SQRT_2;

const H: f64 = 1.0 / 60.0;

fn smooth() -> Material {
    Material::frictionless(0.0)
}

fn settings(gravity: DVec3) -> Settings {
    Settings {
        time_step: H,
        gravity,
        threads: 1,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..Settings::default()
    }
}

/// Orientation, velocity along −x and spin of a body that comes up against something at x = 0.
fn thrown(seed: u64, drift: DVec3) -> (Pose, Twist) {
    let mut random = Lcg::new(seed * 7919 + 13);
    for _ in 0..4 {
        random.uniform();
    }
    let orientation = random.rotation();
    let linear = drift - DVec3::X * (0.2 + 2.0 * random.uniform());
    let angular = random.symmetric_vector() * 20.0;
    let pose = Pose::at(0.11, 0.0, 0.0).with_orientation(orientation);
    (pose, Twist { linear, angular })
}

/// How far (m) a body is from free fall along a smooth wall in a second, beyond what the scheme allows, in steps that are all called converged.
fn held_up(collider: &Collider, seed: u64) -> f64 {
    let mut simulation = Simulation::new(settings(DVec3::Z * -G)).unwrap();
    let wall = Collider::cuboid(1.0, 1.0, 100.0);
    let at = Pose::at(-1.0, 0.0, 0.0);
    simulation
        .spawn((RigidBody::Static, wall, smooth(), at))
        .unwrap();
    let (pose, twist) = thrown(seed, DVec3::ZERO);
    let mass = Mass::scaled_to(1.0);
    let body = (
        RigidBody::Dynamic,
        collider.clone(),
        smooth(),
        mass,
        pose,
        twist,
    );
    let body = simulation.spawn(body).unwrap();
    let mut off = 0.0_f64;
    for step in 1..=60 {
        if !simulation.step().unwrap().converged {
            return 0.0;
        }
        let t = H * f64::from(step);
        let fallen = -simulation.pose(body).unwrap().position.z - 0.5 * G * t * t;
        let late = 0.5 * G * H * t;
        // A tenth of a millimetre is the tolerance of the projection.
        off = off.max((fallen - 0.5 * late).abs() - 0.5 * late - 1e-4);
    }
    off
}

#[test]
fn a_smooth_wall_holds_nothing_up() {
    let cone = Collider::cone(0.05, 0.05);
    let hung: Vec<_> = (0..100)
        .map(|seed| (seed, held_up(&cone, seed)))
        .filter(|(_, off)| *off > 0.0)
        .collect();
    assert!(hung.is_empty(), "{hung:?}");
}

/// The same, from the state of a pile in which it was found: a cone of 2 mm that turns by 0.3 rad a step, 1.8e-7 m in the wall.
#[test]
fn a_cone_that_touches_a_smooth_wall_falls_along_it() {
    let mut simulation = Simulation::new(Settings {
        time_step: 1.0 / 30.0,
        ..settings(DVec3::Z * -G)
    })
    .unwrap();
    let wall = Collider::cuboid(1.0, 1.0, 1.0);
    let at = Pose::at(-1.0, 0.0, 0.0);
    simulation
        .spawn((RigidBody::Static, wall, smooth(), at))
        .unwrap();
    let r = 0.001_956_967_654_913_108_5;
    let orientation = DQuat::from_xyzw(
        0.322_768_929_161_047_3,
        -0.601_645_245_115_709_2,
        0.486_770_112_371_361_6,
        -0.544_883_542_695_006_5,
    );
    let place = Pose::at(0.001_425_508_451_55, 0.0, 0.0).with_orientation(orientation);
    let twist = Twist {
        linear: DVec3::new(0.001_093_22, 0.0, 0.0),
        angular: DVec3::new(8.7424, -5.292, -8.0434),
    };
    let cone = (RigidBody::Dynamic, Collider::cone(r, r), smooth());
    let cone = simulation
        .spawn((cone, Mass::scaled_to(1.0), place, twist))
        .unwrap();
    for _ in 0..10 {
        assert!(simulation.step().unwrap().converged);
    }
    let fallen = -simulation.pose(cone).unwrap().position.z;
    let speed = -simulation.twist(cone).unwrap().linear.z;
    // ½ g t² = 0.545 m.
    assert!(fallen > 0.5, "fell {fallen} m, at {speed} m/s");
}

#[test]
fn the_centre_of_mass_of_two_free_bodies_moves_uniformly() {
    let drift = DVec3::Z * 5.0;
    let mut stopped = Vec::new();
    for (collider, seed) in [
        (Collider::cone(0.05, 0.05), 296),
        (Collider::cylinder(0.05, 0.05), 46),
        (Collider::capsule(0.05, 0.03), 252),
        (Collider::cuboid(0.05, 0.05, 0.05), 3),
    ] {
        let mut simulation = Simulation::new(settings(DVec3::ZERO)).unwrap();
        let (pose, twist) = thrown(seed, drift);
        let mass = Mass::scaled_to(1.0);
        let kind = collider.shape().kind();
        let a = (
            RigidBody::Dynamic,
            Collider::cuboid(0.2, 0.2, 0.2),
            smooth(),
            mass,
            Pose::at(-0.2, 0.0, 0.0),
            Twist {
                linear: drift,
                angular: DVec3::ZERO,
            },
        );
        let b = (RigidBody::Dynamic, collider, smooth(), mass, pose, twist);
        let bodies = [simulation.spawn(a).unwrap(), simulation.spawn(b).unwrap()];
        let centre = |simulation: &Simulation| {
            let [a, b] = bodies.map(|body| simulation.pose(body).unwrap().position);
            0.5 * (a + b)
        };
        let (begin, v) = (centre(&simulation), 0.5 * (drift + twist.linear));
        for step in 1..=60 {
            let report = simulation.step().unwrap();
            let way = centre(&simulation) - begin - v * (H * f64::from(step));
            // Rounding of sixty steps over 5 m is some 1e-13 m.
            if report.converged && way.length() > 1e-12 {
                stopped.push((kind, step, way.length()));
                break;
            }
        }
    }
    assert!(stopped.is_empty(), "{stopped:?}");
}

/// A box of twelve triangles, `±0.5` m, seen from inside.
fn room() -> Collider {
    let half = 0.5;
    let side = |i: usize, bit: usize| if i & bit > 0 { half } else { -half };
    let vertices: Vec<DVec3> = (0..8)
        .map(|i| DVec3::new(side(i, 1), side(i, 2), side(i, 4)))
        .collect();
    let faces = [
        [0, 1, 3, 2],
        [4, 6, 7, 5],
        [0, 4, 5, 1],
        [2, 3, 7, 6],
        [0, 2, 6, 4],
        [1, 5, 7, 3],
    ];
    let mut triangles = Vec::new();
    for [a, b, c, d] in faces {
        let at = |i: u32| vertices[i as usize];
        for [i, j, k] in [[a, b, c], [a, c, d]] {
            let outwards = (at(j) - at(i)).cross(at(k) - at(i)).dot(at(i) + at(k)) > 0.0;
            triangles.push(if outwards { [i, k, j] } else { [i, j, k] });
        }
    }
    Collider::triangle_mesh(vertices, triangles)
}

/// Places and velocities of two balls in the room after one step of 5 ms, and whether the step says that it is solved.
fn in_the_room(e: f64, balls: [[DVec3; 2]; 2]) -> ([DVec3; 2], bool) {
    let material = Material::frictionless(e);
    let mut simulation = Simulation::new(Settings {
        time_step: 5e-3,
        ..settings(DVec3::ZERO)
    })
    .unwrap();
    let mesh = (RigidBody::Static, room(), material);
    simulation.spawn(mesh).unwrap();
    let bodies = balls.map(|[place, linear]| {
        let angular = DVec3::ZERO;
        let motion = (Pose::from_position(place), Twist { linear, angular });
        let ball = (RigidBody::Dynamic, Collider::sphere(0.05), material);
        let mass = Mass::scaled_to(1.0);
        simulation.spawn((ball, mass, motion)).unwrap()
    });
    let report = simulation.step().unwrap();
    let places = bodies.map(|body| simulation.pose(body).unwrap().position);
    let said = report.converged && report.overlap_left == 0.0;
    (places, said)
}

fn assert_inside((places, said): ([DVec3; 2], bool)) {
    assert!(said);
    for place in places {
        // A ball of 0.05 m that keeps in front of the walls; 1e-4 m is the tolerance of the projection.
        assert!(place.abs().max_element() <= 0.45 + 1e-4, "{place}");
    }
}

#[test]
fn a_ball_on_the_floor_of_a_mesh_is_not_pushed_through_its_wall() {
    let mut balls = struck_on_the_floor();
    // The pair is at rest against each other first, as a step before left it.
    balls[0][0].z = -0.45 - 1e-7;
    assert_inside(in_the_room(0.0, balls));
}

fn struck_on_the_floor() -> [[DVec3; 2]; 2] {
    [
        [
            DVec3::new(-0.2807, -0.3517, -0.45),
            DVec3::new(-13.03, -75.15, -81.35),
        ],
        [
            DVec3::new(-0.205, -0.3959, -0.4019),
            DVec3::new(-79.62, -20.32, -86.69),
        ],
    ]
}

#[test]
fn an_elastic_ball_that_is_struck_in_flight_is_not_pushed_through_a_mesh() {
    let balls = [
        [
            DVec3::new(-0.1617, 0.3573, -0.2849),
            DVec3::new(68.96, -166.46, 86.80),
        ],
        [
            DVec3::new(0.1971, 0.1318, -0.2732),
            DVec3::new(-172.97, -58.31, 81.74),
        ],
    ];
    assert_inside(in_the_room(1.0, balls));
}

/// A ball flies along a thick wall, is turned aside by one at rest, no faster than before, and gets to the wall: it stays before it.
#[test]
fn a_ball_that_is_turned_aside_meets_the_wall_beside_its_way() {
    for e in [0.0, 1.0] {
        let material = Material::frictionless(e);
        let time_step = 5e-3;
        let mut simulation = Simulation::new(Settings {
            time_step,
            ..settings(DVec3::ZERO)
        })
        .unwrap();
        let wall = Collider::cuboid(5.0, 0.2, 5.0);
        let at = Pose::at(0.0, 0.3, 0.0);
        let wall = (RigidBody::Static, wall, material, at);
        simulation.spawn(wall).unwrap();
        // The second ball is hit at 45 degrees.
        let aside = -0.1 * FRAC_1_SQRT_2;
        let places = [[-0.3, 0.0], [0.0, aside]];
        let speeds = [1.5 / time_step, 0.0];
        let bodies = [0, 1].map(|k| {
            let ball = (RigidBody::Dynamic, Collider::sphere(0.05), material);
            let [x, y] = places[k];
            let linear = DVec3::X * speeds[k];
            let angular = DVec3::ZERO;
            let motion = (Pose::at(x, y, 0.0), Twist { linear, angular });
            simulation
                .spawn((ball, Mass::scaled_to(1.0), motion))
                .unwrap()
        });
        assert!(simulation.step().unwrap().converged);
        let [y, _] = bodies.map(|body| simulation.pose(body).unwrap().position.y);
        // 1e-4 m is the tolerance of the projection.
        assert!(y <= 0.05 + 1e-4, "e {e}: at {y} m");
    }
}

/// Eight elastic balls in the room, several impacts of one body a step: none gets out, and they gain no energy.
#[test]
fn elastic_balls_at_any_speed_stay_in_a_closed_room() {
    let (h, radius) = (5e-3, 0.05);
    let material = Material::frictionless(1.0);
    let mut out = Vec::new();
    for (way, seed) in [0.3, 0.6, 1.0].into_iter().zip([0, 20, 40]) {
        for seed in seed..seed + 20 {
            let mut random = Lcg::new(seed * 7919 + 17);
            let mut simulation = Simulation::new(Settings {
                time_step: h,
                ..settings(DVec3::ZERO)
            })
            .unwrap();
            let mesh = (RigidBody::Static, room(), material);
            simulation.spawn(mesh).unwrap();
            let mut places: Vec<DVec3> = Vec::new();
            while places.len() < 8 {
                let place = random.symmetric_vector() * 0.44;
                let free = |other: &DVec3| other.distance(place) > 2.0 * radius + 1e-3;
                if places.iter().all(free) {
                    places.push(place);
                }
            }
            let mut balls = Vec::new();
            for place in places {
                let speed = way / h * (0.5 + 0.5 * random.uniform());
                let linear = random.symmetric_vector().normalize() * speed;
                let angular = DVec3::ZERO;
                let motion = (Pose::from_position(place), Twist { linear, angular });
                let ball = (RigidBody::Dynamic, Collider::sphere(radius), material);
                let ball = (ball, Mass::scaled_to(1.0), motion);
                balls.push(simulation.spawn(ball).unwrap());
            }
            let energy = |simulation: &Simulation| {
                let speeds = balls
                    .iter()
                    .map(|ball| simulation.twist(*ball).unwrap().linear);
                speeds.map(|v| 0.5 * v.length_squared()).sum::<f64>()
            };
            let before = energy(&simulation);
            for step in 0..60 {
                simulation.step().unwrap();
                let centre = |ball: &Entity| simulation.pose(*ball).unwrap().position;
                let farthest = balls.iter().map(|ball| centre(ball).abs().max_element());
                let farthest = farthest.fold(0.0, f64::max);
                // The centre of a ball that is through a wall is beyond it.
                if farthest > 0.5 {
                    out.push((way, seed, step, farthest));
                    break;
                }
            }
            let gain = energy(&simulation) / before - 1.0;
            // A thousandth is what stages of impacts take for rounding.
            assert!(gain < 1e-3, "way {way}, seed {seed}: gains {gain}");
        }
    }
    assert!(out.is_empty(), "{out:?}");
}

/// Three elastic balls on a line in space: the first strikes the second, which may or may not get to the third in the same step.
#[test]
fn the_centre_of_mass_of_balls_that_strike_one_another_moves_uniformly() {
    let h = 0.01;
    let mut off = Vec::new();
    for gaps in [
        [0.08, 0.03],
        [0.08, 0.06],
        [0.05, 0.03],
        [0.02, 0.03],
        [0.09, 0.02],
    ] {
        let mut simulation = Simulation::new(Settings {
            time_step: h,
            ..settings(DVec3::ZERO)
        })
        .unwrap();
        let places = [-0.2 - gaps[0], 0.0, 0.2 + gaps[1]];
        let balls = places.map(|x| {
            let ball = (
                RigidBody::Dynamic,
                Collider::sphere(0.1),
                Material::frictionless(1.0),
            );
            let speed = if x < 0.0 { 10.0 } else { 0.0 };
            let motion = (Pose::at(x, 0.0, 0.0), Twist::linear(speed, 0.0, 0.0));
            simulation
                .spawn((ball, Mass::scaled_to(1.0), motion))
                .unwrap()
        });
        for step in 1..=3 {
            simulation.step().unwrap();
            let way = [0, 1, 2].map(|k| simulation.pose(balls[k]).unwrap().position.x - places[k]);
            let way: f64 = way.iter().sum();
            // Rounding of places of half a metre.
            if (way - 0.1 * f64::from(step)).abs() > 1e-14 {
                off.push((gaps, step, way));
            }
        }
    }
    assert!(off.is_empty(), "{off:?}");
}

/// Two bodies on a joint with friction fall from rest: nothing turns them, the friction has nothing to do, and a step is solved at once. What is left at its row is the rounding of
/// the velocities that the joint makes equal.
#[test]
fn what_falls_on_a_joint_with_friction_is_solved() {
    let kinds = [
        (JointKind::Cylindrical, JointAxis::RotationZ),
        (JointKind::Revolute, JointAxis::RotationZ),
        (JointKind::Prismatic, JointAxis::Z),
        (JointKind::Universal, JointAxis::RotationX),
        (JointKind::Ball, JointAxis::X),
    ];
    for (kind, axis) in kinds {
        for seed in 0..20 {
            let mut random = Lcg::new(7 * seed + 1);
            let mut simulation = Simulation::new(settings(DVec3::NEG_Z * 9.81)).unwrap();
            let [a, b] = [0.0, 0.5].map(|x| {
                let mass = 5.0 + 20.0 * random.uniform();
                let position = DVec3::X * x + random.symmetric_vector() * 0.1;
                let body = (
                    RigidBody::Dynamic,
                    Mass::given(mass, DVec3::new(0.008, 0.01, 0.012) * mass),
                    Pose::from_position(position).with_orientation(random.rotation()),
                );
                simulation.spawn(body).unwrap()
            });
            let friction = if kind == JointKind::Ball {
                JointForce::BallFriction { torque: 100.0 }
            } else {
                JointForce::Friction { axis, force: 100.0 }
            };
            let place = DVec3::X * 0.25 + random.symmetric_vector() * 0.05;
            let along = random.symmetric_vector() + DVec3::Z * 0.01;
            let joint = Joint::new(a, b, kind).at(place, along);
            simulation
                .spawn_joint(joint, JointForces(vec![friction]))
                .unwrap();
            for step in 0..100 {
                let report = simulation.step().unwrap();
                assert!(
                    report.converged && report.sweeps <= 100,
                    "{kind:?} {seed} step {step}: {:?}, {} sweeps, {:e}",
                    report.status,
                    report.sweeps,
                    report.e_scaled
                );
            }
        }
    }
}
