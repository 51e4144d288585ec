//! A platform carries a crate through a gate, which sees it come and go.
//!
//! `cargo run --release -p moreau --example platform_and_trigger`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;

fn main() -> Result<(), StepError> {
    let mut simulation = Simulation::new(Settings::default())?;
    let platform = (RigidBody::Kinematic, Collider::cuboid(0.5, 0.5, 0.05));
    let platform = simulation.spawn(platform)?;
    let load = (
        RigidBody::Dynamic,
        Collider::cuboid(0.2, 0.2, 0.2),
        Pose::at(0.0, 0.0, 0.25),
    );
    let load = simulation.spawn(load)?;
    let gate = (
        RigidBody::Static,
        Collider::cuboid(0.05, 1.0, 1.0),
        Pose::at(2.0, 0.0, 0.0),
        Sensor,
        // It sees what is dynamic here: the platform is of another group.
        CollisionGroups {
            memberships: 2,
            mask: 2,
        },
    );
    simulation.spawn(gate)?;
    let mine = CollisionGroups {
        memberships: 1,
        mask: 1,
    };
    simulation.set(platform, mine);
    while simulation.time() < 4.0 {
        let x = (simulation.time() + simulation.settings().time_step).powi(2) * 0.25;
        simulation.move_to(platform, Pose::at(x, 0.0, 0.0))?;
        simulation.step()?;
        let time = simulation.time();
        for seen in &simulation.events().sensors {
            let who = if seen.entities[1] == load {
                "the crate"
            } else {
                "something"
            };
            println!("{time:.3} s: {who} {:?}", seen.edge);
        }
    }
    let [load, platform] =
        [load, platform].map(|body| simulation.pose(body).map(|pose| pose.position.x));
    println!("crate at {load:?} m, platform at {platform:?} m");
    Ok(())
}
