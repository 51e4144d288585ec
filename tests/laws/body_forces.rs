//! **Law.** A force on a body that is a law of its state is that of the motion as solved: `M (v_{k+1} − v_k) = p(v_{k+1}) + Gᵀr`, with
//! `p = h (θ W_{k+1} + (1 − θ) W_k)`. θ = 1 where the force is stiff for the step, else ½.
//!
//! So an undamped linear spring obeys a recurrence that is known in closed form, whatever its stiffness: backward Euler for θ = 1, of first order and without gain
//! of energy, and the trapezoidal rule for θ = ½, of second order and without change of it. In rest with contacts forces balance, with no
//! error of the scheme. Tolerances without another reason are 1e-9 of what is measured: the loop ends below 1e-8 and converges quadratically.

mod input;
mod jointed;
mod nonlinear;
mod touching;
mod turning;

use crate::support::*;
use nonlinear::Cubic;

const DYNAMIC: RigidBody = RigidBody::Dynamic;

fn settings(h: f64, theta: Theta) -> Settings {
    Settings {
        time_step: h,
        theta,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..weightless()
    }
}

/// 1 kg without a shape.
fn point(at: DVec3) -> (RigidBody, Mass, Pose) {
    let mass = Mass::given(1.0, DVec3::splat(0.1));
    (DYNAMIC, mass, Pose::from_position(at))
}

/// A cube of 0.2 m and 1 kg.
fn cube(at: DVec3) -> (RigidBody, Collider, Mass, Pose) {
    let shape = Collider::cuboid(0.1, 0.1, 0.1);
    (
        DYNAMIC,
        shape,
        Mass::given(1.0, DVec3::splat(0.04 / 6.0)),
        Pose::from_position(at),
    )
}

/// A spring to the origin.
fn spring(stiffness: f64) -> LinearForce {
    LinearForce::spring(Pose::default(), stiffness, 0.0)
}

fn x(simulation: &Simulation, body: Entity) -> [f64; 2] {
    let (pose, twist) = (simulation.pose(body), simulation.twist(body));
    [pose.unwrap().position.x, twist.unwrap().linear.x]
}

/// The ledger closes and the step is solved.
fn sound(report: &StepReport) {
    let energy = &report.energy;
    let moved = 1.0 + energy.kinetic + energy.potential.abs() + energy.work_external.abs();
    assert!(energy.energy_gap.abs() <= 1e-11 * moved, "{energy:?}");
    assert!(report.converged, "{report:?}");
    assert!(report.force_error <= 1e-8, "{report:?}");
}

#[test]
fn a_stiff_spring_is_stable_at_any_step_and_never_gains_energy() {
    let h = 0.005;
    for k in [1e3, 3e4, 4.1e4, 1e6, 1e8, 1e12] {
        let mut simulation = Simulation::new(settings(h, Theta::Auto)).unwrap();
        let body = (
            point(DVec3::X),
            Twist::linear(-3.0, 0.0, 0.0),
            BodyForces::new(spring(k)),
        );
        let body = simulation.spawn(body).unwrap();
        let energy = |[x, v]: [f64; 2]| 0.5 * (v * v + k * x * x);
        let mut last = energy([1.0, -3.0]);
        let (start, stiff) = (last, h * h * k > 1.0);
        for _ in 0..400 {
            sound(&simulation.step().unwrap());
            let now = energy(x(&simulation, body));
            // θ = ½ keeps it to rounding.
            assert!(
                now <= last * (1.0 + 1e-12) + 1e-20 * start,
                "{k}: {last} to {now}"
            );
            assert!(stiff || now >= last * (1.0 - 1e-12), "{k}: {last} to {now}");
            last = now;
        }
        assert!(!stiff || last < 1e-6 * start, "{k}: {last}");
    }
}

/// The error of a mass on a spring and a damper after a given time.
fn error_of(h: f64, theta: Theta) -> f64 {
    let (k, c, time) = (40.0, 0.8, 1.0);
    let mut simulation = Simulation::new(settings(h, theta)).unwrap();
    let law = spring(k).with_damping(c, 0.0);
    let body = simulation.spawn((point(DVec3::X), BodyForces::new(law)));
    let body = body.unwrap();
    for _ in 0..(time / h).round() as usize {
        sound(&simulation.step().unwrap());
    }
    let (rate, decay) = (f64::sqrt(k - 0.25 * c * c), 0.5 * c);
    let (sin, cos) = (libm::sin(rate * time), libm::cos(rate * time));
    let exact = libm::exp(-decay * time) * (cos + decay / rate * sin);
    (x(&simulation, body)[0] - exact).abs()
}

#[test]
fn a_damped_oscillator_is_followed_with_the_order_of_theta() {
    // Halving h divides the error by 2 to the order; 10 % for the next term of its series.
    for (theta, ratio) in [
        (Theta::Fixed(0.5), 4.0),
        (Theta::Fixed(1.0), 2.0),
        (Theta::Auto, 4.0),
    ] {
        let [coarse, fine] = [0.005, 0.0025].map(|h| error_of(h, theta));
        let found = coarse / fine;
        assert!((found / ratio - 1.0).abs() < 0.1, "{theta:?}: {found}");
    }
}

#[test]
fn a_force_that_pushes_away_is_followed_as_far_as_the_step_can_and_said_not_to_be_beyond() {
    // f = +k x: the trapezoidal rule multiplies x + v/√k by (1 + a)/(1 − a), a = h √k/2, and has a pole at a = 1. Beyond it the body would jump to the other side.
    let h = 0.01;
    for (a, follows) in [
        (0.1, true),
        (0.9, true),
        (1.01, false),
        (2.0, false),
        (1e3, false),
    ] {
        let root: f64 = 2.0 * a / h;
        let mut simulation = Simulation::new(settings(h, Theta::Auto)).unwrap();
        let law = BodyForces::new(spring(-root * root));
        let body = simulation.spawn((point(DVec3::X), law)).unwrap();
        let mut grown = 1.0;
        for _ in 0..3 {
            let report = simulation.step().unwrap();
            assert_eq!(report.converged, follows, "{a}: {report:?}");
            assert!(follows || report.force_error > 0.1, "{a}: {report:?}");
            grown *= (1.0 + a) / (1.0 - a);
            let [x, v] = x(&simulation, body);
            assert!(
                !follows || ((x + v / root) / grown - 1.0).abs() < 1e-9,
                "{a}: {x}"
            );
        }
    }
    // What such a force does not move is solved.
    let mut simulation = Simulation::new(settings(h, Theta::Auto)).unwrap();
    let law = BodyForces::new(spring(-1e6));
    simulation.spawn((point(DVec3::ZERO), law)).unwrap();
    sound(&simulation.step().unwrap());
}

#[test]
fn a_spring_with_a_length_that_begins_with_none_pushes_its_ends_apart() {
    for (k, h) in [(1e3, 1e-4), (1e3, 0.005), (1e6, 0.005), (1e9, 0.05)] {
        let settings = Settings {
            gravity: DVec3::Z * -G,
            ..settings(h, Theta::Auto)
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let pull = PointSpring {
            anchor: DVec3::ZERO,
            to: DVec3::ZERO,
            stiffness: k,
            damping: f64::sqrt(k),
            rest: 0.3,
        };
        let body = (point(DVec3::ZERO), BodyForces::new(pull));
        let body = simulation.spawn(body).unwrap();
        // Gravity tells it where to; damped with half of what is critical, it hangs after fifty swings.
        let time = 50.0 * std::f64::consts::TAU / f64::sqrt(k);
        for _ in 0..((time / h) as usize).max(200) {
            sound(&simulation.step().unwrap());
        }
        let z = simulation.pose(body).unwrap().position.z;
        assert!((z / -(0.3 + G / k) - 1.0).abs() < 1e-9, "{k} {h}: {z}");
    }
}

/// A law that says what it is told.
#[derive(Debug)]
struct Told {
    force: f64,
    derivative: f64,
    parameter: f64,
}

impl ForceLaw for Told {
    fn wrench(&self, body: &BodyState) -> Wrench {
        Wrench {
            force: DVec3::Z * if body.time >= 0.02 { self.force } else { 0.0 },
            ..Wrench::default()
        }
    }

    fn jacobians(&self, body: &BodyState) -> ForceJacobians {
        let mut all = ForceJacobians::default();
        all.twist[3][2] = if body.time >= 0.02 {
            self.derivative
        } else {
            0.0
        };
        all
    }

    fn is_steady(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), ForceError> {
        if self.parameter.is_finite() {
            return Ok(());
        }
        Err(ForceError {
            field: "parameter",
            value: self.parameter,
            bound: "finite",
        })
    }
}

#[test]
fn the_results_are_the_same_on_any_number_of_threads() {
    let hash = |threads: usize| {
        let settings = Settings {
            gravity: DVec3::Z * -G,
            threads,
            accuracy: Accuracy::Engineering,
            ..settings(0.005, Theta::Auto)
        };
        let mut simulation = Simulation::new(settings).unwrap();
        ground(&mut simulation, Material::default());
        let mut random = Lcg::new(11);
        for i in 0..600 {
            let (row, column) = (i / 40, i % 40);
            let at = DVec3::new(0.4 * f64::from(row), 0.4 * f64::from(column), 0.1);
            let anchor = DVec3::new(0.05, -0.1, 0.1 * random.symmetric());
            let k = libm::pow(10.0, 1.0 + 7.0 * random.uniform());
            let pull = PointSpring {
                anchor,
                to: at + anchor + DVec3::Z * (50.0 / k) * random.symmetric(),
                stiffness: k,
                damping: 1.0,
                rest: 0.0,
            };
            let body = (cube(at), BodyForces::new(pull).and(Cubic(1e-3)));
            simulation.spawn(body).unwrap();
        }
        for _ in 0..10 {
            simulation.step().unwrap();
        }
        simulation.state_hash()
    };
    assert_eq!(hash(1), hash(2));
}

#[test]
fn a_body_falls_asleep_under_steady_forces_and_wakes_when_they_change() {
    let settings = Settings {
        gravity: DVec3::Z * -G,
        sleeping: SleepSettings {
            enabled: Some(true),
            ..SleepSettings::default()
        },
        ..settings(0.01, Theta::Auto)
    };
    let mut simulation = Simulation::new(settings).unwrap();
    ground(&mut simulation, Material::default());
    let body = (cube(DVec3::Z * 0.1), BodyForces::new(spring(1e3)));
    let body = simulation.spawn(body).unwrap();
    let told = Told {
        force: 1.0,
        derivative: 0.0,
        parameter: 0.0,
    };
    let restless = (cube(DVec3::new(1.0, 0.0, 0.1)), BodyForces::new(told));
    simulation.spawn(restless).unwrap();
    let steps = |simulation: &mut Simulation, count: usize| {
        (0..count).fold(0, |_, _| simulation.step().unwrap().sleeping)
    };
    assert_eq!(steps(&mut simulation, 200), 1);
    let asleep = |simulation: &Simulation| simulation.world().get::<Sleeping>(body).is_some();
    assert!(asleep(&simulation));
    // A spring that lifts it.
    simulation.set(
        body,
        BodyForces::new(
            LinearForce::spring(Pose::at(0.0, 0.0, 0.2), 1e4, 0.0).with_damping(100.0, 1.0),
        ),
    );
    steps(&mut simulation, 1);
    assert!(!asleep(&simulation));
    steps(&mut simulation, 200);
    let z = simulation.pose(body).unwrap().position.z;
    assert!((z - (0.2 - G / 1e4)).abs() < 1e-6, "{z}");
    // Without the component it falls.
    simulation
        .world_mut()
        .entity_mut(body)
        .remove::<BodyForces>();
    steps(&mut simulation, 100);
    let z = simulation.pose(body).unwrap().position.z;
    assert!((z - 0.1).abs() < 1e-6, "{z}");
}
