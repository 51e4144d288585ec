//! From bytes to a problem.

use super::contact_kind::ContactKind;
use super::error::expect_length;
use super::source::Source;
use super::{FclibError, FclibFile, FclibProblem, FclibVectors, Info, matrix};
use crate::{GlobalProblem, Law, StoredProblem};

/// Groups that hold a problem: local and global, then the same with rolling resistance.
const KINDS: [&str; 4] = [
    "/fclib_local",
    "/fclib_global",
    "/fclib_local_rolling",
    "/fclib_global_rolling",
];

/// Parts of equality constraints of the two kinds.
const EQUALITY: [&str; 5] = ["V", "R", "G", "vectors/s", "vectors/b"];

pub(super) fn file(bytes: Vec<u8>) -> Result<FclibFile, FclibError> {
    let source = Source::open(bytes)?;
    let kind = kind(&source)?;
    for part in EQUALITY {
        refuse_equality(&source, format!("{kind}/{part}"))?;
    }
    let rolling = KINDS[2..].contains(&kind);
    let laws = ContactKind::read(&source, kind, rolling)?.read_laws(&source, kind)?;
    let problem = if kind == KINDS[0] || kind == KINDS[2] {
        FclibProblem::Local(local(&source, kind, &laws)?)
    } else {
        FclibProblem::Global(global(&source, kind, laws)?)
    };
    let vectors = Vectors {
        source: &source,
        problem: &problem,
    };
    let (guesses, solution) = (vectors.guesses()?, vectors.solution()?);
    Ok(FclibFile {
        info: info(&source, kind)?,
        problem,
        guesses,
        solution,
    })
}

fn kind(source: &Source) -> Result<&'static str, FclibError> {
    let mut found = Vec::new();
    for kind in KINDS {
        if source.has(kind)? {
            found.push(kind);
        }
    }
    match found[..] {
        [kind] => Ok(kind),
        [] => Err(FclibError::Kind {
            found: "no problem".to_owned(),
        }),
        _ => Err(FclibError::Kind {
            found: found.join(" and "),
        }),
    }
}

fn refuse_equality(source: &Source, dataset: String) -> Result<(), FclibError> {
    if source.has(&dataset)? {
        Err(FclibError::Equality { dataset })
    } else {
        Ok(())
    }
}

fn info(source: &Source, kind: &str) -> Result<Info, FclibError> {
    let text = |name: &str| source.text(&format!("{kind}/info/{name}"));
    Ok(Info {
        title: text("title")?,
        description: text("description")?,
        math_info: text("math_info")?,
    })
}

fn local(source: &Source, kind: &str, laws: &[Law]) -> Result<StoredProblem, FclibError> {
    let size = laws.iter().map(Law::rows).sum();
    let q = source.reals_of(&format!("{kind}/vectors/q"), size)?;
    let w = matrix::read(source, &format!("{kind}/W"), [size; 2])?;
    let problem = StoredProblem::new(laws, &w, &q)?;
    problem.validate()?;
    Ok(problem)
}

fn global(source: &Source, kind: &str, laws: Vec<Law>) -> Result<GlobalProblem, FclibError> {
    let size = laws.iter().map(Law::rows).sum();
    let offset = source.reals_of(&format!("{kind}/vectors/w"), size)?;
    let force = source.reals(&format!("{kind}/vectors/f"))?;
    let n = force.len();
    let problem = GlobalProblem {
        mass: matrix::read(source, &format!("{kind}/M"), [n, n])?,
        kinematic: matrix::read(source, &format!("{kind}/H"), [n, size])?,
        force,
        offset,
        laws,
    };
    problem.validate()?;
    Ok(problem)
}

/// Guesses and the solution.
struct Vectors<'a> {
    source: &'a Source,
    problem: &'a FclibProblem,
}

impl Vectors<'_> {
    fn guesses(&self) -> Result<Vec<FclibVectors>, FclibError> {
        if !self.source.has("/guesses")? {
            return Ok(Vec::new());
        }
        let dataset = "/guesses/number_of_guesses";
        let number = self.source.integer(dataset)?;
        if number < 0 {
            return Err(FclibError::Integer {
                dataset: dataset.to_owned(),
                found: number,
                expected: "a count",
            });
        }
        (1..=number)
            .map(|guess| self.read(&format!("/guesses/{guess}")))
            .collect()
    }

    fn solution(&self) -> Result<Option<FclibVectors>, FclibError> {
        let found = self.source.has("/solution")?;
        found.then(|| self.read("/solution")).transpose()
    }

    fn read(&self, group: &str) -> Result<FclibVectors, FclibError> {
        refuse_equality(self.source, format!("{group}/l"))?;
        let local = |name: &str| {
            let rows = self.problem.rows();
            self.source.reals_of(&format!("{group}/{name}"), rows)
        };
        let (u, r) = (local("u")?, local("r")?);
        let v = format!("{group}/v");
        let v = self
            .source
            .has(&v)?
            .then(|| self.generalised(&v))
            .transpose()?;
        Ok(FclibVectors { u, r, v })
    }

    fn generalised(&self, dataset: &str) -> Result<Vec<f64>, FclibError> {
        let v = self.source.reals(dataset)?;
        if let Some(n) = self.problem.degrees_of_freedom() {
            expect_length(dataset, v.len(), n)?;
        }
        Ok(v)
    }
}
