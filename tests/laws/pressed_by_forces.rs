//! **Law.** In a step that is called converged a floor bears the weight and the force that presses a body on it.
//!
//! At rest `M̂ (v − v_free) = Gᵀr` with `M̂ = M + h²K`: an error of the force is an error of the velocity that is smaller by `M̂/M`, up to 1e11 here. A step has
//! converged with an error of the force of at most the tolerance (1e-3 at the coarsest), and of 1 % where rounding, `36 ε M̂/M`, leaves no more.
//! That is measured against weight and spring force, each by its size: where they balance a floor bears the rounding of both.

use crate::support::*;

/// What is pressed down, and by what.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A ball and a block whose centre is pulled to a point below: they may turn about it.
    Ball,
    Block,
    /// A block that a matrix holds, in its turn as well.
    Held,
}

/// Steps called converged among the last fifty, and the largest error of the force in them, as a part.
fn pressed(kind: Kind, settings: Settings, [mass, k, deep]: [f64; 3]) -> (usize, f64) {
    let mut simulation = Simulation::new(settings).unwrap();
    ground(&mut simulation, Material::default());
    let r = 0.1;
    let shape = match kind {
        Kind::Ball => Collider::sphere(r),
        _ => Collider::cuboid(r, r, r),
    };
    let to = DVec3::Z * (r - deep);
    let forces = match kind {
        Kind::Held => {
            let rest = Pose::from_position(to);
            BodyForces::new(LinearForce::spring(rest, k, r * r * k))
        }
        _ => BodyForces::new(PointSpring {
            anchor: DVec3::ZERO,
            to,
            stiffness: k,
            damping: 0.0,
            rest: 0.0,
        }),
    };
    let inertia = Mass::given(mass, DVec3::splat(0.4 * mass * r * r));
    let body = (RigidBody::Dynamic, shape, inertia, Pose::at(0.0, 0.0, r));
    let body = simulation.spawn((body, forces)).unwrap();
    let (mut solved, mut worst) = (0, 0.0f64);
    for step in 0..100 {
        let report = simulation.step().unwrap();
        if step < 50 || !report.converged {
            continue;
        }
        solved += 1;
        let force = impulse_on(&simulation, body).z / settings.time_step;
        let spring = k * (simulation.pose(body).unwrap().position.z - to.z);
        let off = force - mass * G - spring;
        worst = worst.max(off.abs() / (mass * G + spring.abs()));
    }
    (solved, worst)
}

fn settings(accuracy: Accuracy, h: f64) -> Settings {
    Settings {
        time_step: h,
        accuracy,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..Settings::default()
    }
}

const ACCURACIES: [Accuracy; 3] = [
    Accuracy::Interactive,
    Accuracy::Engineering,
    Accuracy::Reference,
];

fn law(kind: Kind) {
    for accuracy in ACCURACIES {
        for h in [1e-3, 5e-3, 0.1] {
            for mass in [1e-3, 1.0, 1e3] {
                // Where no step is solved, each takes all that a step may.
                let unsolved = (kind, accuracy) == (Kind::Block, Accuracy::Reference);
                for exponent in (3..=10).step_by(if unsolved { 3 } else { 1 }) {
                    let k = libm::exp10(f64::from(exponent));
                    for deep in [1e-6, 1e-3] {
                        let settings = settings(accuracy, h);
                        let (solved, worst) = pressed(kind, settings, [mass, k, deep]);
                        let what = format!("{kind:?} {accuracy:?} {h} {mass} {k:e} {deep}");
                        assert!(worst < 0.01, "{what}: {worst}");
                        // And steps are solved, where the bodies may turn as far as rounding of what turns them lets them.
                        let is_light = h * h * k > LIGHT * mass;
                        let asked = match (kind, accuracy) {
                            (Kind::Block, Accuracy::Reference) => false,
                            (Kind::Block, _) => !is_light,
                            (_, accuracy) => accuracy != Accuracy::Reference,
                        };
                        assert!(!asked || solved == 50, "{what}: {solved} of 50");
                    }
                }
            }
        }
    }
}

/// `h²K/M` beyond which a block that may turn is not always solved: the figures of a contact are made of the inverse mass that it feels, of which that of the
/// turn is all but this part.
const LIGHT: f64 = 1e6;

#[test]
fn a_floor_bears_what_a_stiff_spring_presses_a_ball_with() {
    law(Kind::Ball);
}

#[test]
fn a_floor_bears_what_a_stiff_spring_presses_a_block_with() {
    law(Kind::Block);
}

#[test]
fn a_floor_bears_what_a_stiff_matrix_presses_a_block_with() {
    law(Kind::Held);
}
