//! **Law.** A coupler holds `Σ ratio·q = offset` and does no work: it puts `ratio·f` along each of its coordinates.
//!
//! With inertias `I_k` on coordinates that move as `q_k = n_k q`, a torque `τ` on the first accelerates it by `τ/Σ n_k² I_k`, constantly, so that
//! the scheme has no error but rounding. Relations are held as joints are: to 1e-12 in places, to 1e-10 in velocities, at every end of a step.

use crate::support::*;

/// A wheel of unit mass and this inertia about z, hinged to the world (or to `on`) at `x`: wheel and hinge.
fn wheel(simulation: &mut Simulation, on: Option<Entity>, x: f64, inertia: f64) -> [Entity; 2] {
    let body = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::new(0.6, 0.6, 1.0) * inertia),
        Pose::at(x, 0.0, 0.0),
    );
    let body = simulation.spawn(body).unwrap();
    let hinge = Joint::to_world(body, JointKind::Revolute).at(DVec3::X * x, DVec3::Z);
    let hinge = Joint {
        bodies: [on, Some(body)],
        ..hinge
    };
    [body, simulation.spawn_joint(hinge, ()).unwrap()]
}

fn weightless() -> Simulation {
    let settings = Settings {
        gravity: DVec3::ZERO,
        ..Settings::default()
    };
    Simulation::new(settings).unwrap()
}

fn closed(report: &StepReport) {
    assert!(report.joint_error <= 1e-12, "{}", report.joint_error);
    assert!(report.joint_velocity <= 1e-10, "{}", report.joint_velocity);
    assert!(report.converged);
    let energy = &report.energy;
    let moved = 1.0 + energy.kinetic + energy.potential.abs();
    assert!(energy.energy_gap.abs() <= 1e-12 * moved, "{energy:?}");
}

fn turn_by(torque: f64) -> Wrench {
    Wrench {
        moment: DVec3::Z * torque,
        ..Wrench::default()
    }
}

fn spin(simulation: &Simulation, body: Entity) -> f64 {
    simulation.twist(body).unwrap().angular.z
}

/// Angle about z, of half a turn at most.
fn angle(simulation: &Simulation, body: Entity) -> f64 {
    let q = simulation.pose(body).unwrap().orientation;
    2.0 * libm::atan2(q.z, q.w)
}

#[test]
fn a_gear_keeps_its_ratio_over_a_hundred_turns_and_transmits_torque() {
    for ratio in [-0.5, 2.0, -1.0] {
        let mut simulation = weightless();
        let [a, first] = wheel(&mut simulation, None, 0.0, 0.3);
        let [b, hinge] = wheel(&mut simulation, None, 1.0, 0.7);
        let gear = simulation
            .spawn_coupler(Coupler::gear(first, hinge, ratio))
            .unwrap();
        let torque = 20.0;
        simulation.set(a, turn_by(torque));
        let rate = torque / (0.3 + ratio * ratio * 0.7);
        let h = Settings::default().time_step;
        let (mut turned, mut steps) = (0.0, 0);
        while turned < 100.0 * std::f64::consts::TAU && steps < 5000 {
            if spin(&simulation, a).abs() > 100.0 {
                simulation.set(a, turn_by(0.0));
            }
            let pushed = simulation.world().get::<Wrench>(a).unwrap().moment.z;
            closed(&simulation.step().unwrap());
            steps += 1;
            let (u, v) = (spin(&simulation, a), spin(&simulation, b));
            assert!((v - ratio * u).abs() <= 1e-10, "{u} {v}");
            turned += h * u;
            let f = simulation.coupler_force(gear).unwrap();
            // The driven wheel gets ratio 1 of it.
            let expected = if pushed > 0.0 {
                0.7 * ratio * rate
            } else {
                0.0
            };
            assert!((f - expected).abs() < 1e-9, "{f} {expected}");
            let bears = simulation.joint_reaction(hinge).unwrap().torque;
            assert!((bears - DVec3::Z * expected).length() < 1e-9, "{bears}");
        }
        assert!(turned > 600.0);
        let (p, q) = (angle(&simulation, a), angle(&simulation, b));
        // Twice the difference is whole turns for each of these ratios.
        let off = 2.0 * (q - ratio * p) / std::f64::consts::TAU;
        assert!((off - off.round()).abs() < 1e-10, "{off}");
    }
}

#[test]
fn a_rack_falls_against_its_pinion() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let (radius, inertia, mass) = (0.2, 0.05, 3.0);
    let [pinion, hinge] = wheel(&mut simulation, None, 0.0, inertia);
    let rack = (
        RigidBody::Dynamic,
        Mass::given(mass, DVec3::splat(0.1)),
        Pose::at(0.2, 0.0, 0.0),
    );
    let rack = simulation.spawn(rack).unwrap();
    let slider = Joint::to_world(rack, JointKind::Prismatic).at(DVec3::X * 0.2, DVec3::Z);
    let slider = simulation.spawn_joint(slider, ()).unwrap();
    let coupler = Coupler::rack_and_pinion(hinge, slider, radius);
    let coupler = simulation.spawn_coupler(coupler).unwrap();
    let g = 9.81;
    let fall = g * mass / (mass + inertia / (radius * radius));
    for step in 1..=100 {
        closed(&simulation.step().unwrap());
        let t = f64::from(step) * Settings::default().time_step;
        let v = simulation.twist(rack).unwrap().linear.z;
        assert!((v + fall * t).abs() < 1e-9, "{v} {}", fall * t);
        assert!((v - radius * spin(&simulation, pinion)).abs() < 1e-10);
        let f = simulation.coupler_force(coupler).unwrap();
        assert!((f - mass * (g - fall)).abs() < 1e-8, "{f}");
    }
}

#[test]
fn a_belt_of_couplers_moves_as_one_wheel() {
    let mut simulation = weightless();
    let mut wheels = Vec::new();
    for k in 0..11 {
        wheels.push(wheel(
            &mut simulation,
            None,
            f64::from(k),
            0.1 + 0.05 * f64::from(k),
        ));
    }
    let mut sum = 0.1;
    let mut ratio = 1.0;
    for k in 1..11 {
        let own = if k % 3 == 0 { -1.5 } else { 0.8 };
        ratio *= own;
        sum += ratio * ratio * (0.1 + 0.05 * k as f64);
        let gear = Coupler::gear(wheels[k - 1][1], wheels[k][1], own);
        simulation.spawn_coupler(gear).unwrap();
    }
    simulation.set(wheels[0][0], turn_by(1.0));
    for step in 1..=200 {
        closed(&simulation.step().unwrap());
        let t = f64::from(step) * Settings::default().time_step;
        let first = spin(&simulation, wheels[0][0]);
        assert!((first - t / sum).abs() < 1e-10 * (1.0 + first), "{first}");
        let last = spin(&simulation, wheels[10][0]);
        assert!((last - ratio * first).abs() < 1e-10);
    }
}

/// A gear box that floats: two wheels on a carrier, which turns back.
#[test]
fn a_gear_box_in_free_flight_keeps_its_momenta_and_its_energy() {
    let settings = Settings {
        gravity: DVec3::ZERO,
        time_step: 2e-3,
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
    let [a, first] = wheel(&mut simulation, Some(carrier), 0.0, 0.05);
    let [b, second] = wheel(&mut simulation, Some(carrier), 1.0, 0.02);
    let gear = Coupler::gear(first, second, -2.0);
    simulation.spawn_coupler(gear).unwrap();
    simulation.set(
        a,
        Twist {
            angular: DVec3::Z * 10.0,
            ..Twist::default()
        },
    );
    let momenta = |simulation: &Simulation| {
        let mut sum = [DVec3::ZERO; 2];
        for body in [carrier, a, b] {
            let (pose, twist) = (
                simulation.pose(body).unwrap(),
                simulation.twist(body).unwrap(),
            );
            let mass = simulation.world().get::<Mass>(body).unwrap();
            let p = twist.linear * mass.mass();
            sum[0] += p;
            let spin = mass.principal_inertia() * twist.angular;
            sum[1] += pose.position.cross(p) + pose.orientation * spin;
        }
        sum
    };
    simulation.step().unwrap();
    let begin = momenta(&simulation);
    let energy = simulation.state().unwrap().report().energy.kinetic;
    for _ in 0..1000 {
        let report = simulation.step().unwrap();
        closed(&report);
        for (now, begin) in momenta(&simulation).into_iter().zip(begin) {
            assert!((now - begin).length() < 1e-10, "{now} {begin}");
        }
        // Of second order: it turns by 0.04 rad a step.
        let gain = report.energy.kinetic / energy - 1.0;
        assert!(gain.abs() < 1e-4, "{gain:e}");
    }
}

/// `q₁ + q₂ − 2 q₃ = 0`: the cage of a differential has the mean of its wheels, whichever of them is held.
#[test]
fn a_differential_has_the_mean_of_its_wheels() {
    let mut simulation = weightless();
    let wheels: Vec<_> = (0..3)
        .map(|k| wheel(&mut simulation, None, f64::from(k), 0.2))
        .collect();
    let term = |k: usize, ratio| CouplerTerm {
        joint: wheels[k][1],
        axis: JointAxis::RotationZ,
        ratio,
    };
    let coupler = Coupler {
        terms: vec![term(0, 1.0), term(1, 1.0), term(2, -2.0)],
        offset: 0.0,
    };
    simulation.spawn_coupler(coupler).unwrap();
    // λ of a torque τ on the cage: α_k = ratio λ/I but for the cage, with τ/I more: λ = 2 τ/6.
    simulation.set(wheels[2][0], turn_by(3.0));
    for _ in 0..50 {
        closed(&simulation.step().unwrap());
    }
    let t = 50.0 * Settings::default().time_step;
    for (k, lambda) in [(0, 1.0), (1, 1.0), (2, 1.0)] {
        let u = spin(&simulation, wheels[k][0]);
        assert!((u - lambda / 0.2 * t).abs() < 1e-9, "{k}: {u}");
    }
}

/// A mimic joint with a motor on its leader: the motor carries what hangs on the follower, through the ratio, and stalls beyond its effort.
#[test]
fn a_motor_lifts_through_a_gear_what_its_effort_can() {
    // An arm of m g l = 5·9.81·0.25 N·m, level, three times slower than the motor.
    let load = 5.0 * 9.81 * 0.25 / 3.0;
    for (effort, holds) in [(0.99 * load, false), (1.01 * load, true)] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let [_, shaft] = wheel(&mut simulation, None, 3.0, 1e-3);
        let motor = JointForce::Motor {
            axis: JointAxis::RotationZ,
            position: 0.0,
            velocity: 0.0,
            stiffness: 0.0,
            damping: f64::INFINITY,
            effort,
        };
        simulation.set(shaft, JointForces(vec![motor]));
        let arm = (
            RigidBody::Dynamic,
            Mass::given(5.0, DVec3::new(0.01, 0.1, 0.1)),
            Pose::at(0.25, 0.0, 0.0),
        );
        let arm = simulation.spawn(arm).unwrap();
        let hinge = Joint::to_world(arm, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        let hinge = simulation.spawn_joint(hinge, ()).unwrap();
        let turn = JointAxis::RotationZ;
        let mimic = Coupler::mimic((hinge, turn), (shaft, turn), 1.0 / 3.0, 0.0);
        simulation.spawn_coupler(mimic).unwrap();
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            closed(&report);
            assert!(report.box_violation <= 0.0);
        }
        let sunk = -simulation.pose(arm).unwrap().position.z;
        let pulls = simulation.joint_efforts(shaft).unwrap()[0].abs();
        if holds {
            assert!(sunk.abs() < 1e-9, "{sunk}");
            assert!((pulls - load).abs() < 1e-6, "{pulls} {load}");
        } else {
            assert!(sunk > 1e-6, "{sunk}");
            assert!((pulls - effort).abs() < 1e-9, "{pulls} {effort}");
        }
    }
}

/// A pair of scales: two levers whose hinges are coupled against each other, with weights that lie on them.
#[test]
fn contacts_load_a_coupler() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let slider = |simulation: &mut Simulation, x: f64| {
        let pan = (
            RigidBody::Dynamic,
            Collider::cuboid(0.3, 0.3, 0.05),
            Mass::given(1.0, DVec3::splat(0.1)),
            Pose::at(x, 0.0, 0.0),
        );
        let pan = simulation.spawn(pan).unwrap();
        let slide = Joint::to_world(pan, JointKind::Prismatic).at(DVec3::X * x, DVec3::Z);
        [pan, simulation.spawn_joint(slide, ()).unwrap()]
    };
    let [left, a] = slider(&mut simulation, 0.0);
    let [right, b] = slider(&mut simulation, 2.0);
    let way = JointAxis::Z;
    let rope = Coupler::mimic((a, way), (b, way), -1.0, 0.0);
    let rope = simulation.spawn_coupler(rope).unwrap();
    let weight = |simulation: &mut Simulation, x: f64, mass: f64| {
        let body = (
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            Mass::given(mass, DVec3::splat(0.01 * mass)),
            Pose::at(x, 0.0, 0.15),
        );
        simulation.spawn(body).unwrap();
    };
    weight(&mut simulation, 0.0, 4.0);
    weight(&mut simulation, 2.0, 1.0);
    // Atwood: 5 kg against 2 kg.
    let fall = 9.81 * 3.0 / 7.0;
    for step in 1..=50 {
        let report = simulation.step().unwrap();
        closed(&report);
        let t = f64::from(step) * Settings::default().time_step;
        let down = simulation.twist(left).unwrap().linear.z;
        let up = simulation.twist(right).unwrap().linear.z;
        assert!((down + up).abs() < 1e-10, "{down} {up}");
        assert!((up - fall * t).abs() < 1e-3 * fall * t, "{up} {}", fall * t);
        let f = simulation.coupler_force(rope).unwrap();
        assert!((f - 5.0 * (9.81 - fall)).abs() < 2e-2, "{f}");
    }
}

#[test]
fn couplers_go_with_their_joints_and_wrong_ones_are_refused() {
    let mut simulation = weightless();
    let [a, first] = wheel(&mut simulation, None, 0.0, 0.2);
    let [b, second] = wheel(&mut simulation, None, 1.0, 0.2);
    let gear = Coupler::gear(first, second, 2.0);
    let coupler = simulation.spawn_coupler(gear.clone()).unwrap();
    simulation.set(a, turn_by(1.0));
    simulation.step().unwrap();
    assert!(spin(&simulation, b) > 0.0);
    // A joint that is disabled has none.
    simulation.set(second, JointDisabled);
    let before = spin(&simulation, b);
    simulation.step().unwrap();
    assert!((spin(&simulation, b) - before).abs() < 1e-15);
    assert!(simulation.coupler_force(coupler).is_none());
    simulation
        .world_mut()
        .entity_mut(second)
        .remove::<JointDisabled>();
    simulation.step().unwrap();
    assert!((spin(&simulation, b) - 2.0 * spin(&simulation, a)).abs() < 1e-10);
    let mut refused = |coupler: Coupler, part: &str| {
        let error = simulation.spawn_coupler(coupler).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        simulation.step().unwrap();
    };
    refused(Coupler::gear(first, second, 0.0), "ratio is -0");
    refused(Coupler::gear(first, second, f64::NAN), "ratio is NaN");
    refused(Coupler::gear(first, first, 1.0), "twice");
    refused(Coupler::gear(first, a, 1.0), "no joint");
    let one = Coupler {
        terms: gear.terms[..1].to_vec(),
        offset: 0.0,
    };
    refused(one, "number of coordinates is 1");
    let locked = Coupler::mimic(
        (first, JointAxis::X),
        (second, JointAxis::RotationZ),
        1.0,
        0.0,
    );
    refused(locked, "locks");
    simulation.despawn(b);
    assert_eq!(simulation.step().unwrap().joints, 1);
    assert!(simulation.world().get_entity(coupler).is_err());
    let [_, third] = wheel(&mut simulation, None, 2.0, 0.2);
    let again = simulation
        .spawn_coupler(Coupler::gear(first, third, 1.0))
        .unwrap();
    simulation.step().unwrap();
    simulation.despawn(third);
    simulation.step().unwrap();
    assert!(simulation.world().get_entity(again).is_err());
}

/// Turns are counted where a wheel turns by more than one in a step: 6000 to 36,000 rpm at 5 ms.
#[test]
fn fast_wheels_keep_their_ratio() {
    for speed in [628.0, -1500.0, 3777.0] {
        let mut simulation = weightless();
        let [a, first] = wheel(&mut simulation, None, 0.0, 0.3);
        let [b, second] = wheel(&mut simulation, None, 1.0, 0.7);
        let [c, third] = wheel(&mut simulation, None, 2.0, 0.2);
        for (hinges, ratio) in [([first, second], 0.3), ([second, third], -0.41)] {
            let gear = Coupler::gear(hinges[0], hinges[1], ratio);
            simulation.spawn_coupler(gear).unwrap();
        }
        let rotor = JointForce::Armature {
            axis: JointAxis::RotationZ,
            inertia: 0.1,
        };
        simulation.set(first, JointForces(vec![rotor]));
        for (body, ratio) in [(a, 1.0), (b, 0.3), (c, -0.41 * 0.3)] {
            let twist = Twist {
                angular: DVec3::Z * (speed * ratio),
                ..Twist::default()
            };
            simulation.set(body, twist);
        }
        for _ in 0..300 {
            closed_fast(&simulation.step().unwrap());
            let u = spin(&simulation, a);
            assert!((u - speed).abs() < 1e-9 * speed.abs(), "{u}");
            assert!((spin(&simulation, b) - 0.3 * u).abs() < 1e-9);
        }
        // Where 300 steps of free rotation lead it.
        let turned = 300.0 * Settings::default().time_step * speed * 0.3;
        let off = (angle(&simulation, b) - turned) / std::f64::consts::TAU;
        assert!((off - off.round()).abs() < 1e-9, "{off}");
    }
}

/// As [`closed`], with the rounding of hundreds of turns.
fn closed_fast(report: &StepReport) {
    assert!(report.joint_error <= 1e-10, "{}", report.joint_error);
    assert!(report.joint_velocity <= 1e-9, "{}", report.joint_velocity);
    assert!(report.energy.energy_gap.abs() <= 1e-12 * (1.0 + report.energy.kinetic));
}

/// A screw that turns faster than once a step goes on by its lead a turn.
#[test]
fn fast_screws_keep_their_lead() {
    let mut simulation = weightless();
    let (speed, lead) = (2000.0, 0.05);
    let way = speed * lead / std::f64::consts::TAU;
    let nut = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::new(0.1, 0.1, 0.2)),
        Twist {
            linear: DVec3::Z * way,
            angular: DVec3::Z * speed,
        },
    );
    let nut = simulation.spawn(nut).unwrap();
    let screw = Joint::to_world(nut, JointKind::Screw { lead }).at(DVec3::ZERO, DVec3::Z);
    simulation.spawn_joint(screw, ()).unwrap();
    for step in 1..=200 {
        closed_fast(&simulation.step().unwrap());
        let t = f64::from(step) * Settings::default().time_step;
        let z = simulation.pose(nut).unwrap().position.z;
        assert!((z - way * t).abs() < 1e-9, "{z} {}", way * t);
    }
}
