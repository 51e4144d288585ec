//! Reads `data/*.toml`: either `w`, `q`, `mu`, `joints`, or bodies and their contacts. Vectors are written in threes; a joint of
//! `k` blocks is an equality of `3k` rows after the contacts.

use crate::case::{Case, Expect, Unique};
use glam::{DMat3, DVec3};
use moreau_solvers::{
    Contact, FactoredProblem, InverseMass, Law, StoredProblem, WorldTwist, rows_of,
};
use serde::Deserialize;
use std::path::Path;

/// Why a file is no problem.
#[derive(Debug)]
pub(crate) enum LoadError {
    #[allow(dead_code, reason = "printed when a file is refused")]
    /// Syntax, an unknown or missing field, or a value of another type.
    Toml(toml::de::Error),
    #[allow(dead_code, reason = "printed when a file is refused")]
    /// Lengths or values that do not fit together.
    Content(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    shows: String,
    #[serde(default)]
    w: Vec<Vec<f64>>,
    #[serde(default)]
    q: Vec<DVec3>,
    #[serde(default)]
    mu: Vec<f64>,
    #[serde(default)]
    joints: Vec<usize>,
    #[serde(default)]
    body: Vec<BodyEntry>,
    #[serde(default)]
    contact: Vec<ContactEntry>,
    expect: ExpectEntry,
}

/// SI units, inertial frame; `inertia` is the diagonal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyEntry {
    #[serde(default)]
    fixed: bool,
    #[serde(default)]
    mass: f64,
    #[serde(default)]
    inertia: DVec3,
    #[serde(default)]
    position: DVec3,
    #[serde(default)]
    velocity: DVec3,
    #[serde(default)]
    spin: DVec3,
}

/// The normal points from the second body to the first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContactEntry {
    bodies: [u32; 2],
    point: DVec3,
    normal: DVec3,
    tangent: DVec3,
    mu: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectEntry {
    outcome: Outcome,
    unique: Option<Unique>,
    #[serde(default)]
    impulses: Vec<Vec<DVec3>>,
    velocity: Option<Vec<DVec3>>,
    sensitivity: Option<f64>,
    #[serde(default)]
    hard: Vec<String>,
    goal: Option<GoalEntry>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Solution,
    #[serde(rename = "no solution")]
    NoSolution,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum GoalEntry {
    Both,
}

/// All files of `data`, by name.
pub(crate) fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("problems/data");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let load = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        parse(name, &text).unwrap_or_else(|error| panic!("{name}: {error:?}"))
    };
    paths.iter().map(load).collect()
}

/// One file.
pub(crate) fn parse(name: &str, text: &str) -> Result<Case, LoadError> {
    let file: File = toml::from_str(text).map_err(LoadError::Toml)?;
    check(
        !file.title.is_empty() && !file.shows.is_empty(),
        "says nothing",
    )?;
    let stored = !file.w.is_empty();
    let mixed = stored && !(file.body.is_empty() && file.contact.is_empty());
    check(!mixed, "both w and bodies")?;
    let problem = if stored {
        stored_problem(&file)?
    } else {
        assembled_problem(&file)?
    };
    let valid = problem.validate();
    valid.map_err(|error| LoadError::Content(error.to_string()))?;
    Ok(Case {
        name: name.to_owned(),
        title: file.title,
        expect: expectation(file.expect, &problem)?,
        problem,
    })
}

fn check(condition: bool, what: &str) -> Result<(), LoadError> {
    if condition {
        Ok(())
    } else {
        Err(LoadError::Content(what.to_owned()))
    }
}

fn stored_problem(file: &File) -> Result<StoredProblem, LoadError> {
    let n = file.q.len();
    let square = file.w.len() == 3 * n && file.w.iter().all(|row| row.len() == 3 * n);
    check(square, "w is not square, or does not fit q")?;
    let joints = file.joints.iter().map(|blocks| Law::equality(3 * blocks));
    let contacts = file.mu.iter().map(|mu| Law::coulomb(*mu));
    let laws: Vec<_> = contacts.chain(joints).collect();
    let problem = crate::reference::from_dense(&laws, &file.w, rows_of(&file.q));
    problem.map_err(|error| LoadError::Content(error.to_string()))
}

fn assembled_problem(file: &File) -> Result<StoredProblem, LoadError> {
    check(!file.contact.is_empty(), "no contacts")?;
    check(
        file.q.is_empty() && file.mu.is_empty() && file.joints.is_empty(),
        "q without w",
    )?;
    for body in &file.body {
        let free = body.mass > 0.0 && body.inertia.min_element() > 0.0;
        let given = body.mass == 0.0 && body.inertia == DVec3::ZERO;
        check(if body.fixed { given } else { free }, "mass of a body")?;
    }
    let inverse = |body: &BodyEntry| InverseMass {
        linear: 1.0 / body.mass,
        angular: DMat3::from_diagonal(body.inertia.recip()),
    };
    let mass = |body| {
        if body_is_fixed(body) {
            InverseMass::FIXED
        } else {
            inverse(body)
        }
    };
    let twist = |body: &BodyEntry| WorldTwist {
        linear: body.velocity,
        angular: body.spin,
    };
    let contacts: Result<Vec<Contact>, _> = file
        .contact
        .iter()
        .map(|entry| contact(file, entry))
        .collect();
    let problem = FactoredProblem {
        inverse_mass: &file.body.iter().map(mass).collect::<Vec<_>>(),
        free_twist: &file.body.iter().map(twist).collect::<Vec<_>>(),
        contacts: &contacts?,
        interactions: &[],
        positions: &[],
        pull: &[],
    };
    let valid = problem.validate();
    valid.map_err(|error| LoadError::Content(error.to_string()))?;
    Ok(problem.assemble())
}

fn body_is_fixed(body: &BodyEntry) -> bool {
    body.fixed
}

fn contact(file: &File, entry: &ContactEntry) -> Result<Contact, LoadError> {
    let (n, t) = (entry.normal, entry.tangent);
    let unit = |v: DVec3| (v.length() - 1.0).abs() <= 1e-12;
    check(
        unit(n) && unit(t) && n.dot(t).abs() <= 1e-12,
        "frame of a contact",
    )?;
    let bodies = entry.bodies.map(|body| file.body.get(body as usize));
    let [Some(a), Some(b)] = bodies else {
        return Err(LoadError::Content("body of a contact".to_owned()));
    };
    Ok(Contact {
        bodies: entry.bodies,
        frame: DMat3::from_cols(n, t, n.cross(t)),
        arms: [entry.point - a.position, entry.point - b.position],
        offset: DVec3::ZERO,
        friction: entry.mu,
    })
}

fn expectation(entry: ExpectEntry, problem: &StoredProblem) -> Result<Expect, LoadError> {
    let solvable = entry.outcome == Outcome::Solution;
    check(
        solvable == entry.unique.is_some(),
        "unique goes with a solution",
    )?;
    let unique = entry.unique.unwrap_or(Unique::Nothing);
    let mut given = entry.impulses.iter().chain(&entry.velocity);
    check(
        given.all(|v| 3 * v.len() == problem.rows()),
        "length of a solution",
    )?;
    let single = unique != Unique::Impulse || entry.impulses.len() <= 1;
    check(single, "several impulses, but unique")?;
    let sensitivity = entry.sensitivity.unwrap_or(100.0);
    check(sensitivity >= 1.0, "sensitivity")?;
    Ok(Expect {
        solvable,
        unique,
        impulses: entry.impulses.iter().map(|r| flat(r)).collect(),
        velocity: entry.velocity.map(|u| flat(&u)),
        sensitivity,
        hard: entry.hard,
        both: entry.goal == Some(GoalEntry::Both),
    })
}

fn flat(vectors: &[DVec3]) -> Vec<f64> {
    rows_of(vectors).to_vec()
}

const BALL: &str = r#"
title = "a"
shows = "b"
w = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
q = [[-1, 0, 0]]
mu = [0.5]
[expect]
outcome = "solution"
unique = "impulse"
impulses = [[[1, 0, 0]]]
"#;

#[test]
fn files_that_do_not_fit_together_are_refused() {
    assert!(parse("ball", BALL).is_ok());
    for (from, to) in [
        ("mu = [0.5]", "mu = [-0.5]"),
        ("mu = [0.5]", "mu = [0.5, 0.5]"),
        ("mu = [0.5]", "mu = \"rough\""),
        ("mu = [0.5]", "mu = [0.5]\nfriction = 1"),
        ("q = [[-1, 0, 0]]", "q = [[-1, 0]]"),
        ("q = [[-1, 0, 0]]", "q = [[nan, 0, 0]]"),
        ("[0, 0, 1]]", "[0, 0]]"),
        ("[[[1, 0, 0]]]", "[[[1, 0, 0], [0, 0, 0]]]"),
        ("[[[1, 0, 0]]]", "[[[1, 0, 0]], [[0, 0, 0]]]"),
        ("\"solution\"", "\"no solution\""),
        ("\"impulse\"", "\"everything\""),
        ("shows = \"b\"", ""),
    ] {
        assert!(BALL.contains(from));
        assert!(parse("ball", &BALL.replace(from, to)).is_err(), "{to}");
    }
}
