//! Sleeping: islands at rest are left out of the steps until something wakes them.
//!
//! **Falling asleep**, at the end of a step. A body is quiet in a step if
//!
//! ```text
//! ‖v_g‖ ≤ linear,   ‖Ω‖ ≤ angular,   ‖Ω‖ radius ≤ linear,   no wrench,   e_scaled ≤ residual
//! ```
//!
//! and its speed is no more than a quarter of `linear` above the least one of that time: what gets faster does not come to rest.
//! An island (`step/rest.rs`) all of whose bodies were quiet for `time` in a row falls asleep:
//! their twists become exactly zero, which the ledger shows as `work_sleep`, and poses stay. The bodies
//! leave [`Bodies::moving`], and their entities move to the tables of bodies at rest: no phase
//! visits them.
//!
//! **A sleeping body never takes part in a solve.** Detection finds its contacts with bodies that are
//! awake as if it were static; if there is one, its island wakes, and the step goes on from the free
//! motion with it. So an island wakes in the step in which it is first met, before anything can be
//! struck or stopped by it, and impulses go through it as through any other. Two neighbours that
//! both sleep have no contact, and neither have a sleeping body and a kinematic one at rest. Only the
//! projection, which moves poses alone, may find a sleeper that detection did not: as a fixed body. A sleeper
//! that is met only by what was itself struck in the step wakes in its midst (`step/wake.rs`).
//!
//! Bodies that wake between steps, because something was changed from outside: `bodies/waking.rs`.
//!
//! What is known of sleep is in [`Bodies`], carried along when bodies come and go; the component
//! [`Sleeping`](crate::Sleeping) shows it, and hooks record when user code inserts or removes it.
//!
//! The impulses within an island are kept, as the warm start of its first step awake.

use super::rest::Restlessness;
use crate::bodies::Bodies;
use crate::interactions::edit::Edits;
use crate::interactions::graph::Graph;
use crate::interactions::record::ContactRecord;
use crate::joints::Joints;
use crate::settings::Settings;

/// Growth of the speed of a body while it is quiet, as a part of the speed up to which it is at rest, from which on it is not: 5e-3 m/s² with the default rule.
const GROWTH: f64 = 0.25;

/// Falling asleep.
#[derive(Debug, Default)]
pub(crate) struct Sleepers {
    restless: Restlessness,
}

/// What fell asleep at the end of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FellAsleep {
    /// Kinetic energy that went, J.
    pub(crate) kinetic: f64,
    /// Islands of bodies that stay awake.
    pub(crate) islands: usize,
    /// Bodies that fell asleep.
    pub(crate) count: usize,
}

impl Sleepers {
    /// Counts the time for which bodies were quiet, and lets the islands at rest fall asleep. `solved` are
    /// the contacts of the finished step, with what a user changed of them, `residual` is its `e_scaled`.
    pub(crate) fn fall_asleep(
        &mut self,
        bodies: &mut Bodies,
        (graph, joints): (&mut Graph, &Joints),
        (solved, edits): (&ContactRecord, &Edits),
        residual: f64,
        settings: &Settings,
    ) -> FellAsleep {
        if !settings.sleeps() {
            return FellAsleep::default();
        }
        let ripe = self.watch(bodies, residual, settings);
        // Half a step of slack: times are multiples of h up to rounding.
        let time = settings.sleeping.time - 0.5 * settings.time_step;
        graph.tie(solved.places(), bodies);
        let solved = (solved, edits);
        self.restless.find((graph, joints), bodies, solved, time);
        let mut fell = FellAsleep {
            islands: self.restless.islands,
            ..FellAsleep::default()
        };
        if ripe {
            self.lay_down(bodies, graph, &mut fell);
        }
        fell
    }

    /// Counts the time for which bodies were quiet. True if it is enough for one of them.
    fn watch(&self, bodies: &mut Bodies, residual: f64, settings: &Settings) -> bool {
        let rule = &settings.sleeping;
        let solved = residual <= rule.residual.unwrap_or_else(|| settings.tolerance());
        let mut longest: f64 = 0.0;
        for at in 0..bodies.moving.len() {
            let slot = bodies.moving[at];
            if bodies.constants[slot].is_dynamic() {
                let speed = bodies.quiet_speed(slot, rule).filter(|_| solved);
                let rest = &mut bodies.sleep.rest[slot];
                let Some(speed) = speed else {
                    rest.quiet = 0.0;
                    continue;
                };
                if rest.quiet == 0.0 || speed > rest.slowest + GROWTH * rule.linear {
                    (rest.quiet, rest.slowest) = (0.0, speed);
                }
                rest.quiet += settings.time_step;
                rest.slowest = rest.slowest.min(speed);
                longest = longest.max(rest.quiet);
            }
        }
        longest >= rule.time - 0.5 * settings.time_step
    }

    fn lay_down(&self, bodies: &mut Bodies, graph: &mut Graph, fell: &mut FellAsleep) {
        let asleep = bodies.sleep.count;
        for at in 0..bodies.moving.len() {
            let slot = bodies.moving[at];
            if !bodies.constants[slot].is_dynamic() {
                continue;
            }
            let root = graph.island(slot);
            if !self.restless.allows(root) {
                continue;
            }
            fell.islands -= usize::from(root == slot);
            let (twist, inertia) = (bodies.twist[slot], &bodies.constants[slot].inertia);
            fell.kinetic += 0.5 * inertia.mass * twist.linear.length_squared()
                + inertia.rotational_energy(twist.angular);
            bodies.lay_down(slot, bodies.ids[root]);
            fell.count += 1;
        }
        if fell.count > 0 {
            bodies.changed_rest();
            debug_assert_eq!(
                bodies.sleep.count,
                asleep + fell.count,
                "who sleeps is counted once"
            );
        }
    }
}
