//! **Law.** Bodies on joints that nothing pushes move with the order of their scheme: an error of `h²` becomes a quarter when `h` is halved, one of `h⁴` a sixteenth.
//!
//! The exact motion is that of steps of fourth order an eighth as long, whose own error is 1/4096 of that of the longest here.

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
    for on_the_world in [true, false] {
        let exact = swung(JointOrder::Fourth, 800, on_the_world).0;
        for (order, ratio) in [(JointOrder::Second, 4.0), (JointOrder::Fourth, 16.0)] {
            let runs = [100, 200].map(|steps| swung(order, steps, on_the_world));
            let [coarse, fine] = [0, 1].map(|k: usize| apart(&runs[k].0, &exact));
            println!("{order:?}: {coarse:e}, {fine:e}, energy {:e} J", runs[1].1);
            assert!(
                (coarse / fine / ratio - 1.0).abs() < 0.1,
                "{coarse:e} {fine:e}"
            );
        }
    }
}
