//! Impacts of several contacts at once: waves through rows of bodies.

use bevy_ecs::entity::Entity;
use moreau_systems::*;

/// Touching balls on a line, with their masses; contacts `(e, K)` between neighbours.
fn row(
    masses: &[f64],
    contacts: &[(f64, f64)],
    exponent: f64,
    velocities: &[f64],
) -> (SystemsSimulation, Vec<Entity>) {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let balls: Vec<Entity> = masses
        .iter()
        .zip(velocities)
        .enumerate()
        .map(|(k, (mass, v))| {
            let system = LagrangianLinear::new(Matrix::diagonal(&[*mass]));
            let state = State::lagrangian([k as f64], [*v]);
            simulation
                .spawn_system(system, state, Integrator::moreau_jean(0.5))
                .unwrap()
        })
        .collect();
    for (pair, (restitution, stiffness)) in balls.windows(2).zip(contacts) {
        let relation = LagrangianLinearRelation {
            offset: vec![-1.0],
            ..LagrangianLinearRelation::new([Matrix::diagonal(&[-1.0]), Matrix::identity(1)])
        };
        let law = NonsmoothLaw::MultipleImpact {
            restitution: *restitution,
            stiffness: *stiffness,
            exponent,
        };
        simulation
            .spawn_interaction(Joins::two(pair[0], pair[1]), relation, law)
            .unwrap();
    }
    (simulation, balls)
}

/// The velocities right after the impact.
fn after(masses: &[f64], contacts: &[(f64, f64)], exponent: f64, velocities: &[f64]) -> Vec<f64> {
    let (mut simulation, balls) = row(masses, contacts, exponent, velocities);
    let report = simulation
        .advance_by_events(1e-9, &EventSettings::default())
        .unwrap();
    assert!(report.converged);
    balls
        .iter()
        .map(|ball| simulation.state(*ball).unwrap().v()[0])
        .collect()
}

/// The same by masses on springs without tension, in time, with the classical method of order 4 and small steps: no part of it is that of the engine.
fn springs(masses: &[f64], stiffness: &[f64], exponent: f64, velocities: &[f64]) -> Vec<f64> {
    let n = masses.len();
    let slope = |s: &[f64]| -> Vec<f64> {
        let mut forces = vec![0.0; n];
        for (k, stiffness) in stiffness.iter().enumerate() {
            let force = stiffness * libm::pow((s[k] - s[k + 1]).max(0.0), exponent);
            forces[k] -= force;
            forces[k + 1] += force;
        }
        let accelerations = forces.iter().zip(masses).map(|(force, mass)| force / mass);
        s[n..].iter().copied().chain(accelerations).collect()
    };
    let mut s = [vec![0.0; n], velocities.to_vec()].concat();
    let h = 1e-3;
    let moved = |s: &[f64], k: &[f64], h: f64| -> Vec<f64> {
        s.iter().zip(k).map(|(s, k)| s + h * k).collect()
    };
    for _ in 0..40_000 {
        let a = slope(&s);
        let b = slope(&moved(&s, &a, h / 2.0));
        let c = slope(&moved(&s, &b, h / 2.0));
        let d = slope(&moved(&s, &c, h));
        for i in 0..s.len() {
            s[i] += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
        }
    }
    s.split_off(n)
}

/// `u⁺ = −e u⁻` of one contact, for springs and for Hertz's contact, to the error of the integration.
#[test]
fn one_contact_leaves_as_by_newton() {
    for exponent in [1.0, 1.5, 3.0] {
        for e in [0.05, 0.3, 0.9, 1.0] {
            let v = after(&[2.0, 3.0], &[(e, 7.0)], exponent, &[1.0, -0.5]);
            assert!(
                (v[1] - v[0] - 1.5 * e).abs() < 1e-9,
                "{exponent} {e}: {v:?}"
            );
            assert!((2.0 * v[0] + 3.0 * v[1] - 0.5).abs() < 1e-12);
        }
    }
}

/// What stiff springs without tension do to three and to five balls: the difference is h² of the springs, 1e-6, a few times: the steps in which a spring is met have a force that is not smooth.
#[test]
fn a_row_of_balls_does_what_springs_do() {
    /// Masses, stiffnesses, `η`, velocities.
    type Case<'a> = (&'a [f64], &'a [f64], f64, &'a [f64]);
    let cases: [Case; 4] = [
        (&[1.0; 3], &[1.0; 2], 1.0, &[1.0, 0.0, 0.0]),
        (&[1.0; 3], &[1.0; 2], 1.5, &[1.0, 0.0, 0.0]),
        (
            &[1.0, 2.0, 0.5, 1.0, 3.0],
            &[1.0, 0.3, 2.0, 0.7],
            1.5,
            &[1.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (&[1.0; 5], &[1.0; 4], 1.5, &[1.0, 1.0, 0.0, 0.0, 0.0]),
    ];
    for (masses, stiffness, exponent, velocities) in cases {
        let contacts: Vec<_> = stiffness.iter().map(|k| (1.0, *k)).collect();
        let v = after(masses, &contacts, exponent, velocities);
        let expected = springs(masses, stiffness, exponent, velocities);
        println!("{v:.6?}");
        for (v, expected) in v.iter().zip(&expected) {
            assert!((v - expected).abs() < 1e-5, "{v} {expected}");
        }
    }
}

/// A first contact much stiffer than the second has done with the first two balls before the third moves: the impacts come in turn, and the last ball takes all. What is missing
/// is of the order of the ratio of the times, √(K₂/K₁).
#[test]
fn a_stiff_contact_comes_first() {
    for ratio in [1e-4, 1e-6] {
        let v = after(
            &[1.0; 3],
            &[(1.0, 1.0), (1.0, ratio)],
            1.0,
            &[1.0, 0.0, 0.0],
        );
        let bound = 3.0 * f64::sqrt(ratio);
        assert!(
            v[0].abs() < bound && v[1].abs() < bound && (v[2] - 1.0).abs() < bound,
            "{v:?}"
        );
    }
}

/// For random rows: no contact approaches, momentum stays, energy does not grow, and stays where nothing takes any.
#[test]
fn energy_never_grows_and_momentum_stays() {
    let mut seed = 7_u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    for case in 0..60 {
        let n = 2 + case % 6;
        let masses: Vec<f64> = (0..n)
            .map(|_| libm::pow(10.0, 2.0 * random() - 1.0))
            .collect();
        let elastic = case % 2 == 0;
        let contacts: Vec<_> = (1..n)
            .map(|_| {
                (
                    if elastic { 1.0 } else { 0.05 + 0.95 * random() },
                    libm::pow(10.0, 4.0 * random() - 2.0),
                )
            })
            .collect();
        let velocities: Vec<f64> = (0..n).map(|_| 2.0 * random() - 1.0).collect();
        let exponent = [1.0, 1.5, 2.0][case % 3];
        let v = after(&masses, &contacts, exponent, &velocities);
        let sum = |v: &[f64], power: i32| -> f64 {
            masses.iter().zip(v).map(|(m, v)| m * v.powi(power)).sum()
        };
        let [before, now] = [&velocities, &v].map(|v| sum(v, 2));
        assert!(
            (sum(&v, 1) - sum(&velocities, 1)).abs() < 1e-12 * before.max(1.0),
            "{case}"
        );
        assert!(now <= before * (1.0 + 1e-9), "{case}: {before} {now}");
        assert!(
            !elastic || now >= before * (1.0 - 1e-8),
            "{case}: {before} {now}"
        );
        for pair in v.windows(2) {
            assert!(pair[1] - pair[0] > -1e-9, "{case}: {v:?}");
        }
    }
}

/// Two masses that equalities tie to each other strike a third as one.
#[test]
fn equalities_go_through_impacts_unharmed() {
    // Two masses of 1 kg, tied to each other by an equality: they strike a third as one of 2 kg.
    let (mut simulation, balls) = row(
        &[1.0, 1.0, 2.0],
        &[(0.5, 1.0), (0.5, 1.0)],
        1.5,
        &[1.0, 1.0, 0.0],
    );
    let tie = LagrangianLinearRelation {
        offset: vec![-1.0],
        ..LagrangianLinearRelation::new([Matrix::diagonal(&[-1.0]), Matrix::identity(1)])
    };
    for _ in 0..2 {
        // Twice the same: what others imply takes nothing.
        simulation
            .spawn_interaction(
                Joins::two(balls[0], balls[1]),
                tie.clone(),
                NonsmoothLaw::Equality { rows: 1 },
            )
            .unwrap();
    }
    let report = simulation
        .advance_by_events(1e-9, &EventSettings::default())
        .unwrap();
    let v: Vec<f64> = balls
        .iter()
        .map(|ball| simulation.state(*ball).unwrap().v()[0])
        .collect();
    // e = ½ of 2 kg at 1 m/s against 2 kg at rest.
    assert!(
        report.converged
            && (v[0] - 0.25).abs() < 1e-9
            && (v[1] - 0.25).abs() < 1e-9
            && (v[2] - 0.75).abs() < 1e-9,
        "{v:?}"
    );
}

#[test]
fn bad_laws_are_named() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let ball = simulation
        .spawn_system(
            LagrangianLinear::new(Matrix::identity(1)),
            State::lagrangian([1.0], [-1.0]),
            Integrator::moreau_jean(0.5),
        )
        .unwrap();
    let relation = || LagrangianLinearRelation::new([Matrix::identity(1)]);
    let law = |restitution, stiffness, exponent| NonsmoothLaw::MultipleImpact {
        restitution,
        stiffness,
        exponent,
    };
    for (bad, field) in [
        (law(0.0, 1.0, 1.0), "restitution"),
        (law(1.5, 1.0, 1.0), "restitution"),
        (law(f64::NAN, 1.0, 1.0), "restitution"),
        (law(1.0, 0.0, 1.0), "stiffness"),
        (law(1.0, f64::INFINITY, 1.0), "stiffness"),
        (law(1.0, 1.0, 0.5), "exponent"),
        (law(1.0, 1.0, f64::NAN), "exponent"),
    ] {
        let error = simulation
            .spawn_interaction(Joins::one(ball), relation(), bad)
            .unwrap_err();
        assert!(error.to_string().contains(field), "{error}");
    }
    // Two laws of impacts in one event-driven simulation.
    simulation
        .spawn_interaction(Joins::one(ball), relation(), law(0.5, 1.0, 1.0))
        .unwrap();
    simulation
        .spawn_interaction(
            Joins::one(ball),
            relation(),
            NonsmoothLaw::NewtonImpact { restitution: 0.5 },
        )
        .unwrap();
    let error = simulation
        .advance_by_events(2.0, &EventSettings::default())
        .unwrap_err();
    assert!(
        error.to_string().contains("MultipleImpact of all"),
        "{error}"
    );
    // Time stepping takes both.
    assert!(simulation.step().unwrap().converged);
}

/// Where contacts are so different that a wave does not come to its end, that is said, and it does not begin again: what is left approaches no more, and no energy is made.
#[test]
fn a_wave_that_does_not_end_is_said_and_stopped() {
    let contacts = [(1.0, 1.0), (1.0, 1e10)];
    let (mut simulation, balls) = row(&[1.0; 3], &contacts, 1.0, &[1.0, 0.0, 0.0]);
    let report = simulation
        .advance_by_events(1e-9, &EventSettings::default())
        .unwrap();
    let v: Vec<f64> = balls
        .iter()
        .map(|ball| simulation.state(*ball).unwrap().v()[0])
        .collect();
    assert!(!report.converged && report.events.len() <= 4);
    assert!(v[1] - v[0] > -1e-9 && v[2] - v[1] > -1e-9, "{v:?}");
    assert!(v.iter().map(|v| v * v).sum::<f64>() <= 1.0 + 1e-9, "{v:?}");
}

/// Every scheme takes such a contact as one of Newton's: the same bits.
#[test]
fn time_stepping_imposes_newtons_law() {
    for integrator in [
        Integrator::moreau_jean(0.5),
        Integrator::schatzman_paoli(),
        Integrator::d1_minus(),
    ] {
        let [newton, multiple] = [
            NonsmoothLaw::NewtonImpact { restitution: 0.7 },
            NonsmoothLaw::MultipleImpact {
                restitution: 0.7,
                stiffness: 3.0,
                exponent: 1.5,
            },
        ]
        .map(|law| {
            let mut simulation = SystemsSimulation::new(Settings::new(5e-3)).unwrap();
            let weight = LagrangianLinear {
                force: vec![-9.81].into(),
                ..LagrangianLinear::new(Matrix::identity(1))
            };
            let state = State::lagrangian([0.5], [0.0]);
            let ball = simulation.spawn_system(weight, state, integrator).unwrap();
            let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
            simulation
                .spawn_interaction(Joins::one(ball), gap, law)
                .unwrap();
            assert!(simulation.steps(400).unwrap().converged);
            simulation.state(ball).unwrap().q()[0].to_bits()
        });
        assert_eq!(newton, multiple, "{integrator:?}");
    }
}
