//! What must not matter: threads, what else is in the problem, the order of bodies and interactions.

use super::machines::{self, Machine};
use super::{solve, solved};
use crate::random::OwnedProblem;
use crate::{Auto, Goal, WorldTwist};
use glam::DVec3;

fn herd(count: u32) -> Machine {
    let mut machine = Machine::new();
    for k in 0..count {
        machines::quadruped(&mut machine, DVec3::X * f64::from(k), 0.3);
    }
    machine.stir(3, 0.02);
    machine
}

/// To the last bit.
#[test]
fn threads_do_not_matter() {
    let machine = herd(30);
    let mut net = machines::net(16);
    net.stir(4, 0.01);
    for machine in [machine, net] {
        let mut answers = Vec::new();
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            answers.push(pool.install(|| solved(&machine, 1e-6)));
        }
        answers.push(solved(&machine, 1e-6));
        for answer in &answers[1..] {
            assert!(*answer == answers[0]);
        }
    }
}

/// To the last bit: buffers, plans and multipliers of earlier solves.
#[test]
fn a_reused_solver_gives_the_bits_of_a_fresh_one() {
    let mut used = Auto::default();
    for seed in 0..6 {
        for machine in [
            machines::humanoid(0.1),
            machines::random(seed, 8, [1, 1], 1.0),
            machines::table(),
        ] {
            let mut machine = machine;
            machine.stir(seed, 0.1);
            let mut impulse = vec![0.0; machine.view().rows()];
            let (report, twist) = solve(&mut used, &machine, &mut impulse, 1e-8);
            assert!((report, impulse, twist) == solved(&machine, 1e-8), "{seed}");
        }
    }
}

/// The islands without joints are solved as if the others were not there: to the last bit.
#[test]
fn a_pile_does_not_see_the_robot_beside_it() {
    for seed in 0..5 {
        let pile = OwnedProblem::random(seed, 30, 50);
        let mut machine = Machine {
            inverse_mass: pile.inverse_mass.clone(),
            free_twist: pile.free_twist.clone(),
            contacts: pile.contacts.clone(),
            interactions: Vec::new(),
            pull: Vec::new(),
            at: vec![DVec3::ZERO; 30],
        };
        machines::quadruped(&mut machine, DVec3::ZERO, 0.3);
        // The same bodies, without the robot's interactions.
        let mut alone = machine.clone();
        alone.contacts.truncate(50);
        alone.interactions.clear();
        let (_, beside, _) = solved(&machine, 1e-9);
        let (_, expected, _) = solved(&alone, 1e-9);
        assert_eq!(beside[..150], expected[..], "{seed}");
    }
}

/// The order of bodies and interactions changes roundings only. Frictionless, so that the twists are unique.
#[test]
fn the_order_of_bodies_and_interactions_does_not_matter() {
    for seed in 0..10 {
        let mut machine = machines::random(seed, 7, [1, 2], 1.0);
        let load = machine.body(DVec3::Z * 3.0, 5.0, DVec3::splat(0.2));
        machine.touch([load, 2], DVec3::new(0.1, 0.2, 2.0), DVec3::Z, 0.0);
        machine.touch([load, 4], DVec3::new(-0.1, 0.2, 2.0), DVec3::Z, 0.0);
        let n = machine.at.len();
        let place = |j: usize| n - 1 - j;
        let mut other = machine.clone();
        for j in 0..n {
            other.inverse_mass[place(j)] = machine.inverse_mass[j];
            other.free_twist[place(j)] = machine.free_twist[j];
        }
        let turn = |bodies: [u32; 2]| bodies.map(|j| place(j as usize) as u32);
        other
            .contacts
            .iter_mut()
            .for_each(|contact| contact.bodies = turn(contact.bodies));
        other
            .interactions
            .iter_mut()
            .for_each(|joint| joint.bodies = turn(joint.bodies));
        other.contacts.reverse();
        other.interactions.reverse();
        let (a, _, here) = solved(&machine, 1e-11);
        let (b, _, there) = solved(&other, 1e-11);
        assert!(a.converged() && b.converged(), "{seed}: {a:?} {b:?}");
        let distance = |a: &WorldTwist, b: &WorldTwist| {
            (a.linear - b.linear).length() + (a.angular - b.angular).length()
        };
        for (j, twist) in here.iter().enumerate() {
            let distance = distance(twist, &there[place(j)]);
            assert!(distance <= 1e-8, "{seed} {j}: {distance:e}");
        }
    }
}

/// A cancelled solve returns exact joints and says so.
#[test]
fn a_cancelled_solve_has_exact_joints() {
    let machine = machines::table();
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let goal = Goal {
        cancel: Some(&cancel),
        ..Goal::scaled(1e-12)
    };
    let mut impulse = vec![0.0; machine.view().rows()];
    let report = Auto::default()
        .solve_factored(&machine.view(), &mut impulse, &mut Vec::new(), &goal)
        .unwrap();
    assert_eq!(report.status, crate::SolverStatus::Cancelled);
    assert!(report.residual.constraint_velocity <= 1e-10, "{report:?}");
}
