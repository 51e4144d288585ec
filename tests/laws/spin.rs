//! **Law.** Impulses change the angular momentum of a body by their moments and by nothing else, also of one that spins: what is spun keeps its
//! direction while it is pushed.
//!
//! Arms and inertia of a step are of one orientation, and the body turns under the angular momentum that its impulses leave. So the laws hold to rounding,
//! for any step, where the geometry is exact; the paths of contacts are of first order in `h`.

use crate::support::*;

fn settings(h: f64) -> Settings {
    Settings {
        time_step: h,
        ..reference()
    }
}

/// A ball that slides, and spins about the vertical, rolls straight on in the end at 5/7 of its speed: friction at a point has no moment about
/// the vertical through it.
#[test]
fn side_spin_does_not_bend_the_way_of_a_ball() {
    for (h, spin) in [(1.0 / 60.0, 20.0), (1.0 / 200.0, 100.0), (1e-3, -50.0)] {
        let mut simulation = Simulation::new(settings(h)).unwrap();
        let material = Material::with_friction(0.2);
        ground(&mut simulation, material);
        let ball = simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::sphere(0.03),
                material,
                Pose::at(0.0, 0.0, 0.03),
                Twist {
                    linear: DVec3::new(2.0, 0.0, 0.0),
                    angular: DVec3::new(0.0, 0.0, spin),
                },
            ))
            .unwrap();
        for _ in 0..(0.5 / h) as usize {
            assert!(simulation.step().unwrap().converged);
        }
        let (pose, twist) = (
            simulation.pose(ball).unwrap(),
            simulation.twist(ball).unwrap(),
        );
        let angular = pose.orientation * twist.angular;
        assert!(pose.position.y.abs() < 1e-9, "h {h}: {}", pose.position);
        assert!((angular.z - spin).abs() < 1e-8, "h {h}: {angular}");
        assert!((twist.linear.x - 10.0 / 7.0).abs() < 1e-6);
    }
}

/// No frictionless contact turns a body of revolution about its axis: the normals of its surface meet the axis.
#[test]
fn no_force_turns_a_smooth_pencil_about_its_axis() {
    for collider in [
        Collider::cylinder(0.09, 0.0035),
        Collider::capsule(0.09, 0.0035),
        Collider::cone(0.05, 0.03),
    ] {
        for h in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
            let mut simulation = Simulation::new(settings(h)).unwrap();
            let smooth = Material::with_friction(0.0);
            ground(&mut simulation, smooth);
            let body = simulation
                .spawn((
                    RigidBody::Dynamic,
                    collider.clone(),
                    smooth,
                    Pose::at(0.0, 0.0, 0.35)
                        .with_orientation(turn(DVec3::new(1.0, 0.3, 0.0).normalize(), 0.4)),
                    Twist {
                        linear: DVec3::new(0.0, 0.0, -2.0),
                        angular: DVec3::new(8.0, -5.0, 0.0),
                    },
                ))
                .unwrap();
            let mut axial = 0.0_f64;
            for _ in 0..(0.5 / h) as usize {
                simulation.step().unwrap();
                axial = axial.max(simulation.twist(body).unwrap().angular.z.abs());
            }
            // Points of contact are found to 1e-9 or so of the body's size, and its inertia about the axis is small.
            assert!(axial < 1e-3, "h {h}: {axial} rad/s");
        }
    }
}

/// A disc that spins is struck off its axis, across its plane, by a ball: the angular momentum of both together stays.
#[test]
fn a_struck_disc_keeps_the_angular_momentum() {
    for h in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
        let mut settings = settings(h);
        settings.gravity = DVec3::ZERO;
        let mut simulation = Simulation::new(settings).unwrap();
        let hard = Material {
            restitution: 1.0,
            ..Material::with_friction(0.0)
        };
        let disc = (
            RigidBody::Dynamic,
            Collider::cylinder(0.05, 0.5),
            hard,
            Twist {
                linear: DVec3::ZERO,
                angular: DVec3::new(0.0, 0.0, 20.0),
            },
        );
        let ball = (
            RigidBody::Dynamic,
            Collider::sphere(0.05),
            hard,
            Pose::at(0.3, 0.0, 0.101),
            Twist::linear(0.0, 0.0, -1.0),
        );
        let bodies = [
            simulation.spawn(disc).unwrap(),
            simulation.spawn(ball).unwrap(),
        ];
        let total = |simulation: &Simulation| -> DVec3 {
            let of = |body: &Entity| {
                let place = simulation.pose(*body).unwrap().position;
                let momentum = linear_momentum(simulation, &[*body]);
                spin(simulation, *body).unwrap() + place.cross(momentum)
            };
            bodies.iter().map(of).sum()
        };
        let before = total(&simulation);
        for _ in 0..(0.1 / h) as usize + 2 {
            simulation.step().unwrap();
        }
        let after = total(&simulation);
        assert!(
            simulation.twist(bodies[1]).unwrap().linear.z > 0.0,
            "no impact"
        );
        assert!(
            (after - before).length() < 1e-9 * before.length(),
            "h {h}: {before} {after}"
        );
    }
}

/// A ball rolls on a turntable: it goes round in a circle, at two sevenths of the table's rate, and never spins about the vertical
/// [Weltner79]. The circle is kept to first order in `h`.
#[test]
fn a_ball_on_a_turntable_goes_round_in_a_circle() {
    let radius_after_a_turn = |h: f64| {
        let mut simulation = Simulation::new(settings(h)).unwrap();
        let rough = Material::with_friction(1.0);
        let rate = 3.0;
        simulation
            .spawn((
                RigidBody::Kinematic,
                Collider::cylinder(0.1, 10.0),
                rough,
                Pose::at(0.0, 0.0, -0.1),
                Twist {
                    linear: DVec3::ZERO,
                    angular: DVec3::new(0.0, 0.0, rate),
                },
            ))
            .unwrap();
        // At (1, 0) about the origin: v = 2/7 · rate · 1 along y; rolling: v = Ω × r + ω × (r n), so ω = (ρ rate − v)/r about x.
        let (radius, v) = (0.1, 2.0 / 7.0 * rate);
        let ball = simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::sphere(radius),
                rough,
                Pose::at(1.0, 0.0, radius),
                Twist {
                    linear: DVec3::new(0.0, v, 0.0),
                    angular: DVec3::new((rate - v) / radius, 0.0, 0.0),
                },
            ))
            .unwrap();
        let period = std::f64::consts::TAU / v;
        for _ in 0..(period / h) as usize {
            assert!(simulation.step().unwrap().converged);
            let pose = simulation.pose(ball).unwrap();
            let angular = pose.orientation * simulation.twist(ball).unwrap().angular;
            assert!(angular.z.abs() < 1e-8, "h {h}: {angular}");
        }
        let place = simulation.pose(ball).unwrap().position;
        place.truncate().length()
    };
    let [coarse, fine] = [2e-3, 1e-3].map(|h| (radius_after_a_turn(h) - 1.0).abs());
    assert!(coarse < 0.05 && fine < 0.6 * coarse, "{coarse} {fine}");
}

/// Pencils thrown onto a table while they turn. Each is alone in its island, but all share the rounds of a step.
#[test]
fn pencils_that_turn_do_not_pass_a_table() {
    let (half, radius, thickness) = (0.09, 0.0035, 0.02);
    for (h, speed, seed) in [
        (1.0 / 60.0, 2.0, 5),
        (1.0 / 60.0, 6.0, 6),
        (1.0 / 120.0, 20.0, 7),
    ] {
        let mut simulation = Simulation::new(Settings {
            time_step: h,
            sleeping: SleepSettings::OFF,
            ..Settings::default()
        })
        .unwrap();
        let material = Material::with_friction(0.4);
        simulation
            .spawn((
                RigidBody::Static,
                Collider::cuboid(30.0, 30.0, thickness),
                material,
                Pose::at(0.0, 0.0, -thickness),
            ))
            .unwrap();
        let mut random = Lcg::new(seed);
        let pencils: Vec<_> = (0..144)
            .map(|k| {
                let (i, j) = (f64::from(k % 12) - 6.0, f64::from(k / 12) - 6.0);
                let way =
                    (DVec3::new(0.7, 0.7, 0.0) * random.symmetric_vector() - DVec3::Z).normalize();
                let pencil = (
                    RigidBody::Dynamic,
                    Collider::cylinder(half, radius),
                    material,
                    Pose::at(1.5 * i + 0.37, 1.5 * j + 0.21, 1.15)
                        .with_orientation(random.rotation()),
                    Twist {
                        linear: way * speed,
                        angular: random.symmetric_vector() * 15.0,
                    },
                );
                simulation.spawn(pencil).unwrap()
            })
            .collect();
        for _ in 0..(0.9 / h) as usize {
            simulation.step().unwrap();
        }
        let below = |pencil: &&Entity| {
            let place = simulation.pose(**pencil).unwrap().position;
            place.z < -2.0 * thickness && place.truncate().abs().max_element() < 29.0
        };
        let lost = pencils.iter().filter(below).count();
        assert_eq!(lost, 0, "h {h}, {speed} m/s");
    }
}
