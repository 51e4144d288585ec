//! Text as a scene file: a typed error, or a scene that starts and makes its first steps or refuses them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use moreau::Scene;

/// Larger scenes take long, and are not what is looked for.
const BODIES: usize = 64;

fuzz_target!(|text: &str| {
    let Ok(scene) = Scene::from_toml(text, "") else {
        return;
    };
    if scene.body_count() > BODIES || !scene.emitters.is_empty() {
        return;
    }
    let Ok(mut run) = scene.start() else {
        return;
    };
    for _ in 0..3 {
        let _ = run.step();
    }
    // What was read can be written, and read again to the same.
    if let Ok(written) = scene.to_toml() {
        assert!(Scene::from_toml(&written, "").is_ok(), "{written}");
    }
});
