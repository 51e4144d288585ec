//! What is left of an island in velocities, and what may be: the rule of [`super`] in numbers.

use super::VelocityGoal;
use crate::Law;
use crate::natural_map::{ROUNDING, SquareOfOther};
use crate::problem::{Contact, FactoredProblem, InverseMass, WorldTwist};
use glam::DVec3;

/// Part of a speed that may be left at a contact.
pub(super) const GUARD: f64 = 0.2;
/// How far that part of the speed gained in a step grows with the speeds at the contacts of an island: to no more than this speed. What a
/// contact leaves in one step is then less than gravity makes of a body at rest.
const MOST_GUARD: f64 = 1.0 / GUARD;
/// How far the bound of an island grows with the speeds at its contacts: one that slides must not hide those at rest.
const MOST_GROWTH: f64 = 10.0;
/// Ratio of the masses of two bodies that press on each other beyond which …
const UNEQUAL: f64 = 100.0;
/// … their island is solved to this part of the bound.
const OF_UNEQUAL: f64 = 0.1;
/// Part of its bound to which an island of new contacts or of very different masses is solved on: the next step starts from there.
const RESERVE: f64 = 0.1;
/// New contacts beyond which the reserve costs more than it is worth: sweeps reach the bound, and only Newton goes far below it.
const FEW: f64 = 1000.0;
/// The same of others: what is just enough may not be, since the norms differ.
const NEARLY: f64 = 0.9;
/// Contacts of an island that may carry loads: what is left at the contacts of a tower adds up, in a wide pile it spreads.
const MOST_LOADED: usize = 300;
/// Speed that the impulse of a contact would give to the lighter of its bodies, over the largest free speed at a contact, beyond
/// which an island of few contacts carries loads …
const LOADED: f64 = 10.0;
/// … or, over the speed gained in a step, where no contact is faster without impulses than [`AT_REST`] such speeds …
const LOADED_AT_REST: f64 = 2.5;
const AT_REST: f64 = 2.0;
/// … and is solved to this part of the speed gained in a step (never below what a new island is), …
const AIM_OF_LOADED: f64 = 1e-5;
/// … while this part of that speed, or of the bound, counts as solved.
const LEFT_OF_LOADED: f64 = 1e-4;
const OF_LOADED: f64 = 0.01;

/// Contacts of an island that may stand by little: what is solved on is not worth more than a few sweeps of a pile.
const FEW_SLIPPING: usize = 64;
/// Speed at the contacts of an island, over what is left at them, from which what is left may be all that moves it.
const MAGNIFIED: f64 = 10.0;
/// Part of the speed gained in a step that may be left at the contacts of such an island however fast they are: what is left turns small bodies, their next contacts
/// ask for other impulses, and if sweeps follow these too slowly more is left each time.
const ROCKS: f64 = 1e-6;
/// Part of the speed gained in a step that a contact slips by at most in such an island: what slips faster slips.
const SLOW_SLIP: f64 = 0.01;
/// Squares of the speeds of a sharper solution over those before up to which it is the same one: what is left also slows.
const STEADY: f64 = 4.0;
/// Part of the speed gained in a step to which it is solved then.
const AIM_OF_SLIPPING: f64 = 1e-8;

/// What counts as solved in a tall island, over what it is solved to.
const LEFT_OF_TALL: f64 = 10.0;

/// An island that may stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slip {
    /// `Σ ‖u_α‖²` over its closed contacts, or what of that may come of what is left.
    square: f64,
    /// Only what is left moves it. Sweeps make that less than it was, which is enough.
    pub(super) rocks: bool,
}

impl Slip {
    /// Part of the speed gained in a step to which it is solved.
    fn aim(&self) -> f64 {
        if self.rocks { ROCKS } else { AIM_OF_SLIPPING }
    }
}

/// What is left of an island.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figure {
    pub(super) square: f64,
    pub(super) closed: f64,
    /// `Σ ‖u_α‖²` over these, where it was needed.
    pub(super) speed: f64,
    /// One of its contacts did not start from zero.
    pub(super) known: bool,
    /// Two of its bodies that press on each other have very different masses.
    pub(super) unequal: bool,
    /// Its bodies carry many times what they weigh.
    pub(super) loaded: bool,
    /// What is left may be all that moves it.
    pub(super) slips: Option<Slip>,
    /// How many times what is left at its contacts may add up: more than one if it is tall.
    pub(super) adds_up: f64,
    /// Stiff forces hold one of its bodies.
    pub(super) held: bool,
    /// Largest `1/k²` of its bodies with the radius of gyration `k`, 1/m², where some are small.
    pub(super) gyration: f64,
    /// Largest `v_α` over its bound.
    pub(super) guard: f64,
    /// The contact with the largest `v_α`, and its square.
    pub(super) worst: Option<(u32, f64)>,
}

impl Figure {
    pub(super) fn add(&mut self, contact: u32, square: f64, [pressed, cold]: [bool; 2]) {
        self.square += square;
        self.closed += if pressed || square != 0.0 { 1.0 } else { 0.0 };
        self.known |= !cold;
        if square > 0.0 && self.worst.is_none_or(|(_, worst)| square > worst) {
            self.worst = Some((contact, square));
        }
    }

    /// An interaction that is no contact of Coulomb's law: what it leaves, over what may be left of one at rest. Rows with bounds are no contacts, count in nothing else, and
    /// may leave a part of the speeds that they are asked for.
    pub(super) fn add_other(
        &mut self,
        place: u32,
        other: &SquareOfOther,
        (known, goal): ([bool; 2], &VelocityGoal),
    ) {
        if other.is_contact {
            self.add(place, other.square, known);
        }
        let scale = if other.is_contact {
            goal.scale
        } else {
            goal.scale.max(other.free.sqrt())
        };
        self.guard = self.guard.max(other.square.sqrt() / (GUARD * scale));
    }

    pub(super) fn rms(&self) -> f64 {
        if self.closed > 0.0 {
            (self.square / self.closed).sqrt()
        } else {
            0.0
        }
    }

    /// How many times too large it is, given how the island started; infinite if it is undefined.
    pub(super) fn excess(&self, goal: &VelocityGoal) -> f64 {
        let unequal = if self.unequal { OF_UNEQUAL } else { 1.0 };
        let equal = goal.rms * unequal.min(1.0 / self.adds_up.max(1.0));
        let bound = if let Some(slip) = self.slips {
            (slip.aim() * goal.scale).min(equal)
        } else if !self.known {
            goal.rms_new.min(equal)
        } else if self.loaded {
            goal.rms_new.max(AIM_OF_LOADED * goal.scale).min(equal)
        } else {
            equal
        };
        self.over(bound, goal)
    }

    /// Part of its bound to which it is solved on.
    pub(super) fn rest(&self) -> f64 {
        if self.unequal
            || self.loaded
            || self.slips.is_some_and(|slip| !slip.rocks)
            || self.is_tall()
            || !self.known && self.closed <= FEW
        {
            RESERVE
        } else {
            NEARLY
        }
    }

    pub(super) fn is_tall(&self) -> bool {
        self.adds_up > 1.0
    }

    /// It is solved, and more is aimed at because it may slip.
    pub(super) fn is_aimed(&self, goal: &VelocityGoal) -> bool {
        let solved = Self {
            slips: None,
            adds_up: 1.0,
            ..*self
        };
        (self.slips.is_some() || self.is_tall()) && solved.excess(goal) <= 1.0
    }

    /// What may have moved by what was left moves no more now that less is left. Points that share a load may do so in many ways: one under which more
    /// moves is no better.
    pub(super) fn is_steadier(&self) -> bool {
        self.slips
            .is_none_or(|before| self.speed <= STEADY * before.square)
    }

    /// A contact or two leave more than they may, and nothing else is wrong.
    pub(super) fn misses_guard_alone(&self, goal: &VelocityGoal) -> bool {
        let alone = Self {
            guard: 0.0,
            ..*self
        };
        self.guard > 1.0 && alone.excess(goal) <= 1.0
    }

    /// More is left than a step may leave that is called solved.
    pub(super) fn missed(&self, goal: &VelocityGoal) -> bool {
        let bound = if self.loaded {
            let least = (OF_LOADED * goal.rms).max(LEFT_OF_LOADED * goal.scale);
            least.max(goal.rms_new).min(goal.rms)
        } else if self.is_tall() {
            (LEFT_OF_TALL / self.adds_up).min(1.0) * goal.rms
        } else {
            goal.rms
        };
        self.over(bound, goal) > 1.0
    }

    /// Speed at its contacts, over the speed gained in a step.
    fn moves(&self, goal: &VelocityGoal) -> f64 {
        if goal.grows && self.speed > 0.0 {
            (self.speed / self.closed).sqrt() / goal.scale
        } else {
            0.0
        }
    }

    /// Speed that [`GUARD`] of may be left at a contact of this island between bodies at rest, m/s.
    pub(super) fn guard_scale(&self, goal: &VelocityGoal) -> f64 {
        goal.scale * self.moves(goal).clamp(1.0, MOST_GUARD) * self.part(goal)
    }

    /// Part of what may be left of bodies of usual size.
    fn part(&self, goal: &VelocityGoal) -> f64 {
        if self.gyration > 0.0 {
            (goal.creep / (self.gyration.sqrt() * goal.rms)).min(1.0)
        } else {
            1.0
        }
    }

    /// The same over this bound at rest.
    fn over(&self, bound: f64, goal: &VelocityGoal) -> f64 {
        let growth = self.moves(goal).clamp(1.0, MOST_GROWTH);
        let rms = self.rms() / (bound * growth * self.part(goal)).max(f64::MIN_POSITIVE);
        if rms.is_nan() || self.guard.is_nan() {
            return f64::INFINITY;
        }
        rms.max(self.guard)
    }
}

/// Some bodies are far heavier than others; of some less than the usual may be left.
pub(super) fn some_are_unequal_or_small(
    problem: &FactoredProblem,
    goal: &VelocityGoal,
) -> [bool; 2] {
    let (mut least, mut most, mut turns) = (f64::INFINITY, 0.0f64, 0.0f64);
    for mass in problem.inverse_mass {
        if mass.linear > 0.0 {
            least = least.min(mass.linear);
            most = most.max(mass.linear);
            turns = turns.max(inverse_square(mass));
        }
    }
    [most > UNEQUAL * least, goal.creep < goal.rms * turns.sqrt()]
}

/// `1/k²` of the smaller body of a contact, 1/m².
pub(super) fn gyration(problem: &FactoredProblem, contact: usize) -> f64 {
    let bodies = problem.contacts[contact].bodies;
    let [a, b] = bodies.map(|body| inverse_square(&problem.inverse_mass[body as usize]));
    a.max(b)
}

/// `1/k²` by the sum of the inverse moments over the inverse mass, 1/m²; 0 of bodies that do not turn.
fn inverse_square(mass: &InverseMass) -> f64 {
    let angular = &mass.angular;
    let trace = angular.x_axis.x + angular.y_axis.y + angular.z_axis.z;
    if mass.linear > 0.0 {
        trace / mass.linear
    } else {
        0.0
    }
}

/// The bodies of a contact both move, and one is far heavier than the other.
pub(super) fn are_unequal(problem: &FactoredProblem, contact: usize) -> bool {
    let bodies = problem.contacts[contact].bodies;
    let [a, b] = bodies.map(|body| problem.inverse_mass[body as usize].linear);
    a.min(b) > 0.0 && a.max(b) > UNEQUAL * a.min(b)
}

/// `‖u_α‖` without the offset of the law.
fn relative_speed(problem: &FactoredProblem, twist: &[WorldTwist], contact: usize) -> f64 {
    let contact = &problem.contacts[contact];
    let [a, b] = contact.bodies.map(|body| &twist[body as usize]);
    contact.local_velocity(a, b).length()
}

/// The largest relative speed at a contact of each body; `see` is given that at each contact.
pub(super) fn relative_speeds(
    problem: &FactoredProblem,
    twist: &[WorldTwist],
    speed: &mut Vec<f64>,
    mut see: impl FnMut(usize, f64),
) {
    speed.clear();
    speed.resize(twist.len(), 0.0);
    for (index, contact) in problem.contacts.iter().enumerate() {
        let relative = relative_speed(problem, twist, index);
        see(index, relative);
        for body in contact.bodies {
            let speed = &mut speed[body as usize];
            *speed = speed.max(relative);
        }
    }
}

/// `v_α` of a contact, given its square, over what may be left of it: of its own speed, or of `scale` (m/s).
pub(super) fn over_guard(
    problem: &FactoredProblem,
    contact: usize,
    square: f64,
    scale: f64,
    speed: &[f64],
) -> f64 {
    let bodies = problem.contacts[contact].bodies.map(|body| body as usize);
    let moving = bodies
        .iter()
        .filter(|body| !problem.inverse_mass[**body].is_fixed());
    let slower = moving
        .map(|body| speed[*body])
        .fold(f64::INFINITY, f64::min);
    let allowed = if slower.is_finite() {
        slower.max(scale)
    } else {
        scale
    };
    square.sqrt() / (GUARD * allowed).max(f64::MIN_POSITIVE)
}

/// Least part of its force that a contact of such a body may be wrong by: that of the forces themselves, above all rounding [docs/theory.md §16].
const LEAST_OF_FORCE: f64 = 1e-8;
/// Largest part of its force that a contact of a body that soft rows hold may be wrong by in a solved step, whatever rounding does.
const MOST_OF_FORCE: f64 = 0.01;

/// Adds what soft rows to what impulses do not move hold each body with, over its mass: `n M⁻¹nᵀ/R`, the largest of its rows. Nothing if there are none.
pub(super) fn stiffness(problem: &FactoredProblem, held: &mut Vec<f64>) {
    for other in problem.interactions {
        if !matches!(other.law, Law::Equality(_)) || other.linked {
            continue;
        }
        let masses = other
            .bodies
            .map(|body| &problem.inverse_mass[body as usize]);
        let [a, b] = masses.map(InverseMass::is_fixed);
        if a == b {
            continue;
        }
        let (body, m) = (other.bodies[usize::from(a)] as usize, other.law.rows());
        let block = other.block(masses);
        for row in 0..m {
            let compliance = other.compliance[row];
            if compliance > 0.0 {
                held.resize(problem.inverse_mass.len(), 0.0);
                held[body] = held[body].max((block[row * m + row] - compliance) / compliance);
            }
        }
    }
}

/// `v_α` of a contact of a body that is held softly, over the part of its force that may be wrong.
///
/// With `M̂ = M + S` an error of the force is a velocity that is smaller by `M̂/M` than that of a free body. What impulses
/// changed of the velocity of the body at the contact, `M̂⁻¹Gᵀr`, is smaller by the same: the ratio of the two is that of the forces.
pub(super) fn over_force(
    problem: &FactoredProblem,
    contact: usize,
    square: f64,
    (held, twist, tolerance): (&[f64], &[WorldTwist], f64),
) -> f64 {
    let contact = &problem.contacts[contact];
    let (mut stiff, mut change) = (0.0f64, 0.0f64);
    for (body, arm) in contact.bodies.into_iter().zip(contact.arms) {
        let body = body as usize;
        let (end, free) = (&twist[body], &problem.free_twist[body]);
        let own = WorldTwist {
            linear: end.linear - free.linear,
            angular: end.angular - free.angular,
        };
        change = change.max(own.at(arm).length());
        stiff = stiff.max(held.get(body).copied().unwrap_or(0.0));
    }
    if stiff <= 1.0 || square == 0.0 {
        return 0.0;
    }
    // Impulses are known to the rounding of velocities that cancel to `1/stiff` of what they are.
    let part = tolerance
        .max(LEAST_OF_FORCE)
        .max(ROUNDING * stiff)
        .min(MOST_OF_FORCE);
    square.sqrt() / (part * change).max(f64::MIN_POSITIVE)
}

/// What is known of these, a few, if they move by less than a body at rest gains in a step, and by many times what is left at them or with much left.
///
/// An island that stands by a part ε of the friction that holds it moves by `1/ε` times what is left: whether it slips at all is known only
/// where far less is left than it moves. A stack of bodies no larger than `g h²` rocks ever more by what is left.
pub(super) fn slips(
    problem: &FactoredProblem,
    (impulse, twist): (&[DVec3], &[WorldTwist]),
    members: &[u32],
    (figure, goal): (&Figure, &VelocityGoal),
) -> Option<Slip> {
    let left = figure.rms();
    if members.len() > FEW_SLIPPING || left <= AIM_OF_SLIPPING * goal.scale {
        return None;
    }
    let (mut largest, mut sum) = (0.0f64, 0.0);
    for contact in members.iter().map(|contact| *contact as usize) {
        if contact < problem.contacts.len() && impulse[contact] != DVec3::ZERO {
            let speed = relative_speed(problem, twist, contact);
            largest = largest.max(speed);
            sum += speed.powi(2);
        }
    }
    if largest > SLOW_SLIP * goal.scale {
        return None;
    }
    let rocks = largest <= MAGNIFIED * left;
    if rocks && left <= ROCKS * goal.scale {
        return None;
    }
    let explained = members.len() as f64 * (MAGNIFIED * left).powi(2);
    Some(Slip {
        square: sum.max(explained),
        rocks,
    })
}

/// A contact of these presses so hard on the lighter of its bodies that it would make it many times as fast as any contact is without
/// impulses, and there are few of them.
///
/// With `W r = −q` where contacts stick, the smallest eigenvalue of the scaled `W` is at most `√(Σ ‖q‖²/λ)/√(Σ λ‖r‖²)`: such an
/// island is badly conditioned, and what is left at its contacts adds up from body to body.
pub(super) fn is_loaded(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    members: &[u32],
    goal: &VelocityGoal,
) -> bool {
    if members.len() > MOST_LOADED {
        return false;
    }
    let contacts = || {
        let members = members.iter().map(|member| *member as usize);
        members.filter_map(|member| problem.contacts.get(member).zip(impulse.get(member)))
    };
    let given = |(contact, r): (&Contact, &DVec3)| {
        let [a, b] = contact
            .bodies
            .map(|body| &problem.inverse_mass[body as usize]);
        r.length_squared() * a.linear.max(b.linear).powi(2)
    };
    let most = contacts().map(given).fold(0.0, f64::max);
    if most <= (LOADED_AT_REST * goal.scale).powi(2) {
        return false;
    }
    let free = |(contact, _): (&Contact, &DVec3)| {
        let [a, b] = contact
            .bodies
            .map(|body| &problem.free_twist[body as usize]);
        (contact.local_velocity(a, b) + contact.offset).length_squared()
    };
    let speed = contacts().map(free).fold(0.0, f64::max).sqrt();
    let at_rest = speed <= AT_REST * goal.scale;
    at_rest || most > (LOADED * speed.max(goal.scale)).powi(2)
}
