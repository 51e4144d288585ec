//! **Law.** Steps that are solved within a budget gain no energy: contacts of e = 0 do no positive work, whatever is left of their laws.
//!
//! With `Accuracy::Interactive` a step ends at a residual of some 1e-3. What contacts exchanged within it leave has to be smoothed out in the few sweeps there are: else piles of irregular
//! shapes blow up.

use crate::support::*;
use moreau_demos::built_in;

/// The work that a residual of `e_scaled` leaves, as a part of the kinetic energy of the pile when it falls; the default goal is 1e-3.
const LEFT: f64 = 1e-3;

#[test]
fn piles_of_any_shape_gain_no_energy_within_a_budget() {
    for (shape, count) in [
        ("hulls", 150),
        ("rods", 80),
        ("plates", 120),
        ("thinhull", 80),
        ("cones", 100),
        ("L", 80),
    ] {
        let scene = format!("pile:shape={shape},n={count}");
        let mut run = built_in(&scene).unwrap().start().unwrap();
        let settings = Settings {
            accuracy: Accuracy::Interactive,
            ..run.simulation.settings()
        };
        run.simulation.set_settings(settings).unwrap();
        let (mut largest, mut most, mut overlap) = (0.0_f64, 0.0_f64, 0.0_f64);
        for _ in 0..220 {
            let report = run.step().unwrap();
            largest = largest.max(report.energy.kinetic);
            most = most.max(report.energy.work_impact + report.energy.work_friction);
            overlap = overlap.max(report.overlap_left);
        }
        println!("{scene}: {most:e} of {largest} J in a step, overlap left {overlap:e} m");
        assert!(
            most <= LEFT * largest,
            "{scene}: contacts do {most} J of work"
        );
    }
}
