//! **Law.** A simulation that is restored from a snapshot makes the steps that followed it, to the last bit: in a new world and in the old one, on any
//! number of threads, through bytes, from any moment.
//!
//! Compared are the states, and of every report all that is no time: energies, residuals, sweeps, contacts.

use moreau::StepTiming;
use moreau::prelude::*;
use moreau_demos::{built_in, list};

/// Small forms of the built-in scenes, steps between snapshots, and steps after each.
const SMALL: [(&str, usize, usize); 39] = [
    ("pour:n=60,radius=0.01", 25, 25),
    ("stack:n=6", 20, 20),
    ("pyramid:n=6", 20, 20),
    ("wall:nx=4,ny=4", 20, 20),
    ("arch:voussoirs=7", 20, 20),
    ("incline:f=1.2", 20, 20),
    ("pinch", 20, 20),
    ("bridge:n=6", 50, 20),
    ("slider-crank", 30, 20),
    ("gripper", 20, 20),
    ("crane:links=4", 20, 20),
    ("net:n=5", 40, 10),
    ("ragdolls:n=2", 50, 20),
    ("humanoid", 20, 10),
    ("quadruped:n=2", 20, 10),
    ("anymal:n=2", 20, 10),
    ("arm-in-pile:n=300", 20, 10),
    ("mass-ratio:n=4,ratio=100", 20, 10),
    ("bounce:height=0.02", 20, 20),
    ("top", 20, 20),
    ("mixed:layers=2", 30, 15),
    ("pile:n=32", 22, 15),
    ("pile:shape=cones,n=32", 22, 15),
    ("pile:shape=U,n=18", 22, 15),
    ("sphere_pour:n=1000", 35, 15),
    ("box_pyramid:n=20", 12, 8),
    ("wall_20x20", 12, 8),
    ("rolling", 12, 12),
    ("bouncing", 500, 40),
    ("pile_666", 35, 20),
    ("elastic_666", 250, 20),
    ("kapla_tower", 12, 12),
    ("sphere_pour:n=8000", 16, 4),
    ("pendulum:n=5", 50, 20),
    ("chain:n=12,ratio=100", 50, 20),
    ("fourbar", 50, 20),
    ("stewart", 20, 20),
    ("sphere_pour:n=32000", 2, 1),
    ("box_pyramid:n=40", 2, 2),
];

fn without_times(report: StepReport) -> StepReport {
    StepReport {
        timing: StepTiming::default(),
        ..report
    }
}

/// The reports of some steps, bit by bit, and the state at the end.
pub(crate) type Course = (Vec<String>, u64);

/// Of a float `Debug` prints the shortest digits that read back to its bits.
pub(crate) fn line(report: StepReport) -> String {
    format!("{:?}", without_times(report))
}

pub(crate) fn steps(simulation: &mut Simulation, count: usize) -> Course {
    let reports = (0..count).map(|_| line(simulation.step().unwrap()));
    (reports.collect(), simulation.state_hash())
}

fn scene_steps(run: &mut SceneRun, count: usize) -> Course {
    let reports = (0..count).map(|_| line(run.step().unwrap()));
    (reports.collect(), run.simulation.state_hash())
}

fn started(scene: &Scene, threads: usize) -> SceneRun {
    let mut scene = scene.clone();
    scene.settings.threads = threads;
    scene.settings.advanced.parallel_from = Some(0);
    scene.settings.advanced.max_sweeps = Some(60);
    scene.settings.advanced.max_factorizations = Some(4);
    scene.start().unwrap()
}

fn set_threads(simulation: &mut Simulation, threads: usize) {
    let settings = Settings {
        threads,
        ..simulation.settings()
    };
    simulation.set_settings(settings).unwrap();
}

/// Snapshots at two moments, restored into new worlds on one and two threads and into the old one.
fn check(spec: &str, scene: &Scene, between: usize, after: usize) {
    let mut run = started(scene, 2);
    for moment in 1..=2 {
        scene_steps(&mut run, between);
        let snapshot = run.snapshot().unwrap();
        let bytes = snapshot.to_bytes().unwrap();
        let expected = scene_steps(&mut run, after);
        let read = Snapshot::from_bytes(&bytes).unwrap();
        for threads in [1, 2] {
            let mut fresh = SceneRun::from_snapshot(&read).unwrap();
            set_threads(&mut fresh.simulation, threads);
            if threads == 2 {
                let again = fresh.snapshot().unwrap().to_bytes().unwrap();
                assert!(again == bytes, "{spec}: the bytes of a restored run");
            }
            let found = scene_steps(&mut fresh, after);
            assert_eq!(
                found, expected,
                "{spec}: new, {threads} threads, moment {moment}"
            );
        }
        run.restore(&snapshot).unwrap();
        let found = scene_steps(&mut run, after);
        assert_eq!(found, expected, "{spec}: rewound at moment {moment}");
    }
}

#[test]
fn restored_runs_of_all_built_in_scenes_have_the_bits_of_the_uninterrupted_ones() {
    for (spec, between, after) in SMALL {
        check(spec, &built_in(spec).unwrap(), between, after);
    }
}

#[test]
fn no_built_in_scene_is_left_out() {
    let name = |spec: &'static str| spec.split(':').next().unwrap_or(spec);
    let covered: Vec<_> = SMALL.iter().map(|(spec, ..)| name(spec)).collect();
    assert!(list().iter().all(|scene| covered.contains(&scene.name)));
}

#[test]
fn emitters_go_on_where_they_were() {
    let text = include_str!("../../demos/scenes/funnel.toml");
    let scene = Scene::from_toml(text, "funnel.toml").unwrap();
    check("funnel", &scene, 100, 60);
}

/// What a body and a contact take in a file: of two snapshots with the same bodies and other contacts, and of twice the bodies.
#[test]
fn a_body_takes_250_bytes_at_most_and_a_contact_100() {
    let size = |spec: &str, steps: usize| {
        let mut run = built_in(spec).unwrap().start().unwrap();
        run.simulation
            .set_settings(Settings {
                threads: 1,
                ..run.simulation.settings()
            })
            .unwrap();
        for _ in 0..steps {
            run.step().unwrap();
        }
        let state = run.simulation.state().unwrap();
        let warm = state.warm_start();
        let bytes = run.snapshot().unwrap().to_bytes().unwrap().len();
        let bodies = run.scene().body_count();
        (bytes, bodies, warm.contacts.len() + warm.asleep.len())
    };
    for spec in [
        "sphere_pour:n=1000",
        "pile:shape=hulls,n=300",
        "stack:n=100",
        "pile:shape=U,n=60",
    ] {
        let (begin, bodies, none) = size(spec, 0);
        let (end, _, contacts) = size(spec, 60);
        assert_eq!(none, 0);
        assert!(contacts > 50, "{spec}: {contacts} contacts");
        let of_body = begin as f64 / bodies as f64;
        let of_contact = (end - begin) as f64 / contacts as f64;
        eprintln!("{spec}: {of_body:.1} bytes a body, shapes included, {of_contact:.1} a contact");
        // The shapes of a pile of hulls are all of their own.
        let most = if spec.contains("hulls") {
            1500.0
        } else {
            250.0
        };
        assert!(of_body <= most, "{spec}: {of_body} bytes a body");
        assert!(of_contact <= 100.0, "{spec}: {of_contact} bytes a contact");
    }
}

/// Times for docs/snapshots.md: `cargo test --release -p moreau-tests --test determinism times_of -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn times_of_snapshots() {
    use std::time::Instant;
    let best = |work: &mut dyn FnMut()| {
        let times = (0..9).map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64() * 1e3
        });
        times.fold(f64::INFINITY, f64::min)
    };
    for (spec, moments) in [
        ("sphere_pour:n=1000", [40, 400]),
        ("sphere_pour:n=8000", [40, 40]),
        ("pile:shape=hulls,n=1000", [60, 300]),
        ("mixed:layers=80", [60, 60]),
    ] {
        let mut scene = built_in(spec).unwrap();
        scene.settings.threads = 1;
        scene.settings.sleeping = SleepSettings::OFF;
        let mut run = scene.start().unwrap();
        let mut last = 0;
        for moment in moments {
            for _ in last..moment {
                run.step().unwrap();
            }
            if last == moment {
                continue;
            }
            last = moment;
            let mut simulation = run.simulation.fork().unwrap();
            simulation.step().unwrap();
            let bodies = simulation.state().unwrap().report().bodies;
            let contacts = simulation.contacts().len();
            let snapshot = simulation.snapshot().unwrap();
            let bytes = snapshot.to_bytes().unwrap();
            let take = best(&mut || drop(simulation.snapshot().unwrap()));
            let write = best(&mut || drop(snapshot.to_bytes().unwrap()));
            let read = best(&mut || drop(Snapshot::from_bytes(&bytes).unwrap()));
            let fork = best(&mut || drop(Simulation::from_snapshot(&snapshot).unwrap()));
            let mut rollback = Rollback::new(8);
            // Its buffers are those of the first eight.
            for _ in 0..10 {
                simulation.step().unwrap();
                rollback.push(&mut simulation).unwrap();
            }
            let (mut steps, mut pushes) = (0.0, 0.0);
            for _ in 0..30 {
                let begin = Instant::now();
                simulation.step().unwrap();
                steps += begin.elapsed().as_secs_f64() * 1e3 / 30.0;
                let begin = Instant::now();
                rollback.push(&mut simulation).unwrap();
                pushes += begin.elapsed().as_secs_f64() * 1e3 / 30.0;
            }
            let back = best(&mut || simulation.restore(&snapshot).unwrap());
            let begin = Instant::now();
            simulation.step().unwrap();
            let first = begin.elapsed().as_secs_f64() * 1e3;
            eprintln!(
                "{spec}, step {moment}: {bodies} bodies, {contacts} contacts, {} bytes; snapshot {take:.3} ms, to bytes {write:.3}, from bytes {read:.3}, \\
                 into a new world {fork:.2}, back {back:.2}, first step then {first:.2}; step {steps:.3}, push {pushes:.4} ({:.1} %)",
                bytes.len(),
                100.0 * pushes / steps
            );
        }
    }
}
