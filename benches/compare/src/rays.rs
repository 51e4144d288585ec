//! First hits of the same rays in the same scenes: Moreau, parry's own tree with its shapes in doubles, rapier's query pipeline.
//!
//! Scenes come to rest in Moreau; their bodies are then handed to the others as they lie. Half the rays come from around the scene towards
//! somewhere in it, half start at random places in it. Each contender gives distance, normal and body. They take turns; the least time of
//! each counts.

use crate::clock::Clock;
use crate::contender::Outcome;
use crate::translation::{double, single};
use moreau::glam::DVec3;
use moreau::prelude::*;
use moreau::scene::Lcg;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math as f64_math;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhNode};
use parry3d_f64::query::Ray as ParryRay;
use parry3d_f64::shape::SharedShape;
use rapier3d::math as f32_math;
use rapier3d::prelude as rapier;

/// Rays of each scene, turns, and steps until it rests.
const RAYS: usize = 20_000;
const TURNS: usize = 15;
const STEPS: usize = 200;

/// A scene and its rays.
struct Stage {
    name: &'static str,
    simulation: Simulation,
    rays: Vec<Ray>,
    bodies: Vec<(Shape, moreau::geometry::Frame)>,
}

/// Figures of one scene.
pub(crate) struct Figures {
    pub(crate) scene: &'static str,
    pub(crate) bodies: usize,
    /// Least time of a ray, ns: Moreau, Moreau in a batch on two threads (wall time), parry, rapier.
    pub(crate) ns: [f64; 4],
    /// Rays that hit, in Moreau, parry, rapier.
    pub(crate) hits: [usize; 3],
    /// Time to bring the queries up to date after a step that moved everything, µs.
    pub(crate) refresh_us: f64,
}

/// All scenes.
///
/// # Errors
/// If a scene cannot be built in one of the engines.
pub(crate) fn run() -> Outcome<Vec<Figures>> {
    let mut all = Vec::new();
    let pour = moreau_demos::scenes::pour::sphere_pour([20, 20, 25]);
    all.push(measure(rested("pour of 10,000 spheres", &pour)?)?);
    let pile = moreau_demos::built_in("pile:shape=hulls,n=1000")?;
    all.push(measure(rested("pile of 1,000 hulls", &pile)?)?);
    all.push(measure(terrain()?)?);
    Ok(all)
}

fn rested(name: &'static str, scene: &moreau::Scene) -> Outcome<Stage> {
    let mut run = scene.start()?;
    run.simulation.set_settings(moreau::Settings {
        accuracy: moreau::Accuracy::Interactive,
        ..run.simulation.settings()
    })?;
    for _ in 0..STEPS {
        run.simulation.step()?;
    }
    stage(name, run.simulation)
}

/// Waves of 200 × 200 cells as a mesh of 80,000 triangles.
fn terrain() -> Outcome<Stage> {
    let side = 201_u32;
    let at = |k: u32| (f64::from(k % side) - 100.0, f64::from(k / side) - 100.0);
    let vertices = (0..side * side).map(|k| {
        let (x, y) = at(k);
        DVec3::new(0.1 * x, 0.1 * y, 0.5 * (0.13 * x).sin() * (0.17 * y).cos())
    });
    let cells = (0..(side - 1) * (side - 1)).flat_map(|k| {
        let low = k / (side - 1) * side + k % (side - 1);
        [
            [low, low + 1, low + side + 1],
            [low, low + side + 1, low + side],
        ]
    });
    let mesh = Collider::triangle_mesh(vertices.collect(), cells.collect());
    let mut simulation = Simulation::new(Settings::default())?;
    simulation.spawn((RigidBody::Static, mesh))?;
    stage("mesh of 80,000 triangles", simulation)
}

fn stage(name: &'static str, mut simulation: Simulation) -> Outcome<Stage> {
    let world = simulation.world_mut();
    let mut query = world.query::<(bevy_ecs::entity::Entity, &BodyId, &Collider)>();
    let mut rows: Vec<_> = query
        .iter(world)
        .map(|(entity, id, collider)| (*id, entity, collider.shape().clone()))
        .collect();
    rows.sort_unstable_by_key(|row| row.0);
    let mut bodies = Vec::new();
    let mut extent = moreau::geometry::Aabb::from_points([]);
    for (_, entity, shape) in rows {
        let pose = simulation
            .shape_pose(entity)
            .ok_or("a body without pose")?
            .into();
        let bounds = shape.build()?.aabb(&pose);
        if bounds.is_finite() {
            extent = extent.union(&bounds);
        }
        bodies.push((shape, pose));
    }
    let mut random = Lcg::new(11);
    let (middle, half) = (
        0.5 * (extent.min + extent.max),
        0.5 * (extent.max - extent.min),
    );
    let rays = (0..RAYS).map(|k| {
        let inside = middle + random.symmetric_vector() * half;
        let (origin, direction) = if k % 2 == 0 {
            let around = middle + (random.rotation() * DVec3::X) * 2.0 * half.length();
            (around, inside - around)
        } else {
            (inside, random.rotation() * DVec3::X)
        };
        Ray::new(origin, direction)
    });
    let rays: Result<Vec<_>, _> = rays.collect();
    Ok(Stage {
        name,
        simulation,
        rays: rays?,
        bodies,
    })
}

/// parry's tree over its shapes.
struct Parry {
    bvh: Bvh,
    shapes: Vec<(f64_math::Pose, SharedShape)>,
}

impl Parry {
    fn new(bodies: &[(Shape, moreau::geometry::Frame)]) -> Outcome<Self> {
        let mut shapes = Vec::new();
        for (shape, pose) in bodies {
            let (place, shape) = double::placed(shape, DVec3::ZERO)?;
            let pose = f64_math::Pose::from_parts(pose.position, pose.orientation);
            shapes.push((pose * place, shape));
        }
        let boxes: Vec<Aabb> = shapes
            .iter()
            .map(|(pose, shape)| shape.compute_aabb(pose))
            .collect();
        let bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        Ok(Self { bvh, shapes })
    }

    fn cast(&self, ray: &ParryRay) -> Option<(u32, (f64, DVec3))> {
        self.bvh.find_best(
            f64::MAX,
            |node: &BvhNode, best| node.cast_ray(ray, best),
            |item, best| {
                let (pose, shape) = &self.shapes[item as usize];
                let hit = shape.cast_ray_and_get_normal(pose, ray, best, true)?;
                Some((hit.time_of_impact, hit.normal))
            },
        )
    }
}

/// rapier's sets and its tree.
struct Rapier {
    bodies: rapier::RigidBodySet,
    colliders: rapier::ColliderSet,
    broad_phase: rapier::BroadPhaseBvh,
    narrow_phase: rapier::NarrowPhase,
}

impl Rapier {
    fn new(given: &[(Shape, moreau::geometry::Frame)]) -> Outcome<Self> {
        let mut own = Self {
            bodies: rapier::RigidBodySet::new(),
            colliders: rapier::ColliderSet::new(),
            broad_phase: rapier::BroadPhaseBvh::new(),
            narrow_phase: rapier::NarrowPhase::new(),
        };
        for (shape, pose) in given {
            let (place, shape) = single::placed(shape, DVec3::ZERO)?;
            let [x, y, z, w] = pose.orientation.to_array().map(|q| q as f32);
            let rotation = f32_math::Rotation::from_xyzw(x, y, z, w);
            let pose = f32_math::Pose::from_parts(pose.position.as_vec3(), rotation);
            let body = rapier::RigidBodyBuilder::fixed().pose(pose).build();
            let handle = own.bodies.insert(body);
            let collider = rapier::ColliderBuilder::new(shape).position(place);
            own.colliders
                .insert_with_parent(collider, handle, &mut own.bodies);
        }
        // Fixed bodies: a step fills the tree and moves nothing.
        rapier::PhysicsPipeline::new().step(
            f32_math::Vector::ZERO,
            &rapier::IntegrationParameters::default(),
            &mut rapier::IslandManager::new(),
            &mut own.broad_phase,
            &mut own.narrow_phase,
            &mut own.bodies,
            &mut own.colliders,
            &mut rapier::ImpulseJointSet::new(),
            &mut rapier::MultibodyJointSet::new(),
            &mut rapier::SoftBodySet::new(),
            &mut rapier::CCDSolver::new(),
            &(),
            &(),
        );
        Ok(own)
    }
}

fn measure(mut stage: Stage) -> Outcome<Figures> {
    let parry = Parry::new(&stage.bodies)?;
    let rapier = Rapier::new(&stage.bodies)?;
    let pipeline = rapier.broad_phase.as_query_pipeline(
        rapier.narrow_phase.query_dispatcher(),
        &rapier.bodies,
        &rapier.colliders,
        rapier::QueryFilter::default(),
    );
    let for_parry: Vec<_> = stage
        .rays
        .iter()
        .map(|ray| ParryRay::new(ray.origin(), ray.direction()))
        .collect();
    let for_rapier: Vec<_> = stage
        .rays
        .iter()
        .map(|ray| rapier::Ray::new(ray.origin().as_vec3(), ray.direction().as_vec3()))
        .collect();
    let every = QueryFilter::new();
    let mut ns = [f64::INFINITY; 4];
    let mut hits = [0; 3];
    let queries = stage.simulation.queries()?;
    let timed = |clock: Clock, least: &mut f64, work: &mut dyn FnMut() -> usize| {
        let start = clock.now();
        let count = work();
        *least = least.min((clock.now() - start) * 1e6 / RAYS as f64);
        count
    };
    for _ in 0..TURNS {
        let rays = &stage.rays;
        hits[0] = timed(Clock::Cpu, &mut ns[0], &mut || {
            rays.iter()
                .filter_map(|ray| queries.ray(ray, &every))
                .count()
        });
        timed(Clock::Wall, &mut ns[1], &mut || {
            queries.rays(rays, &every).iter().flatten().count()
        });
        hits[1] = timed(Clock::Cpu, &mut ns[2], &mut || {
            for_parry.iter().filter_map(|ray| parry.cast(ray)).count()
        });
        hits[2] = timed(Clock::Cpu, &mut ns[3], &mut || {
            let cast = |ray: &rapier::Ray| pipeline.cast_ray_and_get_normal(ray, f32::MAX, true);
            for_rapier.iter().filter_map(cast).count()
        });
    }
    let mut refresh_us = f64::INFINITY;
    for turn in 0..TURNS {
        let world = stage.simulation.world_mut();
        for mut pose in world.query::<&mut Pose>().iter_mut(world) {
            pose.position.x += [1e-3, -1e-3][turn % 2];
        }
        let start = Clock::Cpu.now();
        stage.simulation.queries()?;
        refresh_us = refresh_us.min((Clock::Cpu.now() - start) * 1e3);
    }
    Ok(Figures {
        scene: stage.name,
        bodies: stage.bodies.len(),
        ns,
        hits,
        refresh_us,
    })
}

/// A table, or comma-separated values.
pub(crate) fn render(all: &[Figures], csv: bool) -> String {
    let mut lines = vec![if csv {
        "scene,bodies,rays,hits,hits_parry,hits_rapier,moreau_ns,batch_wall_ns,parry_ns,rapier_ns,refresh_us".to_owned()
    } else {
        "| scene | bodies | hits, of 20,000 | ns a ray | in a batch, 2 threads | parry f64 | rapier f32 | over parry | over rapier | refresh, µs |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|".to_owned()
    }];
    for figures in all {
        let Figures {
            scene,
            bodies,
            ns: [own, batch, parry, rapier],
            hits,
            refresh_us,
        } = figures;
        lines.push(if csv {
            format!(
                "\"{scene}\",{bodies},{RAYS},{},{},{},{own:.1},{batch:.1},{parry:.1},{rapier:.1},{refresh_us:.1}",
                hits[0], hits[1], hits[2]
            )
        } else {
            format!(
                "| {scene} | {bodies} | {} | {own:.0} | {batch:.0} | {parry:.0} | {rapier:.0} | {:.2} | {:.2} | {refresh_us:.0} |",
                hits[0],
                parry / own,
                rapier / own,
            )
        });
    }
    lines.join("\n")
}
