//! **Law.** Tall structures that statics allows stand: what a solved step leaves at their contacts does not add up from layer to layer until they lean.
//!
//! Planks in crossing layers of three on a base of half a metre tip beyond 7° at 4 m of height, and nothing pushes them aside; nor does anything push a
//! wall of bricks. A solved step may leave a thousandth of `h g` at a contact of a tall structure that creeps. If all that has one direction in every step, the
//! top of `n` layers moves by `10⁻³ n h g t` in a time `t`. Before there was such a bound 70 layers moved by 27 mm in 2 s, a wall of 48 courses by 116 mm.

use crate::support::*;

const TIME: f64 = 2.0;
/// What may be left at a contact, over the speed gained in a step.
const LEFT: f64 = 1e-3;

/// How far the top of so many layers may get, m.
fn most(layers: i32, rate: f64) -> f64 {
    LEFT * f64::from(layers) / rate * 9.81 * TIME
}

fn world(rate: f64, accuracy: Accuracy) -> Simulation {
    let mut simulation = Simulation::new(Settings {
        time_step: 1.0 / rate,
        accuracy,
        threads: 1,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..Settings::default()
    })
    .unwrap();
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

/// Planks in crossing layers of three.
fn tower(layers: i32, rate: f64, accuracy: Accuracy) -> Simulation {
    let mut simulation = world(rate, accuracy);
    for layer in 0..layers {
        let height = 0.04 * f64::from(layer) + 0.02;
        for aside in [-0.2, 0.0, 0.2] {
            let (half, place) = if layer % 2 == 0 {
                (DVec3::new(0.25, 0.05, 0.02), DVec3::new(0.0, aside, height))
            } else {
                (DVec3::new(0.05, 0.25, 0.02), DVec3::new(aside, 0.0, height))
            };
            block(&mut simulation, half, place);
        }
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
            moved < most(layers, rate),
            "{layers} layers at {rate} Hz: {moved} m"
        );
    }
}

/// Where the budget of games is too small for it the steps have to say so.
#[test]
#[ignore = "red: 34 layers fall within 10 s, and nine of ten steps say that they are solved"]
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
    assert!(moved < most(48, 60.0), "{moved} m");
}
