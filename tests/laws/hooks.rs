//! **Law.** Hooks that hang on each other hold what is far heavier than they are: what overlaps of the light ones is taken away as well. `e_scaled` of a projection
//! is relative to the whole chain, and tells nothing of them.
//!
//! A step of second order overlaps by what its bodies turn; the projection is to leave a tenth of a millimetre. It may be stopped at a part of a step,
//! and has eight linearisations: ten times as much is allowed.

use crate::meeting::{fixed, flying};
use crate::support::*;

const SIZE: f64 = 0.1;
const HOOKS: u64 = 5;
/// Density of the last hook over that of the others.
const LOAD: f64 = 1e3;
const LEFT: f64 = 1e-3;

/// A box between these corners.
fn block(low: [f64; 3], high: [f64; 3]) -> (Pose, Shape) {
    let (low, high) = (DVec3::from_array(low), DVec3::from_array(high));
    let half_extents = 0.5 * (high - low);
    let at = Pose::from_position(0.5 * (low + high));
    (at, Shape::Cuboid { half_extents })
}

/// A chain that hangs on a static hook, with the measures of a seed.
fn chain(seed: u64) -> Vec<Body> {
    let mut random = Lcg::new(seed);
    let mut number = |low: f64, high: f64| SIZE * (low + (high - low) * random.uniform());
    let w = number(0.08, 0.2);
    let (a, tip, long) = (number(0.4, 0.7) + w, number(0.5, 0.8) + w, 1.6 * SIZE);
    let begins = if seed.is_multiple_of(2) { w } else { -w };
    let upper = vec![
        block([-a - w, -w, -w], [a + w, w, w]),
        block([-a - w, -w, begins], [w - a, w, long]),
        block([a - w, -w, begins], [a + w, w, tip]),
    ];
    // Over the hook above, across it, with a hook of its own below.
    let double = vec![
        block([-w, -a - w, -w], [w, a + w, w]),
        block([-w, -a - w, -tip], [w, w - a, -begins]),
        block([-w, a - w, -long], [w, a + w, -begins]),
        block([-w, a - w, -long - 2.0 * w], [2.0 * a + w, a + w, -long]),
        block(
            [2.0 * a - w, a - w, -long],
            [2.0 * a + w, a + w, tip - long],
        ),
    ];
    let (upper, double) = (Collider::compound(upper), Collider::compound(double));
    let middle = double.center_of_mass().unwrap();
    let center = upper.center_of_mass().unwrap();
    let mut bodies = vec![fixed(0, upper, center)];
    let mut low = 0.0;
    for link in 1..=HOOKS {
        let along = a * (link - 1) as f64;
        let at = DVec3::new(along, along, low + 2.0 * w + 0.02 * SIZE);
        low = at.z - long - w;
        let swing = 0.18 * libm::sqrt(9.81 * SIZE);
        let mut body = flying(
            link,
            double.clone(),
            at + middle,
            random.symmetric_vector() * swing,
        );
        body.twist.angular = random.symmetric_vector() * (swing / SIZE);
        body.material = Material::with_friction(0.5);
        if link == HOOKS {
            body.material.density *= LOAD;
        }
        bodies.push(body);
    }
    bodies
}

fn settings() -> Settings {
    Settings {
        time_step: 1.0 / 60.0,
        threads: 1,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    }
}

#[test]
fn hooks_under_a_heavy_load_do_not_sink_into_each_other() {
    let mut wrong = Vec::new();
    let seeds = 0..12;
    for seed in seeds.clone() {
        let mut state = StepState::default();
        state.set_bodies(&chain(seed)).unwrap();
        let mut deepest: f64 = 0.0;
        for _ in 0..90 {
            let report = state.step(&settings()).unwrap();
            deepest = deepest.max(report.overlap_left);
        }
        if deepest > LEFT {
            wrong.push(format!("seed {seed}: {deepest:e} m"));
        }
    }
    none_of(seeds.count(), &wrong);
}

/// The deepest overlap of a chain where it is now, m: a world of its own finds it.
fn deepest(chain: &[Body], state: &StepState) -> f64 {
    let now = chain.iter().map(|body| Body {
        pose: state.pose(body.id).unwrap(),
        twist: Twist::default(),
        ..body.clone()
    });
    let mut alone = StepState::default();
    alone.set_bodies(&now.collect::<Vec<_>>()).unwrap();
    let weightless = Settings {
        gravity: DVec3::ZERO,
        ..settings()
    };
    alone.step(&weightless).unwrap().max_penetration
}

/// A ball under a plate that comes down on it, and a box that a joint holds in a static one: neither can be helped, and both are far from the chains.
#[test]
fn what_is_jammed_elsewhere_does_not_let_hooks_sink_into_each_other() {
    let far = 10.0 * DVec3::X;
    let jam = || {
        let block = |half: f64| Collider::cuboid(half, half, 0.1);
        let mut plate = fixed(101, block(0.5), far + 0.4 * DVec3::Z);
        plate.kind = RigidBody::Kinematic;
        plate.twist.linear = -0.01 * DVec3::Z;
        let ball = flying(
            102,
            Collider::sphere(0.1),
            far + 0.2 * DVec3::Z,
            DVec3::ZERO,
        );
        (vec![fixed(100, block(1.0), far), plate, ball], vec![])
    };
    let joined = || {
        let block = || Collider::cuboid(0.1, 0.1, 0.1);
        let held = flying(103, block(), far + 0.15 * DVec3::Z, DVec3::ZERO);
        let joint = JointSpec {
            id: JointId(1),
            bodies: [None, Some(held.id)],
            frames: JointFrames::World(Pose::from_position(far)),
            kind: JointKind::Fixed,
            forces: vec![],
            collide: true,
            break_limit: None,
        };
        (vec![fixed(100, block(), far), held], vec![joint])
    };
    let mut wrong = Vec::new();
    let seeds = [4, 7, 11];
    for (what, elsewhere) in [("jammed", jam()), ("joined", joined())] {
        for seed in seeds {
            let chain = chain(seed);
            let (others, joints) = elsewhere.clone();
            let mut state = StepState::default();
            state.set_bodies(&[&chain[..], &others].concat()).unwrap();
            state.set_joints(joints);
            let mut most: f64 = 0.0;
            for _ in 0..90 {
                state.step(&settings()).unwrap();
                most = most.max(deepest(&chain, &state));
            }
            if most > LEFT {
                wrong.push(format!("{what}, seed {seed}: {most:e} m"));
            }
        }
    }
    none_of(2 * seeds.len(), &wrong);
}
