//! **Law.** A body on joints that is kicked, or whose velocity is set, gives its machine what the joints leave of it: `½ p²/(m + M)` of an impulse `p` on `m`, where `M` goes along. What the
//! machine strikes then throws it back with that, times `e`.

use crate::support::*;
use std::f64::consts::TAU;

const GAP: f64 = 1e-4;

/// A body of 1 kg with a load, before a limit or a wall.
fn machine(what: &str, e: f64, load: f64) -> (Simulation, Entity) {
    let settings = Settings {
        gravity: DVec3::ZERO,
        time_step: 5e-3,
        threads: 1,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let inertia = DVec3::splat(0.01);
    let smooth = Material::frictionless(e);
    let body = (
        RigidBody::Dynamic,
        Mass::given(1.0, inertia),
        smooth,
        Pose::at(1.0, 0.0, 0.0),
    );
    let body = simulation.spawn(body).unwrap();
    let limit = JointForces(vec![JointForce::Limit {
        axis: JointAxis::Z,
        low: -10.0,
        high: GAP,
        restitution: e,
    }]);
    if what == "screw" {
        // Its reduced mass is 1 + load.
        let lead = TAU / (load / 0.01).sqrt();
        let screw = Joint::to_world(body, JointKind::Screw { lead }).at(DVec3::X, DVec3::X);
        simulation.spawn_joint(screw, limit).unwrap();
        return (simulation, body);
    }
    let other = (
        RigidBody::Dynamic,
        Mass::given(load, inertia * load),
        Pose::at(0.0, 0.0, 0.0),
    );
    let other = simulation.spawn(other).unwrap();
    let weld = Joint::new(body, other, JointKind::Fixed).at(DVec3::X * 0.5, DVec3::Z);
    simulation.spawn_joint(weld, NoCollision).unwrap();
    if what == "limit" {
        let slide = Joint::to_world(body, JointKind::Prismatic).at(DVec3::X, DVec3::X);
        simulation.spawn_joint(slide, limit).unwrap();
    } else {
        simulation.set(body, Collider::sphere(0.1));
        let wall = (
            RigidBody::Static,
            Collider::half_space(-DVec3::X),
            smooth,
            Pose::at(1.1 + GAP, 0.0, 0.0),
        );
        simulation.spawn(wall).unwrap();
    }
    (simulation, body)
}

#[test]
fn a_kick_is_shared_before_anything_is_struck() {
    for what in ["limit", "wall", "screw"] {
        for e in [0.0, 0.5, 1.0] {
            for load in [1.0, 100.0, 1e4] {
                for by_impulse in [true, false] {
                    let (mut simulation, body) = machine(what, e, load);
                    for _ in 0..3 {
                        simulation.step().unwrap();
                    }
                    if by_impulse {
                        let p = DVec3::X * 2.0;
                        simulation.apply_impulse(body, p, DVec3::X).unwrap();
                    } else {
                        simulation.set(body, Twist::linear(2.0, 0.0, 0.0));
                    }
                    let shared = 2.0 / (1.0 + load);
                    let case = format!("{what}, e = {e}, {load} kg, impulse {by_impulse}");
                    for _ in 0..3 {
                        let report = simulation.step().unwrap();
                        assert!(report.converged, "{case}: {:?}", report.status);
                        // Closing a turning body's joints at the end of a way is of rounding here.
                        let most = 0.5 * 2.0 * shared * (1.0 + 1e-9);
                        let kinetic = report.energy.kinetic;
                        assert!(kinetic <= most, "{case}: {kinetic} J of {most} J");
                        let gap = report.energy.energy_gap.abs();
                        assert!(gap <= 1e-12, "{case}: {gap:e} J unaccounted for");
                    }
                    let settings = simulation.settings();
                    if shared * settings.time_step > 2.0 * GAP
                        && shared > settings.bounce_threshold()
                    {
                        let after = simulation.twist(body).unwrap().linear.x;
                        let off = (after + e * shared).abs();
                        assert!(off <= 1e-9, "{case}: {after} m/s after {shared} m/s");
                    }
                }
            }
        }
    }
}

/// A rotor does not begin to turn by itself: an impulse on a body on a slider with an armature `A` leaves `p/(m + A)`.
#[test]
fn a_kick_moves_a_rotor_by_what_it_is_given() {
    for inertia in [0.1, 1.0, 100.0, 1e4] {
        let settings = Settings {
            gravity: DVec3::ZERO,
            time_step: 5e-3,
            threads: 1,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let bodies = [1.0, 3.0].map(|mass| {
            let own = Mass::given(mass, DVec3::splat(0.01 * mass));
            let body = (RigidBody::Dynamic, own, Pose::at(mass, 0.0, 0.0));
            simulation.spawn(body).unwrap()
        });
        let armature = JointForce::Armature {
            axis: JointAxis::Z,
            inertia,
        };
        let slide = Joint::new(bodies[0], bodies[1], JointKind::Prismatic).at(DVec3::X, DVec3::X);
        simulation
            .spawn_joint(slide, JointForces(vec![armature]))
            .unwrap();
        for _ in 0..3 {
            simulation.step().unwrap();
        }
        let p = DVec3::X * 2.0;
        simulation
            .apply_impulse(bodies[1], p, DVec3::X * 3.0)
            .unwrap();
        // The center moves at p/(m₁ + m₂), and m₁ m₂/(m₁ + m₂) and the rotor share what is left: p m₁/(m₁ + m₂).
        let (reduced, part) = (0.75, 2.0 / 4.0);
        let rate = part / (reduced + inertia);
        for _ in 0..5 {
            let report = simulation.step().unwrap();
            let speeds = bodies.map(|body| simulation.twist(body).unwrap().linear.x);
            let off = (speeds[1] - speeds[0] - rate).abs();
            assert!(off <= 1e-12, "{inertia}: {speeds:?}, {rate} m/s");
            let momentum = speeds[0] + 3.0 * speeds[1];
            assert!((momentum - 2.0).abs() <= 1e-12, "{inertia}: {momentum} N s");
            let energy = 0.5 * 4.0 * 0.25 + 0.5 * (reduced + inertia) * rate * rate;
            let kinetic = report.energy.kinetic;
            assert!(
                (kinetic - energy).abs() <= 1e-12,
                "{inertia}: {kinetic} J of {energy} J"
            );
        }
    }
}
