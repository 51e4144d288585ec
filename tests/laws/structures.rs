//! **Law.** Structures that statics allows stand for as long as one looks: a capsule pinched between two pads, a
//! stack under a cube a thousand times as heavy, a masonry arch. An arch without two of its
//! stones falls.
//!
//! The scenes are the built-in ones. The pinch is held to 1e-9 m/s (the solver's 1e-11 of `g h`, over the condition of
//! one grip). The others are solved to their scenes' accuracy: the arch is held to `e_scaled ≤ 1e-4` in every step, the
//! tower to 1e-8. The certificate is relative to the whole problem: on a light cube under a mass ratio of 1000 it leaves
//! `1e-5 g`, hence up to `1e-5 g h² · 2000 = 5 µm` in 2000 steps if errors pile up, and on stones of equal mass 0.05 mm
//! in one direction.
//! A structure that fails leaves any such bound within a second, so standing is: less than 1 mm, a five-hundredth of
//! the block's edge, for the tower as for the arch.

use crate::support::*;
use moreau_demos::built_in;

const DURATION: f64 = 10.0;

/// Runs for the duration and holds every step to `residual`; returns the largest displacement (m).
fn stands(run: &mut SceneRun, duration: f64, residual: f64) -> f64 {
    let start = positions(&mut run.simulation);
    let end = run.simulation.time() + duration;
    let (mut worst, mut sweeps): (f64, usize) = (0.0, 0);
    while run.simulation.time() < end - 1e-9 {
        let report = run.step().unwrap();
        worst = worst.max(report.e_scaled);
        sweeps = sweeps.max(report.sweeps);
        assert!(
            report.e_scaled <= residual,
            "step {}: e_scaled {:e} after {} sweeps",
            report.step,
            report.e_scaled,
            report.sweeps
        );
    }
    let moved = displacement(&run.simulation, &start);
    println!("moved {moved:e} m, e_scaled ≤ {worst:e}, at most {sweeps} sweeps");
    moved
}

#[test]
fn pinch_holds() {
    let mut run = built_in("pinch").unwrap().start().unwrap();
    assert_eq!(run.simulation.settings().accuracy, Accuracy::Reference);
    let capsule = run.body("capsule").unwrap();
    let start = run.simulation.pose(capsule).unwrap().position;
    let mut worst: f64 = 0.0;
    while run.simulation.time() < run.scene().duration {
        run.step().unwrap();
        worst = worst.max(run.simulation.twist(capsule).unwrap().linear.length());
        for contact in run.simulation.contacts() {
            let of_capsule = contact.entities.contains(&capsule);
            if of_capsule && contact.impulse.x > 0.0 {
                let u = contact.local_velocity;
                worst = worst.max(libm::hypot(u.y, u.z));
            }
        }
    }
    let fall = (run.simulation.pose(capsule).unwrap().position - start).length();
    println!("slip {worst:e} m/s, moved {fall:e} m");
    assert!(worst < 1e-9, "slips at {worst:e} m/s");
    assert!(fall < 1e-8, "moved by {fall:e} m");
}

#[test]
fn pinch_slides_if_the_grip_is_too_weak() {
    // The fixed pad and the moving one each carry μ F = 0.45 m g: it falls with g (1 − 0.9).
    let mut run = built_in("pinch:grip=0.9").unwrap().start().unwrap();
    let capsule = run.body("capsule").unwrap();
    for _ in 0..40 {
        run.step().unwrap();
    }
    let expected = 0.1 * G * run.simulation.time();
    let v = run.simulation.twist(capsule).unwrap().linear;
    assert!(
        (v + DVec3::Z * expected).length() <= 1e-8 * expected,
        "{v} instead of −{expected}"
    );
}

#[test]
fn mass_ratio_of_a_thousand_stands() {
    let mut run = built_in("mass-ratio").unwrap().start().unwrap();
    let moved = stands(&mut run, DURATION, 1e-8);
    assert!(moved < 1e-3, "moved by {moved} m");
}

/// Its modes are slower than any other scene's: sweeps that are careful with normal corrections would hide from the
/// residual what is left of them, and not end.
#[test]
fn mass_ratio_of_a_hundred_thousand_stands() {
    let mut run = built_in("mass-ratio:ratio=100000")
        .unwrap()
        .start()
        .unwrap();
    assert!(stands(&mut run, DURATION, 1e-10) < 0.001);
}

#[test]
fn an_arch_stands_and_falls_without_two_voussoirs() {
    let mut run = built_in("arch").unwrap().start().unwrap();
    let moved = stands(&mut run, DURATION, 1e-4);
    assert!(moved < 1e-3, "moved by {moved} m");
    let stones = run
        .scene()
        .bodies
        .iter()
        .filter(|body| {
            body.name
                .as_ref()
                .is_some_and(|name| name.starts_with("voussoir_"))
        })
        .count();
    for stone in [stones / 2, stones / 4] {
        let body = run.body(&format!("voussoir_{stone}")).unwrap();
        assert!(run.simulation.despawn(body));
    }
    let start = positions(&mut run.simulation);
    let mut fallen = 0.0;
    while run.simulation.time() < DURATION + 1.5 && fallen < 0.3 {
        run.step().unwrap();
        fallen = displacement(&run.simulation, &start);
    }
    assert!(fallen >= 0.3, "the rest moved by {fallen} m only");
}
