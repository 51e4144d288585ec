//! What went wrong, as a message.

use bevy_ecs::prelude::*;
use moreau::StepError;

/// Why a step was not made, or what of the user's was not taken. Sent in every step in which it is so, and logged where it is new. Nothing panics.
#[derive(Message, Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PhysicsError {
    /// The step was not made: all bodies are as they were before it.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A `Transform` was not taken: the body stays where it was, and its `Transform` goes back.
    #[error("the transform of body {body} is refused: its {field} is {value}, expected {bound}")]
    Transform {
        /// The body.
        body: Entity,
        /// Field at fault.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        bound: &'static str,
    },
}

/// Logs what is new.
pub(crate) fn log_new(mut errors: MessageReader<PhysicsError>, mut last: Local<Vec<PhysicsError>>) {
    if errors.is_empty() {
        return;
    }
    let now: Vec<PhysicsError> = errors.read().cloned().collect();
    for error in now.iter().filter(|error| !last.contains(error)) {
        log::error!("{error}");
    }
    *last = now;
}
