//! Actuators that drive a joint.
//!
//! With the gear `g`, a position servo pushes the joint by `g k_p (u − g q) − g² k_v q̇` and a velocity servo by `g k_v (u − g q̇)`: motors with the
//! gains `g² k_p` and `g² k_v` that go to `u/g`.

use super::classes::Classes;
use crate::error::RobotError;
use crate::model::{Coordinate, Hold, Model, Motion};
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use moreau::scene::nearest_name;
use moreau::{JointAxis, JointForce};

/// Where a control goes: link, joint of it, force of that, and what one unit of control is.
pub(super) struct Target {
    pub(super) link: usize,
    pub(super) axis: usize,
    pub(super) force: usize,
    pub(super) unit: f64,
    pub(super) is_position: bool,
}

pub(super) fn read<'a>(
    root: Element<'a>,
    classes: &Classes<'a>,
    model: &mut Model,
    reading: &mut Reading,
) -> Result<Vec<Option<Target>>, RobotError> {
    let mut targets = Vec::new();
    for element in root.all("actuator").iter().flat_map(Element::children) {
        targets.push(actuator(element, classes, model, reading)?);
    }
    Ok(targets)
}

fn actuator<'a>(
    element: Element<'a>,
    classes: &Classes<'a>,
    model: &mut Model,
    reading: &mut Reading,
) -> Result<Option<Target>, RobotError> {
    let tag = element.tag();
    if !["position", "velocity", "motor"].contains(&tag) {
        return Ok(None);
    }
    element.meet();
    let _ = element.get("name");
    let view = classes.view(element, None)?;
    let Some(name) = view.text("joint") else {
        let why = "only joints are driven".to_owned();
        reading.note(element.note(None, Reason::LeftOut(why)));
        return Ok(None);
    };
    let Coordinate { link, axis } = joint_of(element, name, model)?;
    let [gear, ..] = view.first("gear", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
    if gear == 0.0 {
        return Err(view.refuse("gear", gear, "not zero"));
    }
    let range = view.exactly::<2>("forcerange")?;
    let limited = view.word("forcelimited", &["false", "true", "auto"])? != Some(0);
    let mut effort = match range.filter(|_| limited) {
        Some([low, high]) => {
            if low > high {
                let value = format!("{low} {high}");
                return Err(view.refuse("forcerange", value, "the lower bound first"));
            }
            let most = low.abs().max(high.abs());
            if (low + high).abs() > 1e-12 * most {
                let by = "both bounds are the larger one".to_owned();
                reading.note(element.note(Some("forcerange"), Reason::Replaced(by)));
            }
            gear.abs() * most
        }
        None => f64::INFINITY,
    };
    let (stiffness, damping) = match tag {
        "position" => (
            view.not_negative("kp")?.unwrap_or(1.0),
            view.not_negative("kv")?.unwrap_or(0.0),
        ),
        "velocity" => (0.0, view.not_negative("kv")?.unwrap_or(1.0)),
        _ => {
            let bounded = view.word("ctrllimited", &["false", "true", "auto"])? != Some(0);
            let range = view.exactly::<2>("ctrlrange")?;
            if let Some([low, high]) = range.filter(|_| bounded) {
                effort = effort.min(gear.abs() * low.abs().max(high.abs()));
            }
            let why = "no given torques: a motor without gains, with its bound".to_owned();
            reading.note(element.note(None, Reason::Replaced(why)));
            (0.0, 0.0)
        }
    };
    let Hold::Joints(axes) = &mut model.links[link].hold else {
        return Ok(None);
    };
    let of = &mut axes[axis];
    let along = match of.motion {
        Motion::Hinge(_) => JointAxis::RotationZ,
        Motion::Slide(_) => JointAxis::Z,
        Motion::Ball(_) | Motion::Planar => {
            let why = "balls are not driven".to_owned();
            reading.note(element.note(None, Reason::LeftOut(why)));
            return Ok(None);
        }
    };
    of.forces.push(JointForce::Motor {
        axis: along,
        position: -of.reference,
        velocity: 0.0,
        stiffness: gear * gear * stiffness,
        damping: gear * gear * damping,
        effort,
    });
    Ok(Some(Target {
        link,
        axis,
        force: of.forces.len() - 1,
        unit: 1.0 / gear,
        is_position: tag == "position",
    })
    .filter(|_| tag != "motor"))
}

/// The joint of this name.
pub(super) fn joint_of(
    element: Element,
    name: &str,
    model: &Model,
) -> Result<Coordinate, RobotError> {
    find(model, name).ok_or_else(|| RobotError::Unknown {
        place: element.place(),
        what: "joint",
        name: name.to_owned(),
        nearest: nearest_name(name, joint_names(model)).map(str::to_owned),
    })
}

fn joint_names(model: &Model) -> impl Iterator<Item = &str> {
    let links = model.links.iter();
    links.flat_map(|link| match &link.hold {
        Hold::Joints(axes) => axes.iter().map(|axis| axis.name.as_str()).collect(),
        _ => Vec::new(),
    })
}

fn find(model: &Model, name: &str) -> Option<Coordinate> {
    let mut links = model.links.iter().enumerate();
    links.find_map(|(link, of)| match &of.hold {
        Hold::Joints(axes) => {
            let axis = axes.iter().position(|axis| axis.name == name)?;
            Some(Coordinate { link, axis })
        }
        _ => None,
    })
}
