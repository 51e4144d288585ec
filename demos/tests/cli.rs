//! The program from outside: output, exit codes, messages.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use support::{code, moreau, stderr, stdout};

/// The hash in the JSON summary of a run.
fn hash(arguments: &[&str]) -> String {
    let output = moreau(&[&["run"], arguments, &["--log", "jsonl"]].concat());
    let text = stdout(&output);
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    last["summary"]["hash"].as_str().unwrap().to_owned()
}

fn scene_file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Runs a scene file that must be refused; what it says.
fn refused(name: &str, text: &str) -> String {
    let file = scene_file(name, text);
    let output = moreau(&["run", file.to_str().unwrap(), "--steps", "2"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stdout(&output).is_empty());
    stderr(&output)
}

const STEP_KEYS: [&str; 22] = [
    "step",
    "t",
    "bodies",
    "contacts",
    "sweeps",
    "factorizations",
    "converged",
    "e_scaled",
    "e_fclib",
    "max_penetration",
    "cone_violation",
    "kinetic",
    "potential",
    "work_external",
    "work_friction",
    "work_impact",
    "energy_gap",
    "ms_total",
    "ms_detect",
    "ms_assemble",
    "ms_solve",
    "ms_update",
];

const SUMMARY_KEYS: [&str; 9] = [
    "steps",
    "bodies",
    "contacts",
    "ms_per_step_median",
    "e_scaled_max",
    "e_scaled_median",
    "max_penetration",
    "energy_gap",
    "hash",
];

#[test]
fn jsonl_has_one_object_a_step_with_the_fixed_keys_and_a_summary() {
    let output = moreau(&["run", "stack:n=3", "--steps", "5", "--log", "jsonl"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 6);
    for (i, line) in lines[..5].iter().enumerate() {
        let step: Value = serde_json::from_str(line).unwrap();
        assert_eq!(step["step"], i + 1);
        assert_eq!(step["bodies"], 4);
        // In this order, before any other.
        let mut rest = *line;
        for key in STEP_KEYS {
            let prefix = format!("\"{key}\":");
            rest = &rest[1..];
            assert!(rest.starts_with(&prefix), "{key}: {rest}");
            assert!(!step[key].is_null(), "{key}: {line}");
            rest = &rest[rest.find([',', '}']).unwrap()..];
        }
    }
    let last: Value = serde_json::from_str(lines[5]).unwrap();
    let summary = last["summary"].as_object().unwrap();
    assert_eq!(summary.len(), SUMMARY_KEYS.len());
    for key in SUMMARY_KEYS {
        assert!(summary.contains_key(key), "{key}");
    }
    assert_eq!(summary["steps"], 5);
    assert_eq!(summary["hash"].as_str().unwrap().len(), 16);
    // The summary for people is then on stderr.
    assert!(
        stderr(&output).contains("state hash"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn text_for_people_is_on_stderr() {
    let output = moreau(&["run", "stack", "--time", "0.05"]);
    assert_eq!(code(&output), 0);
    let text = stderr(&output);
    for part in [
        "stack · cubes",
        "10 of 5.000 ms",
        "11 bodies",
        "wall time",
        "contacts",
        "residual",
        "penetration",
        "kinetic",
        "potential",
        "friction",
        "ledger gap",
        "state hash",
        "every step solved to e_scaled ≤ 1.0e-5",
        "█",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(stdout(&output).is_empty(), "{}", stdout(&output));
}

#[test]
fn the_text_log_goes_to_stderr() {
    let output = moreau(&["run", "stack", "--steps", "3", "--log", "text"]);
    assert_eq!(code(&output), 0);
    let text = stderr(&output);
    let steps = text.lines().filter(|line| line.starts_with("step "));
    assert_eq!(steps.count(), 3, "{text}");
    assert!(text.contains("residual") && text.contains("state hash"));
    assert!(stdout(&output).is_empty());
}

#[test]
fn list_names_every_scene_and_parameter() {
    let output = moreau(&["list"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for scene in moreau_demos::list() {
        assert!(text.contains(scene.name), "{}", scene.name);
        for parameter in scene.parameters {
            let default = parameter.default_pair();
            assert!(text.contains(&default), "{default}\n{text}");
        }
    }
}

#[test]
fn a_hash_is_verified() {
    let run = ["stack:n=2", "--steps", "4"];
    let found = hash(&run);
    let verify = |h: &str| moreau(&[&["run"], &run[..], &["--verify-hash", h]].concat());
    assert_eq!(code(&verify(&found)), 0);
    let wrong = verify("0123456789abcdef");
    assert_eq!(code(&wrong), 1);
    assert!(stderr(&wrong).contains(&found), "{}", stderr(&wrong));
    assert_eq!(code(&verify("12")), 2);
}

#[test]
fn the_hash_does_not_depend_on_the_number_of_threads() {
    let with = |threads| hash(&["pour:n=200", "--time", "0.5", "--threads", threads]);
    let one = with("1");
    assert_eq!(with("2"), one);
    assert_eq!(with("3"), one);
}

#[test]
fn the_seed_and_the_time_step_change_the_result() {
    let plain = hash(&["pour:n=20", "--steps", "3"]);
    assert_eq!(
        hash(&["pour:n=20", "--steps", "3", "--seed", "12345"]),
        plain
    );
    assert_ne!(hash(&["pour:n=20", "--steps", "3", "--seed", "1"]), plain);
    assert_ne!(hash(&["pour:n=20", "--steps", "3", "--dt", "0.001"]), plain);
}

#[test]
fn a_required_residual_that_is_not_reached_is_code_3() {
    let run = ["run", "pyramid:n=8", "--steps", "5"];
    let reached = moreau(&[&run[..], &["--require-residual", "1e-6"]].concat());
    assert_eq!(code(&reached), 0, "{}", stderr(&reached));
    let checks = ["--tol", "1e-2", "--require-residual", "1e-9"];
    let missed = moreau(&[&run[..], &checks].concat());
    assert_eq!(code(&missed), 3);
    let text = stderr(&missed);
    assert!(
        text.contains("steps did not reach e_scaled ≤ 1e-9"),
        "{text}"
    );
    assert!(text.contains("the first is step 1 "), "{text}");
    // The summary is there all the same.
    assert!(text.contains("state hash"));
}

/// Two walls that close on a ball: `e_scaled` is relative to an impulse that grows, and says nothing.
#[test]
fn steps_without_a_solution_are_code_3() {
    let wall = |x: f64| {
        format!(
            "[[bodies]]\nkind = \"kinematic\"\nshape = {{ half_space = {{ normal = [{x}, 0.0, 0.0] }} }}\n\
             position = [{}, 0.0, 0.0]\ntwist = {{ linear = [{x}, 0.0, 0.0] }}\n",
            -0.1 * x
        )
    };
    let text = format!(
        "[[bodies]]\nshape = {{ sphere = {{ radius = 0.1 }} }}\n{}{}",
        wall(1.0),
        wall(-1.0)
    );
    let file = scene_file("closing_walls.toml", &text);
    let run = ["run", file.to_str().unwrap(), "--steps", "5"];
    assert_eq!(code(&moreau(&run)), 0);
    for check in [["--require-residual", "1"], ["--require-velocity", "10"]] {
        let missed = moreau(&[&run[..], &check].concat());
        let text = stderr(&missed);
        assert_eq!(code(&missed), 3, "{text}");
        assert!(text.contains("5 of 5 steps were not solved"), "{text}");
    }
}

#[test]
fn a_required_velocity_that_is_not_reached_is_code_3() {
    let run = ["run", "pyramid:n=8", "--steps", "5"];
    let reached = moreau(&[&run[..], &["--require-velocity", "1e-6"]].concat());
    assert_eq!(code(&reached), 0, "{}", stderr(&reached));
    // One sweep, from the ground upwards, does not solve a stack.
    let mut text = "[settings.solver]\nmin_sweeps = 1\nmax_sweeps = 1\nmax_factorizations = 0\n\
                    [[bodies]]\nkind = \"static\"\nshape = { half_space = { normal = [0.0, 0.0, 1.0] } }\n"
        .to_owned();
    for z in [0.5, 1.5, 2.5] {
        text += &format!(
            "[[bodies]]\nshape = {{ cuboid = {{ half_extents = [0.5, 0.5, 0.5] }} }}\nposition = [0.0, 0.0, {z}]\n"
        );
    }
    let file = scene_file("one_sweep.toml", &text);
    let run = ["run", file.to_str().unwrap(), "--steps", "3"];
    let missed = moreau(&[&run[..], &["--require-velocity", "1e-6"]].concat());
    let text = stderr(&missed);
    assert_eq!(code(&missed), 3, "{text}");
    assert!(
        text.contains("3 of 3 steps did not reach 1e-6 m/s"),
        "{text}"
    );
}

#[test]
fn a_state_that_becomes_infinite_is_code_4() {
    let file = scene_file(
        "blows_up.toml",
        "[settings]\ntime_step = 1e10\n\
         [[bodies]]\nshape = { sphere = { radius = 1.0 } }\ntwist = { linear = [1e300, 0.0, 0.0] }\n",
    );
    let output = moreau(&["run", file.to_str().unwrap(), "--steps", "5"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("not finite"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn wrong_usage_is_code_2() {
    for (arguments, part) in [
        (&["run"][..], "SCENE"),
        (
            &["run", "pore"],
            "there is no built-in scene \"pore\"; there are: pour",
        ),
        (
            &["run", "stack:n=0"],
            "stack: n is 0, expected a whole number",
        ),
        (&["run", "stack", "--steps", "0"], "--steps"),
        (&["run", "stack", "--time", "-1"], "expected a number > 0"),
        (&["run", "stack", "--dt", "nan"], "expected a number > 0"),
        (&["run", "stack", "--tol", "0"], "expected a number > 0"),
        (
            &["run", "stack", "--steps", "1", "--time", "1"],
            "cannot be used with",
        ),
        (&["run", "stack", "--log", "xml"], "jsonl, text, none"),
        (&["run", "no/such/file.toml"], "no/such/file.toml: "),
        (&["run", "stack", "--threads", "10000"], "from 0 to 1024"),
        (
            &["run", "stack", "--time", "1e300"],
            "expected at most 1e8 time steps",
        ),
        (&["run", "stack", "--steps", "100000001"], "100000001"),
        (&["run", "stakc"], "; did you mean \"stack\"?"),
        (&["run", "stack:frction=1"], "; did you mean \"friction\"?"),
        (&["walk"], "unrecognized subcommand"),
    ] {
        let output = moreau(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(part),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(stdout(&output).is_empty());
    }
}

#[test]
fn bad_files_are_named_with_line_and_column() {
    let text = refused(
        "unknown_key.toml",
        "name = \"x\"\n\n[[bodies]]\ncolour = 3\n",
    );
    assert!(text.contains("unknown_key.toml:4:1: "), "{text}");
    assert!(text.contains("unknown field `colour`"), "{text}");
    let text = refused("syntax.toml", "name = \"x\"\nduration = = 1\n");
    assert!(text.contains("syntax.toml:2:"), "{text}");
    let text = refused("type.toml", "duration = \"long\"\n");
    assert!(text.contains("type.toml:1:12: "), "{text}");
}

#[test]
fn bad_values_are_named_with_entry_field_and_bound() {
    let ball = "[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.5 } }\n";
    let with = |extra: &str| format!("{ball}{extra}\n");
    let cases = [
        (
            "[[bodies]]\nshape = { sphere = { radius = -0.5 } }\n".to_owned(),
            "bodies[0]",
            "radius",
        ),
        (
            with("position = [nan, 0.0, 0.0]"),
            "bodies[0] \"ball\"",
            "position",
        ),
        (
            with("mass = { mass = -1.0, principal_inertia = [1.0, 1.0, 1.0] }"),
            "ball",
            "mass",
        ),
        (
            with("mass = { mass = 1.0, principal_inertia = [1.0, 1.0, 3.0] }"),
            "ball",
            "inertia",
        ),
        (
            with("material = \"ice\""),
            "ball",
            "material is ice, expected a name in [materials]",
        ),
        (
            with("material = \"m\"\n[materials.m]\nfriction = -0.1"),
            "ball",
            "friction is -0.1, expected",
        ),
        (
            with("material = \"m\"\n[materials.m]\nrestitution = 1.5"),
            "ball",
            "restitution is 1.5, expected",
        ),
        (
            with("[settings]\ntime_step = 0.0"),
            "settings",
            "time_step is 0, expected > 0",
        ),
        (
            with("[[bodies]]\nkind = \"static\"\nmesh = { path = \"no.obj\" }"),
            "bodies[1]",
            "no.obj",
        ),
    ];
    let mut all = String::new();
    for (i, (file, place, part)) in cases.iter().enumerate() {
        let text = refused(&format!("value_{i}.toml"), file);
        let _ = writeln!(all, "{text}");
        assert!(text.contains(place), "{file}\n{text}");
        assert!(text.contains(part), "{file}\n{text}");
    }
    let text = scene_file("duration.toml", "duration = nan\n");
    let output = moreau(&["run", text.to_str().unwrap()]);
    assert_eq!(code(&output), 2, "{all}");
    assert!(stderr(&output).contains("duration is NaN, expected > 0"));
}

#[test]
fn the_example_file_runs() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/domino.toml");
    let output = moreau(&["run", file, "--require-residual", "1e-4"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("domino · a ball topples"));
}

#[test]
fn a_reader_that_goes_away_ends_the_run_without_a_panic() {
    for (checks, expected) in [(&[][..], 0), (&["--require-residual", "1e-4"], 1)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_moreau"))
            .args(["run", "stack", "--steps", "100000", "--log", "jsonl"])
            .args(checks)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), expected);
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    }
}

#[test]
fn an_empty_scene_runs_with_a_warning() {
    let text = "name = \"void\"\n[[lattices]]\ncount = [0, 5, 5]\nbody = { shape = { sphere = { radius = 1.0 } } }\n";
    for text in [text, ""] {
        let file = scene_file("void.toml", text);
        let output = moreau(&["run", file.to_str().unwrap(), "--steps", "2"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stderr(&output);
        assert!(text.contains("moreau: warning: "), "{text}");
        assert!(text.contains("has no bodies"), "{text}");
    }
    let output = moreau(&["run", "stack", "--steps", "2"]);
    assert!(!stderr(&output).contains("warning"));
}

#[test]
fn a_mesh_that_is_wound_wrong_is_told() {
    let scene = |triangles: &str| {
        let vertices = "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]";
        let text = format!(
            "[[bodies]]\nname = \"rock\"\nkind = \"static\"\n\
             shape = {{ triangle_mesh = {{ vertices = {vertices}, triangles = {triangles} }} }}\n"
        );
        let file = scene_file("wound.toml", &text);
        let output = moreau(&["run", file.to_str().unwrap(), "--steps", "2"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stderr(&output)
    };
    let sound = scene("[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]");
    assert!(!sound.contains("warning"), "{sound}");
    let odd = scene("[[0, 2, 1], [0, 3, 1], [0, 3, 2], [1, 2, 3]]");
    let text = "moreau: warning: bodies[0] \"rock\": 3 edges lie between triangles of opposite winding, \
                the first between triangles 0 and 1";
    assert!(odd.contains(text), "{odd}");
    let inside_out = scene("[[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]");
    let text = "moreau: warning: bodies[0] \"rock\": the closed mesh faces inwards";
    assert!(inside_out.contains(text), "{inside_out}");
}

#[test]
fn emitters_that_wait_for_room_at_the_end_are_told() {
    let text = "[[bodies]]\nkind = \"static\"\nshape = { sphere = { radius = 1.0 } }\n\
                [[emitters]]\ninterval = 1.0\ncount = 1\n[[emitters.bodies]]\nshape = { sphere = { radius = 0.5 } }\n";
    let file = scene_file("no_room.toml", text);
    let output = moreau(&["run", file.to_str().unwrap(), "--steps", "2"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stderr(&output);
    assert!(
        text.contains("warning: 1 emitter waits for room at the end"),
        "{text}"
    );
}

#[test]
fn hostile_files_are_refused_at_once() {
    let begun = std::time::Instant::now();
    let text = refused(
        "threads.toml",
        "[settings]\nthreads = 10000\n[[bodies]]\nshape = { sphere = { radius = 1.0 } }\n",
    );
    assert!(
        text.contains("threads is 10000, expected in [0, 1024]"),
        "{text}"
    );
    let text = refused("count.toml", "[[lattices]]\ncount = [3000, 3000, 3000]\n");
    assert!(text.contains("at most 2000000 bodies"), "{text}");
    let text = refused("mesh.toml", "[[bodies]]\nmesh = { path = \"/dev/zero\" }\n");
    assert!(text.contains("/dev/zero"), "{text}");
    let output = moreau(&["run", "/dev/zero"]);
    assert_eq!(code(&output), 2);
    // Three starts of the program.
    assert!(begun.elapsed().as_secs_f64() < 3.0);
}

/// A robot file and the scene that it is converted to move to the same bits, wherever the scene is; what was not taken is told both times.
#[test]
fn a_robot_that_is_converted_moves_to_the_same_bits() {
    let robot = scene_file(
        "convert_robot.xml",
        r#"<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="1 1 1"/>
        <body name="b" pos="0 0 0.5"><joint name="lift" type="slide" axis="0 0 1" armature="0.1"/><geom size="0.1"/>
          <body name="c" pos="0 0 0.3"><joint name="swing" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body></body></worldbody>
        <equality><joint joint1="lift" joint2="swing" polycoef="0 0.1"/></equality><tendon><fixed/></tendon></mujoco>"#,
    );
    let robot = robot.to_str().unwrap();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("converted");
    std::fs::create_dir_all(&folder).unwrap();
    let scene = folder.join("scene.toml");
    let scene = scene.to_str().unwrap();
    let output = moreau(&["convert", robot, scene]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told = "tendon: left out: no tendons";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
    let text = std::fs::read_to_string(scene).unwrap();
    for part in ["[[couplers]]", "joint = \"swing\"", "armature"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(
        hash(&[scene, "--steps", "150"]),
        hash(&[robot, "--steps", "150"])
    );

    let onto_itself = moreau(&["convert", scene, scene]);
    assert_eq!(code(&onto_itself), 2);
    assert_eq!(std::fs::read_to_string(scene).unwrap(), text);
    let nowhere = folder.join("none/scene.toml");
    let nowhere = moreau(&["convert", robot, nowhere.to_str().unwrap()]);
    assert_ne!(code(&nowhere), 0);
    let bad = moreau(&["convert", "gone.xml", scene]);
    assert_eq!(code(&bad), 2, "{}", stderr(&bad));
}

/// A ball that rests on the floor, and another one that hangs from a hinge, each borne with its weight.
#[test]
fn the_state_at_the_end_is_written_as_json() {
    let text = "duration = 1.0\n[[bodies]]\nname = \"floor\"\nkind = \"static\"\nshape = { half_space = { normal = [0.0, 0.0, 1.0] } }\n\
                [[bodies]]\nname = \"ball\"\nposition = [1.0, 0.0, 0.1]\nshape = { sphere = { radius = 0.1 } }\nmass = { mass = 3.0 }\n\
                [[bodies]]\nname = \"bob\"\nposition = [0.0, 0.0, 1.0]\nshape = { sphere = { radius = 0.1 } }\nmass = { mass = 2.0 }\n\
                [[joints]]\nname = \"hinge\"\nb = \"bob\"\nkind = \"revolute\"\npoint = [0.0, 0.0, 2.0]\naxis = [0.0, 1.0, 0.0]\n";
    let scene = scene_file("state.toml", text);
    let file = scene.with_extension("json");
    let arguments = ["--awake", "--accuracy", "reference", "--state"];
    let scene = scene.to_str().unwrap();
    let output = moreau(&[&["run", scene], &arguments[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let number = |of: &Value| of.as_f64().unwrap();
    assert!((number(&state["t"]) - 1.0).abs() < 1e-9);
    let bodies = state["bodies"].as_array().unwrap();
    let names: Vec<_> = bodies
        .iter()
        .map(|of| of["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["floor", "ball", "bob"]);
    assert!((number(&bodies[2]["position"][2]) - 1.0).abs() < 1e-9);
    let [contact] = &state["contacts"].as_array().unwrap()[..] else {
        unreachable!("one contact: {state}")
    };
    // On A.
    let sign = if contact["a"] == "ball" { 1.0 } else { -1.0 };
    assert!(
        (sign * number(&contact["force"][2]) - 3.0 * 9.81).abs() < 1e-6,
        "{contact}"
    );
    let joint = &state["joints"][0];
    assert_eq!(joint["name"], "hinge");
    let norm: f64 = (0..3).map(|k| number(&joint["force"][k]).powi(2)).sum();
    assert!((norm.sqrt() - 2.0 * 9.81).abs() < 1e-6, "{joint}");
    let nowhere = moreau(&["run", scene, "--state", "/nowhere/state.json"]);
    assert_eq!(code(&nowhere), 2);
}

/// A file that is named without its folder is in the one where the program runs.
#[test]
fn a_robot_beside_the_program_is_converted() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("convert_here");
    std::fs::create_dir_all(&folder).unwrap();
    let model = "<mujoco><worldbody><body name='b'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>";
    std::fs::write(folder.join("model.xml"), model).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_moreau"))
        .args(["convert", "model.xml", "scene.toml"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let scene = std::fs::read_to_string(folder.join("scene.toml")).unwrap();
    assert!(scene.contains("name = \"b\""), "{scene}");
}

#[test]
fn a_step_is_taken_apart() {
    let seen = moreau(&[
        "inspect", "wall", "--step", "3", "--top", "2", "--solver", "nsgs",
    ]);
    assert_eq!(code(&seen), 0, "{}", stderr(&seen));
    let text = stdout(&seen);
    assert!(
        text.contains("wall · step 3") && text.contains("the same problem by nsgs"),
        "{text}"
    );
    let seen = moreau(&[
        "inspect",
        "stack:n=3",
        "--step",
        "5",
        "--json",
        "--top",
        "1",
    ]);
    let object: Value = serde_json::from_str(&stdout(&seen)).unwrap();
    let contact = &object["contacts"][0];
    let left = contact["left"].as_f64().unwrap();
    // Its law is solved to the tolerance of velocities.
    assert!((0.0..5e-4).contains(&left), "{object}");
    assert_eq!(contact["w"].as_array().unwrap().len(), 3);
    let refused = moreau(&["inspect", "stack", "--step", "2", "--contact", "900"]);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("--contact is 900"));
}
