//! **Law.** A joint is closed, and an unbounded motor keeps its speed, whatever load contacts put on the machine; a step that cannot say so is not converged.
//!
//! Joints are closed to rounding at the end of every step (`docs/joints.md`). Plastic bodies without motors gain no energy; a step that is of
//! first order may gain what its rotations do, a hundredth of the energy in motion at most.

use crate::support::*;
use moreau_demos::built_in;
use std::f64::consts::{FRAC_PI_2, PI};

fn awake(time_step: f64) -> Settings {
    Settings {
        time_step,
        threads: 1,
        sleeping: SleepSettings {
            enabled: Some(false),
            ..SleepSettings::default()
        },
        ..Settings::default()
    }
}

/// Worst joint error, m or rad, and worst gain of energy, J, of the converged steps.
fn worst(duration: f64, time_step: f64, mut step: impl FnMut() -> StepReport) -> (f64, f64, usize) {
    let (mut open, mut gain, mut said): (f64, f64, usize) = (0.0, 0.0, 0);
    let mut before: Option<f64> = None;
    let mut t = 0.0;
    while t < duration {
        let report = step();
        t += time_step;
        let total = report.energy.total();
        if report.converged {
            open = open.max(report.joint_error);
            gain = gain.max(before.map_or(0.0, |before| total - before));
        } else {
            said += 1;
        }
        before = Some(total);
    }
    (open, gain, said)
}

/// The crate that falls on the bridge has a thousand times the mass of a plank; it falls with 3e3 J and more.
#[test]
fn the_bridge_under_a_heavy_crate_stays_closed() {
    for time_step in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
        let (open, _) = heavy_crate(time_step);
        assert!(open <= 1e-12, "joints open by {open} m");
    }
}

#[test]
#[ignore = "a known fault: under a heavy crate one converged step gains 790 J of 150 kJ at 1/200 s, 480 J at 1 ms"]
fn the_bridge_under_a_heavy_crate_gains_no_energy() {
    for time_step in [1.0 / 200.0, 1e-3] {
        let (_, gain) = heavy_crate(time_step);
        assert!(gain <= 30.0, "{gain} J");
    }
}

fn heavy_crate(time_step: f64) -> (f64, f64) {
    let mut run = built_in("bridge:n=12,ratio=1000").unwrap().start().unwrap();
    run.simulation.set_settings(awake(time_step)).unwrap();
    let (open, gain, said) = worst(2.0, time_step, || run.step().unwrap());
    println!("h {time_step}: open by {open:e}, gain {gain:e} J, {said} steps not converged");
    (open, gain)
}

/// Balls on a rope over a rough drum, with weights at both ends, heavy on one side.
fn rope_over_a_drum(
    time_step: f64,
    (weight, uneven): (f64, f64),
    duration: f64,
) -> (f64, f64, usize) {
    let mut simulation = Simulation::new(awake(time_step)).unwrap();
    let rough = Material::with_friction(0.3);
    let (links, drum) = (10, 0.5);
    let axis = Pose::default().with_orientation(turn(DVec3::X, FRAC_PI_2));
    let body = (
        RigidBody::Static,
        Collider::cylinder(0.3, drum),
        rough,
        axis,
    );
    simulation.spawn(body).unwrap();
    let radius = 0.3 * PI * drum / f64::from(links);
    let around = drum + radius;
    let mut places = vec![DVec3::new(-around, 0.0, -0.5)];
    for k in 0..=links {
        let (sin, cos) = libm::sincos(PI * f64::from(k) / f64::from(links));
        places.push(DVec3::new(-cos, 0.0, sin) * around);
    }
    places.push(DVec3::new(around, 0.0, -0.5));
    let last = places.len() - 1;
    let mut balls = Vec::new();
    for (k, place) in places.iter().enumerate() {
        let mass = match k {
            0 => weight,
            k if k == last => weight * uneven,
            _ => 1.0,
        };
        let ball = (
            RigidBody::Dynamic,
            Collider::sphere(radius),
            Mass::scaled_to(mass),
            rough,
            Pose::from_position(*place),
        );
        balls.push(simulation.spawn(ball).unwrap());
    }
    for k in 0..last {
        let middle = (places[k] + places[k + 1]) / 2.0;
        let joint = Joint::new(balls[k], balls[k + 1], JointKind::Ball).at(middle, DVec3::Y);
        simulation.spawn_joint(joint, NoCollision).unwrap();
    }
    worst(duration, time_step, || simulation.step().unwrap())
}

#[test]
fn a_rope_over_a_drum_stays_closed() {
    for (time_step, weight, uneven) in [
        (1.0 / 60.0, 100.0, 1.0),
        (1.0 / 60.0, 100.0, 3.0),
        (1.0 / 200.0, 1e4, 1.0),
    ] {
        let (open, gain, said) = rope_over_a_drum(time_step, (weight, uneven), 0.6);
        println!("h {time_step}, {weight}, {uneven}: open {open:e}, gain {gain:e} J, {said}");
        assert!(open <= 1e-12, "joints open by {open} m");
        // What hangs in balance at the longest steps: the law below.
        let balanced = time_step > 1e-2 && uneven < 2.0;
        assert!(balanced || gain <= 0.01 * weight, "{gain} J");
    }
}

/// The weights hang in balance: the balls that they press onto the drum tremble, and what closes the joints lifts the weights.
#[test]
#[ignore = "a known fault: from half a second on single converged steps gain up to 9 J, with arms to the middle of gaps (d679153) from 0.8 s on up to 7 J"]
fn a_rope_in_balance_over_a_drum_gains_no_energy() {
    let weight = 100.0;
    let (_, gain, _) = rope_over_a_drum(1.0 / 60.0, (weight, 1.0), 3.0);
    assert!(gain <= 0.01 * weight, "{gain} J");
}

/// A hoist of 0.5 m/s whose motor has no bound, a slack chain of eight links, a crate of a tonne on the floor.
#[test]
fn a_hoist_without_a_bound_lifts_at_its_speed() {
    let (time_step, speed, duration) = (1.0 / 200.0, 0.5, 3.0);
    let mut simulation = Simulation::new(awake(time_step)).unwrap();
    let rough = Material::with_friction(0.5);
    ground(&mut simulation, rough);
    let load = (
        RigidBody::Dynamic,
        Collider::cuboid(0.3, 0.3, 0.3),
        Mass::scaled_to(1e3),
        rough,
        Pose::at(0.0, 0.0, 0.3),
    );
    let load = simulation.spawn(load).unwrap();
    let top = DVec3::Z * 2.0;
    let hook = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::splat(0.01)),
        Pose::from_position(top),
    );
    let hook = simulation.spawn(hook).unwrap();
    let motor = JointForce::Motor {
        axis: JointAxis::Z,
        position: 0.0,
        velocity: speed,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort: f64::INFINITY,
    };
    let slider = Joint::to_world(hook, JointKind::Prismatic).at(top, DVec3::Z);
    let slider = simulation
        .spawn_joint(slider, JointForces(vec![motor]))
        .unwrap();
    let (links, way, slack) = (8, 1.4, 0.3);
    let (down, long) = (
        way / f64::from(links),
        way * (1.0 + slack) / f64::from(links),
    );
    let aside = (long * long - down * down).sqrt();
    let (mut above, mut from) = (hook, top);
    for k in 0..links {
        let side = if k % 2 == 0 { aside } else { 0.0 };
        let to = DVec3::new(side, 0.0, top.z - down * f64::from(k + 1));
        let link = (
            RigidBody::Dynamic,
            Mass::given(0.1, DVec3::new(1e-3, 1e-3, 1e-4)),
            Pose::from_position((from + to) / 2.0),
        );
        let link = simulation.spawn(link).unwrap();
        let joint = Joint::new(above, link, JointKind::Ball).at(from, DVec3::Z);
        simulation.spawn_joint(joint, ()).unwrap();
        (above, from) = (link, to);
    }
    let joint = Joint::new(above, load, JointKind::Ball).at(from, DVec3::Z);
    simulation.spawn_joint(joint, ()).unwrap();
    let (mut slow, mut effort, mut steps) = (0, 0.0, 0.0);
    while simulation.time() < duration {
        let report = simulation.step().unwrap();
        let v = simulation.twist(hook).unwrap().linear.z;
        slow += usize::from(report.converged && v < 0.5 * speed);
        if simulation.time() > 0.5 * duration {
            effort += simulation.joint_efforts(slider).unwrap()[0];
            steps += 1.0;
        }
    }
    let at = simulation.pose(hook).unwrap().position.z;
    let lifted = simulation.pose(load).unwrap().position.z;
    let (mean, weight) = (effort / steps, (1e3 + 1.0 + 0.8) * G);
    println!("hook at {at} m, load at {lifted} m, {mean} N, {slow} slow steps");
    assert_eq!(slow, 0);
    let asked = 2.0 + speed * simulation.time();
    assert!(
        (at - asked).abs() < 1e-9,
        "the hook is at {at}, not {asked} m"
    );
    // The chain jerks: by what the load has more of its velocity at the end of the time than at its beginning, at most its speed either way.
    let jerk = 1e3 * 2.0 * speed / (0.5 * duration);
    assert!((mean - weight).abs() < jerk, "the motor pulls {mean} N");
    assert!(lifted > 1.3, "the load is at {lifted} m");
}

/// Four bars held out level on hinges that go 0.3 rad to either side.
#[test]
fn hinges_of_a_falling_chain_keep_their_limits() {
    for time_step in [1.0 / 60.0, 1.0 / 200.0, 1e-3] {
        let mut simulation = Simulation::new(awake(time_step)).unwrap();
        let mut bars: Vec<Entity> = Vec::new();
        for k in 0..4 {
            let from = DVec3::X * (0.5 * f64::from(k));
            let bar = (
                RigidBody::Dynamic,
                Collider::cuboid(0.25, 0.03, 0.03),
                Pose::from_position(from + DVec3::X * 0.25),
            );
            let bar = simulation.spawn(bar).unwrap();
            let joint = Joint {
                bodies: [bars.last().copied(), Some(bar)],
                ..Joint::to_world(bar, JointKind::Revolute)
            };
            let limit = JointForce::Limit {
                axis: JointAxis::RotationZ,
                low: -0.3,
                high: 0.3,
                restitution: 0.0,
            };
            let forces = (NoCollision, JointForces(vec![limit]));
            simulation
                .spawn_joint(joint.at(from, DVec3::Y), forces)
                .unwrap();
            bars.push(bar);
        }
        let mut over: f64 = 0.0;
        while simulation.time() < 3.0 {
            let report = simulation.step().unwrap();
            let mut before = DQuat::IDENTITY;
            for bar in &bars {
                let now = simulation.pose(*bar).unwrap().orientation;
                if report.converged {
                    over = over.max(angle_between(before, now) - 0.3);
                }
                before = now;
            }
        }
        println!("h {time_step}: over by {over:e} rad");
        assert!(over <= 1e-11, "over its limit by {over} rad");
    }
}

/// A plate of 1 g on a slider that 1 MN presses a block of 1 kg against a wall with: the wall bears 1 MN, also within the budget of `Interactive`.
#[test]
fn a_block_that_a_light_strong_press_squeezes_is_not_said_to_jam() {
    let mut simulation = Simulation::new(Settings {
        gravity: DVec3::ZERO,
        accuracy: Accuracy::Interactive,
        ..awake(5e-3)
    })
    .unwrap();
    let half_space = Collider::half_space(DVec3::X);
    simulation.spawn((RigidBody::Static, half_space)).unwrap();
    let cube = (RigidBody::Dynamic, Collider::cuboid(0.1, 0.1, 0.1));
    let at = Pose::at(0.1, 0.0, 0.0);
    simulation.spawn((cube, Mass::scaled_to(1.0), at)).unwrap();
    let place = DVec3::X * 0.32;
    let plate = (RigidBody::Dynamic, Collider::cuboid(0.1, 0.5, 0.5));
    let light = (Mass::scaled_to(1e-3), Pose::from_position(place));
    let plate = simulation.spawn((plate, light)).unwrap();
    let slider = Joint::to_world(plate, JointKind::Prismatic).at(place, DVec3::X);
    let press = motor(JointAxis::Z, -1.0, 1e6);
    simulation.spawn_joint(slider, press).unwrap();
    let jams = (0..150).filter(|_| {
        let report = simulation.step().unwrap();
        report.status.is_without_solution()
    });
    assert_eq!(jams.count(), 0);
    let ends = simulation.pose(plate).unwrap().position.x;
    assert!((ends - 0.3).abs() <= 1e-6, "the plate ends at {ends} m");
}

/// Weight and friction hold a block between two flat faces at any force: it is symmetric, and the faces are parallel.
#[test]
fn a_block_that_a_strong_motor_squeezes_stays() {
    for effort in [1e2, 1e4, 1e5, 1e6, 1e8] {
        let mut simulation = Simulation::new(awake(1.0 / 200.0)).unwrap();
        let rough = Material::with_friction(0.5);
        ground(&mut simulation, rough);
        let wall = (
            RigidBody::Static,
            Collider::cuboid(0.1, 1.0, 1.0),
            rough,
            Pose::at(1.1, 0.0, 1.0),
        );
        simulation.spawn(wall).unwrap();
        let cube = |x: f64| {
            (
                RigidBody::Dynamic,
                Collider::cuboid(0.1, 0.1, 0.1),
                Mass::scaled_to(1.0),
                rough,
                Pose::at(x, 0.0, 0.1),
            )
        };
        let block = simulation.spawn(cube(0.9)).unwrap();
        let pusher = simulation.spawn(cube(0.69)).unwrap();
        let motor = JointForce::Motor {
            axis: JointAxis::Z,
            position: 0.0,
            velocity: 1.0,
            stiffness: 0.0,
            damping: f64::INFINITY,
            effort,
        };
        let slider =
            Joint::to_world(pusher, JointKind::Prismatic).at(DVec3::new(0.69, 0.0, 0.1), DVec3::X);
        simulation
            .spawn_joint(slider, JointForces(vec![motor]))
            .unwrap();
        let (mut said, mut moved) = (0, 0.0);
        let mut before = simulation.pose(block).unwrap().position;
        for _ in 0..400 {
            let report = simulation.step().unwrap();
            let now = simulation.pose(block).unwrap().position;
            if report.converged {
                moved += (now - before).length();
            } else {
                said += 1;
            }
            before = now;
        }
        let away = (before - DVec3::new(0.9, 0.0, 0.1)).length();
        println!(
            "{effort:e} N: {away:e} m away, {moved:e} m of it in converged steps, {said} not converged"
        );
        assert!(moved < 1e-3, "the block creeps {moved} m at {effort} N");
        assert_eq!(said, 0, "no solution is found at {effort} N");
    }
}

/// A link of 1 kg stands out from a wall and bears a body of a million, on hinges with friction. Without it the body swings down.
fn out_on_a_light_link(h: f64, load: Option<f64>) -> (f64, f64) {
    let settings = Settings {
        time_step: h,
        ..reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let heavy = 1e6;
    let body = |mass: f64, inertia: f64, x: f64| {
        let mass = Mass::given(mass, DVec3::splat(inertia));
        (RigidBody::Dynamic, mass, Pose::at(x, 0.0, 0.0))
    };
    let link = simulation.spawn(body(1.0, 0.01, 0.25)).unwrap();
    let load_on_it = simulation.spawn(body(heavy, 0.05 * heavy, 0.75)).unwrap();
    let rubs = |moment: f64| {
        let axis = JointAxis::RotationZ;
        let rubs = load.map(|load| JointForce::Friction {
            axis,
            force: moment / load,
        });
        JointForces(rubs.into_iter().collect())
    };
    let wall = Joint::to_world(link, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    simulation
        .spawn_joint(wall, rubs(G * (0.25 + 0.75 * heavy)))
        .unwrap();
    let elbow = Joint::new(link, load_on_it, JointKind::Revolute).at(DVec3::X * 0.5, DVec3::Y);
    let elbow = (elbow, rubs(G * 0.25 * heavy));
    simulation.spawn_joint(elbow.0, elbow.1).unwrap();
    let energy = |simulation: &Simulation| {
        let of = |body: Entity, mass: f64| {
            let height = simulation.pose(body).unwrap().position.z;
            kinetic_energy(simulation, body).unwrap() + mass * G * height
        };
        of(link, 1.0) + of(load_on_it, heavy)
    };
    let mut most: f64 = 0.0;
    for _ in 0..(1.0 / h).round() as usize {
        let report = simulation.step().unwrap();
        assert!(report.converged && report.joint_error < 1e-9, "{report:?}");
        most = most.max(energy(&simulation));
    }
    (
        simulation.pose(load_on_it).unwrap().position.z,
        most / (heavy * G),
    )
}

#[test]
fn a_light_link_bears_what_its_friction_holds_and_swings_with_what_it_does_not() {
    for h in [1e-3, 0.005, 1.0 / 30.0] {
        // 2e-10 of the height is what the rounding of 1e7 N gives 1 kg in a step.
        let (height, gained) = out_on_a_light_link(h, Some(0.99));
        assert!(
            height.abs() < 1e-9 && gained < 1e-9,
            "{h}: {height} {gained}"
        );
        // Above the bound it gives way as one piece with 1 − 1/load of its moment: a fall of (1/2)(1 − 1/load) α t² at 0.75 m, α = 0.75 g/(0.05 + 0.75²), to the
        // cosine of the angle and to first order in h.
        let (height, gained) = out_on_a_light_link(h, Some(1.01));
        let exact = -0.5 * (1.0 - 1.0 / 1.01) * 0.75 * 0.75 * G / (0.05 + 0.75 * 0.75);
        assert!(
            (height / exact - 1.0).abs() < 0.05 + h,
            "{h}: {height} {exact}"
        );
        assert!(gained < 1e-9, "{h}: {gained}");
        // Free, it is a double pendulum whose link swings far faster than h: joints stay closed, and what closing them in places lifts is of first order.
        let (height, gained) = out_on_a_light_link(h, None);
        assert!(height > -1.0 && gained < h, "{h}: {height} {gained}");
    }
}

/// Two or three links of 23 g and a heavy ball, held out level and let go. Where the chain is taut the links whip through faster than any part of a step follows: it is then
/// a rope that stops its load, and gains nothing. What is followed keeps what joints may gain in the most parts, 1e-3 of the energy.
#[test]
fn light_links_that_whip_under_a_heavy_end_gain_no_energy() {
    for (load, links) in [(1.0, 3), (10.0, 2), (100.0, 2)] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let along = DQuat::from_rotation_arc(DVec3::Z, -DVec3::X);
        let mut last = None;
        for k in 0..=links {
            let begin = 0.1 * f64::from(k);
            let (collider, mass, half) = if k < links {
                (Collider::capsule(0.03, 0.01), Mass::from_shape(), 0.05)
            } else {
                (Collider::sphere(0.2), Mass::scaled_to(load), 0.2)
            };
            let at = Pose::at(-(begin + half), 0.0, 0.0).with_orientation(along);
            let body = simulation
                .spawn((RigidBody::Dynamic, collider, mass, at))
                .unwrap();
            let joint = match last {
                None => Joint::to_world(body, JointKind::Ball),
                Some(before) => Joint::new(before, body, JointKind::Ball),
            };
            let joint = joint.at(DVec3::X * -begin, DVec3::Z);
            simulation.spawn_joint(joint, NoCollision).unwrap();
            last = Some(body);
        }
        let swing = load * G * (0.1 * f64::from(links) + 0.2);
        let mut before = 0.0;
        for step in 0..480 {
            let report = simulation.step().unwrap();
            let energy = report.energy.total();
            let gain = (energy - before) / swing;
            assert!(
                !report.converged || gain < 2e-3,
                "{load} kg, step {step}: {gain}"
            );
            assert!(energy < 2e-3 * swing, "{load} kg, step {step}: {energy} J");
            before = energy;
        }
    }
}
