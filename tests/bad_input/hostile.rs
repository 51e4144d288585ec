//! Scenes that ask for more than a machine has, or that are made to do harm: refused before anything is built, without memory to
//! speak of, with the bound.

use crate::counted::requested;
use crate::support::*;
use moreau::scene::{BodySpec, Emitter, Lattice, MeshFile};
use moreau::{SceneError, Threads};
use std::path::PathBuf;

/// Memory, bytes, that a refusal may ask for in all: less than the least that these scenes would take, …
const MOST: usize = 4 << 20;
/// … and what the reader keeps of each character, if it is a token of its own, in a list that doubles as it grows.
const TOKEN: usize = 256;

/// Reading and starting it fails before anything is built; what it says.
#[track_caller]
fn refused_at_once(text: &str) -> String {
    let (started, bytes) = requested(|| {
        Scene::from_toml(text, folder().join("scene.toml")).and_then(|scene| scene.start())
    });
    let Err(error) = started else {
        panic!("started: {text}");
    };
    let error = error.to_string();
    assert!(bytes < MOST + TOKEN * text.len(), "{bytes} bytes: {error}");
    error
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("moreau-hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const BALL: &str = "shape = { sphere = { radius = 0.1 } }";

#[test]
fn more_bodies_than_a_machine_holds_are_refused() {
    let lattice = |count: &str| format!("[[lattices]]\ncount = {count}\nbody = {{ {BALL} }}\n");
    let emitter = |count: &str| {
        format!("[[emitters]]\ninterval = 1\ncount = {count}\n[[emitters.bodies]]\n{BALL}\n")
    };
    for (text, place, value) in [
        (
            lattice("[3000, 3000, 3000]"),
            "lattices[0]",
            "[3000, 3000, 3000]",
        ),
        (
            lattice("[9223372036854775807, 9223372036854775807, 2]"),
            "lattices[0]",
            "9223372036854775807",
        ),
        (lattice("[2000001, 1, 1]"), "lattices[0]", "2000001"),
        (
            emitter("9223372036854775807"),
            "emitters[0]",
            "9223372036854775807",
        ),
        (
            emitter("1000000") + &lattice("[100, 100, 50]") + &lattice("[100, 100, 51]"),
            "emitters[0]",
            "1000000",
        ),
        (
            lattice("[100, 100, 100]") + &lattice("[100, 100, 101]"),
            "lattices[1]",
            "[100, 100, 101]",
        ),
    ] {
        let error = refused_at_once(&text);
        names(&error, &[place, "count", value, "at most 2000000 bodies"]);
    }
    assert_eq!(Scene::MOST_BODIES, 2_000_000);
}

#[test]
fn a_lattice_without_bodies_is_none_however_long_its_rows() {
    for count in [[0, usize::MAX, usize::MAX], [usize::MAX, usize::MAX, 0]] {
        let scene = Scene {
            lattices: vec![Lattice {
                count,
                body: BodySpec::dynamic(Shape::Sphere { radius: 0.1 }, DVec3::ZERO),
                ..Lattice::default()
            }],
            ..Scene::default()
        };
        assert_eq!(scene.body_count(), 0);
        assert_eq!(scene.start().unwrap().step().unwrap().bodies, 0);
    }
}

#[test]
fn emitters_that_give_too_many_bodies_in_a_step_are_refused() {
    for interval in ["1e-300", "5e-324", "4.9e-6"] {
        let error = refused_at_once(&format!(
            "[[emitters]]\ninterval = {interval}\ncount = 100\n[[emitters.bodies]]\n{BALL}\n"
        ));
        names(&error, &["emitters[0]", "interval", "≥ time_step / 1000"]);
    }
    // The bound itself: a thousand points a step, which meet nothing.
    let point = BodySpec {
        mass: Mass::given(1.0, DVec3::ONE),
        ..BodySpec::default()
    };
    let scene = Scene {
        emitters: vec![Emitter {
            interval: 5e-6,
            count: 2500,
            bodies: vec![point],
            ..Emitter::default()
        }],
        ..Scene::default()
    };
    let mut run = scene.start().unwrap();
    for most in [1000, 2000, 2500] {
        let bodies = run.step().unwrap().bodies;
        assert!(bodies <= most && bodies + 600 > most, "{bodies} of {most}");
    }
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    let text = format!("[settings]\nthreads = 10000\n[[bodies]]\n{BALL}\n");
    names(
        &refused_at_once(&text),
        &["settings", "threads is 10000", "in [0, 1024]"],
    );
    for threads in [1025, 10_000, usize::MAX] {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let (mut simulation, _) = healthy();
        for error in [
            Threads::shared(threads).unwrap_err(),
            Simulation::new(settings).err().unwrap(),
            simulation.set_settings(settings).unwrap_err(),
        ] {
            assert!(matches!(error, StepError::Settings(_)), "{error}");
            names(&error.to_string(), &["threads", "1024"]);
        }
        simulation.step().unwrap();
    }
}

#[test]
fn flat_hulls_are_refused_with_the_bound() {
    let hull = |size: f64, thickness: f64| {
        let corner = |i: u8| {
            let [x, y, z] = [1, 2, 4].map(|bit| f64::from(u8::from(i & bit != 0)));
            format!("[{}, {}, {}]", x * size, y * size, z * thickness)
        };
        let points: Vec<_> = (0..8).map(corner).collect();
        let points = points.join(", ");
        format!("[[bodies]]\nshape = {{ convex_hull = {{ points = [{points}] }} }}\n")
    };
    for (size, thickness) in [(1.0, 1e-6), (0.1, 1e-6), (1e6, 1.0), (1.0, 0.0)] {
        let error = refused_at_once(&hull(size, thickness));
        names(&error, &["bodies[0]", "thickness", "must exceed"]);
    }
    // A sheet of a millimetre, and a small thick one.
    for (size, thickness) in [(1.0, 1e-3), (1e-6, 1e-6)] {
        let scene = Scene::from_toml(&hull(size, thickness), "").unwrap();
        scene.start().unwrap().step().unwrap();
    }
}

#[test]
fn hulls_of_a_million_points_are_refused() {
    let points = vec![DVec3::ZERO; 1_000_000];
    refused(
        (RigidBody::Dynamic, Collider::convex_hull(points)),
        &["points", "1000000", "at most 200000"],
    );
}

/// A scene with one mesh.
fn mesh(path: &str) -> String {
    format!("[[bodies]]\nkind = \"static\"\nmesh = {{ path = \"{path}\" }}\n")
}

#[test]
fn files_larger_than_the_bound_are_not_read() {
    let file = std::fs::File::create(folder().join("huge.obj")).unwrap();
    file.set_len(1 << 30).unwrap();
    names(
        &refused_at_once(&mesh("huge.obj")),
        &[
            "bodies[0]",
            "huge.obj",
            "1073741824",
            &MeshFile::MOST_BYTES.to_string(),
        ],
    );
    let (loaded, bytes) = requested(|| Scene::load(folder().join("huge.obj")));
    let error = loaded.unwrap_err();
    assert!(bytes < MOST, "{bytes} bytes");
    assert!(matches!(error, SceneError::Io { .. }));
    names(
        &error.to_string(),
        &["huge.obj", &Scene::MOST_BYTES.to_string()],
    );
    std::fs::remove_file(folder().join("huge.obj")).unwrap();
}

#[test]
fn folders_are_no_files() {
    names(
        &refused_at_once(&mesh(".")),
        &["bodies[0]", "a directory", "regular file"],
    );
    let error = Scene::load(folder()).unwrap_err();
    names(&error.to_string(), &["a directory", "regular file"]);
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_loops_of_links_are_not_opened() {
    let (pipe, link, zero) = (
        folder().join("pipe"),
        folder().join("loop"),
        folder().join("zero"),
    );
    for path in [&pipe, &link, &zero] {
        let _ = std::fs::remove_file(path);
    }
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    std::os::unix::fs::symlink(&link, &link).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &zero).unwrap();
    let mut paths = vec!["/dev/zero", "/dev/null", "/dev/tty", "zero"];
    if made.is_ok_and(|status| status.success()) {
        paths.push("pipe");
    }
    for path in paths {
        if folder().join(path).exists() {
            names(
                &refused_at_once(&mesh(path)),
                &["bodies[0]", path, "regular file"],
            );
            let error = Scene::load(folder().join(path)).unwrap_err();
            names(&error.to_string(), &[path, "regular file"]);
        }
    }
    names(&refused_at_once(&mesh("loop")), &["bodies[0]", "loop"]);
    assert!(Scene::load(&link).is_err());
}

#[test]
fn a_mesh_opens_no_other_file() {
    let text = "mtllib /dev/zero\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::fs::write(folder().join("material.obj"), text).unwrap();
    let scene = Scene::from_toml(&mesh("material.obj"), folder().join("scene.toml")).unwrap();
    let (started, bytes) = requested(|| scene.start());
    started.unwrap();
    assert!(bytes < MOST, "{bytes} bytes");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = 100_000;
    for text in [
        format!("a = {}", "[".repeat(deep)),
        format!("a = {}", "{a=".repeat(deep)),
        format!("a{} = 1", ".a".repeat(deep)),
        format!("[a{}]", ".a".repeat(deep)),
        format!(
            "[[bodies]]\nshape = {}",
            "{ compound = { parts = [[{ position = [0, 0, 0], orientation = [0, 0, 0, 1] }, "
                .repeat(1000)
        ),
    ] {
        refused_at_once(&text);
    }
}

#[test]
fn a_crowd_in_one_place_is_an_error_that_names_a_body() {
    let text = format!("[[lattices]]\ncount = [12, 3000, 1]\nbody = {{ {BALL} }}\n");
    let scene = Scene::from_toml(&text, "crowd.toml").unwrap();
    let mut run = scene.start().unwrap();
    let before = run.simulation.state_hash();
    let error = run.step().unwrap_err().to_string();
    names(&error, &["body", "4194304", "35999"]);
    assert_eq!(run.simulation.state_hash(), before);
}

#[test]
fn vectors_that_are_too_long_are_refused_with_their_place() {
    for (text, line, entries) in [
        ("[settings]\ngravity = [0.0, 0.0, -9.81, 1.0]\n", 2, 4),
        ("[[lattices]]\nspacing = [1.0, 1.0, 1.0, 2.0, 3.0]\n", 2, 5),
        (
            "[[bodies]]\nname = \"a\"\nposition = [1.0, 1.0, 1.0, 2.0]\n",
            3,
            4,
        ),
        (
            "[[bodies]]\nshape = { cuboid = { half_extents = [1.0, 1.0, 1.0, 1.0] } }\n",
            2,
            4,
        ),
    ] {
        let error = refused_at_once(text);
        let place = format!(":{line}:");
        let count = format!("{entries} entries");
        names(&error, &[&place, &count]);
    }
}

#[test]
fn more_contacts_than_memory_holds_are_an_error() {
    // Four million pairs of cubes, each with several contacts.
    let cube = "shape = { cuboid = { half_extents = [0.1, 0.1, 0.1] } }";
    let text = format!("[[lattices]]\ncount = [2800, 1, 1]\nbody = {{ {cube} }}\n");
    let scene = Scene::from_toml(&text, "crowd.toml").unwrap();
    let mut run = scene.start().unwrap();
    let before = run.simulation.state_hash();
    let error = run.step().unwrap_err().to_string();
    names(&error, &["contacts", "4194304"]);
    assert_eq!(run.simulation.state_hash(), before);
}
