//! **Law.** A simulation that is restored from a snapshot makes the steps that followed it, to the last bit: in a new world and in the old one, on any
//! number of threads, through bytes, from any moment.
//!
//! Compared are the states, and of every report all that is no time: energies, residuals, sweeps, contacts.

use moreau::prelude::*;
use moreau::{Scene, SceneRun, StepTiming};
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
fn steps(simulation: &mut Simulation, count: usize) -> (Vec<String>, u64) {
    let reports = (0..count).map(|_| {
        let report = without_times(simulation.step().unwrap());
        // Of a float it prints the shortest digits that read back to its bits.
        format!("{report:?}")
    });
    (reports.collect(), simulation.state_hash())
}

fn started(scene: &Scene, threads: usize) -> SceneRun {
    let mut scene = scene.clone();
    scene.settings.threads = threads;
    scene.settings.advanced.parallel_from = Some(0);
    scene.settings.advanced.max_sweeps = Some(60);
    scene.settings.advanced.max_factorizations = Some(4);
    scene.start().unwrap()
}

fn on(threads: usize, mut simulation: Simulation) -> Simulation {
    let settings = Settings {
        threads,
        ..simulation.settings()
    };
    simulation.set_settings(settings).unwrap();
    simulation
}

/// Snapshots at two moments, restored into new worlds on one and two threads and into the old one.
fn check(spec: &str, scene: &Scene, between: usize, after: usize) {
    let mut simulation = started(scene, 2).simulation;
    for moment in 1..=2 {
        steps(&mut simulation, between);
        let snapshot = simulation.snapshot().unwrap();
        let bytes = snapshot.to_bytes().unwrap();
        let expected = steps(&mut simulation, after);
        let read = Snapshot::from_bytes(&bytes).unwrap();
        for threads in [1, 2] {
            let fresh = Simulation::from_snapshot(&read).unwrap();
            let mut fresh = on(threads, fresh);
            let again = fresh.snapshot().unwrap().to_bytes().unwrap();
            if threads == 2 {
                assert!(again == bytes, "{spec}: the bytes of a restored simulation");
            }
            let found = steps(&mut fresh, after);
            assert_eq!(
                found, expected,
                "{spec}: new, {threads} threads, moment {moment}"
            );
        }
        simulation.restore(&snapshot).unwrap();
        let found = steps(&mut simulation, after);
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
    let mut covered = SMALL.iter().map(|(spec, ..)| name(spec));
    assert!(list().iter().all(|scene| covered.any_is(scene.name)));
}

trait AnyIs<'a> {
    fn any_is(&mut self, name: &str) -> bool;
}

impl<'a, I: Iterator<Item = &'a str> + Clone> AnyIs<'a> for I {
    fn any_is(&mut self, name: &str) -> bool {
        self.clone().any(|own| own == name)
    }
}
