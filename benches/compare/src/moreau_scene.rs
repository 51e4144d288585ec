//! A scene in Moreau: to a tolerance, or within the time that rapier takes.

use crate::clock::Clock;
use crate::contender::{BodyState, Contender, Outcome, StepFigures};
use crate::residual::{ContactState, Side, mobility};
use moreau::glam::DVec3;
use moreau::prelude::*;
use moreau::solvers::FactoredProblem;
use moreau_demos::scenes::awake;

/// What a run of Moreau is to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    /// `e_scaled` of each step, with the default budget of sweeps.
    Tolerance(f64),
    /// What the preset for games does within its budget.
    Interactive,
    /// The smallest residual within the time that the first contender takes: sweeps only, their
    /// number follows from the times of the steps before.
    SameTime,
}

/// A scene in Moreau.
pub(crate) struct MoreauScene {
    name: String,
    run: SceneRun,
    budget: Option<Budget>,
    clock: Clock,
}

/// Sweeps that fit into a given time: more after a step that was short enough, fewer after one
/// that was not. It settles where half of the steps are, at the goal in the median.
#[derive(Clone, Copy, Debug)]
struct Budget(f64);

/// Part of the time that is aimed at, so that the median stays below it.
const CAUTION: f64 = 0.95;
/// Bounds of the sweeps.
const SWEEPS: [f64; 2] = [1.0, 2_000.0];

impl Budget {
    const START: Self = Self(8.0);

    fn sweeps(self) -> usize {
        self.0.round() as usize
    }

    /// Learns that a step took `ms` where `pace` (ms) is wanted.
    fn learn(&mut self, ms: f64, pace: f64) {
        let next = if ms < CAUTION * pace {
            1.05 * self.0 + 0.5
        } else {
            self.0 / 1.05 - 0.5
        };
        let [least, most] = SWEEPS;
        self.0 = next.clamp(least, most);
    }
}

/// Overlap of grains that the projection leaves alone, m.
const OVERLAP: f64 = 4e-4;

impl MoreauScene {
    /// The scene with this aim on `threads` threads, with sleeping off.
    ///
    /// # Errors
    /// If the scene cannot be started.
    pub(crate) fn new(scene: &Scene, aim: Aim, threads: usize, clock: Clock) -> Outcome<Self> {
        let mut scene = awake(scene.clone());
        scene.settings.threads = threads;
        if scene.name.starts_with("sphere_pour") {
            scene.settings.projection.tolerance = OVERLAP;
        }
        let settings = &mut scene.settings;
        let (name, budget) = match aim {
            Aim::Tolerance(tolerance) => {
                settings.tolerance = Some(tolerance);
                (format!("Moreau {tolerance:.0e}"), None)
            }
            Aim::Interactive => {
                settings.accuracy = Accuracy::Interactive;
                settings.tolerance = None;
                ("Moreau, interactive".to_owned(), None)
            }
            Aim::SameTime => {
                settings.tolerance = Some(1e-12);
                settings.advanced.max_factorizations = Some(0);
                ("Moreau, rapier's time".to_owned(), Some(Budget::START))
            }
        };
        Ok(Self {
            name,
            run: scene.start()?,
            budget,
            clock,
        })
    }
}

impl Contender for MoreauScene {
    fn name(&self) -> &str {
        &self.name
    }

    fn advance(&mut self, steps: usize, pace: f64) -> Outcome<Vec<StepFigures>> {
        let mut figures = Vec::with_capacity(steps);
        for _ in 0..steps {
            if let Some(budget) = &self.budget {
                let mut settings = self.run.simulation.settings();
                settings.advanced.min_sweeps = Some(budget.sweeps());
                settings.advanced.max_sweeps = Some(budget.sweeps());
                self.run.simulation.set_settings(settings)?;
            }
            let start = self.clock.now();
            let report = self.run.step()?;
            let ms = self.clock.now() - start;
            if let Some(budget) = &mut self.budget {
                budget.learn(ms, pace);
            }
            figures.push(StepFigures {
                ms,
                contacts: report.contacts,
                sweeps: report.sweeps,
                e_scaled: Some(report.e_scaled),
                converged: Some(report.converged),
            });
        }
        Ok(figures)
    }

    fn contacts(&self) -> Outcome<Vec<ContactState>> {
        let simulation = &self.run.simulation;
        let problem = simulation.problem().ok_or("Moreau has made no step")?;
        Ok(contact_states(&problem, simulation.impulses()))
    }

    fn bodies(&mut self) -> Outcome<Vec<BodyState>> {
        let world = self.run.simulation.world_mut();
        let mut query = world.query::<(&BodyId, &Pose, &Twist)>();
        let mut rows: Vec<_> = query.iter(world).collect();
        rows.sort_unstable_by_key(|row| *row.0);
        let state = |(_, pose, twist): (&BodyId, &Pose, &Twist)| BodyState {
            position: pose.position,
            orientation: pose.orientation,
            speed: twist.linear.length(),
        };
        Ok(rows.into_iter().map(state).collect())
    }
}

/// Contacts with the velocities that follow from the impulses: `v = v_free + Ŵ Gᵀ r`.
fn contact_states(problem: &FactoredProblem, impulses: &[DVec3]) -> Vec<ContactState> {
    let mut twists: Vec<[DVec3; 2]> = problem
        .free_twist
        .iter()
        .map(|twist| [twist.linear, twist.angular])
        .collect();
    let solved = || problem.contacts.iter().zip(impulses);
    for (contact, r) in solved() {
        let force = contact.frame * *r;
        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
            let body = contact.bodies[side] as usize;
            let mass = &problem.inverse_mass[body];
            twists[body][0] += force * (sign * mass.linear);
            twists[body][1] += mass.angular * contact.arms[side].cross(force * sign);
        }
    }
    let state = |(contact, r): (&moreau::solvers::Contact, &DVec3)| {
        let [a, b] = [0, 1].map(|side: usize| {
            let [linear, angular] = twists[contact.bodies[side] as usize];
            linear + angular.cross(contact.arms[side])
        });
        let sides = [0, 1].map(|side: usize| {
            let mass = &problem.inverse_mass[contact.bodies[side] as usize];
            Side {
                inverse_mass: mass.linear,
                inverse_inertia: mass.angular,
                arm: contact.arms[side],
            }
        });
        let normal = contact.frame.x_axis;
        ContactState {
            normal,
            impulse: contact.frame * *r,
            velocity: a - b + contact.frame * contact.offset,
            friction: contact.friction,
            mobility: mobility(normal, sides),
        }
    };
    solved().map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_settles_where_a_step_takes_the_pace() {
        let mut budget = Budget::START;
        for _ in 0..200 {
            // 1 ms and 0.02 ms a sweep: 90 sweeps fit into 0.95 of 2.95 ms.
            budget.learn(1.0 + 0.02 * budget.sweeps() as f64, 2.95);
        }
        assert!((85..=95).contains(&budget.sweeps()), "{budget:?}");
        for _ in 0..200 {
            budget.learn(3.0, 2.0);
        }
        assert_eq!(budget.sweeps(), 1);
    }

    #[test]
    fn a_solved_step_has_no_residual() {
        let mut scene = moreau_demos::built_in("stack:n=2").unwrap();
        scene.settings.advanced.min_sweeps = Some(200);
        let aim = Aim::Tolerance(1e-10);
        let mut run = MoreauScene::new(&scene, aim, 1, Clock::Wall).unwrap();
        run.advance(3, 0.0).unwrap();
        let contacts = run.contacts().unwrap();
        assert_eq!(contacts.len(), 8);
        let natmap = crate::residual::natural_map(&contacts);
        assert!(natmap < 1e-8, "{natmap}");
    }
}
