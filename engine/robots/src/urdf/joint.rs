//! Joints of a URDF.

use super::{origin, unknown_link};
use crate::attributes::View;
use crate::error::RobotError;
use crate::model::{Axis, Hold, Motion};
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use glam::{DQuat, DVec3};
use moreau::geometry::Frame;
use moreau::{JointAxis, JointForce};
use std::collections::{BTreeMap, BTreeSet};

/// A joint between links by their places in the file.
pub(super) struct Joint<'a> {
    pub(super) element: Element<'a>,
    pub(super) parent: usize,
    pub(super) child: usize,
    /// Of the child in the parent.
    pub(super) pose: Frame,
    pub(super) hold: Hold,
}

const TYPES: [&str; 6] = [
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "floating",
    "planar",
];

pub(super) fn joints<'a>(
    root: Element<'a>,
    links: &BTreeMap<&str, usize>,
    reading: &mut Reading,
) -> Result<Vec<Joint<'a>>, RobotError> {
    let mut joints = Vec::new();
    let mut names = BTreeSet::new();
    for element in root.all("joint") {
        if !names.insert(element.needed("name")?) {
            return Err(element.wrong("a second joint of this name"));
        }
        joints.push(joint(element, links, reading)?);
    }
    Ok(joints)
}

fn joint<'a>(
    element: Element<'a>,
    links: &BTreeMap<&str, usize>,
    reading: &mut Reading,
) -> Result<Joint<'a>, RobotError> {
    let side = |tag: &str| {
        let side = element.one(tag)?.ok_or_else(|| element.missing(tag))?;
        let name = side.needed("link")?;
        let found = links.get(name).copied();
        found.ok_or_else(|| unknown_link(side, name, links))
    };
    let (parent, child) = (side("parent")?, side("child")?);
    if parent == child {
        return Err(element.wrong("it joins a link to itself"));
    }
    let kind = View::from(element).word("type", &TYPES)?;
    let kind = TYPES[kind.ok_or_else(|| element.missing("type"))?];
    let pose = origin(element)?;
    let hold = match kind {
        "fixed" => Hold::Welded,
        // It begins where the joint puts it; the joint holds nothing.
        "floating" => Hold::Free,
        _ => Hold::Joints(vec![axis(element, kind, reading)?]),
    };
    Ok(Joint {
        element,
        parent,
        child,
        pose,
        hold,
    })
}

/// The axis of a joint that moves, and what acts along it.
fn axis(element: Element, kind: &str, reading: &mut Reading) -> Result<Axis, RobotError> {
    let direction = match element.one("axis")? {
        None => DVec3::X,
        Some(axis) => {
            let direction = View::from(axis).vector("xyz")?.unwrap_or(DVec3::X);
            let unit = direction.try_normalize();
            unit.ok_or_else(|| axis.refuse("xyz", direction, "not zero"))?
        }
    };
    let (motion, axis) = match kind {
        "prismatic" => (Motion::Slide(0.0), JointAxis::Z),
        "planar" => (Motion::Planar, JointAxis::RotationZ),
        _ => (Motion::Hinge(0.0), JointAxis::RotationZ),
    };
    let mut forces = Vec::new();
    limit(element, kind, axis, (&mut forces, reading))?;
    if let Some(dynamics) = element.one("dynamics")? {
        let view = View::from(dynamics);
        let along: &[JointAxis] = match kind {
            "planar" => &[JointAxis::X, JointAxis::Y],
            _ => &[axis],
        };
        if let Some(damping) = view.not_negative("damping")?.filter(|c| *c > 0.0) {
            forces.extend(along.iter().map(|axis| JointForce::Spring {
                axis: *axis,
                stiffness: 0.0,
                damping,
                rest: 0.0,
            }));
        }
        match view.not_negative("friction")?.filter(|f| *f > 0.0) {
            Some(_) if kind == "planar" => {
                let why = "no friction of planar joints".to_owned();
                reading.note(dynamics.note(Some("friction"), Reason::LeftOut(why)));
            }
            Some(force) => forces.push(JointForce::Friction { axis, force }),
            None => {}
        }
    }
    Ok(Axis {
        name: element.needed("name")?.to_owned(),
        reference: 0.0,
        motion,
        rate: DVec3::ZERO,
        frame: Frame::new(DVec3::ZERO, DQuat::from_rotation_arc(DVec3::Z, direction)),
        forces,
    })
}

/// Bounds of the coordinate, and of the force of a motor that has no gains yet.
fn limit(
    element: Element,
    kind: &str,
    axis: JointAxis,
    (forces, reading): (&mut Vec<JointForce>, &mut Reading),
) -> Result<(), RobotError> {
    let bounded = matches!(kind, "revolute" | "prismatic");
    let Some(limit) = element.one("limit")? else {
        // The format asks for it here.
        return if bounded {
            Err(element.missing("limit"))
        } else {
            Ok(())
        };
    };
    let view = View::from(limit);
    if kind == "planar" {
        let why = "what the bounds of a planar joint are is not said".to_owned();
        for name in ["lower", "upper", "effort"] {
            if limit.get(name).is_some() {
                reading.note(limit.note(Some(name), Reason::LeftOut(why.clone())));
            }
        }
        return Ok(());
    }
    let low = view.number("lower")?.unwrap_or(0.0);
    let high = view.number("upper")?.unwrap_or(0.0);
    if low > high {
        return Err(limit.refuse("lower", low, &format!("≤ upper, which is {high}")));
    }
    if bounded {
        forces.push(JointForce::Limit {
            axis,
            low,
            high,
            restitution: 0.0,
        });
    } else {
        for name in ["lower", "upper"]
            .into_iter()
            .filter(|name| limit.has(name))
        {
            let why = "a continuous joint has no bounds".to_owned();
            reading.note(limit.note(Some(name), Reason::LeftOut(why)));
        }
    }
    // Without gains it pushes nothing; who gives it gains finds the bound there.
    if let Some(effort) = view.not_negative("effort")?.filter(|effort| *effort > 0.0) {
        forces.push(JointForce::Motor {
            axis,
            position: 0.0,
            velocity: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            effort,
        });
    }
    Ok(())
}
