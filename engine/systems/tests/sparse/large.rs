//! Systems with thousands of coordinates.

use super::{Entries, Form, bar, elements, ladder, sparse, unit_row};
use moreau_systems::*;

/// The degree of a large system is found by products: of the voltage of a capacitor that the multiplier charges 1, of that of its neighbour 2, which is refused; of a part
/// that it never reaches none. In position and velocity it is 2 and 1.
#[test]
fn the_relative_degree_of_sparse_systems_is_checked() {
    let n = 2000;
    let links: Entries = elements(n, -1.0, 1.0)
        .into_iter()
        .filter(|(row, column, _)| (*row < n / 2) == (*column < n / 2))
        .collect();
    let mass: Entries = (0..n).map(|i| (i, i, 0.5 + i as f64)).collect();
    for mass in [None, Some(sparse(n, &mass))] {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let system = FirstOrderLinear {
            mass,
            ..FirstOrderLinear::new(sparse(n, &links))
        };
        let state = State::first_order(vec![0.0; n]);
        let system = simulation
            .spawn_system(system, state, Integrator::euler_moreau(1.0))
            .unwrap();
        let mut degree = |place: usize| {
            let (c, b) = (
                Form::Sparse.row(n, place, 1.0),
                Form::Sparse.column(n, 5, 1.0),
            );
            let relation = FirstOrderLinearRelation::new([c], [b]);
            let law = NonsmoothLaw::Complementarity { rows: 1 };
            match simulation.spawn_interaction(Joins::one(system), relation, law) {
                Ok(_) => 1,
                Err(SystemsError::Interaction {
                    source: FieldError::RelativeDegree { found, most: 1, .. },
                    ..
                }) => found,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!([5, 6, 7, n - 1].map(&mut degree), [1, 2, 3, usize::MAX]);
    }
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let n = 200;
    let state = State::lagrangian(vec![0.0; n], vec![0.0; n]);
    let bar = simulation
        .spawn_system(
            bar(Form::Sparse, n, 1.0),
            state,
            Integrator::moreau_jean(0.5),
        )
        .unwrap();
    for (place, expected) in [(3, Err(2)), (n + 3, Ok(()))] {
        let relation = FirstOrderLinearRelation::new(
            [unit_row(2 * n, place, 1.0)],
            [unit_row(n, 3, 1.0).transposed()],
        );
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        let found = match simulation.spawn_interaction(Joins::one(bar), relation, law) {
            Ok(_) => Ok(()),
            Err(SystemsError::Interaction {
                source: FieldError::RelativeDegree { found, .. },
                ..
            }) => Err(found),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected);
    }
}

/// An elastic bar of `n` elements, 1 m, 1 kg, `c = 1` m/s, at 1 m/s against a wall: the wave of pressure runs to the free end and back, so that contact lasts `2L/c`, and
/// all of the bar leaves with the velocity that it came with [de Saint-Venant]: an impulse of 2 N·s.
///
/// The front of a discrete wave is spread over `n^⅓` elements and followed by ripples that are the slower the shorter they are; the wall is left when the front of the wave
/// comes back, to some of its widths. Energy is lost where the end node, of mass `1/2n`, meets the wall at once, and nowhere else (`θ = ½`): `1/2n` of all at the first impact,
/// and less when it meets it again.
#[test]
fn an_elastic_bar_leaves_the_wall_after_two_passages_of_its_wave() {
    let n = 2000_usize;
    let length = 1.0 / n as f64;
    let ends = |i: usize| if i == 0 || i == n { 0.5 } else { 1.0 };
    let mass: Entries = (0..=n).map(|i| (i, i, length * ends(i))).collect();
    let stiffness = elements(n + 1, 1.0 / length, -1.0 / length);
    let h = 0.5 * length;
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let system = LagrangianLinear {
        stiffness: Some(sparse(n + 1, &stiffness)),
        ..LagrangianLinear::new(sparse(n + 1, &mass))
    };
    let state = State::lagrangian(vec![0.25 * h; n + 1], vec![-1.0; n + 1]);
    let bar = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let wall = LagrangianLinearRelation::new([Form::Sparse.row(n + 1, 0, 1.0)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.0 };
    let wall = simulation
        .spawn_interaction(Joins::one(bar), wall, law)
        .unwrap();
    let (mut impulse, mut last) = (0.0, 0.0);
    while simulation.time() < 2.5 {
        assert!(simulation.step().unwrap().converged);
        let lambda = simulation.outcome(wall).unwrap().lambda[0];
        if lambda > 0.0 {
            (impulse, last) = (impulse + lambda, simulation.time());
        }
    }
    let state = simulation.state(bar).unwrap();
    let (q, v) = (state.q(), state.v());
    let front = libm::cbrt(n as f64) * length;
    assert!((last - 2.0).abs() < 5.0 * front, "contact of {last} s");
    let momentum: f64 = mass.iter().zip(v).map(|((_, _, m), v)| m * v).sum();
    // What acts on a bar changes its momentum: to the roundings of the sums.
    assert!((momentum + 1.0 - impulse).abs() < 1e-9);
    assert!((impulse - 2.0).abs() < 5.0 * front, "{impulse} N·s");
    let kinetic: f64 = mass
        .iter()
        .zip(v)
        .map(|((_, _, m), v)| 0.5 * m * v * v)
        .sum();
    let strain: f64 = q.windows(2).map(|q| (q[1] - q[0]) * (q[1] - q[0])).sum();
    let energy = kinetic + 0.5 * strain / length;
    let lost = 1.0 - energy / 0.5;
    assert!(lost > 0.0 && lost < 1.0 / n as f64, "{lost} lost");
}

/// Ten thousand states take a step in well below a second: a dense matrix of them would fill 800 MB and take minutes to factor. How much memory they ask for is in
/// `tests/allocation`.
#[test]
fn ten_thousand_states_step() {
    let n = 10_000;
    let run = |integrator: Integrator| {
        let mut simulation = SystemsSimulation::new(Settings::new(0.02)).unwrap();
        let state = State::first_order(vec![0.0; n]);
        let ladder = simulation
            .spawn_system(ladder(Form::Sparse, n, false), state, integrator)
            .unwrap();
        for k in 0..10 {
            let place = 2 * k + 1;
            let relation = FirstOrderLinearRelation {
                e: vec![0.1].into(),
                ..FirstOrderLinearRelation::new(
                    [Form::Sparse.row(n, place, 1.0)],
                    [Form::Sparse.column(n, place, 1.0)],
                )
            };
            let law = NonsmoothLaw::Complementarity { rows: 1 };
            simulation
                .spawn_interaction(Joins::one(ladder), relation, law)
                .unwrap();
        }
        for _ in 0..100 {
            assert!(simulation.step().unwrap().converged);
        }
        simulation.state(ladder).unwrap().x().to_vec()
    };
    let x = run(Integrator::euler_moreau(1.0));
    // The wave has not come far: nothing is known yet of the far end.
    assert!(x[0].abs() > 1e-2 && x[n - 1].abs() < 1e-12);
    assert!((0..10).all(|k| x[2 * k + 1] > -0.1 - 1e-12));
}
