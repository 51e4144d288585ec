//! **Law.** Bodies on joints that nothing pushes move with the order of their scheme: an error of `h²` becomes a quarter when `h` is halved, one of `h⁴` a sixteenth.
//!
//! The exact motion is that of steps of fourth order a quarter as long as the shortest here, whose own error is 1/256 of that of these.

use crate::support::*;
use moreau::JointOrder;

/// Two bars on hinges that are askew to one another, that turn about one end, after 0.8 s. Their places and orientations, and the change of their energy, J.
fn swung(order: JointOrder, steps: u32, on_the_world: bool) -> ([Pose; 2], f64) {
    let settings = Settings {
        time_step: 0.8 / f64::from(steps),
        joint_order: order,
        ..reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let bars = [0.25, 0.75].map(|x| {
        let body = (
            RigidBody::Dynamic,
            Mass::given(1.0, DVec3::new(0.004, 0.021, 0.022)),
            Pose::at(x, 0.0, 0.0),
            // About the origin.
            Twist::from_inertial_frame(DVec3::Z * -x, DVec3::Y, DQuat::IDENTITY),
        );
        simulation.spawn(body).unwrap()
    });
    if on_the_world {
        let hinge = Joint::to_world(bars[0], JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        simulation.spawn_joint(hinge, ()).unwrap();
    }
    let elbow = Joint::new(bars[0], bars[1], JointKind::Revolute);
    let elbow = elbow.at(DVec3::X * 0.5, DVec3::new(0.3, 1.0, 0.2));
    simulation.spawn_joint(elbow, ()).unwrap();
    let energy = |simulation: &Simulation| -> f64 {
        let of = |bar: &Entity| {
            let height = simulation.pose(*bar).unwrap().position.z;
            kinetic_energy(simulation, *bar).unwrap() + G * height
        };
        bars.iter().map(of).sum()
    };
    let begin = energy(&simulation);
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.converged && report.joint_error < 1e-13, "{report:?}");
    }
    let poses = bars.map(|bar| simulation.pose(bar).unwrap());
    (poses, energy(&simulation) - begin)
}

/// Largest distance, m or rad.
fn apart(a: &[Pose; 2], b: &[Pose; 2]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst: f64, (a, b)| {
        let turn = angle_between(a.orientation, b.orientation);
        worst.max((a.position - b.position).length()).max(turn)
    })
}

#[test]
fn the_order_is_what_was_asked_for() {
    for (on_the_world, order, ratio) in [
        (true, JointOrder::Second, 4.0),
        (true, JointOrder::Fourth, 16.0),
        // What floats moves so evenly that rounding is all that the fourth order leaves.
        (false, JointOrder::Second, 4.0),
    ] {
        let exact = swung(JointOrder::Fourth, 1600, on_the_world).0;
        let runs = [200, 400].map(|steps| swung(order, steps, on_the_world));
        let [coarse, fine] = [0, 1].map(|k: usize| apart(&runs[k].0, &exact));
        println!("{order:?}: {coarse:e}, {fine:e}, energy {:e} J", runs[1].1);
        // The next order of the error is `(ω h)²` of it, with 15 rad/s; the exact motion adds 1.6 %.
        assert!(
            (coarse / fine / ratio - 1.0).abs() < 0.03,
            "{coarse:e} {fine:e}"
        );
    }
}
