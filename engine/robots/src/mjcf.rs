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
mod masses;
mod option;
mod why;

use crate::error::RobotError;
use crate::model::{Link, Model};
use crate::reading::Reading;
use crate::report::Reason;
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
        closures: Vec::new(),
        base_is_apart: false,
    };
    let acting = option::read(root, &mut model.settings, reading)?;
    let compiler = Compiler::read(root)?;
    let classes = Classes::read(root)?;
    let tree = body::Bodies::new(&compiler, &classes, acting, root)?;
    let mut sites = Vec::new();
    for world in root.all("worldbody") {
        tree.world(world, &mut sites, &mut model, reading)?;
    }
    masses::adjust(&mut model.links, &compiler)?;
    contact::read(root, &mut model, reading)?;
    if acting.equalities {
        let equalities = equality::Equalities {
            compiler: &compiler,
            classes: &classes,
            sites: &sites,
        };
        equalities.read(root, &mut model, reading)?;
    } else {
        turned_off(root, "equality", reading);
    }
    let targets = if acting.actuators {
        actuator::read(root, &classes, &mut model, reading)?
    } else {
        turned_off(root, "actuator", reading);
        Vec::new()
    };
    let names = keyframe::read(root, &mut model, &targets, reading)?;
    classes.pass_unused(reading);
    Ok((model, names))
}

/// A section that the model itself turns off.
fn turned_off(root: Element, section: &str, reading: &mut Reading) {
    for of in root.all(section).iter().flat_map(Element::children) {
        reading.pass(of, Reason::NoEffect);
    }
}
