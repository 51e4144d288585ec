//! Laws of joints.

use super::machines::{self, Machine};
use super::{solve, solved};
use crate::{Auto, Goal, Law, VelocityGoal};
use glam::DVec3;

fn machines() -> Vec<(&'static str, Machine)> {
    let mut quadruped = Machine::new();
    machines::quadruped(&mut quadruped, DVec3::ZERO, 1.0);
    let mut weak = Machine::new();
    machines::quadruped(&mut weak, DVec3::ZERO, 0.02);
    vec![
        ("chain", machines::chain(50, 100.0, true)),
        ("chain on the floor", machines::chain(20, 1.0, false)),
        ("quadruped", quadruped),
        ("weak quadruped", weak),
        ("humanoid", machines::humanoid(2.0)),
        ("weak humanoid", machines::humanoid(0.05)),
        ("four-bar", machines::four_bar()),
        ("stewart", machines::stewart()),
        ("table", machines::table()),
        ("net", machines::net(6)),
    ]
}

/// In rest and stirred, from nothing and from the last solution.
#[test]
fn machines_are_solved_and_their_joints_are_exact() {
    for (name, machine) in machines() {
        let mut auto = Auto::default();
        let mut impulse = vec![0.0; machine.view().rows()];
        for (seed, speed) in [(0, 0.0), (1, 0.01), (2, 0.3)] {
            let mut machine = machine.clone();
            machine.stir(seed, speed);
            for tolerance in [1e-4, 1e-8] {
                let (report, _) = solve(&mut auto, &machine, &mut impulse, tolerance);
                assert!(report.converged(), "{name} {speed}: {report:?}");
                let left = report.residual.constraint_velocity;
                assert!(left <= 1e-10, "{name} {speed}: {left:e}");
                assert!(report.residual.box_violation <= 0.0, "{name}");
            }
        }
    }
}

/// Where the work is cut short joints are exact all the same.
#[test]
fn joints_are_exact_when_a_solve_is_cut_short() {
    for (name, mut machine) in machines() {
        machine.stir(3, 0.5);
        let mut auto = Auto::default();
        auto.settings.max_sweeps = 1;
        auto.settings.max_factorizations = 0;
        let mut impulse = vec![0.0; machine.view().rows()];
        let (report, _) = solve(&mut auto, &machine, &mut impulse, 1e-12);
        let left = report.residual.constraint_velocity;
        assert!(left <= 1e-10, "{name}: {left:e} {report:?}");
    }
}

/// A motor that is asked for more than its bound gives its bound.
#[test]
fn a_motor_stalls_at_its_bound() {
    let mut machine = Machine::new();
    let arm = machine.body(DVec3::X, 1.0, DVec3::new(1.0, 0.05, 0.05));
    machine.hinge([0, arm], DVec3::ZERO, DVec3::Y);
    machine.about([arm, 0], DVec3::Y, Law::interval(-0.01, 0.01), 5.0, 0.0);
    let (report, impulse, _) = solved(&machine, 1e-10);
    assert!(report.converged());
    assert_eq!(impulse[5..], [-0.01]);
}

/// A plate of 1 g on a slider that a motor of any bound presses on a block of 1 kg: the ground bears the bound, also where the work is cut
/// short, with the motor moved by nothing before.
#[test]
fn a_light_plate_presses_with_all_that_its_motor_has() {
    for bound in [1.0, 1e3] {
        let mut machine = Machine::new();
        let half = DVec3::splat(0.1);
        let block = machine.body(DVec3::Z * 0.1, 1.0, half);
        let plate = machine.body(DVec3::Z * 0.3, 1e-3, half);
        machine.joint(
            [plate, 0],
            DVec3::Z * 0.3,
            &[DVec3::X, DVec3::Y],
            &DVec3::AXES,
        );
        let motor = machine.joint([plate, 0], DVec3::ZERO, &[DVec3::Z], &[]);
        machine.interactions[motor].law = Law::interval(-bound, bound);
        machine.interactions[motor].offset[0] = 1.0;
        for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let corner = DVec3::new(0.1 * x, 0.1 * y, 0.0);
            machine.ground(block, corner, 0.5);
            machine.touch([plate, block], corner + DVec3::Z * 0.2, DVec3::Z, 0.5);
        }
        let mut auto = Auto::default();
        auto.settings.max_sweeps = 500;
        auto.settings.max_factorizations = 0;
        let mut impulse = vec![0.0; machine.view().rows()];
        let (report, twist) = solve(&mut auto, &machine, &mut impulse, 1e-8);
        assert!(report.converged(), "{bound}: {report:?}");
        assert_eq!(impulse.last(), Some(&-bound));
        let speed = twist.iter().map(|twist| twist.linear.length());
        let fastest = speed.fold(0.0, f64::max);
        assert!(fastest <= 1e-3, "{bound}: {fastest} m/s");
    }
}

/// A paddle on a slider is to press rows of balls through a wall: its motor does not, and that it cannot is seen in about as many sweeps as the step with the motor at its
/// bound takes.
#[test]
fn a_motor_that_presses_a_pile_is_at_its_bound_soon() {
    let mut machine = Machine::new();
    let (radius, edge, bound) = (0.05, 12, 0.5);
    let wide = DVec3::new(0.01, 1.0, 0.1);
    let paddle = machine.body(DVec3::new(-0.06, 0.0, 0.05), 2.0, wide);
    let at = machine.at[paddle as usize];
    machine.joint([paddle, 0], at, &[DVec3::Y, DVec3::Z], &DVec3::AXES);
    for row in 0..edge {
        let mut last = paddle;
        for k in 0..edge {
            let center = DVec3::new(2.0 * f64::from(k), 2.0 * f64::from(row), 1.0) * radius;
            let ball = machine.body(center, 0.1, DVec3::splat(radius));
            machine.ground(ball, center - DVec3::Z * radius, 0.5);
            machine.touch([ball, last], center - DVec3::X * radius, DVec3::X, 0.3);
            last = ball;
        }
        let end = machine.at[last as usize] + DVec3::X * radius;
        machine.touch([last, 0], end, DVec3::NEG_X, 0.3);
    }
    let motor = machine.joint([paddle, 0], at, &[DVec3::X], &[]);
    machine.interactions[motor].law = Law::interval(-bound, bound);
    machine.interactions[motor].offset[0] = -1.0;
    let sweeps = [0.0, bound].map(|start| {
        let mut impulse = vec![0.0; machine.view().rows()];
        impulse[machine.view().rows() - 1] = start;
        let (report, _) = solve(&mut Auto::default(), &machine, &mut impulse, 1e-4);
        assert!(report.converged(), "{start}: {report:?}");
        assert_eq!(impulse.last(), Some(&bound));
        report.iterations
    });
    println!("{sweeps:?}");
    assert!(sweeps[0] <= 4 * sweeps[1].max(100), "{sweeps:?}");
}

/// A machine, its balls rubbed by `bound` N·m·s together.
fn rubbed(mut machine: Machine, bound: f64) -> Machine {
    let balls: Vec<[u32; 2]> = machine
        .interactions
        .iter()
        .filter(|other| other.law.rows() == 3)
        .map(|other| other.bodies)
        .collect();
    for bodies in balls {
        let rubs = machine.joint(bodies, DVec3::ZERO, &[], &DVec3::AXES);
        machine.interactions[rubs].law = Law::ball(bound);
    }
    machine
}

/// Friction of balls by the definition: it holds, or it is at its bound against the motion; on chains with and without contacts and on a tree, with bounds from none
/// to what nothing reaches.
#[test]
fn friction_of_balls_holds_or_is_at_its_bound_against_the_motion() {
    let (mut held, mut slipped) = (0, 0);
    let machines = [
        machines::chain(8, 1e3, true),
        machines::chain(12, 1.0, false),
        machines::humanoid(2.0),
        machines::stewart(),
        machines::table(),
    ];
    for (index, machine) in machines.into_iter().enumerate() {
        for bound in [0.0, 1e-6, 1e-3, 0.03, 1.0, 1e6] {
            let mut machine = rubbed(machine.clone(), bound);
            machine.stir(index as u64, 0.3);
            let (report, impulse, twist) = solved(&machine, 1e-12);
            assert!(report.converged(), "{index} {bound}: {report:?}");
            let residual = report.residual;
            let closed = residual.constraint_velocity <= 1e-10 || residual.constraint <= ROUNDING;
            assert!(closed, "{index} {bound}: {residual:?}");
            // The last rounding of a norm.
            let rounding = 4.0 * f64::EPSILON * bound;
            assert!(residual.box_violation <= rounding, "{residual:?}");
            let mut row = 3 * machine.contacts.len();
            for other in &machine.interactions {
                let r = &impulse[row..row + other.law.rows()];
                row += r.len();
                if !matches!(other.law, Law::Ball(_)) {
                    continue;
                }
                let r = DVec3::from_slice(r);
                let [a, b] = other.bodies.map(|j| twist[j as usize].angular);
                let w = a - b;
                assert!(
                    (r.dot(w) + bound * w.length()).abs() <= 1e-8 * (1.0 + bound),
                    "{index} {bound}: {r} {w}"
                );
                if w.length() <= 1e-9 {
                    held += 1;
                } else {
                    slipped += 1;
                }
            }
        }
    }
    assert!(held > 50 && slipped > 50, "{held} {slipped}");
}

/// Mass ratios up to a million, with loops and doubled joints, in the twists that are returned: those that follow from the multipliers
/// have their rounding, 1e-16 of up to 1e9 m/s. What satisfies the rows with `v = v_free + M⁻¹Jᵀλ` is the solution.
#[test]
fn joints_are_exact_at_all_mass_ratios() {
    for seed in 0..60 {
        let doubled = [seed as usize % 2, seed as usize % 3];
        let machine = machines::random(seed, 4 + seed as usize % 12, doubled, 6.0);
        let (report, impulse, twist) = solved(&machine, 1e-6);
        assert!(report.converged(), "{seed}: {report:?}");
        let left = open(&machine, &impulse, &twist);
        assert!(left <= 1e-10, "{seed}: {left:e} {report:?}");
    }
}

/// The largest `|J v + C λ + d|` of the twists that are returned, m/s or rad/s.
fn open(machine: &Machine, impulse: &[f64], twist: &[crate::WorldTwist]) -> f64 {
    let mut rows = impulse[3 * machine.contacts.len()..].iter();
    let mut left = 0.0_f64;
    for other in &machine.interactions {
        let [a, b] = other.bodies.map(|j| twist[j as usize]);
        let v = [a.linear, a.angular, b.linear, b.angular].map(|v| v.to_array());
        for row in 0..other.law.rows() {
            let r = rows.next().unwrap();
            let terms = other.rows[row].iter().zip(v.as_flattened());
            let u = terms.map(|(g, v)| g * v).sum::<f64>();
            let u = u + other.offset[row] + other.compliance[row] * r;
            if let Law::Equality(_) = other.law {
                left = left.max(u.abs());
            }
        }
    }
    left
}

/// Contacts with friction on machines, by the definition of the law: no approach, impulses in their cones, and either sticking or
/// friction at its bound against the motion.
#[test]
fn contacts_of_machines_obey_coulomb() {
    for (seed, mut machine) in [
        machines::humanoid(2.0),
        machines::table(),
        machines::chain(12, 1.0, false),
        machines::stewart(),
    ]
    .into_iter()
    .enumerate()
    {
        machine.stir(seed as u64, 0.2);
        let (report, impulse, twist) = solved(&machine, 1e-10);
        assert!(report.converged(), "{seed}: {report:?}");
        for (contact, r) in machine.contacts.iter().zip(impulse.chunks(3)) {
            let [a, b] = contact.bodies.map(|j| &twist[j as usize]);
            let (u, r) = (contact.local_velocity(a, b), DVec3::from_slice(r));
            let (slip, push) = (u.truncate_normal(), r.truncate_normal());
            let bound = contact.friction * r.x;
            assert!(
                u.x >= -1e-8 && push.length() <= bound + 1e-9,
                "{seed}: {u} {r}"
            );
            assert!((u.x * r.x).abs() <= 1e-8, "{seed}: {u} {r}");
            let power = push.dot(slip) + bound * slip.length();
            assert!(power.abs() <= 1e-8, "{seed}: {u} {r} {power:e}");
        }
    }
}

trait Tangent {
    fn truncate_normal(self) -> Self;
}

impl Tangent for DVec3 {
    fn truncate_normal(self) -> Self {
        Self::new(0.0, self.y, self.z)
    }
}

/// `½ vᵀMv`.
fn energy(machine: &Machine, twist: &[crate::WorldTwist]) -> f64 {
    let bodies = machine
        .inverse_mass
        .iter()
        .zip(twist)
        .filter(|(mass, _)| !mass.is_fixed());
    let of = bodies.map(|(mass, twist)| {
        let momentum = mass.angular.inverse() * twist.angular;
        0.5 * (twist.linear.length_squared() / mass.linear + twist.angular.dot(momentum))
    });
    of.sum()
}

/// The rounding of the multipliers' own sum, relative to them: of rows that are nearly redundant they are millions of times the load.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A loop whose rows are all but redundant: each correction takes away a part of what they leave, down to rounding.
#[test]
fn a_nearly_redundant_loop_is_closed() {
    let machine = machines::random(55680, 6, [1, 0], 2.0);
    let (report, _, _) = solved(&machine, 1e-8);
    assert!(report.converged(), "{report:?}");
    assert!(report.residual.constraint <= ROUNDING, "{report:?}");
    assert!(report.residual.constraint_velocity <= 1e-8, "{report:?}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Joints at rest take energy and give none, with contacts or without: ½ v_freeᵀMv_free − ½ vᵀMv = ½ rᵀWr − uᵀr ≥ 0.
    #[test]
    fn energy_does_not_grow(seed in 0_u64..100_000, bodies in 2_usize..10, loops in 0_usize..3, doubled in 0_usize..3, contacts in 0_usize..5) {
        let mut machine = machines::random(seed, bodies, [loops, doubled], 2.0);
        for k in 0..contacts {
            machine.ground(1 + (k % bodies) as u32, DVec3::new(k as f64, 0.3, 0.0), 0.6);
        }
        let (report, _, twist) = solved(&machine, 1e-8);
        let (before, after) = (energy(&machine, &machine.free_twist), energy(&machine, &twist));
        let left = report.residual;
        proptest::prop_assert!(left.constraint_velocity <= 1e-10 || left.constraint <= ROUNDING, "{report:?}");
        proptest::prop_assert!(after <= before * (1.0 + 1e-9), "{before} {after} {report:?}");
    }

    /// Limits, contacts and friction of joints that were stopped anywhere, from any start, do no work either: all that they may do is a set that contains 0.
    #[test]
    fn stopped_impulses_of_machines_do_no_work(seed in 0_u64..100_000, bodies in 2_usize..10, load in 1.0_f64..1e6, sweeps in 1_usize..4) {
        let mut machine = machines::random(seed, bodies, [0, 0], 2.0);
        let mut random = crate::random::Random::new(seed);
        for k in 1..=bodies as u32 {
            machine.ground(k, DVec3::new(f64::from(k), 0.3, 0.0), 0.6);
            machine.about([k - 1, k], random.vector().normalize(), Law::Complementarity, 0.0, 0.0);
            machine.about([k - 1, k], random.vector().normalize(), Law::interval(-load, load), 0.0, 0.0);
        }
        let mut auto = Auto::default();
        auto.settings.max_sweeps = sweeps;
        auto.settings.max_factorizations = 0;
        let mut impulse = vec![load; machine.view().rows()];
        let (report, twist) = solve(&mut auto, &machine, &mut impulse, 1e-12);
        let (before, after) = (energy(&machine, &machine.free_twist), energy(&machine, &twist));
        proptest::prop_assert!(after <= before * (1.0 + 1e-9), "{before} {after} {report:?}");
    }

    /// What contacts that hold as well as push do beside a large adhesion is no work either, however rough the solve that found it: `r = r' − (a, 0, 0)` is of a set that contains 0.
    #[test]
    fn impulses_beside_adhesion_do_no_work(seed in 0_u64..100_000, bodies in 2_usize..8, jointed: bool, exponent in 0.0_f64..5.0, sweeps in 1_usize..6) {
        let mut machine = if jointed { machines::random(seed, bodies, [0, 0], 2.0) } else { Machine::new() };
        let mut random = crate::random::Random::new(seed);
        for k in 1..=bodies as u32 {
            if !jointed {
                machine.body(DVec3::X * f64::from(k), 1.0 + f64::from(k), DVec3::splat(0.3));
            }
            machine.ground(k, DVec3::new(f64::from(k), 0.3, 0.0), 0.6);
            machine.touch([k - 1, k], DVec3::new(f64::from(k), 0.1, 0.2), random.vector().normalize(), 0.4);
        }
        machine.stir(seed, 2.0);
        let before = energy(&machine, &machine.free_twist);
        let load = exponent.exp2().powi(4);
        let pull: Vec<f64> = machine.contacts.iter().map(|_| load * random.vector().length()).collect();
        machine.hold(&pull);
        let mut auto = Auto::default();
        auto.settings.max_sweeps = sweeps;
        auto.settings.max_factorizations = 0;
        let (mut impulse, mut twist) = (vec![load; machine.view().rows()], Vec::new());
        let velocity = VelocityGoal { rms: 1e-6, rms_new: 1e-7, scale: 0.05, grows: true, creep: f64::INFINITY };
        let report = auto.solve_step(&machine.view(), &mut impulse, &mut twist, &Goal::scaled(1e-3), &velocity);
        let after = energy(&machine, &twist);
        // Twists are sums of parts as large as the adhesion's.
        let rounding = 1e-12 * load * load;
        proptest::prop_assert!(after <= before * (1.0 + 1e-9) + rounding, "{before} {after} {report:?}");
    }

    /// A joint that is there twice moves nothing otherwise than once.
    #[test]
    fn redundant_rows_change_no_velocity(seed in 0_u64..100_000, bodies in 2_usize..12, doubled in 1_usize..5) {
        let machine = machines::random(seed, bodies, [1, 0], 2.0);
        let mut more = machine.clone();
        for k in 0..doubled {
            let again = more.interactions[k % machine.interactions.len()];
            more.interactions.push(again);
        }
        let (_, _, once) = solved(&machine, 1e-8);
        let (_, _, twice) = solved(&more, 1e-8);
        for (a, b) in once.iter().zip(&twice) {
            let distance = (a.linear - b.linear).length() + (a.angular - b.angular).length();
            proptest::prop_assert!(distance <= 1e-9, "{distance:e}");
        }
    }
}
