//! Rigid bodies as systems beside the trajectories of the references: free flight, joints, contacts.

use crate::table::{Differences, read, read_commas};
use bevy_ecs::entity::Entity;
use moreau_systems::*;

const G: f64 = 9.81;

/// A body of 1 kg under its weight along −z.
pub(crate) fn heavy(inertia: Matrix) -> NewtonEuler {
    NewtonEuler {
        force: vec![0.0, 0.0, -G].into(),
        ..NewtonEuler::new(1.0, inertia)
    }
}

/// The body of the references without an axis of symmetry.
fn skewed() -> Matrix {
    Matrix::from_rows([[0.1, 0.1, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.0]])
}

/// The rotation by an angle about y.
fn about_y(angle: f64) -> [f64; 4] {
    rotation::exp([0.0, angle, 0.0])
}

/// Half of the diagonal of a unit square.
const C: f64 = std::f64::consts::FRAC_1_SQRT_2;
const QUARTER: f64 = std::f64::consts::FRAC_PI_4;

pub(crate) fn moreau_jean(theta: f64, rows_at: RowsAt) -> Integrator {
    Integrator::MoreauJean(MoreauJean {
        theta,
        rows_at,
        ..MoreauJean::default()
    })
}

pub(crate) fn step(simulation: &mut SystemsSimulation) {
    let report = simulation.step().unwrap();
    assert!(report.converged, "{report:?}");
}

/// Rounding over 5000 steps, in all columns: the scheme is that of the reference to the letter.
#[test]
fn a_free_body_tumbles_as_the_reference_does() {
    let name = "FreeBody-I5-10-1.dat";
    let Some(rows) = read(name) else { return };
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let body = NewtonEuler::new(2.0, Matrix::diagonal(&[5.0, 10.0, 1.0]));
    let state = State::body(
        [0.0; 3],
        [1.0, 0.0, 0.0, 0.0],
        [0.3, -0.2, 0.1],
        [0.1, 5.0, 0.1],
    );
    let body = simulation
        .spawn_system(body, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let mut differences = Differences::default();
    for given in &rows[1..] {
        (0..10).for_each(|_| step(&mut simulation));
        let state = simulation.state(body).unwrap();
        let own = [&[simulation.time()][..], state.q(), state.v()].concat();
        differences.add(&own, given);
    }
    differences.within(name, &[1e-11; 14]);
}

/// The first seven coordinates that a row of a table with commas has after its number and its time.
fn poses(simulation: &SystemsSimulation, bodies: &[Entity]) -> Vec<f64> {
    let mut all = vec![simulation.time()];
    for body in bodies {
        all.extend(simulation.state(*body).unwrap().q());
    }
    all
}

/// Steps to the number of each row and compares its poses: the largest difference of times, places and orientations.
fn follow(
    name: &str,
    simulation: &mut SystemsSimulation,
    bodies: &[Entity],
    most: usize,
) -> Option<Differences> {
    let rows = read_commas(name)?;
    let (mut differences, mut steps) = (Differences::default(), 0);
    for row in rows.iter().filter(|row| row[0] as usize <= most) {
        while steps < row[0] as usize {
            step(simulation);
            steps += 1;
        }
        let own = poses(simulation, bodies);
        differences.add(&own, &row[1..=own.len()]);
    }
    Some(differences)
}

/// A body that turns by one radian a step about an axis of inertia that is none of its matrix' columns: what the file's 13 digits and 1000 steps leave.
#[test]
fn a_free_body_falls_and_turns_as_the_reference_does() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.01)).unwrap();
    let state = State::body(
        [0.5 * C, 0.0, -0.5 * C],
        about_y(QUARTER),
        [100.0, 0.0, 0.0],
        [0.0, 0.0, 100.0],
    );
    let body = simulation
        .spawn_system(heavy(skewed()), state, Integrator::moreau_jean(1.0))
        .unwrap();
    let name = "NE_1DS.csv";
    if let Some(differences) = follow(name, &mut simulation, &[body], 1000) {
        differences.within(name, &[1e-9; 8]);
    }
}

/// Attitude fixed, centre on the vertical: `z_k = 1 − g h² k (k + 1)/2`; rounding.
#[test]
fn a_prismatic_joint_leaves_one_motion() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let (s, c) = libm::sincos(std::f64::consts::PI / 5.0);
    let length = 14_f64.sqrt();
    let turn = [c, 3.0 * s / length, 2.0 * s / length, s / length];
    let state = State::body([1.0; 3], turn, [0.0; 3], [0.0; 3]);
    let body = simulation
        .spawn_system(heavy(skewed()), state, Integrator::moreau_jean(1.0))
        .unwrap();
    let slide = BodyJoint::prismatic([0.0, 0.0, 1.0], [1.0; 3], turn);
    simulation
        .spawn_interaction(
            Joins::one(body),
            Relation::lagrangian(slide),
            NonsmoothLaw::Equality { rows: 5 },
        )
        .unwrap();
    let name = "Prismatic.csv";
    if let Some(differences) = follow(name, &mut simulation, &[body], 2000) {
        differences.within(name, &[1e-11; 8]);
    }
}

fn pendulum(
    inertia: Matrix,
    velocity: [f64; 3],
    settings: Settings,
    rows_at: RowsAt,
) -> (SystemsSimulation, Entity) {
    let mut simulation = SystemsSimulation::new(settings).unwrap();
    let state = State::body(
        [0.5 * C, 0.0, -0.5 * C],
        about_y(QUARTER),
        velocity,
        [0.0; 3],
    );
    let body = simulation
        .spawn_system(heavy(inertia), state, moreau_jean(1.0, rows_at))
        .unwrap();
    let knee = BodyJoint::ball([-0.5, 0.0, 0.0], [0.0; 3]);
    simulation
        .spawn_interaction(
            Joins::one(body),
            Relation::lagrangian(knee),
            NonsmoothLaw::Equality { rows: 3 },
        )
        .unwrap();
    (simulation, body)
}

/// A start that the joint does not allow makes the pendulum tumble at 100 rad/s and more. The reference ends Newton's loop where the residual is below 1e-6 N s and
/// keeps the rows of the iterate before, which is 1e-5 m from where the loop would converge to in the first step: with that stop rounding is left, over all rows.
#[test]
fn a_knee_joint_tumbles_as_the_reference_does() {
    let name = "NE_1DS_1Knee_MLCP.ref";
    let Some(rows) = read(name) else { return };
    let newton = Newton {
        relative: 0.0,
        absolute: 1e-6,
        ..Newton::default()
    };
    let settings = Settings {
        newton,
        ..Settings::new(0.01)
    };
    let start = [100.0, 0.0, 0.0];
    let (mut simulation, body) = pendulum(skewed(), start, settings, RowsAt::Iterate);
    let mut differences = Differences::default();
    for given in &rows {
        step(&mut simulation);
        differences.add(&poses(&simulation, &[body]), &given[..8]);
    }
    differences.within(name, &[1e-11; 8]);
}

/// A pendulum from rest, projected onto its joint after every step, in the metric of its seven coordinates, with rows at the predicted state. How far within 1e-8 m each
/// projection goes is the difference over ten seconds. (Rows at the iterate, or angles of the same weight as places, are 2e-5 off.)
#[test]
fn a_projected_knee_joint_swings_as_the_reference_does() {
    let settings = Settings {
        projection: Projection::Direct {
            tolerance: 1e-8,
            max_iterations: 20,
            metric: Metric::Coordinates,
        },
        ..Settings::new(0.01)
    };
    let inertia = Matrix::diagonal(&[0.1, 1.0, 1.0]);
    let (mut simulation, body) = pendulum(inertia, [0.0; 3], settings, RowsAt::Predicted);
    let name = "NE_1DS_1Knee_Projection.csv";
    if let Some(differences) = follow(name, &mut simulation, &[body], 999) {
        differences.within(name, &[1e-7; 8]);
    }
}

/// Three bars on three balls, the last one on a vertical slide as well.
fn chain() -> (SystemsSimulation, [Entity; 3]) {
    let mut simulation = SystemsSimulation::new(Settings::new(0.01)).unwrap();
    let inertia = Matrix::diagonal(&[0.1, 1.0, 1.0]);
    let starts = [
        ([0.5 * C, 0.0, -0.5 * C], QUARTER),
        ([0.5 * C, 0.0, -1.5 * C], -QUARTER),
        ([0.0, 0.0, -2.0 * C - 0.5], 2.0 * QUARTER),
    ];
    let bodies = starts.map(|(place, angle)| {
        let state = State::body(place, about_y(angle), [0.0; 3], [0.0; 3]);
        let integrator = moreau_jean(1.0, RowsAt::Predicted);
        simulation
            .spawn_system(heavy(inertia.clone()), state, integrator)
            .unwrap()
    });
    let (end, begin) = ([0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]);
    let [a, b, c] = bodies;
    let slide = BodyJoint::prismatic([0.0, 0.0, 1.0], [0.0; 3], about_y(2.0 * QUARTER));
    let joints = [
        (Joins::one(a), BodyJoint::ball(begin, [0.0; 3])),
        (Joins::two(b, a), BodyJoint::ball(end, end)),
        (Joins::two(c, b), BodyJoint::ball(begin, begin)),
        (Joins::one(c), slide),
    ];
    for (joins, joint) in joints {
        let relation = Relation::lagrangian(joint);
        let law = NonsmoothLaw::Equality {
            rows: relation.rows(),
        };
        simulation.spawn_interaction(joins, relation, law).unwrap();
    }
    (simulation, bodies)
}

/// Fourteen rows of joints and a floor with e = 0.9, through its impacts.
#[test]
fn a_chain_on_joints_strikes_the_floor_as_the_reference_does() {
    let (mut simulation, bodies) = chain();
    let floor = BodyContact::frictionless(|_, q| ContactPoint {
        gap: q[0][2] + 2.3,
        point: [q[0][0], q[0][1], q[0][2]],
        normal: [0.0, 0.0, 1.0],
    });
    simulation
        .spawn_interaction(
            Joins::one(bodies[2]),
            Relation::lagrangian(floor),
            NonsmoothLaw::NewtonImpact { restitution: 0.9 },
        )
        .unwrap();
    let name = "NE_3DS_chain_MLCP.csv";
    if let Some(differences) = follow(name, &mut simulation, &bodies, 1000) {
        differences.within(name, &[1e-8; 22]);
    }
}

/// The first bar's rate about y is `cos(π t/2)`.
#[test]
fn a_driven_chain_moves_as_the_reference_does() {
    let (mut simulation, bodies) = chain();
    let motor = Spinning {
        axis: [0.0, 1.0, 0.0],
        rate: |t| libm::cos(std::f64::consts::FRAC_PI_2 * t),
    };
    simulation
        .spawn_interaction(
            Joins::one(bodies[0]),
            Relation::lagrangian(motor),
            NonsmoothLaw::Equality { rows: 1 },
        )
        .unwrap();
    let name = "NE_3DS_motor_MLCP.csv";
    if let Some(differences) = follow(name, &mut simulation, &bodies, 1000) {
        differences.within(name, &[1e-8; 22]);
    }
}

/// The ball's gap is the height of its centre over its radius.
fn over(normal: usize, radius: f64) -> BodyContact {
    BodyContact::with_friction(move |_, q| {
        let mut point = [q[0][0], q[0][1], q[0][2]];
        let mut direction = [0.0; 3];
        let gap = point[normal] - radius;
        (point[normal], direction[normal]) = (0.0, 1.0);
        ContactPoint {
            gap,
            point,
            normal: direction,
        }
    })
}

fn friction(restitution: f64, tangential_restitution: f64, friction: f64) -> NonsmoothLaw {
    NonsmoothLaw::NewtonImpactFriction {
        restitution,
        tangential_restitution,
        friction,
        space: Space::Space,
    }
}

/// A ball under gravity along −x with a projection of places: rounding.
#[test]
fn a_ball_bounces_as_a_body() {
    let name = "BouncingBallNETS-WITHPROJ.ref";
    let Some(rows) = read(name) else { return };
    let settings = Settings {
        projection: Projection::Direct {
            tolerance: 1e-8,
            max_iterations: 10,
            metric: Metric::Mass,
        },
        ..Settings::new(5e-3)
    };
    let mut simulation = SystemsSimulation::new(settings).unwrap();
    let body = NewtonEuler {
        force: vec![-G, 0.0, 0.0].into(),
        ..NewtonEuler::new(1.0, Matrix::identity(3))
    };
    let state = State::body(
        [1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.0; 3],
    );
    let ball = simulation
        .spawn_system(body, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let wall = simulation
        .spawn_interaction(
            Joins::one(ball),
            Relation::lagrangian(over(0, 0.1)),
            friction(0.9, 0.9, 0.6),
        )
        .unwrap();
    let mut differences = Differences::default();
    for given in &rows[1..] {
        step(&mut simulation);
        let state = simulation.state(ball).unwrap();
        let (q, v) = (state.q(), state.v());
        let lambda = simulation.outcome(wall).unwrap().lambda[0];
        let own = [
            &[simulation.time(), q[0], v[0], lambda][..],
            q,
            &[v[1], v[2]],
        ]
        .concat();
        let columns = [0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(|k| given[k]);
        differences.add(&own, &columns);
    }
    differences.within(name, &[1e-12; 13]);
}

/// Forces are constant and no moment is gyroscopic, so that Newton's loop ends after one iteration, whose rows are those of the first iterate: place
/// `x_k + h v_k`, attitude `q_k ∘ exp(h Ω_k)`, lever arm the height of the centre there. That is what the reference does: rounding in all columns. With rows at
/// [`RowsAt::Predicted`] the arm is another by `½ g h²`, which is 1.6e-4 at the end.
#[test]
fn a_spinning_ball_with_friction_comes_to_roll() {
    let name = "BallFriction-mu0.3-e0.5.dat";
    let Some(rows) = read(name) else { return };
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let body = heavy(Matrix::diagonal(&[0.4 * 0.01; 3]));
    let state = State::body(
        [0.0, 0.0, 0.6],
        [1.0, 0.0, 0.0, 0.0],
        [2.0, 0.5, 0.0],
        [10.0, -20.0, 5.0],
    );
    let ball = simulation
        .spawn_system(body, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let plane = simulation
        .spawn_interaction(
            Joins::one(ball),
            Relation::lagrangian(over(2, 0.1)),
            friction(0.5, 0.0, 0.3),
        )
        .unwrap();
    let (mut vertical, mut others) = (Differences::default(), Differences::default());
    for given in &rows[1..] {
        step(&mut simulation);
        step(&mut simulation);
        let state = simulation.state(ball).unwrap();
        let (q, v) = (state.q(), state.v());
        let lambda = simulation.outcome(plane).unwrap().lambda[0];
        vertical.add(&[q[2], v[2], lambda], &[given[3], given[10], given[14]]);
        let own = [&[simulation.time()][..], q, v].concat();
        others.add(&own, &given[..14]);
    }
    vertical.within(name, &[1e-11; 3]);
    others.within(name, &[1e-12; 14]);
    // Rolling: v = ω × r up, where the arm is 0.1 m within the overlap and the turn of a step.
    let state = simulation.state(ball).unwrap();
    let spin = rotation::turned(
        [state.q()[3], state.q()[4], state.q()[5], state.q()[6]],
        [state.v()[3], state.v()[4], state.v()[5]],
    );
    let slips = [state.v()[0] - 0.1 * spin[1], state.v()[1] + 0.1 * spin[0]];
    assert!(slips.iter().all(|slip| slip.abs() < 3e-4), "{slips:?}");
}
