//! One step, from top to bottom. This file is the table of contents of the engine.
//!
//! | phase | equation | reads → writes |
//! |---|---|---|
//! | [`predict`](StepState::predict) | `v_free = v_k + h M⁻¹F`, gyroscopic motion split off | bodies → motion |
//! | [`detect`](StepState::detect) | gaps `g_N`, normals, `I₀` | bodies, motion → interactions |
//! | edit | laws changed, interactions dropped and added by the user | interactions |
//! | [`assemble`](StepState::assemble) | `I₁ ⊂ I₀`, the term `s` of each normal law, `C, G, d, μ`, warm start | interactions → problem |
//! | [`solve`](StepState::solve) | `u = W r + q`, `K* ∋ û ⊥ r ∈ K` | problem → `r`, `v_{k+1} = v_free + M⁻¹Gᵀr` |
//! | [`meet`](StepState::meet) | contacts of bodies that do not meet go, those of bodies that do come in; solved again | `v_{k+1}` → interactions, `r`, `v_{k+1}` |
//! | [`update`](StepState::update) | `q_{k+1} = q_k ⊕ h v_{k+θ}` | motion → bodies |
//! | [`project`](StepState::project) | `0 ≤ g_N + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0`, poses only | bodies → bodies |
//! | [`finish`](StepState::finish) | certificate, ledger, next warm start; islands at rest fall asleep | → report |
//!
//! Sleeping bodies are left out (`step/sleeping.rs`). Where detection finds that one of them is met, it wakes, and
//! free motion and detection are repeated with it.
//!
//! [`StepState`] owns all that a step works on. In an ECS the same phases are the systems of
//! [`StepPhase`](crate::StepPhase), between a gather and a commit of components. After a phase that fails the later ones do not
//! run, and the bodies are as they were.

mod access;
mod adhesion;
mod alone;
pub(crate) mod assembly;
mod bouncing;
mod clock;
mod course;
mod exchange;
mod floating;
#[cfg(test)]
mod footprint;
pub(crate) mod impacts;
mod judged;
mod ledger;
mod meeting;
pub(crate) mod memory;
mod momentum;
pub(crate) mod moreau_jean;
mod near;
mod other_laws;
#[cfg(test)]
mod parts;
mod projection;
mod rest;
mod rounds;
mod sleeping;
mod solve;
pub(crate) mod solved;
mod strikes;
mod sub_problem;
pub(crate) mod threads;
pub(crate) mod touching;
mod update;
mod wake;

use crate::bodies::Bodies;
use crate::bodies::plain::Body;
use crate::bodies::slot::Slot;
use crate::components::{BodyId, MaterialPairs};
use crate::detection::Detection;
use crate::error::{InteractionError, StepError};
use crate::forces::Forces;
use crate::interactions::edit::{Edits, Interactions};
use crate::interactions::graph::Graph;
use crate::interactions::record::ContactRecord;
use crate::interactions::warm_start::Stored;
use crate::joints::{Drift, JointRows, Joints, Solution};
use crate::math::chunks;
use crate::motion::Motion;
use crate::motion::overflow::check_finite;
use crate::motion::scheme::Scheme;
use crate::results::contact_view::ContactViews;
use crate::results::report::{StepReport, StepStatus};
use crate::settings::Settings;
use assembly::{ContactProblem, Parts};
use bevy_ecs::resource::Resource;
use clock::Clock;
use exchange::Exchange;
use floating::Floating;
use glam::DVec3;
use impacts::Impacts;
use judged::Judged;
use ledger::Ledger;
use meeting::Meetings;
use momentum::MomentumCheck;
use moreau_jean::MoreauJean;
use projection::Projector;
use sleeping::Sleepers;
use solve::Solver;
use threads::Threads;
use touching::Touching;
use update::Pushes;

/// Bodies from which on detection gains from other threads, waking them included.
const LARGE: usize = 250;

/// Enough rows for a loop over them to gain from other threads, waking them included.
pub(crate) fn is_long(rows: usize) -> bool {
    rows >= 4 * chunks::CHUNK
}

/// All that a step works on: bodies, buffers, solver, and what is kept for the next step.
///
/// It steps bodies given as plain data, and is the resource behind a [`Simulation`](crate::Simulation) and the systems of
/// [`install`](crate::install).
///
/// ```
/// use moreau::prelude::*;
/// let ground = Body {
///     id: BodyId(0),
///     kind: RigidBody::Static,
///     collider: Some(Collider::half_space(DVec3::Z)),
///     ..Body::default()
/// };
/// let ball = Body {
///     id: BodyId(1),
///     pose: Pose::at(0.0, 0.0, 2.0),
///     collider: Some(Collider::sphere(0.5)),
///     ..Body::default()
/// };
/// let mut state = StepState::default();
/// state.set_bodies(&[ground, ball])?;
/// for _ in 0..400 {
///     assert!(state.step(&Settings::default())?.converged);
/// }
/// let height = state.pose(BodyId(1)).map(|pose| pose.position.z);
/// assert!(height.is_some_and(|z| (z - 0.5).abs() < 1e-4));
/// # Ok::<(), StepError>(())
/// ```
#[derive(Resource, Default)]
pub struct StepState {
    /// Of this step.
    settings: Settings,
    pub(crate) threads: Threads,
    clock: Clock,
    pub(crate) bodies: Bodies,
    /// As they were given.
    pub(crate) material_pairs: MaterialPairs,
    motion: Motion,
    detection: Detection,
    record: ContactRecord,
    edits: Edits,
    graph: Graph,
    problem: ContactProblem,
    pub(crate) joints: Joints,
    joint_rows: JointRows,
    drift: Drift,
    forces: Forces,
    solver: Solver,
    meetings: Meetings,
    impacts: Impacts,
    exchange: Exchange,
    /// In steps of several stages.
    judged: Option<Judged>,
    pushes: Pushes,
    projector: Projector,
    floating: Floating,
    ledger: Ledger,
    momentum: MomentumCheck,
    sleepers: Sleepers,
    touching: Touching,
    stored: Stored,
    contacts: ContactViews,
    report: StepReport,
    /// The first solve of the step was ended before it was done: its motion is looked at first.
    ended_early: bool,
    /// The problem and its solution are those of the last step, which succeeded.
    solved: bool,
}

/// The step without an ECS.
impl StepState {
    /// Steps that run on these threads.
    #[must_use]
    pub fn with_threads(threads: Threads) -> Self {
        Self {
            threads,
            ..Self::default()
        }
    }

    /// Replaces all bodies. Those whose ids stay keep their warm starts.
    ///
    /// # Errors
    /// [`StepError::Body`] names the first body at fault, its field and the bound; all bodies then stay as they were.
    pub fn set_bodies(&mut self, bodies: &[Body]) -> Result<(), StepError> {
        self.bodies.take(bodies)
    }

    /// Makes one step.
    ///
    /// # Errors
    /// [`StepError`]; the bodies are then as they were before the call.
    pub fn step(&mut self, settings: &Settings) -> Result<StepReport, StepError> {
        self.step_by(&MoreauJean, settings, |_| Ok(()))
    }

    /// Makes one step of a `scheme`, with changes of the interactions by `edit`.
    ///
    /// # Errors
    /// [`StepError`], also from `edit`; the bodies are then as they were before the call.
    pub fn step_by(
        &mut self,
        scheme: &impl Scheme,
        settings: &Settings,
        edit: impl FnOnce(&mut Interactions<'_>) -> Result<(), InteractionError> + Send,
    ) -> Result<StepReport, StepError> {
        self.begin(settings)?;
        self.bodies.settle_sleep(&|_| false, settings);
        self.bodies.begin();
        self.start_threads()?;
        let done = self.in_pool(|step| {
            step.predict(scheme)?; //                v_free = v_k + h M⁻¹F
            step.detect(scheme)?; //                 g_N, n: I₀
            edit(&mut step.interactions())?;
            step.assemble(scheme); //                I₁ ⊂ I₀, C, G, d, μ
            step.solve()?; //                        u = W r + q, K* ∋ û ⊥ r ∈ K, v_{k+1} = v_free + M⁻¹Gᵀr
            step.meet(scheme)?; //                   contacts where the solved motion meets, solved again
            step.update(scheme)?; //                 q_{k+1} = q_k ⊕ h v_{k+θ}
            step.project()?; //                      0 ≤ g_N + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0
            step.finish();
            Ok(step.end())
        });
        done.inspect_err(|_| self.fail())
    }
}

/// The phases.
impl StepState {
    /// Settings are checked, and those of this step from now on.
    pub(crate) fn begin(&mut self, settings: &Settings) -> Result<(), StepError> {
        self.clock.start();
        self.drift.begin();
        self.solved = false;
        self.edits.clear();
        settings.validate()?;
        self.settings = *settings;
        Ok(())
    }

    /// Large steps have their threads from the first one on.
    pub(crate) fn start_threads(&mut self) -> Result<(), StepError> {
        if self.bodies.len() >= LARGE {
            self.threads.start(self.settings.threads)?;
        }
        self.clock.timing.ms_gather = self.clock.lap();
        Ok(())
    }

    /// `v_free = v_k + h M⁻¹F`.
    pub(crate) fn predict(&mut self, scheme: &impl Scheme) -> Result<(), StepError> {
        self.joints.resolve(&mut self.bodies)?;
        self.bodies.aim(self.settings.time_step);
        self.drift
            .reach(&mut self.joints, &self.bodies, self.settings.time_step);
        self.drift
            .weigh(&mut self.joints, &self.bodies, self.settings.time_step);
        self.drift.share(&mut self.joints, &mut self.bodies);
        self.bodies.wake_hung();
        self.forces.begin();
        self.move_freely(scheme)?;
        self.clock.timing.ms_free = self.clock.lap();
        Ok(())
    }

    fn move_freely(&mut self, scheme: &impl Scheme) -> Result<(), StepError> {
        let (bodies, settings) = (&mut self.bodies, &self.settings);
        let (time, many) = (self.clock.t, is_long(bodies.moving.len()));
        if !bodies.user_forces.laws.is_empty() {
            let forces = &mut self.forces;
            self.threads
                .run(many, || forces.move_freely(bodies, scheme, settings, time))?;
        }
        let (bodies, motion) = (&self.bodies, &mut self.motion);
        let overflow = self
            .threads
            .run(many, || motion.predict(bodies, scheme, settings));
        overflow.map_or(Ok(()), |slot| {
            let free = &self.motion.free[slot];
            check_finite(
                self.bodies.ids[slot],
                [
                    ("linear velocity", free.linear),
                    ("angular velocity", free.angular),
                ],
            )
        })
    }

    /// `I₀`. Repeated with the free motion of those that wake, until no body that is awake meets one that sleeps.
    pub(crate) fn detect(&mut self, scheme: &impl Scheme) -> Result<(), StepError> {
        self.bodies
            .find_abutting(&self.motion.begin, self.settings.time_step);
        loop {
            let (bodies, motion, settings) = (&self.bodies, &self.motion, &self.settings);
            let (detection, found) = (&mut self.detection, &mut self.record.found);
            self.threads.run(bodies.len() >= LARGE, || {
                detection.detect(bodies, motion, settings, found)
            })?;
            let pairs = self.record.found.iter().map(|contact| contact.bodies);
            if !self.bodies.wake_met(pairs) {
                break;
            }
            self.move_freely(scheme)?;
        }
        self.edits.open = true;
        self.clock.timing.ms_detect = self.clock.lap();
        Ok(())
    }

    /// `I₁ ⊂ I₀`, and `C, G, d, μ` of its contacts, with the impulses to start from.
    pub(crate) fn assemble(&mut self, scheme: &impl Scheme) {
        self.impacts.begin();
        self.joint_rows.begin();
        self.judged = None;
        self.build(scheme);
        self.meetings.begin(&self.record);
        self.clock.timing.ms_assemble = self.clock.lap();
    }

    fn build(&mut self, scheme: &impl Scheme) {
        self.edits.open = false;
        let last = self.contacts.last().filter(|_| self.settings.warm_start);
        let parts = Parts {
            bodies: &self.bodies,
            motion: &self.motion,
            scheme,
            edits: &self.edits,
            settings: &self.settings,
            impacts: &self.impacts,
            turntables: self.motion.turns_something(&self.bodies),
            last: last.map(|last| self.stored.source(last, &self.bodies)),
        };
        let (problem, record) = (&mut self.problem, &mut self.record);
        self.graph.forget();
        problem.activate(record, &parts);
        let many = is_long(record.places().len());
        self.threads.run(many, || problem.assemble(record, &parts));
        let begin = self.impacts.begin_of_stage();
        let known = (&self.bodies, &self.motion);
        let joint_rows = &mut self.joint_rows;
        joint_rows.build(&self.joints, known, &self.settings, begin);
        problem.open_by_impacts(record, joint_rows, &mut self.graph, &parts);
        self.forces.build(
            &self.problem.contacts,
            &self.joint_rows,
            &self.motion,
            begin,
        );
    }

    /// `u = W r + q`, `K* ∋ û ⊥ r ∈ K`, and `v_{k+1} = v_free + M⁻¹Gᵀr`.
    pub(crate) fn solve(&mut self) -> Result<(), StepError> {
        if self.problem.contacts.len() >= self.settings.nsgs().parallel_from {
            self.threads.start(self.settings.threads)?;
        }
        self.solver.nearby = 0;
        self.solver.goes_on = false;
        self.solver.looks = if self.settings.has_budget_of_products() {
            self.record.pairs_of_others(self.motion.centres().balls)
        } else {
            0
        };
        self.solve_first()?;
        self.clock.timing.ms_solve += self.clock.lap();
        Ok(())
    }

    /// `q_{k+1} = q_k ⊕ h v_{k+θ}`.
    pub(crate) fn update(&mut self, scheme: &impl Scheme) -> Result<(), StepError> {
        let (bodies, settings) = (&mut self.bodies, &self.settings);
        self.pushes.mark(
            &self.record,
            &self.problem,
            (bodies, &self.motion),
            settings,
        );
        let velocities = (&self.motion, &self.record.end[..]);
        let overflow = self.threads.run(is_long(bodies.moving.len()), || {
            let contacts = (&self.pushes, &self.impacts);
            update::update(bodies, velocities, contacts, scheme, settings)
        });
        bodies.arrive();
        if !self.joints.is_empty() {
            self.joint_rows.end_stages(&self.joints);
            let solution = Solution {
                motion: &self.motion,
                end: &self.record.end,
                pushed: self.pushes.all(),
                rows: &self.joint_rows,
            };
            let mean = |slot| self.impacts.mean(slot);
            let (drift, joints) = (&mut self.drift, &mut self.joints);
            self.threads.run(bodies.moving.len() >= LARGE, || {
                drift.advance(joints, bodies, &solution, mean, settings);
            });
        } else {
            self.drift.forget(&mut self.joints);
        }
        let on_joints = self.joints.overflow(bodies);
        let overflow = overflow.into_iter().chain(on_joints).min();
        overflow.map_or(Ok(()), |slot| bodies.check_finite(slot))
    }

    /// `0 ≤ g_N + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0`, `q ← q ⊕ Ŵ Cᵀ Λ`.
    pub(crate) fn project(&mut self) -> Result<(), StepError> {
        let (bodies, motion, settings) = (&mut self.bodies, &self.motion, &self.settings);
        let contacts = (&self.record.found[..], &self.record.given[..]);
        let candidates = (contacts, [self.impacts.unmet(), self.meetings.changed()]);
        let found = (&mut self.detection, candidates, &self.edits);
        let projector = &mut self.projector;
        let solver = self.solver.sweeps_and_stuck();
        let graph = (&mut self.graph, &self.joints);
        self.threads.run(bodies.len() >= LARGE, || {
            projector.project(bodies, motion, found, graph, settings, solver)
        })?;
        if !self.joints.is_empty() {
            let (end, h) = (&mut self.record.end[..], self.settings.time_step);
            let (drift, joints) = (&mut self.drift, &mut self.joints);
            let (bodies, motion) = (&mut self.bodies, &self.motion);
            let moved = self.threads.run(bodies.moving.len() >= LARGE, || {
                drift.close(joints, bodies, motion, end, h)
            });
            if let Some(slot) = self.joints.overflow(&self.bodies) {
                self.joints.put_back_counts();
                return self.bodies.check_finite(slot);
            }
            if moved {
                let found = (&mut self.detection, &self.edits);
                self.projector
                    .see_machines(&self.bodies, found, &self.settings);
            }
            let (joints, graph) = (&self.joints, &mut self.graph);
            let bodies = &mut self.bodies;
            self.floating
                .keep_momentum((bodies, joints), &self.record, graph, &self.settings);
        }
        self.clock.timing.ms_update = self.clock.lap();
        Ok(())
    }

    /// The books are closed: ledger, momentum check, warm start of the next step, islands that fall asleep.
    pub(crate) fn finish(&mut self) {
        let (bodies, motion, settings) = (&mut self.bodies, &self.motion, &self.settings);
        let (contacts, record) = (&self.problem.contacts, &mut self.record);
        let (ledger, momentum) = (&mut self.ledger, &mut self.momentum);
        let rows = contacts.len().max(bodies.moving.len());
        let solved = (&self.drift, &self.joint_rows);
        self.joints.keep_readings(solved, settings.time_step);
        self.joints.break_overloaded();
        let joints = (&self.drift.pushes[..], self.drift.energy_of_rotors);
        let forces = &self.forces;
        let (mut energy, momentum_residual) = self.threads.run(is_long(rows), || {
            let defect = &mut momentum.defect;
            let work = (&contacts[..], joints);
            let mut energy = ledger.balance((bodies, motion), work, record, defect, settings);
            ledger.add_late(forces.late(), &mut energy);
            let worst = momentum.check(bodies, record.places(), &record.carried);
            (energy, worst)
        });
        record.carry_without_adhesion();
        // An impact says nothing of the next step.
        for carried in [&mut record.carried, &mut record.carried_couples] {
            for (carried, impact) in carried.iter_mut().zip(&self.problem.impacts) {
                if *impact {
                    *carried = DVec3::ZERO;
                }
            }
        }
        let last = self.contacts.renew();
        last.keep(record, settings.time_step, motion.centres(), bodies);
        self.stored.forget_restored();
        if std::mem::take(&mut bodies.sleep.woke) {
            self.stored.forget_awake(bodies);
        }
        let graph = &mut self.graph;
        if last.record.chosen.is_some() {
            // So far it is that of all that was found.
            graph.forget();
        }
        let (solved, outcome) = (&last.record, &self.solver.report);
        // A step counts for sleep if it converged, by both figures, or by the bound of the rule.
        let by_rule = settings.sleeping.residual.is_some();
        let residual = if !self.drift.holds() || !self.forces.hold(settings) {
            f64::INFINITY
        } else if by_rule || outcome.converged() {
            outcome.residual.scaled
        } else {
            f64::INFINITY
        };
        let (graph, solved) = ((graph, &self.joints), (solved, &self.edits));
        let fell = self
            .sleepers
            .fall_asleep(bodies, graph, solved, residual, settings);
        if fell.count > 0 {
            self.stored.keep(last, |slot| bodies.is_asleep(slot));
        }
        energy.fall_asleep(fell.kinetic);
        bodies.stand();
        let (detection, broken) = (&self.detection, &self.joints.broken);
        let balls = self.motion.centres().balls;
        self.touching
            .follow((bodies, balls), &last.record, detection, broken);
        let closed = last.record.impulse.iter().filter(|r| r.x > 0.0);
        let closed_contacts = closed.count();
        self.clock.step += 1;
        self.clock.t += settings.time_step;
        self.report = StepReport {
            islands: fell.islands,
            closed_contacts,
            momentum_residual,
            energy,
            ..self.figures()
        };
        self.solved = true;
    }

    /// The part of the report that needs no books.
    fn figures(&self) -> StepReport {
        let solved = &self.solver.report;
        let overlap_left = self.projector.left;
        StepReport {
            step: self.clock.step,
            t: self.clock.t,
            bodies: self.bodies.len(),
            sleeping: self.bodies.sleep.count,
            contacts: self.problem.contacts.len(),
            rounds: self.meetings.rounds,
            late_contacts: self.meetings.late_contacts,
            last_resorts: self.meetings.last_resorts,
            stages: self.impacts.stages,
            sweeps: solved.iterations,
            factorizations: solved.factorizations,
            converged: solved.converged() && self.drift.holds() && self.forces.hold(&self.settings),
            status: match solved.status.into() {
                StepStatus::Converged
                    if !self.drift.holds() || !self.forces.hold(&self.settings) =>
                {
                    StepStatus::Stopped
                }
                status => status,
            },
            conflict: self.pair(solved.conflict),
            velocity: solved.island_velocity,
            worst_velocity: solved.residual.worst_velocity,
            worst_pair: self.pair(solved.worst_contact),
            e_scaled: solved.residual.scaled,
            e_fclib: solved.residual.fclib,
            max_penetration: self.detection.deepest_found,
            joints: self.joints.list.len(),
            joint_error: self.drift.error,
            joint_velocity: self.drift.velocity,
            broken_joints: self.joints.broken.len(),
            force_loops: self.forces.loops,
            force_error: self.forces.error,
            box_violation: solved.residual.box_violation,
            overlap_left: overlap_left.map_or(0.0, |(depth, _)| depth),
            overlap_pair: overlap_left.map(|(_, pair)| pair.map(|slot| self.bodies.ids[slot])),
            cone_violation: solved.residual.cone_violation,
            projections: self.projector.iterations,
            timing: self.clock.timing,
            ..StepReport::default()
        }
    }

    /// The bodies of a contact of the problem.
    fn pair(&self, contact: Option<u32>) -> Option<[BodyId; 2]> {
        let contacts = match &self.judged {
            Some(judged) => &judged.contacts,
            None => &self.problem.contacts,
        };
        let contact = contacts.get(contact? as usize)?;
        Some(contact.bodies.map(|slot| self.bodies.ids[Slot(slot)]))
    }

    /// The step is over: its report.
    pub(crate) fn end(&mut self) -> StepReport {
        self.report.timing = self.clock.finish();
        self.report
    }

    /// A phase failed: the bodies are as they were.
    pub(crate) fn fail(&mut self) {
        self.clock.runs = false;
        self.edits.clear();
        self.bodies.put_back();
        self.drift.put_back(&mut self.bodies);
    }
}

/// Where it runs.
impl StepState {
    /// The step is worth other threads.
    pub(crate) fn is_large(&self) -> bool {
        self.bodies.moving.len() >= LARGE
    }

    /// A part of a step, on the threads that its phases are shared among.
    pub(crate) fn in_pool<R: Send>(&mut self, part: impl FnOnce(&mut Self) -> R + Send) -> R {
        let threads = self.threads.clone();
        threads.run_awake(self.is_large(), || part(self))
    }
}
