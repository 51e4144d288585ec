//! **Law.** A scene file says in its own words what a scene built in Rust says: a mass by itself is that of the shape filled
//! evenly, an orientation is the same as a quaternion, as Euler angles and as axis and angle.
//!
//! Tolerances are a few roundings of numbers of order one.

use crate::support::*;
use bevy_ecs::entity::Entity;
use moreau::scene::BodySpec;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_3};

/// The one body of a scene file, which moves freely.
fn body(entry: &str) -> (SceneRun, Entity) {
    let text = format!("[settings]\ngravity = [0, 0, 0]\n[[bodies]]\nname = \"it\"\n{entry}\n");
    let scene = Scene::from_toml(&text, "").unwrap();
    // Written and read again it is the same.
    let written = toml::to_string(&scene).unwrap();
    assert_eq!(Scene::from_toml(&written, "").unwrap(), scene, "{written}");
    let mut run = scene.start().unwrap();
    let entity = run.body("it").unwrap();
    (run, entity)
}

const SHAPES: [&str; 6] = [
    "sphere = { radius = 0.3 }",
    "cuboid = { half_extents = [0.1, 0.2, 0.3] }",
    "cylinder = { half_height = 0.2, radius = 0.1 }",
    "cone = { half_height = 0.2, radius = 0.1 }",
    "convex_hull = { points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.6, 0.7]] }",
    "compound = { parts = [[{ position = [1, 0, 0], orientation = { euler_degrees = [0, 90, 0] } }, \
     { capsule = { half_height = 0.5, radius = 0.1 } }], [{ position = [0, 0, 0], orientation = [0, 0, 0, 1] }, \
     { sphere = { radius = 0.2 } }]] }",
];

#[test]
fn a_mass_by_itself_scales_the_inertia_of_the_shape() {
    for shape in SHAPES {
        let shape = format!("shape = {{ {shape} }}");
        let mass_of = |entry: &str| {
            let (mut run, entity) = body(&format!("{shape}\n{entry}"));
            let first = *run.simulation.world().get::<Mass>(entity).unwrap();
            run.step().unwrap();
            let mass = *run.simulation.world().get::<Mass>(entity).unwrap();
            assert_eq!(mass, first);
            mass
        };
        let computed = mass_of("");
        let given = mass_of("mass = { mass = 3.0 }");
        assert_eq!(given.mass().to_bits(), 3.0_f64.to_bits());
        let expected = computed.principal_inertia() * (3.0 / computed.mass());
        let error = (given.principal_inertia() - expected).abs() / expected;
        assert!(error.max_element() < 1e-15, "{shape}: {error}");
        assert_eq!(given.principal_frame(), computed.principal_frame());
    }
}

#[test]
fn a_mass_by_itself_is_what_forces_move() {
    let entry = "shape = { sphere = { radius = 0.5 } }\nmass = { mass = 3.0 }\n\
                 wrench = { force = [6, 0, 0], body_moment = [0, 0, 0.6] }";
    let (mut run, entity) = body(entry);
    for _ in 0..200 {
        run.step().unwrap();
    }
    // F t/m and M t/(2/5 m r²), t = 1 s.
    let twist = run.simulation.twist(entity).unwrap();
    assert!((twist.linear.x - 2.0).abs() < 1e-13, "{twist:?}");
    assert!((twist.angular.z - 2.0).abs() < 1e-13, "{twist:?}");
}

#[test]
fn a_mass_by_itself_follows_another_shape_and_outlasts_rest() {
    let (mut run, entity) = body("shape = { sphere = { radius = 0.5 } }\nmass = { mass = 3.0 }");
    let simulation = &mut run.simulation;
    let inertia = |simulation: &Simulation| {
        let mass = simulation.world().get::<Mass>(entity).unwrap();
        (mass.mass(), mass.principal_inertia().x)
    };
    simulation.step().unwrap();
    simulation.set(entity, Collider::sphere(1.0));
    simulation.step().unwrap();
    let (mass, moment) = inertia(simulation);
    assert!(
        (mass, moment) == (3.0, moment) && (moment - 1.2).abs() < 1e-15,
        "{mass} {moment}"
    );
    // A static body has no inertia, but keeps what it was given.
    simulation.set(entity, RigidBody::Static);
    simulation.step().unwrap();
    assert_eq!(inertia(simulation), (3.0, 0.0));
    simulation.set(entity, RigidBody::Dynamic);
    simulation.step().unwrap();
    let (mass, moment) = inertia(simulation);
    assert!(
        (mass, moment) == (3.0, moment) && (moment - 1.2).abs() < 1e-15,
        "{mass} {moment}"
    );
    simulation.set(entity, Mass::scaled_to(6.0));
    simulation.step().unwrap();
    let (mass, moment) = inertia(simulation);
    assert!(
        (mass, moment) == (6.0, moment) && (moment - 2.4).abs() < 1e-15,
        "{mass} {moment}"
    );
}

fn orientation(text: &str) -> DQuat {
    let (run, entity) = body(&format!(
        "kind = \"static\"\nshape = {{ sphere = {{ radius = 0.5 }} }}\norientation = {text}"
    ));
    run.simulation.pose(entity).unwrap().orientation
}

#[test]
fn orientations_are_quaternions_euler_angles_or_axis_and_angle() {
    let s = FRAC_1_SQRT_2;
    for (text, expected) in [
        ("[0, 0, 0, 1]".to_owned(), DQuat::IDENTITY),
        (
            format!("[{s}, 0, 0, {s}]"),
            DQuat::from_xyzw(s, 0.0, 0.0, s),
        ),
        (
            format!("{{ euler = [{FRAC_PI_2}, 0, 0] }}"),
            DQuat::from_xyzw(s, 0.0, 0.0, s),
        ),
        (
            format!("{{ euler = [0, {FRAC_PI_2}, 0] }}"),
            DQuat::from_xyzw(0.0, s, 0.0, s),
        ),
        (
            "{ euler_degrees = [0, 0, 90] }".to_owned(),
            DQuat::from_xyzw(0.0, 0.0, s, s),
        ),
        // x first, about fixed axes: z y x of quaternions.
        (
            "{ euler_degrees = [30, 40, 50] }".to_owned(),
            turn(DVec3::Z, 50.0) * turn(DVec3::Y, 40.0) * turn(DVec3::X, 30.0),
        ),
        (
            format!("{{ axis = [1, 1, 1], angle = {} }}", 2.0 * FRAC_PI_3),
            DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5),
        ),
        (
            "{ axis = [0, 0, 7], angle_degrees = -90 }".to_owned(),
            DQuat::from_xyzw(0.0, 0.0, -s, s),
        ),
    ] {
        let found = orientation(&text);
        let error = (found - expected).length();
        assert!(error < 4e-16, "{text}: {found}, {expected}");
    }
}

/// A turn of so many degrees about an axis.
fn turn(axis: DVec3, degrees: f64) -> DQuat {
    let (sin, cos) = libm::sincos(degrees.to_radians() / 2.0);
    let v = axis * sin;
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

#[test]
fn quaternions_that_were_rounded_are_normalised() {
    for excess in [-9e-7, -1e-9, 1e-12, 1e-9, 9e-7] {
        let length = 1.0 + excess;
        let found = orientation(&format!("[{}, 0, 0, {}]", 0.6 * length, 0.8 * length));
        assert!((found.length() - 1.0).abs() < 3e-16, "{excess}: {found}");
        assert!((found.x - 0.6).abs() < 3e-16, "{excess}: {found}");
    }
    // What is a rotation to the last digit keeps its bits.
    let exact = orientation("[0.0, 0.3826834323650898, 0.0, 0.9238795325112867]");
    assert_eq!(
        exact,
        DQuat::from_xyzw(0.0, 0.3826834323650898, 0.0, 0.9238795325112867)
    );
}

/// Neither an error nor silent: a mesh whose triangles face different sides, wherever it is in the scene.
#[test]
fn a_mesh_of_two_minds_is_a_warning_with_its_place() {
    let shape = |second: &str| {
        let vertices = "[[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]";
        format!(
            "shape = {{ triangle_mesh = {{ vertices = {vertices}, triangles = [[0, 1, 2], {second}] }} }}"
        )
    };
    for (second, count) in [("[0, 2, 3]", 0), ("[0, 3, 2]", 3)] {
        let body = format!("kind = \"static\"\n{}", shape(second));
        let inline = body.replace('\n', ", ");
        let text = format!(
            "[[bodies]]\nname = \"ramp\"\n{body}\n[[lattices]]\ncount = [2, 1, 1]\nspacing = [3.0, 3.0, 3.0]\norigin = [9.0, 0.0, 0.0]\n\
             body = {{ {inline} }}\n[[emitters]]\ninterval = 1.0\ncount = 1\n[[emitters.bodies]]\n{body}\n"
        );
        let run = Scene::from_toml(&text, "").unwrap().start().unwrap();
        let warnings: Vec<String> = run.warnings().iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), count, "{warnings:?}");
        let places = ["emitters[0].bodies[0]", "bodies[0] \"ramp\"", "lattices[0]"];
        for (warning, place) in warnings.iter().zip(places) {
            let rest = warning.strip_prefix(place).unwrap_or_default();
            let told = rest.starts_with(": 1 edge lies between triangles of opposite winding");
            assert!(told, "{warning}");
        }
    }
}

/// What is written and read again is the same scene, and moves to the same bits.
#[test]
fn a_scene_that_is_written_is_the_same_scene() {
    for spec in ["fourbar", "mixed:layers=2", "pour:n=20", "chain:n=3", "top"] {
        let scene = moreau_demos::built_in(spec).unwrap();
        let again = Scene::from_toml(&scene.to_toml().unwrap(), "").unwrap();
        assert_eq!(again, scene, "{spec}");
        let end = |scene: &Scene| {
            let mut run = scene.start().unwrap();
            for _ in 0..20 {
                run.step().unwrap();
            }
            run.simulation.state_hash()
        };
        assert_eq!(end(&again), end(&scene), "{spec}");
    }
}

#[test]
fn numbers_are_written_to_the_last_bit() {
    let odd = [
        0.1 + 0.2,
        -0.0,
        5e-324,
        1.797_693_134_862_315_7e308,
        1e-7,
        1e22,
        1.0 / 3.0,
    ];
    for x in odd {
        let mut body = BodySpec::dynamic(Shape::Sphere { radius: 1.0 }, DVec3::new(x, -x, 0.1 * x));
        body.name = Some("a \"name\"\nof two lines".to_owned());
        body.mass = Mass::given(1.0, DVec3::ONE).with_center_of_mass(DVec3::splat(x));
        let scene = Scene {
            bodies: vec![body],
            ..Scene::default()
        };
        let again = Scene::from_toml(&scene.to_toml().unwrap(), "").unwrap();
        assert_eq!(again, scene);
        let bits = |scene: &Scene| scene.bodies[0].position.to_array().map(f64::to_bits);
        assert_eq!(bits(&again), bits(&scene));
    }
    let scene = Scene {
        seed: u64::MAX,
        ..Scene::default()
    };
    assert_eq!(
        Scene::from_toml(&scene.to_toml().unwrap(), "").unwrap(),
        scene
    );
}

#[cfg(unix)]
#[test]
fn what_toml_cannot_hold_is_not_written() {
    use std::os::unix::ffi::OsStringExt;
    let mut scene = Scene {
        bodies: vec![BodySpec::default()],
        ..Scene::default()
    };
    scene.bodies[0].mesh = Some(moreau::scene::MeshFile {
        path: std::ffi::OsString::from_vec(vec![0xff]).into(),
        scale: 1.0,
    });
    let error = scene.to_toml().unwrap_err().to_string();
    assert!(
        error.starts_with("the scene cannot be written as TOML"),
        "{error}"
    );
}

/// A joint whose frames are given measures its coordinates from them: a limit at 0.3 holds a bar that starts at 0.5 no lower than that.
#[test]
fn a_joint_has_its_own_frames_in_a_file() {
    let file = |place: &str| {
        format!(
            "[[bodies]]\nname = \"bar\"\nshape = {{ cuboid = {{ half_extents = [0.5, 0.05, 0.05] }} }}\n\
             position = [{}, 0, {}]\norientation = {{ euler = [0, -0.5, 0] }}\n\
             [[joints]]\nname = \"hinge\"\nb = \"bar\"\nkind = \"revolute\"\n{place}\n\
             forces = [{{ limit = {{ axis = \"rotation_z\", low = 0.3, high = 2.0, restitution = 0.0 }} }}]\n",
            0.5 * libm::cos(0.5),
            0.5 * libm::sin(0.5)
        )
    };
    // z of both frames is −y: the angle grows upwards.
    let turned = "orientation = [0.7071067811865476, 0.0, 0.0, 0.7071067811865476]";
    let frames = format!("frames = [{{ {turned} }}, {{ position = [-0.5, 0, 0], {turned} }}]");
    let scene = Scene::from_toml(&file(&frames), "").unwrap();
    assert_eq!(
        Scene::from_toml(&scene.to_toml().unwrap(), "").unwrap(),
        scene
    );
    let mut run = scene.start().unwrap();
    let bar = run.body("bar").unwrap();
    for _ in 0..200 {
        run.step().unwrap();
    }
    let height = run.simulation.pose(bar).unwrap().position.z;
    assert!((height - 0.5 * libm::sin(0.3)).abs() < 1e-9, "{height}");
    let both = Scene::from_toml(&file(&format!("{frames}\npoint = [1, 0, 0]")), "").unwrap();
    let error = both.start().err().unwrap().to_string();
    assert!(
        error.contains("frames is given beside point or axis"),
        "{error}"
    );
}

/// A joint may have the name of a body, as in robot files, and does not stand in for it when the body sleeps.
#[test]
fn bodies_and_joints_have_names_of_their_own() {
    let text = "[[bodies]]\nname = \"bob\"\nshape = { sphere = { radius = 0.1 } }\nposition = [0.0, 0.0, -1.0]\n\
                [[bodies]]\nname = \"end\"\nshape = { sphere = { radius = 0.1 } }\nposition = [0.0, 0.0, -2.0]\n\
                [[joints]]\nname = \"bob\"\nb = \"bob\"\nkind = \"ball\"\n\
                [[joints]]\nname = \"end\"\na = \"bob\"\nb = \"end\"\nkind = \"ball\"\npoint = [0.0, 0.0, -1.0]\n";
    let mut run = Scene::from_toml(text, "names.toml")
        .unwrap()
        .start()
        .unwrap();
    for step in 0..400 {
        for (name, z) in [("bob", -1.0), ("end", -2.0)] {
            let body = run.body(name).unwrap();
            let joint = run.joint(name).unwrap();
            assert_ne!(body, joint);
            let pose = run.simulation.pose(body);
            let place = pose.map(|pose| pose.position);
            let off = place.map(|place| (place - DVec3::Z * z).length());
            assert!(
                off.is_some_and(|off| off < 1e-9),
                "{step}: {name}: {place:?}"
            );
        }
        run.step().unwrap();
    }
}

/// A table that shakes with 20 Hz and 5 mm, 8 g, throws what lies on it; a lift stops where it is told; both are where their functions say, at all times.
const MOVED: &str = r#"
name = "moved"
[[bodies]]
name = "table"
kind = "kinematic"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.1] } }
position = [0.0, 0.0, 1.0]
[[bodies]]
name = "lift"
kind = "kinematic"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.1] } }
[[bodies]]
name = "thrown"
shape = { sphere = { radius = 0.05 } }
position = [0.0, 0.0, 1.15]
[[bodies]]
name = "carried"
shape = { cuboid = { half_extents = [0.1, 0.1, 0.1] } }
position = [3.0, 0.0, 0.2]
[[motions]]
body = "table"
path = { oscillation = { amplitude = [0.0, 0.0, 0.005], frequency = 20.0 } }
[[motions]]
body = "lift"
path = { keyframes = { times = [0.0, 0.5, 1.0], positions = [[3, 0, 0], [3, 0, 0.4], [3, 0, 0.2]] } }
"#;

#[test]
fn bodies_of_a_scene_follow_functions_of_time() {
    let scene = Scene::from_toml(MOVED, "moved.toml").unwrap();
    assert_eq!(
        Scene::from_toml(&scene.to_toml().unwrap(), "again.toml").unwrap(),
        scene
    );
    let mut run = scene.start().unwrap();
    let names = ["table", "lift", "thrown", "carried"];
    let [table, lift, thrown, carried] = names.map(|name| run.body(name).unwrap());
    let mut highest: f64 = 0.0;
    let mut memory = None;
    for step in 1..=300 {
        run.step().unwrap();
        let simulation = &run.simulation;
        let t = simulation.time();
        let z = |body| simulation.pose(body).unwrap().position.z;
        let shaken = 1.0 + 0.005 * libm::sin(std::f64::consts::TAU * 20.0 * t);
        let lifted = if t < 0.5 {
            0.8 * t
        } else {
            0.4 - 0.4 * (t.min(1.0) - 0.5)
        };
        // Targets are reached to rounding.
        assert!((z(table) - shaken).abs() < 1e-12, "{t}: {}", z(table));
        assert!((z(lift) - lifted).abs() < 1e-12, "{t}: {}", z(lift));
        // It is carried: what turns the lift round at 0.5 s lets it fly for no longer than it takes to fall.
        if !(0.5..0.8).contains(&t) {
            let above = z(carried) - lifted - 0.2;
            assert!(above.abs() < 1e-3, "{t}: {above}");
        }
        highest = highest.max(z(thrown));
        if step == 77 {
            memory = Some(run.snapshot().unwrap());
        }
    }
    // The speed of the table, 0.63 m/s, throws it by 2 cm and more.
    assert!(highest > 1.17, "{highest}");
    let mut again = moreau::SceneRun::from_snapshot(&memory.unwrap()).unwrap();
    for _ in 77..300 {
        again.step().unwrap();
    }
    assert_eq!(again.simulation.state_hash(), run.simulation.state_hash());
}

#[test]
fn motions_out_of_range_are_refused() {
    for (wrong, says) in [
        ("body = \"tabel\"", "there is no body \"tabel\""),
        ("body = \"thrown\"", "a kinematic body"),
        ("frequency = -1.0", "frequency is -1"),
        ("times = [0.1, 0.5, 1.0]", "ascending from 0"),
        ("times = [0.0, 0.5]", "one for each of the times"),
    ] {
        let text = if wrong.starts_with("body") {
            MOVED.replace(
                "[[motions]]\nbody = \"table\"",
                &format!("[[motions]]\n{wrong}"),
            )
        } else if wrong.starts_with("times") {
            MOVED.replace("times = [0.0, 0.5, 1.0]", wrong)
        } else {
            MOVED.replace("frequency = 20.0", wrong)
        };
        let refused = Scene::from_toml(&text, "moved.toml").unwrap().start();
        let said = refused.err().map(|error| error.to_string());
        assert!(
            said.as_ref().is_some_and(|said| said.contains(says)),
            "{said:?}"
        );
    }
}
