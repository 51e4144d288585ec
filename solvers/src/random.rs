//! Seeded random numbers, blocks and problems for the unit tests.

use crate::law::list::Laws;
use crate::problem::{Contact, FactoredProblem, InverseMass, WorldTwist};
use crate::{Delassus, Law, StoredProblem};
use glam::{DMat3, DQuat, DVec3};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// `10^x`, `x` uniform.
    pub(crate) fn power_of_ten(&mut self, low: f64, high: f64) -> f64 {
        libm::pow(10.0, self.uniform(low, high))
    }

    /// Entries in `[-1, 1]`.
    pub(crate) fn vector(&mut self) -> DVec3 {
        DVec3::from([(); 3].map(|()| self.uniform(-1.0, 1.0)))
    }

    pub(crate) fn rotation(&mut self) -> DMat3 {
        let [x, y, z, w] = [(); 4].map(|()| self.uniform(-1.0, 1.0));
        DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize())
    }

    /// `Q diag(d) Qᵀ`, symmetric to the last bit.
    pub(crate) fn symmetric(&mut self, eigenvalues: DVec3) -> DMat3 {
        let q = self.rotation();
        let m = q * DMat3::from_diagonal(eigenvalues) * q.transpose();
        (m + m.transpose()) * 0.5
    }
}

/// A stored problem whose interactions fill their triples.
pub(crate) fn of_triples(laws: &[Law], delassus: Delassus, q: Vec<DVec3>) -> StoredProblem {
    let mut list = Laws::default();
    laws.iter().for_each(|law| list.push(*law));
    StoredProblem {
        laws: list,
        delassus,
        free_velocity: q,
        weak_scales: Vec::new(),
    }
}

/// The arrays of a factored problem.
#[derive(Clone)]
pub(crate) struct OwnedProblem {
    pub(crate) inverse_mass: Vec<InverseMass>,
    pub(crate) free_twist: Vec<WorldTwist>,
    pub(crate) contacts: Vec<Contact>,
}

impl OwnedProblem {
    pub(crate) fn view(&self) -> FactoredProblem<'_> {
        FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free_twist,
            contacts: &self.contacts,
            interactions: &[],
            positions: &[],
            pull: &[],
        }
    }

    /// Body 0 is fixed, the others free with full inertia; contacts join random pairs, arms about
    /// 1 m, sliding and pressing velocities about 1 m/s.
    pub(crate) fn random(seed: u64, bodies: usize, contacts: usize) -> Self {
        let mut random = Random::new(seed);
        let mut problem = Self {
            inverse_mass: vec![InverseMass::FIXED],
            free_twist: vec![WorldTwist::default()],
            contacts: Vec::new(),
        };
        for _ in 1..bodies {
            let eigenvalues = DVec3::ONE + 0.5 * random.vector();
            problem.inverse_mass.push(InverseMass {
                linear: random.uniform(0.5, 2.0),
                angular: random.symmetric(eigenvalues),
            });
            problem.free_twist.push(WorldTwist {
                linear: random.vector(),
                angular: random.vector(),
            });
        }
        while problem.contacts.len() < contacts {
            let pair = [random.below(bodies), random.below(bodies)];
            if pair[0] != pair[1] {
                let contact = random_contact(&mut random, pair);
                problem.contacts.push(contact);
            }
        }
        problem
    }
}

/// A contact of two bodies with random geometry; every eighth one is frictionless.
pub(crate) fn random_contact(random: &mut Random, pair: [usize; 2]) -> Contact {
    Contact {
        bodies: pair.map(|j| j as u32),
        frame: random.rotation(),
        arms: [random.vector(), random.vector()],
        offset: DVec3::new(random.uniform(-0.5, 0.2), 0.0, 0.0),
        friction: if random.below(8) == 0 {
            0.0
        } else {
            random.uniform(0.0, 0.7)
        },
    }
}

/// The unit vector at `turn` of a circle, `turn` in `[0, 1)`: a rational parametrisation of the
/// quarters, uneven in the angle but continuous.
pub(crate) fn direction(turn: f64) -> [f64; 2] {
    let t = (4.0 * turn).fract();
    let (c, s) = ((1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t));
    match (4.0 * turn) as usize % 4 {
        0 => [c, s],
        1 => [-s, c],
        2 => [-c, -s],
        _ => [s, -c],
    }
}
