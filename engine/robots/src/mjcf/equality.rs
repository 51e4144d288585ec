//! Equalities of joints as relations of their coordinates.
//!
//! The format says `y − y₀ = a₀ + a₁ (x − x₀) + …` with `x₀`, `y₀` the reference coordinates, which are zero here: `y = a₀ + a₁ x`, in rad and m.

use super::actuator::joint_of;
use super::classes::Classes;
use crate::error::RobotError;
use crate::model::{Coordinate, Hold, Model, Motion, Relation};
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;

pub(super) fn read<'a>(
    root: Element<'a>,
    classes: &Classes<'a>,
    model: &mut Model,
    reading: &mut Reading,
) -> Result<(), RobotError> {
    for group in root.all("equality") {
        for element in group.all("joint") {
            if let Some(relation) = joint(element, classes, model, reading)? {
                model.relations.push(relation);
            }
        }
    }
    Ok(())
}

fn joint<'a>(
    element: Element<'a>,
    classes: &Classes<'a>,
    model: &Model,
    reading: &mut Reading,
) -> Result<Option<Relation>, RobotError> {
    let view = classes.defaults_of(element, "equality")?;
    let name = element.get("name").map(str::to_owned);
    let follower = joint_of(element, element.needed("joint1")?, model)?;
    let leader = match view.text("joint2") {
        Some(name) => Some(joint_of(element, name, model)?),
        None => None,
    };
    let [offset, ratio, square, cube, fourth] =
        view.first("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
    let active = view.yes("active")?.unwrap_or(true);
    let mut left_out = |attribute: Option<&str>, why: &str| {
        reading.note(element.note(attribute, Reason::LeftOut(why.to_owned())));
        Ok(None)
    };
    if !active {
        return left_out(None, "it is not active");
    }
    let Some(leader) = leader.filter(|_| ratio != 0.0) else {
        return left_out(None, "no joints that are held in a place");
    };
    if [square, cube, fourth].iter().any(|of| *of != 0.0) {
        return left_out(Some("polycoef"), "no relations that are not linear");
    }
    if !(is_scalar(model, follower) && is_scalar(model, leader)) {
        return left_out(None, "hinges and slides alone");
    }
    if follower == leader {
        return Err(element.wrong("it relates a joint to itself"));
    }
    Ok(Some(Relation {
        name,
        follower,
        leader,
        ratio,
        offset,
    }))
}

fn is_scalar(model: &Model, of: Coordinate) -> bool {
    let Hold::Joints(axes) = &model.links[of.link].hold else {
        return false;
    };
    matches!(axes[of.axis].motion, Motion::Hinge(_) | Motion::Slide(_))
}
