//! Scenes with joints.

use super::parameter::{Bound, POSITIVE, Parameter};
use super::{BuiltIn, FRICTION};
use crate::scenes::{anymal, linkages, machines, people, robots};

/// Table of the scenes with joints.
pub(super) const MACHINES: &[BuiltIn] = &[
    BuiltIn {
        name: "pendulum",
        description: "bars on hinges, held out level",
        parameters: &[Parameter {
            name: "n",
            description: "number of bars",
            default: 2.0,
            bound: Bound::Whole(1, 1000),
        }],
        build: |v| linkages::pendulum(v.whole("n")),
    },
    BuiltIn {
        name: "chain",
        description: "a hanging chain with a heavy end",
        parameters: &[
            Parameter {
                name: "n",
                description: "number of links",
                default: 50.0,
                bound: Bound::Whole(1, 10_000),
            },
            Parameter {
                name: "ratio",
                description: "mass of the last link over that of the others",
                default: 100.0,
                bound: POSITIVE,
            },
        ],
        build: |v| linkages::chain(v.whole("n"), v.number("ratio")),
    },
    BuiltIn {
        name: "fourbar",
        description: "a crank, a coupler and a rocker: a closed loop with three rows too many",
        parameters: &[],
        build: |_| linkages::fourbar(),
    },
    BuiltIn {
        name: "bridge",
        description: "a hanging bridge of planks, and a crate that falls on it",
        parameters: &[
            Parameter {
                name: "n",
                description: "number of planks",
                default: 12.0,
                bound: Bound::Whole(2, 1000),
            },
            Parameter {
                name: "ratio",
                description: "mass of the crate over that of a plank",
                default: 10.0,
                bound: POSITIVE,
            },
        ],
        build: |v| linkages::bridge(v.whole("n"), v.number("ratio")),
    },
    BuiltIn {
        name: "slider-crank",
        description: "a motor turns a crank, whose slider pushes crates along a table",
        parameters: &[Parameter {
            name: "speed",
            description: "of the crank, rad/s",
            default: 6.0,
            bound: Bound::Between(-100.0, 100.0),
        }],
        build: |v| machines::slider_crank(v.number("speed")),
    },
    BuiltIn {
        name: "stewart",
        description: "a platform on six legs lifts and tilts 1000 N: a closed loop with eight rows too many",
        parameters: &[
            Parameter {
                name: "lift",
                description: "how far it goes up, m",
                default: 0.1,
                bound: Bound::Between(-0.1, 0.25),
            },
            Parameter {
                name: "tilt",
                description: "how far it turns about x, rad",
                default: 0.15,
                bound: Bound::Between(-0.3, 0.3),
            },
        ],
        build: |v| machines::stewart(v.number("lift"), v.number("tilt")),
    },
    BuiltIn {
        name: "gripper",
        description: "two fingers lift a cube of many times their mass by friction",
        parameters: &[
            Parameter {
                name: "ratio",
                description: "mass of the cube over that of a finger",
                default: 1000.0,
                bound: POSITIVE,
            },
            Parameter {
                default: 0.6,
                ..FRICTION
            },
        ],
        build: |v| machines::gripper(v.number("ratio"), v.number("friction")),
    },
    BuiltIn {
        name: "crane",
        description: "a crane slews, and the load on its chain knocks a wall of crates over",
        parameters: &[
            Parameter {
                name: "links",
                description: "links of the chain",
                default: 12.0,
                bound: Bound::Whole(1, 500),
            },
            Parameter {
                name: "load",
                description: "mass of the load, kg",
                default: 200.0,
                bound: POSITIVE,
            },
        ],
        build: |v| machines::crane(v.whole("links"), v.number("load")),
    },
    BuiltIn {
        name: "net",
        description: "a ball falls into a net that is held at its corners",
        parameters: &[
            Parameter {
                name: "n",
                description: "knots in a row",
                default: 12.0,
                bound: Bound::Whole(2, 200),
            },
            Parameter {
                name: "ties",
                description: "what ties the knots",
                default: 0.0,
                bound: Bound::Word(&["bars", "ropes"]),
            },
        ],
        build: |v| machines::net(v.whole("n"), v.whole("ties") == 1),
    },
    BuiltIn {
        name: "ragdolls",
        description: "people of 13 parts with limits fall on a heap",
        parameters: &[Parameter {
            name: "n",
            description: "number of people",
            default: 5.0,
            bound: Bound::Whole(1, 1000),
        }],
        build: |v| people::ragdolls(v.whole("n")),
    },
    BuiltIn {
        name: "humanoid",
        description: "a person of 22 servos keeps standing while balls are thrown at it",
        parameters: &[Parameter {
            name: "ball",
            description: "mass of the balls, kg",
            default: 2.0,
            bound: POSITIVE,
        }],
        build: |v| people::humanoid(v.number("ball")),
    },
    BuiltIn {
        name: "quadruped",
        description: "robots of 12 joints that drop and stand, or trot",
        parameters: &[
            Parameter {
                name: "n",
                description: "number of robots",
                default: 1.0,
                bound: Bound::Whole(1, 10_000),
            },
            Parameter {
                name: "gait",
                description: "strides a second; 0 to stand",
                default: 2.5,
                bound: Bound::Between(-5.0, 5.0),
            },
        ],
        build: |v| robots::quadrupeds(v.whole("n"), v.number("gait")),
    },
    BuiltIn {
        name: "anymal",
        description: "SimBenchmark: ANYmals of 12 hinges that stand on their motors for 250 s",
        parameters: &[
            Parameter {
                name: "n",
                description: "robots in a row, n × n in all",
                default: 1.0,
                bound: Bound::Whole(1, 100),
            },
            Parameter {
                name: "height",
                description: "of the bases at the start, m: 0.54 in the task, with the feet 1.8 mm deep in the ground",
                default: anymal::TOUCH,
                bound: Bound::Between(0.53, 2.0),
            },
        ],
        build: |v| anymal::standing(v.whole("n"), anymal::Drive::Motors, v.number("height")),
    },
    BuiltIn {
        name: "arm-in-pile",
        description: "an arm of six axes stirs a box of balls",
        parameters: &[Parameter {
            name: "n",
            description: "number of balls",
            default: 1000.0,
            bound: Bound::Whole(1, 100_000),
        }],
        build: |v| robots::arm_in_pile(v.whole("n")),
    },
];
