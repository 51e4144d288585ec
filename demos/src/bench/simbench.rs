//! `moreau bench simbench`.

use super::machine::Machine;
use super::standing;
use crate::cli::SimbenchOptions;
use crate::failure::Failure;
use crate::run::read;
use crate::units::count;
use moreau_demos::simbench::{ENGINES, Measured, Published, Setup, Task, published};
use moreau_demos::table::{Column, Table, three_digits};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Time steps of a quick run, s, at least.
const QUICK_STEP: f64 = 1e-3;
/// Time for which a tower is looked at in a quick run, s.
const QUICK_TOWER: f64 = 30.0;
/// First line of the file.
const CSV_HEAD: &str =
    "task,time_step_s,who,error,unit,steps,seconds,unsolved,worst_e_scaled,deepest_overlap_m\n";

/// One run of this engine.
struct Run {
    task: Task,
    h: f64,
    setup: Setup,
    measured: Measured,
}

/// Runs the tasks; prints each table as soon as it is complete.
pub(super) fn simbench(options: &SimbenchOptions) -> Result<(), Failure> {
    let machine = Machine::this(1);
    let page = |text: &str| read(io::stdout().lock().write_all(text.as_bytes()));
    if !page(&format!("{machine}\n{ABOUT}"))? {
        return Ok(());
    }
    let mut csv = CSV_HEAD.to_owned();
    for task in Task::ALL {
        if !options.tasks.is_empty() && !options.tasks.contains(&task) {
            continue;
        }
        if task == Task::Stand {
            let rows = standing::run(options.quick)?;
            csv += &standing::lines(&rows);
            let text = text_of(&standing::table(&rows), options.markdown);
            if !page(&format!(
                "\n## {}, robot-steps a second\n\n{text}",
                task.name()
            ))? {
                return Ok(());
            }
            continue;
        }
        let mut runs = Vec::new();
        for h in task.time_steps() {
            if options.quick && *h < QUICK_STEP {
                continue;
            }
            for setup in task.setups() {
                runs.push(run(task, *h, *setup, options.quick)?);
            }
        }
        for run in &runs {
            csv += &line(run);
        }
        let table = table(task, &runs);
        let text = text_of(&table, options.markdown);
        let unit = match task.unit() {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        if !page(&format!("\n## {}{unit}\n\n{text}", task.name()))? {
            return Ok(());
        }
    }
    if let Some(path) = &options.csv {
        std::fs::write(path, csv).map_err(|source| Failure::OutputFile {
            path: path.clone(),
            source,
        })?;
    }
    Ok(())
}

fn text_of(table: &Table, markdown: bool) -> String {
    if markdown {
        table.markdown()
    } else {
        table.text()
    }
}

/// What the cells mean.
const ABOUT: &str = "
Mean square error / s of computing; of each engine its best published error, on another machine
(Intel i7-7700HQ). Steps that missed their tolerance are counted with a !.
";

fn run(task: Task, h: f64, setup: Setup, quick: bool) -> Result<Run, Failure> {
    let mut scene = task.scene(h, setup);
    if quick && task == Task::Kapla {
        scene.duration = QUICK_TOWER;
    }
    // Progress that cannot be shown is no reason to stop.
    let _ = writeln!(io::stderr(), "{} {h:e} s, {}", task.name(), setup.name());
    Ok(Run {
        task,
        h,
        setup,
        measured: task.measure(&scene)?,
    })
}

/// A row for each time step, a column for each setup and each engine.
fn table(task: Task, runs: &[Run]) -> Table {
    let own = task.setups().iter().map(|setup| match setup {
        Setup::Default => "Moreau".to_owned(),
        other => format!("Moreau, {}", other.name()),
    });
    let heads = own.chain(ENGINES.map(str::to_owned));
    let first = [Column::right("h, s")].into_iter();
    let mut table = Table::new(first.chain(heads.map(Column::right)).collect());
    for h in task.time_steps() {
        let here = runs.iter().filter(|run| run.h.total_cmp(h).is_eq());
        let mut cells = vec![h.to_string()];
        cells.extend(here.map(own_cell));
        if cells.len() == 1 {
            continue;
        }
        let rows = published(task, *h);
        cells.extend(ENGINES.map(|engine| {
            let best = rows.iter().find(|row| row.engine == engine);
            best.map_or_else(|| "–".to_owned(), published_cell)
        }));
        table.push(cells);
    }
    table
}

fn own_cell(run: &Run) -> String {
    let Measured {
        error,
        steps,
        unsolved,
        ..
    } = run.measured;
    let mut cell = cell(run.task, error, steps, run.measured.time.as_secs_f64());
    if unsolved > 0 {
        // Writing to a string does not fail.
        let _ = write!(cell, " !{unsolved}");
    }
    cell
}

fn published_cell(row: &Published) -> String {
    cell(row.task, row.figure, row.figure as u64, row.seconds)
}

fn cell(task: Task, error: f64, steps: u64, seconds: f64) -> String {
    let figure = match task {
        Task::Kapla => format!("{} steps", count(steps)),
        _ => format!("{error:.1e}"),
    };
    if seconds.is_nan() {
        return figure;
    }
    format!("{figure} / {}", three_digits(seconds))
}

fn line(run: &Run) -> String {
    let Run {
        task,
        h,
        setup,
        measured,
    } = run;
    format!(
        "{},{h:e},{},{:.3e},{},{},{:.4e},{},{:.1e},{:.2e}\n",
        task.name(),
        setup.name(),
        measured.error,
        task.unit(),
        measured.steps,
        measured.time.as_secs_f64(),
        measured.unsolved,
        measured.worst,
        measured.overlap,
    )
}
