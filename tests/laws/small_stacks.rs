//! **Law.** A stack of cubes on a slope stands still, however small its cubes are beside the way `g h²` that a step falls.
//!
//! `n` cubes on a slope of angle `a` stand while `tan a ≤ μ` and `n tan a < 1`, as far as their common centre is above the base. What a step leaves at contacts at
//! rest is at most 1e-6 of the speed `g h` that it gains. That is `1e-6 g h²` of way in each of `N` steps, and so much again in each layer: `N n 1e-6 g h²`.

use crate::support::*;

const STEPS: usize = 400;

/// How far a cube of the stack goes, over that; the number of steps not solved; the energy that it gains in these, over that to lift a cube by its edge.
fn goes(seed: u64, part: f64) -> (f64, usize, f64, String) {
    let mut random = Lcg::new(seed);
    let mut between = |low: f64, high: f64| low + (high - low) * random.uniform();
    let friction = between(0.1, 0.25);
    let slope = part * friction;
    let n = ((0.8 / slope) as usize).min(8);
    let h = [1.0 / 30.0, 1.0 / 60.0, 5e-3][between(0.0, 3.0) as usize];
    let falls = between(0.02, 1.2);
    let edge = 9.81 * h * h / falls;
    let frame = turn(DVec3::X, between(0.0, 3.0)) * turn(DVec3::Y, between(0.0, 3.0));
    let a = libm::atan(slope);

    let settings = Settings {
        time_step: h,
        gravity: frame * (9.81 * DVec3::new(libm::sin(a), 0.0, -libm::cos(a))),
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let rough = Material::with_friction(friction);
    let turned = Pose::default().with_orientation(frame);
    let ground = Collider::half_space(DVec3::Z);
    simulation
        .spawn((RigidBody::Static, ground, rough, turned))
        .unwrap();
    for k in 0..n {
        let up = DVec3::Z * edge * (k as f64 + 0.5);
        let cube = (
            RigidBody::Dynamic,
            Collider::cuboid(0.5 * edge, 0.5 * edge, 0.5 * edge),
            Mass::scaled_to(1.0),
            rough,
            Pose::from_position(frame * up).with_orientation(frame),
        );
        simulation.spawn(cube).unwrap();
    }
    let start = positions(&mut simulation);
    let (mut unsolved, mut gained, mut before) = (0, 0.0, f64::INFINITY);
    for _ in 0..STEPS {
        let report = simulation.step().unwrap();
        unsolved += usize::from(!report.converged);
        let energy = report.energy.total();
        gained += (energy - before).max(0.0);
        before = energy;
    }
    let allowed = (STEPS * n) as f64 * 1e-6 * 9.81 * h * h;
    let case = format!(
        "seed {seed}: {n} cubes of {edge:.2e} m, μ {friction:.2}, h {h:.4} s, g h² of {falls:.2} edges"
    );
    let moved = displacement(&simulation, &start) / allowed;
    (moved, unsolved, gained / (9.81 * edge), case)
}

#[test]
fn small_cubes_stand_on_one_another() {
    let mut wrong = Vec::new();
    for seed in 0..200 {
        let part = [0.1, 0.5, 0.99, 0.999][seed as usize % 4];
        let (moved, unsolved, gained, case) = goes(seed, part);
        if moved > 1.0 || unsolved > 0 {
            wrong.push(format!("{case}, {part} of its friction: moved by {moved:.1e} of what is allowed, {unsolved} steps not solved, gained {gained:.1e}"));
        }
    }
    none_of(200, &wrong);
}
