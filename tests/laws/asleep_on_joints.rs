//! **Law.** What hangs on a joint sleeps only while nothing moves the joint: its host, its motor, or its weight.
//!
//! Contacts keep awake what lies on a kinematic body in motion (`sleeping::a_conveyor_keeps_awake_what_lies_on_it`); joints must. A load that does not follow its
//! host is an open joint, which the report must show.

use crate::support::*;

fn cube(simulation: &mut Simulation, mass: f64, at: DVec3) -> Entity {
    let body = (
        RigidBody::Dynamic,
        Collider::cuboid(0.1, 0.1, 0.1),
        Mass::scaled_to(mass),
        Pose::from_position(at),
    );
    simulation.spawn(body).unwrap()
}

/// A crane's trolley, kinematic or static, with a load asleep on a rigid joint under it.
fn hung(host: RigidBody) -> (Simulation, Entity, Entity) {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let trolley = simulation
        .spawn((host, Collider::sphere(0.1), Pose::at(0.0, 0.0, 2.0)))
        .unwrap();
    let load = cube(&mut simulation, 1.0, DVec3::Z);
    let joint = Joint::new(trolley, load, JointKind::Fixed).at(DVec3::Z, DVec3::Z);
    simulation.spawn_joint(joint, ()).unwrap();
    for _ in 0..300 {
        simulation.step().unwrap();
    }
    assert!(simulation.is_sleeping(load));
    (simulation, trolley, load)
}

/// How far the joint is open, m.
fn open(simulation: &Simulation, trolley: Entity, load: Entity) -> f64 {
    let apart =
        simulation.pose(trolley).unwrap().position - simulation.pose(load).unwrap().position;
    (apart - DVec3::Z).length()
}

#[test]
fn a_trolley_takes_its_sleeping_load_along() {
    let (mut simulation, trolley, load) = hung(RigidBody::Kinematic);
    simulation.set(trolley, Twist::linear(0.0, 0.0, 1.0));
    for _ in 0..200 {
        let report = simulation.step().unwrap();
        let apart = open(&simulation, trolley, load);
        let said = report.joint_error;
        assert!(apart < 1e-9, "{apart} m apart, the report says {said:e}");
    }
}

#[test]
fn a_target_of_a_trolley_takes_its_sleeping_load_along() {
    let (mut simulation, trolley, load) = hung(RigidBody::Kinematic);
    for step in 1..=100 {
        let target = Pose::at(0.01 * f64::from(step), 0.0, 2.0);
        simulation.move_to(trolley, target).unwrap();
        let report = simulation.step().unwrap();
        let apart = open(&simulation, trolley, load);
        let said = report.joint_error;
        assert!(apart < 1e-9, "{apart} m apart, the report says {said:e}");
    }
}

#[test]
fn a_static_host_that_is_put_elsewhere_wakes_its_load() {
    let (mut simulation, trolley, load) = hung(RigidBody::Static);
    simulation.set(trolley, Pose::at(0.0, 0.0, 2.1));
    simulation.step().unwrap();
    assert!(!simulation.is_sleeping(load));
    let apart = open(&simulation, trolley, load);
    assert!(apart < 1e-9, "{apart} m apart");
}

/// Nothing lies on the host, and nothing tells that it fell but the joint.
#[test]
fn a_static_host_that_is_let_go_falls_with_its_load() {
    let (mut simulation, trolley, load) = hung(RigidBody::Static);
    simulation.set(trolley, RigidBody::Dynamic);
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        let apart = open(&simulation, trolley, load);
        let said = report.joint_error;
        assert!(apart < 1e-9, "{apart} m apart, the report says {said:e}");
    }
    // g t²/2 after half a second.
    let fell = 1.0 - simulation.pose(load).unwrap().position.z;
    assert!((fell - 9.81 / 8.0).abs() < 1e-9, "fell {fell} m");
}

#[test]
fn a_link_does_not_sleep_while_the_next_one_swings() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let upper = cube(&mut simulation, 1.0, DVec3::new(0.5, 0.0, 0.0));
    let lower = cube(&mut simulation, 1.0, DVec3::new(1.5, 0.0, 0.0));
    let pin = Joint::to_world(upper, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    simulation.spawn_joint(pin, ()).unwrap();
    let pin = Joint::new(upper, lower, JointKind::Revolute).at(DVec3::X, DVec3::Y);
    simulation.spawn_joint(pin, ()).unwrap();
    for _ in 0..20 {
        simulation.step().unwrap();
    }
    // By hand, which contacts with what is awake undo as well.
    simulation.set(upper, Sleeping);
    simulation.step().unwrap();
    assert!(!simulation.is_sleeping(upper));
    let (before, energy) = (simulation.pose(upper).unwrap(), simulation.step().unwrap());
    assert_ne!(simulation.pose(upper).unwrap(), before);
    let gap = energy.energy.energy_gap;
    assert!(gap.abs() < 1e-9, "energy from nowhere: {gap} J");
}

#[test]
fn what_a_motor_drives_does_not_fall_asleep() {
    for rate in [0.02, 1e-3] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let hand = cube(&mut simulation, 1.0, DVec3::ZERO);
        let hinge = Joint::to_world(hand, JointKind::Revolute).at(DVec3::ZERO, DVec3::Z);
        let drive = motor(JointAxis::RotationZ, rate, f64::INFINITY);
        simulation.spawn_joint(hinge, drive).unwrap();
        for _ in 0..2000 {
            simulation.step().unwrap();
        }
        let q = simulation.pose(hand).unwrap().orientation;
        let (angle, right) = (2.0 * libm::atan2(q.z, q.w), 10.0 * rate);
        assert!(
            (angle - right).abs() < 0.01 * right,
            "{angle} of {right} rad"
        );
    }
}

#[test]
fn what_starts_slowly_does_not_fall_asleep() {
    // 12 N on a tonne.
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let wagon = cube(&mut simulation, 1e3, DVec3::ZERO);
    let slider = Joint::to_world(wagon, JointKind::Prismatic).at(DVec3::ZERO, DVec3::X);
    let drive = motor(JointAxis::Z, 0.5, 12.0);
    simulation.spawn_joint(slider, drive).unwrap();
    // Two weights on a coupler that all but balance.
    let mut sliders = Vec::new();
    let mut weights = Vec::new();
    for (x, mass) in [(5.0, 1.0), (6.0, 1.002)] {
        let weight = cube(&mut simulation, mass, DVec3::X * x);
        let slider = Joint::to_world(weight, JointKind::Prismatic).at(DVec3::X * x, DVec3::Z);
        sliders.push(simulation.spawn_joint(slider, ()).unwrap());
        weights.push(weight);
    }
    let (first, second) = ((sliders[0], JointAxis::Z), (sliders[1], JointAxis::Z));
    simulation
        .spawn_coupler(Coupler::mimic(second, first, -1.0, 0.0))
        .unwrap();
    for _ in 0..1000 {
        simulation.step().unwrap();
    }
    let went = simulation.pose(wagon).unwrap().position.x;
    let rose = simulation.pose(weights[0]).unwrap().position.z;
    let right = 0.5 * G * 0.002 / 2.002 * 25.0;
    println!("{went} of 0.15 m, {rose} of {right} m");
    assert!((went - 0.15).abs() < 2e-3, "{went} of 0.15 m");
    assert!((rose - right).abs() < 2e-3, "{rose} of {right} m");
}

/// An arm of 1 kg that a servo holds level, its centre 0.5 m from the hinge, and beside it two weights of 2 kg on sliders that hang on one
/// another over a coupler.
struct Holding {
    simulation: Simulation,
    arm: Entity,
    hinge: Entity,
    weight: Entity,
    coupler: Entity,
}

impl Holding {
    fn new(settings: Settings) -> Self {
        let mut simulation = Simulation::new(settings).unwrap();
        let arm = cube(&mut simulation, 1.0, DVec3::X * 0.5);
        let hinge = Joint::to_world(arm, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        let servo = JointForce::Motor {
            axis: JointAxis::RotationZ,
            position: 0.0,
            velocity: 0.0,
            stiffness: 1e4,
            damping: 1e3,
            effort: f64::INFINITY,
        };
        let hinge = simulation.spawn_joint(hinge, JointForces(vec![servo]));
        let mut weights = Vec::new();
        let mut sliders = Vec::new();
        for x in [5.0, 6.0] {
            let weight = cube(&mut simulation, 2.0, DVec3::X * x);
            let slider = Joint::to_world(weight, JointKind::Prismatic).at(DVec3::X * x, DVec3::Z);
            sliders.push(simulation.spawn_joint(slider, ()).unwrap());
            weights.push(weight);
        }
        let (first, second) = ((sliders[0], JointAxis::Z), (sliders[1], JointAxis::Z));
        let coupler = Coupler::mimic(second, first, -1.0, 0.0);
        Self {
            coupler: simulation.spawn_coupler(coupler).unwrap(),
            hinge: hinge.unwrap(),
            weight: weights[0],
            simulation,
            arm,
        }
    }

    fn fallen_asleep() -> Self {
        let mut machine = Self::new(Settings::default());
        let mut last = machine.readings();
        for _ in 0..1000 {
            let awake = machine.simulation.step().unwrap().sleeping < 3;
            if !awake {
                break;
            }
            last = machine.readings();
        }
        assert!(machine.sleeps());
        // What the last step before says, but for what still moved in it.
        for (now, before) in machine.readings().iter().zip(&last) {
            assert!((now - before).abs() < 1e-3 * (1.0 + before.abs()));
        }
        machine
    }

    fn sleeps(&self) -> bool {
        self.simulation.is_sleeping(self.arm) && self.simulation.is_sleeping(self.weight)
    }

    /// Force and torque of the hinge, effort of the servo, force of the coupler.
    fn readings(&self) -> [f64; 8] {
        let of = self
            .simulation
            .joint_reaction(self.hinge)
            .unwrap_or_default();
        let effort = self.simulation.joint_efforts(self.hinge);
        let effort = effort.map_or(0.0, |efforts| efforts[0]);
        let pulls = self.simulation.coupler_force(self.coupler).unwrap_or(0.0);
        let [f, m] = [of.force, of.torque];
        [f.x, f.y, f.z, m.x, m.y, m.z, effort, pulls]
    }
}

fn bits(machine: &Holding) -> [u64; 8] {
    machine.readings().map(f64::to_bits)
}

#[test]
fn what_a_machine_asleep_reads_is_what_holds_it() {
    let mut machine = Holding::fallen_asleep();
    let first = machine.readings();
    let [.., effort, pulls] = first;
    let force = DVec3::from_slice(&first[..3]);
    // The weight of the arm, and its moment 0.5 m from the hinge. What the arm still moves as it falls asleep is below the sleeping rule: a quarter of
    // 0.02 m/s within half a second.
    assert!((force.length() - G).abs() < 1e-3 * G, "{force} N");
    assert!((effort.abs() - 0.5 * G).abs() < 1e-3 * G, "{effort} N·m");
    assert!((pulls.abs() - 2.0 * G).abs() < 1e-3 * G, "{pulls} N");
    let held = bits(&machine);
    for _ in 0..50 {
        machine.simulation.step().unwrap();
        assert_eq!(bits(&machine), held);
    }
}

#[test]
fn readings_asleep_outlast_what_comes_and_goes_elsewhere() {
    let mut machine = Holding::fallen_asleep();
    let first = bits(&machine);
    // Joints with lower ids than those of the machine, and with higher ones.
    for id in [None, Some(JointId(1 << 40))] {
        let body = cube(&mut machine.simulation, 1.0, DVec3::new(0.0, 50.0, 5.0));
        let joint = Joint::to_world(body, JointKind::Ball).at(DVec3::new(0.0, 50.0, 6.0), DVec3::Z);
        let joint = match id {
            Some(id) => machine.simulation.spawn_joint(joint, id),
            None => machine.simulation.spawn_joint(joint, ()),
        };
        machine.simulation.step().unwrap();
        assert!(machine.sleeps());
        assert_eq!(bits(&machine), first);
        machine.simulation.despawn(joint.unwrap());
        machine.simulation.step().unwrap();
        assert!(machine.sleeps());
        assert_eq!(bits(&machine), first);
    }
}

#[test]
fn what_wakes_reads_its_own_steps_again() {
    let mut machine = Holding::fallen_asleep();
    machine.simulation.set(
        machine.arm,
        Wrench::default().with_force_at(DVec3::Z * -G, DVec3::ZERO),
    );
    machine.simulation.step().unwrap();
    assert!(!machine.simulation.is_sleeping(machine.arm));
    for _ in 0..100 {
        machine.simulation.step().unwrap();
    }
    let [.., effort, pulls] = machine.readings();
    assert!((effort.abs() - G).abs() < 1e-3 * G, "{effort} N·m");
    // The other machine sleeps on.
    assert!((pulls.abs() - 2.0 * G).abs() < 1e-3 * G, "{pulls} N");
    assert!(machine.simulation.is_sleeping(machine.weight));
}

#[test]
fn a_joint_asleep_bears_what_it_bore_and_does_not_break_of_it() {
    let mut machine = Holding::fallen_asleep();
    let within = BreakLimit {
        force: 1.01 * G,
        ..BreakLimit::default()
    };
    machine.simulation.set(machine.hinge, within);
    for _ in 0..1000 {
        assert_eq!(machine.simulation.step().unwrap().broken_joints, 0);
    }
    assert!(machine.sleeps());
    // Weaker than its load, it wakes and breaks.
    let below = BreakLimit {
        force: 0.99 * G,
        ..BreakLimit::default()
    };
    machine.simulation.set(machine.hinge, below);
    assert_eq!(machine.simulation.step().unwrap().broken_joints, 1);
}
