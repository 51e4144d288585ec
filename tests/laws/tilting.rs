//! **Law.** A surface without bounds that turns carries and stops bodies however far they are from its axis:
//! its points move the faster the farther out they are, and no contact is lost for it.
//!
//! A body that sticks to a table that tilts at the rate `ω` keeps its place on it. Contact velocities vanish
//! exactly, at the poses of the beginning of the step; the arc that a point at distance `r` describes departs
//! from its tangent by `½ (ω h)² r` a step, which adds up to `½ ω² h r t`. Twice that is allowed for
//! the place. Overlaps deeper than the projection's tolerance, 1e-4 m, are removed in every step; 1 % of it is for
//! the linearisation.

use crate::support::*;

const OVERLAP: f64 = 1.01e-4;

/// Height of `position` over the table, m, and its place in the table's frame.
fn over(simulation: &Simulation, table: Entity, body: Entity) -> DVec3 {
    let table = simulation.pose(table).unwrap();
    table.orientation.conjugate() * (simulation.pose(body).unwrap().position - table.position)
}

fn spinning(rate: f64) -> Twist {
    Twist {
        angular: DVec3::new(0.0, rate, 0.0),
        ..Twist::default()
    }
}

#[test]
fn a_tilting_table_keeps_what_rests_on_it() {
    // 0.2 rad: tan 0.2 < 0.5, and at 50 m the centripetal 2 m/s² comes on top, within μ g.
    let rate = 0.2;
    let slab = || {
        (
            Collider::cuboid(60.0, 1.0, 0.5),
            Pose::at(0.0, 0.0, -0.5),
            0.5,
        )
    };
    let half_space = || (Collider::half_space(DVec3::Z), Pose::default(), 0.0);
    for (collider, pose, surface) in [half_space(), slab()] {
        for x in [-50.0, -3.0, 0.0, 3.0, 50.0] {
            let mut simulation = Simulation::new(reference()).unwrap();
            let table = simulation
                .spawn((RigidBody::Kinematic, collider.clone(), pose, spinning(rate)))
                .unwrap();
            // It starts with the velocity of the table's points.
            let arm = DVec3::new(x, 0.0, 0.1 + surface);
            let block = simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::cuboid(0.1, 0.1, 0.1),
                    Pose::at(x, 0.0, 0.1),
                    Twist {
                        linear: (DVec3::Y * rate).cross(arm),
                        ..spinning(rate)
                    },
                ))
                .unwrap();
            let start = over(&simulation, table, block);
            for step in 0..200 {
                simulation.step().unwrap();
                let load: f64 = simulation.contacts().iter().map(|c| c.impulse.x).sum();
                assert!(
                    simulation.contacts().len() == 4 && load > 0.0,
                    "{} contacts with {load} N·s at x = {x} in step {step}",
                    simulation.contacts().len()
                );
                let moved = over(&simulation, table, block) - start;
                let (h, t) = (simulation.settings().time_step, simulation.time());
                let arc = rate * rate * h * t * arm.length();
                assert!(
                    moved.z >= -OVERLAP - 1e-12 && moved.length() <= arc + OVERLAP,
                    "moves by {moved} on the table at x = {x} in step {step}, allowed {arc:e}"
                );
            }
        }
    }
}

#[test]
fn nothing_falls_through_a_half_space_that_turns() {
    // At 50 m its points move at 100 m/s: half a metre a step, five radii of the balls. One side comes up.
    for rate in [2.0, -2.0] {
        for activation_margin in [0.0, 0.02] {
            let mut simulation = Simulation::new(Settings {
                margin: activation_margin,
                ..reference()
            })
            .unwrap();
            let plane = simulation
                .spawn((
                    RigidBody::Kinematic,
                    Collider::half_space(DVec3::Z),
                    spinning(rate),
                ))
                .unwrap();
            let mut balls = Vec::new();
            for x in [-50.0, -20.0, -5.0, -1.0, 1.0, 5.0, 20.0, 50.0] {
                for height in [0.0, 0.05, 1.0] {
                    // Apart from one another.
                    let pose = Pose::at(x, 3.0 * height, 0.1 + height);
                    let ball = (
                        RigidBody::Dynamic,
                        Collider::sphere(0.1),
                        CollisionGroups {
                            memberships: 2,
                            mask: 1,
                        },
                        pose,
                    );
                    balls.push(simulation.spawn(ball).unwrap());
                }
            }
            let mut struck = 0;
            for step in 0..100 {
                struck += simulation.step().unwrap().closed_contacts;
                for ball in &balls {
                    let height = over(&simulation, plane, *ball).z - 0.1;
                    assert!(
                        height >= -OVERLAP,
                        "overlap {:e} of {ball} in step {step}",
                        -height
                    );
                }
            }
            // The balls of the rising side are pushed for most of the time.
            assert!(struck > 500, "only {struck} closed contacts");
        }
    }
}
