//! **Law.** A rough ball that strikes a plane at rest gets `J_N = m (1 + e) |v_N|` and `J_T = min(μ J_N, 2/7 m |u_T|)` against its slip, on the arm of
//! its radius: what its speed, its way of a step and the phase are does not matter, nor whether what it strikes is fixed or too heavy to move.
//!
//! The closed form holds for a single impact of rigid bodies without gravity: 1e-6 is the residual of the solver, relative.

use crate::support::*;

const RADIUS: f64 = 0.033;
const MU: f64 = 0.6;
const E: f64 = 0.75;

/// Velocity and rate (inertial frame) after it flew at `velocity` onto the plane `z = 0`, whose touch is `phase` steps away.
fn struck(support: usize, kind: RigidBody, h: f64, velocity: DVec3, phase: f64) -> [DVec3; 2] {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        gravity: DVec3::ZERO,
        ..reference()
    })
    .unwrap();
    let material = Material {
        restitution: E,
        ..Material::with_friction(MU)
    };
    let corners = [(-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0)];
    let corners = corners.map(|(x, y)| DVec3::new(x, y, 0.0));
    let (shape, down) = match support {
        0 => (Collider::half_space(DVec3::Z), 0.0),
        1 => (Collider::cuboid(9.0, 9.0, 0.5), 0.5),
        _ => (
            Collider::triangle_mesh(corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]),
            0.0,
        ),
    };
    let at = Pose::at(0.3, 0.2, -down);
    let mass = Mass::given(1e9, DVec3::splat(1e9));
    if kind == RigidBody::Dynamic {
        simulation.spawn((kind, shape, material, at, mass)).unwrap();
    } else {
        simulation.spawn((kind, shape, material, at)).unwrap();
    }
    let height = RADIUS - velocity.z * h * phase;
    let twist = Twist {
        linear: velocity,
        angular: DVec3::ZERO,
    };
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(RADIUS),
        Mass::given(0.057, DVec3::splat(0.4 * 0.057 * RADIUS * RADIUS)),
    );
    let ball = simulation
        .spawn((ball, material, Pose::at(-3.0, 0.0, height), twist))
        .unwrap();
    for _ in 0..4 {
        simulation.step().unwrap();
    }
    let (pose, twist) = (
        simulation.pose(ball).unwrap(),
        simulation.twist(ball).unwrap(),
    );
    let (linear, angular) = twist.in_inertial_frame(pose.orientation);
    [linear, angular]
}

fn worst(support: usize, kind: RigidBody) -> f64 {
    let mut worst: f64 = 0.0;
    for h in [1.0 / 60.0, 1.0 / 240.0, 1e-3] {
        for (speed, degrees) in [(1.0, 45.0_f64), (30.0, 20.0), (30.0, 60.0)] {
            for phase in 0..10 {
                let (sin, cos) = libm::sincos(degrees.to_radians());
                let v = DVec3::new(cos, 0.0, -sin) * speed;
                let [linear, angular] = struck(support, kind, h, v, 1.0 + f64::from(phase) / 10.0);
                let normal = (1.0 + E) * -v.z;
                let along = (2.0 / 7.0 * v.x).min(MU * normal);
                let expected = DVec3::new(v.x - along, 0.0, -E * v.z);
                let rate = DVec3::Y * (along / (0.4 * RADIUS));
                worst = worst
                    .max((linear - expected).length() / speed)
                    .max((angular - rate).length() * RADIUS / speed);
            }
        }
    }
    worst
}

#[test]
fn a_ball_that_strikes_something_fixed_is_turned_by_its_radius() {
    for support in 0..3 {
        for kind in [RigidBody::Static, RigidBody::Kinematic] {
            let worst = worst(support, kind);
            assert!(worst < 1e-6, "support {support} {kind:?}: {worst}");
        }
    }
}

#[test]
fn a_ball_that_strikes_something_heavy_is_turned_by_its_radius() {
    let worst = worst(1, RigidBody::Dynamic);
    assert!(worst < 1e-6, "{worst}");
}
