//! The built-in scenes start, move as they should, and the example files run.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use glam::DVec3;
use moreau::geometry::Shape;
use moreau::scene::BodySpec;
use moreau::{Scene, SceneRun};
use moreau_demos::scenes::pile::Form;
use moreau_demos::{built_in, list};

fn position(run: &mut SceneRun, name: &str) -> DVec3 {
    let body = run.body(name).unwrap();
    run.simulation.pose(body).unwrap().position
}

fn make_steps(run: &mut SceneRun, time: f64) {
    let h = run.simulation.settings().time_step;
    for _ in 0..(time / h).round() as usize {
        let report = run.step().unwrap();
        assert!(report.e_scaled <= 1e-4, "{report:?}");
    }
}

#[test]
fn every_built_in_scene_starts_and_makes_three_steps() {
    for scene in list() {
        let mut run = built_in(scene.name).unwrap().start().unwrap();
        for _ in 0..3 {
            let report = run.step().unwrap();
            assert!(report.e_scaled <= 1e-4, "{}: {report:?}", scene.name);
            assert!(report.max_penetration < 1e-3, "{}: {report:?}", scene.name);
        }
    }
}

#[test]
fn every_built_in_scene_survives_a_trip_through_toml() {
    for scene in list() {
        let scene = built_in(scene.name).unwrap();
        if scene.bodies.len() > 200 {
            continue;
        }
        let text = toml::to_string(&scene).unwrap();
        let again = Scene::from_toml(&text, "").unwrap();
        assert_eq!(again, scene, "{}", scene.name);
    }
}

#[test]
fn pour_has_any_number_of_spheres() {
    for n in [1, 2, 7, 50, 1000, 1234] {
        let run = built_in(&format!("pour:n={n}")).unwrap().start().unwrap();
        let mut run = run;
        assert_eq!(run.step().unwrap().bodies, 5 + n);
    }
}

#[test]
fn a_pile_is_given_by_its_seed_and_starts_between_the_walls() {
    for name in Form::NAMES {
        let of_seed = |seed: u64| built_in(&format!("pile:shape={name},n=40,seed={seed}")).unwrap();
        let scene = of_seed(3);
        assert_eq!(scene.bodies.len(), 5 + 40);
        assert_eq!(scene.bodies, of_seed(3).bodies);
        assert_ne!(scene.bodies, of_seed(4).bodies);
        for body in &scene.bodies[5..] {
            let side = body.position.x.abs().max(body.position.y.abs());
            assert!(side < 0.36 && body.position.z > 0.19, "{name}: {body:?}");
        }
    }
}

/// Corners of a placed voussoir, in the inertial frame.
fn corners(body: &BodySpec) -> Vec<DVec3> {
    let Some(Shape::ConvexHull { points }) = &body.shape else {
        panic!("a voussoir is a hull");
    };
    let built = body.shape.as_ref().unwrap().build().unwrap();
    let center = built.mass_properties(1.0).unwrap().center_of_mass;
    points.iter().map(|p| body.position + *p - center).collect()
}

#[test]
fn voussoirs_share_their_joints_and_stand_on_the_abutments() {
    for spec in [
        "arch",
        "arch:voussoirs=11",
        "arch:voussoirs=40,thickness=0.12",
    ] {
        let scene = built_in(spec).unwrap();
        let ring: Vec<_> = scene.bodies[3..].iter().map(corners).collect();
        assert!(ring.len() >= 11);
        for pair in ring.windows(2) {
            for (end, start) in pair[0][4..].iter().zip(&pair[1][..4]) {
                assert!((*end - *start).length() < 1e-14, "{spec}: {end} {start}");
            }
        }
        let (first, last) = (&ring[0], &ring[ring.len() - 1]);
        for foot in first[..4].iter().chain(&last[4..]) {
            assert!(foot.z.abs() < 1e-14, "{spec}: {foot}");
        }
    }
}

#[test]
fn the_arch_stands_and_falls_without_friction() {
    let mut run = built_in("arch").unwrap().start().unwrap();
    let before = position(&mut run, "voussoir_7");
    make_steps(&mut run, 1.0);
    assert!((position(&mut run, "voussoir_7") - before).length() < 1e-3);

    let mut run = built_in("arch:friction=0.1").unwrap().start().unwrap();
    make_steps(&mut run, 1.0);
    assert!(position(&mut run, "voussoir_7").z < before.z - 0.1);
}

#[test]
fn the_pinch_holds_with_enough_grip_only() {
    let mut run = built_in("pinch").unwrap().start().unwrap();
    make_steps(&mut run, 1.0);
    let capsule = run.body("capsule").unwrap();
    let slip = run.simulation.twist(capsule).unwrap().linear.length();
    assert!(slip < 1e-9, "{slip:e}");
    assert!((position(&mut run, "capsule").z - 0.3).abs() < 1e-9);

    let mut run = built_in("pinch:grip=0.9").unwrap().start().unwrap();
    make_steps(&mut run, 0.2);
    assert!(position(&mut run, "capsule").z < 0.299);
}

#[test]
fn the_top_keeps_spinning_upright() {
    let mut run = built_in("top").unwrap().start().unwrap();
    let before = position(&mut run, "top").z;
    make_steps(&mut run, 1.0);
    assert!(position(&mut run, "top").z > 0.9 * before);

    let mut run = built_in("top:spin=10").unwrap().start().unwrap();
    make_steps(&mut run, 1.0);
    assert!(position(&mut run, "top").z < 0.7 * before);
}

#[test]
fn the_heavy_cube_stays_on_its_stack() {
    let mut run = built_in("mass-ratio").unwrap().start().unwrap();
    make_steps(&mut run, 0.5);
    assert!((position(&mut run, "top") - DVec3::new(0.0, 0.0, 4.75)).length() < 1e-3);
}

#[test]
fn bouncing_spheres_come_to_rest_on_the_plane() {
    let mut run = built_in("bounce").unwrap().start().unwrap();
    make_steps(&mut run, 10.0);
    for e in moreau_demos::scenes::bounce::RESTITUTION {
        let height = position(&mut run, &format!("e_{e}")).z;
        assert!((height - 0.1).abs() < 2e-4, "e = {e}: {height}");
    }
}

#[test]
fn the_example_files_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let scene = Scene::load(entry.unwrap().path()).unwrap();
        let mut run = scene.start().unwrap();
        make_steps(&mut run, scene.duration);
        files += 1;
    }
    assert_eq!(files, 2);
}

#[test]
fn all_dominoes_fall() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/domino.toml");
    let mut run = Scene::load(file).unwrap().start().unwrap();
    make_steps(&mut run, 2.0);
    let world = run.simulation.world_mut();
    let mut query = world.query::<(&moreau::BodyId, &moreau::Pose)>();
    let dominoes = query.iter(world).filter(|(id, _)| id.0 >= 2);
    let standing = dominoes.filter(|(_, pose)| pose.position.z > 0.09).count();
    assert_eq!(standing, 0);
}
