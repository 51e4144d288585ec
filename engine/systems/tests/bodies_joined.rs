//! Relations between a rigid body and a system of another kind, and what bodies refuse.

use crate::bodies::{heavy, moreau_jean, step};
use bevy_ecs::entity::Entity;
use moreau_systems::relation::newton_euler::{add_velocity_at, point_of_body};
use moreau_systems::*;

/// Mass of the cart, kg.
const CART: f64 = 3.0;

/// A cart on a spring along x with a bar hanging from it on a ball joint. The cart is a Lagrangian system of one coordinate, or a body on a slide.
fn coupled(cart_is_a_body: bool) -> (SystemsSimulation, [Entity; 2]) {
    let mut simulation = SystemsSimulation::new(Settings::new(5e-3)).unwrap();
    let integrator = moreau_jean(0.5, RowsAt::Iterate);
    let cart = if cart_is_a_body {
        let body = NewtonEuler {
            wrench: Some(std::sync::Arc::new(|_, q, _, wrench| {
                wrench[0] -= 40.0 * q[0];
            })),
            ..NewtonEuler::new(CART, Matrix::identity(3))
        };
        let state = State::body([0.3, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
        simulation.spawn_system(body, state, integrator).unwrap()
    } else {
        let cart = LagrangianLinear {
            stiffness: Some(Matrix::diagonal(&[40.0])),
            ..LagrangianLinear::new(Matrix::diagonal(&[CART]))
        };
        let state = State::lagrangian([0.3], [0.0]);
        simulation.spawn_system(cart, state, integrator).unwrap()
    };
    let bar = State::body(
        [0.8, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0; 3],
        [0.0, 0.0, 1.0],
    );
    let inertia = Matrix::diagonal(&[0.1, 1.0, 1.0]);
    let bar = simulation
        .spawn_system(heavy(inertia), bar, integrator)
        .unwrap();
    let (hangs, rows) = if cart_is_a_body {
        let slide = BodyJoint::prismatic([1.0, 0.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0, 0.0]);
        let law = NonsmoothLaw::Equality { rows: 5 };
        simulation
            .spawn_interaction(Joins::one(cart), Relation::lagrangian(slide), law)
            .unwrap();
        let ball = BodyJoint::ball([-0.5, 0.0, 0.0], [0.0; 3]);
        (Relation::lagrangian(ball), 3)
    } else {
        (Relation::lagrangian(OnCart), 3)
    };
    let law = NonsmoothLaw::Equality { rows };
    simulation
        .spawn_interaction(Joins::two(bar, cart), hangs, law)
        .unwrap();
    (simulation, [cart, bar])
}

/// The end of a bar, a body, on a cart, a Lagrangian system of one coordinate.
struct OnCart;

impl LagrangianRelation for OnCart {
    fn rows(&self) -> usize {
        3
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y.copy_from_slice(&point_of_body(q[0], [-0.5, 0.0, 0.0]));
        y[0] -= q[1][0];
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        let at = point_of_body(q[0], [-0.5, 0.0, 0.0]);
        for row in 0..3 {
            let mut direction = [0.0; 3];
            direction[row] = 1.0;
            add_velocity_at(h[0].row_mut(row), 1.0, q[0], at, direction);
        }
        h[1][(0, 0)] = -1.0;
    }
}

/// One mechanism described twice: a relation that joins a rigid body and a Lagrangian system does what a joint between two bodies does. The equations are the same
/// up to elimination, so that rounding is left, and what the stops of two Newton loops (1e-12) make of it in 400 steps.
#[test]
fn a_relation_couples_a_body_and_a_lagrangian_system() {
    let (mut first, [cart, bar]) = coupled(false);
    let (mut second, [body, other]) = coupled(true);
    let (mut worst, mut way) = (0.0_f64, 0.0_f64);
    for _ in 0..400 {
        step(&mut first);
        step(&mut second);
        let (x, q) = (first.state(cart).unwrap(), first.state(bar).unwrap());
        let (y, p) = (second.state(body).unwrap(), second.state(other).unwrap());
        worst = worst.max((x.q()[0] - y.q()[0]).abs());
        for (a, b) in q.q().iter().zip(p.q()) {
            worst = worst.max((a - b).abs());
        }
        way = way.max((x.q()[0] - 0.3).abs());
    }
    println!("a cart as a Lagrangian system and as a body: {worst:.1e}");
    assert!(worst < 1e-9, "{worst:e}");
    assert!(way > 0.1, "nothing moved: {way}");
}

/// What a body cannot do is refused, with the field's name, and the world stays as it was.
#[test]
fn bad_bodies_are_refused() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let good = State::body([0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
    let unit = || NewtonEuler::new(1.0, Matrix::identity(3));
    let text = |result: Result<Entity, SystemsError>| result.unwrap_err().to_string();
    let integrator = Integrator::moreau_jean(0.5);
    let mut spawn = |body: NewtonEuler, state: &State, integrator| {
        text(simulation.spawn_system(body, state.clone(), integrator))
    };
    let long = State::body([0.0; 3], [1.0, 1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
    assert!(spawn(unit(), &long, integrator).contains("norm of the quaternion in q"));
    let short = State::lagrangian([0.0; 6], [0.0; 6]);
    assert!(spawn(unit(), &short, integrator).contains("q has 6 entries, expected 7"));
    let light = NewtonEuler::new(0.0, Matrix::identity(3));
    assert!(spawn(light, &good, integrator).contains("mass is 0"));
    let flat = NewtonEuler::new(1.0, Matrix::diagonal(&[1.0, 1.0, 0.0]));
    assert!(spawn(flat, &good, integrator).contains("inertia"));
    let bent = NewtonEuler::new(
        1.0,
        Matrix::from_rows([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    );
    assert!(spawn(bent, &good, integrator).contains("symmetric"));
    let integrators = [
        Integrator::schatzman_paoli(),
        Integrator::euler_moreau(0.5),
        Integrator::d1_minus(),
    ];
    for other in integrators {
        assert!(spawn(unit(), &good, other).contains("integrator"));
    }
    let body = simulation
        .spawn_system(unit(), good, Integrator::moreau_jean(0.5))
        .unwrap();
    let mut row = Matrix::zeros(1, 6);
    row[(0, 2)] = 1.0;
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
    let linear = LagrangianLinearRelation::new([row]);
    let refused = simulation.spawn_interaction(Joins::one(body), linear, law);
    assert!(text(refused).contains("a Lagrangian relation of its own for a rigid body"));
    assert!(simulation.step().is_ok());
}
