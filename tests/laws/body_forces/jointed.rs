//! Bodies on joints under stiff forces.

use super::nonlinear::after;
use super::*;

/// A rod on a hinge through the origin about y, with the forces given.
fn hinged(simulation: &mut Simulation, forces: BodyForces) -> Entity {
    let rod = (
        DYNAMIC,
        Collider::cuboid(0.5, 0.05, 0.05),
        Mass::given(2.0, DVec3::new(0.01, 0.17, 0.17)),
        Pose::at(0.5, 0.0, 0.0),
        forces,
    );
    let rod = simulation.spawn(rod).unwrap();
    let hinge = Joint::to_world(rod, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    simulation
        .spawn_joint(hinge, JointForces::default())
        .unwrap();
    rod
}

#[test]
fn a_spring_on_a_hinged_rod_swings_it_as_fine_steps_do() {
    // From a point of the rod to one below it, with a length: a force that is not linear.
    let pull = PointSpring {
        anchor: DVec3::new(0.5, 0.0, 0.0),
        to: DVec3::new(0.8, 0.0, -0.9),
        stiffness: 30.0,
        damping: 0.5,
        rest: 0.4,
    };
    let start = |simulation: &mut Simulation| hinged(simulation, BodyForces::new(pull));
    let exact = after(0.5, 1e-4, Theta::Auto, start);
    let [coarse, fine] =
        [0.01, 0.005].map(|h| (after(0.5, h, Theta::Auto, start) - exact).length());
    // The course of joints is of second order and the force of the velocity solved for is taken at the end of the free motion, with an error of first order.
    assert!(coarse < 3e-3 && fine < 0.6 * coarse, "{coarse} {fine}");
}

#[test]
fn a_stiff_spring_holds_a_hinged_rod_against_its_weight() {
    for k in [1e5, 1e9] {
        let settings = Settings {
            gravity: DVec3::Z * -G,
            ..settings(0.005, Theta::Auto)
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let pull = PointSpring {
            anchor: DVec3::new(0.5, 0.0, 0.0),
            to: DVec3::new(1.0, 0.0, 1e-3),
            stiffness: k,
            damping: 0.0,
            rest: 0.0,
        };
        let rod = hinged(&mut simulation, BodyForces::new(pull));
        for _ in 0..200 {
            sound(&simulation.step().unwrap());
        }
        // It holds half of its weight, at twice the arm.
        let pose = simulation.pose(rod).unwrap();
        let tip = pose.position + pose.orientation * pull.anchor;
        let moment = k * (pull.to - tip).z * tip.x + k * (tip - pull.to).x * tip.z;
        let expected = 2.0 * G * pose.position.x;
        assert!(
            (moment / expected - 1.0).abs() < 1e-6,
            "{k}: {moment} {expected}"
        );
    }
}

#[test]
fn a_stiff_spring_presses_a_hinged_rod_on_a_block() {
    let (k, h) = (1e6, 0.005);
    let mut simulation = Simulation::new(settings(h, Theta::Auto)).unwrap();
    let block = (
        RigidBody::Static,
        Collider::cuboid(0.05, 0.5, 0.05),
        Pose::at(0.9, 0.0, -0.1),
    );
    simulation.spawn(block).unwrap();
    let pull = PointSpring {
        anchor: DVec3::new(0.5, 0.0, 0.0),
        to: DVec3::new(1.0, 0.0, -1e-3),
        stiffness: k,
        damping: 0.0,
        rest: 0.0,
    };
    let rod = hinged(&mut simulation, BodyForces::new(pull));
    for _ in 0..100 {
        sound(&simulation.step().unwrap());
    }
    // Moments about the hinge: the contacts of the block hold the spring.
    let contacts = simulation.contacts();
    let held: f64 = contacts
        .iter()
        .filter(|contact| contact.entities.contains(&rod))
        .map(|contact| {
            let side = if contact.entities[0] == rod {
                1.0
            } else {
                -1.0
            };
            let push = contact.frame * contact.impulse * (side / h);
            contact.point.x * push.z - contact.point.z * push.x
        })
        .sum();
    assert!((held / (1e-3 * k) - 1.0).abs() < 1e-3, "{held}");
}

/// Three bars on balls swing under their weight on a spring that holds a point of the first.
fn chain_on_a_spring(lever: f64, k: f64) {
    let settings = Settings {
        gravity: DVec3::Z * -G,
        ..settings(0.01, Theta::Auto)
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let bars = [0.0, 1.0, 2.0].map(|x| {
        let mass = Mass::given(1.0, DVec3::new(0.02, 0.09, 0.08));
        let bar = (DYNAMIC, mass, Pose::at(x, 0.0, 0.0));
        simulation.spawn(bar).unwrap()
    });
    for pair in [[0, 1], [1, 2]] {
        let [a, b] = pair.map(|k: usize| bars[k]);
        let at = DVec3::X * (pair[0] as f64 + 0.5);
        let ball = Joint::new(a, b, JointKind::Ball).at(at, DVec3::Y);
        simulation.spawn_joint(ball, ()).unwrap();
    }
    let anchor = DVec3::new(0.1, 0.05, 0.2) * lever;
    let pull = PointSpring {
        anchor,
        to: anchor,
        stiffness: k,
        damping: 0.0,
        rest: 0.0,
    };
    simulation.set(bars[0], BodyForces::new(pull));
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        sound(&report);
        let pose = simulation.pose(bars[0]).unwrap();
        let stretch = pose.position + pose.orientation * anchor - anchor;
        let of = |bar: &Entity| {
            let height = simulation.pose(*bar).unwrap().position.z;
            kinetic_energy(&simulation, *bar).unwrap() + G * height
        };
        let energy = bars.iter().map(of).sum::<f64>() + 0.5 * k * stretch.length_squared();
        // From rest at height zero; a part of the 30 J that it swings with, to first order.
        assert!(energy < 1.0, "{lever} {k}: {energy}");
    }
}

#[test]
fn a_chain_on_a_stiff_spring_swings_and_gains_no_energy() {
    for (lever, k) in [(0.0, 1e6), (0.0, 1e8), (0.0, 1e10), (1.0, 1e6)] {
        chain_on_a_spring(lever, k);
    }
}

#[test]
#[ignore = "1e8 N/m off the centre: from 0.4 s on half of the steps are not converged, with an error of 4e-4; 1e10 N/m: the state overflows"]
fn a_chain_on_a_very_stiff_spring_off_the_centre_swings_and_gains_no_energy() {
    for k in [1e8, 1e10] {
        chain_on_a_spring(1.0, k);
    }
}
