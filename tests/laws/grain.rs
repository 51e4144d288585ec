//! **Law.** A surface with a grain has the coefficient `μ₁` along it and `μ₂` across: `‖D⁻¹ r_T‖ ≤ r_N`, `D = diag(μ₁, μ₂)`, and what slides dissipates as much as
//! it can: `r_T = −r_N D² u_T/‖D u_T‖`. A block on an incline with the fall line at the angle `φ` to the grain slides in the direction `e` in which gravity and
//! friction leave it, `g_T − g_N D² e/‖D e‖ ∥ e`: closer to the grain than the fall line where `μ₁ < μ₂`. It is found by bisection.
//!
//! Sliding steadily in one direction the velocities of the scheme are exact; 1e-8 of `g t` as on the incline.

use crate::support::*;

const ALONG: f64 = 0.3;
const ACROSS: f64 = 0.6;

fn grained(direction: DVec3) -> Material {
    Material {
        grain: Some(Grain {
            along: direction,
            across: ACROSS,
        }),
        ..Material::with_friction(ALONG)
    }
}

/// A block of even friction on a plane with grain at the azimuth `phi` to the fall line; `grain_on_block`: the other way round.
fn on_a_slope(slope: f64, phi: f64, grain_on_block: bool) -> (Simulation, Entity, DQuat) {
    let tilt = turn(DVec3::Z, 0.4) * turn(DVec3::Y, libm::atan(slope));
    let mut simulation = Simulation::new(Settings {
        combine_friction: Combine::Mean,
        ..reference()
    })
    .unwrap();
    let direction = tilt * DVec3::new(libm::cos(phi), libm::sin(phi), 0.0);
    let partner = |mu| Material::with_friction(mu);
    // The mean of 0.3 and 0.3, and of 0.6 and 0.3: the ellipse of the contact.
    let own = grained(if grain_on_block {
        tilt.conjugate() * direction
    } else {
        direction
    });
    let [block, plane] = if grain_on_block {
        [own, partner(ALONG)]
    } else {
        [partner(ALONG), own]
    };
    simulation
        .spawn((
            RigidBody::Static,
            Collider::half_space(tilt * DVec3::Z),
            plane,
        ))
        .unwrap();
    let block = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            block,
            Pose::from_position(tilt * DVec3::Z * 0.1).with_orientation(tilt),
        ))
        .unwrap();
    (simulation, block, tilt)
}

/// Coefficients of the contact.
const MU: [f64; 2] = [ALONG, 0.5 * (ACROSS + ALONG)];

/// The acceleration in the frame of the grain of what starts from rest under `g` along and across it and the normal load `n`: it slides in the direction of its
/// acceleration, `a = g − n D² e/‖D e‖` parallel to `e`.
fn acceleration(g: [f64; 2], n: f64) -> [f64; 2] {
    if libm::hypot(g[0] / MU[0], g[1] / MU[1]) <= n {
        return [0.0; 2];
    }
    let of = |angle: f64| {
        let e = [libm::cos(angle), libm::sin(angle)];
        let size = libm::hypot(MU[0] * e[0], MU[1] * e[1]);
        let a = [0, 1].map(|k| g[k] - n * MU[k] * MU[k] * e[k] / size);
        (a, a[0] * e[1] - a[1] * e[0])
    };
    // Between the grain and across it: friction across is the larger, so that it slides closer to the grain than gravity pulls.
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if of(middle).1 < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    of(0.5 * (low + high)).0
}

#[test]
fn a_block_slides_at_the_angle_of_the_law() {
    for (slope, phi) in [
        (0.6_f64, 0.0),
        (0.6, 0.3),
        (0.5, 0.8),
        (0.8, 1.2),
        (0.6, std::f64::consts::FRAC_PI_2),
        (0.29, 0.0),
        (0.31, 0.0),
        (0.44, std::f64::consts::FRAC_PI_2),
        (0.35, 1.0),
    ] {
        for grain_on_block in [false, true] {
            let (mut simulation, block, tilt) = on_a_slope(slope, phi, grain_on_block);
            let mut work = 0.0;
            for _ in 0..100 {
                let report = simulation.step().unwrap();
                assert!(report.converged, "{report:?}");
                assert!(report.energy.energy_gap.abs() <= 1e-10);
                work += report.energy.work_friction;
            }
            let (sin, cos) = libm::sincos(libm::atan(slope));
            let pull = [libm::cos(phi), libm::sin(phi)].map(|c| G * sin * c);
            let a = acceleration(pull, G * cos);
            // Back to the fall line, which is along x; the grain is at phi from it.
            let (s, c) = libm::sincos(phi);
            let expected = tilt * DVec3::new(c * a[0] + s * a[1], s * a[0] - c * a[1], 0.0);
            let expected = expected * simulation.time();
            let v = simulation.twist(block).unwrap().linear;
            assert!(
                (v - expected).length() <= 1e-7 * G,
                "slope {slope}, {phi} rad, {grain_on_block}: {v} instead of {expected}"
            );
            assert!(work <= 1e-10, "{work} J");
        }
    }
}

#[test]
fn friction_of_what_slides_dissipates_the_most() {
    let (mut simulation, block, _) = on_a_slope(0.3, 0.4, true);
    simulation.set(
        block,
        Twist {
            linear: simulation.pose(block).unwrap().orientation * DVec3::new(0.9, 0.7, 0.0),
            angular: DVec3::Z * 5.0,
        },
    );
    let mut seen = 0;
    for _ in 0..40 {
        assert!(simulation.step().unwrap().converged);
        let load: f64 = simulation.contacts().iter().map(|of| of.impulse.x).sum();
        for contact in simulation.contacts() {
            // The law is taken where the step begins.
            let (u, r) = (contact.local_velocity, contact.impulse);
            if r.x < 1e-3 * load || libm::hypot(u.y, u.z) < 1e-2 {
                continue;
            }
            // On the ellipse, by the coefficient that the contact shows.
            let size = libm::hypot(r.y, r.z);
            assert!((size / (contact.friction * r.x) - 1.0).abs() <= 1e-9);
            assert_eq!(contact.status, ContactStatus::Slip);
            assert!((MU[0]..=MU[1]).contains(&contact.friction));
            let power = -(u.y * r.y + u.z * r.z);
            // The most that the ellipse can do is ‖D u_T‖ r_N, its axes as they turn with the block: between the two half-axes.
            assert!(power > 0.0 && power <= MU[1] * r.x * libm::hypot(u.y, u.z) * (1.0 + 1e-9));
            assert!(power >= MU[0] * r.x * libm::hypot(u.y, u.z) * (1.0 - 1e-9));
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn equal_coefficients_are_even_friction() {
    // The same law by the other way: the accelerations of the incline.
    let material = Material {
        grain: Some(Grain {
            along: DVec3::new(0.3, 0.2, 0.7),
            across: 0.5,
        }),
        ..Material::with_friction(0.5)
    };
    let angle = libm::atan(0.7);
    let tilt = turn(DVec3::Y, angle);
    let mut simulation = Simulation::new(reference()).unwrap();
    let plane = (
        RigidBody::Static,
        Collider::half_space(tilt * DVec3::Z),
        material,
    );
    simulation.spawn(plane).unwrap();
    let block = (
        RigidBody::Dynamic,
        Collider::cuboid(0.1, 0.1, 0.1),
        material,
        Pose::from_position(tilt * DVec3::Z * 0.1).with_orientation(tilt),
    );
    let block = simulation.spawn(block).unwrap();
    for _ in 0..100 {
        assert!(simulation.step().unwrap().converged);
    }
    let (sin, cos) = libm::sincos(angle);
    let expected = tilt * DVec3::X * (G * (sin - 0.5 * cos) * simulation.time());
    let v = simulation.twist(block).unwrap().linear;
    assert!((v - expected).length() <= 1e-8 * G, "{v}");
}

#[test]
fn rules_of_grains() {
    // A partner with a grain of its own counts evenly; across the grain the coefficient holds where the normal is along it; with rolling
    // resistance friction is even; a frictionless partner leaves none.
    let shown = |of_ball: Material, of_plane: Material| {
        let mut simulation = Simulation::new(Settings {
            combine_friction: Combine::Max,
            ..reference()
        })
        .unwrap();
        ground(&mut simulation, of_plane);
        let ball = (
            RigidBody::Dynamic,
            Collider::cuboid(0.2, 0.2, 0.1),
            of_ball,
            Pose::at(0.0, 0.0, 0.1),
            Twist::linear(5.0, 0.0, 0.0),
        );
        simulation.spawn(ball).unwrap();
        simulation.step().unwrap();
        simulation.contacts()[0].friction
    };
    let even = Material::with_friction(0.0);
    for (ball, plane, mu) in [
        (grained(DVec3::X), even, ALONG),
        (grained(DVec3::Y), even, ACROSS),
        (grained(DVec3::Z), even, ACROSS),
        (even, grained(DVec3::Y * 7.0), ACROSS),
        (grained(DVec3::Y), Material::frictionless(0.0), 0.0),
        // 0.3 : 0.6 against 0.5 : 0.51 across.
        (
            grained(DVec3::X),
            Material {
                grain: Some(Grain {
                    along: DVec3::Y,
                    across: 0.51,
                }),
                ..Material::with_friction(0.5)
            },
            (0.5_f64 * 0.51).sqrt(),
        ),
        (
            Material {
                rolling_resistance: 0.01,
                ..grained(DVec3::X)
            },
            even,
            (ALONG * ACROSS).sqrt(),
        ),
    ] {
        let found = shown(ball, plane);
        assert!((found - mu).abs() <= 1e-9, "{found} instead of {mu}");
    }
}

#[test]
fn scenes_have_grains() {
    let text = r#"
[materials.wood]
friction = 0.3
grain = { along = [1, 0, 0], across = 0.5 }
[[bodies]]
kind = "static"
shape = { half_space = { normal = [0, 0, 1] } }
material = "wood"
[[bodies]]
shape = { cuboid = { half_extents = [0.1, 0.1, 0.1] } }
position = [0, 0, 0.1]
twist = { linear = [0, 1, 0] }
material = "wood"
"#;
    let scene = Scene::from_toml(text, "").unwrap();
    assert_eq!(
        Scene::from_toml(&scene.to_toml().unwrap(), "").unwrap(),
        scene
    );
    let mut run = scene.start().unwrap();
    run.step().unwrap();
    let mu = run.simulation.contacts()[0].friction;
    // √(μ₁μ₂) of the one counts with 0.5 of the other.
    let expected = (0.5 * (0.3_f64 * 0.5).sqrt()).sqrt();
    assert!((mu - expected).abs() <= 1e-9, "{mu} {expected}");
}
