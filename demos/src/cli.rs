//! The command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use moreau::{Accuracy, Threads};
use moreau_demos::simbench::Task;
use moreau_demos::systems::method::Method;
use moreau_demos::{ResidualKind, SolverChoice, solver_choice};
use std::path::PathBuf;

/// Rigid bodies in contact with exact Coulomb friction, every step certified.
///
/// Without a command: run the built-in scene `pour`.
///
/// Exit codes: 0 fine, 1 a check failed, 2 bad usage or input, 3 a step or a solve did not reach
/// the required residual or velocity, 4 the state became non-finite, 130 and 143 SIGINT and SIGTERM
/// ended a run after its checkpoint was written.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scene and sum up what happened.
    Run(RunOptions),
    /// Run a scene up to a step and take that apart: the contacts that leave most of their law, their W, q, u and r, and another
    /// solver's answer.
    Inspect(InspectOptions),
    /// Write a scene, a robot file or a built-in scene as a scene file.
    Convert(ConvertOptions),
    /// Solve stored problems (FCLIB files).
    Solve(SolveOptions),
    /// Judge the solutions that are stored in FCLIB files.
    Verify(VerifyOptions),
    /// Time the benchmark scenes on this machine, with the residual beside every time; or compare
    /// methods.
    Bench(BenchOptions),
    /// Run a scene of systems (a ball, a circuit, an oscillator, a chain) under every integrator that can, and print errors, orders, residuals and speed.
    CompareIntegrators(CompareIntegratorsOptions),
    /// Write sections after Poincaré of a follower on a turning cam, as SVG pictures.
    CamSections(CamSectionsOptions),
    /// Count the impacts of a two-link arm that tracks a trajectory, against the step and the restitution, beside the survey's table.
    ImpactTable(ImpactTableOptions),
    /// List the built-in scenes with their parameters, and the solvers.
    List,
}

#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchOptions {
    #[command(subcommand)]
    pub(crate) methods: Option<Bench>,
    #[command(flatten)]
    pub(crate) timings: TimingOptions,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct TimingOptions {
    /// The smaller scenes and fewer steps: half a minute instead of hours.
    #[arg(long, conflicts_with = "million")]
    pub(crate) quick: bool,
    /// Also a million spheres.
    #[arg(long, conflicts_with = "sizes")]
    pub(crate) million: bool,
    /// Numbers of spheres, of those that `sphere_pour` has [default: 1000,8000,32000,100000, with
    /// --quick 1000,8000].
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) sizes: Vec<u32>,
    /// Time no more steps than this in each state.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(4..))]
    pub(crate) steps: Option<u64>,
    /// Residuals to which the steps are solved.
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_value = "1e-3,1e-4", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) tol: Vec<f64>,
    /// Threads to be compared with one thread; 0 takes all cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = thread_count)]
    pub(crate) threads: usize,
    /// Print Markdown tables.
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Bench {
    /// Run the solvers over all FCLIB files of a folder, one thread each, from zero impulse, and
    /// print what each of them solved and how fast.
    Solvers(SolverBenchOptions),
    /// Run the tasks of SimBenchmark that need no joints, one thread each: error and time for every
    /// time step, beside those of five other engines.
    Simbench(SimbenchOptions),
    /// Pile up bodies of other shapes than balls: mean and longest steps, their parts, residuals and overlaps.
    Piles(PileOptions),
    /// Run machines of joints: mean and longest steps on one thread and on several, with residuals, open joints and efforts beside them.
    Machines(MachineOptions),
}

impl Default for Command {
    fn default() -> Self {
        Self::Run(RunOptions::default())
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RunOptions {
    /// A scene file (`*.toml`), a robot file (`*.urdf`, or `*.xml` for MJCF) or a built-in scene: `name` or `name:key=value,key=value`.
    #[arg(value_name = "SCENE", required_unless_present = "resume")]
    pub(crate) scene: Option<String>,
    #[command(flatten)]
    pub(crate) robot: RobotOptions,
    /// Number of steps, instead of the scene's duration; with `--resume` those before are counted, too.
    #[arg(long, value_name = "N", conflicts_with = "time", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    pub(crate) steps: Option<u64>,
    /// Time to simulate, s, instead of the scene's duration; with `--resume` from the beginning of the scene, not from the checkpoint.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) time: Option<f64>,
    /// Time step, s.
    #[arg(long, value_name = "H", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) dt: Option<f64>,
    /// Threads; 0 takes all cores. The result has the same bits for any number.
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
    /// Seed of everything random in the scene.
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// How far each step is solved, instead of the scene's choice.
    #[arg(long, value_name = "PRESET", value_enum)]
    pub(crate) accuracy: Option<Preset>,
    /// No body falls asleep.
    #[arg(long)]
    pub(crate) awake: bool,
    /// Residual `e_scaled` at which the solver stops.
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) tol: Option<f64>,
    /// What to write in each step: JSON lines on stdout, text on stderr, nothing.
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub(crate) log: Log,
    /// Fail with exit code 3 unless every step has a solution and reaches this residual, with efforts of motors at most so many N·s
    /// beyond their bounds. Also the solver's tolerance,
    /// where that is larger and `--tol` is not given.
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) require_residual: Option<f64>,
    /// Fail with exit code 3 unless every step has a solution and leaves at most this velocity, m/s: root mean square over the
    /// closed contacts of an island. Also the solver's tolerance, where that is larger.
    #[arg(long, value_name = "V", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) require_velocity: Option<f64>,
    /// Fail with exit code 1 unless the state at the end has this hash (16 hexadecimal digits).
    #[arg(long, value_name = "HASH", value_parser = hash)]
    pub(crate) verify_hash: Option<u64>,
    /// Write snapshots of the run to this file: at the beginning, every K steps, at the end, and on SIGINT and SIGTERM, which then end the run with exit code 130 or
    /// 143. Each replaces the one before as a whole: a kill at any moment leaves one from which `--resume` goes on to the bits of a run that was not interrupted.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Steps from one snapshot to the next [default: 1000].
    #[arg(long, value_name = "K", requires = "checkpoint", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,
    /// Go on from a snapshot of `--checkpoint`, instead of a scene, up to the end that was asked for there unless `--time` or `--steps` is given. Scene, settings
    /// and random numbers are in it. Give `--checkpoint`, too, to have further ones written. The summary is of the steps made since.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scene", "dt", "seed", "accuracy", "awake", "tol", "base", "keyframe"])]
    pub(crate) resume: Option<PathBuf>,
    /// Write the state at the end to this file, as JSON: bodies and joints with names, and the contacts of the last step with their forces.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Write the problems of the steps as FCLIB files to this folder, with the step's solution:
    /// `SCENE-STEP.hdf5`. Steps without contacts are left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) fclib: Option<PathBuf>,
    /// Only every K-th step.
    #[arg(long, value_name = "K", requires = "fclib", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) fclib_every: Option<u64>,
    /// Only the steps that are as said.
    #[arg(long, value_name = "WHEN", value_enum, requires = "fclib")]
    pub(crate) fclib_when: Option<FclibWhen>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            scene: Some("pour".to_owned()),
            robot: RobotOptions::default(),
            steps: None,
            time: None,
            dt: None,
            threads: None,
            seed: None,
            accuracy: None,
            awake: false,
            tol: None,
            log: Log::None,
            require_residual: None,
            require_velocity: None,
            verify_hash: None,
            checkpoint: None,
            every: None,
            resume: None,
            state: None,
            fclib: None,
            fclib_every: None,
            fclib_when: None,
        }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct InspectOptions {
    /// What `run` takes.
    #[arg(value_name = "SCENE")]
    pub(crate) scene: String,
    #[command(flatten)]
    pub(crate) robot: RobotOptions,
    /// The step, from 1 on.
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    pub(crate) step: u64,
    /// Time step, s.
    #[arg(long, value_name = "H", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) dt: Option<f64>,
    /// Threads; 0 takes all cores. The result has the same bits for any number.
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
    /// Seed of everything random in the scene.
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// How far each step is solved, instead of the scene's choice.
    #[arg(long, value_name = "PRESET", value_enum)]
    pub(crate) accuracy: Option<Preset>,
    /// No body falls asleep.
    #[arg(long)]
    pub(crate) awake: bool,
    /// Residual `e_scaled` at which the steps are solved.
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) tol: Option<f64>,
    /// List so many contacts, those that leave most of their law first.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) top: usize,
    /// Only this contact, by its place in the step.
    #[arg(long, value_name = "INDEX")]
    pub(crate) contact: Option<usize>,
    /// Solve the problem of the step by this method, too.
    #[arg(long, value_name = "NAME", value_parser = solver_parser())]
    pub(crate) solver: Option<&'static SolverChoice>,
    /// Residual `e_scaled` that it is to reach.
    #[arg(long, value_name = "E", default_value = "1e-10", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) solver_tol: f64,
    /// One JSON object on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

impl InspectOptions {
    /// The run up to the step.
    pub(crate) fn run(&self) -> RunOptions {
        RunOptions {
            scene: Some(self.scene.clone()),
            robot: self.robot.clone(),
            steps: Some(self.step),
            dt: self.dt,
            threads: self.threads,
            seed: self.seed,
            accuracy: self.accuracy,
            awake: self.awake,
            tol: self.tol,
            ..RunOptions::default()
        }
    }
}

/// How robot files are read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RobotOptions {
    /// What holds the root link of a URDF: nothing if it has <inertial> and the world otherwise, or as said here.
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) base: Option<BaseChoice>,
    /// The keyframe of an MJCF to start from: its name, or its number from 0.
    #[arg(long, value_name = "NAME")]
    pub(crate) keyframe: Option<String>,
    /// List also what of a robot file was not read and changes no motion.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BaseChoice {
    /// The world.
    Fixed,
    /// Nothing.
    Free,
}

impl RobotOptions {
    pub(crate) fn options(&self) -> moreau_robots::Options {
        moreau_robots::Options {
            base: match self.base {
                None => moreau_robots::Base::AsGiven,
                Some(BaseChoice::Fixed) => moreau_robots::Base::Fixed,
                Some(BaseChoice::Free) => moreau_robots::Base::Free,
            },
            keyframe: self.keyframe.clone(),
            ..moreau_robots::Options::default()
        }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ConvertOptions {
    /// What `run` takes.
    #[arg(value_name = "SCENE")]
    pub(crate) scene: String,
    /// The scene file to be written.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) robot: RobotOptions,
}

/// The presets of [`Accuracy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// To 1e-3, as far as a budget of sweeps gets.
    Interactive,
    /// To 1e-4.
    Engineering,
    /// To 1e-11.
    Reference,
}

impl From<Preset> for Accuracy {
    fn from(preset: Preset) -> Self {
        match preset {
            Preset::Interactive => Self::Interactive,
            Preset::Engineering => Self::Engineering,
            Preset::Reference => Self::Reference,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FclibWhen {
    /// Steps that did not reach the tolerance.
    Unconverged,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SolveOptions {
    /// FCLIB files, text files `*.lcp` of linear complementarity problems, or folders whose files `*.hdf5` are taken.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Which method; `auto` is `lcp-auto` for `*.lcp`.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = solver_parser())]
    pub(crate) solver: &'static SolverChoice,
    /// Residual to reach.
    #[arg(long, value_name = "E", default_value = "1e-8", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) tol: f64,
    /// Which residual.
    #[arg(long, value_name = "KIND", value_enum, default_value_t)]
    pub(crate) residual: ResidualKind,
    /// Time after which a solve returns the best that it has, s.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) max_seconds: Option<f64>,
    /// Threads; 0 takes all cores. The result has the same bits for any number.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = thread_count)]
    pub(crate) threads: usize,
    /// Start from the first guess of a file that has one, instead of zero impulse.
    #[arg(long)]
    pub(crate) warm_start: bool,
    /// Write each problem with the solution found to this folder, under the same name.
    #[arg(long, value_name = "DIR")]
    pub(crate) write_solution: Option<PathBuf>,
    /// One JSON object a file on stdout, instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct VerifyOptions {
    /// FCLIB files, or folders whose files `*.hdf5` are taken.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Fail with exit code 1 unless the residuals, and the errors of the stored velocities, are
    /// within this.
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) tol: Option<f64>,
    /// Which residual.
    #[arg(long, value_name = "KIND", value_enum, default_value_t)]
    pub(crate) residual: ResidualKind,
    /// One JSON object a file on stdout, instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CompareIntegratorsOptions {
    /// A scene of systems: `name` or `name:key=value,key=value`. Without one: list them.
    #[arg(value_name = "SCENE")]
    pub(crate) scene: Option<String>,
    /// Steps, s, of event-driven integration the largest; each is brought to a whole part of a fiftieth of the duration [default: those of the scene].
    #[arg(long, value_name = "H,…", value_delimiter = ',', requires = "scene", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) h: Vec<f64>,
    /// Run the scene under this integrator alone, with the smallest step, and print its states.
    #[arg(long, value_name = "NAME", requires = "scene", value_parser = integrator)]
    pub(crate) integrator: Option<Method>,
    /// One JSON object an integrator and step, or a time, on stdout, instead of a table.
    #[arg(long, requires = "scene")]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CamSectionsOptions {
    /// Turns a minute.
    #[arg(long, value_name = "RPM,…", value_delimiter = ',', default_value = "358,660", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) rpm: Vec<f64>,
    /// Turns that are shown.
    #[arg(long, default_value_t = 2000)]
    pub(crate) turns: u32,
    /// Turns before them.
    #[arg(long, default_value_t = 300)]
    pub(crate) skip: u32,
    /// Folder of the pictures.
    #[arg(long, value_name = "OUT_DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ImpactTableOptions {
    /// Steps, s.
    #[arg(long, value_name = "H,…", value_delimiter = ',', default_value = "1e-3,1e-4,1e-5,1e-6", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) h: Vec<f64>,
    /// One JSON object a cell on stdout, instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SolverBenchOptions {
    /// Folder whose files `*.hdf5` are solved, or single files.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Residuals to reach, one profile each.
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_value = "1e-4,1e-8", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) tol: Vec<f64>,
    /// Which residual.
    #[arg(long, value_name = "KIND", value_enum, default_value_t)]
    pub(crate) residual: ResidualKind,
    /// Time after which a problem counts as not solved, s.
    #[arg(long, value_name = "S", default_value = "10", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) max_seconds: f64,
    /// Which methods; all of them if not given.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = solver_parser())]
    pub(crate) solvers: Vec<&'static SolverChoice>,
    /// Write `profile-E.svg` for each residual, `table.md` and `table.csv` to this folder.
    #[arg(long, value_name = "OUT_DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SimbenchOptions {
    /// Which tasks; all of them if not given.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = task_parser())]
    pub(crate) tasks: Vec<Task>,
    /// Only time steps of 1 ms and more, the tower for half a minute instead of ten, and few steps of the robots: half a minute
    /// instead of ten.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print Markdown tables.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Write one line a run to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct PileOptions {
    /// Built-in scenes [default: `pile` of every shape, and 2,000 hulls under ten times the weight].
    #[arg(value_name = "SCENE")]
    pub(crate) scenes: Vec<String>,
    /// Steps of every run [default: 300].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// Time after which a run ends, s.
    #[arg(long, value_name = "S", default_value = "60", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) max_seconds: f64,
    /// Residuals to which the steps are solved.
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_value = "1e-3,1e-4", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) tol: Vec<f64>,
    /// Overlap that is left alone, m [default: that of the settings].
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) overlap: Option<f64>,
    /// Threads; 0 takes all cores.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = thread_count)]
    pub(crate) threads: usize,
    /// Print a Markdown table.
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct MachineOptions {
    /// Built-in scenes [default: humanoid, quadrupeds, gripper, ANYmals, net, arm in a pile].
    #[arg(value_name = "SCENE")]
    pub(crate) scenes: Vec<String>,
    /// Steps on every number of threads.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u64).range(2..=MOST_STEPS))]
    pub(crate) steps: u64,
    /// Time after which a run ends, s.
    #[arg(long, value_name = "S", default_value = "60", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) max_seconds: f64,
    /// Residuals to which the steps are solved.
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_value = "1e-4,1e-8", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) tol: Vec<f64>,
    /// Threads to be compared with one thread; 0 takes all cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = thread_count)]
    pub(crate) threads: usize,
    /// Print a Markdown table.
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Names of tasks.
fn task_parser() -> impl TypedValueParser<Value = Task> {
    PossibleValuesParser::new(Task::ALL.map(Task::name)).try_map(|name| {
        let task = Task::ALL.into_iter().find(|task| task.name() == name);
        task.ok_or("expected a task")
    })
}

/// Names of solvers, with their descriptions in the help.
fn solver_parser() -> impl TypedValueParser<Value = &'static SolverChoice> {
    let names = solver_choice::list()
        .iter()
        .chain(solver_choice::list_for_boxes())
        .map(|solver| PossibleValue::new(solver.name).help(solver.description));
    PossibleValuesParser::new(names)
        .try_map(|name| solver_choice::find(&name).ok_or("expected a solver"))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Log {
    /// One JSON object a step on stdout, and a summary as the last one.
    Jsonl,
    /// About fifty lines over the whole run on stderr.
    Text,
    /// A progress bar on stderr.
    #[default]
    None,
}

/// An integrator by its name.
fn integrator(text: &str) -> Result<Method, String> {
    Method::find(text).ok_or_else(|| {
        let names: Vec<&str> = Method::all().iter().map(|method| method.id).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number > 0".to_owned()),
    }
}

/// Steps of a run, whose times and residuals are kept for the summary: 24 bytes a step.
pub(crate) const MOST_STEPS: u64 = 100_000_000;

fn thread_count(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count) if count <= Threads::MOST => Ok(count),
        _ => Err(format!("expected a number from 0 to {}", Threads::MOST)),
    }
}

fn hash(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let hexadecimal = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16)
        .ok()
        .filter(|_| hexadecimal)
        .ok_or_else(|| "expected 16 hexadecimal digits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn defaults_are_those_of_the_parser() {
        let parsed = Arguments::parse_from(["moreau", "run", "pour"]);
        let defaults = Command::default();
        assert_eq!(
            format!("{:?}", parsed.command),
            format!("{:?}", Some(defaults))
        );
    }

    #[test]
    fn numbers_are_checked() {
        assert_eq!(positive("0.5"), Ok(0.5));
        for text in ["0", "-1", "nan", "inf", "x", ""] {
            assert!(positive(text).is_err(), "{text}");
        }
        assert_eq!(thread_count("8"), Ok(8));
        for text in ["-1", "1025", "x"] {
            assert!(thread_count(text).is_err(), "{text}");
        }
        assert_eq!(hash("00000000000000ff"), Ok(255));
        assert_eq!(hash("0x00000000000000FF"), Ok(255));
        for text in ["ff", "+0000000000000ff", "00000000000000fg", ""] {
            assert!(hash(text).is_err(), "{text}");
        }
    }
}
