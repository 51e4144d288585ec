//! **Law.** Bodies at speed keep the laws of bodies at rest: what rolls over flush tiles does not feel their seams, and nothing is
//! driven through a body, however fast, however it turns, and whoever struck it.

use crate::meeting::{fixed, flying, frictionless, position, velocity, weightless};
use crate::support::*;

/// Rolls a ball of 0.1 m over a floor at z = 0 from −5 m ≤ x to 30 m with seams every half metre: along them and slantwise, from any place
/// before a seam, at 0.05 to 30 m/s. What went wrong of 240.
pub(crate) fn roll(floor: &[Body]) -> Vec<String> {
    let (radius, half) = (0.1, 0.25);
    let mut wrong = Vec::new();
    for h in [1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0] {
        for speed in [0.05, 0.5, 2.0, 10.0, 30.0] {
            for slant in [0.0, 0.1] {
                for phase in 0..8 {
                    let v = DVec3::new(libm::cos(slant), libm::sin(slant), 0.0) * speed;
                    let way = speed * h * (4.0 + f64::from(phase) / 8.0);
                    let at = DVec3::new(half - way, 0.02, radius);
                    let mut ball = flying(10_000, Collider::sphere(radius), at, v);
                    ball.material = Material::with_friction(0.5);
                    ball.twist.angular = DVec3::Z.cross(v) / radius;
                    let settings = Settings {
                        time_step: h,
                        ..reference()
                    };
                    let mut state = StepState::default();
                    let mut bodies = floor.to_vec();
                    bodies.push(ball);
                    state.set_bodies(&bodies).unwrap();
                    let (mut hop, mut slow): (f64, f64) = (0.0, 0.0);
                    for _ in 0..40 {
                        state.step(&settings).unwrap();
                        hop = hop.max((position(&state, 10_000).z - radius).abs());
                        slow = slow.max((velocity(&state, 10_000) - v).length());
                    }
                    // A meeting is known to 1e-4 of the radius, a seam to 1e-3 of that, which is a velocity by h and twice that
                    // with the one given back. Beside it the solver's tolerance of 1e-11 g h a step is nothing.
                    let seam = 2e-7 * radius / h;
                    if hop > 1e-4 * radius || slow > seam + 1e-9 * speed {
                        wrong.push(format!(
                            "h {h:.5} speed {speed} slant {slant} phase {phase}: hop {hop:.2e}, Δv {slow:.2e}"
                        ));
                    }
                }
            }
        }
    }
    wrong
}

/// Floors of half a metre a tile.
#[test]
fn a_ball_rolls_over_flush_tiles() {
    let mut tiles = Vec::new();
    for i in -10..60 {
        for j in -6..7 {
            let at = DVec3::new(0.5 * f64::from(i), 0.5 * f64::from(j), -0.1);
            let mut tile = fixed(tiles.len() as u64, Collider::cuboid(0.25, 0.25, 0.1), at);
            tile.material = Material::with_friction(0.5);
            tiles.push(tile);
        }
    }
    let wrong = roll(&tiles);
    assert!(
        wrong.is_empty(),
        "{} of 240:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// 200 balls lie on a tray, and a heavy one hits it from below: no ball gets through it.
#[test]
fn no_ball_leaves_a_tray_through_its_floor() {
    let (radius, half, floor) = (0.02, 0.25, 0.005);
    let mut wrong = Vec::new();
    for speed in [20.0, 60.0] {
        // A tray that is struck beside its centre turns by up to half a radian in a millisecond.
        for (h, off) in [
            (1.0 / 60.0, 0.0),
            (1.0 / 200.0, 0.0),
            (1e-3, 0.0),
            (1e-3, 0.1),
        ] {
            let settings = Settings {
                time_step: h,
                accuracy: Accuracy::Engineering,
                ..Settings::default()
            };
            let tray = flying(
                0,
                Collider::cuboid(half, half, floor),
                DVec3::ZERO,
                DVec3::ZERO,
            );
            let mut bodies = vec![tray];
            for i in 0..200_u32 {
                let [x, y, z] = [i % 10, i / 10 % 10, i / 100].map(f64::from);
                let at = DVec3::new(
                    0.041 * (x - 4.5),
                    0.041 * (y - 4.5),
                    floor + radius * (1.0 + 2.0 * z),
                );
                bodies.push(flying(
                    u64::from(i) + 1,
                    Collider::sphere(radius),
                    at,
                    DVec3::ZERO,
                ));
            }
            let way = DVec3::new(off, 0.0, -floor - 0.05 - 1.3 * speed * h);
            let mut striker = flying(1000, Collider::sphere(0.05), way, DVec3::Z * speed);
            striker.material.density *= 20.0;
            bodies.push(striker);
            let mut state = StepState::default();
            state.set_bodies(&bodies).unwrap();
            let mut local: Vec<DVec3> = Vec::new();
            let mut passed = Vec::new();
            while state.time() < 0.1 {
                state.step(&settings).unwrap();
                let tray = state.pose(BodyId(0)).unwrap();
                let last = std::mem::take(&mut local);
                for id in 1..=200 {
                    let x = tray.orientation.conjugate() * (position(&state, id) - tray.position);
                    if let Some(before) = last.get(id as usize - 1)
                        && before.z > 0.0
                        && x.z <= 0.0
                    {
                        let across = before.lerp(x, before.z / (before.z - x.z));
                        if across.x.abs().max(across.y.abs()) < half {
                            passed.push(id);
                        }
                    }
                    local.push(x);
                }
            }
            if !passed.is_empty() {
                wrong.push(format!(
                    "speed {speed} h {h:.4} off {off}: {} passed",
                    passed.len()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A box of 2 cm at 50 m/s and 300 rad/s against a wall of 2 cm, from anywhere and turned anyhow.
#[test]
fn a_spinning_box_does_not_pass_a_wall() {
    let mut rng = Lcg::new(11);
    let mut wrong = Vec::new();
    for h in [1.0 / 60.0, 1.0 / 200.0, 1.0 / 1000.0] {
        for number in 0..200 {
            let axis = rng.symmetric_vector().normalize();
            let speed = 50.0;
            let start = -0.1 - speed * h * rng.uniform();
            let slant = rng.symmetric_vector() * 0.3;
            let v = DVec3::new(speed, speed * slant.y, speed * slant.z);
            let mut thrown = flying(1, Collider::cuboid(0.01, 0.01, 0.01), DVec3::X * start, v);
            thrown.pose.orientation = rng.rotation();
            thrown.twist.angular = axis * 300.0;
            thrown.material = if number % 2 == 0 {
                frictionless()
            } else {
                Material::with_friction(0.5)
            };
            let wall = fixed(0, Collider::cuboid(0.01, 5.0, 5.0), DVec3::ZERO);
            let mut state = StepState::default();
            state.set_bodies(&[wall, thrown]).unwrap();
            let settings = weightless(h);
            let steps = ((0.2 - start) / (speed * h)) as usize + 8;
            let passed = (0..steps).any(|_| {
                state.step(&settings).unwrap();
                position(&state, 1).x > 0.0
            });
            if passed {
                wrong.push(format!("h {h:.4} number {number}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of 600 passed:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Bodies that strike a thin wall with any restitution, from any place before it, leave on the side that they came from. With the mean
/// of both velocities they go up to `h v (1 − e)/2` into the wall, and through it: θ is larger then.
#[test]
fn no_wall_is_passed_by_what_bounces() {
    let shapes = [
        (Collider::sphere(0.05), 0.05, 5e-4),
        (Collider::cuboid(0.05, 0.05, 0.05), 0.05, 5e-4),
        (Collider::capsule(0.05, 0.02), 0.02, 5e-4),
        (Collider::cylinder(0.05, 0.03), 0.03, 5e-4),
        (Collider::sphere(0.01), 0.01, 5e-4),
        (Collider::sphere(0.1), 0.1, 0.05),
    ];
    for (shape, size, half) in shapes {
        for e in [0.1, 0.3, 0.5, 0.8, 0.95] {
            for speed in [5.0, 20.0, 60.0, 200.0] {
                for h in [1e-3, 5e-3, 1.0 / 60.0] {
                    for phase in 0..10 {
                        let way = speed * h * (1.0 + f64::from(phase) / 10.0);
                        let at = DVec3::new(-(size + half + way), 0.01, 0.02);
                        let mut wall = fixed(0, Collider::cuboid(half, 1.0, 1.0), DVec3::ZERO);
                        let mut body = flying(1, shape.clone(), at, DVec3::X * speed);
                        wall.material = Material::frictionless(e);
                        body.material = Material::frictionless(e);
                        let mut state = StepState::default();
                        state.set_bodies(&[wall, body]).unwrap();
                        for _ in 0..4 {
                            state.step(&weightless(h)).unwrap();
                            let x = position(&state, 1).x;
                            assert!(x < 0.0, "{shape:?}, e {e}, {speed} m/s, h {h}: {x}");
                        }
                        let v = velocity(&state, 1).x;
                        assert!(v < 0.0, "{shape:?}, e {e}, {speed} m/s, h {h}: {v} m/s");
                    }
                }
            }
        }
    }
}

/// One step of a capsule between two walls that it both reaches: it turns by 15 rad, and its ends are faster than its centre.
#[test]
fn a_capsule_that_spins_fast_passes_neither_of_two_walls() {
    let elastic = |mut body: Body| {
        body.material = Material::frictionless(1.0);
        body
    };
    let wall = |id: u64, half: DVec3, at: DVec3| {
        elastic(fixed(id, Collider::cuboid(half.x, half.y, half.z), at))
    };
    let (at, v) = (
        DVec3::new(0.274, -0.077, 0.493),
        DVec3::new(-21.3, -61.8, 38.9),
    );
    let mut capsule = elastic(flying(2, Collider::capsule(0.084, 0.048), at, v));
    capsule.twist.angular = DVec3::new(622.0, 1301.0, -290.0);
    let turn = [0.219_674, -0.319_588_6, 0.686_065_9, 0.615_564_9];
    capsule.pose.orientation = DQuat::from_array(turn).normalize();
    let walls = [
        wall(0, DVec3::new(0.8, 0.05, 0.8), -0.65 * DVec3::Y),
        wall(1, DVec3::new(0.8, 0.8, 0.05), 0.65 * DVec3::Z),
    ];
    let mut state = StepState::default();
    let [low, high] = walls;
    state.set_bodies(&[low, high, capsule]).unwrap();
    assert!(state.step(&weightless(0.01)).unwrap().converged);
    let end = position(&state, 2);
    assert!(end.y > -0.6 && end.z < 0.6, "{end}");
}

/// Bodies that turn by up to 25 rad in a step, in a room of walls of 0.1 m that they cross at up to 1.7 times its width in a step.
#[test]
fn nothing_leaves_a_room_however_fast_it_turns() {
    let shapes = [
        Collider::capsule(0.084, 0.048),
        Collider::cuboid(0.1, 0.05, 0.02),
        Collider::cuboid(0.15, 0.02, 0.02),
        Collider::cylinder(0.08, 0.05),
    ];
    let mut random = Lcg::new(49);
    let mut wrong = Vec::new();
    for restitution in [0.0, 0.5, 1.0] {
        for speed in [40.0, 60.0, 100.0] {
            for (id, shape) in shapes.iter().cycle().take(80).enumerate() {
                let mut bodies = Vec::new();
                for (axis, normal) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
                    let half = DVec3::splat(0.8) - normal * 0.75;
                    let wall = Collider::cuboid(half.x, half.y, half.z);
                    for (side, at) in [normal * 0.65, normal * -0.65].into_iter().enumerate() {
                        bodies.push(fixed((2 * axis + side) as u64, wall.clone(), at));
                    }
                }
                let v = random.symmetric_vector() * speed;
                let mut body = flying(6, shape.clone(), random.symmetric_vector() * 0.4, v);
                body.twist.angular = random.symmetric_vector() * 1500.0;
                body.pose.orientation = random.rotation();
                bodies.push(body);
                for body in &mut bodies {
                    body.material = Material::frictionless(restitution);
                }
                let mut state = StepState::default();
                state.set_bodies(&bodies).unwrap();
                for step in 0..10 {
                    state.step(&weightless(0.01)).unwrap();
                    let end = position(&state, 6);
                    if end.abs().max_element() > 0.6 {
                        wrong.push(format!("e {restitution}, {speed} m/s, {id}, {step}: {end}"));
                        break;
                    }
                }
            }
        }
    }
    none_of(720, &wrong);
}

/// As a step with impacts leaves them: overlapping by far less than they are thick, and closing by many times that. Looks along the way begin behind the other plate.
#[test]
fn thin_plates_that_touch_do_not_pass_each_other() {
    let half = 1e-3;
    let mut random = Lcg::new(3);
    let mut wrong = Vec::new();
    for e in [0.0, 1.0] {
        for overlap in [1e-6, 1e-4, 1e-3, 1e-2] {
            for way in [0.5, 3.0, 30.0, 300.0] {
                for _ in 0..5 {
                    let number = |low: f64, high: f64, random: &mut Lcg| {
                        low + (high - low) * random.uniform()
                    };
                    let h = 1.0 / 60.0;
                    let closing = way * half / h;
                    let mut simulation = Simulation::new(Settings {
                        time_step: h,
                        gravity: DVec3::ZERO,
                        ..reference()
                    })
                    .unwrap();
                    let material = Material::frictionless(e);
                    let axis = DVec3::from_array([0, 1, 2].map(|_| number(-1.0, 1.0, &mut random)))
                        .normalize();
                    let turned = DQuat::from_rotation_arc(DVec3::X, axis);
                    let base = closing * number(-1.0, 1.0, &mut random);
                    let mass = libm::exp2(number(-6.0, 6.0, &mut random));
                    let plates = [
                        (0.0, base + closing, 1.0, (0.1, 0.1)),
                        ((2.0 - overlap) * half, base, mass, (0.12, 0.09)),
                    ]
                    .map(|(at, speed, mass, (y, z))| {
                        let pose = Pose::from_position(axis * at).with_orientation(turned);
                        let plate = (
                            RigidBody::Dynamic,
                            Collider::cuboid(half, y, z),
                            Mass::scaled_to(mass),
                            material,
                            pose,
                            Twist::linear(axis.x * speed, axis.y * speed, axis.z * speed),
                        );
                        simulation.spawn(plate).unwrap()
                    });
                    simulation.step().unwrap();
                    let [a, b] = plates.map(|plate| simulation.pose(plate).unwrap().position);
                    let apart = (b - a).dot(axis);
                    if apart < half {
                        wrong.push(format!("e {e} overlap {overlap:e} of the half-thickness, way {way}: {:.1} half-thicknesses", apart / half));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}
