//! The systems of the step, and the sets that users order theirs against.

use super::capture;
use super::gather::{self, BodyQueries};
use super::joints::{self, JointLists, Joints};
use super::link::Link;
use super::scatter::{self, StateQueries};
use crate::components::MaterialPairs;
use crate::components::notices::Notices;
use crate::error::StepError;
use crate::motion::scheme::Scheme;
use crate::query::QueryIndex;
use crate::results::contact_view::Contacts;
use crate::results::events::StepEvents;
use crate::results::report::StepReport;
use crate::settings::Settings;
use crate::step::moreau_jean::MoreauJean;
use crate::step::threads::Threads;
use crate::step::{StepState, is_long};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemChangeTick;

/// The phases of a step, in their order: each is done before anything in the next one begins.
///
/// Systems of the user run before or after a set, between two of them, or in [`StepPhase::Edit`], which has no system of
/// its own. What they write to the components of bodies between [`StepPhase::Gather`] and [`StepPhase::Commit`] is a change for
/// the next step, which starts from it; for poses and twists it takes the place of what the step made of them.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepPhase {
    /// Components to dense arrays, checks.
    Gather,
    /// Free motion, broad and narrow phase: the interactions.
    Detect,
    /// The user's: interactions are found, and open to changes ([`StepState::interactions`]). Its systems do not run in a step
    /// that has failed.
    Edit,
    /// Index set and laws, the Delassus blocks, impulses.
    Solve,
    /// Twists and poses at the end of the step, projection on the constraints.
    Integrate,
    /// Report, dense arrays to components.
    Commit,
}

/// How the last step ended. Written by every step.
#[derive(Resource, Debug, Default)]
pub struct StepOutcome {
    error: Option<StepError>,
}

impl StepOutcome {
    /// The error of the last step, if it failed.
    #[must_use]
    pub fn error(&self) -> Option<&StepError> {
        self.error.as_ref()
    }
}

/// Installs the step into a world and a schedule of the user's own: resources, and the phases as
/// chained sets. Each run of the schedule is then one step.
///
/// Settings are the [`Settings`] resource; results are [`StepReport`], [`Contacts`], [`StepEvents`] and
/// [`StepOutcome`]; the problem, the impulses and the interactions are in [`StepState`].
///
/// # Errors
/// [`StepError::Settings`] if a setting is out of range, [`StepError::AlreadyInstalled`] the second time; nothing is
/// installed then.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use moreau::prelude::*;
/// let (mut world, mut schedule) = (World::new(), Schedule::default());
/// moreau::install(&mut world, &mut schedule, Settings::default())?;
/// let ball = world.spawn((RigidBody::Dynamic, Collider::sphere(0.5))).id();
/// schedule.run(&mut world);
/// assert!(world.resource::<StepOutcome>().error().is_none());
/// assert!(world.get::<Pose>(ball).is_some_and(|pose| pose.position.z < 0.0));
/// # Ok::<(), StepError>(())
/// ```
pub fn install(
    world: &mut World,
    schedule: &mut Schedule,
    settings: Settings,
) -> Result<(), StepError> {
    install_with(world, schedule, settings, Threads::own(), MoreauJean)
}

/// As [`install`], on given threads, with any scheme.
///
/// # Errors
/// As [`install`].
pub fn install_with(
    world: &mut World,
    schedule: &mut Schedule,
    settings: Settings,
    threads: Threads,
    scheme: impl Scheme + Copy + Send + 'static,
) -> Result<(), StepError> {
    settings.validate()?;
    if world.contains_resource::<StepState>() {
        return Err(StepError::AlreadyInstalled);
    }
    world.insert_resource(settings);
    world.insert_resource(StepState::with_threads(threads));
    world.init_resource::<MaterialPairs>();
    world.init_resource::<StepReport>();
    world.init_resource::<Contacts>();
    world.init_resource::<StepEvents>();
    world.init_resource::<StepOutcome>();
    world.init_resource::<Notices>();
    world.init_resource::<Link>();
    world.init_resource::<QueryIndex>();
    capture::register(world);
    schedule.configure_sets(
        (
            StepPhase::Gather,
            StepPhase::Detect,
            StepPhase::Edit,
            StepPhase::Solve,
            StepPhase::Integrate,
            StepPhase::Commit,
        )
            .chain(),
    );
    // Users ask for interactions there, which a step that failed does not have.
    schedule.configure_sets(StepPhase::Edit.run_if(healthy));
    let detect = move |mut state: ResMut<StepState>| {
        state.in_pool(|state| {
            state.predict(&scheme)?;
            state.detect(&scheme)
        })
    };
    let solve = move |mut state: ResMut<StepState>| {
        state.in_pool(|state| {
            state.assemble(&scheme);
            state.solve()?;
            state.meet(&scheme)
        })
    };
    let integrate = move |mut state: ResMut<StepState>| {
        state.in_pool(|state| {
            state.update(&scheme)?;
            state.project()
        })
    };
    schedule.add_systems((
        gather.pipe(record).in_set(StepPhase::Gather),
        detect
            .pipe(record)
            .in_set(StepPhase::Detect)
            .run_if(healthy),
        solve.pipe(record).in_set(StepPhase::Solve).run_if(healthy),
        integrate
            .pipe(record)
            .in_set(StepPhase::Integrate)
            .run_if(healthy),
        commit.in_set(StepPhase::Commit).run_if(healthy),
    ));
    Ok(())
}

/// The public resources of the step are in the world. They are the ones that a user can remove.
pub(super) fn check_installed(world: &World) -> Result<(), StepError> {
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

fn record(
    In(result): In<Result<(), StepError>>,
    mut outcome: ResMut<StepOutcome>,
    mut state: ResMut<StepState>,
) {
    if result.is_err() {
        state.fail();
    }
    outcome.error = result.err();
}

fn healthy(outcome: Res<StepOutcome>) -> bool {
    outcome.error.is_none()
}

fn gather(
    mut state: ResMut<StepState>,
    mut link: ResMut<Link>,
    mut notices: ResMut<Notices>,
    (settings, pairs): (Res<Settings>, Option<Res<MaterialPairs>>),
    (world, joints, mut lists): (BodyQueries, Joints, Local<JointLists>),
    ticks: SystemChangeTick,
) -> Result<(), StepError> {
    link.gathered = ticks.this_run();
    // Changes of this interval go by unseen if the settings are refused.
    state.begin(&settings).inspect_err(|_| link.stale = true)?;
    if let Some(pairs) = pairs.as_deref() {
        let set = state.set_material_pairs(pairs);
        set.inspect_err(|_| link.stale = true)?;
    }
    gather::gather(
        &mut state.bodies,
        &mut link,
        &mut notices,
        &world,
        &settings,
    )?;
    joints::gather(&joints, (&mut lists, &link), &mut notices, &mut state)?;
    state.start_threads()
}

fn commit(
    mut state: ResMut<StepState>,
    (mut link, mut notices): (ResMut<Link>, ResMut<Notices>),
    (mut report, mut contacts, mut events): (
        ResMut<StepReport>,
        ResMut<Contacts>,
        ResMut<StepEvents>,
    ),
    (mut world, joints, mut commands): (StateQueries, Joints, Commands),
) {
    contacts.0.release();
    state.in_pool(|state| {
        state.finish();
        let StepState {
            threads, bodies, ..
        } = state;
        threads.run(is_long(bodies.moving.len()), || {
            scatter::scatter(bodies, &mut link, &mut notices, &mut world);
        });
    });
    joints::mark_broken(&state, &joints, &mut commands);
    *report = state.end();
    contacts.0 = state.contacts().share();
    events.clone_from(state.events());
}
