//! What a task does to its bodies before a step.

use super::{Hold, PULLED, Task};
use crate::scenes::anymal::{GAINS, MASS};
use bevy_ecs::entity::Entity;
use glam::DVec3;
use moreau::{Mass, SceneRun, Simulation, Wrench};

/// Gravity, m/s².
const G: f64 = 9.81;

/// The doer of a run.
pub(super) enum Hand {
    Nothing,
    /// Keeps robots standing.
    Hold(Hold),
    /// Pulls a body up by the origin of its shape with twice the weight of the robot, for a time.
    Pull {
        body: Entity,
        origin: DVec3,
    },
}

impl Hand {
    pub(super) fn new(task: Task, run: &mut SceneRun) -> Self {
        match task {
            Task::Stand => Self::Hold(Hold::new(run, GAINS)),
            Task::Energy => run.body("base").map_or(Self::Nothing, |body| {
                let mass = run.simulation.world().get::<Mass>(body);
                let center = mass.and_then(Mass::center_of_mass).unwrap_or_default();
                let origin = -center;
                Self::Pull { body, origin }
            }),
            _ => Self::Nothing,
        }
    }

    pub(super) fn act(&mut self, simulation: &mut Simulation) {
        match self {
            Self::Nothing => {}
            Self::Hold(hold) => hold.act(simulation),
            Self::Pull { body, origin } => {
                let (body, origin) = (*body, *origin);
                let half_a_step = 0.5 * simulation.settings().time_step;
                let pulls = simulation.time() < PULLED - half_a_step;
                let pose = simulation.pose(body).unwrap_or_default();
                let wrench = if pulls {
                    let force = DVec3::Z * (2.0 * MASS * G);
                    Wrench::default().with_force_at(force, pose.orientation * origin)
                } else {
                    Wrench::default()
                };
                simulation.set(body, wrench);
                if !pulls {
                    *self = Self::Nothing;
                }
            }
        }
    }
}
