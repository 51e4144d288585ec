//! The scenes with joints do what they are there for, with their joints closed all the time.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use glam::{DQuat, DVec3};
use moreau::SceneRun;
use moreau_demos::built_in;

fn start(spec: &str) -> SceneRun {
    built_in(spec).unwrap().start().unwrap()
}

fn pose(run: &mut SceneRun, name: &str) -> (DVec3, DQuat) {
    let body = run.body(name).unwrap();
    let pose = run.simulation.pose(body).unwrap();
    (pose.position, pose.orientation)
}

fn place(run: &mut SceneRun, name: &str) -> DVec3 {
    pose(run, name).0
}

/// Steps until then, with joints closed to `open`, and overlaps no deeper than `overlap`.
fn go(run: &mut SceneRun, until: f64, open: f64, overlap: f64) {
    while run.simulation.time() < until {
        let report = run.step().unwrap();
        let t = report.t;
        assert!(report.joint_error <= open, "{t}: {}", report.joint_error);
        assert!(
            report.joint_velocity <= 1e-10,
            "{t}: {}",
            report.joint_velocity
        );
        assert!(
            report.max_penetration <= overlap,
            "{t}: {}",
            report.max_penetration
        );
        let energy = &report.energy;
        let moved = 1.0 + energy.kinetic + energy.potential.abs();
        assert!(energy.energy_gap.abs() <= 1e-12 * moved, "{t}: {energy:?}");
    }
}

const CLOSED: f64 = 1e-12;

#[test]
fn the_slider_goes_as_far_as_its_crank_says_and_pushes_crates() {
    let mut run = start("slider-crank:speed=6");
    let (mut least, mut most) = (f64::MAX, f64::MIN);
    while run.simulation.time() < 2.2 {
        let to = run.simulation.time() + 0.02;
        go(&mut run, to, CLOSED, 1e-3);
        let [slider, crank] = ["slider", "crank"].map(|name| pose(&mut run, name));
        // Its middle is half way from the shaft to the pin.
        let pin = 2.0 * (crank.0 - DVec3::Z);
        let x = pin.x + (0.5_f64 * 0.5 - pin.z * pin.z).sqrt();
        assert!((slider.0.x - x).abs() < 1e-10, "{} {x}", slider.0.x);
        (least, most) = (least.min(slider.0.x), most.max(slider.0.x));
    }
    assert!((least - 0.35).abs() < 2e-3 && (most - 0.65).abs() < 2e-3);
    assert!(run.simulation.contacts().len() > 8);
}

#[test]
fn the_platform_goes_where_its_legs_are_told_to_and_stands_still() {
    let mut run = start("stewart:lift=0.05,tilt=0.1");
    let (from, _) = pose(&mut run, "platform");
    go(&mut run, 2.5, CLOSED, 0.0);
    let (to, turn) = pose(&mut run, "platform");
    // The legs are where the platform is turned about the middle of their heads, 6 cm below its centre.
    let middle = from - DVec3::Z * 0.06;
    let goal = middle + DVec3::Z * 0.05 + DQuat::from_rotation_x(0.1) * DVec3::Z * 0.06;
    assert!((to - goal).length() < 1e-3, "{to} {goal}");
    assert!((turn * DVec3::Z - DQuat::from_rotation_x(0.1) * DVec3::Z).length() < 1e-3);
}

#[test]
fn the_gripper_lifts_a_cube_of_a_thousand_times_a_finger() {
    let mut run = start("gripper");
    go(&mut run, 2.0, CLOSED, 1e-6);
    let [cube, left, palm] = ["cube", "left", "palm"].map(|name| place(&mut run, name));
    assert!(cube.z > 0.3, "{cube}");
    // What slips is seen here.
    assert!((left.z - cube.z - 0.1).abs() < 1e-6, "{left} {cube}");
    assert!((palm.z - cube.z - 0.25).abs() < 1e-6, "{palm} {cube}");
    assert!(cube.x.abs() < 1e-6 && cube.y.abs() < 1e-6, "{cube}");
}

#[test]
fn the_load_of_the_crane_knocks_crates_over() {
    let mut run = start("crane");
    go(&mut run, 1.2, CLOSED, 1e-3);
    let boom = place(&mut run, "boom");
    assert!((place(&mut run, "crate52").z - 2.2).abs() < 1e-3);
    go(&mut run, 3.5, CLOSED, 5e-3);
    let end = place(&mut run, "boom");
    assert!((end - boom).length() > 0.3, "{boom} {end}");
    let fallen = (0..3).filter(|k| place(&mut run, &format!("crate5{k}")).z < 1.0);
    assert!(fallen.count() >= 2);
}

#[test]
fn the_net_catches_its_ball() {
    let mut run = start("net:n=7");
    go(&mut run, 1.5, CLOSED, 1e-2);
    let ball = place(&mut run, "ball");
    let lowest = place(&mut run, "knot3,3");
    assert!(ball.z > 2.0 && ball.z > lowest.z, "{ball} {lowest}");
    // A corner that is not held would be below.
    assert!(
        (place(&mut run, "knot0,0") - place(&mut run, "knot6,6"))
            .z
            .abs()
            < 1e-9
    );
}

#[test]
fn ragdolls_fall_on_a_heap_and_bend_no_farther_than_they_can() {
    let mut run = start("ragdolls:n=2");
    go(&mut run, 4.0, 5e-3, 5e-3);
    let report = run.step().unwrap();
    assert!(report.energy.kinetic < 1e-2, "{}", report.energy.kinetic);
    for doll in 0..2 {
        for part in ["head", "torso", "left foot", "right forearm"] {
            let z = place(&mut run, &format!("doll{doll} {part}")).z;
            assert!((0.02..1.2).contains(&z), "{doll} {part}: {z}");
        }
    }
}

#[test]
fn the_person_keeps_standing() {
    let mut run = start("humanoid");
    let (mut ahead, mut aside): (f64, f64) = (0.0, 0.0);
    while run.simulation.time() < 4.0 {
        let to = run.simulation.time() + 0.05;
        go(&mut run, to, CLOSED, 1e-3);
        let head = place(&mut run, "head");
        assert!(head.z > 1.6, "{to}: {head}");
        (ahead, aside) = (ahead.max(head.x.abs()), aside.max(head.y.abs()));
    }
    assert!(ahead > 0.02 && aside > 0.01, "{ahead} {aside}");
    let head = place(&mut run, "head");
    assert!(head.x.abs() < 0.03 && head.y.abs() < 0.03, "{head}");
}

#[test]
fn quadrupeds_stand_and_trot() {
    let mut run = start("quadruped:gait=0,n=2");
    go(&mut run, 1.5, CLOSED, 1e-3);
    for k in 0..2 {
        let (trunk, turn) = pose(&mut run, &format!("robot{k} trunk"));
        assert!((trunk.z - 0.462).abs() < 5e-3, "{trunk}");
        assert!((turn * DVec3::Z).z > 0.9999);
    }
    let mut run = start("quadruped");
    while run.simulation.time() < 4.0 {
        let to = run.simulation.time() + 0.05;
        go(&mut run, to, CLOSED, 1e-3);
        let (_, turn) = pose(&mut run, "trunk");
        assert!((turn * DVec3::Z).z > 0.98, "{to}: {turn}");
    }
    // Two steps of 10 cm a stride.
    let way = place(&mut run, "trunk").x;
    let ideal = 2.5 * 4.0 * 2.0 * 0.1;
    assert!(way > 0.8 * ideal && way < 1.2 * ideal, "{way}");
}

#[test]
fn the_arm_stirs_its_pile() {
    let mut run = start("arm-in-pile:n=300");
    go(&mut run, 0.3, CLOSED, 1e-3);
    let balls = |run: &mut SceneRun| -> Vec<DVec3> {
        let names = (1..=300).map(|k| format!("ball{k}"));
        names.map(|name| place(run, &name)).collect()
    };
    let before = balls(&mut run);
    go(&mut run, 1.8, CLOSED, 1e-3);
    let paddle = place(&mut run, "paddle");
    assert!(paddle.y > 0.3, "{paddle}");
    let moved = balls(&mut run).into_iter().zip(before);
    let stirred = moved.filter(|(a, b)| (*a - *b).length() > 0.05).count();
    assert!(stirred > 10, "{stirred}");
}
