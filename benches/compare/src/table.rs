//! The figures of a scene as a table.

use crate::piles::{LEFT, PileRecord, PileResult, REST};
use crate::race::{Figures, SceneResult, WINDOWS, median, quantile};
use std::fmt::Write;

const HEADER: [&str; 14] = [
    "engine",
    "steps",
    "ms/step",
    "95 %",
    "worst",
    "time ÷ rapier's",
    "contacts",
    "sweeps",
    "natmap",
    "worst",
    "rapier's ÷ natmap",
    "worst e_scaled",
    "overlap, mm",
    "speed, m/s",
];
const SINKING: &str = "top sinks, mm";

/// The table of one scene, as Markdown or with aligned columns.
pub(crate) fn render(result: &SceneResult, markdown: bool) -> String {
    let standing = result
        .records
        .iter()
        .any(|record| record.figures.iter().any(|f| !f.sinking.is_empty()));
    let mut header: Vec<String> = HEADER.map(str::to_owned).to_vec();
    if standing {
        header.push(SINKING.to_owned());
    }
    let mut rows = vec![header];
    for (index, window) in WINDOWS.iter().enumerate() {
        let Some(rapier) = result.records.first().map(|r| &r.figures[index]) else {
            continue;
        };
        for record in &result.records {
            let figures = &record.figures[index];
            if !figures.ms.is_empty() {
                let mut row = vec![record.name.clone(), window.name.to_owned()];
                row.extend(cells(figures, rapier, standing));
                rows.push(row);
            }
        }
    }
    let title = format!("{}, {} bodies", result.scene, result.dynamic);
    if markdown {
        format!("### {title}\n\n{}", as_markdown(&rows))
    } else {
        format!("{title}\n{}", as_text(&rows))
    }
}

fn cells(figures: &Figures, rapier: &Figures, standing: bool) -> Vec<String> {
    let middle = |list: &[f64]| median(list.iter().copied());
    let largest = |list: &[f64]| quantile(list.iter().copied(), 1.0);
    let (ms, natmap) = (middle(&figures.ms), middle(&figures.natmap));
    let mut cells = vec![
        number(ms),
        number(quantile(figures.ms.iter().copied(), 0.95)),
        number(largest(&figures.ms)),
        number(ms / middle(&rapier.ms)),
        count(middle(&figures.contacts)),
        count(middle(&figures.sweeps)),
        scientific(natmap),
        scientific(largest(&figures.natmap)),
        number(middle(&rapier.natmap) / natmap),
        scientific(largest(&figures.e_scaled)),
        number(1e3 * largest(&figures.overlap)),
        scientific(middle(&figures.speed)),
    ];
    if standing {
        let end = figures.sinking.last().copied().unwrap_or(f64::NAN);
        cells.push(number(1e3 * end));
    }
    cells
}

/// The table of all piles, as Markdown or with aligned columns.
pub(crate) fn render_piles(results: &[PileResult], markdown: bool) -> String {
    let head = [
        "pile".to_owned(),
        "engine".to_owned(),
        "steps".to_owned(),
        "mean ms".to_owned(),
        "worst ms".to_owned(),
        "mean ÷ rapier's".to_owned(),
        "worst ÷ mean".to_owned(),
        "contacts".to_owned(),
        "sweeps".to_owned(),
        "natmap".to_owned(),
        "worst e_scaled".to_owned(),
        "not converged".to_owned(),
        format!("overlap of the last {REST}, mm"),
        format!("from step {LEFT}, mm"),
    ];
    let mut rows = vec![head.to_vec()];
    for result in results {
        let Some(rapier) = result.records.first() else {
            continue;
        };
        for record in &result.records {
            let mut row = vec![result.scene.clone(), record.name.clone()];
            row.extend(pile_cells(record, rapier, result.steps));
            rows.push(row);
        }
    }
    if markdown {
        as_markdown(&rows)
    } else {
        as_text(&rows)
    }
}

fn pile_cells(record: &PileRecord, rapier: &PileRecord, steps: usize) -> Vec<String> {
    let unconverged = record.unconverged();
    vec![
        record.steps.len().to_string(),
        number(record.mean()),
        number(record.worst()),
        number(record.mean() / rapier.mean()),
        number(record.worst() / record.mean()),
        count(record.middle(|step| step.contacts)),
        count(record.middle(|step| step.sweeps)),
        scientific(median(record.natmap.iter().copied())),
        scientific(record.worst_residual()),
        unconverged.map_or_else(|| "–".to_owned(), |steps| steps.to_string()),
        number(1e3 * record.deepest_at_rest(steps)),
        number(1e3 * record.deepest()),
    ]
}

/// Three significant digits.
fn number(x: f64) -> String {
    if !x.is_finite() {
        return "–".to_owned();
    }
    match x.abs() {
        size if size >= 99.95 => format!("{x:.0}"),
        size if size >= 9.995 => format!("{x:.1}"),
        size if size >= 0.9995 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

fn count(x: f64) -> String {
    if x.is_finite() {
        format!("{x:.0}")
    } else {
        "–".to_owned()
    }
}

fn scientific(x: f64) -> String {
    if x.is_nan() {
        "–".to_owned()
    } else {
        format!("{x:.1e}")
    }
}

fn as_markdown(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let _ = writeln!(text, "| {} |", row.join(" | "));
        if index == 0 {
            let rule = ["---", "---"]
                .into_iter()
                .chain(std::iter::repeat_n("---:", row.len() - 2));
            let _ = writeln!(text, "|{}|", rule.collect::<Vec<_>>().join("|"));
        }
    }
    text
}

fn as_text(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = if column < 2 {
                write!(text, "{cell:<width$}  ")
            } else {
                write!(text, "{cell:>width$}  ")
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::Record;

    fn result() -> SceneResult {
        let figures = |ms, natmap| Figures {
            ms: vec![ms],
            natmap: vec![natmap],
            ..Figures::default()
        };
        let record = |name: &str, ms, natmap| Record {
            name: name.to_owned(),
            figures: [figures(ms, natmap), Figures::default()],
        };
        SceneResult {
            scene: "test".to_owned(),
            dynamic: 3,
            records: vec![record("rapier", 2.0, 0.1), record("Moreau", 1.0, 0.001)],
        }
    }

    #[test]
    fn ratios_are_to_the_first_record_and_empty_windows_have_no_rows() {
        let text = render(&result(), true);
        let moreau = text.lines().find(|line| line.contains("Moreau"));
        let cells: Vec<_> = moreau.unwrap().split(" | ").collect();
        assert_eq!((cells[2], cells[4], cells[9]), ("1.00", "0.500", "100"));
        assert!(!text.contains("settled"));
        assert!(!text.contains(SINKING));
    }

    #[test]
    fn columns_are_aligned() {
        let text = render(&result(), false);
        let lengths: Vec<_> = text.lines().skip(1).map(|l| l.chars().count()).collect();
        assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
    }
}
