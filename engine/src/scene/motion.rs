//! Prescribed motion: kinematic bodies that follow functions of time.

use super::{Scene, SceneError, SceneRun};
use crate::{BodyId, Pose, RigidBody, rotation};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// How a kinematic body of the scene moves. What stands on it is carried, what is in its way is pushed.
///
/// ```
/// # #[cfg(feature = "toml")] {
/// let text = r#"
/// bodies = [{ name = "table", kind = "kinematic", shape = { cuboid = { half_extents = [1, 1, 0.1] } } }]
/// [[motions]]
/// body = "table"
/// path = { oscillation = { amplitude = [0, 0, 0.01], frequency = 5.0 } }
/// "#;
/// let mut run = moreau::Scene::from_toml(text, "table.toml")?.start()?;
/// // A quarter of a turn.
/// for _ in 0..10 {
///     run.step()?;
/// }
/// let table = run.body("table").and_then(|table| run.simulation.pose(table));
/// assert!(table.is_some_and(|pose| (pose.position.z - 0.01).abs() < 1e-12));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneMotion {
    /// Name of a single body, which is kinematic.
    pub body: String,
    /// Its way.
    pub path: MotionPath,
}

/// The way of a body, as a function of the time `t` of the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MotionPath {
    /// `x₀ + a (sin(2π f t + φ) − sin φ)`, from where the body begins; it does not turn.
    Oscillation {
        /// `a`, inertial frame, m.
        amplitude: DVec3,
        /// `f`, Hz, ≥ 0.
        frequency: f64,
        /// `φ`, rad.
        #[serde(default)]
        phase: f64,
    },
    /// From pose to pose, straight and at a constant rate between two of them. The body begins where they say, and stays with the last.
    Keyframes {
        /// s, ascending, from 0 on.
        times: Vec<f64>,
        /// One a time, inertial frame, m.
        positions: Vec<DVec3>,
        /// One a time, `[x, y, z, w]`, of length 1 to 1e-6; or none if the body does not turn.
        #[serde(default)]
        orientations: Vec<DQuat>,
        /// After the last it begins again: the last pose is to be the first.
        #[serde(default)]
        repeat: bool,
    },
}

/// Distance over 1 + that from the origin, and part of a turn, up to which poses are the same.
const SAME: f64 = 1e-9;

/// A body that is moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Mover {
    id: BodyId,
    /// Where it began.
    begin: Pose,
}

impl MotionPath {
    /// The pose at a time (s) of a body that began with `begin`.
    #[must_use]
    pub fn pose(&self, begin: &Pose, time: f64) -> Pose {
        match self {
            Self::Oscillation {
                amplitude,
                frequency,
                phase,
            } => {
                let way = libm::sin(TAU * frequency * time + phase) - libm::sin(*phase);
                Pose {
                    position: begin.position + *amplitude * way,
                    ..*begin
                }
            }
            Self::Keyframes {
                times,
                positions,
                orientations,
                repeat,
            } => {
                let last = times.last().copied().unwrap_or(0.0);
                let time = if *repeat && last > 0.0 {
                    time.rem_euclid(last)
                } else {
                    time
                };
                let after = times.partition_point(|own| *own <= time);
                let (from, to) = (after.max(1) - 1, after.min(times.len().max(1) - 1));
                let length = times.get(to).zip(times.get(from)).map(|(b, a)| b - a);
                let part = match length {
                    Some(length) if length > 0.0 => (time - times[from]) / length,
                    _ => 0.0,
                };
                let place = |at: usize| positions.get(at).copied().unwrap_or(begin.position);
                let turn = |at: usize| orientations.get(at).copied().unwrap_or(begin.orientation);
                Pose {
                    position: place(from).lerp(place(to), part),
                    orientation: rotation::normalised(turn(from).slerp(turn(to), part)),
                }
            }
        }
    }

    fn check(&self, place: &str) -> Result<(), SceneError> {
        let bad = |field, value: String, bound| {
            Err(SceneError::Field {
                place: place.to_owned(),
                field,
                value,
                bound,
            })
        };
        match self {
            Self::Oscillation {
                amplitude,
                frequency,
                phase,
            } => {
                if !amplitude.is_finite() {
                    return bad("amplitude", format!("{amplitude:?}"), "finite");
                }
                if !(*frequency >= 0.0 && frequency.is_finite()) {
                    return bad("frequency", frequency.to_string(), "finite and ≥ 0");
                }
                if !phase.is_finite() {
                    return bad("phase", phase.to_string(), "finite");
                }
            }
            Self::Keyframes {
                times,
                positions,
                orientations,
                repeat,
            } => {
                let ascend = times.windows(2).all(|two| two[0] < two[1]);
                let finite = times.iter().all(|time| time.is_finite());
                if times.first() != Some(&0.0) || !ascend || !finite {
                    return bad("times", format!("{times:?}"), "finite and ascending from 0");
                }
                let count = times.len();
                if positions.len() != count || !positions.iter().all(|at| at.is_finite()) {
                    return bad(
                        "positions",
                        format!("{positions:?}"),
                        "finite, one for each of the times",
                    );
                }
                let turns = orientations
                    .iter()
                    .all(|q| (q.length() - 1.0).abs() <= 1e-6);
                if !(orientations.is_empty() || orientations.len() == count) || !turns {
                    return bad(
                        "orientations",
                        format!("{orientations:?}"),
                        "rotations, one for each of the times or none",
                    );
                }
                if *repeat && !closes(positions, orientations) {
                    let last = positions.last().zip(positions.first());
                    return bad(
                        "repeat",
                        format!("true, from {last:?}"),
                        "a last pose that is the first",
                    );
                }
            }
        }
        Ok(())
    }
}

/// The last pose is the first, to the digits of files.
fn closes(positions: &[DVec3], orientations: &[DQuat]) -> bool {
    let apart = positions.first().zip(positions.last());
    let apart = apart.map_or(0.0, |(first, last)| {
        (*last - *first).length() / (1.0 + first.length())
    });
    let turned = orientations.first().zip(orientations.last());
    // Of quaternions: half the angle, for one and the same with either sign.
    let turned = turned.map_or(0.0, |(first, last)| {
        (*last - *first).length().min((*last + *first).length())
    });
    apart <= SAME && turned <= SAME
}

impl Scene {
    /// What can be wrong with its motions before there are bodies.
    pub(super) fn check_motions(&self) -> Result<(), SceneError> {
        for (index, motion) in self.motions.iter().enumerate() {
            let place = format!("motions[{index}]");
            motion.path.check(&place)?;
            let mut before = self.motions[..index].iter();
            if before.any(|other| other.body == motion.body) {
                return Err(SceneError::Field {
                    place,
                    field: "body",
                    value: motion.body.clone(),
                    bound: "a body that no other motion moves",
                });
            }
        }
        Ok(())
    }
}

impl SceneRun {
    /// Finds the bodies that are moved, and puts them where they begin.
    pub(super) fn find_movers(&mut self) -> Result<(), SceneError> {
        for (index, motion) in self.scene().motions.clone().iter().enumerate() {
            let place = format!("motions[{index}]");
            let body = self.known(&motion.body, &place)?;
            let world = self.simulation.world();
            let kind = world.get::<RigidBody>(body).copied();
            if kind != Some(RigidBody::Kinematic) {
                return Err(SceneError::Field {
                    place,
                    field: "body",
                    value: format!("{} ({kind:?})", motion.body),
                    bound: "a kinematic body",
                });
            }
            let begin = self.simulation.pose(body).unwrap_or_default();
            if let Some(id) = world.get::<BodyId>(body).copied() {
                self.simulation.set(body, motion.path.pose(&begin, 0.0));
                self.movers_mut().push(Mover { id, begin });
            }
        }
        Ok(())
    }

    /// Gives each of them the pose at the end of the next step.
    pub(super) fn move_bodies(&mut self, time: f64) -> Result<(), SceneError> {
        let end = time + self.simulation.settings().time_step;
        for index in 0..self.movers().len() {
            let Mover { id, begin } = self.movers()[index];
            let Some(body) = self.simulation.body(id) else {
                // It was despawned.
                continue;
            };
            let target = self.scene().motions[index].path.pose(&begin, end);
            let moved = self.simulation.move_to(body, target);
            moved.map_err(|source| SceneError::Refused {
                place: format!("motions[{index}]"),
                source,
            })?;
        }
        Ok(())
    }
}
