//! Factored problems with contacts and interactions of every law.

use glam::{DMat3, DQuat, DVec3};
use moreau_solvers::law::{Cohesion, EllipticCoulomb, RollingCoulomb};
use moreau_solvers::{
    Auto, Contact, FactoredProblem, Goal, Interaction, InverseMass, Law, Nsgs, NsgsSettings,
    Solver, WorldTwist, natural_map,
};

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::from([(); 3].map(|()| self.uniform(-1.0, 1.0)))
    }

    fn rotation(&mut self) -> DMat3 {
        let [x, y, z, w] = [(); 4].map(|()| self.uniform(-1.0, 1.0));
        DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize())
    }
}

struct Mixed {
    inverse_mass: Vec<InverseMass>,
    free_twist: Vec<WorldTwist>,
    contacts: Vec<Contact>,
    interactions: Vec<Interaction>,
}

impl Mixed {
    fn view(&self) -> FactoredProblem<'_> {
        FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free_twist,
            contacts: &self.contacts,
            interactions: &self.interactions,
            positions: &[],
            pull: &[],
        }
    }

    /// Body 0 is fixed; contacts and interactions join random pairs.
    fn random(seed: u64, bodies: usize, contacts: usize, others: usize) -> Self {
        let mut random = Random(seed);
        let mut mixed = Self {
            inverse_mass: vec![InverseMass::FIXED],
            free_twist: vec![WorldTwist::default()],
            contacts: Vec::new(),
            interactions: Vec::new(),
        };
        for _ in 1..bodies {
            let q = random.rotation();
            let d = DVec3::ONE + 0.5 * random.vector();
            mixed.inverse_mass.push(InverseMass {
                linear: random.uniform(0.5, 2.0),
                angular: q * DMat3::from_diagonal(d) * q.transpose(),
            });
            mixed.free_twist.push(WorldTwist {
                linear: random.vector(),
                angular: random.vector(),
            });
        }
        let pair = |random: &mut Random| {
            let a = random.below(bodies);
            let b = (a + 1 + random.below(bodies - 1)) % bodies;
            [a as u32, b as u32]
        };
        for _ in 0..contacts {
            mixed.contacts.push(Contact {
                bodies: pair(&mut random),
                frame: random.rotation(),
                arms: [random.vector(), random.vector()],
                offset: DVec3::new(random.uniform(-0.5, 0.2), 0.0, 0.0),
                friction: random.uniform(0.0, 0.7),
            });
        }
        for k in 0..others {
            let law = match k % 8 {
                0 => Law::equality(1 + random.below(3)),
                1 => Law::interval(-0.3, 0.2),
                2 => Law::Complementarity,
                3 => Law::planar(0.4),
                4 => Law::EllipticCoulomb(EllipticCoulomb {
                    friction: [0.2, 0.7],
                }),
                5 => Law::Rolling(RollingCoulomb {
                    friction: 0.5,
                    rolling: 0.1,
                    spinning: Some(0.05),
                }),
                6 => Law::Cohesion(Cohesion {
                    friction: 0.5,
                    pull_off: 0.2,
                }),
                _ => Law::Rolling(RollingCoulomb {
                    friction: 0.5,
                    rolling: 0.2,
                    spinning: None,
                }),
            };
            let mut other = Interaction::new(pair(&mut random), law);
            let frame = random.rotation();
            let arms = [random.vector(), random.vector()];
            for row in 0..law.rows() {
                let axis = frame.col(row % 3);
                let axis = if row < 3 {
                    axis
                } else {
                    frame.col((row + 1) % 3)
                };
                let sides = [0, 1].map(|side| {
                    if row < 3 {
                        [axis, arms[side].cross(axis)]
                    } else {
                        [DVec3::ZERO, axis]
                    }
                });
                let [[v, w], [v_b, w_b]] = sides;
                let factors = [v, w, -v_b, -w_b].map(|factor| factor.to_array());
                other.rows[row].copy_from_slice(factors.as_flattened());
                other.offset[row] = random.uniform(-0.3, 0.3);
                if k % 3 == 0 {
                    other.compliance[row] = random.uniform(0.0, 0.5);
                }
            }
            mixed.interactions.push(other);
        }
        mixed
    }
}

/// The two forms of a problem have the same velocities, so that any impulse is judged alike, up to the rounding of sums of some
/// dozens of terms.
#[test]
fn both_forms_of_a_mixed_problem_are_judged_alike() {
    for seed in 0..40 {
        let mixed = Mixed::random(seed, 8, 6, 16);
        let (factored, stored) = (mixed.view(), mixed.view().assemble());
        assert_eq!(factored.rows(), stored.rows());
        let mut random = Random(seed + 1000);
        let r: Vec<f64> = (0..factored.rows())
            .map(|_| random.uniform(-0.5, 1.0))
            .collect();
        let a = natural_map::factored(&factored, &r, &mut Vec::new());
        let b = natural_map::stored(&stored, &r);
        let pairs = [
            (a.scaled, b.scaled),
            (a.constraint, b.constraint),
            (a.box_violation, b.box_violation),
            (a.fclib, b.fclib),
            (a.cone_violation, b.cone_violation),
            (a.approach, b.approach),
            (a.constraint_velocity, b.constraint_velocity),
        ];
        for (a, b) in pairs {
            assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{seed}: {a} {b}");
        }
    }
}

/// To 1e-10 in the form that is solved; in the other one the rounding of its sums, at impulses of up to some hundred N·s, is added.
#[test]
fn mixed_problems_are_solved_in_both_forms() {
    for seed in 0..60 {
        let mixed = Mixed::random(seed, 12, 8, 12);
        let (factored, stored) = (mixed.view(), mixed.view().assemble());
        let goal = Goal::scaled(1e-10);
        let mut r = vec![0.0; factored.rows()];
        let mut twist = Vec::new();
        let mut auto = Auto::default();
        let report = auto.solve_factored(&factored, &mut r, &mut twist, &goal);
        let report = report.unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert!(report.converged(), "{seed}: factored {report:?}");
        let residual = natural_map::stored(&stored, &r);
        assert!(residual.scaled <= 1e-9, "{seed}: {residual:?}");
        let mut s = vec![0.0; stored.rows()];
        let report = auto.solve(&stored, &mut s, &goal);
        let report = report.unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert!(report.converged(), "{seed}: stored {report:?}");
        let mut sweeps = Nsgs::new(NsgsSettings {
            max_sweeps: 100_000,
            ..NsgsSettings::default()
        });
        let mut t = vec![0.0; factored.rows()];
        let goal = Goal::scaled(1e-6);
        let report = sweeps.solve_factored(&factored, &mut t, &mut twist, &goal);
        let report = report.unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert!(report.converged(), "{seed}: sweeps {report:?}");
    }
}
