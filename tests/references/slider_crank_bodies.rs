//! The slider–crank as bodies on hinges between two planes, by the engine, beside the fine steps of [`crate::slider_crank`]'s third file.

use crate::table::read;
use bevy_ecs::entity::Entity;
use moreau::prelude::*;

const LENGTHS: [f64; 2] = [0.153, 0.306];
const HALF: [f64; 2] = [0.05, 0.025];
const CLEARANCE: f64 = 0.001;

struct Machine {
    simulation: Simulation,
    parts: [Entity; 3],
}

fn machine(h: f64) -> Machine {
    let settings = Settings {
        time_step: h,
        gravity: DVec3::NEG_Z * moreau_tests::G,
        sleeping: SleepSettings::OFF,
        accuracy: Accuracy::Reference,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let material = Material { friction: 0.01, restitution: 0.4, ..Material::default() };
    let guide = HALF[1] + CLEARANCE;
    for (z, normal) in [(-guide, DVec3::Z), (guide, DVec3::NEG_Z)] {
        let plane = (RigidBody::Static, Collider::half_space(normal), material, Pose::at(0.0, 0.0, z));
        simulation.spawn(plane).unwrap();
    }
    let [crank, rod] = LENGTHS;
    let rates = [150.0, -75.0, -0.01];
    let pin = crank * rates[0];
    // Centre, velocity upwards, mass, inertia about the hinge axis.
    let parts = [
        (0.5 * crank, 0.5 * pin, 0.038, 7.4e-5),
        (crank + 0.5 * rod, pin + 0.5 * rod * rates[1], 0.038, 5.9e-4),
        (crank + rod, pin + rod * rates[1], 0.076, 2.7e-6),
    ];
    let parts: Vec<Entity> = parts.into_iter().zip(rates).map(|((x, up, mass, inertia), rate)| {
        let body = (
            RigidBody::Dynamic,
            Mass::given(mass, DVec3::splat(inertia)),
            Pose::at(x, 0.0, 0.0),
            Twist { linear: DVec3::Z * up, angular: DVec3::NEG_Y * rate },
        );
        simulation.spawn(body).unwrap()
    }).collect();
    let parts: [Entity; 3] = parts.try_into().unwrap();
    let block = (Collider::cuboid(HALF[0], 0.02, HALF[1]), material);
    simulation.world_mut().entity_mut(parts[2]).insert(block);
    let first = Joint::to_world(parts[0], JointKind::Revolute).at(DVec3::ZERO, DVec3::NEG_Y);
    simulation.spawn_joint(first, ()).unwrap();
    for (k, x) in [(0, crank), (1, crank + rod)] {
        let joint = Joint::new(parts[k], parts[k + 1], JointKind::Revolute);
        simulation.spawn_joint(joint.at(DVec3::X * x, DVec3::NEG_Y), ()).unwrap();
    }
    Machine { simulation, parts }
}

impl Machine {
    /// Angles (each within a turn) and rates.
    fn state(&self) -> [f64; 6] {
        let mut all = [0.0; 6];
        for (k, part) in self.parts.iter().enumerate() {
            let x = self.simulation.pose(*part).unwrap().orientation * DVec3::X;
            all[k] = x.z.atan2(x.x);
            all[3 + k] = -self.simulation.twist(*part).unwrap().angular.y;
        }
        all
    }
}

#[test]
fn probe() {
    let Some(rows) = read("SliderCrank-MoreauJean-h1e-5.dat") else { return };
    for h in [1e-4, 5e-5, 2e-5, 1e-5] {
        let mut m = machine(h);
        let every = (2e-4_f64 / h).round() as usize;
        let mut worst = [0.0_f64; 4];
        let mut at = Vec::new();
        let mut first = 0.0;
        for (k, row) in rows.iter().enumerate().skip(1) {
            for _ in 0..every {
                let r = m.simulation.step().unwrap();
                assert!(r.joint_error <= 1e-9, "{}", r.joint_error);
                if first == 0.0 && m.simulation.contacts().iter().any(|c| c.impulse.x > 0.0) { first = m.simulation.time(); println!("first at {first} P {}", m.simulation.contacts().iter().map(|c| c.impulse.x).sum::<f64>()); }
                if !r.converged && at.len() < 3 { println!("not converged {:?} {}", r.status, r.t); at.push((k, 0.0, 0.0)); }
            }
            let s = m.state();
            let off = |k: usize| { let d = s[k] - row[1 + k]; (d - (d / std::f64::consts::TAU).round() * std::f64::consts::TAU).abs() };
            let a = (0..3).map(off).fold(0.0, f64::max);
            let v = (3..6).map(|k| (s[k] - row[1 + k]).abs() / 150.0).fold(0.0, f64::max);
            if h < 1.5e-5 && k < 15 { println!("{k} own {s:?} given {:?}", &row[1..7]); }
            let part = usize::from(k > 13);
            worst[2 * part] = worst[2 * part].max(a);
            worst[2 * part + 1] = worst[2 * part + 1].max(v);
            if [13, 14, 20, 50, 100, 200, 300, 500, 700, 999].contains(&k) { at.push((k, a, v)); }
        }
        println!("{h}: {worst:?}");
        for (k, a, v) in at { println!("   {k} {a:.2e} {v:.2e}"); }
    }
}
