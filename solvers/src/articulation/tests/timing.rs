//! Times of machines: `cargo test --release -p moreau-solvers --lib articulation::tests::timing -- --ignored --nocapture`.
//!
//! Each is solved to 1e-4 and 1e-8 from nothing, and from the solution of the same machine stirred differently. The least of many
//! runs, in µs, everything included.

use super::machines::{self, Machine};
use super::solve;
use crate::Auto;
use glam::DVec3;
use std::time::Instant;

fn machines() -> Vec<(&'static str, Machine)> {
    let mut quadruped = Machine::new();
    machines::quadruped(&mut quadruped, DVec3::ZERO, 1.0);
    let mut many = Machine::new();
    for k in 0..100 {
        machines::quadruped(&mut many, DVec3::new(f64::from(k), 0.0, 0.0), 1.0);
    }
    vec![
        ("chain of 50, hanging", machines::chain(50, 100.0, true)),
        ("chain of 50 on a floor", machines::chain(50, 1.0, false)),
        ("humanoid", machines::humanoid(20.0)),
        ("quadruped", quadruped),
        ("four-bar", machines::four_bar()),
        ("stewart", machines::stewart()),
        ("table", machines::table()),
        ("100 quadrupeds", many),
        ("net 30×30", machines::net(30)),
    ]
}

#[test]
#[ignore = "a timing"]
fn times() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, mut machine) in machines() {
        if !name.contains(&only) {
            continue;
        }
        let view = machine.view();
        let (rows, contacts) = (view.rows() - 3 * view.contacts.len(), view.contacts.len());
        machine.stir(7, 0.01);
        let mut line = format!("{name} ({rows}, {contacts}):");
        for tolerance in [1e-4, 1e-8] {
            for warm in [false, true] {
                let mut auto = Auto::default();
                auto.settings.first.momentum = crate::Momentum::CAPPED;
                let mut start = vec![0.0; machine.view().rows()];
                if warm {
                    let mut other = machine.clone();
                    other.stir(8, 0.003);
                    solve(&mut auto, &other, &mut start, tolerance);
                }
                let (mut least, mut last) = (f64::INFINITY, None);
                for _ in 0..if rows > 2000 {
                    2
                } else {
                    std::env::var("RUNS")
                        .ok()
                        .and_then(|s| s.parse().ok())
                        .unwrap_or(30)
                } {
                    let mut impulse = start.clone();
                    let now = Instant::now();
                    let (report, _) = solve(&mut auto, &machine, &mut impulse, tolerance);
                    least = least.min(now.elapsed().as_secs_f64() * 1e6);
                    last = Some(report);
                }
                let report = last.unwrap();
                let mark = if report.converged() { "" } else { "!" };
                line += &format!(
                    "  {}{tolerance:e}: {least:.1}{mark} ({}, {}; {:.0e})",
                    if warm { "warm " } else { "" },
                    report.iterations,
                    report.factorizations,
                    report.residual.constraint_velocity
                );
            }
        }
        eprintln!("{line}");
    }
}
