//! **Law.** Gravity acts in proportion to its factor, drag in proportion to the velocity, and forces and impulses at a point have the moment of their arm.
//!
//! Free fall with θ = ½ and the decay `v/(1 + h d)` of implicit drag are exact for any step; the latter is `e^{−d t}` to first order in `h`.

use crate::support::*;
use bevy_ecs::prelude::*;

fn settings(h: f64) -> Settings {
    Settings {
        time_step: h,
        ..reference()
    }
}

/// A free ball of 0.1 m with what is given besides.
fn ball(simulation: &mut Simulation, height: f64, besides: impl Bundle) -> Entity {
    let place = Pose::at(0.0, 0.0, height);
    simulation
        .spawn((RigidBody::Dynamic, Collider::sphere(0.1), place, besides))
        .unwrap()
}

#[test]
fn bodies_fall_with_their_part_of_gravity() {
    for scale in [0.0, 0.5, 1.0, 2.5, -1.0] {
        let mut simulation = Simulation::new(settings(0.01)).unwrap();
        let body = ball(&mut simulation, 0.0, GravityScale(scale));
        let start = simulation.step().unwrap().energy;
        for _ in 1..100 {
            let report = simulation.step().unwrap();
            assert!(report.momentum_residual < 1e-12 && report.energy.energy_gap.abs() < 1e-10);
            let total = |energy: EnergyLedger| energy.kinetic + energy.potential;
            assert!((total(report.energy) - total(start)).abs() < 1e-10 * (1.0 + start.kinetic));
        }
        let z = simulation.pose(body).unwrap().position.z;
        assert!((z + 0.5 * 9.81 * scale).abs() < 1e-12, "{scale}: {z}");
    }
}

#[test]
fn what_floats_does_not_press_and_what_rises_leaves() {
    let mut simulation = Simulation::new(settings(0.01)).unwrap();
    ground(&mut simulation, Material::default());
    let floats = ball(&mut simulation, 0.1, GravityScale(0.0));
    let report = simulation.step().unwrap();
    assert_eq!(report.closed_contacts, 0);
    simulation.set(floats, GravityScale(-1.0));
    simulation.step().unwrap();
    let v = simulation.twist(floats).unwrap().linear.z;
    assert!((v - 0.0981).abs() < 1e-14, "{v}");
    // Without the component gravity is whole again.
    simulation
        .world_mut()
        .entity_mut(floats)
        .remove::<GravityScale>();
    simulation.step().unwrap();
    let v = simulation.twist(floats).unwrap().linear.z;
    assert!(v.abs() < 1e-14, "{v}");
}

#[test]
fn drag_slows_down_by_its_rate() {
    let drag = Drag {
        linear: 2.0,
        angular: 5.0,
    };
    let twist = Twist {
        linear: DVec3::new(3.0, 0.0, 0.0),
        angular: DVec3::new(0.0, 4.0, 0.0),
    };
    let mut errors = Vec::new();
    for steps in [100, 200] {
        let h = 1.0 / f64::from(steps);
        let mut simulation = Simulation::new(settings(h)).unwrap();
        let body = ball(&mut simulation, 0.0, (drag, twist, GravityScale(0.0)));
        let mut spent = 0.0;
        for _ in 0..steps {
            let report = simulation.step().unwrap();
            assert!(report.momentum_residual < 1e-12 && report.energy.energy_gap.abs() < 1e-12);
            spent += report.energy.work_external;
        }
        let end = simulation.twist(body).unwrap();
        let decay = |rate: f64, h: f64| libm::pow(1.0 + h * rate, -f64::from(steps));
        assert!((end.linear.x - 3.0 * decay(2.0, h)).abs() < 1e-14);
        let angular = 4.0 * decay(5.0, h);
        assert!((end.angular.y - angular).abs() < 1e-14, "{}", end.angular);
        assert!(spent < 0.0);
        errors.push((end.linear.x - 3.0 * libm::exp(-2.0)).abs());
    }
    let ratio = errors[0] / errors[1];
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
}

#[test]
fn drag_and_gravity_balance_at_the_terminal_velocity() {
    for rate in [0.5, 5.0, 1e3, 1e9] {
        let mut simulation = Simulation::new(settings(0.01)).unwrap();
        let drag = Drag {
            linear: rate,
            angular: 0.0,
        };
        let body = ball(&mut simulation, 0.0, drag);
        let guided = (RigidBody::Dynamic, Mass::given(1.0, DVec3::ONE), drag);
        let guided = simulation.spawn(guided).unwrap();
        let guide = Joint::to_world(guided, JointKind::Prismatic).at(DVec3::ZERO, DVec3::Z);
        simulation.spawn_joint(guide, ()).unwrap();
        for _ in 0..8000 {
            simulation.step().unwrap();
        }
        let v = -simulation.twist(body).unwrap().linear.z;
        assert!((v * rate / 9.81 - 1.0).abs() < 1e-9, "{rate}: {v}");
        // What slides on a guide finds the same, and goes as far in a step.
        let slides = simulation.pose(guided).unwrap().position.z;
        let before = simulation.twist(guided).unwrap().linear.z;
        simulation.step().unwrap();
        let way = simulation.pose(guided).unwrap().position.z - slides;
        let v = -simulation.twist(guided).unwrap().linear.z;
        assert!((v * rate / 9.81 - 1.0).abs() < 1e-9, "{rate}: {v}");
        // Heights up to 1.6 km have digits of 2e-13 m, 2e-11 m/s.
        assert!(
            (way / 0.01 - before).abs() < 1e-9 * v + 4e-11,
            "{rate}: {way}"
        );
    }
}

/// A moment and the angular drag balance at `ω = M/(c I)`, in free flight and on an axle, whatever the rate and wherever the moment comes from.
#[test]
fn drag_and_a_moment_balance_at_the_terminal_rate() {
    let moment = Wrench {
        moment: DVec3::Z * 0.2,
        ..Wrench::default()
    };
    for rate in [0.5, 5.0, 1e3, 1e9] {
        for (on_axle, by_law) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut simulation = Simulation::new(settings(0.01)).unwrap();
            let drag = Drag {
                linear: rate,
                angular: rate,
            };
            let mass = Mass::given(2.0, DVec3::new(0.1, 0.12, 0.15));
            let body = (RigidBody::Dynamic, mass, drag, GravityScale(0.0));
            let body = simulation.spawn(body).unwrap();
            if on_axle {
                let axle = Joint::to_world(body, JointKind::Revolute).at(DVec3::ZERO, DVec3::Z);
                simulation.spawn_joint(axle, ()).unwrap();
            }
            if by_law {
                let law = LinearForce {
                    wrench: moment,
                    ..LinearForce::default()
                };
                simulation.set(body, BodyForces::new(law));
            }
            for _ in 0..8000 {
                if !by_law {
                    simulation.set(body, moment);
                }
                let report = simulation.step().unwrap();
                // Of 50 W at most, and rounding of each term.
                assert!(report.energy.energy_gap.abs() < 1e-12, "{report:?}");
            }
            let omega = simulation.twist(body).unwrap().angular.z;
            // What is left of the start is (1 + 0.01 · 0.5)^−8000 = 5e-18. A law is solved to what orientations can tell: 4ε/h = 1e-13 rad/s.
            let exact = 0.2 / (rate * 0.15);
            assert!(
                (omega - exact).abs() < 1e-9 * exact + 1e-13,
                "{rate} {on_axle} {by_law}: {omega} {exact}"
            );
        }
    }
}

/// What does not move is not dragged: a floor and a joint bear the whole weight, whatever the rate.
#[test]
fn drag_carries_nothing_of_what_is_at_rest() {
    let h = 0.01;
    for rate in [0.2, 100.0, 1e6] {
        let mut simulation = Simulation::new(settings(h)).unwrap();
        let drag = Drag {
            linear: rate,
            angular: rate,
        };
        ground(&mut simulation, Material::default());
        let lies = ball(&mut simulation, 0.1, drag);
        let hangs = ball(&mut simulation, 2.0, drag);
        let joint = Joint::to_world(hangs, JointKind::Ball).at(DVec3::Z * 3.0, DVec3::Z);
        let joint = simulation.spawn_joint(joint, ()).unwrap();
        let weight = simulation.world().get::<Mass>(lies).unwrap().mass() * G;
        for _ in 0..3 {
            let report = simulation.step().unwrap();
            assert!(report.momentum_residual < 1e-12, "{rate}: {report:?}");
            assert!(report.energy.energy_gap.abs() < 1e-12, "{rate}: {report:?}");
            let borne = simulation.joint_reaction(joint).unwrap().force.length();
            assert!(
                (borne / weight - 1.0).abs() < 1e-12,
                "{rate}: {borne} of {weight}"
            );
            let contacts = simulation.contacts().iter();
            let pressed: f64 = contacts.map(|contact| contact.impulse.length() / h).sum();
            assert!(
                (pressed / weight - 1.0).abs() < 1e-9,
                "{rate}: {pressed} of {weight}"
            );
        }
    }
}

/// A pendulum that drag slows, linear and angular at one rate `d`: `I θ̈ + d I θ̇ + m g l sin θ = 0`. Its energy beside that of small swings,
/// `θ = A e^{−d t/2} (cos ω t + d/(2ω) sin ω t)`, after five swings: of first order in `h`. The square of the amplitude, 9e-6, is below that.
#[test]
fn a_pendulum_is_slowed_by_the_drag_of_its_bob() {
    let (rate, time, start) = (0.2, 10.0, 0.003);
    let mut errors = Vec::new();
    for h in [0.01, 0.005, 0.0025] {
        let mut simulation = Simulation::new(settings(h)).unwrap();
        let drag = Drag {
            linear: rate,
            angular: rate,
        };
        let place = Pose::at(libm::sin(start), 0.0, -libm::cos(start));
        let bob = (RigidBody::Dynamic, Collider::sphere(0.05), place, drag);
        let bob = simulation.spawn(bob).unwrap();
        let joint = Joint::to_world(bob, JointKind::Ball).at(DVec3::ZERO, DVec3::Z);
        simulation.spawn_joint(joint, ()).unwrap();
        let mut energy = 0.0;
        for _ in 0..(time / h).round() as usize {
            let report = simulation.step().unwrap();
            let gap = report.energy.energy_gap;
            assert!(gap.abs() < 1e-12, "{gap}");
            assert!(report.momentum_residual < 1e-12, "{report:?}");
            energy = report.energy.total();
        }
        let mass = simulation.world().get::<Mass>(bob).unwrap();
        let inertia = mass.mass() + mass.principal_inertia().x;
        let square = mass.mass() * G / inertia;
        let omega = (square - 0.25 * rate * rate).sqrt();
        let (sin, cos) = libm::sincos(omega * time);
        let amplitude = start * libm::exp(-0.5 * rate * time);
        let angle = amplitude * (cos + 0.5 * rate / omega * sin);
        let speed = -amplitude * square / omega * sin;
        let theory = 0.5 * inertia * (speed * speed + square * angle * angle);
        errors.push((energy + mass.mass() * G) / theory - 1.0);
    }
    // The first one is taken in parts.
    let ratio = errors[1] / errors[2];
    assert!((1.9..2.1).contains(&ratio), "{errors:?}");
    // `1/(1 + h d)` a step is of the rate `d (1 − h d/2)`.
    for (error, h) in errors.iter().zip([0.01, 0.005, 0.0025]) {
        assert!(error.abs() < 0.5 * rate * rate * h * time, "{errors:?}");
    }
}

#[test]
fn impulses_and_forces_at_a_point_turn_by_their_arm() {
    let mut random = Lcg::new(3);
    for _ in 0..50 {
        let mut simulation = Simulation::new(settings(0.01)).unwrap();
        simulation
            .set_settings(Settings {
                gravity: DVec3::ZERO,
                ..settings(0.01)
            })
            .unwrap();
        let orientation = random.rotation();
        let body = simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::cuboid(0.3, 0.2, 0.1),
                Pose::at(1.0, 2.0, 3.0).with_orientation(orientation),
            ))
            .unwrap();
        let (impulse, arm) = (random.symmetric_vector() * 40.0, random.symmetric_vector());
        let point = DVec3::new(1.0, 2.0, 3.0) + arm;
        assert!(simulation.apply_impulse(body, impulse, point).unwrap());
        let mass = simulation.world().get::<Mass>(body).unwrap().mass();
        let linear = simulation.twist(body).unwrap().linear * mass;
        assert!((linear - impulse).length() < 1e-12);
        let about = spin(&simulation, body).unwrap();
        assert!((about - arm.cross(impulse)).length() < 1e-12);
        // The same as a force for one step, up to what the body turns by in it.
        simulation.set(body, Twist::default());
        assert!(
            simulation
                .add_force_at(body, impulse * 100.0, point)
                .unwrap()
        );
        simulation.step().unwrap();
        let by_force = simulation.twist(body).unwrap().linear * mass;
        assert!((by_force - impulse).length() < 1e-11);
    }
}

#[test]
fn wrong_responses_and_impulses_change_nothing() {
    let mut simulation = Simulation::new(settings(0.01)).unwrap();
    let wrong = [
        (f64::NAN, 0.0, 0.0),
        (1.0, -1.0, 0.0),
        (1.0, 0.0, f64::INFINITY),
    ];
    for (gravity, linear, angular) in wrong {
        let shape = (RigidBody::Dynamic, Collider::sphere(0.1));
        let refused = simulation.spawn((shape, GravityScale(gravity), Drag { linear, angular }));
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("gravity scale") || refused.contains("drag"),
            "{refused}"
        );
    }
    let body = ball(&mut simulation, 0.0, ());
    let before = simulation.state_hash();
    assert!(
        simulation
            .apply_impulse(body, DVec3::NAN, DVec3::ZERO)
            .is_err()
    );
    assert!(
        simulation
            .add_force_at(body, DVec3::X, DVec3::INFINITY)
            .is_err()
    );
    // Finite, and too much.
    let far = DVec3::new(0.0, 1e300, 0.0);
    let refused = simulation.apply_impulse(body, far, DVec3::X * 1e10);
    assert!(refused.unwrap_err().to_string().contains("twist.angular"));
    let refused = simulation.add_force_at(body, far, DVec3::X * 1e10);
    assert!(refused.unwrap_err().to_string().contains("wrench.moment"));
    assert_eq!(simulation.state_hash(), before);
    simulation.set(
        body,
        Drag {
            linear: -1.0,
            angular: 0.0,
        },
    );
    assert!(simulation.step().is_err());
    simulation.set(body, Drag::default());
    simulation.step().unwrap();
    // What no impulse moves.
    let floor = simulation
        .spawn((
            RigidBody::Static,
            Collider::sphere(0.1),
            Pose::at(9.0, 0.0, 0.0),
        ))
        .unwrap();
    assert!(
        !simulation
            .apply_impulse(floor, DVec3::X, DVec3::ZERO)
            .unwrap()
    );
}

/// A sleeping body whose gravity changes is awake.
#[test]
fn a_change_of_gravity_wakes() {
    let mut simulation = Simulation::new(Settings {
        time_step: 0.01,
        ..Settings::default()
    })
    .unwrap();
    ground(&mut simulation, Material::default());
    let body = ball(&mut simulation, 0.1, ());
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    assert!(simulation.world().get::<Sleeping>(body).is_some());
    simulation.set(body, GravityScale(-1.0));
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    assert!(simulation.pose(body).unwrap().position.z > 0.12);
}

/// Locked axes of a body are a generic joint to the world: what is locked stays, what is free moves as it would, and what it meets is met in friction.
#[test]
fn locked_axes_stay_and_free_ones_move() {
    let mut simulation = Simulation::new(settings(0.01)).unwrap();
    let material = Material::with_friction(0.5);
    ground(&mut simulation, material);
    let body = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            material,
            Pose::at(0.0, 0.0, 0.4),
        ))
        .unwrap();
    // In the plane y = 0, without turns out of it.
    let plane = JointKind::Generic {
        translation: [false, true, false],
        rotation: [true, false, true],
    };
    let joint = Joint::to_world(body, plane).at(DVec3::new(0.0, 0.0, 0.4), DVec3::Z);
    simulation.spawn_joint(joint, ()).unwrap();
    let twist = Twist {
        linear: DVec3::new(2.0, 0.0, 0.0),
        angular: DVec3::new(0.0, 3.0, 0.0),
    };
    simulation.set(body, twist);
    let push =
        Wrench::default().with_force_at(DVec3::new(0.0, 50.0, 0.0), DVec3::new(0.1, 0.0, 0.1));
    simulation.set(body, push);
    for step in 0..300 {
        let report = simulation.step().unwrap();
        assert!(report.joint_error < 1e-12 && report.joint_velocity < 1e-10);
        let (pose, twist) = (
            simulation.pose(body).unwrap(),
            simulation.twist(body).unwrap(),
        );
        assert!(pose.position.y.abs() < 1e-12, "{step}");
        let y = pose.orientation * DVec3::Y;
        assert!((y - DVec3::Y).length() < 1e-12, "{step}: {y}");
        if step == 19 {
            assert!(
                (pose.position.x - 0.4).abs() < 1e-12,
                "free flight: {}",
                pose.position
            );
            assert!((twist.angular.y - 3.0).abs() < 1e-12);
        }
    }
    // It lies on a face at rest, in spite of the push.
    let (pose, twist) = (
        simulation.pose(body).unwrap(),
        simulation.twist(body).unwrap(),
    );
    assert!(
        (pose.position.z - 0.1).abs() < 1e-3 && twist.linear.length() < 1e-9,
        "{pose:?}"
    );
}
