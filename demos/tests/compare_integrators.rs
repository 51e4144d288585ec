//! `moreau compare-integrators` from outside, and the orders of its scenes.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

use moreau_demos::systems::comparison::{Compared, compare, steps_per_sample};
use moreau_demos::systems::method::Method;
use moreau_demos::systems::{self, find};
use serde_json::Value;
use support::{code, moreau, stderr, stdout};

/// A scene under all integrators with steps of `h`, s.
fn all(spec: &str, h: &[f64]) -> Vec<Compared> {
    let chosen = find(spec).unwrap();
    let counts: Vec<_> = h
        .iter()
        .map(|h| steps_per_sample(&chosen, *h).unwrap())
        .collect();
    let methods = Method::all().into_iter();
    methods
        .map(|method| compare(&chosen, method, &counts))
        .collect()
}

fn orders(spec: &str, h: &[f64]) -> Vec<(&'static str, f64)> {
    let compared = all(spec, h);
    for one in &compared {
        for row in one.outcome.iter().flatten() {
            assert_eq!(row.trial.unsolved, 0, "{spec} {}", one.method.name);
        }
    }
    let found = compared
        .iter()
        .filter_map(|one| Some((one.method.name, one.order()?)));
    found.collect()
}

/// An impact falls anywhere in a step: over a factor of 64 that evens out.
#[test]
fn time_stepping_is_of_first_order_with_impacts() {
    for scene in ["bouncing-ball", "impact-chain:n=3"] {
        let found = orders(scene, &[1e-2, 2.5e-3, 6.25e-4, 1.5625e-4]);
        assert_eq!(found.len(), 6, "{scene}: {found:?}");
        for (name, order) in found {
            assert!((order - 1.0).abs() < 0.25, "{scene}, {name}: {order}");
        }
    }
}

/// A relay switches anywhere in a step: first order, with what evens out over a factor of 8.
#[test]
fn time_stepping_is_of_first_order_with_dry_friction() {
    let found = orders("friction-oscillator", &[4e-2, 2e-2, 1e-2, 5e-3]);
    assert_eq!(found.len(), 8, "{found:?}");
    for (name, order) in found {
        let off = if name.ends_with("θ=1") { 0.1 } else { 0.4 };
        assert!((order - 1.0).abs() < off, "{name}: {order}");
    }
}

/// The bridge has no jump of a state: with the law at the middle of the step the order is 2, with implicit multipliers 1.
#[test]
fn a_circuit_has_the_order_of_its_multipliers() {
    let found = orders("diode-bridge", &[5e-6, 2.5e-6, 1.25e-6]);
    let expected = [
        ("euler-moreau θ=½", 1.0),
        ("euler-moreau θ=1", 1.0),
        ("euler-moreau θ=γ=½", 2.0),
        ("zero-order-hold", 1.0),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((name, order), (of, theory)) in found.into_iter().zip(expected) {
        assert_eq!(name, of);
        assert!((order - theory).abs() < 0.2, "{name}: {order}");
    }
}

/// The switch of the converter comes into its mode anywhere in a step, which is an error of `h²` once, as the state has no jump; in the mode and before, the order is that of `θ`, and zero-order hold is exact. There is no
/// chattering, which would leave an error of first order.
#[test]
fn a_sliding_mode_has_the_order_of_its_theta() {
    let found = orders("buck-converter", &[1e-4, 2.5e-5, 6.25e-6]);
    let names: Vec<_> = found.iter().map(|(name, _)| *name).collect();
    let expected = [
        "euler-moreau θ=½",
        "euler-moreau θ=1",
        "euler-moreau θ=γ=½",
        "zero-order-hold",
    ];
    assert_eq!(names, expected);
    for (name, order) in found {
        let (theory, off) = if name.ends_with("θ=1") {
            (1.0, 0.1)
        } else {
            (2.0, 0.4)
        };
        assert!((order - theory).abs() < off, "{name}: {order}");
    }
}

/// Springs that push begin and end to act without a jump of a force. Multipliers at the end of the step are of first order, those in its middle of second.
#[test]
fn one_sided_springs_have_the_order_of_their_multipliers() {
    let found = orders("spring-chain:n=3", &[1e-3, 5e-4, 2.5e-4]);
    assert!(found.len() >= 6, "{found:?}");
    for (name, order) in found {
        let theory = if name == "euler-moreau θ=γ=½" {
            2.0
        } else {
            1.0
        };
        assert!((order - theory).abs() < 0.3, "{name}: {order}");
    }
}

/// Event-driven integration is exact but for rounding and its tolerance.
#[test]
fn event_driven_integration_is_exact() {
    for (scene, h) in [
        ("bouncing-ball", 1e-2),
        ("buck-converter", 1e-4),
        ("friction-oscillator", 1e-2),
        ("impact-chain:n=3", 1e-2),
    ] {
        let compared = all(scene, &[h]);
        let last = compared.last().unwrap();
        assert_eq!(last.method.name, "event-driven");
        let rows = last.outcome.as_ref().unwrap();
        assert!(rows[0].error < 1e-8, "{scene}: {:e}", rows[0].error);
    }
}

#[test]
fn a_row_or_a_reason_for_every_integrator() {
    for scene in systems::list() {
        let h = scene.steps[0];
        let arguments = ["compare-integrators", scene.name, "--h", &h.to_string()];
        let output = moreau(&arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        for method in Method::all() {
            let lines = text
                .lines()
                .filter(|line| line.trim_start().starts_with(method.name));
            assert_eq!(lines.count(), 1, "{} {}\n{text}", scene.name, method.name);
        }
        assert!(text.contains("against"), "{text}");
    }
}

/// One integrator alone prints what it does: the ball at rest on the floor is there in every scheme that has impacts.
#[test]
fn one_integrator_prints_its_states() {
    for id in ["moreau-jean", "moreau-jean-combined", "event-driven"] {
        let scene = ["compare-integrators", "bouncing-ball:e=0", "--h", "1e-3"];
        let output = moreau(&[&scene[..], &["--integrator", id, "--json"]].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        assert_eq!(text.lines().count(), 50, "{text}");
        let last = text.lines().last().unwrap();
        assert!(last.contains(id) && last.contains("\"time\":3.0"), "{last}");
        let (_, values) = last.split_once("\"values\":[").unwrap();
        let height: f64 = values.split(']').next().unwrap().parse().unwrap();
        assert!(height.abs() < 1e-2, "{id}: {height}");
        let output = moreau(&[&scene[..], &["--integrator", id]].concat());
        assert!(stdout(&output).lines().count() > 50);
    }
    let output = moreau(&[
        "compare-integrators",
        "bouncing-ball",
        "--integrator",
        "newmark",
    ]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("event-driven"));
}

/// The relative degree of a gap under a force is 2: a first-order scheme says so.
#[test]
fn a_relative_degree_that_is_too_high_is_said() {
    let text = stdout(&moreau(&[
        "compare-integrators",
        "bouncing-ball",
        "--h",
        "1e-2",
    ]));
    assert!(text.contains("not for this scene"), "{text}");
    assert!(
        text.contains("the relative degree is 2, expected at most 1"),
        "{text}"
    );
}

#[test]
fn json_has_one_object_a_row() {
    let output = moreau(&[
        "compare-integrators",
        "diode-bridge",
        "--h",
        "1e-5,5e-6",
        "--json",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let (mut rows, mut refused) = (0, 0);
    for line in stdout(&output).lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["scene"], "diode-bridge");
        if object["refused"].is_string() {
            refused += 1;
        } else {
            rows += 1;
            assert!(object["error"].as_f64().unwrap() < 2.0, "{line}");
            assert!(object["residual"].as_f64().unwrap() < 1e-9, "{line}");
            assert!(object["overlap"].is_null(), "{line}");
        }
    }
    assert_eq!((rows, refused), (2 * 4, Method::all().len() - 4));
}

#[test]
fn without_a_scene_they_are_listed() {
    let output = moreau(&["compare-integrators"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for scene in systems::list() {
        assert!(text.contains(scene.name), "{text}");
    }
    assert!(stdout(&moreau(&["--help"])).contains("compare-integrators"));
}

#[test]
fn what_is_wrong_is_refused_with_what_would_be_right() {
    let refused = |arguments: &[&str]| {
        let output = moreau(&[&["compare-integrators"], arguments].concat());
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stdout(&output).is_empty());
        stderr(&output)
    };
    let message = refused(&["bouncing-bal"]);
    assert!(
        message.contains("did you mean \"bouncing-ball\"?"),
        "{message}"
    );
    let message = refused(&["impact-chain:m=3"]);
    assert!(message.contains("there is no parameter \"m\""), "{message}");
    let message = refused(&["impact-chain:n=0"]);
    assert!(
        message.contains("n is 0, expected a whole number"),
        "{message}"
    );
    let message = refused(&["bouncing-ball", "--h", "1"]);
    assert!(
        message.contains("h is 1, expected at most a fiftieth"),
        "{message}"
    );
    refused(&["bouncing-ball", "--h", "1e-12"]);
    refused(&["bouncing-ball", "--h", "0"]);
    refused(&["--json"]);
}
