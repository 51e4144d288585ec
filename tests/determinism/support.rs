//! Scenes that the suite runs again and again.

use glam::DVec3;
use moreau::prelude::*;
use moreau::scene::Lcg;

/// Settings of all runs: accuracy does not matter for identity. Every sweep is shared among the
/// threads, whatever the number of contacts.
pub(crate) fn settings(threads: usize) -> Settings {
    let mut settings = Settings {
        threads,
        ..Settings::default()
    };
    settings.advanced.parallel_from = Some(0);
    settings
}

/// One body of a scene with its explicit id.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) id: BodyId,
    pub(crate) kind: RigidBody,
    pub(crate) collider: Collider,
    pub(crate) pose: Pose,
    pub(crate) twist: Twist,
}

impl Spec {
    pub(crate) fn bundle(&self) -> impl bevy_ecs::bundle::Bundle + use<> {
        (
            self.id,
            self.kind,
            self.collider.clone(),
            self.pose,
            self.twist,
        )
    }
}

/// `n³` bodies of several shapes, close to one another, that fall into a heap on the ground.
pub(crate) fn heap(n: usize) -> Vec<Spec> {
    let mut random = Lcg::new(7);
    let mut specs = vec![Spec {
        id: BodyId(0),
        kind: RigidBody::Static,
        collider: Collider::half_space(DVec3::Z),
        pose: Pose::default(),
        twist: Twist::default(),
    }];
    for i in 0..n * n * n {
        let cell = DVec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64);
        let collider = match i % 4 {
            0 => Collider::cuboid(0.09, 0.07, 0.08),
            1 => Collider::capsule(0.04, 0.06),
            _ => Collider::sphere(0.1),
        };
        specs.push(Spec {
            id: BodyId(5 + 3 * i as u64),
            kind: RigidBody::Dynamic,
            collider,
            pose: Pose::from_position(
                cell * 0.205 + DVec3::Z * 0.11 + random.symmetric_vector() * 0.002,
            )
            .with_orientation(random.rotation()),
            twist: Twist {
                linear: DVec3::new(0.0, 0.0, -1.0),
                angular: random.symmetric_vector(),
            },
        });
    }
    specs
}

/// A simulation of the specs, spawned in the given order.
pub(crate) fn spawn<'a>(
    settings: Settings,
    specs: impl IntoIterator<Item = &'a Spec>,
) -> Simulation {
    let mut simulation = Simulation::new(settings).unwrap();
    for spec in specs {
        simulation.spawn(spec.bundle()).unwrap();
    }
    simulation
}

/// Hash of the state after `steps`, and the largest number of contacts on the way.
pub(crate) fn run(simulation: &mut Simulation, steps: usize) -> (u64, usize) {
    let mut contacts = 0;
    for _ in 0..steps {
        contacts = contacts.max(simulation.step().unwrap().contacts);
    }
    (simulation.state_hash(), contacts)
}

/// The body with this id.
pub(crate) fn entity(simulation: &mut Simulation, id: u64) -> bevy_ecs::entity::Entity {
    let mut query = simulation
        .world_mut()
        .query::<(bevy_ecs::entity::Entity, &BodyId)>();
    let mut bodies = query.iter(simulation.world());
    bodies.find(|(_, found)| found.0 == id).unwrap().0
}
