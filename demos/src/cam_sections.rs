//! `moreau cam-sections`: sections of the follower's motion on a cam after Poincaré, as pictures.

use crate::cli::CamSectionsOptions;
use crate::failure::Failure;
use crate::run::read;
use moreau_demos::systems::cam_follower::sections::Sections;
use std::io::{self, Write};
use std::path::Path;

/// Where the follower starts: m, m/s.
const START: [f64; 2] = [0.5, 0.0];

/// Writes `cam-RPM.svg` for each speed.
pub(crate) fn run(options: &CamSectionsOptions) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    for rpm in &options.rpm {
        let turns = [options.skip as usize, options.turns as usize];
        let sections = Sections::of(*rpm, START, turns)?;
        let path = options.out.join(format!("cam-{rpm}.svg"));
        write(&options.out, &path, &sections.svg()).map_err(|source| Failure::OutputFile {
            path: path.clone(),
            source,
        })?;
        let line = writeln!(
            out,
            "{}: {} turns, {} impacts, {} turns not solved",
            path.display(),
            sections.stroboscopic.len(),
            sections.impacts.len(),
            sections.unsolved
        );
        if !read(line)? {
            break;
        }
        if sections.unsolved > 0 {
            return Err(Failure::Integrators {
                unsolved: sections.unsolved,
                integrators: 1,
            });
        }
    }
    Ok(())
}

fn write(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(path, text)
}
