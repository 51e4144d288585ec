//! A world of all kinds of shapes, and a look at every body of it.

use bevy_ecs::prelude::*;
use moreau::geometry::query::cast_ray;
use moreau::prelude::*;

/// Random numbers: a linear congruence.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005))
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    pub(crate) fn vector(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    pub(crate) fn pose(&mut self, size: f64) -> Pose {
        let v = self.vector();
        let turn = DQuat::from_xyzw(v.x, v.y, v.z, self.unit() + 0.01).normalize();
        Pose::from_position(self.vector() * size).with_orientation(turn)
    }

    pub(crate) fn ray(&mut self, size: f64) -> Ray {
        Ray::new(self.vector() * size, self.vector()).unwrap()
    }

    pub(crate) fn collider(&mut self) -> Collider {
        let size = 0.2 + 0.5 * self.unit();
        match self.below(7) {
            0 => Collider::cuboid(size, 0.5 * size, 0.3 * size),
            1 => Collider::capsule(size, 0.3 * size),
            2 => Collider::cylinder(size, 0.6 * size),
            3 => Collider::cone(size, 0.6 * size),
            4 => Collider::convex_hull((0..12).map(|_| self.vector() * size).collect()),
            5 => {
                let parts = (0..3).map(|_| {
                    let radius = size * (0.2 + self.unit());
                    (self.pose(size), Shape::Sphere { radius })
                });
                Collider::compound(parts.collect())
            }
            _ => Collider::sphere(size),
        }
    }
}

/// Waves, 2 · 30 · 30 triangles.
pub(crate) fn terrain() -> Collider {
    let heights = (0..31 * 31).map(|k| 0.3 * libm::sin(0.8 * f64::from(k % 31)));
    Collider::new(Shape::HeightField {
        x_size: 20.0,
        y_size: 20.0,
        columns: 31,
        heights: heights.collect(),
    })
}

/// Bodies of all kinds within 10 m.
pub(crate) fn world(bodies: usize, settings: Settings) -> Simulation {
    let mut random = Random::new(1);
    let mut simulation = Simulation::new(settings).unwrap();
    let floor = (RigidBody::Static, terrain(), Pose::at(0.0, 0.0, -8.0));
    simulation.spawn(floor).unwrap();
    let wall = Collider::half_space(DVec3::NEG_X);
    let wall = (RigidBody::Static, wall, Pose::at(12.0, 0.0, 0.0));
    simulation.spawn(wall).unwrap();
    for k in 0..bodies {
        let kind = [RigidBody::Dynamic, RigidBody::Static, RigidBody::Kinematic][k % 3];
        let body = (kind, random.collider(), random.pose(8.0));
        simulation.spawn(body).unwrap();
    }
    simulation
}

/// All bodies with their shapes and where these are, by id.
pub(crate) fn bodies(
    simulation: &mut Simulation,
) -> Vec<(
    Entity,
    BodyId,
    moreau::geometry::Geometry,
    moreau::geometry::Frame,
)> {
    let mut query = simulation
        .world_mut()
        .query::<(Entity, &BodyId, &Collider)>();
    let found: Vec<(Entity, BodyId, Collider)> = query
        .iter(simulation.world())
        .map(|(entity, id, collider)| (entity, *id, collider.clone()))
        .collect();
    let mut all: Vec<_> = found
        .into_iter()
        .map(|(entity, id, collider)| {
            let pose = simulation.shape_pose(entity).unwrap();
            (entity, id, collider.geometry().unwrap(), pose.into())
        })
        .collect();
    all.sort_unstable_by_key(|(_, id, ..)| *id);
    all
}

/// The first hit, by a look at every body.
pub(crate) fn first_hit(simulation: &mut Simulation, ray: &Ray) -> Option<Found<RayHit>> {
    let mut best: Option<Found<RayHit>> = None;
    for (entity, id, geometry, pose) in bodies(simulation) {
        if let Some(at) = cast_ray(&geometry, &pose, ray)
            && best.is_none_or(|best| at.distance < best.at.distance)
        {
            best = Some(Found { entity, id, at });
        }
    }
    best
}

/// Rays of which the first hits are those of a look at every body.
pub(crate) fn check(simulation: &mut Simulation, random: &mut Random, rays: usize) {
    for _ in 0..rays {
        let ray = random.ray(12.0);
        let expected = first_hit(simulation, &ray);
        let queries = simulation.queries().unwrap();
        assert_eq!(queries.ray(&ray, &QueryFilter::new()), expected);
    }
}
