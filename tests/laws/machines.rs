//! **Law.** Machines carry what statics says, whatever their masses, loops and redundant rows, and move as their one degree of freedom does.

use crate::support::*;
use moreau_demos::built_in;

const G: f64 = 9.81;

fn closed(report: &StepReport) {
    assert!(report.joint_error <= 1e-12, "{}", report.joint_error);
    assert!(report.joint_velocity <= 1e-10, "{}", report.joint_velocity);
    assert!(report.converged, "{:?}", report.status);
}

/// A motor that holds still whatever acts.
fn brake(axis: JointAxis) -> JointForce {
    JointForce::Motor {
        axis,
        position: 0.0,
        velocity: 0.0,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort: f64::INFINITY,
    }
}

/// Six braked legs, eight rows too many: nothing moves, and the three bolts bear the load of 1000 N between them.
#[test]
fn a_platform_on_six_legs_stands_still_under_its_load() {
    let mut scene = built_in("stewart:lift=0,tilt=0").unwrap();
    for joint in &mut scene.joints {
        for force in &mut joint.forces {
            *force = brake(force.axis().unwrap());
        }
    }
    scene.settings.sleeping = SleepSettings::OFF;
    let mut run = scene.start().unwrap();
    let start = positions(&mut run.simulation);
    let names = ["bolt at 0", "bolt at 0.15", "bolt at -0.15"];
    let bolts = names.map(|name| run.joint(name).unwrap());
    for _ in 0..400 {
        closed(&run.step().unwrap());
        let moved = displacement(&run.simulation, &start);
        assert!(moved < 1e-9, "{moved:e}");
        let mut force = DVec3::ZERO;
        for bolt in bolts {
            force += run.simulation.joint_reaction(bolt).unwrap().force;
        }
        // What the bolts bear is as exact as the places of 600 N legs.
        assert!((force - DVec3::Z * 1000.0).length() < 1e-6, "{force}");
    }
}

/// A slab on four balls has six rows too many, of which one is loaded: `t = (1, −1, −1, 1)` at the corners is a load of none.
///
/// Loads are shared in the shortest way, each by what its row alone would move, `D = 1/m + (r × z)ᵀ I⁻¹ (r × z)`: of all that balance the weight,
/// `f = W/4 (1 + x a/c² + y b/d²) + α t` at `(±c, ±d)` for a centre of mass at `(a, b)`, the one with the least `Σ D f²`. A load in the middle is
/// shared evenly. What balances is as exact as all else; shares are to 1e-4 of the weight, since rounding is divided by the 1e-12 that
/// redundant rows are solved with.
#[test]
fn a_table_of_four_legs_shares_its_load_in_the_shortest_way() {
    let (c, d, mass) = (0.5, 0.3, 40.0);
    let weight = mass * G;
    for (a, b) in [(0.0, 0.0), (0.2, 0.0), (-0.1, 0.15)] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let slab = (
            RigidBody::Dynamic,
            Mass::given(mass, DVec3::new(2.0, 4.0, 6.0)),
            Pose::at(a, b, 0.0),
        );
        let slab = simulation.spawn(slab).unwrap();
        let corners = [(c, d), (c, -d), (-c, d), (-c, -d)];
        let legs = corners.map(|(x, y)| {
            let leg = Joint::to_world(slab, JointKind::Ball).at(DVec3::new(x, y, 0.0), DVec3::Z);
            simulation.spawn_joint(leg, ()).unwrap()
        });
        for _ in 0..50 {
            closed(&simulation.step().unwrap());
        }
        let twist = [1.0, -1.0, -1.0, 1.0];
        let linear =
            corners.map(|(x, y)| 0.25 * weight * (1.0 + x * a / (c * c) + y * b / (d * d)));
        let own = corners.map(|(x, y)| 1.0 / mass + (y - b).powi(2) / 2.0 + (x - a).powi(2) / 4.0);
        let sum = |of: &dyn Fn(usize) -> f64| (0..4).map(of).sum::<f64>();
        let alpha = -sum(&|k| own[k] * twist[k] * linear[k]) / sum(&|k| own[k]);
        let bears = legs.map(|leg| simulation.joint_reaction(leg).unwrap().force);
        for k in 0..4 {
            let share = linear[k] + alpha * twist[k];
            let off = (bears[k] - DVec3::Z * share).length();
            assert!(off < 1e-4 * weight, "{} {share}", bears[k]);
        }
        let moments = [
            sum(&|k| bears[k].z) - weight,
            sum(&|k| bears[k].z * (corners[k].0 - a)),
            sum(&|k| bears[k].z * (corners[k].1 - b)),
        ];
        for moment in moments {
            assert!(moment.abs() < 1e-9 * weight, "{moments:?}");
        }
    }
}

/// A driven crank moves coupler and rocker as the circles about its pin and the far bearing meet; a crank that is braked holds all of them.
#[test]
fn a_fourbar_has_one_degree_of_freedom() {
    for speed in [0.0, 3.0] {
        let mut scene = built_in("fourbar").unwrap();
        let JointForce::Motor { axis, damping, .. } = brake(JointAxis::RotationZ) else {
            unreachable!("a motor")
        };
        scene.joints[0].forces.push(JointForce::Motor {
            axis,
            position: 0.0,
            velocity: speed,
            stiffness: 0.0,
            damping,
            effort: 1e4,
        });
        scene.settings.sleeping = SleepSettings::OFF;
        let mut run = scene.start().unwrap();
        let [ground, far] = [DVec3::new(0.0, 0.0, 1.0), DVec3::new(1.2, 0.0, 1.0)];
        let [crank, rocker] = ["crank", "rocker"].map(|name| run.body(name).unwrap());
        let long = DVec3::new(0.7, 0.0, 0.2).length();
        let short = DVec3::new(0.2, 0.0, -0.5).length();
        let start = positions(&mut run.simulation);
        let mut turned: f64 = 0.0;
        for _ in 0..120 {
            closed(&run.step().unwrap());
            if speed == 0.0 {
                let moved = displacement(&run.simulation, &start);
                assert!(moved < 1e-12, "{moved:e}");
                continue;
            }
            let place = |body| run.simulation.pose(body).unwrap().position;
            // Bars have their centres half way.
            let pin = ground + 2.0 * (place(crank) - ground);
            let end = far + 2.0 * (place(rocker) - far);
            assert!(((end - pin).length() - long).abs() < 1e-11);
            assert!(((end - far).length() - short).abs() < 1e-11);
            assert!(end.y.abs() < 1e-12);
            let spin = run.simulation.twist(crank).unwrap().angular;
            turned += spin.length() * Settings::default().time_step;
        }
        assert!(speed == 0.0 || turned > 1.7, "{turned}");
    }
}

/// A ring of four bars of 1 kg, stiffened by a rod across it, under 7.8 t of steel.
#[test]
fn a_closed_loop_under_a_steel_block_does_not_sag() {
    let mut simulation = Simulation::new(Settings {
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    })
    .unwrap();
    let corners = [(-0.5, 0.0), (0.5, 0.0), (0.5, 1.0), (-0.5, 1.0)];
    let corners = corners.map(|(x, z)| DVec3::new(x, 0.0, z));
    let bars = [0, 1, 2, 3].map(|k| {
        let (from, to) = (corners[k], corners[(k + 1) % 4]);
        let bar = (
            RigidBody::Dynamic,
            Mass::given(1.0, DVec3::new(1e-3, 0.08, 0.08)),
            Pose::from_position((from + to) * 0.5)
                .with_orientation(DQuat::from_rotation_arc(DVec3::X, to - from)),
        );
        simulation.spawn(bar).unwrap()
    });
    let ground = Joint::to_world(bars[0], JointKind::Fixed).at(DVec3::ZERO, DVec3::Z);
    simulation.spawn_joint(ground, ()).unwrap();
    for k in 0..4 {
        let hinge = Joint::new(bars[k], bars[(k + 1) % 4], JointKind::Revolute);
        let hinge = hinge.at(corners[(k + 1) % 4], DVec3::Y);
        simulation.spawn_joint(hinge, ()).unwrap();
    }
    // From the middle of the lower bar to the far end of the upper one: length √(0.25 + 1).
    let rod = JointKind::Distance {
        length: 1.25_f64.sqrt(),
    };
    let rod =
        Joint::new(bars[0], bars[2], rod).with_frames([Pose::default(), Pose::at(0.5, 0.0, 0.0)]);
    simulation.spawn_joint(rod, ()).unwrap();
    let block = (
        RigidBody::Dynamic,
        Mass::given(7800.0, DVec3::splat(1300.0)),
        Pose::at(0.1, 0.0, 1.6),
    );
    let block = simulation.spawn(block).unwrap();
    let top = Joint::new(bars[2], block, JointKind::Fixed).at(DVec3::Z, DVec3::Z);
    let top = simulation.spawn_joint(top, ()).unwrap();
    let start = positions(&mut simulation);
    for _ in 0..1000 {
        closed(&simulation.step().unwrap());
        let sunk = displacement(&simulation, &start);
        assert!(sunk < 1e-9, "{sunk:e}");
    }
    // The upper bar lies upside down and the other way round: a half turn about y.
    let bears = simulation.joint_reaction(top).unwrap().force;
    assert!(
        (bears.length() - 7800.0 * G).abs() < 1e-6 * 7800.0 * G,
        "{bears}"
    );
}

/// A cube of a thousand times the mass of a finger hangs between two fingers by friction for a minute.
#[test]
fn a_gripper_holds_a_thousand_times_its_finger_for_a_minute() {
    let mut scene = built_in("gripper").unwrap();
    scene.settings.sleeping = SleepSettings::OFF;
    let mut run = scene.start().unwrap();
    let [cube, left, right] = ["cube", "left", "right"].map(|name| run.body(name).unwrap());
    let gap = |simulation: &Simulation| {
        let place = |body| simulation.pose(body).unwrap().position;
        let hand = (place(left) + place(right)) * 0.5;
        place(cube) - hand
    };
    while run.simulation.time() < 0.5 {
        closed(&run.step().unwrap());
    }
    let held = gap(&run.simulation);
    while run.simulation.time() < 60.5 {
        closed(&run.step().unwrap());
        let slip = (gap(&run.simulation) - held).length();
        assert!(slip < 1e-6, "{slip:e} at {}", run.simulation.time());
    }
    assert!(run.simulation.pose(cube).unwrap().position.z > 0.398);
}

/// A rope of 200 links over half a drum, pulled slowly against a force `T₁`: it takes `e^{μπ} T₁`.
///
/// Links of length `d` touch the drum in their middles, and turn by `d/R` each: `O((d/R)²)`. Friction acts at the drum, which is nearer to its
/// centre than the axis of the rope: the exponent is less by `r/R`, a hundredth. 78 links bend, which is 1.7 % less than half a turn.
#[test]
fn a_capstan_holds_by_the_exponential_of_its_angle() {
    let (friction, radius, thick, pull) = (0.3, 0.5, 0.005, 10.0);
    // Under the force links swing with 2 √(T₁/(m d)) = 200 rad/s, which the steps must follow.
    let (link, mass) = (0.02, 0.05);
    let settings = Settings {
        gravity: DVec3::ZERO,
        time_step: 2e-3,
        combine_friction: Combine::Max,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let turn = DQuat::from_rotation_arc(DVec3::Z, DVec3::Y);
    simulation
        .spawn((
            RigidBody::Static,
            Collider::cylinder(0.2, radius),
            Material::with_friction(friction),
            Pose::default().with_orientation(turn),
        ))
        .unwrap();
    // Up on the left, over the top, down on the right: links are chords of the circle that their middles are on.
    let count = 200;
    let middle = radius + thick;
    let step = 2.0 * libm::atan(0.5 * link / middle);
    let on = (std::f64::consts::PI / step).floor();
    let corner = middle / libm::cos(0.5 * step);
    let half = 0.5 * on * step;
    let at = |k: usize| {
        let k = k as f64 - 0.5 * f64::from(count);
        let angle = (k * step).clamp(-half, half);
        let beyond = (k.abs() - 0.5 * on).max(0.0) * link;
        let (sin, cos) = libm::sincos(angle);
        let along = DVec3::new(cos, 0.0, -sin) * beyond * k.signum();
        DVec3::new(sin, 0.0, cos) * corner + along
    };
    let mut links = Vec::new();
    for k in 0..count as usize {
        let (from, to) = (at(k), at(k + 1));
        let body = (
            RigidBody::Dynamic,
            Collider::capsule(0.25 * link, thick),
            Mass::given(mass, DVec3::splat(mass * link * link / 12.0)),
            Pose::from_position((from + to) * 0.5)
                .with_orientation(DQuat::from_rotation_arc(DVec3::Z, (to - from).normalize())),
            Material::with_friction(friction),
        );
        links.push(simulation.spawn(body).unwrap());
        if k > 0 {
            let hinge = Joint::new(links[k - 1], links[k], JointKind::Revolute);
            let damper = JointForce::Spring {
                axis: JointAxis::RotationZ,
                stiffness: 0.0,
                damping: 1e-3,
                rest: 0.0,
            };
            let hinge = hinge.at(from, DVec3::Y);
            simulation
                .spawn_joint(hinge, (JointForces(vec![damper]), NoCollision))
                .unwrap();
        }
    }
    // The plane of the rope, the force, and a winch.
    let (first, last) = (links[0], links[count as usize - 1]);
    let back = (at(0) - at(1)).normalize();
    simulation.set(
        first,
        Wrench {
            force: back * pull,
            ..Wrench::default()
        },
    );
    let plane = JointKind::Generic {
        translation: [false, true, false],
        rotation: [true, false, true],
    };
    simulation
        .spawn_joint(Joint::to_world(first, plane), ())
        .unwrap();
    let end = at(count as usize);
    let way = (end - at(count as usize - 1)).normalize();
    let winch = JointForce::Motor {
        axis: JointAxis::Z,
        position: 0.0,
        velocity: 0.05,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort: f64::INFINITY,
    };
    let winch_joint = Joint::to_world(last, JointKind::Prismatic).at(end, way);
    let winch_joint = simulation
        .spawn_joint(winch_joint, JointForces(vec![winch]))
        .unwrap();
    let (mut sum, mut steps) = (0.0, 0);
    for k in 0..300 {
        closed(&simulation.step().unwrap());
        if k >= 100 {
            sum += simulation.joint_efforts(winch_joint).unwrap()[0];
            steps += 1;
        }
    }
    let ratio = sum / f64::from(steps) / pull;
    let expected = libm::exp(friction * std::f64::consts::PI);
    assert!((ratio / expected - 1.0).abs() < 0.02, "{ratio} {expected}");
}
