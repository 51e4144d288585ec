//! Names of bodies: those of the links, each once.

use crate::model::{Link, Model};
use std::collections::BTreeSet;

pub(super) struct Names {
    taken: BTreeSet<String>,
    /// Of every link.
    pub(super) bodies: Vec<String>,
}

impl Names {
    pub(super) fn new(model: &Model) -> Self {
        let mut names = Self {
            taken: BTreeSet::new(),
            bodies: Vec::new(),
        };
        for (index, link) in model.links.iter().enumerate() {
            let name = if link.name.is_empty() {
                format!("body {index}")
            } else {
                link.name.clone()
            };
            let name = names.free(&name);
            names.bodies.push(name);
        }
        names
    }

    /// The name, or the first of `name 2`, `name 3`, … that is not taken.
    fn free(&mut self, name: &str) -> String {
        let mut found = name.to_owned();
        let mut number = 2;
        while !self.taken.insert(found.clone()) {
            found = format!("{name} {number}");
            number += 1;
        }
        found
    }

    /// Of a shape that stands in the world.
    pub(super) fn standing(&mut self, link: &Link, geom: Option<&str>) -> String {
        let name = match (geom, link.name.as_str()) {
            (Some(geom), _) => geom.to_owned(),
            (None, "") => "world".to_owned(),
            (None, link) => format!("{link} shape"),
        };
        self.free(&name)
    }

    /// Of a body between two joints of a link.
    pub(super) fn between(&mut self, link: usize, number: usize) -> String {
        let name = format!("{} joint {}", self.bodies[link], number + 1);
        self.free(&name)
    }
}
