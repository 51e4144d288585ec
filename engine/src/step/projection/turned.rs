//! Angular velocities of bodies that a projection has turned.
//!
//! A displacement without time changes no momentum, and gives no energy. Kept is first what no contact could change: `n·L` where all that took the
//! overlaps away pushes along one normal `n`, then `a·L` of a body of revolution about its axis `a`. The turn changes the inertia in the frame of space: what
//! is left of `L` keeps its direction, and takes the energy that these two leave it.
//!
//! ```text
//! L' = L₁ + L₂ + s L₃,      n·L₁ = n·L,    a·(L₁ + L₂) = a·L,      E(L') = E(L₁) + E(L₂) + s² E(L₃) = E(L)
//! ```
//!
//! `L₁`, `L₂` are of least energy, so that the three are orthogonal in its metric. What rests on a face sinks and is lifted again: the scheme took the
//! energy of that in its impacts, to first order in the turn `φ`, and `L₁`, `L₂` may take `2φ` of `E` beyond it. What they need beyond that is a
//! barrier that the turn went over, and they are shortened.

use crate::components::inertia::Inertia;
use glam::{DQuat, DVec3};

/// Sine of the angle between two normals that are one.
const PARALLEL: f64 = 1e-3;

/// Part of the moment of inertia about a direction that is left beside another one, below which the two are one.
const ALIKE: f64 = 1e-12;

/// Normals along which contacts push a body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Normals {
    #[default]
    None,
    /// All along this one, in the inertial frame.
    One(DVec3),
    Several,
}

impl Normals {
    pub(super) fn and(self, normal: DVec3) -> Self {
        match self {
            Self::None => Self::One(normal),
            Self::One(own) if own.cross(normal).length_squared() < PARALLEL * PARALLEL => self,
            _ => Self::Several,
        }
    }
}

/// `Ω`, rad/s in the frame of the body, once it is turned from one orientation to the other.
pub(super) fn angular(
    inertia: &Inertia,
    [before, after]: [DQuat; 2],
    angular: DVec3,
    normals: Normals,
    round: bool,
) -> DVec3 {
    let momentum = inertia.times(angular);
    let energy = angular.dot(momentum);
    let (mut used, most) = (
        0.0,
        energy * (1.0 + 2.0 * angle(after * before.conjugate())),
    );
    // In the frame of the body as it is turned.
    let mut rest = after.conjugate() * (before * momentum);
    let along = match normals {
        Normals::One(normal) => {
            let normal = after.conjugate() * normal;
            Some((normal, normal.dot(rest)))
        }
        _ => None,
    };
    let about = round.then_some((DVec3::Z, momentum.z));
    let (mut turned, mut taken) = (DVec3::ZERO, None);
    for (direction, moment) in [along, about].into_iter().flatten() {
        let Some(part) = across(direction, taken, inertia) else {
            continue;
        };
        let towards = inertia.times(part);
        let own = direction.dot(towards);
        rest -= towards * (part.dot(rest) / own);
        let missing = (moment - inertia.times(turned).dot(direction)) / own;
        let needs = missing * missing * own;
        let given = needs.min(most - used);
        if given > 0.0 {
            turned += part * (missing * (given / needs).sqrt());
            used += given;
        }
        taken = Some(part);
    }
    let free = inertia.inverse_times(rest);
    let needs = free.dot(rest);
    if needs > 0.0 && used < energy {
        turned += free * ((energy - used) / needs).sqrt();
    }
    turned
}

/// Of a small turn, rad.
fn angle(turn: DQuat) -> f64 {
    2.0 * DVec3::new(turn.x, turn.y, turn.z).length()
}

/// The part of a direction that is orthogonal to `taken` in the metric of the energy; none if nothing is left of it.
fn across(direction: DVec3, taken: Option<DVec3>, inertia: &Inertia) -> Option<DVec3> {
    let Some(taken) = taken else {
        return Some(direction);
    };
    let towards = inertia.times(taken);
    let part = direction - taken * (towards.dot(direction) / towards.dot(taken));
    let (left, whole) = (
        inertia.times(part).dot(part),
        inertia.times(direction).dot(direction),
    );
    (left > ALIKE * whole).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rotation;

    /// A few numbers in [-1, 1).
    fn numbers() -> impl FnMut() -> f64 {
        let mut state = 7_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    /// Whatever the turn, the energy stays, but for what lifts a body by it, and so does the momentum about the normal where the energy is enough, and the spin about the axis of a body of
    /// revolution where it is enough for both.
    #[test]
    fn a_turn_keeps_energy_and_momenta() {
        let mut number = numbers();
        let (mut both, mut normal_alone, mut unchanged) = (0, 0, 0);
        for case in 0..2000 {
            let mut vector = || DVec3::new(number(), number(), number());
            let round = case % 2 == 0;
            let moments = DVec3::splat(1.5) + vector();
            let moments = if round {
                moments.with_y(moments.x)
            } else {
                moments
            };
            let frame = if round {
                DQuat::IDENTITY
            } else {
                rotation::exp(vector() * 3.0)
            };
            let inertia = Inertia::new(1.0, moments, frame);
            let before = rotation::exp(vector() * 3.0);
            let after = rotation::normalised(rotation::exp(vector() * 0.3) * before);
            let (omega, n) = (vector() * 5.0, vector().normalize());
            let now = angular(&inertia, [before, after], omega, Normals::One(n), round);
            let energy = [omega, now].map(|omega| inertia.rotational_energy(omega));
            let lifts = 2.0 * angle(after * before.conjugate());
            let gain = energy[1] / energy[0] - 1.0;
            assert!(-1e-12 < gain && gain < lifts + 1e-12, "{case}: {gain}");
            unchanged += usize::from(gain < 1e-12);
            let momenta = [(before, omega), (after, now)]
                .map(|(orientation, omega)| orientation * inertia.times(omega));
            let size = momenta[0].length();
            let kept = n.dot(momenta[1] - momenta[0]).abs() < 1e-10 * size;
            let spin = (inertia.times(now).z - inertia.times(omega).z).abs() < 1e-10 * size;
            both += usize::from(round && kept && spin);
            normal_alone += usize::from(!round && kept);
            // A body of least inertia about n has no less energy for it.
            let of_n = inertia
                .times(after.conjugate() * n)
                .dot(after.conjugate() * n);
            let needs = 0.5 * n.dot(momenta[0]).powi(2) / of_n;
            assert!(kept || needs > energy[0] * (1.0 + lifts), "{case}");
        }
        let counts = [both, normal_alone, unchanged];
        assert!(
            both > 500 && normal_alone > 900 && unchanged > 1800,
            "{counts:?}"
        );
    }
}
