//! Runs the contenders on one scene, turn by turn, and keeps the figures of two windows of steps.

use crate::clock::Clock;
use crate::contender::{Body, BodyState, Contender, Outcome, StepFigures, bodies_of};
use crate::moreau_scene::{Aim, MoreauScene};
use crate::overlap::Judge;
use crate::rapier_scene::RapierScene;
use crate::residual;
use moreau::Scene;
use std::ops::RangeInclusive;

/// Steps of one turn: noise of the machine lasts longer and hits all contenders.
const TURN: usize = 10;
/// Steps between two looks for overlaps.
const OVERLAP_EVERY: usize = 50;

/// A part of a run, in steps from 1.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Its name in the tables.
    pub(crate) name: &'static str,
    /// The steps.
    pub(crate) steps: RangeInclusive<usize>,
}

/// The two windows of all scenes.
pub(crate) const WINDOWS: [Window; 2] = [
    Window {
        name: "moving",
        steps: 100..=250,
    },
    Window {
        name: "settled",
        steps: 400..=600,
    },
];

/// What is to be run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Steps of every contender.
    pub(crate) steps: usize,
    /// Tolerances of Moreau, one run each.
    pub(crate) tolerances: Vec<f64>,
    /// Threads of every contender; 0 is one a core.
    pub(crate) threads: usize,
    /// How steps are timed.
    pub(crate) clock: Clock,
}

/// Figures of one contender in one window. Times, contacts and sweeps of every step, the rest at
/// the end of every turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// Time of a step, ms.
    pub(crate) ms: Vec<f64>,
    /// Contact points.
    pub(crate) contacts: Vec<f64>,
    /// Passes over all contacts.
    pub(crate) sweeps: Vec<f64>,
    /// Moreau's certificate.
    pub(crate) e_scaled: Vec<f64>,
    /// `natmap_rel`.
    pub(crate) natmap: Vec<f64>,
    /// Deepest overlap, m, every [`OVERLAP_EVERY`] steps.
    pub(crate) overlap: Vec<f64>,
    /// Mean speed of the dynamic bodies, m/s.
    pub(crate) speed: Vec<f64>,
    /// Height that the highest body of a standing structure has lost since the start, m.
    pub(crate) sinking: Vec<f64>,
}

/// One contender's run.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Engine and settings.
    pub(crate) name: String,
    /// Figures of each of [`WINDOWS`].
    pub(crate) figures: [Figures; 2],
}

/// All runs of a scene; rapier's is the first.
#[derive(Clone, Debug)]
pub(crate) struct SceneResult {
    /// Name of the scene.
    pub(crate) scene: String,
    /// Number of its bodies that move.
    pub(crate) dynamic: usize,
    /// The runs.
    pub(crate) records: Vec<Record>,
}

/// Runs one scene.
///
/// # Errors
/// If the scene is not for both engines, or one of them refuses a step.
pub(crate) fn run(scene: &Scene, plan: &Plan) -> Outcome<SceneResult> {
    let bodies = bodies_of(scene)?;
    let judge = Judge::new(&bodies)?;
    let highest = highest(scene, &bodies);
    let mut contenders = contenders(scene, &bodies, plan)?;
    let mut records: Vec<Record> = contenders
        .iter()
        .map(|contender| Record {
            name: contender.name().to_owned(),
            figures: Default::default(),
        })
        .collect();
    let mut done = 0;
    while done < plan.steps {
        let turn = TURN.min(plan.steps - done);
        let mut pace = 0.0;
        for (contender, record) in contenders.iter_mut().zip(&mut records) {
            let steps = contender.advance(turn, pace)?;
            if pace == 0.0 {
                pace = median(steps.iter().map(|step| step.ms));
            }
            for (index, window) in WINDOWS.iter().enumerate() {
                let figures = &mut record.figures[index];
                for (offset, step) in steps.iter().enumerate() {
                    if window.steps.contains(&(done + offset + 1)) {
                        figures.add_step(step);
                    }
                }
                if window.steps.contains(&(done + turn)) {
                    let look = (done + turn).is_multiple_of(OVERLAP_EVERY);
                    let judge = look.then_some(&judge);
                    figures.add_state(contender.as_mut(), &bodies, highest, judge)?;
                }
            }
        }
        done += turn;
        if done.is_multiple_of(100) {
            eprintln!("{}: {done} steps", scene.name);
        }
    }
    Ok(SceneResult {
        scene: scene.name.clone(),
        dynamic: bodies.iter().filter(|body| body.dynamic).count(),
        records,
    })
}

fn contenders(scene: &Scene, bodies: &[Body], plan: &Plan) -> Outcome<Vec<Box<dyn Contender>>> {
    let settings = &scene.settings;
    let rapier = RapierScene::new(
        bodies,
        settings.time_step,
        settings.gravity,
        plan.threads,
        plan.clock,
    )?;
    let mut all: Vec<Box<dyn Contender>> = vec![Box::new(rapier)];
    let aims = plan.tolerances.iter().map(|&goal| Aim::Tolerance(goal));
    for aim in aims.chain([Aim::Interactive, Aim::SameTime]) {
        all.push(Box::new(MoreauScene::new(
            scene,
            aim,
            plan.threads,
            plan.clock,
        )?));
    }
    Ok(all)
}

/// Index and height of the highest dynamic body of a standing structure; `None` for what is
/// poured.
fn highest(scene: &Scene, bodies: &[Body]) -> Option<(usize, f64)> {
    if !scene.lattices.is_empty() || scene.name.starts_with("pile") {
        return None;
    }
    let moving = bodies.iter().enumerate().filter(|(_, body)| body.dynamic);
    moving
        .map(|(index, body)| (index, body.pose.position.z))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

impl Figures {
    fn add_step(&mut self, step: &StepFigures) {
        self.ms.push(step.ms);
        self.contacts.push(step.contacts as f64);
        self.sweeps.push(step.sweeps as f64);
        self.e_scaled.extend(step.e_scaled);
    }

    fn add_state(
        &mut self,
        contender: &mut dyn Contender,
        bodies: &[Body],
        highest: Option<(usize, f64)>,
        judge: Option<&Judge>,
    ) -> Outcome<()> {
        self.natmap
            .push(residual::natural_map(&contender.contacts()?));
        let states = contender.bodies()?;
        if states.len() != bodies.len() {
            return Err(format!("{}: bodies were lost", contender.name()).into());
        }
        self.speed.push(mean_speed(bodies, &states));
        if let Some((index, start)) = highest {
            self.sinking.push(start - states[index].position.z);
        }
        if let Some(judge) = judge {
            self.overlap.push(judge.deepest(&states)?);
        }
        Ok(())
    }
}

fn mean_speed(bodies: &[Body], states: &[BodyState]) -> f64 {
    let moving = bodies.iter().zip(states).filter(|(body, _)| body.dynamic);
    let (count, sum) = moving.fold((0, 0.0), |(count, sum), (_, state)| {
        (count + 1, sum + state.speed)
    });
    sum / f64::from(count.max(1))
}

/// The median; NaN for no figures.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    quantile(figures, 0.5)
}

/// The smallest figure that the given part of all figures does not exceed; NaN for no figures.
pub(crate) fn quantile(figures: impl IntoIterator<Item = f64>, part: f64) -> f64 {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let rank = (part * sorted.len() as f64).ceil() as usize;
    let index = rank.saturating_sub(1);
    sorted.get(index).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_figures_of_the_list() {
        let figures = || (1..=20).rev().map(f64::from);
        for (part, expected) in [(0.5, 10.0), (0.95, 19.0), (1.0, 20.0), (0.0, 1.0)] {
            let found = quantile(figures(), part);
            assert!((found - expected).abs() < f64::EPSILON, "{part}: {found}");
        }
        assert!(median([]).is_nan());
    }

    #[test]
    fn both_engines_carry_a_small_pyramid_and_agree_on_its_bodies() {
        let scene = moreau_demos::built_in("pyramid:n=3").unwrap();
        let plan = Plan {
            steps: 120,
            tolerances: vec![1e-6],
            threads: 1,
            clock: Clock::Wall,
        };
        let result = run(&scene, &plan).unwrap();
        assert_eq!((result.dynamic, result.records.len()), (6, 4));
        // Not the run within rapier's time: how far it comes depends on the machine.
        for record in &result.records[..2] {
            let [moving, settled] = &record.figures;
            assert_eq!((moving.ms.len(), settled.ms.len()), (21, 0));
            assert!(median(moving.natmap.clone()) < 1e-2, "{}", record.name);
            assert!(median(moving.sinking.clone()).abs() < 0.01);
            assert!(median(moving.overlap.clone()) < 0.01);
            assert!(median(moving.contacts.clone()) >= 24.0);
        }
    }
}
