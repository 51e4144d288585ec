//! **Law.** What a hand pulls farther than its joints reach is stretched, in steps that say so, and is not thrown about: nothing is faster than what comes to the line of a taut chain
//! within a step, `√(2 l v/h)`, to a factor. Let go, it is whole again.
//!
//! Exactly in a line the velocities that joints ask for are without bound; before, links of a metre were at 10⁵ m/s in steps that were converged.

use crate::support::*;

/// Factor of the bound: turns may double in each of the projections of a step, which are three, and those of links in a row add up.
const FACTOR: f64 = 20.0;
const LENGTH: f64 = 2.0;

/// The largest speed of a link and the last report of each of the ways of the hand, from where a chain between the world and the hand is straight.
fn pull(links: usize, speed: f64, ways: &[f64]) -> Vec<(f64, StepReport)> {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let h = settings.time_step;
    let mut simulation = Simulation::new(settings).unwrap();
    let l = LENGTH / links as f64;
    let along = DQuat::from_rotation_y(0.5 * std::f64::consts::PI);
    let mut chain: Vec<Entity> = Vec::new();
    for k in 0..links {
        let at = Pose::at((k as f64 + 0.5) * l, 0.0, 0.0).with_orientation(along);
        let link = Collider::capsule(0.05 * l, 0.4 * l);
        let link = simulation.spawn((RigidBody::Dynamic, link, at)).unwrap();
        let joint = match chain.last() {
            None => Joint::to_world(link, JointKind::Ball),
            Some(last) => Joint::new(*last, link, JointKind::Ball),
        };
        let joint = joint.at(DVec3::X * (k as f64 * l), DVec3::Y);
        simulation.spawn_joint(joint, NoCollision).unwrap();
        chain.push(link);
    }
    let hand = simulation
        .spawn((RigidBody::Kinematic, Pose::at(LENGTH, 0.0, 0.0)))
        .unwrap();
    let grip = Joint::new(chain[links - 1], hand, JointKind::Ball);
    let grip = grip.at(DVec3::X * LENGTH, DVec3::Y);
    simulation.spawn_joint(grip, NoCollision).unwrap();
    let mut x = LENGTH;
    let moved = ways.iter().map(|to| {
        let (mut fastest, mut last) = (0.0_f64, StepReport::default());
        while (x - to).abs() > 1e-12 {
            x += (to - x).clamp(-speed * h, speed * h);
            simulation.move_to(hand, Pose::at(x, 0.0, 0.0)).unwrap();
            last = simulation.step().unwrap();
            let speeds = chain.iter().map(|link| simulation.twist(*link));
            fastest = speeds.fold(fastest, |fastest, twist| {
                fastest.max(twist.unwrap().linear.length())
            });
        }
        (fastest, last)
    });
    moved.collect()
}

#[test]
fn a_chain_that_is_pulled_beyond_its_length_is_not_thrown_about() {
    let h = Settings::default().time_step;
    for links in [2, 5, 10] {
        for speed in [0.1, 1.0, 10.0] {
            let [_, out, back] = pull(links, speed, &[1.6, 1.1 * LENGTH, 1.6])[..] else {
                panic!("three ways");
            };
            let case = format!("{links} links at {speed} m/s: {out:?} {back:?}");
            let l = LENGTH / links as f64;
            let falls = (2.0 * 9.81 * LENGTH).sqrt();
            let bound = FACTOR * (2.0 * l * speed / h).sqrt().max(speed) + falls;
            assert!(out.0 < bound && back.0 < bound, "{bound}, {case}");
            assert!(!out.1.converged && out.1.joint_error > 1e-3, "{case}");
            assert!(back.1.converged && back.1.joint_error < 1e-9, "{case}");
        }
    }
}

/// Hands that contradict each other in what no link can give: the links are between them.
#[test]
fn bodies_between_hands_that_part_are_as_fast_as_these() {
    for kind in [JointKind::Fixed, JointKind::Prismatic] {
        for links in [1, 2, 4] {
            let mut simulation = Simulation::new(weightless()).unwrap();
            let at = |k: usize| Pose::at(k as f64, 0.0, 0.0);
            let mut bodies = vec![simulation.spawn((RigidBody::Kinematic, at(0))).unwrap()];
            for k in 1..=links + 1 {
                let link = (Collider::sphere(0.1), at(k));
                let body = match k <= links {
                    true => simulation.spawn((RigidBody::Dynamic, link)).unwrap(),
                    false => simulation.spawn((RigidBody::Kinematic, at(k))).unwrap(),
                };
                let own = if k <= links { kind } else { JointKind::Ball };
                let joint = Joint::new(bodies[k - 1], body, own);
                let joint = joint.at(DVec3::X * (k as f64 - 0.5), DVec3::Y);
                simulation.spawn_joint(joint, NoCollision).unwrap();
                bodies.push(body);
            }
            let h = simulation.settings().time_step;
            for step in 1..=60_u32 {
                let z = 0.01 * h * f64::from(step.min(30));
                let to = Pose::at(links as f64 + 1.0, 0.0, z);
                simulation.move_to(bodies[links + 1], to).unwrap();
                simulation.step().unwrap();
                for link in &bodies[1..=links] {
                    let speed = simulation.twist(*link).unwrap().linear.length();
                    assert!(speed < 1.0, "{kind:?}, {links} links: {speed} m/s");
                }
            }
        }
    }
}
