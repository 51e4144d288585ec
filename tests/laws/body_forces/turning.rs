//! Springs about an axis.

use super::*;

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
