//! Many rows beside the joints: sweeps on twists, and the joints solved anew after each of them.
//!
//! ```text
//! y = x + β(x − x_prev)      impulses r, multipliers λ and twists v alike: they are affine in each other
//! x ← sweep over contacts and limits from y,   then   λ −= A⁻¹(J v + C λ + d),   v += M⁻¹Jᵀ Δλ
//! ```
//!
//! Block Gauss–Seidel of which the last block is all joints. Momentum and its restarts are those of contact sweeps: with the joints
//! eliminated the iteration is one in `r` alone. Every residual is that of `r` and of the joints solved from it anew. Where
//! sweeps stall, Newton goes on in the space of the bodies, on all rows; what it proposes is judged the same way.

use super::factor::Six;
use super::island::{Task, beyond, recover};
use super::joints::{Joints, is_equality};
use crate::auto::{CycleBuffers, Cycles, FORECAST_FROM, Log, Method, Stage};
use crate::newton::body_space::BodySpace;
use crate::problem::{FactoredProblem, Interaction, ProblemError, WorldTwist};
use crate::progress::Progress;
use crate::sweep::acceleration::{self, Relaxation, Stride, SweepSums};
use crate::sweep::lane_sweep::{LaneSweep, LaneWorkspace};
use crate::{History, Residual, SolverReport};
use glam::DVec3;

/// Rows beyond which the matrix of Newton is not even analysed.
const MOST_FOR_NEWTON: usize = 20_000;
/// Largest cost of a Newton call, in sweeps.
const MOST_NEWTON_COST: f64 = 2000.0;

/// Sweeps in which the residual is to halve as long as motors are folded.
const STALLED: usize = 300;

/// Buffers.
#[derive(Debug, Default)]
pub(super) struct Alternate {
    lanes: LaneWorkspace,
    interactions: Vec<Interaction>,
    /// Triples of the problem of those that are swept.
    source: Vec<u32>,
    own: Vec<DVec3>,
    history: History,
    best: Vec<DVec3>,
    cycles: CycleBuffers,
    space: BodySpace,
    path: Vec<Stage>,
}

/// The iterate.
struct JointSweep<'a, const N: usize> {
    problem: &'a FactoredProblem<'a>,
    joints: &'a mut Joints<N>,
    lanes: LaneSweep<'a>,
    source: &'a [u32],
    own: &'a mut Vec<DVec3>,
    /// Slab and row of each body of the joints, if it has one.
    places: Vec<Option<(u32, u32)>>,
    /// Multipliers and twists before the last sweep.
    lambda: Vec<[f64; N]>,
    twists: Vec<Six>,
    full: Vec<DVec3>,
    scratch: Vec<WorldTwist>,
}

impl<const N: usize> JointSweep<'_, N> {
    /// The joints for the impulses in the lanes, at rest.
    fn begin(&mut self) {
        self.joints.gather(self.problem.free_twist);
        self.lanes.read(&self.places, &mut self.joints.twists);
        self.joints.solve();
        self.lanes.write(&self.places, &self.joints.twists, true);
        self.lambda.clone_from(&self.joints.lambda);
        self.twists.clone_from(&self.joints.twists);
    }

    /// The impulse of the problem from that of the swept rows.
    fn spread(&mut self) {
        for (triple, r) in self.source.iter().zip(&*self.own) {
            self.full[*triple as usize] = *r;
        }
    }

    fn gather(&mut self, impulse: &[DVec3]) {
        self.own.clear();
        let own = self.source.iter().map(|triple| impulse[*triple as usize]);
        self.own.extend(own);
    }
}

impl<const N: usize> Relaxation for JointSweep<'_, N> {
    fn check_after(&self, sweeps: usize) -> usize {
        self.lanes.check_after(sweeps)
    }

    fn check_cost(&self) -> usize {
        self.lanes.check_cost()
    }

    fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    fn sweep(&mut self, stride: Stride) -> SweepSums {
        let sums = self.lanes.sweep(stride);
        let beta = stride.beta;
        for (now, before) in self.joints.twists.iter_mut().zip(&mut self.twists) {
            for (now, before) in now.iter_mut().zip(before) {
                let old = *now;
                *now += beta * (old - *before);
                *before = old;
            }
        }
        for (now, before) in self.joints.lambda.iter_mut().zip(&mut self.lambda) {
            for (now, before) in now.iter_mut().zip(before) {
                let old = *now;
                *now += beta * (old - *before);
                *before = old;
            }
        }
        self.lanes.read(&self.places, &mut self.joints.twists);
        self.joints.correct();
        self.lanes.write(&self.places, &self.joints.twists, false);
        sums
    }

    fn residual(&mut self) -> Residual {
        self.own.clear();
        self.own.extend_from_slice(self.lanes.unpack());
        self.spread();
        recover(self.joints, self.problem, &mut self.full, &mut self.scratch)
    }

    fn residual_of(&mut self, impulse: &[DVec3]) -> Residual {
        let state = (self.joints.lambda.clone(), self.joints.twists.clone());
        let mut full = impulse.to_vec();
        let residual = recover(self.joints, self.problem, &mut full, &mut self.scratch);
        (self.joints.lambda, self.joints.twists) = state;
        residual
    }

    fn impulse(&self) -> &[DVec3] {
        &self.full
    }

    fn restart(&mut self, impulse: &[DVec3]) {
        self.gather(impulse);
        self.full.copy_from_slice(impulse);
        self.lanes.restart(self.own);
        self.begin();
    }
}

/// Solves an island whose joints are loaded. `condensed_cost`: block products of a condensed solve, if that is possible; where sweeps would
/// take more, it is left to that and the best so far returned.
pub(super) fn solve<const N: usize>(
    joints: &mut Joints<N>,
    space: &mut Alternate,
    (problem, is_joint): (&FactoredProblem, &[bool]),
    (impulse, twist): (&mut [DVec3], &mut Vec<WorldTwist>),
    (task, condensed_cost): (&Task, Option<f64>),
) -> Result<SolverReport, ProblemError> {
    let Alternate {
        lanes,
        interactions,
        source,
        own,
        history,
        best,
        cycles,
        space: bodies,
        path,
    } = space;
    path.clear();
    interactions.clear();
    source.clear();
    source.extend(0..problem.contacts.len() as u32);
    for ((range, other), is_joint) in problem.others().zip(is_joint) {
        if !is_joint {
            interactions.push(*other);
            source.extend(range.start as u32..range.end as u32);
        }
    }
    let swept = FactoredProblem {
        interactions,
        pull: &[],
        ..*problem
    };
    own.clear();
    own.extend(source.iter().map(|triple| impulse[*triple as usize]));
    let first = task.settings.first_stage();
    let lanes = LaneSweep::new(&swept, lanes, own, task.shared, first.simd)?;
    let places = lanes.places(joints.bodies());
    let sweep_cost = source.len() as f64 + joints.sweep_products();
    let mut sweep = JointSweep {
        problem,
        joints,
        lanes,
        source,
        own,
        places,
        lambda: Vec::new(),
        twists: Vec::new(),
        full: impulse.to_vec(),
        scratch: Vec::new(),
    };
    sweep.begin();
    let mut progress = Progress::new(task.goal, history, best, impulse);
    let mut log = Log::new(path);
    let sweeps_only = task.settings.max_factorizations == 0;
    let mut newton_cost = condensed_cost.map(|cost| cost / sweep_cost);
    let mut is_vain = false;
    acceleration::run_while(&mut sweep, &first, &mut progress, |seen, progress| {
        let near = seen.done < FORECAST_FROM || seen.left < FORECAST_FROM as f64;
        // What is folded and beyond its bounds is no solution, however far this is solved.
        is_vain = !near && beyond(problem, is_joint, progress.best());
        if is_vain {
            return false;
        }
        if sweeps_only || near {
            return true;
        }
        let cost = *newton_cost.get_or_insert_with(|| {
            if source.len() > MOST_FOR_NEWTON {
                return f64::INFINITY;
            }
            bodies.load_factored(problem);
            bodies.newton_cost()
        });
        seen.left < cost
    });
    log.stage(Method::Accelerated, &progress);
    let small = source.len() <= MOST_FOR_NEWTON;
    if condensed_cost.is_none() && small && !progress.finished() && !sweeps_only && !is_vain {
        bodies.load_factored(problem);
        let newton_cost = bodies.newton_cost();
        if newton_cost <= MOST_NEWTON_COST {
            let cycles = Cycles {
                newton_cost,
                settings: task.settings,
                sweep,
                buffers: cycles,
                log,
            };
            cycles.run(bodies, &mut progress);
        } else {
            // Where sweeps stall with motors that are folded, they may not with their rows.
            let mut folded = problem.interactions.iter().zip(is_joint);
            let folded = folded.any(|(other, is_joint)| *is_joint && !is_equality(&other.law));
            let rest = crate::NsgsSettings {
                max_sweeps: task.settings.sweeps_left(&progress),
                stall_window: folded.then_some(STALLED),
                ..task.settings.first
            };
            sweep.restart(progress.best());
            acceleration::run(&mut sweep, &rest, &mut progress);
            log.stage(Method::Accelerated, &progress);
        }
    }
    let mut report = progress.report;
    impulse.copy_from_slice(best);
    report.residual = recover(joints, problem, impulse, twist);
    Ok(report)
}

impl Alternate {
    /// The stages of the last solve.
    pub(super) fn path(&self) -> &[Stage] {
        &self.path
    }
}
