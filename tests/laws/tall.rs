//! **Law.** Tall structures that statics allows stand: what a solved step leaves at their contacts does not add up from layer to layer until they lean.
//!
//! Planks in crossing layers of three on a base of half a metre tip beyond 7° at 4 m of height, and nothing pushes them aside; nor does anything push a
//! wall of bricks. Islands are solved until what is left at a contact, as often as it may add up from layer to layer, is a hundredth of `h g`. If all that has one direction
//! in every step, a body moves by `0.01 h g t` in a time `t`, and by ten times that where its island slides faster than it falls in ten steps.

use crate::support::*;

const TIME: f64 = 2.0;
/// What may be left of the velocity of a body, over the speed gained in a step.
const LEFT: f64 = 0.01;

/// How far a body may get in so many seconds, m.
fn most(rate: f64, time: f64) -> f64 {
    LEFT / rate * 9.81 * time
}

fn empty(rate: f64, accuracy: Accuracy) -> Simulation {
    Simulation::new(Settings {
        time_step: 1.0 / rate,
        accuracy,
        threads: 1,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..Settings::default()
    })
    .unwrap()
}

fn world(rate: f64, accuracy: Accuracy) -> Simulation {
    let mut simulation = empty(rate, accuracy);
    ground(&mut simulation, Material::with_friction(0.5));
    simulation
}

fn block(simulation: &mut Simulation, half: DVec3, place: DVec3) {
    let shape = Collider::cuboid(half.x, half.y, half.z);
    let material = Material::with_friction(0.5);
    let block = (
        RigidBody::Dynamic,
        shape,
        material,
        Pose::from_position(place),
    );
    simulation.spawn(block).unwrap();
}

/// How far the fastest block gets in so many seconds (m), and the number of steps that are not solved.
fn moved(mut simulation: Simulation, time: f64) -> (f64, usize) {
    let start = positions(&mut simulation);
    let mut unsolved = 0;
    while simulation.time() < time {
        unsolved += usize::from(!simulation.step().unwrap().converged);
    }
    (displacement(&simulation, &start), unsolved)
}

/// The planks of so many crossing layers of three, from a height: half of the edges of each, and its place.
fn planks(layers: i32, from: f64) -> Vec<(DVec3, DVec3)> {
    let mut planks = Vec::new();
    for layer in 0..layers {
        let height = from + 0.04 * f64::from(layer) + 0.02;
        for aside in [-0.2, 0.0, 0.2] {
            planks.push(if layer % 2 == 0 {
                (DVec3::new(0.25, 0.05, 0.02), DVec3::new(0.0, aside, height))
            } else {
                (DVec3::new(0.05, 0.25, 0.02), DVec3::new(aside, 0.0, height))
            });
        }
    }
    planks
}

fn tower(layers: i32, rate: f64, accuracy: Accuracy) -> Simulation {
    let mut simulation = world(rate, accuracy);
    for (half, place) in planks(layers, 0.0) {
        block(&mut simulation, half, place);
    }
    simulation
}

#[test]
fn a_tower_of_crossing_planks_stands() {
    for (layers, rate) in [(34, 60.0), (70, 60.0), (100, 60.0), (100, 100.0)] {
        let simulation = tower(layers, rate, Accuracy::Engineering);
        let (moved, unsolved) = moved(simulation, TIME);
        println!("{layers} layers at {rate} Hz: {moved:.1e} m");
        assert_eq!(unsolved, 0, "{layers} layers at {rate} Hz");
        assert!(
            moved < most(rate, TIME),
            "{layers} layers at {rate} Hz: {moved} m"
        );
    }
}

/// Whatever else touches it: a belt that moves by a micrometre a second, a pavement of loose tiles, a ball that spins on top.
#[test]
fn a_tower_stands_beside_what_moves() {
    for beside in ["belt", "pavement", "spinning ball"] {
        let mut simulation = empty(60.0, Accuracy::Engineering);
        let mut from = 0.0;
        if beside == "belt" {
            let belt = (
                RigidBody::Kinematic,
                Collider::cuboid(10.0, 10.0, 0.5),
                Material::with_friction(0.5),
                Pose::at(0.0, 0.0, -0.5),
                Twist::linear(1e-6, 0.0, 0.0),
            );
            simulation.spawn(belt).unwrap();
        } else {
            ground(&mut simulation, Material::with_friction(0.5));
        }
        if beside == "pavement" {
            let tile = DVec3::new(0.1, 0.1, 0.05);
            for k in 0..64 {
                let place = DVec3::new(f64::from(k % 8) - 3.5, f64::from(k / 8) - 3.5, 0.25);
                block(&mut simulation, tile, 0.2 * place);
            }
            from = 0.1;
        }
        for (half, place) in planks(100, from) {
            block(&mut simulation, half, place);
        }
        if beside == "spinning ball" {
            let ball = (
                RigidBody::Dynamic,
                Collider::sphere(0.1),
                Material {
                    combine_friction: Some(Combine::Min),
                    ..Material::with_friction(0.0)
                },
                Pose::at(0.0, 0.0, 4.1),
                Twist {
                    linear: DVec3::ZERO,
                    angular: DVec3::new(5.0, 0.0, 0.0),
                },
            );
            simulation.spawn(ball).unwrap();
        }
        let (moved, unsolved) = moved(simulation, TIME);
        println!("{beside}: {moved:.1e} m");
        assert_eq!(unsolved, 0, "{beside}");
        assert!(moved < most(60.0, TIME), "{beside}: {moved} m");
    }
}

/// Each on four cylinders upright.
#[test]
fn storeys_of_slabs_on_columns_stand() {
    let mut simulation = world(60.0, Accuracy::Engineering);
    let material = Material::with_friction(0.5);
    for storey in 0..33 {
        let floor = 0.14 * f64::from(storey);
        for (x, y) in [(-0.2, -0.2), (-0.2, 0.2), (0.2, -0.2), (0.2, 0.2)] {
            let column = Collider::cylinder(0.05, 0.03);
            let place = Pose::at(x, y, floor + 0.05);
            simulation
                .spawn((RigidBody::Dynamic, column, material, place))
                .unwrap();
        }
        let slab = DVec3::new(0.25, 0.25, 0.02);
        block(&mut simulation, slab, DVec3::Z * (floor + 0.12));
    }
    let (moved, unsolved) = moved(simulation, 6.0);
    println!("{moved:.1e} m");
    assert_eq!(unsolved, 0);
    assert!(moved < most(60.0, 6.0), "{moved} m");
}

/// On a slope of `tan a = 0.11` with friction 0.1 a tower that would tip at 0.31 slides as one block, `½ g (sin a − μ cos a) t²`.
#[test]
fn a_tower_slides_as_one() {
    let (friction, slope, time) = (0.1, libm::atan(0.11), 4.0);
    let mut simulation = Simulation::new(Settings {
        time_step: 1.0 / 60.0,
        gravity: 9.81 * DVec3::new(libm::sin(slope), 0.0, -libm::cos(slope)),
        threads: 1,
        ..Settings::default()
    })
    .unwrap();
    let material = Material::with_friction(friction);
    ground(&mut simulation, material);
    let mut bodies = Vec::new();
    for (half, place) in planks(40, 0.0) {
        let plank = (
            RigidBody::Dynamic,
            Collider::cuboid(half.x, half.y, half.z),
            material,
            Pose::from_position(place),
        );
        bodies.push((simulation.spawn(plank).unwrap(), place));
    }
    while simulation.time() < time {
        assert!(simulation.step().unwrap().converged);
    }
    let pull = 9.81 * (libm::sin(slope) - friction * libm::cos(slope));
    let slid = DVec3::X * 0.5 * pull * time * time;
    let ways = bodies.iter().map(|(body, start)| {
        let pose = simulation.pose(*body).unwrap();
        (pose.position - *start - slid).length()
    });
    let off = ways.fold(0.0, f64::max);
    println!("{off:.1e} m");
    assert!(off < 10.0 * most(60.0, time), "{off} m");
}

/// Where the budget of games is too small for it the steps have to say so.
#[test]
fn a_tower_does_not_fall_silently_within_the_budget_of_games() {
    let (moved, unsolved) = moved(tower(34, 60.0, Accuracy::Interactive), 10.0);
    let stands = moved < 0.02;
    assert!(
        stands || unsolved > 300,
        "moved by {moved} m, {unsolved} of 600 steps not solved"
    );
}

/// Twelve bricks a course, in running bond with half a brick at the ends of every other one, 4.8 m high.
#[test]
fn a_high_wall_of_bricks_stands() {
    let mut simulation = world(60.0, Accuracy::Engineering);
    let whole = DVec3::new(0.1, 0.05, 0.05);
    let cut = DVec3::new(0.5 * whole.x, whole.y, whole.z);
    for course in 0..48 {
        let height = whole.z * f64::from(2 * course + 1);
        let at = |bricks: f64| DVec3::new(2.0 * whole.x * bricks, 0.0, height);
        if course % 2 == 0 {
            (0..12).for_each(|brick| block(&mut simulation, whole, at(f64::from(brick))));
        } else {
            block(&mut simulation, cut, at(-0.25));
            (0..11).for_each(|brick| block(&mut simulation, whole, at(f64::from(brick) + 0.5)));
            block(&mut simulation, cut, at(11.25));
        }
    }
    let (moved, unsolved) = moved(simulation, TIME);
    println!("{moved:.1e} m");
    assert_eq!(unsolved, 0);
    assert!(moved < most(60.0, TIME), "{moved} m");
}
