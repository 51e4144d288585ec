//! Joints.

use super::compiler::Compiler;
use super::option::Acting;
use crate::attributes::View;
use crate::error::RobotError;
use crate::model::{Axis, Motion};
use crate::reading::Reading;
use crate::report::Reason;
use glam::{DQuat, DVec3};
use moreau::geometry::Frame;
use moreau::{JointAxis, JointForce};

const TYPES: [&str; 4] = ["hinge", "slide", "ball", "free"];

/// A joint in the frame of its body; none if it leaves all free.
pub(super) fn joint(
    view: &View,
    compiler: &Compiler,
    frame: &Frame,
    (acting, reading): (Acting, &mut Reading),
) -> Result<Option<Axis>, RobotError> {
    let kind = TYPES[view.word("type", &TYPES)?.unwrap_or(0)];
    if kind == "free" {
        free(view, reading)?;
        return Ok(None);
    }
    let unit = if kind == "hinge" { compiler.unit } else { 1.0 };
    let direction = view.vector("axis")?.unwrap_or(DVec3::Z);
    let unit_axis = direction.try_normalize();
    let direction = unit_axis.ok_or_else(|| view.refuse("axis", direction, "not zero"))?;
    let origin = view.vector("pos")?.unwrap_or(DVec3::ZERO);
    let orientation = DQuat::from_rotation_arc(DVec3::Z, direction);
    let (motion, axes): (_, &[JointAxis]) = match kind {
        "hinge" => (Motion::Hinge(0.0), &[JointAxis::RotationZ]),
        "slide" => (Motion::Slide(0.0), &[JointAxis::Z]),
        _ => (
            Motion::Ball(DQuat::IDENTITY),
            &[
                JointAxis::RotationX,
                JointAxis::RotationY,
                JointAxis::RotationZ,
            ],
        ),
    };
    let reference = unit * view.number("ref")?.unwrap_or(0.0);
    let range = view.exactly::<2>("range")?;
    let limited = view.word("limited", &["false", "true", "auto"])?;
    let is_limited = match limited {
        Some(word) if word < 2 => word == 1,
        _ => range.is_some() && compiler.limits_are_meant,
    };
    let mut forces = Vec::new();
    match range.filter(|_| is_limited && acting.limits) {
        Some([low, high]) if low > high => {
            return Err(view.refuse("range", format!("{low} {high}"), "the lower bound first"));
        }
        Some(_) if kind == "ball" => {
            let why = "no bounds of balls".to_owned();
            reading.note(view.element.note(Some("range"), Reason::LeftOut(why)));
        }
        Some([low, high]) => forces.push(JointForce::Limit {
            axis: axes[0],
            low: unit * low - reference,
            high: unit * high - reference,
            restitution: 0.0,
        }),
        None => {}
    }
    let stiffness = view.not_negative("stiffness")?.unwrap_or(0.0);
    let damping = view.not_negative("damping")?.unwrap_or(0.0);
    let rest = unit * view.number("springref")?.unwrap_or(0.0) - reference;
    if stiffness > 0.0 && kind == "ball" {
        let why = "no springs of balls".to_owned();
        reading.note(view.element.note(Some("stiffness"), Reason::LeftOut(why)));
    }
    let springs = acting.springs && kind != "ball";
    let stiffness = if springs { stiffness } else { 0.0 };
    let damping = if acting.dampers { damping } else { 0.0 };
    if stiffness > 0.0 || damping > 0.0 {
        forces.extend(axes.iter().map(|axis| JointForce::Spring {
            axis: *axis,
            stiffness,
            damping,
            rest: if kind == "ball" { 0.0 } else { rest },
        }));
    }
    match view
        .not_negative("frictionloss")?
        .filter(|force| *force > 0.0 && acting.friction)
    {
        Some(_) if kind == "ball" => {
            let why = "no friction of balls".to_owned();
            reading.note(
                view.element
                    .note(Some("frictionloss"), Reason::LeftOut(why)),
            );
        }
        Some(force) => forces.push(JointForce::Friction {
            axis: axes[0],
            force,
        }),
        None => {}
    }
    match view
        .not_negative("armature")?
        .filter(|inertia| *inertia > 0.0)
    {
        Some(_) if kind == "ball" => {
            let why = "no armature of balls".to_owned();
            reading.note(view.element.note(Some("armature"), Reason::LeftOut(why)));
        }
        Some(inertia) => forces.push(JointForce::Armature {
            axis: axes[0],
            inertia,
        }),
        None => {}
    }
    let own = Frame::new(origin, orientation);
    Ok(Some(Axis {
        name: view.element.get("name").unwrap_or_default().to_owned(),
        reference,
        motion,
        rate: DVec3::ZERO,
        frame: frame.compose(&own),
        forces,
    }))
}

/// Nothing acts along a free joint here, and its place is that of its body.
fn free(view: &View, reading: &mut Reading) -> Result<(), RobotError> {
    for name in [
        "name",
        "pos",
        "axis",
        "limited",
        "range",
        "ref",
        "springref",
    ] {
        let _ = view.text(name);
    }
    for (name, what) in [
        ("stiffness", "springs"),
        ("damping", "damping"),
        ("frictionloss", "friction"),
        ("armature", "armature"),
    ] {
        if view.not_negative(name)?.is_some_and(|value| value > 0.0) {
            let why = format!("no {what} of free joints");
            reading.note(view.element.note(Some(name), Reason::LeftOut(why)));
        }
    }
    Ok(())
}
