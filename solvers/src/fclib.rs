//! FCLIB files: friction-contact problems in HDF5, read and written in Rust alone
//! [Acary-Bremond-Huber18].
//!
//! ```text
//! local:   u = W r + q                                 FclibProblem::Local
//! global:  M v = H r + f,   u = Hᵀ v + w               FclibProblem::Global
//! ```
//!
//! with Coulomb's law in the plane or in space, or with rolling resistance: all contacts of a file have the same. Rows are
//! those of [`crate::Law`], `N, T` in the plane, `N, T₁, T₂` in space and `N, T₁, T₂, R₁, R₂` with rolling resistance
//! (`fclib_local_rolling`, `fclib_global_rolling`). Equality constraints of files (`V`, `R`, `s`; `G`, `b`; multipliers
//! `l`) and laws that the format has no place for are refused, never dropped.
//!
//! | Object | Content | |
//! |---|---|---|
//! | `/fclib_local/spacedim` | `d`: 2 or 3; 5 in `…_rolling` | int32 |
//! | `/fclib_local/W` | sparse matrix, `d n_c × d n_c`, 1/kg | group |
//! | `/fclib_local/vectors/{q,mu}` | `d n_c` entries, m/s; `n_c` entries | float64 |
//! | `/fclib_global/spacedim` | `d` | int32 |
//! | `/fclib_global/{M,H}` | sparse matrices, `n × n`, kg, and `n × d n_c` | group |
//! | `/fclib_global/vectors/{f,w,mu}` | `n`, N·s; `d n_c`, m/s; `n_c` entries | float64 |
//! | `/fclib_{local,global}_rolling/vectors/mu_r` | `n_c` entries, m | float64 |
//! | `…/info/{title,description,math_info}` | optional | fixed-length string |
//! | `/guesses/number_of_guesses`, `/guesses/{1,2,…}/{u,r[,v]}` | optional | int32, float64 |
//! | `/solution/{u,r[,v]}` | optional | float64 |
//!
//! A sparse matrix is a group of `m`, `n`, `nz`, `nzmax`, `p`, `i` (int32) and `x` (float64):
//!
//! | `nz` | Storage | `p` | `i` |
//! |---|---|---|---|
//! | −2 | compressed rows | `m + 1` starts | columns |
//! | −1 | compressed columns | `n + 1` starts | rows |
//! | ≥ 0 | `nz` triplets | **columns** | **rows** |
//!
//! What to know about the files in circulation:
//!
//! * The header of the C library calls `p` the rows of triplets, but the files hold columns there.
//!   Where the matrix is not square and only the other reading lies in range, that one is taken.
//! * `nzmax` may exceed the number of entries; entries may be explicit zeros. A block of `W` is
//!   stored iff an entry of it is not zero, or it is on the diagonal.
//! * `W` need not be symmetric; its rows are used as given.
//! * `/solution/r` may be all zero: trust a solution only after [`crate::natural_map`] has judged it.
//!   `/guesses/1` is commonly the step before.
//! * The library of the format has no local form with rolling resistance; `fclib_local_rolling` follows its global one.
//! * Texts may hold bytes that are not UTF-8; those are replaced. Attributes and comments on
//!   matrices are not kept.
//!
//! Written files have version 2 of the superblock, which HDF5 reads from 1.8 on, and contiguous
//! little-endian data; `W` in compressed rows without its zeros, `M` and `H` in triplets.
//!
//! Any bytes give a problem or an [`FclibError`]. All data must be contiguous or compact. A declared
//! size is checked before it is allocated: all that is read together is no larger than the file,
//! and data that was declared but never written (zeros) no larger than 16 times the file.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use moreau_solvers::fclib::{FclibFile, FclibProblem};
//! use moreau_solvers::{Delassus, StoredProblem};
//! let problem = StoredProblem::of_contacts(
//!     Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
//!     vec![DVec3::new(-1.0, 0.3, 0.0)],
//!     vec![0.5],
//! );
//! let file = FclibFile::new(FclibProblem::Local(problem));
//! assert_eq!(FclibFile::from_bytes(&file.to_bytes()?)?, file);
//! # Ok::<(), moreau_solvers::fclib::FclibError>(())
//! ```

mod contact_kind;
mod error;
mod matrix;
mod read;
mod source;
mod write;

#[cfg(test)]
mod tests;

pub use error::FclibError;

use crate::{GlobalProblem, Law, ProblemError, StoredProblem};
use std::borrow::Cow;
use std::path::Path;

/// Texts about a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Its name.
    pub title: String,
    /// Where it comes from.
    pub description: String,
    /// What is known of its solutions.
    pub math_info: String,
}

/// The problem of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FclibProblem {
    /// With stored blocks: `/fclib_local`.
    Local(StoredProblem),
    /// In global form: `/fclib_global`.
    Global(GlobalProblem),
}

impl FclibProblem {
    /// Number of contacts.
    #[must_use]
    pub fn contacts(&self) -> usize {
        match self {
            Self::Local(problem) => problem.len(),
            Self::Global(problem) => problem.len(),
        }
    }

    /// The laws, one a contact.
    #[must_use]
    pub fn laws(&self) -> &[Law] {
        match self {
            Self::Local(problem) => problem.laws(),
            Self::Global(problem) => &problem.laws,
        }
    }

    /// Number of rows: entries of an impulse.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.laws().iter().map(Law::rows).sum()
    }

    /// Number of generalised velocities, of a problem in global form.
    #[must_use]
    pub fn degrees_of_freedom(&self) -> Option<usize> {
        match self {
            Self::Local(_) => None,
            Self::Global(problem) => Some(problem.degrees_of_freedom()),
        }
    }

    /// The stored form; a global problem is condensed.
    ///
    /// # Errors
    /// [`ProblemError`] if a global problem is inconsistent or its `M` is singular.
    pub fn stored(&self) -> Result<Cow<'_, StoredProblem>, ProblemError> {
        match self {
            Self::Local(problem) => Ok(Cow::Borrowed(problem)),
            Self::Global(problem) => problem.condense().map(Cow::Owned),
        }
    }
}

/// A point in the space of the unknowns: a guess or a solution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FclibVectors {
    /// `u`, m/s (rolling: rad/s), contact frames, one entry a row.
    pub u: Vec<f64>,
    /// `r`, N·s (rolling: N·m·s), contact frames, one entry a row.
    pub r: Vec<f64>,
    /// `v`, generalised velocities of a problem in global form, one a degree of freedom; files may
    /// have none.
    pub v: Option<Vec<f64>>,
}

/// The content of an FCLIB file.
#[derive(Clone, Debug, PartialEq)]
pub struct FclibFile {
    /// Texts.
    pub info: Info,
    /// The problem.
    pub problem: FclibProblem,
    /// Starting points, as in `/guesses/1`, `/guesses/2`, ….
    pub guesses: Vec<FclibVectors>,
    /// The answer, as in `/solution`.
    pub solution: Option<FclibVectors>,
}

impl FclibFile {
    /// A problem without texts, guesses or solution.
    #[must_use]
    pub fn new(problem: FclibProblem) -> Self {
        Self {
            info: Info::default(),
            problem,
            guesses: Vec::new(),
            solution: None,
        }
    }

    /// Number of contacts.
    #[must_use]
    pub fn contacts(&self) -> usize {
        self.problem.contacts()
    }

    /// Rows of a contact, `spacedim`: 2 in the plane, 3 in space, 5 with rolling resistance.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.problem.laws().first().map_or(3, Law::rows)
    }

    /// Number of blocks of the stored form of `W`, one for two contacts that are coupled. Costs a condensation for a global
    /// problem.
    ///
    /// # Errors
    /// As [`FclibProblem::stored`].
    pub fn blocks(&self) -> Result<usize, ProblemError> {
        Ok(self.problem.stored()?.coupled_pairs())
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`FclibError::File`] with the path and what is wrong with the file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FclibError> {
        let path = path.as_ref();
        std::fs::read(path)
            .map_err(FclibError::Io)
            .and_then(read::file)
            .map_err(|error| error.of_file(path))
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// [`FclibError`] names the dataset at fault, what was found and what was expected.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FclibError> {
        read::file(bytes.to_vec())
    }

    /// Writes to `path`, replacing a file that is there.
    ///
    /// # Errors
    /// [`FclibError::File`] with the path and what is wrong; nothing is written if the content is
    /// not valid.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), FclibError> {
        let path = path.as_ref();
        self.to_bytes()
            .and_then(|bytes| std::fs::write(path, bytes).map_err(FclibError::Io))
            .map_err(|error| error.of_file(path))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// [`FclibError`] if the content is inconsistent or not finite, has laws that the format cannot hold or contacts of
    /// several kinds, or is too large for 32-bit indices.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FclibError> {
        write::file(self)
    }
}
