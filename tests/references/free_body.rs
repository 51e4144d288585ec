//! Torque-free rotation of an asymmetric body.
//!
//! The reference (moments 5, 10, 1 kg·m²) violates the triangle inequality: no body has such an inertia, and the engine
//! refuses it. What the table stands for is Euler's equations: a body that exists is compared with an
//! independent integration of them (classical Runge–Kutta of fourth order with a hundredth of the step), to
//! which the engine's splitting converges with second order, as the reference's midpoint rule does.

use glam::DMat3;
use moreau::geometry::GeometryError;
use moreau::prelude::*;
use moreau::{BodyError, glam::DVec3};
use moreau_tests::weightless;

#[test]
fn the_inertia_of_the_reference_is_refused() {
    let mut simulation = Simulation::new(weightless()).unwrap();
    let error = simulation
        .spawn((
            RigidBody::Dynamic,
            Mass::given(2.0, DVec3::new(5.0, 10.0, 1.0)),
        ))
        .unwrap_err();
    let StepError::Body {
        source: BodyError::Shape(GeometryError::TriangleInequality { largest, sum }),
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((largest, sum), (10.0, 6.0));
}

const MOMENTS: DVec3 = DVec3::new(5.0, 8.0, 4.0);
const SPIN: DVec3 = DVec3::new(0.1, 5.0, 0.1);

/// `(R, Ω)` at time `t` from Euler's equations `𝕀Ω̇ = 𝕀Ω × Ω`, `Ṙ = R [Ω]×`.
fn euler(t: f64, steps: usize) -> (DMat3, DVec3) {
    let h = t / steps as f64;
    let rate = |(r, omega): (DMat3, DVec3)| {
        let skew = DMat3::from_cols(
            DVec3::new(0.0, omega.z, -omega.y),
            DVec3::new(-omega.z, 0.0, omega.x),
            DVec3::new(omega.y, -omega.x, 0.0),
        );
        (r * skew, (MOMENTS * omega).cross(omega) / MOMENTS)
    };
    let add = |(r, omega): (DMat3, DVec3), (dr, domega): (DMat3, DVec3), h: f64| {
        (r + dr * h, omega + domega * h)
    };
    let mut state = (DMat3::IDENTITY, SPIN);
    for _ in 0..steps {
        let k1 = rate(state);
        let k2 = rate(add(state, k1, 0.5 * h));
        let k3 = rate(add(state, k2, 0.5 * h));
        let k4 = rate(add(state, k3, h));
        for (k, weight) in [(k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)] {
            state = add(state, k, h * weight / 6.0);
        }
    }
    state
}

#[test]
fn a_free_body_converges_to_eulers_equations() {
    let t = 1.0;
    let (r, omega) = euler(t, 100_000);
    let error = |h: f64| {
        let mut simulation = Simulation::new(Settings {
            time_step: h,
            ..weightless()
        })
        .unwrap();
        let body = simulation
            .spawn((
                RigidBody::Dynamic,
                Mass::given(2.0, MOMENTS),
                Twist {
                    linear: DVec3::new(0.3, -0.2, 0.1),
                    angular: SPIN,
                },
            ))
            .unwrap();
        for _ in 0..(t / h).round() as usize {
            simulation.step().unwrap();
        }
        let pose = simulation.pose(body).unwrap();
        assert!((pose.position - DVec3::new(0.3, -0.2, 0.1) * t).length() <= 1e-13);
        let turned = DMat3::from_quat(pose.orientation);
        let columns = [
            turned.x_axis - r.x_axis,
            turned.y_axis - r.y_axis,
            turned.z_axis - r.z_axis,
        ];
        let attitude = columns.iter().map(|c| c.length()).fold(0.0, f64::max);
        let spin = (simulation.twist(body).unwrap().angular - omega).length();
        (attitude, spin)
    };
    let (coarse, fine) = (error(2e-3), error(1e-3));
    println!("errors {fine:?} at 1e-3");
    for ratio in [coarse.0 / fine.0, coarse.1 / fine.1] {
        // Halving h divides an O(h²) error by 4, to 10 % for the next even term.
        assert!((ratio - 4.0).abs() < 0.4, "error shrinks by {ratio}");
    }
    // Angle turned in a step squared, times the time: (5h)² · 5 t.
    assert!(fine.0 < 1.25e-4 && fine.1 < 1.25e-4);
}
