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
        | (_, Some("rgba" | "material" | "group" | "user")) => Reason::NoEffect,
        (
            "option",
            Some(
                "integrator" | "solver" | "iterations" | "tolerance" | "cone" | "jacobian"
                | "ls_iterations" | "ls_tolerance" | "noslip_iterations" | "noslip_tolerance"
                | "impratio" | "ccd_iterations" | "sdf_iterations",
            ),
        ) => Reason::NoEffect,
        ("compiler", Some("texturedir" | "discardvisual" | "fusestatic" | "usethread")) => {
            Reason::NoEffect
        }
        ("tendon", None) => left_out("no tendons"),
        ("connect" | "weld" | "flex" | "flexvert" | "flexstrain", None) => {
            left_out("of equalities those of joints alone")
        }
        ("joint", Some("armature")) => left_out("no armature of free joints"),
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
        ("position" | "velocity", Some("ctrlrange" | "ctrllimited")) => {
            left_out("controls are not bounded")
        }
        (
            "general" | "cylinder" | "muscle" | "damper" | "intvelocity" | "adhesion" | "plugin",
            None,
        ) => left_out("no such actuator"),
        ("key", Some("qvel" | "act" | "mpos" | "mquat")) => left_out("coordinates alone"),
        _ => Reason::Unknown,
    }
}
