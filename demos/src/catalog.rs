//! The built-in scenes by name: `name` or `name:key=value,key=value`.
//!
//! ```
//! use moreau_demos::{CatalogError, built_in};
//! assert_eq!(built_in("pyramid:n=4")?.bodies.len(), 1 + 10);
//! let error = built_in("pyramid:n=0").unwrap_err();
//! assert_eq!(error.to_string(), "pyramid: n is 0, expected a whole number from 1 to 200");
//! # Ok::<(), CatalogError>(())
//! ```

mod machines;
mod parameter;

use crate::scenes::{
    arch, awake, bounce, incline, mass_ratio, mixed, pile, pinch, pour, pyramid, simbench, stack,
    standing, top, wall,
};
use moreau::Scene;
use moreau::scene::nearest_name;
use parameter::{AT_LEAST_ZERO, POSITIVE};
pub use parameter::{Bound, Parameter, Values};
use std::sync::LazyLock;

/// A scene that needs no file.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Name to call it by.
    pub name: &'static str,
    /// One line about it.
    pub description: &'static str,
    /// What can be chosen.
    pub parameters: &'static [Parameter],
    build: fn(&Values) -> Scene,
}

impl BuiltIn {
    /// The scene with these values.
    #[must_use]
    pub fn build(&self, values: &Values) -> Scene {
        Scene {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            ..(self.build)(values)
        }
    }
}

/// Why a specification names no built-in scene.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// No scene of this name.
    #[error("there is no built-in scene \"{name}\"; there are: {known}{}", did_you_mean(*.nearest))]
    UnknownScene {
        /// Name asked for.
        name: String,
        /// The names there are, separated by commas.
        known: String,
        /// The name that was meant, if one is near.
        nearest: Option<&'static str>,
    },
    /// The scene has no such parameter.
    #[error("{scene}: there is no parameter \"{key}\"; there are: {known}{}", did_you_mean(*.nearest))]
    UnknownKey {
        /// Scene.
        scene: &'static str,
        /// Key asked for.
        key: String,
        /// The keys there are, separated by commas.
        known: String,
        /// The key that was meant, if one is near.
        nearest: Option<&'static str>,
    },
    /// A parameter that is not of the form `key=value`.
    #[error("{scene}: \"{text}\" is not of the form key=value")]
    NotAPair {
        /// Scene.
        scene: &'static str,
        /// The text in question.
        text: String,
    },
    /// A parameter that is given twice.
    #[error("{scene}: {key} is given twice")]
    Repeated {
        /// Scene.
        scene: &'static str,
        /// Key in question.
        key: &'static str,
    },
    /// A value that is not a number or outside its range.
    #[error("{scene}: {key} is {value}, expected {bound}")]
    Value {
        /// Scene.
        scene: &'static str,
        /// Key in question.
        key: &'static str,
        /// Value as given.
        value: String,
        /// What it must satisfy.
        bound: String,
    },
}

/// All built-in scenes.
#[must_use]
pub fn list() -> &'static [BuiltIn] {
    static ALL: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| [LOOSE, machines::MACHINES].concat());
    &ALL
}

/// The built-in scene that `spec` names, in the form `name` or `name:key=value,key=value`.
/// Parameters that are not given have their defaults.
///
/// # Errors
/// [`CatalogError`] names what is wrong with the specification and what would be right.
pub fn built_in(spec: &str) -> Result<Scene, CatalogError> {
    let (name, pairs) = spec.split_once(':').unwrap_or((spec, ""));
    let Some(scene) = list().iter().find(|scene| scene.name == name.trim()) else {
        return Err(unknown_scene(name, list().iter().map(|scene| scene.name)));
    };
    let values = Values::parse(scene.name, scene.parameters, pairs)?;
    Ok(Scene {
        name: spec.trim().to_owned(),
        ..scene.build(&values)
    })
}

/// The error about a name that is none of `all`.
pub(crate) fn unknown_scene(
    name: &str,
    all: impl Iterator<Item = &'static str> + Clone,
) -> CatalogError {
    CatalogError::UnknownScene {
        name: name.trim().to_owned(),
        known: names(all.clone()),
        nearest: nearest_name(name.trim(), all),
    }
}

/// The end of a message about an unknown name.
fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

fn names(all: impl Iterator<Item = &'static str>) -> String {
    let text = all.collect::<Vec<_>>().join(", ");
    if text.is_empty() {
        "none".to_owned()
    } else {
        text
    }
}

const FRICTION: Parameter = Parameter {
    name: "friction",
    description: "Coulomb coefficient of all bodies",
    default: 0.6,
    bound: AT_LEAST_ZERO,
};

/// Table of the scenes without joints.
const LOOSE: &[BuiltIn] = &[
    BuiltIn {
        name: "pour",
        description: "a column of spheres pours into a box",
        parameters: &[
            Parameter {
                name: "n",
                description: "number of spheres",
                default: 1000.0,
                bound: Bound::Whole(1, 1_000_000),
            },
            Parameter {
                name: "radius",
                description: "radius of the spheres, m",
                default: 0.1,
                bound: POSITIVE,
            },
            Parameter {
                default: 0.5,
                ..FRICTION
            },
        ],
        build: |v| pour::pour(v.whole("n"), v.number("radius"), v.number("friction")),
    },
    BuiltIn {
        name: "stack",
        description: "cubes on top of each other",
        parameters: &[
            Parameter {
                name: "n",
                description: "number of cubes",
                default: 10.0,
                bound: Bound::Whole(1, 1000),
            },
            FRICTION,
        ],
        build: |v| standing(stack::stack(v.whole("n"), v.number("friction"))),
    },
    BuiltIn {
        name: "pyramid",
        description: "rows of cubes, each one shorter by one than the row that it stands on",
        parameters: &[
            Parameter {
                name: "n",
                description: "number of rows",
                default: 20.0,
                bound: Bound::Whole(1, 200),
            },
            FRICTION,
        ],
        build: |v| standing(pyramid::pyramid(v.whole("n"), v.number("friction"))),
    },
    BuiltIn {
        name: "wall",
        description: "bricks in running bond",
        parameters: &[
            Parameter {
                name: "nx",
                description: "bricks in a row",
                default: 10.0,
                bound: Bound::Whole(1, 1000),
            },
            Parameter {
                name: "ny",
                description: "number of rows",
                default: 10.0,
                bound: Bound::Whole(1, 1000),
            },
            FRICTION,
        ],
        build: |v| {
            standing(wall::wall(
                v.whole("nx"),
                v.whole("ny"),
                v.number("friction"),
            ))
        },
    },
    BuiltIn {
        name: "arch",
        description: "a semicircle of voussoirs that friction alone holds",
        parameters: &[
            Parameter {
                name: "voussoirs",
                description: "number of blocks",
                default: 15.0,
                bound: Bound::Whole(3, 500),
            },
            Parameter {
                name: "thickness",
                description: "thickness of the ring over its mean radius",
                default: 0.3,
                bound: Bound::Between(0.01, 1.5),
            },
            Parameter {
                default: 0.7,
                ..FRICTION
            },
        ],
        build: |v| {
            standing(arch::arch(
                v.whole("voussoirs"),
                v.number("thickness"),
                v.number("friction"),
            ))
        },
    },
    BuiltIn {
        name: "incline",
        description: "a cube on a slope of f times its friction angle: it sticks for f < 1, slides for f > 1",
        parameters: &[
            Parameter {
                name: "f",
                description: "slope over friction coefficient",
                default: 0.99,
                bound: AT_LEAST_ZERO,
            },
            Parameter {
                default: 0.5,
                ..FRICTION
            },
        ],
        build: |v| incline::incline(v.number("f"), v.number("friction")),
    },
    BuiltIn {
        name: "pinch",
        description: "a capsule squeezed between two pads, carried by friction alone",
        parameters: &[
            Parameter {
                name: "grip",
                description: "squeezing force over the least one that holds the capsule",
                default: 3.0,
                bound: POSITIVE,
            },
            Parameter {
                name: "friction",
                description: "Coulomb coefficient of capsule and pads",
                default: 0.8,
                bound: POSITIVE,
            },
        ],
        build: |v| pinch::pinch(v.number("grip"), v.number("friction")),
    },
    BuiltIn {
        name: "mass-ratio",
        description: "a stack of cubes with a far heavier one on top",
        parameters: &[
            Parameter {
                name: "n",
                description: "number of cubes, the heavy one included",
                default: 10.0,
                bound: Bound::Whole(1, 1000),
            },
            Parameter {
                name: "ratio",
                description: "mass of the top cube over that of the others",
                default: 1000.0,
                bound: POSITIVE,
            },
            FRICTION,
        ],
        build: |v| mass_ratio::mass_ratio(v.whole("n"), v.number("ratio"), v.number("friction")),
    },
    BuiltIn {
        name: "bounce",
        description: "spheres with restitution 0.9, 0.7, 0.5, 0.3 and 0 dropped on a plane",
        parameters: &[Parameter {
            name: "height",
            description: "height of fall, m",
            default: 1.0,
            bound: POSITIVE,
        }],
        build: |v| bounce::bounce(v.number("height")),
    },
    BuiltIn {
        name: "top",
        description: "a cone that spins on its tip",
        parameters: &[
            Parameter {
                name: "spin",
                description: "angular velocity about its axis, rad/s",
                default: 100.0,
                bound: AT_LEAST_ZERO,
            },
            Parameter {
                name: "tilt",
                description: "angle of its axis with the vertical, rad",
                default: 0.3,
                bound: Bound::Between(0.0, 0.6),
            },
            Parameter {
                default: 0.5,
                ..FRICTION
            },
        ],
        build: |v| top::top(v.number("spin"), v.number("tilt"), v.number("friction")),
    },
    BuiltIn {
        name: "mixed",
        description: "every shape rains on bumpy ground inside four walls",
        parameters: &[
            Parameter {
                name: "layers",
                description: "layers of 12 bodies, each of one shape",
                default: 14.0,
                bound: Bound::Whole(1, 500),
            },
            Parameter {
                default: 0.5,
                ..FRICTION
            },
        ],
        build: |v| mixed::mixed(v.whole("layers"), v.number("friction")),
    },
    BuiltIn {
        name: "pile",
        description: "benchmark: bodies of one kind, not balls, fall between four walls",
        parameters: &[
            Parameter {
                name: "shape",
                description: "kind of the bodies",
                default: 0.0,
                bound: Bound::Word(&pile::Form::NAMES),
            },
            Parameter {
                name: "n",
                description: "number of bodies",
                default: 300.0,
                bound: Bound::Whole(1, 100_000),
            },
            Parameter {
                name: "seed",
                description: "seed of places, orientations and sizes",
                default: 1.0,
                bound: Bound::Whole(0, u32::MAX),
            },
            Parameter {
                name: "gravity",
                description: "downwards, m/s²",
                default: 9.81,
                bound: AT_LEAST_ZERO,
            },
        ],
        build: |v| {
            let form = pile::Form::ALL.get(v.whole("shape"));
            pile::pile(
                form.copied().unwrap_or(pile::Form::Hulls),
                v.whole("n"),
                v.whole("seed") as u64,
                v.number("gravity"),
            )
        },
    },
    BuiltIn {
        name: "sphere_pour",
        description: "benchmark: a block of spheres collapses in a tight container",
        parameters: &[Parameter {
            name: "n",
            description: "number of spheres",
            default: 1000.0,
            bound: Bound::OneOf(&[1000.0, 8000.0, 32000.0, 100_000.0, 1_000_000.0]),
        }],
        build: |v| {
            awake(pour::sphere_pour(match v.whole("n") {
                1_000_000 => [100, 100, 100],
                100_000 => [50, 50, 40],
                32000 => [40, 40, 20],
                8000 => [20, 20, 20],
                _ => [10, 10, 10],
            }))
        },
    },
    BuiltIn {
        name: "box_pyramid",
        description: "benchmark: the pyramid of cubes",
        parameters: &[Parameter {
            name: "n",
            description: "number of rows",
            default: 20.0,
            bound: Bound::OneOf(&[20.0, 40.0]),
        }],
        build: |v| awake(pyramid::pyramid(v.whole("n"), 0.6)),
    },
    BuiltIn {
        name: "wall_20x20",
        description: "benchmark: the wall of 20 rows of 20 bricks",
        parameters: &[],
        build: |_| awake(wall::wall(20, 20, 0.6)),
    },
    BuiltIn {
        name: "rolling",
        description: "SimBenchmark: a box with 25 balls on it is pulled over the ground",
        parameters: &[
            Parameter {
                name: "angle",
                description: "direction of the pull, degrees from x",
                default: 60.0,
                bound: Bound::OneOf(&[60.0, 90.0]),
            },
            Parameter {
                name: "overlap",
                description: "overlap that every body starts with, m",
                default: 2e-5,
                bound: Bound::Between(0.0, 1e-3),
            },
        ],
        build: |v| {
            let direction = match v.whole("angle") {
                90 => simbench::Direction::Y,
                _ => simbench::Direction::Xy,
            };
            simbench::rolling(direction, v.number("overlap"))
        },
    },
    BuiltIn {
        name: "bouncing",
        description: "SimBenchmark: 49 elastic balls bounce on the ground",
        parameters: &[],
        build: |_| simbench::bouncing(),
    },
    BuiltIn {
        name: "pile_666",
        description: "SimBenchmark: a cube of 216 balls falls apart without friction",
        parameters: &[],
        build: |_| simbench::pile_666(0.0),
    },
    BuiltIn {
        name: "elastic_666",
        description: "SimBenchmark: the same with elastic balls",
        parameters: &[],
        build: |_| simbench::pile_666(1.0),
    },
    BuiltIn {
        name: "kapla_tower",
        description: "SimBenchmark: a tower of 102 loose planks stands for ten minutes",
        parameters: &[Parameter {
            default: 0.64,
            ..FRICTION
        }],
        build: |v| simbench::kapla_tower(v.number("friction")),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn message(spec: &str) -> String {
        built_in(spec).unwrap_err().to_string()
    }

    #[test]
    fn every_scene_starts_with_its_defaults_and_with_its_declared_parameters() {
        for scene in list() {
            let defaults = Values::parse(scene.name, scene.parameters, "").unwrap();
            let built = scene.build(&defaults);
            assert!(built.duration > 0.0, "{}", scene.name);
            assert_eq!(built_in(scene.name).unwrap(), built);
            let spelled: Vec<_> = scene
                .parameters
                .iter()
                .map(Parameter::default_pair)
                .collect();
            let spec = format!("{}:{}", scene.name, spelled.join(","));
            let name = built.name.clone();
            assert_eq!(
                Scene {
                    name,
                    ..built_in(&spec).unwrap()
                },
                built
            );
        }
    }

    #[test]
    fn an_unknown_scene_lists_the_known_ones() {
        let text = message("pore:n=3");
        assert!(text.contains("\"pore\""), "{text}");
        assert!(text.contains("pour, stack, pyramid"), "{text}");
    }

    #[test]
    fn unknown_keys_and_bad_pairs_are_named() {
        assert_eq!(
            message("stack:m=3"),
            "stack: there is no parameter \"m\"; there are: n, friction"
        );
        assert_eq!(
            message("wall_20x20:n=3"),
            "wall_20x20: there is no parameter \"n\"; there are: none"
        );
        assert_eq!(
            message("stack:n"),
            "stack: \"n\" is not of the form key=value"
        );
        assert_eq!(message("stack:n=3,n=4"), "stack: n is given twice");
    }

    #[test]
    fn bad_values_are_named_with_their_bound() {
        for value in ["0", "-1", "2.5", "nan", "inf", "x", ""] {
            let text = message(&format!("stack:n={value}"));
            assert_eq!(
                text,
                format!("stack: n is {value}, expected a whole number from 1 to 1000")
            );
        }
        assert_eq!(
            message("sphere_pour:n=500"),
            "sphere_pour: n is 500, expected one of 1000, 8000, 32000, 100000, 1000000"
        );
        for (spec, bound) in [
            ("pour:radius=0", "a number > 0"),
            ("pour:friction=-0.1", "a number ≥ 0"),
            ("pour:friction=inf", "a number ≥ 0"),
            ("top:tilt=2", "a number from 0 to 0.6"),
            (
                "pile:shape=0",
                "one of hulls, hulls40, thinhull, rods, plates, cyl, cones, round, L, U",
            ),
        ] {
            assert!(message(spec).ends_with(bound), "{spec}: {}", message(spec));
        }
    }
}
