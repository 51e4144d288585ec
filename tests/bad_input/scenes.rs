//! Scenes that cannot be read or started.

use crate::support::*;
use moreau::SceneError;

#[track_caller]
fn toml_error(text: &str) -> SceneError {
    Scene::from_toml(text, "dir/scene.toml").unwrap_err()
}

#[track_caller]
fn start_error(text: &str) -> String {
    match Scene::from_toml(text, "dir/scene.toml").unwrap().start() {
        Ok(_) => panic!("started: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn unknown_keys_are_named_with_line_and_column() {
    let cases = [
        ("name = \"a\"\ntypo = 1\n", 2, 1, "typo"),
        (
            "[settings]\ntime_step = 0.01\n  gravty = 1\n",
            3,
            3,
            "gravty",
        ),
        ("[settings.solver]\nsweeps = 3\n", 2, 1, "sweeps"),
        ("[settings.projection]\ndepth = 3\n", 2, 1, "depth"),
        ("[materials.m]\nmu = 0.3\n", 2, 1, "mu"),
        ("[[bodies]]\nkind = \"static\"\nsize = 2\n", 3, 1, "size"),
        (
            "[[bodies]]\ntwist = { speed = [0, 0, 0] }\n",
            2,
            11,
            "speed",
        ),
        ("[[bodies]]\nmass = { weight = 2.0 }\n", 2, 10, "weight"),
        (
            "[[bodies]]\nwrench = { torque = [0, 0, 0] }\n",
            2,
            12,
            "torque",
        ),
        ("[[bodies]]\ngroups = { layer = 1 }\n", 2, 12, "layer"),
        ("[[bodies]]\nmesh = { file = \"a.obj\" }\n", 2, 10, "file"),
        ("[[lattices]]\nn = 2\n", 2, 1, "n"),
        ("[[emitters]]\nrate = 2\n", 2, 1, "rate"),
    ];
    for (text, at_line, at_column, key) in cases {
        let SceneError::Toml {
            file,
            line,
            column,
            message,
        } = toml_error(text)
        else {
            panic!("{text}");
        };
        assert_eq!(file.to_str(), Some("dir/scene.toml"));
        assert!(message.contains(key), "{message}");
        assert_eq!(line, at_line, "line of {key}: {message}");
        assert_eq!(column, at_column, "column of {key}: {message}");
    }
}

#[test]
fn wrong_types_and_syntax_are_named_with_line_and_column() {
    for (text, at_line) in [
        ("name = 1\n", 1),
        ("\n\nname = \n", 3),
        ("[settings]\ntime_step = \"fast\"\n", 2),
        ("[[bodies]]\nkind = \"floating\"\n", 2),
        ("[[bodies]]\nshape = { pyramid = { side = 1.0 } }\n", 2),
        ("[[bodies]]\nposition = [0, 1]\n", 2),
    ] {
        let error = toml_error(text);
        names(&error.to_string(), &[&format!("dir/scene.toml:{at_line}:")]);
    }
}

#[test]
fn unknown_keys_of_shapes_are_refused() {
    let error = toml_error("[[bodies]]\nshape = { sphere = { radius = 1.0, colour = 2 } }\n");
    names(&error.to_string(), &["dir/scene.toml:2:", "colour"]);
}

#[test]
fn missing_files_are_named() {
    let error = Scene::load("no/such/scene.toml").unwrap_err();
    names(&error.to_string(), &["no/such/scene.toml"]);
    let text = "[[bodies]]\nname = \"rock\"\nkind = \"static\"\nmesh = { path = \"rock.obj\" }\n";
    names(&start_error(text), &["bodies[0]", "rock", "rock.obj"]);
}

#[test]
fn meshes_without_scale_are_refused() {
    for scale in ["0.0", "-1.0", "nan", "inf"] {
        let text = format!(
            "[[bodies]]\nkind = \"static\"\nmesh = {{ path = \"rock.obj\", scale = {scale} }}\n"
        );
        names(&start_error(&text), &["bodies[0]", "scale", "> 0"]);
    }
}

#[test]
fn malformed_meshes_are_named() {
    let folder = std::env::temp_dir().join("moreau-bad-input");
    std::fs::create_dir_all(&folder).unwrap();
    for (file, content) in [
        ("empty.obj", ""),
        ("range.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"),
        ("text.obj", "v a b c\nf 1 2 3\n"),
        ("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"),
        ("nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
    ] {
        std::fs::write(folder.join(file), content).unwrap();
        let text = format!("[[bodies]]\nkind = \"static\"\nmesh = {{ path = \"{file}\" }}\n");
        let scene = Scene::from_toml(&text, folder.join("scene.toml")).unwrap();
        let Err(error) = scene.start() else {
            panic!("{file} is accepted");
        };
        names(&error.to_string(), &["bodies[0]"]);
    }
}

#[test]
fn bad_values_name_the_entry_the_field_the_value_and_the_bound() {
    let sphere = "shape = { sphere = { radius = 0.5 } }";
    let cases = [
        (
            "[settings]\ntime_step = 0.0\n".to_owned(),
            "settings",
            "time_step",
            "0",
            "> 0",
        ),
        (
            "[settings]\ntime_step = nan\n".to_owned(),
            "settings",
            "time_step",
            "NaN",
            "> 0",
        ),
        (
            "[[bodies]]\nshape = { sphere = { radius = -0.5 } }\n".to_owned(),
            "bodies[0]",
            "radius",
            "-0.5",
            "> 0",
        ),
        (
            format!("[[bodies]]\n{sphere}\nposition = [0.0, nan, 0.0]\n"),
            "bodies[0]",
            "position",
            "NaN",
            "finite",
        ),
        (
            format!("[[bodies]]\n{sphere}\n[[bodies]]\n{sphere}\nmass = {{ mass = -2.0 }}\n"),
            "bodies[1]",
            "mass",
            "-2",
            "> 0",
        ),
        (
            "[[bodies]]\nmass = { mass = 2.0 }\n".to_owned(),
            "bodies[0]",
            "inertia",
            "",
            "without collider",
        ),
        (
            format!("[[bodies]]\n{sphere}\norientation = [0.0, 0.0, 0.6, 0.80001]\n"),
            "bodies[0]",
            "orientation norm",
            "1.00000",
            "1 ± 1e-6",
        ),
        (
            format!("[[bodies]]\n{sphere}\nmaterial = \"ice\"\n"),
            "bodies[0]",
            "material",
            "ice",
            "[materials]",
        ),
        (
            format!("[materials.m]\nfriction = -1.0\n[[bodies]]\n{sphere}\nmaterial = \"m\"\n"),
            "bodies[0]",
            "friction",
            "-1",
            "in [0, 1e3]",
        ),
        (
            format!("[[bodies]]\n{sphere}\nmesh = {{ path = \"a.obj\" }}\n"),
            "bodies[0]",
            "mesh",
            "shape",
            "one of the two",
        ),
        (
            format!("[[lattices]]\ncount = [1, 1, 1]\njitter = -1.0\nbody = {{ {sphere} }}\n"),
            "lattices[0]",
            "jitter",
            "-1",
            "≥ 0",
        ),
        (
            format!(
                "[[lattices]]\ncount = [1, 1, 1]\nspacing = [nan, 0.0, 0.0]\nbody = {{ {sphere} }}\n"
            ),
            "lattices[0]",
            "",
            "NaN",
            "finite",
        ),
        (
            format!("[[emitters]]\ninterval = 0.0\ncount = 1\n[[emitters.bodies]]\n{sphere}\n"),
            "emitters[0]",
            "interval",
            "0",
            "> 0",
        ),
        (
            format!("[[emitters]]\ninterval = 1.0\nstart = -1.0\n[[emitters.bodies]]\n{sphere}\n"),
            "emitters[0]",
            "start",
            "-1",
            "≥ 0",
        ),
        (
            format!(
                "[[emitters]]\ninterval = 1.0\nhalf_extents = [1.0, -1.0, 0.0]\n[[emitters.bodies]]\n{sphere}\n"
            ),
            "emitters[0]",
            "half_extents",
            "-1",
            "≥ 0",
        ),
        (
            format!(
                "[[emitters]]\ninterval = 1.0\nhalf_extents = [1.0, nan, 0.0]\n[[emitters.bodies]]\n{sphere}\n"
            ),
            "emitters[0]",
            "half_extents",
            "NaN",
            "≥ 0",
        ),
        (
            "[[emitters]]\ninterval = 1.0\ncount = 1\n".to_owned(),
            "emitters[0]",
            "bodies",
            "0",
            "≥ 1",
        ),
    ];
    for (text, place, field, value, bound) in cases {
        names(&start_error(&text), &[place, field, value, bound]);
    }
}

#[test]
fn a_bad_emitted_body_is_refused_at_the_start() {
    for (body, field, value, bound) in [
        (
            "shape = { sphere = { radius = 0.0 } }",
            "radius",
            "0",
            "> 0",
        ),
        ("kind = \"dynamic\"", "collider", "", "needs"),
        (
            "shape = { sphere = { radius = 1.0 } }\nposition = [nan, 0.0, 0.0]",
            "position",
            "NaN",
            "finite",
        ),
        (
            "shape = { sphere = { radius = 1.0 } }\nmaterial = \"ice\"",
            "material",
            "ice",
            "[materials]",
        ),
    ] {
        let text =
            format!("[[emitters]]\ninterval = 1.0\ncount = 1\n[[emitters.bodies]]\n{body}\n");
        names(
            &start_error(&text),
            &["emitters[0].bodies[0]", field, value, bound],
        );
    }
}

#[test]
fn unknown_names_come_with_the_nearest_known_one() {
    for (text, meant) in [
        ("[settings]\ngravty = [0, 0, 0]\n", "`gravity`"),
        ("[settings]\naccuracy = \"enginering\"\n", "`engineering`"),
        ("[[body]]\n", "`bodies`"),
        ("[[bodies]]\nKind = \"static\"\n", "`kind`"),
        ("[[bodies]]\nkind = \"statc\"\n", "`static`"),
        (
            "[[bodies]]\nshape = { shpere = { radius = 1.0 } }\n",
            "`sphere`",
        ),
        (
            "[[bodies]]\nshape = { sphere = { raduis = 1.0 } }\n",
            "`radius`",
        ),
        (
            "[[bodies]]\norientation = { eulr = [0, 0, 0] }\n",
            "`euler`",
        ),
        ("[materials.m]\nfricton = 0.3\n", "`friction`"),
    ] {
        names(
            &toml_error(text).to_string(),
            &["dir/scene.toml:", &format!("; did you mean {meant}?")],
        );
    }
    for text in ["quaternion = 3\n", "[[bodies]]\nx = 3\n"] {
        let error = toml_error(text).to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }
    let with = |name: &str| {
        format!("[materials.granite]\n[materials.wood]\n[[bodies]]\nmaterial = \"{name}\"\n")
    };
    names(
        &start_error(&with("grantie")),
        &[
            "bodies[0]",
            "material is grantie",
            "did you mean \"granite\"?",
        ],
    );
    assert!(!start_error(&with("ice")).contains("did you mean"));
}

#[test]
fn half_a_mass_is_refused() {
    for (mass, missing) in [
        ("principal_inertia = [1, 1, 1]", "without mass"),
        (
            "principal_frame = [0, 0, 0, 1]",
            "without principal_inertia",
        ),
        (
            "mass = 1, principal_frame = [0, 0, 0, 1]",
            "without principal_inertia",
        ),
    ] {
        let error = toml_error(&format!("[[bodies]]\nmass = {{ {mass} }}\n"));
        names(&error.to_string(), &["dir/scene.toml:2:", missing]);
    }
}

#[test]
fn turns_that_are_none_are_refused() {
    for (turn, parts) in [
        ("{ euler = [0, nan, 0] }", ["euler", "finite"]),
        ("{ euler = [0, 0] }", ["length 2", "expected"]),
        (
            "{ euler = [0, 0, 0], euler_degrees = [0, 0, 0] }",
            ["expected", "euler"],
        ),
        ("{ axis = [0, 0, 0], angle = 1 }", ["axis", "not zero"]),
        ("{ axis = [0, 0, inf], angle = 1 }", ["axis", "finite"]),
        ("{ axis = [0, 0, 1], angle = nan }", ["angle", "finite"]),
        ("{ axis = [0, 0, 1] }", ["expected", "angle"]),
        ("{ angle = 1 }", ["expected", "axis"]),
        (
            "{ axis = [0, 0, 1], angle = 1, angle_degrees = 1 }",
            ["expected", "angle"],
        ),
        (
            "{ axis = [0, 0, 1], angle = 1, euler = [0, 0, 0] }",
            ["expected", "axis"],
        ),
        ("{}", ["expected", "quaternion"]),
        ("[0, 0, 1]", ["length 3", "expected"]),
        ("[0, 0, 0, 1, 0]", ["length 5", "expected"]),
        ("1", ["expected", "quaternion"]),
    ] {
        let error = toml_error(&format!("[[bodies]]\norientation = {turn}\n")).to_string();
        names(&error, &["dir/scene.toml:2:"]);
        names(&error, &parts);
    }
}

#[test]
fn motions_that_jump_or_are_two_of_one_body() {
    let table = "bodies = [{ name = \"table\", kind = \"kinematic\" }]\n";
    let path = "path = { keyframes = { times = [0, 1], positions = [[0, 0, 0], [1, 0, 0]], repeat = true } }";
    let jumps = format!("{table}[[motions]]\nbody = \"table\"\n{path}\n");
    names(
        &start_error(&jumps),
        &["motions[0]", "repeat", "a last pose that is the first"],
    );
    let path = "path = { oscillation = { amplitude = [0, 0, 1], frequency = 1 } }";
    let motion = format!("[[motions]]\nbody = \"table\"\n{path}\n");
    let two = format!("{table}{motion}{motion}");
    names(&start_error(&two), &["motions[1]", "body", "table"]);
}
