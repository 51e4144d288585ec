//! The summary at the end of a run.

use crate::picture;
use crate::record::Record;
use crate::units::{count, quantity, residual};
use moreau::{SceneRun, Settings};
use std::fmt::Write;
use std::time::Duration;

/// The whole summary, ending with a newline.
pub(crate) fn text(run: &mut SceneRun, record: &Record, wall_time: Duration) -> String {
    let hash = run.simulation.state_hash();
    let picture = picture::side_view(&mut run.simulation);
    let settings = run.simulation.settings();
    let (name, about) = (&run.scene().name, &run.scene().description);
    let mut text = format!("\n{name}");
    if !about.is_empty() {
        text += &format!(" · {about}");
    }
    text += "\n\n";
    if let Some(picture) = picture {
        text += &picture;
        text.push('\n');
    }
    let mut row = |label: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {label:<12} {value}");
    };
    let last = &record.last;
    row(
        "steps",
        &format!(
            "{} of {} to t = {} s, {} bodies",
            count(record.steps),
            quantity(settings.time_step, "s"),
            trimmed(last.t),
            count(last.bodies as u64)
        ),
    );
    row(
        "wall time",
        &format!(
            "{:.2} s; per step median {}, worst {}",
            wall_time.as_secs_f64(),
            quantity(record.median_milliseconds() * 1e-3, "s"),
            quantity(record.worst_milliseconds() * 1e-3, "s")
        ),
    );
    row(
        "contacts",
        &format!(
            "{} at the end, {} at most",
            count(last.contacts as u64),
            count(record.contacts_most as u64)
        ),
    );
    row(
        "residual",
        &format!(
            "e_scaled median {}, worst {} in step {}",
            residual(record.median_residual()),
            residual(record.residual_worst.value),
            record.residual_worst.step
        ),
    );
    row(
        "sweeps",
        &format!(
            "median {}, most {}",
            count(record.median_sweeps().round() as u64),
            count(record.sweeps_most as u64)
        ),
    );
    if record.newton_steps > 0 {
        row(
            "Newton",
            &format!(
                "in {} steps, {} factorisations",
                count(record.newton_steps),
                count(record.factorizations)
            ),
        );
    }
    row(
        "penetration",
        &format!(
            "worst {} in step {}, {} at the end",
            quantity(record.penetration_worst.value, "m"),
            record.penetration_worst.step,
            quantity(last.max_penetration, "m"),
        ),
    );
    let ledger = &record.ledger;
    let mut energies = |label: &str, parts: &[(&str, f64)]| {
        let parts: Vec<_> = parts
            .iter()
            .map(|(name, value)| format!("{name} {}", quantity(*value, "J")))
            .collect();
        row(label, &parts.join(", "));
    };
    energies(
        "energy",
        &[("kinetic", ledger.kinetic), ("potential", ledger.potential)],
    );
    energies(
        "work",
        &[
            ("external", ledger.work_external),
            ("friction", ledger.work_friction),
            ("impacts", ledger.work_impact),
        ],
    );
    energies(
        "",
        &[
            ("drift", ledger.work_drift),
            ("gyroscopic", ledger.work_gyroscopic),
            ("sleep", ledger.work_sleep),
        ],
    );
    row(
        "ledger gap",
        &format!("{} left over", quantity(ledger.energy_gap, "J")),
    );
    row("state hash", &format!("{hash:016x}"));
    let _ = writeln!(text, "\n  {}", verdict(record, &settings));
    text
}

fn verdict(record: &Record, settings: &Settings) -> String {
    let bounds = format!(
        "e_scaled ≤ {} and {} at contacts",
        residual(settings.tolerance()),
        quantity(settings.velocity_tolerance(), "m/s")
    );
    let worst = [record.residual_worst, record.velocity_worst];
    if record.steps == 0 {
        "no step was made".to_owned()
    } else if record.not_converged == 0 {
        format!("every step solved to {bounds}")
    } else {
        let mut text = format!(
            "{} of {} steps not solved to {bounds}: the worst have {} (step {}) and {} (step {})",
            count(record.not_converged),
            count(record.steps),
            residual(worst[0].value),
            worst[0].step,
            quantity(worst[1].value, "m/s"),
            worst[1].step
        );
        let without = record.without_solution;
        if without.count > 0 {
            text += &format!(
                "\n  {} of them have no solution: the first is step {}",
                count(without.count),
                without.first.step
            );
        }
        text
    }
}

/// A time without trailing zeros.
pub(crate) fn trimmed(t: f64) -> String {
    let text = format!("{t:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
