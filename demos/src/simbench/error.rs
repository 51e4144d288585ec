//! The errors, sample by sample.

use super::{PULLED, Task};
use crate::scenes::anymal::MOMENTUM;
use crate::scenes::simbench::{Direction, FORCE, RADIUS};
use glam::DVec3;
use moreau::{BodyId, Mass, Pose, RigidBody, Simulation, Twist};

/// Gravity, m/s².
const G: f64 = 9.81;
/// A tower has fallen when the last of its pieces, at first at 1.15 m, is below this, m.
const FALLEN: f64 = 1.0;
/// Bodies of an ANYmal, and its feet.
const PARTS: usize = 13;
const FEET: usize = 4;

/// What a task looks at, and the mean of its error so far.
pub(super) struct Gauge {
    task: Task,
    /// Energy of the first sample, J.
    first: Option<f64>,
    /// Dynamic bodies in the order of their ids.
    bodies: Vec<State>,
    sum: f64,
    samples: u64,
}

#[derive(Clone, Copy)]
struct State {
    id: BodyId,
    pose: Pose,
    twist: Twist,
    mass: Mass,
}

impl Gauge {
    pub(super) fn new(task: Task) -> Self {
        Self {
            task,
            first: None,
            bodies: Vec::new(),
            sum: 0.0,
            samples: 0,
        }
    }

    /// Takes the state as a sample; false if there is no going on.
    pub(super) fn sample(&mut self, simulation: &mut Simulation) -> bool {
        self.read(simulation);
        let h = simulation.settings().time_step;
        self.sum += match self.task {
            Task::RollingXy => self.velocities(Direction::Xy, h),
            Task::RollingY => self.velocities(Direction::Y, h),
            Task::Bouncing | Task::ElasticPile => self.energy_change(),
            Task::Pile => overlaps(&self.bodies),
            Task::Momentum => {
                let momenta = self.bodies.iter().map(State::momentum);
                (momenta.sum::<DVec3>() - DVec3::Y * MOMENTUM).length_squared()
            }
            // Only what flies counts, from the first state without a pull.
            Task::Energy if simulation.time() < PULLED - 0.5 * h => return true,
            Task::Energy => self.energy_change(),
            // A robot stands on as many contacts as it has feet.
            Task::Stand if self.samples == 0 => 0.0,
            Task::Stand => {
                let robots = self.bodies.len() / PARTS;
                let extra = simulation.contacts().len() as f64 - (FEET * robots) as f64;
                extra * extra
            }
            Task::Kapla => {
                let last = self.bodies.last();
                return last.is_some_and(|piece| piece.pose.position.z >= FALLEN);
            }
        };
        self.samples += 1;
        true
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.samples.max(1) as f64
    }

    fn read(&mut self, simulation: &mut Simulation) {
        let world = simulation.world_mut();
        let mut query = world.query::<(&BodyId, &RigidBody, &Pose, &Twist, &Mass)>();
        let dynamic = query
            .iter(world)
            .filter(|(_, kind, ..)| **kind == RigidBody::Dynamic);
        self.bodies.clear();
        self.bodies
            .extend(dynamic.map(|(id, _, pose, twist, mass)| State {
                id: *id,
                pose: *pose,
                twist: *twist,
                mass: *mass,
            }));
        self.bodies.sort_unstable_by_key(|body| body.id);
    }

    /// Square of the change of the energy since the first sample, J².
    fn energy_change(&mut self) -> f64 {
        let now: f64 = self.bodies.iter().map(State::energy).sum();
        let change = now - *self.first.get_or_insert(now);
        change * change
    }

    /// Square of what is wrong with the velocities of the box, the first body, and of the ball after it, m²/s².
    fn velocities(&self, direction: Direction, h: f64) -> f64 {
        let t = self.samples as f64 * h;
        let exact = rolling_velocities(t).map(|speed| direction.unit() * speed);
        let errors = self.bodies.iter().zip(exact);
        errors
            .map(|(body, exact)| (body.twist.linear - exact).length_squared())
            .sum()
    }
}

impl State {
    /// N s.
    fn momentum(&self) -> DVec3 {
        self.twist.linear * self.mass.mass()
    }

    /// Kinetic energy and `m g z`, J.
    fn energy(&self) -> f64 {
        let angular = self.mass.principal_frame().conjugate() * self.twist.angular;
        let spin = angular.dot(self.mass.principal_inertia() * angular);
        let mass = self.mass.mass();
        let moved = mass * self.twist.linear.length_squared();
        0.5 * (moved + spin) + mass * G * self.pose.position.z
    }
}

/// Speeds of the box and of the balls at `t` (s), m/s: the box slides, the balls roll on it, and `m/(7/2)` is what a rolling ball
/// of the mass `m` adds to it.
fn rolling_velocities(t: f64) -> [f64; 2] {
    let (box_mass, balls) = (10.0, 25.0);
    let ground = 0.4 * (box_mass + balls) * G;
    let ball = (FORCE - ground) / box_mass / (3.5 + balls / box_mass);
    let pulled = (FORCE - ground - balls * ball) / box_mass;
    [pulled * t, ball * t]
}

/// Squares of the overlaps of balls of [`RADIUS`] with one another and with the ground, m².
fn overlaps(balls: &[State]) -> f64 {
    let mut sum = 0.0;
    for (index, a) in balls.iter().enumerate() {
        let a = a.pose.position;
        let ground = (RADIUS - a.z).max(0.0);
        sum += ground * ground;
        for b in &balls[..index] {
            let square = (a - b.pose.position).length_squared();
            if square < 4.0 * RADIUS * RADIUS {
                let depth = 2.0 * RADIUS - square.sqrt();
                sum += depth * depth;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rolling_scene_at_rest_scores_as_published() {
        let samples = (0..4000).map(|k| rolling_velocities(f64::from(k) * 1e-3));
        let sum: f64 = samples.map(|[a, b]| a * a + b * b).sum();
        assert!((sum / 4000.0 - 3.14497).abs() < 1e-5, "{}", sum / 4000.0);
    }

    #[test]
    fn overlaps_of_pairs_and_of_the_ground_add_up() {
        let at = |x, z| State {
            id: BodyId::UNASSIGNED,
            pose: Pose::at(x, 0.0, z),
            twist: Twist::default(),
            mass: Mass::default(),
        };
        // The first touches the ground alone.
        let sum = overlaps(&[at(0.0, 0.09), at(0.19, 0.2), at(1.0, 0.1)]);
        assert!((sum - 1e-4).abs() < 1e-15, "{sum}");
        let sum = overlaps(&[at(0.0, 0.3), at(0.19, 0.3)]);
        assert!((sum - 1e-4).abs() < 1e-15, "{sum}");
    }
}
