//! Scenes of systems that are not rigid bodies, for every integrator that can run them: `name` or `name:key=value`.
//!
//! A scene is one set of equations. It is spawned in the form that an integrator takes: Lagrangian with positions and velocities, or of first order with
//! both stacked. What an integrator cannot do with it is the error of `moreau-systems`. [`comparison`] runs a scene under all of them.

pub mod bouncing_ball;
pub mod buck_converter;
pub mod cam_follower;
pub mod comparison;
pub mod diode_bridge;
pub mod friction_oscillator;
pub mod impact_chain;
pub mod lagrangian;
pub mod manipulator;
pub mod method;
pub mod spring_chain;
pub mod trial;

use crate::catalog::{CatalogError, Parameter, Values, unknown_scene};
use bevy_ecs::entity::Entity;
use method::Method;
use moreau_systems::{SystemsError, SystemsSimulation};

/// A scene spawned for one integrator.
pub struct Spawned {
    /// The world.
    pub simulation: SystemsSimulation,
    /// The system whose state is compared.
    pub system: Entity,
    /// How many of its first coordinates are compared.
    pub compared: usize,
    /// Contacts whose overlap is measured.
    pub contacts: Vec<Entity>,
}

/// What errors are measured against.
#[derive(Clone, Copy, Debug)]
pub enum Reference {
    /// The solution in closed form: the compared coordinates at a time, s.
    Exact(fn(&Values, f64) -> Vec<f64>),
    /// Event-driven integration with the tolerance 1e-12.
    Events,
    /// The same integrator with a sixteenth of the smallest step.
    Finest,
}

impl Reference {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact(_) => "the exact solution",
            Self::Events => "event-driven integration to 1e-12",
            Self::Finest => "the same integrator with a sixteenth of the smallest step",
        }
    }
}

/// A scene of systems.
#[derive(Clone, Copy, Debug)]
pub struct SystemScene {
    /// Name to call it by.
    pub name: &'static str,
    /// One line about it.
    pub description: &'static str,
    /// What can be chosen.
    pub parameters: &'static [Parameter],
    /// What the error is, with its unit.
    pub error: &'static str,
    /// What errors are measured against.
    pub reference: Reference,
    /// Time that is compared, s.
    pub duration: f64,
    /// Steps where none are given, s.
    pub steps: &'static [f64],
    spawn: fn(&Values, &Method, f64) -> Result<Spawned, SystemsError>,
}

/// A scene with a value for each parameter.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// As it was asked for.
    pub spec: String,
    /// The scene.
    pub scene: &'static SystemScene,
    /// Its parameters.
    pub values: Values,
}

impl Chosen {
    /// The scene for an integrator with steps of `h`, s.
    ///
    /// # Errors
    /// [`SystemsError`] if the integrator cannot run it.
    pub fn spawn(&self, method: &Method, h: f64) -> Result<Spawned, SystemsError> {
        (self.scene.spawn)(&self.values, method, h)
    }
}

/// All scenes of systems.
#[must_use]
pub fn list() -> &'static [SystemScene] {
    const ALL: &[SystemScene] = &[
        bouncing_ball::SCENE,
        buck_converter::SCENE,
        cam_follower::SCENE,
        diode_bridge::SCENE,
        friction_oscillator::SCENE,
        impact_chain::SCENE,
        spring_chain::SCENE,
    ];
    ALL
}

/// The scene that `spec` names.
///
/// # Errors
/// [`CatalogError`] names what is wrong with the specification and what would be right.
pub fn find(spec: &str) -> Result<Chosen, CatalogError> {
    let (name, pairs) = spec.split_once(':').unwrap_or((spec, ""));
    let Some(scene) = list().iter().find(|scene| scene.name == name.trim()) else {
        return Err(unknown_scene(name, list().iter().map(|scene| scene.name)));
    };
    Ok(Chosen {
        spec: spec.trim().to_owned(),
        scene,
        values: Values::parse(scene.name, scene.parameters, pairs)?,
    })
}
