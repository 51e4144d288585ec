//! A follower on a cam: its cam beside the reference, its sections after Poincaré, and both ways of integration while they can be compared.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what is measured is printed"
)]

use moreau_demos::systems::cam_follower::{Cam, sections::Sections};
use moreau_demos::systems::{find, method::Method};
use moreau_systems::EventSettings;

const START: [f64; 2] = [0.5, 0.0];

/// Columns 5 and 6 of the reference, which has π with nine digits: angles differ by 2e-8 rad after its second, heights by that times the slope, and rates by 37 rad/s times as much again.
#[test]
fn the_cam_is_that_of_the_reference() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/references/siconos/CamFollower-Rheonomous.ref"
    );
    let Ok(text) = std::fs::read_to_string(file) else {
        println!("skipped: {file} is absent");
        return;
    };
    let (cam, mut worst) = (Cam::new(358.0), [0.0_f64; 2]);
    for line in text.lines().skip(1) {
        let row: Vec<f64> = line
            .split_whitespace()
            .map(|x| x.parse().unwrap())
            .collect();
        worst[0] = worst[0].max((cam.height(row[0]) - row[5]).abs());
        worst[1] = worst[1].max((cam.rate(row[0]) - row[6]).abs());
    }
    println!("height {:.1e} m, rate {:.1e} m/s", worst[0], worst[1]);
    assert!(worst[0] < 1e-7 && worst[1] < 1e-5, "{worst:?}");
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).abs() + 0.01 * (a[1] - b[1]).abs()
}

/// After 300 turns the motion repeats after three turns, and after one or two it does not; a start nearby comes to the same three points.
#[test]
fn at_358_turns_a_minute_the_motion_has_three_turns() {
    let points = |start| {
        let sections = Sections::of(358.0, start, [300, 33]).unwrap();
        assert_eq!(sections.unsolved, 0);
        sections.stroboscopic
    };
    let (own, near) = (points(START), points([START[0] + 1e-3, START[1]]));
    for k in 0..30 {
        assert!(distance(own[k], own[k + 3]) < 1e-8, "{k}");
        assert!(distance(own[k], own[k + 1]) > 1e-2, "{k}");
        assert!(distance(own[k], own[k + 2]) > 1e-2, "{k}");
    }
    let nearest = near
        .iter()
        .map(|b| distance(own[0], *b))
        .fold(1.0, f64::min);
    assert!(nearest < 1e-8, "{nearest:e}");
}

/// Two starts 1e-9 m apart are a centimetre apart within 20 turns, as far as they can be: more than 0.5 a turn in the exponent. After 300 turns nothing comes back in up to 30.
#[test]
fn at_660_turns_a_minute_the_motion_is_chaotic() {
    let sections = |start, turns| Sections::of(660.0, start, turns).unwrap();
    let own = sections(START, [0, 20]).stroboscopic;
    let near = sections([START[0] + 1e-9, START[1]], [0, 20]).stroboscopic;
    let most = own
        .iter()
        .zip(&near)
        .map(|(a, b)| distance(*a, *b))
        .fold(0.0, f64::max);
    assert!(most > 1e-2, "{most:e}");
    let late = sections(START, [300, 90]);
    assert_eq!(late.unsolved, 0);
    for period in 1..=30 {
        let pairs = late.stroboscopic.iter().zip(&late.stroboscopic[period..]);
        let most = pairs.map(|(a, b)| distance(*a, *b)).fold(0.0, f64::max);
        assert!(most > 0.1, "period {period}: {most:e}");
    }
}

/// Both ways of integration of the chaotic motion for five turns, 0.45 s: what the times of impacts, up to a step late, make of it, first order in `h`.
#[test]
fn time_stepping_follows_the_chaotic_motion_for_five_turns() {
    let chosen = find("cam-follower:rpm=660").unwrap();
    let end = 5.0 * Cam::new(660.0).period();
    let mut exact = chosen.spawn(&Method::default(), 1e-3).unwrap();
    let settings = EventSettings {
        largest_step: 1e-3,
        ..EventSettings::default()
    };
    assert!(
        exact
            .simulation
            .advance_by_events(end, &settings)
            .unwrap()
            .converged
    );
    let exact = exact.simulation.state(exact.system).unwrap().q()[0];
    let mut errors = Vec::new();
    for steps in [20_000, 200_000] {
        let mut stepped = chosen
            .spawn(&Method::all()[0], end / f64::from(steps))
            .unwrap();
        for _ in 0..steps {
            assert!(stepped.simulation.step().unwrap().converged);
        }
        errors.push((stepped.simulation.state(stepped.system).unwrap().q()[0] - exact).abs());
    }
    println!("after five turns: {errors:?} m");
    assert!(errors[0] < 5e-2 && errors[1] < 5e-3, "{errors:?}");
}

/// The picture has a dot for each point, and says what it shows.
#[test]
fn sections_are_pictures() {
    let sections = Sections::of(660.0, START, [10, 20]).unwrap();
    let svg = sections.svg();
    let dots = sections.stroboscopic.len() + sections.impacts.len();
    assert_eq!(svg.matches("<circle").count(), dots);
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("660 turns"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}
