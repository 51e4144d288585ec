//! `moreau verify`.

use crate::cli::VerifyOptions;
use crate::failure::Failure;
use crate::json_lines;
use crate::run::read;
use crate::solve::{name_width, report_bad};
use crate::units::{count, residual};
use moreau_demos::problem_file::{ProblemFile, Verification, hdf5_files};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Judges the solutions of all files.
pub(crate) fn verify(options: &VerifyOptions) -> Result<(), Failure> {
    let files = hdf5_files(&options.files)?;
    let (mut unusable, mut wrong, mut started) = (0, 0, false);
    let width = name_width(&files);
    let mut out = io::stdout().lock();
    for (index, path) in files.iter().enumerate() {
        let problem = match ProblemFile::read(path) {
            Ok(problem) => problem,
            Err(error) => {
                unusable += 1;
                report_bad(&error);
                continue;
            }
        };
        let found = problem.verify();
        let fine = found.is_some_and(|found| within(&found, options));
        wrong += usize::from(!fine);
        let written = if options.json {
            json_lines::line(&mut out, &object(path, &problem, found, fine))
        } else {
            let first = !std::mem::replace(&mut started, true);
            row(&mut out, width, first, &problem, found)
        };
        if !read(written)? {
            return Err(Failure::Unread {
                done: index + 1,
                files: files.len(),
            });
        }
    }
    let files = files.len();
    if unusable > 0 {
        Err(Failure::Unusable { unusable, files })
    } else if wrong > 0 {
        Err(Failure::Solution { wrong, files })
    } else {
        Ok(())
    }
}

/// Everything that was recomputed is within the tolerance, if there is one.
fn within(found: &Verification, options: &VerifyOptions) -> bool {
    options.tol.is_none_or(|tolerance| {
        options.residual.reached(&found.residual, tolerance)
            && found.velocity_error <= tolerance
            && found.balance_error.is_none_or(|error| error <= tolerance)
    })
}

#[derive(Serialize)]
struct Object {
    file: String,
    contacts: usize,
    solution: bool,
    within: bool,
    e_scaled: Option<f64>,
    e_fclib: Option<f64>,
    cone_violation: Option<f64>,
    velocity_error: Option<f64>,
    balance_error: Option<f64>,
}

fn object(path: &Path, problem: &ProblemFile, found: Option<Verification>, within: bool) -> Object {
    Object {
        file: path.display().to_string(),
        contacts: problem.contacts(),
        solution: found.is_some(),
        within,
        e_scaled: found.map(|found| found.residual.scaled),
        e_fclib: found.map(|found| found.residual.fclib),
        cone_violation: found.map(|found| found.residual.cone_violation),
        velocity_error: found.map(|found| found.velocity_error),
        balance_error: found.and_then(|found| found.balance_error),
    }
}

fn row(
    out: &mut impl Write,
    width: usize,
    first: bool,
    problem: &ProblemFile,
    found: Option<Verification>,
) -> io::Result<()> {
    if first {
        writeln!(
            out,
            "  {:<width$}  contacts  e_scaled   e_fclib   outside the cone  u = Wr + q  \
             Mv = Hr + f",
            "file"
        )?;
    }
    let contacts = count(problem.contacts() as u64);
    write!(out, "  {:<width$}  {contacts:>8}  ", problem.name)?;
    let Some(found) = found else {
        writeln!(out, "no solution")?;
        return out.flush();
    };
    writeln!(
        out,
        "{:>8}  {:>8}  {:>13} N·s  {:>10}  {:>11}",
        residual(found.residual.scaled),
        residual(found.residual.fclib),
        residual(found.residual.cone_violation),
        residual(found.velocity_error),
        found.balance_error.map_or("—".to_owned(), residual),
    )?;
    out.flush()
}
