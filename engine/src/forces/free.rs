//! Newton's method on the free motion of bodies with forces.

use super::law::BodyState;
use super::linearised::{At, Fault, Response};
use super::scaled::Scaled;
use super::{Forced, Forces, tolerance};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::Wrench;
use crate::error::StepError;
use crate::math::chunks;
use crate::math::six::{Matrix, Six, dot, plus, solve};
use crate::motion::fall;
use crate::motion::scheme::Scheme;
use crate::settings::{Settings, Theta};
use moreau_solvers::WorldTwist;

/// Newton steps at most: they converge quadratically, and a dozen halvings of a step or so lead to where they do.
const NEWTON: usize = 60;
/// Halvings of a Newton step at most.
const HALVINGS: usize = 40;
/// Part of its promise that a Newton step has to keep [Armijo66].
const ARMIJO: f64 = 1e-4;
/// What is left is rounding: squares of it are below that of the next Newton step.
const CLOSED: f64 = 1e-14;
/// Part of a velocity that lies where forces push away by more than the mass, from which on it is no motion that the step can follow. Bodies that tumble on taut springs have a thousandth.
const AWAY: f64 = 0.5;
/// `λ` over the mass from which on forces are stiff: half of where `θ = ½` starts to overshoot.
const STIFF: f64 = 1.0;

impl Forces {
    /// Finds the free motion of all bodies that have forces, and leaves in `bodies` what then acts on them.
    pub(crate) fn move_freely(
        &mut self,
        bodies: &mut Bodies,
        scheme: &impl Scheme,
        settings: &Settings,
        time: f64,
    ) -> Result<(), StepError> {
        std::mem::swap(&mut self.list, &mut self.before);
        let (list, before) = (&mut self.list, &self.before);
        list.clear();
        let known = |slot: Slot| before.binary_search_by_key(&slot, |of| of.slot).ok();
        let laws = bodies.user_forces.laws.iter().enumerate();
        let awake = laws.filter(|(_, (slot, _))| bodies.is_awake_dynamic(*slot));
        list.extend(awake.map(|(laws, (slot, _))| match known(*slot) {
            // Others woke in the step.
            Some(place) => before[place],
            None => Forced {
                slot: *slot,
                laws,
                theta: 0.0,
                ..Forced::default()
            },
        }));
        let known = &*bodies;
        chunks::for_each(&mut list[..], &|part: &mut [Forced]| {
            for of in part.iter_mut().filter(|of| of.theta == 0.0) {
                of.fault = of.move_freely(known, scheme, settings, time).err();
            }
        });
        self.check(bodies)?;
        for of in &self.list {
            of.act(&of.free, bodies, settings);
        }
        Ok(())
    }
}

impl Forced {
    /// The body at the beginning of the step.
    pub(super) fn begins<'a>(
        &'a self,
        bodies: &'a Bodies,
        settings: &'a Settings,
        time: f64,
    ) -> At<'a> {
        let slot = self.slot;
        At {
            laws: &bodies.user_forces.laws[self.laws].1,
            inertia: &bodies.constants[slot].inertia,
            pose: &bodies.pose[slot],
            twist: &bodies.twist[slot],
            scaled: &self.scaled,
            time,
            theta: self.theta,
            settings,
        }
    }

    /// The forces act with this impulse.
    pub(super) fn act(&self, impulse: &Six, bodies: &mut Bodies, settings: &Settings) {
        let push = self.scaled.impulse(impulse);
        let mean = 1.0 / settings.time_step;
        bodies.user_forces.mean[self.slot] = Wrench {
            force: push.linear * mean,
            moment: push.angular * mean,
            ..Wrench::default()
        };
        let is_auto = settings.theta == Theta::Auto;
        let is_stiff = is_auto && self.theta >= 1.0;
        bodies.user_forces.stiff[self.slot] = if is_stiff {
            // Stiff forces of the beginning may be gone at the end.
            self.response.largest().max(f64::EPSILON)
        } else {
            0.0
        };
    }

    fn move_freely(
        &mut self,
        bodies: &Bodies,
        scheme: &impl Scheme,
        settings: &Settings,
        time: f64,
    ) -> Result<(), Fault> {
        let slot = self.slot;
        let (body, pose) = (&bodies.constants[slot], &bodies.pose[slot]);
        let heavier = body.response.heavier(settings.time_step);
        self.scaled = Scaled::new(&body.inertia, pose.orientation, heavier);
        let unforced = fall(bodies, (slot, &bodies.wrench[slot]), scheme, settings).twist;
        self.unforced = self.scaled.coordinates(&WorldTwist {
            linear: unforced.linear,
            angular: pose.orientation * unforced.angular,
        });
        let begin = self.begins(bodies, settings, time).begin();
        let stiff = self.begins(bodies, settings, time).stiffness(&begin)? > STIFF;
        self.theta = match settings.theta {
            Theta::Fixed(theta) => theta,
            Theta::Auto if stiff => 1.0,
            Theta::Auto => 0.5,
        };
        let twist = &bodies.twist[slot];
        let start = self.scaled.coordinates(&WorldTwist {
            linear: twist.linear,
            angular: pose.orientation * twist.angular,
        });
        let mut found = self.solve_free(bodies, (&begin, &start), settings, time)?;
        if settings.theta == Theta::Auto && !stiff {
            // What gets stiff on the way is.
            let at = self.begins(bodies, settings, time);
            let end = at.end(&self.scaled.twist(&found.0));
            if at.stiffness(&end)? > STIFF {
                self.theta = 1.0;
                found = self.solve_free(bodies, (&begin, &start), settings, time)?;
            }
        }
        let y;
        (y, self.response, self.error) = found;
        self.free = plus(&y, -1.0, &self.unforced);
        (self.at, self.length, self.last) = (y, 1.0, f64::INFINITY);
        // Where it would stay if something holds it.
        self.own = self.response.times(&plus(&y, -1.0, &start));
        Ok(())
    }

    fn solve_free(
        &mut self,
        bodies: &Bodies,
        (begin, start): (&BodyState, &Six),
        settings: &Settings,
        time: f64,
    ) -> Result<(Six, Response, f64), Fault> {
        let part = settings.time_step * (1.0 - self.theta);
        self.begin = [0.0; 6];
        if part > 0.0 {
            let wrench = self.begins(bodies, settings, time).wrench(begin)?;
            self.begin = self.scaled.of_impulse(&wrench.map(|w| part * w));
        }
        let at = self.begins(bodies, settings, time);
        let found = self.newton(&at, start)?;
        if found.2 <= tolerance(settings) {
            return Ok(found);
        }
        // Where it begins may be where a force jumps: a spring with a length has no direction while its ends are in one point.
        let others = self.newton(&at, &self.unforced);
        Ok(others
            .ok()
            .filter(|other| other.2 < found.2)
            .unwrap_or(found))
    }
}

/// An iterate.
struct Point {
    y: Six,
    /// `π(y)`.
    impulse: Six,
    /// `y − y₀ − π(y)`.
    left: Six,
    s: Matrix,
}

impl Point {
    fn new(of: &Forced, at: &At, y: Six) -> Result<Self, Fault> {
        let (end, s) = at.linearise(&y)?;
        let impulse = plus(&end, 1.0, &of.begin);
        let left = plus(&plus(&y, -1.0, &of.unforced), -1.0, &impulse);
        Ok(Self {
            y,
            impulse,
            left,
            s,
        })
    }

    fn size(&self) -> f64 {
        dot(&self.left, &self.left)
    }

    /// `(1 + S)⁻¹`, and where that has no solution `(1 + S⁺)⁻¹`, of what is left.
    fn step(&self) -> Six {
        let mut matrix = self.s;
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] += 1.0;
        }
        solve(matrix, self.left).unwrap_or_else(|| Response::of(&self.s).divided(&self.left))
    }
}

impl Forced {
    /// `y = y₀ + π(y)`, from `start` on, with what is left and with `S⁺` there. A step whose end cannot be computed with is halved.
    fn newton(&self, at: &At, start: &Six) -> Result<(Six, Response, f64), Fault> {
        let mut now = Point::new(self, at, *start)?;
        let mut error = f64::INFINITY;
        for _ in 0..NEWTON {
            let response = Response::of(&now.s);
            error = self.relative(at, &now.left, [&now.impulse, &now.y], &response);
            if error <= CLOSED {
                break;
            }
            let (step, size) = (now.step(), now.size());
            let (mut length, mut next, mut fault) = (1.0, None, None);
            for _ in 0..HALVINGS {
                match Point::new(self, at, plus(&now.y, -length, &step)) {
                    Ok(point) if point.size() <= size * (1.0 - ARMIJO * length) => {
                        next = Some(point);
                        break;
                    }
                    Ok(_) => fault = None,
                    Err(found) => fault = Some(found),
                }
                length *= 0.5;
            }
            match (next, fault) {
                (Some(point), _) => now = point,
                // It leads nowhere.
                (None, Some(fault)) => return Err(fault),
                (None, None) => break,
            }
        }
        let response = Response::of(&now.s);
        let away = response.runs_away(&now.s, &plus(&now.y, -1.0, start));
        let all = dot(&now.y, &now.y) + dot(&self.unforced, &self.unforced);
        if away > AWAY * AWAY * all {
            error = error.max((away / all).sqrt());
        }
        Ok((now.y, response, error))
    }
}
