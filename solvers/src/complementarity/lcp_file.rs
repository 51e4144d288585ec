//! Text files of box problems, `*.lcp`.
//!
//! ```text
//! moreau-lcp 1                 name and version of the format, the first thing in the file
//! # to the end of the line: a comment
//! n 2                          number of rows
//! M                            n rows of n numbers
//!  2  1
//!  1  2
//! q                            n numbers
//! -5 -6
//! lo                           n numbers or -inf; 0 without this part
//!  0  0
//! hi                           n numbers or inf; inf without this part
//!  inf inf
//! z                            n numbers, a solution or a start; may be missing
//!  1.3333333333333333 2.3333333333333335
//! ```
//!
//! Words and numbers are separated by spaces and ends of lines, of which there may be any number. `M` comes after `n`; the other parts in any order,
//! each once. Numbers are decimal, as in `-1.5e-3`. The problem is `−(M z + q) ∈ N_[lo, hi](z)`. Nothing is allocated that the size of the
//! file does not justify: `n` is checked against the number of bytes left before anything is read.

mod error;
mod words;

pub use error::LcpFileError;

use super::BoxProblem;
use std::fmt::Write as _;
use std::path::Path;
use words::{Word, Words};

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct LcpFile {
    /// The problem.
    pub problem: BoxProblem,
    /// `z`, if the file has one.
    pub solution: Option<Vec<f64>>,
}

const NAME: &str = "moreau-lcp";
const VERSION: &str = "1";

impl LcpFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`LcpFileError`] says what is wrong, and where.
    pub fn read(path: &Path) -> Result<Self, LcpFileError> {
        let bytes = std::fs::read(path)?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
                Err(LcpFileError::NotText { line })
            }
        }
    }

    /// Reads the text of a file.
    ///
    /// ```
    /// use moreau_solvers::complementarity::LcpFile;
    /// let file = LcpFile::parse("moreau-lcp 1\nn 1\nM 2\nq -1\nz 0.5\n")?;
    /// assert_eq!((file.problem.q(), file.solution), (&[-1.0][..], Some(vec![0.5])));
    /// let error = LcpFile::parse("moreau-lcp 1\nn 1\nM 2\nq nan\n").unwrap_err();
    /// assert_eq!(error.to_string(), "line 4: q: found \"nan\", expected a finite number");
    /// # Ok::<(), moreau_solvers::complementarity::LcpFileError>(())
    /// ```
    ///
    /// # Errors
    /// [`LcpFileError`] says what is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, LcpFileError> {
        let mut words = Words::new(text);
        words.expect(NAME, "the name of the format")?;
        words.expect(VERSION, "the version of the format")?;
        let mut n = None;
        let [mut matrix, mut q, mut low, mut high, mut z] = [const { None }; 5];
        while let Some(word) = words.next() {
            let mut part = |what, part: &mut Option<Vec<f64>>, count: usize, infinite| {
                if part.is_some() {
                    return Err(LcpFileError::Repeated {
                        line: word.line,
                        what,
                    });
                }
                *part = Some(words.numbers(what, count, infinite)?);
                Ok(())
            };
            match (word.text, n) {
                ("n", None) => n = Some(words.count()?),
                ("M", Some(n)) => part("M", &mut matrix, n * n, false)?,
                ("q", Some(n)) => part("q", &mut q, n, false)?,
                ("lo", Some(n)) => part("lo", &mut low, n, true)?,
                ("hi", Some(n)) => part("hi", &mut high, n, true)?,
                ("z", Some(n)) => part("z", &mut z, n, false)?,
                ("n", Some(_)) => {
                    return Err(LcpFileError::Repeated {
                        line: word.line,
                        what: "n",
                    });
                }
                (_, None) => return Err(unknown(&word, "n")),
                (_, Some(_)) => return Err(unknown(&word, "M, q, lo, hi or z")),
            }
        }
        let n = n.ok_or(LcpFileError::Missing { what: "n" })?;
        let problem = BoxProblem::new(
            matrix.ok_or(LcpFileError::Missing { what: "M" })?,
            q.ok_or(LcpFileError::Missing { what: "q" })?,
            low.unwrap_or_else(|| vec![0.0; n]),
            high.unwrap_or_else(|| vec![f64::INFINITY; n]),
        )?;
        Ok(Self {
            problem,
            solution: z,
        })
    }

    /// The text of the file. Reading it gives the same numbers, bit by bit.
    #[must_use]
    pub fn text(&self) -> String {
        let problem = &self.problem;
        let mut text = format!("{NAME} {VERSION}\nn {}\nM\n", problem.len());
        (0..problem.len()).for_each(|row| line(&mut text, problem.row(row)));
        text.push_str("q\n");
        line(&mut text, problem.q());
        if !problem.is_complementarity() {
            text.push_str("lo\n");
            line(&mut text, problem.low());
            text.push_str("hi\n");
            line(&mut text, problem.high());
        }
        if let Some(z) = &self.solution {
            text.push_str("z\n");
            line(&mut text, z);
        }
        text
    }

    /// Writes the file to `path`.
    ///
    /// # Errors
    /// [`LcpFileError::Io`] if the operating system refuses.
    pub fn write(&self, path: &Path) -> Result<(), LcpFileError> {
        Ok(std::fs::write(path, self.text())?)
    }
}

fn unknown(word: &Word, expected: &'static str) -> LcpFileError {
    LcpFileError::Word {
        line: word.line,
        what: "a part",
        found: words::shortened(word.text),
        expected,
    }
}

fn line(text: &mut String, values: &[f64]) {
    for value in values {
        // Writing to a string does not fail.
        let _ = write!(text, " {value:?}");
    }
    text.push('\n');
}
