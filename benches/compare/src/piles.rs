//! Piles of shapes other than balls: every step counts, and every state is looked at.

use crate::clock::Clock;
use crate::contender::{BodyState, Contender, Outcome, StepFigures, bodies_of};
use crate::moreau_scene::{Aim, MoreauScene};
use crate::overlap::Judge;
use crate::race::median;
use crate::rapier_scene::RapierScene;
use crate::residual;
use moreau::Scene;
use std::time::{Duration, Instant};

/// Steps of one turn.
const TURN: usize = 10;
/// From this step on overlaps count: bodies whose shapes overlap in the lattice have left it.
pub(crate) const LEFT: usize = 50;
/// The last steps of a run, in which a pile is taken to be at rest.
pub(crate) const REST: usize = 50;

/// What is to be run.
#[derive(Clone, Debug)]
pub(crate) struct PilePlan {
    /// Steps of every contender.
    pub(crate) steps: usize,
    /// Tolerances of Moreau, one run each.
    pub(crate) tolerances: Vec<f64>,
    /// Overlap that Moreau's projection leaves alone, m; its default where there is none.
    pub(crate) overlap: Option<f64>,
    /// Threads of every contender; 0 is one a core.
    pub(crate) threads: usize,
    /// How steps are timed.
    pub(crate) clock: Clock,
    /// All runs of a pile end together when this time is over.
    pub(crate) limit: Duration,
}

/// One contender's run.
#[derive(Clone, Debug)]
pub(crate) struct PileRecord {
    /// Engine and settings.
    pub(crate) name: String,
    /// The steps.
    pub(crate) steps: Vec<StepFigures>,
    /// `natmap_rel` at the end of every turn.
    pub(crate) natmap: Vec<f64>,
    /// Deepest overlap after every step, m.
    pub(crate) overlap: Vec<f64>,
}

impl PileRecord {
    /// Mean time of a step, ms.
    pub(crate) fn mean(&self) -> f64 {
        let sum: f64 = self.steps.iter().map(|step| step.ms).sum();
        sum / self.steps.len() as f64
    }

    /// Longest time of a step, ms.
    pub(crate) fn worst(&self) -> f64 {
        self.steps.iter().map(|step| step.ms).fold(0.0, f64::max)
    }

    /// Median of a figure of the steps.
    pub(crate) fn middle(&self, figure: impl Fn(&StepFigures) -> usize) -> f64 {
        median(self.steps.iter().map(|step| figure(step) as f64))
    }

    /// Largest certificate; NaN for an engine without one.
    pub(crate) fn worst_residual(&self) -> f64 {
        let residuals = self.steps.iter().filter_map(|step| step.e_scaled);
        residuals.reduce(f64::max).unwrap_or(f64::NAN)
    }

    /// Steps that missed their goal; none for an engine without one.
    pub(crate) fn unconverged(&self) -> Option<usize> {
        let verdicts: Option<Vec<bool>> = self.steps.iter().map(|step| step.converged).collect();
        verdicts.map(|list| list.iter().filter(|converged| !**converged).count())
    }

    /// Deepest overlap from step [`LEFT`] on, m; NaN of a run that ended before.
    pub(crate) fn deepest(&self) -> f64 {
        largest(self.overlap.get(LEFT - 1..).unwrap_or_default())
    }

    /// Deepest overlap of the last [`REST`] of all `steps` steps, m; NaN of a run that ended before.
    pub(crate) fn deepest_at_rest(&self, steps: usize) -> f64 {
        largest(
            self.overlap
                .get(steps.saturating_sub(REST)..steps)
                .unwrap_or_default(),
        )
    }
}

fn largest(figures: &[f64]) -> f64 {
    figures.iter().copied().reduce(f64::max).unwrap_or(f64::NAN)
}

/// All runs of a pile; rapier's is the first.
#[derive(Clone, Debug)]
pub(crate) struct PileResult {
    /// Name of the scene.
    pub(crate) scene: String,
    /// Steps that were asked for.
    pub(crate) steps: usize,
    /// The runs.
    pub(crate) records: Vec<PileRecord>,
}

/// Runs one pile.
///
/// # Errors
/// If the scene is not for both engines, or one of them refuses a step.
pub(crate) fn run(scene: &Scene, plan: &PilePlan) -> Outcome<PileResult> {
    let bodies = bodies_of(scene)?;
    let judge = Judge::new(&bodies)?;
    let mut contenders = contenders(scene, plan)?;
    let mut records: Vec<PileRecord> = contenders
        .iter()
        .map(|contender| PileRecord {
            name: contender.name().to_owned(),
            steps: Vec::new(),
            natmap: Vec::new(),
            overlap: Vec::new(),
        })
        .collect();
    let (started, mut done) = (Instant::now(), 0);
    while done < plan.steps && started.elapsed() < plan.limit {
        let turn = TURN.min(plan.steps - done);
        for (contender, record) in contenders.iter_mut().zip(&mut records) {
            make_turn(contender.as_mut(), record, turn, &judge)?;
        }
        done += turn;
    }
    eprintln!("{}: {done} steps", scene.name);
    Ok(PileResult {
        scene: scene.name.clone(),
        steps: plan.steps,
        records,
    })
}

/// Makes the steps of a turn, and only then looks at their states: that would drive the engine's data from the caches.
fn make_turn(
    contender: &mut dyn Contender,
    record: &mut PileRecord,
    steps: usize,
    judge: &Judge,
) -> Outcome<()> {
    let mut states: Vec<Vec<BodyState>> = Vec::with_capacity(steps);
    for _ in 0..steps {
        record.steps.extend(contender.advance(1, 0.0)?);
        states.push(contender.bodies()?);
    }
    for state in &states {
        record.overlap.push(judge.deepest(state)?);
    }
    let contacts = contender.contacts()?;
    record.natmap.push(residual::natural_map(&contacts));
    Ok(())
}

fn contenders(scene: &Scene, plan: &PilePlan) -> Outcome<Vec<Box<dyn Contender>>> {
    let mut scene = scene.clone();
    let settings = &mut scene.settings;
    if let Some(overlap) = plan.overlap {
        settings.projection.tolerance = overlap;
    }
    let rapier = RapierScene::new(
        &bodies_of(&scene)?,
        scene.settings.time_step,
        scene.settings.gravity,
        plan.threads,
        plan.clock,
    )?;
    let mut all: Vec<Box<dyn Contender>> = vec![Box::new(rapier)];
    for &goal in &plan.tolerances {
        let aim = Aim::Tolerance(goal);
        let run = MoreauScene::new(&scene, aim, plan.threads, plan.clock)?;
        all.push(Box::new(run));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_pour_every_pile_into_the_box() {
        for name in moreau_demos::scenes::pile::Form::NAMES {
            let scene = moreau_demos::built_in(&format!("pile:shape={name},n=12")).unwrap();
            let plan = PilePlan {
                steps: 60,
                tolerances: vec![1e-3],
                overlap: None,
                threads: 1,
                clock: Clock::Wall,
                limit: Duration::from_secs(60),
            };
            let result = run(&scene, &plan).unwrap();
            assert_eq!(result.records.len(), 2);
            for record in &result.records {
                assert_eq!(record.steps.len(), 60, "{name}");
                let about = format!("{name}, {}", record.name);
                let contacts: usize = record.steps.iter().map(|step| step.contacts).sum();
                assert!(contacts > 20, "{about}: {contacts}");
            }
            assert!(result.records[1].deepest_at_rest(60) < 5e-3, "{name}");
            assert!(result.records[1].worst_residual() < 1.1e-3, "{name}");
            assert_eq!(result.records[1].unconverged(), Some(0), "{name}");
        }
    }
}
