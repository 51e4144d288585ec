//! From bytes to a problem.

use super::error::expect_length;
use super::source::Source;
use super::{FclibError, FclibFile, FclibProblem, FclibVectors, Info, matrix};
use crate::planar::{PlanarGlobalProblem, PlanarProblem};
use crate::{Delassus, GlobalProblem, StoredProblem};
use glam::{DMat2, DMat3, DVec2, DVec3};

/// Groups that hold a problem; only the first two kinds are supported.
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
    let dimension = match source.integer(&format!("{kind}/spacedim"))? {
        2 => 2,
        3 => 3,
        found => {
            return Err(FclibError::Integer {
                dataset: format!("{kind}/spacedim"),
                found,
                expected: "2 or 3",
            });
        }
    };
    let problem = if kind == KINDS[0] {
        FclibProblem::Local(local(&source, kind, dimension)?)
    } else {
        FclibProblem::Global(global(&source, kind, dimension)?)
    };
    let vectors = Vectors {
        source: &source,
        dimension,
        problem: &problem,
    };
    let (guesses, solution) = (vectors.guesses()?, vectors.solution()?);
    Ok(FclibFile {
        info: info(&source, kind)?,
        dimension,
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
        [kind] if kind == KINDS[0] || kind == KINDS[1] => Ok(kind),
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

fn local(source: &Source, kind: &str, dimension: usize) -> Result<StoredProblem, FclibError> {
    let friction = friction(source, kind)?;
    let size = dimension * friction.len();
    let q = source.reals_of(&format!("{kind}/vectors/q"), size)?;
    let w = matrix::read(source, &format!("{kind}/W"), [size; 2])?;
    let rows = matrix::blocks(&w, dimension);
    let problem = if dimension == 2 {
        let flat = |(column, block): &(u32, DMat3)| (*column, DMat2::from_mat3(*block));
        let planar = PlanarProblem {
            rows: rows
                .iter()
                .map(|row| row.iter().map(flat).collect())
                .collect(),
            free_velocity: pairs(&q),
            friction,
        };
        planar.embed()
    } else {
        StoredProblem::of_contacts(Delassus::from_rows(rows), vectors(&q, 3), friction)
    };
    problem.validate()?;
    Ok(problem)
}

fn global(source: &Source, kind: &str, dimension: usize) -> Result<GlobalProblem, FclibError> {
    let friction = friction(source, kind)?;
    let size = dimension * friction.len();
    let w = source.reals_of(&format!("{kind}/vectors/w"), size)?;
    let force = source.reals(&format!("{kind}/vectors/f"))?;
    let n = force.len();
    let mass = matrix::read(source, &format!("{kind}/M"), [n, n])?;
    let kinematic = matrix::read(source, &format!("{kind}/H"), [n, size])?;
    let problem = if dimension == 2 {
        let planar = PlanarGlobalProblem {
            mass,
            kinematic,
            force,
            offset: pairs(&w),
            friction,
        };
        planar.embed()?
    } else {
        GlobalProblem {
            mass,
            kinematic,
            force,
            offset: vectors(&w, 3),
            friction,
        }
    };
    problem.validate()?;
    Ok(problem)
}

fn friction(source: &Source, kind: &str) -> Result<Vec<f64>, FclibError> {
    let dataset = format!("{kind}/vectors/mu");
    let friction = source.reals(&dataset)?;
    match friction.iter().position(|mu| *mu < 0.0) {
        None => Ok(friction),
        Some(contact) => Err(FclibError::Friction {
            value: friction[contact],
            dataset,
            contact,
        }),
    }
}

/// Guesses and the solution.
struct Vectors<'a> {
    source: &'a Source,
    dimension: usize,
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
            let length = self.dimension * self.problem.contacts();
            let values = self.source.reals_of(&format!("{group}/{name}"), length)?;
            Ok::<_, FclibError>(vectors(&values, self.dimension))
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

    /// `v`, with the velocity zero of the degrees of freedom that the embedding added.
    fn generalised(&self, dataset: &str) -> Result<Vec<f64>, FclibError> {
        let mut v = self.source.reals(dataset)?;
        if let Some(n) = self.problem.degrees_of_freedom() {
            let added = if self.dimension == 2 {
                self.problem.contacts()
            } else {
                0
            };
            expect_length(dataset, v.len(), n - added)?;
            v.resize(n, 0.0);
        }
        Ok(v)
    }
}

/// Vectors of `dimension` components, padded with zeros to three.
fn vectors(values: &[f64], dimension: usize) -> Vec<DVec3> {
    let component = |v: &[f64], axis: usize| v.get(axis).copied().unwrap_or(0.0);
    let vector = |v: &[f64]| DVec3::from([0, 1, 2].map(|axis| component(v, axis)));
    values.chunks(dimension).map(vector).collect()
}

fn pairs(values: &[f64]) -> Vec<DVec2> {
    vectors(values, 2)
        .iter()
        .map(|vector| vector.truncate())
        .collect()
}
