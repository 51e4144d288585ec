//! Sixty-four carts with poles, pushed by numbers from an array; how far each pole leans comes back in another.
//!
//! `cargo run --release -p moreau --example worlds`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;

const CART: BodyId = BodyId(0);
const POLE: BodyId = BodyId(1);

fn cart_and_pole(threads: Threads) -> Result<Simulation, StepError> {
    let mut world = Simulation::with_threads(Settings::default(), threads)?;
    let cart = (RigidBody::Dynamic, Collider::cuboid(0.2, 0.1, 0.05), CART);
    let cart = world.spawn(cart)?;
    let pole = (
        RigidBody::Dynamic,
        Collider::capsule(0.4, 0.02),
        Pose::at(0.0, 0.0, 0.5),
        POLE,
    );
    let pole = world.spawn(pole)?;
    let rail = Joint::to_world(cart, JointKind::Prismatic).at(DVec3::ZERO, DVec3::X);
    world.spawn_joint(rail, ())?;
    let hinge = Joint::new(cart, pole, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    world.spawn_joint(hinge, NoCollision)?;
    Ok(world)
}

fn push(world: &mut Simulation, force: &[f64]) {
    if let Some(cart) = world.body(CART) {
        let wrench = Wrench {
            force: DVec3::X * force[0],
            ..Wrench::default()
        };
        world.set(cart, wrench);
    }
}

fn lean(world: &mut Simulation, seen: &mut [f64]) {
    let pole = world.body(POLE).and_then(|pole| world.pose(pole));
    let axis = pole.map_or(DVec3::Z, |pole| pole.orientation * DVec3::Z);
    seen[0] = libm::atan2(axis.x, axis.z);
}

fn main() -> Result<(), WorldsError> {
    let mut worlds = Worlds::new(64, 0, |_, threads| cart_and_pole(threads))?;
    let mut leans = [0.0; 64];
    let mut forces = [0.0; 64];
    for _ in 0..100 {
        for (k, (force, lean)) in (0..).zip(forces.iter_mut().zip(&leans)) {
            *force = 10.0 * f64::from(k) * lean + 0.1;
        }
        worlds.advance(4, (&forces, push), (&mut leans, lean))?;
    }
    println!(
        "a push of 10 N a radian: {:.3} rad; of 630: {:.3} rad",
        leans[1], leans[63]
    );
    Ok(())
}
