//! Impacts of several contacts at once: the limit of stiff contacts, whose deformations last no time and go through a configuration that stands still
//! [docs/theory.md §12; LiuZhaoBrogliato08].
//!
//! ```text
//! δ̇ = −u,   u = u⁻ + W P,   Ṗ = F(δ)                              in the time of the contacts; P is the impulse
//! loading     F = K δ^η
//! unloading   F = K e^(−2η) (δ − δ_r)^η,   δ_r = (1 − e²) δ_c      from the largest deformation δ_c on: it gives e² of the work back
//! ```
//!
//! The end is where no contact presses and none approaches. What comes out depends on the ratios of the stiffnesses alone, and for `η ≠ 1` on nothing else either: a
//! common factor, of stiffness, mass or velocity, changes the time of the contacts and no more. One contact by itself leaves with `u⁺ = −e u⁻`; each takes
//! `(1 − e²)` of the work of its loading, so that energy never grows; what presses a contact again before it has opened goes back along the curve of its
//! unloading.
//!
//! Where Newton's law asks all contacts that touch to leave with `−e u⁻`, those with `u⁻ = 0` among them, here momentum goes through a row of bodies
//! as a wave.

use super::dormand_prince::Step;
use crate::algebra::{Matrix, dot};

/// The law of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    /// `K`, in a unit that is common to all.
    pub(super) stiffness: f64,
    /// `η`.
    pub(super) exponent: f64,
    /// `e`.
    pub(super) restitution: f64,
}

/// What a contact is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It does not press.
    Free,
    /// On the curve of loading.
    Loading,
    /// On that of unloading, in either direction.
    Unloading,
}

/// A contact: `δ` to which it was pressed, and phase.
#[derive(Clone, Copy, Debug)]
struct Contact {
    curve: Curve,
    phase: Phase,
    /// `δ_c`.
    deepest: f64,
}

/// Relative and absolute error of a step, of velocities and deformations of size 1.
const TOLERANCE: [f64; 2] = [1e-11, 1e-13];

/// Rates up to which a contact is not approaching, of velocities of size 1.
const STILL: f64 = 1e-12;

/// Steps at most: a few hundred a contact and phase are usual.
const MAX_STEPS: usize = 100_000;

impl Contact {
    /// `δ_r`: where it opens.
    fn opens_at(&self) -> f64 {
        let e = self.curve.restitution;
        (1.0 - e * e) * self.deepest
    }

    fn force(&self, deformation: f64) -> f64 {
        let Curve {
            stiffness,
            exponent,
            restitution,
        } = self.curve;
        let (factor, pressed) = match self.phase {
            Phase::Free => return 0.0,
            Phase::Loading => (1.0, deformation),
            Phase::Unloading => (
                libm::pow(restitution, -2.0 * exponent),
                deformation - self.opens_at(),
            ),
        };
        stiffness * factor * libm::pow(pressed.max(0.0), exponent)
    }

    /// Functions of deformation and rate that are negative as long as the phase goes on, and the phase after it.
    fn ends(&self) -> [(Phase, Boundary); 2] {
        match self.phase {
            Phase::Free if self.deepest > 0.0 => [(Phase::Unloading, Boundary::Closes); 2],
            Phase::Free => [(Phase::Loading, Boundary::Closes); 2],
            Phase::Loading => [(Phase::Unloading, Boundary::Deepest); 2],
            Phase::Unloading => [
                (Phase::Free, Boundary::Opens),
                (Phase::Loading, Boundary::Deeper),
            ],
        }
    }

    /// How far a boundary is passed, in the direction in which it is: positive beyond it.
    fn beyond(&self, boundary: Boundary, deformation: f64, rate: f64) -> f64 {
        match boundary {
            Boundary::Closes => (deformation - self.opens_at()).min(-rate),
            Boundary::Opens => (self.opens_at() - deformation).min(rate),
            Boundary::Deepest => rate,
            Boundary::Deeper => (deformation - self.deepest).min(-rate),
        }
    }
}

/// Where a phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Boundary {
    Closes,
    Opens,
    /// `u` comes to zero from below.
    Deepest,
    /// `δ` grows beyond `δ_c`.
    Deeper,
}

/// The impulses of contacts with the rates `before`, `u⁻`; `W` is symmetric, without negative eigenvalues. False beside them if the end was not reached.
pub(super) fn impulses(w: &Matrix, before: &[f64], curves: &[Curve]) -> (Vec<f64>, bool) {
    let m = before.len();
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let speed = largest(&mut before.iter().map(|u| -u));
    let weight = largest(&mut (0..m).map(|i| w[(i, i)]));
    let stiffness = largest(&mut curves.iter().map(|curve| curve.stiffness));
    if speed <= 0.0 || weight <= 0.0 {
        return (vec![0.0; m], true);
    }
    let mut contacts: Vec<Contact> = curves
        .iter()
        .map(|curve| Contact {
            curve: Curve {
                stiffness: curve.stiffness / stiffness,
                ..*curve
            },
            phase: Phase::Free,
            deepest: 0.0,
        })
        .collect();
    for (contact, rate) in contacts.iter_mut().zip(before) {
        if *rate < 0.0 {
            contact.phase = Phase::Loading;
        }
    }
    // Velocities, masses and stiffnesses of size 1.
    let w = w.scaled(1.0 / weight);
    let before: Vec<f64> = before.iter().map(|rate| rate / speed).collect();
    let rate = |i: usize, s: &[f64]| before[i] + dot(w.row(i), &s[m..]);
    // δ, then P.
    let mut s = vec![0.0; 2 * m];
    let (mut t, mut h) = (0.0, 1e-3);
    for _ in 0..MAX_STEPS {
        let is_over =
            |(i, contact): (usize, &Contact)| contact.phase == Phase::Free && rate(i, &s) >= -STILL;
        if contacts.iter().enumerate().all(is_over) {
            let unit = speed / weight;
            return (s[m..].iter().map(|impulse| unit * impulse).collect(), true);
        }
        let slope = |_t: f64, s: &[f64]| -> Result<Vec<f64>, std::convert::Infallible> {
            let opening = (0..m).map(|i| -rate(i, s));
            let forces = contacts
                .iter()
                .zip(s)
                .map(|(c, deformation)| c.force(*deformation));
            Ok(opening.chain(forces).collect())
        };
        let Ok(first) = slope(t, &s);
        let Ok(step) = Step::new((t, h), &s, &first, TOLERANCE, &slope);
        let is_good = step.error <= 1.0 || h <= 1e-14;
        if is_good && step.error.is_nan() {
            break;
        }
        h = step.next_length();
        if !is_good {
            continue;
        }
        let ended = first_end(&contacts, &step, &rate);
        let length = step.h * ended.map_or(1.0, |(part, ..)| part);
        s = match ended {
            None => step.end().to_vec(),
            Some(_) => {
                // The end of a step is of a higher order than what is between.
                let Ok(shorter) = Step::new((t, length), &s, &first, TOLERANCE, &slope);
                shorter.end().to_vec()
            }
        };
        t += length;
        if let Some((_, which, next)) = ended {
            let contact = &mut contacts[which];
            if next == Phase::Unloading && contact.phase == Phase::Loading {
                contact.deepest = s[which];
            }
            contact.phase = next;
            h = h.min(step.h);
        }
    }
    let unit = speed / weight;
    (s[m..].iter().map(|impulse| unit * impulse).collect(), false)
}

/// Points of a step at which ends are looked for.
const SAMPLES: usize = 4;

/// The first end of a phase within a step: its part, the contact, and its next phase.
fn first_end(
    contacts: &[Contact],
    step: &Step,
    rate: &impl Fn(usize, &[f64]) -> f64,
) -> Option<(f64, usize, Phase)> {
    let part_of = |sample: usize| sample as f64 / SAMPLES as f64;
    let mut first: Option<(f64, usize, Phase)> = None;
    for sample in 1..=SAMPLES {
        let s = step.at(part_of(sample));
        for (which, contact) in contacts.iter().enumerate() {
            let rate_there = rate(which, &s);
            for (next, boundary) in contact.ends() {
                if contact.beyond(boundary, s[which], rate_there) <= 0.0 {
                    continue;
                }
                let beyond = |part: f64| {
                    let s = step.at(part);
                    contact.beyond(boundary, s[which], rate(which, &s)) > 0.0
                };
                let part = crossing(beyond, part_of(sample - 1), part_of(sample));
                if first.is_none_or(|(earliest, ..)| part < earliest) {
                    first = Some((part, which, next));
                }
            }
        }
        if first.is_some() {
            break;
        }
    }
    first
}

/// The first point at which something holds that does not at `low` and does at `high`, by bisection.
fn crossing(holds: impl Fn(f64) -> bool, mut low: f64, mut high: f64) -> f64 {
    while high - low > f64::EPSILON {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}
