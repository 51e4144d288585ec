//! Actuators that drive a joint.
//!
//! With the gear `g` an actuator pushes the joint by
//!
//! ```text
//! τ = g (a u + b₀ + b₁ l + b₂ l̇),   l = g q
//! ```
//!
//! which is a motor with the gains `−b₁ g²` and `−b₂ g²` that goes to `q = (a u + b₀)/(−b₁ g)`, or without `b₁` to `q̇ = (a u + b₀)/(−b₂ g)`. A position
//! servo has `a = −b₁ = k_p` and `−b₂ = k_v`, a velocity servo `a = −b₂ = k_v`, and a motor `a` alone.

use super::classes::Classes;
use crate::attributes::View;
use crate::error::RobotError;
use crate::model::{Coordinate, Hold, Model, Motion};
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use moreau::scene::nearest_name;
use moreau::{JointAxis, JointForce};

/// Where a control goes: link, joint of it, force of that, and what a control means there.
pub(super) struct Target {
    pub(super) link: usize,
    pub(super) axis: usize,
    pub(super) force: usize,
    /// What one unit of control adds, m, rad, m/s or rad/s.
    pub(super) unit: f64,
    /// Where it goes without control, the same.
    pub(super) rest: f64,
    pub(super) is_position: bool,
}

/// Tags that are read.
const READ: [&str; 4] = ["position", "velocity", "motor", "general"];

/// `a` and `b` of the law above.
struct Law {
    gain: f64,
    bias: [f64; 3],
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
    if !READ.contains(&element.tag()) {
        return Ok(None);
    }
    element.meet();
    // A class has the defaults of one actuator, whatever it is called there.
    let view = classes.defaults_of(element, &READ)?;
    // Along a hinge or a slide the two are the same.
    let Some(name) = view.text("joint").or_else(|| view.text("jointinparent")) else {
        reading.leave_out(element, "only joints are driven");
        return Ok(None);
    };
    let Coordinate { link, axis } = joint_of(element, name, model)?;
    let [gear, ..] = view.first("gear", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
    if gear == 0.0 {
        return Err(view.refuse("gear", gear, "not zero"));
    }
    let law = match law(&view, reading)? {
        Ok(law) => law,
        Err(why) => {
            reading.leave_out(element, why);
            return Ok(None);
        }
    };
    let effort = effort(&view, &law, gear, reading)?;
    let Hold::Joints(axes) = &mut model.links[link].hold else {
        return Ok(None);
    };
    let of = &mut axes[axis];
    let along = match of.motion {
        Motion::Hinge(_) => JointAxis::RotationZ,
        Motion::Slide(_) => JointAxis::Z,
        Motion::Ball(_) | Motion::Planar => {
            reading.leave_out(element, "balls are not driven");
            return Ok(None);
        }
    };
    let (stiffness, damping) = (-law.bias[1] * gear * gear, -law.bias[2] * gear * gear);
    let is_position = stiffness > 0.0;
    // What the gains multiply in the gear's own coordinate; without gains nothing goes anywhere.
    let by = gear
        * if is_position {
            -law.bias[1]
        } else {
            -law.bias[2]
        };
    let (unit, rest) = if by == 0.0 {
        (0.0, 0.0)
    } else {
        (law.gain / by, law.bias[0] / by)
    };
    of.forces.push(JointForce::Motor {
        axis: along,
        position: if is_position {
            rest - of.reference
        } else {
            0.0
        },
        velocity: if is_position { 0.0 } else { rest },
        stiffness,
        damping,
        effort,
    });
    let target = Target {
        link,
        axis,
        force: of.forces.len() - 1,
        unit,
        rest,
        is_position,
    };
    Ok(Some(target).filter(|_| by != 0.0))
}

/// The law of an actuator, or why there is none.
fn law(view: &View, reading: &mut Reading) -> Result<Result<Law, &'static str>, RobotError> {
    let law = match view.element.tag() {
        "position" => {
            let stiffness = view.not_negative("kp")?.unwrap_or(1.0);
            let damping = view.not_negative("kv")?.unwrap_or(0.0);
            Law {
                gain: stiffness,
                bias: [0.0, -stiffness, -damping],
            }
        }
        "velocity" => {
            let damping = view.not_negative("kv")?.unwrap_or(1.0);
            Law {
                gain: damping,
                bias: [0.0, 0.0, -damping],
            }
        }
        "general" => {
            let kind = view.word(
                "gaintype",
                &["fixed", "affine", "muscle", "user", "dcmotor"],
            )?;
            if kind.is_some_and(|kind| kind > 0) {
                return Ok(Err("gains that do not change alone"));
            }
            let kind = view.word("biastype", &["none", "affine", "muscle", "user", "dcmotor"])?;
            if kind.is_some_and(|kind| kind > 1) {
                return Ok(Err("biases that are affine alone"));
            }
            let numbers = view.numbers("gainprm")?.unwrap_or_default();
            let gain = numbers.first().copied().unwrap_or(1.0);
            let numbers = view.numbers("biasprm")?.unwrap_or_default();
            let is_affine = kind == Some(1);
            let bias =
                [0, 1, 2].map(|k| numbers.get(k).copied().filter(|_| is_affine).unwrap_or(0.0));
            if bias[1] > 0.0 || bias[2] > 0.0 {
                return Ok(Err("no gains that push away"));
            }
            let kinds = [
                "none",
                "integrator",
                "filter",
                "filterexact",
                "muscle",
                "user",
                "dcmotor",
            ];
            match view.word("dyntype", &kinds)? {
                None | Some(0) => {}
                Some(1) => {
                    let by = "it holds where it starts: controls are not integrated".to_owned();
                    reading.note(view.element.note(Some("dyntype"), Reason::Replaced(by)));
                    let _ = view.text("dynprm");
                    return Ok(Ok(Law { gain: 0.0, bias }));
                }
                Some(2 | 3) => {
                    let by = "controls act at once".to_owned();
                    reading.note(view.element.note(Some("dyntype"), Reason::Replaced(by)));
                    let _ = view.text("dynprm");
                }
                Some(_) => return Ok(Err("no such activation")),
            }
            Law { gain, bias }
        }
        _ => Law {
            gain: 1.0,
            bias: [0.0; 3],
        },
    };
    let [constant, stiffness, damping] = law.bias;
    if constant != 0.0 && stiffness == 0.0 && damping == 0.0 {
        return Ok(Err("no given torques"));
    }
    Ok(Ok(law))
}

/// The most that it pushes its joint with, N or N·m.
fn effort(view: &View, law: &Law, gear: f64, reading: &mut Reading) -> Result<f64, RobotError> {
    let element = view.element;
    let bounds = |range: &str, limited: &str| -> Result<Option<[f64; 2]>, RobotError> {
        let bounded = view.word(limited, &["false", "true", "auto"])? != Some(0);
        let found = view.exactly::<2>(range)?;
        match found {
            Some([low, high]) if low > high => {
                Err(view.refuse(range, format!("{low} {high}"), "the lower bound first"))
            }
            found => Ok(found.filter(|_| bounded)),
        }
    };
    let most = |[low, high]: [f64; 2]| low.abs().max(high.abs());
    let mut effort = f64::INFINITY;
    if let Some([low, high]) = bounds("forcerange", "forcelimited")? {
        let most = most([low, high]);
        if (low + high).abs() > 1e-12 * most {
            let by = "both bounds are the larger one".to_owned();
            reading.note(element.note(Some("forcerange"), Reason::Replaced(by)));
        }
        effort = gear.abs() * most;
    }
    if law.bias.iter().all(|of| *of == 0.0) {
        if let Some(range) = bounds("ctrlrange", "ctrllimited")? {
            effort = effort.min((gear * law.gain).abs() * most(range));
        }
        let why = "no given torques: a motor without gains, with its bound".to_owned();
        reading.note(element.note(None, Reason::Replaced(why)));
    }
    Ok(effort)
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
