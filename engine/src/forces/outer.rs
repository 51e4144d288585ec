//! The outer loop: forces at the solved motion.

use super::linearised::{At, Fault, Response};
use super::{Forced, Forces, tolerance};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::error::StepError;
use crate::math::chunks;
use crate::math::six::{Six, plus};
use crate::settings::Settings;
use moreau_solvers::WorldTwist;

/// Part of the error that a linearisation may leave for the next one to be at the solved motion.
const GAIN: f64 = 0.5;

/// A stage as solved.
pub(crate) struct Ended<'a> {
    pub(crate) end: &'a [WorldTwist],
    /// What it began with.
    pub(crate) free: &'a [WorldTwist],
    /// `t_k`, s.
    pub(crate) time: f64,
}

impl Forces {
    /// Compares the forces at the solved motion with what they were taken for. Where they differ and are to be taken `again`, they are linearised
    /// there, and what then acts is left in `bodies`.
    pub(crate) fn look(
        &mut self,
        bodies: &mut Bodies,
        ended: &Ended,
        settings: &Settings,
        again: bool,
    ) -> Result<(), StepError> {
        self.take_impulses();
        let known = &*bodies;
        chunks::for_each(&mut self.list[..], &|part: &mut [Forced]| {
            for of in part.iter_mut().filter(|of| of.held) {
                of.fault = of.look(known, ended, settings, again).err();
            }
        });
        self.check(bodies)?;
        self.error = self.list.iter().map(|of| of.error).fold(0.0, f64::max);
        for of in self.list.iter().filter(|of| of.changed()) {
            of.act(&of.free, bodies, settings);
        }
        Ok(())
    }

    /// Bodies whose forces were linearised again, and what that changes of their free motion.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (Slot, WorldTwist)> {
        let changed = self.list.iter().filter(|of| of.changed());
        changed.map(|of| (of.slot, of.scaled.twist(&of.change)))
    }

    /// The step is solved: what acts is all that the forces did in it.
    pub(crate) fn end(&mut self, bodies: &mut Bodies, settings: &Settings) {
        self.end_stage();
        for of in self.list.iter().filter(|of| of.held) {
            of.act(&plus(&of.free, 1.0, &of.earlier), bodies, settings);
        }
    }
}

impl Forced {
    fn changed(&self) -> bool {
        self.held && self.change.iter().any(|x| *x != 0.0)
    }

    fn look(
        &mut self,
        bodies: &Bodies,
        ended: &Ended,
        settings: &Settings,
        again: bool,
    ) -> Result<(), Fault> {
        self.change = [0.0; 6];
        let y = self.scaled.coordinates(&ended.end[self.slot]);
        let base = self.scaled.coordinates(&ended.free[self.slot]);
        let known = *self;
        let at = known.begins(bodies, settings, ended.time);
        let (impulse, response) = self.forces_at(&at, &y)?;
        let way = plus(&y, -1.0, &base);
        let taken = plus(
            &plus(&self.free, 1.0, &self.earlier),
            -1.0,
            &self.response.times(&way),
        );
        let left = plus(&impulse, -1.0, &taken);
        self.error = self.relative(&at, &left, [&impulse, &y], &response);
        if again && self.error > tolerance(settings) {
            // A step that took too little away is followed by a shorter one.
            self.length = if self.error <= GAIN * self.last {
                (2.0 * self.length).min(1.0)
            } else {
                0.5 * self.length
            };
            self.last = self.error;
            let (mut impulse, mut response, mut way) = (impulse, response, way);
            if self.length < 1.0 {
                let step = plus(&y, -1.0, &self.at);
                let y = plus(&self.at, self.length, &step);
                (impulse, response) = self.forces_at(&at, &y)?;
                way = plus(&y, -1.0, &base);
                self.at = y;
            } else {
                self.at = y;
            }
            // p(y) − S⁺ (y' − y) for all y', with the free motion in which nothing else pushes.
            let there = plus(&impulse, 1.0, &response.times(&way));
            let change = plus(&plus(&there, -1.0, &self.earlier), -1.0, &self.free);
            self.change = response.divided(&change);
            self.free = plus(&self.free, 1.0, &self.change);
            self.own = response.times(&plus(&self.change, -1.0, &way));
            self.response = response;
        }
        Ok(())
    }

    /// `p` and `S⁺` at `y`.
    fn forces_at(&self, at: &At, y: &Six) -> Result<(Six, Response), Fault> {
        let (end, s) = at.linearise(y)?;
        Ok((plus(&end, 1.0, &self.begin), Response::of(&s)))
    }
}
