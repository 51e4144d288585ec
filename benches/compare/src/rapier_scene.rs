//! A scene in rapier: f32, default parameters but for the time step, sleeping off.
//!
//! What its residual is made of, from rapier's own data after a step. A step is four substeps
//! (default), each a biased pass over the contacts, the integration of the positions and an
//! unbiased pass; the velocities after the step are those after the last unbiased pass, and
//! `warmstart_impulse` of a point is its impulse over the last substep.
//!
//! * Normal impulse: of the point. Tangential: rapier's default friction acts once per manifold;
//!   it is shared among the points in proportion to their normal impulses, the twist is ignored.
//! * Velocity: of the two bodies at the solver's own lever arms, plus `max(g_N, 0)/h_sub` with
//!   the gap at the positions that the last pass used, which is what it solves for.

use crate::clock::Clock;
use crate::contender::{Body, BodyState, Contender, Outcome, StepFigures};
use crate::residual::{ContactState, Side, mobility};
use crate::translation::single;
use moreau::glam::{DMat3, DQuat, DVec3};
use rapier3d::math::{MAX_MANIFOLD_POINTS, Pose, Rotation, Vector};
use rapier3d::prelude::{BroadPhaseBvh, RigidBody};
use rapier3d::prelude::{
    CCDSolver, ColliderBuilder, ColliderSet, ContactManifold, ImpulseJointSet,
    IntegrationParameters, IslandManager, MultibodyJointSet, NarrowPhase, PhysicsPipeline,
    RigidBodyBuilder, RigidBodyHandle, RigidBodySet, SoftBodySet,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A scene in rapier.
pub(crate) struct RapierScene {
    world: RapierWorld,
    handles: Vec<RigidBodyHandle>,
    pool: ThreadPool,
    clock: Clock,
}

/// Everything that rapier's step is handed.
struct RapierWorld {
    gravity: Vector,
    parameters: IntegrationParameters,
    pipeline: PhysicsPipeline,
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    soft_bodies: SoftBodySet,
    ccd: CCDSolver,
}

impl RapierScene {
    /// The bodies in this order, on a pool of `threads` threads.
    ///
    /// # Errors
    /// If the threads cannot be started, or rapier has no such shape.
    pub(crate) fn new(
        bodies: &[Body],
        time_step: f64,
        gravity: DVec3,
        threads: usize,
        clock: Clock,
    ) -> Outcome<Self> {
        let mut world = RapierWorld {
            gravity: gravity.as_vec3(),
            parameters: IntegrationParameters {
                dt: time_step as f32,
                ..IntegrationParameters::default()
            },
            pipeline: PhysicsPipeline::new(),
            islands: IslandManager::new(),
            broad_phase: BroadPhaseBvh::new(),
            narrow_phase: NarrowPhase::new(),
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            impulse_joints: ImpulseJointSet::new(),
            multibody_joints: MultibodyJointSet::new(),
            soft_bodies: SoftBodySet::new(),
            ccd: CCDSolver::new(),
        };
        let handles: Outcome<Vec<_>> = bodies.iter().map(|body| world.insert(body)).collect();
        Ok(Self {
            world,
            handles: handles?,
            pool: ThreadPoolBuilder::new().num_threads(threads).build()?,
            clock,
        })
    }
}

impl Contender for RapierScene {
    fn name(&self) -> &str {
        "rapier3d 0.36 f32"
    }

    fn advance(&mut self, steps: usize, _: f64) -> Outcome<Vec<StepFigures>> {
        let (world, clock) = (&mut self.world, self.clock);
        // One visit to the pool for all steps: waking its threads is not rapier's time.
        let times: Vec<f64> = self.pool.install(|| {
            (0..steps)
                .map(|_| {
                    let start = clock.now();
                    world.step();
                    clock.now() - start
                })
                .collect()
        });
        let contacts = world.manifolds().map(points_of).sum();
        let sweeps = world.parameters.num_solver_iterations
            * (world.parameters.num_internal_pgs_iterations
                + world.parameters.num_internal_stabilization_iterations);
        let figures = |ms| StepFigures {
            ms,
            contacts,
            sweeps,
            e_scaled: None,
            converged: None,
        };
        Ok(times.into_iter().map(figures).collect())
    }

    fn contacts(&self) -> Outcome<Vec<ContactState>> {
        let mut states = Vec::new();
        for manifold in self.world.manifolds() {
            self.world.add_contacts(manifold, &mut states)?;
        }
        Ok(states)
    }

    fn bodies(&mut self) -> Outcome<Vec<BodyState>> {
        let state = |handle: &RigidBodyHandle| {
            let body = self.world.body(*handle)?;
            let [x, y, z, w] = body.rotation().to_array().map(f64::from);
            Ok(BodyState {
                position: body.translation().as_dvec3(),
                orientation: DQuat::from_xyzw(x, y, z, w).normalize(),
                speed: body.linvel().as_dvec3().length(),
            })
        };
        self.handles.iter().map(state).collect()
    }
}

impl RapierWorld {
    /// A body whose frame sits in the centre of mass.
    fn insert(&mut self, body: &Body) -> Outcome<RigidBodyHandle> {
        let builder = if body.dynamic {
            RigidBodyBuilder::dynamic()
        } else {
            RigidBodyBuilder::fixed()
        };
        let [x, y, z, w] = body.pose.orientation.to_array().map(|q| q as f32);
        let pose = Pose::from_parts(
            body.pose.position.as_vec3(),
            Rotation::from_xyzw(x, y, z, w),
        );
        let handle = self
            .bodies
            .insert(builder.pose(pose).can_sleep(false).build());
        let (place, shape) = single::placed(&body.shape, body.center)?;
        let collider = ColliderBuilder::new(shape)
            .position(place)
            .density(body.material.density as f32)
            .friction(body.material.friction as f32)
            .restitution(0.0);
        self.colliders
            .insert_with_parent(collider, handle, &mut self.bodies);
        Ok(handle)
    }

    fn step(&mut self) {
        self.pipeline.step(
            self.gravity,
            &self.parameters,
            &mut self.islands,
            &mut self.broad_phase,
            &mut self.narrow_phase,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.impulse_joints,
            &mut self.multibody_joints,
            &mut self.soft_bodies,
            &mut self.ccd,
            &(),
            &(),
        );
    }

    /// The manifolds that the solver saw.
    fn manifolds(&self) -> impl Iterator<Item = &ContactManifold> {
        let pairs = self.narrow_phase.contact_pairs();
        pairs.flat_map(|pair| pair.solver_manifolds())
    }

    fn body(&self, handle: RigidBodyHandle) -> Outcome<&RigidBody> {
        let body = self.bodies.get(handle);
        body.ok_or_else(|| "a rapier body is not there".into())
    }

    /// Adds the contacts of one manifold.
    fn add_contacts(
        &self,
        manifold: &ContactManifold,
        states: &mut Vec<ContactState>,
    ) -> Outcome<()> {
        let data = &manifold.data;
        let (Some(first), Some(second)) = (data.rigid_body1, data.rigid_body2) else {
            return Err("a rapier contact without body".into());
        };
        let bodies = [self.body(first)?, self.body(second)?];
        // rapier's normal points from the first body to the second: ours to the first, A.
        let normal = -data.normal.as_dvec3();
        let substep = f64::from(self.parameters.dt) / self.parameters.num_solver_iterations as f64;
        let solved = &data.solver_contacts[..points_of(manifold)];
        let point = |id: u32| {
            let point = manifold.points.get(id as usize);
            point.ok_or("a rapier contact point is not there")
        };
        let mut total = 0.0;
        for contact in solved {
            let [id] = contact.contact_indices();
            total += f64::from(point(id)?.data.warmstart_impulse);
        }
        for contact in solved {
            let [id] = contact.contact_indices();
            let point = &point(id)?.data;
            let pressure = f64::from(point.warmstart_impulse);
            let share = if total > 0.0 {
                pressure / total
            } else {
                1.0 / solved.len() as f64
            };
            let sides = [
                side(bodies[0], point.solver_dp1.as_dvec3()),
                side(bodies[1], point.solver_dp2.as_dvec3()),
            ];
            let (at_first, at_second) = data.solver_contact_world_points(contact, &self.bodies);
            let gap = normal.dot(at_first.as_dvec3() - at_second.as_dvec3());
            let relative = velocity(bodies[0], &sides[0]) - velocity(bodies[1], &sides[1]);
            states.push(ContactState {
                normal,
                impulse: normal * pressure + point.warmstart_tangent_world.as_dvec3() * share,
                velocity: relative + normal * (gap.max(0.0) / substep),
                friction: f64::from(data.friction),
                mobility: mobility(normal, sides),
            });
        }
        Ok(())
    }
}

/// Contact points of a manifold that the solver takes.
fn points_of(manifold: &ContactManifold) -> usize {
    manifold.data.num_active_contacts().min(MAX_MANIFOLD_POINTS)
}

fn side(body: &RigidBody, arm: DVec3) -> Side {
    if !body.is_dynamic() {
        return Side {
            inverse_mass: 0.0,
            inverse_inertia: DMat3::ZERO,
            arm,
        };
    }
    let properties = body.mass_properties();
    let i = properties.effective_world_inv_inertia;
    let column = |x: f32, y: f32, z: f32| DVec3::new(x.into(), y.into(), z.into());
    Side {
        inverse_mass: f64::from(properties.effective_inv_mass.x),
        inverse_inertia: DMat3::from_cols(
            column(i.m11, i.m12, i.m13),
            column(i.m12, i.m22, i.m23),
            column(i.m13, i.m23, i.m33),
        ),
        arm,
    }
}

/// Velocity of the body at the contact, m/s.
fn velocity(body: &RigidBody, side: &Side) -> DVec3 {
    if body.is_dynamic() {
        body.linvel().as_dvec3() + body.angvel().as_dvec3().cross(side.arm)
    } else {
        DVec3::ZERO
    }
}
