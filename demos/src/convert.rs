//! `moreau convert`.

use crate::cli::ConvertOptions;
use crate::failure::Failure;
use crate::run;
use std::path::Path;

/// Writes a scene as TOML. Mesh files of it keep their places.
pub(crate) fn convert(options: &ConvertOptions) -> Result<(), Failure> {
    let mut scene = run::load(&options.scene, &options.robot)?;
    // Their paths are relative to the new file from now on.
    let folder = std::env::current_dir()?.join(&scene.folder);
    let place = |path: &mut std::path::PathBuf| *path = folder.join(&path);
    let lattices = scene.lattices.iter_mut().map(|of| &mut of.body);
    let emitters = scene.emitters.iter_mut().flat_map(|of| &mut of.bodies);
    let bodies = scene.bodies.iter_mut().chain(lattices).chain(emitters);
    bodies
        .filter_map(|body| body.mesh.as_mut())
        .for_each(|mesh| place(&mut mesh.path));
    let file = &options.file;
    if same(file, Path::new(&options.scene)) {
        return Err(Failure::Overwrite { path: file.clone() });
    }
    std::fs::write(file, scene.to_toml()?).map_err(|source| Failure::OutputFile {
        path: file.clone(),
        source,
    })
}

fn same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
