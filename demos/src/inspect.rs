//! `moreau inspect`.

use crate::cli::InspectOptions;
use crate::failure::Failure;
use crate::run::{self, read};
use crate::units::{count, quantity, residual};
use bevy_ecs::name::Name;
use moreau::{BodyId, ContactStatus, Simulation, StepReport};
use moreau_demos::inspection::{Inspected, Inspection, Other};
use moreau_demos::table::{Column, Table};
use moreau_solvers::cone;
use serde::Serialize;
use std::io::{self, Write};

/// Runs a scene up to a step, and takes that apart.
pub(crate) fn inspect(options: &InspectOptions) -> Result<(), Failure> {
    let mut run = run::start(&options.run())?;
    let mut report = StepReport::default();
    for _ in 0..options.step {
        report = run.step()?;
    }
    // A run of at least one step that did not fail has a problem.
    let Some(seen) = Inspection::of(&run.simulation) else {
        return Ok(());
    };
    let other = match options.solver {
        // It would be of another problem.
        Some(_) if !seen.whole => None,
        Some(solver) if !seen.contacts.is_empty() => {
            let solved = seen.solve(solver, options.solver_tol);
            Some(solved.map_err(|source| Failure::Sweeps {
                scene: run.scene().name.clone(),
                step: report.step,
                source,
            })?)
        }
        _ => None,
    };
    let listed: Vec<&Inspected> = match options.contact {
        Some(index) => vec![chosen(&seen, index, &run.scene().name)?],
        None => seen.worst().take(options.top).collect(),
    };
    let mut out = io::stdout().lock();
    let written = if options.json {
        json(&mut out, &run.simulation, &report, &listed, other)
    } else {
        let scene = run.scene().name.clone();
        text(&mut out, &scene, (&run.simulation, &report), &seen, &listed)
            .and_then(|()| said_of(&mut out, options, &seen, other))
    };
    read(written).map(drop)
}

fn chosen<'a>(seen: &'a Inspection, index: usize, scene: &str) -> Result<&'a Inspected, Failure> {
    seen.contacts.get(index).ok_or_else(|| Failure::Field {
        scene: scene.to_owned(),
        field: "--contact",
        value: index as f64,
        bound: "below the number of contacts of the step",
    })
}

/// Its name in the scene, or its number.
fn name(simulation: &Simulation, id: BodyId) -> String {
    let entity = simulation.body(id);
    let name = entity.and_then(|entity| simulation.world().get::<Name>(entity));
    name.map_or_else(|| format!("body {}", id.0), |name| name.as_str().to_owned())
}

fn text(
    out: &mut impl Write,
    scene: &str,
    (simulation, report): (&Simulation, &StepReport),
    seen: &Inspection,
    listed: &[&Inspected],
) -> io::Result<()> {
    writeln!(
        out,
        "{scene} · step {}, t = {:.6} s: {:?}",
        report.step, report.t, report.status
    )?;
    let contacts = seen.contacts.len() as u64;
    writeln!(
        out,
        "\n  {} bodies, {} of them asleep · {} contacts, {} of them closed · {} joints",
        count(report.bodies as u64),
        count(report.sleeping as u64),
        count(contacts),
        count(report.closed_contacts as u64),
        count(report.joints as u64),
    )?;
    writeln!(
        out,
        "  e_scaled {} · {} at the contacts of the worst island, {} at the worst contact",
        residual(report.e_scaled),
        quantity(report.velocity, "m/s"),
        quantity(report.worst_velocity, "m/s"),
    )?;
    writeln!(
        out,
        "  {} sweeps, {} factorisations, {} rounds, {} stages, {} passes of the projection",
        report.sweeps, report.factorizations, report.rounds, report.stages, report.projections
    )?;
    for (what, pair) in [
        ("worst pair", report.worst_pair),
        ("nothing keeps apart", report.conflict),
        ("left in overlap", report.overlap_pair),
    ] {
        if let Some([a, b]) = pair {
            writeln!(
                out,
                "  {what}: {} and {}",
                name(simulation, a),
                name(simulation, b)
            )?;
        }
    }
    if !seen.whole {
        writeln!(
            out,
            "  the contacts alone are not all that the step solved (joints, forces, impacts one after another): what each"
        )?;
        writeln!(
            out,
            "  leaves of its law is not told, q is without the rest, and u is that at the end of the step"
        )?;
    }
    if seen.contacts.is_empty() {
        return writeln!(out, "\n  no contacts");
    }
    if listed.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{}",
        contact_table(simulation, listed).text().trim_end()
    )?;
    block(out, simulation, listed[0])
}

fn contact_table(simulation: &Simulation, listed: &[&Inspected]) -> Table {
    let mut table = Table::new(vec![
        Column::right("contact"),
        Column::left("A"),
        Column::left("B"),
        Column::right("gap"),
        Column::right("force N"),
        Column::right("force T"),
        Column::right("μ"),
        Column::right("of the cone"),
        Column::right("u N"),
        Column::right("u T"),
        Column::right("left"),
        Column::left("status"),
    ]);
    let h = simulation.settings().time_step;
    for of in listed {
        let (view, r) = (&of.view, of.view.impulse);
        let tangential = cone::tangential_norm(r);
        let bound = view.friction * r.x;
        let part = if bound > 0.0 {
            format!("{:.0} %", 100.0 * tangential / bound)
        } else {
            "–".to_owned()
        };
        let [a, b] = view.bodies.map(|id| name(simulation, id));
        table.push(vec![
            of.index.to_string(),
            a,
            b,
            quantity(view.gap, "m"),
            quantity(r.x / h, "N"),
            quantity(tangential / h, "N"),
            format!("{}", view.friction),
            part,
            quantity(view.local_velocity.x, "m/s"),
            quantity(cone::tangential_norm(view.local_velocity), "m/s"),
            of.natural
                .map_or("–".to_owned(), |of| quantity(of.left, "m/s")),
            format!("{:?}", view.status).to_lowercase(),
        ]);
    }
    table
}

/// The first of those that are listed, in numbers.
fn block(out: &mut impl Write, simulation: &Simulation, of: &Inspected) -> io::Result<()> {
    let [a, b] = of.view.bodies.map(|id| name(simulation, id));
    let (n, p) = (of.view.frame.x_axis, of.view.point);
    writeln!(
        out,
        "\n  contact {}, {a} and {b}, coupled with {} others",
        of.index, of.coupled
    )?;
    writeln!(
        out,
        "  at ({:.6}, {:.6}, {:.6}) m, normal ({:.6}, {:.6}, {:.6})",
        p.x, p.y, p.z, n.x, n.y, n.z
    )?;
    writeln!(
        out,
        "\n  {:>38}   {:>12} {:>12} {:>12} {:>12}",
        "W, 1/kg", "q, m/s", "u, m/s", "r, N·s", "F, N·s"
    )?;
    for row in 0..3 {
        let w = of.block.row(row);
        let natural = of.natural.map(|of| format!("{:.4e}", of.map[row]));
        writeln!(
            out,
            "  {:>12.4e} {:>12.4e} {:>12.4e}   {:>12.4e} {:>12.4e} {:>12.4e} {:>12}",
            w.x,
            w.y,
            w.z,
            of.free[row],
            of.velocity[row],
            of.view.impulse[row],
            natural.as_deref().unwrap_or("–"),
        )?;
    }
    Ok(())
}

fn said_of(
    out: &mut impl Write,
    options: &InspectOptions,
    seen: &Inspection,
    other: Option<Other>,
) -> io::Result<()> {
    let Some(solver) = options.solver else {
        return Ok(());
    };
    let Some(other) = other else {
        let why = if !seen.whole {
            "stored problems leave out what else the step solved"
        } else {
            "there are no contacts"
        };
        return writeln!(out, "\n  not solved by {}: {why}", solver.name);
    };
    writeln!(
        out,
        "\n  the same problem by {}, from zero: {:?}, e_scaled {}",
        solver.name,
        other.report.status,
        residual(other.report.residual.scaled)
    )?;
    writeln!(
        out,
        "  its velocities differ from the step's by at most {}, its impulses by {} (these need not be unique)",
        quantity(other.velocity, "m/s"),
        quantity(other.impulse, "N·s")
    )
}

#[derive(Serialize)]
struct Object {
    step: u64,
    t: f64,
    status: String,
    e_scaled: f64,
    velocity: f64,
    contacts: Vec<ContactObject>,
    other: Option<OtherObject>,
}

/// Vectors in the frame of the contact but for point and normal.
#[derive(Serialize)]
struct ContactObject {
    contact: usize,
    bodies: [u64; 2],
    names: [String; 2],
    point: [f64; 3],
    normal: [f64; 3],
    gap: f64,
    friction: f64,
    status: ContactStatus,
    w: [[f64; 3]; 3],
    q: [f64; 3],
    u: [f64; 3],
    r: [f64; 3],
    natural_map: Option<[f64; 3]>,
    left: Option<f64>,
}

#[derive(Serialize)]
struct OtherObject {
    status: String,
    e_scaled: f64,
    velocity_difference: f64,
    impulse_difference: f64,
}

fn json(
    out: &mut impl Write,
    simulation: &Simulation,
    report: &StepReport,
    listed: &[&Inspected],
    other: Option<Other>,
) -> io::Result<()> {
    let contacts = listed.iter().map(|of| ContactObject {
        contact: of.index,
        bodies: of.view.bodies.map(|id| id.0),
        names: of.view.bodies.map(|id| name(simulation, id)),
        point: of.view.point.to_array(),
        normal: of.view.frame.x_axis.to_array(),
        gap: of.view.gap,
        friction: of.view.friction,
        status: of.view.status,
        w: [0, 1, 2].map(|row| of.block.row(row).to_array()),
        q: of.free.to_array(),
        u: of.velocity.to_array(),
        r: of.view.impulse.to_array(),
        natural_map: of.natural.map(|of| of.map.to_array()),
        left: of.natural.map(|of| of.left),
    });
    let object = Object {
        step: report.step,
        t: report.t,
        status: format!("{:?}", report.status).to_lowercase(),
        e_scaled: report.e_scaled,
        velocity: report.velocity,
        contacts: contacts.collect(),
        other: other.map(|other| OtherObject {
            status: format!("{:?}", other.report.status).to_lowercase(),
            e_scaled: other.report.residual.scaled,
            velocity_difference: other.velocity,
            impulse_difference: other.impulse,
        }),
    };
    crate::json_lines::line(out, &object)
}
