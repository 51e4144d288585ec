//! Keyframes: coordinates and controls to start from.

use super::actuator::Target;
use crate::attributes::{View, quoted};
use crate::error::RobotError;
use crate::model::{Hold, Model, Motion};
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use glam::{DQuat, DVec3};
use moreau::JointForce;
use moreau::geometry::Frame;

pub(super) fn read(
    root: Element,
    model: &mut Model,
    targets: &[Option<Target>],
    reading: &mut Reading,
) -> Result<Vec<String>, RobotError> {
    let groups = root.all("keyframe");
    let keys: Vec<_> = groups.iter().flat_map(|of| of.all("key")).collect();
    let names = keys.iter().enumerate().map(|(index, key)| {
        let name = key.get("name");
        name.map_or_else(|| index.to_string(), str::to_owned)
    });
    let names: Vec<String> = names.collect();
    for key in &keys {
        for attribute in ["time", "qpos", "qvel", "ctrl"] {
            let _ = key.get(attribute);
        }
    }
    let Some(wanted) = &reading.options.keyframe else {
        return Ok(names);
    };
    let by_number = wanted
        .parse::<usize>()
        .ok()
        .filter(|index| *index < keys.len());
    let found = names.iter().position(|name| name == wanted).or(by_number);
    let Some(key) = found.map(|index| keys[index]) else {
        return Err(root.refuse("keyframe", quoted(wanted), &format!("one of {names:?}")));
    };
    let view = View::from(key);
    if let Some(numbers) = view.numbers("qpos")? {
        let used = start(model, &numbers);
        if used != numbers.len() {
            let value = format!("{} numbers", numbers.len());
            return Err(view.refuse("qpos", value, &format!("{used} of them")));
        }
    }
    if let Some(numbers) = view.numbers("qvel")? {
        let used = move_off(model, &numbers);
        if used != numbers.len() {
            let value = format!("{} numbers", numbers.len());
            return Err(view.refuse("qvel", value, &format!("{used} of them")));
        }
    }
    if let Some(controls) = view.numbers("ctrl")? {
        if controls.len() != targets.len() {
            let value = format!("{} numbers", controls.len());
            return Err(view.refuse("ctrl", value, &format!("{} of them", targets.len())));
        }
        for (control, target) in controls.iter().zip(targets) {
            match target {
                Some(target) => aim(model, target, *control),
                None if *control == 0.0 => {}
                None => {
                    let why = "no given torques".to_owned();
                    reading.note(key.note(Some("ctrl"), Reason::LeftOut(why)));
                }
            }
        }
    }
    Ok(names)
}

/// Puts the coordinates where they are used, and tells how many there are.
fn start(model: &mut Model, numbers: &[f64]) -> usize {
    let at = |place: usize| numbers.get(place).copied().unwrap_or(0.0);
    let turn = |place: usize| {
        let q = DQuat::from_xyzw(at(place + 1), at(place + 2), at(place + 3), at(place));
        let length = q.length();
        let turns = length > 1e-9;
        if turns {
            q * (1.0 / length)
        } else {
            DQuat::IDENTITY
        }
    };
    let mut used = 0;
    for link in &mut model.links {
        match &mut link.hold {
            Hold::Free => {
                let position = DVec3::new(at(used), at(used + 1), at(used + 2));
                link.pose = Frame::new(position, turn(used + 3));
                used += 7;
            }
            Hold::Joints(axes) => {
                for axis in axes {
                    match &mut axis.motion {
                        Motion::Hinge(x) | Motion::Slide(x) => {
                            *x = at(used) - axis.reference;
                            used += 1;
                        }
                        Motion::Ball(own) => {
                            *own = turn(used);
                            used += 4;
                        }
                        Motion::Planar => {}
                    }
                }
            }
            Hold::Welded | Hold::Kinematic => {}
        }
    }
    used
}

/// Puts the velocities where they are used, and tells how many there are.
fn move_off(model: &mut Model, numbers: &[f64]) -> usize {
    let at = |place: usize| numbers.get(place).copied().unwrap_or(0.0);
    let three = |place: usize| DVec3::new(at(place), at(place + 1), at(place + 2));
    let mut used = 0;
    for link in &mut model.links {
        match &mut link.hold {
            Hold::Free => {
                link.twist = [three(used), three(used + 3)];
                used += 6;
            }
            Hold::Joints(axes) => {
                for axis in axes {
                    (axis.rate, used) = match axis.motion {
                        Motion::Hinge(_) | Motion::Slide(_) => (DVec3::Z * at(used), used + 1),
                        Motion::Ball(_) => (three(used), used + 3),
                        Motion::Planar => (DVec3::ZERO, used),
                    };
                }
            }
            Hold::Welded | Hold::Kinematic => {}
        }
    }
    used
}

fn aim(model: &mut Model, target: &Target, control: f64) {
    let Hold::Joints(axes) = &mut model.links[target.link].hold else {
        return;
    };
    let axis = &mut axes[target.axis];
    let reference = axis.reference;
    if let Some(JointForce::Motor {
        position, velocity, ..
    }) = axis.forces.get_mut(target.force)
    {
        if target.is_position {
            *position = control * target.unit + target.rest - reference;
        } else {
            *velocity = control * target.unit + target.rest;
        }
    }
}
