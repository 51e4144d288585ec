//! One body on one joint beside the trajectories of ADAMS, over 5 s.
//!
//! Every column must be within a tenth of what Chrono's own tests allow at the same step (root mean square over the rows of the file), where the
//! files are that precise: those of the ball and the universal joint are not, and are compared with our own integration of them
//! (`exact_states.csv`, every half second). A reaction is the mean over a step, so the mean of the two steps beside a row is compared with it:
//! second order in `h`, as the states are. Joints are closed to 1e-9 m in every step.

use moreau::prelude::*;
use std::path::Path;

/// A case, as `shared/references/adams/SPEC.md` describes it.
struct Case {
    name: &'static str,
    h: f64,
    inertia: [f64; 3],
    position: [f64; 3],
    orientation: DQuat,
    velocity: [f64; 3],
    /// The joint holds the body at this point of it, and not where it holds the ground.
    lever: Option<DVec3>,
    /// A tenth of what is allowed: place, quaternion, velocity, angular velocity, force, torque.
    most: [f64; 6],
}

const GRAVITY: f64 = 9.80665;

fn read(name: &str) -> Option<Vec<Vec<String>>> {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/references/adams"
    ));
    if !folder.is_dir() {
        println!("skipped: {} is absent", folder.display());
        return None;
    }
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let rows = text.lines().skip(1);
    Some(
        rows.map(|line| line.split(',').map(str::to_owned).collect())
            .collect(),
    )
}

fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().unwrap()).collect()
}

/// The rows of a case, and those of its exact states.
fn table(name: &str) -> Option<Vec<Vec<f64>>> {
    Some(
        read(&format!("{name}.csv"))?
            .iter()
            .map(|row| numbers(row))
            .collect(),
    )
}

fn exact(name: &str) -> Option<Vec<Vec<f64>>> {
    let rows = read("exact_states.csv")?;
    let own = rows.iter().filter(|row| row[0] == name);
    Some(own.map(|row| numbers(&row[1..])).collect())
}

fn state(simulation: &Simulation, body: bevy_ecs::entity::Entity) -> [f64; 13] {
    let (pose, twist) = (
        simulation.pose(body).unwrap(),
        simulation.twist(body).unwrap(),
    );
    let (x, q, v) = (pose.position, pose.orientation, twist.linear);
    let w = q * twist.angular;
    [
        x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z,
    ]
}

/// `q` and `−q` are one rotation.
fn align(row: &mut [f64], to: &[f64]) {
    let dot: f64 = (3..7).map(|k| row[k] * to[k]).sum();
    if dot < 0.0 {
        row[3..7].iter_mut().for_each(|q| *q = -*q);
    }
}

struct Run {
    simulation: Simulation,
    body: bevy_ecs::entity::Entity,
    joints: Vec<bevy_ecs::entity::Entity>,
    /// Of the frame in which reactions are given.
    turn: DQuat,
}

fn start(case: &Case, h: f64, joints: &[(Joint, Vec<JointForce>)]) -> Run {
    let settings = Settings {
        time_step: h,
        gravity: DVec3::NEG_Z * GRAVITY,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let body = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::from(case.inertia)),
        Pose::from_position(DVec3::from(case.position)).with_orientation(case.orientation),
        Twist {
            linear: DVec3::from(case.velocity),
            angular: DVec3::ZERO,
        },
    );
    let body = simulation.spawn(body).unwrap();
    let mut turn = DQuat::IDENTITY;
    let joints = joints.iter().map(|(joint, forces)| {
        if let JointFrames::World(frame) = joint.frames {
            turn = frame.orientation;
        }
        let joint = Joint {
            bodies: [None, Some(body)],
            ..*joint
        };
        simulation
            .spawn_joint(joint, JointForces(forces.clone()))
            .unwrap()
    });
    let joints = joints.collect();
    Run {
        simulation,
        body,
        joints,
        turn,
    }
}

impl Run {
    fn step(&mut self) -> [f64; 6] {
        let report = self.simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        assert!(report.joint_error <= 1e-9, "{}", report.joint_error);
        assert!(report.joint_velocity <= 1e-10, "{}", report.joint_velocity);
        let mut sum = [0.0; 6];
        for joint in &self.joints {
            let reaction = self.simulation.joint_reaction(*joint).unwrap();
            // On the ground, in the world.
            let force = self.turn * -reaction.force;
            let torque = self.turn * -reaction.torque;
            for k in 0..3 {
                sum[k] += force[k];
                sum[3 + k] += torque[k];
            }
        }
        sum
    }
}

/// States at every `every`-th step up to `rows` of them, with the reactions there.
fn trajectory(mut run: Run, every: usize, rows: usize) -> Vec<([f64; 13], [f64; 6])> {
    let mut all = Vec::new();
    let mut before = [0.0; 6];
    let mut at_row = None;
    for step in 1..=(rows - 1) * every + 1 {
        let now = run.step();
        if let Some(state) = at_row.take() {
            all.push((state, std::array::from_fn(|k| 0.5 * (before[k] + now[k]))));
        }
        if step % every == 0 {
            at_row = Some(state(&run.simulation, run.body));
        }
        before = now;
    }
    all
}

/// Root mean squares, column by column, of the states and of the reactions.
fn deviation(case: &Case, joints: &[(Joint, Vec<JointForce>)], rows: &[Vec<f64>]) -> [Vec<f64>; 2] {
    let every = (0.02 / case.h).round() as usize;
    let run = start(case, case.h, joints);
    let own = trajectory(run, every, rows.len());
    let (mut states, mut reactions) = (vec![0.0; 13], vec![0.0; 6]);
    for ((mut state, reaction), row) in own.into_iter().zip(&rows[1..]) {
        align(&mut state, &row[1..14]);
        let mut reaction = reaction;
        if let Some(lever) = case.lever {
            // From the point of the body to that of the ground.
            let q = DQuat::from_xyzw(state[4], state[5], state[6], state[3]);
            let point = DVec3::from_slice(&state[..3]) + q * lever;
            let torque = point.cross(DVec3::from_slice(&reaction[..3]));
            torque.write_to_slice(&mut reaction[3..]);
        }
        for (sum, (own, given)) in states.iter_mut().zip(state.iter().zip(&row[1..])) {
            *sum += (own - given).powi(2);
        }
        for (sum, (own, given)) in reactions.iter_mut().zip(reaction.iter().zip(&row[14..])) {
            *sum += (own - given).powi(2);
        }
    }
    let count = (rows.len() - 1) as f64;
    [states, reactions].map(|sums| sums.iter().map(|sum| (sum / count).sqrt()).collect())
}

fn check(case: &Case, joints: &[(Joint, Vec<JointForce>)]) {
    if let Some(rows) = table(case.name) {
        check_rows(case, joints, &rows);
    }
}

fn check_rows(case: &Case, joints: &[(Joint, Vec<JointForce>)], rows: &[Vec<f64>]) {
    let [states, reactions] = deviation(case, joints, rows);
    let groups = [
        ("place", &states[..3]),
        ("quaternion", &states[3..7]),
        ("velocity", &states[7..10]),
        ("angular velocity", &states[10..]),
        ("force", &reactions[..3]),
        ("torque", &reactions[3..]),
    ];
    for ((what, columns), most) in groups.into_iter().zip(case.most) {
        let worst = columns.iter().copied().fold(0.0, f64::max);
        println!("{}: {what} {worst:.1e} of {most:.0e}", case.name);
        assert!(
            worst <= most,
            "{}: {what} {worst:e}, allowed {most:e}",
            case.name
        );
    }
}

/// The largest error of the states at the times of the exact ones, and its order in `h`.
fn order(case: &Case, joints: &[(Joint, Vec<JointForce>)], steps: [f64; 2]) {
    let Some(rows) = exact(case.name) else { return };
    let errors = steps.map(|h| {
        let own = trajectory(
            start(case, h, joints),
            (0.5 / h).round() as usize,
            rows.len() + 1,
        );
        let mut worst = 0.0_f64;
        for ((mut state, _), row) in own.into_iter().zip(&rows) {
            align(&mut state, &row[1..]);
            for (own, given) in state.iter().zip(&row[1..]) {
                worst = worst.max((own - given).abs());
            }
        }
        worst
    });
    let ratio = errors[0] / errors[1];
    println!(
        "{}: {:.1e} {:.1e}, ratio {ratio:.2}",
        case.name, errors[0], errors[1]
    );
    // Half the step, a quarter of the error; a tenth for what comes next in its expansion.
    assert!((3.6..=4.4).contains(&ratio), "{}: {errors:?}", case.name);
}

const X_DOWN: DQuat = DQuat::from_xyzw(
    -std::f64::consts::FRAC_1_SQRT_2,
    0.0,
    0.0,
    std::f64::consts::FRAC_1_SQRT_2,
);
const X_UP: DQuat = DQuat::from_xyzw(
    std::f64::consts::FRAC_1_SQRT_2,
    0.0,
    0.0,
    std::f64::consts::FRAC_1_SQRT_2,
);
const ROD: [f64; 3] = [0.04, 0.1, 0.1];

fn joint(kind: JointKind, orientation: DQuat) -> Joint {
    Joint {
        bodies: [None, None],
        frames: JointFrames::World(Pose::default().with_orientation(orientation)),
        kind,
    }
}

/// About the world's y axis.
fn hinge() -> Joint {
    joint(
        JointKind::Revolute,
        DQuat::from_rotation_arc(DVec3::Z, DVec3::Y),
    )
}

fn case(name: &'static str, h: f64, most: [f64; 6]) -> Case {
    Case {
        name,
        h,
        inertia: ROD,
        position: [2.0, 0.0, 0.0],
        orientation: DQuat::IDENTITY,
        velocity: [0.0; 3],
        lever: None,
        most,
    }
}

fn revolute() -> (Case, Vec<(Joint, Vec<JointForce>)>) {
    let case = Case {
        orientation: X_DOWN,
        ..case(
            "Revolute_Case01",
            5e-4,
            [1e-4, 1e-4, 1e-5, 1e-3, 2e-3, 1e-3],
        )
    };
    (case, vec![(hinge(), Vec::new())])
}

fn universal() -> (Case, Vec<(Joint, Vec<JointForce>)>) {
    let case = Case {
        inertia: [0.1, 0.1, 0.04],
        position: [0.0, 2.0, 0.0],
        orientation: X_UP,
        // The file is not as precise as this.
        ..case("Universal_Case01", 5e-4, [f64::INFINITY; 6])
    };
    (case, vec![(joint(JointKind::Universal, X_UP), Vec::new())])
}

fn spherical() -> (Case, Vec<(Joint, Vec<JointForce>)>) {
    let case = case("Spherical_Case01", 5e-4, [f64::INFINITY; 6]);
    (
        case,
        vec![(joint(JointKind::Ball, DQuat::IDENTITY), Vec::new())],
    )
}

/// A massless rod from a hinge on the ground to a ball on the body.
fn rod() -> (Case, Vec<(Joint, Vec<JointForce>)>) {
    let case = Case {
        inertia: [0.1, 0.04, 0.1],
        position: [2.0, 2.0, 0.0],
        lever: Some(DVec3::new(0.0, -2.0, 0.0)),
        ..case(
            "RevSpherical_Case01",
            1e-5,
            [1e-5, 1e-6, 1e-5, 1e-5, 5e-2, 5e-2],
        )
    };
    let ends = [Pose::default(), Pose::at(0.0, -2.0, 0.0)];
    let length = Joint {
        frames: JointFrames::Own(ends),
        ..joint(JointKind::Distance { length: 2.0 }, DQuat::IDENTITY)
    };
    let plane = JointKind::Generic {
        translation: [false, false, true],
        rotation: [false; 3],
    };
    let plane = Joint {
        kind: plane,
        ..length
    };
    (case, vec![(length, Vec::new()), (plane, Vec::new())])
}

fn torsion() -> (Case, Vec<(Joint, Vec<JointForce>)>) {
    let case = Case {
        orientation: X_DOWN,
        ..case(
            "RotSpring_Case01",
            2e-4,
            [1e-4, 1e-4, 5e-5, 1e-4, 5e-4, 1e-3],
        )
    };
    let spring = JointForce::Spring {
        axis: JointAxis::RotationZ,
        stiffness: 200.0,
        damping: 10.0,
        rest: 0.0,
    };
    (case, vec![(hinge(), vec![spring])])
}

fn spring() -> (Case, Vec<(Joint, Vec<JointForce>)>) {
    let case = Case {
        position: [0.0; 3],
        ..case(
            "TranSpring_Case01",
            1e-4,
            [1e-4, 1e-11, 3e-5, 1e-11, 5e-4, f64::INFINITY],
        )
    };
    let free = JointKind::Generic {
        translation: [false; 3],
        rotation: [false; 3],
    };
    let spring = JointForce::Spring {
        axis: JointAxis::Distance,
        stiffness: 10.0,
        damping: 0.5,
        rest: 0.0,
    };
    (case, vec![(joint(free, DQuat::IDENTITY), vec![spring])])
}

#[test]
fn a_hinge() {
    let (case, joints) = revolute();
    check(&case, &joints);
    order(&case, &joints, [1e-3, 5e-4]);
}

#[test]
fn a_ball() {
    let (case, joints) = spherical();
    order(&case, &joints, [1e-3, 5e-4]);
}

#[test]
fn a_universal_joint() {
    let (case, joints) = universal();
    order(&case, &joints, [1e-3, 5e-4]);
}

#[test]
fn a_slide_and_a_cylinder_in_free_fall() {
    for (name, kind) in [
        ("Prismatic_Case01", JointKind::Prismatic),
        ("Cylindrical_Case01", JointKind::Cylindrical),
    ] {
        let force = if name.starts_with('P') { 1e-7 } else { 2e-3 };
        let case = case(name, 5e-4, [1e-3, 1e-4, 1e-5 * 4.0, 2e-3, force, 1e-7]);
        check(&case, &[(joint(kind, DQuat::IDENTITY), Vec::new())]);
    }
}

#[test]
fn a_distance() {
    let case = Case {
        position: [0.0, 2.0, 0.0],
        ..case(
            "Distance_Case01",
            1e-5,
            [1e-4, 1e-4, 1e-5, 1e-3, 2e-3, 1e-11],
        )
    };
    let ends = JointFrames::Own([Pose::default(); 2]);
    let distance = Joint {
        frames: ends,
        ..joint(JointKind::Distance { length: 2.0 }, DQuat::IDENTITY)
    };
    check(&case, &[(distance, Vec::new())]);
    order(&case, &[(distance, Vec::new())], [1e-3, 5e-4]);
}

#[test]
fn a_torsion_spring() {
    let (case, joints) = torsion();
    check(&case, &joints);
    order(&case, &joints, [1e-3, 5e-4]);
}

#[test]
fn a_spring() {
    let (case, joints) = spring();
    check(&case, &joints);
    order(&case, &joints, [1e-3, 5e-4]);
}

#[test]
fn a_drive_of_given_velocity() {
    let case = Case {
        inertia: [1.0; 3],
        position: [0.0; 3],
        velocity: [0.0, 0.0, 1.0],
        ..case(
            "LinActuator_Case01",
            1e-3,
            [2e-4, 1e-4, 1e-4, 2e-3, 2e-3, 1e-11],
        )
    };
    let drive = JointForce::Motor {
        axis: JointAxis::Z,
        position: 0.0,
        velocity: 1.0,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort: f64::INFINITY,
    };
    // The file has the guide and the drive by themselves.
    let guide = joint(JointKind::Prismatic, DQuat::IDENTITY);
    let free = JointKind::Generic {
        translation: [false; 3],
        rotation: [false; 3],
    };
    let drive = (joint(free, DQuat::IDENTITY), vec![drive]);
    let mut run = start(&case, case.h, &[(guide, Vec::new()), drive.clone()]);
    run.step();
    let force = run.simulation.joint_reaction(run.joints[1]).unwrap().force;
    assert!((force - DVec3::Z * GRAVITY).length() < 1e-9, "{force}");
    let mut given = table(case.name).unwrap_or_default();
    for row in &mut given {
        // What both do to the ground.
        row[16] -= GRAVITY;
    }
    if !given.is_empty() {
        check_rows(&case, &[(guide, Vec::new()), drive], &given);
    }
}

#[test]
fn a_rod_between_a_hinge_and_a_ball() {
    let (case, joints) = rod();
    check(&case, &joints);
    // Coarser steps are taken in parts of their own choice.
    order(&case, &joints, [2e-4, 1e-4]);
}
