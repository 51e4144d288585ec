//! Which links are one body, what it weighs and what it looks like.

use crate::error::RobotError;
use crate::inertia::united;
use crate::model::{Geom, Hold, Model};
use moreau::Material;
use moreau::geometry::{Frame, MassProperties, Shape};

/// A link as a part of a body.
pub(super) struct Part {
    /// First link of its body; 0 is the world.
    pub(super) first: usize,
    /// In the frame of that one.
    pub(super) pose: Frame,
    /// It is part of the world.
    pub(super) stands: bool,
    /// Of the whole body, at its first link.
    pub(super) mass: Option<MassProperties>,
}

pub(super) fn parts(model: &Model) -> Result<Vec<Part>, RobotError> {
    let mut parts: Vec<Part> = Vec::new();
    for (index, link) in model.links.iter().enumerate() {
        let welded = matches!(link.hold, Hold::Welded);
        let parent = link.parent.filter(|_| welded).and_then(|of| parts.get(of));
        let part = match parent {
            Some(parent) => Part {
                first: parent.first,
                pose: parent.pose.compose(&link.pose),
                stands: parent.stands,
                mass: None,
            },
            None => Part {
                first: index,
                pose: Frame::IDENTITY,
                stands: index == 0,
                mass: None,
            },
        };
        parts.push(part);
    }
    for first in 1..parts.len() {
        if parts[first].first != first {
            continue;
        }
        let link = &model.links[first];
        let inertials = model.links.iter().zip(&parts);
        let inertials: Vec<_> = inertials
            .filter(|(_, part)| part.first == first)
            .filter_map(|(link, part)| Some((part.pose, link.inertial?)))
            .collect();
        let refused = |message: String| RobotError::Structure {
            place: link.place.clone(),
            message,
        };
        let mass = united(&inertials).map_err(|error| refused(format!("inertia: {error}")))?;
        if mass.is_none() && !matches!(link.hold, Hold::Kinematic) {
            let links = model.links.iter().zip(&parts);
            let mut own = links.filter(|(_, part)| part.first == first);
            let without = own.find_map(|(link, _)| link.without.as_ref());
            let message = "it moves and has no mass".to_owned();
            return Err(refused(match without {
                Some(without) => format!("{message} ({without})"),
                None => message,
            }));
        }
        parts[first].mass = mass;
    }
    Ok(parts)
}

/// The shapes of a body, in the frame of its first link.
pub(super) fn geoms_of<'a>(
    model: &'a Model,
    parts: &[Part],
    first: usize,
) -> Vec<(Frame, &'a Geom)> {
    let links = model.links.iter().zip(parts);
    links
        .filter(|(_, part)| part.first == first)
        .flat_map(|(link, part)| {
            let geoms = link.geoms.iter();
            geoms.map(|geom| (part.pose.compose(&geom.pose), geom))
        })
        .collect()
}

/// One shape of all.
pub(super) fn shape(geoms: &[(Frame, &Geom)]) -> Option<Shape> {
    match geoms {
        [] => None,
        [(pose, only)] if *pose == Frame::IDENTITY => Some(only.shape.clone()),
        several => Some(Shape::Compound {
            parts: several
                .iter()
                .map(|(pose, geom)| {
                    let orientation = moreau::rotation::normalised(pose.orientation);
                    (Frame::new(pose.position, orientation), geom.shape.clone())
                })
                .collect(),
        }),
    }
}

/// What a shape is made of, if the file says it.
pub(super) fn material_of(geom: &Geom) -> Option<Material> {
    if geom.frictionless {
        return Some(Material::frictionless(0.0));
    }
    geom.friction.map(Material::with_friction)
}
