//! `moreau run`.

use crate::checkpoint::{self, Checkpoint, Signal};
use crate::cli::{Log, MOST_STEPS, RobotOptions, RunOptions};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::record::{Record, Required};
use crate::step_writer::StepWriter;
use crate::{json_lines, state_file, summary};
use moreau::{Scene, SceneError, SceneRun, SleepSettings};
use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

/// Runs a scene from its specification to the verdict.
pub(crate) fn run(options: &RunOptions) -> Result<(), Failure> {
    let mut run = match &options.resume {
        Some(file) => checkpoint::resume(options, file)?,
        None => start(options)?,
    };
    let steps = steps_left(&run, options)?;
    let writer = StepWriter::new(&run.scene().name, options)?;
    let checkpoint = Checkpoint::new(options)?;
    // If it cannot be written, that is said before anything is computed.
    checkpoint.write(&run)?;
    let started = Instant::now();
    let made = make_steps(&mut run, steps, options, (&writer, &checkpoint))?;
    if made.error.is_none() && made.signal.is_none() {
        checkpoint.write(&run)?;
    }
    finish(&mut run, &made, started.elapsed(), options)?;
    if let Some(signal) = made.signal {
        return Err(Failure::Stopped {
            signal,
            step: made.record.last.step,
            time: made.record.last.t,
            file: checkpoint.file().cloned().unwrap_or_default(),
        });
    }
    verdict(&mut run, made, options)
}

/// A scene from its beginning. Its duration becomes that of the run, which a checkpoint remembers.
pub(crate) fn start(options: &RunOptions) -> Result<SceneRun, Failure> {
    let scene = options.scene.as_deref().unwrap_or_default();
    let mut scene = load(scene, &options.robot)?;
    if scene.body_count() == 0 {
        warn(&format!("{} has no bodies", scene.name));
    }
    override_settings(&mut scene, options);
    let steps = step_count(&scene, options)?;
    scene.duration = steps as f64 * scene.settings.time_step;
    let run = scene.start()?;
    for warning in run.warnings() {
        warn(&warning.to_string());
    }
    Ok(run)
}

/// Steps up to the end of the run from where it is now.
fn steps_left(run: &SceneRun, options: &RunOptions) -> Result<u64, Failure> {
    let all = step_count(run.scene(), options)?;
    let made = run
        .simulation
        .state()
        .map_or(0, |state| state.report().step);
    match all.checked_sub(made) {
        Some(left) if left > 0 => Ok(left),
        _ => Err(Failure::Over { made, all }),
    }
}

/// A line for people; a failure to write it is ignored.
fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "moreau: warning: {text}");
}

/// A file if it looks like one, a built-in scene otherwise. What of a robot file was not understood goes to stderr.
pub(crate) fn load(spec: &str, options: &RobotOptions) -> Result<Scene, Failure> {
    if spec.ends_with(".urdf") || spec.ends_with(".xml") {
        let robot = moreau_robots::load(spec, &options.options())?;
        let (matters, looks): (Vec<_>, Vec<_>) =
            robot.not_understood.iter().partition(|of| of.matters());
        for of in matters {
            warn(&of.to_string());
        }
        if options.all {
            looks.iter().for_each(|of| warn(&of.to_string()));
        } else if !looks.is_empty() {
            let count = looks.len();
            warn(&format!(
                "{spec}: {count} more elements and attributes that change no motion were not read; --all lists them"
            ));
        }
        return Ok(robot.scene);
    }
    let is_file = spec.ends_with(".toml") || spec.contains(['/', '\\']);
    if !is_file {
        return Ok(moreau_demos::built_in(spec)?);
    }
    let mut scene = Scene::load(spec)?;
    if scene.name.is_empty() {
        scene.name = spec.to_owned();
    }
    Ok(scene)
}

/// What the command line asks for instead of the scene.
fn override_settings(scene: &mut Scene, options: &RunOptions) {
    if let Some(seed) = options.seed {
        scene.seed = seed;
    }
    let settings = &mut scene.settings;
    if let Some(dt) = options.dt {
        settings.time_step = dt;
    }
    if let Some(threads) = options.threads {
        settings.threads = threads;
    }
    if let Some(preset) = options.accuracy {
        settings.accuracy = preset.into();
        // What the scene asks for beside its own preset.
        settings.tolerance = None;
        settings.velocity_tolerance = None;
    }
    if options.awake {
        settings.sleeping = SleepSettings::OFF;
    }
    let required = options.require_residual;
    if let Some(tolerance) = options.tol {
        settings.tolerance = Some(tolerance);
    } else if let Some(required) = required.filter(|e| settings.tolerance() > *e) {
        settings.tolerance = Some(required);
    }
    let required = options.require_velocity;
    if let Some(required) = required.filter(|v| settings.velocity_tolerance() > *v) {
        settings.velocity_tolerance = Some(required);
    }
}

fn step_count(scene: &Scene, options: &RunOptions) -> Result<u64, Failure> {
    if let Some(steps) = options.steps {
        return Ok(steps);
    }
    let bad = |field, value, bound| Failure::Field {
        scene: scene.name.clone(),
        field,
        value,
        bound,
    };
    let (duration, h) = (scene.duration, scene.settings.time_step);
    if !(h > 0.0 && h.is_finite()) {
        return Err(bad("settings.time_step", h, "> 0"));
    }
    let time = options.time.unwrap_or(duration);
    if !(time > 0.0 && time.is_finite()) {
        return Err(bad("duration", time, "> 0"));
    }
    let steps = (time / h).round();
    if steps > MOST_STEPS as f64 {
        return Err(bad("duration", time, "at most 1e8 time steps"));
    }
    Ok((steps as u64).max(1))
}

/// The steps that were made, and what ended them early.
struct Made {
    record: Record,
    error: Option<SceneError>,
    /// stdout is closed.
    unread: bool,
    signal: Option<Signal>,
}

fn make_steps(
    run: &mut SceneRun,
    steps: u64,
    options: &RunOptions,
    (writer, checkpoint): (&StepWriter, &Checkpoint),
) -> Result<Made, Failure> {
    let mut made = Made {
        record: Record::new(Required {
            residual: options.require_residual,
            velocity: options.require_velocity,
            tolerance: run.simulation.settings().tolerance(),
        }),
        error: None,
        unread: false,
        signal: None,
    };
    let progress = Progress::new(steps, options.log);
    let mut out = io::stdout().lock();
    for _ in 0..steps {
        let report = match run.step() {
            Ok(report) => report,
            Err(error) => {
                made.error = Some(error);
                break;
            }
        };
        made.record.add(&report);
        progress.step(&report);
        writer.step(&run.simulation, &report)?;
        if options.log == Log::Jsonl && !read(json_lines::write_step(&mut out, &report))? {
            made.unread = true;
            break;
        }
        made.signal = checkpoint.step(run, &report)?;
        if made.signal.is_some() {
            break;
        }
    }
    progress.finish();
    Ok(made)
}

/// False if the reader has gone away.
pub(crate) fn read(written: io::Result<()>) -> Result<bool, Failure> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn finish(
    run: &mut SceneRun,
    made: &Made,
    wall_time: Duration,
    options: &RunOptions,
) -> Result<(), Failure> {
    let text = summary::text(run, &made.record, wall_time);
    if run.waiting() > 0 {
        warn(&match run.waiting() {
            1 => "1 emitter waits for room at the end".to_owned(),
            several => format!("{several} emitters wait for room at the end"),
        });
    }
    if options.log == Log::Jsonl && !made.unread {
        let hash = run.simulation.state_hash();
        let mut out = io::stdout().lock();
        read(json_lines::write_summary(&mut out, &made.record, hash))?;
    }
    if let Some(file) = &options.state {
        state_file::write(run, file)?;
    }
    // A failure to write the text for people is ignored.
    let _ = io::stderr().write_all(text.as_bytes());
    Ok(())
}

fn verdict(run: &mut SceneRun, made: Made, options: &RunOptions) -> Result<(), Failure> {
    let record = &made.record;
    if let Some(error) = made.error {
        return Err(error.into());
    }
    let checked = options.require_residual.is_some() || options.require_velocity.is_some();
    if checked && record.unsolved.count > 0 {
        return Err(Failure::NotSolved {
            count: record.unsolved.count,
            steps: record.steps,
            without: record.without_solution.count,
            first: record.unsolved.first.step,
            first_value: record.unsolved.first.value,
        });
    }
    if let Some(required) = options
        .require_velocity
        .filter(|_| record.missed_velocity.count > 0)
    {
        return Err(Failure::Velocity {
            count: record.missed_velocity.count,
            steps: record.steps,
            required,
            first: record.missed_velocity.first.step,
            first_value: record.missed_velocity.first.value,
            worst: record.velocity_worst.step,
            worst_value: record.velocity_worst.value,
        });
    }
    if let Some(required) = options.require_residual.filter(|_| record.missed.count > 0) {
        return Err(Failure::Residual {
            count: record.missed.count,
            steps: record.steps,
            required,
            first: record.missed.first.step,
            first_value: record.missed.first.value,
            worst: record.residual_worst.step,
            worst_value: record.residual_worst.value,
        });
    }
    let checked = checked || options.verify_hash.is_some();
    if made.unread && checked {
        return Err(Failure::Unchecked { step: record.steps });
    }
    match options.verify_hash {
        Some(expected) if !made.unread => {
            let found = run.simulation.state_hash();
            if found == expected {
                Ok(())
            } else {
                Err(Failure::Hash { found, expected })
            }
        }
        _ => Ok(()),
    }
}
