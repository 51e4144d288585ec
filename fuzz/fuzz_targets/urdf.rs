//! Text as URDF: a typed error, or a scene that starts and makes its first steps or refuses them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use moreau_robots::{Options, from_text};

fuzz_target!(|text: &str| {
    let Ok(robot) = from_text(text, "robot.urdf", &Options::default()) else {
        return;
    };
    if robot.scene.body_count() > 64 {
        return;
    }
    let Ok(mut run) = robot.scene.start() else {
        return;
    };
    for _ in 0..3 {
        let _ = run.step();
    }
});
