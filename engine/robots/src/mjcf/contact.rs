//! Exclusions of contacts.

use crate::error::RobotError;
use crate::model::Model;
use crate::reading::Reading;
use crate::xml::Element;
use moreau::scene::nearest_name;

pub(super) fn read(root: Element, model: &mut Model, _: &mut Reading) -> Result<(), RobotError> {
    for contact in root.all("contact") {
        for exclude in contact.all("exclude") {
            let of = |attribute| body(exclude, attribute, model);
            let pair = [of("body1")?, of("body2")?];
            model.exclusions.push(pair);
        }
    }
    Ok(())
}

/// The body that an attribute names.
pub(super) fn body(element: Element, attribute: &str, model: &Model) -> Result<usize, RobotError> {
    let name = element.needed(attribute)?;
    if name == "world" {
        return Ok(0);
    }
    let mut names = model.links.iter().map(|link| link.name.as_str());
    names
        .position(|own| own == name)
        .ok_or_else(|| RobotError::Unknown {
            place: element.place(),
            what: "body",
            name: name.to_owned(),
            nearest: nearest_name(name, model.links.iter().map(|of| of.name.as_str()))
                .map(str::to_owned),
        })
}
