//! **Law.** The number of threads changes no bit of any built-in scene, nor does the instruction set.
//!
//! Every sweep is shared among the threads, whatever the number of contacts; the two last cases have enough of
//! them to be cut into slabs. The budget of a solve is small, since the
//! states of unsolved steps must agree as well, and more threads than cores are slow to hand over.

use moreau::scene::Scene;
use moreau_demos::{built_in, list};

/// Small forms of all built-in scenes, and the steps after which each has been in contact for a while.
const SMALL: [(&str, usize); 35] = [
    ("pour:n=60,radius=0.01", 50),
    ("stack:n=6", 40),
    ("pyramid:n=6", 40),
    ("wall:nx=4,ny=4", 40),
    ("arch:voussoirs=7", 40),
    ("incline:f=1.2", 40),
    ("pinch", 40),
    ("bridge:n=6", 120),
    ("slider-crank", 60),
    ("gripper", 40),
    ("crane:links=4", 40),
    ("net:n=5", 90),
    ("ragdolls:n=2", 120),
    ("humanoid", 40),
    ("quadruped:n=2", 40),
    ("anymal:n=2", 40),
    ("arm-in-pile:n=300", 40),
    ("mass-ratio:n=4,ratio=100", 40),
    ("bounce:height=0.02", 40),
    ("top", 40),
    ("mixed:layers=2", 70),
    ("pile:n=32", 45),
    ("pile:shape=cones,n=32", 45),
    ("pile:shape=U,n=18", 45),
    ("sphere_pour:n=1000", 70),
    ("box_pyramid:n=20", 24),
    ("wall_20x20", 24),
    ("rolling", 24),
    // The first steps after the fall.
    ("bouncing", 1000),
    ("pile_666", 70),
    ("elastic_666", 500),
    ("kapla_tower", 24),
    ("sphere_pour:n=8000", 32),
    // Several blocks of the narrow phase.
    ("sphere_pour:n=32000", 24),
    ("box_pyramid:n=40", 6),
];

/// Linkages without contacts.
const FREE: [(&str, usize); 4] = [
    ("pendulum:n=5", 100),
    ("chain:n=12,ratio=100", 100),
    ("fourbar", 100),
    ("stewart", 40),
];

/// Hash of the state after `steps`, and the sum of contacts of all steps.
fn run(mut scene: Scene, steps: usize, threads: usize, simd: bool) -> (u64, usize) {
    let settings = &mut scene.settings;
    settings.threads = threads;
    settings.advanced.parallel_from = Some(0);
    settings.advanced.simd = Some(simd);
    settings.advanced.max_sweeps = Some(12);
    settings.advanced.max_factorizations = Some(4);
    let mut run = scene.start().unwrap();
    let contacts = (0..steps).map(|_| run.step().unwrap().contacts).sum();
    (run.simulation.state_hash(), contacts)
}

#[test]
fn threads_and_vectors_change_no_bit_of_any_built_in_scene() {
    let free = FREE.into_iter().map(|case| (case, 0));
    for ((spec, steps), contacts) in SMALL.into_iter().map(|case| (case, 11)).chain(free) {
        let scene = built_in(spec).unwrap();
        let expected = run(scene.clone(), steps, 1, true);
        assert!(
            expected.1 >= contacts,
            "{spec}: {} contacts in all steps",
            expected.1
        );
        for threads in [2, 3, 4, 8] {
            let found = run(scene.clone(), steps, threads, true);
            assert_eq!(found, expected, "{spec} on {threads} threads");
        }
        let found = run(scene, steps, 2, false);
        assert_eq!(found, expected, "{spec} without wide vectors");
    }
}

#[test]
fn no_built_in_scene_is_left_out() {
    let name = |spec: &'static str| spec.split(':').next().unwrap_or(spec);
    let mut covered = SMALL.iter().chain(&FREE).map(|(spec, _)| name(spec));
    assert!(
        list()
            .iter()
            .all(|scene| covered.clone().any(|name| name == scene.name))
    );
    assert!(covered.all(|name| list().iter().any(|scene| scene.name == name)));
}
