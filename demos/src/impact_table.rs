//! `moreau impact-table`: the number of impacts of a tracking two-link arm against the step and the restitution, beside the survey's table I.

use crate::cli::ImpactTableOptions;
use crate::failure::Failure;
use crate::json_lines;
use crate::run::read;
use crate::units::quantity;
use moreau_demos::systems::manipulator::{Manipulator, STEPS, TABLE};
use moreau_demos::table::{Column, Table};
use serde::Serialize;
use std::io::{self, Write};

/// The tip is held long before, s.
const END: f64 = 9.9;

#[derive(Serialize)]
struct Cell {
    restitution: f64,
    h: f64,
    impacts: Option<usize>,
    survey: Option<usize>,
    unsolved: usize,
}

/// Runs the arm with every restitution of the table and every step.
pub(crate) fn run(options: &ImpactTableOptions) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let mut columns = vec![Column::right("e")];
    let heads = options.h.iter().map(|h| quantity(*h, "s"));
    columns.extend(heads.map(Column::right));
    let mut table = Table::new(columns);
    for (restitution, survey) in TABLE {
        let mut row = vec![format!("{restitution}")];
        for h in &options.h {
            let place = STEPS.iter().position(|step| step.to_bits() == h.to_bits());
            let mut arm = Manipulator::new(*h, restitution)?;
            let impacts = arm.accumulate(END)?;
            let cell = Cell {
                restitution,
                h: *h,
                impacts,
                survey: place.and_then(|place| survey.get(place).copied()),
                unsolved: arm.unsolved,
            };
            if options.json && !read(json_lines::line(&mut out, &cell))? {
                return Ok(());
            }
            row.push(text(&cell));
        }
        table.push(row);
    }
    if !options.json {
        read(write_table(&mut out, &table))?;
    }
    Ok(())
}

fn text(cell: &Cell) -> String {
    let own = cell.impacts.map_or("—".to_owned(), |n| n.to_string());
    match cell.survey {
        Some(survey) => format!("{own} ({survey})"),
        None => own,
    }
}

fn write_table(out: &mut impl Write, table: &Table) -> io::Result<()> {
    writeln!(
        out,
        "impacts until the tip of a two-link arm is held on the ground (in brackets: the survey), for each step and restitution e\n"
    )?;
    out.write_all(table.text().as_bytes())?;
    out.flush()
}
