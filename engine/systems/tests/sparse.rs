//! Systems with sparse matrices do what those with the same dense ones do; large ones run.
//!
//! Both ways add the same terms in another order and eliminate in another order, so that they differ by roundings of the state, times the condition number of `M̂`
//! (below 100 in all of these scenes) and the number of steps (some hundred): 1e-10 of the state is a bound with room.

mod bad_input;
mod large;

use bevy_ecs::entity::Entity;
use moreau_systems::*;

const CLOSE: f64 = 1e-10;

type Entries = Vec<(usize, usize, f64)>;

fn sparse(n: usize, entries: &Entries) -> SparseMatrix {
    SparseMatrix::from_triplets(n, n, entries.iter().copied()).unwrap()
}

fn dense(n: usize, entries: &Entries) -> Matrix {
    let mut matrix = Matrix::zeros(n, n);
    for (row, column, value) in entries {
        matrix[(*row, *column)] += value;
    }
    matrix
}

/// Which form the matrices of a system have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Dense,
    Sparse,
    /// Some of one form, some of the other.
    Mixed,
}

impl Form {
    fn make(self, place: usize, n: usize, entries: &Entries) -> Coefficient {
        match self {
            Self::Dense => dense(n, entries).into(),
            Self::Mixed if place == 0 => dense(n, entries).into(),
            Self::Sparse | Self::Mixed => sparse(n, entries).into(),
        }
    }
}

impl Form {
    /// A row with one entry.
    fn row(self, n: usize, place: usize, value: f64) -> Rows {
        self.rows(n, &[(place, value)])
    }

    /// A row; of the mixed form it is dense.
    fn rows(self, n: usize, entries: &[(usize, f64)]) -> Rows {
        if self == Self::Sparse {
            let entries = entries.iter().map(|(place, value)| (0, *place, *value));
            return SparseMatrix::from_triplets(1, n, entries).unwrap().into();
        }
        let mut row = Matrix::zeros(1, n);
        for (place, value) in entries {
            row[(0, *place)] = *value;
        }
        row.into()
    }

    /// A column with one entry; of the mixed form it is sparse.
    fn column(self, n: usize, place: usize, value: f64) -> Coefficient {
        if self == Self::Dense {
            return unit_row(n, place, value).transposed().into();
        }
        SparseMatrix::from_triplets(n, 1, [(place, 0, value)])
            .unwrap()
            .into()
    }
}

/// The part of each element of a chain in a matrix: `[[a, b], [b, a]]`.
fn elements(n: usize, a: f64, b: f64) -> Entries {
    (0..n - 1)
        .flat_map(|i| [(i, i, a), (i, i + 1, b), (i + 1, i, b), (i + 1, i + 1, a)])
        .collect()
}

/// A damped bar of `n` nodes, 1 kg and 1 m, with its consistent mass, that falls; `c` is its speed of sound, m/s.
fn bar(form: Form, n: usize, c: f64) -> LagrangianLinear<Coefficient> {
    let length = 1.0 / (n - 1) as f64;
    let stiff = c * c / length;
    LagrangianLinear {
        damping: Some(form.make(2, n, &elements(n, 1e-3 * stiff, -1e-3 * stiff))),
        stiffness: Some(form.make(1, n, &elements(n, stiff, -stiff))),
        force: vec![-9.81 * length; n].into(),
        ..LagrangianLinear::new(form.make(0, n, &elements(n, length / 3.0, length / 6.0)))
    }
}

/// A row with one entry.
fn unit_row(n: usize, place: usize, value: f64) -> Matrix {
    let mut row = Matrix::zeros(1, n);
    row[(0, place)] = value;
    row
}

/// Largest difference of two lists, relative to the largest entry.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(0.0_f64, |most, b| most.max(b.abs()));
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f64::max) / size
}

/// The bar above a floor, its lowest node first, after so many steps; and how many of them had a contact.
fn fall(form: Form, n: usize, integrator: Integrator, settings: Settings) -> (Vec<f64>, usize) {
    let mut simulation = SystemsSimulation::new(settings).unwrap();
    let state = State::lagrangian(vec![0.01; n], vec![-1.0; n]);
    let bar = simulation
        .spawn_system(bar(form, n, 30.0), state, integrator)
        .unwrap();
    let floor = LagrangianLinearRelation::new([form.row(n, 0, 1.0)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.6 };
    let floor = simulation
        .spawn_interaction(Joins::one(bar), floor, law)
        .unwrap();
    let mut contacts = 0;
    for _ in 0..300 {
        assert!(simulation.step().unwrap().converged);
        let outcome = simulation.outcome(floor).unwrap();
        contacts += usize::from(outcome.lambda.iter().any(|lambda| *lambda > 0.0));
    }
    (simulation.state(bar).unwrap().stacked(), contacts)
}

#[test]
fn a_bar_falls_as_with_dense_matrices_under_every_integrator() {
    let jean = MoreauJean::default();
    let schemes = [
        Integrator::MoreauJean(jean),
        Integrator::moreau_jean(0.8),
        Integrator::moreau_jean(1.0),
        Integrator::MoreauJean(MoreauJean {
            mass_at: MassAt::Forecast { gamma: 0.5 },
            rows_at: RowsAt::Predicted,
            ..jean
        }),
        Integrator::MoreauJean(MoreauJean {
            gamma_for_relation: 0.5,
            rows_at: RowsAt::Converged,
            ..jean
        }),
        Integrator::MoreauJean(MoreauJean {
            rows_at: RowsAt::Start,
            activation: Activation::Hysteresis {
                close: 1e-6,
                open: 1e-5,
            },
            ..jean
        }),
        Integrator::schatzman_paoli(),
    ];
    // Fifty nodes are beyond the plain loops of dense factors, seven within the rows of small systems.
    for (n, h) in [(7, 1e-3), (50, 1e-4)] {
        for scheme in schemes {
            let run = |form| fall(form, n, scheme, Settings::new(h));
            let (expected, contacts) = run(Form::Dense);
            assert!(contacts > 3, "{scheme:?}: {contacts} contacts");
            for form in [Form::Sparse, Form::Mixed] {
                let (found, also) = run(form);
                let apart = difference(&found, &expected);
                assert!(apart < CLOSE, "{n} {scheme:?} {form:?}: {apart}");
                assert_eq!(contacts, also);
            }
        }
    }
}

#[test]
fn a_bar_is_projected_as_with_dense_matrices() {
    let (n, tolerance, max_iterations) = (50, 1e-12, 20);
    for metric in [Metric::Mass, Metric::Coordinates] {
        let direct = Projection::Direct {
            tolerance,
            max_iterations,
            metric,
        };
        let combined = Projection::Combined {
            tolerance,
            max_iterations,
            metric,
        };
        for projection in [direct, combined] {
            let settings = Settings {
                projection,
                ..Settings::new(1e-4)
            };
            let run = |form| fall(form, n, Integrator::moreau_jean(0.5), settings.clone());
            let (expected, contacts) = run(Form::Dense);
            let (found, also) = run(Form::Sparse);
            let apart = difference(&found, &expected);
            assert!(apart < CLOSE, "{projection:?}: {apart}");
            assert_eq!(contacts, also);
        }
    }
}

/// A string across a floor that is wavy: as many contacts as nodes, with friction or without, so that the problem of a step has many rows.
#[test]
fn a_string_on_the_floor_does_as_with_dense_matrices() {
    let n = 60;
    let run = |form: Form, has_friction: bool| {
        let mut simulation = SystemsSimulation::new(Settings {
            tolerance: 1e-12,
            ..Settings::new(1e-3)
        })
        .unwrap();
        let heights = (0..n).map(|i| 0.02 * libm::sin(0.4 * i as f64));
        // Heights, then what is along the floor.
        let q: Vec<f64> = heights
            .map(|y| 0.05 + y)
            .chain(std::iter::repeat_n(0.0, n))
            .collect();
        let v = [vec![-1.0; n], vec![0.3; n]].concat();
        let both = |a, b| {
            let below = elements(n, a, b).into_iter();
            let along = elements(n, a, b).into_iter();
            below
                .chain(along.map(|(i, j, value)| (n + i, n + j, value)))
                .collect::<Entries>()
        };
        let mut force = vec![0.0; 2 * n];
        force[..n].fill(-9.81 / n as f64);
        let length = 1.0 / (n - 1) as f64;
        let system = LagrangianLinear {
            stiffness: Some(form.make(1, 2 * n, &both(50.0, -50.0))),
            damping: Some(form.make(2, 2 * n, &both(0.02, -0.02))),
            force: force.into(),
            ..LagrangianLinear::new(form.make(0, 2 * n, &both(length / 3.0, length / 6.0)))
        };
        let string = simulation
            .spawn_system(
                system,
                State::lagrangian(q, v),
                Integrator::moreau_jean(0.5),
            )
            .unwrap();
        let mut contacts = Vec::new();
        for i in 0..n {
            let gap = form.row(2 * n, i, 1.0);
            let (law, rows) = if has_friction {
                let law = NonsmoothLaw::NewtonImpactFriction {
                    restitution: 0.3,
                    tangential_restitution: 0.0,
                    friction: 0.4,
                    space: Space::Plane,
                };
                let entries = [(0, i, 1.0), (1, n + i, 1.0)];
                let rows = SparseMatrix::from_triplets(2, 2 * n, entries).unwrap();
                let mut dense = Matrix::zeros(2, 2 * n);
                entries
                    .iter()
                    .for_each(|(row, column, value)| dense[(*row, *column)] = *value);
                let is_sparse = form == Form::Sparse;
                (law, if is_sparse { rows.into() } else { dense.into() })
            } else {
                (NonsmoothLaw::NewtonImpact { restitution: 0.3 }, gap)
            };
            let floor = LagrangianLinearRelation::new([rows]);
            let contact = simulation.spawn_interaction(Joins::one(string), floor, law);
            contacts.push(contact.unwrap());
        }
        let mut most = 0;
        for _ in 0..150 {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{report:?}");
            most = most.max(report.active);
        }
        (simulation.state(string).unwrap().stacked(), most)
    };
    for (has_friction, bound) in [(false, 1e-9), (true, 1e-6)] {
        let (expected, most) = run(Form::Dense, has_friction);
        assert!(most > 32, "{most} contacts at once");
        for form in [Form::Sparse, Form::Mixed] {
            // Impulses are solved for to 1e-12, and what is left goes through some hundred steps; with friction it decides what slides first.
            let apart = difference(&run(form, has_friction).0, &expected);
            assert!(apart < bound, "{has_friction} {form:?}: {apart}");
        }
    }
}

/// A ladder of `n` capacitors and resistors, driven by a sine at its start: `C_i v̇_i = (v_{i−1} − 2 v_i + v_{i+1})/R + …`, in units in which all is about 1.
fn ladder(form: Form, n: usize, with_mass: bool) -> FirstOrderLinear<Coefficient> {
    let leak = (0..n).map(|i| (i, i, -0.1));
    let links = elements(n, -1.0, 1.0).into_iter().chain(leak).collect();
    // Capacitors that couple neighbours.
    let mass = elements(n, 1.0, -0.3);
    FirstOrderLinear {
        mass: with_mass.then(|| form.make(0, n, &mass)),
        input: Signal::varying(|t, input| input[0] = 5.0 * libm::sin(3.0 * t)),
        ..FirstOrderLinear::new(form.make(1, n, &links))
    }
}

/// The ladder with a diode in its middle that keeps the voltage above −0.1, and a relay at its end: its state after 400 steps, and how many the diode led in.
fn rectify(form: Form, n: usize, with_mass: bool, integrator: Integrator) -> (Vec<f64>, usize) {
    let mut simulation = SystemsSimulation::new(Settings::new(0.02)).unwrap();
    let state = State::first_order(vec![0.0; n]);
    let ladder = simulation
        .spawn_system(ladder(form, n, with_mass), state, integrator)
        .unwrap();
    let at = |place: usize, d: f64, e: f64| FirstOrderLinearRelation {
        d: Some(Matrix::diagonal(&[d])),
        e: vec![e].into(),
        ..FirstOrderLinearRelation::new([form.row(n, place, 1.0)], [form.column(n, place, 1.0)])
    };
    // With explicit multipliers the outputs must answer to them at once.
    let diode = simulation
        .spawn_interaction(
            Joins::one(ladder),
            at(1, 0.05, 0.1),
            NonsmoothLaw::Complementarity { rows: 1 },
        )
        .unwrap();
    simulation
        .spawn_interaction(Joins::one(ladder), at(3, 0.1, -0.2), NonsmoothLaw::sign())
        .unwrap();
    let mut leads = 0;
    for _ in 0..400 {
        assert!(simulation.step().unwrap().converged);
        let lambda = &simulation.outcome(diode).unwrap().lambda;
        leads += usize::from(lambda[0] > 0.0);
    }
    (simulation.state(ladder).unwrap().x().to_vec(), leads)
}

#[test]
fn a_ladder_of_diodes_and_relays_does_as_with_dense_matrices_under_every_form_of_euler_moreau() {
    let default = EulerMoreau::default();
    let schemes = [
        default,
        EulerMoreau {
            theta: 1.0,
            ..default
        },
        EulerMoreau {
            gamma: 0.5,
            ..default
        },
        EulerMoreau {
            gamma: 0.5,
            gamma_for_relation: true,
            ..default
        },
        EulerMoreau {
            rate_between: true,
            ..default
        },
        EulerMoreau {
            gamma: 0.0,
            theta: 0.0,
            ..default
        },
    ];
    for n in [8, 60] {
        for scheme in schemes {
            for with_mass in [false, true] {
                let run = |form| rectify(form, n, with_mass, Integrator::EulerMoreau(scheme));
                let (expected, leads) = run(Form::Dense);
                assert!((5..395).contains(&leads), "{scheme:?}: {leads}");
                for form in [Form::Sparse, Form::Mixed] {
                    let (found, also) = run(form);
                    let apart = difference(&found, &expected);
                    assert!(
                        apart < CLOSE,
                        "{n} {with_mass} {scheme:?} {form:?}: {apart}"
                    );
                    assert_eq!(leads, also);
                }
            }
        }
    }
}

/// `y = v`, and what acts on the coordinate is `λ` and a spring that stiffens: a slope of what acts that goes into the iteration matrix.
struct Stiffening {
    place: usize,
}

impl FirstOrderRelation for Stiffening {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, x: &[&[f64]], lambda: &[f64], y: &mut [f64]) {
        let n = x[0].len() / 2;
        y[0] = x[0][n + self.place] + 0.01 * lambda[0];
    }

    fn input(&self, _t: f64, x: &[&[f64]], lambda: &[f64], r: &mut [Vec<f64>]) {
        let q = x[0][self.place];
        r[0][self.place] = lambda[0] - 50.0 * q * q * q;
    }

    fn output_by_state(&self, _t: f64, x: &[&[f64]], _lambda: &[f64], c: &mut [Matrix]) {
        c[0][(0, x[0].len() / 2 + self.place)] = 1.0;
    }

    fn output_by_multiplier(&self, _t: f64, _x: &[&[f64]], _lambda: &[f64], d: &mut Matrix) {
        d[(0, 0)] = 0.01;
    }

    fn input_by_multiplier(&self, _t: f64, _x: &[&[f64]], _lambda: &[f64], b: &mut [Matrix]) {
        b[0][(self.place, 0)] = 1.0;
    }

    fn input_by_state(&self, _t: f64, x: &[&[f64]], _lambda: &[f64], k: &mut [Matrix]) {
        k[0][(self.place, self.place)] = -150.0 * x[0][self.place] * x[0][self.place];
    }
}

/// A bar with a spring that is not linear and a relay in its velocity, tied to a ball of its own at the other end, with a compliant stop in its middle and a controller that acts on
/// position and velocity there; in two substeps.
fn tied(form: Form) -> Vec<f64> {
    let n = 20;
    let mut simulation = SystemsSimulation::new(Settings::new(2e-3)).unwrap();
    let jean = Integrator::moreau_jean(0.5);
    let start = State::lagrangian(vec![0.0; n], vec![0.5; n]);
    let bar = simulation
        .spawn_system(bar(form, n, 20.0), start, jean)
        .unwrap();
    let ball = LagrangianLinear::new(Matrix::diagonal(&[0.2]));
    let ball = simulation
        .spawn_system(ball, State::lagrangian([0.0], [0.5]), jean)
        .unwrap();
    for system in [bar, ball] {
        simulation.set_substeps(system, Substeps(2)).unwrap();
    }
    let relation = Relation::first_order(Stiffening { place: 0 });
    simulation
        .spawn_interaction(Joins::one(bar), relation, NonsmoothLaw::sign())
        .unwrap();
    let ends = [form.row(n, n - 1, 1.0), Form::Dense.row(1, 0, -1.0)];
    let tie = LagrangianLinearRelation::new(ends);
    simulation
        .spawn_interaction(
            Joins::two(bar, ball),
            tie,
            NonsmoothLaw::Equality { rows: 1 },
        )
        .unwrap();
    let stop = LagrangianLinearRelation {
        compliance: Some(Matrix::diagonal(&[1e-2])),
        ..LagrangianLinearRelation::new([form.rows(n, &[(10, 1.0), (11, 1.0)])])
    };
    let law = NonsmoothLaw::Complementarity { rows: 1 };
    let stop = simulation
        .spawn_interaction(Joins::one(bar), stop, law)
        .unwrap();
    let feedback = FirstOrderLinearRelation {
        d: Some(Matrix::diagonal(&[0.5])),
        ..FirstOrderLinearRelation::new(
            [form.rows(2 * n, &[(8, 2.0), (n + 8, 1.0), (n + 9, 0.5)])],
            [form.column(n, 9, 1.0)],
        )
    };
    let law = NonsmoothLaw::Equality { rows: 1 };
    simulation
        .spawn_interaction(Joins::one(bar), feedback, law)
        .unwrap();
    let mut stopped = 0;
    for _ in 0..200 {
        assert!(simulation.step().unwrap().converged);
        stopped += usize::from(simulation.outcome(stop).unwrap().lambda[0] > 0.0);
    }
    assert!(stopped > 10, "{stopped}");
    let stacked = |system: Entity| simulation.state(system).unwrap().stacked();
    [stacked(bar), stacked(ball)].concat()
}

/// Newton's loop ends at 1e-12 of its terms, a state of some hundred steps is known to that much times as many.
#[test]
fn a_nonlinear_relation_and_another_system_work_with_a_sparse_one() {
    let expected = tied(Form::Dense);
    for form in [Form::Sparse, Form::Mixed] {
        let apart = difference(&tied(form), &expected);
        assert!(apart < 1e-9, "{form:?}: {apart}");
    }
}

/// What is the same from event to event: steps follow a tolerance of 1e-10, and the two ways round alike to their roundings.
#[test]
fn events_are_those_of_dense_matrices() {
    let n = 8;
    let settings = EventSettings {
        relative: 1e-9,
        ..EventSettings::default()
    };
    let fall = |form| {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let state = State::lagrangian(vec![0.01; n], vec![-1.0; n]);
        let bar = simulation
            .spawn_system(bar(form, n, 5.0), state, Integrator::moreau_jean(0.5))
            .unwrap();
        let floor = LagrangianLinearRelation::new([form.row(n, 0, 1.0)]);
        let law = NonsmoothLaw::NewtonImpact { restitution: 0.6 };
        simulation
            .spawn_interaction(Joins::one(bar), floor, law)
            .unwrap();
        let report = simulation.advance_by_events(0.05, &settings).unwrap();
        assert!(report.converged && report.events.len() > 2, "{report:?}");
        (report, simulation.state(bar).unwrap().stacked())
    };
    let ((expected, at_end), (found, also)) = (fall(Form::Dense), fall(Form::Sparse));
    assert_eq!(expected.events.len(), found.events.len());
    for (a, b) in expected.events.iter().zip(&found.events) {
        assert!((a.time - b.time).abs() < 1e-9, "{a:?} {b:?}");
    }
    // The state answers to the instants of events by its velocity and the frequencies of the bar.
    assert!(difference(&also, &at_end) < 1e-6);
    let slide = |form| {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let ladder = simulation
            .spawn_system(
                ladder(form, n, true),
                State::first_order(vec![1.0; n]),
                Integrator::euler_moreau(0.5),
            )
            .unwrap();
        let (c, b) = (form.row(n, 3, 1.0), form.column(n, 3, 3.0));
        let relation = FirstOrderLinearRelation::new([c], [b]);
        simulation
            .spawn_interaction(Joins::one(ladder), relation, NonsmoothLaw::sign())
            .unwrap();
        let report = simulation.advance_by_events(3.0, &settings).unwrap();
        assert!(report.converged && !report.events.is_empty(), "{report:?}");
        simulation.state(ladder).unwrap().x().to_vec()
    };
    assert!(difference(&slide(Form::Sparse), &slide(Form::Dense)) < 1e-8);
}

/// Under zero-order hold the input is a full matrix times `B`: sparse rows and inputs give the multipliers of dense ones.
#[test]
fn a_hold_takes_sparse_relations() {
    let end = |is_sparse: bool| {
        let mut simulation = SystemsSimulation::new(Settings::new(0.05)).unwrap();
        let system = FirstOrderLinear::new(Matrix::from_rows([[-1.0, 0.3], [0.2, -2.0]]));
        let state = State::first_order([1.0, -0.5]);
        let x = simulation
            .spawn_system(system, state, Integrator::zero_order_hold())
            .unwrap();
        let (c, b) = ([(0, 1, 1.0)], [(1, 0, 1.0)]);
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        let relation: Relation = if is_sparse {
            let c = SparseMatrix::from_triplets(1, 2, c).unwrap();
            let b = SparseMatrix::from_triplets(2, 1, b).unwrap();
            FirstOrderLinearRelation::new([c], [b]).into()
        } else {
            let (c, b) = (
                Matrix::from_rows([[0.0, 1.0]]),
                Matrix::from_rows([[0.0], [1.0]]),
            );
            FirstOrderLinearRelation::new([c], [b]).into()
        };
        let diode = simulation
            .spawn_interaction(Joins::one(x), relation, law)
            .unwrap();
        let mut all = Vec::new();
        for _ in 0..20 {
            assert!(simulation.step().unwrap().converged);
            all.extend_from_slice(simulation.state(x).unwrap().x());
            all.extend_from_slice(&simulation.outcome(diode).unwrap().lambda);
        }
        all
    };
    for (sparse, dense) in end(true).iter().zip(end(false)) {
        assert!((sparse - dense).abs() < CLOSE, "{sparse} {dense}");
    }
}
