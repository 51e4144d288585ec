//! What an engine has to do to take part, and what is common to both.

use crate::residual::ContactState;
use moreau::glam::{DQuat, DVec3};
use moreau::prelude::*;
use std::error::Error;

/// Whatever went wrong, as text.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A scene in one engine, with its settings.
pub(crate) trait Contender {
    /// Engine and settings.
    fn name(&self) -> &str;

    /// Makes `steps` steps. `pace` is what the first contender took for the same steps, ms, in the
    /// median; 0 for itself.
    ///
    /// # Errors
    /// If the engine refuses a step.
    fn advance(&mut self, steps: usize, pace: f64) -> Outcome<Vec<StepFigures>>;

    /// The contacts of the last step.
    ///
    /// # Errors
    /// If a contact names a body that is not there.
    fn contacts(&self) -> Outcome<Vec<ContactState>>;

    /// The bodies in the order of the scene.
    ///
    /// # Errors
    /// If a body is not there.
    fn bodies(&mut self) -> Outcome<Vec<BodyState>>;
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepFigures {
    /// Its time, ms.
    pub(crate) ms: f64,
    /// Contact points that the solver saw.
    pub(crate) contacts: usize,
    /// Passes over all contacts.
    pub(crate) sweeps: usize,
    /// Moreau's certificate `e_scaled`; none in another engine.
    pub(crate) e_scaled: Option<f64>,
    /// Moreau's verdict on it; none in another engine.
    pub(crate) converged: Option<bool>,
}

/// A body after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyState {
    /// Centre of mass, m.
    pub(crate) position: DVec3,
    /// Unit quaternion.
    pub(crate) orientation: DQuat,
    /// Speed of the centre of mass, m/s.
    pub(crate) speed: f64,
}

/// A body of the scene, as both engines start from it.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Moved by contacts; static otherwise.
    pub(crate) dynamic: bool,
    /// Its shape: convex, a compound or a half-space.
    pub(crate) shape: Shape,
    /// Centre of mass in the frame of the shape, m.
    pub(crate) center: DVec3,
    /// Where its centre of mass starts.
    pub(crate) pose: Pose,
    /// Density, kg/m³, and friction. Restitution is zero.
    pub(crate) material: Material,
}

/// The bodies of a scene in the order of their ids, lattices resolved. Read from the started
/// simulation, so that both engines have the same bodies, jitter included.
///
/// # Errors
/// If the scene has something that is not translated: only bodies at rest, without restitution, of the mass that follows from
/// their shape, and neither meshes nor height fields.
pub(crate) fn bodies_of(scene: &Scene) -> Outcome<Vec<Body>> {
    if !scene.emitters.is_empty() {
        return Err("a scene with emitters is not translated".into());
    }
    let given = |body: &moreau::scene::BodySpec| {
        body.mass != Mass::default() || body.wrench != Wrench::default()
    };
    let mut specs = scene
        .bodies
        .iter()
        .chain(scene.lattices.iter().map(|lattice| &lattice.body));
    if specs.any(given) {
        return Err("a scene with given masses or wrenches is not translated".into());
    }
    let mut run = scene.start()?;
    let world = run.simulation.world_mut();
    let mut query = world.query::<(&BodyId, &RigidBody, &Collider, &Pose, &Twist, &Material)>();
    let mut rows: Vec<_> = query.iter(world).collect();
    rows.sort_unstable_by_key(|row| *row.0);
    let translate = |(id, kind, collider, pose, twist, material): (
        &BodyId,
        &RigidBody,
        &Collider,
        &Pose,
        &Twist,
        &Material,
    )| {
        let shape = collider.shape().clone();
        if matches!(
            shape,
            Shape::TriangleMesh { .. } | Shape::HeightField { .. }
        ) {
            return Err(format!("body {}: a {}", id.0, shape.kind()));
        }
        let center = collider
            .center_of_mass()
            .map_err(|error| format!("body {}: {error}", id.0))?;
        let at_rest = *twist == Twist::default() && *kind != RigidBody::Kinematic;
        if !at_rest || material.restitution > 0.0 {
            return Err(format!("body {}: moving or bouncing", id.0));
        }
        Ok(Body {
            dynamic: *kind == RigidBody::Dynamic,
            shape,
            center,
            pose: *pose,
            material: *material,
        })
    };
    let bodies: Result<Vec<_>, String> = rows.into_iter().map(translate).collect();
    Ok(bodies?)
}
