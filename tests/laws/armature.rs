//! **Law.** A rotor of inertia `I` on a coordinate `q` adds `½ I q̇²` to the kinetic energy, and nothing to momenta or weight.
//!
//! So a slider falls with `g m/(m + I)`, a pendulum swings with the period of `J + I`, and what turns on a free body turns that back as without a rotor:
//! the coordinate is relative. All of it in the symmetric scheme of joints: energies swing by `O(h²)` and do not drift.

use crate::support::*;

fn rotor(axis: JointAxis, inertia: f64) -> JointForce {
    JointForce::Armature { axis, inertia }
}

fn balanced(report: &StepReport) {
    let energy = &report.energy;
    assert!(
        energy.energy_gap.abs() <= 1e-12 * (1.0 + energy.kinetic),
        "{energy:?}"
    );
    assert!(report.joint_velocity <= 1e-10 && report.joint_error <= 1e-12);
}

#[test]
fn a_slider_falls_slower_by_its_armature() {
    for (mass, inertia) in [(2.0, 3.0), (1e-3, 1e3), (1e3, 1e-3)] {
        let mut simulation = Simulation::new(reference()).unwrap();
        let body = (
            RigidBody::Dynamic,
            Mass::given(mass, DVec3::splat(0.1 * mass)),
            Pose::at(0.0, 0.0, 0.0),
        );
        let body = simulation.spawn(body).unwrap();
        let slider = Joint::to_world(body, JointKind::Prismatic).at(DVec3::ZERO, DVec3::Z);
        let forces = JointForces(vec![rotor(JointAxis::Z, inertia)]);
        let slider = simulation.spawn_joint(slider, forces).unwrap();
        let fall = 9.81 * mass / (mass + inertia);
        for step in 1..=100 {
            balanced(&simulation.step().unwrap());
            let t = f64::from(step) * reference().time_step;
            let v = simulation.twist(body).unwrap().linear.z;
            let z = simulation.pose(body).unwrap().position.z;
            assert!(
                (v + fall * t).abs() < 1e-10 * (1.0 + fall * t),
                "{v} {}",
                fall * t
            );
            assert!((z + 0.5 * fall * t * t).abs() < 1e-10 * (1.0 + fall), "{z}");
            // The rotor takes what does not accelerate the body.
            let takes = simulation.joint_efforts(slider).unwrap()[0];
            assert!(
                (takes - inertia * fall).abs() < 1e-8 * inertia * fall,
                "{takes}"
            );
        }
    }
}

/// Period of a small swing, and no drift of the energy; of second order in `h`.
#[test]
fn a_pendulum_with_armature_has_its_period() {
    let (mass, length, own, inertia) = (1.0, 0.5, 0.02, 0.4);
    let pendulum = |h: f64| {
        let settings = Settings {
            time_step: h,
            ..reference()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let amplitude: f64 = 1e-3;
        let at = DVec3::new(libm::sin(amplitude), 0.0, -libm::cos(amplitude)) * length;
        let bob = (
            RigidBody::Dynamic,
            Mass::given(mass, DVec3::splat(own)),
            Pose::from_position(at),
        );
        let bob = simulation.spawn(bob).unwrap();
        let hinge = Joint::to_world(bob, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        let forces = JointForces(vec![rotor(JointAxis::RotationZ, inertia)]);
        simulation.spawn_joint(hinge, forces).unwrap();
        let all = own + mass * length * length + inertia;
        let period = std::f64::consts::TAU * (all / (mass * 9.81 * length)).sqrt();
        // Zero crossings of the swing, the first after a quarter of a period.
        let (mut crossings, mut before) = (Vec::new(), at.x);
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut step = 0;
        while crossings.len() < 9 && step < 10_000 {
            let report = simulation.step().unwrap();
            balanced(&report);
            step += 1;
            let x = simulation.pose(bob).unwrap().position.x;
            if x * before <= 0.0 {
                let t = f64::from(step) * h;
                crossings.push(t - h * x / (x - before));
            }
            before = x;
            let total = report.energy.total();
            lowest = lowest.min(total);
            highest = highest.max(total);
        }
        let measured = (crossings[8] - crossings[0]) / 4.0;
        let swing = mass * 9.81 * length * 0.5 * amplitude * amplitude;
        (measured / period - 1.0, (highest - lowest) / swing)
    };
    let [(coarse, swings), (fine, less)] = [0.02, 0.01].map(pendulum);
    assert!(
        coarse.abs() < 1e-3 && fine.abs() < 2.5e-4,
        "{coarse:e} {fine:e}"
    );
    assert!((coarse / fine - 4.0).abs() < 0.1, "{coarse:e} {fine:e}");
    // (ω h)²/4 of the energy of the swing at most.
    assert!(swings < 2e-3 && less < 5e-4, "{swings:e} {less:e}");
}

/// A wheel with a rotor on a body that floats, turned by a motor: momenta are those of the bodies, and are kept.
#[test]
fn rotors_leave_the_momenta_of_bodies_alone() {
    let settings = Settings {
        gravity: DVec3::ZERO,
        time_step: 5e-3,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let carrier = (
        RigidBody::Dynamic,
        Mass::given(2.0, DVec3::new(0.3, 0.4, 0.5)),
        Pose::at(0.5, 0.0, 0.1),
        Twist {
            linear: DVec3::new(0.1, 0.2, 0.3),
            angular: DVec3::new(0.5, -0.3, 0.2),
        },
    );
    let carrier = simulation.spawn(carrier).unwrap();
    let wheel = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::new(0.05, 0.05, 0.1)),
        Pose::at(0.0, 0.0, 0.0),
    );
    let wheel = simulation.spawn(wheel).unwrap();
    let hinge = Joint::new(carrier, wheel, JointKind::Revolute).at(DVec3::ZERO, DVec3::Z);
    let motor = |effort| JointForce::Motor {
        axis: JointAxis::RotationZ,
        position: 0.0,
        velocity: 8.0,
        stiffness: 0.0,
        damping: 2.0,
        effort,
    };
    let forces = |effort| JointForces(vec![rotor(JointAxis::RotationZ, 0.3), motor(effort)]);
    let hinge = simulation.spawn_joint(hinge, forces(4.0)).unwrap();
    let momenta = |simulation: &Simulation| {
        let mut sum = [DVec3::ZERO; 2];
        for body in [carrier, wheel] {
            let (pose, twist) = (
                simulation.pose(body).unwrap(),
                simulation.twist(body).unwrap(),
            );
            let mass = simulation.world().get::<Mass>(body).unwrap();
            let p = twist.linear * mass.mass();
            let spin = mass.principal_inertia() * twist.angular;
            sum[0] += p;
            sum[1] += pose.position.cross(p) + pose.orientation * spin;
        }
        sum
    };
    simulation.step().unwrap();
    let begin = momenta(&simulation);
    for _ in 0..200 {
        balanced(&simulation.step().unwrap());
        for (now, begin) in momenta(&simulation).into_iter().zip(begin) {
            assert!((now - begin).length() < 1e-11, "{now} {begin}");
        }
    }
    // Left alone it keeps its energy, that of the rotor included.
    simulation.set(hinge, forces(0.0));
    simulation.step().unwrap();
    let energy = simulation.state().unwrap().report().energy.kinetic;
    for _ in 0..400 {
        let now = simulation.step().unwrap().energy.kinetic;
        assert!((now / energy - 1.0).abs() < 1e-4, "{now} {energy}");
    }
}

/// A limit that is struck sees the rotor: its impulse is `(1 + e)(m + I) v`.
#[test]
fn a_limit_stops_the_rotor_as_well() {
    let settings = Settings {
        gravity: DVec3::ZERO,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let (mass, inertia, speed, e) = (2.0, 3.0, 1.0, 0.5);
    let body = (
        RigidBody::Dynamic,
        Mass::given(mass, DVec3::splat(0.1)),
        Twist {
            linear: DVec3::Z * speed,
            ..Twist::default()
        },
    );
    let body = simulation.spawn(body).unwrap();
    let slider = Joint::to_world(body, JointKind::Prismatic).at(DVec3::ZERO, DVec3::Z);
    let limit = JointForce::Limit {
        axis: JointAxis::Z,
        low: f64::NEG_INFINITY,
        high: 0.105,
        restitution: e,
    };
    let forces = JointForces(vec![limit, rotor(JointAxis::Z, inertia)]);
    let slider = simulation.spawn_joint(slider, forces).unwrap();
    let h = Settings::default().time_step;
    let mut total = 0.0;
    for _ in 0..30 {
        balanced(&simulation.step().unwrap());
        total += h * simulation.joint_efforts(slider).unwrap()[0];
    }
    let v = simulation.twist(body).unwrap().linear.z;
    assert!((v + e * speed).abs() < 1e-9, "{v}");
    let expected = -(1.0 + e) * (mass + inertia) * speed;
    assert!((total - expected).abs() < 1e-8, "{total} {expected}");
}

/// A damper on a light body with a heavy rotor is not stiff: it slows the two down by `exp(−c t/(J + I))`, to second order in `h`. The mean of a step makes
/// `(λ h)²/12` of `λ t` of it, 8e-6 here, and a step that is implicit `λ h/2`, 5e-3.
#[test]
fn a_damper_on_a_light_body_with_a_rotor_is_of_second_order() {
    let (own, inertia, damping, h) = (1e-3, 1.0, 1.0, 0.01);
    let settings = Settings {
        time_step: h,
        gravity: DVec3::ZERO,
        ..reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let body = (
        RigidBody::Dynamic,
        Mass::given(0.1, DVec3::splat(own)),
        Twist {
            angular: DVec3::Z * 0.5,
            ..Twist::default()
        },
        Pose::at(0.0, 0.0, 0.0),
    );
    let body = simulation.spawn(body).unwrap();
    let hinge = Joint::to_world(body, JointKind::Revolute).at(DVec3::ZERO, DVec3::Z);
    let damper = JointForce::Spring {
        axis: JointAxis::RotationZ,
        stiffness: 0.0,
        damping,
        rest: 0.0,
    };
    let forces = JointForces(vec![damper, rotor(JointAxis::RotationZ, inertia)]);
    simulation.spawn_joint(hinge, forces).unwrap();
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    let left = simulation.twist(body).unwrap().angular.z / 0.5;
    let expected = libm::exp(-damping / (own + inertia));
    assert!((left / expected - 1.0).abs() < 1e-5, "{left} {expected}");
}
