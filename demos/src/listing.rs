//! `moreau list`.

use crate::failure::Failure;
use moreau_demos::{BuiltIn, list, solver_choice};
use std::io::{ErrorKind, Write};

pub(crate) fn write() -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match write_to(&mut out) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn write_to(out: &mut impl Write) -> std::io::Result<()> {
    for scene in list() {
        write_scene(out, scene)?;
    }
    writeln!(out, "\nrun one:  moreau run pyramid:n=30,friction=0.4")?;
    writeln!(out, "\nsolvers of stored problems:")?;
    for solver in solver_choice::list() {
        writeln!(out, "{:<22} {}", solver.name, solver.description)?;
    }
    writeln!(out, "\nsolvers of linear complementarity problems:")?;
    for solver in solver_choice::list_for_boxes() {
        writeln!(out, "{:<22} {}", solver.name, solver.description)?;
    }
    writeln!(out, "\nsolve one:  moreau solve problem.hdf5 --solver nsgs")?;
    out.flush()
}

fn write_scene(out: &mut impl Write, scene: &BuiltIn) -> std::io::Result<()> {
    writeln!(out, "{:<12} {}", scene.name, scene.description)?;
    for parameter in scene.parameters {
        let default = parameter.default_pair();
        let (about, bound) = (parameter.description, parameter.bound);
        writeln!(out, "{:<12}   {default:<16} {about}; {bound}", "")?;
    }
    Ok(())
}
