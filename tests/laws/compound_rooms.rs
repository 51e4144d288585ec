//! **Law.** Balls in a room whose walls are one compound body stay in it, and what they overlap with is said: each part holds what comes to it, whatever
//! others of its body already do. The room stands, moves, or turns by a radian a step.

use crate::support::*;
use std::f64::consts::{PI, TAU};

/// Half-thickness of the walls, m.
const THIN: f64 = 0.01;

/// A wall: its outward normal, how far out it is, and its place in the room.
struct Wall {
    normal: DVec3,
    out: f64,
    part: (Pose, Shape),
}

impl Wall {
    fn new(normal: DVec3, out: f64, orientation: DQuat, half_extents: DVec3) -> Self {
        let at = Pose::from_position(normal * (out + THIN)).with_orientation(orientation);
        let part = (at, Shape::Cuboid { half_extents });
        Self { normal, out, part }
    }
}

/// A cube about the origin, a metre wide.
fn cube() -> Vec<Wall> {
    let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    axes.map(|normal| {
        let along = (DVec3::ONE - normal.abs()) * (0.5 + 2.0 * THIN);
        Wall::new(normal, 0.5, DQuat::IDENTITY, along + normal.abs() * THIN)
    })
    .collect()
}

/// A drum of eight plates about the y-axis, and its two ends.
fn drum() -> Vec<Wall> {
    let (radius, half_length) = (0.5, 0.4);
    let width = (radius + 2.0 * THIN) * libm::tan(PI / 8.0);
    let half = DVec3::new(THIN, half_length + 2.0 * THIN, width);
    let mut walls: Vec<Wall> = (0..8)
        .map(|k| {
            let turn = DQuat::from_rotation_y(TAU * f64::from(k) / 8.0);
            Wall::new(turn * DVec3::X, radius, turn, half)
        })
        .collect();
    for end in [-DVec3::Y, DVec3::Y] {
        let half = DVec3::new(1.1 * radius, THIN, 1.1 * radius);
        walls.push(Wall::new(end, half_length, DQuat::IDENTITY, half));
    }
    walls
}

/// Balls in a room.
struct Room {
    simulation: Simulation,
    room: Entity,
    walls: Vec<Wall>,
    balls: Vec<Entity>,
    radius: f64,
}

impl Room {
    /// A room with a motion, filled with balls at random, each with a velocity of up to `speed` along each axis.
    fn new(
        (walls, motion): (Vec<Wall>, Twist),
        (count, radius, speed): (usize, f64, f64),
        material: Material,
        seed: u64,
        settings: Settings,
    ) -> Self {
        let mut random = Lcg::new(seed);
        let mut simulation = Simulation::new(Settings {
            threads: 1,
            sleeping: SleepSettings::OFF,
            ..settings
        })
        .unwrap();
        let parts = walls.iter().map(|wall| wall.part.clone());
        let collider = Collider::compound(parts.collect());
        let kind = RigidBody::Kinematic;
        let room = (kind, collider, material, Pose::default(), motion);
        let room = simulation.spawn(room).unwrap();
        let mut places: Vec<DVec3> = Vec::new();
        let mut balls = Vec::new();
        while balls.len() < count {
            let at = random.symmetric_vector() * 0.5;
            let inside = |wall: &Wall| wall.out - wall.normal.dot(at) > 1.05 * radius;
            let apart = |other: &DVec3| other.distance(at) > 2.05 * radius;
            if !walls.iter().all(inside) || !places.iter().all(apart) {
                continue;
            }
            places.push(at);
            let ball = (
                RigidBody::Dynamic,
                Collider::sphere(radius),
                material,
                Pose::from_position(at),
                Twist {
                    linear: random.symmetric_vector() * speed,
                    angular: DVec3::ZERO,
                },
            );
            balls.push(simulation.spawn(ball).unwrap());
        }
        Self {
            simulation,
            room,
            walls,
            balls,
            radius,
        }
    }

    /// A step. Balls that are out after it, and how deep others are in walls beyond what is said, m.
    fn step(&mut self) -> (usize, f64) {
        let simulation = &mut self.simulation;
        let said = simulation.step().unwrap().overlap_left;
        // What was carried along may be off by as much as is left alone.
        let said = said.max(2.0 * simulation.settings().projection.tolerance);
        let room = simulation.shape_pose(self.room).unwrap();
        let (mut out, mut unsaid) = (0, 0.0_f64);
        for ball in &self.balls {
            let at = simulation.pose(*ball).unwrap().position - room.position;
            let at = room.orientation.inverse() * at;
            let beyond = |wall: &Wall| wall.normal.dot(at) - wall.out;
            let beyond = self.walls.iter().map(beyond).fold(f64::MIN, f64::max);
            if beyond > 2.0 * THIN {
                out += 1;
            } else {
                unsaid = unsaid.max(beyond + self.radius - said * (1.0 + 1e-9));
            }
        }
        (out, unsaid)
    }

    /// What is wrong in so many steps.
    fn follow(&mut self, steps: usize) -> Option<String> {
        (1..=steps).find_map(|step| {
            let (out, unsaid) = self.step();
            let wrong = out > 0 || unsaid > 0.0;
            wrong.then(|| format!("step {step}: {out} out, {unsaid:.1e} m unsaid"))
        })
    }
}

fn bouncing(restitution: f64, friction: f64) -> Material {
    Material {
        restitution,
        ..Material::with_friction(friction)
    }
}

fn at_rest() -> Twist {
    Twist::default()
}

#[test]
fn a_ball_that_another_one_strikes_passes_no_part_of_a_room() {
    let mut wrong = Vec::new();
    for seed in 0..300 {
        let settings = Settings {
            time_step: 5e-3,
            gravity: DVec3::ZERO,
            ..Settings::default()
        };
        let balls = (8, 0.06, 100.0);
        let material = bouncing(0.5, 0.5);
        let mut room = Room::new(
            (cube(), at_rest()),
            balls,
            material,
            17 * seed + 3,
            settings,
        );
        wrong.extend(room.follow(8).map(|what| format!("seed {seed}, {what}")));
    }
    none_of(300, &wrong);
}

#[test]
fn overlaps_with_each_part_of_a_room_that_moves_are_said() {
    let mut wrong = Vec::new();
    for seed in 0..20 {
        let settings = Settings {
            time_step: 1.0 / 60.0,
            gravity: DVec3::ZERO,
            ..Settings::default()
        };
        let moves = Twist::linear(0.6, 0.64, 0.48);
        let balls = (60, 0.06, 3.0);
        let material = bouncing(0.3, 0.5);
        let mut room = Room::new((cube(), moves), balls, material, 17 * seed + 3, settings);
        wrong.extend(room.follow(60).map(|what| format!("seed {seed}, {what}")));
    }
    none_of(20, &wrong);
}

/// A drum that turns about its axis.
fn turning(omega: f64, balls: (usize, f64), h: f64, seed: u64) -> Room {
    let settings = Settings {
        time_step: h,
        ..Settings::default()
    };
    let turns = Twist::from_inertial_frame(DVec3::ZERO, DVec3::Y * omega, DQuat::IDENTITY);
    let balls = (balls.0, balls.1, 0.0);
    Room::new((drum(), turns), balls, bouncing(0.3, 0.4), seed, settings)
}

#[test]
fn overlaps_with_each_part_of_a_drum_are_said() {
    let mut wrong = Vec::new();
    for seed in 1..=2 {
        let mut room = turning(3.0, (100, 0.05), 2e-3, seed);
        wrong.extend(room.follow(500).map(|what| format!("seed {seed}, {what}")));
    }
    none_of(2, &wrong);
}

#[test]
fn a_drum_that_turns_by_a_radian_a_step_passes_no_ball() {
    let mut wrong = Vec::new();
    for seed in 1..=4 {
        let mut room = turning(60.0, (30, 0.05), 1.0 / 60.0, seed);
        wrong.extend(room.follow(10).map(|what| format!("seed {seed}, {what}")));
    }
    none_of(4, &wrong);
}

/// Without friction and gravity, and with restitution 1, cups of five plates keep their energy in each step, as they strike each other and the walls,
/// up to what solves to their tolerance leave.
#[test]
fn cups_that_strike_each_other_keep_their_energy() {
    for seed in 0..6 {
        for (step, change) in changes_of_energy(seed).into_iter().enumerate() {
            let keeps = (-1e-3..1e-4).contains(&change);
            assert!(keeps, "seed {seed}, step {step}: {change}");
        }
    }
}

/// By which parts of it the kinetic energy of a room of forty cups changes in each of 99 steps.
fn changes_of_energy(seed: u64) -> Vec<f64> {
    let size = 0.06;
    let thin = 0.2 * size;
    let mut parts = vec![(-DVec3::Z, DVec3::new(size, size, thin))];
    for side in [DVec3::X, -DVec3::X] {
        parts.push((side, DVec3::new(thin, size, size)));
    }
    for side in [DVec3::Y, -DVec3::Y] {
        parts.push((side, DVec3::new(size, thin, size)));
    }
    let place = |(side, half_extents): (DVec3, DVec3)| {
        let at = Pose::from_position(side * (size - thin));
        (at, Shape::Cuboid { half_extents })
    };
    let cup = Collider::compound(parts.into_iter().map(place).collect());
    let material = Material {
        restitution: 1.0,
        ..Material::with_friction(0.0)
    };
    let mut random = Lcg::new(seed);
    let mut simulation = Simulation::new(Settings {
        time_step: 0.01,
        gravity: DVec3::ZERO,
        threads: 1,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    })
    .unwrap();
    for wall in cube() {
        let (at, shape) = wall.part;
        let wall = (RigidBody::Static, Collider::new(shape), material, at);
        simulation.spawn(wall).unwrap();
    }
    let mut places: Vec<DVec3> = Vec::new();
    while places.len() < 40 {
        let at = random.symmetric_vector() * (0.5 - 1.8 * size);
        if places.iter().any(|other| other.distance(at) < 2.8 * size) {
            continue;
        }
        places.push(at);
        let body = (
            RigidBody::Dynamic,
            cup.clone(),
            material,
            Pose::from_position(at).with_orientation(random.rotation()),
            Twist {
                linear: random.symmetric_vector() * 4.0,
                angular: random.symmetric_vector() * 4.0,
            },
        );
        simulation.spawn(body).unwrap();
    }
    let mut energy = || simulation.step().unwrap().energy.kinetic;
    let mut before = energy();
    let change = |_| {
        let after = energy();
        after / std::mem::replace(&mut before, after) - 1.0
    };
    (1..100).map(change).collect()
}
