//! Files beside the robot's own: meshes and what is included; and what a file says of places and of what passes what.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use glam::DVec3;
use moreau::Scene;
use moreau::geometry::Shape;
use moreau_robots::{Options, Robot, RobotError, from_text, load};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// A folder of its own for every test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Corners of a box of 0.2 × 0.4 × 0.6 m with one corner at the origin, and its faces, which face outwards.
fn corner(index: usize) -> [f64; 3] {
    [0, 1, 2].map(|k| 0.2 * (k + 1) as f64 * ((index >> k) & 1) as f64)
}

const FACES: [[usize; 3]; 12] = [
    [0, 2, 1],
    [1, 2, 3],
    [4, 5, 6],
    [5, 7, 6],
    [0, 1, 4],
    [1, 5, 4],
    [2, 6, 3],
    [3, 6, 7],
    [0, 4, 2],
    [2, 4, 6],
    [1, 3, 5],
    [3, 7, 5],
];

fn stl_text() -> Vec<u8> {
    let mut text = "solid box\n".to_owned();
    for face in FACES {
        text += "facet normal 0 0 0\n outer loop\n";
        for [x, y, z] in face.map(corner) {
            writeln!(text, "  vertex {x} {y} {z}").unwrap();
        }
        text += " endloop\nendfacet\n";
    }
    (text + "endsolid box\n").into_bytes()
}

fn stl_binary() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(12_u32.to_le_bytes());
    for face in FACES {
        bytes.extend([0; 12]);
        for x in face.map(corner).into_iter().flatten() {
            bytes.extend((x as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn msh() -> Vec<u8> {
    let mut bytes = Vec::new();
    for count in [8_u32, 0, 0, 12] {
        bytes.extend(count.to_le_bytes());
    }
    for x in (0..8).flat_map(corner) {
        bytes.extend((x as f32).to_le_bytes());
    }
    for index in FACES.into_iter().flatten() {
        bytes.extend((index as u32).to_le_bytes());
    }
    bytes
}

fn obj() -> Vec<u8> {
    let mut text = "mtllib gone.mtl\no box\n".to_owned();
    for [x, y, z] in (0..8).map(corner) {
        writeln!(text, "v {x} {y} {z}").unwrap();
    }
    for [a, b, c] in FACES {
        writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1).unwrap();
    }
    text.into_bytes()
}

fn model(mesh: &str, scale: &str, more: &str) -> String {
    format!(
        r#"<mujoco><compiler meshdir="meshes"/><asset><mesh name="m" file="{mesh}" scale="{scale}"/></asset><worldbody>
        <body name="b"><freejoint/><geom type="mesh" mesh="m" density="500"/>{more}</body></worldbody></mujoco>"#
    )
}

fn close(a: DVec3, b: DVec3) {
    assert!((a - b).length() < 2e-7, "{a} {b}");
}

#[test]
fn a_mesh_is_its_hull_and_weighs_what_it_encloses() {
    let folder = folder("meshes_of_a_box");
    fs::create_dir_all(folder.join("meshes")).unwrap();
    for (name, bytes) in [
        ("binary.stl", stl_binary()),
        ("text.STL", stl_text()),
        ("box.obj", obj()),
        ("box.msh", msh()),
    ] {
        fs::write(folder.join("meshes").join(name), bytes).unwrap();
        // A reflection turns it inside out, and its faces with it.
        for (scale, sign) in [("1 1 1", 1.0), ("-1 1 1", -1.0)] {
            let file = folder.join("model.xml");
            fs::write(&file, model(name, scale, "")).unwrap();
            let robot = load(&file, &Options::default()).unwrap();
            assert_eq!(robot.not_understood, []);
            let body = &robot.scene.bodies[0];
            let Some(Shape::ConvexHull { points }) = &body.shape else {
                unreachable!("a hull: {:?}", body.shape)
            };
            assert_eq!(points.len(), 8);
            close(body.position, DVec3::new(sign * 0.1, 0.2, 0.3));
            let mass = 500.0 * 0.048;
            assert!((body.mass.mass() - mass).abs() < 1e-5);
            let squares = DVec3::new(0.16 + 0.36, 0.04 + 0.36, 0.04 + 0.16);
            let mut moments = body.mass.principal_inertia().to_array();
            moments.sort_by(f64::total_cmp);
            let mut expected = (squares * (mass / 12.0)).to_array();
            expected.sort_by(f64::total_cmp);
            for (found, expected) in moments.into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
    }
}

#[test]
fn meshes_of_a_package_are_found_above_the_robot() {
    let package = folder("some_robot");
    fs::create_dir_all(package.join("urdf")).unwrap();
    fs::create_dir_all(package.join("meshes")).unwrap();
    fs::write(package.join("meshes/box.stl"), stl_binary()).unwrap();
    let robot = |uri: &str| {
        let file = package.join("urdf/robot.urdf");
        let text = format!(
            r#"<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
            <collision><geometry><mesh filename="{uri}" scale="2 2 2"/></geometry></collision></link></robot>"#
        );
        fs::write(&file, text).unwrap();
        load(&file, &Options::default())
    };
    for uri in [
        "package://some_robot/meshes/box.stl",
        "model://some_robot/meshes/box.stl",
        "../meshes/box.stl",
    ] {
        let robot = robot(uri).unwrap();
        let Some(Shape::ConvexHull { points }) = &robot.scene.bodies[0].shape else {
            unreachable!("a hull")
        };
        let top = points.iter().fold(DVec3::ZERO, |most, x| most.max(*x));
        close(top, DVec3::new(0.4, 0.8, 1.2));
    }
    let gone = robot("package://other/meshes/box.stl").err().unwrap();
    assert!(matches!(gone, RobotError::Mesh { .. }), "{gone}");
}

#[test]
fn bad_meshes_are_refused_and_unknown_ones_are_listed() {
    let folder = folder("bad_meshes");
    fs::create_dir_all(folder.join("meshes")).unwrap();
    let cut = |mut bytes: Vec<u8>, left: usize| {
        bytes.truncate(left);
        bytes
    };
    let refused = |name: &str, bytes: &[u8]| {
        fs::write(folder.join("meshes").join(name), bytes).unwrap();
        let robot = from_text(
            &model(name, "1 1 1", r#"<geom type="sphere" size="0.1"/>"#),
            folder.join("m.xml"),
            &Options::default(),
        );
        match robot {
            Ok(robot) => robot.not_understood[0].to_string(),
            Err(error) => error.to_string(),
        }
    };
    let mut wild = stl_binary();
    wild[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    for (name, bytes, message) in [
        (
            "a.stl",
            cut(stl_binary(), 300),
            "it is no STL: 300 bytes, expected 684",
        ),
        (
            "b.stl",
            cut(stl_text(), 84),
            "a vertex without three numbers",
        ),
        (
            "c.stl",
            b"solid\nvertex 0 0 0\n".to_vec(),
            "1 vertices, expected three a triangle",
        ),
        ("d.stl", b"solid\nendsolid".to_vec(), "it has no triangles"),
        ("e.stl", wild, "a coordinate is not finite"),
        ("f.obj", b"v 0 0 0\nf 1 2 3\n".to_vec(), "mesh"),
        (
            "g.dae",
            b"<COLLADA/>".to_vec(),
            "left out: \"g.dae\" is neither STL, OBJ nor MSH",
        ),
    ] {
        let found = refused(name, &bytes);
        assert!(found.contains(message), "{name}: {found}");
    }
}

fn toml(robot: &Robot) -> String {
    robot.scene.to_toml().unwrap()
}

/// A file that includes others is the one with everything in its place, down to its bits; lines are those of the file that has them.
#[test]
fn what_is_included_is_in_its_place() {
    let folder = folder("includes");
    fs::create_dir_all(folder.join("parts")).unwrap();
    let leg = r#"<body name="leg" pos="0 0 -0.3"><joint name="hip" axis="0 1 0"/><geom size="0.05" wings="2"/></body>"#;
    let defaults = r#"<default><geom type="sphere" density="700"/></default>"#;
    fs::write(
        folder.join("parts/leg.xml"),
        format!("<mujocoinclude>\n{leg}\n</mujocoinclude>"),
    )
    .unwrap();
    // As the format says, relative to the outermost file.
    fs::write(
        folder.join("parts/all.xml"),
        format!(
            r#"<mujoco>{defaults}<worldbody><body name="trunk"><freejoint/><geom size="0.1"/><include file="parts/leg.xml"/></body></worldbody></mujoco>"#
        ),
    )
    .unwrap();
    let file = folder.join("robot.xml");
    fs::write(
        &file,
        r#"<mujoco model="m"><include file="parts/all.xml"/></mujoco>"#,
    )
    .unwrap();
    let robot = load(&file, &Options::default()).unwrap();
    let whole = format!(
        r#"<mujoco model="m">{defaults}<worldbody><body name="trunk"><freejoint/><geom size="0.1"/>{leg}</body></worldbody></mujoco>"#
    );
    let whole = from_text(&whole, &file, &Options::default()).unwrap();
    assert_eq!(toml(&robot), toml(&whole));
    let [told] = &robot.not_understood[..] else {
        unreachable!("one thing: {:?}", robot.not_understood)
    };
    assert_eq!(told.place.line, 2);
    assert!(told.place.file.ends_with("parts/leg.xml"));

    fs::write(&file, r#"<mujoco><include file="robot.xml"/></mujoco>"#).unwrap();
    let error = load(&file, &Options::default()).err().unwrap().to_string();
    assert!(
        error.contains("expected a file that does not include itself"),
        "{error}"
    );
}

/// A frame puts what is in it where it is, and is no body.
#[test]
fn a_frame_moves_what_is_in_it() {
    let read = |inside: &str| {
        let text = format!(
            r#"<mujoco><default><default class="small"><geom type="sphere" size="0.05"/></default></default><worldbody>{inside}</worldbody></mujoco>"#
        );
        from_text(&text, "m.xml", &Options::default()).unwrap()
    };
    let framed = read(
        r#"<frame pos="1 0 0" euler="0 0 90" childclass="small"><geom name="g" pos="0.5 0 0"/>
        <body name="b" pos="0 0.25 0"><frame pos="0 0 1"><joint name="j" axis="1 0 0"/><geom pos="0.1 0 0"/></frame></body></frame>"#,
    );
    assert_eq!(framed.not_understood, []);
    let by_hand = read(
        r#"<geom name="g" class="small" pos="1 0.5 0" euler="0 0 90"/>
        <body name="b" pos="0.75 0 0" euler="0 0 90" childclass="small"><joint name="j" axis="1 0 0" pos="0 0 1"/><geom pos="0.1 0 1"/></body>"#,
    );
    let places = |robot: &Robot| {
        let bodies = robot.scene.bodies.iter();
        let bodies = bodies.map(|body| (body.position, body.orientation * DVec3::X));
        let mut all: Vec<(DVec3, DVec3)> = bodies.collect();
        for joint in &robot.scene.joints {
            let frames = joint.frames.unwrap();
            all.extend(frames.map(|pose| (pose.position, pose.orientation * DVec3::Z)));
        }
        all
    };
    let (found, expected) = (places(&framed), places(&by_hand));
    assert_eq!(found.len(), expected.len());
    for ((a, u), (b, v)) in found.into_iter().zip(expected) {
        assert!((a - b).length() < 1e-15, "{a} {b}");
        assert!((u - v).length() < 1e-15, "{u} {v}");
    }
}

/// A ball that falls onto a box lies on it, or on the floor if the file excludes the two.
#[test]
fn bodies_that_are_excluded_pass_each_other() {
    let height = |exclude: &str| {
        let text = format!(
            r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/>
            <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.3 0.3 0.1"/></body>
            <body name="ball" pos="0 0 0.4"><freejoint/><geom type="sphere" size="0.05"/></body></worldbody>
            <contact>{exclude}</contact></mujoco>"#
        );
        let scene: Scene = from_text(&text, "m.xml", &Options::default())
            .unwrap()
            .scene;
        let mut run = scene.start().unwrap();
        while run.simulation.time() < 1.0 {
            run.step().unwrap();
        }
        let ball = run.body("ball").unwrap();
        run.simulation.pose(ball).unwrap().position.z
    };
    for (exclude, expected) in [
        ("", 0.25),
        (r#"<exclude body1="box" body2="ball"/>"#, 0.05),
        (r#"<exclude body1="ball" body2="box"/>"#, 0.05),
    ] {
        let found = height(exclude);
        assert!((found - expected).abs() < 1e-3, "{exclude}: {found}");
    }
    let text = r#"<mujoco><contact><exclude body1="world" body2="bal"/></contact></mujoco>"#;
    let error = from_text(text, "m.xml", &Options::default()).err().unwrap();
    assert!(error.to_string().contains("there is no body \"bal\""));
}

/// What is left out of a body is said where its mass is missing for it.
#[test]
fn a_body_without_mass_names_the_mesh_that_is_not_read() {
    let folder = folder("mesh_without_mass");
    fs::create_dir_all(folder.join("meshes")).unwrap();
    fs::write(folder.join("meshes/head.dae"), "no mesh").unwrap();
    let file = folder.join("model.xml");
    fs::write(&file, model("head.dae", "1 1 1", "")).unwrap();
    let error = load(&file, &Options::default()).err().unwrap().to_string();
    assert!(
        error.contains("it moves and has no mass") && error.contains("\"head.dae\" is neither"),
        "{error}"
    );
    fs::write(folder.join("meshes/head.msh"), [1, 2, 3]).unwrap();
    fs::write(&file, model("head.msh", "1 1 1", "")).unwrap();
    let error = load(&file, &Options::default()).err().unwrap().to_string();
    assert!(error.contains("it is no MSH: 3 bytes"), "{error}");
}

/// A box that lacks a face: by the volume below every triangle, which is what the format means if it is not asked for another one; exactly, which is by the
/// volumes with their signs; of the hull, which has its corners.
#[test]
fn an_open_mesh_weighs_what_its_kind_of_inertia_says() {
    let folder = folder("open_mesh");
    fs::create_dir_all(folder.join("meshes")).unwrap();
    let text = String::from_utf8(obj()).unwrap();
    let faces: Vec<&str> = text.lines().collect();
    fs::write(
        folder.join("meshes/open.obj"),
        faces[..faces.len() - 2].join("\n"),
    )
    .unwrap();
    let file = folder.join("model.xml");
    let mass = |inertia: &str| {
        let text = model("open.obj", "1 1 1", "").replace("<mesh ", &format!("<mesh {inertia} "));
        fs::write(&file, text).unwrap();
        let robot = load(&file, &Options::default()).unwrap();
        robot.scene.bodies[0].mass.mass()
    };
    let whole = 500.0 * 0.048;
    assert!((mass("inertia=\"convex\"") - whole).abs() < 1e-9);
    // A sixth is missing from wherever in the middle; it depends on where that is.
    let exact = mass("inertia=\"exact\"");
    let of_all = mass("");
    assert!((of_all - mass("inertia=\"legacy\"")).abs() < 1e-12);
    for open in [exact, of_all] {
        assert!(open > 0.5 * whole && open < 0.95 * whole, "{open}");
    }
}

/// A ball of 6,400 points has more triangles than a hull may have.
#[test]
fn a_mesh_with_too_many_points_is_a_hull_of_fewer() {
    const RINGS: usize = 80;
    const ROUND: usize = 80;
    let folder = folder("mesh_of_a_ball");
    fs::create_dir_all(folder.join("meshes")).unwrap();
    let mut text = String::new();
    for ring in 0..RINGS {
        for place in 0..ROUND {
            let (y, x) = libm::sincos(std::f64::consts::TAU * place as f64 / ROUND as f64);
            let (r, z) = libm::sincos(std::f64::consts::PI * (ring as f64 + 0.5) / RINGS as f64);
            writeln!(text, "v {} {} {z}", x * r, y * r).unwrap();
        }
    }
    let at = |ring: usize, place: usize| 1 + ring * ROUND + place % ROUND;
    for ring in 0..RINGS - 1 {
        for place in 0..ROUND {
            let [a, b] = [at(ring, place), at(ring, place + 1)];
            let [c, d] = [at(ring + 1, place), at(ring + 1, place + 1)];
            writeln!(text, "f {a} {c} {d}\nf {a} {d} {b}").unwrap();
        }
    }
    fs::write(folder.join("meshes/ball.obj"), text).unwrap();
    let file = folder.join("model.xml");
    fs::write(&file, model("ball.obj", "1 1 1", "")).unwrap();
    let robot = load(&file, &Options::default()).unwrap();
    let told = robot.not_understood[0].to_string();
    assert!(
        told.contains("a hull of its outermost points in 2048 directions"),
        "{told}"
    );
    let Some(Shape::ConvexHull { points }) = &robot.scene.bodies[0].shape else {
        unreachable!("a hull")
    };
    assert!(points.len() > 1000 && points.len() <= 2048);
    robot.scene.start().unwrap();
}
