//! Why something of an MJCF was not asked for.

use crate::report::Reason;
use crate::xml::Element;

pub(crate) fn why(element: Element, attribute: Option<&str>) -> Reason {
    let left_out = |why: &str| Reason::LeftOut(why.to_owned());
    match (element.tag(), attribute) {
        (
            "visual" | "statistic" | "size" | "sensor" | "camera" | "light" | "site" | "texture"
            | "material" | "custom",
            None,
        )
        // Asked for by every actuator that is read: others alone have them.
        | ("motor", Some("gear" | "ctrlrange" | "ctrllimited" | "forcerange" | "forcelimited"))
        | (
            "general",
            Some("gear" | "gaintype" | "gainprm" | "biastype" | "biasprm" | "dyntype" | "dynprm"),
        )
        | (_, Some("name" | "rgba" | "material" | "group" | "user")) => Reason::NoEffect,
        (
            "option",
            Some(
                "integrator" | "solver" | "iterations" | "tolerance" | "cone" | "jacobian"
                | "ls_iterations" | "ls_tolerance" | "noslip_iterations" | "noslip_tolerance"
                | "impratio" | "ccd_iterations" | "ccd_tolerance" | "sdf_iterations"
                | "sdf_initpoints",
            ),
        )
        | (
            "flag",
            Some(
                "energy" | "fwdinv" | "invdiscrete" | "warmstart" | "refsafe" | "sensor"
                | "midphase" | "nativeccd" | "multiccd" | "eulerdamp" | "autoreset" | "island"
                | "clampctrl" | "sleep",
            ),
        ) => Reason::NoEffect,
        ("compiler", Some("texturedir" | "discardvisual" | "fusestatic" | "usethread")) => {
            Reason::NoEffect
        }
        ("tendon", None) => left_out("no tendons"),
        ("flex" | "flexvert" | "flexstrain", None) => left_out("rigid bodies alone"),
        ("hfield", None) | (_, Some("hfield")) => left_out("no height fields"),
        ("geom", Some("priority")) => left_out("friction is the larger one of two"),
        ("geom", Some("shellinertia")) => left_out("solids alone"),
        ("compiler", Some("inertiagrouprange")) => left_out("all geoms weigh"),
        ("joint", Some("springdamper")) => left_out("no springs by their time constants"),
        ("joint", Some("actuatorfrcrange" | "actuatorfrclimited")) => {
            left_out("bounds of single actuators alone")
        }
        ("pair", None) => left_out("no pairs of their own"),
        ("deformable" | "skin" | "composite" | "flexcomp", None) => left_out("rigid bodies alone"),
        (
            _,
            Some(
                "solref" | "solimp" | "solreflimit" | "solimplimit" | "solreffriction"
                | "solimpfriction" | "solmix",
            ),
        ) => left_out("contacts, limits and friction are exact"),
        (_, Some("margin" | "gap")) => left_out("contacts begin where shapes touch"),
        ("option", Some("density" | "viscosity" | "wind")) => left_out("no fluid"),
        ("position" | "velocity" | "general", Some("ctrlrange" | "ctrllimited")) => {
            left_out("controls are not bounded")
        }
        ("position", Some("inheritrange" | "dampratio" | "timeconst")) => {
            left_out("gains as they are given alone")
        }
        ("cylinder" | "muscle" | "damper" | "intvelocity" | "adhesion" | "plugin", None) => {
            left_out("no such actuator")
        }
        ("key", Some("act" | "mpos" | "mquat")) => {
            left_out("coordinates, velocities and controls alone")
        }
        _ => Reason::Unknown,
    }
}
