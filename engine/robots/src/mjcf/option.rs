//! What a model says about the world and about what acts in it.

use crate::attributes::View;
use crate::error::RobotError;
use crate::reading::Reading;
use crate::report::Reason;
use crate::xml::Element;
use glam::DVec3;
use moreau::Settings;

/// What acts, of that which can be turned off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acting {
    pub(super) contacts: bool,
    pub(super) limits: bool,
    pub(super) friction: bool,
    pub(super) equalities: bool,
    pub(super) springs: bool,
    pub(super) dampers: bool,
    pub(super) actuators: bool,
}

/// Reads time step, gravity and flags.
pub(super) fn read(
    root: Element,
    settings: &mut Settings,
    reading: &mut Reading,
) -> Result<Acting, RobotError> {
    let mut acting = Acting {
        contacts: true,
        limits: true,
        friction: true,
        equalities: true,
        springs: true,
        dampers: true,
        actuators: true,
    };
    let mut weightless = false;
    for option in root.all("option") {
        let view = View::from(option);
        if let Some(step) = view.positive("timestep")? {
            settings.time_step = step;
        }
        if let Some(gravity) = view.vector("gravity")? {
            settings.gravity = gravity;
        }
        for flag in option.all("flag") {
            let view = View::from(flag);
            let is_off = |name: &str| -> Result<bool, RobotError> {
                Ok(view.word(name, &["enable", "disable"])? == Some(1))
            };
            let constraints = !is_off("constraint")?;
            acting.contacts &= constraints && !is_off("contact")?;
            acting.limits &= constraints && !is_off("limit")?;
            acting.friction &= constraints && !is_off("frictionloss")?;
            acting.equalities &= constraints && !is_off("equality")?;
            // The first one is the older name of both.
            let passive = !is_off("passive")?;
            acting.springs &= passive && !is_off("spring")?;
            acting.dampers &= passive && !is_off("damper")?;
            acting.actuators &= !is_off("actuation")?;
            weightless |= is_off("gravity")?;
            if is_off("filterparent")? {
                let why = "bodies that a joint joins do not collide".to_owned();
                reading.note(flag.note(Some("filterparent"), Reason::LeftOut(why)));
            }
        }
    }
    if weightless {
        settings.gravity = DVec3::ZERO;
    }
    Ok(acting)
}
