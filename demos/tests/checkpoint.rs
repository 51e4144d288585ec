//! `moreau run --checkpoint` and `--resume` from outside: whatever ends a run, the file goes on to the bits of one that was not interrupted.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

use moreau::scene::Lcg;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::{code, moreau, stderr, stdout};

/// With an emitter, so that random numbers and waiting bodies are a part of it.
const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/funnel.toml");

fn path(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What an earlier run of the tests left.
    let _ = std::fs::remove_file(&path);
    path
}

fn summary(arguments: &[&str]) -> Value {
    let output = moreau(&[&["run"], arguments, &["--log", "jsonl"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    last["summary"].clone()
}

fn hash(arguments: &[&str]) -> String {
    summary(arguments)["hash"].as_str().unwrap().to_owned()
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_moreau"))
        .arg("run")
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// The run has begun, since its first snapshot is there.
fn wait_for(file: &Path) {
    let begin = Instant::now();
    while !file.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no snapshot");
        sleep(Duration::from_millis(2));
    }
}

#[test]
fn signals_write_a_last_snapshot_from_which_the_run_goes_on() {
    let expected = hash(&[SCENE, "--steps", "500"]);
    for (name, exit) in [("-INT", 130), ("-TERM", 143)] {
        let file = path(&format!("signal{name}.snapshot"));
        let text = file.to_str().unwrap();
        // Far more steps than it gets to make.
        let child = start(&[SCENE, "--steps", "1000000", "--checkpoint", text]);
        wait_for(&file);
        sleep(Duration::from_millis(100));
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), exit);
        let last = stderr(&output).lines().last().unwrap().to_owned();
        assert!(last.contains("stopped after step"), "{last}");
        assert!(
            last.contains(&format!("moreau run --resume {text}")),
            "{last}"
        );
        let step = last.split("step ").nth(1).unwrap();
        let step: u64 = step.split(',').next().unwrap().parse().unwrap();
        if step < 500 {
            assert_eq!(hash(&["--resume", text, "--steps", "500"]), expected);
        }
    }
}

/// A run that is killed again and again, and goes on each time from what is there.
fn survive(kills: u32, name: &str, steps: &str, patience: f64) {
    let expected = hash(&[SCENE, "--steps", steps]);
    let file = path(name);
    let text = file.to_str().unwrap();
    let mut random = Lcg::new(11);
    let mut made = 0;
    let begin = ["--checkpoint", text, "--every", "1", "--threads", "1"];
    let mut run = start(&[&[SCENE, "--steps", steps], &begin[..]].concat());
    wait_for(&file);
    while made < kills {
        sleep(Duration::from_secs_f64(patience * random.uniform()));
        // SIGKILL. It may have come to the end before.
        let _ = run.kill();
        run.wait().unwrap();
        made += 1;
        let snapshot = moreau::Snapshot::read(&file).unwrap();
        let end: u64 = steps.parse().unwrap();
        if snapshot.step() == end {
            std::fs::remove_file(&file).unwrap();
            run = start(&[&[SCENE, "--steps", steps], &begin[..]].concat());
            wait_for(&file);
        } else {
            run = start(&[&["--resume", text], &begin[..]].concat());
        }
    }
    let _ = run.kill();
    run.wait().unwrap();
    let snapshot = moreau::Snapshot::read(&file).unwrap();
    let left = snapshot.step().to_string() != steps;
    if left {
        assert_eq!(hash(&["--resume", text]), expected);
    }
}

#[test]
fn kills_at_random_moments_lose_nothing() {
    survive(12, "kills.snapshot", "400", 0.08);
}

#[test]
#[ignore = "a thousand kills take minutes"]
fn a_thousand_kills_at_random_moments_lose_nothing() {
    survive(1000, "thousand.snapshot", "4000", 0.15);
}

#[test]
fn a_run_in_parts_is_the_run_as_a_whole() {
    let expected = hash(&[SCENE, "--time", "1.5"]);
    let file = path("parts.snapshot");
    let text = file.to_str().unwrap();
    assert_eq!(
        summary(&[SCENE, "--time", "0.5", "--checkpoint", text])["steps"],
        100
    );
    // The time is that of the scene, not one from here on.
    let rest = ["--resume", text, "--time", "1.5"];
    let second = summary(&rest);
    assert_eq!(
        (second["steps"].as_u64(), second["hash"].as_str()),
        (Some(200), Some(&expected[..]))
    );
    let over = moreau(&["run", "--resume", text]);
    assert_eq!(code(&over), 2);
    assert!(stderr(&over).contains("100 steps are made, and the run ends after 100"));
    let state = path("parts.json");
    let state = state.to_str().unwrap();
    hash(&[&rest[..], &["--state", state]].concat());
    let resumed = std::fs::read_to_string(state).unwrap();
    hash(&[SCENE, "--time", "1.5", "--state", state]);
    assert_eq!(std::fs::read_to_string(state).unwrap(), resumed);
}

#[test]
fn what_cannot_be_resumed_is_named() {
    let refused = |arguments: &[&str], parts: &[&str]| {
        let output = moreau(&[&["run"], arguments].concat());
        let text = stderr(&output);
        assert_eq!(code(&output), 2, "{text}");
        for part in parts {
            assert!(text.contains(part), "{text}");
        }
    };
    refused(
        &["--resume", "no.snapshot"],
        &["no.snapshot", "cannot read"],
    );
    refused(&["--resume", SCENE], &["funnel.toml", "not a snapshot"]);
    refused(&["--resume", "x", "--dt", "0.1"], &["cannot be used with"]);
    refused(&["stack", "--every", "3"], &["--checkpoint"]);
    refused(
        &["stack", "--checkpoint", "/no/such/folder/x"],
        &["/no/such/folder/x"],
    );
    let world = path("world.snapshot");
    let simulation = moreau::Simulation::new(moreau::Settings::default()).unwrap();
    simulation.snapshot().unwrap().write(&world).unwrap();
    let world = world.to_str().unwrap();
    refused(
        &["--resume", world],
        &["world.snapshot", "without the scene"],
    );
}
