//! Names of bodies and of joints: those of the file, each once.

use crate::model::{Link, Model};
use std::collections::BTreeSet;

pub(super) struct Names {
    taken: BTreeSet<String>,
    taken_by_joints: BTreeSet<String>,
    /// Of every link.
    pub(super) bodies: Vec<String>,
}

impl Names {
    pub(super) fn new(model: &Model) -> Self {
        let mut names = Self {
            taken: BTreeSet::new(),
            taken_by_joints: BTreeSet::new(),
            bodies: Vec::new(),
        };
        for (index, link) in model.links.iter().enumerate() {
            let name = if link.name.is_empty() {
                format!("body {index}")
            } else {
                link.name.clone()
            };
            let name = free(&mut names.taken, &name);
            names.bodies.push(name);
        }
        names
    }

    /// Of a shape that stands in the world.
    pub(super) fn standing(&mut self, link: &Link, geom: Option<&str>) -> String {
        let name = match (geom, link.name.as_str()) {
            (Some(geom), _) => geom.to_owned(),
            (None, "") => "world".to_owned(),
            (None, link) => format!("{link} shape"),
        };
        free(&mut self.taken, &name)
    }

    /// Of a body between two joints of a link.
    pub(super) fn between(&mut self, link: usize, number: usize) -> String {
        let name = format!("{} joint {}", self.bodies[link], number + 1);
        free(&mut self.taken, &name)
    }

    /// Of a joint that holds a body, the one of the file if that has one.
    pub(super) fn joint(&mut self, name: &str, body: &str) -> String {
        let taken = &mut self.taken_by_joints;
        match name.trim() {
            "" => free(taken, &format!("joint of {body}")),
            name => free(taken, name),
        }
    }
}

/// The name, or the first of `name 2`, `name 3`, … that is not taken.
fn free(taken: &mut BTreeSet<String>, name: &str) -> String {
    let mut found = name.to_owned();
    let mut number = 2;
    while !taken.insert(found.clone()) {
        found = format!("{name} {number}");
        number += 1;
    }
    found
}
