//! **Law.** A disc that turns by some tenths of a radian in a step does not sink into the floor between the points that detection chose on its rim.
//!
//! The lowest point of a cylinder is at `z − R √(1 − a_z²) − half |a_z|`, `a` being its axis. The disc leans by `lean`; it turns about the horizontal
//! direction in which it leans, by as much in the step. So the point of the rim that was lowest stays, the points beside it come down by half of what the point
//! a quarter of a turn away does, which alone was that far up.

use crate::support::*;

const HALF: f64 = 0.01;
const RADIUS: f64 = 0.2;

fn lowest(pose: &Pose) -> f64 {
    let axis = pose.orientation * DVec3::Z;
    pose.position.z - RADIUS * axis.truncate().length() - HALF * axis.z.abs()
}

/// Depth after one step, as far as the report does not say it.
fn unsaid_depth(floor: &(&str, Collider, f64), h: f64, lean: f64, turned: f64, gap: f64) -> f64 {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        threads: 1,
        gravity: DVec3::ZERO,
        ..Settings::default()
    })
    .unwrap();
    let (_, collider, height) = floor;
    simulation
        .spawn((
            RigidBody::Static,
            collider.clone(),
            Pose::at(0.0, 0.0, *height),
        ))
        .unwrap();
    // Leans towards y.
    let orientation = turn(DVec3::X, -lean);
    let mut pose = Pose::default().with_orientation(orientation);
    pose.position.z = gap - lowest(&pose);
    let twist = Twist::from_inertial_frame(DVec3::ZERO, DVec3::Y * (turned / h), orientation);
    let disc = (
        RigidBody::Dynamic,
        Collider::cylinder(HALF, RADIUS),
        pose,
        twist,
    );
    let disc = simulation.spawn(disc).unwrap();
    let report = simulation.step().unwrap();
    if !report.converged || report.overlap_left > 0.0 {
        return 0.0;
    }
    -lowest(&simulation.pose(disc).unwrap())
}

#[test]
fn a_disc_that_tumbles_does_not_sink_into_the_floor() {
    let corners = [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]];
    let mesh = Collider::triangle_mesh(
        corners.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
        vec![[0, 1, 2], [0, 2, 3]],
    );
    let floors = [
        ("half-space", Collider::half_space(DVec3::Z), 0.0),
        ("cuboid", Collider::cuboid(2.0, 2.0, 0.5), -0.5),
        ("mesh", mesh, 0.0),
    ];
    let mut wrong = Vec::new();
    for floor in &floors {
        let mut deepest = (0.0, String::new());
        for h in [1.0 / 60.0, 1.0 / 200.0] {
            for i in 1..=9 {
                for j in 1..=9 {
                    for gap in [1e-4, 1e-3, 3e-3, 0.01] {
                        let (lean, turned) = (0.1 * f64::from(i), 0.05 * f64::from(j));
                        let depth = unsaid_depth(floor, h, lean, turned, gap);
                        if depth > deepest.0 {
                            let note = format!("h {h}, lean {lean}, turned {turned}, gap {gap}");
                            deepest = (depth, note);
                        }
                    }
                }
            }
        }
        // The tolerance of the projection is 1e-4 m.
        if deepest.0 > 2e-4 {
            wrong.push(format!("{}: {} m deep, {}", floor.0, deepest.0, deepest.1));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
