//! The plugin.

use crate::error::{PhysicsError, log_new};
use crate::read::{adopt, read};
use crate::saves::{self, Reading, Showing};
use crate::shown::Interpolation;
use crate::step::{Made, MoreauStep, MoreauSystems, made, step, succeeded};
use crate::write::{
    Share, keep_between, record, share_of_frame, share_of_step, write_nested, write_roots,
};
use crate::{events, locks, parts, reflection, sensors};
use bevy_app::prelude::*;
use bevy_app::{FixedFirst, RunFixedMainLoop, RunFixedMainLoopSystems};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{InternedScheduleLabel, ScheduleLabel, SingleThreadedExecutor};
use moreau::{Settings, StepPhase};

/// Steps the bodies of an app's world in its fixed loop, and shows them as `Transform`s.
///
/// Bevy's `TimePlugin` and `TransformPlugin` have to be in the app, which `DefaultPlugins` and `MinimalPlugins` (without transforms) bring.
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_moreau::prelude::*;
/// use bevy_time::TimePlugin;
/// use bevy_transform::prelude::*;
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, TransformPlugin, MoreauPlugin::default()));
/// app.world_mut().spawn((RigidBody::Static, Collider::half_space(DVec3::Y)));
/// app.world_mut().spawn((RigidBody::Dynamic, Collider::sphere(0.5), Transform::from_xyz(0.0, 2.0, 0.0)));
/// app.update();
/// ```
#[derive(Clone, Debug)]
pub struct MoreauPlugin {
    /// The settings of the step, which are the resource [`Settings`] from then on. Default: those of the engine, with gravity along −y, which
    /// is down in Bevy. `time_step` is of no effect: the time step is that of `Time<Fixed>`, 1/64 s if the app sets no other.
    pub settings: Settings,
    /// Whether `Transform`s are interpolated between the last two steps, see [`Interpolation`]. Default true.
    pub interpolation: bool,
    /// Schedule of the fixed loop in which the step runs. Default `FixedUpdate`.
    pub schedule: InternedScheduleLabel,
}

impl Default for MoreauPlugin {
    fn default() -> Self {
        let mut settings = Settings::default();
        settings.gravity = -settings.gravity.length() * moreau::glam::DVec3::Y;
        Self::new(settings)
    }
}

impl MoreauPlugin {
    /// With these settings, gravity included.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            interpolation: true,
            schedule: FixedUpdate.intern(),
        }
    }

    /// In another schedule of the fixed loop.
    #[must_use]
    pub fn in_schedule(self, schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
            ..self
        }
    }
}

impl Plugin for MoreauPlugin {
    fn build(&self, app: &mut App) {
        self.install(app);
        app.insert_resource(Interpolation(self.interpolation))
            .init_resource::<Share>()
            .init_resource::<Made>()
            .add_message::<PhysicsError>();
        events::register(app);
        reflection::register(app);
        // What was shown between two steps is not where bodies are.
        app.add_systems(
            FixedFirst,
            (adopt, read, share_of_step, write_roots, write_nested).chain(),
        );
        app.configure_sets(
            MoreauStep,
            (
                MoreauSystems::Read.before(StepPhase::Gather),
                MoreauSystems::Write
                    .after(StepPhase::Commit)
                    .run_if(succeeded),
            ),
        );
        app.add_systems(
            Reading,
            (
                sensors::mount,
                adopt,
                parts::compose,
                read,
                sensors::carry,
                locks::follow,
            )
                .chain(),
        );
        app.add_systems(Showing, (share_of_step, write_roots, write_nested).chain());
        app.add_observer(saves::restored);
        // In the schedule of the step: nothing comes between reading and stepping.
        app.add_systems(
            MoreauStep,
            (
                saves::take.in_set(MoreauSystems::Read),
                (record, share_of_step, write_roots, write_nested)
                    .chain()
                    .in_set(MoreauSystems::Write),
            ),
        );
        app.add_systems(
            self.schedule,
            (
                step.in_set(MoreauSystems::Step),
                (events::report.run_if(made), log_new)
                    .chain()
                    .in_set(MoreauSystems::Report)
                    .after(MoreauSystems::Step),
            ),
        );
        app.add_systems(
            RunFixedMainLoop,
            (
                adopt,
                read,
                share_of_frame,
                keep_between,
                write_roots,
                write_nested,
            )
                .chain()
                .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
        );
    }

    fn finish(&self, app: &mut App) {
        if !app.is_plugin_added::<bevy_time::TimePlugin>() {
            log::error!("MoreauPlugin makes no step: the app has no TimePlugin");
        }
    }
}

impl MoreauPlugin {
    /// Wrong settings are an error of every step, as those that are changed later.
    fn install(&self, app: &mut App) {
        app.init_schedule(MoreauStep)
            .init_schedule(Reading)
            .init_schedule(Showing);
        let world = app.world_mut();
        let installed = world.try_schedule_scope(MoreauStep, |world, schedule| {
            // The work of the systems is parallel inside.
            schedule.set_executor(SingleThreadedExecutor::new());
            moreau::install(world, schedule, Settings::default())
        });
        for of in [Reading.intern(), Showing.intern()] {
            world.schedule_scope(of, |_, schedule| {
                schedule.set_executor(SingleThreadedExecutor::new());
            });
        }
        match installed {
            Ok(Ok(())) => world.insert_resource(self.settings),
            Ok(Err(error)) => log::error!("MoreauPlugin: {error}"),
            Err(error) => log::error!("MoreauPlugin: {error}"),
        }
    }
}
