//! What is said of an answer: three figures, none behind another, and a status that counts them all.

use super::machines::{self, Machine};
use super::solved;
use crate::{
    Auto, Goal, Law, Residual, SolverReport, SolverStatus, VelocityGoal, WorldTwist, natural_map,
};
use glam::DVec3;

fn judged(machine: &Machine, impulse: &[f64]) -> Residual {
    natural_map::factored(&machine.view(), impulse, &mut Vec::new())
}

/// A redundant joint may carry any load in itself: it moves nothing, and the residual of contacts does not see it.
#[test]
fn the_load_in_a_joint_does_not_hide_what_contacts_leave() {
    let machine = machines::table();
    let (_, impulse, _) = solved(&machine, 1e-3);
    let before = judged(&machine, &impulse);
    assert!(before.scaled > 0.0);
    let mut loaded = impulse.clone();
    // The first two hinges of the first leg are on one axis: a force along it, and back.
    let first = 3 * machine.contacts.len();
    loaded[first + 1] += 1e3;
    loaded[first + 6] -= 1e3;
    let after = judged(&machine, &loaded);
    assert!(
        (after.scaled - before.scaled).abs() <= 1e-9 * before.scaled,
        "{before:?} {after:?}"
    );
    assert!(after.constraint_velocity <= 1e-10);
}

/// A joint that is open is seen in its own figures, however well contacts are solved.
#[test]
fn an_open_joint_is_seen() {
    let machine = machines::table();
    let (_, mut impulse, _) = solved(&machine, 1e-10);
    let last = impulse.len() - 1;
    impulse[last] += 1e-3;
    let residual = judged(&machine, &impulse);
    assert!(
        residual.constraint_velocity > 1e-6 && residual.constraint > 1e-6,
        "{residual:?}"
    );
    assert!(Goal::scaled(1e-8).excess(&residual) > 1.0);
}

/// A motor beyond its bound is seen as such.
#[test]
fn a_bound_that_is_broken_is_seen() {
    let machine = machines::humanoid(0.05);
    let (_, mut impulse, _) = solved(&machine, 1e-10);
    assert!(judged(&machine, &impulse).box_violation <= 0.0);
    let mut row = 3 * machine.contacts.len();
    for other in &machine.interactions {
        if matches!(other.law, Law::Interval(_)) {
            impulse[row] = 0.07;
            break;
        }
        row += other.law.rows();
    }
    let residual = judged(&machine, &impulse);
    assert!(
        (residual.box_violation - 0.02).abs() <= 1e-15,
        "{residual:?}"
    );
}

/// Two drives of one hinge that ask for different speeds.
#[test]
fn a_contradiction_among_joints_is_infeasible() {
    let mut machine = Machine::new();
    let arm = machine.body(DVec3::X, 1.0, DVec3::new(1.0, 0.05, 0.05));
    machine.hinge([0, arm], DVec3::ZERO, DVec3::Y);
    machine.about([arm, 0], DVec3::Y, Law::equality(1), 1.0, 0.0);
    machine.about([arm, 0], DVec3::Y, Law::equality(1), -1.0, 0.0);
    let (report, ..) = solved(&machine, 1e-4);
    assert_eq!(report.status, SolverStatus::Infeasible, "{report:?}");
}

/// A wall that comes onto a body that joints hold.
#[test]
fn a_contact_that_joints_hold_open_to_nothing_is_infeasible() {
    let mut machine = Machine::new();
    let post = machine.body(DVec3::X, 1.0, DVec3::splat(0.1));
    machine.weld([0, post], DVec3::ZERO);
    machine.inverse_mass.push(crate::InverseMass::FIXED);
    machine.free_twist.push(WorldTwist {
        linear: DVec3::X,
        angular: DVec3::ZERO,
    });
    machine.at.push(DVec3::ZERO);
    machine.touch([post, 2], DVec3::X * 0.9, DVec3::X, 0.5);
    let (report, ..) = solved(&machine, 1e-4);
    assert_eq!(report.status, SolverStatus::Infeasible, "{report:?}");
}

/// In a time step: the second figure is met, joints are exact, and the report is that of what is returned.
#[test]
fn a_step_reaches_both_figures() {
    for mut machine in [
        machines::humanoid(2.0),
        machines::table(),
        machines::stewart(),
    ] {
        machine.stir(5, 0.05);
        let velocity = VelocityGoal {
            rms: 1e-6,
            rms_new: 1e-7,
            scale: 0.05,
            grows: true,
            creep: f64::INFINITY,
        };
        let mut impulse = vec![0.0; machine.view().rows()];
        let mut twist = Vec::new();
        let mut auto = Auto::default();
        let goal = Goal::scaled(1e-3);
        let report: SolverReport = auto
            .solve_step(&machine.view(), &mut impulse, &mut twist, &goal, &velocity)
            .unwrap();
        assert!(report.converged(), "{report:?}");
        assert!(report.island_velocity <= 1e-7, "{report:?}");
        assert!(report.residual.constraint_velocity <= 1e-10, "{report:?}");
        let mut again = Vec::new();
        let residual = natural_map::factored(&machine.view(), &impulse, &mut again);
        assert_eq!(residual, report.residual);
        assert!(
            again
                .iter()
                .zip(&twist)
                .all(|(a, b)| (a.linear - b.linear).length() <= 1e-12)
        );
    }
}
