//! Systems with many coordinates, dense or sparse.

use moreau_systems::*;

fn matrix(
    n: usize,
    is_sparse: bool,
    entries: impl Iterator<Item = (usize, usize, f64)>,
) -> Coefficient {
    if is_sparse {
        return SparseMatrix::from_triplets(n, n, entries).unwrap().into();
    }
    let mut matrix = Matrix::zeros(n, n);
    for (row, column, value) in entries {
        matrix[(row, column)] += value;
    }
    matrix.into()
}

/// `[[a, −a], [−a, a]]` of each pair of neighbours.
fn differences(n: usize, a: f64) -> impl Iterator<Item = (usize, usize, f64)> {
    let of = move |i| [(i, i, a), (i, i + 1, -a), (i + 1, i, -a), (i + 1, i + 1, a)];
    (0..n - 1).flat_map(of)
}

/// A row with one entry, and it as a column.
fn unit(n: usize, is_sparse: bool, place: usize) -> (Rows, Coefficient) {
    if is_sparse {
        let row = SparseMatrix::from_triplets(1, n, [(0, place, 1.0)]);
        let column = SparseMatrix::from_triplets(n, 1, [(place, 0, 1.0)]);
        return (row.unwrap().into(), column.unwrap().into());
    }
    let mut row = Matrix::zeros(1, n);
    row[(0, place)] = 1.0;
    (row.clone().into(), row.transposed().into())
}

/// A line of `n` resistors and capacitors, discharged at its start, with ten diodes near it that keep voltages above −0.1.
pub fn ladder(n: usize, is_sparse: bool) -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(0.02)).unwrap();
    let mut input = vec![0.0; n];
    input[0] = -1.0;
    let system = FirstOrderLinear {
        input: input.into(),
        ..FirstOrderLinear::new(matrix(n, is_sparse, differences(n, -1.0)))
    };
    let state = State::first_order(vec![0.0; n]);
    let ladder = simulation
        .spawn_system(system, state, Integrator::euler_moreau(1.0))
        .unwrap();
    for k in 0..10 {
        let (c, b) = unit(n, is_sparse, 2 * k + 1);
        let relation = FirstOrderLinearRelation {
            e: vec![0.1].into(),
            ..FirstOrderLinearRelation::new([c], [b])
        };
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        simulation
            .spawn_interaction(Joins::one(ladder), relation, law)
            .unwrap();
    }
    simulation
}

/// A plate of `n × n` cells that is heated at a corner, in which ten relays keep cells at 0.5.
pub fn plate(n: usize, is_sparse: bool) -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(0.02)).unwrap();
    let pairs = (0..n * n).flat_map(move |i| {
        let right = (i % n + 1 < n).then_some((i, i + 1));
        let below = (i + n < n * n).then_some((i, i + n));
        right.into_iter().chain(below)
    });
    let entries = pairs.flat_map(|(i, j)| [(i, i, -1.0), (i, j, 1.0), (j, i, 1.0), (j, j, -1.0)]);
    let cells = n * n;
    let mut input = vec![0.0; cells];
    input[0] = 1.0;
    let system = FirstOrderLinear {
        input: input.into(),
        ..FirstOrderLinear::new(matrix(cells, is_sparse, entries))
    };
    let state = State::first_order(vec![0.6; cells]);
    let plate = simulation
        .spawn_system(system, state, Integrator::euler_moreau(1.0))
        .unwrap();
    for k in 0..10 {
        let (c, b) = unit(cells, is_sparse, k * (n + 1));
        let relation = FirstOrderLinearRelation {
            e: vec![-0.5].into(),
            ..FirstOrderLinearRelation::new([c], [b])
        };
        simulation
            .spawn_interaction(Joins::one(plate), relation, NonsmoothLaw::sign())
            .unwrap();
    }
    simulation
}

/// An elastic bar of 1 m and 1 kg with `n` nodes, whose speed of sound is 1 m/s, pressed against a wall: it strikes the wall with its end, and stays.
pub fn bar(n: usize, is_sparse: bool) -> SystemsSimulation {
    let length = 1.0 / (n - 1) as f64;
    let mut simulation = SystemsSimulation::new(Settings::new(length)).unwrap();
    let mass = (0..n).map(|i| (i, i, length));
    let system = LagrangianLinear {
        stiffness: Some(matrix(n, is_sparse, differences(n, 1.0 / length))),
        force: vec![-length; n].into(),
        ..LagrangianLinear::new(matrix(n, is_sparse, mass))
    };
    let state = State::lagrangian(vec![0.0; n], vec![-1.0; n]);
    let bar = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let wall = LagrangianLinearRelation::new([unit(n, is_sparse, 0).0]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.0 };
    simulation
        .spawn_interaction(Joins::one(bar), wall, law)
        .unwrap();
    simulation
}
