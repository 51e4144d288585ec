//! **Law.** More effort never makes a structure worse. A plane pyramid and a slender wall of bricks stand still; what
//! moves in them is what the solver left over. Goals ten times as tight, twice as many sweeps and steps half as long
//! each leave less: tops sink less. An engine that pushes overlaps out through the velocity does not have this.
//!
//! No bound is set here, only an order. A closing velocity `u` that is left over in a step of `h` lets an overlap grow
//! by `h u`, and the goal is relative to `g h`: at the same goal a halved step leaves a quarter, at the same step a goal
//! ten times as tight a tenth. How much of it adds up depends on its signs, so tops are compared as they are.
//!
//! What moves sideways swings. Bending out of the plane is the slowest mode of a wall: residuals hardly show it, sweeps
//! hardly correct it, and where in its swing a wall is depends on every bit. The largest displacement is therefore that
//! of the whole run, and among goals those two decades apart are compared.

use crate::support::*;
use moreau_demos::built_in;

/// What a structure did in half a second: how far its top sank and the largest displacement of any body at any time, m.
#[derive(Clone, Copy, Debug)]
struct Motion {
    sink: f64,
    largest: f64,
}

/// Runs a structure with the settings changed.
fn motion(scene: &str, change: impl Fn(&mut Settings)) -> Motion {
    let mut run = built_in(scene).unwrap().start().unwrap();
    let mut settings = run.simulation.settings();
    change(&mut settings);
    run.simulation.set_settings(settings).unwrap();
    let start = positions(&mut run.simulation);
    let height = |(_, position): &&(Entity, DVec3)| position.z;
    let by_height = |a: &_, b: &_| height(a).total_cmp(&height(b));
    let (top, placed) = *start.iter().max_by(by_height).unwrap();
    let mut largest: f64 = 0.0;
    while run.simulation.time() < 0.5 - 1e-9 {
        run.step().unwrap();
        largest = largest.max(displacement(&run.simulation, &start));
    }
    Motion {
        sink: placed.z - run.simulation.pose(top).unwrap().position.z,
        largest,
    }
}

const STRUCTURES: [&str; 2] = ["box_pyramid:n=20", "wall_20x20"];

/// Tops sink less from effort to effort, and what moves most moves less than with the effort `apart` places before.
fn improves(scene: &str, efforts: &[Motion], apart: usize) {
    println!("{scene} {efforts:?}");
    for pair in efforts.windows(2) {
        assert!(pair[1].sink < pair[0].sink, "{scene}: {pair:?}");
    }
    for (less, more) in efforts.iter().zip(&efforts[apart..]) {
        assert!(more.largest < less.largest, "{scene}: {less:?} {more:?}");
    }
}

#[test]
fn a_tighter_goal_never_makes_a_structure_worse() {
    for scene in STRUCTURES {
        let efforts = [1e-2, 1e-3, 1e-4, 1e-5].map(|tolerance| {
            motion(scene, |settings| {
                settings.tolerance = Some(tolerance);
            })
        });
        improves(scene, &efforts, 2);
    }
}

#[test]
fn more_sweeps_never_make_a_structure_worse() {
    for scene in STRUCTURES {
        let efforts = [10, 20, 40, 80].map(|sweeps| {
            motion(scene, |settings| {
                settings.advanced.min_sweeps = Some(sweeps);
                settings.advanced.max_sweeps = Some(sweeps);
                settings.advanced.max_factorizations = Some(0);
            })
        });
        improves(scene, &efforts, 1);
    }
}

#[test]
fn shorter_steps_never_make_a_structure_worse() {
    for scene in STRUCTURES {
        let efforts = [1.0, 2.0, 4.0].map(|parts| {
            motion(scene, |settings| {
                settings.time_step /= parts;
                settings.tolerance = Some(1e-3);
            })
        });
        improves(scene, &efforts, 1);
    }
}
