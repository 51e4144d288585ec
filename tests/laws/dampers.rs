//! **Law.** A damper of any strength lets a pendulum creep at `ω = M/c`, M the moment of its weight about the hinge.
//!
//! The step is implicit in what is stiff: from the state before nothing is left but `1/(1 + h c/I)` of it, step by step. The impulse of the damper is known to the
//! rounding of what it holds, `ε M h`, which moves the body by `ε M h/I`: `ε h c/I` of the creeping.

use crate::support::*;

#[test]
fn a_damper_of_any_strength_lets_a_pendulum_creep() {
    let axis = DVec3::new(0.1, 1.0, 0.05);
    for (size, mass) in [(1.0, 1.0), (0.03, 0.01), (10.0, 1e4)] {
        for time_step in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
            for strength in [1e3, 1e5, 1e6, 3e6, 1e7, 1e9, 1e11] {
                creep(axis.normalize(), (size, mass), time_step, strength);
            }
        }
    }
}

/// `strength` is `h c/I` about the hinge.
fn creep(axis: DVec3, (size, mass): (f64, f64), time_step: f64, strength: f64) {
    let settings = Settings {
        time_step,
        threads: 1,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..Settings::default()
    };
    let gravity = settings.gravity;
    let mut simulation = Simulation::new(settings).unwrap();
    let own = 0.02 * mass * size * size;
    let arm = DVec3::new(0.4, 0.0, 0.3) * size;
    let inertia = own + mass * arm.cross(axis).length_squared();
    let damping = strength * inertia / time_step;
    let body = (
        RigidBody::Dynamic,
        Mass::given(mass, DVec3::splat(own)),
        Pose::from_position(arm),
    );
    let body = simulation.spawn(body).unwrap();
    let damper = JointForce::Spring {
        axis: JointAxis::RotationZ,
        stiffness: 0.0,
        damping,
        rest: 0.0,
    };
    let hinge = Joint::to_world(body, JointKind::Revolute).at(DVec3::ZERO, axis);
    simulation
        .spawn_joint(hinge, JointForces(vec![damper]))
        .unwrap();
    for _ in 0..50 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{strength:e}: {:?}", report.status);
        assert!(
            report.energy.energy_gap.abs() <= 1e-12 * mass * gravity.length() * size,
            "{strength:e}: gap {:e}",
            report.energy.energy_gap
        );
    }
    let moment = arm.cross(gravity * mass).dot(axis);
    let expected = moment / damping;
    let pose = simulation.pose(body).unwrap();
    let spin = pose.orientation * simulation.twist(body).unwrap().angular;
    let off = (spin.dot(axis) / expected - 1.0).abs();
    // The scheme is of second order in what the weight would turn it by in a step without a damper. The rest is what is left of the beginning, and rounding.
    let order = time_step * time_step * (moment / inertia).abs();
    let bound = order + 2.0 / strength + 100.0 * f64::EPSILON * strength;
    assert!(
        off <= bound,
        "{strength:e}, {size} m, {time_step} s: {off:e} of {bound:e}"
    );
}
