//! Bodies of the crate `moreau` as systems: its components are their state. Feature `rigid-bodies`.
//!
//! An entity with [`Pose`], [`Twist`] and [`Mass`] beside a [`System::NewtonEuler`](crate::System::NewtonEuler) is read from these before every step and written to
//! them after it, so that what looks at the components of `moreau` sees it: both have the centre of mass, `v_g` in the inertial frame and `Ω` in the body frame.

use crate::algebra::Matrix;
use crate::error::{FieldError, SystemsError};
use crate::integrator::Integrator;
use crate::simulation::SystemsSimulation;
use crate::system::newton_euler::NewtonEuler;
use crate::system::state::State;
use bevy_ecs::prelude::*;
use glam::{DMat3, DQuat, DVec3};
use moreau::{Mass, Pose, RigidBody, Twist};

impl NewtonEuler {
    /// A free body with a mass and an inertia that are given.
    ///
    /// # Errors
    /// [`FieldError::Missing`] if they follow from a shape, which is not known here.
    pub fn with_mass(mass: &Mass) -> Result<Self, FieldError> {
        if !mass.is_given() {
            return Err(FieldError::Missing {
                field: "mass and inertia, given and not from a shape",
            });
        }
        let frame = DMat3::from_quat(mass.principal_frame());
        let inertia = frame * DMat3::from_diagonal(mass.principal_inertia()) * frame.transpose();
        let mut matrix = Matrix::zeros(3, 3);
        for row in 0..3 {
            for column in 0..3 {
                // The same entries above and below the diagonal.
                let sum = inertia.col(column)[row] + inertia.col(row)[column];
                matrix[(row, column)] = 0.5 * sum;
            }
        }
        Ok(Self::new(mass.mass(), matrix))
    }
}

impl From<(Pose, Twist)> for State {
    fn from((pose, twist): (Pose, Twist)) -> Self {
        let p = pose.orientation;
        Self::body(
            pose.position.to_array(),
            [p.w, p.x, p.y, p.z],
            twist.linear.to_array(),
            twist.angular.to_array(),
        )
    }
}

/// Pose and twist of a state; none unless it is that of a body.
#[must_use]
pub fn pose_and_twist(state: &State) -> Option<(Pose, Twist)> {
    let (&[x, y, z, w, px, py, pz], &[vx, vy, vz, wx, wy, wz]) = (state.q(), state.v()) else {
        return None;
    };
    let pose = Pose {
        position: DVec3::new(x, y, z),
        orientation: DQuat::from_xyzw(px, py, pz, w),
    };
    let twist = Twist {
        linear: DVec3::new(vx, vy, vz),
        angular: DVec3::new(wx, wy, wz),
    };
    Some((pose, twist))
}

impl SystemsSimulation {
    /// Spawns a body with the components of `moreau`, under what acts on it besides: [`NewtonEuler`] of its mass, changed by `load`.
    ///
    /// # Errors
    /// [`SystemsError::System`] names the field at fault, and [`SystemsError::Settings`] a mass that is not given; the body is then not in the world.
    pub fn spawn_rigid_body(
        &mut self,
        (pose, twist, mass): (Pose, Twist, Mass),
        load: impl FnOnce(&mut NewtonEuler),
        integrator: Integrator,
    ) -> Result<Entity, SystemsError> {
        let mut body = NewtonEuler::with_mass(&mass).map_err(SystemsError::Settings)?;
        load(&mut body);
        let entity = self.spawn_system(body, State::from((pose, twist)), integrator)?;
        if let Ok(mut entity) = self.world_mut().get_entity_mut(entity) {
            entity.insert((RigidBody::Dynamic, pose, twist, mass));
        }
        Ok(entity)
    }
}

/// The bodies of a world, as they are read before a step and written after it.
pub(crate) struct Bodies {
    read: QueryState<(&'static Pose, &'static Twist, &'static mut State)>,
    written: QueryState<(&'static State, &'static mut Pose, &'static mut Twist)>,
}

impl Bodies {
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            read: world.query(),
            written: world.query(),
        }
    }

    /// From the components to the states.
    pub(crate) fn read(&mut self, world: &mut World) {
        for (pose, twist, mut state) in self.read.iter_mut(world) {
            let components = State::from((*pose, *twist));
            if *state != components {
                *state = components;
            }
        }
    }

    /// From the states to the components.
    pub(crate) fn write(&mut self, world: &mut World) {
        for (state, mut own_pose, mut own_twist) in self.written.iter_mut(world) {
            if let Some((pose, twist)) = pose_and_twist(state) {
                (*own_pose, *own_twist) = (pose, twist);
            }
        }
    }
}
