//! The joint references step by step: every row of every file, by the program of [`crate::scheme`] with the solver of joints.
//!
//! `shared/references/siconos/joints/SPEC.md` has the files and their rules. What the projected ones do it does not say to the last; [`crate::scheme`] does.
//! Files have 13 digits.

use crate::scheme::{Body, Floor, Hold, Machine};
use glam::DMat3;
use moreau::prelude::*;
use moreau::rotation::exp;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4};
use std::path::Path;

/// Number of the step, and what follows the time.
fn read(name: &str) -> Option<Vec<(usize, Vec<f64>)>> {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/references/siconos/joints"
    ));
    if !folder.is_dir() {
        println!("skipped: {} is absent", folder.display());
        return None;
    }
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let row = |line: &str| {
        let mut cells = line.split(',');
        let step = cells.next().unwrap().parse().unwrap();
        let numbers = cells.skip(1).map(|cell| cell.parse().unwrap());
        (step, numbers.collect())
    };
    Some(text.lines().skip(1).map(row).collect())
}

/// Largest difference of poses; `q` and `−q` are one rotation.
fn difference(bodies: &[Body], row: &[f64]) -> f64 {
    let mut worst: f64 = 0.0;
    for (body, given) in bodies.iter().zip(row.chunks(7)) {
        let own = body.pose();
        let dot: f64 = (3..7).map(|k| own[k] * given[k]).sum();
        for k in 0..7 {
            let sign = if k > 2 { dot.signum() } else { 1.0 };
            worst = worst.max((own[k] * sign - given[k]).abs());
        }
    }
    worst
}

/// Steps through a file. Largest differences of poses before the first contact, from then on, and of the twist of the first body if the file has it.
fn follow(
    name: &str,
    machine: &mut Machine,
    mut before: impl FnMut(&mut Machine, f64),
) -> Option<[f64; 3]> {
    let rows = read(name)?;
    let mut worst = [0.0_f64; 3];
    let (mut k, mut touched) = (0, false);
    for (step, row) in rows {
        while k < step {
            k += 1;
            let t = k as f64 * machine.h;
            before(machine, t);
            machine.step();
            touched |= machine.touched;
        }
        let own = difference(&machine.bodies, &row);
        let part = &mut worst[usize::from(touched)];
        *part = part.max(own);
        let twist = &row[7 * machine.bodies.len()..];
        if twist.len() == 6 {
            let body = &machine.bodies[0];
            let off = (body.velocity - DVec3::from_slice(twist)).length();
            let turn = (body.spin - DVec3::from_slice(&twist[3..])).length();
            worst[2] = worst[2].max(off).max(turn);
        }
    }
    println!(
        "{name}: {:.1e} before contact, {:.1e} from it on, twist {:.1e}",
        worst[0], worst[1], worst[2]
    );
    Some(worst)
}

fn nothing(_: &mut Machine, _: f64) {}

fn floor() -> Option<Floor> {
    Some(Floor {
        body: 2,
        level: -2.3,
        restitution: 0.9,
    })
}

fn pendulum() -> Machine {
    let at = DVec3::new(1.0, 0.0, -1.0) * 0.5 * FRAC_1_SQRT_2;
    let turn = exp(DVec3::Y * FRAC_PI_4);
    let bar = Body::at_rest(DVec3::new(0.1, 1.0, 1.0), at, turn);
    Machine::new(0.01, vec![bar], vec![Hold::Pin(0, DVec3::X * -0.5)])
}

#[test]
fn a_chain_on_velocities() {
    let mut chain = Machine::chain();
    chain.floor = floor();
    let Some(worst) = follow("NE_3DS_chain_MLCP.csv", &mut chain, nothing) else {
        return;
    };
    assert!(worst[0] <= 1e-9 && worst[1] <= 1e-9, "{worst:?}");
}

/// The same by a solver that stopped at its default tolerance: what it left is in the file, 2e-5 before the first contact, and after it steps in which
/// contacts act differ. No other program gets the 1e-6 that others have.
#[test]
fn a_chain_by_an_iterative_solver() {
    let mut chain = Machine::chain();
    chain.floor = floor();
    let Some(worst) = follow("NE_3DS_chain_GMP.csv", &mut chain, nothing) else {
        return;
    };
    assert!(worst[0] <= 2e-5 && worst[1] <= 1.4e-2, "{worst:?}");
}

#[test]
fn a_chain_with_projection() {
    let mut chain = Machine::chain();
    (chain.floor, chain.projects) = (floor(), true);
    let Some(worst) = follow("NE_3DS_chain_Projection.csv", &mut chain, nothing) else {
        return;
    };
    assert!(worst[0] <= 1e-9 && worst[1] <= 1e-9, "{worst:?}");
}

#[test]
fn a_driven_chain() {
    let mut chain = Machine::chain();
    chain.joints.push(Hold::Drive(0));
    let drive = |chain: &mut Machine, t: f64| chain.rate = libm::cos(FRAC_PI_2 * t);
    let Some(worst) = follow("NE_3DS_motor_MLCP.csv", &mut chain, drive) else {
        return;
    };
    assert!(worst[0] <= 1.5e-9 && worst[2] <= 1e-8, "{worst:?}");
}

#[test]
fn a_pendulum_with_projection() {
    let mut machine = pendulum();
    machine.projects = true;
    let Some(worst) = follow("NE_1DS_1Knee_Projection.csv", &mut machine, nothing) else {
        return;
    };
    assert!(worst[0] <= 2e-9, "{worst:?}");
}

#[test]
fn a_slide() {
    let axis = DVec3::new(3.0, 2.0, 1.0).normalize();
    let attitude = exp(axis * (0.4 * std::f64::consts::PI));
    let body = Body::at_rest(DVec3::ONE, DVec3::ONE, attitude);
    let slide = Hold::Slide {
        body: 0,
        from: DVec3::ONE,
        axis: DVec3::Z,
        attitude,
    };
    let mut machine = Machine::new(1e-3, vec![body], vec![slide]);
    let Some(worst) = follow("Prismatic.csv", &mut machine, nothing) else {
        return;
    };
    assert!(worst[0] <= 3e-12, "{worst:?}");
}

/// With `RigidBody`s of the engine: θ = 1 is one of its choices, and a spin about a principal axis stays what it is.
#[test]
fn a_free_body_of_the_engine() {
    let Some(rows) = read("NE_1DS.csv") else {
        return;
    };
    // [[0.1, 0.1], [0.1, 1]] about z, and 1.
    let half = 0.5 * libm::atan2(0.2, 0.1 - 1.0);
    let mean = 0.55;
    let radius = (0.45_f64 * 0.45 + 0.01).sqrt();
    let moments = DVec3::new(mean + radius, mean - radius, 1.0);
    let settings = Settings {
        time_step: 0.01,
        theta: Theta::Fixed(1.0),
        ..moreau_tests::reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let body = (
        RigidBody::Dynamic,
        Mass::given(1.0, moments).with_principal_frame(exp(DVec3::Z * half)),
        Pose::from_position(DVec3::new(1.0, 0.0, -1.0) * 0.5 * FRAC_1_SQRT_2)
            .with_orientation(exp(DVec3::Y * FRAC_PI_4)),
        Twist {
            linear: DVec3::X * 100.0,
            angular: DVec3::Z * 100.0,
        },
    );
    let body = simulation.spawn(body).unwrap();
    let (mut worst, mut k) = (0.0_f64, 0);
    for (step, row) in rows {
        while k < step {
            k += 1;
            simulation.step().unwrap();
        }
        let pose = simulation.pose(body).unwrap();
        let own = Body::at_rest(moments, pose.position, pose.orientation);
        worst = worst.max(difference(&[own], &row));
    }
    println!("NE_1DS.csv: {worst:.1e}");
    // Positions of up to 1000 m with 13 digits, an angle of 1000 rad.
    assert!(worst <= 1e-9, "{worst:e}");
}

/// A pendulum whose first velocity its joint does not allow, 100 m/s: gyroscopic moments are taken at the end of the step, so that each step is several
/// linear problems with an unsymmetric matrix, which no contact solver takes: the three rows of the ball are solved here by themselves. Rows are at
/// `q_k ∘ exp(h Ω_k)` at first and then at the last end, and the last one is the first that leaves less than 1e-6 in the balance of momenta; where
/// that is one earlier or later is a difference of 1e-5.
#[test]
fn a_tumbling_pendulum() {
    let Some(rows) = crate::table::read("NE_1DS_1Knee_MLCP.ref") else {
        return;
    };
    let h = 0.01;
    let inertia = DMat3::from_cols(
        DVec3::new(0.1, 0.1, 0.0),
        DVec3::new(0.1, 1.0, 0.0),
        DVec3::Z,
    );
    let cross =
        |a: DVec3| DMat3::from_cols(a.cross(DVec3::X), a.cross(DVec3::Y), a.cross(DVec3::Z));
    let arm = DVec3::X * -0.5;
    let weight = DVec3::Z * -9.81;
    let mut body = pendulum().bodies[0];
    body.velocity = DVec3::X * 100.0;
    let mut worst = 0.0_f64;
    for row in rows {
        let start = body;
        let mut at = start.moved(h);
        loop {
            // W = M − h ∂F/∂v, and what is left of the balance without the joint.
            let moment = |w: DVec3| (inertia * w).cross(w);
            let w = body.spin;
            let slope = cross(inertia * w) - cross(w) * inertia;
            let inverse = (inertia - slope * h).inverse();
            let rest = inertia * (w - start.spin) - moment(w) * h;
            let (v_free, w_free) = (start.velocity + weight * h, w - inverse * rest);
            // v + R (Ω × arm) = 0.
            let turned = DMat3::from_quat(at.orientation);
            let lever = turned * -cross(arm);
            let matrix = DMat3::IDENTITY + lever * inverse * lever.transpose();
            let push = -(matrix.inverse() * (v_free + lever * w_free));
            body.velocity = v_free + push;
            body.spin = w_free + inverse * (lever.transpose() * push);
            at = Body {
                velocity: body.velocity,
                spin: body.spin,
                ..start
            }
            .moved(h);
            let w = body.spin;
            let left = inertia * (w - start.spin) - moment(w) * h - lever.transpose() * push;
            if left.length() < 1e-6 {
                break;
            }
        }
        body = at;
        worst = worst.max(difference(&[body], &row[1..8]));
    }
    println!("NE_1DS_1Knee_MLCP.ref: {worst:.1e}");
    assert!(worst <= 1e-12, "{worst:e}");
}
