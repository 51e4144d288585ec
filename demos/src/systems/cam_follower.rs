//! A follower on a turning cam: a mass on a spring above a height that is a function of time, with impacts [Siconos developers' notes].
//!
//! ```text
//! m ü + k u = λ,      0 ≤ u − c(t) ⊥ λ,      u̇⁺ − ċ = −e (u̇⁻ − ċ) at impacts,      m = 1.221 kg,  k = 1430.8 N/m,  e = 0.8
//! ```
//!
//! At 358 turns a minute the motion is periodic, at 660 it is chaotic: [`sections`].

mod cam;
pub mod sections;

pub use cam::Cam;

use super::method::Method;
use super::{Reference, Spawned, SystemScene};
use crate::catalog::{Bound, Parameter, Values};
use bevy_ecs::entity::Entity;
use moreau_systems::{
    Joins, LagrangianLinear, LagrangianRelation, Matrix, NonsmoothLaw, Relation, State,
    SystemsError, SystemsSimulation,
};

/// Mass of the follower, kg.
const MASS: f64 = 1.221;
/// Of the spring, N/m.
const STIFFNESS: f64 = 1430.8;
/// Of impacts.
const RESTITUTION: f64 = 0.8;

/// The scene.
pub const SCENE: SystemScene = SystemScene {
    name: "cam-follower",
    description: "a mass on a spring follows a turning cam, with impacts: periodic at 358 turns a minute, chaotic at 660",
    parameters: &[Parameter {
        name: "rpm",
        description: "turns a minute",
        default: 358.0,
        bound: Bound::Between(1.0, 10_000.0),
    }],
    error: "mean error of the height, m",
    reference: Reference::Events,
    duration: 0.5,
    steps: &[1e-3, 5e-4, 2.5e-4, 1.25e-4],
    spawn: |values, method, h| spawn(values, method, h),
};

/// Gap of the follower above the cam.
struct AboveCam(Cam);

impl LagrangianRelation for AboveCam {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = q[0][0] - self.0.height(t);
    }

    fn jacobian(&self, _t: f64, _q: &[&[f64]], h: &mut [Matrix]) {
        h[0][(0, 0)] = 1.0;
    }

    fn output_by_time(&self, t: f64, _q: &[&[f64]], rate: &mut [f64]) {
        rate[0] = -self.0.rate(t);
    }
}

fn spawn(values: &Values, method: &Method, h: f64) -> Result<Spawned, SystemsError> {
    let mut simulation = SystemsSimulation::new(method.settings(h))?;
    let cam = Cam::new(values.number("rpm"));
    let integrator = if method.is_first_order() {
        method.integrator_of_first_order()
    } else {
        method.integrator()
    };
    let (follower, contact) = add_follower(&mut simulation, cam, [0.5, 0.0], integrator)?;
    Ok(Spawned {
        simulation,
        system: follower,
        compared: 1,
        contacts: vec![contact],
    })
}

/// The follower at a height, m, with a velocity, m/s, and its contact.
fn add_follower(
    simulation: &mut SystemsSimulation,
    cam: Cam,
    [height, velocity]: [f64; 2],
    integrator: moreau_systems::Integrator,
) -> Result<(Entity, Entity), SystemsError> {
    let system = LagrangianLinear {
        stiffness: Some(Matrix::diagonal(&[STIFFNESS])),
        ..LagrangianLinear::new(Matrix::diagonal(&[MASS]))
    };
    let state = State::lagrangian([height], [velocity]);
    let follower = simulation.spawn_system(system, state, integrator)?;
    let law = NonsmoothLaw::NewtonImpact {
        restitution: RESTITUTION,
    };
    let relation = Relation::lagrangian(AboveCam(cam));
    let contact = simulation.spawn_interaction(Joins::one(follower), relation, law)?;
    Ok((follower, contact))
}
