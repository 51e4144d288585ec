//! One step, from within Bevy's fixed loop.

use crate::error::PhysicsError;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::{Fixed, Time};
use moreau::{Contacts, Settings, StepError, StepEvents, StepOutcome, StepReport, StepState};

/// The schedule of one step, run by [`MoreauSystems::Step`]: [`MoreauSystems::Read`], the phases of [`moreau::StepPhase`], [`MoreauSystems::Write`]. Systems that
/// look into a step go here; those that go before or after it go to the schedule of the plugin.
#[derive(ScheduleLabel, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MoreauStep;

/// What the plugin does, in the order of time.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoreauSystems {
    /// In `FixedUpdate`, or the schedule that the plugin was given: all of [`MoreauStep`]. Systems that are to act on the step go before it, those that are to see
    /// what it did after it.
    Step,
    /// In [`MoreauStep`], before its phases: child colliders, `Transform`s and poses that were changed, locked axes.
    Read,
    /// In [`MoreauStep`], after its phases: the new poses to `Transform`s.
    Write,
    /// In `FixedUpdate`, after the step: messages, then observers.
    Report,
}

/// A step was made since the systems after it last ran.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub(crate) struct Made(pub(crate) bool);

/// The step was made.
pub(crate) fn made(made: Res<Made>) -> bool {
    made.0
}

/// The phases of the step went through.
pub(crate) fn succeeded(outcome: Option<Res<StepOutcome>>) -> bool {
    outcome.is_some_and(|outcome| outcome.error().is_none())
}

/// Makes a step of the length of the fixed time step.
pub(crate) fn step(world: &mut World) {
    let result = try_step(world);
    world.insert_resource(Made(result.is_ok()));
    if let Err(error) = result {
        world.write_message(PhysicsError::Step(error));
    }
}

fn try_step(world: &mut World) -> Result<(), StepError> {
    check_installed(world)?;
    follow_time(world);
    if world.try_run_schedule(MoreauStep).is_err() {
        return Err(StepError::NotInstalled { what: "MoreauStep" });
    }
    let outcome = world.get_resource::<StepOutcome>();
    outcome
        .and_then(|outcome| outcome.error().cloned())
        .map_or(Ok(()), Err)
}

/// The time step is that of `Time<Fixed>`.
fn follow_time(world: &mut World) {
    let Some(time) = world.get_resource::<Time<Fixed>>() else {
        return;
    };
    let time_step = time.timestep().as_secs_f64();
    if let Some(mut settings) = world.get_resource_mut::<Settings>()
        && settings.time_step.to_bits() != time_step.to_bits()
    {
        settings.time_step = time_step;
    }
}

/// The resources that a user can take out of the world: systems that miss one would end in Bevy's error handler.
fn check_installed(world: &World) -> Result<(), StepError> {
    let resources = [
        ("Settings", world.contains_resource::<Settings>()),
        ("StepState", world.contains_resource::<StepState>()),
        ("StepReport", world.contains_resource::<StepReport>()),
        ("Contacts", world.contains_resource::<Contacts>()),
        ("StepEvents", world.contains_resource::<StepEvents>()),
        ("StepOutcome", world.contains_resource::<StepOutcome>()),
    ];
    match resources.into_iter().find(|(_, present)| !present) {
        Some((what, _)) => Err(StepError::NotInstalled { what }),
        None => Ok(()),
    }
}
