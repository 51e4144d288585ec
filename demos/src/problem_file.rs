//! Stored problems as the programs use them: found, read, condensed, solved, verified.

use crate::solver_choice::AnySolver;
use moreau_solvers::auto::Stage;
use moreau_solvers::complementarity::{BoxProblem, LcpFile, LcpFileError};
use moreau_solvers::fclib::{FclibError, FclibFile, FclibProblem, FclibVectors, Info};
use moreau_solvers::{
    GlobalProblem, Goal, ProblemError, Residual, SolverReport, SparseMatrix, StoredProblem,
    natural_map,
};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A solve that takes less, s, is repeated: its result has the same bits, its time not.
const BRIEF: f64 = 0.02;
const REPEATS: usize = 10;

/// The content of a file, in the form that solvers take.
#[derive(Clone, Debug)]
pub struct ProblemFile {
    /// Name of the file, without its folder.
    pub name: String,
    /// Texts.
    pub info: Info,
    /// Rows of a contact in the file: 2 in the plane, 3 in space, 5 with rolling resistance.
    pub dimension: usize,
    /// The stored form.
    pub stored: StoredProblem,
    /// The global form that it was condensed from, if the file has that.
    pub global: Option<GlobalProblem>,
    /// Starting points.
    pub guesses: Vec<FclibVectors>,
    /// The answer that the file holds.
    pub solution: Option<FclibVectors>,
    /// Wall time that condensing a problem in global form took, s; 0 for others.
    pub seconds_condense: f64,
    /// A text file of a box problem, not an FCLIB file.
    pub is_lcp: bool,
}

/// What one solve gave.
#[derive(Clone, Debug)]
pub struct Solved {
    /// What the solver says.
    pub report: SolverReport,
    /// The best impulse found, N·s (rolling: N·m·s), one entry a row.
    pub impulse: Vec<f64>,
    /// Wall time of the solve alone, s; of solves below 20 ms the shortest of eleven.
    pub seconds: f64,
    /// Its stages, if the solver has several.
    pub path: Vec<Stage>,
    /// The methods that a choice among methods for boxes took.
    pub methods: Vec<&'static str>,
}

/// What the solution stored in a file is worth, recomputed from the problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verification {
    /// Of `/solution/r`.
    pub residual: Residual,
    /// `‖u − (W r + q)‖ / max(‖u‖, ‖q‖)`.
    pub velocity_error: f64,
    /// `‖M v − H r − f‖ / max(‖M v‖, ‖H r‖, ‖f‖)`, where the file has a `v`.
    pub balance_error: Option<f64>,
}

impl ProblemFile {
    /// Reads the file at `path` and condenses a problem in global form.
    ///
    /// # Errors
    /// [`FclibError::File`] with the path and what is wrong with the file; of an `*.lcp` file an [`io::Error`] with the
    /// [`moreau_solvers::complementarity::LcpFileError`] inside.
    pub fn read(path: &Path) -> Result<Self, FclibError> {
        if path.extension().is_some_and(|end| end == "lcp") {
            return Self::read_lcp(path);
        }
        let file = FclibFile::read(path)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self::new(name.to_string_lossy().into_owned(), file).map_err(|error| FclibError::File {
            path: path.to_owned(),
            source: Box::new(error.into()),
        })
    }

    /// Takes the content of a file; condenses a problem in global form.
    ///
    /// # Errors
    /// [`ProblemError`] if a problem in global form is inconsistent or its `M` is singular.
    pub fn new(name: String, file: FclibFile) -> Result<Self, ProblemError> {
        let (started, dimension) = (Instant::now(), file.dimension());
        let (stored, global, seconds_condense) = match file.problem {
            FclibProblem::Local(problem) => (problem, None, 0.0),
            FclibProblem::Global(global) => {
                let stored = global.condense()?;
                (stored, Some(global), started.elapsed().as_secs_f64())
            }
            // Whatever kinds are added: they have a stored form.
            other => (other.stored()?.into_owned(), None, 0.0),
        };
        Ok(Self {
            name,
            info: file.info,
            dimension,
            stored,
            global,
            guesses: file.guesses,
            solution: file.solution,
            seconds_condense,
            is_lcp: false,
        })
    }

    fn read_lcp(path: &Path) -> Result<Self, FclibError> {
        let of_file = |error: FclibError| FclibError::File {
            path: path.to_owned(),
            source: Box::new(error),
        };
        let file = LcpFile::read(path).map_err(|error| of_file(invalid(error)))?;
        let problem = file.problem.to_stored();
        let stored = problem.map_err(|error| of_file(error.into()))?;
        let solution = file.solution.map(|z| FclibVectors {
            u: stored.velocity_under(&z),
            r: z,
            v: None,
        });
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            info: Info::default(),
            dimension: 1,
            stored,
            global: None,
            guesses: solution.iter().cloned().collect(),
            solution,
            seconds_condense: 0.0,
            is_lcp: true,
        })
    }

    /// Writes the problem with this impulse as its solution, in the format that it was read from.
    ///
    /// # Errors
    /// As [`Self::solution`], and those of writing.
    pub fn write_solution(&self, impulse: &[f64], path: &Path) -> Result<(), FclibError> {
        if !self.is_lcp {
            return self.with_solution(impulse)?.write(path);
        }
        let file = LcpFile {
            problem: BoxProblem::from_stored(&self.stored, "an *.lcp file")?,
            solution: Some(impulse.to_vec()),
        };
        file.write(path).map_err(invalid)
    }

    /// Number of contacts.
    #[must_use]
    pub fn contacts(&self) -> usize {
        self.stored.len()
    }

    /// Number of blocks of the stored form of `W`, one for two contacts that are coupled.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.stored.coupled_pairs()
    }

    /// Zero impulse.
    #[must_use]
    pub fn cold_start(&self) -> Vec<f64> {
        vec![0.0; self.stored.rows()]
    }

    /// The impulse of the first guess, if the file has one.
    #[must_use]
    pub fn warm_start(&self) -> Option<Vec<f64>> {
        self.guesses.first().map(|guess| guess.r.clone())
    }

    /// Solves from `start`.
    ///
    /// # Errors
    /// [`ProblemError`] if the solver refuses the problem.
    pub fn solve(
        &self,
        solver: &mut AnySolver,
        start: Vec<f64>,
        goal: &Goal,
    ) -> Result<Solved, ProblemError> {
        let mut impulse = start.clone();
        let (report, mut seconds) = self.solve_once(solver, &mut impulse, goal)?;
        // The first solve of a process finds cold memory and empty buffers.
        let repeats = if seconds < BRIEF { REPEATS } else { 0 };
        for _ in 0..repeats {
            impulse.copy_from_slice(&start);
            seconds = seconds.min(self.solve_once(solver, &mut impulse, goal)?.1);
        }
        Ok(Solved {
            report,
            impulse,
            seconds,
            path: solver.path().to_vec(),
            methods: solver.methods().to_vec(),
        })
    }

    fn solve_once(
        &self,
        solver: &mut AnySolver,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<(SolverReport, f64), ProblemError> {
        let started = Instant::now();
        let report = solver.solve(&self.stored, self.global.as_ref(), impulse, goal)?;
        Ok((report, started.elapsed().as_secs_f64()))
    }

    /// `u = W r + q`, `r`, and `v` of a problem in global form: what `/solution` holds.
    ///
    /// # Errors
    /// [`ProblemError`] if the impulse does not fit the problem.
    pub fn solution(&self, impulse: &[f64]) -> Result<FclibVectors, ProblemError> {
        let v = self
            .global
            .as_ref()
            .map(|global| global.velocity_under(impulse));
        Ok(FclibVectors {
            u: self.stored.velocity_under(impulse),
            r: impulse.to_vec(),
            v: v.transpose()?,
        })
    }

    /// A file with the problem, and this impulse as its solution.
    ///
    /// # Errors
    /// As [`Self::solution`].
    pub fn with_solution(&self, impulse: &[f64]) -> Result<FclibFile, ProblemError> {
        Ok(FclibFile {
            info: self.info.clone(),
            problem: match &self.global {
                Some(global) => FclibProblem::Global(global.clone()),
                None => FclibProblem::Local(self.stored.clone()),
            },
            guesses: self.guesses.clone(),
            solution: Some(self.solution(impulse)?),
        })
    }

    /// Judges the solution that the file holds; `None` without one.
    #[must_use]
    pub fn verify(&self) -> Option<Verification> {
        let solution = self.solution.as_ref()?;
        let (stored, r) = (&self.stored, &solution.r);
        let expected = stored.velocity_under(r);
        let found = solution.u.iter().zip(expected);
        let difference: Vec<f64> = found.map(|(found, expected)| found - expected).collect();
        let size = norm(&solution.u).max(norm(&stored.free_velocity()));
        let balance = self.global.as_ref().zip(solution.v.as_ref());
        Some(Verification {
            residual: natural_map::stored(stored, r),
            velocity_error: ratio(norm(&difference), size),
            balance_error: balance.map(|(global, v)| balance_error(global, v, r)),
        })
    }
}

/// An error of an `*.lcp` file as one of files.
fn invalid(error: LcpFileError) -> FclibError {
    match error {
        LcpFileError::Io(error) => error.into(),
        error => io::Error::new(io::ErrorKind::InvalidData, error).into(),
    }
}

fn balance_error(global: &GlobalProblem, v: &[f64], r: &[f64]) -> f64 {
    let product = |matrix: &SparseMatrix, x: &[f64]| {
        let mut y = vec![0.0; global.degrees_of_freedom()];
        matrix.add_times(x, &mut y);
        y
    };
    let (momentum, impulse) = (product(&global.mass, v), product(&global.kinematic, r));
    let gap: Vec<f64> = (momentum.iter().zip(&impulse).zip(&global.force))
        .map(|((momentum, impulse), force)| momentum - impulse - force)
        .collect();
    let sizes = [&momentum, &impulse, &global.force].map(|part| norm(part));
    ratio(norm(&gap), sizes.into_iter().fold(0.0, f64::max))
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// `a/b`, zero for 0/0.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

/// The files that `paths` name: files as they are, of folders all `*.hdf5`, sorted by name.
///
/// # Errors
/// A folder that cannot be read, or that has no such file.
pub fn hdf5_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FclibError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let found = in_folder(path).map_err(|error| FclibError::File {
                path: path.clone(),
                source: Box::new(error.into()),
            })?;
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn in_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "hdf5") && path.is_file() {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the folder has no file *.hdf5",
        ));
    }
    found.sort();
    Ok(found)
}
