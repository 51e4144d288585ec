//! A force of one's own: a thermal that lifts gliders near its axis. It is a law of the state of a body, taken implicitly.
//!
//! `cargo run --release -p moreau --example custom_force`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;

/// Air that rises at `speed` (m/s) on the axis z, less far from it, and drags what is in it.
#[derive(Clone, Debug)]
struct Thermal {
    speed: f64,
    /// Distance at which it is a third of that, m.
    width: f64,
    /// N·s²/m².
    drag: f64,
}

impl ForceLaw for Thermal {
    fn wrench(&self, body: &BodyState) -> Wrench {
        let off = body.position.truncate().length() / self.width;
        let air = DVec3::Z * self.speed * libm::exp(-off * off);
        let wind = air - body.velocity;
        Wrench {
            force: wind * wind.length() * self.drag,
            ..Wrench::default()
        }
    }
}

fn main() -> Result<(), StepError> {
    let mut simulation = Simulation::new(Settings::default())?;
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    let thermal = Thermal {
        speed: 6.0,
        width: 2.0,
        drag: 0.3,
    };
    let mut gliders = Vec::new();
    for x in [0.0, 1.0, 3.0] {
        gliders.push(simulation.spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.3, 0.3, 0.02),
            Mass::scaled_to(0.5),
            Pose::at(x, 0.0, 1.0),
            BodyForces::new(thermal.clone()),
        ))?);
    }
    let mut worst: f64 = 0.0;
    for _ in 0..800 {
        // How well the force is that of the velocity at which the step ends.
        worst = worst.max(simulation.step()?.force_error);
    }
    for glider in gliders {
        let z = simulation.pose(glider).map(|pose| pose.position.z);
        let speed = simulation.twist(glider).map(|twist| twist.linear.z);
        println!("at {z:.2?} m, rises at {speed:.3?} m/s");
    }
    // On the axis the wind past the glider bears its weight.
    let lift = (0.5 * 9.81 / thermal.drag).sqrt();
    println!("on the axis {:.3} m/s is to be expected", 6.0 - lift);
    println!("forces were right to {worst:.1e}");
    Ok(())
}
