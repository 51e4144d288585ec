//! One step, from top to bottom. This file is the table of contents of the engine.
//!
//! | phase | equation | reads → writes |
//! |---|---|---|
//! | [`StepPhase::Gather`] | state `(q_k, v_k)` by id | components → bodies |
//! | [`StepPhase::FreeTwist`] | `v_free = v_k + h M⁻¹F`, gyroscopic motion split off | bodies → motion |
//! | [`StepPhase::Detect`] | gaps `g_N`, normals, `I₀` | bodies, motion → candidates |
//! | [`StepPhase::Activate`] | `I₁ ⊂ I₀` | candidates → index set |
//! | [`StepPhase::Assemble`] | the term `s` of each normal law, `C, G, d = (s, 0, 0), μ`, warm start | candidates → problem |
//! | [`StepPhase::Solve`] | `u = W r + q`, `K* ∋ û ⊥ r ∈ K` | problem → `r`, `v_{k+1} = v_free + M⁻¹Gᵀr` |
//! | [`StepPhase::Update`] | `q_{k+1} = q_k ⊕ h v_{k+θ}` | motion → bodies |
//! | [`StepPhase::Project`] | `0 ≤ g_N + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0`, poses only | bodies → bodies |
//! | [`StepPhase::Commit`] | certificate, ledger, next warm start; islands at rest fall asleep | bodies → components, report |
//!
//! Sleeping bodies are left out (`sleeping.rs`). Where detection finds that one of them is met, it wakes, and
//! free motion and detection are repeated with it.
//!
//! Each phase is a thin system around a plain function over slices. A phase that fails records
//! its error in [`StepOutcome`] and the later ones do not run: as components are written by the
//! last phase alone, a failed step leaves the world as it was.

use crate::assembly::{ContactProblem, Parts};
use crate::bodies::Bodies;
use crate::chunks;
use crate::clock::Clock;
use crate::compact::Compact;
use crate::contact_view::Contacts;
use crate::detection::Detection;
use crate::error::StepError;
use crate::gather::{Before, BodyQueries, StateQueries};
use crate::index_set::IndexSet;
use crate::ledger::Ledger;
use crate::momentum::MomentumCheck;
use crate::moreau_jean::{self, Pushes};
use crate::motion::Motion;
use crate::overflow::check_finite;
use crate::projection::Projector;
use crate::report::StepReport;
use crate::settings::{DelassusForm, Settings};
use crate::sleeping::Sleepers;
use crate::threads::Threads;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, SingleThreadedExecutor};
use glam::DVec3;
use moreau_solvers::{Auto, Goal, Solver as _, SolverReport};

/// The phases of a step, in their order. Systems of the user may be ordered against them.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepPhase {
    /// Components to dense arrays, checks.
    Gather,
    /// Free motion.
    FreeTwist,
    /// Broad and narrow phase.
    Detect,
    /// Index set.
    Activate,
    /// Laws, and the friction-contact problem.
    Assemble,
    /// Impulses.
    Solve,
    /// Twists and poses.
    Update,
    /// Projection on the constraints.
    Project,
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
/// one chain. Each run of the schedule is then one step.
///
/// Settings are the [`Settings`] resource, results are [`StepReport`], [`Contacts`] and
/// [`StepOutcome`].
///
/// # Errors
/// [`StepError::Settings`] if a setting is out of range; nothing is installed then.
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
    settings.validate()?;
    world.insert_resource(settings);
    world.init_resource::<StepReport>();
    world.init_resource::<Contacts>();
    world.init_resource::<StepOutcome>();
    world.init_resource::<Clock>();
    world.init_resource::<Solver>();
    world.init_resource::<MomentumCheck>();
    world.init_resource::<Before>();
    world.init_resource::<Bodies>();
    world.init_resource::<Motion>();
    world.init_resource::<Detection>();
    world.init_resource::<IndexSet>();
    world.init_resource::<ContactProblem>();
    world.init_resource::<Pushes>();
    world.init_resource::<Ledger>();
    world.init_resource::<Projector>();
    world.init_resource::<Threads>();
    world.init_resource::<Sleepers>();
    world.init_resource::<Compact>();
    schedule.add_systems(
        (
            gather.pipe(record).in_set(StepPhase::Gather),
            free_twist
                .pipe(record)
                .in_set(StepPhase::FreeTwist)
                .run_if(healthy),
            detect
                .pipe(record)
                .in_set(StepPhase::Detect)
                .run_if(healthy),
            activate.in_set(StepPhase::Activate).run_if(healthy),
            assemble.in_set(StepPhase::Assemble).run_if(healthy),
            solve.pipe(record).in_set(StepPhase::Solve).run_if(healthy),
            update
                .pipe(record)
                .in_set(StepPhase::Update)
                .run_if(healthy),
            project
                .pipe(record)
                .in_set(StepPhase::Project)
                .run_if(healthy),
            (report, fall_asleep, scatter)
                .chain()
                .in_set(StepPhase::Commit)
                .run_if(healthy),
        )
            .chain(),
    );
    Ok(())
}

/// The public resources of the step are in the world. They are the ones that a user can remove.
pub(crate) fn check_installed(world: &World) -> Result<(), StepError> {
    let resources = [
        ("Settings", world.contains_resource::<Settings>()),
        ("StepReport", world.contains_resource::<StepReport>()),
        ("Contacts", world.contains_resource::<Contacts>()),
        ("StepOutcome", world.contains_resource::<StepOutcome>()),
    ];
    match resources.into_iter().find(|(_, present)| !present) {
        Some((what, _)) => Err(StepError::NotInstalled { what }),
        None => Ok(()),
    }
}

/// The schedule of a [`crate::Simulation`]: one thread for the nine systems (their work is
/// parallel inside), ambiguities are errors.
pub(crate) fn schedule() -> Schedule {
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.set_build_settings(ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        ..ScheduleBuildSettings::default()
    });
    schedule
}

/// One run of the schedule. A large step stays on the threads that its phases are shared among.
pub(crate) fn run(schedule: &mut Schedule, world: &mut World) {
    let bodies = world.get_resource::<Bodies>();
    let large = bodies.is_some_and(|bodies| bodies.moving.len() >= LARGE);
    match world.get_resource::<Threads>().cloned() {
        Some(threads) => threads.run_step(large, || schedule.run(world)),
        None => schedule.run(world),
    }
}

/// The contact solver and what it said of this step.
#[derive(Resource, Debug, Default)]
pub(crate) struct Solver {
    auto: Auto,
    report: SolverReport,
}

fn record(In(result): In<Result<(), StepError>>, mut outcome: ResMut<StepOutcome>) {
    outcome.error = result.err();
}

fn healthy(outcome: Res<StepOutcome>) -> bool {
    outcome.error.is_none()
}

fn gather(
    mut clock: ResMut<Clock>,
    mut bodies: ResMut<Bodies>,
    mut before: ResMut<Before>,
    mut threads: ResMut<Threads>,
    settings: Res<Settings>,
    world: BodyQueries,
) -> Result<(), StepError> {
    clock.start();
    // Changes of this interval go by unseen if the settings are refused.
    settings
        .validate()
        .map_err(StepError::from)
        .and_then(|()| threads.resize(settings.threads))
        .inspect_err(|_| bodies.mark_stale())?;
    bodies.gather(&mut before, &world, &settings)?;
    clock.timing.ms_gather = clock.lap();
    Ok(())
}

fn free_twist(
    bodies: Res<Bodies>,
    mut motion: ResMut<Motion>,
    conditions: Conditions,
) -> Result<(), StepError> {
    let Conditions {
        settings,
        threads,
        mut clock,
    } = conditions;
    predict(&mut motion, &bodies, &settings, &threads)?;
    clock.timing.ms_free = clock.lap();
    Ok(())
}

fn predict(
    motion: &mut Motion,
    bodies: &Bodies,
    settings: &Settings,
    threads: &Threads,
) -> Result<(), StepError> {
    let many = is_long(bodies.moving.len());
    let overflow = threads.run(many, || motion.predict(bodies, settings));
    overflow.map_or(Ok(()), |slot| {
        let free = &motion.free[slot];
        check_finite(
            bodies.ids[slot],
            [
                ("linear velocity", free.linear),
                ("angular velocity", free.angular),
            ],
        )
    })
}

/// Enough rows for a loop over them to gain from other threads, waking them included.
fn is_long(rows: usize) -> bool {
    rows >= 4 * chunks::CHUNK
}

/// Bodies from which on detection gains from other threads, waking them included.
const LARGE: usize = 250;

fn is_large(bodies: &Bodies) -> bool {
    bodies.len() >= LARGE
}

/// Repeated with the free motion of those that wake, until no body that is awake meets one that sleeps.
fn detect(
    mut detection: ResMut<Detection>,
    mut bodies: ResMut<Bodies>,
    mut before: ResMut<Before>,
    mut motion: ResMut<Motion>,
    conditions: Conditions,
) -> Result<(), StepError> {
    let Conditions {
        settings,
        threads,
        mut clock,
    } = conditions;
    loop {
        threads.run(is_large(&bodies), || {
            detection.detect(&bodies, &motion, &settings);
        });
        if !bodies.wake_met(&detection.candidates, &mut before) {
            break;
        }
        predict(&mut motion, &bodies, &settings, &threads)?;
    }
    clock.timing.ms_detect = clock.lap();
    Ok(())
}

fn activate(
    mut index_set: ResMut<IndexSet>,
    detection: Res<Detection>,
    bodies: Res<Bodies>,
    motion: Res<Motion>,
    settings: Res<Settings>,
) {
    index_set.activate(&detection.candidates, &bodies, &motion, &settings);
}

/// How a phase is to run, and the clock for its end.
#[derive(bevy_ecs::system::SystemParam)]
struct Conditions<'w> {
    settings: Res<'w, Settings>,
    threads: Res<'w, Threads>,
    clock: ResMut<'w, Clock>,
}

fn assemble(
    (mut problem, mut detection): (ResMut<ContactProblem>, ResMut<Detection>),
    index_set: Res<IndexSet>,
    contacts: Res<Contacts>,
    sleepers: Res<Sleepers>,
    (bodies, motion): (Res<Bodies>, Res<Motion>),
    conditions: Conditions,
) {
    let Conditions {
        settings,
        threads,
        mut clock,
    } = conditions;
    let kept = sleepers.warm_start(&bodies);
    let last = settings
        .warm_start
        .then(|| contacts.0.warm_start(kept, &bodies));
    let parts = Parts {
        bodies: &bodies,
        motion: &motion,
        settings: &settings,
        last,
    };
    threads.run(is_long(index_set.len()), || {
        problem.assemble(&index_set, &mut detection.candidates, &parts);
    });
    clock.timing.ms_assemble = clock.lap();
}

fn solve(
    mut solver: ResMut<Solver>,
    mut problem: ResMut<ContactProblem>,
    mut motion: ResMut<Motion>,
    mut compact: ResMut<Compact>,
    bodies: Res<Bodies>,
    conditions: Conditions,
) -> Result<(), StepError> {
    let Conditions {
        settings,
        threads,
        mut clock,
    } = conditions;
    let Solver { auto, report } = &mut *solver;
    auto.settings = settings.auto();
    let mut impulse = std::mem::take(&mut problem.record.impulse);
    let few = Compact::is_worth_it(&bodies);
    let (mut end, factored) = if few {
        compact.take(&problem, &bodies, &motion);
        (std::mem::take(&mut compact.end), compact.view())
    } else {
        let end = std::mem::take(&mut motion.end);
        (end, problem.factored(&motion))
    };
    let goal = Goal::scaled(settings.tolerance());
    let shared = factored.contacts.len() >= auto.settings.first.parallel_from;
    let solved = threads.run(shared, || match settings.delassus {
        DelassusForm::MatrixFree => auto.solve_factored(&factored, &mut impulse, &mut end, &goal),
        DelassusForm::Stored => {
            let report = auto.solve(&factored.assemble(), &mut impulse, &goal);
            factored.twist_under(&impulse, &mut end);
            report
        }
    });
    problem.record.impulse = impulse;
    if few {
        compact.end = end;
        compact.give_back(&mut motion.end, &bodies);
    } else {
        motion.end = end;
    }
    *report = solved?;
    clock.timing.ms_solve = clock.lap();
    Ok(())
}

fn update(
    mut bodies: ResMut<Bodies>,
    mut pushes: ResMut<Pushes>,
    motion: Res<Motion>,
    problem: Res<ContactProblem>,
    settings: Res<Settings>,
    threads: Res<Threads>,
) -> Result<(), StepError> {
    pushes.mark(&problem, &bodies);
    let overflow = threads.run(is_long(bodies.moving.len()), || {
        moreau_jean::update(&mut bodies, &motion, &pushes, &settings)
    });
    overflow.map_or(Ok(()), |slot| {
        let (pose, twist) = (&bodies.pose[slot], &bodies.twist[slot]);
        let p = pose.orientation;
        check_finite(
            bodies.ids[slot],
            [
                ("position", pose.position),
                ("orientation", DVec3::new(p.x, p.y, p.z) + DVec3::splat(p.w)),
                ("linear velocity", twist.linear),
                ("angular velocity", twist.angular),
            ],
        )
    })
}

fn project(
    (mut projector, mut solver): (ResMut<Projector>, ResMut<Solver>),
    (mut bodies, mut detection): (ResMut<Bodies>, ResMut<Detection>),
    (before, motion): (Res<Before>, Res<Motion>),
    (index_set, problem): (Res<IndexSet>, Res<ContactProblem>),
    conditions: Conditions,
) -> Result<(), StepError> {
    let Conditions {
        settings,
        threads,
        mut clock,
    } = conditions;
    threads.run(is_large(&bodies), || {
        // The problem has the candidates, unless it chose some.
        let left = std::mem::take(&mut detection.candidates);
        let candidates = match index_set.chosen() {
            None => &problem.record.places,
            Some(_) => &left,
        };
        let found = (&mut *detection, &candidates[..]);
        let sweeps = solver.auto.sweeps();
        let done = projector.project(&mut bodies, &before.pose, &motion, found, &settings, sweeps);
        detection.candidates = left;
        done
    })?;
    clock.timing.ms_update = clock.lap();
    Ok(())
}

/// Everything that a finished step writes about itself, with its buffers.
#[derive(bevy_ecs::system::SystemParam)]
struct Results<'w> {
    report: ResMut<'w, StepReport>,
    contacts: ResMut<'w, Contacts>,
    clock: ResMut<'w, Clock>,
    momentum: ResMut<'w, MomentumCheck>,
    ledger: ResMut<'w, Ledger>,
    motion: ResMut<'w, Motion>,
    problem: ResMut<'w, ContactProblem>,
    detection: ResMut<'w, Detection>,
}

/// What the earlier phases left behind.
#[derive(bevy_ecs::system::SystemParam)]
struct Finished<'w> {
    bodies: Res<'w, Bodies>,
    before: Res<'w, Before>,
    solver: Res<'w, Solver>,
    projector: Res<'w, Projector>,
    settings: Res<'w, Settings>,
    threads: Res<'w, Threads>,
}

fn report(results: Results, finished: Finished) {
    let Results {
        mut report,
        mut contacts,
        mut clock,
        mut momentum,
        mut ledger,
        mut motion,
        mut problem,
        mut detection,
    } = results;
    let Finished {
        bodies,
        before,
        solver,
        projector,
        settings,
        threads,
    } = &finished;
    let mut carried = std::mem::take(&mut problem.record.carried);
    let solution = &*problem;
    let rows = solution.contacts.len().max(bodies.moving.len());
    let (energy, momentum_residual) = threads.run(is_long(rows), || {
        let columns = [&mut carried, &mut momentum.defect];
        let energy = ledger.balance(before, bodies, &motion, solution, columns, settings);
        let places = &solution.record.places;
        (energy, momentum.check(bodies, places, &carried))
    });
    clock.step += 1;
    clock.t += settings.time_step;
    let solved = &solver.report;
    *report = StepReport {
        step: clock.step,
        t: clock.t,
        bodies: bodies.len(),
        sleeping: bodies.sleep.count,
        islands: 0,
        contacts: solution.contacts.len(),
        closed_contacts: solution.record.impulse.iter().filter(|r| r.x > 0.0).count(),
        sweeps: solved.iterations,
        factorizations: solved.factorizations,
        converged: solved.converged(),
        e_scaled: solved.residual.scaled,
        e_fclib: solved.residual.fclib,
        max_penetration: detection.deepest_found,
        cone_violation: solved.residual.cone_violation,
        momentum_residual,
        projections: projector.iterations,
        energy,
        timing: clock.timing,
    };
    problem.record.carried = carried;
    contacts.0.keep(&mut problem.record, &mut motion, bodies);
    problem.give_back(&mut detection.candidates);
}

fn fall_asleep(
    mut sleepers: ResMut<Sleepers>,
    mut bodies: ResMut<Bodies>,
    mut before: ResMut<Before>,
    mut report: ResMut<StepReport>,
    contacts: Res<Contacts>,
    settings: Res<Settings>,
) {
    let (solved, residual) = (contacts.0.record(), report.e_scaled);
    let fell = sleepers.fall_asleep(&mut bodies, &mut before, solved, residual, &settings);
    report.energy.fall_asleep(fell.kinetic);
    report.islands = fell.islands;
    report.sleeping = bodies.sleep.count;
}

fn scatter(
    mut bodies: ResMut<Bodies>,
    mut clock: ResMut<Clock>,
    mut report: ResMut<StepReport>,
    threads: Res<Threads>,
    mut world: StateQueries,
) {
    threads.run(is_long(bodies.moving.len()), || bodies.scatter(&mut world));
    report.timing = clock.finish();
}
