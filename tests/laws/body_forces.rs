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
        (1e10, 1e-6, Accuracy::Engineering, 1e-4),
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

#[test]
fn an_impact_against_a_stiff_spring_has_a_solution() {
    // The impulse turns round h²k besides the mass: a hundred times it, and ten thousand times.
    let h = 0.01;
    for (k, e) in [(1e6, 0.5), (1e6, 1.0), (1e8, 0.5), (1e8, 1.0)] {
        let material = Material {
            restitution: e,
            ..Material::default()
        };
        let mut simulation = Simulation::new(settings(h, Theta::Auto)).unwrap();
        ground(&mut simulation, material);
        // It comes back to its rest, which is on the floor, with the velocity of backward Euler: v = −h k x/(1 + h²k).
        let law = LinearForce::spring(Pose::at(0.0, 0.0, 0.1), k, 0.0);
        let ball = (
            DYNAMIC,
            Collider::sphere(0.1),
            Mass::given(1.0, DVec3::splat(0.004)),
            Pose::at(0.0, 0.0, 0.6),
            material,
            BodyForces::new(law),
        );
        let ball = simulation.spawn(ball).unwrap();
        sound(&simulation.step().unwrap());
        let v = simulation.twist(ball).unwrap().linear.z;
        assert!(
            (v / (-h * k * 0.5 / (1.0 + h * h * k)) - 1.0).abs() < 1e-9,
            "{v}"
        );
        sound(&simulation.step().unwrap());
        let left = simulation.twist(ball).unwrap().linear.z;
        assert!((left / (-e * v) - 1.0).abs() < 1e-9, "{k} {e}: {left}");
        for _ in 0..50 {
            let report = simulation.step().unwrap();
            assert!(!report.status.is_without_solution(), "{report:?}");
        }
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

/// A spring whose force grows with the cube of its length, `f = −k ‖x‖² x`.
#[derive(Debug)]
struct Cubic(f64);

impl ForceLaw for Cubic {
    fn wrench(&self, body: &BodyState) -> Wrench {
        let x = body.position;
        Wrench {
            force: x * (-self.0 * x.length_squared()),
            ..Wrench::default()
        }
    }
}

/// The attraction of a mass at the origin, `f = −g x/‖x‖³`, with its derivatives.
#[derive(Debug)]
struct Attraction(f64);

impl ForceLaw for Attraction {
    fn wrench(&self, body: &BodyState) -> Wrench {
        let x = body.position;
        let r = x.length();
        Wrench {
            force: x * (-self.0 / (r * r * r)),
            ..Wrench::default()
        }
    }

    fn jacobians(&self, body: &BodyState) -> ForceJacobians {
        let x = body.position;
        let r = x.length();
        let mut all = ForceJacobians::default();
        for i in 0..3 {
            for j in 0..3 {
                let same = f64::from(u8::from(i == j));
                all.pose[i][j] = self.0 / r.powi(3) * (3.0 * x[i] * x[j] / (r * r) - same);
            }
        }
        all
    }
}

#[test]
fn derivatives_of_ready_made_forces_are_those_of_differences() {
    let mut random = Lcg::new(7);
    let mut vector = || random.symmetric_vector();
    let mut springs: Vec<Box<dyn ForceLaw>> = Vec::new();
    for rest in [0.0, 0.7] {
        springs.push(Box::new(PointSpring {
            anchor: vector(),
            to: vector(),
            stiffness: 3.0,
            damping: 2.0,
            rest,
        }));
    }
    let mut linear = LinearForce::spring(
        Pose::from_position(vector()).with_orientation(turn(DVec3::X, 0.4)),
        2.0,
        1.5,
    );
    for row in linear.stiffness.iter_mut().chain(&mut linear.damping) {
        let [a, b] = [vector(), vector()];
        for (entry, x) in row.iter_mut().zip([a.x, a.y, a.z, b.x, b.y, b.z]) {
            *entry += x;
        }
    }
    linear.wrench.body_moment = vector();
    springs.push(Box::new(linear));
    for _ in 0..20 {
        let orientation = moreau::rotation::exp(vector() * 2.0);
        let body = BodyState {
            time: 0.0,
            position: vector(),
            orientation,
            velocity: vector(),
            angular_velocity: vector() * 3.0,
        };
        for law in &springs {
            let own = law.jacobians(&body);
            let found = ForceJacobians::by_differences(|state| law.wrench(state), &body);
            let pairs = [(own.pose, found.pose), (own.twist, found.twist)];
            for (own, found) in pairs {
                for (a, b) in own.iter().flatten().zip(found.iter().flatten()) {
                    // The square of the difference, 4e-11, times third derivatives of some hundreds where a spring is short.
                    assert!((a - b).abs() < 1e-6, "{law:?}: {own:?} {found:?}");
                }
            }
        }
    }
}

#[test]
fn a_stiff_cubic_spring_never_gains_energy() {
    for (k, h) in [(1e3, 0.005), (1e5, 0.005), (1e9, 0.02), (1e12, 0.1)] {
        let mut simulation = Simulation::new(settings(h, Theta::Fixed(1.0))).unwrap();
        let body = (point(DVec3::X), BodyForces::new(Cubic(k)));
        let body = simulation.spawn(body).unwrap();
        // Of a potential that is convex, backward Euler only loses.
        let energy = |[x, v]: [f64; 2]| 0.5 * v * v + 0.25 * k * x.powi(4);
        let mut last = energy([1.0, 0.0]);
        for _ in 0..300 {
            sound(&simulation.step().unwrap());
            let now = energy(x(&simulation, body));
            assert!(now <= last * (1.0 + 1e-9), "{k}: {last} to {now}");
            last = now;
        }
    }
}

/// Where a body with a force is after a time.
fn after(time: f64, h: f64, theta: Theta, spawn: impl Fn(&mut Simulation) -> Entity) -> DVec3 {
    let mut simulation = Simulation::new(settings(h, theta)).unwrap();
    let body = spawn(&mut simulation);
    for _ in 0..(time / h).round() as usize {
        sound(&simulation.step().unwrap());
    }
    simulation.pose(body).unwrap().position
}

#[test]
fn nonlinear_forces_converge_to_those_of_tiny_steps_with_the_order_of_theta() {
    let cubic = |simulation: &mut Simulation| {
        let body = (
            point(DVec3::new(1.0, 0.3, 0.0)),
            Twist::linear(0.0, 2.0, 0.0),
            BodyForces::new(Cubic(20.0)),
        );
        simulation.spawn(body).unwrap()
    };
    let exact = after(1.0, 1e-4, Theta::Fixed(0.5), cubic);
    for (theta, ratio) in [
        (Theta::Fixed(0.5), 4.0),
        (Theta::Auto, 4.0),
        (Theta::Fixed(1.0), 2.0),
    ] {
        let [coarse, fine] =
            [0.005, 0.0025].map(|h| (after(1.0, h, theta, cubic) - exact).length());
        // 10 % for the next term of the series.
        let found = coarse / fine;
        assert!(
            (found / ratio - 1.0).abs() < 0.1,
            "{theta:?}: {coarse} {fine}"
        );
    }
}

#[test]
fn a_body_on_a_circle_about_an_attracting_mass_stays_on_it() {
    // Of radius and period 1 and 2π; in a plane that no axis lies in.
    let (out, along) = (DVec3::new(0.6, 0.0, 0.8), DVec3::new(-0.64, 0.6, 0.48));
    let start = |simulation: &mut Simulation| {
        let twist = Twist {
            linear: along,
            ..Twist::default()
        };
        let body = (point(out), twist, BodyForces::new(Attraction(1.0)));
        simulation.spawn(body).unwrap()
    };
    let time = 3.0;
    let exact = out * libm::cos(time) + along * libm::sin(time);
    let [coarse, fine] =
        [0.02, 0.01].map(|h| (after(time, h, Theta::Auto, start) - exact).length());
    // Second order; 10 % for the next term.
    assert!((coarse / fine / 4.0 - 1.0).abs() < 0.1, "{coarse} {fine}");
    assert!(fine < 1e-3, "{fine}");
}

/// A block of three moments.
fn block(twist: Twist, orientation: DQuat) -> (RigidBody, Mass, Pose, Twist) {
    let mass = Mass::given(2.0, DVec3::new(0.3, 0.2, 0.1));
    (
        DYNAMIC,
        mass,
        Pose::default().with_orientation(orientation),
        twist,
    )
}

#[test]
fn a_torsion_spring_swings_by_its_closed_form() {
    let (k, angle, time) = (7.0, 0.8, 1.0);
    let error = |h: f64| {
        let mut simulation = Simulation::new(settings(h, Theta::Auto)).unwrap();
        let law = LinearForce::spring(Pose::default(), 0.0, k);
        let body = (
            block(Twist::default(), turn(DVec3::Y, angle)),
            BodyForces::new(law),
        );
        let body = simulation.spawn(body).unwrap();
        for _ in 0..(time / h).round() as usize {
            sound(&simulation.step().unwrap());
        }
        let exact = turn(DVec3::Y, angle * libm::cos(f64::sqrt(k / 0.2) * time));
        angle_between(simulation.pose(body).unwrap().orientation, exact)
    };
    let [coarse, fine] = [0.005, 0.0025].map(error);
    // Second order; 10 % for the next term of the series.
    assert!((coarse / fine / 4.0 - 1.0).abs() < 0.1, "{coarse} {fine}");
}

#[test]
fn a_stiff_torsion_spring_holds_a_body_that_spins() {
    for k in [1e5, 1e9] {
        let mut simulation = Simulation::new(settings(0.005, Theta::Auto)).unwrap();
        let spin = Twist {
            linear: DVec3::ZERO,
            angular: DVec3::new(8.0, -5.0, 11.0),
        };
        let law = LinearForce::spring(Pose::default(), 0.0, k);
        let body = (block(spin, turn(DVec3::X, 0.3)), BodyForces::new(law));
        let body = simulation.spawn(body).unwrap();
        let energy = |simulation: &Simulation| {
            let turned = simulation.pose(body).unwrap().orientation;
            let angle = angle_between(DQuat::IDENTITY, turned);
            kinetic_energy(simulation, body).unwrap() + 0.5 * k * angle * angle
        };
        let start = energy(&simulation);
        let mut last = start;
        for _ in 0..200 {
            sound(&simulation.step().unwrap());
            let now = energy(&simulation);
            assert!(
                now <= last * (1.0 + 1e-9) + 1e-18 * start,
                "{k}: {last} to {now}"
            );
            last = now;
        }
        assert!(last < 1e-6 * start, "{k}: {start} {last}");
    }
}

#[test]
fn a_spring_along_the_floor_slides_a_block_to_where_friction_holds_it() {
    let (mu, k, h) = (0.4, 1e5, 0.005);
    let material = Material {
        friction: mu,
        restitution: 0.0,
        ..Material::default()
    };
    for (reach, slides) in [(0.9, false), (1.1, true), (30.0, true)] {
        let settings = Settings {
            gravity: DVec3::Z * -G,
            ..settings(h, Theta::Auto)
        };
        let mut simulation = Simulation::new(settings).unwrap();
        ground(&mut simulation, material);
        let bound = mu * G;
        let start = reach * bound / k;
        let mut law = LinearForce::spring(Pose::at(-start, 0.0, 0.1), 0.0, 0.0);
        law.stiffness[0][0] = k;
        // Turning is held: the load on its corners is one.
        for i in 3..6 {
            law.stiffness[i][i] = 1e3;
        }
        let body = (cube(DVec3::Z * 0.1), material, BodyForces::new(law));
        let body = simulation.spawn(body).unwrap();
        let mut report = StepReport::default();
        let (mut at, mut v) = (0.0, 0.0);
        for _ in 0..40 {
            report = simulation.step().unwrap();
            sound(&report);
            // Backward Euler with friction: it slides with the bound against it, or it stands.
            let slides = (v - h * (k * (at + start) - bound)) / (1.0 + h * h * k);
            let back = (v - h * (k * (at + start) + bound)) / (1.0 + h * h * k);
            v = slides.min(0.0) + back.max(0.0);
            at += h * v;
            let [x, _] = x(&simulation, body);
            assert!((x - at).abs() < 1e-8 * start, "{x} {at}");
            let push = impulse_on(&simulation, body);
            assert!((push.z / (h * G) - 1.0).abs() < 1e-6, "{push}");
            assert!(
                push.truncate().length() <= mu * push.z * (1.0 + 1e-9),
                "{push}"
            );
        }
        let [at, v] = x(&simulation, body);
        assert_eq!(at.abs() > 1e-3 * start, slides, "{at}");
        assert!(k * (at + start).abs() < bound, "{at}");
        assert!(v.abs() < 1e-9 && report.closed_contacts == 4, "{v}");
    }
}

#[test]
fn a_stiff_nonlinear_force_presses_on_the_floor_with_what_it_is_there() {
    let settings = Settings {
        gravity: DVec3::Z * -G,
        ..settings(0.005, Theta::Auto)
    };
    let mut simulation = Simulation::new(settings).unwrap();
    ground(&mut simulation, Material::default());
    let k = 1e7;
    let body = (cube(DVec3::Z * 0.3), BodyForces::new(Cubic(k)));
    let body = simulation.spawn(body).unwrap();
    let mut loops = 0;
    for _ in 0..200 {
        let report = simulation.step().unwrap();
        sound(&report);
        loops += report.force_loops;
    }
    // In its first contact the law is linearised at the solved motion.
    assert!(loops > 0);
    let force = impulse_on(&simulation, body) / 0.005;
    let height = simulation.pose(body).unwrap().position.z;
    let expected = G + k * height.powi(3);
    assert!(
        (force.z / expected - 1.0).abs() < 1e-7,
        "{force} {expected}"
    );
    assert!((expected / (G + 1e-3 * k) - 1.0).abs() < 1e-3, "{expected}");
}

#[test]
fn impacts_on_a_body_that_a_spring_holds_gain_no_energy() {
    let h = 0.005;
    // θ = 1 ≤ 1/(1 + e) for e = 0 alone [docs/theory.md §5]: there no step gains what is more than the solver leaves. With e = 1 gains are bounded.
    for (k, e, of_step, of_all) in [
        (1e3, 0.0, 1e-8, 1.0),
        (1e5, 0.0, 1e-8, 1.0),
        (1e8, 0.0, 1e-8, 1.0),
        (1e3, 1.0, 0.1, 1.02),
        (1e5, 1.0, 0.1, 1.02),
        (1e8, 1.0, 0.1, 1.02),
    ] {
        let material = Material {
            friction: 0.0,
            restitution: e,
            ..Material::default()
        };
        let mut simulation = Simulation::new(settings(h, Theta::Auto)).unwrap();
        closed_box(&mut simulation, 1.0, material);
        let held = (cube(DVec3::ZERO), material, BodyForces::new(spring(k)));
        let held = simulation.spawn(held).unwrap();
        let mut random = Lcg::new(3);
        let mut balls = Vec::new();
        for i in 0..6 {
            let angle = f64::from(i);
            let at = DVec3::new(0.6 * libm::cos(angle), 0.6 * libm::sin(angle), 0.0);
            let aimed = at * -f64::from(i + 1) + random.symmetric_vector() * 0.3;
            let [vx, vy, vz] = aimed.to_array();
            let twist = Twist::linear(vx, vy, vz);
            let ball = (
                DYNAMIC,
                Collider::sphere(0.15),
                Pose::from_position(at),
                twist,
                material,
            );
            balls.push(simulation.spawn(ball).unwrap());
        }
        balls.push(held);
        let energy = |simulation: &Simulation| {
            let kinetic = balls
                .iter()
                .filter_map(|ball| kinetic_energy(simulation, *ball));
            let x = simulation.pose(held).unwrap().position;
            kinetic.sum::<f64>() + 0.5 * k * x.length_squared()
        };
        let start = energy(&simulation);
        let mut last = start;
        let mut struck = 0;
        for _ in 0..400 {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{report:?}");
            let now = energy(&simulation);
            assert!(
                now <= last + of_step * start && now <= of_all * start * (1.0 + 1e-8),
                "{k} {e}: {last} to {now} of {start}"
            );
            last = now;
            let contacts = simulation.contacts();
            struck += contacts
                .iter()
                .filter(|c| c.impulse.x > 0.0 && c.entities.contains(&held))
                .count();
        }
        assert!(struck > 2, "{k}: {struck}");
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

/// A law whose derivatives are wrong.
#[derive(Debug)]
struct Wrong(LinearForce);

impl ForceLaw for Wrong {
    fn wrench(&self, body: &BodyState) -> Wrench {
        self.0.wrench(body)
    }

    fn jacobians(&self, body: &BodyState) -> ForceJacobians {
        let own = self.0.jacobians(body);
        ForceJacobians {
            pose: own.pose.map(|row| row.map(|x| -x)),
            ..own
        }
    }
}

#[test]
fn a_law_with_wrong_derivatives_is_told_by_the_report() {
    let mut simulation = Simulation::new(settings(0.005, Theta::Auto)).unwrap();
    let body = (point(DVec3::X), BodyForces::new(Wrong(spring(1e6))));
    simulation.spawn(body).unwrap();
    let report = simulation.step().unwrap();
    assert!(!report.converged && report.force_error > 1e-3, "{report:?}");
    assert_eq!(report.status, moreau::StepStatus::Stopped);
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

/// A rod on a hinge through the origin about y, with the forces given.
fn hinged(simulation: &mut Simulation, forces: BodyForces) -> Entity {
    let rod = (
        DYNAMIC,
        Collider::cuboid(0.5, 0.05, 0.05),
        Mass::given(2.0, DVec3::new(0.01, 0.17, 0.17)),
        Pose::at(0.5, 0.0, 0.0),
        forces,
    );
    let rod = simulation.spawn(rod).unwrap();
    let hinge = Joint::to_world(rod, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    simulation
        .spawn_joint(hinge, JointForces::default())
        .unwrap();
    rod
}

#[test]
fn a_spring_on_a_hinged_rod_swings_it_as_fine_steps_do() {
    // From a point of the rod to one below it, with a length: a force that is not linear.
    let pull = PointSpring {
        anchor: DVec3::new(0.5, 0.0, 0.0),
        to: DVec3::new(0.8, 0.0, -0.9),
        stiffness: 30.0,
        damping: 0.5,
        rest: 0.4,
    };
    let start = |simulation: &mut Simulation| hinged(simulation, BodyForces::new(pull));
    let exact = after(0.5, 1e-4, Theta::Auto, start);
    let [coarse, fine] =
        [0.01, 0.005].map(|h| (after(0.5, h, Theta::Auto, start) - exact).length());
    // The course of joints is of second order and the force of the velocity solved for is taken at the end of the free motion, with an error of first order.
    assert!(coarse < 3e-3 && fine < 0.6 * coarse, "{coarse} {fine}");
}

#[test]
fn a_stiff_spring_holds_a_hinged_rod_against_its_weight() {
    for k in [1e5, 1e9] {
        let settings = Settings {
            gravity: DVec3::Z * -G,
            ..settings(0.005, Theta::Auto)
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let pull = PointSpring {
            anchor: DVec3::new(0.5, 0.0, 0.0),
            to: DVec3::new(1.0, 0.0, 1e-3),
            stiffness: k,
            damping: 0.0,
            rest: 0.0,
        };
        let rod = hinged(&mut simulation, BodyForces::new(pull));
        for _ in 0..200 {
            sound(&simulation.step().unwrap());
        }
        // It holds half of its weight, at twice the arm.
        let pose = simulation.pose(rod).unwrap();
        let tip = pose.position + pose.orientation * pull.anchor;
        let moment = k * (pull.to - tip).z * tip.x + k * (tip - pull.to).x * tip.z;
        let expected = 2.0 * G * pose.position.x;
        assert!(
            (moment / expected - 1.0).abs() < 1e-6,
            "{k}: {moment} {expected}"
        );
    }
}

#[test]
fn a_stiff_spring_presses_a_hinged_rod_on_a_block() {
    let (k, h) = (1e6, 0.005);
    let mut simulation = Simulation::new(settings(h, Theta::Auto)).unwrap();
    let block = (
        RigidBody::Static,
        Collider::cuboid(0.05, 0.5, 0.05),
        Pose::at(0.9, 0.0, -0.1),
    );
    simulation.spawn(block).unwrap();
    let pull = PointSpring {
        anchor: DVec3::new(0.5, 0.0, 0.0),
        to: DVec3::new(1.0, 0.0, -1e-3),
        stiffness: k,
        damping: 0.0,
        rest: 0.0,
    };
    let rod = hinged(&mut simulation, BodyForces::new(pull));
    for _ in 0..100 {
        sound(&simulation.step().unwrap());
    }
    // Moments about the hinge: the contacts of the block hold the spring.
    let contacts = simulation.contacts();
    let held: f64 = contacts
        .iter()
        .filter(|contact| contact.entities.contains(&rod))
        .map(|contact| {
            let side = if contact.entities[0] == rod {
                1.0
            } else {
                -1.0
            };
            let push = contact.frame * contact.impulse * (side / h);
            contact.point.x * push.z - contact.point.z * push.x
        })
        .sum();
    assert!((held / (1e-3 * k) - 1.0).abs() < 1e-3, "{held}");
}

/// Three bars on balls swing under their weight on a spring that holds a point of the first.
fn chain_on_a_spring(lever: f64, k: f64) {
    let settings = Settings {
        gravity: DVec3::Z * -G,
        ..settings(0.01, Theta::Auto)
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let bars = [0.0, 1.0, 2.0].map(|x| {
        let mass = Mass::given(1.0, DVec3::new(0.02, 0.09, 0.08));
        let bar = (DYNAMIC, mass, Pose::at(x, 0.0, 0.0));
        simulation.spawn(bar).unwrap()
    });
    for pair in [[0, 1], [1, 2]] {
        let [a, b] = pair.map(|k: usize| bars[k]);
        let at = DVec3::X * (pair[0] as f64 + 0.5);
        let ball = Joint::new(a, b, JointKind::Ball).at(at, DVec3::Y);
        simulation.spawn_joint(ball, ()).unwrap();
    }
    let anchor = DVec3::new(0.1, 0.05, 0.2) * lever;
    let pull = PointSpring {
        anchor,
        to: anchor,
        stiffness: k,
        damping: 0.0,
        rest: 0.0,
    };
    simulation.set(bars[0], BodyForces::new(pull));
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        sound(&report);
        let pose = simulation.pose(bars[0]).unwrap();
        let stretch = pose.position + pose.orientation * anchor - anchor;
        let of = |bar: &Entity| {
            let height = simulation.pose(*bar).unwrap().position.z;
            kinetic_energy(&simulation, *bar).unwrap() + G * height
        };
        let energy = bars.iter().map(of).sum::<f64>() + 0.5 * k * stretch.length_squared();
        // From rest at height zero; a part of the 30 J that it swings with, to first order.
        assert!(energy < 1.0, "{lever} {k}: {energy}");
    }
}

#[test]
fn a_chain_on_a_stiff_spring_swings_and_gains_no_energy() {
    for (lever, k) in [(0.0, 1e6), (0.0, 1e8), (0.0, 1e10), (1.0, 1e6)] {
        chain_on_a_spring(lever, k);
    }
}

#[test]
#[ignore = "1e8 N/m off the centre: from 0.4 s on half of the steps are not converged, with an error of 4e-4; 1e10 N/m: the state overflows"]
fn a_chain_on_a_very_stiff_spring_off_the_centre_swings_and_gains_no_energy() {
    for k in [1e8, 1e10] {
        chain_on_a_spring(1.0, k);
    }
}
