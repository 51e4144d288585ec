//! **Law.** A force on a body that is a law of its state is that of the motion as solved: `M (v_{k+1} − v_k) = p(v_{k+1}) + Gᵀr`, with
//! `p = h (θ W_{k+1} + (1 − θ) W_k)`. θ = 1 where the force is stiff for the step, else ½.
//!
//! So an undamped linear spring obeys a recurrence that is known in closed form, whatever its stiffness: backward Euler for θ = 1, of first order and without gain
//! of energy, and the trapezoidal rule for θ = ½, of second order and without change of it. In rest with contacts forces balance, with no
//! error of the scheme. Tolerances without another reason are 1e-9 of what is measured: the loop ends below 1e-8 and converges quadratically.

use crate::support::*;
use moreau::BodyError;

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
fn a_mass_that_a_stiff_spring_presses_on_the_floor_has_the_static_force() {
    // The goal of the solver is a velocity: along the spring it stands for a force that is larger by the factor h k/m. By the solver's own goal impulses have a part of 1e-4 of error where the
    // accuracy is not that of the reference.
    for (k, deep, accuracy, close) in [
        (1e2, 1e-3, Accuracy::Reference, 1e-9),
        (1e8, 1e-5, Accuracy::Reference, 1e-7),
        (1e8, 1e-3, Accuracy::Engineering, 1e-4),
        (1e12, 1e-6, Accuracy::Engineering, 1e-4),
    ] {
        let settings = Settings {
            gravity: DVec3::Z * -G,
            accuracy,
            ..settings(0.005, Theta::Auto)
        };
        let mut simulation = Simulation::new(settings).unwrap();
        ground(&mut simulation, Material::default());
        // Its spring is at rest below where it lies.
        let rest = Pose::at(0.0, 0.0, 0.1 - deep);
        let law = LinearForce::spring(rest, k, 0.0);
        let body = (cube(DVec3::Z * 0.1), BodyForces::new(law));
        let body = simulation.spawn(body).unwrap();
        let mut report = StepReport::default();
        for _ in 0..100 {
            report = simulation.step().unwrap();
            sound(&report);
        }
        let force = impulse_on(&simulation, body) / 0.005;
        let expected = G + k * (simulation.pose(body).unwrap().position.z - rest.position.z);
        let off = (force - DVec3::Z * expected).length() / expected;
        assert!(off < close, "{k}: {force} {expected}");
        assert!((expected / (G + deep * k) - 1.0).abs() < 1e-3, "{expected}");
        assert!(simulation.twist(body).unwrap().linear.length() < 1e-10);
        assert!(report.closed_contacts == 4);
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
fn what_cannot_be_computed_with_is_named_and_changes_nothing() {
    let told = |force, derivative, parameter| {
        let second = Told {
            force,
            derivative,
            parameter,
        };
        BodyForces::new(spring(1.0)).and(second)
    };
    // Parameters are refused with the body.
    let mut simulation = Simulation::new(settings(0.005, Theta::Auto)).unwrap();
    for (forces, index, field) in [
        (told(0.0, 0.0, f64::NAN), 1, "parameter"),
        (BodyForces::new(spring(f64::NAN)), 0, "stiffness"),
    ] {
        let refused = simulation.spawn((point(DVec3::X), forces));
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains(&format!("force {index}: {field} is NaN, expected finite")),
            "{text}"
        );
    }
    // Wrenches and derivatives by the step in which they come.
    for (forces, field) in [
        (told(f64::INFINITY, 0.0, 0.0), "force"),
        (told(f64::NAN, 0.0, 0.0), "force"),
        (told(0.0, f64::NAN, 0.0), "derivative by the twist"),
    ] {
        let mut simulation = Simulation::new(settings(0.005, Theta::Auto)).unwrap();
        let body = simulation.spawn((point(DVec3::X), forces)).unwrap();
        let error = loop {
            let before = (simulation.pose(body), simulation.twist(body));
            match simulation.step() {
                Ok(report) => assert!(report.t < 0.02),
                Err(error) => {
                    assert_eq!(before, (simulation.pose(body), simulation.twist(body)));
                    break error;
                }
            }
        };
        let StepError::Body {
            entity,
            source: BodyError::Force { index, source },
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((entity, index, source.field), (body, 1, field));
        assert!(!source.value.is_finite() && source.bound == "finite");
        // Without it the world goes on.
        simulation.set(body, BodyForces::default());
        sound(&simulation.step().unwrap());
    }
}
