//! MJCF: bodies in bodies, with joints, geoms and default classes.
//!
//! Angles are in degrees unless `<compiler angle="radian">`. A body without joints is one with its parent. Contacts are exact: what says how soft they
//! are (`solref`, `solimp`) is left out and listed.

mod actuator;
mod body;
mod classes;
mod compiler;
mod contact;
mod equality;
mod geom;
mod joint;
mod keyframe;
mod why;

use crate::attributes::View;
use crate::error::RobotError;
use crate::model::{Link, Model};
use crate::reading::Reading;
use crate::xml::Element;
use classes::Classes;
use compiler::Compiler;
use moreau::Settings;
pub(crate) use why::why;

/// Reads a model, and the names of its keyframes.
pub(crate) fn read(
    root: Element,
    reading: &mut Reading,
) -> Result<(Model, Vec<String>), RobotError> {
    let mut model = Model {
        name: root.get("model").unwrap_or("MuJoCo model").to_owned(),
        settings: Settings {
            time_step: 0.002,
            ..Settings::default()
        },
        links: vec![Link::new("", root.place())],
        relations: Vec::new(),
        exclusions: Vec::new(),
        base_is_apart: false,
    };
    for option in root.all("option") {
        let view = View::from(option);
        if let Some(step) = view.positive("timestep")? {
            model.settings.time_step = step;
        }
        if let Some(gravity) = view.vector("gravity")? {
            model.settings.gravity = gravity;
        }
    }
    let compiler = Compiler::read(root)?;
    let classes = Classes::read(root)?;
    let tree = body::Bodies::new(&compiler, &classes, root)?;
    for world in root.all("worldbody") {
        tree.world(world, &mut model, reading)?;
    }
    contact::read(root, &mut model, reading)?;
    equality::read(root, &classes, &mut model, reading)?;
    let targets = actuator::read(root, &classes, &mut model, reading)?;
    let names = keyframe::read(root, &mut model, &targets, reading)?;
    Ok((model, names))
}
