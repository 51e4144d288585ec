//! Scene files at random: every key of the format, with words, numbers, lines and bytes changed. Each is refused with a typed error, or
//! starts and makes its steps or refuses those; nothing panics or fills the memory. Seeds are fixed.

use crate::counted::requested;
use crate::support::*;
use moreau::scene::Lcg;

/// Memory, bytes, that reading, starting and a few steps of some hundred bodies may ask for in all.
const MOST: usize = 1 << 30;

const FILES: [&str; 3] = [
    include_str!("../../demos/scenes/funnel.toml"),
    include_str!("../../demos/scenes/domino.toml"),
    r#"name = "all"
duration = 0.5
seed = 9
[settings]
time_step = 0.005
gravity = [0.0, 0.0, -9.81]
accuracy = "interactive"
theta = { fixed = 0.5 }
rotation = "linear"
margin = 0.02
restitution_threshold = 0.1
combine_friction = "mean"
combine_restitution = "max"
warm_start = true
threads = 1
activation = { forecast = { gamma = 0.5, threshold = 0.0, approaching_only = true } }
[settings.solver]
tolerance = 1e-3
velocity_tolerance = 1e-3
min_sweeps = 2
max_sweeps = 30
momentum = 0.5
max_factorizations = 0
[settings.projection]
tolerance = 1e-4
max_iterations = 4
sweeps = 20
[settings.sleeping]
enabled = true
linear = 0.01
angular = 0.05
time = 0.5
[materials.stone]
density = 2500.0
friction = 0.3
restitution = 0.2
frictionless = false
combine_friction = "min"
combine_restitution = "max"
bounce_threshold = 0.1
cohesion = 1.0
rolling_resistance = 0.01
spinning_resistance = 0.01
grain = { along = [1, 0, 0], across = 0.5 }
[[pairs]]
between = ["stone", "stone"]
friction = 0.7
restitution = 0.1
bounce_threshold = 0.2
cohesion = 0.5
rolling_resistance = 0.0
spinning_resistance = 0.02
[[bodies]]
kind = "static"
shape = { height_field = { x_size = 4.0, y_size = 4.0, columns = 3, heights = [0.0, 0.1, 0.0, 0.0, 0.2, 0.0, 0.0, 0.1, 0.0] } }
[[motions]]
body = "wave"
path = { keyframes = { times = [0.0, 0.5, 1.0], positions = [[0, 0, 0], [0, 0, 0.1], [0, 0, 0]], orientations = [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]], repeat = true } }
[[bodies]]
name = "wave"
kind = "kinematic"
shape = { triangle_mesh = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.1]], triangles = [[0, 1, 2], [1, 3, 2]] } }
twist = { linear = [0.1, 0.0, 0.0], angular = [0.0, 0.0, 0.1] }
[[bodies]]
shape = { convex_hull = { points = [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0.1, 0.12, 0.14]] } }
position = [0.0, 0.0, 0.5]
orientation = { euler_degrees = [10, 20, 30] }
mass = { mass = 3.0 }
material = "stone"
[[bodies]]
shape = { compound = { parts = [[{ position = [0.1, 0, 0], orientation = { axis = [0, 1, 0], angle = 1.0 } }, { cone = { half_height = 0.1, radius = 0.1 } }], [{ position = [0, 0, 0], orientation = [0, 0, 0, 1] }, { sphere = { radius = 0.1 } }]] } }
position = [1.0, 0.0, 0.5]
mass = { mass = 1.0, principal_inertia = [0.1, 0.1, 0.1], principal_frame = [0, 0, 0, 1] }
wrench = { force = [1.0, 0.0, 0.0], moment = [0.0, 0.1, 0.0], body_moment = [0.0, 0.0, 0.1] }
groups = { memberships = 1, mask = 3 }
[[bodies]]
kind = "static"
mesh = { path = "none.obj", scale = 1.0 }
[[lattices]]
count = [2, 2, 2]
spacing = [0.3, 0.3, 0.3]
origin = [0.0, 0.0, 1.0]
jitter = 0.01
random_orientation = true
body = { shape = { cylinder = { half_height = 0.1, radius = 0.05 } }, material = "stone" }
[[emitters]]
center = [0.0, 0.0, 2.0]
half_extents = [0.1, 0.1, 0.1]
start = 0.0
interval = 0.005
count = 4
random_orientation = true
[[emitters.bodies]]
shape = { cuboid = { half_extents = [0.1, 0.1, 0.05] } }
"#,
];

/// What numbers, words and lists become.
const HOSTILE: [&str; 32] = [
    "0",
    "-1",
    "1",
    "3",
    "1e308",
    "-1e308",
    "1e-308",
    "5e-324",
    "nan",
    "inf",
    "-inf",
    "1e16",
    "9223372036854775807",
    "-9223372036854775808",
    "1e-6",
    "1e9",
    "3000",
    "4294967295",
    "4294967296",
    "1e200",
    "[]",
    "{}",
    "\"\"",
    "true",
    "[[[]]]",
    "[nan, nan, nan]",
    "[1e308, 1e308, 1e308]",
    "[0, 0, 0, 0]",
    "\"stone\"",
    "\"static\"",
    "1979-05-27",
    "-0.0",
];

fn below(random: &mut Lcg, most: usize) -> usize {
    (random.uniform() * most as f64) as usize
}

/// Where numbers and words of a text begin and end.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let part = |c: char| c.is_alphanumeric() || "_.-+".contains(c);
    let mut found = Vec::new();
    let mut begin = None;
    for (at, c) in text.char_indices() {
        match (begin, part(c)) {
            (None, true) => begin = Some(at),
            (Some(first), false) => {
                found.push((first, at));
                begin = None;
            }
            _ => {}
        }
    }
    found
}

fn mutated(random: &mut Lcg) -> String {
    let mut text = FILES[below(random, FILES.len())].to_owned();
    for _ in 0..=below(random, 4) {
        let lines: Vec<&str> = text.lines().collect();
        let line = below(random, lines.len().max(1));
        let words = tokens(&text);
        let (from, to) = words
            .get(below(random, words.len().max(1)))
            .copied()
            .unwrap_or((0, 0));
        let number = text[from..to].parse::<f64>().is_ok();
        text = match below(random, 10) {
            // Mostly numbers: the others seldom pass the parser.
            0..=5 if number => {
                text[..from].to_owned() + HOSTILE[below(random, HOSTILE.len())] + &text[to..]
            }
            6 => text[..from].to_owned() + HOSTILE[below(random, HOSTILE.len())] + &text[to..],
            7 => {
                let kept = lines.iter().enumerate().filter(|(i, _)| *i != line);
                kept.map(|(_, line)| format!("{line}\n")).collect()
            }
            8 => {
                let again = lines.get(line).copied().unwrap_or_default();
                text.clone() + "\n" + again + "\n"
            }
            9 => {
                let byte = ["\"", "[", "]", "{", "\u{0}", "é", "'''", "#", "=", "\r"];
                text[..from].to_owned() + byte[below(random, byte.len())] + &text[from..]
            }
            _ => text,
        };
    }
    text
}

/// How many started.
fn attack(seed: u64, cases: usize) -> usize {
    let mut random = Lcg::new(seed);
    let mut started = 0;
    for case in 0..cases {
        let text = mutated(&mut random);
        let (runs, bytes) = requested(|| runs(&text));
        started += usize::from(runs);
        assert!(
            bytes < MOST,
            "seed {seed}, case {case}: {bytes} bytes\n{text}"
        );
    }
    started
}

/// It starts; if so it makes some steps, or refuses them.
fn runs(text: &str) -> bool {
    let Ok(scene) = Scene::from_toml(text, "scene.toml") else {
        return false;
    };
    // Thousands of bodies in one place are contacts by the million: slow, and as it was asked for.
    let large = (500..=Scene::MOST_BODIES).contains(&scene.body_count());
    if large {
        return false;
    }
    let Ok(mut run) = scene.start() else {
        return false;
    };
    for _ in 0..3 {
        if let Err(error) = run.step() {
            assert!(!error.to_string().is_empty());
            break;
        }
    }
    true
}

#[test]
fn mutated_scenes_are_refused_or_run() {
    assert!(attack(1, 200) > 20);
}

#[test]
#[ignore = "minutes: cargo test --release -p moreau-tests --test bad_input -- --ignored"]
fn many_mutated_scenes_are_refused_or_run() {
    for seed in 2..200 {
        attack(seed, 200);
    }
}

#[test]
fn long_lists_are_read_and_refused() {
    let n = 300_000;
    let zeros = "0,".repeat(n);
    for text in [
        format!("[[bodies]]\nposition = [{zeros}]\n"),
        format!("[[bodies]]\norientation = [{zeros}]\n"),
        format!(
            "[[bodies]]\nshape = {{ convex_hull = {{ points = [{}] }} }}\n",
            "[0,0,0],".repeat(n)
        ),
        format!(
            "[[bodies]]\nkind = \"static\"\nshape = {{ triangle_mesh = {{ vertices = [[0,0,0]], triangles = [{}] }} }}\n",
            "[0,0,0],".repeat(n)
        ),
        format!(
            "[[bodies]]\nkind = \"static\"\nshape = {{ height_field = {{ x_size = 1, y_size = 1, columns = 7, heights = [{zeros}] }} }}\n"
        ),
        format!("{} = 1\n", "a".repeat(n)),
        format!("[[bodies]]\nmaterial = \"{}\"\n", "a".repeat(n)),
    ] {
        let (started, bytes) =
            requested(|| Scene::from_toml(&text, "scene.toml").and_then(|scene| scene.start()));
        assert!(started.is_err(), "{}", &text[..80]);
        assert!(bytes < MOST, "{bytes} bytes: {}", &text[..80]);
    }
}

#[test]
fn mutated_meshes_are_refused_or_start() {
    const LINES: [&str; 24] = [
        "v 0 0 0",
        "v 1 0 0",
        "v 0 1 0",
        "v 0 0 1",
        "v nan inf 1e400",
        "v 1 2",
        "v",
        "vt 0 0",
        "vn 0 0 1",
        "f 1 2 3",
        "f 1/1/1 2/1/1 3/1/1",
        "f -1 -2 -3",
        "f 1//1 2//1 3//1",
        "f 1 2 3 4",
        "f 1",
        "f 1 2",
        "f 0 1 2",
        "f 9223372036854775807 1 2",
        "f -9223372036854775808 1 2",
        "f 99999999999999999999 1 2",
        "f 1/2/3/4 1 2",
        "l 1 2",
        "o x\ng y\nusemtl z\nmtllib /dev/zero",
        "f 1 1 1 1 1 1 1 1",
    ];
    let folder = std::env::temp_dir().join(format!("moreau-mutated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mesh.obj");
    let scene = "[[bodies]]\nkind = \"static\"\nmesh = { path = \"mesh.obj\" }\n";
    let scene = Scene::from_toml(scene, folder.join("scene.toml")).unwrap();
    let mut random = Lcg::new(5);
    let mut started = 0;
    for _ in 0..2000 {
        let mut text: String = LINES[..4].iter().map(|line| format!("{line}\n")).collect();
        for _ in 0..=below(&mut random, 6) {
            text += LINES[below(&mut random, LINES.len())];
            text.push('\n');
        }
        std::fs::write(&file, &text).unwrap();
        started += usize::from(scene.start().is_ok());
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(started > 100, "{started}");
}
