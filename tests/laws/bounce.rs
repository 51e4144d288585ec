//! **Law.** A ball dropped from `H` on a plane with restitution `e` reaches the apexes `e²ⁿ H`; it
//! strikes at `t₁ = √(2H/g)` and then after flights of `2 eⁿ t₁`; the infinitely many impacts end
//! at `t₁ (1 + e)/(1 − e)` and it rests.
//!
//! Time stepping puts an impact at the end of a step, so impact times are of first order in `h`:
//! each is late by at most two steps (the rule sees an impact whose free motion closes the gap with
//! the speed of the beginning; the step before may touch first). The speed at the impact errs by at
//! most `2 g h`, a relative `2 h/t₁`, twice that in the apex. Errors depend on where in a step the impact
//! falls, so the order is observed on the largest error over several heights.

use crate::support::*;

const E: f64 = 0.7;

struct Bounces {
    /// Times of the impacts, end of the step, s.
    impacts: Vec<f64>,
    /// `z + v²/2g` after each impact, m above the rest height.
    apexes: Vec<f64>,
}

fn ball(height: f64, h: f64, e: f64) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        ..reference()
    })
    .unwrap();
    let material = Material {
        restitution: e,
        ..Material::default()
    };
    simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z), material))
        .unwrap();
    let ball = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(0.1),
            material,
            Pose::at(0.0, 0.0, 0.1 + height),
        ))
        .unwrap();
    (simulation, ball)
}

fn bounces(height: f64, h: f64, count: usize) -> Bounces {
    let (mut simulation, ball) = ball(height, h, E);
    let mut result = Bounces {
        impacts: Vec::new(),
        apexes: Vec::new(),
    };
    let mut before = 0.0;
    while result.impacts.len() < count {
        simulation.step().unwrap();
        let v = simulation.twist(ball).unwrap().linear.z;
        if v > 0.0 && before < 0.0 {
            let z = simulation.pose(ball).unwrap().position.z - 0.1;
            result.impacts.push(simulation.time());
            result.apexes.push(z + v * v / (2.0 * G));
        }
        before = v;
        assert!(simulation.time() < 10.0);
    }
    result
}

/// Heights that spread the impacts over the phases of a step.
fn heights() -> impl Iterator<Item = f64> {
    (0..24).map(|i| 1.0 + 0.0137 * f64::from(i))
}

/// Largest errors of the first three impact times (s) and apexes (relative) over all heights.
fn worst_errors(h: f64) -> (f64, f64) {
    let mut worst: (f64, f64) = (0.0, 0.0);
    for height in heights() {
        let t1 = (2.0 * height / G).sqrt();
        let bounces = bounces(height, h, 3);
        let (mut time, mut flight, mut apex) = (t1, 2.0 * t1, height);
        for (impact, reached) in bounces.impacts.iter().zip(&bounces.apexes) {
            flight *= E;
            apex *= E * E;
            worst.0 = worst.0.max((impact - time).abs());
            worst.1 = worst.1.max((reached / apex - 1.0).abs());
            time += flight;
        }
    }
    worst
}

#[test]
fn bounce_heights_and_times_are_of_first_order() {
    let errors = [1.0 / 200.0, 1.0 / 400.0, 1.0 / 800.0, 1.0 / 1600.0].map(worst_errors);
    let shrink = |of: fn(&(f64, f64)) -> f64| of(&errors[0]) / of(&errors[3]);
    let (times, apexes) = (shrink(|e| e.0), shrink(|e| e.1));
    // Three halvings: 8 for first order; phases move the worst case by up to a third.
    assert!((6.0..=11.0).contains(&times), "times: {times}, {errors:?}");
    assert!(
        (6.0..=11.0).contains(&apexes),
        "apexes: {apexes}, {errors:?}"
    );
}

#[test]
fn bounce_height_follows_e_squared() {
    for height in heights() {
        let h = 1e-4;
        let t1 = (2.0 * height / G).sqrt();
        let bounces = bounces(height, h, 4);
        assert!(
            bounces.impacts[0] >= t1 - h && bounces.impacts[0] <= t1 + 2.0 * h,
            "first impact at {} instead of {t1}",
            bounces.impacts[0]
        );
        let mut before = height;
        for (n, apex) in bounces.apexes.iter().enumerate() {
            // Relative error of the apex: 4 h/t at the impact speed g t, and the gap of up to
            // h |u| that is left at the impact, 2 h/t of the apex at most.
            let t = t1 * E.powi(n as i32);
            let bound = 6.0 * h / t;
            let ratio = apex / before;
            assert!(
                (ratio / (E * E) - 1.0).abs() <= bound / (E * E),
                "apex {n} from {height}: {ratio}"
            );
            before = *apex;
        }
    }
}

#[test]
fn an_elastic_ball_keeps_bouncing() {
    // e = 1: no apex gains energy beyond the first-order error of its impact, and errors of 20
    // bounces do not add up to a decay or growth of more than 20 of them.
    let (h, height) = (1e-3, 1.0);
    let (mut simulation, ball) = ball(height, h, 1.0);
    let t1 = (2.0 * height / G).sqrt();
    let mut energy: f64 = height;
    while simulation.time() < 40.0 * t1 {
        simulation.step().unwrap();
        let z = simulation.pose(ball).unwrap().position.z - 0.1;
        let v = simulation.twist(ball).unwrap().linear.z;
        energy = z + v * v / (2.0 * G);
        assert!(energy <= height * (1.0 + 6.0 * h / t1), "rises to {energy}");
    }
    assert!(
        energy >= height * (1.0 - 20.0 * 6.0 * h / t1),
        "decays to {energy}"
    );
}

#[test]
fn a_ball_rests_after_the_accumulation_of_impacts() {
    let (height, h) = (1.0, 1.0 / 200.0);
    let (mut simulation, ball) = ball(height, h, E);
    let end = (2.0 * height / G).sqrt() * (1.0 + E) / (1.0 - E);
    // First order: late by at most two steps an impact, of which 12 are faster than g h.
    while simulation.time() < end + 24.0 * h {
        simulation.step().unwrap();
    }
    for _ in 0..400 {
        simulation.step().unwrap();
        let v = simulation.twist(ball).unwrap();
        // Rounding and the solver's 1e-11 of the speed g h.
        assert!(v.linear.length() <= 1e-11, "moves at {}", v.linear);
        let gap = simulation.pose(ball).unwrap().position.z - 0.1;
        assert!(gap.abs() <= 1e-4, "rests {gap} above the plane");
    }
}

#[test]
fn a_plastic_ball_stops_on_the_surface() {
    // e = 0, θ = 1 in the step that closes the gap: no overlap beyond rounding.
    for height in heights() {
        let (mut simulation, ball) = ball(height, 1.0 / 200.0, 0.0);
        for _ in 0..200 {
            simulation.step().unwrap();
            let gap = simulation.pose(ball).unwrap().position.z - 0.1;
            assert!(gap >= -1e-10, "overlap {gap}");
        }
        assert!(simulation.twist(ball).unwrap().linear.length() <= 1e-10);
    }
}

/// A ball that only the fall of the step itself brings to the plane is struck in this step, with the velocity that it has: it is not
/// stopped first, to bounce a step later from what gravity gives it in between.
#[test]
fn a_ball_that_falls_onto_the_plane_within_the_step_bounces_in_it() {
    let h = reference().time_step;
    let (speed, g) = (1.0, 9.81);
    for part in [0.1, 0.5, 0.9] {
        let mut simulation = Simulation::new(reference()).unwrap();
        let elastic = Material {
            restitution: 1.0,
            ..Material::default()
        };
        ground(&mut simulation, elastic);
        // Out of reach at this speed alone, within reach with a part of the fall.
        let gap = h * speed + part * 0.5 * g * h * h;
        let state = (
            Pose::at(0.0, 0.0, 0.5 + gap),
            Twist::linear(0.0, 0.0, -speed),
        );
        let ball = (RigidBody::Dynamic, Collider::sphere(0.5), elastic);
        let ball = simulation.spawn((ball, state)).unwrap();
        simulation.step().unwrap();
        let after = simulation.twist(ball).unwrap().linear.z;
        assert!((after - speed).abs() <= 1e-9, "{part}: {after}");
    }
}
