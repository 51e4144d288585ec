//! `moreau solve`, `verify`, `bench solvers` and `run --fclib` from outside, on problems that the
//! engine made.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

use moreau_demos::{ProblemFile, solver_choice, step_file};
use moreau_solvers::fclib::{FclibFile, FclibProblem, FclibVectors};
use moreau_solvers::law::RollingCoulomb;
use moreau_solvers::{GlobalProblem, Law, SparseMatrix};
use serde_json::Value;
use std::path::{Path, PathBuf};
use support::{code, moreau, stderr, stdout};

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn json_lines(output: &std::process::Output) -> Vec<Value> {
    let lines = stdout(output);
    lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

/// The first step of a scene, with its solution.
fn step(scene: &str) -> FclibFile {
    let mut run = moreau_demos::built_in(scene).unwrap().start().unwrap();
    let report = run.step().unwrap();
    step_file(&run.simulation, scene, &report).unwrap()
}

/// A body of 2 kg that slides on a plane, in global form, without a solution.
fn global() -> FclibFile {
    let identity = |value: f64| {
        let entries = (0..3).map(|i| (i, i, value));
        SparseMatrix::from_triplets(3, 3, entries.collect::<Vec<_>>()).unwrap()
    };
    FclibFile::new(FclibProblem::Global(GlobalProblem {
        mass: identity(2.0),
        kinematic: identity(1.0),
        force: vec![-2.0, 3.0, 0.0],
        offset: vec![0.0; 3],
        laws: vec![Law::coulomb(0.5)],
    }))
}

const KEYS: [&str; 13] = [
    "file",
    "contacts",
    "blocks",
    "solver",
    "converged",
    "status",
    "e_scaled",
    "e_fclib",
    "seconds",
    "iterations",
    "factorizations",
    "path",
    "seconds_condense",
];

#[test]
fn solve_takes_files_and_folders_and_gives_one_object_each() {
    let dir = folder("solve");
    step("stack:n=3").write(dir.join("b.hdf5")).unwrap();
    global().write(dir.join("a.hdf5")).unwrap();
    std::fs::write(dir.join("note.txt"), "no problem").unwrap();
    for solver in solver_choice::list() {
        let output = moreau(&["solve", text(&dir), "--solver", solver.name, "--json"]);
        // A stack is hyperstatic, and there Newton without proximal term meets singular matrices.
        let may_fail = solver.name == "alart-curnier-newton";
        let objects = json_lines(&output);
        assert_eq!(objects.len(), 2);
        let all = objects.iter().all(|object| object["converged"] == true);
        assert!(all || may_fail, "{}", stderr(&output));
        assert_eq!(
            code(&output),
            if all { 0 } else { 3 },
            "{}",
            stderr(&output)
        );
        for (object, name) in objects.iter().zip(["a.hdf5", "b.hdf5"]) {
            for key in KEYS {
                assert!(!object[key].is_null(), "{key}: {object}");
            }
            assert!(object["file"].as_str().unwrap().ends_with(name));
            assert_eq!(object["solver"], solver.name);
            let residuals = ["e_scaled", "e_fclib"].map(|key| object[key].as_f64().unwrap());
            let reached = residuals.iter().all(|e| *e <= 1e-8);
            assert_eq!(object["converged"], reached);
            assert_eq!(object["status"] == "converged", reached);
        }
        assert_eq!(objects[0]["contacts"], 1);
        assert!(objects[0]["seconds_condense"].as_f64().unwrap() > 0.0);
        assert_eq!(objects[1]["seconds_condense"], 0.0);
    }
    // For people: a table that ends with what was reached.
    let output = moreau(&["solve", text(&dir)]);
    assert_eq!(code(&output), 0);
    let table = stdout(&output);
    for part in [
        "a.hdf5",
        "b.hdf5",
        "2 of 2 solved to e_scaled and e_fclib ≤ 1.0e-8 by auto",
    ] {
        assert!(table.contains(part), "{part}\n{table}");
    }
}

#[test]
fn the_residual_asked_for_is_the_one_reached() {
    let dir = folder("kinds");
    let file = dir.join("p.hdf5");
    step("pyramid:n=5").write(&file).unwrap();
    for kind in ["scaled", "fclib"] {
        let arguments = [
            "solve",
            text(&file),
            "--residual",
            kind,
            "--tol",
            "1e-5",
            "--json",
        ];
        let output = moreau(&arguments);
        assert_eq!(code(&output), 0);
        let reached = &json_lines(&output)[0][format!("e_{kind}")];
        assert!(reached.as_f64().unwrap() <= 1e-5, "{reached}");
    }
}

#[test]
fn a_solution_that_was_written_is_verified_and_a_wrong_one_is_not() {
    let (dir, out) = (folder("solutions"), folder("solutions_out"));
    let mut bare = step("stack:n=4");
    bare.solution = None;
    bare.write(dir.join("local.hdf5")).unwrap();
    global().write(dir.join("global.hdf5")).unwrap();
    let without = moreau(&["verify", text(&dir)]);
    assert_eq!(code(&without), 1);
    assert!(
        stdout(&without).contains("no solution"),
        "{}",
        stdout(&without)
    );

    let output = moreau(&["solve", text(&dir), "--write-solution", text(&out)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let verified = moreau(&["verify", text(&out), "--tol", "1e-8", "--json"]);
    assert_eq!(code(&verified), 0, "{}", stdout(&verified));
    let objects = json_lines(&verified);
    assert!(objects[0]["balance_error"].as_f64().unwrap() < 1e-14);
    assert!(objects[1]["balance_error"].is_null());
    assert!(objects.iter().all(|object| object["velocity_error"] == 0.0));
    // It slides: r = (2, −1, 0), v = (0, 1, 0).
    let solved = FclibFile::read(out.join("global.hdf5"))
        .unwrap()
        .solution
        .unwrap();
    for (found, expected) in solved.r.iter().zip([2.0, -1.0, 0.0]) {
        assert!((found - expected).abs() < 1e-7, "{:?}", solved.r);
    }
    assert!((solved.v.unwrap()[1] - 1.0).abs() < 1e-7);

    let spoil = |name: &str, spoil: fn(&mut FclibVectors)| {
        let path = out.join(name);
        let mut file = FclibFile::read(&path).unwrap();
        spoil(file.solution.as_mut().unwrap());
        let spoilt = dir.join("spoilt.hdf5");
        file.write(&spoilt).unwrap();
        let output = moreau(&["verify", text(&spoilt), "--tol", "1e-6"]);
        assert_eq!(code(&output), 1, "{}", stdout(&output));
        // Without a tolerance there is nothing to fail.
        assert_eq!(code(&moreau(&["verify", text(&spoilt)])), 0);
    };
    spoil("local.hdf5", |solution| solution.r[0] *= 1.001);
    spoil("local.hdf5", |solution| solution.u[1] += 1e-3);
    spoil("global.hdf5", |solution| {
        solution.v.as_mut().unwrap()[0] = 1e-3
    });
}

/// A contact of another law, in global form with `M = 2` and `H = 1`: it closes with 1 m/s.
fn other_global(law: Law, force: &[f64]) -> FclibFile {
    let n = force.len();
    let identity = |value: f64| {
        let entries = (0..n).map(|i| (i, i, value));
        SparseMatrix::from_triplets(n, n, entries.collect::<Vec<_>>()).unwrap()
    };
    FclibFile::new(FclibProblem::Global(GlobalProblem {
        mass: identity(2.0),
        kinematic: identity(1.0),
        force: force.to_vec(),
        offset: vec![0.0; n],
        laws: vec![law],
    }))
}

#[test]
fn problems_in_the_plane_and_with_rolling_resistance_are_solved_and_verified() {
    let (dir, out) = (folder("laws"), folder("laws_out"));
    let rolling = Law::Rolling(RollingCoulomb {
        friction: 0.5,
        rolling: 0.1,
        spinning: None,
    });
    // It slides and rolls: both rows end at their bounds, 0.5 and 0.1 of the normal impulse 2.
    let force = [-2.0, 3.0, 0.0, 0.0, -1.0];
    let file = other_global(rolling, &force);
    file.write(dir.join("rolling.hdf5")).unwrap();
    let plane = other_global(Law::planar(0.5), &[-2.0, -3.0]);
    plane.write(dir.join("plane.hdf5")).unwrap();
    for solver in solver_choice::list() {
        let output = moreau(&["solve", text(&dir), "--solver", solver.name, "--json"]);
        let objects = json_lines(&output);
        assert_eq!(objects[0]["converged"], true, "{}", stderr(&output));
        assert_eq!(
            (&objects[0]["contacts"], &objects[0]["blocks"]),
            (&1.into(), &1.into())
        );
        if solver.name == "alart-curnier-newton" {
            // It does not know rolling resistance, and says so.
            assert_eq!(code(&output), 2);
            assert!(
                stderr(&output).contains("does not support"),
                "{}",
                stderr(&output)
            );
            continue;
        }
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(objects[1]["converged"], true);
        assert_eq!(
            (&objects[1]["contacts"], &objects[1]["blocks"]),
            (&1.into(), &1.into())
        );
    }
    let output = moreau(&["solve", text(&dir), "--write-solution", text(&out)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let verified = moreau(&["verify", text(&out), "--tol", "1e-8"]);
    assert_eq!(code(&verified), 0, "{}", stdout(&verified));
    let solved = |name: &str| FclibFile::read(out.join(name)).unwrap().solution.unwrap();
    let answers: [(FclibVectors, &[f64]); 2] = [
        (solved("rolling.hdf5"), &[2.0, -1.0, 0.0, 0.0, 0.2]),
        (solved("plane.hdf5"), &[2.0, 1.0]),
    ];
    for (solution, expected) in answers {
        assert_eq!(solution.r.len(), expected.len());
        for (found, expected) in solution.r.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-7, "{:?}", solution.r);
        }
    }
}

#[test]
fn a_goal_out_of_reach_is_code_3_and_a_bad_file_code_2() {
    let dir = folder("codes");
    let good = dir.join("good.hdf5");
    step("stack:n=6").write(&good).unwrap();
    let missed = moreau(&[
        "solve",
        text(&good),
        "--tol",
        "1e-300",
        "--max-seconds",
        "0.05",
    ]);
    assert_eq!(code(&missed), 3);
    assert!(
        stderr(&missed).contains("1 of 1 problems did not reach e_scaled and e_fclib ≤ 1e-300"),
        "{}",
        stderr(&missed)
    );
    // The bad ones are named, the good one is solved.
    let bad = dir.join("bad.hdf5");
    std::fs::write(&bad, "no HDF5").unwrap();
    let missing = dir.join("missing.hdf5");
    let files = [text(&bad), text(&missing), text(&good)];
    for command in ["solve", "verify"] {
        let output = moreau(&[&[command], &files[..], &["--json"]].concat());
        assert_eq!(code(&output), 2);
        let said = stderr(&output);
        for part in [
            "bad.hdf5: ",
            "missing.hdf5: ",
            "2 of 3 files cannot be used",
        ] {
            assert!(said.contains(part), "{part}\n{said}");
        }
        assert_eq!(json_lines(&output).len(), 1);
    }
    for (arguments, part) in [
        (&["solve"][..], "FILE"),
        (
            &["solve", text(&good), "--solver", "magic"],
            "proximal-newton-cone",
        ),
        (
            &["solve", text(&good), "--tol", "0"],
            "expected a number > 0",
        ),
        (&["solve", env!("CARGO_MANIFEST_DIR")], "has no file *.hdf5"),
        (
            &["bench", "solvers", env!("CARGO_MANIFEST_DIR")],
            "has no file *.hdf5",
        ),
        (&["run", "stack", "--fclib-every", "2"], "--fclib"),
    ] {
        let output = moreau(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(
            stderr(&output).contains(part),
            "{part}\n{}",
            stderr(&output)
        );
    }
}

#[test]
fn an_input_is_never_overwritten() {
    let (dir, other) = (folder("inputs"), folder("inputs_other"));
    let file = dir.join("p.hdf5");
    step("stack:n=2").write(&file).unwrap();
    let before = std::fs::read(&file).unwrap();
    std::fs::copy(&file, other.join("p.hdf5")).unwrap();
    let around = dir.join(".").join("..").join("inputs");
    for arguments in [
        vec![text(&file), "--write-solution", text(&dir)],
        vec![text(&file), "--write-solution", text(&around)],
        // Two of one name, into a third folder.
        vec![
            text(&dir),
            text(&other),
            "--write-solution",
            env!("CARGO_TARGET_TMPDIR"),
        ],
    ] {
        let output = moreau(&[vec!["solve"], arguments].concat());
        assert_eq!(code(&output), 2);
        assert!(
            stderr(&output).contains("would be overwritten"),
            "{}",
            stderr(&output)
        );
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
}

#[test]
fn a_solution_has_the_same_bits_on_any_number_of_threads() {
    let dir = folder("threads");
    let file = dir.join("p.hdf5");
    step("wall:nx=5,ny=5").write(&file).unwrap();
    let bytes = ["1", "2", "3"].map(|threads| {
        let out = dir.join(threads);
        let options = ["--threads", threads, "--write-solution", text(&out)];
        let output = moreau(&[&["solve", text(&file)], &options[..]].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        std::fs::read(out.join("p.hdf5")).unwrap()
    });
    assert!(bytes.iter().all(|b| *b == bytes[0]));
}

#[test]
fn a_warm_start_from_the_solution_needs_no_sweep() {
    let dir = folder("warm");
    let mut file = step("stack:n=8");
    file.guesses.extend(file.solution.clone());
    file.write(dir.join("p.hdf5")).unwrap();
    let iterations = |extra: &[&str]| {
        let common = [
            "solve",
            text(&dir),
            "--residual",
            "scaled",
            "--tol",
            "2e-5",
            "--json",
        ];
        let output = moreau(&[&common, extra].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        json_lines(&output)[0]["iterations"].as_u64().unwrap()
    };
    let (cold, warm) = (iterations(&[]), iterations(&["--warm-start"]));
    assert!(warm <= 2 && cold > 2, "{warm} {cold}");
}

#[test]
fn steps_are_written_with_the_residual_of_their_report_and_solved_again() {
    let dir = folder("steps");
    let run = ["run", "pyramid:n=4", "--steps", "6", "--log", "jsonl"];
    let output = moreau(&[&run[..], &["--fclib", text(&dir)]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let reports = json_lines(&output);
    for (index, report) in reports[..6].iter().enumerate() {
        let name = format!("pyramid-n=4-{:06}.hdf5", index + 1);
        let problem = ProblemFile::read(&dir.join(name)).unwrap();
        assert_eq!(report["contacts"], problem.contacts());
        let found = problem.verify().unwrap().residual;
        for (key, e) in [("e_scaled", found.scaled), ("e_fclib", found.fclib)] {
            let expected = report[key].as_f64().unwrap();
            assert!(
                (e - expected).abs() <= 1e-9 * expected + 1e-13,
                "{key}: {e} {expected}"
            );
        }
    }
    let solved = moreau(&["solve", text(&dir), "--tol", "1e-6", "--json"]);
    assert_eq!(code(&solved), 0, "{}", stderr(&solved));
    assert_eq!(json_lines(&solved).len(), 6);
    // The state is the same as without files.
    let plain = json_lines(&moreau(&run));
    assert_eq!(plain[6]["summary"]["hash"], reports[6]["summary"]["hash"]);
}

#[test]
fn only_the_steps_asked_for_are_written() {
    let count = |name: &str, scene: &str, extra: &[&str]| {
        let dir = folder(name);
        let run = ["run", scene, "--steps", "4", "--log", "jsonl"];
        let output = moreau(&[&run[..], &["--fclib", text(&dir)], extra].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let reports = json_lines(&output);
        let missed = reports.iter().filter(|report| report["converged"] == false);
        (std::fs::read_dir(&dir).unwrap().count(), missed.count())
    };
    let stack = "stack:n=3";
    assert_eq!(count("every_third", stack, &["--fclib-every", "3"]).0, 1);
    let unconverged = ["--fclib-when", "unconverged"];
    assert_eq!(count("unconverged", stack, &unconverged), (0, 0));
    let tight = [&unconverged[..], &["--tol", "1e-300"]].concat();
    let (written, missed) = count("tight", "mass-ratio:n=4", &tight);
    assert!(written == missed && missed > 0, "{written} {missed}");
    let both = [&tight[..], &["--fclib-every", "2"]].concat();
    assert!(count("tight_every_second", "mass-ratio:n=4", &both).0 < missed);
}

#[test]
fn solvers_are_compared_in_tables_and_profiles() {
    let (dir, out) = (folder("bench"), folder("bench_out"));
    step("stack:n=2").write(dir.join("a.hdf5")).unwrap();
    global().write(dir.join("b.hdf5")).unwrap();
    let solvers = ["--solvers", "auto,nsgs", "--max-seconds", "5"];
    let output = moreau(
        &[
            &["bench", "solvers", text(&dir), "--out", text(&out)],
            &solvers[..],
        ]
        .concat(),
    );
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let summary = stdout(&output);
    assert!(
        summary.contains("2 problems, e_scaled and e_fclib ≤ 1e-8"),
        "{summary}"
    );
    assert!(
        summary.contains("| auto | 2 |") && summary.contains("| nsgs | 2 |"),
        "{summary}"
    );
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    for name in ["profile-1e-4.svg", "profile-1e-8.svg"] {
        let svg = read(name);
        assert!(
            svg.contains(">auto<") && svg.contains("2 problems"),
            "{svg}"
        );
    }
    assert_eq!(read("table.csv").lines().count(), 1 + 2 * 2 * 2);
    assert!(
        read("table.md").contains("| a.hdf5 | 8 |"),
        "{}",
        read("table.md")
    );
    // Files are only written where asked.
    let plain = moreau(&[
        "bench",
        "solvers",
        text(&dir),
        "--tol",
        "1e-4",
        "--solvers",
        "auto",
    ]);
    assert_eq!(code(&plain), 0);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
}

/// A text file of a linear complementarity problem: every method made for it, its solution written and verified.
#[test]
fn a_linear_complementarity_problem_is_solved_by_every_method_for_it() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/problems/two_rows.lcp");
    for solver in solver_choice::list_for_boxes() {
        let output = moreau(&["solve", file, "--solver", solver.name, "--json"]);
        assert_eq!(code(&output), 0, "{}: {}", solver.name, stderr(&output));
        let line = &json_lines(&output)[0];
        assert_eq!(line["solver"], solver.name);
        assert_eq!(line["status"], "converged");
    }
    let folder = folder("lcp");
    let output = moreau(&["solve", file, "--json", "--write-solution", text(&folder)]);
    let line = &json_lines(&output)[0];
    assert_eq!(line["solver"], "lcp-auto");
    assert_eq!(line["methods"][0], "Lemke's method");
    let written = folder.join("two_rows.lcp");
    let output = moreau(&["verify", text(&written), "--tol", "1e-12"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let boxes = concat!(env!("CARGO_MANIFEST_DIR"), "/problems/boxes.lcp");
    let output = moreau(&["verify", boxes, "--tol", "1e-12"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn a_bad_file_of_a_linear_complementarity_problem_is_named_with_its_line() {
    let path = folder("bad_lcp").join("bad.lcp");
    std::fs::write(&path, "moreau-lcp 1\nn 1\nM 1\nq nan\n").unwrap();
    let output = moreau(&["solve", text(&path)]);
    assert_ne!(code(&output), 0);
    let told = stderr(&output);
    assert!(
        told.contains("bad.lcp: line 4: q: found \"nan\", expected a finite number"),
        "{told}"
    );
}
