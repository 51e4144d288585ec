//! `moreau bench` from outside: its tables hold every scene and a residual beside every time.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

use support::{code, moreau, stderr, stdout};

/// Cells of the Markdown table below `heading`, head first.
fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let start = text.find(&format!("\n## {heading}\n")).unwrap();
    let lines = text[start..].lines().skip(2);
    lines
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .filter(|line| !line.starts_with("|---"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim))
        .map(|cells| cells.map(str::to_owned).collect())
        .collect()
}

/// The numbers of a column, one a row.
fn column(table: &[Vec<String>], head: &str) -> Vec<f64> {
    let place = table[0].iter().position(|cell| cell == head);
    let place = place.unwrap_or_else(|| unreachable!("no column {head} in {:?}", table[0]));
    let number = |row: &Vec<String>| row[place].replace('\u{202f}', "").parse().unwrap();
    table[1..].iter().map(number).collect()
}

#[test]
fn tables_hold_every_scene_with_a_residual_beside_every_time() {
    let short = [
        "--quick", "--sizes", "1000", "--steps", "4", "--tol", "1e-4",
    ];
    let output = moreau(&[&["bench", "--markdown", "--threads", "2"], &short[..]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert!(text.starts_with("Moreau ") && text.contains("timed on 1 and 2 threads"));
    let granular = table(&text, "Granular");
    let structures = table(&text, "Structures");
    for (table, scenes) in [
        (&granular, &["sphere_pour:n=1000"][..]),
        (
            &structures,
            &["box_pyramid:n=20", "box_pyramid:n=40", "wall_20x20"],
        ),
    ] {
        for scene in scenes {
            assert!(table.iter().any(|row| row[0] == *scene), "{scene}\n{text}");
        }
        assert!(column(table, "step ms").iter().all(|ms| *ms > 0.0));
        assert!(column(table, "contacts").iter().all(|n| *n > 100.0));
        for (e, tolerance) in column(table, "worst e")
            .iter()
            .zip(column(table, "tolerance"))
        {
            // Two digits are printed.
            assert!((0.0..=1.05 * tolerance).contains(e), "{e}\n{text}");
        }
        for part in ["detect", "assemble", "solve", "update"] {
            assert!(column(table, part).iter().all(|ms| *ms >= 0.0), "{part}");
        }
    }
    // Two numbers of threads; moving and settled.
    assert_eq!(granular.len(), 1 + 2 * 2, "{text}");
    assert_eq!(structures.len(), 1 + 3 * 2, "{text}");
    let sinking = column(&structures, "sinking mm");
    assert!(sinking.iter().all(|mm| mm.abs() < 1.0), "{text}");
    let sweeps = table(&text, "Sweeps");
    assert_eq!(sweeps.len(), 1 + 2 * 2, "{text}");
    assert!(column(&sweeps, "ns").iter().all(|ns| *ns > 0.0), "{text}");
    assert!(column(&sweeps, "e").iter().all(|e| *e < 1e-2), "{text}");
    let bandwidth = table(&text, "Memory bandwidth");
    assert!(column(&bandwidth, "GB/s").iter().all(|speed| *speed > 0.1));
}

#[test]
fn tasks_stand_beside_what_was_published() {
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/simbench.csv");
    let options = [
        "--quick",
        "--markdown",
        "--tasks",
        "bouncing",
        "--csv",
        file,
    ];
    let output = moreau(&[&["bench", "simbench"], &options[..]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let rows = table(&text, "bouncing, J²");
    assert_eq!(rows[0][..3], ["h, s", "Moreau", "Moreau, forecast"]);
    assert_eq!(column(&rows, "h, s"), [0.1, 0.04, 0.01, 0.004, 0.001]);
    let raisim = rows[0].iter().position(|head| head == "RaiSim").unwrap();
    assert_eq!(rows[5][raisim], "1.9e-2 / 0.235");
    let csv = std::fs::read_to_string(file).unwrap();
    // Five time steps by two rules.
    assert_eq!(csv.lines().count(), 1 + 5 * 2, "{csv}");
    let columns = |line: &str| line.split(',').count();
    assert!(csv.lines().all(|line| columns(line) == 10), "{csv}");

    let output = moreau(&["bench", "simbench", "--tasks", "anymal"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("elastic-666"));
}

#[test]
fn piles_have_a_residual_and_an_overlap_beside_every_time() {
    let scene = "pile:shape=cyl,n=4";
    let options = ["--steps", "60", "--tol", "1e-3", "--markdown"];
    let output = moreau(&[&["bench", "piles", scene], &options[..]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // The only table.
    let text = format!("\n## piles\n{}", stdout(&output));
    let rows = table(&text, "piles");
    assert_eq!(rows.len(), 2, "{text}");
    assert_eq!(column(&rows, "steps"), [60.0]);
    assert!(column(&rows, "worst")[0] >= column(&rows, "mean")[0]);
    assert!(column(&rows, "worst e")[0] <= 1.05e-3);
    assert!(column(&rows, "deepest mm")[0] < 5.0, "{text}");

    let output = moreau(&["bench", "piles", "pile:shape=gravel"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("hulls40"), "{}", stderr(&output));
}

#[test]
fn machines_have_residuals_and_open_joints_beside_every_time() {
    let scenes = ["gripper", "quadruped:n=2,gait=0", "arm-in-pile:n=20"];
    let options = [
        "--steps",
        "40",
        "--tol",
        "1e-6",
        "--threads",
        "2",
        "--markdown",
    ];
    let output = moreau(&[&["bench", "machines"], &scenes[..], &options[..]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = format!("\n## machines\n{}", stdout(&output));
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let rows = table(&text, "machines");
    // One thread and two.
    assert_eq!(rows.len(), 1 + 2 * scenes.len(), "{text}");
    assert_eq!(column(&rows, "threads"), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    assert_eq!(column(&rows, "joints"), [3.0, 3.0, 16.0, 16.0, 6.0, 6.0]);
    // The first step after each change is not timed.
    assert!(
        column(&rows, "steps")
            .iter()
            .all(|n| (30.0..=40.0).contains(n))
    );
    let (mean, worst) = (column(&rows, "mean µs"), column(&rows, "worst µs"));
    assert!(
        mean.iter()
            .zip(&worst)
            .all(|(mean, worst)| 0.0 < *mean && mean <= worst)
    );
    assert!(
        column(&rows, "worst e").iter().all(|e| *e <= 1.05e-6),
        "{text}"
    );
    for (of, bound) in [("open", 1e-12), ("opening", 1e-10), ("efforts", 1e-6)] {
        assert!(
            column(&rows, of).iter().all(|x| *x <= bound),
            "{of}: {text}"
        );
    }

    let output = moreau(&["bench", "machines", "net:n=1"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("n is 1"), "{}", stderr(&output));
}

#[test]
fn wrong_sizes_are_refused_before_anything_is_measured() {
    for (arguments, part) in [
        (
            &["--sizes", "500"][..],
            "n is 500, expected one of 1000, 8000",
        ),
        (&["--quick", "--million"], "cannot be used with"),
        (&["--steps", "3"], "--steps"),
        (&["--tol", "0"], "expected a number > 0"),
    ] {
        let output = moreau(&[&["bench"], arguments].concat());
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
        assert!(stdout(&output).is_empty());
    }
}
