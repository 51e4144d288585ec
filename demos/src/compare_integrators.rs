//! `moreau compare-integrators`.

use crate::cli::CompareIntegratorsOptions;
use crate::failure::Failure;
use crate::json_lines;
use crate::run::read;
use crate::units::{count, quantity, residual};
use moreau_demos::systems::comparison::{Compared, Row, compare, steps_per_sample};
use moreau_demos::systems::method::Method;
use moreau_demos::systems::trial::{Trial, sample_time};
use moreau_demos::systems::{self, Chosen};
use moreau_demos::table::{Column, Table};
use serde::Serialize;
use std::io::{self, Write};

/// Runs the scene under all integrators, or lists the scenes.
pub(crate) fn run(options: &CompareIntegratorsOptions) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let Some(spec) = &options.scene else {
        read(write_list(&mut out))?;
        return Ok(());
    };
    let chosen = systems::find(spec)?;
    let counts = counts(&chosen, &options.h)?;
    if let Some(method) = &options.integrator {
        return one(&mut out, &chosen, method, &counts, options.json);
    }
    let mut all = Vec::new();
    for method in Method::all() {
        let compared = compare(&chosen, method, &counts);
        if options.json && !read(write_json(&mut out, &chosen, &compared))? {
            return Ok(());
        }
        all.push(compared);
    }
    if !options.json {
        read(write_table(&mut out, &chosen, &all))?;
    }
    verdict(&all)
}

/// The states of one integrator with the smallest step, at the times of the comparison.
fn one(
    out: &mut impl Write,
    chosen: &Chosen,
    method: &Method,
    counts: &[usize],
    json: bool,
) -> Result<(), Failure> {
    let count = counts.last().copied().unwrap_or(1);
    let trial = Trial::run(chosen, method, count)?;
    let written = if json {
        let mut samples = trial.samples.iter().enumerate();
        samples.try_for_each(|(index, values)| {
            let state = Sampled {
                scene: chosen.spec.as_str(),
                integrator: method.id,
                h: trial.h,
                time: sample_time(chosen.scene.duration, index),
                values,
            };
            json_lines::line(out, &state)
        })
    } else {
        write_states(out, chosen, method, &trial)
    };
    read(written)?;
    match trial.unsolved {
        0 => Ok(()),
        unsolved => Err(Failure::Integrators {
            unsolved,
            integrators: 1,
        }),
    }
}

fn write_states(
    out: &mut impl Write,
    chosen: &Chosen,
    method: &Method,
    trial: &Trial,
) -> io::Result<()> {
    writeln!(
        out,
        "{} · {} with {}\n",
        chosen.spec,
        method.name,
        quantity(trial.h, "s")
    )?;
    let width = trial.samples.first().map_or(0, Vec::len);
    let mut columns = vec![Column::right("t, s")];
    columns.extend((0..width).map(|k| Column::right(format!("{k}"))));
    let mut table = Table::new(columns);
    for (index, values) in trial.samples.iter().enumerate() {
        let mut row = vec![format!("{:.6}", sample_time(chosen.scene.duration, index))];
        row.extend(values.iter().map(|value| format!("{value:.12e}")));
        table.push(row);
    }
    out.write_all(table.text().as_bytes())?;
    out.flush()
}

/// Steps between two samples, the fewest first.
fn counts(chosen: &Chosen, asked: &[f64]) -> Result<Vec<usize>, Failure> {
    let steps = if asked.is_empty() {
        chosen.scene.steps
    } else {
        asked
    };
    let mut counts = Vec::with_capacity(steps.len());
    for h in steps {
        let count = steps_per_sample(chosen, *h).ok_or_else(|| Failure::Field {
            scene: chosen.spec.clone(),
            field: "h",
            value: *h,
            bound: "at most a fiftieth of the duration, and at least 1e-7 of it",
        })?;
        counts.push(count);
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

fn verdict(all: &[Compared]) -> Result<(), Failure> {
    let unsolved = all.iter().filter_map(|compared| {
        let rows = compared.outcome.as_ref().ok()?;
        let unsolved: usize = rows.iter().map(|row| row.trial.unsolved).sum();
        (unsolved > 0).then_some(unsolved)
    });
    let unsolved: Vec<usize> = unsolved.collect();
    if unsolved.is_empty() {
        return Ok(());
    }
    Err(Failure::Integrators {
        unsolved: unsolved.iter().sum(),
        integrators: unsolved.len(),
    })
}

fn write_list(out: &mut impl Write) -> io::Result<()> {
    for scene in systems::list() {
        writeln!(out, "{:<20} {}", scene.name, scene.description)?;
        for parameter in scene.parameters {
            let (pair, about) = (parameter.default_pair(), parameter.description);
            writeln!(out, "{:<20}   {pair:<12} {about}; {}", "", parameter.bound)?;
        }
        let (error, reference) = (scene.error, scene.reference.name());
        writeln!(out, "{:<20}   {error}, against {reference}", "")?;
    }
    writeln!(
        out,
        "\ncompare one:  moreau compare-integrators bouncing-ball --h 1e-2,1e-3"
    )?;
    out.flush()
}

fn write_table(out: &mut impl Write, chosen: &Chosen, all: &[Compared]) -> io::Result<()> {
    let scene = chosen.scene;
    writeln!(out, "{} · {}", chosen.spec, scene.description)?;
    writeln!(
        out,
        "{} s; error: {}, against {}\n",
        scene.duration,
        scene.error,
        scene.reference.name()
    )?;
    let heads = ["h", "error", "order", "residual", "overlap, m", "steps/s"];
    let mut columns = vec![Column::left("integrator")];
    columns.extend(heads.map(Column::right));
    columns.push(Column::left(""));
    let mut table = Table::new(columns);
    for compared in all {
        for row in compared.outcome.iter().flatten() {
            table.push(cells(compared, row));
        }
    }
    out.write_all(table.text().as_bytes())?;
    let mut orders = Table::new(vec![
        Column::left("order over all steps"),
        Column::right(""),
    ]);
    let mut refused = Table::new(vec![Column::left("not for this scene"), Column::left("")]);
    for compared in all {
        let name = compared.method.name.to_owned();
        match (&compared.outcome, compared.order()) {
            (Ok(_), Some(order)) => orders.push(vec![name, format!("{order:.2}")]),
            (Ok(_), None) => {}
            (Err(error), _) => refused.push(vec![name, error.to_string()]),
        }
    }
    if !orders.is_empty() {
        write!(out, "\n{}", orders.text())?;
        if all.iter().any(scatters) {
            let why = "from one step to the next it scatters: impacts and switches fall anywhere in a step";
            writeln!(out, "  {why}")?;
        }
    }
    if !refused.is_empty() {
        write!(out, "\n{}", refused.text())?;
    }
    out.flush()
}

/// An order from one step to the next is far from that over all steps.
fn scatters(compared: &Compared) -> bool {
    let Some(mean) = compared.order() else {
        return false;
    };
    let mut rows = compared.outcome.iter().flatten();
    rows.any(|row| row.order.is_some_and(|order| (order - mean).abs() > 0.25))
}

fn cells(compared: &Compared, row: &Row) -> Vec<String> {
    let trial = &row.trial;
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "—".to_owned());
    let note = match trial.unsolved {
        0 => String::new(),
        unsolved => format!("{unsolved} not solved"),
    };
    vec![
        compared.method.name.to_owned(),
        quantity(trial.h, "s"),
        format!("{:.2e}", row.error),
        or_dash(row.order.map(|order| format!("{order:.2}"))),
        or_dash(trial.residual.map(residual)),
        or_dash(trial.overlap.map(residual)),
        count(trial.steps_per_second() as u64),
        note,
    ]
}

#[derive(Serialize)]
struct Object<'a> {
    scene: &'a str,
    integrator: &'static str,
    h: f64,
    steps: usize,
    unsolved: usize,
    error: f64,
    order: Option<f64>,
    residual: Option<f64>,
    overlap: Option<f64>,
    steps_per_second: f64,
}

#[derive(Serialize)]
struct Sampled<'a> {
    scene: &'a str,
    integrator: &'static str,
    h: f64,
    time: f64,
    values: &'a [f64],
}

#[derive(Serialize)]
struct Refused<'a> {
    scene: &'a str,
    integrator: &'static str,
    refused: String,
}

fn write_json(out: &mut impl Write, chosen: &Chosen, compared: &Compared) -> io::Result<()> {
    let (scene, integrator) = (chosen.spec.as_str(), compared.method.name);
    match &compared.outcome {
        Ok(rows) => rows.iter().try_for_each(|row| {
            let object = Object {
                scene,
                integrator,
                h: row.trial.h,
                steps: row.trial.steps,
                unsolved: row.trial.unsolved,
                error: row.error,
                order: row.order,
                residual: row.trial.residual,
                overlap: row.trial.overlap,
                steps_per_second: row.trial.steps_per_second(),
            };
            json_lines::line(out, &object)
        }),
        Err(error) => {
            let refused = error.to_string();
            json_lines::line(
                out,
                &Refused {
                    scene,
                    integrator,
                    refused,
                },
            )
        }
    }
}
